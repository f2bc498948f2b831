/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/controller.h"

#define NONE UINT32_MAX
#define BACKOFF_FIRST_NS INT64_C(5000000)
/** From this many failures on, the delay is BACKOFF_MAX_NS. */
#define FAILURES_OF_LONGEST_DELAY 18
#define BACKOFF_MAX_NS INT64_C(1000000000000)

static struct bt_str key_of(const struct bt_hub_item *item)
{
	return (struct bt_str){item->key, item->key_length};
}

static uint64_t hash_of(uint32_t controller, struct bt_str key)
{
	return bt_hash_u64(bt_str_hash(key), controller);
}

void bt_hub_queue_finish(struct bt_hub_queue *queue)
{
	bt_vec_finish_each(&queue->items, bt_free(each->key));
	bt_vec_finish(&queue->free_slots);
	bt_map_finish(&queue->by_key);
	bt_heap_finish(&queue->delayed);
	for (uint32_t i = 0; i < BT_HUB_CONTROLLERS_MAX; i++) {
		bt_fifo_finish(&queue->ready[i]);
	}
}

static uint32_t find_item(
	const struct bt_hub_queue *queue, uint32_t controller, struct bt_str key, uint64_t hash)
{
	const struct bt_map *map = &queue->by_key;
	BT_MAP_EACH (map, hash, slot) {
		const struct bt_hub_item *item = &queue->items.items[slot];
		if (item->controller == controller && bt_str_equal(key_of(item), key)) {
			return slot;
		}
	}
	return NONE;
}

static uint32_t find_or_add(struct bt_hub_queue *queue, uint32_t controller, struct bt_str key)
{
	uint64_t hash = hash_of(controller, key);
	uint32_t slot = find_item(queue, controller, key, hash);
	struct bt_hub_item item = {.controller = controller};

	if (slot != NONE) {
		return slot;
	}
	item.key = bt_strndup(key.data, key.length);
	item.key_length = key.length;
	bt_vec_store(&queue->items, &queue->free_slots, item, slot);
	bt_map_insert(&queue->by_key, hash, slot);
	return slot;
}

static void make_ready(struct bt_hub_queue *queue, uint32_t slot)
{
	struct bt_hub_item *item = &queue->items.items[slot];

	if (!item->ready) {
		item->ready = true;
		bt_fifo_push(&queue->ready[item->controller], slot);
	}
}

static void delay_item(struct bt_hub_queue *queue, uint32_t slot, int64_t at_ns)
{
	if (!bt_heap_has(&queue->delayed, slot)) {
		bt_heap_push(&queue->delayed, slot, at_ns, queue->next_sequence++);
		return;
	}
	if (queue->delayed.slots.items[queue->delayed.positions.items[slot]].major > at_ns) {
		bt_heap_update(&queue->delayed, slot, at_ns, queue->next_sequence++);
	}
}

void bt_hub_enqueue(struct bt_hub *hub, struct bt_str key)
{
	make_ready(&hub->queue, find_or_add(&hub->queue, hub->current, key));
}

void bt_hub_enqueue_at(struct bt_hub *hub, struct bt_str key, int64_t at_ns)
{
	uint32_t slot = find_or_add(&hub->queue, hub->current, key);

	hub->queue.items.items[slot].periodic = false;
	delay_item(&hub->queue, slot, at_ns);
}

void bt_hub_enqueue_periodic(struct bt_hub *hub, struct bt_str key, int64_t at_ns)
{
	struct bt_hub_queue *queue = &hub->queue;
	uint32_t slot = find_or_add(queue, hub->current, key);

	if (!bt_heap_has(&queue->delayed, slot)) {
		queue->items.items[slot].periodic = true;
	}
	delay_item(queue, slot, at_ns);
}

void bt_hub_cancel_delay(struct bt_hub *hub, struct bt_str key)
{
	struct bt_hub_queue *queue = &hub->queue;
	uint32_t slot = find_item(queue, hub->current, key, hash_of(hub->current, key));

	if (slot != NONE && bt_heap_has(&queue->delayed, slot)) {
		bt_heap_remove(&queue->delayed, slot);
	}
}

bool bt_hub_queue_has_work(const struct bt_hub_queue *queue)
{
	for (uint32_t i = 0; i < BT_HUB_CONTROLLERS_MAX; i++) {
		if (bt_fifo_count(&queue->ready[i]) != 0) {
			return true;
		}
	}
	for (uint32_t i = 0; i < queue->delayed.slots.count; i++) {
		const struct bt_hub_item *item =
			&queue->items.items[queue->delayed.slots.items[i].item];
		if (!item->periodic && item->failures <= FAILURES_OF_LONGEST_DELAY) {
			return true;
		}
	}
	return false;
}

void bt_hub_queue_promote(struct bt_hub_queue *queue, int64_t now_ns)
{
	while (bt_hub_queue_next_due(queue) <= now_ns && queue->delayed.slots.count != 0) {
		make_ready(queue, bt_heap_pop(&queue->delayed));
	}
}

uint32_t bt_hub_queue_take(struct bt_hub_queue *queue, uint32_t controller)
{
	uint32_t slot = bt_fifo_at(&queue->ready[controller], 0);

	bt_fifo_drop_first(&queue->ready[controller]);
	queue->items.items[slot].ready = false;
	return slot;
}

void bt_hub_queue_done(struct bt_hub_queue *queue, uint32_t slot, bool succeeded, int64_t now_ns)
{
	struct bt_hub_item *item = &queue->items.items[slot];

	if (succeeded) {
		item->failures = 0;
	} else {
		uint32_t doublings = BT_MIN(item->failures, FAILURES_OF_LONGEST_DELAY);
		int64_t wait = BACKOFF_FIRST_NS << doublings;
		item->failures++;
		item->periodic = false;
		delay_item(queue, slot, now_ns + BT_MIN(wait, BACKOFF_MAX_NS));
	}
	if (item->ready || bt_heap_has(&queue->delayed, slot)) {
		return;
	}
	(void)bt_map_remove(&queue->by_key, hash_of(item->controller, key_of(item)), slot);
	bt_free(item->key);
	*item = (struct bt_hub_item){.key = NULL};
	bt_vec_push(&queue->free_slots, slot);
}

int64_t bt_hub_queue_next_due(const struct bt_hub_queue *queue)
{
	return queue->delayed.slots.count != 0 ? queue->delayed.slots.items[0].major : INT64_MAX;
}
