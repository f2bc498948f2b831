/* SPDX-License-Identifier: Apache-2.0 */
#include "preemption_fixture.h"

#include <check.h>

#include "base/error.h"
#include "plugins/registry.h"
#include "preemption_pods.h"

/** --- informer --- */

static struct bt_pod **find_known(
	struct preemption_fixture *fixture, struct bt_str namespace_, struct bt_str name)
{
	for (uint32_t i = 0; i < fixture->known.count; i++) {
		struct bt_pod *pod = fixture->known.items[i];

		if (bt_str_equal(pod->metadata.name, name) &&
			bt_str_equal(pod->metadata.namespace_, namespace_)) {
			return &fixture->known.items[i];
		}
	}
	return NULL;
}

static const struct bt_pod *find_in_informer(
	void *context, struct bt_str namespace_, struct bt_str name)
{
	struct bt_pod **found = find_known(context, namespace_, name);

	return found != NULL ? *found : NULL;
}

static void learn(struct preemption_fixture *fixture, struct bt_pod *pod)
{
	struct bt_pod **known = find_known(fixture, pod->metadata.namespace_, pod->metadata.name);

	if (known != NULL) {
		*known = pod;
	} else {
		bt_vec_push(&fixture->known, pod);
	}
}

void preemption_informer_set(struct preemption_fixture *fixture, const char *pod)
{
	learn(fixture, preemption_make_pod(&fixture->arena, bt_str_from(pod), NULL));
}

void preemption_informer_remove(struct preemption_fixture *fixture, const char *name)
{
	struct bt_pod **known = find_known(fixture, BT_STR("default"), bt_str_from(name));

	ck_assert_msg(known != NULL, "the informer has no pod %s", name);
	*known = fixture->known.items[--fixture->known.count];
}

/** --- set-up and tear-down --- */

static struct bt_str profile_json(
	struct preemption_fixture *fixture, const struct preemption_options *options)
{
	const char *args = options->args != NULL ? options->args : "{}";
	struct bt_str list =
		bt_str_from(options->plugins != NULL ? options->plugins : "NodeResourcesFit");
	struct bt_strbuf text = {0};
	struct bt_str result;

	bt_strbuf_printf(&text,
		"{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':"
		"'KubeSchedulerConfiguration','profiles':[{'pluginConfig':[{'name':"
		"'DefaultPreemption','args':%s}]",
		args);
	if (!bt_str_equal_c(list, "*")) {
		bt_strbuf_append_c(&text,
			",'plugins':{'multiPoint':{'disabled':[{'name':'*'}],'enabled':["
			"{'name':'PrioritySort'}");
		while (list.length != 0) {
			struct bt_str name = preemption_next_word(&list, ',');

			bt_strbuf_printf(&text, ",{'name':'%.*s'}", BT_STR_ARG(name));
		}
		bt_strbuf_append_c(
			&text, ",{'name':'DefaultPreemption'},{'name':'DefaultBinder'}]}}");
	}
	bt_strbuf_append_c(&text, "}]}");
	result = preemption_unquoted(&fixture->arena, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return result;
}

static void create_state(struct preemption_fixture *fixture)
{
	struct bt_state_options options = {0};
	const struct bt_gates *gates = &fixture->gates;

	options.resource_gates.pod_level_resources =
		bt_gate_enabled(gates, BT_GATE_POD_LEVEL_RESOURCES);
	options.resource_gates.in_place_pod_level_resources =
		bt_gate_enabled(gates, BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING);
	options.declared_features = bt_gate_enabled(gates, BT_GATE_NODE_DECLARED_FEATURES);
	fixture->state = bt_state_create(&options);
}

static void create_framework(
	struct preemption_fixture *fixture, const struct preemption_options *options)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code;

	fixture->registry = (struct bt_registry){0};
	code = bt_register_in_tree_plugins(&fixture->registry, &err);
	if (code == 0 && options->extra != NULL) {
		code = bt_registry_register(&fixture->registry, options->extra, &err);
	}
	if (code == 0) {
		code = bt_config_load(
			profile_json(fixture, options), &fixture->gates, &fixture->config, &err);
	}
	if (code == 0) {
		code = bt_framework_create(&fixture->registry, fixture->config, 0, fixture->state,
			&fixture->nominator, &fixture->framework, &err);
	}
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

static void refresh(struct preemption_fixture *fixture)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(bt_state_refresh_snapshot(fixture->state, &err) == 0, "%s",
		berth_error_message(&err));
}

