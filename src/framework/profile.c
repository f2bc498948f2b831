/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/text_set.h"
#include "framework/framework.h"

/**
 * Sets the error to `<before>"<name>"<after>`. The name is quoted as Go quotes strings; `after` is
 * a printf format for the arguments that follow. Returns code. Spec: 02 section 8.
 */
BT_PRINTF(5, 6)
static int set_quoted(struct berth_error *err, int code, const char *before, struct bt_str name,
	const char *after, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	bt_strbuf_append_c(&text, before);
	bt_strbuf_append_quoted(&text, name);
	va_start(arguments, after);
	bt_strbuf_vprintf(&text, after, arguments);
	va_end(arguments);
	return bt_error_take(err, code, &text);
}

/** Sets the error `<point>Plugin "<name>" does not exist`. */
static int set_missing(struct berth_error *err, enum bt_extension_point point, struct bt_str name)
{
	char before[64];

	(void)snprintf(before, sizeof(before), "%sPlugin ", bt_extension_point_name(point));
	return set_quoted(err, BERTH_ERR_INVALID, before, name, " does not exist");
}

static int set_registered_twice(
	struct berth_error *err, struct bt_str name, enum bt_extension_point point)
{
	return set_quoted(err, BERTH_ERR_INVALID, "plugin ", name,
		" already registered as \"%sPlugin\"", bt_extension_point_name(point));
}

/**
 * Reads the point's list in the configuration, and adds the plugins that the list enables to the
 * framework's list and to out_present. Spec 02 section 8.4 step 4.
 */
static int add_explicit(struct bt_framework *framework, enum bt_extension_point point,
	struct bt_plugin_set *out_present, struct berth_error *err)
{
	const struct bt_config_plugin_set *set = &framework->profile->plugins->points[point];

	for (uint32_t i = 0; i < set->enabled.count; i++) {
		struct bt_str name = set->enabled.items[i].name;
		struct bt_plugin *plugin = bt_framework_find_plugin(framework, name);
		struct bt_framework_entry entry = {.plugin = plugin};

		if (plugin == NULL) {
			return set_missing(err, point, name);
		}
		if (!bt_plugin_implements(plugin->ops, point)) {
			return set_quoted(err, BERTH_ERR_INVALID, "plugin ", name,
				" does not extend %sPlugin plugin", bt_extension_point_name(point));
		}
		if (bt_plugin_set_has(out_present, plugin->index)) {
			return set_registered_twice(err, name, point);
		}
		bt_plugin_set_add(out_present, plugin->index);
		bt_vec_push(&framework->points[point].entries, entry);
	}
	return BERTH_OK;
}

/**
 * Adds the plugins of multiPoint that implement the point and that the point does not disable.
 * present: the plugins that add_explicit added. Spec 02 section 8.5.
 */
