/* SPDX-License-Identifier: Apache-2.0 */
#include "server/custom_metrics.h"

#include <math.h>

#include "codec/json_edit.h"
#include "server/usage.h"

const struct bt_custom_metrics_version bt_custom_metrics_versions[BT_CUSTOM_METRICS_VERSIONS] = {
	{"custom.metrics.k8s.io", "v1beta2"},
	{"custom.metrics.k8s.io", "v1beta1"},
	{BT_EXTERNAL_METRICS_GROUP, "v1beta1"},
};

/**
 * Cuts the text before the separator off `*rest`, and trims the blanks around the cut text. false:
 * there is no separator, and `*rest` is spoilt.
 */
static bool cut_at(struct bt_str *rest, char separator, struct bt_str *out)
{
	*out = bt_str_trim(bt_str_cut(rest, separator), BT_STR_SPACE);
	return rest->data != NULL;
}

static bool parse_entry(const struct bt_api *api, struct bt_str *rest, struct bt_arena *arena,
	struct bt_custom_metric *out)
{
	int64_t brace = bt_str_find_char(*rest, '{');
	int64_t equals = bt_str_find_char(*rest, '=');
	struct bt_str labels = BT_STR("");
	struct bt_str between;
	struct bt_str level;

	*out = (struct bt_custom_metric){.value = 0};
	if (brace >= 0 && brace < equals) {
		if (!cut_at(rest, '{', &out->name) || !cut_at(rest, '}', &labels) ||
			!cut_at(rest, '=', &between) || between.length != 0) {
			return false;
		}
	} else if (!cut_at(rest, '=', &out->name)) {
		return false;
	}
	level = bt_str_trim(bt_str_cut(rest, ','), BT_STR_SPACE);
	struct bt_json_value *pairs = bt_json_new(arena, BT_JSON_OBJECT);
	while (labels.length != 0) { /* "queue=mail,kind=slow" */
		struct bt_str value = bt_str_cut(&labels, ',');
		struct bt_str name = bt_str_trim(bt_str_cut(&value, '='), BT_STR_SPACE);
		if (value.data == NULL || name.length == 0) {
			return false;
		}
		bt_json_set(arena, pairs, name,
			bt_json_new_str(arena, bt_str_trim(value, BT_STR_SPACE)));
	}
	out->labels = bt_str_map_from_json(arena, pairs);
	return out->name.length != 0 && bt_usage_level(api, level, &out->value);
}

struct bt_str bt_custom_metrics_of(const struct bt_json_value *object, const char *annotation)
{
	const struct bt_json_value *text =
		bt_json_find(bt_json_object_at(object, "metadata.annotations"), annotation);

	return text != NULL ? text->text : BT_STR("");
}

bool bt_custom_metric_next(const struct bt_api *api, struct bt_str *rest, struct bt_str name,
	const struct bt_selector *selector, struct bt_arena *arena,
	struct bt_custom_metric *out_metric)
{
	while (parse_entry(api, rest, arena, out_metric)) {
		if (bt_str_equal(out_metric->name, name) &&
			bt_selector_matches(selector, &out_metric->labels)) {
			return true;
		}
	}
	*rest = BT_STR("");
	return false;
}

bool bt_custom_metric_sum(const struct bt_api *api, const struct bt_json_value *object,
	const char *annotation, struct bt_str name, const struct bt_selector *selector,
	struct bt_arena *arena, double *out_sum)
{
	struct bt_str rest = bt_custom_metrics_of(object, annotation);
	struct bt_custom_metric metric;
	bool is_found = false;

	*out_sum = 0;
	while (bt_custom_metric_next(api, &rest, name, selector, arena, &metric)) {
		*out_sum += metric.value;
		is_found = true;
	}
	return is_found;
}

struct bt_str bt_custom_metric_quantity(struct bt_arena *arena, double value)
{
	return value >= 1e15 || fabs(value - round(value)) < 0.0005
		? bt_arena_printf(arena, "%.0f", value)
		: bt_arena_printf(arena, "%.0fm", value * 1000);
}
