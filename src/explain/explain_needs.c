/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/advice.h"
#include "explain/explain_private.h"

/** More changes than this are no answer to anybody, and every one of them costs a trial. */
#define REMEDIES_MAX 12
/** Of one obstacle's words: those of plugins may be any length. */
#define REASONS_BYTES_MAX 1024

void bt_needs_reset(struct bt_needs *needs)
{
	needs->obstacles.count = 0;
	needs->remedies.count = 0;
	needs->of_pod.count = 0;
	needs->fewest.count = 0;
	needs->distance = 0;
	needs->of_pod_distance = 0;
	needs->is_final = false;
	needs->is_too_small = false;
	needs->of_pod_is_too_small = false;
	needs->fewest_is_too_small = false;
}

void bt_needs_finish(struct bt_needs *needs)
{
	bt_vec_finish(&needs->obstacles);
	bt_vec_finish(&needs->remedies);
	bt_vec_finish(&needs->of_pod);
	bt_vec_finish(&needs->fewest);
}

/** Another amount of the same. */
static bool unite(struct bt_remedy *known, const struct bt_remedy *remedy)
{
	struct bt_remedy same = *remedy;

	if (known->kind == BT_REMEDY_TOLERATE && remedy->kind == BT_REMEDY_TOLERATE) {
		/* One toleration does for all taints of a key: of any value where values differ,
		 * likewise of any effect. */
		if (!bt_str_equal(known->key, remedy->key)) {
			return false;
		}
		if (!bt_str_equal(known->value, remedy->value)) {
			known->value = BT_STR("");
		}
		if (!bt_str_equal(known->effect, remedy->effect)) {
			known->effect = BT_STR("");
		}
		return true;
	}
	same.amount = known->amount;
	if (!bt_remedy_equal(known, &same)) {
		return false;
	}
	if (remedy->kind == BT_REMEDY_FREE_RESOURCE || remedy->kind == BT_REMEDY_LOWER_REQUEST) {
		if (BT_ADD_OVERFLOW(known->amount, remedy->amount, &known->amount)) {
			known->amount = INT64_MAX;
		}
		return true;
	}
	if (remedy->kind == BT_REMEDY_RAISE_MAX_SKEW) {
		known->amount = known->amount > remedy->amount ? known->amount : remedy->amount;
		return true;
	}
	return known->amount == remedy->amount;
}

bool bt_remedies_unite(bt_remedy_vec *into, const struct bt_remedy *remedies, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool known = false;

		for (uint32_t k = 0; k < into->count && !known; k++) {
			known = unite(&into->items[k], &remedies[i]);
		}
		if (!known && into->count == REMEDIES_MAX) {
			return false;
		}
		if (!known) {
			bt_vec_push(into, remedies[i]);
		}
	}
	return true;
}

static void take_remedies(struct bt_needs *needs, const struct bt_advice *advice)
{
	const bt_remedy_list of_node = {advice->remedies.items, advice->remedies.count, true};
	bt_remedy_list of_pod = of_node;
	const bt_remedy_list *fewest = &of_node;
	bool has_pod_side = advice->pod_remedies.count != 0;
	bool pod_is_too_small = has_pod_side ? advice->pod_is_too_small : advice->is_too_small;

	if (has_pod_side) {
		of_pod.items = advice->pod_remedies.items;
		of_pod.count = advice->pod_remedies.count;
	}
	if (of_pod.count < of_node.count ||
		(of_pod.count == of_node.count && advice->is_too_small && !pod_is_too_small)) {
		fewest = &of_pod;
	}
	needs->is_final = needs->is_final || advice->is_final || of_node.count == 0 ||
		!bt_remedies_unite(&needs->remedies, of_node.items, of_node.count) ||
		!bt_remedies_unite(&needs->of_pod, of_pod.items, of_pod.count) ||
		!bt_remedies_unite(&needs->fewest, fewest->items, fewest->count);
	needs->is_too_small = needs->is_too_small || advice->is_too_small;
	needs->of_pod_is_too_small = needs->of_pod_is_too_small || pod_is_too_small;
	needs->fewest_is_too_small = needs->fewest_is_too_small ||
		(fewest == &of_pod ? pod_is_too_small : advice->is_too_small);
	needs->distance += advice->distance;
	/* What changes the pod holds for all nodes: how far this one was does not matter. */
	if (!has_pod_side) {
		needs->of_pod_distance += advice->distance;
	} else {
		needs->of_pod_distance += advice->pod_distance > 0 ? advice->pod_distance : 0.2;
	}
}

