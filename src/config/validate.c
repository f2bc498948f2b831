/* SPDX-License-Identifier: Apache-2.0 */
#include "config/validate.h"

#include "api/resources.h"
#include "base/duration.h"
#include "base/text_set.h"

static void check_required(
	struct bt_str value, const struct bt_path *path, struct bt_config_errors *errors)
{
	if (value.length == 0) {
		bt_config_errors_add(errors, path, "Required value");
	}
}

static void check_leader_election(
	const struct bt_config_leader_election *election, struct bt_config_errors *errors)
{
	const struct bt_path *path = BT_PATH_NAME(NULL, "leaderElection");
	if (!election->leader_elect) {
		return;
	}
	bt_duration_check(election->lease_duration_ns, 1, "must be greater than zero",
		BT_PATH_NAME(path, "leaseDuration"), errors);
	bt_duration_check(election->renew_deadline_ns, 1, "must be greater than zero",
		BT_PATH_NAME(path, "renewDeadline"), errors);
	bt_duration_check(election->retry_period_ns, 1, "must be greater than zero",
		BT_PATH_NAME(path, "retryPeriod"), errors);
	if (election->lease_duration_ns <= election->renew_deadline_ns) {
		/*
		 * Upstream quirk (spec 10 section 8.2): the path names leaseDuration, but the
		 * printed value is the value of renewDeadline.
		 */
		struct bt_strbuf text = {0};
		bt_duration_format(election->renew_deadline_ns, &text);
		bt_config_errors_add(errors, BT_PATH_NAME(path, "leaseDuration"),
			"Invalid value: \"%s\": must be greater than `RenewDeadline`",
			bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
	}
	check_required(election->resource_lock, BT_PATH_NAME(path, "resourceLock"), errors);
	check_required(
		election->resource_namespace, BT_PATH_NAME(path, "resourceNamespace"), errors);
	check_required(election->resource_name, BT_PATH_NAME(path, "resourceName"), errors);
	if (!bt_str_equal_c(election->resource_lock, "leases")) {
		bt_config_errors_add(errors, BT_PATH_NAME(path, "resourceLock"),
			"Invalid value: %s: resourceLock value must be \"leases\"",
			bt_config_errors_quote(errors, election->resource_lock));
	}
}

/* Spec: 10 section 8.3. */
static bool is_removed_plugin(struct bt_str name)
{
	return bt_str_equal_c(name, "AzureDiskLimits") || bt_str_equal_c(name, "CinderLimits") ||
		bt_str_equal_c(name, "EBSLimits") || bt_str_equal_c(name, "GCEPDLimits");
}

static void refuse_removed(
	struct bt_str name, const struct bt_path *path, struct bt_config_errors *errors)
{
	bt_config_errors_add(errors, path,
		"Invalid value: %s: was invalid in version \"" BT_CONFIG_API_VERSION
		"\" (KubeSchedulerConfiguration is version \"" BT_CONFIG_API_VERSION "\")",
		bt_config_errors_quote(errors, name));
}

static void check_percentage(
	int32_t percentage, const struct bt_path *path, struct bt_config_errors *errors)
{
	if (percentage < 0 || percentage > 100) {
		bt_config_errors_add(errors, path, "Invalid value: %d: not in valid range [0-100]",
			(int)percentage);
	}
}

static void check_profile(const struct bt_config_profile *profile, const struct bt_gates *gates,
	const struct bt_path *path, struct bt_config_errors *errors)
{
	check_required(profile->scheduler_name, BT_PATH_NAME(path, "schedulerName"), errors);
	if (profile->percentage_of_nodes_to_score.present) {
		check_percentage(profile->percentage_of_nodes_to_score.value,
			BT_PATH_NAME(path, "percentageOfNodesToScore"), errors);
	}
	if (profile->plugins != NULL) {
		/* Upstream validates neither multiPoint nor the placement points. */
		const struct bt_path *plugins_path = BT_PATH_NAME(path, "plugins");
		for (size_t k = 0; k < BT_CONFIG_PLUGINS_POINTS; k++) {
			enum bt_extension_point point = bt_config_plugins_points[k];
			const struct bt_config_plugin_set *set = &profile->plugins->points[point];
			const struct bt_path *point_path = BT_PATH_STR(
				plugins_path, bt_str_from(bt_extension_point_member(point)));
			const struct bt_path *list_path = BT_PATH_NAME(point_path, "enabled");
			for (uint32_t i = 0; i < set->enabled.count; i++) {
				if (is_removed_plugin(set->enabled.items[i].name)) {
					refuse_removed(set->enabled.items[i].name,
						BT_PATH_INDEX(list_path, i), errors);
				}
			}
		}
	}

	const struct bt_path *list_path = BT_PATH_NAME(path, "pluginConfig");
	struct bt_text_set names = {0};
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		const struct bt_config_plugin_config *config = &profile->plugin_config.items[i];
		const struct bt_path *here = BT_PATH_INDEX(list_path, i);
		if (!bt_text_set_add(&names, config->name)) {
			bt_config_errors_add(errors, here, "Duplicate value: %s",
				bt_config_errors_quote(errors, config->name));
		} else if (is_removed_plugin(config->name)) {
			refuse_removed(config->name, here, errors);
		} else if (config->args.kind != BT_ARGS_NODE_RESOURCES_FIT) {
			/*
			 * Upstream's validation has no check for NodeResourcesFit arguments; the
			 * plugin's constructor checks them.
			 */
			bt_plugin_args_check(
				&config->args, gates, BT_PATH_NAME(here, "args"), errors);
		}
	}
	bt_text_set_finish(&names);
}

