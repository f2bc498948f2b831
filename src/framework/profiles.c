/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "framework/profile_points.h"

/** `<before>"<name>"`, the name quoted as Go does. */
static int set_quoted(struct berth_error *err, struct bt_str before, struct bt_str name)
{
	return bt_profile_set_quoted(err, BERTH_ERR_INVALID, before, name, BT_STR(""));
}

static bool has_ignored_resources(const struct bt_config *config)
{
	for (uint32_t e = 0; e < bt_config_extender_count(config); e++) {
		const struct bt_config_extender *extender = bt_config_extender_at(config, e);

		for (uint32_t i = 0; i < extender->managed_resources.count; i++) {
			if (extender->managed_resources.items[i].ignored_by_scheduler) {
				return true;
			}
		}
	}
	return false;
}

/** Spec 10 section 7.2: somebody must be told to ignore what extenders manage. */
static int check_extender_resources(const struct bt_config *config, struct berth_error *err)
{
	if (!has_ignored_resources(config)) {
		return BERTH_OK;
	}
	for (uint32_t i = 0; i < bt_config_profile_count(config); i++) {
		const struct bt_config_profile *profile = bt_config_profile_at(config, i);

		if (bt_config_profile_find_args(profile, BT_STR("NodeResourcesFit")) == NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"couldn't build extenders: can't find NodeResourcesFitArgs in "
				"plugin "
				"config");
		}
	}
	return BERTH_OK;
}

static const struct bt_plugin *queue_sort_of(const struct bt_framework *framework)
{
	return framework->points[BT_POINT_QUEUE_SORT].entries.items[0].plugin;
}

/** Deep equality of a queue sort plugin's arguments; in-tree argument kinds belong to none. */
static bool args_equal(const struct bt_plugin_args *a, const struct bt_plugin_args *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	return a->kind == b->kind && (a->kind != BT_ARGS_OTHER || bt_str_equal(a->raw, b->raw));
}

/** All profiles order the one queue, so they must order it the same way. */
static int check_queue_sort(const struct bt_framework *framework, const struct bt_framework *first,
	struct berth_error *err)
{
	struct bt_str name = bt_str_from(queue_sort_of(framework)->ops->name);
	struct bt_str first_name = bt_str_from(queue_sort_of(first)->ops->name);

	if (!bt_str_equal(name, first_name)) {
		struct bt_strbuf text = {0};

		bt_strbuf_append_c(&text, "different queue sort plugins for profile ");
		bt_strbuf_append_quoted(&text, framework->scheduler_name);
		bt_strbuf_append_c(&text, ": ");
		bt_strbuf_append_quoted(&text, name);
		bt_strbuf_append_c(&text, ", first: ");
		bt_strbuf_append_quoted(&text, first_name);
		(void)bt_error_set(err, BERTH_ERR_INVALID, "%s", bt_strbuf_c(&text));
		bt_strbuf_finish(&text);
		return BERTH_ERR_INVALID;
	}
	if (!args_equal(bt_config_profile_find_args(framework->profile, name),
		    bt_config_profile_find_args(first->profile, name))) {
		return set_quoted(err, BT_STR("different queue sort plugin args for profile "),
			framework->scheduler_name);
	}
	return BERTH_OK;
}

/** Spec 02 section 9, in the order of its checks. */
static int check_profile(const struct bt_profiles *profiles, const struct bt_framework *framework,
	struct berth_error *err)
{
	if (framework->scheduler_name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "scheduler name is needed");
	}
	if (framework->profile->plugins == NULL) {
		return set_quoted(err, BT_STR("plugins required for profile with scheduler name "),
			framework->scheduler_name);
	}
	if (bt_profiles_find(profiles, framework->scheduler_name) != NULL) {
		return set_quoted(err, BT_STR("duplicate profile with scheduler name "),
			framework->scheduler_name);
	}
	if (profiles->frameworks.count == 0) {
		return BERTH_OK;
	}
	return check_queue_sort(framework, profiles->frameworks.items[0], err);
}

static int add_profile(struct bt_profiles *profiles, const struct bt_registry *registry,
	struct bt_config *config, uint32_t index, struct bt_state *state,
	struct bt_nominator *nominator, struct berth_error *err)
{
	struct bt_framework *framework = NULL;
	int code = bt_framework_create(registry, config, index, state, nominator, &framework, err);

	if (code != BERTH_OK) {
		struct bt_str name = bt_config_profile_at(config, index)->scheduler_name;

		return bt_error_wrap(
			err, code, "creating profile for scheduler name %.*s", BT_STR_ARG(name));
	}
	code = check_profile(profiles, framework, err);
	if (code != BERTH_OK) {
		bt_framework_destroy(framework);
		return code;
	}
	bt_vec_push(&profiles->frameworks, framework);
	return BERTH_OK;
}

int bt_profiles_create(const struct bt_registry *registry, struct bt_config *config,
	struct bt_state *state, struct bt_nominator *nominator, struct bt_profiles *out_profiles,
	struct berth_error *err)
{
	struct bt_profiles profiles = {0};
	int code = check_extender_resources(config, err);

	if (code != BERTH_OK) {
		return code;
	}
	for (uint32_t i = 0; i < bt_config_profile_count(config) && code == BERTH_OK; i++) {
		code = add_profile(&profiles, registry, config, i, state, nominator, err);
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
