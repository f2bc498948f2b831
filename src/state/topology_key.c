/* SPDX-License-Identifier: Apache-2.0 */
#include "state/topology_key.h"

void bt_key_append_u32(struct bt_strbuf *key, uint32_t value)
{
	bt_strbuf_append(key, &value, sizeof(value));
}

void bt_key_append_str(struct bt_strbuf *key, struct bt_str text)
{
	bt_key_append_u32(key, text.length);
	bt_strbuf_append_str(key, text);
}

static void append_strs(struct bt_strbuf *key, const struct bt_str *texts, uint32_t count)
{
	bt_key_append_u32(key, count);
	for (uint32_t i = 0; i < count; i++) {
		bt_key_append_str(key, texts[i]);
	}
}

void bt_key_append_selector(struct bt_strbuf *key, const struct bt_selector *selector)
{
	bt_key_append_u32(key, selector->nothing);
	bt_key_append_u32(key, selector->requirement_count);
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		const struct bt_requirement *requirement = &selector->requirements[i];

		bt_key_append_str(key, requirement->key);
		bt_key_append_u32(key, requirement->operator_);
		append_strs(key, requirement->values, requirement->value_count);
	}
}

static void append_node_requirement(
	struct bt_strbuf *key, const struct bt_node_selector_requirement *requirement)
{
	bt_key_append_str(key, requirement->key);
	bt_key_append_str(key, requirement->operator_);
	append_strs(key, requirement->values.items, requirement->values.count);
}

void bt_key_append_node_affinity(struct bt_strbuf *key, const struct bt_pod_spec *spec)
{
	const struct bt_node_selector *required =
		spec->affinity != NULL && spec->affinity->node_affinity != NULL
		? spec->affinity->node_affinity->required
		: NULL;

	bt_key_append_u32(key, spec->node_selector.count);
	for (uint32_t i = 0; i < spec->node_selector.count; i++) {
		bt_key_append_str(key, spec->node_selector.items[i].key);
		bt_key_append_str(key, spec->node_selector.items[i].value);
	}
	bt_key_append_u32(key, required != NULL);
	for (uint32_t i = 0; required != NULL && i < required->terms.count; i++) {
		const struct bt_node_selector_term *term = &required->terms.items[i];
		bt_key_append_u32(key, term->match_expressions.count);
		for (uint32_t k = 0; k < term->match_expressions.count; k++) {
			append_node_requirement(key, &term->match_expressions.items[k]);
		}
		bt_key_append_u32(key, term->match_fields.count);
		for (uint32_t k = 0; k < term->match_fields.count; k++) {
			append_node_requirement(key, &term->match_fields.items[k]);
		}
	}
}

void bt_key_append_tolerations(struct bt_strbuf *key, const bt_toleration_list *tolerations)
{
	bt_key_append_u32(key, tolerations->count);
	for (uint32_t i = 0; i < tolerations->count; i++) {
		const struct bt_toleration *toleration = &tolerations->items[i];

		bt_key_append_str(key, toleration->key);
		bt_key_append_str(key, toleration->operator_);
		bt_key_append_str(key, toleration->value);
		bt_key_append_str(key, toleration->effect);
	}
}

struct bt_str *bt_str_array_copy(const struct bt_str *texts, uint32_t count, struct bt_arena *arena)
{
	struct bt_str *copy = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		copy[i] = bt_arena_str(arena, texts[i]);
	}
	return copy;
}

struct bt_selector bt_selector_copy(const struct bt_selector *selector, struct bt_arena *arena)
{
	struct bt_selector copy = *selector;
	struct bt_requirement *requirements =
		BT_ARENA_NEW_ARRAY(arena, struct bt_requirement, selector->requirement_count);

	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		const struct bt_requirement *source = &selector->requirements[i];

		requirements[i] = *source;
		requirements[i].key = bt_arena_str(arena, source->key);
		requirements[i].values =
			bt_str_array_copy(source->values, source->value_count, arena);
	}
	copy.requirements = requirements;
	return copy;
}