/* Spec: 10 section 8.4. */
static bool set_lists_equal(
	const struct bt_config_plugin_set *a, const struct bt_config_plugin_set *b)
{
	if (a->enabled.count != b->enabled.count || a->disabled.count != b->disabled.count) {
		return false;
	}
	for (uint32_t i = 0; i < a->enabled.count; i++) {
		if (!bt_str_equal(a->enabled.items[i].name, b->enabled.items[i].name) ||
			a->enabled.items[i].weight != b->enabled.items[i].weight) {
			return false;
		}
	}
	for (uint32_t i = 0; i < a->disabled.count; i++) {
		if (!bt_str_equal(a->disabled.items[i].name, b->disabled.items[i].name)) {
			return false;
		}
	}
	return true;
}

static void append_plugins(const char *name, const struct bt_config_plugin *items, uint32_t count,
	struct bt_config_errors *errors, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "\"%s\":", name);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(out, "%s{\"Name\":%s,\"Weight\":%d}", i > 0 ? "," : "[",
			bt_config_errors_quote_json(errors, items[i].name), (int)items[i].weight);
	}
	bt_strbuf_append_c(out, count > 0 ? "]" : "null");
}

static void refuse_queue_sort(const struct bt_config_plugin_set *set, const struct bt_path *path,
	struct bt_config_errors *errors)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_char(&text, '{');
	append_plugins("Enabled", set->enabled.items, set->enabled.count, errors, &text);
	bt_strbuf_append_char(&text, ',');
	append_plugins("Disabled", set->disabled.items, set->disabled.count, errors, &text);
	bt_strbuf_append_char(&text, '}');
	bt_config_errors_add(errors, path, "Invalid value: %s: must be the same for all profiles",
		bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
}

/* Formats arguments as text, for comparison and for messages. */
static void append_args(const struct bt_plugin_args *args, struct bt_strbuf *out)
{
	if (args == NULL || args->kind == BT_ARGS_NONE) {
		bt_strbuf_append_c(out, "null");
	} else {
		bt_plugin_args_write(args, out);
	}
}

/*
 * Checks that the profile's arguments of the queue sort plugin `name` are the same as in the first
 * profile. expected: the arguments in the first profile, as text.
 */
static void check_queue_sort_args(const struct bt_config_profile *profile, struct bt_str name,
	struct bt_str expected, const struct bt_path *path, struct bt_config_errors *errors)
{
	const struct bt_path *config_path = BT_PATH_NAME(path, "pluginConfig");
	for (uint32_t i = 0; i < profile->plugin_config.count; i++) {
		struct bt_strbuf text = {0};
		if (!bt_str_equal(profile->plugin_config.items[i].name, name)) {
			continue;
		}
		append_args(&profile->plugin_config.items[i].args, &text);
		if (!bt_str_equal(bt_strbuf_str(&text), expected)) {
			bt_config_errors_add(errors, BT_PATH_NAME(config_path, "args"),
				"Invalid value: %s: queueSort must be the same for all profiles",
				bt_strbuf_c(&text));
		}
		bt_strbuf_finish(&text);
	}
}

