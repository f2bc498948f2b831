/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_change.h"
#include "cli/explain/explain_report.h"
#include "cli/output.h"

const char *bt_explained_fate_name(enum bt_explained_fate fate)
{
	static const char *const names[] = {
		[BT_EXPLAINED_FITS] = "Fits",
		[BT_EXPLAINED_UNSCHEDULABLE] = "Unschedulable",
		[BT_EXPLAINED_NO_NODES] = "NoNodes",
		[BT_EXPLAINED_GATED] = "Gated",
		[BT_EXPLAINED_NOT_HANDLED] = "NotHandled",
		[BT_EXPLAINED_ERROR] = "Error",
	};
	return names[fate];
}

/** --- the pod and its place in the queue --- */

/** --- nodes --- */

static void write_devices(const struct bt_allocation_report *report, struct bt_json_writer *writer)
{
	bt_json_write(writer, "devices: {requests: [");
	for (uint32_t i = 0; i < report->count; i++) {
		const struct bt_request_report *request = &report->requests[i];
		bt_json_write(writer,
			"{claim: %s, request: %s, deviceClass: %s, all: %b, wanted: %u, devices: "
			"%u, usable: %u, inUse: %u",
			request->claim, request->request, request->device_class, request->needs_all,
			request->wanted, request->considered, request->usable, request->in_use);
		bt_json_write(writer,
			"refusedByClass: %u, refusedByRequest: %u, ofOtherNodes: %u, tainted: %u, "
			"withoutCapacity: %u, withoutCounters: %u, unsupported: %u, selector: %s",
			request->class_refused, request->request_refused, request->other_node,
			request->tainted, request->no_capacity, request->no_counters,
			request->unsupported, request->selector);
		bt_json_write(writer, "taint: %s, error: %s}", request->taint, request->error);
	}
	bt_json_write(writer, "], incompletePools: %u, invalidPools: %u, eachFindsEnough: %b}",
		report->incomplete_pools, report->invalid_pools, report->is_joint);
}

static void write_node(const struct bt_explain_report *report, const struct bt_explained_node *node,
	struct bt_json_writer *writer)
{
	bool fits = node->group == BT_EXPLAIN_GROUP_NONE;
	bt_json_write(writer, "{name: %s, fits: %b", node->name, fits);
	if (fits) {
		bt_json_write(writer, "total: %d, scores: {", node->total_score);
		for (uint32_t i = 0; i < node->scores.count; i++) {
			bt_json_write(writer, "%s: %d", node->scores.items[i].plugin,
				node->scores.items[i].score);
		}
		bt_json_end_object(writer);
	} else {
		bt_json_begin_member_array(writer, "obstacles");
		for (uint32_t i = 0; i < node->obstacles.count; i++) {
			const struct bt_obstacle *obstacle = &node->obstacles.items[i];
			bt_json_write(writer, "{plugin: %s, reasons: %s, hint: %s",
				obstacle->plugin, obstacle->reasons, obstacle->hint);
			if (obstacle->devices != NULL) {
				write_devices(obstacle->devices, writer);
			}
			bt_json_end_object(writer);
		}
		bt_json_write(writer, "], final: %b", node->is_final);
		bt_json_write_name_c(writer, "changes");
		bt_changes_write_json(&node->remedies, report->pod, report->nodes, writer);
	}
	bt_json_end_object(writer);
}

static void write_preemption(
	const struct bt_explained_preemption *preemption, struct bt_json_writer *writer)
{
	bt_json_write(writer, "preemption: {ran: %b, message: %s, node: %s, candidates: [",
		preemption->ran, preemption->message, preemption->node);
	for (uint32_t i = 0; i < preemption->candidates.count; i++) {
		const struct bt_explained_candidate *candidate = &preemption->candidates.items[i];
		bt_json_write(writer, "{node: %s, selected: %b, budgetViolations: %d, victims: [",
			candidate->node, candidate->selected, candidate->pdb_violations);
		for (uint32_t j = 0; j < candidate->victims.count; j++) {
			const struct bt_explained_victim *victim = &candidate->victims.items[j];
			bt_json_write(writer, "{namespace: %s, name: %s, priority: %i}",
				victim->namespace_, victim->name, victim->priority);
		}
		bt_json_write(writer, "]}");
	}
	bt_json_write(writer, "], refusals: [");
	for (uint32_t i = 0; i < preemption->refusals.count; i++) {
		bt_json_write(writer, "{reason: %s, nodes: %u}",
			preemption->refusals.items[i].reason,
			preemption->refusals.items[i].node_count);
	}
	bt_json_write(writer, "]}");
}

