/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include "base/prng.h"
#include "test_main.h"

START_TEST(test_heap__order_of_keys)
{
	struct bt_heap heap = {0};

	bt_heap_push(&heap, 3, 5, 0);
	bt_heap_push(&heap, 1, 4, 9);
	bt_heap_push(&heap, 0, 4, 8);
	bt_heap_push(&heap, 7, INT64_MIN, INT64_MAX);
	ck_assert_uint_eq(bt_heap_top(&heap), 7);
	ck_assert(bt_heap_has(&heap, 3));
	ck_assert(!bt_heap_has(&heap, 2));
	ck_assert(!bt_heap_has(&heap, 1000));
	ck_assert_uint_eq(bt_heap_pop(&heap), 7);
	ck_assert_uint_eq(bt_heap_pop(&heap), 0);
	ck_assert_uint_eq(bt_heap_pop(&heap), 1);
	ck_assert_uint_eq(bt_heap_pop(&heap), 3);
	ck_assert_uint_eq(heap.slots.count, 0);
	bt_heap_finish(&heap);
}
END_TEST

START_TEST(test_heap__equal_items_follow_the_mechanics)
{
	/*
	 * Popping the root of [a b c d] moves d to the root, where d stays, since no item is less.
	 */
	static const uint32_t expected[] = {0, 3, 2, 1};
	struct bt_heap heap = {0};

	for (uint32_t i = 0; i < 4; i++) {
		bt_heap_push(&heap, i, 0, 0);
	}
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(bt_heap_pop(&heap), expected[i]);
	}
	bt_heap_finish(&heap);
}
END_TEST

static bool greater_item(const void *owner, uint32_t a, uint32_t b)
{
	(void)owner;
	return a > b;
}

START_TEST(test_heap__replace)
{
	struct bt_heap heap = {0};

	for (uint32_t i = 0; i < 3; i++) {
		bt_heap_push(&heap, i, i, 0);
	}
	bt_heap_replace(&heap, 0, 9, 7, 0);
	ck_assert(!bt_heap_has(&heap, 0));
	ck_assert(bt_heap_has(&heap, 9));
	ck_assert_uint_eq(bt_heap_pop(&heap), 1);
	ck_assert_uint_eq(bt_heap_pop(&heap), 2);
	ck_assert_uint_eq(bt_heap_pop(&heap), 9);
	bt_heap_finish(&heap);
}
END_TEST

START_TEST(test_heap__tie_function_decides_last)
{
	struct bt_heap heap;

	bt_heap_init(&heap, greater_item, NULL);
	bt_heap_push(&heap, 1, 0, 0);
	bt_heap_push(&heap, 2, 0, 0);
	bt_heap_push(&heap, 3, 0, 1);
	ck_assert_uint_eq(bt_heap_pop(&heap), 2);
	bt_heap_update(&heap, 3, -1, 0);
	ck_assert_uint_eq(bt_heap_pop(&heap), 3);
	bt_heap_remove(&heap, 1);
	ck_assert_uint_eq(heap.slots.count, 0);
	bt_heap_finish(&heap);
}
END_TEST

/* The rules of spec 04 section 4 word for word: a heap that swaps items of an array. */

enum { MODEL_MAX = 64 };

struct model {
	struct bt_heap_slot slots[MODEL_MAX];
	uint32_t count;
};

static bool model_less(const struct model *model, uint32_t a, uint32_t b)
{
	const struct bt_heap_slot *left = &model->slots[a];
	const struct bt_heap_slot *right = &model->slots[b];

	return left->major != right->major ? left->major < right->major
					   : left->minor < right->minor;
}

static void model_swap(struct model *model, uint32_t a, uint32_t b)
{
	struct bt_heap_slot slot = model->slots[a];

	model->slots[a] = model->slots[b];
	model->slots[b] = slot;
}

static void model_up(struct model *model, uint32_t i)
{
	while (i > 0 && model_less(model, i, (i - 1) / 2)) {
		model_swap(model, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

static bool model_down(struct model *model, uint32_t start, uint32_t count)
{
	uint32_t i = start;

	while (2 * i + 1 < count) {
		uint32_t child = 2 * i + 1;

		if (child + 1 < count && model_less(model, child + 1, child)) {
			child++;
		}
		if (!model_less(model, child, i)) {
			break;
		}
		model_swap(model, i, child);
		i = child;
	}
	return i != start;
}

static uint32_t model_pop(struct model *model)
{
	model_swap(model, 0, model->count - 1);
	(void)model_down(model, 0, model->count - 1);
	return model->slots[--model->count].item;
}

static uint32_t model_find(const struct model *model, uint32_t item)
{
	for (uint32_t i = 0; i < model->count; i++) {
		if (model->slots[i].item == item) {
			return i;
		}
	}
	return UINT32_MAX;
}

static void model_fix(struct model *model, uint32_t i)
{
	if (!model_down(model, i, model->count)) {
		model_up(model, i);
	}
}

static void model_remove(struct model *model, uint32_t i)
{
	uint32_t last = model->count - 1;

	model->count--;
	if (i != last) {
		model_swap(model, i, last);
		model_fix(model, i);
	}
}

static bool same(const struct model *model, const struct bt_heap *heap)
{
	if (model->count != heap->slots.count) {
		return false;
	}
	for (uint32_t i = 0; i < model->count; i++) {
		if (model->slots[i].item != heap->slots.items[i].item ||
			heap->positions.items[model->slots[i].item] != i) {
			return false;
		}
	}
	return true;
}

START_TEST(test_heap__random_against_swaps)
{
	struct bt_prng prng;
	struct bt_heap heap = {0};
	struct model model = {.count = 0};

	bt_prng_init(&prng, 41);
	for (int step = 0; step < 200000; step++) {
		uint32_t item = (uint32_t)bt_prng_below(&prng, MODEL_MAX);
		uint32_t at = model_find(&model, item);
		/* Few keys, so that most items are equal to others. */
		int64_t major = (int64_t)bt_prng_below(&prng, 3);
		int64_t minor = (int64_t)bt_prng_below(&prng, 3);
		uint64_t choice = bt_prng_below(&prng, 4);

		if (at == UINT32_MAX) {
			bt_heap_push(&heap, item, major, minor);
			model.slots[model.count] = (struct bt_heap_slot){major, minor, item};
			model_up(&model, model.count++);
		} else if (choice == 0) {
			bt_heap_remove(&heap, item);
			model_remove(&model, at);
		} else if (choice == 1) {
			bt_heap_update(&heap, item, major, minor);
			model.slots[at].major = major;
			model.slots[at].minor = minor;
			model_fix(&model, at);
		} else if (bt_heap_pop(&heap) != model_pop(&model)) {
			ck_abort_msg("step %d: another item popped", step);
		}
		if (!same(&model, &heap)) {
			ck_abort_msg("step %d: heaps differ", step);
		}
	}
	bt_heap_finish(&heap);
}
END_TEST

BT_TEST_MAIN("heap", test_heap__order_of_keys, test_heap__equal_items_follow_the_mechanics,
	test_heap__replace, test_heap__tie_function_decides_last, test_heap__random_against_swaps)
