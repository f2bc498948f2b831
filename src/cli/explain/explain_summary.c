/* SPDX-License-Identifier: Apache-2.0 */
/** The first sentence of an explanation, in plain words, and the scheduler's message. */
#include <stdlib.h>

#include "api/text_template.h"
#include "base/printable.h"
#include "cli/explain/explain_report.h"

/** Limit of groups that the sentence names; one more is named if it is the last one. */
#define NAMED_GROUPS_MAX 5
/** Limit of reasons per group in the sentence; the list of groups below it has all reasons. */
#define NAMED_REASONS_MAX 3

/** The scheduler's reasons in plain words: `one` follows "1 node", `many` follows "7 nodes". */
static const struct plain_words {
	enum bt_reason reason;
	const char *one;
	const char *many;
} plain_words[] = {
	{BT_REASON_NODE_NAME, "is not the node it names", "are not the node it names"},
	{BT_REASON_NODE_UNSCHEDULABLE, "is cordoned", "are cordoned"},
	{BT_REASON_UNTOLERATED_TAINT, "has a taint it does not tolerate",
		"have taints it does not tolerate"},
	{BT_REASON_ENFORCED_NODE_AFFINITY, "does not match the profile's affinity",
		"do not match the profile's affinity"},
	{BT_REASON_NODE_AFFINITY, "does not match its node selector or affinity",
		"do not match its node selector or affinity"},
	{BT_REASON_NODE_PORTS, "has a host port in use that it needs",
		"have a host port in use that it needs"},
	{BT_REASON_TOO_MANY_PODS, "has its maximum number of pods",
		"have their maximum number of pods"},
	{BT_REASON_DECLARED_FEATURES, "lacks a kubelet feature it needs",
		"lack a kubelet feature it needs"},
	{BT_REASON_VOLUME_NODE_CONFLICT, "cannot reach its volume", "cannot reach its volume"},
	{BT_REASON_VOLUME_BIND_CONFLICT, "has no volume for its claim",
		"have no volume for its claim"},
	{BT_REASON_VOLUME_NOT_ENOUGH_SPACE, "has too little storage left",
		"have too little storage left"},
	{BT_REASON_VOLUME_DISK_CONFLICT, "has its disk in use by another pod",
		"have its disk in use by another pod"},
	{BT_REASON_VOLUME_ZONE_CONFLICT, "is in another zone than its volume",
		"are in other zones than its volume"},
	{BT_REASON_VOLUME_MAX_COUNT, "can attach no more volumes", "can attach no more volumes"},
	{BT_REASON_TOPOLOGY_SPREAD_LABEL, "lacks a label that its spread constraints name",
		"lack a label that its spread constraints name"},
	{BT_REASON_TOPOLOGY_SPREAD, "would make its spread too uneven",
		"would make its spread too uneven"},
	{BT_REASON_POD_AFFINITY, "is not near the pods its affinity requires",
		"are not near the pods its affinity requires"},
	{BT_REASON_POD_ANTI_AFFINITY, "is near a pod its anti-affinity avoids",
		"are near pods its anti-affinity avoids"},
	{BT_REASON_EXISTING_ANTI_AFFINITY, "is near a pod whose anti-affinity avoids it",
		"are near pods whose anti-affinity avoids it"},
	{BT_REASON_CLAIMS_NOT_ALLOCATABLE, "lacks devices for its claims",
		"lack devices for its claims"},
	{BT_REASON_CLAIM_NOT_AVAILABLE, "cannot use the devices of its claim",
		"cannot use the devices of its claim"},
	{BT_REASON_INVALID_RESOURCE_POOLS, "has an invalid pool of devices",
		"have an invalid pool of devices"},
};

void bt_explain_write_more(
	uint32_t shown, uint32_t count, const char *indent, struct bt_strbuf *out)
{
	bt_text_append(out, "[%?%cand %n more\n]", shown < count, indent, count - shown);
}

/** --- reasons in plain words --- */

/** Returns the plain words for a reason, or NULL. */
static const struct plain_words *find_words(struct bt_str reason)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(plain_words); i++) {
		if (bt_str_equal(reason, bt_reason_texts[plain_words[i].reason])) {
			return &plain_words[i];
		}
	}
	return NULL;
}

static bool is_shortage(struct bt_str reason)
{
	return bt_str_has_prefix(reason, BT_STR("Insufficient "));
}

bool bt_explain_is_of_filter(struct bt_str reason)
{
	return is_shortage(reason) || find_words(reason) != NULL;
}

/** Append "cpu and memory" for "Insufficient cpu", "Insufficient memory". */
static void append_shortages(struct bt_strbuf *out, const struct bt_explained_group *group)
{
	uint32_t named = 0;
	bt_text_append(out, "%c too little ", group->nodes.count == 1 ? "has" : "have");
	for (uint32_t i = 0; i < group->reasons.count && named < NAMED_REASONS_MAX; i++) {
		struct bt_str reason = group->reasons.items[i];
		if (is_shortage(reason)) {
			bt_text_append(out, "%c%p", named++ != 0 ? " and " : "",
				bt_str_sub(reason, sizeof("Insufficient ") - 1, BT_STR_MAX));
		}
	}
	bt_strbuf_append_c(out, " left");
}

BT_COMPARE(compare_sizes, struct bt_explained_group *const,
	BT_ORDER_BY(BT_ORDER((*b)->nodes.count, (*a)->nodes.count), BT_ORDER(*a, *b)))

/** --- the sentence --- */

