/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <check.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "framework/hint_marks.h"
#include "state/pod_groups.h"

static struct bt_str unquoted(struct fixture *fixture, const char *json)
{
	size_t length = strlen(json);
	char *text = bt_arena_alloc_bytes(&fixture->arena, length + 1);

	for (size_t i = 0; i <= length; i++) {
		text[i] = json[i] == '\'' ? '"' : json[i];
	}
	return (struct bt_str){text, (uint32_t)length};
}

static void decode(
	struct fixture *fixture, const struct bt_message *message, const char *json, void *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, unquoted(fixture, json));
	code = bt_message_decode_json(message, &reader, &fixture->arena, out, &err);
	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
}

struct bt_pod *fixture_pod(struct fixture *fixture, const char *json)
{
	struct bt_pod *pod = BT_ARENA_NEW(&fixture->arena, struct bt_pod);

	decode(fixture, &bt_pod_message, json, pod);
	if (pod->metadata.name.length == 0) {
		pod->metadata.name =
			bt_arena_printf(&fixture->arena, "pod-%u", fixture->pod_number);
	}
	if (pod->metadata.uid.length == 0) {
		pod->metadata.uid = bt_arena_printf(&fixture->arena, "uid-%u", fixture->pod_number);
	}
	if (pod->metadata.namespace_.length == 0) {
		pod->metadata.namespace_ = BT_STR("default");
	}
	fixture->pod_number++;
	return pod;
}

struct bt_node *fixture_node(struct fixture *fixture, const char *json)
{
	struct bt_node *node = BT_ARENA_NEW(&fixture->arena, struct bt_node);

	decode(fixture, &bt_node_message, json, node);
	return node;
}

/**
 * Sets the namespace "default" if the object has none. Every structure of a kind starts with its
 * metadata.
 */
static void set_default_namespace(void *object)
{
	struct bt_object_meta *meta = object;

	if (meta->namespace_.length == 0) {
		meta->namespace_ = BT_STR("default");
	}
}

void fixture_put(struct fixture *fixture, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *decoded = NULL;
	struct bt_object *object;
	void *copy;
	int code = bt_object_decode(unquoted(fixture, json), &decoded, &err);

	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
	copy = bt_arena_calloc(&fixture->arena, 1, bt_kind_info(decoded->kind)->size);
	memcpy(copy, decoded->value, bt_kind_info(decoded->kind)->size);
	if (bt_kind_info(decoded->kind)->namespaced) {
		set_default_namespace(copy);
	}
	object = bt_object_create(decoded->kind, copy);
	bt_object_release(decoded);
	bt_object_store_put(&fixture->state->objects, object);
}

void fixture_delete(
	struct fixture *fixture, enum bt_kind kind, const char *namespace_, const char *name)
{
	ck_assert_msg(bt_object_store_delete(&fixture->state->objects, kind,
			      bt_str_from(namespace_), bt_str_from(name)),
		"no object %s", name);
}

static void refresh(struct fixture *fixture)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(bt_state_refresh_snapshot(fixture->state, &err) == 0, "%s",
		berth_error_message(&err));
}

void fixture_add_node(struct fixture *fixture, const char *json)
{
	bt_state_add_node(fixture->state, fixture_node(fixture, json));
	refresh(fixture);
}

