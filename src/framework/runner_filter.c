/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/runner.h"

/** What RunFilter makes of a plugin's answer that is no success. Spec 02 section 5.3. */
BT_COLD
static struct bt_status interpret_failure(
	struct bt_arena *arena, const struct bt_plugin *plugin, struct bt_status status)
{
	if (!bt_status_is_rejected(&status)) {
		status = bt_runner_wrap(arena, "running ", plugin, " filter plugin: ", &status);
	}
	return bt_runner_with_plugin(status, plugin);
}

struct bt_status bt_run_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_FILTER];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_status status;

		if (bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		status = plugin->ops->filter(plugin, cycle, pod, node);
		if (!bt_status_is_success(&status)) {
			return interpret_failure(cycle->arena, plugin, status);
		}
	}
	return BT_STATUS_OK;
}

struct bt_status bt_run_filter_plugin(struct bt_framework *framework BT_UNUSED,
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct bt_status status = plugin->ops->filter(plugin, cycle, pod, node);

	return bt_status_is_success(&status) ? status
					     : interpret_failure(cycle->arena, plugin, status);
}

/** Adding the nominated pods of one node to copies of node and cycle. */
struct nominated_pass {
	struct bt_framework *framework;
	const struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	const struct bt_node_info *node;
	struct bt_cycle_state cycle_copy;
	struct bt_node_info node_copy;
	bool added; /* the copies are in use */
	struct bt_status status;
};

static bool add_nominated_pod(void *context, const struct bt_pod_info *nominated)
{
	struct nominated_pass *pass = context;

	if (nominated->priority < pass->pod->priority ||
		bt_str_equal(nominated->uid, pass->pod->uid)) {
		return true;
	}
	if (!pass->added) {
		bt_node_info_copy(&pass->node_copy, pass->node, pass->cycle->arena);
		bt_framework_clone_cycle(pass->framework, pass->cycle, &pass->cycle_copy);
		pass->added = true;
	}
	bt_node_info_add_pod(&pass->node_copy, pass->cycle->arena, nominated);
	pass->status = bt_run_pre_filter_add_pod(
		pass->framework, &pass->cycle_copy, pass->pod, nominated, &pass->node_copy);
	return bt_status_is_success(&pass->status);
}

struct bt_status bt_run_filter_with_nominated_pods(struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node)
{
	struct nominated_pass pass;
	struct bt_status status;

	if (framework->nominator == NULL || bt_nominator_is_empty(framework->nominator)) {
		return bt_run_filter(framework, cycle, pod, node);
	}
	pass = (struct nominated_pass){
		.framework = framework, .cycle = cycle, .pod = pod, .node = node};
	bt_nominator_for_node(
		framework->nominator, bt_node_info_name(node), add_nominated_pod, &pass);
	if (pass.added) {
		status = pass.status;
		if (bt_status_is_success(&status)) {
			status = bt_run_filter(framework, &pass.cycle_copy, pod, &pass.node_copy);
		}
		bt_cycle_state_finish(&pass.cycle_copy);
		if (!bt_status_is_success(&status)) {
			return status;
		}
	}
	return bt_run_filter(framework, cycle, pod, node);
}

struct bt_status bt_run_post_filter(struct bt_framework *framework, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	const struct bt_framework_point *point = &framework->points[BT_POINT_POST_FILTER];
	struct bt_status merged = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);

	*out_result = (struct bt_post_filter_result){0};
	if (cycle->skip_all_post_filter) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_POST_FILTER_SKIPPED);
	}
	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		struct bt_post_filter_result result = {0};
		struct bt_status status =
			plugin->ops->post_filter(plugin, cycle, pod, statuses, &result);

		if (bt_status_is_success(&status)) {
			*out_result = result;
			return status;
		}
		if (status.code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE) {
			*out_result = result;
			return bt_runner_with_plugin(status, plugin);
		}
		if (!bt_status_is_rejected(&status)) {
			struct bt_str text = {0};

			*out_result = (struct bt_post_filter_result){0};
			if (bt_status_as_error(&status, cycle->arena, &text)) {
				status = bt_status_error_text(cycle->arena, text);
			} else {
				status = bt_status_code_only(BT_STATUS_ERROR);
			}
			return bt_runner_with_plugin(status, plugin);
		}
		if (result.present && result.mode != BT_NOMINATING_NOOP) {
			*out_result = result;
		}
		for (uint32_t r = 0; r < bt_status_all_reason_count(&status); r++) {
			bt_status_append_reason(
				&merged, cycle->arena, bt_status_all_reason_at(&status, r));
		}
		if (merged.plugin == 0) {
			merged = bt_runner_with_plugin(merged, plugin);
		}
	}
	return merged;
}
