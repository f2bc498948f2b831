/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/csi_translator.h"

#include "base/assert.h"
#include "compat/convert_storage.h"
#include "plugins/csi_translation.h"

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
	int result;

	if (driver == BT_IN_TREE__COUNT) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find in-tree plugin translation logic for %.*s",
			BT_STR_ARG(volume->metadata.name));
	}
	result = bt_in_tree_volume_handle(volume, &arena, &csi.volume_handle, err);
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