void fixture_add_pod(struct fixture *fixture, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_state_add_pod(fixture->state, fixture_pod(fixture, json), &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	refresh(fixture);
}

const struct bt_pod_info *fixture_pending(struct fixture *fixture, const char *json)
{
	struct bt_pod_info *info = BT_ARENA_NEW(&fixture->arena, struct bt_pod_info);

	bt_pod_info_init_pending(fixture->state, fixture_pod(fixture, json), info);
	bt_pod_groups_add_pending(fixture->state, info->object);
	bt_vec_push(&fixture->pods, info);
	return info;
}

uint32_t fixture_slot(struct fixture *fixture, const char *node_name)
{
	uint32_t slot = bt_state_snapshot_find(fixture->state, bt_str_from(node_name));

	ck_assert_msg(slot != BT_SLOT_NONE, "no node %s", node_name);
	return slot;
}

/*
 * Loads a whole configuration document, so that arguments are decoded and defaulted as in
 * production.
 */
static const struct bt_plugin_args *load_args(
	struct fixture *fixture, const char *plugin_name, const char *args)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = 0;

	if (args == NULL) {
		fixture->config = bt_config_create_default(&fixture->gates);
	} else {
		struct bt_str json = bt_arena_printf(&fixture->arena,
			"{'apiVersion':'kubescheduler.config.k8s.io/"
			"v1','kind':'KubeSchedulerConfiguration',"
			"'profiles':[{'pluginConfig':[{'name':'%s','args':%s}]}]}",
			plugin_name, args);

		code = bt_config_load(
			unquoted(fixture, json.data), &fixture->gates, &fixture->config, &err);
	}
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	return bt_config_profile_find_args(
		&fixture->config->document.profiles.items[0], bt_str_from(plugin_name));
}

void fixture_init_with(struct fixture *fixture, const struct bt_plugin_ops *ops, const char *gates,
	const char *args)
{
	static const struct bt_plugin_args no_args = {.kind = BT_ARGS_NONE};
	struct bt_state_options options = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_plugin_args *plugin_args;

	*fixture = (struct fixture){.gates = bt_gates_default()};
	if (gates != NULL) {
		ck_assert_msg(bt_gates_set(&fixture->gates, bt_str_from(gates), &err) == 0, "%s",
			berth_error_message(&err));
	}
	options.resource_gates.pod_level_resources =
		bt_gate_enabled(&fixture->gates, BT_GATE_POD_LEVEL_RESOURCES);
	options.resource_gates.in_place_pod_level_resources = bt_gate_enabled(
		&fixture->gates, BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING);
	options.resource_gates.dra_node_allocatable_resources =
		bt_gate_enabled(&fixture->gates, BT_GATE_DRA_NODE_ALLOCATABLE_RESOURCES);
	options.declared_features =
		bt_gate_enabled(&fixture->gates, BT_GATE_NODE_DECLARED_FEATURES);
	options.pod_groups = true;
	fixture->state = bt_state_create(&options);
	fixture->handle = (struct bt_handle){
		.state = fixture->state,
		.gates = &fixture->gates,
		.scheduler_name = BT_STR("default-scheduler"),
	};
	plugin_args = load_args(fixture, ops->name, args);
	ck_assert_msg(bt_plugin_create(ops, plugin_args != NULL ? plugin_args : &no_args,
			      &fixture->handle, &fixture->plugin, &err) == 0,
		"%s", berth_error_message(&err));
	fixture->plugin->index = 0;
	refresh(fixture);
}

void fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops)
{
	fixture_init_with(fixture, ops, NULL, NULL);
}

void fixture_finish(struct fixture *fixture)
{
	for (uint32_t i = 0; i < fixture->pods.count; i++) {
		bt_pod_info_finish_pending(fixture->state, fixture->pods.items[i]);
	}
	bt_vec_finish(&fixture->pods);
	bt_plugin_destroy(fixture->plugin);
	bt_config_unref(fixture->config);
	bt_state_destroy(fixture->state);
	bt_arena_finish(&fixture->arena);
}

const char *fixture_status_text(struct fixture *fixture, struct bt_status status)
{
	struct bt_str message = bt_status_message_str(&status, &fixture->arena);
	const char *code = bt_status_code_name(status.code);

	if (message.length == 0) {
		return code;
	}
	return bt_arena_printf(&fixture->arena, "%s: %.*s", code, BT_STR_ARG(message)).data;
}

static struct bt_status run_pre_filter(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	bt_cycle_state_init(cycle, &fixture->arena, 1);
	if (fixture->plugin->ops->pre_filter == NULL) {
		return BT_STATUS_OK;
	}
	return fixture->plugin->ops->pre_filter(fixture->plugin, cycle, pod, out_result);
}

