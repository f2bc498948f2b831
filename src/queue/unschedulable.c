/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unschedulable pods by class (what rejected them, in which profile, what gates them) and, within
 * a class, by shape and namespace. An event skips whole classes by their rejectors, and whole
 * groups by one hint. Spec: 04 section 17.
 */
#include "queue/backoff.h"
#include "queue/queue_private.h"

static uint64_t hash_of_rejectors(uint64_t hash, const struct bt_rejectors *set)
{
	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		hash = bt_hash_u64(hash, set->words[i]);
	}
	return hash;
}

static uint64_t hash_class(const struct bt_queue_class *class)
{
	uint64_t hash = bt_hash_u64(class->profile, class->gating_plugin);

	hash = hash_of_rejectors(hash, &class->unschedulable_plugins);
	return hash_of_rejectors(hash, &class->pending_plugins);
}

static uint64_t hash_of_class(const void *owner, uint32_t id)
{
	const struct bt_queue *queue = owner;

	return hash_class(&queue->classes.items[id]);
}

static uint64_t hash_group(uint32_t class_id, uint32_t shape_id, struct bt_str namespace_)
{
	return bt_hash_u64((uint64_t)class_id << 32 | shape_id, bt_str_hash(namespace_));
}

static struct bt_str group_namespace(
	const struct bt_queue *queue, const struct bt_queue_group *group)
{
	return bt_symbol_text(&queue->state->symbols, group->namespace_);
}

static uint64_t hash_of_group(const void *owner, uint32_t id)
{
	const struct bt_queue *queue = owner;
	const struct bt_queue_group *group = &queue->groups.items[id];

	return hash_group(group->class_id, group->shape_id, group_namespace(queue, group));
}

void bt_queue_unschedulable_init(struct bt_queue *queue)
{
	bt_map_init(&queue->class_map, hash_of_class, queue);
	bt_map_init(&queue->group_map, hash_of_group, queue);
}

/** Every group is empty by now. */
void bt_queue_unschedulable_finish(struct bt_queue *queue)
{
	bt_map_finish(&queue->class_map);
	bt_map_finish(&queue->group_map);
	bt_vec_finish(&queue->classes);
	bt_vec_finish(&queue->free_classes);
	bt_vec_finish(&queue->groups);
	bt_vec_finish(&queue->free_groups);
}

static bool is_class(const struct bt_queue_class *a, const struct bt_queue_class *b)
{
	return a->profile == b->profile && a->gating_plugin == b->gating_plugin &&
		bt_rejectors_equal(&a->unschedulable_plugins, &b->unschedulable_plugins) &&
		bt_rejectors_equal(&a->pending_plugins, &b->pending_plugins);
}

static uint32_t find_or_add_class(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	const struct bt_queue_class wanted = {
		.first_group = BT_QUEUE_NONE,
		.profile = entry->profile,
		.gating_plugin = entry->gating_plugin,
		.unschedulable_plugins = entry->unschedulable_plugins,
		.pending_plugins = entry->pending_plugins,
	};
	uint64_t hash = hash_class(&wanted);
	uint32_t id;

	for (uint32_t it = bt_map_first(&queue->class_map, hash); it != BT_MAP_NONE;
		it = bt_map_next(&queue->class_map, hash, it)) {
		id = bt_map_value(&queue->class_map, it);
		if (is_class(&queue->classes.items[id], &wanted)) {
			return id;
		}
	}
	if (queue->free_classes.count > 0) {
		id = queue->free_classes.items[--queue->free_classes.count];
		queue->classes.items[id] = wanted;
	} else {
		id = queue->classes.count;
		bt_vec_push(&queue->classes, wanted);
	}
	bt_map_insert(&queue->class_map, hash, id);
	return id;
}

static uint32_t find_or_add_group(
	struct bt_queue *queue, uint32_t class_id, uint32_t shape_id, struct bt_str namespace_)
{
	struct bt_queue_class *class = &queue->classes.items[class_id];
	struct bt_queue_group wanted = {
		.class_id = class_id,
		.shape_id = shape_id,
		.first = BT_QUEUE_NONE,
		.last = BT_QUEUE_NONE,
		.previous_in_class = BT_QUEUE_NONE,
		.next_in_class = class->first_group,
		.is_ordered = true,
		.latest_expiration_ns = BT_BACKOFF_NEVER,
	};
	uint64_t hash = hash_group(class_id, shape_id, namespace_);
	uint32_t id;

