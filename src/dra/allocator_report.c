/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports how many devices each request finds if taken alone, and why the request cannot use the
 * other devices of the node.
 */
#include "dra/allocator_private.h"
#include "dra/device_capacity.h"

/** Maximum number of distinct taints to count. Further taints are not named. */
#define TAINTS_MAX 8U

/** Counters for one request. */
struct tally {
	struct bt_search *search;
	const struct bt_option *option;
	struct bt_request_report *report;
	struct bt_arena *arena;
	/** by program of the option: number of devices that the program rejects */
	uint32_t *refusals;
	const struct bt_device_taint *taints[TAINTS_MAX];
	uint32_t taint_counts[TAINTS_MAX];
	uint32_t taint_count;
	uint32_t listed; /* needs_all: number of devices that the request must get */
};

static bool has_counters(
	struct tally *tally, const struct bt_pool_view *view, const struct bt_pool_device *device)
{
	if ((device->flags & BT_DEVICE_COUNTERS) == 0) {
		return true;
	}
	if (!tally->search->pools->with_partitions ||
		!bt_pool_counters_take(
			tally->search->pools, view->pool, view->counters, device->consumption)) {
		return false;
	}
	bt_pool_counters_release(view->counters, device->consumption);
	return true;
}

/** Count a device that passes the selectors. */
static void count_selected(
	struct tally *tally, const struct bt_pool_view *view, const struct bt_pool_device *device)
{
	struct bt_request_report *report = tally->report;
	struct bt_search *search = tally->search;

	if (!bt_search_capacity_fits(search, tally->option, device)) {
		report->no_capacity++;
		return;
	}
	tally->listed++;
	if (bt_search_is_busy(search, tally->option, device)) {
		report->in_use++;
	} else if (!has_counters(tally, view, device)) {
		report->no_counters++;
	} else if (!bt_search_is_tolerated(search, tally->option, device)) {
		report->tainted++;
		const struct bt_device_taint *taint = bt_device_find_untolerated_taint(
			search->pools->rows.items[device->row].spec, tally->option->tolerations,
			tally->option->toleration_count);
		uint32_t i = 0;

		while (i < tally->taint_count &&
			!(bt_str_equal(tally->taints[i]->key, taint->key) &&
				bt_str_equal(tally->taints[i]->value, taint->value) &&
				bt_str_equal(tally->taints[i]->effect, taint->effect))) {
			i++;
		}
		if (i < TAINTS_MAX) {
			tally->taints[i] = taint;
			tally->taint_count = i == tally->taint_count ? i + 1 : tally->taint_count;
			tally->taint_counts[i]++;
		}
	} else {
		report->usable++;
	}
}

static void count_device(
	struct tally *tally, const struct bt_pool_view *view, const struct bt_pool_device *device)
{
	struct bt_request_report *report = tally->report;
	const struct bt_option *option = tally->option;
	struct bt_device_pools *pools = tally->search->pools;
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	enum bt_verdict verdict = BT_VERDICT_TRUE;
	/** index of the first program that is not TRUE; program_count: all are TRUE */
	uint32_t program = 0;

	report->considered++;
	if ((device->flags & BT_DEVICE_NEVER) != 0) {
		report->unsupported++;
		return;
	}
	for (; program < option->program_count; program++) {
		verdict = bt_selector_verdict(
			tally->search->pools, option->programs[program], device->row, &limits);
		if (verdict != BT_VERDICT_TRUE) {
			break;
		}
	}
	/*
	 * If a selector fails with an error on a device in use, the device counts as in use,
	 * because the search does not evaluate selectors on devices in use. If the request needs
	 * all devices, the search evaluates the selectors on every device, so the error is
	 * reported. A device that a selector rejects counts as rejected even if the device is in
	 * use.
	 */
	if (verdict == BT_VERDICT_ERROR && !option->needs_all &&
		bt_search_is_busy(tally->search, option, device)) {
		report->in_use++;
		return;
	}
	if (verdict == BT_VERDICT_ERROR) {
		struct berth_error err = {0};

		if (tally->report->error.length == 0) {
			tally->search->err = &err;
			(void)bt_search_select(
				tally->search, tally->option, device); /* fails and sets err */
			tally->report->error =
				bt_arena_str(tally->arena, bt_str_from(berth_error_message(&err)));
			berth_error_finish(&err);
			tally->search->err = NULL;
		}
	} else if (program < option->program_count) {
		tally->refusals[program]++;
		report->class_refused += program < option->class_program_count;
		report->request_refused += program >= option->class_program_count;
	} else if ((device->flags & BT_DEVICE_OWN_SCOPE) != 0 &&
		!bt_node_scope_matches(
			pools, pools->rows.items[device->row].scope, tally->search->slot)) {
		report->other_node++;
	} else {
		count_selected(tally, view, device);
	}
}

