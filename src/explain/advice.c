/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/advice.h"

#include "base/strbuf.h"
#include "base/unicode.h"
#include "plugins/common_plugin.h"

/** Limit of a selector's text in bytes. */
#define SELECTOR_BYTES_MAX 80

struct bt_str bt_advice_domain_name(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain)
{
	return bt_arena_str(advice->arena,
		bt_symbol_text(&advice->engine->state->symbols, column->dictionary.items[domain]));
}

struct bt_str bt_advice_domain_text(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain)
{
	struct bt_str key = bt_symbol_text(&advice->engine->state->symbols, column->key);
	struct bt_str value = bt_advice_domain_name(advice, column, domain);
	int64_t slash = bt_str_find_last_char(key, '/');
	struct bt_str what = bt_str_sub(key, (uint32_t)(slash + 1), key.length);

	if (bt_str_equal_c(what, "hostname") || bt_str_find(value, what) >= 0) {
		return value;
	}
	return bt_arena_printf(advice->arena, "%.*s %.*s", BT_STR_ARG(what), BT_STR_ARG(value));
}

static void append_values(struct bt_strbuf *out, const struct bt_requirement *requirement)
{
	bt_strbuf_append_char(out, '(');
	for (uint32_t i = 0; i < requirement->value_count && out->length <= SELECTOR_BYTES_MAX;
		i++) {
		bt_text_append(out, "%c%s", i != 0 ? "," : "", requirement->values[i]);
	}
	bt_strbuf_append_char(out, ')');
}

/**
 * Moves the text to the arena. A text of more than bytes_max bytes is cut between two characters
 * and ends with "...".
 */
static struct bt_str cut_text(struct bt_arena *arena, struct bt_strbuf *text, uint32_t bytes_max)
{
	if (text->length <= bytes_max) {
		return bt_arena_take_strbuf(arena, text);
	}
	struct bt_str cut = bt_arena_printf(
		arena, "%.*s...", (int)bt_utf8_cut(text->data, bytes_max), text->data);
	bt_strbuf_finish(text);
	return cut;
}

struct bt_str bt_advice_selector_text(struct bt_advice *advice, const struct bt_selector *selector)
{
	struct bt_strbuf text = {0};

	if (selector->nothing) {
		return BT_STR("no pod at all");
	}
	if (selector->requirement_count == 0) {
		return BT_STR("every pod");
	}
	for (uint32_t i = 0; i < selector->requirement_count && text.length <= SELECTOR_BYTES_MAX;
		i++) {
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		const struct bt_requirement *requirement = &selector->requirements[i];
		bool excludes = requirement->operator_ == BT_SELECTOR_DOES_NOT_EXIST;

		bt_text_append(&text, "%c%s", excludes ? "!" : "", requirement->key);
		switch (requirement->operator_) {
		case BT_SELECTOR_IN:
			if (requirement->value_count == 1) {
				bt_text_append(&text, "=%s", requirement->values[0]);
				break;
			}
			bt_strbuf_append_c(&text, " in ");
			append_values(&text, requirement);
			break;
		case BT_SELECTOR_NOT_IN:
			bt_strbuf_append_c(&text, " notin ");
			append_values(&text, requirement);
			break;
		case BT_SELECTOR_GT:
			bt_text_append(&text, ">%d", requirement->operand);
			break;
		case BT_SELECTOR_LT:
			bt_text_append(&text, "<%d", requirement->operand);
			break;
		case BT_SELECTOR_EXISTS:
		case BT_SELECTOR_DOES_NOT_EXIST:
			break;
		}
	}
	return cut_text(advice->arena, &text, SELECTOR_BYTES_MAX);
}

bool bt_advice_has_reason(const struct bt_advice *advice, enum bt_reason reason)
{
	uint32_t count = bt_status_all_reason_count(advice->status);

	for (uint32_t i = 0; i < count; i++) {
		if (bt_str_equal(
			    bt_status_all_reason_at(advice->status, i), bt_reason_texts[reason])) {
			return true;
		}
	}
	return false;
}

bool bt_advice_accepts(const struct bt_advice *advice, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_plugin *plugin = (struct bt_plugin *)(uintptr_t)advice->plugin;
	struct bt_pre_filter_result narrowed = {0};
	struct bt_cycle_state cycle;
	struct bt_arena arena = {0};
	struct bt_status status = BT_STATUS_OK;

	bt_cycle_state_init(&cycle, &arena, advice->cycle->plugin_count);
	if (plugin->ops->pre_filter != NULL) {
		status = plugin->ops->pre_filter(plugin, &cycle, pod, &narrowed);
	}
	if ((status.code == BT_STATUS_SUCCESS) && node != NULL && plugin->ops->filter != NULL) {
		status = plugin->ops->filter(plugin, &cycle, pod, node);
	}
	bt_cycle_state_finish(&cycle);
	bt_arena_finish(&arena);
	return status.code == BT_STATUS_SUCCESS || status.code == BT_STATUS_SKIP;
}

struct bt_str bt_advice_cut_text(struct bt_arena *arena, struct bt_str text, uint32_t bytes_max)
{
	struct bt_strbuf line = {0};
	bool space = false;

