/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "base/alloc.h"
#include "queue/backoff.h"
#include "queue/queue_private.h"

/*
 * Unschedulable pods are stored by class (rejectors, profile and gating plugin) and, within a
 * class, in groups by shape and namespace. An event skips a class if the class has rejectors but
 * none of these rejectors listens to the event. If a hint has the same answer for all pods of a
 * group, the event calls the hint only once for the group. Spec: 04 section 17.
 */

static const struct bt_shape *shape_of(
	const struct bt_queue *queue, const struct bt_queue_group *group)
{
	return bt_shape_at(&queue->state->shapes, group->shape_id);
}

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

static uint64_t hash_group(uint32_t class_id, uint32_t shape_id, struct bt_str namespace_)
{
	return bt_hash_u64((uint64_t)class_id << 32 | shape_id, bt_str_hash(namespace_));
}

static struct bt_str group_namespace(
	const struct bt_queue *queue, const struct bt_queue_group *group)
{
	return bt_symbol_text(&queue->state->symbols, group->namespace_);
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
		.least_sequence = UINT64_MAX,
	};
	uint64_t hash = hash_group(class_id, shape_id, namespace_);
	uint32_t id;

	BT_MAP_EACH (&queue->groups.map, hash, index) {
		id = index;
		const struct bt_queue_group *group = &queue->groups.items[id];
		if (group->class_id == class_id && group->shape_id == shape_id &&
			bt_str_equal(group_namespace(queue, group), namespace_)) {
			return id;
		}
	}
	wanted.namespace_ = bt_symbol_ref_str(&queue->state->symbols, namespace_);
	const struct bt_shape *shape = bt_shape_at(&queue->state->shapes, shape_id);
	if (class->profile != BT_QUEUE_NONE && queue->measuring[class->profile] != NULL) {
		struct bt_plugin *plugin = queue->measuring[class->profile];

		bt_shortcuts(plugin)->hint_needs(plugin, shape, wanted.needs);
	}
	if (class->profile != BT_QUEUE_NONE) {
		const struct bt_framework *framework =
			queue->profiles->frameworks.items[class->profile];
		struct bt_rejectors rejectors =
			bt_rejectors_union(&class->unschedulable_plugins, &class->pending_plugins);

		for (uint32_t i = 0; i < framework->instances.count; i++) {
			struct bt_plugin *plugin = framework->instances.items[i];

			if (bt_rejectors_has(&rejectors, i) &&
				bt_shortcuts(plugin)->hint_wants != NULL) {
				bt_shortcuts(plugin)->hint_wants(plugin, shape, &wanted.wants);
			}
		}
	}
	bt_hash_table_add(&queue->groups, hash, wanted, id);
	if (class->first_group != BT_QUEUE_NONE) {
		queue->groups.items[class->first_group].previous_in_class = id;
	}
	class->first_group = id;
	class->group_count++;
	return id;
}

void bt_queue_link(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	const struct bt_queue_class wanted = {
		.first_group = BT_QUEUE_NONE,
		.profile = entry->profile,
		.gating_plugin = entry->gating_plugin,
		.unschedulable_plugins = entry->unschedulable_plugins,
		.pending_plugins = entry->pending_plugins,
	};
	uint64_t hash = hash_class(&wanted);
	uint32_t class_id = BT_QUEUE_NONE;
	int64_t expiration_ns = bt_queue_expiration_ns(queue, entry);

	BT_MAP_EACH (&queue->classes.map, hash, index) {
		const struct bt_queue_class *class = &queue->classes.items[index];
		if (class->profile == wanted.profile &&
			class->gating_plugin == wanted.gating_plugin &&
			bt_rejectors_equal(
				&class->unschedulable_plugins, &wanted.unschedulable_plugins) &&
			bt_rejectors_equal(&class->pending_plugins, &wanted.pending_plugins)) {
			class_id = index;
			break;
		}
	}
	if (class_id == BT_QUEUE_NONE) {
		bt_hash_table_add(&queue->classes, hash, wanted, class_id);
	}
	entry->group =
		find_or_add_group(queue, class_id, entry->pod.shape->id, entry->pod.namespace_);
	struct bt_queue_group *group = &queue->groups.items[entry->group];
	entry->previous_in_group = BT_QUEUE_NONE;
	entry->next_in_group = group->first;
	if (group->first != BT_QUEUE_NONE) {
		struct bt_queue_entry *newest = bt_queue_entry_at(queue, group->first);

		newest->previous_in_group = entry->id;
		group->is_ordered &= newest->timestamp_ns <= entry->timestamp_ns;
		bt_vec_push(&queue->unparked, group->first);
	} else {
		group->last = entry->id;
	}
	if (entry->sequence < group->least_sequence) {
		group->least_sequence = entry->sequence;
	}
	entry->sequence -= group->shift;
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
	bt_vec_push(&queue->unparked, entry->id);
}

