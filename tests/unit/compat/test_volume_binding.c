/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 07 sections 5, 11, 12 and 16.3: the plugin, alone and with the fake binder in an engine. */
#include "berth/volume_binding.h"

#include "berth/fake_volume_binder.h"
#include "volumes.h"

#define SECOND INT64_C(1000000000)

static struct berth_volume_binding *plugin_of(
	const struct volumes *volumes, const struct berth_features *features)
{
	struct berth_volume_binding_args args = BERTH_VOLUME_BINDING_ARGS_INIT;
	struct berth_volume_binding *plugin = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(
		berth_volume_binding_create(&args, volumes->handle, features, &plugin, &err) == 0,
		"%s", berth_error_message(&err));
	return plugin;
}

static void expect(const struct volumes *volumes, struct berth_status status, const char *expected)
{
	cluster_expect_status(&status, volumes->arena, expected);
}

static struct berth_status pre_filter(struct berth_volume_binding *plugin,
	const struct volumes *volumes, const struct berth_pod_info *pod)
{
	struct berth_pre_filter_result result;
	struct berth_status status =
		berth_volume_binding_pre_filter(plugin, volumes->state, pod, &result);

	ck_assert(!result.restricted);
	return status;
}

/* seed-map 004.5, 004.6, 004.7, 004.8, 004.10, 004.11, 004.14, 004.16, 004.19, 004.47 */
START_TEST(test_volume_binding__looks_at_claims)
{
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	struct berth_volume_binding *plugin = plugin_of(&volumes, NULL);
	struct berth_pod_info *plain = cluster_pod_info(volumes.framework, "a", "1", "");
	struct berth_pod_info *pod = volumes_pod(&volumes, "b", POD_VOLUME("c"));

	ck_assert_str_eq(berth_volume_binding_name(plugin), BERTH_PLUGIN_VOLUME_BINDING);
	ck_assert_str_eq(berth_plugin_name(&plugin->base), "VolumeBinding");
	ck_assert_ptr_null(berth_volume_binding_pre_filter_extensions(plugin));
	ck_assert_ptr_null(berth_volume_binding_score_extensions(plugin));
	expect(&volumes,
		berth_volume_binding_filter(
			plugin, volumes.state, pod, volumes_node(&volumes, "n1")),
		"Error: not found");
	expect(&volumes, pre_filter(plugin, &volumes, plain), "Skip: ");
	expect(&volumes, pre_filter(plugin, &volumes, pod),
		"UnschedulableAndUnresolvable: persistentvolumeclaim \"c\" not found");
	cluster_put(volumes.engine, CLAIM("c", "now"));
	expect(&volumes, pre_filter(plugin, &volumes, pod),
		"UnschedulableAndUnresolvable: pod has unbound immediate PersistentVolumeClaims");
	/* The plugin reads the claims from its lister. */
	plugin->pvc_lister = berth_handle_lister(volumes.handle, "Nothing");
	expect(&volumes, pre_filter(plugin, &volumes, pod),
		"UnschedulableAndUnresolvable: persistentvolumeclaim \"c\" not found");
	plugin->pvc_lister = berth_handle_lister(volumes.handle, "PersistentVolumeClaim");
	cluster_put(volumes.engine, BOUND_CLAIM("c", "2", "late", "v"));
	expect(&volumes, pre_filter(plugin, &volumes, pod), "Success: ");
	berth_framework_pod_destroy(plain);
	berth_framework_pod_destroy(pod);
	berth_volume_binding_destroy(plugin);
	berth_volume_binding_destroy(NULL);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.6 */
START_TEST(test_volume_binding__refuses_wrong_arguments)
{
	static const struct berth_utilization_shape_point shape[] = {{0, 1}, {0, 11}};
	struct berth_volume_binding_args args = BERTH_VOLUME_BINDING_ARGS_INIT;
	struct berth_features scoring = {.enable_storage_capacity_scoring = true};
	struct berth_volume_binding *plugin = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	ck_assert(!berth_handle_features(volumes.handle).enable_storage_capacity_scoring);
	ck_assert_int_eq(berth_volume_binding_create(NULL, volumes.handle, NULL, &plugin, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(
		berth_error_message(&err), "want args to be of type VolumeBindingArgs, got <nil>");
	berth_error_finish(&err);
	args.bind_timeout_seconds = -10;
	ck_assert_int_eq(berth_volume_binding_create(&args, volumes.handle, NULL, &plugin, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"bindTimeoutSeconds: Invalid value: -10: invalid BindTimeoutSeconds, should not be "
		"a negative value");
	berth_error_finish(&err);
	args.bind_timeout_seconds = 0;
	args.shape = shape;
	args.shape_count = 2;
	ck_assert_int_eq(berth_volume_binding_create(&args, volumes.handle, NULL, &plugin, &err),
		BERTH_ERR_INVALID);
	berth_error_finish(&err);
	ck_assert_int_eq(
		berth_volume_binding_create(&args, volumes.handle, &scoring, &plugin, &err),
		BERTH_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "not in valid range"));
	berth_error_finish(&err);
	ck_assert_ptr_null(plugin);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.17, 004.18, 004.20, 004.21, 004.22, 004.48, 004.49, 004.50 */
START_TEST(test_volume_binding__takes_a_pod_to_its_volumes)
{
	struct berth_features features = {.enable_storage_capacity_scoring = true};
	struct volumes volumes;
	bool parallel = false;
	int64_t score = -1;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("v", "1", "late", "4Gi", ON_NODE("n2")));
	cluster_put(volumes.engine, CLAIM("c", "late"));
	struct berth_volume_binding *plugin = plugin_of(&volumes, &features);
	struct berth_volume_binding *plain = plugin_of(&volumes, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	const struct berth_node_info *n1 = volumes_node(&volumes, "n1");
	const struct berth_node_info *n2 = volumes_node(&volumes, "n2");

	expect(&volumes, pre_filter(plugin, &volumes, pod), "Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, volumes.state, pod, n1),
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to "
		"bind");
	expect(&volumes, berth_volume_binding_filter(plugin, volumes.state, pod, n2), "Success: ");
	expect(&volumes, berth_volume_binding_pre_score(plugin, volumes.state, pod, &n2, 1),
		"Success: ");
	expect(&volumes, berth_volume_binding_pre_score(plain, volumes.state, pod, &n2, 1),
		"Skip: ");
	/*
	 * The claim requests a quarter of the volume, and the shape falls from 100 to 0: the score
	 * is 75.
	 */
	expect(&volumes, berth_volume_binding_score(plugin, volumes.state, pod, n2, &score),
		"Success: ");
	ck_assert_int_eq(score, 75);
	expect(&volumes, berth_volume_binding_score(plugin, volumes.state, pod, n1, &score),
		"Success: ");
	ck_assert_int_eq(score, 0);
	expect(&volumes, berth_volume_binding_reserve(plugin, volumes.state, pod, BERTH_STR("n2")),
		"Success: ");
	expect(&volumes,
		berth_volume_binding_pre_bind_pre_flight(
			plugin, volumes.state, pod, BERTH_STR("n2"), &parallel),
		"Success: ");
	ck_assert(parallel);
	expect(&volumes,
		berth_volume_binding_pre_bind_pre_flight(
			plugin, volumes.state, pod, BERTH_STR("n1"), &parallel),
		"Error: no pod volume found for node \"n1\"");
	expect(&volumes,
		berth_volume_binding_pre_bind(
			plugin, volumes.state, pod, BERTH_STR("removed")),
		"Error: no pod volume found for node \"\"");
	/* PreBind requests the write, then returns Wait until the answer. */
	expect(&volumes, berth_volume_binding_pre_bind(plugin, volumes.state, pod, BERTH_STR("n2")),
		"Wait: ");
	struct berth_request request = {.id = 0};
	ck_assert(berth_engine_take_request(volumes.engine, &request));
	ck_assert_int_eq(request.kind, BERTH_REQUEST_BIND_VOLUME);
	/* No other pod gets the volume until the reservation ends. */
	struct berth_cycle_state *second = berth_cycle_state_create();
	struct berth_pre_filter_result result;
	expect(&volumes, berth_volume_binding_pre_filter(plugin, second, pod, &result),
		"Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, second, pod, n2), "Success: ");
	cluster_put(volumes.engine, CLAIM("e", "late"));
	struct berth_pod_info *other = volumes_pod(&volumes, "q", POD_VOLUME("e"));
	expect(&volumes, berth_volume_binding_pre_filter(plugin, second, other, &result),
		"Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, second, other, n2),
		"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to "
		"bind");
	berth_volume_binding_unreserve(plugin, volumes.state, pod, BERTH_STR("n2"));
	berth_volume_binding_unreserve(plugin, volumes.state, pod, BERTH_STR("n2"));
	expect(&volumes, berth_volume_binding_pre_filter(plugin, second, other, &result),
		"Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, second, other, n2), "Success: ");
	berth_cycle_state_destroy(second);
	berth_framework_pod_destroy(pod);
	berth_framework_pod_destroy(other);
	berth_volume_binding_destroy(plugin);
	berth_volume_binding_destroy(plain);
	volumes_finish(&volumes);
}
END_TEST

static enum berth_queueing_hint ask(const struct berth_cluster_event_with_hint *event,
	struct berth_volume_binding *plugin, const struct berth_pod_info *pod,
	const void *old_object, const void *new_object)
{
	return event->queueing_hint(&plugin->base, pod, old_object, new_object, NULL);
}

/* seed-map 004.12, 004.13 */
START_TEST(test_volume_binding__registers_events)
{
	struct volumes volumes;
	uint32_t count = 0;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	struct berth_volume_binding *plugin = plugin_of(&volumes, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	struct berth_object *own = cluster_object(CLAIM("c", "late"));
	struct berth_object *other = cluster_object(CLAIM("x", "late"));
	const struct berth_cluster_event_with_hint *events =
		berth_volume_binding_events_to_register(plugin, &count);
	const struct berth_cluster_event_with_hint *claims = NULL;
	const struct berth_cluster_event_with_hint *pvs = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (berth_str_equal_c(events[i].event.resource, "PersistentVolumeClaim")) {
			claims = &events[i];
		}
		if (berth_str_equal_c(events[i].event.resource, "PersistentVolume")) {
			pvs = &events[i];
		}
	}
	ck_assert_uint_eq(count, 7);
	ck_assert_ptr_nonnull(claims);
	ck_assert_uint_eq(claims->event.action, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE);
	ck_assert_int_eq(
		ask(claims, plugin, pod, NULL, berth_object_pvc(own)), BERTH_QUEUEING_HINT_QUEUE);
	ck_assert_int_eq(
		ask(claims, plugin, pod, NULL, berth_object_pvc(other)), BERTH_QUEUEING_HINT_SKIP);
	ck_assert_ptr_nonnull(pvs);
	ck_assert(pvs->queueing_hint == NULL);
	berth_object_release(own);
	berth_object_release(other);
	berth_framework_pod_destroy(pod);
	berth_volume_binding_destroy(plugin);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.15 */
START_TEST(test_volume_binding__merges_results)
{
	static const struct berth_str left_names[] = {{"a", 1}, {"b", 1}, {"c", 1}};
	static const struct berth_str right_names[] = {{"d", 1}, {"c", 1}, {"a", 1}};
	struct berth_pre_filter_result all = {.restricted = false};
	struct berth_pre_filter_result left = {true, 3, left_names};
	struct berth_pre_filter_result right = {true, 3, right_names};
	struct berth_pre_filter_result none = {.restricted = true};
	struct berth_arena *arena = berth_arena_create();
	struct berth_pre_filter_result merged = berth_pre_filter_result_merge(&left, &right, arena);

	ck_assert(merged.restricted);
	ck_assert_uint_eq(merged.count, 2);
	cluster_expect(merged.names[0], "a");
	cluster_expect(merged.names[1], "c");
	ck_assert(!berth_pre_filter_result_merge(&all, &all, arena).restricted);
	ck_assert_uint_eq(berth_pre_filter_result_merge(&all, &right, arena).count, 3);
	ck_assert_uint_eq(berth_pre_filter_result_merge(&left, &all, arena).count, 3);
	merged = berth_pre_filter_result_merge(&left, &none, arena);
	ck_assert(merged.restricted);
	ck_assert_uint_eq(merged.count, 0);
	berth_arena_destroy(arena);
}
END_TEST

/* --- the fake binder, spec 07 section 16.3 --- */

/* seed-map 004.73, 004.74, 004.77, 004.78, 004.79, 004.80, 004.81, 004.82, 004.83 */
START_TEST(test_volume_binding__fake_binder_returns_its_script)
{
	struct berth_fake_volume_binder_config config = {
		.find_reasons = {{BERTH_CONFLICT_REASON_NODE_CONFLICT}, 1},
		.find_err = "find err",
	};
	struct berth_fake_volume_binder *fake = berth_fake_volume_binder_create(&config);
	struct berth_fake_volume_binder *silent = berth_fake_volume_binder_create(NULL);
	struct berth_arena *arena = berth_arena_create();
	struct berth_pod_volume_claims claims = {.class_count = 7};
	struct berth_pvc_list no_claims = {.count = 0};
	struct berth_pre_filter_result nodes = {.restricted = true};
	struct berth_pod_volumes *volumes = NULL;
	struct berth_conflict_reasons reasons;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_fake_volume_binder_get_pod_volume_claims(
				 &fake->base, NULL, arena, &claims, NULL),
		0);
	ck_assert_uint_eq(claims.class_count, 0);
	berth_fake_volume_binder_get_eligible_nodes(&fake->base, &no_claims, arena, &nodes);
	ck_assert(!nodes.restricted);
	ck_assert_int_lt(berth_fake_volume_binder_find_pod_volumes(
				 &fake->base, NULL, &claims, NULL, arena, &volumes, &reasons, &err),
		0);
	ck_assert_str_eq(berth_error_message(&err), "find err");
	ck_assert_ptr_null(volumes);
	ck_assert_uint_eq(reasons.count, 1);
	berth_error_finish(&err);
	struct berth_pod_volumes nothing = {.static_count = 0};
	bool all_bound = true;
	ck_assert_int_eq(berth_fake_volume_binder_assume_pod_volumes(&silent->base, NULL,
				 BERTH_STR("n"), &nothing, arena, &all_bound, NULL),
		0);
	ck_assert(!all_bound);
	berth_fake_volume_binder_revert_assumed_pod_volumes(&silent->base, &nothing);
	ck_assert_int_eq(berth_fake_volume_binder_bind_pod_volumes(
				 &silent->base, NULL, BERTH_STR("n"), &nothing, arena, NULL),
		0);
	ck_assert(silent->assume_called && silent->bind_called);
	ck_assert(!fake->assume_called && !fake->bind_called);
	ck_assert_uint_eq(
		berth_volume_binder_stage_errors(&fake->base, BERTH_VOLUME_STAGE_PREDICATE), 0);
	berth_arena_destroy(arena);
	berth_volume_binder_destroy(&fake->base);
	berth_volume_binder_destroy(&silent->base);
}
END_TEST

/* seed-map 004.9 */
START_TEST(test_volume_binding__binder_can_be_replaced)
{
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, BOUND_CLAIM("c", "1", "late", "nowhere"));
	struct berth_volume_binding *plugin = plugin_of(&volumes, NULL);
	struct berth_fake_volume_binder *fake = berth_fake_volume_binder_create(NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	const struct berth_node_info *n1 = volumes_node(&volumes, "n1");

	expect(&volumes, pre_filter(plugin, &volumes, pod), "Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, volumes.state, pod, n1),
		"UnschedulableAndUnresolvable: node(s) unavailable due to one or more pvc(s) bound "
		"to non-existent pv(s)");
	plugin->binder = &fake->base;
	expect(&volumes, pre_filter(plugin, &volumes, pod), "Success: ");
	expect(&volumes, berth_volume_binding_filter(plugin, volumes.state, pod, n1), "Success: ");
	expect(&volumes, berth_volume_binding_reserve(plugin, volumes.state, pod, BERTH_STR("n1")),
		"Success: ");
	expect(&volumes, berth_volume_binding_pre_bind(plugin, volumes.state, pod, BERTH_STR("n1")),
		"Success: ");
	ck_assert(fake->assume_called && fake->bind_called);
	berth_framework_pod_destroy(pod);
	berth_volume_binding_destroy(plugin);
	berth_volume_binder_destroy(&fake->base);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.75, 004.76, 004.84, 004.85, 004.86, 004.87, 004.88 */
START_TEST(test_volume_binding__fake_binder_in_an_engine)
{
	static const struct {
		const char *name;
		struct berth_fake_volume_binder_config config;
		bool assume_called;
		bool bind_called;
		const char *message; /* beginning of the message; NULL: bound */
	} rows[] = {
		{"all bound", {.all_bound = true}, true, false, NULL},
		{"node conflict",
			{.all_bound = true,
				.find_reasons = {{BERTH_CONFLICT_REASON_NODE_CONFLICT}, 1}},
			false, false,
			"0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node "
			"affinity. "},
		{"two conflicts",
			{.find_reasons = {{BERTH_CONFLICT_REASON_NODE_CONFLICT,
						  BERTH_CONFLICT_REASON_BIND_CONFLICT},
				 2}},
			false, false,
			"0/1 nodes are available: 1 node(s) didn't find available persistent "
			"volumes to bind, 1 node(s) didn't match PersistentVolume's node "
			"affinity. "},
		{"nothing is bound", {.all_bound = false}, true, true, NULL},
		{"find error", {.find_err = "find err"}, false, false,
			"running \"VolumeBinding\" filter plugin: find err"},
		{"assume error", {.assume_err = "assume err"}, true, false,
			"running Reserve plugin \"VolumeBinding\": assume err"},
		{"bind error", {.bind_err = "bind err"}, true, true,
			"running PreBind plugin \"VolumeBinding\": bind err"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
		struct berth_fake_volume_binder *fake =
			berth_fake_volume_binder_create(&rows[i].config);
		struct berth_decision decision = {.outcome = BERTH_DECISION_SKIPPED};

		ck_assert_int_eq(berth_volume_binding_replace_binder(
					 cluster_framework(engine), &fake->base, NULL),
			0);
		cluster_put_node(engine, "n1", "4", "");
		cluster_put(engine, VOLUME("v", "1", "late", "1Gi", ""));
		cluster_put(engine, BOUND_CLAIM("c", "1", "late", "v"));
		cluster_put_pod(engine, "p", "1", ",'volumes':[" POD_VOLUME("c") "]");
		ck_assert(berth_engine_step(engine, SECOND, &decision));
		ck_assert_msg(fake->assume_called == rows[i].assume_called, "%s", rows[i].name);
		ck_assert_msg(fake->bind_called == rows[i].bind_called, "%s", rows[i].name);
		if (rows[i].message != NULL) {
			ck_assert_int_eq(decision.outcome, BERTH_DECISION_FAILED);
			decision.message.length = (uint32_t)strlen(rows[i].message);
			cluster_expect(decision.message, rows[i].message);
		} else { /* the engine requests the binding */
			ck_assert_msg(
				decision.outcome == BERTH_DECISION_WAITING, "%s", rows[i].name);
			cluster_expect(decision.node_name, "n1");
		}
		berth_engine_destroy(engine);
	}
}
END_TEST

/* seed-map 004.9 */
START_TEST(test_volume_binding__no_plugin_no_binder_to_replace)
{
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG(CLUSTER_ONLY(""), ""), NULL);
	struct berth_fake_volume_binder *fake = berth_fake_volume_binder_create(NULL);

	ck_assert_int_eq(
		berth_volume_binding_replace_binder(cluster_framework(engine), &fake->base, NULL),
		BERTH_ERR_NOT_FOUND);
	berth_volume_binder_destroy(&fake->base);
	berth_engine_destroy(engine);
}
END_TEST

BT_TEST_MAIN("lib_volume_binding", test_volume_binding__looks_at_claims,
	test_volume_binding__refuses_wrong_arguments,
	test_volume_binding__takes_a_pod_to_its_volumes, test_volume_binding__registers_events,
	test_volume_binding__merges_results, test_volume_binding__fake_binder_returns_its_script,
	test_volume_binding__binder_can_be_replaced, test_volume_binding__fake_binder_in_an_engine,
	test_volume_binding__no_plugin_no_binder_to_replace)
