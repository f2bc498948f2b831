/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeRestrictions (PreFilter, Filter): pods on the same node may not share certain in-tree
 * inline disks, and no two pods may share a ReadWriteOncePod claim. Spec: 07b section 2.
 */
#include <stdlib.h>

#include "plugins/common_plugin.h"
#include "base/vec.h"
#include "plugins/common_sign.h"
#include "plugins/common_volume.h"
#include "plugins/in_tree.h"

enum disk_kind {
	DISK_GCE,
	DISK_EBS,
	DISK_ISCSI,
	DISK_RBD,
};

/** A disk that two pods on a node may not share. An RBD image has one entry for each monitor. */
struct disk {
	enum disk_kind kind;
	struct bt_str name; /* pdName, volumeID, iqn or monitor */
	struct bt_str pool; /* RBD */
	struct bt_str image;
	bool read_only;
};

/** Disks of a pod, sorted for binary search, because a pod may have many. */
struct disk_list {
	BT_VEC(struct disk) list; /* memory: an arena */
};

struct restrictions_data {
	struct disk_list disks;
	bt_str_list exclusive; /* the pod's ReadWriteOncePod claims, W in spec 07b section 2 */
	/**
	 * Uses of the exclusive claims by other pods. What-if runs may make the number negative.
	 */
	int64_t in_use;
};

/** Orders disks. Returns 0 if both are the same disk. Spec: 07b section 2.2. */
static int compare_disks(const struct disk *a, const struct disk *b)
{
	int order = (int)a->kind - (int)b->kind;

	if (order == 0) {
		order = bt_str_compare(a->name, b->name);
	}
	if (order == 0) {
		order = bt_str_compare(a->pool, b->pool);
	}
	return order != 0 ? order : bt_str_compare(a->image, b->image);
}

/** Orders by disk; for equal disks writable uses come first, so that a binary search finds them. */
static int compare_uses(const void *a, const void *b)
{
	int order = compare_disks(a, b);

	return order != 0 ? order
			  : (int)((const struct disk *)a)->read_only -
			(int)((const struct disk *)b)->read_only;
}

/**
 * Get the disk at *position of a volume and increment *position. A volume has a disk for each of
 * its sources. Returns false if there are no more disks.
 */
static bool next_disk(const struct bt_volume *volume, uint32_t *position, struct disk *out_disk)
{
	uint32_t at = (*position)++;
	const struct bt_rbd_volume_source *rbd = volume->rbd;

	if (volume->gce_persistent_disk != NULL && at-- == 0) {
		*out_disk = (struct disk){.kind = DISK_GCE,
			.name = volume->gce_persistent_disk->pd_name,
			.read_only = volume->gce_persistent_disk->read_only};
		return true;
	}
	if (volume->aws_elastic_block_store != NULL && at-- == 0) {
		*out_disk = (struct disk){
			.kind = DISK_EBS, .name = volume->aws_elastic_block_store->volume_id};
		return true; /* readOnly is ignored for EBS */
	}
	if (volume->iscsi != NULL && at-- == 0) {
		*out_disk = (struct disk){.kind = DISK_ISCSI,
			.name = volume->iscsi->iqn,
			.read_only = volume->iscsi->read_only};
		return true;
	}
	if (rbd == NULL || at >= rbd->monitors.count) {
		return false;
	}
	*out_disk = (struct disk){.kind = DISK_RBD,
		.name = rbd->monitors.items[at],
		.pool = rbd->pool,
		.image = rbd->image,
		.read_only = rbd->read_only};
	return true;
}

/**
 * Whether the pod has disks that Filter must check, so that PreFilter does not skip the pod. An RBD
 * image without monitors counts, although it conflicts with no other disk.
 */
static bool has_disks(const struct bt_pod_spec *spec)
{
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];

		if (volume->gce_persistent_disk != NULL ||
			volume->aws_elastic_block_store != NULL || volume->rbd != NULL ||
			volume->iscsi != NULL) {
			return true;
		}
	}
	return false;
}

static struct disk_list disks_of(const struct bt_pod_spec *spec, struct bt_arena *arena)
{
	struct disk_list disks = {0};
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		uint32_t position = 0;
		struct disk disk;

		while (next_disk(&spec->volumes.items[i], &position, &disk)) {
			bt_arena_push(arena, &disks.list, disk);
		}
	}
	if (disks.list.count > 1) {
		qsort(disks.list.items, disks.list.count, sizeof(*disks.list.items), compare_uses);
	}
	return disks;
}