void bt_needs_add(
	struct bt_needs *needs, const struct bt_plugin *plugin, const struct bt_status *status)
{
	struct bt_arena *arena = &needs->run->out->arena;
	struct bt_str name = plugin != NULL ? bt_str_from(plugin->ops->name) : BT_STR("");
	const struct bt_adviser *adviser = bt_adviser_find(name);
	struct bt_obstacle obstacle = {.plugin = bt_arena_str(arena, name)};
	struct bt_advice advice = {
		.engine = needs->run->engine,
		.framework = needs->run->framework,
		.cycle = needs->cycle,
		.pod = needs->pod,
		.node = needs->node,
		.plugin = plugin,
		.status = status,
		.arena = arena,
	};

	if (adviser != NULL && bt_status_is_rejected(status)) {
		adviser->advise(&advice);
	} else {
		advice.is_final = true;
	}
	obstacle.reasons = bt_arena_str(arena,
		bt_str_sub(
			bt_status_message_str(status, needs->cycle->arena), 0, REASONS_BYTES_MAX));
	obstacle.hint = advice.hint.data != NULL ? advice.hint : BT_STR("");
	obstacle.devices = advice.devices;
	bt_vec_push(&needs->obstacles, obstacle);
	take_remedies(needs, &advice);
	bt_vec_finish(&advice.remedies);
	bt_vec_finish(&advice.pod_remedies);
}

static bool add_failed(
	void *context, const struct bt_plugin *plugin, const struct bt_status *status)
{
	bt_needs_add(context, plugin, status);
	return true;
}

void bt_needs_of_slot(struct bt_needs *needs, uint32_t slot)
{
	struct bt_framework *framework = needs->run->framework;
	struct bt_cycle_state *cycle = needs->cycle;
	struct bt_nominated_view view;
	struct bt_node_info node;

	bt_node_info_init(&node, needs->run->engine->state, slot);
	bt_add_nominated_pods(framework, cycle, needs->pod, &node, &view);
	if (view.added) {
		needs->node = &view.node;
		needs->cycle = &view.cycle;
		bt_run_filter_each(
			framework, &view.cycle, needs->pod, &view.node, add_failed, needs);
		needs->cycle = cycle;
	}
	/* Nominated pods may be what helps: then it is their absence that counts. */
	if (needs->obstacles.count == 0) {
		needs->node = &node;
		bt_run_filter_each(framework, cycle, needs->pod, &node, add_failed, needs);
	}
	if (view.added) {
		bt_cycle_state_finish(&view.cycle);
	}
	needs->node = NULL;
}

void bt_needs_of_pre_filter(struct bt_needs *needs, const struct bt_pre_filter_outcome *outcome)
{
	const struct bt_framework *framework = needs->run->framework;

	needs->node = NULL;
	if (!bt_status_is_success(&outcome->status)) {
		bt_needs_add(needs,
			outcome->status.plugin != 0
				? framework->instances.items[outcome->status.plugin - 1]
				: NULL,
			&outcome->status);
		return;
	}
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		if (bt_plugin_set_has(&outcome->plugins_with_nodes, i)) {
			struct bt_status status =
				bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);

			bt_needs_add(needs, framework->instances.items[i], &status);
		}
	}
}
