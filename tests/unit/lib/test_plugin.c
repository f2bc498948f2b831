/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spec 02 sections 4, 5, 11 and 12: a plugin written against the public headers, in an engine. The
 * plugin uses only public functions; the tests also look into the engine.
 */
#include "berth/plugin.h"

#include <stddef.h>

#include "berth/registry.h"

#include "base/strbuf.h"
#include "framework/batch.h"
#include "framework/events.h"
#include "framework/waiting_pods.h"
#include "lib/document.h"
#include "lib/registry.h"
#include "sched/engine.h"

#include "test_main.h"

/** --- the plugin --- */

struct probe {
	struct berth_plugin base;
	const struct berth_handle *handle;
	struct bt_strbuf log; /* one word per call */
	bool destroyed;
	bool unknown_code; /* Filter returns an unknown code */
	bool slow_bind;    /* PreBind and Bind are not finished at the first call */
	uint32_t pre_bind_calls;
	uint32_t bind_calls;
	uint32_t pre_scored;
	uint32_t pods_seen; /* number of pods in the snapshot, in Permit */
};

struct probe_data {
	struct berth_state_data base;
	int pods;
};

static struct probe *probe_of(struct berth_plugin *plugin)
{
	return (struct probe *)(void *)plugin;
}

static void note(struct berth_plugin *plugin, const char *word)
{
	bt_strbuf_printf(&probe_of(plugin)->log, "%s ", word);
}

static bool has_label(const struct berth_pod_info *pod, const char *key)
{
	return berth_pod_info_label(pod, berth_str_from(key)).data != NULL;
}

static struct berth_status probe_pre_enqueue(
	struct berth_plugin *plugin, const struct berth_pod_info *pod, struct berth_arena *arena)
{
	note(plugin, "PreEnqueue");
	return has_label(pod, "gated")
		? berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "gated by the probe")
		: BERTH_STATUS_SUCCESS;
}

static bool probe_less(struct berth_plugin *plugin, const struct berth_queued_pod *a,
	const struct berth_queued_pod *b)
{
	(void)plugin;
	ck_assert_int_eq(a->initial_attempt_timestamp_ns, BERTH_TIME_UNSET);
	ck_assert_uint_eq(a->attempts, 4);
	return a->timestamp_ns > b->timestamp_ns;
}

static enum berth_queueing_hint skip_hint(struct berth_plugin *plugin,
	const struct berth_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	(void)plugin;
	(void)err;
	ck_assert_ptr_null(old_object);
	ck_assert(berth_str_equal_c(berth_pod_name(new_object), "web"));
	ck_assert(berth_str_equal_c(berth_pod_info_name(pod), "web"));
	return BERTH_QUEUEING_HINT_SKIP;
}

static enum berth_queueing_hint queue_hint(struct berth_plugin *plugin,
	const struct berth_pod_info *pod, const void *old_object, const void *new_object,
	struct berth_error *err)
{
	(void)pod;
	(void)old_object;
	(void)new_object;
	(void)err;
	note(plugin, "hint");
	return BERTH_QUEUEING_HINT_QUEUE;
}

static int probe_events_to_register(struct berth_plugin *plugin,
	const struct berth_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	static const struct berth_event_registration events[] = {
		{{{"Pod", 3}, BERTH_ACTION_ADD}, skip_hint},
		{{{"Node", 4}, BERTH_ACTION_UPDATE}, queue_hint},
		{{{"Node", 4}, BERTH_ACTION_DELETE}, NULL},
	};

	(void)plugin;
	(void)err;
	*out_events = events;
	*out_count = 3;
	return 0;
}

static struct berth_status probe_sign(struct berth_plugin *plugin, const struct berth_pod_info *pod,
	struct berth_sign_fragments *fragments)
{
	(void)plugin;
	berth_sign_fragments_add(
		fragments, BERTH_STR("probe"), berth_pod_info_label(pod, BERTH_STR("signed")));
	return BERTH_STATUS_SUCCESS;
}

static struct berth_state_data *clone_data(
	const struct berth_state_data *data, struct berth_arena *arena)
{
	struct probe_data *copy = berth_arena_alloc(arena, sizeof(*copy));

	*copy = *(const struct probe_data *)(const void *)data;
	return &copy->base;
}

static struct berth_status probe_pre_filter(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_pre_filter_result *out_result)
{
	static const struct berth_str names[] = {{"n2", 2}, {"n3", 2}};
	struct probe_data *data = berth_arena_alloc(berth_cycle_state_arena(state), sizeof(*data));

	note(plugin, "PreFilter");
	data->base.clone = clone_data;
	berth_cycle_state_write(state, BERTH_STR("Probe"), &data->base);
	if (has_label(pod, "narrow")) {
		*out_result = (struct berth_pre_filter_result){true, 2, names};
	}
	return BERTH_STATUS_SUCCESS;
}

static struct probe_data *data_of(const struct berth_cycle_state *state)
{
	struct berth_state_data *data = NULL;

	ck_assert_int_eq(berth_cycle_state_read(state, BERTH_STR("Probe"), &data, NULL), 0);
	return (struct probe_data *)(void *)data;
}