/** Whether another pod uses one of the disks. Two read-only uses do not conflict. */
static bool pod_conflicts(const struct disk_list *disks, const struct bt_pod_spec *other)
{
	for (uint32_t i = 0; i < other->volumes.count; i++) {
		uint32_t position = 0;
		struct disk disk;

		while (next_disk(&other->volumes.items[i], &position, &disk)) {
			const struct disk *items = disks->list.items;
			uint32_t at;

			BT_LOWER_BOUND(at, disks->list.count, middle,
				compare_disks(&items[middle], &disk) < 0);
			if (at < disks->list.count && compare_disks(&items[at], &disk) == 0 &&
				!(items[at].read_only && disk.read_only)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_pure_for(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	return !bt_pod_has_claims(bt_plugin_pod_spec(pod), false);
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_state *state = bt_plugin_handle(plugin)->state;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	if (!has_disks(spec) && !bt_pod_has_claims(spec, false)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	struct restrictions_data *data = BT_ARENA_NEW(cycle->arena, struct restrictions_data);
	data->disks = disks_of(spec, cycle->arena);
	data->exclusive.items =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_str, spec->volumes.count);
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;

		if (source == NULL) {
			continue;
		}
		const struct bt_persistent_volume_claim *claim =
			bt_find_claim(state, pod->namespace_, source->claim_name);
		if (claim == NULL) {
			return bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				cycle->arena,
				bt_not_found_text(
					cycle->arena, "persistentvolumeclaim", source->claim_name));
		}
		if (bt_claim_is_exclusive(claim) &&
			!bt_str_list_has(&data->exclusive, claim->metadata.name)) {
			data->exclusive.items[data->exclusive.count++] = source->claim_name;
			data->in_use += bt_state_is_claim_used(state,
				bt_arena_printf(cycle->arena, "%.*s/%.*s",
					BT_STR_ARG(pod->namespace_),
					BT_STR_ARG(source->claim_name)));
		}
	}
	if (data->in_use == 0 && !has_disks(spec)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	struct restrictions_data *clone = BT_ARENA_NEW(arena, struct restrictions_data);

	*clone = *(const struct restrictions_data *)
			 data; /* disks and names never change, so they are shared */
	return clone;
}

static struct bt_status state_missing(struct bt_arena *arena)
{
	return bt_status_error_text(
		arena, BT_STR("cannot read \"PreFilterVolumeRestrictions\" from cycleState"));
}

/**
 * Add step to in_use for each volume of the other pod that uses an exclusive claim. Upstream
 * quirks, spec 07b section 2.3: namespaces are not compared, and each volume of the other pod
 * counts.
 */
static struct bt_status change_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *other,
	BT_UNUSED const struct bt_node_info *node, int64_t step)
{
	struct restrictions_data *data = cycle->pre_filter_data[plugin->index];
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(other);

	if (data == NULL) {
		return state_missing(cycle->arena);
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;

		if (source != NULL && bt_str_list_has(&data->exclusive, source->claim_name)) {
			data->in_use += step;
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct restrictions_data *data = cycle->pre_filter_data[plugin->index];
	struct disk_list disks =
		data != NULL ? data->disks : disks_of(bt_plugin_pod_spec(pod), cycle->arena);
	uint32_t pod_count = disks.list.count != 0 ? bt_node_info_pod_count(node) : 0;

	for (uint32_t i = 0; i < pod_count; i++) {
		struct bt_pod_info other;

		bt_node_info_pod_at(node, i, &other);
		if (pod_conflicts(&disks, bt_plugin_pod_spec(&other))) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_VOLUME_DISK_CONFLICT);
		}
	}
	if (data == NULL) {
		return state_missing(cycle->arena);
	}
	return data->in_use > 0 ? bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_VOLUME_IN_USE)
				: BT_STATUS_OK;
}

static bool after_pod_deleted(const struct bt_hint_call *call)
{
	const struct bt_pod *deleted = call->old_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(call->pod);
	struct bt_arena arena = {0};

	if (!bt_str_equal(deleted->metadata.namespace_, call->pod->namespace_)) {
		return false;
	}
	struct disk_list disks = disks_of(spec, &arena);
	bool helps = pod_conflicts(&disks, &deleted->spec);
	bt_arena_finish(&arena);
	/* Queue also if both pods name the same claim. */
	for (uint32_t i = 0; !helps && i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *wanted =
			spec->volumes.items[i].persistent_volume_claim;

		for (uint32_t k = 0; wanted != NULL && k < deleted->spec.volumes.count; k++) {
			const struct bt_pvc_volume_source *held =
				deleted->spec.volumes.items[k].persistent_volume_claim;

			helps |= held != NULL && bt_str_equal(held->claim_name, wanted->claim_name);
		}
	}
	return helps;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_deleted},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD}, bt_hint_if_names_claim},
};

static const struct bt_plugin_shortcuts shortcuts = {
	.is_pure_for = is_pure_for,
	.hint_scope = BT_HINT_SCOPE_NAMESPACE,
};

const struct bt_plugin_ops bt_volume_restrictions_plugin = {
	.name = "VolumeRestrictions",
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(events),
	.sign = bt_sign_volume_plugin,
	.pre_filter = pre_filter,
	.pre_filter_change_pod = change_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
};
