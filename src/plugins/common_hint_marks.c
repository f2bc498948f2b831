/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_hint_marks.h"

static const struct bt_str no_text = {0};

bool bt_hint_want_values(struct bt_hint_wants *wants, enum bt_hint_mark_kind kind,
	const struct bt_requirement *requirements, uint32_t count,
	const struct bt_symbol_table *symbols)
{
	const struct bt_requirement *rarest = NULL;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_requirement *requirement = &requirements[i];
		/*
		 * An estimate of how many nodes or pods have one of the values, by the reference
		 * counts of the symbols.
		 */
		uint64_t uses = requirement->value_count;

		if (requirement->operator_ != BT_SELECTOR_IN) {
			continue;
		}
		for (uint32_t k = 0; k < requirement->value_count; k++) {
			bt_sym symbol = bt_symbol_find(symbols, requirement->values[k]);

			if (!bt_sym_is_none(symbol)) {
				uses += symbols->entries.items[symbol.id].ref_count;
			}
		}
		rarest = uses < least ? requirement : rarest;
		least = uses < least ? uses : least;
	}
	for (uint32_t i = 0; rarest != NULL && i < rarest->value_count; i++) {
		bt_hint_want(wants, bt_hint_mark(kind, rarest->key, rarest->values[i]));
	}
	return rarest != NULL;
}

void bt_hint_want_pods(struct bt_hint_wants *wants, const struct bt_selector *selector,
	const struct bt_symbol_table *symbols)
{
	if (!selector->nothing &&
		!bt_hint_want_values(wants, BT_MARK_POD_LABEL, selector->requirements,
			selector->requirement_count, symbols)) {
		bt_hint_want(wants, bt_hint_mark(BT_MARK_POD, no_text, no_text));
	}
}

static void offer_pod(struct bt_hint_offers *offers, const struct bt_pod *pod)
{
	for (uint32_t i = 0; pod != NULL && i < pod->metadata.labels.count; i++) {
		const struct bt_str_pair *label = &pod->metadata.labels.items[i];

		bt_hint_offer(offers, bt_hint_mark(BT_MARK_POD_LABEL, label->key, label->value));
	}
}

void bt_hint_offer_pods(
	struct bt_hint_offers *offers, const struct bt_pod *old_pod, const struct bt_pod *new_pod)
{
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_POD, no_text, no_text));
	offer_pod(offers, old_pod);
	offer_pod(offers, new_pod);
}

/** Offer the keys of labels that the other map lacks or has with another value. */
static void offer_keys(struct bt_hint_offers *offers, const struct bt_str_map *labels,
	const struct bt_str_map *other)
{
	for (uint32_t i = 0; i < labels->count; i++) {
		const struct bt_str *value = bt_str_map_find(other, labels->items[i].key);

		if (value == NULL || !bt_str_equal(*value, labels->items[i].value)) {
			bt_hint_offer(offers,
				bt_hint_mark(BT_MARK_NODE_KEY, labels->items[i].key, no_text));
		}
	}
}

void bt_hint_offer_changed_keys(struct bt_hint_offers *offers, const struct bt_node *old_node,
	const struct bt_node *new_node)
{
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_NODE, no_text, no_text));
	offer_keys(offers, &old_node->metadata.labels, &new_node->metadata.labels);
	offer_keys(offers, &new_node->metadata.labels, &old_node->metadata.labels);
}