const char *fixture_pre_filter(
	struct fixture *fixture, const char *pod, struct bt_pre_filter_result *out_result)
{
	struct bt_pre_filter_result result = {0};
	struct bt_cycle_state cycle;
	struct bt_status status =
		run_pre_filter(fixture, &cycle, fixture_pending(fixture, pod), &result);

	if (out_result != NULL) {
		*out_result = result;
	}
	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

static struct bt_status run_filter(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const char *node_name)
{
	struct bt_node_info node;

	bt_node_info_init(&node, fixture->state, fixture_slot(fixture, node_name));
	return fixture->plugin->ops->filter(fixture->plugin, cycle, pod, &node);
}

/*
 * Returns one of the two ranges by which a caller can request the slot's column entry: all slots,
 * or a list of this slot alone.
 */
static struct bt_slot_range range_of(const struct fixture *fixture, const uint32_t *slot, bool all)
{
	return all ? (struct bt_slot_range){.count = fixture->state->nodes.slot_count}
		   : (struct bt_slot_range){.slots = slot, .count = 1};
}

/* Asserts that the column form, if the plugin has one, gives the result of the plain form. */
static void check_filter_column(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_status plain)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(fixture->plugin);
	const void *data = cycle->pre_filter_data[0];

	if (shortcuts->filter_column == NULL ||
		(shortcuts->filter_fits_column != NULL &&
			!bt_shortcuts(fixture->plugin)
				 ->filter_fits_column(fixture->plugin, data, pod))) {
		return;
	}
	if (shortcuts->filter_needs_cells) {
		/* DynamicResources may need a first call to cache the devices of claims. */
		struct bt_trait_list traits = {.arena = &fixture->arena};

		if (!shortcuts->cell_traits(fixture->plugin, cycle, pod, &traits) &&
			!shortcuts->cell_traits(fixture->plugin, cycle, pod, &traits)) {
			return;
		}
	}
	for (int all = 0; all < 2; all++) {
		uint32_t *detail = BT_ARENA_NEW_ARRAY(
			&fixture->arena, uint32_t, fixture->state->nodes.slot_capacity);
		struct bt_status status = BT_STATUS_OK;
		bool rejects;

		detail[slot] = 77;
		rejects = bt_shortcuts(fixture->plugin)
				  ->filter_column(fixture->plugin, data, pod, fixture->state,
					  range_of(fixture, &slot, all != 0), detail);
		if (rejects && detail[slot] != 0) {
			status = bt_plugin_detail_status(
				fixture->plugin, data, pod, detail[slot], &fixture->arena);
		}
		fixture_expect("column form", fixture_status_text(fixture, status),
			fixture_status_text(fixture, plain));
	}
}