static struct berth_status probe_add_pod(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod_to_schedule,
	const struct berth_pod_info *pod_to_add, const struct berth_node_info *node)
{
	(void)plugin;
	(void)pod_to_schedule;
	(void)pod_to_add;
	(void)node;
	data_of(state)->pods++;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_remove_pod(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod_to_schedule,
	const struct berth_pod_info *pod_to_remove, const struct berth_node_info *node)
{
	(void)plugin;
	(void)pod_to_schedule;
	(void)pod_to_remove;
	(void)node;
	data_of(state)->pods--;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_filter(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node)
{
	struct berth_arena *arena = berth_cycle_state_arena(state);

	if (probe_of(plugin)->unknown_code) {
		return (struct berth_status){.code = 77, .plugin = 999};
	}
	if (has_label(pod, "nowhere") ||
		berth_node_info_label(node, BERTH_STR("bad")).data != NULL) {
		return berth_status_printf(arena, BERTH_CODE_UNSCHEDULABLE, "not %.*s",
			BERTH_STR_ARG(berth_node_info_name(node)));
	}
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_post_filter(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result)
{
	struct berth_status status = berth_node_to_status_get(statuses, BERTH_STR("n1"));
	struct berth_status listed;

	(void)pod;
	note(plugin, "PostFilter");
	ck_assert_uint_eq(berth_node_to_status_count(statuses), 3);
	ck_assert_uint_eq(berth_node_to_status_at(statuses, 2, &listed).length, 2);
	ck_assert_int_eq(listed.code, BERTH_CODE_UNSCHEDULABLE);
	ck_assert(berth_str_equal_c(
		berth_status_message(&status, berth_cycle_state_arena(state)), "not n1"));
	ck_assert_int_eq(berth_node_to_status_get(statuses, BERTH_STR("none")).code,
		BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE);
	*out_result =
		(struct berth_post_filter_result){true, BERTH_NOMINATING_OVERRIDE, BERTH_STR("n2")};
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_pre_score(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count)
{
	(void)state;
	(void)pod;
	note(plugin, "PreScore");
	probe_of(plugin)->pre_scored = node_count;
	for (uint32_t i = 0; i < node_count; i++) {
		ck_assert_uint_eq(berth_node_info_name(nodes[i]).length, 2);
	}
	return BERTH_STATUS_SUCCESS;
}

/** Prefers n3. */
static struct berth_status probe_score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node, int64_t *out_score)
{
	struct berth_str name = berth_node_info_name(node);

	(void)plugin;
	(void)state;
	(void)pod;
	*out_score = (name.data[1] - '0') * 1000;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_normalize(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_node_score_list *scores)
{
	(void)state;
	(void)pod;
	note(plugin, "NormalizeScore");
	for (uint32_t i = 0; i < scores->count; i++) {
		ck_assert_int_eq(
			scores->items[i].score, (scores->items[i].name.data[1] - '0') * 1000);
		scores->items[i].score = scores->items[i].score == 3000 ? BERTH_MAX_NODE_SCORE
									: BERTH_MIN_NODE_SCORE;
	}
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_reserve(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	(void)state;
	(void)pod;
	ck_assert(berth_str_equal_c(node_name, "n3"));
	note(plugin, "Reserve");
	return BERTH_STATUS_SUCCESS;
}

static void probe_unreserve(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)state;
	(void)pod;
	(void)node_name;
	note(plugin, "Unreserve");
}

/* seed-map 001.142: counts the snapshot's pods, which do not include the pod of this cycle */
static uint32_t count_snapshot_pods(
	const struct berth_shared_lister *lister, struct berth_arena *arena)
{
	uint32_t node_count = 0;
	uint32_t pods = 0;
	const struct berth_node_info *const *nodes =
		berth_shared_lister_list(lister, arena, &node_count);

	ck_assert_uint_eq(node_count, berth_shared_lister_count(lister));
	for (uint32_t i = 0; i < node_count; i++) {
		uint32_t count = berth_node_info_pod_count(nodes[i]);

		for (uint32_t p = 0; p < count; p++) {
			ck_assert(
				berth_pod_info_node_name(berth_node_info_pod_at(nodes[i], p, arena))
					.length == 2);
		}
		pods += count;
	}
	return pods;
}

static struct berth_status probe_permit(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, int64_t *out_timeout_ns)
{
	struct berth_arena *arena = berth_cycle_state_arena(state);
	struct probe *probe = probe_of(plugin);

	(void)node_name;
	note(plugin, "Permit");
	probe->pods_seen =
		count_snapshot_pods(berth_handle_snapshot_shared_lister(probe->handle), arena);
	if (has_label(pod, "wait")) {
		*out_timeout_ns = 5;
		return berth_status_reason(arena, BERTH_CODE_WAIT, NULL);
	}
	return has_label(pod, "refuse")
		? berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE, "refused")
		: BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_pre_flight(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name, bool *out_allow_parallel)
{
	(void)state;
	(void)pod;
	(void)node_name;
	note(plugin, "PreBindPreFlight");
	*out_allow_parallel = true;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_pre_bind(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name)
{
	struct probe *probe = probe_of(plugin);

	(void)pod;
	(void)node_name;
	note(plugin, "PreBind");
#ifndef BT_DEBUG
	ck_assert_ptr_null(berth_handle_snapshot_shared_lister(probe->handle));
#endif
	if (probe->slow_bind && probe->pre_bind_calls++ == 0) {
		berth_cycle_state_wake_at(state, 11);
		return berth_status_reason(NULL, BERTH_CODE_WAIT, NULL);
	}
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	struct probe *probe = probe_of(plugin);

	(void)pod;
	(void)node_name;
	note(plugin, "Bind");
	if (probe->slow_bind && probe->bind_calls++ == 0) {
		berth_cycle_state_wake_at(state, 12);
		return berth_status_reason(NULL, BERTH_CODE_WAIT, NULL);
	}
	return probe->slow_bind ? BERTH_STATUS_SUCCESS
				: berth_status_reason(NULL, BERTH_CODE_SKIP, NULL);
}

static void probe_post_bind(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)state;
	(void)pod;
	(void)node_name;
	note(plugin, "PostBind");
}

static struct berth_status probe_generate(struct berth_plugin *plugin, struct berth_arena *arena,
	struct berth_str group_namespace, struct berth_str group_name,
	const struct berth_placement *parent, const struct berth_placement **out_placements,
	uint32_t *out_count)
{
	static const struct berth_str lost[] = {{"lost", 4}};
	struct berth_placement *placements = berth_arena_alloc(arena, 2 * sizeof(*placements));

	(void)plugin;
	(void)group_namespace;
	placements[0] = (struct berth_placement){BERTH_STR("first"), parent->node_names, 1};
	placements[1] = (struct berth_placement){
		BERTH_STR("rest"), parent->node_names + 1, parent->node_count - 1};
	if (berth_str_equal_c(group_name, "lost")) {
		placements[1] = (struct berth_placement){BERTH_STR("lost"), lost, 1};
	}
	*out_placements = placements;
	*out_count = 2;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_score_placement(struct berth_plugin *plugin,
	struct berth_arena *arena, const struct berth_placement *placement,
	const struct berth_pod_info *const *pods, uint32_t pod_count, int64_t *out_score)
{
	(void)plugin;
	(void)arena;
	(void)pods;
	*out_score = placement->node_count + pod_count;
	return BERTH_STATUS_SUCCESS;
}

static struct berth_status probe_normalize_placements(
	struct berth_plugin *plugin, struct berth_arena *arena, int64_t *scores, uint32_t count)
{
	(void)plugin;
	(void)arena;
	for (uint32_t i = 0; i < count; i++) {
		scores[i] *= 10;
	}
	return BERTH_STATUS_SUCCESS;
}

static void probe_destroy(struct berth_plugin *plugin)
{
	probe_of(plugin)->destroyed = true;
	bt_strbuf_finish(&probe_of(plugin)->log);
}

static const struct berth_pre_filter_extensions extensions = {probe_add_pod, probe_remove_pod};
static const struct berth_score_extensions score_extensions = {probe_normalize};

static const struct berth_plugin_ops probe_ops = {
	.size = sizeof(struct berth_plugin_ops),
	.name = "Probe",
	.destroy = probe_destroy,
	.pre_enqueue = probe_pre_enqueue,
	.less = probe_less,
	.events_to_register = probe_events_to_register,
	.sign = probe_sign,
	.pre_filter = probe_pre_filter,
	.pre_filter_extensions = &extensions,
	.filter = probe_filter,
	.post_filter = probe_post_filter,
	.pre_score = probe_pre_score,
	.score = probe_score,
	.score_extensions = &score_extensions,
	.reserve = probe_reserve,
	.unreserve = probe_unreserve,
	.permit = probe_permit,
	.pre_bind_pre_flight = probe_pre_flight,
	.pre_bind = probe_pre_bind,
	.bind = probe_bind,
	.post_bind = probe_post_bind,
	.generate_placements = probe_generate,
	.score_placement = probe_score_placement,
	.normalize_placement_scores = probe_normalize_placements,
};

static int create_probe(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	struct probe *probe = context;

	(void)err;
	ck_assert(berth_str_equal_c(args->raw, "{\"depth\":3}"));
	ck_assert(berth_str_equal_c(berth_handle_scheduler_name(handle), "default-scheduler"));
	probe->base.ops = &probe_ops;
	probe->handle = handle;
	*out_plugin = &probe->base;
	return BERTH_OK;
}

/** --- a world with the plugin --- */

#define CONFIG \
	"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":" \
	"\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{\"multiPoint\":{" \
	"\"disabled\":[{\"name\":\"*\"}],\"enabled\":[{\"name\":\"Probe\"}," \
	"{\"name\":\"DefaultBinder\"}]}}," \
	"\"pluginConfig\":[{\"name\":\"Probe\",\"args\":{\"depth\":3}}]}]}"

struct world {
	struct probe probe;
	struct berth_registry *registry;
	struct bt_engine *engine;
	struct bt_framework *framework;
	struct bt_waiting_pods waiting;
	struct bt_object *objects[16];
	uint32_t object_count;
	struct bt_pod_info pod; /* shape NULL: no pod */
};

static struct bt_engine *make_engine(const char *config_text, const struct berth_registry *registry,
	bool verify, struct berth_error *err)
{
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct bt_gates gates = bt_gates_default();
	struct bt_config *config = NULL;
	struct bt_engine *engine = NULL;
	struct berth_error load_error = BERTH_ERROR_INIT;
	struct bt_str text = bt_str_from(config_text);
	int result = bt_document_load_config(text, &gates, NULL, &config, &load_error);

	ck_assert_msg(result == 0, "%s", berth_error_message(&load_error));
	options.extra_plugins = &registry->inside;
	options.verify = verify;
	result = bt_engine_create(config, &options, &engine, err);
	ck_assert_int_eq(result == 0, engine != NULL);
	bt_config_unref(config);
	return engine;
}

static const void *add_object(struct world *world, const char *json, enum bt_kind kind)
{
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_object_decode(bt_str_from(json), &object, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	world->objects[world->object_count++] = object;
	return bt_object_value(object, kind);
}

static void world_init(struct world *world)
{
	struct berth_error err = BERTH_ERROR_INIT;

	*world = (struct world){0};
	world->registry = berth_registry_create();
	ck_assert_int_eq(berth_registry_register(
				 world->registry, "Probe", create_probe, &world->probe, &err),
		0);
	world->engine = make_engine(CONFIG, world->registry, true, &err);
	ck_assert_msg(world->engine != NULL, "%s", berth_error_message(&err));
	world->framework = world->engine->profiles.frameworks.items[0];
	bt_waiting_pods_init(&world->waiting);
	world->framework->handle.waiting_pods = &world->waiting;
	for (int i = 1; i <= 3; i++) {
		char json[256];

		(void)snprintf(json, sizeof(json),
			"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\"},"
			"\"status\":{\"allocatable\":{\"cpu\":\"%d\",\"memory\":\"1Ki\",\"pods\":"
			"\"10\"}}}",
			i, i);
		bt_state_add_node(world->engine->state, add_object(world, json, BT_KIND_NODE));
	}
	ck_assert_int_eq(
		bt_state_add_pod(world->engine->state,
			add_object(world,
				"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
				"\"old\",\"namespace\":\"default\",\"uid\":\"u-old\"},\"spec\":{"
				"\"nodeName\":\"n1\",\"containers\":[{\"resources\":{\"requests\":{"
				"\"cpu\":\"500m\"}}}]}}",
				BT_KIND_POD),
			&err),
		0);
}

static void world_finish(struct world *world)
{
	if (world->pod.shape != NULL) {
		bt_pod_info_finish_pending(world->engine->state, &world->pod);
	}
	bt_engine_destroy(world->engine);
	ck_assert(world->probe.destroyed);
	bt_waiting_pods_finish(&world->waiting);
	for (uint32_t i = 0; i < world->object_count; i++) {
		bt_object_release(world->objects[i]);
	}
	berth_registry_destroy(world->registry);
}

static const struct bt_pod_info *pend(struct world *world, const char *label)
{
	char json[512];

	(void)snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web\","
		"\"namespace\":\"shop\",\"uid\":\"u-web\",\"labels\":{\"%s\":\"yes\"}},"
		"\"spec\":{\"priority\":7,\"schedulerName\":\"default-scheduler\",\"containers\":"
		"[{\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"1Ki\"}}}]}}",
		label);
	bt_pod_info_init_pending(
		world->engine->state, add_object(world, json, BT_KIND_POD), &world->pod);
	return &world->pod;
}

static struct bt_schedule_result schedule(struct world *world, const char *label)
{
	struct bt_schedule_result result = {0};

	bt_engine_schedule(world->engine, world->framework, pend(world, label), NULL, &result);
	return result;
}

/** Compares the calls since the last check. With verification on, a cycle runs twice. */
static void check_log(struct world *world, const char *expected)
{
	ck_assert_str_eq(bt_strbuf_c(&world->probe.log), expected);
	bt_strbuf_reset(&world->probe.log);
}

/** --- tests --- */

/* seed-map 001.1, 001.2, 001.3, 001.136 */
START_TEST(test_plugin__constants)
{
	ck_assert_int_eq(BERTH_MAX_NODE_SCORE, 100);
	ck_assert_int_eq(BERTH_MIN_NODE_SCORE, 0);
	ck_assert(BERTH_MAX_TOTAL_SCORE == INT64_C(9223372036854775807));
	ck_assert_str_eq(BERTH_METRIC_PLUGIN_EXECUTION_DURATION,
		"scheduler_plugin_execution_duration_seconds");
}
END_TEST

/*
 * seed-map 001.42, 001.43, 001.48, 001.49, 001.54 to 001.64, 001.67 to 001.74, 001.94, 001.95,
 * 001.122 to 001.125
 */
START_TEST(test_plugin__whole_cycle)
{
	struct world world;

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "app");

	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert(
		bt_str_equal_c(bt_node_table_name(&world.engine->state->nodes, result.slot), "n3"));
	ck_assert_int_eq(result.total_score, BERTH_MAX_NODE_SCORE);
	ck_assert_uint_eq(world.probe.pre_scored, 3);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.probe.log), "PreFilter "));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.probe.log), "PreScore NormalizeScore "));
	bt_strbuf_reset(&world.probe.log);
	ck_assert(bt_engine_place(world.engine, &world.pod, &result));
	check_log(&world, "Reserve Permit PreBindPreFlight PreBind Bind PostBind ");
	ck_assert_uint_eq(world.probe.pods_seen, 1);
	ck_assert_str_eq(berth_plugin_name(&world.probe.base), "Probe");
	world_finish(&world);
}
END_TEST

