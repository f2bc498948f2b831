/* SPDX-License-Identifier: Apache-2.0 */
/* What both kinds of node infos tell about pods, claims, ports and images. */
#include <stddef.h>
#include <stdlib.h>

#include "berth/node_info.h"
#include "lib/aggregate.h"
#include "lib/convert.h"

/* --- pods --- */

uint32_t berth_node_info_pod_count(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->pods.count;
	}
	return node != NULL ? bt_node_info_pod_count(bt_const_node_info_of(node)) : 0;
}

const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	struct bt_pod_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_pod_info);

	if (alone != NULL) {
		BT_ASSERT(index < alone->pods.count);
		*info = alone->pods.items[index]->info;
	} else {
		bt_node_info_pod_at(bt_const_node_info_of(node), index, info);
	}
	return berth_const_pod_info_of(info);
}

const struct berth_pod_info *const *berth_node_info_pods(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	uint32_t count = berth_node_info_pod_count(node);
	const struct berth_pod_info **list = NULL;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod_info *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		list[i] = berth_node_info_pod_at(node, i, arena);
	}
	*out_count = count;
	return list;
}

/** Of an aggregate: it keeps the list, whose order is its own. */
static const struct berth_pod_info *const *alone_with_affinity(
	const struct bt_aggregate *alone, struct bt_arena *arena, uint32_t *out_count)
{
	uint32_t count = alone->pods_with_affinity.count;
	const struct berth_pod_info **list = NULL;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(arena, const struct berth_pod_info *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info *info = BT_ARENA_NEW(arena, struct bt_pod_info);

		*info = alone->pods_with_affinity.items[i]->info;
		list[i] = berth_const_pod_info_of(info);
	}
	*out_count = count;
	return list;
}

const struct berth_pod_info *const *berth_node_info_pods_with_affinity(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct berth_pod_info *const *pods;
	const struct berth_pod_info **list = NULL;
	uint32_t count;
	uint32_t kept = 0;

	if (alone != NULL) {
		return alone_with_affinity(alone, bt_arena_of(arena), out_count);
	}
	pods = berth_node_info_pods(node, arena, &count);
	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod_info *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (bt_const_pod_info_of(pods[i])->shape->has_affinity) {
			list[kept++] = pods[i];
		}
	}
	*out_count = kept;
	return kept != 0 ? list : NULL;
}

bool berth_node_info_filter(const void *node_info, const struct berth_pod *pod)
{
	const struct berth_node_info *node = node_info;
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_pod *inside = bt_const_pod_of(pod);

	if (node == NULL || (alone != NULL && alone->node == NULL) ||
		!bt_str_equal(inside->spec.node_name, berth_node_info_name(node))) {
		return true;
	}
	uint32_t count = berth_node_info_pod_count(node);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info info;

		if (alone != NULL) {
			info = alone->pods.items[i]->info;
		} else {
			bt_node_info_pod_at(bt_const_node_info_of(node), i, &info);
		}
		if (bt_str_equal(info.name, inside->metadata.name) &&
			bt_str_equal(info.namespace_, inside->metadata.namespace_)) {
			return true;
		}
	}
	return false;
}

const struct berth_pod *const *berth_node_info_filter_out_pods(const struct berth_node_info *node,
	const struct berth_pod *const *pods, uint32_t count, struct berth_arena *arena,
	uint32_t *out_count)
{
	const struct berth_pod **list = NULL;
	uint32_t kept = 0;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (berth_node_info_filter(node, pods[i])) {
			list[kept++] = pods[i];
		}
	}
	*out_count = kept;
	return list;
}

uint32_t berth_node_info_pvc_ref_count(
	const struct berth_node_info *node, struct berth_str claim_key)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	uint32_t pods = berth_node_info_pod_count(node);
	uint32_t count = 0;

	for (uint32_t i = 0; i < pods; i++) {
		struct bt_pod_info info;
		struct bt_str claim = claim_key;

		if (alone != NULL) {
			info = alone->pods.items[i]->info;
		} else {
			bt_node_info_pod_at(bt_const_node_info_of(node), i, &info);
		}
		/* "namespace/name": names have no slash. */
		if (claim_key.length <= info.namespace_.length ||
			claim_key.data[info.namespace_.length] != '/') {
			continue;
		}
		claim.length = info.namespace_.length;
		if (!bt_str_equal(claim, info.namespace_)) {
			continue;
		}
		claim.data += claim.length + 1;
		claim.length = claim_key.length - claim.length - 1;
		for (uint32_t k = 0; k < info.shape->claim_names.count; k++) {
			count += bt_str_equal(info.shape->claim_names.items[k], claim);
		}
	}
	return count;
}

/* --- ports and images --- */

/** Ports of a view as the set that aggregates keep. */
static void ports_of_view(const struct bt_node_info *view, struct berth_host_port_info *out_ports)
{
	const struct bt_node_row *row = &view->state->nodes.rows[view->slot];
	const struct bt_symbol_table *symbols = &view->state->symbols;

	for (uint32_t i = 0; i < view->ports.count && view->ports_changed; i++) {
		berth_host_port_info_add(out_ports, view->ports.items[i].ip,
			view->ports.items[i].protocol, view->ports.items[i].port);
	}
	for (uint32_t i = 0; i < row->ports.count && !view->ports_changed; i++) {
		berth_host_port_info_add(out_ports, bt_symbol_text(symbols, row->ports.items[i].ip),
			bt_symbol_text(symbols, row->ports.items[i].protocol),
			row->ports.items[i].port);
	}
}

const struct berth_host_port *berth_node_info_used_ports(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	struct berth_host_port_info collected = {0};
	const struct berth_host_port_info *ports = &collected;
	struct berth_host_port *list = NULL;

	if (alone != NULL) {
		ports = &alone->ports;
	} else if (node != NULL) {
		ports_of_view(bt_const_node_info_of(node), &collected);
	}
	if (ports->count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct berth_host_port, ports->count);
	}
	for (uint32_t i = 0; i < ports->count; i++) {
		list[i].ip = berth_arena_str(arena, ports->ports[i].ip);
		list[i].protocol = berth_arena_str(arena, ports->ports[i].protocol);
		list[i].port = ports->ports[i].port;
	}
	*out_count = ports->count;
	berth_host_port_info_finish(&collected);
	return list;
}

bool berth_node_info_is_port_used(const struct berth_node_info *node, int32_t port)
{
	struct bt_arena arena = {0};
	uint32_t count;
	const struct berth_host_port *ports =
		berth_node_info_used_ports(node, berth_arena_of(&arena), &count);
	bool used = false;

	for (uint32_t i = 0; i < count && !used; i++) {
		used = ports[i].port == port;
	}
	bt_arena_finish(&arena);
	return used;
}

static int compare_image_name(const void *key, const void *image)
{
	return bt_str_compare(
		*(const struct bt_str *)key, ((const struct bt_aggregate_image *)image)->name);
}

bool berth_node_info_image_state(const struct berth_node_info *node, struct berth_str image_name,
	struct berth_image_state *out_state)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_aggregate_image *image;

	if (alone == NULL) {
		return node != NULL &&
			bt_node_info_find_image(bt_const_node_info_of(node), image_name,
				&out_state->size_bytes, &out_state->node_count);
	}
	if (alone->images.count == 0) {
		return false;
	}
	image = bsearch(&image_name, alone->images.items, alone->images.count, sizeof(*image),
		compare_image_name);
	if (image != NULL) {
		*out_state = image->state;
	}
	return image != NULL;
}
