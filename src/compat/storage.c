/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "berth/csi_translator.h"
#include "berth/lister.h"
#include "berth/storage.h"

#include "api/selector.h"
#include "base/assert.h"
#include "compat/convert_storage.h"
#include "framework/pod_lister.h"
#include "plugins/common_volume.h"
#include "plugins/csi_translation.h"
#include "plugins/volume_binder_private.h"

BT_LIB_VALUE_GETTER(berth_object_pv, pv, BT_KIND_PERSISTENT_VOLUME)
BT_LIB_VALUE_GETTER(berth_object_pvc, pvc, BT_KIND_PERSISTENT_VOLUME_CLAIM)
BT_LIB_VALUE_GETTER(berth_object_storage_class, storage_class, BT_KIND_STORAGE_CLASS)
BT_LIB_VALUE_GETTER(berth_object_csi_node, csi_node, BT_KIND_CSI_NODE)
BT_LIB_VALUE_GETTER(berth_object_csi_driver, csi_driver, BT_KIND_CSI_DRIVER)
BT_LIB_VALUE_GETTER(
	berth_object_csi_storage_capacity, csi_storage_capacity, BT_KIND_CSI_STORAGE_CAPACITY)
BT_LIB_GETTER(struct berth_str, berth_pv_name, pv, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_pv_resource_version, pv, metadata.resource_version)
BT_LIB_MAP_GETTER(berth_pv_label, pv, metadata.labels)
BT_LIB_MAP_GETTER(berth_pv_annotation, pv, metadata.annotations)

struct berth_str berth_pv_class(const struct berth_pv *pv)
{
	return bt_persistent_volume_class(bt_const_pv_of(pv));
}

int64_t berth_pv_capacity_bytes(const struct berth_pv *pv)
{
	return bt_quantity_value(bt_volume_capacity(bt_const_pv_of(pv)));
}

void berth_pv_claim(const struct berth_pv *pv, struct berth_str *out_namespace,
	struct berth_str *out_name, berth_uid *out_uid)
{
	static const struct bt_object_reference none = {0};
	const struct bt_object_reference *reference = bt_const_pv_of(pv)->spec.claim_ref;

	reference = reference != NULL ? reference : &none;
	if (out_namespace != NULL) {
		*out_namespace = reference->namespace_;
	}
	if (out_name != NULL) {
		*out_name = reference->name;
	}
	if (out_uid != NULL) {
		*out_uid = reference->uid;
	}
}

bool berth_pv_csi(const struct berth_pv *pv, struct berth_str *out_driver,
	struct berth_str *out_volume_handle)
{
	const struct bt_csi_volume_source *csi = bt_const_pv_of(pv)->spec.source.csi;

	if (csi == NULL) {
		return false;
	}
	if (out_driver != NULL) {
		*out_driver = csi->driver;
	}
	if (out_volume_handle != NULL) {
		*out_volume_handle = csi->volume_handle;
	}
	return true;
}

bool berth_pv_admits_labels(const struct berth_pv *pv, const struct berth_str *keys,
	const struct berth_str *values, uint32_t count)
{
	const struct bt_volume_node_affinity *affinity = bt_const_pv_of(pv)->spec.node_affinity;
	struct bt_arena arena = {0};
	struct bt_str_pair *pairs = BT_ARENA_NEW_ARRAY(&arena, struct bt_str_pair, count);
	struct bt_str_map labels = {.items = pairs, .count = count, .present = true};

	for (uint32_t i = 0; i < count; i++) {
		pairs[i].key = keys[i];
		pairs[i].value = values[i];
	}
	if (count > 1) {
		qsort(pairs, count, sizeof(pairs[0]), bt_str_compare_qsort);
	}
	struct bt_volume_affinity parsed =
		bt_volume_affinity_parse(affinity != NULL ? affinity->required : NULL, &arena);
	bool admits = bt_volume_affinity_matches(&parsed, &labels);

	bt_arena_finish(&arena);
	return admits;
}

BT_LIB_GETTER(struct berth_str, berth_pvc_name, pvc, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_pvc_namespace, pvc, metadata.namespace_)
BT_LIB_GETTER(berth_uid, berth_pvc_uid, pvc, metadata.uid)
BT_LIB_GETTER(struct berth_str, berth_pvc_resource_version, pvc, metadata.resource_version)
BT_LIB_MAP_GETTER(berth_pvc_annotation, pvc, metadata.annotations)

struct berth_str berth_pvc_class(const struct berth_pvc *pvc)
{
	return bt_persistent_volume_claim_class(bt_const_pvc_of(pvc));
}

BT_LIB_GETTER(struct berth_str, berth_pvc_volume_name, pvc, spec.volume_name)

