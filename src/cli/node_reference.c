/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/node_reference.h"

#include "api/selector.h"

enum bt_node_reference bt_node_reference_of(struct bt_str text)
{
	if (text.length != 0 && text.data[0] == '[') {
		return BT_NODE_SELECTOR;
	}
	return bt_str_find_char(text, '*') >= 0 || bt_str_find_char(text, '?') >= 0
		? BT_NODE_PATTERN
		: BT_NODE_NAME;
}

bool bt_node_pattern_matches(struct bt_str pattern, struct bt_str name)
{
	uint32_t p = 0;
	uint32_t n = 0;
	uint32_t star = UINT32_MAX;
	uint32_t behind = 0; /* where the last star's text would end */
	while (n < name.length) {
		if (p < pattern.length && pattern.data[p] == '*') {
			star = p++;
			behind = n;
		} else if (p < pattern.length &&
			(pattern.data[p] == '?' || pattern.data[p] == name.data[n])) {
			p++;
			n++;
		} else if (star != UINT32_MAX) {
			p = star + 1;
			n = ++behind;
		} else {
			return false;
		}
	}
	while (p < pattern.length && pattern.data[p] == '*') {
		p++;
	}
	return p == pattern.length;
}

int bt_node_reference_cut(
	struct bt_str *rest, char separator, struct bt_str *out_reference, struct berth_error *err)
{
	struct bt_str text = *rest;
	if (text.length != 0 && text.data[0] == '[') {
		int64_t end = bt_str_find_char(text, ']');
		uint32_t length = end < 0 ? 0 : (uint32_t)end + 1;
		if (end < 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"the bracket of the node selector is not closed: write "
				"[key=value]");
		}
		*out_reference = bt_str_sub(text, 0, length);
		*rest = bt_str_sub(text, length, text.length);
		if (rest->length != 0 && (separator == 0 || rest->data[0] != separator)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"there is more behind the node selector than was expected");
		}
		*rest = rest->length == 0 ? (struct bt_str){NULL, 0}
					  : bt_str_sub(*rest, 1, rest->length);
		return 0;
	}
	*out_reference = text;
	if (separator != 0) {
		*out_reference = bt_str_cut(rest, separator);
	}
	if (out_reference->length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no node is named: write a name, a pattern such as 'node-a*', or a "
			"selector such as '[key=value]'");
	}
	return 0;
}

int64_t bt_node_reference_match(const struct bt_manifests *cluster, struct bt_str reference,
	bool (*is_there)(const void *context, uint32_t index), const void *context, bool *selected,
	struct berth_error *err)
{
	bool by_labels = bt_node_reference_of(reference) == BT_NODE_SELECTOR;
	struct bt_arena arena = {0};
	struct bt_selector selector;
	int64_t count = 0;
	int result = 0;
	if (by_labels) {
		result = bt_selector_parse(
			bt_str_sub(reference, 1, reference.length - 2), &arena, &selector, err);
	}
	for (uint32_t i = 0; result == 0 && i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		bool matches = object->kind == BT_KIND_NODE &&
			(is_there == NULL || is_there(context, i)) &&
			(by_labels ? bt_selector_matches(&selector, &object->object->meta->labels)
				   : bt_node_pattern_matches(reference, object->name));
		selected[i] = selected[i] || matches;
		count += matches;
	}
	bt_arena_finish(&arena);
	return result < 0 ? result : count;
}