/** Removes the group from the class, so that events no longer visit the group. */
static void queue_detach_group(struct bt_queue *queue, uint32_t group_id)
{
	struct bt_queue_group *group = &queue->groups.items[group_id];
	struct bt_queue_class *class = &queue->classes.items[group->class_id];
	uint64_t hash = hash_group(group->class_id, group->shape_id, group_namespace(queue, group));
	bool found = bt_map_remove(&queue->groups.map, hash, group_id);

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
	entry->sequence += group->shift;
	entry->group = BT_QUEUE_NONE;
	group->count--;
	if (group->is_ready) {
		queue->ready_count--;
		if (group->count == 0) {
			bt_heap_remove(&queue->ready, group_id);
		} else {
			bt_heap_update(&queue->ready, group_id,
				-(int64_t)bt_pod_priority(shape_of(queue, group)->pod),
				bt_queue_entry_at(queue, group->last)->timestamp_ns);
		}
	} else {
		queue->gated_count -= entry->counted_gated;
		queue->unschedulable_count--;
	}
	if (group->count == 0) {
		if (!group->is_ready) {
			queue_detach_group(queue, group_id);
		}
		bt_symbol_unref(&queue->state->symbols, group->namespace_);
		if (--queue->classes.items[group->class_id].group_count == 0) {
			uint32_t class_id = group->class_id;
			bt_hash_table_remove(&queue->classes,
				hash_class(&queue->classes.items[class_id]), class_id);
		}
		bt_vec_push(&queue->groups.free_ids, group_id);
	}
}

/*
 * Groups that an event moves to the active queue as a whole. Thousands of pods of one shape may
 * become active at once, and most of them are popped much later, so the event moves the group and
 * touches none of its pods. The heap `ready` has the moved groups, ordered by their oldest pods. A
 * pod moves to the active heap when it is the next to pop or is looked up by name. For callers of
 * the queue all pods of the group are active from the event on. Spec: 04 sections 4, 7 and 8.7.
 */

bool bt_queue_can_activate_group(const struct bt_queue *queue, const struct bt_queue_group *group,
	enum bt_queue_strategy strategy, int64_t now_ns)
{
	const struct bt_queue_class *class = &queue->classes.items[group->class_id];

	if (group->count < queue->options.whole_group_min || !group->is_ordered ||
		!bt_shortcuts(queue->sort)->less_is_priority_then_time ||
		class->profile == BT_QUEUE_NONE || class->gating_plugin != BT_QUEUE_NONE) {
		return false;
	}
	if (strategy == BT_STRATEGY_AFTER_BACKOFF &&
		bt_is_backing_off(group->latest_expiration_ns, now_ns, queue->pops_backoff)) {
		return false;
	}
	/* PreEnqueue must pass for every member. */
	uint32_t profile = class->profile;
	const struct bt_shape *shape = shape_of(queue, group);
	const struct bt_framework *framework = queue->profiles->frameworks.items[profile];
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_ENQUEUE];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (bt_shortcuts(plugin)->pre_enqueue_passes == NULL ||
			!bt_shortcuts(plugin)->pre_enqueue_passes(plugin, shape)) {
			return false;
		}
	}
	return true;
}

void bt_queue_activate_group(
	struct bt_queue *queue, uint32_t group_id, uint32_t event, int64_t now_ns)
{
	struct bt_queue_group *group = &queue->groups.items[group_id];

	queue_detach_group(queue, group_id);
	group->is_ready = true;
	group->ready_since_ns = now_ns;
	queue->unschedulable_count -= group->count;
	queue->ready_count += group->count;
	queue->events.items[event].incoming[BT_QUEUE_ACTIVE] += group->count;
	bt_heap_push(&queue->ready, group_id,
		-(int64_t)bt_pod_priority(shape_of(queue, group)->pod),
		bt_queue_entry_at(queue, group->last)->timestamp_ns);
}

