/* SPDX-License-Identifier: Apache-2.0 */
#include "state/node_info.h"

#include "base/vec.h"
#include "base/wrap.h"
#include "state/state_private.h"

/**
 * Append an item. The capacity of a list follows from its count: when the count is a power of two,
 * a new array of twice the length is allocated. After a list was shortened, the capacity is larger
 * than the count says.
 */
#define list_push(list, arena_, value) \
	do { \
		if (((list)->count & ((list)->count - 1)) == 0) { \
			size_t capacity_ = (list)->count == 0 ? 1 : (size_t)(list)->count * 2; \
			void *items_ = \
				bt_arena_alloc((arena_), capacity_ * sizeof(*(list)->items)); \
			if ((list)->count != 0) { \
				memcpy(items_, (list)->items, \
					(list)->count * sizeof(*(list)->items)); \
			} \
			(list)->items = items_; \
		} \
		(list)->items[(list)->count++] = (value); \
	} while (0)

static const struct bt_node_row *row_of(const struct bt_node_info *info)
{
	return &info->state->nodes.rows[info->slot];
}

void bt_node_info_init(struct bt_node_info *info, const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_table *nodes = &state->nodes;

	BT_ASSERT(slot < nodes->slot_count);
	*info = (struct bt_node_info){
		.state = state,
		.slot = slot,
		.allocatable_pods = nodes->allocatable_pods[slot],
		.pod_count = nodes->pod_count[slot],
	};
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		info->allocatable[i] = nodes->allocatable[i][slot];
		info->requested[i] = nodes->requested[i][slot];
	}
	for (uint32_t i = 0; i < BT_NON_ZERO_COUNT; i++) {
		info->non_zero[i] = nodes->non_zero[i][slot];
	}
}

/** Copy a list with the capacity that list_push assumes. */
#define list_copy(list, arena_) \
	do { \
		const void *shared_ = (list)->items; \
		size_t capacity_ = 1; \
		while (capacity_ < (list)->count) { \
			capacity_ *= 2; \
		} \
		if ((list)->count != 0) { \
			(list)->items = \
				bt_arena_alloc((arena_), capacity_ * sizeof(*(list)->items)); \
			memcpy((list)->items, shared_, (list)->count * sizeof(*(list)->items)); \
		} \
	} while (0)

void bt_node_info_copy(
	struct bt_node_info *out_info, const struct bt_node_info *info, struct bt_arena *arena)
{
	*out_info = *info;
	out_info->owner = NULL;
	list_copy(&out_info->scalar_deltas, arena);
	list_copy(&out_info->added_pods, arena);
	list_copy(&out_info->removed_pods, arena);
	list_copy(&out_info->ports, arena);
}

static void add_scalar(
	struct bt_node_info *info, struct bt_arena *arena, uint32_t resource, int64_t delta)
{
	struct bt_scalar_delta fresh = {resource, delta};

	for (uint32_t i = 0; i < info->scalar_deltas.count; i++) {
		struct bt_scalar_delta *known = &info->scalar_deltas.items[i];
		if (known->resource == resource) {
			known->requested = bt_wrap_add(known->requested, delta);
			return;
		}
	}
	list_push(&info->scalar_deltas, arena, fresh);
}

void bt_node_info_init_without_pods(struct bt_node_info *info, const struct bt_state *state,
	uint32_t slot, struct bt_arena *arena)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];

	bt_node_info_init(info, state, slot);
	info->arena = arena;
	memset(info->requested, 0, sizeof(info->requested));
	memset(info->non_zero, 0, sizeof(info->non_zero));
	info->pod_count = 0;
	info->ports_changed = true;
	for (uint32_t i = 0; i < state->nodes.scalars.count; i++) {
		int64_t requested = state->nodes.scalars.items[i].requested[slot];
		if (requested != 0) {
			add_scalar(info, arena, i, bt_wrap_sub(0, requested));
		}
	}
	for (uint32_t i = 0; i < row->pods.count; i++) {
		list_push(&info->removed_pods, arena, row->pods.items[i]);
	}
}

static int64_t signed_amount(int64_t amount, int64_t sign)
{
	return sign < 0 ? bt_wrap_sub(0, amount) : amount;
}