void preemption_init(struct preemption_fixture *fixture, const struct preemption_options *options)
{
	static const struct preemption_options none = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_handle *handle;

	options = options != NULL ? options : &none;
	*fixture = (struct preemption_fixture){.gates = bt_gates_default()};
	if (options->gates != NULL) {
		ck_assert_msg(bt_gates_set(&fixture->gates, bt_str_from(options->gates), &err) == 0,
			"%s", berth_error_message(&err));
	}
	create_state(fixture);
	bt_nominator_init(&fixture->nominator, fixture->state);
	create_framework(fixture, options);
	bt_waiting_pods_init(&fixture->waiting);
	fixture->lister = (struct bt_pod_lister){find_in_informer, fixture};
	handle = &fixture->framework->handle;
	handle->pods = &fixture->lister;
	handle->waiting_pods = &fixture->waiting;
	handle->verify = true;
	fixture->evaluator = bt_default_preemption_evaluator(fixture->framework);
	ck_assert_ptr_nonnull(fixture->evaluator);
	refresh(fixture);
}

static void end_cycle(struct preemption_fixture *fixture)
{
	if (fixture->cycle_open) {
		bt_cycle_state_finish(&fixture->cycle);
		fixture->cycle_open = false;
	}
}

void preemption_finish(struct preemption_fixture *fixture)
{
	end_cycle(fixture);
	bt_waiting_pods_finish(&fixture->waiting);
	bt_framework_destroy(fixture->framework);
	bt_nominator_finish(&fixture->nominator);
	for (uint32_t i = 0; i < fixture->pods.count; i++) {
		bt_pod_info_finish_pending(fixture->state, fixture->pods.items[i]);
	}
	bt_vec_finish(&fixture->pods);
	bt_vec_finish(&fixture->known);
	bt_vec_finish(&fixture->statuses.entries);
	bt_strbuf_finish(&fixture->log);
	bt_vec_finish(&fixture->registry.entries);
	bt_config_unref(fixture->config);
	bt_state_destroy(fixture->state);
	bt_arena_finish(&fixture->arena);
}

/** --- the cluster --- */

void preemption_add_node_labels(struct preemption_fixture *fixture, const char *name,
	const char *allocatable, const char *labels)
{
	struct bt_node *node = BT_ARENA_NEW(&fixture->arena, struct bt_node);

	preemption_decode(&fixture->arena, &bt_node_message,
		bt_arena_printf(&fixture->arena,
			"{'metadata':{'name':'%s','labels':{%s}},'status':{'allocatable':{%s}}}",
			name, labels, allocatable)
			.data,
		node);
	bt_state_add_node(fixture->state, node);
	refresh(fixture);
}

void preemption_add_node(
	struct preemption_fixture *fixture, const char *name, const char *allocatable)
{
	preemption_add_node_labels(fixture, name, allocatable, "");
}

void preemption_add_pods(struct preemption_fixture *fixture, const char *node, const char *pods)
{
	struct bt_str rest = bt_str_from(pods);

	while (rest.length != 0) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_pod *pod = preemption_make_pod(
			&fixture->arena, preemption_next_word(&rest, ' '), node);
		int code = bt_state_add_pod(fixture->state, pod, &err);

		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
		learn(fixture, pod);
	}
	refresh(fixture);
}

void preemption_put(struct preemption_fixture *fixture, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *decoded = NULL;
	struct bt_object_meta *meta;
	void *copy;
	int code = bt_object_decode(preemption_unquoted(&fixture->arena, json), &decoded, &err);

	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
	copy = bt_arena_calloc(&fixture->arena, 1, bt_kind_info(decoded->kind)->size);
	memcpy(copy, decoded->value, bt_kind_info(decoded->kind)->size);
	/* Every structure of a kind starts with its metadata. */
	meta = copy;
	if (meta->namespace_.length == 0) {
		meta->namespace_ = BT_STR("default");
	}
	bt_object_store_put(&fixture->state->objects, bt_object_create(decoded->kind, copy));
	bt_object_release(decoded);
}

void preemption_add_budget(struct preemption_fixture *fixture, const char *name,
	const char *selector, int allowed, const char *disrupted)
{
	const char *spec = selector != NULL
		? bt_arena_printf(&fixture->arena, "'selector':%s", selector).data
		: "";
	const char *pods = disrupted != NULL
		? bt_arena_printf(&fixture->arena, ",'disruptedPods':%s", disrupted).data
		: "";

	preemption_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':"
			"'%s'},'spec':{%s},'status':{'disruptionsAllowed':%d%s}}",
			name, spec, allowed, pods)
			.data);
}

static struct bt_pod_info *make_pending(struct preemption_fixture *fixture, const char *text)
{
	struct bt_pod_info *info = BT_ARENA_NEW(&fixture->arena, struct bt_pod_info);
	struct bt_pod *pod = preemption_make_pod(&fixture->arena, bt_str_from(text), NULL);

