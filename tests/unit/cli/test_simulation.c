/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/simulation_output.h"
#include "cli_test.h"

#define NODE(name, cpu) \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: " name "}\n" \
	"status: {capacity: {cpu: '" cpu "', memory: 8Gi, pods: '10'}}\n"
#define POD(name, meta, spec, status) \
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name meta "}\n" \
	"spec: {containers: [{name: c, resources: {requests: {cpu: '1'}}}]" spec "}\n" \
	"status: {" status "}\n"
#define CLAIM_OF(name) "resourceClaims: [{name: g, resourceClaimName: " name "}]"
#define CLAIM(name, status) \
	"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n" \
	"metadata: {name: " name ", namespace: default}\n" \
	"spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}\n" status

static const struct bt_simulated_pod *find(const struct test_run *run, const char *name)
{
	for (uint32_t i = 0; i < run->simulation.pods.count; i++) {
		const struct bt_simulated_pod *entry = &run->simulation.pods.items[i];
		if (bt_str_equal_c(entry->pod->metadata.name, name)) {
			return entry;
		}
	}
	ck_abort_msg("no pod %s", name);
}

static void run_text(struct test_run *run, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = test_run_init(run, text, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

/* Spec 05 section 4; creationTimestamp replaces the time when a pod entered the queue. */
START_TEST(test_simulation__queue_order)
{
	struct test_run run;
	run_text(&run,
		POD("late", ", creationTimestamp: \"2026-01-02T00:00:00Z\"", "", "")
			POD("fresh-1", "", "", "") POD("fresh-2", "", "", "") POD(
				"early", ", creationTimestamp: \"2026-01-01T00:00:00Z\"", "", "")
				POD("important", "", ", priority: 10", ""));
	static const char *const order[] = {"important", "early", "late", "fresh-1", "fresh-2"};
	ck_assert_uint_eq(run.simulation.pods.count, BT_ARRAY_LENGTH(order));
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(order); i++) {
		struct bt_str name = run.simulation.pods.items[i].pod->metadata.name;
		ck_assert_msg(bt_str_equal_c(name, order[i]), "%u: %.*s", i, BT_STR_ARG(name));
	}
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__each_pod_counts_for_the_next)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "2") POD("running", "", ", nodeName: n1", "") POD("first", "", "", "")
			POD("second", "", "", ""));
	ck_assert_int_eq(find(&run, "first")->fate, BT_FATE_SCHEDULED);
	ck_assert(bt_str_equal_c(find(&run, "first")->node_name, "n1"));
	ck_assert_int_eq(find(&run, "second")->fate, BT_FATE_UNSCHEDULABLE);
	ck_assert(bt_str_has_prefix(find(&run, "second")->message,
		BT_STR("0/1 nodes are available: 1 Insufficient cpu.")));
	ck_assert_uint_eq(run.simulation.running_count, 1);
	test_run_finish(&run);
}
END_TEST

/* Spec 01 section 5.17, 03 section 2.1, 05 section 5. */
START_TEST(test_simulation__fates)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "8") POD("done", "", "", "phase: Succeeded")
			POD("failed", "", ", nodeName: n1", "phase: Failed") POD(
				"leaving", ", deletionTimestamp: \"2026-01-02T00:00:00Z\"", "", "")
				POD("gated", "", ", schedulingGates: [{name: g1}, {name: g2}]", "")
					POD("foreign", "", ", schedulerName: other", "")
						POD("fine", "", "", ""));
	ck_assert_uint_eq(run.simulation.pods.count, 4);
	ck_assert_uint_eq(run.simulation.running_count, 0);
	ck_assert_int_eq(find(&run, "leaving")->fate, BT_FATE_DELETING);
	ck_assert_int_eq(find(&run, "gated")->fate, BT_FATE_SCHEDULING_GATED);
	ck_assert(bt_str_equal_c(
		find(&run, "gated")->message, "waiting for scheduling gates: [g1 g2]"));
	ck_assert_int_eq(find(&run, "foreign")->fate, BT_FATE_NOT_HANDLED);
	ck_assert(bt_str_equal_c(
		find(&run, "foreign")->message, "profile not found for scheduler name \"other\""));
	ck_assert_int_eq(find(&run, "fine")->fate, BT_FATE_SCHEDULED);
	ck_assert(bt_fate_is_pending(BT_FATE_NOT_HANDLED) && !bt_fate_is_pending(BT_FATE_DELETING));
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__no_nodes)
{
	struct test_run run;
	run_text(&run, POD("a", "", "", ""));
	ck_assert_int_eq(find(&run, "a")->fate, BT_FATE_UNSCHEDULABLE);
	ck_assert(bt_str_equal_c(find(&run, "a")->message, "no nodes available to schedule pods"));
	test_run_finish(&run);
}
END_TEST

