/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "codec/base64.h"
#include "server/kinds/common.h"
/*
 * ConfigMap, Secret, LimitRange, ResourceQuota, Event, Namespace, Node, role bindings. Spec: 14b
 * sections 2.2, 3.3, 5 and 7.
 */

/** Largest total size of the values of a ConfigMap or Secret. */
#define DATA_BYTES_MAX 1048576

/** --- ConfigMap, Secret --- */

/** Merges stringData, which is write-only, into data. */
static void default_secret(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *texts = bt_json_object_at(object, "stringData");
	const struct bt_json_value *data = bt_json_object_at(object, "data");
	if (texts->count == 0) {
		return;
	}
	struct bt_text_set keys = {0};
	bt_json_append_names(texts, &keys);
	struct bt_json_value *merged = bt_json_new(arena, BT_JSON_OBJECT);
	merged->capacity = data->count + texts->count;
	merged->members = BT_ARENA_NEW_ARRAY(arena, struct bt_json_member, merged->capacity);
	for (uint32_t i = 0; i < data->count; i++) {
		if (!bt_text_set_has(&keys, data->members[i].name)) {
			merged->members[merged->count++] = data->members[i];
		}
	}
	for (uint32_t i = 0; i < texts->count; i++) {
		struct bt_strbuf encoded = {0};
		bt_base64_encode(texts->members[i].value->text, &encoded);
		merged->members[merged->count++] = (struct bt_json_member){texts->members[i].name,
			bt_json_new_str(arena, bt_arena_take_strbuf(arena, &encoded))};
	}
	bt_text_set_finish(&keys);
	bt_json_set_value(arena, object, "data", merged);
	(void)bt_json_remove_c(object, "stringData");
}

/**
 * Returns the sum of the decoded sizes of the values. Four base64 characters make three bytes;
 * padding and line breaks do not count.
 */
static uint64_t data_bytes(const struct bt_json_value *data, bool is_base64)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_str text = data->members[i].value->text;
		uint32_t digits = 0;
		for (uint32_t j = 0; is_base64 && j < text.length; j++) {
			char c = text.data[j];
			digits += c != '=' && c != '\n' && c != '\r';
		}
		bytes += is_base64 ? (uint64_t)digits * 3 / 4 : text.length;
	}
	return bytes;
}

static void check_data_bytes(
	struct bt_field_errors *errors, const struct bt_path *place, uint64_t bytes)
{
	if (bytes > DATA_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, place, NULL,
			"may not be more than %d bytes", DATA_BYTES_MAX);
	}
}

/** Members of data that the types of Secrets need. */
static const struct {
	const char *type;
	const char *key;
	bool is_json;
} secret_keys[] = {
	{"kubernetes.io/dockercfg", ".dockercfg", true},
	{"kubernetes.io/dockerconfigjson", ".dockerconfigjson", true},
	{"kubernetes.io/ssh-auth", "ssh-privatekey", false},
	{"kubernetes.io/tls", "tls.crt", false},
	{"kubernetes.io/tls", "tls.key", false},
};

void bt_rule_secret(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *secret)
{
	const struct bt_json_value *data = bt_json_object_at(secret, "data");
	const struct bt_path at = *BT_PATH_NAME(place, "data");
	struct bt_str type = bt_kinds_text(secret, "type");
	struct bt_field_errors *errors = check->errors;
	check_data_bytes(errors, &at, data_bytes(data, true));
	if (check->write->restoring) {
		return; /* a dump may lack the data */
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(secret_keys); i++) {
		struct bt_str key = bt_str_from(secret_keys[i].key);
		const struct bt_json_value *value = bt_json_get(data, key);
		if (!bt_str_equal_c(type, secret_keys[i].type)) {
			continue;
		}
		if (value == NULL) {
			bt_kinds_error_required(errors, BT_PATH_KEY(&at, key));
		} else if (secret_keys[i].is_json) {
			struct berth_error err = BERTH_ERROR_INIT;
			struct bt_arena arena = {0};
			struct bt_json_value *parsed;
			struct bt_str text;
			if (bt_base64_decode(value->text, &arena, &text, NULL) == 0 &&
				bt_json_parse(&arena, text, false, &parsed, &err) != 0) {
				bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_KEY(&at, key),
					bt_json_new_c(errors->arena, "<secret contents redacted>"),
					"%s", berth_error_message(&err));
				berth_error_finish(&err);
			}
			bt_arena_finish(&arena);
		}
	}
	if (bt_str_equal_c(type, "kubernetes.io/basic-auth") &&
		bt_json_find(data, "username") == NULL && bt_json_find(data, "password") == NULL) {
		bt_kinds_error_required(errors, BT_PATH_KEY(&at, BT_STR("username")));
		bt_kinds_error_required(errors, BT_PATH_KEY(&at, BT_STR("password")));
	}
	struct bt_str account = BT_STR("kubernetes.io/service-account.name");
	if (bt_str_equal_c(type, "kubernetes.io/service-account-token") &&
		bt_json_get(bt_json_object_at(secret, "metadata.annotations"), account) == NULL) {
		bt_kinds_error_required(
			errors, BT_PATH_KEY(BT_PATH_NAME(place, "metadata.annotations"), account));
	}
}

