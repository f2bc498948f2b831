/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_plugin.h"

#include "base/compiler.h"

struct bt_str bt_not_found_text(struct bt_arena *arena, const char *what, struct bt_str name)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_c(&text, what);
	bt_strbuf_append_char(&text, ' ');
	bt_strbuf_append_quoted(&text, name);
	bt_strbuf_append_c(&text, " not found");
	return bt_arena_take_strbuf(arena, &text);
}

bool bt_hint_if_pod_itself(const struct bt_hint_call *call)
{
	const struct bt_pod *changed = call->new_object;

	return bt_str_equal(changed->metadata.uid, call->pod->uid);
}

int64_t bt_broken_line(const struct bt_shape_point *points, uint32_t count, int64_t utilization)
{
	if (utilization <= points[0].utilization) {
		return points[0].score;
	}
	for (uint32_t i = 1; i < count; i++) {
		const struct bt_shape_point *low = &points[i - 1];
		const struct bt_shape_point *high = &points[i];

		if (utilization <= high->utilization) {
			return low->score +
				(high->score - low->score) * (utilization - low->utilization) /
				(high->utilization - low->utilization);
		}
	}
	return points[count - 1].score;
}

bool bt_plugin_ports_conflict(const bt_host_port_list *wanted, const struct bt_node_info *node)
{
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (bt_node_info_port_conflicts(node, &wanted->items[i])) {
			return true;
		}
	}
	return false;
}

struct bt_str bt_image_normalized_name(struct bt_str name, struct bt_arena *arena)
{
	if (bt_str_find_last_char(name, ':') > bt_str_find_last_char(name, '/')) {
		return name;
	}
	return bt_arena_printf(arena, "%.*s:latest", BT_STR_ARG(name));
}
