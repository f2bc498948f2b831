/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 07 section 4. */
#include "berth/csi_translator.h"

#include "cluster.h"

#define VOLUME(labels, spec) \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v','labels':{" labels \
	"}},'spec':{" spec "}}"
#define ZONE "topology.kubernetes.io/zone"

static bool admits(const struct berth_pv *pv, const char *key, const char *value)
{
	struct berth_str keys[] = {berth_str_from(key)};
	struct berth_str values[] = {berth_str_from(value)};

	return berth_pv_admits_labels(pv, keys, values, 1);
}

/* seed-map 004.69, 004.70, 004.72 */
START_TEST(test_csi_translator__translates_a_volume)
{
	const struct berth_csi_translator_ops *ops = berth_csi_translator();
	struct berth_object *disk = cluster_object(
		VOLUME("'" ZONE "':'us-c1-a'", "'gcePersistentDisk':{'pdName':'data'}"));
	struct berth_object *csi =
		cluster_object(VOLUME("", "'csi':{'driver':'x','volumeHandle':'h'}"));
	struct berth_object *translated = NULL;
	struct berth_str driver;
	struct berth_str volume_handle;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert(ops->is_pv_migratable(NULL, berth_object_pv(disk)));
	ck_assert(berth_csi_translator_is_pv_migratable(berth_object_pv(disk)));
	ck_assert(!berth_csi_translator_is_pv_migratable(berth_object_pv(csi)));
	ck_assert(!berth_csi_translator_is_pv_migratable(NULL));
	ck_assert_int_eq(
		ops->translate_in_tree_pv_to_csi(NULL, berth_object_pv(disk), &translated, &err),
		0);
	const struct berth_pv *pv = berth_object_pv(translated);
	ck_assert(berth_pv_csi(pv, &driver, &volume_handle));
	cluster_expect(driver, "pd.csi.storage.gke.io");
	cluster_expect(volume_handle, "projects/UNSPECIFIED/zones/us-c1-a/disks/data");
	/* The zone label became a node affinity requirement with the driver's key. */
	ck_assert(admits(pv, "topology.gke.io/zone", "us-c1-a"));
	ck_assert(!admits(pv, "topology.gke.io/zone", "us-c1-b"));
	ck_assert(!admits(pv, ZONE, "us-c1-a"));
	/* The original object is unchanged. */
	ck_assert(!berth_pv_csi(berth_object_pv(disk), NULL, NULL));
	ck_assert(admits(berth_object_pv(disk), ZONE, "anywhere"));
	berth_object_release(translated);
	ck_assert_int_eq(berth_csi_translator_translate_in_tree_pv_to_csi(
				 berth_object_pv(csi), &translated, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(
		berth_error_message(&err), "could not find in-tree plugin translation logic for v");
	berth_error_finish(&err);
	berth_object_release(disk);
	berth_object_release(csi);
}
END_TEST

/* seed-map 004.72 */
START_TEST(test_csi_translator__reports_what_cannot_be_translated)
{
	struct berth_object *disk = cluster_object(
		VOLUME("", "'azureDisk':{'diskName':'d','diskURI':'u','kind':'Dedicated'}"));
	struct berth_object *translated = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_lt(berth_csi_translator_translate_in_tree_pv_to_csi(
				 berth_object_pv(disk), &translated, &err),
		0);
	ck_assert_str_eq(
		berth_error_message(&err), "kind(Dedicated) is not supported in csi migration");
	ck_assert_ptr_null(translated);
	berth_error_finish(&err);
	berth_object_release(disk);
}
END_TEST

/* seed-map 004.71 */
START_TEST(test_csi_translator__names_in_tree_plugins)
{
	static const struct {
		const char *source;
		const char *name;
	} rows[] = {
		{"'gcePersistentDisk':{'pdName':'x'}", "kubernetes.io/gce-pd"},
		{"'awsElasticBlockStore':{'volumeID':'x'}", "kubernetes.io/aws-ebs"},
		{"'cinder':{'volumeID':'x'}", "kubernetes.io/cinder"},
		{"'azureDisk':{'diskName':'x','diskURI':'y'}", "kubernetes.io/azure-disk"},
		{"'portworxVolume':{'volumeID':'x'}", "kubernetes.io/portworx-volume"},
		{"'azureFile':{'secretName':'x','shareName':'y'}", "kubernetes.io/azure-file"},
		{"'vsphereVolume':{'volumePath':'x'}", "kubernetes.io/vsphere-volume"},
	};
	struct berth_str name;
	struct berth_error err = BERTH_ERROR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char pv_text[512];
		char pod_text[512];

		(void)snprintf(pv_text, sizeof(pv_text), VOLUME("", "%s"), rows[i].source);
		(void)snprintf(
			pod_text, sizeof(pod_text), ",'volumes':[{'name':'w',%s}]", rows[i].source);
		struct berth_object *object = cluster_object(pv_text);
		struct berth_object *pod = cluster_pod("p", "1", pod_text);
		ck_assert_uint_eq(berth_pod_volume_count(berth_object_pod(pod)), 1);
		ck_assert_int_eq(berth_csi_translator_get_in_tree_plugin_name_from_spec(
					 berth_object_pv(object), NULL, &name, NULL),
			0);
		cluster_expect(name, rows[i].name);
		ck_assert_int_eq(
			berth_csi_translator_get_in_tree_plugin_name_from_spec(
				NULL, berth_pod_volume_at(berth_object_pod(pod), 0), &name, NULL),
			0);
		cluster_expect(name, rows[i].name);
		berth_object_release(pod);
		berth_object_release(object);
	}
	ck_assert_int_eq(berth_csi_translator()->get_in_tree_plugin_name_from_spec(
				 NULL, NULL, NULL, &name, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "both persistent volume and volume are nil");
	berth_error_finish(&err);
	struct berth_object *local = cluster_object(VOLUME("", "'local':{'path':'/x'}"));
	struct berth_object *pod = cluster_pod("p", "1", ",'volumes':[{'name':'w','emptyDir':{}}]");
	ck_assert_int_eq(berth_csi_translator_get_in_tree_plugin_name_from_spec(
				 berth_object_pv(local), NULL, &name, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err),
		"could not find in-tree plugin name from persistent volume v");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_csi_translator_get_in_tree_plugin_name_from_spec(
				 NULL, berth_pod_volume_at(berth_object_pod(pod), 0), &name, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(
		berth_error_message(&err), "could not find in-tree plugin name from volume w");
	berth_error_finish(&err);
	berth_object_release(local);
	berth_object_release(pod);
}
END_TEST

BT_TEST_MAIN("lib_csi_translator", test_csi_translator__translates_a_volume,
	test_csi_translator__reports_what_cannot_be_translated,
	test_csi_translator__names_in_tree_plugins)