int64_t berth_pvc_request_bytes(const struct berth_pvc *pvc)
{
	const struct bt_quantity *request = bt_claim_request(bt_const_pvc_of(pvc));

	return request != NULL ? bt_quantity_value(request) : 0;
}

bool berth_pvc_is_fully_bound(const struct berth_pvc *pvc)
{
	return bt_claim_is_fully_bound(bt_const_pvc_of(pvc));
}

BT_LIB_GETTER(struct berth_str, berth_storage_class_name, storage_class, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_storage_class_provisioner, storage_class, provisioner)
BT_LIB_GETTER(struct berth_str, berth_storage_class_volume_binding_mode, storage_class,
	volume_binding_mode)
BT_LIB_GETTER(struct berth_str, berth_csi_node_name, csi_node, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_csi_driver_name, csi_driver, metadata.name)

bool berth_csi_driver_storage_capacity(const struct berth_csi_driver *driver)
{
	const struct bt_csi_driver_spec *spec = &bt_const_csi_driver_of(driver)->spec;

	return spec->storage_capacity.present && spec->storage_capacity.value;
}

BT_LIB_GETTER(
	struct berth_str, berth_csi_storage_capacity_name, csi_storage_capacity, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_csi_storage_capacity_namespace, csi_storage_capacity,
	metadata.namespace_)
BT_LIB_GETTER(struct berth_str, berth_csi_storage_capacity_class, csi_storage_capacity,
	storage_class_name)

int64_t berth_csi_storage_capacity_bytes(const struct berth_csi_storage_capacity *capacity)
{
	const struct bt_quantity *bytes = bt_const_csi_storage_capacity_of(capacity)->capacity;

	return bytes != NULL ? bt_quantity_value(bytes) : 0;
}

const void *berth_lister_get(const struct berth_lister *lister, struct berth_str object_namespace,
	struct berth_str object_name)
{
	return lister->get != NULL ? lister->get(lister->context, object_namespace, object_name)
				   : NULL;
}

void berth_lister_list(const struct berth_lister *lister, struct berth_str object_namespace,
	berth_lister_visit_fn visit, void *visit_context)
{
	if (lister->list != NULL) {
		lister->list(lister->context, object_namespace, visit, visit_context);
	}
}

static const void *find(
	const void *context, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_handle *handle = context;

	return bt_object_store_find(&handle->state->objects, kind, namespace_, name);
}

static void visit_each(const void *context, enum bt_kind kind, struct bt_str namespace_,
	berth_lister_visit_fn visit, void *visit_context)
{
	const struct bt_handle *handle = context;
	const void *value;
	uint32_t cursor = 0;

	while ((value = bt_object_store_next(&handle->state->objects, kind, namespace_, &cursor)) !=
		NULL) {
		if (!visit(visit_context, value)) {
			return;
		}
	}
}

/* Lister functions do not get the kind as an argument, so there are two functions for each kind. */
#define KIND(name, kind) \
	static const void *get_##name( \
		void *context, struct berth_str namespace_, struct berth_str object_name) \
	{ \
		return find(context, kind, namespace_, object_name); \
	} \
	static void list_##name(void *context, struct berth_str namespace_, \
		berth_lister_visit_fn visit, void *visit_context) \
	{ \
		visit_each(context, kind, namespace_, visit, visit_context); \
	}
KIND(pvs, BT_KIND_PERSISTENT_VOLUME)
KIND(pvcs, BT_KIND_PERSISTENT_VOLUME_CLAIM)
KIND(storage_classes, BT_KIND_STORAGE_CLASS)
KIND(csi_nodes, BT_KIND_CSI_NODE)
KIND(csi_drivers, BT_KIND_CSI_DRIVER)
KIND(csi_storage_capacities, BT_KIND_CSI_STORAGE_CAPACITY)
KIND(pdbs, BT_KIND_POD_DISRUPTION_BUDGET)

static const void *get_pods(
	void *context, struct berth_str namespace_, struct berth_str object_name)
{
	const struct bt_handle *handle = context;

	return handle->pods != NULL
		? handle->pods->find(handle->pods->context, namespace_, object_name)
		: NULL;
}

static const struct {
	const char *kind;
	const void *(*get)(void *context, struct berth_str namespace_, struct berth_str name);
	void (*list)(void *context, struct berth_str namespace_, berth_lister_visit_fn visit,
		void *visit_context);
} kinds[] = {
	{"Pod", get_pods, NULL},
	{"PersistentVolume", get_pvs, list_pvs},
	{"PersistentVolumeClaim", get_pvcs, list_pvcs},
	{"StorageClass", get_storage_classes, list_storage_classes},
	{"CSINode", get_csi_nodes, list_csi_nodes},
	{"CSIDriver", get_csi_drivers, list_csi_drivers},
	{"CSIStorageCapacity", get_csi_storage_capacities, list_csi_storage_capacities},
	{"PodDisruptionBudget", get_pdbs, list_pdbs},
};

