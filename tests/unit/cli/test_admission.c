/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admission.h"
#include "cli_test.h"

#define CLASSES \
	"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: " \
	"7\n" \
	"preemptionPolicy: Never\n---\n" \
	"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\nvalue: " \
	"5\n" \
	"globalDefault: true\n---\n" \
	"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: lower}\nvalue: " \
	"3\n" \
	"globalDefault: true\n"

/** Admit a pod with this spec (YAML flow mapping); the result lives in the arena. */
static int admit(const char *classes, const char *spec, struct bt_manifests *cluster,
	struct bt_arena *arena, struct bt_pod *out_pod, struct berth_error *err)
{
	struct bt_admission admission;
	struct bt_strbuf text = {0};
	bt_manifests_init(cluster);
	bt_strbuf_printf(&text, "%s---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: %s\n",
		classes, spec);
	read_text(cluster, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	bt_admission_init(&admission, cluster, true);
	uint32_t index = bt_manifests_find(cluster, BT_KIND_POD, BT_STR("default"), BT_STR("p"));
	*out_pod = *(const struct bt_pod *)bt_object_value(
		cluster->objects.items[index].object, BT_KIND_POD);
	return bt_admission_admit(&admission, out_pod, arena, err);
}

/* Spec 01 section 4.14: value of the named class, or the globalDefault class, or 0. */
START_TEST(test_admission__priority)
{
	static const struct {
		const char *name;
		const char *classes;
		const char *spec;
		int32_t priority;
		const char *policy; /* "": absent */
	} rows[] = {
		{"none", "", "{}", 0, ""},
		{"named", CLASSES, "{priorityClassName: high}", 7, "Never"},
		{"the pod's own policy", CLASSES,
			"{priorityClassName: high, preemptionPolicy: PreemptLowerPriority}", 7,
			"PreemptLowerPriority"},
		{"lowest of the global defaults", CLASSES, "{}", 3, ""},
		{"of a live cluster", CLASSES, "{priority: 11, priorityClassName: gone}", 11, ""},
		{"built in, cluster", "", "{priorityClassName: system-cluster-critical}",
			2000000000, ""},
		{"built in, node", "", "{priorityClassName: system-node-critical}", 2000001000, ""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_manifests cluster;
		struct bt_arena arena = {0};
		struct bt_pod pod;
		ck_assert_int_eq(
			admit(rows[i].classes, rows[i].spec, &cluster, &arena, &pod, NULL), 0);
		ck_assert_msg(bt_pod_priority(&pod) == rows[i].priority, "%s: %d", rows[i].name,
			bt_pod_priority(&pod));
		ck_assert_msg(bt_str_equal_c(pod.spec.preemption_policy, rows[i].policy), "%s",
			rows[i].name);
		bt_arena_finish(&arena);
		bt_manifests_finish(&cluster);
	}
}
END_TEST

START_TEST(test_admission__unknown_class)
{
	struct bt_manifests cluster;
	struct bt_arena arena = {0};
	struct bt_pod pod;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(
		admit(CLASSES, "{priorityClassName: \"none\\e\"}", &cluster, &arena, &pod, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"spec.priorityClassName: no PriorityClass with name none\\x1b is in the input");
	berth_error_finish(&err);
	bt_arena_finish(&arena);
	bt_manifests_finish(&cluster);
}
END_TEST

START_TEST(test_admission__defaults_are_applied)
{
	struct bt_manifests cluster;
	struct bt_arena arena = {0};
	struct bt_pod pod;
	ck_assert_int_eq(admit("", "{containers: [{name: c, resources: {limits: {cpu: 1}}}]}",
				 &cluster, &arena, &pod, NULL),
		0);
	ck_assert(bt_str_equal_c(pod.spec.scheduler_name, "default-scheduler"));
	ck_assert_uint_eq(pod.spec.containers.items[0].resources.requests.count, 1);
	ck_assert_uint_eq(pod.spec.tolerations.count, 2);
	bt_arena_finish(&arena);
	bt_manifests_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("admission", test_admission__priority, test_admission__unknown_class,
	test_admission__defaults_are_applied)
