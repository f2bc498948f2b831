/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 07 sections 6 to 9, 13 and 16. */
#include "berth/volume_binder.h"

#include "volumes.h"

#define SECOND INT64_C(1000000000)

/* seed-map 004.1, 004.2, 004.3, 004.4, 004.62, 004.63, 004.64, 004.65, 004.66 */
START_TEST(test_volume_binder__reasons)
{
	struct berth_conflict_reasons reasons = {
		.items = {BERTH_CONFLICT_REASON_PV_NOT_EXIST, BERTH_CONFLICT_REASON_NODE_CONFLICT,
			BERTH_CONFLICT_REASON_BIND_CONFLICT,
			BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE},
		.count = 4,
	};

	ck_assert_str_eq(berth_conflict_reason_text(BERTH_CONFLICT_REASON_BIND_CONFLICT),
		"node(s) didn't find available persistent volumes to bind");
	ck_assert_str_eq(berth_conflict_reason_text(BERTH_CONFLICT_REASON_NODE_CONFLICT),
		"node(s) didn't match PersistentVolume's node affinity");
	ck_assert_str_eq(berth_conflict_reason_text(BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE),
		"node(s) did not have enough free storage");
	ck_assert_str_eq(berth_conflict_reason_text(BERTH_CONFLICT_REASON_PV_NOT_EXIST),
		"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");
	ck_assert_uint_eq(berth_conflict_reasons_len(&reasons), BERTH_CONFLICT_REASONS_MAX);
	for (uint32_t round = 0; round < reasons.count; round++) {
		for (uint32_t i = 0; i + 1 < reasons.count; i++) {
			if (berth_conflict_reasons_less(&reasons, i + 1, i)) {
				berth_conflict_reasons_swap(&reasons, i, i + 1);
			}
		}
	}
	ck_assert_int_eq(reasons.items[0], BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE);
	ck_assert_int_eq(reasons.items[1], BERTH_CONFLICT_REASON_BIND_CONFLICT);
	ck_assert_int_eq(reasons.items[2], BERTH_CONFLICT_REASON_NODE_CONFLICT);
	ck_assert_int_eq(reasons.items[3], BERTH_CONFLICT_REASON_PV_NOT_EXIST);
}
END_TEST

static struct berth_pod_volume_claims claims_of(const struct volumes *volumes,
	struct berth_volume_binder *binder, const struct berth_pod_info *pod)
{
	struct berth_pod_volume_claims claims;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(berth_volume_binder_get_pod_volume_claims(
			      binder, pod, volumes->arena, &claims, &err) == 0,
		"%s", berth_error_message(&err));
	return claims;
}

/**
 * Finds the pod's volumes on the node. Returns NULL if the node has a conflict; the test fails
 * unless expected is the only conflict.
 */
static struct berth_pod_volumes *find(const struct volumes *volumes,
	struct berth_volume_binder *binder, const struct berth_pod_info *pod,
	struct berth_pod_volume_claims *claims, const char *node_name,
	enum berth_conflict_reason expected)
{
	struct berth_pod_volumes *found = NULL;
	struct berth_conflict_reasons reasons;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(berth_volume_binder_find_pod_volumes(binder, pod, claims,
			      volumes_node(volumes, node_name), volumes->arena, &found, &reasons,
			      &err) == 0,
		"%s", berth_error_message(&err));
	if (reasons.count != 0) {
		ck_assert_uint_eq(reasons.count, 1);
		ck_assert_int_eq(reasons.items[0], expected);
		ck_assert_ptr_null(found);
	}
	return found;
}