START_TEST(test_plugin__pre_filter_narrows)
{
	struct world world;

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "narrow");

	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert_uint_eq(result.feasible_count, 2);
	world_finish(&world);
}
END_TEST

/* seed-map 001.26, 001.55 */
START_TEST(test_plugin__post_filter_sees_the_statuses)
{
	struct world world;
	struct bt_strbuf message = {0};

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "nowhere");

	ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
	ck_assert(result.nomination.present);
	ck_assert(bt_str_equal_c(result.nomination.nominated_node_name, "n2"));
	bt_diagnosis_message(&result.diagnosis, &message);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&message), "1 not n1, 1 not n2, 1 not n3"));
	ck_assert(bt_plugin_set_has(&result.diagnosis.unschedulable_plugins, 1) ||
		bt_plugin_set_has(&result.diagnosis.unschedulable_plugins, 0));
	bt_strbuf_finish(&message);
	world_finish(&world);
}
END_TEST

START_TEST(test_plugin__unknown_code_is_an_error)
{
	struct world world;

	world_init(&world);
	world.probe.unknown_code = true;
	struct bt_schedule_result result = schedule(&world, "app");

	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	struct bt_str message = bt_status_message_str(&result.status, result.cycle->arena);
	ck_assert_msg(
		strstr(message.data, "plugin Probe answered with the unknown code 77") != NULL,
		"%s", message.data);
	world_finish(&world);
}
END_TEST