static uint32_t index_of_largest(const uint32_t *counts, uint32_t count)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < count; i++) {
		best = counts[i] > counts[best] ? i : best;
	}
	return best;
}

/** Report on one option. Returns whether the option finds enough devices. */
static bool report_option(struct bt_search *search, const struct bt_option *option,
	struct bt_arena *arena, struct bt_request_report *out_report)
{
	struct tally tally = {
		.search = search, .option = option, .report = out_report, .arena = arena};

	out_report->claim = bt_arena_str(arena, search->prepared->items[option->claim].key);
	out_report->request = bt_option_name(option, arena);
	out_report->needs_all = option->needs_all;
	out_report->error = option->problem.data != NULL ? option->problem : BT_STR("");
	if (option->problem.data != NULL) {
		return false;
	}
	out_report->device_class = option->device_class->metadata.name;
	tally.refusals = BT_ARENA_NEW_ARRAY(arena, uint32_t, option->program_count + 1);
	for (uint32_t v = 0; v < search->node->items.count; v++) {
		const struct bt_pool_view *view = search->node->items.items[v].view;
		for (uint32_t i = 0; i < view->devices.count; i++) {
			count_device(&tally, view, &view->devices.items[i]);
		}
	}
	struct bt_request_report *report = tally.report;
	uint32_t best = index_of_largest(tally.refusals, option->program_count);

	if (report->class_refused + report->request_refused != 0) {
		const struct bt_device_selector *selector = best < option->class_program_count
			? &option->device_class->spec.selectors.items[best]
			: &option->selectors[best - option->class_program_count];
		report->selector = selector->cel != NULL ? selector->cel->expression : BT_STR("");
	}
	if (tally.taint_count != 0) {
		best = index_of_largest(tally.taint_counts, tally.taint_count);
		const struct bt_device_taint *taint = tally.taints[best];
		report->taint = bt_arena_printf(arena, "%.*s%s%.*s:%.*s", BT_STR_ARG(taint->key),
			taint->value.length != 0 ? "=" : "", BT_STR_ARG(taint->value),
			BT_STR_ARG(taint->effect));
	}
	out_report->wanted = option->needs_all ? tally.listed
		: option->count > 0            ? (uint32_t)option->count
					       : 0;
	return out_report->usable >= out_report->wanted &&
		!(option->needs_all && out_report->wanted == 0);
}

void bt_allocator_report(struct bt_allocator *allocator, const struct bt_node_info *node,
	const struct bt_resource_claim *const *claims, uint32_t count, struct bt_arena *arena,
	struct bt_allocation_report *out_report)
{
	struct bt_search search;

	bt_search_begin(&search, allocator, node->slot, claims, count, NULL);
	const struct bt_prepared *prepared = search.prepared;
	*out_report = (struct bt_allocation_report){.is_joint = true};
	for (uint32_t v = 0; v < search.node->items.count; v++) {
		enum bt_pool_state state = search.node->items.items[v].view->state;
		out_report->incomplete_pools += state == BT_POOL_INCOMPLETE;
		out_report->invalid_pools += state == BT_POOL_INVALID;
	}
	out_report->requests =
		BT_ARENA_NEW_ARRAY(arena, struct bt_request_report, prepared->option_count);
	for (uint32_t c = 0; c < prepared->count; c++) {
		const struct bt_prepared_claim *claim = &prepared->items[c];
		for (uint32_t r = 0; r < claim->request_count; r++) {
			const struct bt_prepared_request *request =
				&prepared->requests[claim->first_request + r];
			bool is_enough = false;
			for (uint32_t i = 0; i < request->option_count; i++) {
				is_enough |= report_option(&search,
					&prepared->options[request->first_option + i], arena,
					&out_report->requests[out_report->count++]);
			}
			out_report->is_joint = out_report->is_joint && is_enough;
		}
	}
}