void bt_queue_unpark_next_ready(struct bt_queue *queue)
{
	const struct bt_heap_slot *ready = queue->ready.slots.items;
	const struct bt_heap_slot *active = queue->active_queue.slots.items;

	if (queue->ready.slots.count == 0) {
		return;
	}
	if (queue->active_queue.slots.count == 0 || ready->major < active->major ||
		(ready->major == active->major && ready->minor < active->minor)) {
		(void)bt_queue_unpark(queue, queue->groups.items[ready->item].last);
	}
}

/*
 * Unschedulable pods may be many and wait long, and so may the active pods of a large backlog.
 * Between two operations of the queue these pods are parked: the decoded object is packed, and only
 * the front of the record stays allocated. Unparking restores the other members from the front, the
 * class and the object.
 */

#define PARKED_BYTES offsetof(struct bt_queue_entry, unschedulable_plugins)

struct bt_queue_entry *bt_queue_unpark(struct bt_queue *queue, uint32_t id)
{
	struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

	if (entry->parked) {
		static const struct bt_queue_class none; /* of an active pod without rejectors */
		const struct bt_queue_class *class = entry->group != BT_QUEUE_NONE
			? &queue->classes.items[queue->groups.items[entry->group].class_id]
			: &none;

		entry = bt_realloc_array(entry, 1, sizeof(*entry));
		queue->entries.items[id] = entry;
		entry->parked = false;
		entry->unschedulable_plugins = class->unschedulable_plugins;
		entry->pending_plugins = class->pending_plugins;
		(void)bt_object_unpack(entry->object); /* returns the same pointer */
		bt_pod_info_restore_pending(queue->state,
			bt_object_value(entry->object, BT_KIND_POD), entry->shape_id,
			entry->label_set, &entry->pod);
		bt_vec_push(&queue->unparked, id);
	}
	if (entry->group != BT_QUEUE_NONE && queue->groups.items[entry->group].is_ready) {
		/* The member moves to the active heap. */
		int64_t since_ns = queue->groups.items[entry->group].ready_since_ns;

		bt_queue_unlink(queue, entry);
		if (entry->initial_attempt_ns == BT_QUEUE_TIME_UNSET) {
			entry->initial_attempt_ns = since_ns;
		}
		entry->place = BT_QUEUE_ACTIVE;
		bt_heap_push(&queue->active_queue, entry->id, -(int64_t)entry->pod.priority,
			entry->timestamp_ns);
		bt_run_pre_enqueue_known(queue->profiles->frameworks.items[entry->profile], 1);
	}
	return entry;
}

void bt_queue_park_all(struct bt_queue *queue, const struct bt_queue_entry *held)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < queue->unparked.count; i++) {
		uint32_t id = queue->unparked.items[i];
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

		struct bt_str node_name;

		if (entry == NULL || entry->parked) {
			continue;
		}
		/*
		 * Do not park a group's first entry, which hints use, nor an active pod that is
		 * popped next or is compared as a whole, nor a record to which the nominator may
		 * point.
		 */
		if (entry->place == BT_QUEUE_UNSCHEDULABLE) {
			if (queue->groups.items[entry->group].first == id) {
				continue;
			}
		} else {
			struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);

			if (entry->place != BT_QUEUE_ACTIVE || !bt_rejectors_is_empty(&rejectors) ||
				!bt_shortcuts(queue->sort)->less_is_priority_then_time ||
				bt_heap_top(&queue->active_queue) == id) {
				continue;
			}
		}
		if (bt_nominator_find(queue->nominator, entry->pod.uid, &node_name)) {
			continue;
		}
		if (entry == held) {
			queue->unparked.items[kept++] = id;
		} else {
			struct bt_object *object = entry->object;

			entry->parked = true;
			entry->shape_id = entry->pod.shape->id;
			entry->label_set = entry->pod.label_set;
			queue->entries.items[id] = bt_realloc_array(entry, 1, PARKED_BYTES);
			bt_object_allow_pack(object);
		}
	}
	queue->unparked.count = kept;
}