/* seed-map 001.50 to 001.53 */
START_TEST(test_plugin__pre_filter_extensions_work_on_copies)
{
	struct world world;
	struct bt_arena arena = {0};
	struct bt_cycle_state cycle;
	struct bt_cycle_state clone;
	struct bt_node_info node;

	world_init(&world);
	ck_assert_int_eq(bt_state_refresh_snapshot(world.engine->state, NULL), 0);
	const struct bt_pod_info *pod = pend(&world, "app");
	bt_cycle_state_init(&cycle, &arena, world.framework->instances.count);
	struct bt_pre_filter_outcome outcome = bt_run_pre_filter(world.framework, &cycle, pod);

	ck_assert(bt_status_is_success(&outcome.status));
	bt_framework_clone_cycle(world.framework, &cycle, &clone);
	bt_node_info_init(&node, world.engine->state,
		bt_state_snapshot_find(world.engine->state, BT_STR("n1")));
	struct bt_status status =
		bt_run_pre_filter_change_pod(world.framework, &clone, pod, pod, &node, 1);

	ck_assert(bt_status_is_success(&status));
	ck_assert_int_eq(data_of((const struct berth_cycle_state *)(const void *)&clone)->pods, 1);
	ck_assert_int_eq(data_of((const struct berth_cycle_state *)(const void *)&cycle)->pods, 0);
	status = bt_run_pre_filter_change_pod(world.framework, &clone, pod, pod, &node, -1);
	ck_assert(bt_status_is_success(&status));
	ck_assert_int_eq(data_of((const struct berth_cycle_state *)(const void *)&clone)->pods, 0);
	bt_cycle_state_finish(&clone);
	bt_cycle_state_finish(&cycle);
	bt_arena_finish(&arena);
	world_finish(&world);
}
END_TEST

