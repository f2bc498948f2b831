/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Volumes, claims, classes and CSI objects as typed views of objects, and the listers of a handle.
 */
#include "berth/storage.h"

#include "berth/lister.h"
#include "berth/preemption.h"
#include "cluster.h"

#define PV \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v','resourceVersion':'" \
	"3'," \
	"'labels':{'a':'b'},'annotations':{'c':'d','volume.beta.kubernetes.io/storage-class':" \
	"'beta'}},'spec':{'storageClassName':'field','capacity':{'storage':'1500m'},'claimRef':{" \
	"'namespace':'d','name':'c','uid':'u'},'csi':{'driver':'x','volumeHandle':'h'}," \
	"'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone'," \
	"'operator':'In','values':['z1']},{'key':'bad','operator':'DoesNotExist'}]}]}}}}"
#define PVC \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c','namespace':" \
	"'d','uid':'u','resourceVersion':'4','annotations':{" \
	"'pv.kubernetes.io/bind-completed':'yes'}},'spec':{'volumeName':'v','storageClassName':" \
	"'field','resources':{'requests':{'storage':'2Ki'}}}}"
#define CLASS \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'field'}," \
	"'provisioner':'p','volumeBindingMode':'Immediate'}"
#define CSI_NODE \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n'},'spec':{" \
	"'drivers':[]}}"
#define CSI_DRIVER \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIDriver','metadata':{'name':'x'},'spec':{" \
	"'storageCapacity':true}}"
#define CAPACITY \
	"{'apiVersion':'storage.k8s.io/v1','kind':'CSIStorageCapacity','metadata':{'name':'s'," \
	"'namespace':'d'},'storageClassName':'field','capacity':'1Ki'}"
#define PDB \
	"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'b'," \
	"'namespace':'d'},'spec':{}}"

START_TEST(test_storage__volume)
{
	struct berth_object *object = cluster_object(PV);
	const struct berth_pv *pv = berth_object_pv(object);
	struct berth_str space;
	struct berth_str name;
	berth_uid uid;
	struct berth_str keys[] = {{"zone", 4}, {"bad", 3}};
	struct berth_str values[] = {{"z1", 2}, {"", 0}};

	cluster_expect(berth_pv_name(pv), "v");
	cluster_expect(berth_pv_resource_version(pv), "3");
	cluster_expect(berth_pv_label(pv, BERTH_STR("a")), "b");
	ck_assert_ptr_null(berth_pv_label(pv, BERTH_STR("x")).data);
	cluster_expect(berth_pv_annotation(pv, BERTH_STR("c")), "d");
	cluster_expect(berth_pv_class(pv), "beta"); /* the annotation wins over the field */
	ck_assert_int_eq(berth_pv_capacity_bytes(pv), 2);
	berth_pv_claim(pv, &space, &name, &uid);
	cluster_expect(space, "d");
	cluster_expect(name, "c");
	cluster_expect(uid, "u");
	ck_assert(berth_pv_csi(pv, &space, &name));
	cluster_expect(space, "x");
	cluster_expect(name, "h");
	ck_assert(berth_pv_admits_labels(pv, keys, values, 1));
	ck_assert(!berth_pv_admits_labels(pv, keys, values, 2)); /* keys come in any order */
	ck_assert(!berth_pv_admits_labels(pv, NULL, NULL, 0));
	berth_object_release(object);
}
END_TEST

START_TEST(test_storage__claim)
{
	struct berth_object *object = cluster_object(PVC);
	const struct berth_pvc *pvc = berth_object_pvc(object);

	cluster_expect(berth_pvc_name(pvc), "c");
	cluster_expect(berth_pvc_namespace(pvc), "d");
	cluster_expect(berth_pvc_uid(pvc), "u");
	cluster_expect(berth_pvc_resource_version(pvc), "4");
	cluster_expect(
		berth_pvc_annotation(pvc, BERTH_STR("pv.kubernetes.io/bind-completed")), "yes");
	cluster_expect(berth_pvc_class(pvc), "field");
	cluster_expect(berth_pvc_volume_name(pvc), "v");
	ck_assert_int_eq(berth_pvc_request_bytes(pvc), 2048);
	ck_assert(berth_pvc_is_fully_bound(pvc));
	ck_assert_ptr_null(berth_object_pv(object));
	ck_assert_ptr_null(berth_object_pvc(NULL));
	berth_object_release(object);
}
END_TEST