/*
 * A pod that is earlier in the queue must not take the room of a nominated pod of the same or a
 * higher priority.
 */
START_TEST(test_simulation__nominated_pod_keeps_its_node)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "1") POD("other", ", creationTimestamp: \"2026-01-01T00:00:00Z\"", "",
			"") POD("nominated", "", "", "nominatedNodeName: n1"));
	ck_assert_int_eq(find(&run, "other")->fate, BT_FATE_UNSCHEDULABLE);
	ck_assert_int_eq(find(&run, "nominated")->fate, BT_FATE_SCHEDULED);
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__unknown_node)
{
	struct test_run run;
	run_text(
		&run, NODE("n1", "2") POD("lost", "", ", nodeName: gone", "") POD("a", "", "", ""));
	ck_assert_str_eq(bt_strbuf_c(&run.warnings),
		"Pod default/lost: its node gone is not in the input\n");
	ck_assert(bt_str_equal_c(find(&run, "a")->node_name, "n1"));
	test_run_finish(&run);
}
END_TEST

/* Without this warning, the devices that the pod uses would silently count as free. */
START_TEST(test_simulation__running_pod_whose_devices_are_not_in_the_input)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "2") CLAIM("mine", "") CLAIM("good", "status: {allocation: {}}\n")
			POD("absent", "", ", nodeName: n1, " CLAIM_OF("other"), "")
				POD("unallocated", "", ", nodeName: n1, " CLAIM_OF("mine"), "")
					POD("fine", "", ", nodeName: n1, " CLAIM_OF("good"), "")
						POD("none", "",
							", nodeName: n1, resourceClaims: "
							"[{name: g, "
							"resourceClaimTemplateName: t}]",
							"resourceClaimStatuses: [{name: g}]"));
	ck_assert_str_eq(bt_strbuf_c(&run.warnings),
		"Pod default/absent: no allocation for spec.resourceClaims g is in the input: the "
		"devices it uses count as free\n"
		"Pod default/unallocated: no allocation for spec.resourceClaims g is in the input: "
		"the devices it uses count as free\n");
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__missing_templates_are_reported_once)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "2") POD("a", "",
			", resourceClaims: [{name: g, resourceClaimTemplateName: t}]", "") POD("b",
			"", ", resourceClaims: [{name: g, resourceClaimTemplateName: t}]", ""));
	ck_assert_str_eq(bt_strbuf_c(&run.warnings),
		"ResourceClaimTemplate default/t is not in the input: pods that name it get no "
		"claim and stay pending, as does default/a\n");
	ck_assert_int_eq(find(&run, "b")->fate, BT_FATE_SCHEDULING_GATED);
	test_run_finish(&run);
}
END_TEST

#define TEMPLATE(name) \
	"---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\n" \
	"metadata: {name: " name ", namespace: default}\n" \
	"spec: {metadata: {labels: {team: a}}, spec: {devices: {requests: [{name: r, exactly: " \
	"{deviceClassName: c}}]}}}\n"

#define ENTRY(name) "{name: " name ", resourceClaimTemplateName: t}"