	for (uint32_t i = 0; i < text.length && line.length <= bytes_max; i++) {
		bool is_space = text.data[i] == ' ' || text.data[i] == '\n' ||
			text.data[i] == '\t' || text.data[i] == '\r';

		if (!is_space) {
			bt_strbuf_append_c(&line, space && line.length != 0 ? " " : "");
			bt_strbuf_append_char(&line, text.data[i]);
		}
		space = is_space;
	}
	return cut_text(arena, &line, bytes_max);
}

struct bt_str bt_advice_pod_text(struct bt_advice *advice, uint32_t pod_id)
{
	struct bt_pod_info pod;

	bt_pod_info_from_record(advice->engine->state, pod_id, &pod);
	return bt_arena_printf(
		advice->arena, "%.*s/%.*s", BT_STR_ARG(pod.namespace_), BT_STR_ARG(pod.name));
}

void bt_advice_set_label(struct bt_advice *advice, struct bt_str key, struct bt_str value)
{
	struct bt_remedy remedy = {.kind = BT_REMEDY_SET_LABEL,
		.node = bt_arena_str(advice->arena, bt_node_info_name(advice->node)),
		.key = bt_arena_str(advice->arena, key),
		.value = bt_arena_str(advice->arena, value)};

	if (bt_advice_add(advice, &remedy)) {
		advice->distance += 0.1;
	}
}

bool bt_advice_is_removable(const struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_info pod;

	bt_pod_info_from_record(state, pod_id, &pod);
	const struct bt_affinity *affinity = bt_plugin_pod_spec(&pod)->affinity;
	const struct bt_node_selector *required =
		affinity != NULL && affinity->node_affinity != NULL
		? affinity->node_affinity->required
		: NULL;

	return !state->pods.records.items[pod_id].mirror &&
		(required == NULL || required->terms.count != 1 ||
			required->terms.items[0].match_fields.count != 1 ||
			!bt_str_equal_c(required->terms.items[0].match_fields.items[0].key,
				"metadata.name"));
}

void bt_advice_remove_pod(struct bt_advice *advice, uint32_t pod_id)
{
	struct bt_state *state = advice->engine->state;
	struct bt_remedy remedy = {.kind = BT_REMEDY_REMOVE_POD};
	struct bt_pod_info pod;

	if (!bt_advice_is_removable(state, pod_id)) {
		advice->is_final = true;
		return;
	}
	bt_pod_info_from_record(state, pod_id, &pod);
	remedy.node = bt_arena_str(advice->arena, pod.node_name);
	remedy.pod_namespace = bt_arena_str(advice->arena, pod.namespace_);
	remedy.pod_name = bt_arena_str(advice->arena, pod.name);
	if (bt_advice_add(advice, &remedy)) {
		advice->distance += 0.25;
	}
}

void bt_advice_drop_requirement(struct bt_advice *advice, const struct bt_remedy *remedy)
{
	if (bt_advice_add(advice, remedy)) {
		advice->distance += 1;
	}
	bt_advice_add_of_pod(advice, remedy);
}

void bt_advice_close_pod_remedies(struct bt_advice *advice, bool possible)
{
	bool all_of_pod = true;

	for (uint32_t i = 0; i < advice->remedies.count; i++) {
		all_of_pod = all_of_pod && bt_remedy_is_of_pod(advice->remedies.items[i].kind);
	}
	if (all_of_pod || !possible) {
		advice->pod_remedies.count = 0;
	}
}

/** Limit of remedies per rejection; a node that needs more remedies gets no proposal. */
#define REMEDIES_MAX 12
/** Limit of one hint in bytes, because hints contain names that users choose. */
#define HINT_BYTES_MAX 300

const struct bt_adviser *bt_adviser_find(struct bt_str plugin_name)
{
	const struct bt_adviser *const tables[] = {
		bt_advisers_resources,
		bt_advisers_nodes,
		bt_advisers_topology,
		bt_advisers_volumes,
		bt_advisers_devices,
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		for (const struct bt_adviser *adviser = tables[i]; adviser->plugin_name != NULL;
			adviser++) {
			if (bt_str_equal_c(plugin_name, adviser->plugin_name)) {
				return adviser;
			}
		}
	}
	return NULL;
}

bool bt_advice_add(struct bt_advice *advice, const struct bt_remedy *remedy)
{
	if (bt_remedies_contain(&advice->remedies, remedy)) {
		return false;
	}
	if (advice->remedies.count >= REMEDIES_MAX) {
		advice->is_final = true;
	} else {
		bt_vec_push(&advice->remedies, *remedy);
	}
	return true;
}

void bt_advice_add_of_pod(struct bt_advice *advice, const struct bt_remedy *remedy)
{
	if (advice->pod_remedies.count < REMEDIES_MAX &&
		!bt_remedies_contain(&advice->pod_remedies, remedy)) {
		bt_vec_push(&advice->pod_remedies, *remedy);
	}
}

void bt_advice_hint(struct bt_advice *advice, const char *template_, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	bt_text_append(&text, "[%s, ]", advice->hint);
	va_start(arguments, template_);
	bt_text_append_list(&text, template_, arguments);
	va_end(arguments);
	if (text.length <= HINT_BYTES_MAX) {
		advice->hint = bt_arena_str(advice->arena, bt_strbuf_str(&text));
	} else if (advice->hint.length == 0) {
		advice->hint = bt_arena_str(
			advice->arena, bt_str_sub(bt_strbuf_str(&text), 0, HINT_BYTES_MAX));
	}
	bt_strbuf_finish(&text);
}