START_TEST(test_storage__classes_and_drivers)
{
	struct berth_object *class_object = cluster_object(CLASS);
	struct berth_object *node = cluster_object(CSI_NODE);
	struct berth_object *driver = cluster_object(CSI_DRIVER);
	struct berth_object *capacity = cluster_object(CAPACITY);
	const struct berth_storage_class *class_ = berth_object_storage_class(class_object);
	const struct berth_csi_storage_capacity *free_storage =
		berth_object_csi_storage_capacity(capacity);

	cluster_expect(berth_storage_class_name(class_), "field");
	cluster_expect(berth_storage_class_provisioner(class_), "p");
	cluster_expect(berth_storage_class_volume_binding_mode(class_), "Immediate");
	cluster_expect(berth_csi_node_name(berth_object_csi_node(node)), "n");
	cluster_expect(berth_csi_driver_name(berth_object_csi_driver(driver)), "x");
	ck_assert(berth_csi_driver_storage_capacity(berth_object_csi_driver(driver)));
	cluster_expect(berth_csi_storage_capacity_name(free_storage), "s");
	cluster_expect(berth_csi_storage_capacity_namespace(free_storage), "d");
	cluster_expect(berth_csi_storage_capacity_class(free_storage), "field");
	ck_assert_int_eq(berth_csi_storage_capacity_bytes(free_storage), 1024);
	ck_assert_ptr_null(berth_object_storage_class(node));
	ck_assert_ptr_null(berth_object_csi_node(driver));
	ck_assert_ptr_null(berth_object_csi_driver(capacity));
	ck_assert_ptr_null(berth_object_csi_storage_capacity(class_object));
	ck_assert_ptr_null(berth_object_pdb(class_object));
	berth_object_release(class_object);
	berth_object_release(node);
	berth_object_release(driver);
	berth_object_release(capacity);
}
END_TEST

static bool count_objects(void *visit_context, const void *object)
{
	ck_assert_ptr_nonnull(object);
	++*(int *)visit_context;
	return false; /* stop after one object */
}

/* seed-map 002.34 */
START_TEST(test_storage__listers_of_a_handle)
{
	static const struct {
		const char *kind;
		const char *json;
		const char *space;
		const char *name;
	} rows[] = {
		{"PersistentVolume", PV, "", "v"},
		{"PersistentVolumeClaim", PVC, "d", "c"},
		{"StorageClass", CLASS, "", "field"},
		{"CSINode", CSI_NODE, "", "n"},
		{"CSIDriver", CSI_DRIVER, "", "x"},
		{"CSIStorageCapacity", CAPACITY, "d", "s"},
		{"PodDisruptionBudget", PDB, "d", "b"},
	};
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	const struct berth_handle *handle = berth_framework_handle(cluster_framework(engine));
	struct berth_str all = {NULL, 0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_lister lister = berth_handle_lister(handle, rows[i].kind);
		struct berth_str space = berth_str_from(rows[i].space);
		struct berth_str name = berth_str_from(rows[i].name);
		int count = 0;

		ck_assert_msg(berth_lister_get(&lister, space, name) == NULL, "%s", rows[i].kind);
		cluster_put(engine, rows[i].json);
		ck_assert_msg(berth_lister_get(&lister, space, name) != NULL, "%s", rows[i].kind);
		berth_lister_list(&lister, all, count_objects, &count);
		berth_lister_list(&lister, BERTH_STR("elsewhere"), count_objects, &count);
		ck_assert_msg(count == 1, "%s: %d", rows[i].kind, count);
	}
	struct berth_lister pods = berth_handle_lister(handle, "Pod");
	struct berth_lister none = berth_handle_lister(handle, "ConfigMap");
	int count = 0;

	cluster_put_pod(engine, "p", "1", "");
	const struct berth_pod *pod = berth_lister_get(&pods, BERTH_STR("d"), BERTH_STR("p"));
	ck_assert_ptr_nonnull(pod);
	cluster_expect(berth_pod_name(pod), "p");
	berth_lister_list(&pods, all, count_objects, &count); /* no effect: pods cannot be listed */
	berth_lister_list(&none, all, count_objects, &count);
	ck_assert_int_eq(count, 0);
	ck_assert_ptr_null(berth_lister_get(&none, BERTH_STR("d"), BERTH_STR("p")));
	berth_engine_destroy(engine);
}
END_TEST

BT_TEST_MAIN("lib_storage", test_storage__volume, test_storage__claim,
	test_storage__classes_and_drivers, test_storage__listers_of_a_handle)
