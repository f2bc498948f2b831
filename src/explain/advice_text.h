/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_ADVICE_TEXT_H
#define BT_EXPLAIN_ADVICE_TEXT_H
/** What several advisers ask or say alike: domains, selectors, pods. For the files of the advice
 * only. */
#include "api/selector.h"
#include "explain/advice.h"

/** "zone-a"; lives as long as the advice. domain: not 0. */
struct bt_str bt_advice_domain_name(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/** The same for people: "zone-a", "rack 7" when the value does not say what it is. */
struct bt_str bt_advice_domain_text(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/** "app=db,tier in (a,b)", cut when it is long. */
struct bt_str bt_advice_selector_text(struct bt_advice *advice, const struct bt_selector *selector);
/** "shop/db-0" of a pod of the cache. */
struct bt_str bt_advice_pod_text(struct bt_advice *advice, uint32_t pod_id);

/** One of the reasons of the status. */
bool bt_advice_has_reason(const struct bt_advice *advice, enum bt_reason reason);
/** The plugin alone, in a cycle of its own; node NULL: its PreFilter. */
bool bt_advice_accepts(const struct bt_advice *advice, const struct bt_pod_info *pod,
	const struct bt_node_info *node);
/** A text that users wrote, as one line, cut when it is longer than bytes_max. */
struct bt_str bt_advice_cut_text(struct bt_arena *arena, struct bt_str text, uint32_t bytes_max);

/* Remedies that are not there yet; distance follows. */

void bt_advice_set_label(struct bt_advice *advice, struct bt_str key, struct bt_str value);
/** The pod gives something up: of the remedies, and of those that change the pod alone. */
void bt_advice_give_up(struct bt_advice *advice, const struct bt_remedy *remedy);
/** At the end: possible says whether the pod alone could be changed. */
void bt_advice_close_pod_remedies(struct bt_advice *advice, bool possible);
/** A pod of the cache leaves its node. */
void bt_advice_remove_pod(struct bt_advice *advice, uint32_t pod_id);

/* advice_affinity.c */
void bt_advise_pod_affinity(struct bt_advice *advice);

/* advice_node_labels.c */
void bt_advise_node_affinity(struct bt_advice *advice);
#endif
