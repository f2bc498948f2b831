/* SPDX-License-Identifier: Apache-2.0 */
#include "config/load.h"

#include <stdlib.h>

#include "config/default.h"
#include "config/validate.h"

static void override_str(struct bt_str *field, struct bt_str flag, struct bt_arena *arena)
{
	if (flag.data != NULL) {
		*field = bt_arena_str(arena, flag);
	}
}

static void override_i64(int64_t *field, struct bt_opt_i64 flag)
{
	if (flag.present) {
		*field = flag.value;
	}
}

/** Applies the leader election flags, which override file and defaults (spec 10 section 9). */
static void apply_election_flags(struct bt_config *config, const struct bt_config_flags *flags)
{
	struct bt_config_leader_election *election = &config->document.leader_election;
	if (flags->leader_elect.present) {
		election->leader_elect = flags->leader_elect.value;
	}
	override_i64(&election->lease_duration_ns, flags->lease_duration_ns);
	override_i64(&election->renew_deadline_ns, flags->renew_deadline_ns);
	override_i64(&election->retry_period_ns, flags->retry_period_ns);
	override_str(&election->resource_lock, flags->resource_lock, &config->arena);
	override_str(&election->resource_name, flags->resource_name, &config->arena);
	override_str(&election->resource_namespace, flags->resource_namespace, &config->arena);
}

struct bt_config *bt_config_create_from_flags(
	const struct bt_gates *gates, const struct bt_config_flags *flags)
{
	struct bt_config *config = bt_config_create_default(gates);

	struct bt_config_document *document = &config->document;
	if (flags->profiling.present) {
		document->enable_profiling = flags->profiling.value;
	}
	if (flags->contention_profiling.present) {
		document->enable_contention_profiling.value = flags->contention_profiling.value;
	}
	override_str(&document->client_connection.kubeconfig, flags->kubeconfig, &config->arena);
	override_str(&document->client_connection.content_type, flags->kube_api_content_type,
		&config->arena);
	if (flags->kube_api_qps_given) {
		document->client_connection.qps = flags->kube_api_qps;
	}
	if (flags->kube_api_burst.present) {
		document->client_connection.burst = flags->kube_api_burst.value;
	}
	apply_election_flags(config, flags);
	return config;
}

/*
 * Upstream's messages include the name of the scheme. The name is the position of the source line
 * that creates the scheme.
 */
#define SCHEME_NAME "pkg/scheduler/apis/config/scheme/scheme.go:29"
#define TYPE_META_GO_TYPE \
	"struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; " \
	"Kind string \"json:\\\"kind,omitempty\\\"\" }"

/* State of a load. Text of values is borrowed from the input until the load ends. */
struct loader {
	const struct bt_config_input *input;
	struct bt_arena scratch; /* the value tree and messages */
	struct bt_config *config;
	struct bt_strict_errors strict_errors; /* strict errors of the document */
	bt_str_list complaints_args; /* one text per pluginConfig entry with strict errors */
	struct berth_error *err;
};

/* The apiVersion and the kind of a document. Spec: 10 section 4.1 steps 4 to 6. */
struct type_meta {
	struct bt_str api_version;
	struct bt_str kind;
};

/* Field names are compared without case; if a name occurs several times, the last value counts. */
static int read_type_meta(
	const struct bt_json_value *value, struct type_meta *out_meta, struct berth_error *err)
{
	struct type_meta meta = {{NULL, 0}, {NULL, 0}};
	if (value->type == BT_JSON_NULL) {
		*out_meta = meta;
		return 0;
	}
	if (value->type != BT_JSON_OBJECT) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"couldn't get version/kind; json parse error: json: cannot "
			"unmarshal %s into Go value of type " TYPE_META_GO_TYPE,
			bt_json_type_name(value->type));
	}
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_value *inner = value->members[i].value;
		bool is_kind = bt_str_equal_without_case(value->members[i].name, BT_STR("kind"));
		if ((!is_kind &&
			    !bt_str_equal_without_case(
				    value->members[i].name, BT_STR("apiVersion"))) ||
			inner->type == BT_JSON_NULL) {
			continue;
		}
		if (inner->type != BT_JSON_STRING) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"couldn't get version/kind; json parse error: json: "
				"cannot unmarshal %s into Go struct field .%s of type string",
				bt_json_type_name(inner->type), is_kind ? "kind" : "apiVersion");
		}
		*(is_kind ? &meta.kind : &meta.api_version) = inner->text;
	}
	*out_meta = meta;
	return 0;
}

