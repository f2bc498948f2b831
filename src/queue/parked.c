/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unschedulable pods may be many and wait long. Between two operations of the queue they are
 * parked: the object rests, and of the record only its front is kept. What the rest said is in
 * the group, in the class and in the object.
 */
#include <stddef.h>

#include "base/alloc.h"
#include "queue/queue_private.h"

#define PARKED_BYTES offsetof(struct bt_queue_entry, unschedulable_plugins)

/** Not the one that answers for its group, nor those that the nominator points into. */
static bool may_park(const struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	struct bt_str node_name;

	return entry->place == BT_QUEUE_UNSCHEDULABLE && !entry->parked &&
		queue->groups.items[entry->group].first != entry->id &&
		!bt_nominator_find(queue->nominator, entry->pod.uid, &node_name);
}

static struct bt_queue_entry *unpark(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	uint32_t id = entry->id;
	const struct bt_queue_group *group;
	const struct bt_queue_class *class;

	entry = bt_realloc_array(entry, 1, sizeof(*entry));
	queue->entries.items[id] = entry;
	group = &queue->groups.items[entry->group];
	class = &queue->classes.items[group->class_id];
	entry->parked = false;
	entry->unschedulable_plugins = class->unschedulable_plugins;
	entry->pending_plugins = class->pending_plugins;
	(void)bt_object_wake(entry->object); /* the same */
	bt_pod_info_restore_pending(queue->state, bt_object_value(entry->object, BT_KIND_POD),
		group->shape_id, entry->label_set, &entry->pod);
	bt_vec_push(&queue->awake, id);
	return entry;
}

struct bt_queue_entry *bt_queue_wake(struct bt_queue *queue, uint32_t id)
{
	struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

	if (entry->parked) {
		entry = unpark(queue, entry);
	}
	if (entry->group != BT_QUEUE_NONE && queue->groups.items[entry->group].is_ready) {
		bt_queue_enter_ready(queue, entry);
	}
	return entry;
}

void bt_queue_settle_but(struct bt_queue *queue, const struct bt_queue_entry *held)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < queue->awake.count; i++) {
		uint32_t id = queue->awake.items[i];
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

		if (entry == NULL || !may_park(queue, entry)) {
			continue;
		}
		if (entry == held) {
			queue->awake.items[kept++] = id;
		} else {
			struct bt_object *object = entry->object;

			entry->parked = true;
			queue->entries.items[entry->id] = bt_realloc_array(entry, 1, PARKED_BYTES);
			bt_object_rest(object);
		}
	}
	queue->awake.count = kept;
}

void bt_queue_settle(struct bt_queue *queue)
{
	bt_queue_settle_but(queue, NULL);
}

bool bt_queue_has_name(
	const struct bt_queue_entry *entry, struct bt_str namespace_, struct bt_str name)
{
	return bt_str_equal(bt_object_name(entry->object), name) &&
		bt_str_equal(bt_object_namespace(entry->object), namespace_);
}