static void remember(void *context, struct berth_waiting_pod *pod)
{
	*(struct berth_waiting_pod **)context = pod;
}

/* seed-map 001.68, 001.96, 001.97, 001.127 to 001.130 */
START_TEST(test_plugin__waiting_pod_is_allowed)
{
	struct world world;
	struct berth_waiting_pod *found = NULL;
	struct berth_arena *arena = berth_arena_create();
	struct bt_arena scratch = {0};
	struct bt_status status;
	uint32_t count = 0;

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "wait");

	ck_assert(bt_engine_reserve(world.engine, &world.pod, &result));
	ck_assert_uint_eq(result.wait_count, 1);
	ck_assert_int_eq(result.waits[0].timeout_ns, 5);
	(void)bt_waiting_pods_add(
		&world.waiting, world.framework, &world.pod, result.waits, result.wait_count, 0);
	berth_handle_iterate_over_waiting_pods(world.probe.handle, remember, &found);
	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_eq(
		berth_handle_get_waiting_pod(world.probe.handle, BERTH_STR("u-web")), found);
	ck_assert_ptr_null(berth_handle_get_waiting_pod(world.probe.handle, BERTH_STR("none")));
	ck_assert(berth_str_equal_c(berth_pod_info_name(berth_waiting_pod_get_pod(found)), "web"));
	const struct berth_str *pending =
		berth_waiting_pod_get_pending_plugins(found, arena, &count);

	ck_assert_uint_eq(count, 1);
	ck_assert(berth_str_equal_c(pending[0], "Probe"));
	ck_assert_int_eq(bt_waiting_pods_poll(&world.waiting, BT_STR("u-web"), &scratch, &status),
		BT_WAIT_PENDING);
	berth_waiting_pod_allow(found, "Unknown");
	berth_waiting_pod_allow(found, "Probe");
	ck_assert_int_eq(bt_waiting_pods_poll(&world.waiting, BT_STR("u-web"), &scratch, &status),
		BT_WAIT_DECIDED);
	ck_assert(bt_status_is_success(&status));
	bt_arena_finish(&scratch);
	berth_arena_destroy(arena);
	world_finish(&world);
}
END_TEST

/* seed-map 001.98, 001.131 */
START_TEST(test_plugin__waiting_pod_is_rejected)
{
	struct world world;
	struct bt_arena scratch = {0};
	struct bt_status status;

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "wait");

	ck_assert(bt_engine_reserve(world.engine, &world.pod, &result));
	for (int round = 0; round < 2; round++) {
		(void)bt_waiting_pods_add(&world.waiting, world.framework, &world.pod, result.waits,
			result.wait_count, 0);
		if (round == 0) {
			struct berth_waiting_pod *waiting = berth_handle_get_waiting_pod(
				world.probe.handle, BERTH_STR("u-web"));

			ck_assert(berth_waiting_pod_reject(waiting, "Probe", "too late"));
			ck_assert(!berth_waiting_pod_reject(waiting, "Probe", "again"));
		} else {
			ck_assert(berth_handle_reject_waiting_pod(
				world.probe.handle, BERTH_STR("u-web")));
		}
		ck_assert_int_eq(
			bt_waiting_pods_poll(&world.waiting, BT_STR("u-web"), &scratch, &status),
			BT_WAIT_DECIDED);
		ck_assert_int_eq(status.code, BT_STATUS_UNSCHEDULABLE);
		ck_assert(bt_str_equal_c(status.reasons[0], round == 0 ? "too late" : "removed"));
	}
	ck_assert(!berth_handle_reject_waiting_pod(world.probe.handle, BERTH_STR("u-web")));
	bt_strbuf_reset(&world.probe.log);
	bt_engine_reject_waiting(world.engine, &world.pod, &status, &result);
	check_log(&world, "Unreserve ");
	bt_arena_finish(&scratch);
	world_finish(&world);
}
END_TEST

/* seed-map 001.65, 001.66, 001.67 */
START_TEST(test_plugin__refused_permit_is_undone)
{
	struct world world;

	world_init(&world);
	struct bt_schedule_result result = schedule(&world, "refuse");

	bt_strbuf_reset(&world.probe.log);
	ck_assert(!bt_engine_place(world.engine, &world.pod, &result));
	check_log(&world, "Reserve Permit Unreserve ");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
	world_finish(&world);
}
END_TEST

/* seed-map 001.69 to 001.72: an unfinished call is repeated */
START_TEST(test_plugin__slow_binding_is_repeated)
{
	struct world world;
	struct bt_binding_progress progress = {0};

	world_init(&world);
	world.probe.slow_bind = true;
	struct bt_schedule_result result = schedule(&world, "app");

	ck_assert(bt_engine_reserve(world.engine, &world.pod, &result));
	struct bt_status flights =
		bt_run_pre_bind_pre_flights(world.framework, result.cycle, &world.pod, result.slot);

	bt_strbuf_reset(&world.probe.log);
	ck_assert_int_eq(bt_engine_bind(world.engine, &world.pod, &flights, &progress, &result),
		BT_BINDING_PENDING);
	ck_assert_int_eq(result.cycle->wake_ns, 11);
	ck_assert_int_eq(bt_engine_bind(world.engine, &world.pod, &flights, &progress, &result),
		BT_BINDING_PENDING);
	ck_assert_int_eq(result.cycle->wake_ns, 12);
	ck_assert_int_eq(bt_engine_bind(world.engine, &world.pod, &flights, &progress, &result),
		BT_BINDING_BOUND);
	check_log(&world, "PreBind PreBind Bind Bind PostBind ");
	world_finish(&world);
}
END_TEST

