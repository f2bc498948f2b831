/* SPDX-License-Identifier: Apache-2.0 */
/* The zone tree: spec 03b section 6. */
#include "state/state.h"

#include "test_main.h"

struct tree {
	struct bt_symbol_table symbols;
	struct bt_node_order order;
	bt_sym a;
	bt_sym b;
	bt_sym c;
};

static void tree_init(struct tree *tree)
{
	bt_symbol_table_init(&tree->symbols);
	tree->order = (struct bt_node_order){.symbols = &tree->symbols};
	tree->a = bt_symbol_ref_str(&tree->symbols, BT_STR("A"));
	tree->b = bt_symbol_ref_str(&tree->symbols, BT_STR("B"));
	tree->c = bt_symbol_ref_str(&tree->symbols, BT_STR("C"));
}

static void tree_finish(struct tree *tree)
{
	bt_node_order_finish(&tree->order);
	bt_symbol_unref(&tree->symbols, tree->a);
	bt_symbol_unref(&tree->symbols, tree->b);
	bt_symbol_unref(&tree->symbols, tree->c);
	ck_assert_uint_eq(tree->symbols.map.count, 0);
	bt_symbol_table_finish(&tree->symbols);
}

static void check_list(const struct tree *tree, const uint32_t *expected, uint32_t count)
{
	uint32_t slots[16];

	ck_assert_uint_eq(tree->order.count, count);
	bt_node_order_list(&tree->order, slots);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_msg(slots[i] == expected[i], "position %u: %u, expected %u", i, slots[i],
			expected[i]);
	}
}

#define check_order(tree, ...) \
	do { \
		static const uint32_t expected_[] = {__VA_ARGS__}; \
		check_list((tree), expected_, sizeof(expected_) / sizeof(expected_[0])); \
	} while (0)

START_TEST(test_node_order__round_robin)
{
	struct tree t;

	tree_init(&t);
	check_list(&t, NULL, 0);
	bt_node_order_append(&t.order, 1, t.a);
	bt_node_order_append(&t.order, 2, t.a);
	bt_node_order_append(&t.order, 3, t.a);
	bt_node_order_append(&t.order, 4, t.b);
	bt_node_order_append(&t.order, 5, t.c);
	bt_node_order_append(&t.order, 6, t.c);
	check_order(&t, 1, 4, 5, 2, 6, 3);
	tree_finish(&t);
}
END_TEST

START_TEST(test_node_order__edge_03b_23_long_zone_first)
{
	struct tree t;

	tree_init(&t);
	bt_node_order_append(&t.order, 2, t.a);
	bt_node_order_append(&t.order, 3, t.a);
	bt_node_order_append(&t.order, 4, t.a);
	bt_node_order_append(&t.order, 0, t.b);
	check_order(&t, 2, 0, 3, 4);
	tree_finish(&t);
}
END_TEST

START_TEST(test_node_order__edge_03b_25_empty_zone_goes_to_the_end)
{
	struct tree t;
	int result;

	tree_init(&t);
	bt_node_order_append(&t.order, 1, t.a);
	bt_node_order_append(&t.order, 2, t.b);
	bt_node_order_append(&t.order, 3, t.b);
	result = bt_node_order_remove(&t.order, 1, t.a, BT_STR("n1"), NULL);
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(t.order.zones.count, 1);
	bt_node_order_append(&t.order, 1, t.a);
	check_order(&t, 2, 1, 3);
	tree_finish(&t);
}
END_TEST

START_TEST(test_node_order__remove_keeps_the_order_of_the_rest)
{
	struct tree t;
	int result;

	tree_init(&t);
	bt_node_order_append(&t.order, 1, t.a);
	bt_node_order_append(&t.order, 2, t.a);
	bt_node_order_append(&t.order, 3, t.a);
	result = bt_node_order_remove(&t.order, 1, t.a, BT_STR("n1"), NULL);
	ck_assert_int_eq(result, 0);
	check_order(&t, 2, 3);
	tree_finish(&t);
}
END_TEST

START_TEST(test_node_order__remove_unknown)
{
	struct tree t;
	struct berth_error err = BERTH_ERROR_INIT;
	int result;

	tree_init(&t);
	bt_node_order_append(&t.order, 1, t.a);
	result = bt_node_order_remove(&t.order, 1, t.b, BT_STR("n1"), &err);
	ck_assert_int_eq(result, BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "node \"n1\" in group \"B\" was not found");
	berth_error_finish(&err);
	check_order(&t, 1);
	tree_finish(&t);
}
END_TEST

BT_TEST_MAIN("node_order", test_node_order__round_robin,
	test_node_order__edge_03b_23_long_zone_first,
	test_node_order__edge_03b_25_empty_zone_goes_to_the_end,
	test_node_order__remove_keeps_the_order_of_the_rest, test_node_order__remove_unknown)