void bt_rule_config_map(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *map)
{
	const struct bt_json_value *data = bt_json_object_at(map, "data");
	const struct bt_json_value *binary_data = bt_json_object_at(map, "binaryData");
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_str key = data->members[i].name;
		if (bt_json_get(binary_data, key) != NULL) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(place, "data"), key),
				bt_json_new_str(check->errors->arena, key),
				"duplicate of key present in binaryData");
		}
	}
	/* the limit holds for both maps together; the path of the error ends with "[]" */
	check_data_bytes(check->errors, BT_PATH_KEY(place, BT_STR("")),
		data_bytes(data, false) + data_bytes(binary_data, true));
}

const struct bt_strategy bt_strategy_secret = {.set_defaults = default_secret};

/** --- LimitRange --- */

static void default_limit_range(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *limits = bt_json_array_at(object, "spec.limits");
	for (uint32_t i = 0; i < limits->count; i++) {
		struct bt_json_value *item = limits->elements[i];
		if (bt_str_equal_c(bt_kinds_text(item, "type"), "Container")) {
			bt_kinds_default_map(
				write->arena, item, "default", bt_kinds_object(item, "max"));
			bt_kinds_default_map(write->arena, item, "defaultRequest",
				bt_kinds_object(item, "default"));
			bt_kinds_default_map(
				write->arena, item, "defaultRequest", bt_kinds_object(item, "min"));
		}
	}
}

static void check_order(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *item, const char *small, const char *large)
{
	const struct bt_json_value *lower = bt_json_object_at(item, small);
	for (uint32_t i = 0; i < lower->count && i < BT_KINDS_RESOURCES_MAX; i++) {
		const struct bt_json_member *member = &lower->members[i];
		const struct bt_json_value *bound =
			bt_json_get(bt_kinds_object(item, large), member->name);
		struct bt_quantity a;
		struct bt_quantity b;
		if (bt_kinds_quantity(member->value, errors->arena, &a) &&
			bt_kinds_quantity(bound, errors->arena, &b) &&
			bt_quantity_compare(&a, &b) > 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(place, small), member->name),
				member->value, "%s value %.*s is greater than %s value %.*s", small,
				BT_STR_ARG(member->value->text), large, BT_STR_ARG(bound->text));
		}
	}
}

void bt_rule_limit_range_item(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *item)
{
	check_order(check->errors, place, item, "min", "max");
	check_order(check->errors, place, item, "defaultRequest", "default");
	check_order(check->errors, place, item, "default", "max");
	check_order(check->errors, place, item, "defaultRequest", "max");
}

const struct bt_strategy bt_strategy_limit_range = {.set_defaults = default_limit_range};

/** --- ResourceQuota --- */

#define QUOTA_RESOURCES \
	"cpu memory ephemeral-storage requests.cpu requests.memory requests.storage " \
	"requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage pods " \
	"services replicationcontrollers resourcequotas secrets configmaps " \
	"persistentvolumeclaims services.nodeports services.loadbalancers"

static bool has_scope(const struct bt_json_value *spec, const char *name)
{
	const struct bt_json_value *expressions =
		bt_json_array_at(spec, "scopeSelector.matchExpressions");
	struct bt_str scope = bt_str_from(name);
	return bt_json_has_text(bt_json_array_at(spec, "scopes"), scope) ||
		bt_json_element_with(expressions, "scopeName", scope) != NULL;
}

