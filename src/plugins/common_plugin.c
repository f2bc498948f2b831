/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_plugin.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"

int bt_plugin_args_expect(const struct bt_plugin_args *args, enum bt_plugin_args_kind kind,
	const char *text, const struct bt_handle *handle, struct berth_error *err)
{
	if (args == NULL || args->kind != kind) {
		/* Names of the types as upstream prints them. */
		const char *wanted = bt_plugin_args_kind_name(kind);
		const char *given = args != NULL ? bt_plugin_args_kind_name(args->kind) : NULL;
		const char *package = given != NULL ? "*config." : "";

		if (given == NULL) {
			given = args != NULL && args->kind == BT_ARGS_OTHER ? "*runtime.Unknown"
									    : "<nil>";
		}
		return text != NULL
			? bt_error_set(err, BERTH_ERR_INVALID, "%s %s, got %s%s", text, wanted,
				  package, given)
			: bt_error_set(err, BERTH_ERR_INVALID, "got args of type %s%s, want *%s",
				  package, given, wanted);
	}
	return bt_plugin_args_validate(args, handle->gates, err);
}

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
