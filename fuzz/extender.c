/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of extenders: writing and reading an accepted answer gives the same answer. */
#include <stdint.h>

#include "base/assert.h"
#include "extender_answers.h"
#include "sched/extender_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool understood(int result, struct berth_error *err)
{
	BT_ASSERT((result == 0) == (err->message == NULL));
	berth_error_finish(err);
	return result == 0;
}

static void try_filter_result(struct bt_str json, struct bt_arena *arena)
{
	struct bt_extender_filter_result result;
	struct bt_extender_filter_result back;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf first = {0};
	struct bt_strbuf second = {0};

	if (!understood(bt_extender_decode_filter_result(json, arena, &result, &err), &err)) {
		return;
	}
	bt_extender_encode_filter_result(&result, &first);
	BT_ASSERT(bt_extender_decode_filter_result(bt_strbuf_str(&first), arena, &back, NULL) == 0);
	BT_ASSERT(back.nodes.count == result.nodes.count);
	BT_ASSERT(back.node_names.present == result.node_names.present);
	bt_extender_encode_filter_result(&back, &second);
	BT_ASSERT(bt_str_equal(bt_strbuf_str(&first), bt_strbuf_str(&second)));
	for (uint32_t i = 1; i < result.failed_nodes.count; i++) {
		BT_ASSERT(bt_str_compare(result.failed_nodes.items[i - 1].key,
				  result.failed_nodes.items[i].key) < 0);
	}
	bt_strbuf_finish(&first);
	bt_strbuf_finish(&second);
}

static void try_priorities(struct bt_str json, struct bt_arena *arena)
{
	bt_host_priority_list list;
	bt_host_priority_list back;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};

	if (!understood(bt_extender_decode_priorities(json, arena, &list, &err), &err)) {
		return;
	}
	bt_extender_encode_priorities(&list, &text);
	BT_ASSERT(bt_extender_decode_priorities(bt_strbuf_str(&text), arena, &back, NULL) == 0);
	BT_ASSERT(back.count == list.count && back.present == list.present);
	for (uint32_t i = 0; i < list.count; i++) {
		BT_ASSERT(bt_str_equal(list.items[i].host, back.items[i].host));
		BT_ASSERT(list.items[i].score == back.items[i].score);
	}
	bt_strbuf_finish(&text);
}

static void try_preemption_result(struct bt_str json, struct bt_arena *arena)
{
	struct bt_node_victims_list answer;
	struct bt_node_victims_list back;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};

	if (!understood(bt_extender_decode_preemption_result(json, arena, &answer, &err), &err)) {
		return;
	}
	bt_extender_encode_preemption_result(&answer, &text);
	BT_ASSERT(bt_extender_decode_preemption_result(bt_strbuf_str(&text), arena, &back, NULL) ==
		0);
	BT_ASSERT(back.count == answer.count);
	bt_strbuf_finish(&text);
}

static void try_binding_result(struct bt_str json, struct bt_arena *arena)
{
	struct bt_extender_binding_result result;
	struct berth_error err = BERTH_ERROR_INIT;

	(void)understood(bt_extender_decode_binding_result(json, arena, &result, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str json = {(const char *)data, (uint32_t)size};
	struct bt_arena arena = {0};

	try_filter_result(json, &arena);
	try_priorities(json, &arena);
	try_preemption_result(json, &arena);
	try_binding_result(json, &arena);
	bt_arena_finish(&arena);
	return 0;
}