/* seed-map 004.39, 004.40, 004.41, 004.51 */
START_TEST(test_volume_binder__sorts_claims)
{
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("b", "1", "late", "2Gi", ""));
	cluster_put(volumes.engine, VOLUME("f", "1", "late", "3Gi", ""));
	cluster_put(volumes.engine, BOUND_CLAIM("bound", "1", "late", "b"));
	cluster_put(volumes.engine, CLAIM("delayed", "late"));
	cluster_put(volumes.engine, CLAIM("immediate", "now"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p",
		POD_VOLUME("bound") "," POD_VOLUME("delayed") "," POD_VOLUME("immediate"));
	struct berth_pod_info *lost = volumes_pod(&volumes, "q", POD_VOLUME("nothing"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pod);
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_uint_eq(claims.bound.count, 1);
	cluster_expect(berth_pvc_name(claims.bound.items[0]), "bound");
	ck_assert(berth_pvc_is_fully_bound(claims.bound.items[0]));
	ck_assert_uint_eq(claims.delayed.count, 1);
	cluster_expect(berth_pvc_name(claims.delayed.items[0]), "delayed");
	ck_assert_uint_eq(claims.immediate.count, 1);
	cluster_expect(berth_pvc_name(claims.immediate.items[0]), "immediate");
	ck_assert_uint_eq(claims.class_count, 1);
	cluster_expect(claims.volumes_by_class[0].storage_class, "late");
	ck_assert_uint_eq(claims.volumes_by_class[0].volume_count, 2);
	ck_assert_int_eq(
		binder->ops->get_pod_volume_claims(binder, lost, volumes.arena, &claims, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err),
		"error getting PVC \"d/nothing\": persistentvolumeclaims \"d/nothing\" not found");
	berth_error_finish(&err);
	berth_framework_pod_destroy(pod);
	berth_framework_pod_destroy(lost);
	berth_volume_binder_destroy(binder);
	berth_volume_binder_destroy(NULL);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.43, 004.52, 004.53, 004.55, 004.56, 004.57, 004.58 */
START_TEST(test_volume_binder__finds_volumes_that_there_are)
{
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("b", "1", "late", "2Gi", ON_NODE("n1")));
	cluster_put(volumes.engine, VOLUME("f", "1", "late", "3Gi", ON_NODE("n2")));
	cluster_put(volumes.engine, BOUND_CLAIM("bound", "1", "late", "b"));
	cluster_put(volumes.engine, BOUND_CLAIM("gone", "1", "late", "nowhere"));
	cluster_put(volumes.engine, CLAIM("delayed", "late"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, NULL);
	struct berth_pod_info *on_n1 = volumes_pod(&volumes, "a", POD_VOLUME("bound"));
	struct berth_pod_info *nowhere = volumes_pod(&volumes, "b", POD_VOLUME("gone"));
	struct berth_pod_info *delayed = volumes_pod(&volumes, "c", POD_VOLUME("delayed"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, on_n1);

	ck_assert_ptr_nonnull(find(&volumes, binder, on_n1, &claims, "n1", 0));
	ck_assert_ptr_null(
		find(&volumes, binder, on_n1, &claims, "n2", BERTH_CONFLICT_REASON_NODE_CONFLICT));
	claims = claims_of(&volumes, binder, nowhere);
	ck_assert_ptr_null(
		find(&volumes, binder, nowhere, &claims, "n1", BERTH_CONFLICT_REASON_PV_NOT_EXIST));
	claims = claims_of(&volumes, binder, delayed);
	claims.work = NULL; /* as if the caller had made claims */
	struct berth_pod_volumes *found = find(&volumes, binder, delayed, &claims, "n2", 0);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->static_count, 1);
	ck_assert_uint_eq(found->dynamic_count, 0);
	const struct berth_binding_info *binding = &found->static_bindings[0];
	cluster_expect(berth_pvc_name(binding->claim), "delayed");
	cluster_expect(berth_pv_name(binding->volume), "f");
	cluster_expect(berth_binding_info_storage_class_name(binding), "late");
	struct berth_storage_resource storage = berth_binding_info_storage_resource(binding);
	ck_assert_int_eq(storage.requested, INT64_C(1) << 30);
	ck_assert_int_eq(storage.capacity, INT64_C(3) << 30);
	ck_assert_uint_eq(
		berth_volume_binder_stage_errors(binder, BERTH_VOLUME_STAGE_PREDICATE), 0);
	berth_framework_pod_destroy(on_n1);
	berth_framework_pod_destroy(nowhere);
	berth_framework_pod_destroy(delayed);
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

#define CAPACITY(name, node, size) \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':'" name \
	"','namespace':'d'},'storageClassName':'made','capacity':'" size \
	"','nodeTopology':{'matchLabels':{'host':'" node "'}}}"

static const void *get_nothing(void *context, struct berth_str space, struct berth_str name)
{
	(void)context;
	(void)space;
	(void)name;
	return NULL;
}

static void list_nothing(
	void *context, struct berth_str space, berth_lister_visit_fn visit, void *visit_context)
{
	(void)context;
	(void)space;
	(void)visit;
	(void)visit_context;
}

/* seed-map 004.43, 004.54, 004.59, 004.60, 004.61 */
START_TEST(test_volume_binder__checks_free_storage)
{
	struct volumes volumes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, CLAIM("c", "made"));
	cluster_put(volumes.engine,
		"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':"
		"'csi.example'},'spec':{'storageCapacity':true}}");
	cluster_put(volumes.engine, CAPACITY("s1", "n1", "1500Mi"));
	cluster_put(volumes.engine, CAPACITY("s2", "n2", "500Mi"));
	struct berth_capacity_check check = {
		.csi_driver_lister = berth_handle_lister(volumes.handle, "CSIDriver"),
		.csi_storage_capacity_lister =
			berth_handle_lister(volumes.handle, "CSIStorageCapacity"),
	};
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, &check, NULL);
	/* With a lister that returns no drivers, free storage is not checked. */
	struct berth_capacity_check blind = {
		.csi_driver_lister = {NULL, get_nothing, list_nothing},
	};
	struct berth_volume_binder *careless =
		berth_volume_binder_create(volumes.handle, NULL, &blind, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pod);
	struct berth_pod_volumes *found = find(&volumes, binder, pod, &claims, "n1", 0);

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->dynamic_count, 1);
	cluster_expect(berth_pvc_name(found->dynamic_provisions[0].claim), "c");
	cluster_expect(
		berth_csi_storage_capacity_name(found->dynamic_provisions[0].node_capacity), "s1");
	ck_assert_int_eq(
		berth_csi_storage_capacity_bytes(found->dynamic_provisions[0].node_capacity),
		INT64_C(1500) << 20);
	ck_assert_ptr_null(
		find(&volumes, binder, pod, &claims, "n2", BERTH_CONFLICT_REASON_NOT_ENOUGH_SPACE));
	claims = claims_of(&volumes, careless, pod);
	ck_assert_ptr_nonnull(find(&volumes, careless, pod, &claims, "n2", 0));
	berth_framework_pod_destroy(pod);
	berth_volume_binder_destroy(binder);
	berth_volume_binder_destroy(careless);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.42 */
START_TEST(test_volume_binder__eligible_nodes_are_those_without_conflict)
{
	struct volumes volumes;
	struct berth_pre_filter_result nodes;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("b", "1", "late", "2Gi", ON_NODE("n1")));
	cluster_put(volumes.engine, VOLUME("free", "1", "late", "2Gi", ""));
	cluster_put(volumes.engine, BOUND_CLAIM("bound", "1", "late", "b"));
	cluster_put(volumes.engine, BOUND_CLAIM("free", "1", "late", "free"));
	cluster_put(volumes.engine, BOUND_CLAIM("gone", "1", "late", "nowhere"));
	cluster_put(volumes.engine, VOLUME("w", "1", "late", "2Gi", ON_NODE("n1','n2")));
	cluster_put(volumes.engine, BOUND_CLAIM("wide", "1", "late", "w"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, NULL);
	struct berth_pod_info *pods[] = {
		volumes_pod(&volumes, "a", POD_VOLUME("bound") "," POD_VOLUME("free")),
		volumes_pod(&volumes, "b", POD_VOLUME("free")),
		volumes_pod(&volumes, "c", POD_VOLUME("bound") "," POD_VOLUME("gone")),
		volumes_pod(&volumes, "e", POD_VOLUME("wide")),
	};
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pods[0]);

	berth_volume_binder_get_eligible_nodes(binder, &claims.bound, volumes.arena, &nodes);
	ck_assert(nodes.restricted);
	ck_assert_uint_eq(nodes.count, 1);
	cluster_expect(nodes.names[0], "n1");
	for (uint32_t i = 1; i < 4; i++) {
		claims = claims_of(&volumes, binder, pods[i]);
		berth_volume_binder_get_eligible_nodes(
			binder, &claims.bound, volumes.arena, &nodes);
		ck_assert(!nodes.restricted);
	}
	for (uint32_t i = 0; i < 4; i++) {
		berth_framework_pod_destroy(pods[i]);
	}
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.43: an aggregate that is in no cluster stands for the node of the same name */
START_TEST(test_volume_binder__finds_nodes_by_name)
{
	struct volumes volumes;
	struct berth_pod_volumes *found = NULL;
	struct berth_conflict_reasons reasons;
	struct berth_error err = BERTH_ERROR_INIT;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("b", "1", "late", "2Gi", ON_NODE("n1")));
	cluster_put(volumes.engine, BOUND_CLAIM("bound", "1", "late", "b"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "a", POD_VOLUME("bound"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pod);
	struct berth_object *node =
		cluster_object("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n2'}}");
	struct berth_node_info *alone = berth_node_info_create(NULL, 0);

	ck_assert_int_eq(berth_volume_binder_find_pod_volumes(binder, pod, &claims, alone,
				 volumes.arena, &found, &reasons, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "node \"\" not found");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_node_info_set_node(alone, node, NULL), 0);
	ck_assert_int_eq(berth_volume_binder_find_pod_volumes(binder, pod, &claims, alone,
				 volumes.arena, &found, &reasons, &err),
		0);
	ck_assert_uint_eq(reasons.count, 1);
	ck_assert_int_eq(reasons.items[0], BERTH_CONFLICT_REASON_NODE_CONFLICT);
	berth_node_info_destroy(alone);
	berth_object_release(node);
	berth_framework_pod_destroy(pod);
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.44, 004.45 */
START_TEST(test_volume_binder__assumes_and_reverts)
{
	struct volumes volumes;
	bool all_bound = true;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("f", "1", "late", "3Gi", ""));
	cluster_put(volumes.engine, CLAIM("first", "late"));
	cluster_put(volumes.engine, CLAIM("second", "late"));
	cluster_put(volumes.engine, BOUND_CLAIM("bound", "1", "late", "b"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, NULL);
	struct berth_pod_info *first = volumes_pod(&volumes, "a", POD_VOLUME("first"));
	struct berth_pod_info *second = volumes_pod(&volumes, "b", POD_VOLUME("second"));
	struct berth_pod_info *bound = volumes_pod(&volumes, "c", POD_VOLUME("bound"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, first);
	struct berth_pod_volumes *found = find(&volumes, binder, first, &claims, "n1", 0);

	ck_assert_ptr_nonnull(found);
	struct berth_pod_volumes own = {
		.static_bindings = found->static_bindings, .static_count = found->static_count};
	ck_assert_int_eq(berth_volume_binder_assume_pod_volumes(binder, first, BERTH_STR("n1"),
				 &own, volumes.arena, &all_bound, NULL),
		0);
	ck_assert(!all_bound);
	struct berth_str claim_name;
	berth_pv_claim(own.static_bindings[0].volume, NULL, &claim_name, NULL);
	cluster_expect(claim_name, "first");
	cluster_expect(berth_pv_annotation(own.static_bindings[0].volume,
			       BERTH_STR("pv.kubernetes.io/bound-by-controller")),
		"yes");
	claims = claims_of(&volumes, binder, second);
	ck_assert_ptr_null(
		find(&volumes, binder, second, &claims, "n1", BERTH_CONFLICT_REASON_BIND_CONFLICT));
	berth_volume_binder_revert_assumed_pod_volumes(binder, &own);
	claims = claims_of(&volumes, binder, second);
	ck_assert_ptr_nonnull(find(&volumes, binder, second, &claims, "n1", 0));
	ck_assert_int_eq(berth_volume_binder_assume_pod_volumes(binder, bound, BERTH_STR("n1"),
				 NULL, volumes.arena, &all_bound, NULL),
		0);
	ck_assert(all_bound);
	berth_framework_pod_destroy(first);
	berth_framework_pod_destroy(second);
	berth_framework_pod_destroy(bound);
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

/* seed-map 004.46, 004.68 */
START_TEST(test_volume_binder__writes_and_waits)
{
	struct berth_volume_binder_options options = BERTH_VOLUME_BINDER_OPTIONS_INIT;
	struct berth_request request = {.id = 0};
	struct volumes volumes;
	bool all_bound = true;
	struct berth_error err = BERTH_ERROR_INIT;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("f", "1", "late", "3Gi", ""));
	cluster_put(volumes.engine, CLAIM("c", "late"));
	ck_assert_int_eq(options.bind_timeout_ns, 600 * SECOND);
	options.bind_timeout_ns = 3 * SECOND;
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, NULL, NULL, &options);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	cluster_put_pod(volumes.engine, "p", "1",
		",'schedulingGates':[{'name':'g'}],'volumes':[" POD_VOLUME("c") "]");
	(void)berth_engine_step(volumes.engine, SECOND, NULL);
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pod);
	struct berth_pod_volumes *found = find(&volumes, binder, pod, &claims, "n1", 0);
	ck_assert_int_eq(berth_volume_binder_assume_pod_volumes(binder, pod, BERTH_STR("n1"), found,
				 volumes.arena, &all_bound, NULL),
		0);
	ck_assert_int_eq(berth_volume_binder_bind_pod_volumes(
				 binder, pod, BERTH_STR("n1"), found, volumes.arena, &err),
		BERTH_VOLUMES_PENDING);
	ck_assert_int_eq(found->next_check_ns, 0);
	while (berth_engine_take_request(volumes.engine, &request) &&
		request.kind != BERTH_REQUEST_BIND_VOLUME) {
	}
	ck_assert_int_eq(request.kind, BERTH_REQUEST_BIND_VOLUME);
	cluster_expect(request.object_name, "f");
	cluster_expect(request.claim.claim_name, "c");
	struct berth_answer answer = {.resource_version = BERTH_STR("2")};
	berth_engine_answer(volumes.engine, request.id, &answer);
	ck_assert_int_eq(berth_volume_binder_bind_pod_volumes(
				 binder, pod, BERTH_STR("n1"), found, volumes.arena, &err),
		BERTH_VOLUMES_PENDING);
	ck_assert_int_eq(found->next_check_ns, 2 * SECOND);
	cluster_put(volumes.engine,
		VOLUME("f", "2", "late", "3Gi",
			",'claimRef':{'namespace':'d','name':'c','uid':'uid-c'}"));
	cluster_put(volumes.engine, BOUND_CLAIM("c", "2", "late", "f"));
	(void)berth_engine_step(volumes.engine, 2 * SECOND, NULL);
	ck_assert_msg(berth_volume_binder_bind_pod_volumes(
			      binder, pod, BERTH_STR("n1"), found, volumes.arena, &err) == 0,
		"%s", berth_error_message(&err));
	berth_framework_pod_destroy(pod);
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

/**
 * A client and listers of the caller: the listers return another class for the claim, and the
 * client writes at once.
 */
struct client {
	struct berth_object *claim;
	struct berth_object *node;
	bool pod_gone;
	char log[128];
};

static const void *get_claim(void *context, struct berth_str space, struct berth_str name)
{
	const struct client *client = context;

	return berth_str_equal_c(space, "d") && berth_str_equal_c(name, "c")
		? berth_object_pvc(client->claim)
		: NULL;
}

static void list_claims(
	void *context, struct berth_str space, berth_lister_visit_fn visit, void *visit_context)
{
	const struct client *client = context;

	(void)space;
	(void)visit(visit_context, berth_object_pvc(client->claim));
}

static const void *get_node(void *context, struct berth_str space, struct berth_str name)
{
	const struct client *client = context;

	(void)space;
	return berth_str_equal_c(name, "n1") ? berth_object_node(client->node) : NULL;
}

static void list_nodes(
	void *context, struct berth_str space, berth_lister_visit_fn visit, void *visit_context)
{
	const struct client *client = context;

	(void)space;
	(void)visit(visit_context, berth_object_node(client->node));
}

static const void *get_pod(void *context, struct berth_str space, struct berth_str name)
{
	const struct client *client = context;

	(void)space;
	(void)name;
	return client->pod_gone ? NULL : client;
}

static int bind_volume(void *context, const struct berth_pv *pv, const struct berth_pvc *claim,
	struct berth_str *in_out_version, struct berth_error *err)
{
	(void)context;
	(void)pv;
	(void)claim;
	(void)in_out_version;
	return berth_error_set(err, BERTH_ERR_IO, "no volumes today");
}

static int select_node(void *context, const struct berth_pvc *claim, struct berth_str node_name,
	struct berth_str *in_out_version, struct berth_error *err)
{
	struct client *client = context;

	(void)err;
	(void)snprintf(client->log, sizeof(client->log), "%.*s@%.*s version %.*s",
		BERTH_STR_ARG(berth_pvc_name(claim)), BERTH_STR_ARG(node_name),
		BERTH_STR_ARG(*in_out_version));
	*in_out_version = BERTH_STR("8");
	return 0;
}

/* seed-map 004.67 */
START_TEST(test_volume_binder__takes_listers_and_a_client)
{
	struct volumes volumes;
	struct client client = {.pod_gone = false};
	struct berth_volume_binder_listers listers = {
		.pods = {&client, get_pod, NULL},
		.nodes = {&client, get_node, list_nodes},
		.pvcs = {&client, get_claim, list_claims},
		.client_context = &client,
		.bind_volume = bind_volume,
		.select_node = select_node,
	};
	bool all_bound = true;
	struct berth_error err = BERTH_ERROR_INIT;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	client.claim = cluster_object(CLAIM_WITH("c", "7", "", "made", ""));
	client.node = cluster_object("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}");
	cluster_put(volumes.engine, CLAIM("c", "now")); /* differs from the lister's claim */
	cluster_put(volumes.engine, CLAIM("d", "now"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, &listers, NULL, NULL);
	struct berth_pod_info *pod = volumes_pod(&volumes, "p", POD_VOLUME("c"));
	struct berth_pod_info *other = volumes_pod(&volumes, "q", POD_VOLUME("d"));
	struct berth_pod_volume_claims claims = claims_of(&volumes, binder, pod);
	ck_assert_uint_eq(claims.delayed.count, 1);
	struct berth_pod_volumes *found = find(&volumes, binder, pod, &claims, "n1", 0);
	ck_assert_uint_eq(found->dynamic_count, 1);
	ck_assert_int_eq(berth_volume_binder_assume_pod_volumes(binder, pod, BERTH_STR("n1"), found,
				 volumes.arena, &all_bound, NULL),
		0);
	ck_assert_int_eq(berth_volume_binder_bind_pod_volumes(
				 binder, pod, BERTH_STR("n1"), found, volumes.arena, NULL),
		BERTH_VOLUMES_PENDING);
	ck_assert_str_eq(client.log, "c@n1 version 7");
	client.pod_gone = true;
	(void)berth_engine_step(volumes.engine, found->next_check_ns, NULL);
	ck_assert_int_lt(berth_volume_binder_bind_pod_volumes(
				 binder, pod, BERTH_STR("n1"), found, volumes.arena, &err),
		0);
	ck_assert_str_eq(berth_error_message(&err),
		"binding volumes: pod does not exist any more: pod \"p\" not found");
	berth_error_finish(&err);
	ck_assert_uint_eq(berth_volume_binder_stage_errors(binder, BERTH_VOLUME_STAGE_BIND), 1);
	/* A claim that only the scheduler's objects contain is not found: the lister decides. */
	ck_assert_int_eq(berth_volume_binder_get_pod_volume_claims(
				 binder, other, volumes.arena, &claims, NULL),
		BERTH_ERR_NOT_FOUND);
	berth_framework_pod_destroy(pod);
	berth_framework_pod_destroy(other);
	berth_volume_binder_destroy(binder);
	berth_object_release(client.claim);
	berth_object_release(client.node);
	volumes_finish(&volumes);
}
END_TEST

/** Assumes the pod's volumes on n1 and binds them; returns the code of the binding. */
static int bind_once(
	const struct volumes *volumes, struct berth_volume_binder *binder, struct berth_error *err)
{
	struct berth_pod_info *pod = volumes_pod(volumes, "p", POD_VOLUME("c"));
	struct berth_pod_volume_claims claims = claims_of(volumes, binder, pod);
	struct berth_pod_volumes *found = find(volumes, binder, pod, &claims, "n1", 0);
	bool all_bound = true;

	ck_assert_int_eq(berth_volume_binder_assume_pod_volumes(binder, pod, BERTH_STR("n1"), found,
				 volumes->arena, &all_bound, NULL),
		0);
	int result = berth_volume_binder_bind_pod_volumes(
		binder, pod, BERTH_STR("n1"), found, volumes->arena, err);
	berth_framework_pod_destroy(pod);
	return result;
}

/* seed-map 004.46, 004.68 */
START_TEST(test_volume_binder__binding_can_fail)
{
	struct berth_volume_binder_options options = BERTH_VOLUME_BINDER_OPTIONS_INIT;
	struct client client = {.pod_gone = false};
	struct berth_volume_binder_listers listers = {
		.client_context = &client,
		.bind_volume = bind_volume,
		.select_node = select_node,
	};
	struct volumes volumes;
	struct berth_error err = BERTH_ERROR_INIT;

	volumes_init(&volumes, CLUSTER_CONFIG("", ""));
	cluster_put(volumes.engine, VOLUME("f", "1", "late", "3Gi", ""));
	cluster_put(volumes.engine, CLAIM("c", "late"));
	struct berth_volume_binder *binder =
		berth_volume_binder_create(volumes.handle, &listers, NULL, NULL);
	ck_assert_int_eq(bind_once(&volumes, binder, &err), BERTH_ERR_IO);
	ck_assert_str_eq(berth_error_message(&err), "no volumes today");
	berth_error_finish(&err);
	/* A failed write ends the assumption, so the volumes can be assumed again. */
	ck_assert_int_eq(bind_once(&volumes, binder, NULL), BERTH_ERR_IO);
	ck_assert_uint_eq(berth_volume_binder_stage_errors(binder, BERTH_VOLUME_STAGE_BIND), 2);
	berth_volume_binder_destroy(binder);
	/* A timeout of 0 expires at once. */
	cluster_put(volumes.engine, CLAIM_WITH("c", "2", "", "made", ""));
	options.bind_timeout_ns = 0;
	binder = berth_volume_binder_create(volumes.handle, &listers, NULL, &options);
	ck_assert_int_lt(bind_once(&volumes, binder, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), "binding volumes: context deadline exceeded");
	berth_error_finish(&err);
	ck_assert_str_eq(client.log, "c@n1 version 2");
	berth_volume_binder_destroy(binder);
	volumes_finish(&volumes);
}
END_TEST

BT_TEST_MAIN("lib_volume_binder", test_volume_binder__reasons, test_volume_binder__sorts_claims,
	test_volume_binder__finds_volumes_that_there_are, test_volume_binder__checks_free_storage,
	test_volume_binder__eligible_nodes_are_those_without_conflict,
	test_volume_binder__finds_nodes_by_name, test_volume_binder__assumes_and_reverts,
	test_volume_binder__writes_and_waits, test_volume_binder__takes_listers_and_a_client,
	test_volume_binder__binding_can_fail)
