/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "server/store_private.h"

/**
 * If writers of huge objects fill the window, it gets shorter instead of using unlimited memory.
 */
#define HARD_BYTES_FACTOR 4

static uint64_t bytes_of(const struct bt_stored *stored)
{
	return stored == NULL ? 0 : sizeof(*stored) + stored->key_length + stored->text_length;
}

/** Memory of a change that only the window references. */
static uint64_t bytes_kept(const struct bt_window_change *change)
{
	return sizeof(*change) + bytes_of(change->before) +
		(bt_window_type(change) == BT_CHANGE_DELETED ? bytes_of(change->after) : 0);
}

void bt_window_add(struct bt_window *window, const struct bt_store_options *options,
	const struct bt_store_change *change, bool is_needed, int64_t now_ns)
{
	int64_t now_ms = now_ns / 1000000;
	int64_t age_ms = options->window_age_ns / 1000000;
	struct bt_window_change *added;

	if (window->count == window->capacity) {
		uint32_t capacity = window->capacity != 0 ? 2 * window->capacity : 16;
		struct bt_window_change *ring = BT_NEW_ARRAY(struct bt_window_change, capacity);

		BT_ASSERT(capacity > window->capacity);
		for (uint32_t i = 0; i < window->count; i++) {
			ring[i] = *bt_window_at(window, i);
		}
		bt_free(window->ring);
		window->ring = ring;
		window->capacity = capacity;
		window->first = 0;
	}
	added = &window->ring[(window->first + window->count) & (window->capacity - 1)];
	*added = (struct bt_window_change){
		.rv = change->rv,
		.before = change->before != NULL ? bt_stored_share(change->before) : NULL,
		.after = bt_stored_share(change->after),
		.time_and_type = (uint64_t)now_ms << 2 | (uint64_t)change->type,
	};
	window->count++;
	window->bytes += bytes_kept(added);
	/* The newest change always stays, because the caller was given its entry. */
	while (window->count > 1) {
		bool is_old = now_ms - bt_window_time_ms(&window->ring[window->first]) > age_ms;
		bool is_large = window->bytes > options->window_bytes_max;
		bool is_huge = window->bytes / HARD_BYTES_FACTOR > options->window_bytes_max;

		if (!is_huge &&
			(is_needed || window->count <= options->window_changes_min ||
				!(is_old || is_large))) {
			break;
		}
		struct bt_window_change *oldest = &window->ring[window->first];

		window->bytes -= bytes_kept(oldest);
		window->start = oldest->rv;
		bt_stored_release(oldest->before);
		bt_stored_release(oldest->after);
		window->first = (window->first + 1) & (window->capacity - 1);
		window->count--;
	}
}

uint32_t bt_window_seek(const struct bt_window *window, uint64_t rv)
{
	uint32_t low = 0;
	uint32_t high = window->count;

	/* Most callers have read all changes, or all but the newest. */
	if (high == 0 || bt_window_at(window, high - 1)->rv <= rv) {
		return high;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (bt_window_at(window, middle)->rv <= rv) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

void bt_window_finish(struct bt_window *window)
{
	for (uint32_t i = 0; i < window->count; i++) {
		bt_stored_release(bt_window_at(window, i)->before);
		bt_stored_release(bt_window_at(window, i)->after);
	}
	bt_free(window->ring);
	*window = (struct bt_window){0};
}

uint64_t bt_store_window_start(const struct bt_store *store, uint32_t collection)
{
	return bt_store_at(store, collection)->window.start;
}

bool bt_store_next_change(const struct bt_store *store, uint32_t collection, uint64_t rv,
	struct bt_store_change *out_change)
{
	const struct bt_window *window = &bt_store_at(store, collection)->window;
	uint32_t index = bt_window_seek(window, rv);
	const struct bt_window_change *change;

	if (index == window->count) {
		return false;
	}
	change = bt_window_at(window, index);
	*out_change = (struct bt_store_change){
		.rv = change->rv,
		.type = bt_window_type(change),
		.collection = collection,
		.before = change->before,
		.after = change->after,
	};
	return true;
}
