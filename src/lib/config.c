/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/config.h"

#include <stddef.h>

#include "base/assert.h"
#include "config/gates.h"
#include "lib/convert.h"
#include "lib/document.h"
#include "lib/raw_args.h"

#define SAME_POINT(name) \
	_Static_assert((int)BERTH_POINT_##name == (int)BT_POINT_##name, "one order of points")
SAME_POINT(PRE_FILTER);
SAME_POINT(FILTER);
SAME_POINT(POST_FILTER);
SAME_POINT(RESERVE);
SAME_POINT(PRE_SCORE);
SAME_POINT(SCORE);
SAME_POINT(PRE_BIND);
SAME_POINT(BIND);
SAME_POINT(POST_BIND);
SAME_POINT(PERMIT);
SAME_POINT(PRE_ENQUEUE);
SAME_POINT(QUEUE_SORT);
SAME_POINT(PLACEMENT_GENERATE);
SAME_POINT(PLACEMENT_SCORE);
_Static_assert((int)BERTH_POINT_MULTI_POINT == (int)BT_POINT__COUNT, "multiPoint is the last");

const char *berth_extension_point_name(enum berth_extension_point point)
{
	if (point == BERTH_POINT_MULTI_POINT) {
		return "MultiPoint";
	}
	return bt_extension_point_name((enum bt_extension_point)point);
}

int berth_config_load(struct berth_str text, const char *feature_gates,
	struct berth_config **out_config, struct berth_error *err)
{
	struct bt_gates gates = bt_gates_default();
	struct bt_config *config = NULL;
	int result = BERTH_OK;

	if (feature_gates != NULL && feature_gates[0] != '\0') {
		result = bt_gates_set(&gates, bt_str_from(feature_gates), err);
	}
	if (result == BERTH_OK) {
		result = bt_document_load_config(text, &gates, NULL, &config, err);
	}
	if (result == BERTH_OK) {
		*out_config = berth_config_of(config);
	}
	return result;
}

struct berth_config *berth_config_create_default(void)
{
	struct bt_gates gates = bt_gates_default();

	return berth_config_of(bt_config_create_default(&gates));
}

struct berth_config *berth_config_share(struct berth_config *config)
{
	return berth_config_of(bt_config_ref(bt_config_of(config)));
}

void berth_config_release(struct berth_config *config)
{
	if (config != NULL) {
		bt_config_unref(bt_config_of(config));
	}
}

int32_t berth_config_percentage_of_nodes_to_score(const struct berth_config *config)
{
	return bt_config_percentage_of_nodes_to_score(bt_const_config_of(config));
}

uint32_t berth_config_profile_count(const struct berth_config *config)
{
	return bt_config_profile_count(bt_const_config_of(config));
}

const struct berth_profile *berth_config_profile_at(
	const struct berth_config *config, uint32_t index)
{
	return berth_const_profile_of(bt_config_profile_at(bt_const_config_of(config), index));
}

struct berth_str berth_profile_scheduler_name(const struct berth_profile *profile)
{
	return bt_const_profile_of(profile)->scheduler_name;
}

const struct berth_plugins *berth_profile_plugins(const struct berth_profile *profile)
{
	return berth_const_plugins_of(bt_const_profile_of(profile)->plugins);
}

uint32_t berth_profile_plugin_config_count(const struct berth_profile *profile)
{
	return bt_const_profile_of(profile)->plugin_config.count;
}

struct berth_raw_args bt_raw_args_of(const struct bt_plugin_args *args)
{
	struct berth_raw_args raw = {.content_type = BT_STR("application/json")};

	if (args == NULL) {
		return raw;
	}
	if (args->kind == BT_ARGS_OTHER) {
		raw.raw = args->raw;
	}
	raw.type_name = bt_str_from(bt_plugin_args_kind_name(args->kind));
	return raw;
}

struct berth_plugin_config berth_profile_plugin_config_at(
	const struct berth_profile *profile, uint32_t index)
{
	const struct bt_config_profile *inside = bt_const_profile_of(profile);

	BT_ASSERT(index < inside->plugin_config.count);
	return (struct berth_plugin_config){
		.name = inside->plugin_config.items[index].name,
		.args = bt_raw_args_of(&inside->plugin_config.items[index].args),
	};
}

static const struct bt_config_plugin_set *set_of(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	const struct bt_config_plugins *inside = bt_const_plugins_of(plugins);

	BT_ASSERT((int)point >= 0 && point <= BERTH_POINT_MULTI_POINT);
	return point == BERTH_POINT_MULTI_POINT ? &inside->multi_point : &inside->points[point];
}

static struct berth_plugin_entry entry_of(const struct bt_config_plugin *plugin)
{
	return (struct berth_plugin_entry){.name = plugin->name, .weight = plugin->weight};
}

uint32_t berth_plugins_enabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	return set_of(plugins, point)->enabled.count;
}

struct berth_plugin_entry berth_plugins_enabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index)
{
	const struct bt_config_plugin_set *set = set_of(plugins, point);

	BT_ASSERT(index < set->enabled.count);
	return entry_of(&set->enabled.items[index]);
}

uint32_t berth_plugins_disabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point)
{
	return set_of(plugins, point)->disabled.count;
}

struct berth_plugin_entry berth_plugins_disabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index)
{
	const struct bt_config_plugin_set *set = set_of(plugins, point);

	BT_ASSERT(index < set->disabled.count);
	return entry_of(&set->disabled.items[index]);
}