/** Runs a hint as the queue does: a missing hint or a hint that fails queues the pod. */
static bool run_hint(
	const struct bt_event_hint *hint, const struct bt_pod_info *pod, const void *new_object)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool answer = true;

	if (hint->hint != NULL) {
		const struct bt_hint_call call = {
			hint->plugin, pod, NULL, new_object, hint->registration, &err};

		answer = hint->hint(&call);
	}
	if (err.code != BERTH_OK) {
		answer = true;
	}
	berth_error_finish(&err);
	return answer;
}

/* seed-map 001.45, 001.46, 001.47 */
START_TEST(test_plugin__queueing)
{
	struct world world;
	struct bt_arena arena = {0};
	struct bt_event_hints hints = {0};
	struct bt_plugin *gate = NULL;
	struct bt_strbuf signature = {0};

	world_init(&world);
	const struct bt_pod_info *pod = pend(&world, "gated");
	struct bt_plugin *probe = bt_framework_find_plugin(world.framework, BT_STR("Probe"));
	struct bt_status status = bt_run_pre_enqueue(world.framework, pod, &arena, NULL, &gate);
	struct bt_queued_pod early = {pod, 1, BERTH_TIME_UNSET, 4};
	struct bt_queued_pod late = {pod, 2, BERTH_TIME_UNSET, 4};

	ck_assert_int_eq(status.code, BT_STATUS_UNSCHEDULABLE);
	ck_assert_ptr_eq(gate, probe);
	ck_assert(probe->ops->less(probe, &late, &early));
	ck_assert(!probe->ops->less(probe, &early, &late));
	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(bt_event_hints_create(world.framework, &hints, NULL), 0);
		ck_assert_uint_eq(hints.items.count, 3);
		ck_assert(!run_hint(&hints.items.items[0], pod, pod->object));
		ck_assert(run_hint(&hints.items.items[1], pod, NULL));
		ck_assert(run_hint(&hints.items.items[2], pod, NULL));
		bt_vec_finish(&hints.items);
	}
	ck_assert(bt_sign_pod(world.framework, pod, &arena, &signature, NULL));
	ck_assert_uint_gt(signature.length, 0);
	bt_strbuf_finish(&signature);
	bt_arena_finish(&arena);
	world_finish(&world);
}
END_TEST

START_TEST(test_plugin__placements)
{
	struct world world;
	struct bt_arena arena = {0};
	struct bt_score_table table;
	const uint32_t *slots = NULL;

	world_init(&world);
	ck_assert_int_eq(bt_state_refresh_snapshot(world.engine->state, NULL), 0);
	uint32_t count = bt_snapshot_placement_slots(world.engine->state, &slots);
	struct bt_placement_outcome outcome = bt_run_placement_generate(
		world.framework, &arena, BT_STR("shop"), BT_STR("group"), slots, count);

	ck_assert(bt_status_is_success(&outcome.status));
	ck_assert_uint_eq(outcome.count, 2);
	ck_assert(bt_str_equal_c(outcome.placements[1].name, "rest"));
	ck_assert_uint_eq(outcome.placements[1].count, 2);
	ck_assert_uint_eq(outcome.placements[1].slots[1], slots[2]);
	const struct bt_pod_info *pod = pend(&world, "app");
	struct bt_placement_assignments assignments[] = {
		{&outcome.placements[0], &pod, 1}, {&outcome.placements[1], &pod, 1}};
	struct bt_status status =
		bt_run_placement_score(world.framework, &arena, assignments, 2, &table);

	ck_assert(bt_status_is_success(&status));
	ck_assert_int_eq(table.totals[0], 20);
	ck_assert_int_eq(table.totals[1], 30);
	outcome = bt_run_placement_generate(
		world.framework, &arena, BT_STR("shop"), BT_STR("lost"), slots, count);
	ck_assert_int_eq(outcome.status.code, BT_STATUS_ERROR);
	bt_arena_finish(&arena);
	world_finish(&world);
}
END_TEST

static uint32_t activations;
static uint32_t events_recorded;
static uint32_t last_note_length;

static void count_activation(void *context, struct bt_str namespace_, struct bt_str name)
{
	(void)context;
	ck_assert(bt_str_equal_c(namespace_, "shop"));
	ck_assert(bt_str_equal_c(name, "web"));
	activations++;
}

static void count_event(void *context, const struct bt_pod_info *pod, const char *type,
	const char *reason, const char *action, struct bt_str note_text)
{
	(void)context;
	(void)pod;
	ck_assert_str_eq(type, "Warning");
	ck_assert_str_eq(reason, "R");
	ck_assert_str_eq(action, "A");
	last_note_length = note_text.length;
	events_recorded++;
}