void bt_rule_quota(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_path *scopes_place = BT_PATH_NAME(place, "scopes");
	const struct bt_json_value *scopes = bt_json_array_at(spec, "scopes");
	const struct bt_json_value *hard = bt_json_object_at(spec, "hard");
	for (uint32_t i = 0; i < hard->count; i++) {
		const struct bt_json_member *member = &hard->members[i];
		const struct bt_path at = *BT_PATH_KEY(BT_PATH_NAME(place, "hard"), member->name);
		struct bt_str requests = BT_STR("requests.");
		struct bt_str rest = bt_str_sub(member->name,
			bt_str_has_prefix(member->name, requests) ? requests.length : 0,
			BT_STR_MAX);
		bt_kinds_check_label_key(check->errors, &at, member->name);
		if (bt_str_find_char(member->name, '/') < 0 && !bt_resource_is_hugepage(rest) &&
			!bt_str_has_word(BT_STR(QUOTA_RESOURCES), member->name)) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID, &at,
				bt_json_new_str(check->errors->arena, member->name),
				"must be a standard resource for quota");
		}
	}
	bt_kinds_check_quantities(check->errors, BT_PATH_NAME(place, "hard"), hard);
	/* No pod can match both scopes. */
	if ((has_scope(spec, "BestEffort") && has_scope(spec, "NotBestEffort")) ||
		(has_scope(spec, "Terminating") && has_scope(spec, "NotTerminating"))) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, scopes_place,
			scopes->count != 0 ? scopes : NULL, "conflicting scopes");
	}
	/* The scope BestEffort can only limit the number of pods. */
	for (uint32_t i = 0; i < hard->count && has_scope(spec, "BestEffort"); i++) {
		if (!bt_str_equal_c(hard->members[i].name, "pods") &&
			!bt_str_equal_c(hard->members[i].name, "count/pods")) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID, scopes_place,
				scopes->count != 0 ? scopes : NULL,
				"unsupported scope applied to resource");
			return;
		}
	}
}

/** --- Event: two groups, stored in the form of the core group. Spec: 14 sections 6.3, 23 --- */

/** The members of Events that the two groups name differently. */
static const struct {
	const char *core;
	const char *events;
} event_names[] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
};

static void rename_members(struct bt_json_value *object, bool to_core)
{
	for (uint32_t i = 0; i < object->count; i++) {
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(event_names); n++) {
			const char *from = to_core ? event_names[n].events : event_names[n].core;
			if (bt_str_equal_c(object->members[i].name, from)) {
				object->members[i].name = bt_str_from(
					to_core ? event_names[n].core : event_names[n].events);
				break;
			}
		}
	}
}

static void from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	(void)write;
	rename_members(object, false);
}

static void to_stored(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const texts[] = {"reportingComponent", "reportingInstance"};
	rename_members(object, true);
	(void)bt_json_ensure_object(write->arena, object, "involvedObject");
	(void)bt_json_ensure_object(write->arena, object, "source");
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		if (bt_json_find(object, texts[i]) == NULL) {
			bt_json_set_c(write->arena, object, texts[i], "");
		}
	}
}

const struct bt_strategy bt_strategy_event_v1 = {
	.from_stored = from_stored,
	.to_stored = to_stored,
};

/** --- Namespace --- */

static void default_namespace(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_str name = bt_json_text_at(object, "metadata.name");
	/* if the name is still to be generated, prepare_namespace adds the label later */
	if (name.length != 0) {
		bt_json_put(write->arena, object,
			"{metadata: {labels: {'kubernetes.io/metadata.name': %s}}}", name);
	}
}

static void prepare_namespace(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *finalizers = bt_json_ensure_array(arena, spec, "finalizers");
	if (!bt_kinds_keeps_status(write, object)) {
		bt_json_put(arena, object, "{status: {phase: 'Active'}}");
	}
	if (!bt_json_has_text(finalizers, BT_STR("kubernetes"))) {
		bt_json_append(arena, finalizers, bt_json_new_c(arena, "kubernetes"));
	}
	default_namespace(write, object);
}

/** Finalizers change only through the finalize subresource. */
static void prepare_namespace_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	if (write->subresource != BT_SUBRESOURCE_FINALIZE) {
		bt_kinds_reset_member(
			write->arena, spec, bt_json_object_at(old, "spec"), "finalizers");
	}
}

const struct bt_strategy bt_strategy_namespace = {
	.name_rule = BT_NAME_LABEL,
	.resets_status = true,
	.set_defaults = default_namespace,
	.prepare_create = prepare_namespace,
	.prepare_update = prepare_namespace_update,
};

