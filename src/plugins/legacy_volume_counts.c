/* SPDX-License-Identifier: Apache-2.0 */
/**
 * MaxEBSVolumeCount, MaxGCEPDVolumeCount, MaxAzureDiskVolumeCount, MaxCinderVolumeCount (PreFilter,
 * Filter): limit the number of distinct volumes of an in-tree driver on a node. Spec: 05b B9.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "plugins/common_legacy.h"
#include "plugins/common_volume.h"
#include "plugins/in_tree.h"

enum driver_kind {
	DRIVER_EBS,
	DRIVER_GCE_PD,
	DRIVER_AZURE_DISK,
	DRIVER_CINDER,
};

struct driver {
	struct bt_str limit_key;
	int64_t default_limit;
};

static const struct driver drivers[] = {
	[DRIVER_EBS] = {BT_STR_INIT("attachable-volumes-aws-ebs"), 39},
	[DRIVER_GCE_PD] = {BT_STR_INIT("attachable-volumes-gce-pd"), 16},
	[DRIVER_AZURE_DISK] = {BT_STR_INIT("attachable-volumes-azure-disk"), 16},
	[DRIVER_CINDER] = {BT_STR_INIT("attachable-volumes-cinder"), 256},
};

/**
 * Get the id of a volume source, inline or of a persistent volume. Returns false if the source is
 * of another driver.
 */
static bool find_id(const struct driver *driver, const struct bt_persistent_volume_source *source,
	struct bt_str *out_id)
{
	*out_id = (struct bt_str){0};
	switch ((enum driver_kind)(driver - drivers)) {
	case DRIVER_EBS:
		if (source->aws_elastic_block_store != NULL) {
			*out_id = source->aws_elastic_block_store->volume_id;
		}
		return source->aws_elastic_block_store != NULL;
	case DRIVER_GCE_PD:
		if (source->gce_persistent_disk != NULL) {
			*out_id = source->gce_persistent_disk->pd_name;
		}
		return source->gce_persistent_disk != NULL;
	case DRIVER_AZURE_DISK:
		if (source->azure_disk != NULL) {
			*out_id = source->azure_disk->disk_name;
		}
		return source->azure_disk != NULL;
	case DRIVER_CINDER:
		if (source->cinder != NULL) {
			*out_id = source->cinder->volume_id;
		}
		return source->cinder != NULL;
	}
	return false;
}

struct volume_count_plugin {
	struct bt_plain_plugin base;
	/** volumes of the pod (PreFilter) or of the node's pods (Filter) */
	struct bt_volume_set ids;
};

static const struct driver *driver_of(const struct volume_count_plugin *plugin)
{
	return plugin->base.base.ops->context;
}

/** Add the ids of a pod's volumes. Returns false if a claim has no name. */
static bool add_pod(const struct volume_count_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_volume_set *ids)
{
	const struct bt_state *state = plugin->base.handle->state;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];
		const struct bt_persistent_volume_source source = {
			.aws_elastic_block_store = volume->aws_elastic_block_store,
			.gce_persistent_disk = volume->gce_persistent_disk,
			.azure_disk = volume->azure_disk,
			.cinder = volume->cinder,
		};
		struct bt_unique_volume id = {0};

		if (find_id(driver_of(plugin), &source, &id.handle)) {
			bt_volume_set_add(ids, id);
		} else if (volume->persistent_volume_claim != NULL) {
			if (volume->persistent_volume_claim->claim_name.length == 0) {
				return false;
			}
			struct bt_str name = volume->persistent_volume_claim->claim_name;
			const struct bt_persistent_volume_claim *claim =
				bt_find_claim(state, pod->namespace_, name);
			const struct bt_persistent_volume *bound =
				claim != NULL && claim->spec.volume_name.length != 0
				? bt_find_volume(state, claim->spec.volume_name)
				: NULL;

			if (bound == NULL) {
				/* The volume of the claim is not known: add the claim itself. */
				id.claim_namespace =
					pod->namespace_.data != NULL ? pod->namespace_ : BT_STR("");
				id.handle = name;
				bt_volume_set_add(ids, id);
			} else if (find_id(driver_of(plugin), &bound->spec.source, &id.handle)) {
				bt_volume_set_add(ids, id);
			}
		}
	}
	return true;
}

