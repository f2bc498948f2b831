/* SPDX-License-Identifier: Apache-2.0 */
/** What would let the pod in, whom it could evict, what it waits for. */
#include "cli/explain/explain_change.h"
#include "cli/explain/explain_report.h"
#include "cluster/printable.h"

/** Victims and candidates that are listed. */
#define VICTIMS_MAX 5
#define CANDIDATES_MAX 3

static void end_list(uint32_t shown, uint32_t count, const char *indent, struct bt_strbuf *out)
{
	if (shown < count) {
		bt_strbuf_append_c(out, indent);
		bt_strbuf_append_c(out, "and ");
		bt_explain_append_count(out, count - shown);
		bt_strbuf_append_c(out, " more\n");
	}
}

/** --- proposals --- */

static void write_commands(const struct bt_explain_report *report,
	const struct bt_proposal *proposal, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		const struct bt_remedy *change = &proposal->remedies.items[i];
		struct bt_strbuf command = {0};
		if (bt_change_append_command(change, report->pod, report->in_input,
			    report->lacks_tolerations, &command)) {
			bt_strbuf_printf(out, "       %s\n", bt_strbuf_c(&command));
		}
		bt_strbuf_reset(&command);
		if (bt_change_append_alternative(change, proposal->node, &command)) {
			bt_strbuf_printf(out, "       or: %s\n", bt_strbuf_c(&command));
		}
		bt_strbuf_finish(&command);
	}
}

/** ": then it fits on node-7" */
static void append_effect(const struct bt_proposal *proposal, struct bt_strbuf *out)
{
	for (uint32_t i = 0; proposal->opened_count == 1 && i < proposal->remedies.count; i++) {
		if (proposal->node.length != 0 &&
			bt_str_equal(proposal->remedies.items[i].node, proposal->node)) {
			bt_strbuf_append_c(out, ": then it fits there");
			return;
		}
	}
	bt_strbuf_append_c(out, ": then it fits on ");
	if (proposal->opened_count == 1 && proposal->node.length != 0) {
		bt_printable_append(out, proposal->node);
	} else {
		bt_explain_append_counted(out, proposal->opened_count, "node", "nodes");
	}
}

void bt_explain_write_proposals(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = report->explanation;
	if (explanation->proposals.count == 0) {
		if (explanation->feasible_count == 0 && explanation->node_count != 0 &&
			report->proposals_wanted) {
			bt_strbuf_append_c(out,
				"\nWhat would let it in:\n  no change that was tried; see why "
				"not, above\n");
		}
		return;
	}
	bt_strbuf_append_c(out, "\nWhat would let it in:\n");
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		bt_strbuf_printf(out, "  %u. ", i + 1);
		for (uint32_t r = 0; r < proposal->remedies.count; r++) {
			bt_strbuf_append_c(out, r != 0 ? ", and " : "");
			bt_change_append_text(
				&proposal->remedies.items[r], report->pod, report->nodes, out);
		}
		append_effect(proposal, out);
		bt_strbuf_append_char(out, '\n');
		write_commands(report, proposal, out);
	}
}

/** --- preemption --- */

static void write_selected(const struct bt_explained_candidate *candidate, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "  it can make room on ");
	bt_printable_append(out, candidate->node);
	bt_strbuf_append_c(out, " by evicting ");
	bt_explain_append_counted(out, candidate->victims.count, "pod", "pods");
	bt_strbuf_append_c(out, " of lower priority");
	if (candidate->pdb_violations != 0) {
		bt_strbuf_append_c(out, ", against a disruption budget for ");
		bt_explain_append_count(out, (uint64_t)candidate->pdb_violations);
		bt_strbuf_append_c(out, " of them");
	}
	bt_strbuf_append_c(out, ":\n");
	for (uint32_t i = 0; i < candidate->victims.count && i < VICTIMS_MAX; i++) {
		const struct bt_explained_victim *victim = &candidate->victims.items[i];
		bt_strbuf_append_c(out, "    ");
		bt_printable_append_name(out, victim->namespace_, victim->name);
		bt_strbuf_printf(out, " (priority %d)\n", victim->priority);
	}
	end_list(VICTIMS_MAX, candidate->victims.count, "    ", out);
}

static void write_other_candidates(
	const struct bt_explained_preemption *preemption, struct bt_strbuf *out)
{
	uint32_t others = 0;
	for (uint32_t i = 0; i < preemption->candidates.count; i++) {
		const struct bt_explained_candidate *candidate = &preemption->candidates.items[i];
		if (candidate->selected) {
			continue;
		}
		if (others++ < CANDIDATES_MAX) {
			bt_strbuf_append_c(out, "  also possible: ");
			bt_printable_append(out, candidate->node);
			bt_strbuf_append_c(out, ", with ");
			bt_explain_append_counted(
				out, candidate->victims.count, "victim", "victims");
			if (candidate->pdb_violations != 0) {
				bt_strbuf_append_c(out, ", budgets violated for ");
				bt_explain_append_count(out, (uint64_t)candidate->pdb_violations);
			}
			bt_strbuf_append_char(out, '\n');
		}
	}
	end_list(CANDIDATES_MAX, others, "  ", out);
}

