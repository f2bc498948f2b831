/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_sign.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/resources.h"
#include "api/types.h"
#include "codec/json.h"
#include "codec/message.h"
#include "dra/dra.h"
#include "plugins/common_plugin.h"
#include "plugins/common_resource_score.h"

void bt_sign_write_str(struct bt_strbuf *out, struct bt_str text)
{
	if (text.data == NULL) {
		bt_strbuf_append_char(out, '-');
		return;
	}
	bt_strbuf_printf(out, "%" PRIu32 ":", text.length);
	bt_strbuf_append_str(out, text);
}

void bt_sign_write_sorted(
	struct bt_strbuf *out, struct bt_str *texts, uint32_t count, bool distinct)
{
	if (count > 1) {
		qsort(texts, count, sizeof(*texts), bt_str_compare_qsort);
	}
	bt_strbuf_append_char(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		if (distinct && i > 0 && bt_str_equal(texts[i], texts[i - 1])) {
			continue;
		}
		bt_sign_write_str(out, texts[i]);
	}
	bt_strbuf_append_char(out, ']');
}

void bt_sign_add(struct bt_sign_fragments *fragments, struct bt_str key, struct bt_strbuf *value)
{
	struct bt_sign_fragment fragment = {
		.key = key,
		.value = bt_arena_take_strbuf(fragments->arena, value),
	};

	bt_vec_push(&fragments->items, fragment);
}

/*
 * Order by key and value, as upstream; effect and operator break ties, so that lists with the same
 * tolerations are written alike. Tolerations that differ only in tolerationSeconds keep their
 * order: equal pods may get different signatures, but different pods never get the same.
 */
BT_COMPARE(compare_tolerations, struct bt_toleration *const,
	BT_ORDER_BY(bt_str_compare((*a)->key, (*b)->key), bt_str_compare((*a)->value, (*b)->value),
		bt_str_compare((*a)->effect, (*b)->effect),
		bt_str_compare((*a)->operator_, (*b)->operator_)))

struct bt_status bt_sign_tolerations(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, struct bt_sign_fragments *fragments)
{
	const bt_toleration_list *list = &bt_plugin_pod_spec(pod)->tolerations;
	const struct bt_toleration **sorted =
		BT_ARENA_NEW_ARRAY(fragments->arena, const struct bt_toleration *, list->count);
	struct bt_strbuf value = {0};

	for (uint32_t i = 0; i < list->count; i++) {
		sorted[i] = &list->items[i];
	}
	if (list->count > 1) {
		qsort(sorted, list->count, sizeof(const struct bt_toleration *),
			compare_tolerations);
	}
	for (uint32_t i = 0; i < list->count; i++) {
		bt_sign_write_str(&value, sorted[i]->key);
		bt_sign_write_str(&value, sorted[i]->operator_);
		bt_sign_write_str(&value, sorted[i]->value);
		bt_sign_write_str(&value, sorted[i]->effect);
		if (sorted[i]->toleration_seconds.present) {
			bt_strbuf_printf(&value, "s%" PRId64, sorted[i]->toleration_seconds.value);
		}
		bt_strbuf_append_char(&value, ';');
	}
	bt_sign_add(fragments, BT_STR("v1.Pod.Spec.Tolerations"), &value);
	return BT_STATUS_OK;
}

struct bt_status bt_sign_requests(struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct bt_sign_fragments *fragments)
{
	struct bt_resource_gates gates = bt_resource_gates_of(bt_plugin_handle(plugin)->gates);
	struct bt_resource request =
		bt_pod_fit_request(bt_shape_pod(pod->shape), &gates, fragments->arena);
	struct bt_strbuf value = {0};

	if (bt_plugin_gate(plugin, BT_GATE_DRA_EXTENDED_RESOURCE)) {
		for (uint32_t i = 0; i < request.scalar_count; i++) {
			if (request.scalars[i].value != 0 &&
				bt_dra_class_of(bt_plugin_handle(plugin)->state,
					request.scalars[i].name) != NULL) {
				return bt_status_reason(
					BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DRA_EXTENDED);
			}
		}
	}
	bt_strbuf_printf(&value, "%" PRId64 ",%" PRId64 ",%" PRId64, request.cpu_milli,
		request.memory_bytes, request.ephemeral_storage_bytes);
	for (uint32_t i = 0; i < request.scalar_count; i++) {
		bt_sign_write_str(&value, request.scalars[i].name);
		bt_strbuf_printf(&value, "=%" PRId64 ";", request.scalars[i].value);
	}
	bt_sign_add(fragments, BT_STR("v1.Pod.Spec.ContainerRequestsAndOverheads()"), &value);
	return BT_STATUS_OK;
}

