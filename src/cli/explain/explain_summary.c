/* SPDX-License-Identifier: Apache-2.0 */
/** The first sentence of an explanation, in plain words, and the scheduler's message. */
#include <stdlib.h>

#include "api/amount.h"
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
	if (shown < count) {
		bt_strbuf_append_c(out, indent);
		bt_strbuf_append_c(out, "and ");
		bt_amount_append_count(out, count - shown);
		bt_strbuf_append_c(out, " more\n");
	}
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
	bt_strbuf_append_c(out, group->nodes.count == 1 ? "has" : "have");
	bt_strbuf_append_c(out, " too little ");
	for (uint32_t i = 0; i < group->reasons.count && named < NAMED_REASONS_MAX; i++) {
		struct bt_str reason = group->reasons.items[i];
		if (is_shortage(reason)) {
			bt_strbuf_append_c(out, named++ != 0 ? " and " : "");
			bt_printable_append(
				out, bt_str_sub(reason, sizeof("Insufficient ") - 1, BT_STR_MAX));
		}
	}
	bt_strbuf_append_c(out, " left");
}

static int compare_sizes(const void *a, const void *b)
{
	const struct bt_explained_group *x = *(const struct bt_explained_group *const *)a;
	const struct bt_explained_group *y = *(const struct bt_explained_group *const *)b;
	if (x->nodes.count != y->nodes.count) {
		return x->nodes.count > y->nodes.count ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

/** --- the sentence --- */

static void append_fit(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = report->explanation;
	if (explanation->feasible_count == 0) {
		bt_strbuf_append_c(out, "none of ");
		bt_amount_append_counted(out, explanation->node_count, "node", "nodes");
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
			bt_amount_append_count(out, group->nodes.count);
			bt_strbuf_append_char(out, ' ');
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
					bt_strbuf_append_c(out,
						group->nodes.count == 1 ? "is rejected ("
									: "are rejected (");
					bt_printable_append(out, reason);
					bt_strbuf_append_char(out, ')');
				}
			}
			if (group->reasons.count == 0) {
				bt_strbuf_append_c(out,
					group->nodes.count == 1 ? "is rejected by "
								: "are rejected by ");
				bt_printable_append(out,
					group->plugin.length != 0 ? group->plugin
								  : BT_STR("no plugin"));
			}
		}
		if (others != 0) {
			bt_strbuf_append_c(out, ", ");
			bt_amount_append_count(out, others);
			bt_strbuf_append_c(out, " for other reasons");
		}
		bt_free(groups);
		return;
	}
	bt_amount_append_count(out, explanation->feasible_count);
	bt_strbuf_append_c(out, " of ");
	bt_amount_append_counted(out, explanation->node_count, "node", "nodes");
	if (explanation->best_node.length != 0) {
		bt_strbuf_append_c(out, explanation->feasible_count == 1 ? ": " : ", best on ");
		bt_printable_append(out, explanation->best_node);
	}
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

static void append_gates(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_pod_spec *spec = &report->pod->spec;
	uint32_t count = spec->scheduling_gates.count;
	bt_strbuf_append_c(out, " is not tried on any node");
	if (count != 0) {
		bt_strbuf_append_c(out, " before its scheduling ");
		bt_strbuf_append_c(out, count == 1 ? "gate " : "gates ");
		for (uint32_t i = 0; i < count; i++) {
			bt_strbuf_append_c(out, i != 0 ? ", " : "");
			bt_printable_append(out, spec->scheduling_gates.items[i].name);
		}
		bt_strbuf_append_c(out, count == 1 ? " is removed" : " are removed");
	}
	bt_strbuf_append_c(out, count != 0 ? "; then" : " yet; as soon as it is,");
	append_later_fit(report, out);
}

void bt_explain_write_summary(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_pod *pod = report->pod;
	const struct bt_pod_choice *choice = report->choice;
	bt_strbuf_append_c(out, "Pod ");
	bt_printable_append_name(out, pod->metadata.namespace_, pod->metadata.name);
	if (choice->of_workload) {
		bt_strbuf_printf(out, " (of %s ", bt_kind_info(choice->workload_kind)->name);
		bt_printable_append(out, choice->workload_name);
		bt_strbuf_append_c(out, ", ");
		bt_amount_append_count(out, choice->workload_pending);
		bt_strbuf_append_c(out, " of ");
		bt_amount_append_counted(out, choice->workload_pods, "pod", "pods");
		bt_strbuf_append_c(out, " pending");
		if (choice->workload_fits != 0) {
			bt_strbuf_append_c(out, ", of which ");
			bt_amount_append_count(out, choice->workload_fits);
			bt_strbuf_append_c(out, choice->workload_fits == 1 ? " fits" : " fit");
		}
		bt_strbuf_append_char(out, ')');
	}
	if (report->running_on.length != 0) {
		bt_strbuf_append_c(out, " runs on ");
		bt_printable_append(out, report->running_on);
		bt_strbuf_append_c(out, "; were it pending, and not there, it");
	}
	switch (report->explanation->fate) {
	case BT_EXPLAINED_FITS:
	case BT_EXPLAINED_UNSCHEDULABLE:
		bt_strbuf_append_c(
			out, report->running_on.length != 0 ? " would fit on " : " fits on ");
		append_fit(report, out);
		break;
	case BT_EXPLAINED_NO_NODES:
		bt_strbuf_append_c(out,
			report->running_on.length != 0 ? " would fit nowhere" : " fits nowhere");
		bt_strbuf_append_c(out, ": the cluster has no nodes");
		break;
	case BT_EXPLAINED_GATED:
		append_gates(report, out);
		break;
	case BT_EXPLAINED_NOT_HANDLED:
		bt_strbuf_append_c(out, " has schedulerName ");
		bt_printable_append(out, report->pod->spec.scheduler_name);
		bt_strbuf_append_c(out, ", which no profile has; with ");
		bt_printable_append(out, report->explanation->profile);
		append_later_fit(report, out);
		break;
	case BT_EXPLAINED_ERROR:
		bt_strbuf_append_c(out, " cannot be scheduled: a plugin failed");
		break;
	}
	bt_strbuf_append_c(out, ".\n");
	if (report->pod->metadata.deletion_timestamp != NULL) {
		bt_strbuf_append_c(out,
			report->running_on.length != 0
				? "It is being deleted.\n"
				: "It is being deleted: schedulers leave it alone.\n");
	}
	if (report->group_name.length != 0) {
		bt_strbuf_append_c(out, "It is scheduled with its group: see podgroup/");
		bt_printable_append(out, report->group_name);
		bt_strbuf_append_c(out, ".\n");
	}
	if (report->explanation->message.length != 0) {
		bt_strbuf_append_c(out, "\nThe scheduler says:\n  ");
		bt_printable_append(out, report->explanation->message);
		bt_strbuf_append_char(out, '\n');
	}
}