static void write_refusals(const struct bt_explained_preemption *preemption, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < preemption->refusals.count; i++) {
		const struct bt_explained_refusal *refusal = &preemption->refusals.items[i];
		bt_strbuf_append_c(out, "  ");
		bt_explain_append_counted(out, refusal->node_count, "node", "nodes");
		bt_strbuf_append_c(out, ": ");
		bt_printable_append(out, refusal->reason);
		if (bt_str_equal(
			    refusal->reason, bt_reason_texts[BT_REASON_NO_PREEMPTION_VICTIMS])) {
			bt_strbuf_append_c(out, " (too few pods of lower priority to make room)");
		} else if (bt_str_equal(refusal->reason,
				   bt_reason_texts[BT_REASON_PREEMPTION_NOT_HELPFUL])) {
			bt_strbuf_append_c(out, " (no pod's leaving would change the reason)");
		} else if (bt_str_equal_c(refusal->reason, "not found")) {
			bt_strbuf_append_c(out, " (the pod was rejected for all nodes at once)");
		} else if (bt_explain_is_of_filter(refusal->reason)) {
			bt_strbuf_append_c(out, " (even without the pods of lower priority)");
		}
		bt_strbuf_append_char(out, '\n');
	}
}

void bt_explain_write_preemption(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_explained_preemption *preemption = &report->explanation->preemption;
	bool selected = false;
	if (!preemption->ran && preemption->message.length == 0) {
		return;
	}
	bt_strbuf_append_c(out, "\nPreemption:\n");
	for (uint32_t i = 0; i < preemption->candidates.count && !selected; i++) {
		if (preemption->candidates.items[i].selected) {
			write_selected(&preemption->candidates.items[i], out);
			selected = true;
		}
	}
	if (!selected && preemption->refusals.count == 0) {
		bt_strbuf_append_c(out, "  ");
		bt_printable_append(out,
			preemption->message.length != 0 ? preemption->message
							: BT_STR("helps on no node"));
		bt_strbuf_append_char(out, '\n');
	}
	write_other_candidates(preemption, out);
	if (!selected) {
		write_refusals(preemption, out);
	}
}

/** --- the queue --- */

static void write_position(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "  ");
	if (report->ahead_count == 0) {
		bt_strbuf_append_c(out, "no pending pod comes before it\n");
		return;
	}
	bt_explain_append_counted(
		out, report->ahead_count, "pending pod comes", "pending pods come");
	bt_strbuf_append_c(out, " before it, and ");
	bt_strbuf_append_c(out, report->ahead_count == 1 ? "is" : "are");
	if (report->after_queue) {
		bt_strbuf_append_c(out, " placed first in this answer: ");
		bt_explain_append_count(out, report->placed_count);
		bt_strbuf_append_c(out, " found a node\n");
	} else {
		bt_strbuf_append_c(out, " not placed in this answer (--after-queue does that)\n");
	}
}

void bt_explain_write_queue(const struct bt_explain_report *report, struct bt_strbuf *out)
{
	const struct bt_pod *pod = report->pod;
	if (report->running_on.length != 0) {
		return;
	}
	bt_strbuf_append_c(out, "\nQueue:\n");
	bt_strbuf_printf(out, "  priority %d", bt_pod_priority(pod));
	if (pod->spec.priority_class_name.length != 0) {
		bt_strbuf_append_c(out, " (");
		bt_printable_append(out, pod->spec.priority_class_name);
		bt_strbuf_append_char(out, ')');
	}
	bt_strbuf_append_char(out, '\n');
	write_position(report, out);
	if (pod->status.nominated_node_name.length != 0) {
		bt_strbuf_append_c(out, "  nominated to ");
		bt_printable_append(out, pod->status.nominated_node_name);
		bt_strbuf_append_c(out, " by an earlier attempt\n");
	}
	/* When the last attempt said what this one says, it is not repeated. */
	const struct bt_pod_condition *condition = bt_explain_condition(report->pod);
	if (condition == NULL || bt_str_equal_c(condition->status, "True")) {
		return;
	}
	bt_strbuf_append_c(out, "  status says ");
	bt_printable_append(
		out, condition->reason.length != 0 ? condition->reason : condition->status);
	if (condition->last_transition_time.set) {
		bt_strbuf_append_c(out, " since ");
		bt_time_format(&condition->last_transition_time, out);
	}
	if (condition->message.length != 0 &&
		bt_str_equal(condition->message, report->explanation->message)) {
		bt_strbuf_append_c(out, ", with the same message");
	} else if (condition->message.length != 0) {
		bt_strbuf_append_c(out, ": ");
		bt_printable_append(out, condition->message);
	}
	bt_strbuf_append_char(out, '\n');
}