static int64_t limit_of(const struct volume_count_plugin *plugin, const struct bt_node_info *node)
{
	uint32_t column =
		bt_node_table_find_scalar(&node->state->nodes, driver_of(plugin)->limit_key);
	int64_t allocatable = bt_node_info_scalar_allocatable(node, column);

	/*
	 * The column does not distinguish a limit of 0 from an absent limit. A limit of 0 is so
	 * rare that it counts as absent.
	 */
	if (allocatable != 0) {
		return allocatable;
	}
	if (plugin->base.handle->max_pd_volumes != 0) {
		return plugin->base.handle->max_pd_volumes;
	}
	if (plugin->base.base.ops != &bt_legacy_max_ebs_volume_count_plugin) {
		return driver_of(plugin)->default_limit;
	}
	const struct bt_str *instance_type = bt_str_map_find(
		bt_node_info_labels(node), BT_STR("node.kubernetes.io/instance-type"));
	if (instance_type == NULL) {
		instance_type = bt_str_map_find(
			bt_node_info_labels(node), BT_STR("beta.kubernetes.io/instance-type"));
	}
	struct bt_str type = instance_type != NULL ? *instance_type : BT_STR("");
	/* Newer types, ^[cmr]5.*|t3|z1d, have fewer places for volumes. */
	bool is_nitro =
		(type.length >= 2 && type.data[1] == '5' &&
			(type.data[0] == 'c' || type.data[0] == 'm' || type.data[0] == 'r')) ||
		bt_str_find(type, BT_STR("t3")) >= 0 || bt_str_find(type, BT_STR("z1d")) >= 0;

	return is_nitro ? 25 : driver_of(plugin)->default_limit;
}

/** The ids of the volumes of the pod. */
struct pre_filter_data {
	const struct bt_unique_volume *items;
	uint32_t count;
};

static struct bt_status no_claim_name(struct bt_arena *arena)
{
	return bt_status_error_text(arena, BT_STR("PersistentVolumeClaim had no name"));
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct volume_count_plugin *instance = bt_plugin_instance(plugin);
	struct bt_volume_set *ids = &instance->ids;

	bt_volume_set_reset(ids);
	if (!add_pod(bt_plugin_instance(plugin), pod, ids)) {
		return no_claim_name(cycle->arena);
	}
	if (ids->items.count == 0) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct bt_unique_volume *items =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_unique_volume, ids->items.count);
	memcpy(items, ids->items.items, ids->items.count * sizeof(*items));
	struct pre_filter_data *data = BT_ARENA_NEW(cycle->arena, struct pre_filter_data);
	*data = (struct pre_filter_data){items, ids->items.count};
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct volume_count_plugin *volume_count = bt_plugin_instance(plugin);
	const struct pre_filter_data *data = cycle->pre_filter_data[plugin->index];
	struct bt_volume_set *existing = &volume_count->ids;
	uint32_t pod_count = bt_node_info_pod_count(node);

	if (data == NULL) {
		return BT_STATUS_OK; /* the pod has no volume of the driver */
	}
	bt_volume_set_reset(existing);
	for (uint32_t i = 0; i < pod_count; i++) {
		struct bt_pod_info other;

		bt_node_info_pod_at(node, i, &other);
		if (!add_pod(volume_count, &other, existing)) {
			return no_claim_name(cycle->arena);
		}
	}
	int64_t count = existing->items.count;
	for (uint32_t i = 0; i < data->count; i++) {
		count += !bt_volume_set_has(existing, &data->items[i]);
	}
	return count > limit_of(volume_count, node)
		? bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_LEGACY_VOLUME_COUNT)
		: BT_STATUS_OK;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, NULL},
};

static void destroy(struct bt_plugin *plugin)
{
	struct volume_count_plugin *instance = bt_plugin_instance(plugin);

	bt_volume_set_finish(&instance->ids);
	bt_free(plugin);
}

#define VOLUME_COUNT(function, old_name, driver) \
	const struct bt_plugin_ops bt_legacy_max_##function##_volume_count_plugin = { \
		.name = old_name, \
		.size = sizeof(struct volume_count_plugin), \
		.init = bt_legacy_init_plain, \
		.context = &drivers[driver], \
		.destroy = destroy, \
		.events = BT_EVENTS(events), \
		.pre_filter = pre_filter, \
		.filter = filter, \
	};

VOLUME_COUNT(ebs, "MaxEBSVolumeCount", DRIVER_EBS)
VOLUME_COUNT(gce_pd, "MaxGCEPDVolumeCount", DRIVER_GCE_PD)
VOLUME_COUNT(azure_disk, "MaxAzureDiskVolumeCount", DRIVER_AZURE_DISK)
VOLUME_COUNT(cinder, "MaxCinderVolumeCount", DRIVER_CINDER)
