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
 * Want the labels that one of the requirements needs: the requirement whose values are rarest, by
 * the reference counts of their symbols. Returns false if no requirement names values; wants is
 * then unchanged.
 */
bool bt_hint_want_values(struct bt_hint_wants *wants, enum bt_hint_mark_kind kind,
	const struct bt_requirement *requirements, uint32_t count,
	const struct bt_symbol_table *symbols);
/** Want the labels of pods that the selector matches. */
void bt_hint_want_pods(struct bt_hint_wants *wants, const struct bt_selector *selector,
	const struct bt_symbol_table *symbols);
/** Offer BT_MARK_POD and the labels of both pods. A pod may be NULL. */
void bt_hint_offer_pods(
	struct bt_hint_offers *offers, const struct bt_pod *old_pod, const struct bt_pod *new_pod);
/** Offer BT_MARK_NODE and the keys of the labels that differ. */
void bt_hint_offer_changed_keys(struct bt_hint_offers *offers, const struct bt_node *old_node,
	const struct bt_node *new_node);
#endif