const char *fixture_filter(struct fixture *fixture, const char *pod, const char *node_name)
{
	struct bt_pre_filter_result result = {0};
	struct bt_cycle_state cycle;
	const struct bt_pod_info *info = fixture_pending(fixture, pod);
	struct bt_status status = run_pre_filter(fixture, &cycle, info, &result);

	if (bt_status_is_success(&status)) {
		status = run_filter(fixture, &cycle, info, node_name);
		check_filter_column(
			fixture, &cycle, info, fixture_slot(fixture, node_name), status);
	}
	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

const char *fixture_filter_alone(struct fixture *fixture, const char *pod, const char *node_name)
{
	struct bt_cycle_state cycle;
	struct bt_status status;

	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	status = run_filter(fixture, &cycle, fixture_pending(fixture, pod), node_name);
	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

static struct bt_status run_pre_score(
	struct fixture *fixture, struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	const struct bt_snapshot *snapshot = &fixture->state->snapshot;

	bt_cycle_state_init(cycle, &fixture->arena, 1);
	if (fixture->plugin->ops->pre_score == NULL) {
		return BT_STATUS_OK;
	}
	return fixture->plugin->ops->pre_score(
		fixture->plugin, cycle, pod, bt_snapshot_list(snapshot), snapshot->count);
}

const char *fixture_pre_score(struct fixture *fixture, const char *pod)
{
	struct bt_cycle_state cycle;
	struct bt_status status = run_pre_score(fixture, &cycle, fixture_pending(fixture, pod));

	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

static struct bt_status run_score(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const char *node_name, int64_t *out_score)
{
	struct bt_node_info node;

	bt_node_info_init(&node, fixture->state, fixture_slot(fixture, node_name));
	return fixture->plugin->ops->score(fixture->plugin, cycle, pod, &node, out_score);
}

static void check_score_column(struct fixture *fixture, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, int64_t plain)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(fixture->plugin);
	const void *data = cycle->pre_score_data[0];
	int32_t constant;

	if (shortcuts->score_column_data != NULL) {
		data = bt_shortcuts(fixture->plugin)
			       ->score_column_data(fixture->plugin, pod, &fixture->arena);
	}
	if (shortcuts->score_fits_column != NULL &&
		!shortcuts->score_fits_column(fixture->plugin, data, pod)) {
		return;
	}
	if (shortcuts->score_is_constant != NULL &&
		bt_shortcuts(fixture->plugin)
			->score_is_constant(
				fixture->plugin, data, pod, fixture->state, &constant)) {
		ck_assert_int_eq(constant, plain);
	}
	for (int all = 0; shortcuts->score_column != NULL && all < 2; all++) {
		int32_t *scores = BT_ARENA_NEW_ARRAY(
			&fixture->arena, int32_t, fixture->state->nodes.slot_capacity);

		scores[slot] = -77;
		if (!shortcuts->score_column(fixture->plugin, data, pod, fixture->state,
			    range_of(fixture, &slot, all != 0), scores)) {
			scores[slot] = 0;
		}
		ck_assert_msg(scores[slot] == plain, "column form: %d, plain form: %lld",
			scores[slot], (long long)plain);
	}
}

int64_t fixture_score(struct fixture *fixture, const char *pod, const char *node_name)
{
	struct bt_cycle_state cycle;
	const struct bt_pod_info *info = fixture_pending(fixture, pod);
	struct bt_status status = run_pre_score(fixture, &cycle, info);
	int64_t score = -1;

	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	status = run_score(fixture, &cycle, info, node_name, &score);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	check_score_column(fixture, &cycle, info, fixture_slot(fixture, node_name), score);
	bt_cycle_state_finish(&cycle);
	return score;
}

const char *fixture_score_alone(
	struct fixture *fixture, const char *pod, const char *node_name, int64_t *out_score)
{
	struct bt_cycle_state cycle;
	struct bt_status status;

	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	status = run_score(fixture, &cycle, fixture_pending(fixture, pod), node_name, out_score);
	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

/** Returns "CSINode" for "storage.k8s.io/CSINode". */
static struct bt_str without_group(struct bt_str resource)
{
	int64_t slash = bt_str_find_last_char(resource, '/');

	return slash < 0 ? resource : bt_str_sub(resource, (uint32_t)slash + 1, resource.length);
}

static const void *event_object(struct fixture *fixture, const char *resource, const char *json)
{
	void *object;

	if (json == NULL) {
		return NULL;
	}
	if (strcmp(resource, "Pod") == 0) {
		return fixture_pod(fixture, json);
	}
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);
		if (strcmp(info->name, resource) != 0) {
			continue;
		}
		object = bt_arena_calloc(&fixture->arena, 1, info->size);
		decode(fixture, info->message, json, object);
		if (info->namespaced) {
			set_default_namespace(object);
		}
		return object;
	}
	ck_abort_msg("no kind %s", resource);
}

/**
 * Returns whether the event offers no mark that the pod's shape wants, or less than the shape
 * needs; false for events about the pod itself.
 */
static bool is_screened(struct fixture *fixture, const struct bt_pod_info *pod,
	const struct bt_cluster_event *event, const void *old_object, const void *new_object)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(fixture->plugin);
	/* Every object begins with its metadata. */
	const struct bt_object_meta *meta = new_object != NULL ? new_object : old_object;
	struct bt_hint_wants wants = {0};
	struct bt_hint_offers offers = {0};
	int64_t needs[BT_HINT_NEEDS];
	int64_t most[BT_HINT_NEEDS];
	bool is_above = false;

	if (bt_str_equal(meta->uid, pod->uid)) {
		return false;
	}
	if (shortcuts->hint_needs != NULL) {
		shortcuts->hint_needs(fixture->plugin, pod->shape, needs);
		if (shortcuts->hint_limits(fixture->plugin, event, old_object, new_object, most)) {
			for (uint32_t i = 0; i < BT_HINT_NEEDS; i++) {
				is_above |= needs[i] > most[i];
			}
		}
		return is_above;
	}
	if (shortcuts->hint_wants == NULL) {
		return false;
	}
	bt_hint_offer(&offers, BT_HINT_MARK_ALWAYS);
	shortcuts->hint_wants(fixture->plugin, pod->shape, &wants);
	return shortcuts->hint_offers(fixture->plugin, event, old_object, new_object, &offers) &&
		!bt_hint_is_offered(&offers, &wants);
}