static int expand_multi_point(struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_plugin_set *present, struct berth_error *err)
{
	const struct bt_config_plugin_set *multi_point = &framework->profile->plugins->multi_point;
	const struct bt_config_plugin_set *set = &framework->profile->plugins->points[point];
	struct bt_plugin *taken[BT_PLUGINS_MAX];
	struct bt_plugin_set taken_set = {0};
	struct bt_plugin_set overrides = {0};
	struct bt_plugin_set disabled = {0};
	uint32_t taken_count = 0;

	for (uint32_t i = 0; i < set->disabled.count; i++) {
		struct bt_str name = set->disabled.items[i].name;
		const struct bt_plugin *plugin = bt_framework_find_plugin(framework, name);

		if (bt_str_equal(name, BT_STR("*"))) {
			return BERTH_OK;
		}
		if (plugin != NULL) {
			bt_plugin_set_add(&disabled, plugin->index);
		}
	}
	for (uint32_t i = 0; i < multi_point->enabled.count; i++) {
		struct bt_str name = multi_point->enabled.items[i].name;
		struct bt_plugin *plugin = bt_framework_find_plugin(framework, name);

		if (plugin == NULL) {
			return set_missing(err, point, name);
		}
		if (!bt_plugin_implements(plugin->ops, point) ||
			bt_plugin_set_has(&disabled, plugin->index)) {
			continue;
		}
		if (bt_plugin_set_has(present, plugin->index)) {
			BT_LOG_INFO(0, "MultiPoint plugin is explicitly re-configured; overriding",
				BT_LOG_STR("plugin", name));
			bt_plugin_set_add(&overrides, plugin->index);
			continue;
		}
		if (bt_plugin_set_has(&taken_set, plugin->index)) {
			return set_registered_twice(err, name, point);
		}
		bt_plugin_set_add(&taken_set, plugin->index);
		taken[taken_count++] = plugin;
	}
	/*
	 * The final order: the point's plugins that are also in multiPoint, then the other plugins
	 * of multiPoint, then the other plugins of the point.
	 */
	struct bt_framework_point *list = &framework->points[point];
	struct bt_plugin *own[BT_PLUGINS_MAX];
	uint32_t own_count = list->entries.count;

	for (uint32_t i = 0; i < own_count; i++) {
		own[i] = list->entries.items[i].plugin;
	}
	list->entries.count = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < own_count; i++) {
			if (bt_plugin_set_has(&overrides, own[i]->index) == (pass == 0)) {
				bt_vec_push(&list->entries,
					((struct bt_framework_entry){.plugin = own[i]}));
			}
		}
		for (uint32_t i = 0; i < taken_count && pass == 0; i++) {
			bt_vec_push(
				&list->entries, ((struct bt_framework_entry){.plugin = taken[i]}));
		}
	}
	return BERTH_OK;
}

/**
 * Sets the weights of a point's entries (spec 02 section 8.6). A plugin's weight is the weight of
 * its first entry in the point's list, or in multiPoint if the point's list lacks the plugin. Fails
 * if the sum of the weights is too large; the sum includes plugins of multiPoint that the point
 * disables. prefix: start of the error's text, "score plugins" or "placement score plugins".
 */
static int set_weights(struct bt_framework *framework, enum bt_extension_point point,
	const char *prefix, struct berth_error *err)
{
	const struct bt_config_plugins *plugins = framework->profile->plugins;
	const struct bt_config_plugin_set *sets[] = {
		&plugins->points[point], &plugins->multi_point};
	int64_t weights[BT_PLUGINS_MAX] = {0};
	struct bt_framework_point *list = &framework->points[point];
	int64_t total = 0;

	for (size_t s = 0; s < BT_ARRAY_LENGTH(sets); s++) {
		for (uint32_t i = 0; i < sets[s]->enabled.count; i++) {
			const struct bt_config_plugin *item = &sets[s]->enabled.items[i];
			const struct bt_plugin *plugin =
				bt_framework_find_plugin(framework, item->name);
			int64_t weight = item->weight != 0 ? item->weight : 1;

			if (plugin == NULL || !bt_plugin_implements(plugin->ops, point) ||
				weights[plugin->index] != 0) {
				continue;
			}
			/*
			 * The right side is 2^63-1 - total, computed as in Go. Upstream quirk, spec
			 * 02 section 8.6: if the total is negative, the right side wraps around and
			 * every further plugin is refused.
			 */
			if (weight * BT_SCORE_MAX >
				(int64_t)((uint64_t)BT_TOTAL_SCORE_MAX - (uint64_t)total)) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"%s: total score of Score plugins could overflow", prefix);
			}
			weights[plugin->index] = weight;
			total += weight * BT_SCORE_MAX;
		}
	}
	for (uint32_t i = 0; i < list->entries.count; i++) {
		struct bt_framework_entry *entry = &list->entries.items[i];

		/* Every entry of the list comes from one of the two sets, so each has a weight. */
		BT_ASSERT(weights[entry->plugin->index] != 0);
		entry->weight = weights[entry->plugin->index];
	}
	return BERTH_OK;
}

static const struct bt_plugin_args no_args = {.kind = BT_ARGS_NONE};