	bt_pod_info_init_pending(fixture->state, pod, info);
	bt_vec_push(&fixture->pods, info);
	learn(fixture, pod);
	return info;
}

const struct bt_pod_info *preemption_pending(struct preemption_fixture *fixture, const char *pod)
{
	return make_pending(fixture, pod);
}

const struct bt_pod_info *preemption_nominate(
	struct preemption_fixture *fixture, const char *pod, const char *node, bool queued)
{
	const struct bt_pod_info *info = make_pending(fixture, pod);

	bt_nominator_add(&fixture->nominator, info, bt_str_from(node), queued);
	return info;
}

uint32_t preemption_pod_id(struct preemption_fixture *fixture, const char *name)
{
	uint32_t id =
		bt_state_find_pod(fixture->state, bt_arena_printf(&fixture->arena, "uid-%s", name));

	ck_assert_msg(id != BT_POD_NONE, "no pod %s", name);
	return id;
}

uint32_t preemption_slot(struct preemption_fixture *fixture, const char *node)
{
	uint32_t slot = bt_state_snapshot_find(fixture->state, bt_str_from(node));

	ck_assert_msg(slot != BT_SLOT_NONE, "no node %s", node);
	return slot;
}

/** --- runs --- */

const char *preemption_status_text(struct preemption_fixture *fixture, struct bt_status status)
{
	struct bt_str message = bt_status_message_str(&status, &fixture->arena);
	const char *code = bt_status_code_name((enum bt_status_code)status.code);

	return message.length == 0
		? code
		: bt_arena_printf(&fixture->arena, "%s: %.*s", code, BT_STR_ARG(message)).data;
}

/** Runs PreFilter in a new cycle and returns its status. */
static struct bt_status begin_cycle(
	struct preemption_fixture *fixture, const struct bt_pod_info *pod)
{
	end_cycle(fixture);
	bt_cycle_state_init(&fixture->cycle, &fixture->arena, fixture->framework->instances.count);
	fixture->cycle_open = true;
	return bt_run_pre_filter(fixture->framework, &fixture->cycle, pod).status;
}

const char *preemption_begin_cycle(
	struct preemption_fixture *fixture, const struct bt_pod_info *pod)
{
	return preemption_status_text(fixture, begin_cycle(fixture, pod));
}

static void add_status(struct preemption_fixture *fixture, uint32_t slot, struct bt_status status)
{
	struct bt_node_status_entry entry = {slot, status};

	bt_vec_push(&fixture->statuses.entries, entry);
}

static void filter_all(struct preemption_fixture *fixture, const struct bt_pod_info *pod)
{
	const struct bt_snapshot *snapshot = &fixture->state->snapshot;

	for (uint32_t i = 0; i < snapshot->count; i++) {
		struct bt_node_info node;
		struct bt_status status;

		bt_node_info_init(&node, fixture->state, bt_snapshot_list(snapshot)[i]);
		status = bt_run_filter_with_nominated_pods(
			fixture->framework, &fixture->cycle, pod, &node);
		if (!bt_status_is_success(&status)) {
			add_status(fixture, bt_snapshot_list(snapshot)[i], status);
		}
	}
}

static void read_statuses(struct preemption_fixture *fixture, const char *text)
{
	struct bt_str rest = bt_str_from(text);

	while (rest.length != 0) {
		struct bt_str code = preemption_next_word(&rest, ' ');
		struct bt_str node = preemption_next_word(&code, ':');
		struct bt_status status = bt_status_code_only(bt_str_equal_c(code, "U")
				? BT_STATUS_UNSCHEDULABLE
				: BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);

		if (bt_str_equal_c(code, "P")) {
			status = bt_status_code_only(BT_STATUS_PENDING);
		}
		if (bt_str_equal_c(node, "*")) {
			fixture->statuses.absent = status;
		} else {
			add_status(fixture, bt_state_snapshot_find(fixture->state, node), status);
		}
	}
}

const char *preemption_run(
	struct preemption_fixture *fixture, const struct bt_pod_info *pod, const char *statuses)
{
	struct bt_status pre_filter = begin_cycle(fixture, pod);
	struct bt_status status;

	fixture->statuses.entries.count = 0;
	fixture->statuses.absent = bt_status_is_success(&pre_filter)
		? bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE)
		: pre_filter;
	if (statuses != NULL) {
		read_statuses(fixture, statuses);
	} else if (bt_status_is_success(&pre_filter)) {
		filter_all(fixture, pod);
	}
	status = bt_run_post_filter(
		fixture->framework, &fixture->cycle, pod, &fixture->statuses, &fixture->result);
	fixture->decision = bt_default_preemption_decision(fixture->framework, &fixture->cycle);
	return preemption_status_text(fixture, status);
}