void bt_explain_write_json_groups(
	const struct bt_explanation *explanation, struct bt_json_writer *writer)
{
	bt_json_begin_member_array(writer, "groups");
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];
		bt_json_write(writer, "{code: %c, plugin: %s, reasons: [",
			bt_status_code_name(group->code), group->plugin);
		for (uint32_t j = 0; j < group->reasons.count; j++) {
			bt_json_write_str(writer, group->reasons.items[j]);
		}
		bt_json_write(writer, "], preFilter: %b, count: %u, nodes: [", group->in_pre_filter,
			group->nodes.count);
		for (uint32_t j = 0; j < group->nodes.count; j++) {
			bt_json_write_str(
				writer, explanation->nodes.items[group->nodes.items[j]].name);
		}
		bt_json_write(writer, "]}");
	}
	bt_json_end_array(writer);
}

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct bt_explain_report *report = answer;
	const struct bt_explanation *explanation = report->explanation;
	bt_json_begin_object(writer);
	const struct bt_pod *pod = report->pod;
	bt_json_write(writer,
		"pod: {namespace: %s, name: %s, node: %s, priority: %i, schedulerName: %s, "
		"podGroup?: %s",
		pod->metadata.namespace_, pod->metadata.name, report->running_on,
		bt_pod_priority(pod), pod->spec.scheduler_name, report->group_name);
	if (report->choice->of_workload) {
		bt_json_write(writer,
			"workload: {kind: %c, namespace: %s, name: %s, pods: %u, pendingPods: %u, "
			"fits: %u}",
			bt_kind_info(report->choice->workload_kind)->name,
			report->choice->workload_namespace, report->choice->workload_name,
			report->choice->workload_pods, report->choice->workload_pending,
			report->choice->workload_fits);
	}
	bt_json_write(writer,
		"}, fate: %c, message: %s, profile: %s, nodeCount: %u, feasibleCount: %u, "
		"bestNode: %s",
		bt_explained_fate_name(explanation->fate), explanation->message,
		explanation->profile, explanation->node_count, explanation->feasible_count,
		explanation->best_node);
	bt_explain_write_json_groups(explanation, writer);
	bt_json_begin_member_array(writer, "nodes");
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		write_node(report, &explanation->nodes.items[i], writer);
	}
	bt_json_write(writer, "], proposals: [");
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		bt_json_begin_object(writer);
		bt_json_write_name_c(writer, "changes");
		bt_changes_write_json(&proposal->remedies, report->pod, report->nodes, writer);
		bt_json_write(
			writer, "node: %s, opens: %u}", proposal->node, proposal->opened_count);
	}
	bt_json_write(writer, "], untriedNodes: %u", explanation->untried_count);
	bt_json_write_name_c(writer, "entryChanges");
	bt_changes_write_json(&explanation->entry_remedies, report->pod, report->nodes, writer);
	write_preemption(&explanation->preemption, writer);
	const struct bt_pod_condition *condition =
		bt_pod_find_condition(pod, BT_STR("PodScheduled"));
	bt_json_write(writer,
		"queue: {pendingPods: %u, podsBefore: %u, afterQueue: %b, placedBefore: %u, gates: "
		"[",
		report->pending_count, report->ahead_count, report->after_queue,
		report->placed_count);
	for (uint32_t i = 0; i < pod->spec.scheduling_gates.count; i++) {
		bt_json_write_str(writer, pod->spec.scheduling_gates.items[i].name);
	}
	bt_json_write(writer, "], nominatedNode: %s, deleting: %b", pod->status.nominated_node_name,
		pod->metadata.deletion_timestamp != NULL);
	if (condition != NULL) {
		bt_json_write(writer, "condition: {status: %s, reason: %s, message: %s",
			condition->status, condition->reason, condition->message);
		bt_json_write_member_time(writer, "since", &condition->last_transition_time);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
	bt_json_write_name_c(writer, "events");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < report->events.list.count; i++) {
		const struct bt_live_event *event = &report->events.list.items[i];
		bt_json_write(writer, "{type: %s, reason: %s, message: %s, source: %s, count: %d",
			event->type, event->reason, event->message, event->source, event->count);
		bt_json_write_member_time(writer, "first", &event->first);
		bt_json_write_member_time(writer, "last", &event->last);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

int bt_explain_report_write(const struct bt_explain_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	return bt_output_write(format, bt_explain_report_write_table, write_json, report, out, err);
}
