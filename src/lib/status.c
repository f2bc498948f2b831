/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>

#include "base/alloc.h"
#include "framework/framework.h"
#include "framework/status.h"
#include "lib/convert.h"
#include "lib/node_to_status.h"
#include "state/node_info.h"

#define SAME_CODE(name) \
	_Static_assert((int)BERTH_CODE_##name == (int)BT_STATUS_##name, "one set of codes")
SAME_CODE(SUCCESS);
SAME_CODE(ERROR);
SAME_CODE(UNSCHEDULABLE);
SAME_CODE(UNSCHEDULABLE_AND_UNRESOLVABLE);
SAME_CODE(WAIT);
SAME_CODE(SKIP);
SAME_CODE(PENDING);

const char *berth_code_string(enum berth_code code)
{
	return bt_status_code_name((enum bt_status_code)code);
}

struct berth_status berth_status_make(struct berth_arena *arena, enum berth_code code,
	const struct berth_str *reasons, uint32_t reason_count)
{
	struct bt_status status = bt_status_code_only((enum bt_status_code)code);

	for (uint32_t i = 0; i < reason_count; i++) {
		bt_status_append_reason(&status, bt_arena_of(arena), reasons[i]);
	}
	return status;
}

struct berth_status berth_status_reason(
	struct berth_arena *arena, enum berth_code code, const char *reason)
{
	if (reason == NULL) {
		return bt_status_code_only((enum bt_status_code)code);
	}
	return bt_status_text((enum bt_status_code)code, bt_arena_of(arena), bt_str_from(reason));
}

struct berth_status berth_status_printf(
	struct berth_arena *arena, enum berth_code code, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);

	struct bt_status status =
		bt_status_text((enum bt_status_code)code, bt_arena_of(arena), bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

struct berth_status berth_status_from_error(
	struct berth_arena *arena, const struct berth_error *err)
{
	if (err == NULL || err->code == BERTH_OK) {
		return BERTH_STATUS_SUCCESS;
	}
	return bt_status_error_text(bt_arena_of(arena), bt_str_from(berth_error_message(err)));
}

void berth_status_append_reason(
	struct berth_status *status, struct berth_arena *arena, struct berth_str reason)
{
	bt_status_append_reason(status, bt_arena_of(arena), reason);
}

int berth_status_as_error(const struct berth_status *status, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	switch (berth_status_code(status)) {
	case BERTH_CODE_SUCCESS:
	case BERTH_CODE_WAIT:
	case BERTH_CODE_SKIP:
		return BERTH_OK;
	case BERTH_CODE_ERROR:
	case BERTH_CODE_UNSCHEDULABLE:
	case BERTH_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE:
	case BERTH_CODE_PENDING:
		break;
	}
	if (status->has_error) {
		bt_strbuf_append_str(&text, status->error_text);
	} else {
		bt_status_message(status, &text);
	}
	return bt_error_take(err, BERTH_ERR_INTERNAL, &text);
}

enum berth_code berth_status_code(const struct berth_status *status)
{
	return status != NULL ? (enum berth_code)status->code : BERTH_CODE_SUCCESS;
}

bool berth_status_is_success(const struct berth_status *status)
{
	return status == NULL || bt_status_is_success(status);
}

bool berth_status_is_rejected(const struct berth_status *status)
{
	return status != NULL && bt_status_is_rejected(status);
}

bool berth_status_is_unschedulable(const struct berth_status *status)
{
	return berth_status_is_rejected(status);
}

struct berth_str berth_status_message(const struct berth_status *status, struct berth_arena *arena)
{
	return status != NULL ? bt_status_message_str(status, bt_arena_of(arena)) : BT_STR("");
}

const struct berth_str *berth_status_reasons(
	const struct berth_status *status, struct berth_arena *arena, uint32_t *out_count)
{
	uint32_t count = status != NULL ? bt_status_all_reason_count(status) : 0;
	struct bt_str *reasons = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct bt_str, count);

	for (uint32_t i = 0; i < count; i++) {
		reasons[i] = bt_status_all_reason_at(status, i);
	}
	*out_count = count;
	return reasons;
}

bool berth_status_equal(const struct berth_status *a, const struct berth_status *b)
{
	static const struct bt_status success = {0};

	return bt_status_equal(a != NULL ? a : &success, b != NULL ? b : &success);
}

struct berth_status berth_status_copy(const struct berth_status *status, struct berth_arena *arena)
{
	return status != NULL ? bt_status_copy(status, bt_arena_of(arena)) : BERTH_STATUS_SUCCESS;
}

void berth_plugin_to_status_set(struct berth_plugin_to_status *map, struct berth_arena *arena,
	struct berth_str plugin, struct berth_status status)
{
	struct berth_plugin_status *known = BT_STR_FIND(map, plugin, plugin);

	if (known != NULL) {
		known->status = status;
		return;
	}
	struct berth_plugin_status entry = {bt_arena_str(bt_arena_of(arena), plugin), status};

	bt_arena_push(bt_arena_of(arena), map, entry);
}

struct berth_status berth_status_merge(
	const struct berth_plugin_to_status *map, struct berth_arena *arena)
{
	struct bt_status merged = BT_STATUS_OK;

	for (uint32_t i = 0; i < map->count; i++) {
		const struct bt_status *status = &map->items[i].status;

		if (bt_status_code_precedence(status->code) >=
			bt_status_code_precedence(merged.code)) {
			merged.code = status->code;
		}
		for (uint32_t r = 0; r < bt_status_all_reason_count(status); r++) {
			bt_status_append_reason(
				&merged, bt_arena_of(arena), bt_status_all_reason_at(status, r));
		}
	}
	return merged;
}

static bool is_view(const struct berth_node_to_status *statuses)
{
	return statuses->statuses != NULL;
}

struct berth_node_to_status *berth_node_to_status_create(void)
{
	struct berth_node_to_status *statuses = BT_NEW(struct berth_node_to_status);

	statuses->absent = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	return statuses;
}

void berth_node_to_status_destroy(struct berth_node_to_status *statuses)
{
	if (statuses == NULL) {
		return;
	}
	bt_text_set_finish(&statuses->names);
	bt_vec_finish(&statuses->entries);
	bt_arena_finish(&statuses->arena);
	bt_free(statuses);
}

void berth_node_to_status_set(struct berth_node_to_status *statuses, struct berth_str node_name,
	const struct berth_status *status)
{
	if (is_view(statuses)) {
		return;
	}
	struct bt_status copy = bt_status_copy(status, &statuses->arena);
	uint32_t index = bt_text_set_find(&statuses->names, node_name);

	if (index != BT_MAP_NONE) {
		statuses->entries.items[index] = copy;
	} else {
		bt_text_set_append(&statuses->names, bt_arena_str(&statuses->arena, node_name));
		bt_vec_push(&statuses->entries, copy);
	}
}

void berth_node_to_status_set_absent(
	struct berth_node_to_status *statuses, const struct berth_status *status)
{
	if (!is_view(statuses)) {
		statuses->absent = bt_status_copy(status, &statuses->arena);
	}
}

struct berth_status berth_node_to_status_get(
	const struct berth_node_to_status *statuses, struct berth_str node_name)
{
	if (is_view(statuses)) {
		uint32_t slot = bt_state_snapshot_find(statuses->state, node_name);

		return slot != BT_SLOT_NONE
			? bt_node_statuses_get(statuses->statuses, statuses->state, slot)
			: statuses->statuses->absent;
	}
	uint32_t index = bt_text_set_find(&statuses->names, node_name);

	return index != BT_MAP_NONE ? statuses->entries.items[index] : statuses->absent;
}

uint32_t berth_node_to_status_count(const struct berth_node_to_status *statuses)
{
	return is_view(statuses) ? bt_node_statuses_count(statuses->statuses)
				 : statuses->entries.count;
}

struct berth_str berth_node_to_status_at(const struct berth_node_to_status *statuses,
	uint32_t index, struct berth_status *out_status)
{
	BT_ASSERT(index < berth_node_to_status_count(statuses));
	if (is_view(statuses)) {
		const struct bt_node_status_entry entry =
			bt_node_statuses_at(statuses->statuses, statuses->state, index);
		if (out_status != NULL) {
			*out_status = entry.status;
		}
		/*
		 * An extender may reject a node that the state does not have. The entry of such a
		 * node has no slot, so its name is "".
		 */
		return entry.slot != BT_SLOT_NONE
			? bt_node_table_name(&statuses->state->nodes, entry.slot)
			: BT_STR("");
	}
	if (out_status != NULL) {
		*out_status = statuses->entries.items[index];
	}
	return statuses->names.items.items[index];
}
