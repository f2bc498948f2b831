/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

#include <inttypes.h>

struct bt_status bt_runner_wrap(struct bt_arena *arena, const char *before,
	const struct bt_plugin *plugin, const char *after, const struct bt_status *status)
{
	struct bt_strbuf text = {0};
	struct bt_status wrapped;

	bt_strbuf_append_c(&text, before);
	bt_strbuf_append_quoted(&text, bt_str_from(plugin->ops->name));
	bt_strbuf_append_c(&text, after);
	bt_strbuf_append_str(&text, bt_status_wrapped_text(status, arena));
	wrapped = bt_status_error_text(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return wrapped;
}

struct bt_status bt_runner_invalid_score(
	struct bt_arena *arena, const char *before, const struct bt_plugin *plugin, int64_t score)
{
	struct bt_strbuf text = {0};
	struct bt_status status;

	bt_strbuf_append_c(&text, before);
	bt_strbuf_append_quoted(&text, bt_str_from(plugin->ops->name));
	bt_strbuf_printf(&text,
		" returns an invalid score %" PRId64
		", it should in the range of [%d, %d] after normalizing",
		score, BT_SCORE_MIN, BT_SCORE_MAX);
	status = bt_status_error_text(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

struct bt_status bt_run_pre_enqueue(struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_plugin **out_gating_plugin)
{
	return bt_run_pre_enqueue_from(framework, pod, arena, NULL, out_gating_plugin);
}

/** One plugin; timed: as one of a sampled run. */
static struct bt_status call_pre_enqueue(const struct bt_framework *framework,
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena, bool timed)
{
	int64_t started_ns = timed ? bt_profile_now(framework->metrics) : 0;
	struct bt_status status = plugin->ops->pre_enqueue(plugin, pod, arena);

	bt_runner_plugin_ran(framework, plugin, BT_TIMED_PRE_ENQUEUE, &status, started_ns);
	return status;
}

static struct bt_status run_pre_enqueue(struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_arena *arena, struct bt_plugin *first,
	struct bt_plugin **out_gating_plugin)
{
	bool timed = bt_profile_samples(framework->metrics);
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_ENQUEUE];

	*out_gating_plugin = NULL;
	if (first != NULL && first->ops->pre_enqueue != NULL) {
		struct bt_status status = call_pre_enqueue(framework, first, pod, arena, timed);

		if (!bt_status_is_success(&status)) {
			*out_gating_plugin = first;
			return bt_runner_with_plugin(status, first);
		}
	}
	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_status status;

		if (plugin == first) {
			continue;
		}
		status = call_pre_enqueue(framework, plugin, pod, arena, timed);
		if (!bt_status_is_success(&status)) {
			*out_gating_plugin = plugin;
			return bt_runner_with_plugin(status, plugin);
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_pre_enqueue_from(struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_arena *arena, struct bt_plugin *first,
	struct bt_plugin **out_gating_plugin)
{
	int64_t started_ns = bt_profile_now(framework->metrics);
	struct bt_status status = run_pre_enqueue(framework, pod, arena, first, out_gating_plugin);

	/* Upstream quirk, spec 02 section 14: whatever came of it. */
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_PRE_ENQUEUE, BT_STATUS_SUCCESS, started_ns);
	return status;
}

void bt_run_pre_enqueue_known(const struct bt_framework *framework)
{
	(void)bt_profile_point_ran(framework->metrics, BT_TIMED_PRE_ENQUEUE, BT_STATUS_SUCCESS,
		bt_profile_now(framework->metrics));
}
