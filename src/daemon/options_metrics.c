/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "client/file.h"
#include "codec/json.h"
#include "codec/yaml.h"
#include "daemon/options_private.h"

/** A manifest may have this many bytes. */
#define MANIFEST_BYTES_MAX (UINT32_C(1) << 20)

/** "metric,label" and the values allowed, with commas between them. */
struct allow_rule {
	struct bt_str key;
	struct bt_str values;
};

struct allow_rules {
	struct allow_rule *items;
	uint32_t count;
};

/** [a-zA-Z_][a-zA-Z0-9_]*, with colons as letters in metrics' names. */
static bool is_name(struct bt_str text, bool colons)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
			    byte == '_') &&
			!(colons && byte == ':') && !(i > 0 && byte >= '0' && byte <= '9')) {
			return false;
		}
	}
	return text.length > 0;
}

static bool is_key(struct bt_str key)
{
	int64_t comma = bt_str_find_char(key, ',');
	return comma > 0 && is_name(bt_str_sub(key, 0, (uint32_t)comma), true) &&
		is_name(bt_str_sub(key, (uint32_t)comma + 1, key.length), false);
}

static int compare_rules(const void *a, const void *b)
{
	return bt_str_compare(
		((const struct allow_rule *)a)->key, ((const struct allow_rule *)b)->key);
}

static void write_rules(const struct allow_rules *rules, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	for (uint32_t i = 0; i < rules->count; i++) {
		bt_json_write_name(&writer, rules->items[i].key);
		bt_json_write_str(&writer, rules->items[i].values);
	}
	bt_json_end_object(&writer);
}

#define ALLOW_LIST_PATH "metrics.allowListMapping"

/** One text for all keys that are wrong. false: there is none. */
static bool describe_bad_keys(const struct allow_rules *rules, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		if (!is_key(rules->items[i].key)) {
			bt_strbuf_append_c(out, ALLOW_LIST_PATH ": Invalid value: ");
			write_rules(rules, out);
			bt_strbuf_append_c(out,
				": must have keys with format `metricName,labelName` where "
				"metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName "
				"matches \"[a-zA-Z_][a-zA-Z0-9_]*\"");
			return true;
		}
	}
	return false;
}

/** rules are right. */
static void use_rules(struct bt_daemon_options *options, const struct allow_rules *rules)
{
	struct bt_arena *arena = &options->arena;
	struct bt_allowed_label *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_allowed_label, rules->count);
	for (uint32_t i = 0; i < rules->count; i++) {
		struct bt_str key = rules->items[i].key;
		struct bt_str rest = rules->items[i].values;
		uint32_t comma = (uint32_t)bt_str_find_char(key, ',');
		struct bt_str value;
		items[i].metric = bt_str_sub(key, 0, comma);
		items[i].label = bt_str_sub(key, comma + 1, key.length);
		items[i].values.items =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, rest.length / 2 + 1);
		while (bt_comma_next(&rest, &value)) {
			items[i].values.items[items[i].values.count++] = value;
		}
	}
	options->metrics.allowed.items = items;
	options->metrics.allowed.count = rules->count;
}

/* --- the manifest --- */

static void add_manifest_error(
	struct bt_config_errors *errors, struct bt_str path, const char *what, const char *why)
{
	bt_config_errors_add(errors, NULL,
		"metrics.allowListMappingManifest: Invalid value: %s: %s: %s",
		bt_config_errors_quote(errors, path), what, why);
}

#if BT_HAVE_YAML
static int to_json(struct bt_str text, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, NULL);
	bool more;
	int code = bt_yaml_next_document(reader, out, &more, NULL, err);
	if (code == 0 && !more) {
		bt_strbuf_append_c(out, "{}");
	}
	bt_yaml_reader_destroy(reader);
	return code;
}
#else
static int to_json(struct bt_str text, struct bt_strbuf *out, struct berth_error *err)
{
	(void)err;
	bt_strbuf_append_str(out, text);
	return 0;
}
#endif

/** An object whose members are all texts. */
static int read_rules(struct bt_str json, struct bt_arena *arena, struct allow_rules *out_rules,
	struct berth_error *err)
{
	struct bt_json_value *value;
	int code = bt_json_parse(arena, json, false, &value, err);
	if (code != 0) {
		return code;
	}
	if (value->type != BT_JSON_OBJECT && value->type != BT_JSON_NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "not a map");
	}
	out_rules->count = value->type == BT_JSON_OBJECT ? value->count : 0;
	out_rules->items = BT_ARENA_NEW_ARRAY(arena, struct allow_rule, out_rules->count);
	for (uint32_t i = 0; i < out_rules->count; i++) {
		const struct bt_json_member *member = &value->members[i];
		if (member->value->type != BT_JSON_STRING) {
			return bt_error_set(err, BERTH_ERR_INVALID, "%.*s is not a text",
				BT_STR_ARG(member->name));
		}
		out_rules->items[i] = (struct allow_rule){bt_arena_str(arena, member->name),
			bt_arena_str(arena, member->value->text)};
	}
	return 0;
}