static void append_fit(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = report->explanation;
	if (explanation->feasible_count == 0) {
		bt_text_append(out, "none of %n {node|nodes}", explanation->node_count);
		/* ": 4,812 nodes have too little cpu left, 150 are cordoned" */
		const struct bt_explained_group **groups =
			BT_NEW_ARRAY(const struct bt_explained_group *, explanation->groups.count);
		for (uint32_t i = 0; i < explanation->groups.count; i++) {
			groups[i] = &explanation->groups.items[i];
		}
		if (explanation->groups.count != 0) {
			qsort(groups, explanation->groups.count, sizeof(groups[0]), compare_sizes);
		}
		uint32_t others = 0;
		for (uint32_t i = 0; i < explanation->groups.count; i++) {
			const struct bt_explained_group *group = groups[i];
			bool is_whole = group->in_pre_filter &&
				group->nodes.count == explanation->nodes.count &&
				group->reasons.count == 1;
			if (i >= NAMED_GROUPS_MAX &&
				explanation->groups.count > NAMED_GROUPS_MAX + 1) {
				others += group->nodes.count;
				continue;
			}
			bt_strbuf_append_c(out, i == 0 ? ": " : ", ");
			if (is_whole) {
				bt_printable_append(out, group->reasons.items[0]);
				continue;
			}
			bt_text_append(out, "%n ", group->nodes.count);
			/* Follows "7 nodes ". */
			bool shortages = false;
			uint32_t named = 0;
			for (uint32_t j = 0; j < group->reasons.count && named < NAMED_REASONS_MAX;
				j++) {
				struct bt_str reason = group->reasons.items[j];
				const struct plain_words *words = find_words(reason);
				if (is_shortage(reason) && shortages) {
					continue;
				}
				bt_strbuf_append_c(out, named++ != 0 ? " and " : "");
				if (is_shortage(reason)) {
					shortages = true;
					append_shortages(out, group);
				} else if (words != NULL) {
					bt_strbuf_append_c(out,
						group->nodes.count == 1 ? words->one : words->many);
				} else {
					bt_text_append(out, "%c rejected (%p)",
						group->nodes.count == 1 ? "is" : "are", reason);
				}
			}
			if (group->reasons.count == 0) {
				bt_text_append(out, "%c rejected by %p",
					group->nodes.count == 1 ? "is" : "are",
					group->plugin.length != 0 ? group->plugin
								  : BT_STR("no plugin"));
			}
		}
		bt_text_append(out, "[, %n for other reasons]", others);
		bt_free(groups);
		return;
	}
	bt_text_append(out, "%n of %n {node|nodes}[%?%c%p]", explanation->feasible_count,
		explanation->node_count, explanation->best_node.length != 0,
		explanation->feasible_count == 1 ? ": " : ", best on ", explanation->best_node);
}

/** Append " it fits on ...", for a pod that is gated, or whose schedulerName no profile has. */
static void append_later_fit(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	bool has_nodes = report->explanation->node_count != 0;
	bt_strbuf_append_c(out, has_nodes ? " it fits on " : " it finds no nodes");
	if (has_nodes) {
		append_fit(report, out);
	}
}

void bt_explain_write_summary(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_pod *pod = report->pod;
	const struct bt_pod_choice *choice = report->choice;
	bt_text_append(out, "Pod %m", pod->metadata.namespace_, pod->metadata.name);
	if (choice->of_workload) {
		bt_text_append(out,
			" (of %c %p, %n of %n {pod|pods} pending[, of which %n {fits|fit}])",
			bt_kind_info(choice->workload_kind)->name, choice->workload_name,
			choice->workload_pending, choice->workload_pods, choice->workload_fits);
	}
	bool is_running = report->running_on.length != 0;
	bt_text_append(
		out, "[ runs on %p; were it pending, and not there, it]", report->running_on);
	switch (report->explanation->fate) {
	case BT_EXPLAINED_FITS:
	case BT_EXPLAINED_UNSCHEDULABLE:
		bt_strbuf_append_c(out, is_running ? " would fit on " : " fits on ");
		append_fit(report, out);
		break;
	case BT_EXPLAINED_NO_NODES:
		bt_text_append(out, " %c nowhere: the cluster has no nodes",
			is_running ? "would fit" : "fits");
		break;
	case BT_EXPLAINED_GATED: {
		uint32_t count = pod->spec.scheduling_gates.count;
		bt_strbuf_append_c(out, " is not tried on any node");
		if (count != 0) {
			bt_text_append(
				out, " before its scheduling %c ", count == 1 ? "gate" : "gates");
			for (uint32_t i = 0; i < count; i++) {
				bt_text_append(out, "%c%p", i != 0 ? ", " : "",
					pod->spec.scheduling_gates.items[i].name);
			}
			bt_strbuf_append_c(out, count == 1 ? " is removed" : " are removed");
		}
		bt_strbuf_append_c(out, count != 0 ? "; then" : " yet; as soon as it is,");
		append_later_fit(report, out);
		break;
	}
	case BT_EXPLAINED_NOT_HANDLED:
		bt_text_append(out, " has schedulerName %p, which no profile has; with %p",
			pod->spec.scheduler_name, report->explanation->profile);
		append_later_fit(report, out);
		break;
	case BT_EXPLAINED_ERROR:
		bt_strbuf_append_c(out, " cannot be scheduled: a plugin failed");
		break;
	}
	bt_strbuf_append_c(out, ".\n");
	if (pod->metadata.deletion_timestamp != NULL) {
		bt_text_append(out, "It is being deleted%c.\n",
			is_running ? "" : ": schedulers leave it alone");
	}
	bt_text_append(out,
		"[It is scheduled with its group: see podgroup/%p.\n]"
		"[\nThe scheduler says:\n  %p\n]",
		report->group_name, report->explanation->message);
}