/* seed-map 001.99, 001.100, 001.101, 001.132, 001.133, 001.134 */
START_TEST(test_plugin__handle)
{
	static const int client = 1;
	struct world world;
	struct berth_arena *arena = berth_arena_create();
	struct berth_error err = BERTH_ERROR_INIT;
	const struct berth_node_info *node = NULL;
	uint32_t count = 0;

	world_init(&world);
	ck_assert_int_eq(bt_state_refresh_snapshot(world.engine->state, NULL), 0);
	const struct berth_handle *handle = world.probe.handle;
	const struct berth_shared_lister *lister = berth_handle_snapshot_shared_lister(handle);

	ck_assert_uint_eq(berth_shared_lister_count(lister), 3);
	ck_assert_int_eq(berth_shared_lister_get(lister, BERTH_STR("n1"), arena, &node, &err), 0);
	ck_assert(berth_str_equal_c(berth_node_info_name(node), "n1"));
	ck_assert_int_eq(berth_node_info_allocatable_cpu_milli(node), 1000);
	ck_assert_int_eq(berth_node_info_allocatable_memory_bytes(node), 1024);
	ck_assert_int_eq(berth_node_info_requested_cpu_milli(node), 500);
	ck_assert_int_eq(berth_node_info_requested_memory_bytes(node), 0);
	ck_assert(!berth_node_info_unschedulable(node));
	const struct berth_pod_info *old = berth_node_info_pod_at(node, 0, arena);

	ck_assert(berth_str_equal_c(berth_pod_info_uid(old), "u-old"));
	ck_assert_ptr_null(berth_pod_info_pod(old));
	ck_assert_int_eq(berth_shared_lister_get(lister, BERTH_STR("nx"), arena, &node, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "nodeinfo not found for node name \"nx\"");
	berth_error_finish(&err);
	(void)berth_shared_lister_have_pods_with_affinity_list(lister, arena, &count);
	ck_assert_uint_eq(count, 0);
	(void)berth_shared_lister_have_pods_with_required_anti_affinity_list(lister, arena, &count);
	ck_assert_uint_eq(count, 0);
	ck_assert(!berth_shared_lister_is_pvc_used_by_pods(lister, BERTH_STR("shop/data")));
	ck_assert_int_eq(berth_handle_now_ns(handle), 0);
	ck_assert(berth_handle_feature_enabled(handle, "OpportunisticBatching"));
	ck_assert(!berth_handle_feature_enabled(handle, "NoSuchGate"));
	ck_assert_ptr_eq((const void *)berth_handle_framework(handle), world.framework);
	ck_assert_ptr_null(berth_handle_client_set(handle));
	ck_assert_ptr_null(berth_handle_shared_informer_factory(handle));
	ck_assert_ptr_null(berth_handle_volume_binder(handle));
	ck_assert(!berth_handle_activate(handle, BERTH_STR("shop"), BERTH_STR("web")));
	const struct bt_pod_info *pod = pend(&world, "app");
	const struct berth_pod_info *outside = (const struct berth_pod_info *)(const void *)pod;

	berth_handle_event(handle, outside, "Warning", "R", "A", BERTH_STR("text"));
	struct bt_handle_services services = {
		.activate = count_activation, .event = count_event, .client_set = &client};

	world.framework->handle.services = &services;
	ck_assert(berth_handle_activate(handle, BERTH_STR("shop"), BERTH_STR("web")));
	berth_handle_event(handle, outside, "Warning", "R", "A", BERTH_STR("text"));
	ck_assert_uint_eq(activations, 1);
	ck_assert_uint_eq(last_note_length, 4);
	/* A long note is cut before the character that does not fit. */
	berth_handle_event(handle, outside, "Warning", "R", "A",
		berth_arena_printf(arena, "%01023d\xC3\xA9", 0));
	ck_assert_uint_eq(last_note_length, 1023);
	ck_assert_uint_eq(events_recorded, 2);
	ck_assert_ptr_eq((const void *)berth_handle_client_set(handle), &client);
	berth_arena_destroy(arena);
	world_finish(&world);
}
END_TEST

START_TEST(test_plugin__pod_info)
{
	struct world world;
	struct berth_str key;
	struct berth_str value;

	world_init(&world);
	const struct berth_pod_info *pod =
		(const struct berth_pod_info *)(const void *)pend(&world, "app");

	ck_assert(berth_str_equal_c(berth_pod_info_name(pod), "web"));
	ck_assert(berth_str_equal_c(berth_pod_info_namespace(pod), "shop"));
	ck_assert(berth_str_equal_c(berth_pod_info_label(pod, BERTH_STR("app")), "yes"));
	ck_assert_ptr_null(berth_pod_info_label(pod, BERTH_STR("none")).data);
	ck_assert_uint_eq(berth_pod_info_label_count(pod), 1);
	berth_pod_info_label_at(pod, 0, &key, &value);
	ck_assert(berth_str_equal_c(key, "app"));
	ck_assert(berth_str_equal_c(value, "yes"));
	ck_assert_int_eq(berth_pod_info_priority(pod), 7);
	ck_assert_uint_eq(berth_pod_info_node_name(pod).length, 0);
	ck_assert_uint_eq(berth_pod_info_nominated_node_name(pod).length, 0);
	ck_assert(berth_str_equal_c(berth_pod_info_scheduler_name(pod), "default-scheduler"));
	ck_assert_int_eq(berth_pod_info_cpu_milli(pod), 250);
	ck_assert_int_eq(berth_pod_info_memory_bytes(pod), 1024);
	ck_assert_int_eq(berth_pod_info_ephemeral_storage_bytes(pod), 0);
	ck_assert(berth_str_equal_c(berth_pod_uid(berth_pod_info_pod(pod)), "u-web"));
	world_finish(&world);
}
END_TEST

/* seed-map 001.44 */
static uint32_t misnamed_count; /* instances that live */

static void destroy_misnamed(struct berth_plugin *plugin)
{
	(void)plugin;
	misnamed_count--;
}

static int create_misnamed(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	static const struct berth_plugin_ops ops = {.size = sizeof(struct berth_plugin_ops),
		.name = "SomebodyElse",
		.destroy = destroy_misnamed};
	static struct berth_plugin instance = {&ops};

	(void)context;
	(void)args;
	(void)handle;
	(void)err;
	misnamed_count++;
	*out_plugin = &instance;
	return BERTH_OK;
}

START_TEST(test_plugin__refused_instance_is_destroyed)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_registry_register(registry, "Misnamed", create_misnamed, NULL, &err);

	ck_assert_int_eq(result, BERTH_OK);
	ck_assert_ptr_null(make_engine(
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
		"\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{\"filter\":{"
		"\"enabled\":[{\"name\":\"Misnamed\"}]}}}]}",
		registry, false, &err));
	ck_assert_uint_eq(misnamed_count, 0);
	berth_error_finish(&err);
	berth_registry_destroy(registry);
}
END_TEST

