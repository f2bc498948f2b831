/* SPDX-License-Identifier: Apache-2.0 */
#include "api/toleration.h"

/**
 * Parses "0" or "-?[1-9][0-9]*" within int64. Like upstream, rejects any other form, so that each
 * number has only one valid text.
 */
static bool canonical_int64(struct bt_str text, int64_t *out)
{
	bool negative = text.length != 0 && text.data[0] == '-';
	struct bt_str digits = bt_str_sub(text, negative ? 1 : 0, text.length);

	if (digits.length == 0 || digits.data[0] < '0' || digits.data[0] > '9') {
		return false;
	}
	if (digits.data[0] == '0' && (digits.length > 1 || negative)) {
		return false;
	}
	return bt_str_parse_int64(text, out);
}

/**
 * Operators Lt and Gt: whether the taint's value is less (greater) than the toleration's value;
 * false if either value is not a number.
 */
static bool compare_values(
	const struct bt_toleration *toleration, const struct bt_taint *taint, bool greater)
{
	int64_t bound;
	int64_t value;

	if (!canonical_int64(toleration->value, &bound) || !canonical_int64(taint->value, &value)) {
		return false;
	}
	return greater ? value > bound : value < bound;
}

bool bt_toleration_tolerates(
	const struct bt_toleration *toleration, const struct bt_taint *taint, bool allow_comparison)
{
	struct bt_str operator_ = toleration->operator_;

	if (toleration->effect.length != 0 && !bt_str_equal(toleration->effect, taint->effect)) {
		return false;
	}
	if (toleration->key.length != 0 && !bt_str_equal(toleration->key, taint->key)) {
		return false;
	}
	if (operator_.length == 0 || bt_str_equal(operator_, BT_STR("Equal"))) {
		return bt_str_equal(toleration->value, taint->value);
	}
	if (bt_str_equal(operator_, BT_STR("Exists"))) {
		return true;
	}
	if (allow_comparison && bt_str_equal(operator_, BT_STR("Lt"))) {
		return compare_values(toleration, taint, false);
	}
	if (allow_comparison && bt_str_equal(operator_, BT_STR("Gt"))) {
		return compare_values(toleration, taint, true);
	}
	return false;
}

bool bt_tolerations_tolerate(
	const bt_toleration_list *tolerations, const struct bt_taint *taint, bool allow_comparison)
{
	for (uint32_t i = 0; i < tolerations->count; i++) {
		if (bt_toleration_tolerates(&tolerations->items[i], taint, allow_comparison)) {
			return true;
		}
	}
	return false;
}

bool bt_taint_in_filter(const struct bt_taint *taint, enum bt_taint_filter filter)
{
	switch (filter) {
	case BT_TAINT_HARD:
		return bt_str_equal(taint->effect, BT_STR("NoSchedule")) ||
			bt_str_equal(taint->effect, BT_STR("NoExecute"));
	case BT_TAINT_SOFT:
		return bt_str_equal(taint->effect, BT_STR("PreferNoSchedule"));
	}
	return false;
}

const struct bt_taint *bt_find_untolerated_taint(const bt_taint_list *taints,
	const bt_toleration_list *tolerations, enum bt_taint_filter filter, bool allow_comparison)
{
	for (uint32_t i = 0; i < taints->count; i++) {
		const struct bt_taint *taint = &taints->items[i];

		if (bt_taint_in_filter(taint, filter) &&
			!bt_tolerations_tolerate(tolerations, taint, allow_comparison)) {
			return taint;
		}
	}
	return NULL;
}

void bt_taint_format(const struct bt_taint *taint, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, taint->key);
	if (taint->value.length != 0) {
		bt_strbuf_append_char(out, '=');
		bt_strbuf_append_str(out, taint->value);
	}
	if (taint->effect.length != 0) {
		bt_strbuf_append_char(out, ':');
		bt_strbuf_append_str(out, taint->effect);
	} else if (taint->value.length != 0) {
		bt_strbuf_append_char(out, ':');
	}
}

int64_t bt_tolerated_seconds(const bt_taint_list *taints, const bt_toleration_list *tolerations)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < taints->count; i++) {
		const struct bt_taint *taint = &taints->items[i];
		bool tolerated = false;

		if (!bt_str_equal_c(taint->effect, "NoExecute")) {
			continue;
		}
		/* as upstream, the shortest time of all matching tolerations counts */
		for (uint32_t j = 0; j < tolerations->count; j++) {
			const struct bt_toleration *toleration = &tolerations->items[j];
			if (!bt_toleration_tolerates(toleration, taint, true)) {
				continue;
			}
			tolerated = true;
			if (toleration->toleration_seconds.present &&
				toleration->toleration_seconds.value < least) {
				least = toleration->toleration_seconds.value;
			}
		}
		if (!tolerated) {
			return 0;
		}
	}
	return least < 0 ? 0 : least;
}