static int fail_unregistered(const struct type_meta *meta, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "no kind ");
	bt_strbuf_append_quoted(&text, meta->kind);
	bt_strbuf_append_c(&text, " is registered for version ");
	bt_strbuf_append_quoted(&text, meta->api_version);
	bt_strbuf_append_c(&text, " in scheme ");
	bt_strbuf_append_quoted(&text, BT_STR(SCHEME_NAME));
	return bt_error_take(err, BERTH_ERR_INVALID, &text);
}

static bool is_registered(const struct type_meta *meta)
{
	return bt_str_equal_c(meta->api_version, BT_CONFIG_API_VERSION) &&
		(bt_str_equal_c(meta->kind, BT_CONFIG_KIND) ||
			bt_config_schema_args_kind_named(meta->kind) != BT_ARGS_OTHER);
}

/* Appends texts, each after a comma unless out has nothing behind `start`. */
static void append_joined(
	struct bt_strbuf *out, size_t start, const struct bt_str *texts, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(out, out->length > start ? ", " : "");
		bt_strbuf_append_str(out, texts[i]);
	}
}

/* Position of the arguments being decoded, for messages. Spec: 10 section 4.5. */
struct args_place {
	uint32_t profile;
	uint32_t entry;
	struct bt_str plugin;
};

static int fail_args(const struct loader *loader, const struct args_place *place, int code,
	struct berth_error *cause)
{
	code = bt_error_set(loader->err, code,
		"decoding .profiles[%lu].pluginConfig[%lu]: decoding args for plugin %.*s: %s",
		(unsigned long)place->profile, (unsigned long)place->entry,
		BT_STR_ARG(place->plugin), berth_error_message(cause));
	berth_error_finish(cause);
	return code;
}

/*
 * Decodes the arguments of a plugin of v1.36. expected is the kind of the plugin's arguments. If
 * value names another kind, that is an error.
 */
static int decode_typed_args(struct loader *loader, const struct args_place *place,
	enum bt_plugin_args_kind expected, const struct bt_json_value *value,
	struct bt_plugin_args *out_args)
{
	const char *expected_name = bt_plugin_args_kind_name(expected);
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_strict_errors *strict_errors =
		BT_ARENA_NEW(&loader->scratch, struct bt_strict_errors);
	struct bt_plugin_args args = {.kind = expected};
	struct type_meta meta = {{NULL, 0}, {NULL, 0}};
	void *body = bt_plugin_args_body(&args);
	int code = read_type_meta(value, &meta, &cause);

	if (code != 0) {
		return fail_args(loader, place, code, &cause);
	}
	meta.kind = meta.kind.length > 0 ? meta.kind : bt_str_from(expected_name);
	meta.api_version =
		meta.api_version.length > 0 ? meta.api_version : BT_STR(BT_CONFIG_API_VERSION);
	if (!is_registered(&meta)) {
		return fail_args(loader, place, fail_unregistered(&meta, &cause), &cause);
	}
	bool is_document = bt_str_equal_c(meta.kind, BT_CONFIG_KIND);
	const struct bt_config_schema *schema = is_document
		? &bt_config_document_schema
		: bt_config_args_schemas[bt_config_schema_args_kind_named(meta.kind)];
	if (is_document) {
		body = BT_ARENA_NEW(&loader->scratch, struct bt_config_document);
	}
	code = bt_config_schema_decode(schema, value, &loader->config->arena, body, &cause);
	if (code != 0) {
		return fail_args(loader, place, code, &cause);
	}
	if (!bt_str_equal_c(meta.kind, expected_name)) {
		return bt_error_set(loader->err, BERTH_ERR_INVALID,
			"decoding .profiles[%lu].pluginConfig[%lu]: args for "
			"plugin %.*s were not of type %s.kubescheduler.config.k8s.io, got "
			"%.*s.kubescheduler.config.k8s.io",
			(unsigned long)place->profile, (unsigned long)place->entry,
			BT_STR_ARG(place->plugin), expected_name, BT_STR_ARG(meta.kind));
	}
	bt_config_schema_find_strict_errors(schema, value, &loader->scratch, strict_errors);

	struct bt_strbuf text = {0};
	if (strict_errors->count > 0) {
		bt_strbuf_printf(&text,
			"decoding .profiles[%lu].pluginConfig[%lu]: strict decoding error: "
			"decoding args for plugin %.*s: ",
			(unsigned long)place->profile, (unsigned long)place->entry,
			BT_STR_ARG(place->plugin));
		bt_strbuf_append_c(&text, "strict decoding error: ");
		append_joined(&text, text.length, strict_errors->items, strict_errors->count);
		loader->complaints_args.items[loader->complaints_args.count++] =
			bt_arena_str(&loader->scratch, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&text);
	*out_args = args;
	return 0;
}

static int decode_args(
	struct loader *loader, const struct args_place *place, struct bt_plugin_args *args)
{
	const struct bt_json_value *value = args->source;
	enum bt_plugin_args_kind kind = bt_config_schema_args_kind_of(place->plugin);
	int code = 0;

