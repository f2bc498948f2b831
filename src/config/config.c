/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "config/default.h"
#include "config/document.h"

static const struct {
	const char *name;
	const char *member;
} points[BT_POINT__COUNT] = {
	[BT_POINT_PRE_FILTER] = {"PreFilter", "preFilter"},
	[BT_POINT_FILTER] = {"Filter", "filter"},
	[BT_POINT_POST_FILTER] = {"PostFilter", "postFilter"},
	[BT_POINT_RESERVE] = {"Reserve", "reserve"},
	[BT_POINT_PRE_SCORE] = {"PreScore", "preScore"},
	[BT_POINT_SCORE] = {"Score", "score"},
	[BT_POINT_PRE_BIND] = {"PreBind", "preBind"},
	[BT_POINT_BIND] = {"Bind", "bind"},
	[BT_POINT_POST_BIND] = {"PostBind", "postBind"},
	[BT_POINT_PERMIT] = {"Permit", "permit"},
	[BT_POINT_PRE_ENQUEUE] = {"PreEnqueue", "preEnqueue"},
	[BT_POINT_QUEUE_SORT] = {"QueueSort", "queueSort"},
	[BT_POINT_PLACEMENT_GENERATE] = {"PlacementGenerate", "placementGenerate"},
	[BT_POINT_PLACEMENT_SCORE] = {"PlacementScore", "placementScore"},
};

const enum bt_extension_point bt_config_plugins_points[BT_CONFIG_PLUGINS_POINTS] = {
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_RESERVE,
	BT_POINT_PERMIT,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
};

const char *bt_extension_point_name(enum bt_extension_point point)
{
	return points[point].name;
}

const char *bt_extension_point_member(enum bt_extension_point point)
{
	return points[point].member;
}

struct bt_config *bt_config_create(const struct bt_gates *gates)
{
	struct bt_config *config = BT_NEW(struct bt_config);
	config->ref_count = 1;
	config->gates = gates != NULL ? *gates : bt_gates_default();
	config->document = bt_document_initial();
	return config;
}

struct bt_config *bt_config_create_default(const struct bt_gates *gates)
{
	struct bt_config *config = bt_config_create(gates);
	bt_document_default(&config->document, &config->gates, &config->arena, &config->overridden);
	return config;
}

struct bt_config *bt_config_ref(struct bt_config *config)
{
	config->ref_count++;
	return config;
}

void bt_config_unref(struct bt_config *config)
{
	if (config == NULL) {
		return;
	}
	BT_ASSERT(config->ref_count > 0);
	if (--config->ref_count == 0) {
		bt_arena_finish(&config->arena);
		bt_free(config);
	}
}

uint32_t bt_config_profile_count(const struct bt_config *config)
{
	return config->document.profiles.count;
}

const struct bt_config_profile *bt_config_profile_at(const struct bt_config *config, uint32_t index)
{
	BT_ASSERT(index < config->document.profiles.count);
	return &config->document.profiles.items[index];
}

int32_t bt_config_percentage_of_nodes_to_score(const struct bt_config *config)
{
	return config->document.percentage_of_nodes_to_score.value;
}

bool bt_config_percentage_is_explicit(const struct bt_config *config)
{
	return config->percentage_is_explicit;
}

const struct bt_gates *bt_config_gates(const struct bt_config *config)
{
	return &config->gates;
}

int64_t bt_config_pod_initial_backoff_seconds(const struct bt_config *config)
{
	return config->document.pod_initial_backoff_seconds;
}

int64_t bt_config_pod_max_backoff_seconds(const struct bt_config *config)
{
	return config->document.pod_max_backoff_seconds;
}

bool bt_config_enable_profiling(const struct bt_config *config)
{
	return config->document.enable_profiling;
}

bool bt_config_delay_cache_until_active(const struct bt_config *config)
{
	return config->document.delay_cache_until_active;
}

const struct bt_config_leader_election *bt_config_leader_election(const struct bt_config *config)
{
	return &config->document.leader_election;
}

const struct bt_config_client_connection *bt_config_client_connection(
	const struct bt_config *config)
{
	return &config->document.client_connection;
}

uint32_t bt_config_extender_count(const struct bt_config *config)
{
	return config->document.extenders.count;
}

const struct bt_config_extender *bt_config_extender_at(
	const struct bt_config *config, uint32_t index)
{
	BT_ASSERT(index < config->document.extenders.count);
	return &config->document.extenders.items[index];
}

uint32_t bt_config_overridden_count(const struct bt_config *config)
{
	return config->overridden.count;
}

struct bt_str bt_config_overridden_at(const struct bt_config *config, uint32_t index)
{
	BT_ASSERT(index < config->overridden.count);
	return config->overridden.items[index];
}

const struct bt_plugin_args *bt_config_profile_find_args(
	const struct bt_config_profile *profile, struct bt_str plugin)
{
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		if (bt_str_equal(profile->plugin_config.items[i].name, plugin)) {
			return &profile->plugin_config.items[i].args;
		}
	}
	return NULL;
}
