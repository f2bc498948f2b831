/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/plugin_adapter.h"

#include <stddef.h>

#include "base/alloc.h"
#include "lib/adapted.h"
#include "lib/raw_args.h"

const char *berth_plugin_name(const struct berth_plugin *plugin)
{
	return plugin->ops->name;
}

struct bt_status bt_adapted_status(
	const struct bt_adapted *adapted, struct bt_status status, struct bt_arena *arena)
{
	if (status.code > BT_STATUS_PENDING) {
		return bt_status_printf(BT_STATUS_ERROR, arena,
			"plugin %s answered with the unknown code %d", adapted->inside.name,
			status.code);
	}
	status.plugin = 0; /* the framework says whose it is */
	return status;
}

static void destroy_adapted(struct bt_plugin *plugin)
{
	struct bt_adapted *adapted = bt_adapted_of(plugin);

	if (adapted->outside.destroy != NULL) {
		adapted->outside.destroy(adapted->plugin);
	}
	bt_vec_finish(&adapted->events);
	bt_arena_finish(&adapted->column_arena);
	bt_free(adapted);
}

/** What is wrong with what a factory made; 0: nothing. */
static int check_plugin(
	const struct berth_plugin *plugin, const char *name, struct berth_error *err)
{
	if (plugin == NULL || plugin->ops == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INTERNAL, "the factory made no plugin with functions");
	}
	if (plugin->ops->size < offsetof(struct berth_plugin_ops, destroy) ||
		plugin->ops->name == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INTERNAL, "its table of functions has no size or no name");
	}
	if (!bt_str_equal_c(bt_str_from(name), plugin->ops->name)) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "the plugin calls itself \"%s\"",
			plugin->ops->name);
	}
	return BERTH_OK;
}

/** The slots the plugin was compiled with; an older one lacks the last ones. */
static void copy_ops(const struct berth_plugin_ops *ops, struct berth_plugin_ops *out_ops)
{
	size_t size = ops->size < sizeof(*out_ops) ? ops->size : sizeof(*out_ops);

	*out_ops = (struct berth_plugin_ops){0};
	memcpy(out_ops, ops, size);
}

static int create_adapted(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	const struct bt_plugin_registration *registration = ops->context;
	struct bt_adapted *adapted = BT_NEW(struct bt_adapted);

	adapted->handle = handle;
	adapted->args = bt_raw_args_of(args);

	int result = registration->create(registration->context, &adapted->args,
		berth_const_handle_of(handle), &adapted->plugin, err);

	if (result == BERTH_OK) {
		result = check_plugin(adapted->plugin, registration->name, err);
	}
	if (result != BERTH_OK) {
		bt_free(adapted);
		return result < 0 ? result : BERTH_ERR_INTERNAL;
	}
	copy_ops(adapted->plugin->ops, &adapted->outside);
	adapted->inside.name = registration->name;
	adapted->inside.destroy = destroy_adapted;
	bt_adapted_fill_cycle(adapted);
	bt_adapted_fill_rest(adapted);
	adapted->base.ops = &adapted->inside;
	*out_plugin = &adapted->base;
	return BERTH_OK;
}

void bt_plugin_registration_init(struct bt_plugin_registration *registration)
{
	registration->ops = (struct bt_plugin_ops){
		.name = registration->name,
		.create_from = create_adapted,
		.context = registration,
	};
}