int bt_plugin_create(const struct bt_plugin_ops *ops, const struct bt_plugin_args *args,
	const struct bt_handle *handle, struct bt_plugin **out_plugin, struct berth_error *err)
{
	if (ops->create != NULL) {
		return ops->create(ops, args, handle, out_plugin, err);
	}
	if (ops->args_kind != BT_ARGS_NONE && (args == NULL || args->kind != ops->args_kind)) {
		/* Names of the types as upstream prints them. */
		const char *wanted = bt_plugin_args_kind_name(ops->args_kind);
		const char *given = args != NULL ? bt_plugin_args_kind_name(args->kind) : NULL;
		const char *package = given != NULL ? "*config." : "";

		if (given == NULL) {
			given = args != NULL && args->kind == BT_ARGS_OTHER ? "*runtime.Unknown"
									    : "<nil>";
		}
		return ops->args_error != NULL
			? bt_error_set(err, BERTH_ERR_INVALID, "%s %s, got %s%s", ops->args_error,
				  wanted, package, given)
			: bt_error_set(err, BERTH_ERR_INVALID, "got args of type %s%s, want *%s",
				  package, given, wanted);
	}
	int code = ops->args_kind != BT_ARGS_NONE
		? bt_plugin_args_validate(args, handle->gates, err)
		: BERTH_OK;
	if (code != BERTH_OK) {
		return code;
	}
	struct bt_plain_plugin *plugin =
		bt_calloc(1, ops->size != 0 ? ops->size : sizeof(struct bt_plain_plugin));

	plugin->base.ops = ops;
	plugin->handle = handle;
	code = ops->init != NULL ? ops->init(&plugin->base, args, err) : BERTH_OK;
	if (code != BERTH_OK) {
		bt_plugin_destroy(&plugin->base);
		return code;
	}
	*out_plugin = &plugin->base;
	return BERTH_OK;
}

void bt_plugin_destroy(struct bt_plugin *plugin)
{
	if (plugin->ops->destroy != NULL) {
		plugin->ops->destroy(plugin);
	} else {
		bt_free(plugin);
	}
}

