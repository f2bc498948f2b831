/* SPDX-License-Identifier: Apache-2.0 */
#include "cli_test.h"

#include "api/storage.h"

static const void *find(
	const struct test_run *run, enum bt_kind kind, const char *namespace_, const char *name)
{
	return bt_object_store_find(&run->simulation.engine->state->objects, kind,
		bt_str_from(namespace_), bt_str_from(name));
}

static void run_text(struct test_run *run, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = test_run_init(run, text, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

START_TEST(test_simulation_objects__objects_are_handed_on)
{
	struct test_run run;
	run_text(&run,
		"apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {selector: {app: a}}\n");
	const struct bt_service *service = find(&run, BT_KIND_SERVICE, "default", "s");
	ck_assert(service != NULL);
	ck_assert_uint_eq(service->spec.selector.count, 1);
	ck_assert(bt_str_equal_c(service->metadata.uid, "00000000-0000-4000-8000-000000000001"));
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation_objects__namespaces)
{
	struct test_run run;
	run_text(&run,
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: made-up}\n---\n"
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: given}\n---\n"
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: given, labels: {team: x}}\n");
	static const char *const names[] = {"made-up", "given"};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		const struct bt_namespace *namespace_ = find(&run, BT_KIND_NAMESPACE, "", names[i]);
		ck_assert(namespace_ != NULL);
		ck_assert_uint_eq(namespace_->metadata.labels.count, i + 1);
		const struct bt_str *label = bt_str_map_find(
			&namespace_->metadata.labels, BT_STR("kubernetes.io/metadata.name"));
		ck_assert(bt_str_equal_c(*label, names[i]));
	}
	test_run_finish(&run);
}
END_TEST

START_TEST(test_simulation_objects__replica_set_of_a_deployment)
{
	struct test_run run;
	run_text(&run,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n"
		"  selector: {matchLabels: {app: a}}\n  template: {metadata: {labels: {app: "
		"a}}, spec: {containers: [{name: c}]}}\n");
	const struct bt_pod *pod = run.simulation.pods.items[0].pod;
	struct bt_str name = bt_object_controller(&pod->metadata)->name;
	const struct bt_replica_set *set =
		bt_object_store_find(&run.simulation.engine->state->objects, BT_KIND_REPLICA_SET,
			BT_STR("default"), name);
	ck_assert(set != NULL);
	ck_assert(bt_str_equal(set->metadata.uid, bt_object_controller(&pod->metadata)->uid));
	ck_assert_uint_eq(set->spec.selector->match_labels.count, 2);
	test_run_finish(&run);
}
END_TEST

#define CLASSES \
	"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: slow}\n" \
	"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: fast\n" \
	"  annotations: {storageclass.kubernetes.io/is-default-class: 'true'}\n" \
	"volumeBindingMode: WaitForFirstConsumer\n"

START_TEST(test_simulation_objects__claims_and_classes)
{
	struct test_run run;
	run_text(&run,
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  replicas: "
		"2\n"
		"  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: "
		"[ReadWriteOnce]}}]\n"
		"  template: {spec: {containers: [{name: c}]}}\n"
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data-a-1}\n"
		"spec: {storageClassName: slow}\n"
		"---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: bound}\n"
		"spec: {volumeName: v}\n" CLASSES);
	static const struct {
		const char *name;
		const char *class; /* "": absent */
	} rows[] = {{"data-a-0", "fast"}, {"data-a-1", "slow"}, {"bound", ""}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct bt_persistent_volume_claim *claim =
			find(&run, BT_KIND_PERSISTENT_VOLUME_CLAIM, "default", rows[i].name);
		ck_assert_msg(claim != NULL, "%s", rows[i].name);
		ck_assert_msg(bt_str_equal_c(claim->spec.storage_class_name, rows[i].class), "%s",
			rows[i].name);
		ck_assert(claim->metadata.uid.length != 0);
	}
	const struct bt_storage_class *slow = find(&run, BT_KIND_STORAGE_CLASS, "", "slow");
	const struct bt_storage_class *fast = find(&run, BT_KIND_STORAGE_CLASS, "", "fast");
	ck_assert(bt_str_equal_c(slow->volume_binding_mode, "Immediate"));
	ck_assert(bt_str_equal_c(fast->volume_binding_mode, "WaitForFirstConsumer"));
	test_run_finish(&run);
}
END_TEST

/* Of equally new default classes the first by name is used, whatever their order in the input. */
START_TEST(test_simulation_objects__equally_new_default_classes)
{
	struct test_run run;
	run_text(&run,
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c}\n"
		"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nprovisioner: p\n"
		"metadata: {name: b, annotations: {storageclass.kubernetes.io/is-default-class: "
		"'true'}}\n"
		"---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nprovisioner: p\n"
		"metadata: {name: a, annotations: {storageclass.kubernetes.io/is-default-class: "
		"'true'}}\n");
	const struct bt_persistent_volume_claim *claim =
		find(&run, BT_KIND_PERSISTENT_VOLUME_CLAIM, "default", "c");
	ck_assert_ptr_nonnull(claim);
	ck_assert(bt_str_equal_c(claim->spec.storage_class_name, "a"));
	test_run_finish(&run);
}
END_TEST

BT_TEST_MAIN("simulation_objects", test_simulation_objects__objects_are_handed_on,
	test_simulation_objects__namespaces, test_simulation_objects__replica_set_of_a_deployment,
	test_simulation_objects__claims_and_classes,
	test_simulation_objects__equally_new_default_classes)