struct bt_status bt_sign_volume_plugin(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_pod_info *pod, struct bt_sign_fragments *out)
{
	/* Write all volumes except configMap and secret volumes. */
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(out->arena, struct bt_str, spec->volumes.count);
	struct bt_strbuf value = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		struct bt_volume volume = spec->volumes.items[i];
		struct bt_json_writer writer;

		if (volume.config_map != NULL || volume.secret != NULL) {
			continue;
		}
		volume.name = (struct bt_str){0};
		bt_strbuf_reset(&value);
		bt_json_writer_init(&writer, &value, 0);
		bt_message_encode_json(&bt_volume_message, &writer, &volume);
		texts[count++] = bt_arena_str(out->arena, bt_strbuf_str(&value));
	}
	bt_strbuf_reset(&value);
	bt_sign_write_sorted(&value, texts, count, false);
	bt_sign_add(out, BT_STR("v1.Pod.Spec.Volumes.NonSyntheticSources()"), &value);
	return BT_STATUS_OK;
}

/* Write requirements sorted, each with its values sorted. */
static void sign_requirements(const struct bt_node_selector_requirement *requirements,
	uint32_t count, struct bt_arena *arena, struct bt_strbuf *out)
{
	struct bt_str *texts = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_node_selector_requirement *requirement = &requirements[i];
		struct bt_str *values = bt_arena_copy_array(arena, requirement->values.items,
			requirement->values.count, 0, sizeof(*values));
		struct bt_strbuf text = {0};

		bt_sign_write_str(&text, requirement->key);
		bt_sign_write_str(&text, requirement->operator_);
		bt_sign_write_sorted(&text, values, requirement->values.count, false);
		texts[i] = bt_arena_take_strbuf(arena, &text);
	}
	bt_sign_write_sorted(out, texts, count, false);
}

static struct bt_str sign_term(
	const struct bt_node_selector_term *term, int32_t weight, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "%" PRId32, weight);
	sign_requirements(
		term->match_expressions.items, term->match_expressions.count, arena, &text);
	sign_requirements(term->match_fields.items, term->match_fields.count, arena, &text);
	return bt_arena_take_strbuf(arena, &text);
}

void bt_sign_node_affinity(const struct bt_pod_spec *spec, struct bt_sign_fragments *out)
{
	const struct bt_node_affinity *affinity =
		spec->affinity != NULL ? spec->affinity->node_affinity : NULL;
	struct bt_strbuf value = {0};

	if (affinity != NULL) {
		const struct bt_node_selector *required = affinity->required;
		uint32_t count = required != NULL ? required->terms.count : 0;
		struct bt_str *texts = BT_ARENA_NEW_ARRAY(out->arena, struct bt_str, count);

		for (uint32_t i = 0; i < count; i++) {
			texts[i] = sign_term(&required->terms.items[i], 0, out->arena);
		}
		bt_strbuf_append_c(&value, required != NULL ? "required" : "none");
		bt_sign_write_sorted(&value, texts, count, false);
		count = affinity->preferred.count;
		texts = BT_ARENA_NEW_ARRAY(out->arena, struct bt_str, count);
		for (uint32_t i = 0; i < count; i++) {
			texts[i] = sign_term(&affinity->preferred.items[i].preference,
				affinity->preferred.items[i].weight, out->arena);
		}
		bt_strbuf_append_c(&value, affinity->preferred.present ? "preferred" : "none");
		bt_sign_write_sorted(&value, texts, count, false);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.Affinity.NodeAffinity"), &value);
	bt_strbuf_append_char(&value, spec->node_selector.present ? '{' : '-');
	for (uint32_t i = 0; i < spec->node_selector.count; i++) {
		bt_sign_write_str(&value, spec->node_selector.items[i].key);
		bt_sign_write_str(&value, spec->node_selector.items[i].value);
	}
	bt_sign_add(out, BT_STR("v1.Pod.Spec.Affinity.NodeSelector"), &value);
}