struct berth_lister berth_handle_lister(const struct berth_handle *handle, const char *kind)
{
	struct berth_lister lister = {0};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		if (bt_str_equal_c(bt_str_from(kind), kinds[i].kind)) {
			lister.context = (void *)(uintptr_t)handle;
			lister.get = kinds[i].get;
			lister.list = kinds[i].list;
		}
	}
	return lister;
}

bool bt_lister_is_of_handle(
	const struct berth_lister *lister, const struct berth_handle *handle, const char *kind)
{
	struct berth_lister handles = berth_handle_lister(handle, kind);

	return (lister->get == NULL && lister->list == NULL) ||
		(lister->context == handle && lister->get == handles.get &&
			lister->list == handles.list);
}

uint32_t berth_pod_volume_count(const struct berth_pod *pod)
{
	return bt_const_pod_of(pod)->spec.volumes.count;
}

const struct berth_volume *berth_pod_volume_at(const struct berth_pod *pod, uint32_t index)
{
	const struct bt_pod *inside = bt_const_pod_of(pod);

	BT_ASSERT(index < inside->spec.volumes.count);
	return berth_const_volume_of(&inside->spec.volumes.items[index]);
}

bool berth_csi_translator_is_pv_migratable(const struct berth_pv *pv)
{
	return pv != NULL && bt_in_tree_of_volume(bt_const_pv_of(pv)) != BT_IN_TREE__COUNT;
}

int berth_csi_translator_get_in_tree_plugin_name_from_spec(const struct berth_pv *pv,
	const struct berth_volume *volume, struct berth_str *out_name, struct berth_error *err)
{
	enum bt_in_tree_driver driver = BT_IN_TREE__COUNT;

	if (pv == NULL && volume == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "both persistent volume and volume are nil");
	}
	driver = pv != NULL ? bt_in_tree_of_volume(bt_const_pv_of(pv))
			    : bt_in_tree_of_inline(bt_const_volume_of(volume));
	if (driver == BT_IN_TREE__COUNT) {
		struct bt_str name = pv != NULL ? bt_const_pv_of(pv)->metadata.name
						: bt_const_volume_of(volume)->name;

		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find in-tree plugin name from %s %.*s",
			pv != NULL ? "persistent volume" : "volume", BT_STR_ARG(name));
	}
	*out_name = bt_in_tree_plugin_name(driver);
	return BERTH_OK;
}

int berth_csi_translator_translate_in_tree_pv_to_csi(
	const struct berth_pv *pv, struct berth_object **out_object, struct berth_error *err)
{
	const struct bt_persistent_volume *volume = bt_const_pv_of(pv);
	enum bt_in_tree_driver driver = bt_in_tree_of_volume(volume);
	struct bt_csi_volume_source csi = {0};
	struct bt_volume_node_affinity affinity = {0};
	struct bt_persistent_volume translated = *volume;
	struct bt_arena arena = {0};

	if (driver == BT_IN_TREE__COUNT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find in-tree plugin translation logic for %.*s",
			BT_STR_ARG(volume->metadata.name));
	}
	int result = bt_in_tree_volume_handle(volume, &arena, &csi.volume_handle, err);
	if (result == BERTH_OK) {
		csi.driver = bt_in_tree_csi_name(driver);
		affinity.required = bt_in_tree_node_affinity(volume, &arena);
		translated.spec.source = (struct bt_persistent_volume_source){.csi = &csi};
		if (affinity.required != NULL) {
			translated.spec.node_affinity = &affinity;
		}
		*out_object =
			berth_object_of(bt_object_create(BT_KIND_PERSISTENT_VOLUME, &translated));
	}
	bt_arena_finish(&arena);
	return result;
}

static bool is_pv_migratable(BT_UNUSED void *context, const struct berth_pv *pv)
{
	return berth_csi_translator_is_pv_migratable(pv);
}

static int get_name(BT_UNUSED void *context, const struct berth_pv *pv,
	const struct berth_volume *volume, struct berth_str *out_name, struct berth_error *err)
{
	return berth_csi_translator_get_in_tree_plugin_name_from_spec(pv, volume, out_name, err);
}

static int translate(BT_UNUSED void *context, const struct berth_pv *pv,
	struct berth_object **out_object, struct berth_error *err)
{
	return berth_csi_translator_translate_in_tree_pv_to_csi(pv, out_object, err);
}

static const struct berth_csi_translator_ops translator = {
	.is_pv_migratable = is_pv_migratable,
	.get_in_tree_plugin_name_from_spec = get_name,
	.translate_in_tree_pv_to_csi = translate,
};

const struct berth_csi_translator_ops *berth_csi_translator(void)
{
	return &translator;
}