static void check_profiles(const struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_config_errors *errors)
{
	const struct bt_path *path = BT_PATH_NAME(NULL, "profiles");
	struct bt_text_set names = {0};
	if (document->profiles.count == 0) {
		bt_config_errors_add(errors, path, "Required value");
		return;
	}
	for (uint32_t i = 0; i < document->profiles.count; i++) {
		const struct bt_config_profile *profile = &document->profiles.items[i];
		const struct bt_path *here = BT_PATH_INDEX(path, i);
		check_profile(profile, gates, here, errors);
		if (!bt_text_set_add(&names, profile->scheduler_name)) {
			/* Upstream quirk, spec 10 section 8.3: the value is printed as {}. */
			bt_config_errors_add(
				errors, BT_PATH_NAME(here, "schedulerName"), "Duplicate value: {}");
		}
	}
	bt_text_set_finish(&names);

	const struct bt_config_profile *first = &document->profiles.items[0];
	const struct bt_config_plugin_set *queue_sort =
		&first->plugins->points[BT_POINT_QUEUE_SORT];
	struct bt_str name =
		queue_sort->enabled.count > 0 ? queue_sort->enabled.items[0].name : BT_STR("");
	struct bt_strbuf expected = {0};

	if (queue_sort->enabled.count > 1) {
		bt_config_errors_add(errors,
			BT_PATH_NAME(NULL, "profiles[0].plugins.queueSort.Enabled"),
			"Invalid value: %lu: only one queue sort plugin can be enabled",
			(unsigned long)queue_sort->enabled.count);
	}
	append_args(bt_config_profile_find_args(first, name), &expected);
	for (uint32_t i = 1; i < document->profiles.count; i++) {
		const struct bt_config_profile *profile = &document->profiles.items[i];
		const struct bt_path *here = BT_PATH_INDEX(path, i);
		const struct bt_path *plugins_path = BT_PATH_NAME(here, "plugins");
		if (!set_lists_equal(queue_sort, &profile->plugins->points[BT_POINT_QUEUE_SORT])) {
			refuse_queue_sort(&profile->plugins->points[BT_POINT_QUEUE_SORT],
				BT_PATH_NAME(plugins_path, "queueSort"), errors);
		}
		check_queue_sort_args(profile, name, bt_strbuf_str(&expected), here, errors);
	}
	bt_strbuf_finish(&expected);
}

/* Spec: 10 section 8.6. */
static void check_managed_resource(struct bt_str name, const struct bt_path *path,
	struct bt_text_set *seen, struct bt_config_errors *errors)
{
	if (bt_label_key_check(name, path, errors) && !bt_resource_is_extended(name)) {
		bt_config_errors_add(errors, path,
			"Invalid value: %s: is an invalid extended resource name",
			bt_config_errors_quote(errors, name));
	}
	if (!bt_text_set_add(seen, name)) {
		bt_config_errors_add(errors, path,
			"Invalid value: %s: duplicate extender managed resource name",
			bt_config_errors_quote(errors, name));
	}
}

void bt_document_validate(const struct bt_config_document *document, const struct bt_gates *gates,
	struct bt_config_errors *errors)
{
	if (document->client_connection.burst < 0) {
		bt_config_errors_add(errors, BT_PATH_NAME(NULL, "clientConnection.burst"),
			"Invalid value: %d: must be non-negative",
			(int)document->client_connection.burst);
	}
	check_leader_election(&document->leader_election, errors);
	if (document->parallelism <= 0) {
		bt_config_errors_add(errors, BT_PATH_NAME(NULL, "parallelism"),
			"Invalid value: %d: should be an integer value greater than zero",
			(int)document->parallelism);
	}
	check_profiles(document, gates, errors);
	check_percentage(document->percentage_of_nodes_to_score.value,
		BT_PATH_NAME(NULL, "percentageOfNodesToScore"), errors);
	if (document->pod_initial_backoff_seconds <= 0) {
		bt_config_errors_add(errors, BT_PATH_NAME(NULL, "podInitialBackoffSeconds"),
			"Invalid value: %lld: must be greater than 0",
			(long long)document->pod_initial_backoff_seconds);
	}
	if (document->pod_max_backoff_seconds < document->pod_initial_backoff_seconds) {
		bt_config_errors_add(errors, BT_PATH_NAME(NULL, "podMaxBackoffSeconds"),
			"Invalid value: %lld: must be greater than or equal to "
			"PodInitialBackoffSeconds",
			(long long)document->pod_max_backoff_seconds);
	}

	const struct bt_path *path = BT_PATH_NAME(NULL, "extenders");
	struct bt_text_set seen = {0};
	uint32_t binder_count = 0;
	for (uint32_t i = 0; i < document->extenders.count; i++) {
		const struct bt_config_extender *extender = &document->extenders.items[i];
		const struct bt_path *here = BT_PATH_INDEX(path, i);
		const struct bt_path *list_path = BT_PATH_NAME(here, "managedResources");
		if (extender->prioritize_verb.length > 0 && extender->weight <= 0) {
			bt_config_errors_add(errors, BT_PATH_NAME(here, "weight"),
				"Invalid value: %lld: must have a positive weight applied to it",
				(long long)extender->weight);
		}
		binder_count += extender->bind_verb.length > 0;
		for (uint32_t k = 0; k < extender->managed_resources.count; k++) {
			const struct bt_path *resource_path = BT_PATH_INDEX(list_path, k);
			check_managed_resource(extender->managed_resources.items[k].name,
				BT_PATH_NAME(resource_path, "name"), &seen, errors);
		}
	}
	if (binder_count > 1) {
		bt_config_errors_add(errors, path,
			"Invalid value: \"found %lu extenders implementing bind\": only one "
			"extender can implement bind",
			(unsigned long)binder_count);
	}
	bt_text_set_finish(&seen);
}
