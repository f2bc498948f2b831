/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/lister.h"

#include "framework/pod_lister.h"
#include "compat/convert_storage.h"
#include "compat/lister.h"

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

/* --- of a handle --- */

static const void *find(
	const void *context, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	const struct bt_handle *handle = context;

	return bt_object_store_find(&handle->state->objects, kind, namespace_, name);
}

static void each(const void *context, enum bt_kind kind, struct bt_str namespace_,
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

/* A lister's functions are not told the kind: a pair of them for each. */
#define KIND(name, kind) \
	static const void *get_##name( \
		void *context, struct berth_str namespace_, struct berth_str object_name) \
	{ \
		return find(context, kind, namespace_, object_name); \
	} \
	static void list_##name(void *context, struct berth_str namespace_, \
		berth_lister_visit_fn visit, void *visit_context) \
	{ \
		each(context, kind, namespace_, visit, visit_context); \
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