	args->source = NULL;
	args->kind = kind;
	if (kind == BT_ARGS_OTHER) {
		struct bt_strbuf text = {0};
		args->kind = value != NULL ? BT_ARGS_OTHER : BT_ARGS_NONE;
		if (value != NULL) {
			bt_json_format(value, &text);
			args->raw = bt_arena_take_strbuf(&loader->config->arena, &text);
		}
		return 0;
	}
	if (value != NULL) {
		code = decode_typed_args(loader, place, kind, value, args);
	}
	if (code == 0) {
		bt_plugin_args_default(args, &loader->config->gates, &loader->config->arena);
	}
	return code;
}

static int decode_all_args(struct loader *loader)
{
	struct bt_config_document *document = &loader->config->document;
	size_t count = 0;
	for (uint32_t i = 0; i < document->profiles.count; i++) {
		count += document->profiles.items[i].plugin_config.count;
	}
	loader->complaints_args.items = BT_ARENA_NEW_ARRAY(&loader->scratch, struct bt_str, count);
	for (uint32_t i = 0; i < document->profiles.count; i++) {
		struct bt_config_profile *profile = &document->profiles.items[i];
		for (uint32_t k = 0; k < profile->plugin_config.count; k++) {
			struct bt_config_plugin_config *config = &profile->plugin_config.items[k];
			const struct args_place place = {i, k, config->name};
			int code = decode_args(loader, &place, &config->args);
			if (code != 0) {
				return code;
			}
		}
	}
	return 0;
}

static int parse(struct loader *loader, struct bt_json_value **out_value)
{
	static struct bt_json_value nothing = {.type = BT_JSON_NULL};
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_str json = loader->input->json;
	if (json.length > BT_CONFIG_BYTES_MAX) {
		return bt_error_set(loader->err, BERTH_ERR_TOO_LARGE,
			"configuration is larger than %u bytes", BT_CONFIG_BYTES_MAX);
	}
	if (bt_json_nests_deeper(json, BT_CONFIG_DEPTH_MAX)) {
		return bt_error_set(loader->err, BERTH_ERR_TOO_LARGE,
			"configuration is nested deeper than %d levels", BT_CONFIG_DEPTH_MAX);
	}
	if (bt_str_trim(json, " \t\n\r").length == 0) {
		*out_value = &nothing;
		return 0;
	}
	int code = bt_json_parse(&loader->scratch, json, false, out_value, &cause);
	if (code != 0) {
		code = bt_error_set(loader->err, code,
			"couldn't get version/kind; json parse error: %s",
			berth_error_message(&cause));
		berth_error_finish(&cause);
	}
	return code;
}

/* Fails with all errors of strict decoding, if there are any. */
static int report_strict(const struct loader *loader)
{
	struct bt_strbuf text = {0};
	int code = 0;
	bt_strbuf_append_str(&text, loader->input->yaml_complaint);
	append_joined(&text, 0, loader->strict_errors.items, loader->strict_errors.count);
	append_joined(&text, 0, loader->complaints_args.items, loader->complaints_args.count);
	if (text.length > 0) {
		code = bt_error_set(loader->err, BERTH_ERR_INVALID, "strict decoding error: %s",
			bt_strbuf_c(&text));
	}
	bt_strbuf_finish(&text);
	return code;
}

static int decode_document(struct loader *loader, const struct bt_json_value *value)
{
	struct bt_config *config = loader->config;
	struct type_meta meta = {{NULL, 0}, {NULL, 0}};
	int code = read_type_meta(value, &meta, loader->err);
	if (code != 0) {
		return code;
	}
	if (meta.kind.length == 0 || meta.api_version.length == 0) {
		struct bt_str document = loader->input->document;
		return bt_error_set(loader->err, BERTH_ERR_INVALID,
			"Object '%s' is missing in '%.*s'",
			meta.kind.length == 0 ? "Kind" : "apiVersion",
			BT_STR_ARG(document.data != NULL ? document : loader->input->json));
	}
	if (!is_registered(&meta)) {
		return fail_unregistered(&meta, loader->err);
	}
	if (!bt_str_equal_c(meta.kind, BT_CONFIG_KIND)) {
		/*
		 * The document has the arguments of a plugin instead of a configuration. Report
		 * decoding errors first, as upstream does.
		 */
		enum bt_plugin_args_kind kind = bt_config_schema_args_kind_named(meta.kind);
		struct bt_plugin_args args = {.kind = kind};
		code = bt_config_schema_decode(bt_config_args_schemas[kind], value,
			&loader->config->arena, bt_plugin_args_body(&args), loader->err);
		if (code != 0) {
			return code;
		}
		bt_config_schema_find_strict_errors(bt_config_args_schemas[kind], value,
			&loader->scratch, &loader->strict_errors);
		code = report_strict(loader);
		if (code != 0) {
			return code;
		}
		return bt_error_set(loader->err, BERTH_ERR_INVALID,
			"couldn't decode as KubeSchedulerConfiguration, got "
			"kubescheduler.config.k8s.io/v1, Kind=%.*s: ",
			BT_STR_ARG(meta.kind));
	}
	code = bt_config_schema_decode(
		&bt_config_document_schema, value, &config->arena, &config->document, loader->err);
	if (code != 0) {
		return code;
	}
	if (config->document.profiles.count > BT_CONFIG_PROFILES_MAX) {
		return bt_error_set(loader->err, BERTH_ERR_TOO_LARGE,
			"profiles: more than %d entries", BT_CONFIG_PROFILES_MAX);
	}
	bt_config_schema_find_strict_errors(
		&bt_config_document_schema, value, &loader->scratch, &loader->strict_errors);
	code = decode_all_args(loader);
	if (code != 0) {
		return code;
	}
	config->percentage_is_explicit = config->document.percentage_of_nodes_to_score.present;
	bt_document_default(&config->document, &config->gates, &config->arena, &config->overridden);
	return report_strict(loader);
}

/*
 * Collects the extenders' managed resources that have ignoredByScheduler, and sets them as the
 * ignored resources of NodeResourcesFit in every profile. Spec: 10 section 7.2.
 */
static int apply_ignored_resources(struct bt_config *config, struct berth_error *err)
{
	const struct bt_config_document *document = &config->document;
	bt_str_list names = {NULL, 0, true};
	size_t count = 0;
	for (uint32_t i = 0; i < document->extenders.count; i++) {
		count += document->extenders.items[i].managed_resources.count;
	}
	names.items = BT_ARENA_NEW_ARRAY(&config->arena, struct bt_str, count);
	for (uint32_t i = 0; i < document->extenders.count; i++) {
		const struct bt_config_extender *extender = &document->extenders.items[i];
		for (uint32_t k = 0; k < extender->managed_resources.count; k++) {
			if (extender->managed_resources.items[k].ignored_by_scheduler) {
				names.items[names.count++] =
					extender->managed_resources.items[k].name;
			}
		}
	}
	if (names.count == 0) {
		return 0;
	}
	qsort(names.items, names.count, sizeof(*names.items), bt_str_compare_qsort);
	for (uint32_t i = 0; i < document->profiles.count; i++) {
		struct bt_config_profile *profile = &document->profiles.items[i];
		struct bt_plugin_args *args = NULL;
		for (uint32_t k = 0; args == NULL && k < profile->plugin_config.count; k++) {
			if (profile->plugin_config.items[k].args.kind ==
				BT_ARGS_NODE_RESOURCES_FIT) {
				args = &profile->plugin_config.items[k].args;
			}
		}
		if (args == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"couldn't build extenders: "
				"can't find NodeResourcesFitArgs in plugin config");
		}
		args->node_resources_fit.ignored_resources = names;
	}
	return 0;
}

int bt_config_load_input(const struct bt_config_input *input, const struct bt_gates *gates,
	struct bt_config **out_config, struct berth_error *err)
{
	struct loader loader = {.input = input, .config = bt_config_create(gates), .err = err};
	struct bt_json_value *value = NULL;
	int code = parse(&loader, &value);
	if (code == 0) {
		code = decode_document(&loader, value);
	}
	if (code == 0 && input->flags != NULL) {
		apply_election_flags(loader.config, input->flags);
	}
	if (code == 0) {
		struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
		bt_document_validate(&loader.config->document, &loader.config->gates, &errors);
		code = bt_config_errors_finish(&errors, err);
	}
	if (code == 0) {
		code = apply_ignored_resources(loader.config, err);
	}
	bt_arena_finish(&loader.scratch);
	if (code != 0) {
		bt_config_unref(loader.config);
		return code;
	}
	*out_config = loader.config;
	return 0;
}

int bt_config_load(struct bt_str json, const struct bt_gates *gates, struct bt_config **out_config,
	struct berth_error *err)
{
	const struct bt_config_input input = {.json = json};
	return bt_config_load_input(&input, gates, out_config, err);
}