	for (uint32_t it = bt_map_first(&queue->group_map, hash); it != BT_MAP_NONE;
		it = bt_map_next(&queue->group_map, hash, it)) {
		const struct bt_queue_group *group;

		id = bt_map_value(&queue->group_map, it);
		group = &queue->groups.items[id];
		if (group->class_id == class_id && group->shape_id == shape_id &&
			bt_str_equal(group_namespace(queue, group), namespace_)) {
			return id;
		}
	}
	wanted.namespace_ = bt_symbol_ref_str(&queue->state->symbols, namespace_);
	if (class->profile != BT_QUEUE_NONE && queue->measuring[class->profile] != NULL) {
		struct bt_plugin *plugin = queue->measuring[class->profile];

		bt_shortcuts(plugin)->hint_needs(
			plugin, bt_shape_at(&queue->state->shapes, shape_id), wanted.needs);
	}
	if (queue->free_groups.count > 0) {
		id = queue->free_groups.items[--queue->free_groups.count];
		queue->groups.items[id] = wanted;
	} else {
		id = queue->groups.count;
		bt_vec_push(&queue->groups, wanted);
	}
	bt_map_insert(&queue->group_map, hash, id);
	if (class->first_group != BT_QUEUE_NONE) {
		queue->groups.items[class->first_group].previous_in_class = id;
	}
	class->first_group = id;
	class->group_count++;
	return id;
}

void bt_queue_link(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	uint32_t class_id = find_or_add_class(queue, entry);
	int64_t expiration_ns = bt_queue_expiration_ns(queue, entry);
	struct bt_queue_group *group;

	entry->group =
		find_or_add_group(queue, class_id, entry->pod.shape->id, entry->pod.namespace_);
	group = &queue->groups.items[entry->group];
	entry->previous_in_group = BT_QUEUE_NONE;
	entry->next_in_group = group->first;
	if (group->first != BT_QUEUE_NONE) {
		struct bt_queue_entry *newest = bt_queue_entry_at(queue, group->first);

		newest->previous_in_group = entry->id;
		group->is_ordered &= newest->timestamp_ns <= entry->timestamp_ns;
		bt_vec_push(&queue->awake, group->first);
	} else {
		group->last = entry->id;
	}
	if (expiration_ns > group->latest_expiration_ns) {
		group->latest_expiration_ns = expiration_ns;
	}
	group->first = entry->id;
	group->count++;
	entry->counted_gated = bt_queue_entry_is_gated(entry);
	queue->gated_count += entry->counted_gated;
	queue->unschedulable_count++;
	entry->label_set = entry->pod.label_set;
	entry->uid_hash = (uint32_t)bt_str_hash(entry->pod.uid);
	bt_vec_push(&queue->awake, entry->id);
}

void bt_queue_detach_group(struct bt_queue *queue, uint32_t group_id)
{
	struct bt_queue_group *group = &queue->groups.items[group_id];
	struct bt_queue_class *class = &queue->classes.items[group->class_id];
	bool found = bt_map_remove(&queue->group_map, hash_of_group(queue, group_id), group_id);

	BT_ASSERT(found);
	if (group->previous_in_class != BT_QUEUE_NONE) {
		queue->groups.items[group->previous_in_class].next_in_class = group->next_in_class;
	} else {
		class->first_group = group->next_in_class;
	}
	if (group->next_in_class != BT_QUEUE_NONE) {
		queue->groups.items[group->next_in_class].previous_in_class =
			group->previous_in_class;
	}
}

static void drop_group(struct bt_queue *queue, uint32_t group_id)
{
	struct bt_queue_group *group = &queue->groups.items[group_id];

	if (!group->is_ready) {
		bt_queue_detach_group(queue, group_id);
	}
	bt_symbol_unref(&queue->state->symbols, group->namespace_);
	if (--queue->classes.items[group->class_id].group_count == 0) {
		uint32_t class_id = group->class_id;
		bool found = bt_map_remove(
			&queue->class_map, hash_class(&queue->classes.items[class_id]), class_id);

		BT_ASSERT(found);
		bt_vec_push(&queue->free_classes, class_id);
	}
	bt_vec_push(&queue->free_groups, group_id);
}

void bt_queue_unlink(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	uint32_t group_id = entry->group;
	struct bt_queue_group *group = &queue->groups.items[group_id];

	if (entry->previous_in_group != BT_QUEUE_NONE) {
		bt_queue_entry_at(queue, entry->previous_in_group)->next_in_group =
			entry->next_in_group;
	} else {
		group->first = entry->next_in_group;
	}
	if (entry->next_in_group != BT_QUEUE_NONE) {
		bt_queue_entry_at(queue, entry->next_in_group)->previous_in_group =
			entry->previous_in_group;
	} else {
		group->last = entry->previous_in_group;
	}
	entry->group = BT_QUEUE_NONE;
	group->count--;
	if (group->is_ready) {
		bt_queue_ready_lost(queue, group_id);
	} else {
		queue->gated_count -= entry->counted_gated;
		queue->unschedulable_count--;
	}
	if (group->count == 0) {
		drop_group(queue, group_id);
	}
}
