/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ImageLocalityPriority (Score): ImageLocality as it was before v1.19: images of containers only,
 * and the same two thresholds however many containers there are. Spec: 05b B12, 05 section 13.
 */
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"

#define MIB INT64_C(1048576)
#define SUM_MIN (23 * MIB)
#define SUM_MAX (1000 * MIB)

/** A name without tag or digest means its tag "latest". */
static struct bt_str normalized_name(struct bt_str name, struct bt_arena *arena)
{
	if (bt_str_find_last_char(name, ':') > bt_str_find_last_char(name, '/')) {
		return name;
	}
	return bt_arena_printf(arena, "%.*s:latest", BT_STR_ARG(name));
}

static bt_str_list *compute_names(const struct bt_pod_info *pod, struct bt_arena *arena)
{
	const bt_container_list *containers = &bt_plugin_pod_spec(pod)->containers;
	bt_str_list *names = BT_ARENA_NEW(arena, bt_str_list);

	names->items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, containers->count);
	for (uint32_t i = 0; i < containers->count; i++) {
		names->items[names->count++] = normalized_name(containers->items[i].image, arena);
	}
	return names;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	bt_plugin_set_pre_score_data(plugin, cycle, compute_names(pod, cycle->arena));
	return BT_STATUS_OK;
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const bt_str_list *names = bt_plugin_pre_score_data(plugin, cycle);
	double node_count = (double)node->state->snapshot.count;
	int64_t sum_bytes = 0;

	if (names == NULL) {
		names = compute_names(pod, cycle->arena);
	}
	for (uint32_t i = 0; i < names->count; i++) {
		int64_t size_bytes;
		uint32_t holder_count;

		if (bt_node_info_find_image(node, names->items[i], &size_bytes, &holder_count)) {
			sum_bytes = bt_wrap_add(sum_bytes,
				bt_trunc_to_i64(
					(double)size_bytes * ((double)holder_count / node_count)));
		}
	}
	if (sum_bytes < SUM_MIN) {
		sum_bytes = SUM_MIN;
	} else if (sum_bytes > SUM_MAX) {
		sum_bytes = SUM_MAX;
	}
	*out_score = BT_SCORE_MAX * (sum_bytes - SUM_MIN) / (SUM_MAX - SUM_MIN);
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_image_locality_priority_plugin = {
	.name = "ImageLocalityPriority",
	.create = bt_legacy_create_plain,
	.destroy = bt_plain_plugin_destroy,
	.pre_score = pre_score,
	.score = score,
};
