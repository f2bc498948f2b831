/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/profile_points.h"

#include "base/log.h"

int bt_profile_set_quoted(struct berth_error *err, int code, struct bt_str before,
	struct bt_str name, struct bt_str after)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_str(&text, before);
	bt_strbuf_append_quoted(&text, name);
	bt_strbuf_append_str(&text, after);
	(void)bt_error_set(err, code, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

/** `<point>Plugin "<name>" does not exist` */
static int set_missing(struct berth_error *err, enum bt_extension_point point, struct bt_str name)
{
	struct bt_strbuf before = {0};
	int code;

	bt_strbuf_printf(&before, "%sPlugin ", bt_extension_point_name(point));
	code = bt_profile_set_quoted(
		err, BERTH_ERR_INVALID, bt_strbuf_str(&before), name, BT_STR(" does not exist"));
	bt_strbuf_finish(&before);
	return code;
}

/** `plugin "<name>"<middle><point>Plugin<end>` */
static int set_plugin_problem(struct berth_error *err, struct bt_str name, const char *middle,
	enum bt_extension_point point, const char *end)
{
	struct bt_strbuf after = {0};
	int code;

	bt_strbuf_printf(&after, "%s%sPlugin%s", middle, bt_extension_point_name(point), end);
	code = bt_profile_set_quoted(
		err, BERTH_ERR_INVALID, BT_STR("plugin "), name, bt_strbuf_str(&after));
	bt_strbuf_finish(&after);
	return code;
}

static int set_registered_twice(
	struct berth_error *err, struct bt_str name, enum bt_extension_point point)
{
	return set_plugin_problem(err, name, " already registered as \"", point, "\"");
}

/** The point's own list, as configured. Spec 02 section 8.4 step 4. */
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
			return set_plugin_problem(err, name, " does not extend ", point, " plugin");
		}
		if (bt_plugin_set_has(out_present, plugin->index)) {
			return set_registered_twice(err, name, point);
		}
		bt_plugin_set_add(out_present, plugin->index);
		bt_vec_push(&framework->points[point].entries, entry);
	}
	return BERTH_OK;
}

/** Plugins that the point's disabled list names. Returns false when it holds "*". */
static bool collect_disabled(const struct bt_framework *framework, enum bt_extension_point point,
	struct bt_plugin_set *out_disabled)
{
	const struct bt_config_plugin_set *set = &framework->profile->plugins->points[point];

	for (uint32_t i = 0; i < set->disabled.count; i++) {
		struct bt_str name = set->disabled.items[i].name;
		const struct bt_plugin *plugin;

		if (bt_str_equal(name, BT_STR("*"))) {
			return false;
		}
		plugin = bt_framework_find_plugin(framework, name);
		if (plugin != NULL) {
			bt_plugin_set_add(out_disabled, plugin->index);
		}
	}
	return true;
}

/** Final order of a point: overrides, then those of multiPoint, then the other explicit ones. */
static void order_entries(struct bt_framework_point *point, const struct bt_plugin_set *overrides,
	struct bt_plugin *const *taken, uint32_t taken_count)
{
	struct bt_plugin *explicit_ones[BT_PLUGINS_MAX];
	uint32_t explicit_count = point->entries.count;

	for (uint32_t i = 0; i < explicit_count; i++) {
		explicit_ones[i] = point->entries.items[i].plugin;
	}
	point->entries.count = 0;
	for (uint32_t i = 0; i < explicit_count; i++) {
		if (bt_plugin_set_has(overrides, explicit_ones[i]->index)) {
			struct bt_framework_entry entry = {.plugin = explicit_ones[i]};

			bt_vec_push(&point->entries, entry);
		}
	}
	for (uint32_t i = 0; i < taken_count; i++) {
		struct bt_framework_entry entry = {.plugin = taken[i]};

		bt_vec_push(&point->entries, entry);
	}
	for (uint32_t i = 0; i < explicit_count; i++) {
		if (!bt_plugin_set_has(overrides, explicit_ones[i]->index)) {
			struct bt_framework_entry entry = {.plugin = explicit_ones[i]};

			bt_vec_push(&point->entries, entry);
		}
	}
}

/** Spec 02 section 8.5. present: the point's explicit plugins. */
static int expand_multi_point(struct bt_framework *framework, enum bt_extension_point point,
	const struct bt_plugin_set *present, struct berth_error *err)
{
	const struct bt_config_plugin_set *multi_point = &framework->profile->plugins->multi_point;
	struct bt_plugin *taken[BT_PLUGINS_MAX];
	struct bt_plugin_set taken_set = {0};
	struct bt_plugin_set overrides = {0};
	struct bt_plugin_set disabled = {0};
	uint32_t taken_count = 0;

	if (!collect_disabled(framework, point, &disabled)) {
		return BERTH_OK;
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
	order_entries(&framework->points[point], &overrides, taken, taken_count);
	return BERTH_OK;
}

int bt_profile_build_points(struct bt_framework *framework, struct berth_error *err)
{
	struct bt_plugin_set present[BT_POINT__COUNT] = {0};
	int code = BERTH_OK;

	for (int p = 0; p < BT_POINT__COUNT && code == BERTH_OK; p++) {
		code = add_explicit(framework, (enum bt_extension_point)p, &present[p], err);
	}
	for (int p = 0; p < BT_POINT__COUNT && code == BERTH_OK; p++) {
		code = expand_multi_point(framework, (enum bt_extension_point)p, &present[p], err);
	}
	return code;
}

int bt_profile_set_weights(struct bt_framework *framework, enum bt_extension_point point,
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
			/* Upstream quirk, spec 02 section 8.6: after a negative total the right
			 * side wraps around and every further plugin is refused. */
			/* 2^63-1 - total as Go computes it. */
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

		/* Every entry of the list comes from one of the two sets. */
		BT_ASSERT(weights[entry->plugin->index] != 0);
		entry->weight = weights[entry->plugin->index];
	}
	return BERTH_OK;
}