static void take_manifest(
	struct bt_daemon_options *options, struct bt_str path, struct bt_config_errors *errors)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf json = {0};
	struct allow_rules rules = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	const char *what = "failed to read allow list manifest";
	int code = bt_client_file_read_waiting(path.data, MANIFEST_BYTES_MAX, &text, &err);
	if (code == 0) {
		what = "failed to parse allow list manifest";
		code = to_json(bt_strbuf_str(&text), &json, &err);
	}
	if (code == 0) {
		code = read_rules(bt_strbuf_str(&json), &options->arena, &rules, &err);
	}
	if (code == 0) {
		struct bt_strbuf bad = {0};
		if (describe_bad_keys(&rules, &bad)) {
			struct bt_strbuf list = {0};
			bt_strbuf_printf(&list, "[%s]", bt_strbuf_c(&bad));
			add_manifest_error(errors, path, "invalid allow list mapping in manifest",
				bt_strbuf_c(&list));
			bt_strbuf_finish(&list);
		} else {
			use_rules(options, &rules);
		}
		bt_strbuf_finish(&bad);
	} else {
		add_manifest_error(errors, path, what, berth_error_message(&err));
	}
	berth_error_finish(&err);
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&text);
}

/* --- the flags --- */

static void validate_disabled(const bt_str_list *disabled, struct bt_config_errors *errors)
{
	struct bt_strbuf all = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &all, 0);
	bt_json_begin_array(&writer);
	for (uint32_t i = 0; i < disabled->count; i++) {
		bt_json_write_str(&writer, disabled->items[i]);
	}
	bt_json_end_array(&writer);
	for (uint32_t i = 0; i < disabled->count; i++) {
		if (!is_name(disabled->items[i], true)) {
			bt_config_errors_add(errors, NULL,
				"metrics.disabledMetrics: Invalid value: %s: must be fully "
				"qualified metric names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", "
				"got %s",
				bt_strbuf_c(&all),
				bt_config_errors_quote(errors, disabled->items[i]));
			break;
		}
	}
	bt_strbuf_finish(&all);
}

void bt_metrics_flags_take(struct bt_daemon_options *options,
	const struct bt_daemon_flag_value *values, struct bt_config_errors *errors)
{
	const struct bt_daemon_flag_value *allowed = &values[BT_DAEMON_FLAG_ALLOW_METRIC_LABELS];
	struct bt_str manifest = values[BT_DAEMON_FLAG_ALLOW_METRIC_LABELS_MANIFEST].text;
	struct bt_str version = options->metrics.show_hidden_for_version;
	if (version.length > 0 && !bt_str_equal_c(version, "1.35")) {
		bt_config_errors_add(errors, NULL,
			"metrics.showHiddenMetricsForVersion: Invalid value: %s: must be omitted "
			"or have the value '1.%d'; only the previous minor version is allowed",
			bt_config_errors_quote(errors, version), BT_KUBERNETES_MINOR - 1);
	}
	validate_disabled(&options->metrics.disabled, errors);
	struct allow_rules rules = {
		BT_ARENA_NEW_ARRAY(&options->arena, struct allow_rule, allowed->list.count),
		allowed->list.count};
	struct bt_strbuf bad = {0};
	for (uint32_t i = 0; i < rules.count; i++) {
		rules.items[i] = (struct allow_rule){
			allowed->list.items[i].text, allowed->list.items[i].second};
	}
	if (rules.count > 1) {
		qsort(rules.items, rules.count, sizeof(*rules.items), compare_rules);
	}
	if (describe_bad_keys(&rules, &bad)) {
		bt_config_errors_add_text(errors, bt_strbuf_str(&bad));
	} else if (rules.count > 0) {
		use_rules(options, &rules);
	}
	bt_strbuf_finish(&bad);
	if (manifest.length > 0) {
		take_manifest(options, manifest, errors);
	}
	if (manifest.length > 0 && allowed->list.count > 0) {
		bt_config_errors_add(errors, NULL,
			"metrics: Forbidden: cannot specify both allowListMapping and "
			"allowListMappingManifest");
	}
}