enum fixture_hint fixture_hint(struct fixture *fixture, const char *resource, uint32_t action,
	const struct bt_pod_info *pod, const char *old_json, const char *new_json,
	const char **out_error)
{
	const struct bt_event_registration *events = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	bool hint = true;
	uint32_t count = 0;
	uint32_t i = 0;

	ck_assert_int_eq(bt_plugin_events_to_register(fixture->plugin, &events, &count, NULL), 0);
	while (i < count &&
		!((bt_str_equal_c(events[i].event.resource, resource) ||
			  bt_str_equal_c(without_group(events[i].event.resource), resource)) &&
			(events[i].event.action & action) != 0)) {
		i++;
	}
	if (i == count) {
		return FIXTURE_NOT_REGISTERED;
	}
	if (events[i].hint != NULL) {
		const struct bt_cluster_event event = {events[i].event.resource, action};
		const void *old_object = event_object(fixture, resource, old_json);
		const void *new_object = event_object(fixture, resource, new_json);

		const struct bt_hint_call call = {
			fixture->plugin, pod, old_object, new_object, i, &err};

		hint = events[i].hint(&call);
		if (is_screened(fixture, pod, &event, old_object, new_object)) {
			ck_assert(!hint);
			fixture->screened_count++;
		}
	}
	if (out_error != NULL) {
		*out_error =
			bt_arena_str(&fixture->arena, bt_str_from(berth_error_message(&err))).data;
	}
	berth_error_finish(&err);
	return hint ? FIXTURE_QUEUE : FIXTURE_SKIP;
}

const char *fixture_sign(struct fixture *fixture, const char *pod)
{
	struct bt_sign_fragments fragments = {.arena = &fixture->arena};
	struct bt_status status = fixture->plugin->ops->sign(
		fixture->plugin, fixture_pending(fixture, pod), &fragments);
	struct bt_strbuf text = {0};
	struct bt_str result;

	if (!bt_status_is_success(&status)) {
		bt_vec_finish(&fragments.items);
		return fixture_status_text(fixture, status);
	}
	for (uint32_t i = 0; i < fragments.items.count; i++) {
		bt_strbuf_append_str(&text, fragments.items.items[i].key);
		bt_strbuf_append_char(&text, '=');
		bt_strbuf_append_str(&text, fragments.items.items[i].value);
		bt_strbuf_append_char(&text, '\n');
	}
	result = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_vec_finish(&fragments.items);
	return result.data;
}

void fixture_expect(const char *row, const char *actual, const char *expected)
{
	ck_assert_msg(strcmp(actual, expected) == 0, "%s: got <%s>, expected <%s>", row, actual,
		expected);
}