/** --- Node --- */

static void default_node(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *status = bt_json_ensure_object(arena, object, "status");
	struct bt_str cidr = bt_kinds_text(spec, "podCIDR");
	bt_kinds_round_quantities(arena, bt_kinds_object(status, "capacity"));
	bt_kinds_round_quantities(arena, bt_kinds_object(status, "allocatable"));
	if (bt_json_array_at(spec, "podCIDRs")->count == 0 && cidr.length != 0) {
		bt_json_append(arena, bt_json_ensure_array(arena, spec, "podCIDRs"),
			bt_json_new_str(arena, cidr));
	}
}

void bt_rule_node_spec(struct bt_check *check, BT_UNUSED const struct bt_path *place,
	const struct bt_json_value *spec)
{
	const struct bt_json_value *taints = bt_json_array_at(spec, "taints");
	const struct bt_path *metadata = BT_PATH_NAME(NULL, "metadata");
	struct bt_text_set seen = {0};
	for (uint32_t i = 0; i < taints->count; i++) {
		const struct bt_json_value *taint = taints->elements[i];
		if (!bt_text_set_add(&seen,
			    bt_arena_printf(check->errors->arena, "%.*s:%.*s",
				    BT_STR_ARG(bt_kinds_text(taint, "key")),
				    BT_STR_ARG(bt_kinds_text(taint, "effect"))))) {
			bt_kinds_error(check->errors, BT_FIELD_DUPLICATE,
				BT_PATH_INDEX(BT_PATH_NAME(metadata, "taints"), i), taint,
				"taints must be unique by key and effect pair");
		}
	}
	bt_text_set_finish(&seen);
}

const struct bt_strategy bt_strategy_node = {
	.validates_twice = true,
	.set_defaults = default_node,
};

/** --- roles and their bindings --- */

const struct bt_strategy bt_strategy_role = {.name_rule = BT_NAME_PATH};

/** --- fields of disabled features: spec 09 sections 1 and 2 --- */

/** Drops the member, unless the stored object has it, too. */
static void remove_unless_stored(
	struct bt_json_value *target, const struct bt_json_value *old, const char *name)
{
	if (target != NULL && bt_json_find(old, name) == NULL) {
		(void)bt_json_remove_c(target, name);
	}
}

static void remove_disabled_of_group(const struct bt_api_options *options,
	struct bt_json_value *group, const struct bt_json_value *old)
{
	if (!options->topology_aware_workload_scheduling) {
		remove_unless_stored(group, old, "schedulingConstraints");
	}
	if (!options->dra_workload_resource_claims) {
		remove_unless_stored(group, old, "resourceClaims");
	}
	if (!options->workload_aware_preemption) {
		remove_unless_stored(group, old, "disruptionMode");
		remove_unless_stored(group, old, "priorityClassName");
		remove_unless_stored(group, old, "priority");
	}
}

void bt_kinds_remove_disabled(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	/* Paths of pod specs: in pods and in objects with a pod template. */
	static const char *const pod_specs[] = {"spec", "spec.template.spec", "template.spec",
		"spec.jobTemplate.spec.template.spec"};
	const struct bt_api_options *options = bt_api_options(write->api);
	const char *name = write->resource->name;
	if (strcmp(write->resource->group, "scheduling.k8s.io") == 0) {
		const struct bt_json_value *templates =
			bt_json_array_at(object, "spec.podGroupTemplates");
		const struct bt_json_value *old_templates =
			bt_json_array_at(old, "spec.podGroupTemplates");
		if (strcmp(name, "podgroups") == 0) {
			remove_disabled_of_group(options, bt_kinds_object(object, "spec"),
				bt_kinds_object(old, "spec"));
		}
		for (uint32_t i = 0; i < templates->count; i++) {
			remove_disabled_of_group(options, templates->elements[i],
				i < old_templates->count ? old_templates->elements[i] : NULL);
		}
	} else if (!options->generic_workload &&
		(write->resource->flags & BT_RESOURCE_CUSTOM) == 0) {
		for (uint32_t i = strcmp(name, "pods") == 0 ? 0 : 1; i < BT_ARRAY_LENGTH(pod_specs);
			i++) {
			remove_unless_stored(bt_json_find_path(object, pod_specs[i]),
				bt_json_find_path(old, pod_specs[i]), "schedulingGroup");
		}
	}
}
