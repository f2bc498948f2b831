/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "base/alloc.h"
#include "config/text_set.h"
#include "framework/profile_points.h"

static const struct bt_plugin_args no_args = {.kind = BT_ARGS_NONE};

bool bt_plugin_implements(const struct bt_plugin_ops *ops, enum bt_extension_point point)
{
	switch (point) {
	case BT_POINT_PRE_FILTER:
		return ops->pre_filter != NULL;
	case BT_POINT_FILTER:
		return ops->filter != NULL;
	case BT_POINT_POST_FILTER:
		return ops->post_filter != NULL;
	case BT_POINT_RESERVE:
		return ops->reserve != NULL || ops->unreserve != NULL;
	case BT_POINT_PRE_SCORE:
		return ops->pre_score != NULL;
	case BT_POINT_SCORE:
		return ops->score != NULL;
	case BT_POINT_PRE_BIND:
		return ops->pre_bind != NULL;
	case BT_POINT_BIND:
		return ops->bind != NULL;
	case BT_POINT_POST_BIND:
		return ops->post_bind != NULL;
	case BT_POINT_PERMIT:
		return ops->permit != NULL;
	case BT_POINT_PRE_ENQUEUE:
		return ops->pre_enqueue != NULL;
	case BT_POINT_QUEUE_SORT:
		return ops->less != NULL;
	case BT_POINT_PLACEMENT_GENERATE:
		return ops->generate_placements != NULL;
	case BT_POINT_PLACEMENT_SCORE:
		return ops->score_placement != NULL;
	case BT_POINT__COUNT:
		break;
	}
	return false;
}

struct bt_str bt_framework_plugin_name(const struct bt_framework *framework, uint32_t plugin_index)
{
	BT_ASSERT(plugin_index < framework->instances.count);
	return bt_str_from(framework->instances.items[plugin_index]->ops->name);
}

struct bt_str bt_framework_status_plugin_name(
	const struct bt_framework *framework, const struct bt_status *status)
{
	if (status->plugin == 0) {
		return BT_STR("");
	}
	return bt_framework_plugin_name(framework, status->plugin - 1U);
}

struct bt_plugin *bt_framework_find_plugin(const struct bt_framework *framework, struct bt_str name)
{
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		if (bt_str_equal(bt_framework_plugin_name(framework, i), name)) {
			return framework->instances.items[i];
		}
	}
	return NULL;
}

void bt_framework_clone_cycle(const struct bt_framework *framework,
	const struct bt_cycle_state *cycle, struct bt_cycle_state *out_clone)
{
	bt_cycle_state_clone(cycle, out_clone);
	for (uint32_t i = 0; i < cycle->plugin_count; i++) {
		const struct bt_plugin_ops *ops = framework->instances.items[i]->ops;

		if (cycle->pre_filter_data[i] != NULL && ops->clone_pre_filter_data != NULL) {
			out_clone->pre_filter_data[i] =
				ops->clone_pre_filter_data(cycle->pre_filter_data[i], cycle->arena);
		}
	}
}

static int check_plugin_config_unique(
	const struct bt_config_profile *profile, struct berth_error *err)
{
	struct bt_text_set names = {0};
	int code = BERTH_OK;

	for (uint32_t i = 0; i < profile->plugin_config.count && code == BERTH_OK; i++) {
		struct bt_str name = profile->plugin_config.items[i].name;

		if (!bt_text_set_add(&names, name)) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"repeated config for plugin %.*s", BT_STR_ARG(name));
		}
	}
	bt_text_set_finish(&names);
	return code;
}

/** Names of the resources that extenders want ignored, in the framework's memory; 0: none. */
static uint32_t collect_extender_resources(const struct bt_config *config, struct bt_str *out_names)
{
	uint32_t count = 0;

	for (uint32_t e = 0; e < bt_config_extender_count(config); e++) {
		const struct bt_config_extender *extender = bt_config_extender_at(config, e);

		for (uint32_t i = 0; i < extender->managed_resources.count; i++) {
			if (!extender->managed_resources.items[i].ignored_by_scheduler) {
				continue;
			}
			if (out_names != NULL) {
				out_names[count] = extender->managed_resources.items[i].name;
			}
			count++;
		}
	}
	return count;
}

