/* SPDX-License-Identifier: Apache-2.0 */
#include "base/links.h"

#include <stdbool.h>

#include "base/prng.h"
#include "test_main.h"

#define COUNT 12
#define STEPS 3000

struct node {
	struct node *before;
	struct node *after;
	struct node *chain_before;
	struct node *chain_after;
	uint32_t index_before;
	uint32_t index_after;
};

/** The expected order of the lists; each element is in all three lists or in none. */
struct model {
	uint32_t items[COUNT];
	uint32_t count;
};

struct lists {
	struct node nodes[COUNT];
	struct node *first;
	struct node *last;
	struct node *chain;
	uint32_t index_first;
	uint32_t index_last;
};

static void check(const struct lists *lists, const struct model *model)
{
	const struct node *node = lists->first;
	const struct node *chained = lists->chain;
	uint32_t index = lists->index_first;
	for (uint32_t i = 0; i < model->count; i++) {
		ck_assert_ptr_eq(node, &lists->nodes[model->items[i]]);
		ck_assert_ptr_eq(node->before, i == 0 ? NULL : &lists->nodes[model->items[i - 1]]);
		ck_assert_uint_eq(index, model->items[i]);
		ck_assert_uint_eq(lists->nodes[index].index_before,
			i == 0 ? UINT32_MAX : model->items[i - 1]);
		/* Elements are added at the front of this list, so the list is in reverse order. */
		uint32_t opposite = model->count - 1 - i;
		ck_assert_ptr_eq(chained, &lists->nodes[model->items[opposite]]);
		ck_assert_ptr_eq(chained->chain_before,
			i == 0 ? NULL : &lists->nodes[model->items[opposite + 1]]);
		node = node->after;
		index = lists->nodes[index].index_after;
		chained = chained->chain_after;
	}
	ck_assert_ptr_null(node);
	ck_assert_ptr_null(chained);
	ck_assert_uint_eq(index, UINT32_MAX);
	uint32_t last = model->count != 0 ? model->items[model->count - 1] : UINT32_MAX;
	ck_assert_ptr_eq(lists->last, model->count != 0 ? &lists->nodes[last] : NULL);
	ck_assert_uint_eq(lists->index_last, last);
}

START_TEST(test_links__agree_with_an_array)
{
	struct lists lists = {.index_first = UINT32_MAX, .index_last = UINT32_MAX};
	struct model model = {.count = 0};
	struct bt_prng prng;
	bt_prng_init(&prng, 7);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t id = (uint32_t)bt_prng_below(&prng, COUNT);
		struct node *node = &lists.nodes[id];
		uint32_t at = 0;
		while (at < model.count && model.items[at] != id) {
			at++;
		}
		if (at == model.count) {
			model.items[model.count++] = id;
			BT_LIST_APPEND(lists.first, lists.last, node, before, after);
			BT_CHAIN_ADD(lists.chain, node, chain_before, chain_after);
			BT_INDEX_LIST_APPEND(lists.index_first, lists.index_last, lists.nodes, id,
				index_before, index_after);
		} else {
			model.count--;
			for (uint32_t i = at; i < model.count; i++) {
				model.items[i] = model.items[i + 1];
			}
			BT_LIST_REMOVE(lists.first, lists.last, node, before, after);
			BT_CHAIN_REMOVE(lists.chain, node, chain_before, chain_after);
			BT_INDEX_LIST_REMOVE(lists.index_first, lists.index_last, lists.nodes, id,
				index_before, index_after);
		}
		check(&lists, &model);
	}
}
END_TEST

/* Swapping first with last and before with after makes the macro add at the front. */
START_TEST(test_links__front)
{
	struct lists lists = {.first = NULL};
	BT_LIST_APPEND(lists.last, lists.first, &lists.nodes[0], after, before);
	BT_LIST_APPEND(lists.last, lists.first, &lists.nodes[1], after, before);
	ck_assert_ptr_eq(lists.first, &lists.nodes[1]);
	ck_assert_ptr_eq(lists.first->after, &lists.nodes[0]);
	ck_assert_ptr_eq(lists.last, &lists.nodes[0]);
	ck_assert_ptr_eq(lists.last->before, &lists.nodes[1]);
}
END_TEST

BT_TEST_MAIN("links", test_links__agree_with_an_array, test_links__front)
