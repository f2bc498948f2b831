/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "plugins/common_sign.h"

/* A requirement for the signature: its values are a set. */
static struct bt_str sign_requirement(
	const struct bt_node_selector_requirement *requirement, struct bt_arena *arena)
{
	struct bt_str *values = BT_ARENA_NEW_ARRAY(arena, struct bt_str, requirement->values.count);
	struct bt_strbuf text = {0};
	struct bt_str result;

	for (uint32_t i = 0; i < requirement->values.count; i++) {
		values[i] = requirement->values.items[i];
	}
	bt_sign_write_str(&text, requirement->key);
	bt_sign_write_str(&text, requirement->operator_);
	bt_sign_write_sorted(&text, values, requirement->values.count, false);
	result = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

static void sign_requirements(const struct bt_node_selector_requirement *requirements,
	uint32_t count, struct bt_arena *arena, struct bt_strbuf *out)
{
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		texts[i] = sign_requirement(&requirements[i], arena);
	}
	bt_sign_write_sorted(out, texts, count, false);
}

static struct bt_str sign_term(
	const struct bt_node_selector_term *term, int32_t weight, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	struct bt_str result;

	bt_strbuf_printf(&text, "%" PRId32, weight);
	sign_requirements(
		term->match_expressions.items, term->match_expressions.count, arena, &text);
	sign_requirements(term->match_fields.items, term->match_fields.count, arena, &text);
	result = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

static void write_node_affinity(
	const struct bt_node_affinity *affinity, struct bt_arena *arena, struct bt_strbuf *out)
{
	const struct bt_node_selector *required = affinity->required;
	uint32_t count = required != NULL ? required->terms.count : 0;
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		texts[i] = sign_term(&required->terms.items[i], 0, arena);
	}
	bt_strbuf_append_c(out, required != NULL ? "required" : "none");
	bt_sign_write_sorted(out, texts, count, false);
	count = affinity->preferred.count;
	texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);
	for (uint32_t i = 0; i < count; i++) {
		texts[i] = sign_term(&affinity->preferred.items[i].preference,
			affinity->preferred.items[i].weight, arena);
	}
	bt_strbuf_append_c(out, affinity->preferred.present ? "preferred" : "none");
	bt_sign_write_sorted(out, texts, count, false);
}

void bt_sign_node_affinity(const struct bt_pod_spec *spec, struct bt_sign_fragments *out)
{
	const struct bt_node_affinity *affinity =
		spec->affinity != NULL ? spec->affinity->node_affinity : NULL;
	struct bt_strbuf value = {0};

	if (affinity != NULL) {
		write_node_affinity(affinity, out->arena, &value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.Affinity.NodeAffinity"), &value);
	bt_strbuf_reset(&value);
	bt_strbuf_append_char(&value, spec->node_selector.present ? '{' : '-');
	for (uint32_t i = 0; i < spec->node_selector.count; i++) {
		bt_sign_write_str(&value, spec->node_selector.items[i].key);
		bt_sign_write_str(&value, spec->node_selector.items[i].value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.Affinity.NodeSelector"), &value);
	bt_strbuf_finish(&value);
}