/** Arguments of a plugin; extenders may take resources away from NodeResourcesFit (spec 10 7.2). */
static const struct bt_plugin_args *find_args(struct bt_framework *framework, struct bt_str name)
{
	const struct bt_plugin_args *args = bt_config_profile_find_args(framework->profile, name);
	uint32_t count;

	if (args == NULL) {
		return &no_args;
	}
	if (args->kind != BT_ARGS_NODE_RESOURCES_FIT) {
		return args;
	}
	count = collect_extender_resources(framework->config, NULL);
	if (count == 0) {
		return args;
	}
	framework->ignored_resources = BT_NEW_ARRAY(struct bt_str, count);
	(void)collect_extender_resources(framework->config, framework->ignored_resources);
	framework->fit_args = *args;
	framework->fit_args.node_resources_fit.ignored_resources = (bt_str_list){
		.items = framework->ignored_resources, .count = count, .present = true};
	return &framework->fit_args;
}

static int create_instances(struct bt_framework *framework, const struct bt_registry *registry,
	const struct bt_text_set *needed, struct berth_error *err)
{
	for (uint32_t i = 0; i < registry->entries.count; i++) {
		const struct bt_plugin_ops *ops = registry->entries.items[i];
		struct bt_str name = bt_str_from(ops->name);
		struct bt_plugin *plugin = NULL;
		struct berth_error cause = BERTH_ERROR_INIT;

		if (!bt_text_set_has(needed, name)) {
			continue;
		}
		if (framework->instances.count == BT_PLUGINS_MAX) {
			return bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"a profile has at most %d plugins", BT_PLUGINS_MAX);
		}
		if (ops->create(ops, find_args(framework, name), &framework->handle, &plugin,
			    &cause) != BERTH_OK) {
			struct bt_strbuf after = {0};
			int code = cause.code != BERTH_OK ? cause.code : BERTH_ERR_INTERNAL;

			bt_strbuf_append_c(&after, ": ");
			bt_strbuf_append_c(&after, berth_error_message(&cause));
			(void)bt_profile_set_quoted(err, code, BT_STR("initializing plugin "), name,
				bt_strbuf_str(&after));
			bt_strbuf_finish(&after);
			berth_error_finish(&cause);
			return code;
		}
		if (plugin->ops == NULL) {
			plugin->ops = ops;
		}
		plugin->index = (uint16_t)framework->instances.count;
		bt_vec_push(&framework->instances, plugin);
	}
	return BERTH_OK;
}

/** Spec 02 section 8.4 steps 6 to 8. */
static int check_counts(const struct bt_framework *framework, struct berth_error *err)
{
	uint32_t queue_sorts = framework->points[BT_POINT_QUEUE_SORT].entries.count;

	if (queue_sorts != 1) {
		struct bt_strbuf after = {0};

		bt_strbuf_printf(&after, ", but got %u", queue_sorts);
		(void)bt_profile_set_quoted(err, BERTH_ERR_INVALID,
			BT_STR("only one queue sort plugin required for profile with scheduler "
			       "name "),
			framework->scheduler_name, bt_strbuf_str(&after));
		bt_strbuf_finish(&after);
		return BERTH_ERR_INVALID;
	}
	if (framework->points[BT_POINT_BIND].entries.count == 0) {
		return bt_profile_set_quoted(err, BERTH_ERR_INVALID,
			BT_STR("at least one bind plugin is needed for profile with scheduler "
			       "name "),
			framework->scheduler_name, BT_STR(""));
	}
	if (framework->points[BT_POINT_PLACEMENT_GENERATE].entries.count > 1) {
		return bt_profile_set_quoted(err, BERTH_ERR_INVALID,
			BT_STR("at most one placement generate plugin is allowed for profile with "
			       "scheduler name "),
			framework->scheduler_name, BT_STR(""));
	}
	return BERTH_OK;
}