void bt_node_info_change_sums(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_shape *shape, int64_t sign)
{
	info->arena = arena;
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		info->requested[i] =
			bt_wrap_add(info->requested[i], signed_amount(shape->requested[i], sign));
	}
	for (uint32_t i = 0; i < BT_NON_ZERO_COUNT; i++) {
		info->non_zero[i] =
			bt_wrap_add(info->non_zero[i], signed_amount(shape->non_zero[i], sign));
	}
	info->pod_count += sign;
	for (uint32_t i = 0; i < shape->scalar_count; i++) {
		add_scalar(info, arena, shape->scalars[i].resource,
			signed_amount(shape->scalars[i].value, sign));
	}
}

/* Add or remove a pod's sums and ports. A port is removed even if other pods use the same port. */
static void change_pod(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_shape *shape, int64_t sign)
{
	const struct bt_node_row *row = row_of(info);

	bt_node_info_change_sums(info, arena, shape, sign);
	if (shape->host_ports.count == 0) {
		return;
	}
	for (uint32_t i = 0; i < row->ports.count && !info->ports_changed; i++) {
		struct bt_host_port port = {
			.ip = bt_symbol_text(&info->state->symbols, row->ports.items[i].ip),
			.protocol =
				bt_symbol_text(&info->state->symbols, row->ports.items[i].protocol),
			.port = row->ports.items[i].port,
		};
		list_push(&info->ports, arena, port);
	}
	info->ports_changed = true;
	for (uint32_t i = 0; i < shape->host_ports.count; i++) {
		const struct bt_host_port *port = &shape->host_ports.items[i];
		uint32_t at = bt_host_ports_find(info->ports.items, info->ports.count, port);

		if (sign > 0 && at == info->ports.count) {
			list_push(&info->ports, arena, *port);
		} else if (sign < 0 && at < info->ports.count) {
			info->ports.items[at] = info->ports.items[--info->ports.count];
		}
	}
}

void bt_node_info_add_pod(
	struct bt_node_info *info, struct bt_arena *arena, const struct bt_pod_info *pod)
{
	change_pod(info, arena, pod->shape, 1);
	list_push(&info->added_pods, arena, *pod);
}

/* Remove a cached pod. Returns false if the pod is not on this node or is removed already. */
static bool remove_cache_pod(
	struct bt_node_info *info, struct bt_arena *arena, const struct bt_pod_info *pod)
{
	const struct bt_state *state = info->state;
	uint32_t pod_id = pod->pod_id;
	uint32_t at;

	if (pod_id == BT_POD_NONE || pod_id >= state->pods.records.count ||
		!bt_str_equal(bt_pod_record_uid(bt_state_pod_at(state, pod_id)), pod->uid)) {
		pod_id = bt_state_find_pod(state, pod->uid);
	}
	if (pod_id == BT_POD_NONE || bt_state_pod_at(state, pod_id)->node != info->slot) {
		return false;
	}
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
	uint32_t position = record->position;

	/* at: index of the first removed pod at `position` or later in the node's list. */

	BT_LOWER_BOUND(at, info->removed_pods.count, middle,
		bt_state_pod_at(info->state, info->removed_pods.items[middle])->position <
			position);
	if (at < info->removed_pods.count && info->removed_pods.items[at] == pod_id) {
		return false;
	}
	const struct bt_shape *shape = bt_shape_at(&info->state->shapes, record->shape);
	change_pod(info, arena, shape, -1);
	list_push(&info->removed_pods, arena, pod_id);
	memmove(&info->removed_pods.items[at + 1], &info->removed_pods.items[at],
		(info->removed_pods.count - 1 - at) * sizeof(pod_id));
	info->removed_pods.items[at] = pod_id;
	return true;
}