bool bt_plugin_implements(const struct bt_plugin_ops *ops, enum bt_extension_point point)
{
	const bool has[BT_POINT__COUNT] = {
		[BT_POINT_PRE_FILTER] = ops->pre_filter != NULL,
		[BT_POINT_FILTER] = ops->filter != NULL,
		[BT_POINT_POST_FILTER] = ops->post_filter != NULL,
		[BT_POINT_RESERVE] = ops->reserve != NULL || ops->unreserve != NULL,
		[BT_POINT_PRE_SCORE] = ops->pre_score != NULL,
		[BT_POINT_SCORE] = ops->score != NULL,
		[BT_POINT_PRE_BIND] = ops->pre_bind != NULL,
		[BT_POINT_BIND] = ops->bind != NULL,
		[BT_POINT_POST_BIND] = ops->post_bind != NULL,
		[BT_POINT_PERMIT] = ops->permit != NULL,
		[BT_POINT_PRE_ENQUEUE] = ops->pre_enqueue != NULL,
		[BT_POINT_QUEUE_SORT] = ops->less != NULL,
		[BT_POINT_PLACEMENT_GENERATE] = ops->generate_placements != NULL,
		[BT_POINT_PLACEMENT_SCORE] = ops->score_placement != NULL,
	};

	return has[point];
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

bool bt_framework_has_at(const struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_plugin *plugin)
{
	for (uint32_t i = 0; i < framework->points[point].entries.count; i++) {
		if (framework->points[point].entries.items[i].plugin == plugin) {
			return true;
		}
	}
	return false;
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

/**
 * Collects the names of the extenders' managed resources with ignoredByScheduler. The names are
 * borrowed from the configuration. Returns the number of names. If out_names is NULL, only counts
 * the names.
 */
static uint32_t collect_extender_resources(const struct bt_config *config, struct bt_str *out_names)
{
	uint32_t count = 0;

	for (uint32_t e = 0; e < config->document.extenders.count; e++) {
		const struct bt_config_extender *extender = &config->document.extenders.items[e];

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

/**
 * Returns the arguments of a plugin. In the arguments of NodeResourcesFit, the extenders' managed
 * resources with ignoredByScheduler, if there are any, replace ignoredResources (spec 10 section
 * 7.2).
 */
static const struct bt_plugin_args *find_args(struct bt_framework *framework, struct bt_str name)
{
	const struct bt_plugin_args *args = bt_config_profile_find_args(framework->profile, name);

	if (args == NULL) {
		return &no_args;
	}
	if (args->kind != BT_ARGS_NODE_RESOURCES_FIT) {
		return args;
	}
	uint32_t count = collect_extender_resources(framework->config, NULL);
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
		if (bt_plugin_create(ops, find_args(framework, name), &framework->handle, &plugin,
			    &cause) != BERTH_OK) {
			int code = set_quoted(err,
				cause.code != BERTH_OK ? cause.code : BERTH_ERR_INTERNAL,
				"initializing plugin ", name, ": %s", berth_error_message(&cause));

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

/**
 * Checks the numbers of queue sort, bind and placement generate plugins: spec 02 section 8.4 steps
 * 6 to 8.
 */
static int check_counts(const struct bt_framework *framework, struct berth_error *err)
{
	uint32_t queue_sorts = framework->points[BT_POINT_QUEUE_SORT].entries.count;

	if (queue_sorts != 1) {
		return set_quoted(err, BERTH_ERR_INVALID,
			"only one queue sort plugin required for profile with scheduler name ",
			framework->scheduler_name, ", but got %u", queue_sorts);
	}
	if (framework->points[BT_POINT_BIND].entries.count == 0) {
		return set_quoted(err, BERTH_ERR_INVALID,
			"at least one bind plugin is needed for profile with scheduler name ",
			framework->scheduler_name, "%s", "");
	}
	if (framework->points[BT_POINT_PLACEMENT_GENERATE].entries.count > 1) {
		return set_quoted(err, BERTH_ERR_INVALID,
			"at most one placement generate plugin is allowed for profile with "
			"scheduler name ",
			framework->scheduler_name, "%s", "");
	}
	return BERTH_OK;
}

/**
 * Collects the plugins whose Sign makes a signature (spec 02 section 6.1). Signatures are off in
 * four cases: gate OpportunisticBatching is off, extenders are configured, a plugin does not
 * implement Sign, or a plugin's Sign refuses every pod.
 */
static void collect_sign_plugins(struct bt_framework *framework)
{
	static const enum bt_extension_point points[] = {
		BT_POINT_PRE_FILTER, BT_POINT_FILTER, BT_POINT_PRE_SCORE, BT_POINT_SCORE};
	struct bt_plugin_set seen = {0};
	bool is_asked = bt_gate_enabled(framework->handle.gates, BT_GATE_OPPORTUNISTIC_BATCHING) &&
		framework->config->document.extenders.count == 0;
	uint32_t refusal_count = 0;

	framework->sign_plugins = BT_NEW_ARRAY(struct bt_plugin *, framework->instances.count);
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

/** Creates the instances and fills the lists of all points. Spec 02 section 8.4. */
static int build(
	struct bt_framework *framework, const struct bt_registry *registry, struct berth_error *err)
{
	const struct bt_config_profile *profile = framework->profile;
	struct bt_plugin_set present[BT_POINT__COUNT] = {0};
	struct bt_text_set needed = {0}; /* plugins that some list of the profile enables */
	struct bt_text_set names = {0};
	int code = BERTH_OK;

	if (profile->plugins == NULL) {
		return BERTH_OK;
	}
	for (int p = 0; p <= BT_POINT__COUNT; p++) {
		const struct bt_config_plugin_set *set = p < BT_POINT__COUNT
			? &profile->plugins->points[p]
			: &profile->plugins->multi_point;

		for (uint32_t i = 0; i < set->enabled.count; i++) {
			(void)bt_text_set_add(&needed, set->enabled.items[i].name);
		}
	}
	for (uint32_t i = 0; i < profile->plugin_config.count && code == BERTH_OK; i++) {
		struct bt_str name = profile->plugin_config.items[i].name;

		if (!bt_text_set_add(&names, name)) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"repeated config for plugin %.*s", BT_STR_ARG(name));
		}
	}
	bt_text_set_finish(&names);
	if (code == BERTH_OK) {
		code = create_instances(framework, registry, &needed, err);
	}
	bt_text_set_finish(&needed);
	/* Spec 02 section 8.4 step 4, then section 8.5. */
	for (int p = 0; p < BT_POINT__COUNT && code == BERTH_OK; p++) {
		code = add_explicit(framework, (enum bt_extension_point)p, &present[p], err);
	}
	for (int p = 0; p < BT_POINT__COUNT && code == BERTH_OK; p++) {
		code = expand_multi_point(framework, (enum bt_extension_point)p, &present[p], err);
	}
	if (code == BERTH_OK) {
		code = check_counts(framework, err);
	}
	if (code == BERTH_OK) {
		code = set_weights(framework, BT_POINT_SCORE, "score plugins", err);
	}
	if (code == BERTH_OK) {
		code = set_weights(
			framework, BT_POINT_PLACEMENT_SCORE, "placement score plugins", err);
	}
	if (code != BERTH_OK) {
		return code;
	}
	collect_sign_plugins(framework);
	if (bt_gate_enabled(framework->handle.gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION)) {
		struct bt_plugin *candidate =
			bt_framework_find_plugin(framework, BT_STR("DefaultPreemption"));

		if (candidate != NULL && candidate->ops->pod_group_post_filter != NULL) {
			framework->pod_group_post_filter = candidate;
		}
	}
	return BERTH_OK;
}

int bt_framework_create(const struct bt_registry *registry, struct bt_config *config,
	uint32_t profile_index, struct bt_state *state, struct bt_nominator *nominator,
	struct bt_framework **out_framework, struct berth_error *err)
{
	struct bt_framework *framework = BT_NEW(struct bt_framework);

	framework->config = bt_config_ref(config);
	framework->profile = &config->document.profiles.items[profile_index];
	framework->scheduler_name = framework->profile->scheduler_name;
	framework->nominator = nominator;
	framework->handle = (struct bt_handle){
		.state = state,
		.gates = &config->gates,
		.framework = framework,
		.scheduler_name = framework->scheduler_name,
		.snapshot = {.state = state},
	};
	int code = build(framework, registry, err);
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
		bt_plugin_destroy(framework->instances.items[i]);
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

/**
 * Checks a profile against the profiles created before. Spec 02 section 9 has the order of the
 * checks.
 */
static int check_profile(const struct bt_profiles *profiles, const struct bt_framework *framework,
	struct berth_error *err)
{
	if (framework->scheduler_name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "scheduler name is needed");
	}
	if (framework->profile->plugins == NULL) {
		return set_quoted(err, BERTH_ERR_INVALID,
			"plugins required for profile with scheduler name ",
			framework->scheduler_name, "%s", "");
	}
	if (bt_profiles_find(profiles, framework->scheduler_name) != NULL) {
		return set_quoted(err, BERTH_ERR_INVALID, "duplicate profile with scheduler name ",
			framework->scheduler_name, "%s", "");
	}
	if (profiles->frameworks.count == 0) {
		return BERTH_OK;
	}
	/* All profiles share one queue, so all must have the same queue sort plugin. */
	const struct bt_framework *first = profiles->frameworks.items[0];
	struct bt_str name = bt_str_from(
		framework->points[BT_POINT_QUEUE_SORT].entries.items[0].plugin->ops->name);
	struct bt_str first_name =
		bt_str_from(first->points[BT_POINT_QUEUE_SORT].entries.items[0].plugin->ops->name);

	if (!bt_str_equal(name, first_name)) {
		struct bt_strbuf text = {0};

		bt_strbuf_append_c(&text, "different queue sort plugins for profile ");
		bt_strbuf_append_quoted(&text, framework->scheduler_name);
		bt_strbuf_append_c(&text, ": ");
		bt_strbuf_append_quoted(&text, name);
		bt_strbuf_append_c(&text, ", first: ");
		bt_strbuf_append_quoted(&text, first_name);
		return bt_error_take(err, BERTH_ERR_INVALID, &text);
	}
	/*
	 * No in-tree queue sort plugin has arguments, so comparing the raw arguments of other
	 * plugins is enough.
	 */
	const struct bt_plugin_args *args = bt_config_profile_find_args(framework->profile, name);
	const struct bt_plugin_args *first_args = bt_config_profile_find_args(first->profile, name);
	if (args != first_args &&
		(args == NULL || first_args == NULL || args->kind != first_args->kind ||
			(args->kind == BT_ARGS_OTHER &&
				!bt_str_equal(args->raw, first_args->raw)))) {
		return set_quoted(err, BERTH_ERR_INVALID,
			"different queue sort plugin args for profile ", framework->scheduler_name,
			"%s", "");
	}
	return BERTH_OK;
}

int bt_profiles_create(const struct bt_registry *registry, struct bt_config *config,
	struct bt_state *state, struct bt_nominator *nominator, struct bt_profiles *out_profiles,
	struct berth_error *err)
{
	struct bt_profiles profiles = {0};
	uint32_t profile_count = config->document.profiles.count;
	int code = BERTH_OK;

	/*
	 * If an extender has managed resources with ignoredByScheduler, find_args changes the
	 * NodeResourcesFit arguments of every profile. Spec 10 section 7.2.
	 */
	bool changes_args = collect_extender_resources(config, NULL) != 0;
	for (uint32_t i = 0; changes_args && i < profile_count; i++) {
		if (bt_config_profile_find_args(&config->document.profiles.items[i],
			    BT_STR("NodeResourcesFit")) == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"couldn't build extenders: can't find NodeResourcesFitArgs in "
				"plugin "
				"config");
		}
	}
	for (uint32_t i = 0; i < profile_count && code == BERTH_OK; i++) {
		struct bt_framework *framework = NULL;

		code = bt_framework_create(registry, config, i, state, nominator, &framework, err);
		if (code != BERTH_OK) {
			struct bt_str name = config->document.profiles.items[i].scheduler_name;

			code = bt_error_wrap(err, code, "creating profile for scheduler name %.*s",
				BT_STR_ARG(name));
			break;
		}
		code = check_profile(&profiles, framework, err);
		if (code == BERTH_OK) {
			bt_vec_push(&profiles.frameworks, framework);
		} else {
			bt_framework_destroy(framework);
		}
	}
	if (code == BERTH_OK && profiles.frameworks.count == 0) {
		code = bt_error_set(err, BERTH_ERR_INVALID, "at least one profile is required");
	} else if (code != BERTH_OK) {
		code = bt_error_wrap(err, code, "initializing profiles");
	}
	if (code != BERTH_OK) {
		bt_profiles_finish(&profiles);
		return code;
	}
	*out_profiles = profiles;
	return BERTH_OK;
}

void bt_profiles_finish(struct bt_profiles *profiles)
{
	for (uint32_t i = profiles->frameworks.count; i-- > 0;) {
		bt_framework_destroy(profiles->frameworks.items[i]);
	}
	bt_vec_finish(&profiles->frameworks);
}

struct bt_framework *bt_profiles_find(
	const struct bt_profiles *profiles, struct bt_str scheduler_name)
{
	for (uint32_t i = 0; i < profiles->frameworks.count; i++) {
		if (bt_str_equal(profiles->frameworks.items[i]->scheduler_name, scheduler_name)) {
			return profiles->frameworks.items[i];
		}
	}
	return NULL;
}