/** Spec 02 section 6.1. */
static void set_up_signatures(struct bt_framework *framework)
{
	static const enum bt_extension_point points[] = {
		BT_POINT_PRE_FILTER, BT_POINT_FILTER, BT_POINT_PRE_SCORE, BT_POINT_SCORE};
	struct bt_plugin_set seen = {0};

	framework->sign_plugins = BT_NEW_ARRAY(struct bt_plugin *, framework->instances.count);
	bool is_asked = bt_gate_enabled(framework->handle.gates, BT_GATE_OPPORTUNISTIC_BATCHING) &&
		bt_config_extender_count(framework->config) == 0;
	uint32_t refusal_count = 0;
	for (size_t p = 0; p < BT_ARRAY_LENGTH(points); p++) {
		const struct bt_framework_point *point = &framework->points[points[p]];

		for (uint32_t i = 0; i < point->entries.count; i++) {
			struct bt_plugin *plugin = point->entries.items[i].plugin;

			if (bt_plugin_set_has(&seen, plugin->index)) {
				continue;
			}
			bt_plugin_set_add(&seen, plugin->index);
			framework->sign_plugins[framework->sign_plugin_count++] = plugin;
			is_asked = is_asked && plugin->ops->sign != NULL;
			if (refusal_count == 0 && bt_shortcuts(plugin)->never_signs != NULL &&
				bt_shortcuts(plugin)->never_signs(plugin)) {
				refusal_count = framework->sign_plugin_count;
			}
		}
	}
	framework->signatures_enabled = is_asked && refusal_count == 0;
	framework->sign_refusal_count = is_asked ? refusal_count : 0;
}

static void set_up_pod_group_post_filter(struct bt_framework *framework)
{
	struct bt_plugin *plugin;

	if (!bt_gate_enabled(framework->handle.gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION)) {
		return;
	}
	plugin = bt_framework_find_plugin(framework, BT_STR("DefaultPreemption"));
	if (plugin != NULL && plugin->ops->pod_group_post_filter != NULL) {
		framework->pod_group_post_filter = plugin;
	}
}

/** Spec 02 section 8.4. */
static int build(
	struct bt_framework *framework, const struct bt_registry *registry, struct berth_error *err)
{
	struct bt_text_set needed = {0};
	int code;

	if (framework->profile->plugins == NULL) {
		return BERTH_OK;
	}
	/* Names that some list of the profile enables. */
	const struct bt_config_plugins *plugins = framework->profile->plugins;
	for (int p = 0; p <= BT_POINT__COUNT; p++) {
		const struct bt_config_plugin_set *set =
			p < BT_POINT__COUNT ? &plugins->points[p] : &plugins->multi_point;

		for (uint32_t i = 0; i < set->enabled.count; i++) {
			(void)bt_text_set_add(&needed, set->enabled.items[i].name);
		}
	}
	code = check_plugin_config_unique(framework->profile, err);
	if (code == BERTH_OK) {
		code = create_instances(framework, registry, &needed, err);
	}
	bt_text_set_finish(&needed);
	if (code == BERTH_OK) {
		code = bt_profile_build_points(framework, err);
	}
	if (code == BERTH_OK) {
		code = check_counts(framework, err);
	}
	if (code == BERTH_OK) {
		code = bt_profile_set_weights(framework, BT_POINT_SCORE, "score plugins", err);
	}
	if (code == BERTH_OK) {
		code = bt_profile_set_weights(
			framework, BT_POINT_PLACEMENT_SCORE, "placement score plugins", err);
	}
	if (code == BERTH_OK) {
		set_up_signatures(framework);
		set_up_pod_group_post_filter(framework);
	}
	return code;
}

int bt_framework_create(const struct bt_registry *registry, struct bt_config *config,
	uint32_t profile_index, struct bt_state *state, struct bt_nominator *nominator,
	struct bt_framework **out_framework, struct berth_error *err)
{
	struct bt_framework *framework = BT_NEW(struct bt_framework);
	int code;

	framework->config = bt_config_ref(config);
	framework->profile = bt_config_profile_at(config, profile_index);
	framework->scheduler_name = framework->profile->scheduler_name;
	framework->nominator = nominator;
	framework->handle = (struct bt_handle){
		.state = state,
		.gates = bt_config_gates(config),
		.framework = framework,
		.scheduler_name = framework->scheduler_name,
		.snapshot = {.state = state},
	};
	code = build(framework, registry, err);
	if (code != BERTH_OK) {
		bt_framework_destroy(framework);
		return code;
	}
	*out_framework = framework;
	return BERTH_OK;
}

void bt_framework_destroy(struct bt_framework *framework)
{
	if (framework == NULL) {
		return;
	}
	for (uint32_t i = framework->instances.count; i-- > 0;) {
		struct bt_plugin *plugin = framework->instances.items[i];

		plugin->ops->destroy(plugin);
	}
	bt_vec_finish(&framework->instances);
	for (int p = 0; p < BT_POINT__COUNT; p++) {
		bt_vec_finish(&framework->points[p].entries);
	}
	bt_free(framework->sign_plugins);
	bt_free(framework->ignored_resources);
	bt_config_unref(framework->config);
	bt_free(framework);
}
