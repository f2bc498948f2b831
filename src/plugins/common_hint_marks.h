/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_HINT_MARKS_H
#define BT_PLUGINS_COMMON_HINT_MARKS_H
/** Marks that several plugins want and offer (framework/hint_marks.h). */
#include "api/node.h"
#include "api/pod.h"
#include "api/selector.h"
#include "base/symbol.h"
#include "framework/hint_marks.h"

/**
 * Add to `wants` a mark for each value of one requirement with the operator In. If several
 * requirements have this operator, take the requirement whose values have the lowest reference
 * counts in the symbol table. kind: the kind of the marks. Returns false and leaves wants unchanged
 * if no requirement has the operator In.
 */
bool bt_hint_want_values(struct bt_hint_wants *wants, enum bt_hint_mark_kind kind,
	const struct bt_requirement *requirements, uint32_t count,
	const struct bt_symbol_table *symbols);
/**
 * Add marks to `wants`, so that every pod that matches the selector has at least one of these
 * marks. The marks are the values of one requirement (see bt_hint_want_values), or BT_MARK_POD if
 * no requirement has the operator In. A selector that matches nothing adds no mark.
 */
void bt_hint_want_pods(struct bt_hint_wants *wants, const struct bt_selector *selector,
	const struct bt_symbol_table *symbols);
/** Offer BT_MARK_POD and the labels of both pods. Either pod may be NULL. */
void bt_hint_offer_pods(
	struct bt_hint_offers *offers, const struct bt_pod *old_pod, const struct bt_pod *new_pod);
/** Offer BT_MARK_NODE and the keys of the labels that differ between the two versions of a node. */
void bt_hint_offer_changed_keys(struct bt_hint_offers *offers, const struct bt_node *old_node,
	const struct bt_node *new_node);
#endif
