/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeRestrictions (PreFilter, Filter): in-tree disks given inline that two pods of a node may
 * not share, and ReadWriteOncePod claims that two pods may not share at all. Spec: 07b section 2.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/common_volume.h"
#include "plugins/in_tree.h"

struct restrictions_data {
	struct bt_str *exclusive; /* W: distinct names of the pod's ReadWriteOncePod claims */
	uint32_t exclusive_count;
	int64_t in_use; /* n: how many of them others use; may be negative in what-if runs */
};

/* --- disks, spec 07b section 2.2 --- */

static bool is_disk(const struct bt_volume *volume)
{
	return volume->gce_persistent_disk != NULL || volume->aws_elastic_block_store != NULL ||
		volume->rbd != NULL || volume->iscsi != NULL;
}

static bool has_disks(const struct bt_pod_spec *spec)
{
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		if (is_disk(&spec->volumes.items[i])) {
			return true;
		}
	}
	return false;
}

/** Beyond this many comparisons lists are sorted first: their length is up to who wrote the pods.
 */
#define PAIRS_MAX 4096

static struct bt_str *sorted_copy(const bt_str_list *list)
{
	struct bt_str *copy = BT_NEW_ARRAY(struct bt_str, list->count);

	memcpy(copy, list->items, list->count * sizeof(*copy));
	qsort(copy, list->count, sizeof(*copy), bt_str_compare_qsort);
	return copy;
}

static bool long_lists_meet(const bt_str_list *a, const bt_str_list *b)
{
	struct bt_str *left = sorted_copy(a);
	struct bt_str *right = sorted_copy(b);
	bool meet = false;

	for (uint32_t i = 0, k = 0; !meet && i < a->count && k < b->count;) {
		int order = bt_str_compare(left[i], right[k]);

		meet = order == 0;
		i += order < 0;
		k += order > 0;
	}
	bt_free(left);
	bt_free(right);
	return meet;
}

static bool lists_meet(const bt_str_list *a, const bt_str_list *b)
{
	if (a->count == 0 || b->count == 0) {
		return false;
	}
	if ((uint64_t)a->count * b->count > PAIRS_MAX) {
		return long_lists_meet(a, b);
	}
	for (uint32_t i = 0; i < a->count; i++) {
		for (uint32_t k = 0; k < b->count; k++) {
			if (bt_str_equal(a->items[i], b->items[k])) {
				return true;
			}
		}
	}
	return false;
}

static bool same_rbd_image(
	const struct bt_rbd_volume_source *a, const struct bt_rbd_volume_source *b)
{
	return bt_str_equal(a->pool, b->pool) && bt_str_equal(a->image, b->image) &&
		lists_meet(&a->monitors, &b->monitors);
}

static bool disks_conflict(const struct bt_volume *a, const struct bt_volume *b)
{
	if (a->gce_persistent_disk != NULL && b->gce_persistent_disk != NULL &&
		bt_str_equal(a->gce_persistent_disk->pd_name, b->gce_persistent_disk->pd_name) &&
		!(a->gce_persistent_disk->read_only && b->gce_persistent_disk->read_only)) {
		return true;
	}
	if (a->aws_elastic_block_store != NULL && b->aws_elastic_block_store != NULL &&
		bt_str_equal(a->aws_elastic_block_store->volume_id,
			b->aws_elastic_block_store->volume_id)) {
		return true;
	}
	if (a->iscsi != NULL && b->iscsi != NULL && bt_str_equal(a->iscsi->iqn, b->iscsi->iqn) &&
		!(a->iscsi->read_only && b->iscsi->read_only)) {
		return true;
	}
	return a->rbd != NULL && b->rbd != NULL && same_rbd_image(a->rbd, b->rbd) &&
		!(a->rbd->read_only && b->rbd->read_only);
}

static bool pods_conflict(const struct bt_pod_spec *a, const struct bt_pod_spec *b)
{
	for (uint32_t i = 0; i < a->volumes.count; i++) {
		if (!is_disk(&a->volumes.items[i])) {
			continue;
		}
		for (uint32_t k = 0; k < b->volumes.count; k++) {
			if (disks_conflict(&a->volumes.items[i], &b->volumes.items[k])) {
				return true;
			}
		}
	}
	return false;
}

/* --- ReadWriteOncePod, spec 07b section 2.3 --- */

static bool contains(const struct restrictions_data *data, struct bt_str claim_name)
{
	for (uint32_t i = 0; i < data->exclusive_count; i++) {
		if (bt_str_equal(data->exclusive[i], claim_name)) {
			return true;
		}
	}
	return false;
}

static bool is_exclusive(const struct bt_persistent_volume_claim *claim)
{
	for (uint32_t i = 0; i < claim->spec.access_modes.count; i++) {
		if (bt_str_equal_c(claim->spec.access_modes.items[i], "ReadWriteOncePod")) {
			return true;
		}
	}
	return false;
}

static bool is_used(const struct bt_state *state, struct bt_str namespace_,
	struct bt_str claim_name, struct bt_arena *arena)
{
	return bt_state_is_claim_used(state,
		bt_arena_printf(
			arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(claim_name)));
}