/* A pod whose status already names a claim keeps this claim. */
START_TEST(test_simulation__claims_are_made_from_templates)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "2") TEMPLATE("t") CLAIM("old", "")
		POD("fresh", "", ", resourceClaims: [" ENTRY("g") "]", "")
		POD("known", "", ", resourceClaims: [" ENTRY("g") ", " ENTRY("h") "]",
			"resourceClaimStatuses: [{name: g, resourceClaimName: old}]"));
	const struct bt_object_store *objects = &run.simulation.engine->state->objects;
	const struct bt_pod *fresh = find(&run, "fresh")->pod;
	ck_assert_uint_eq(fresh->status.resource_claim_statuses.count, 1);
	struct bt_str name = fresh->status.resource_claim_statuses.items[0].resource_claim_name;
	ck_assert(bt_str_has_prefix(name, BT_STR("fresh-g-")));
	ck_assert_uint_eq(name.length, 13);
	const struct bt_resource_claim *claim = bt_object_store_find(
		objects, BT_KIND_RESOURCE_CLAIM, BT_STR("default"), name);
	ck_assert(claim != NULL);
	ck_assert(bt_str_equal(
		bt_object_controller(&claim->metadata)->uid, fresh->metadata.uid));
	ck_assert_uint_eq(claim->metadata.labels.count, 1);
	ck_assert(bt_str_equal_c(claim->spec.devices.requests.items[0].exactly->allocation_mode,
		"ExactCount"));
	const struct bt_pod *known = find(&run, "known")->pod;
	const struct bt_pod_resource_claim_status *statuses =
		known->status.resource_claim_statuses.items;
	ck_assert_uint_eq(known->status.resource_claim_statuses.count, 2);
	ck_assert(bt_str_equal_c(statuses[0].resource_claim_name, "old"));
	ck_assert(bt_str_has_prefix(statuses[1].resource_claim_name, BT_STR("known-h-")));
	test_run_finish(&run);
}
END_TEST

/* A claim of the same name with another owner is not replaced. */
START_TEST(test_simulation__ephemeral_volumes_get_their_claims)
{
#define SCRATCH \
	", volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: " \
	"b}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"
	struct test_run run;
	run_text(&run,
		NODE("n1", "2") POD("a", "", SCRATCH, "") POD("b", "", SCRATCH, "")
		"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s, "
		"annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}\n"
		"provisioner: p.example.com\nvolumeBindingMode: WaitForFirstConsumer\n"
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: b-scratch}\n"
		"spec: {accessModes: [ReadWriteOnce]}\n");
	const struct bt_persistent_volume_claim *claim =
		bt_object_store_find(&run.simulation.engine->state->objects,
			BT_KIND_PERSISTENT_VOLUME_CLAIM, BT_STR("default"), BT_STR("a-scratch"));
	ck_assert(claim != NULL);
	ck_assert(bt_str_equal_c(claim->spec.storage_class_name, "s"));
	ck_assert_int_eq(find(&run, "a")->fate, BT_FATE_SCHEDULED);
	ck_assert_int_eq(find(&run, "b")->fate, BT_FATE_UNSCHEDULABLE);
	ck_assert(bt_str_find(find(&run, "b")->message,
			  BT_STR("PVC default/b-scratch was not created for pod default/b")) >= 0);
	test_run_finish(&run);
}
END_TEST

/* Later pods get copies of the first pod's claims; each copy has a separate name, uid and owner. */
START_TEST(test_simulation__like_pods_get_claims_of_their_own)
{
	struct test_run run;
	run_text(&run,
		NODE("n1", "4") TEMPLATE("t")
		POD("a", "", SCRATCH ", resourceClaims: [" ENTRY("g") "]", "")
		POD("b", "", SCRATCH ", resourceClaims: [" ENTRY("g") "]", "")
		POD("c", "", ", resourceClaims: [" ENTRY("g") "]", ""));
	const struct bt_object_store *objects = &run.simulation.engine->state->objects;
	static const char *const names[] = {"a", "b", "c"};
	struct bt_str uids[2 * BT_ARRAY_LENGTH(names)] = {{0}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		const struct bt_pod *pod = find(&run, names[i])->pod;
		char volume_claim[16];
		char prefix[16];
		(void)snprintf(volume_claim, sizeof(volume_claim), "%s-scratch", names[i]);
		(void)snprintf(prefix, sizeof(prefix), "%s-g-", names[i]);
		ck_assert_uint_eq(pod->status.resource_claim_statuses.count, 1);
		struct bt_str name =
			pod->status.resource_claim_statuses.items[0].resource_claim_name;
		ck_assert(bt_str_has_prefix(name, bt_str_from(prefix)));
		ck_assert_uint_eq(name.length, strlen(prefix) + 5);
		const struct bt_object *made[] = {
			bt_object_store_find_object(
				objects, BT_KIND_RESOURCE_CLAIM, BT_STR("default"), name),
			bt_object_store_find_object(objects, BT_KIND_PERSISTENT_VOLUME_CLAIM,
				BT_STR("default"), bt_str_from(volume_claim))};
		ck_assert_ptr_nonnull(made[0]);
		ck_assert_int_eq(made[1] != NULL, pod->spec.volumes.count != 0);
		for (size_t k = 0; k < 2 && made[k] != NULL; k++) {
			const struct bt_owner_reference *owner =
				bt_object_controller(made[k]->meta);
			ck_assert(bt_str_equal(owner->uid, pod->metadata.uid));
			ck_assert(bt_str_equal(owner->name, pod->metadata.name));
			ck_assert_uint_eq(made[k]->meta->labels.count, 1);
			uids[2 * i + k] = made[k]->meta->uid;
		}
		ck_assert(bt_str_equal_c(made[0]->meta->generate_name, prefix));
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(uids); i++) {
		for (size_t k = 0; k < i && uids[i].length != 0; k++) {
			ck_assert(!bt_str_equal(uids[i], uids[k]));
		}
	}
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__one_uid_for_two_pods)
{
	static const char *const texts[] = {
		POD("a", ", uid: u", ", nodeName: n1", "")
			POD("b", ", uid: u", ", nodeName: n1", ""),
		POD("a", ", uid: u", ", nodeName: n1", "") POD("b", ", uid: u", "", ""),
		POD("a", ", uid: u", "", "") POD("b", ", uid: u", "", ""),
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		struct test_run run;
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_int_eq(test_run_init(&run, texts[i], &err), BERTH_ERR_INVALID);
		ck_assert_str_eq(berth_error_message(&err),
			"test: document 2: Pod default/b: metadata.uid: u belongs to another pod "
			"as well");
		berth_error_finish(&err);
		test_run_finish(&run);
	}
}
END_TEST