int bt_node_info_remove_pod(struct bt_node_info *info, struct bt_arena *arena,
	const struct bt_pod_info *pod, struct berth_error *err)
{
	if (pod->uid.length == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
	}
	if (remove_cache_pod(info, arena, pod)) {
		return 0;
	}
	/* Search from the end, because preemption usually removes the pod that it added last. */
	for (uint32_t i = info->added_pods.count; i-- > 0;) {
		if (bt_str_equal(info->added_pods.items[i].uid, pod->uid)) {
			change_pod(info, arena, info->added_pods.items[i].shape, -1);
			bt_vec_remove_ordered(&info->added_pods, i);
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_NOT_FOUND,
		"no corresponding pod %.*s in pods of node %.*s", BT_STR_ARG(pod->name),
		BT_STR_ARG(bt_node_info_name(info)));
}

struct bt_str bt_node_info_name(const struct bt_node_info *info)
{
	return bt_node_table_name(&info->state->nodes, info->slot);
}

const struct bt_str_map *bt_node_info_labels(const struct bt_node_info *info)
{
	return &row_of(info)->labels;
}

const bt_taint_list *bt_node_info_taints(const struct bt_node_info *info)
{
	return bt_node_table_taints(&info->state->nodes, info->slot);
}

bool bt_node_info_unschedulable(const struct bt_node_info *info)
{
	return info->state->nodes.unschedulable[info->slot] != 0;
}

struct bt_str bt_node_info_conditions(const struct bt_node_info *info)
{
	return bt_symbol_text(&info->state->symbols, row_of(info)->conditions);
}

struct bt_str bt_node_info_prefer_avoid_pods(const struct bt_node_info *info)
{
	return bt_symbol_text(&info->state->symbols, row_of(info)->prefer_avoid_pods);
}

uint8_t bt_node_info_declared_features(const struct bt_node_info *info)
{
	return info->state->nodes.declared_features[info->slot];
}

int64_t bt_node_info_scalar_allocatable(const struct bt_node_info *info, uint32_t resource)
{
	return resource == UINT32_MAX
		? 0
		: info->state->nodes.scalars.items[resource].allocatable[info->slot];
}

bool bt_node_info_has_extended(const struct bt_node_info *info, uint32_t resource)
{
	const struct bt_node_row *row = row_of(info);

	if (bt_node_info_scalar_allocatable(info, resource) != 0) {
		return true;
	}
	for (uint32_t i = 0; i < row->zero_scalars.count; i++) {
		if (row->zero_scalars.items[i] == resource) {
			return true;
		}
	}
	return false;
}

int64_t bt_node_info_scalar_requested(const struct bt_node_info *info, uint32_t resource)
{
	if (resource == UINT32_MAX) {
		return 0;
	}
	int64_t requested = info->state->nodes.scalars.items[resource].requested[info->slot];
	for (uint32_t i = 0; i < info->scalar_deltas.count; i++) {
		if (info->scalar_deltas.items[i].resource == resource) {
			return bt_wrap_add(requested, info->scalar_deltas.items[i].requested);
		}
	}
	return requested;
}

bool bt_node_info_port_conflicts(const struct bt_node_info *info, const struct bt_host_port *wanted)
{
	const struct bt_node_row *row = row_of(info);

	if (wanted->port <= 0) {
		return false;
	}
	for (uint32_t i = 0; i < info->ports.count && info->ports_changed; i++) {
		if (bt_host_port_conflicts(wanted, &info->ports.items[i])) {
			return true;
		}
	}
	for (uint32_t i = 0; i < row->ports.count && !info->ports_changed; i++) {
		struct bt_host_port used = {.port = row->ports.items[i].port};
		if (used.port != wanted->port) {
			continue;
		}
		used.ip = bt_symbol_text(&info->state->symbols, row->ports.items[i].ip);
		used.protocol = bt_symbol_text(&info->state->symbols, row->ports.items[i].protocol);
		if (bt_host_port_conflicts(wanted, &used)) {
			return true;
		}
	}
	return false;
}

bool bt_node_info_find_image(const struct bt_node_info *info, struct bt_str name,
	int64_t *out_size_bytes, uint32_t *out_node_count)
{
	const struct bt_node_row *row = row_of(info);
	uint32_t image = bt_state_find_image(info->state, name);

	for (uint32_t i = 0; i < row->images.count && image != BT_IMAGE_NONE; i++) {
		if (row->images.items[i].image == image) {
			*out_size_bytes = info->state->images.images.items[image].size_bytes;
			*out_node_count = row->images.items[i].node_count;
			return true;
		}
	}
	return false;
}

uint32_t bt_node_info_pod_count(const struct bt_node_info *info)
{
	return row_of(info)->pods.count - info->removed_pods.count + info->added_pods.count;
}

void bt_node_info_pod_at(
	const struct bt_node_info *info, uint32_t index, struct bt_pod_info *out_pod)
{
	const struct bt_node_row *row = row_of(info);
	uint32_t remaining = row->pods.count - info->removed_pods.count;

	BT_ASSERT(index < remaining + info->added_pods.count);
	if (index >= remaining) {
		*out_pod = info->added_pods.items[index - remaining];
		return;
	}
	/*
	 * The ids in removed_pods are in the order of the node's list: skip all removed pods up to
	 * the index.
	 */
	for (uint32_t i = 0; i < info->removed_pods.count; i++) {
		if (bt_state_pod_at(info->state, info->removed_pods.items[i])->position > index) {
			break;
		}
		index++;
	}
	bt_pod_info_from_record(info->state, row->pods.items[index], out_pod);
}