static bool is_pure_for(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	return !bt_pod_names_claims(bt_plugin_pod_spec(pod));
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	const struct bt_state *state = bt_plugin_handle(plugin)->state;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct restrictions_data *data;

	if (!has_disks(spec) && !bt_pod_names_claims(spec)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	data = BT_ARENA_NEW(cycle->arena, struct restrictions_data);
	data->exclusive = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_str, spec->volumes.count);
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;
		const struct bt_persistent_volume_claim *claim;

		if (source == NULL) {
			continue;
		}
		claim = bt_find_claim(state, pod->namespace_, source->claim_name);
		if (claim == NULL) {
			return bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				cycle->arena,
				bt_not_found_text(
					cycle->arena, "persistentvolumeclaim", source->claim_name));
		}
		if (is_exclusive(claim) && !contains(data, claim->metadata.name)) {
			data->exclusive[data->exclusive_count++] = source->claim_name;
			data->in_use +=
				is_used(state, pod->namespace_, source->claim_name, cycle->arena);
		}
	}
	if (data->in_use == 0 && !has_disks(spec)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	bt_plugin_set_pre_filter_data(plugin, cycle, data);
	return BT_STATUS_OK;
}

static void *clone_pre_filter_data(const void *data, struct bt_arena *arena)
{
	struct restrictions_data *clone = BT_ARENA_NEW(arena, struct restrictions_data);

	*clone = *(
		const struct restrictions_data *)data; /* the names are shared: they never change */
	return clone;
}

static struct bt_status state_missing(struct bt_arena *arena)
{
	return bt_status_error_text(
		arena, BT_STR("cannot read \"PreFilterVolumeRestrictions\" from cycleState"));
}

/** Upstream quirks, spec 07b section 2.3: namespaces are not compared, and each volume of the other
 * pod counts. */
static struct bt_status count_pod(const struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *other, int64_t step)
{
	struct restrictions_data *data = cycle->pre_filter_data[plugin->index];
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(other);

	if (data == NULL) {
		return state_missing(cycle->arena);
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *source =
			spec->volumes.items[i].persistent_volume_claim;

		if (source != NULL && contains(data, source->claim_name)) {
			data->in_use += step;
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status add_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod_to_schedule, const struct bt_pod_info *pod_to_add,
	BT_UNUSED const struct bt_node_info *node)
{
	return count_pod(plugin, cycle, pod_to_add, 1);
}

static struct bt_status remove_pod(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod_to_schedule,
	const struct bt_pod_info *pod_to_remove, BT_UNUSED const struct bt_node_info *node)
{
	return count_pod(plugin, cycle, pod_to_remove, -1);
}

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct restrictions_data *data = bt_plugin_pre_filter_data(plugin, cycle);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	uint32_t pod_count = has_disks(spec) ? bt_node_info_pod_count(node) : 0;

	for (uint32_t i = 0; i < pod_count; i++) {
		struct bt_pod_info other;

		bt_node_info_pod_at(node, i, &other);
		if (pods_conflict(spec, bt_plugin_pod_spec(&other))) {
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

/* --- hints, spec 07b section 2.6 --- */

static bool share_claim(const struct bt_pod_spec *a, const struct bt_pod_spec *b)
{
	for (uint32_t i = 0; i < a->volumes.count; i++) {
		const struct bt_pvc_volume_source *wanted =
			a->volumes.items[i].persistent_volume_claim;

		for (uint32_t k = 0; wanted != NULL && k < b->volumes.count; k++) {
			const struct bt_pvc_volume_source *held =
				b->volumes.items[k].persistent_volume_claim;
			if (held != NULL && bt_str_equal(held->claim_name, wanted->claim_name)) {
				return true;
			}
		}
	}
	return false;
}

static enum bt_queueing_hint after_pod_deleted(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const void *old_object, BT_UNUSED const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_pod *deleted = old_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);

	if (!bt_str_equal(deleted->metadata.namespace_, pod->namespace_)) {
		return BT_HINT_SKIP;
	}
	return pods_conflict(spec, &deleted->spec) || share_claim(spec, &deleted->spec)
		? BT_HINT_QUEUE
		: BT_HINT_SKIP;
}

static enum bt_queueing_hint after_claim_added(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, BT_UNUSED const void *old_object, const void *new_object,
	BT_UNUSED struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = new_object;

	return bt_pod_uses_claim(pod, &claim->metadata, false) ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_POD, BT_ACTION_DELETE}, after_pod_deleted},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, NULL},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD}, after_claim_added},
};

static int events_to_register(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	BT_UNUSED struct berth_error *err)
{
	*out_events = events;
	*out_count = (uint32_t)BT_ARRAY_LENGTH(events);
	return 0;
}

static int create(BT_UNUSED const struct bt_plugin_args *args, const struct bt_handle *handle,
	struct bt_plugin **out_plugin, BT_UNUSED struct berth_error *err)
{
	return bt_plain_plugin_create(&bt_volume_restrictions_plugin, handle, out_plugin);
}

const struct bt_plugin_ops bt_volume_restrictions_plugin = {
	.name = "VolumeRestrictions",
	.create = create,
	.destroy = bt_plain_plugin_destroy,
	.is_pure_for = is_pure_for,
	.hint_scope = BT_HINT_SCOPE_LABELS,
	.events_to_register = events_to_register,
	.sign = bt_sign_volume_plugin,
	.pre_filter = pre_filter,
	.pre_filter_add_pod = add_pod,
	.pre_filter_remove_pod = remove_pod,
	.clone_pre_filter_data = clone_pre_filter_data,
	.filter = filter,
};
