/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CEL_PRINT_TREE_H
#define BT_TESTS_UNIT_CEL_PRINT_TREE_H
/**
 * A tree as text: a+b is "(_+_ a b)", t.f(x) "(t:f x)", a.b "(. a b)", a.?b "(.? a b)", has(a.b)
 * "(has a b)"; a macro is "<map x (range) (condition or -) (result or -)>".
 */
#include "cel/ast.h"

void bt_cel_print_tree(const struct bt_cel_node *node, struct bt_strbuf *out);
#endif
