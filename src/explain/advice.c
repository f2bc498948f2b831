/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/advice.h"

#include "api/amount.h"

/** A node that needs more changes than this is no answer to anybody. */
#define REMEDIES_MAX 12
/** Of one hint; names are users'. */
#define HINT_BYTES_MAX 300

static const struct bt_adviser *find_in(const struct bt_adviser *table, struct bt_str name)
{
	for (; table->plugin_name != NULL; table++) {
		if (bt_str_equal_c(name, table->plugin_name)) {
			return table;
		}
	}
	return NULL;
}

const struct bt_adviser *bt_adviser_find(struct bt_str plugin_name)
{
	const struct bt_adviser *const tables[] = {
		bt_advisers_resources,
		bt_advisers_nodes,
		bt_advisers_topology,
		bt_advisers_volumes,
		bt_advisers_devices,
	};
	const struct bt_adviser *found = NULL;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(tables) && found == NULL; i++) {
		found = find_in(tables[i], plugin_name);
	}
	return found;
}

void bt_advice_add(struct bt_advice *advice, const struct bt_remedy *remedy)
{
	for (uint32_t i = 0; i < advice->remedies.count; i++) {
		if (bt_remedy_equal(&advice->remedies.items[i], remedy)) {
			return;
		}
	}
	if (advice->remedies.count >= REMEDIES_MAX) {
		advice->is_final = true;
		return;
	}
	bt_vec_push(&advice->remedies, *remedy);
}

void bt_advice_add_of_pod(struct bt_advice *advice, const struct bt_remedy *remedy)
{
	for (uint32_t i = 0; i < advice->pod_remedies.count; i++) {
		if (bt_remedy_equal(&advice->pod_remedies.items[i], remedy)) {
			return;
		}
	}
	if (advice->pod_remedies.count < REMEDIES_MAX) {
		bt_vec_push(&advice->pod_remedies, *remedy);
	}
}

void bt_advice_hint(struct bt_advice *advice, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_append_str(&text, advice->hint);
	if (text.length != 0) {
		bt_strbuf_append_c(&text, ", ");
	}
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	if (text.length <= HINT_BYTES_MAX) {
		advice->hint = bt_arena_str(advice->arena, bt_strbuf_str(&text));
	} else if (advice->hint.length == 0) {
		advice->hint = bt_arena_str(
			advice->arena, bt_str_sub(bt_strbuf_str(&text), 0, HINT_BYTES_MAX));
	}
	bt_strbuf_finish(&text);
}
