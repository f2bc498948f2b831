/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/whatif/whatif_report.h"

#include <stdlib.h>

const char *bt_whatif_effect_name(enum bt_whatif_effect effect)
{
	static const char *const names[] = {
		[BT_EFFECT_PENDING] = "pending",
		[BT_EFFECT_LOST] = "lost",
		[BT_EFFECT_PREEMPTED] = "preempted",
		[BT_EFFECT_MOVED] = "moved",
		[BT_EFFECT_PLACED] = "placed",
		[BT_EFFECT_REPLANNED] = "replanned",
		[BT_EFFECT_GONE] = "gone",
	};
	return names[effect];
}

static void add(struct bt_whatif_report *report, enum bt_whatif_effect effect,
	const struct bt_whatif_pod *before, const struct bt_whatif_pod *after, const char *reason)
{
	struct bt_whatif_difference difference = {effect, before, after, reason};
	bt_vec_push(&report->pods, difference);
	report->counts[effect]++;
}

static const struct bt_whatif_mark *mark_of(
	const struct bt_whatif_report *report, const struct bt_whatif_pod *pod)
{
	return pod->object != BT_MANIFESTS_NONE ? &report->whatif->marks.items[pod->object] : NULL;
}

static const char *departure_of(
	const struct bt_whatif_report *report, const struct bt_whatif_pod *pod)
{
	const struct bt_whatif_mark *mark = mark_of(report, pod);
	return mark != NULL ? bt_departure_name((enum bt_departure)mark->departure) : "";
}

/** It has a node and may keep it. */
static bool is_placed(const struct bt_whatif_pod *pod)
{
	return pod != NULL && !pod->preempted && pod->node_name.length != 0;
}

/** Why a pod that the before side made for a workload is not made any more. */
static const char *expanded_reason(
	const struct bt_whatif_report *report, const struct bt_whatif_pod *before)
{
	const struct bt_manifests *work = &report->whatif->work;
	if (before->place.length == 0) {
		return bt_departure_name(BT_DEPARTURE_SCALED_DOWN);
	}
	uint32_t node = bt_manifests_find(work, BT_KIND_NODE, BT_STR(""), before->place);
	bool removed = node == BT_MANIFESTS_NONE || report->whatif->marks.items[node].gone;
	return removed ? bt_departure_name(BT_DEPARTURE_NODE_REMOVED)
		       : "its DaemonSet does not want it there any more";
}

static void compare_gone(struct bt_whatif_report *report, const struct bt_whatif_pod *before)
{
	const struct bt_whatif_mark *mark = mark_of(report, before);
	if (before->preempted) {
		return;
	}
	if (mark != NULL && mark->lost) {
		add(report, BT_EFFECT_LOST, before, NULL, departure_of(report, before));
		return;
	}
	const char *reason = departure_of(report, before);
	add(report, BT_EFFECT_GONE, before, NULL,
		reason[0] != 0 ? reason : expanded_reason(report, before));
}

static const struct bt_whatif_pod *either(const struct bt_whatif_difference *difference)
{
	return difference->after != NULL ? difference->after : difference->before;
}

static int compare_differences(const void *left, const void *right)
{
	const struct bt_whatif_difference *a = left;
	const struct bt_whatif_difference *b = right;
	int order = (a->effect > b->effect) - (a->effect < b->effect);
	if (order == 0) {
		order = bt_str_compare(either(a)->namespace_, either(b)->namespace_);
	}
	if (order == 0) {
		order = bt_str_compare(either(a)->owner_name, either(b)->owner_name);
	}
	if (order == 0) {
		order = bt_str_compare(either(a)->owner_kind, either(b)->owner_kind);
	}
	if (order == 0) {
		order = bt_str_compare(either(a)->name, either(b)->name);
	}
	return order != 0 ? order : bt_str_compare(either(a)->place, either(b)->place);
}

void bt_whatif_compare(struct bt_whatif_report *report)
{
	bt_arena_init(&report->arena, 0);
	for (uint32_t i = 0; i < report->after->pods.count; i++) {
		const struct bt_whatif_pod *after = &report->after->pods.items[i];
		const struct bt_whatif_pod *before = bt_whatif_side_find(report->before, after);
		if (is_placed(after)) {
			if (!is_placed(before)) {
				add(report, BT_EFFECT_PLACED, before, after,
					before != NULL && before->preempted
						? "it is not preempted any more"
						: "");
			} else if (!bt_str_equal(before->node_name, after->node_name)) {
				bool moved = before->running || report->from_scratch;
				add(report, moved ? BT_EFFECT_MOVED : BT_EFFECT_REPLANNED, before,
					after, departure_of(report, after));
			}
		} else {
			if (after->preempted) {
				if (before == NULL || !before->preempted) {
					add(report, BT_EFFECT_PREEMPTED, before, after, "");
				}
			} else if (bt_fate_is_pending(after->fate) &&
				(before == NULL || is_placed(before) || before->preempted)) {
				add(report, BT_EFFECT_PENDING, before, after,
					departure_of(report, after));
			}
		}
		const struct bt_whatif_mark *mark = mark_of(report, after);
		if (mark != NULL && mark->budget != 0 && after->node_name.length == 0) {
			report->whatif->budgets.items[mark->budget - 1].still_pending++;
		}
	}
	for (uint32_t i = 0; i < report->before->pods.count; i++) {
		const struct bt_whatif_pod *before = &report->before->pods.items[i];
		if (bt_whatif_side_find(report->after, before) == NULL) {
			compare_gone(report, before);
		}
	}
	if (report->pods.count > 1) {
		qsort(report->pods.items, report->pods.count, sizeof(report->pods.items[0]),
			compare_differences);
	}
	bt_whatif_compare_nodes(report);
}

void bt_whatif_report_finish(struct bt_whatif_report *report)
{
	bt_vec_finish(&report->pods);
	bt_vec_finish(&report->nodes);
	bt_vec_finish(&report->resources);
	bt_arena_finish(&report->arena);
}

bool bt_whatif_is_worse(const struct bt_whatif_report *report)
{
	return report->counts[BT_EFFECT_PENDING] != 0 || report->counts[BT_EFFECT_LOST] != 0 ||
		report->counts[BT_EFFECT_PREEMPTED] != 0;
}