START_TEST(test_plugin__failing_factories)
{
	static const struct {
		const char *name;
		const char *file;
		const char *message;
	} rows[] = {
		{"Failing", "failing_factory.so",
			"initializing plugin \"Failing\": today is a bad day"},
		{"Misnamed", "misnamed.so",
			"initializing plugin \"Misnamed\": the plugin calls itself "
			"\"SomebodyElse\""},
	};

	for (size_t i = 0; i < 2; i++) {
		struct berth_registry *registry = berth_registry_create();
		struct berth_error err = BERTH_ERROR_INIT;
		char path[4096];
		char config[512];

		(void)snprintf(path, sizeof(path), "%s/%s", BT_TEST_PLUGINS, rows[i].file);
		(void)snprintf(config, sizeof(config),
			"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
			"\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{\"filter\":{"
			"\"enabled\":[{\"name\":\"%s\"}]}}}]}",
			rows[i].name);
		int result = berth_registry_load_plugin(registry, path, &err);

		ck_assert_msg(result == 0, "%s", berth_error_message(&err));
		ck_assert_ptr_null(make_engine(config, registry, false, &err));
		ck_assert_msg(strstr(berth_error_message(&err), rows[i].message) != NULL, "%s",
			berth_error_message(&err));
		berth_error_finish(&err);
		berth_registry_destroy(registry);
	}
}
END_TEST

/** --- a score that declares its dependency on labels --- */

struct counter {
	struct berth_plugin base;
	uint32_t calls;
};

static struct berth_status counted_score(struct berth_plugin *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, int64_t *out_score)
{
	struct berth_str value = berth_node_info_label(node, BERTH_STR("v"));

	(void)pod;
	((struct counter *)(void *)plugin)->calls++;
	ck_assert_ptr_nonnull(berth_arena_alloc(berth_cycle_state_arena(state), 100));
	*out_score = value.length != 0 ? value.data[0] - '0' : 0;
	return BERTH_STATUS_SUCCESS;
}

static const struct berth_plugin_ops counter_ops = {
	.size = sizeof(struct berth_plugin_ops),
	.name = "Counter",
	.score = counted_score,
	.normalize = BERTH_NORMALIZE_DEFAULT,
	.score_reads = BERTH_READS_LABELS,
};

static int create_counter(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	(void)args;
	(void)handle;
	(void)err;
	*out_plugin = context;
	return BERTH_OK;
}

static void set_label(struct world *world, int node, int value)
{
	char json[256];

	(void)snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\","
		"\"labels\":{\"v\":\"%d\"}},\"status\":{\"allocatable\":{\"cpu\":\"4\","
		"\"memory\":\"1Mi\",\"pods\":\"10\"}}}",
		node, value);
	bt_state_update_node(world->engine->state, NULL, add_object(world, json, BT_KIND_NODE));
}

/** Places the next pod of the template on this node. */
static void place_next(struct world *world, int number, const char *node_name)
{
	char json[512];
	struct bt_pod_info pod;
	struct bt_schedule_result result = {0};

	(void)snprintf(json, sizeof(json),
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\","
		"\"namespace\":\"shop\",\"uid\":\"u-%d\"},\"spec\":{\"schedulerName\":"
		"\"default-scheduler\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
		"\"100m\"}}}]}}",
		number, number);
	bt_pod_info_init_pending(world->engine->state, add_object(world, json, BT_KIND_POD), &pod);
	bt_engine_schedule(world->engine, world->framework, &pod, NULL, &result);
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert_msg(bt_str_equal_c(bt_node_table_name(&world->engine->state->nodes, result.slot),
			      node_name),
		"pod %d", number);
	ck_assert_int_eq(result.total_score, BERTH_MAX_NODE_SCORE);
	ck_assert(bt_engine_place(world->engine, &pod, &result));
	bt_pod_info_finish_pending(world->engine->state, &pod);
}

START_TEST(test_plugin__promised_scores_are_kept)
{
	static const char config[] =
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"kind\":"
		"\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{\"multiPoint\":{"
		"\"disabled\":[{\"name\":\"*\"}],\"enabled\":[{\"name\":\"Counter\"},"
		"{\"name\":\"PrioritySort\"},{\"name\":\"DefaultBinder\"}]}}}]}";

	for (int verify = 0; verify < 2; verify++) {
		struct world world = {0};
		struct counter counter = {{&counter_ops}, 0};
		struct berth_error err = BERTH_ERROR_INIT;

		world.registry = berth_registry_create();
		ck_assert_int_eq(berth_registry_register(
					 world.registry, "Counter", create_counter, &counter, &err),
			0);
		world.engine = make_engine(config, world.registry, verify == 1, &err);
		ck_assert_msg(world.engine != NULL, "%s", berth_error_message(&err));
		world.framework = world.engine->profiles.frameworks.items[0];
		for (int i = 1; i <= 3; i++) {
			set_label(&world, i, i);
		}
		place_next(&world, 1, "n3");
		ck_assert(verify == 1 || counter.calls == 3);
		place_next(&world, 2, "n3");
		ck_assert(verify == 1 || counter.calls == 3);
		set_label(&world, 1, 9);
		place_next(&world, 3, "n1");
		ck_assert(verify == 1 || counter.calls == 4);
		bt_engine_destroy(world.engine);
		for (uint32_t i = 0; i < world.object_count; i++) {
			bt_object_release(world.objects[i]);
		}
		berth_registry_destroy(world.registry);
	}
}
END_TEST

BT_TEST_MAIN("lib_plugin", test_plugin__constants, test_plugin__whole_cycle,
	test_plugin__pre_filter_narrows, test_plugin__post_filter_sees_the_statuses,
	test_plugin__unknown_code_is_an_error, test_plugin__pre_filter_extensions_work_on_copies,
	test_plugin__waiting_pod_is_allowed, test_plugin__waiting_pod_is_rejected,
	test_plugin__refused_permit_is_undone, test_plugin__slow_binding_is_repeated,
	test_plugin__queueing, test_plugin__placements, test_plugin__handle, test_plugin__pod_info,
	test_plugin__failing_factories, test_plugin__refused_instance_is_destroyed,
	test_plugin__promised_scores_are_kept)