START_TEST(test_simulation__unknown_class_names_the_workload)
{
	struct test_run run;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(test_run_init(&run,
				 "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\n"
				 "spec: {template: {spec: {priorityClassName: c, "
				 "containers: [{name: c}]}}}\n",
				 &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"test: document 1: Deployment default/w: spec.template: pods "
		"\"w-fwjrgv7m55-9bl5n\" is forbidden: no PriorityClass with name c was found");
	berth_error_finish(&err);
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation__output_formats)
{
	struct test_run run;
	struct bt_strbuf out = {0};
	run_text(&run, NODE("n1", "2") POD("a", "", "", "") POD("b", "", ", schedulerName: x", ""));
	ck_assert_int_eq(bt_simulation_write(&run.simulation, BT_OUTPUT_TABLE, &out, NULL), 0);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"POD        NODE  STATUS\n"
		"default/a  n1    Scheduled\n"
		"default/b  -     NotHandled: profile not found for scheduler name \"x\"\n"
		"\n"
		"NODE  PODS  CPU        MEMORY\n"
		"n1    1/10  1/2 (50%)  0/8Gi (0%)\n"
		"\n"
		"1 placed, 1 pending; 0 running before, 1 node\n");
	bt_strbuf_reset(&out);
	ck_assert_int_eq(bt_simulation_write(&run.simulation, BT_OUTPUT_NAME, &out, NULL), 0);
	ck_assert_str_eq(bt_strbuf_c(&out), "pod/default/a n1\n");
	bt_strbuf_reset(&out);
	ck_assert_int_eq(bt_simulation_write(&run.simulation, BT_OUTPUT_JSON, &out, NULL), 0);
	struct bt_arena arena = {0};
	struct bt_json_value *value;
	ck_assert_int_eq(bt_json_parse(&arena, bt_strbuf_str(&out), false, &value, NULL), 0);
	const struct bt_json_value *pod = bt_json_find(value, "pods")->elements[1];
	ck_assert(bt_str_equal_c(bt_json_find_str(pod, "reason"), "NotHandled"));
	ck_assert(bt_str_equal_c(bt_json_find_str(pod, "node"), ""));
	ck_assert_uint_eq(bt_json_find(value, "nodes")->count, 1);
	bt_arena_finish(&arena);
	bt_strbuf_finish(&out);
	test_run_finish(&run);
}
END_TEST

BT_TEST_MAIN("simulation", test_simulation__queue_order,
	test_simulation__each_pod_counts_for_the_next, test_simulation__fates,
	test_simulation__no_nodes, test_simulation__nominated_pod_keeps_its_node,
	test_simulation__unknown_node,
	test_simulation__running_pod_whose_devices_are_not_in_the_input,
	test_simulation__missing_templates_are_reported_once,
	test_simulation__claims_are_made_from_templates,
	test_simulation__ephemeral_volumes_get_their_claims,
	test_simulation__like_pods_get_claims_of_their_own, test_simulation__one_uid_for_two_pods,
	test_simulation__unknown_class_names_the_workload, test_simulation__output_formats)
