/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_change.h"
#include "cli/explain/explain_report.h"
#include "cli/output.h"

const char *bt_explained_fate_name(enum bt_explained_fate fate)
{
	switch (fate) {
	case BT_EXPLAINED_FITS:
		return "Fits";
	case BT_EXPLAINED_UNSCHEDULABLE:
		return "Unschedulable";
	case BT_EXPLAINED_NO_NODES:
		return "NoNodes";
	case BT_EXPLAINED_GATED:
		return "Gated";
	case BT_EXPLAINED_NOT_HANDLED:
		return "NotHandled";
	case BT_EXPLAINED_ERROR:
		return "Error";
	}
	return "";
}

static void write_changes(const struct bt_explain_report *report, const char *name,
	const bt_remedy_list *changes, struct bt_json_writer *writer)
{
	bt_json_write_name_c(writer, name);
	bt_changes_write_json(changes, report->pod, report->nodes, writer);
}

/** --- the pod and its place in the queue --- */

static void write_queue(const struct bt_explain_report *report, struct bt_json_writer *writer)
{
	const struct bt_pod *pod = report->pod;
	const struct bt_pod_condition *condition =
		bt_pod_find_condition(pod, BT_STR("PodScheduled"));
	bt_json_begin_member_object(writer, "queue");
	bt_json_write_member_int64(writer, "pendingPods", report->pending_count);
	bt_json_write_member_int64(writer, "podsBefore", report->ahead_count);
	bt_json_write_member_bool(writer, "afterQueue", report->after_queue);
	bt_json_write_member_int64(writer, "placedBefore", report->placed_count);
	bt_json_begin_member_array(writer, "gates");
	for (uint32_t i = 0; i < pod->spec.scheduling_gates.count; i++) {
		bt_json_write_str(writer, pod->spec.scheduling_gates.items[i].name);
	}
	bt_json_end_array(writer);
	bt_json_write_member(writer, "nominatedNode", pod->status.nominated_node_name);
	bt_json_write_member_bool(writer, "deleting", pod->metadata.deletion_timestamp != NULL);
	if (condition != NULL) {
		bt_json_begin_member_object(writer, "condition");
		bt_json_write_member(writer, "status", condition->status);
		bt_json_write_member(writer, "reason", condition->reason);
		bt_json_write_member(writer, "message", condition->message);
		bt_json_write_member_time(writer, "since", &condition->last_transition_time);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
}

/** --- nodes --- */

static void write_devices(const struct bt_allocation_report *report, struct bt_json_writer *writer)
{
	bt_json_begin_member_object(writer, "devices");
	bt_json_begin_member_array(writer, "requests");
	for (uint32_t i = 0; i < report->count; i++) {
		const struct bt_request_report *request = &report->requests[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "claim", request->claim);
		bt_json_write_member(writer, "request", request->request);
		bt_json_write_member(writer, "deviceClass", request->device_class);
		bt_json_write_member_bool(writer, "all", request->needs_all);
		bt_json_write_member_int64(writer, "wanted", request->wanted);
		bt_json_write_member_int64(writer, "devices", request->considered);
		bt_json_write_member_int64(writer, "usable", request->usable);
		bt_json_write_member_int64(writer, "inUse", request->in_use);
		bt_json_write_member_int64(writer, "refusedByClass", request->class_refused);
		bt_json_write_member_int64(writer, "refusedByRequest", request->request_refused);
		bt_json_write_member_int64(writer, "ofOtherNodes", request->other_node);
		bt_json_write_member_int64(writer, "tainted", request->tainted);
		bt_json_write_member_int64(writer, "withoutCapacity", request->no_capacity);
		bt_json_write_member_int64(writer, "withoutCounters", request->no_counters);
		bt_json_write_member_int64(writer, "unsupported", request->unsupported);
		bt_json_write_member(writer, "selector", request->selector);
		bt_json_write_member(writer, "taint", request->taint);
		bt_json_write_member(writer, "error", request->error);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_write_member_int64(writer, "incompletePools", report->incomplete_pools);
	bt_json_write_member_int64(writer, "invalidPools", report->invalid_pools);
	bt_json_write_member_bool(writer, "eachFindsEnough", report->is_joint);
	bt_json_end_object(writer);
}

static void write_node(const struct bt_explain_report *report, const struct bt_explained_node *node,
	struct bt_json_writer *writer)
{
	bool fits = node->group == BT_EXPLAIN_GROUP_NONE;
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "name", node->name);
	bt_json_write_member_bool(writer, "fits", fits);
	if (fits) {
		bt_json_write_member_int64(writer, "total", node->total_score);
		bt_json_begin_member_object(writer, "scores");
		for (uint32_t i = 0; i < node->scores.count; i++) {
			bt_json_write_name(writer, node->scores.items[i].plugin);
			bt_json_write_int64(writer, node->scores.items[i].score);
		}
		bt_json_end_object(writer);
	} else {
		bt_json_begin_member_array(writer, "obstacles");
		for (uint32_t i = 0; i < node->obstacles.count; i++) {
			const struct bt_obstacle *obstacle = &node->obstacles.items[i];
			bt_json_begin_object(writer);
			bt_json_write_member(writer, "plugin", obstacle->plugin);
			bt_json_write_member(writer, "reasons", obstacle->reasons);
			bt_json_write_member(writer, "hint", obstacle->hint);
			if (obstacle->devices != NULL) {
				write_devices(obstacle->devices, writer);
			}
			bt_json_end_object(writer);
		}
		bt_json_end_array(writer);
		bt_json_write_member_bool(writer, "final", node->is_final);
		write_changes(report, "changes", &node->remedies, writer);
	}
	bt_json_end_object(writer);
}

static void write_preemption(
	const struct bt_explained_preemption *preemption, struct bt_json_writer *writer)
{
	bt_json_begin_member_object(writer, "preemption");
	bt_json_write_member_bool(writer, "ran", preemption->ran);
	bt_json_write_member(writer, "message", preemption->message);
	bt_json_write_member(writer, "node", preemption->node);
	bt_json_begin_member_array(writer, "candidates");
	for (uint32_t i = 0; i < preemption->candidates.count; i++) {
		const struct bt_explained_candidate *candidate = &preemption->candidates.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "node", candidate->node);
		bt_json_write_member_bool(writer, "selected", candidate->selected);
		bt_json_write_member_int64(writer, "budgetViolations", candidate->pdb_violations);
		bt_json_begin_member_array(writer, "victims");
		for (uint32_t j = 0; j < candidate->victims.count; j++) {
			const struct bt_explained_victim *victim = &candidate->victims.items[j];
			bt_json_begin_object(writer);
			bt_json_write_names(writer, victim->namespace_, victim->name);
			bt_json_write_member_int64(writer, "priority", victim->priority);
			bt_json_end_object(writer);
		}
		bt_json_end_array(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "refusals");
	for (uint32_t i = 0; i < preemption->refusals.count; i++) {
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "reason", preemption->refusals.items[i].reason);
		bt_json_write_member_int64(
			writer, "nodes", preemption->refusals.items[i].node_count);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
}

static void write_events(const struct bt_explain_events *events, struct bt_json_writer *writer)
{
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < events->list.count; i++) {
		const struct bt_live_event *event = &events->list.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "type", event->type);
		bt_json_write_member(writer, "reason", event->reason);
		bt_json_write_member(writer, "message", event->message);
		bt_json_write_member(writer, "source", event->source);
		bt_json_write_member_int64(writer, "count", event->count);
		bt_json_write_member_time(writer, "first", &event->first);
		bt_json_write_member_time(writer, "last", &event->last);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

void bt_explain_write_json_groups(
	const struct bt_explanation *explanation, struct bt_json_writer *writer)
{
	bt_json_begin_member_array(writer, "groups");
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member_c(writer, "code", bt_status_code_name(group->code));
		bt_json_write_member(writer, "plugin", group->plugin);
		bt_json_begin_member_array(writer, "reasons");
		for (uint32_t j = 0; j < group->reasons.count; j++) {
			bt_json_write_str(writer, group->reasons.items[j]);
		}
		bt_json_end_array(writer);
		bt_json_write_member_bool(writer, "preFilter", group->in_pre_filter);
		bt_json_write_member_int64(writer, "count", group->nodes.count);
		bt_json_begin_member_array(writer, "nodes");
		for (uint32_t j = 0; j < group->nodes.count; j++) {
			bt_json_write_str(
				writer, explanation->nodes.items[group->nodes.items[j]].name);
		}
		bt_json_end_array(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	const struct bt_explain_report *report = answer;
	const struct bt_explanation *explanation = report->explanation;
	bt_json_begin_object(writer);
	const struct bt_pod *pod = report->pod;
	bt_json_begin_member_object(writer, "pod");
	bt_json_write_names(writer, pod->metadata.namespace_, pod->metadata.name);
	bt_json_write_member(writer, "node", report->running_on);
	bt_json_write_member_int64(writer, "priority", bt_pod_priority(pod));
	bt_json_write_member(writer, "schedulerName", pod->spec.scheduler_name);
	if (report->group_name.length != 0) {
		bt_json_write_member(writer, "podGroup", report->group_name);
	}
	if (report->choice->of_workload) {
		bt_json_begin_member_object(writer, "workload");
		bt_json_write_member_c(
			writer, "kind", bt_kind_info(report->choice->workload_kind)->name);
		bt_json_write_names(
			writer, report->choice->workload_namespace, report->choice->workload_name);
		bt_json_write_member_int64(writer, "pods", report->choice->workload_pods);
		bt_json_write_member_int64(writer, "pendingPods", report->choice->workload_pending);
		bt_json_write_member_int64(writer, "fits", report->choice->workload_fits);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
	bt_json_write_member_c(writer, "fate", bt_explained_fate_name(explanation->fate));
	bt_json_write_member(writer, "message", explanation->message);
	bt_json_write_member(writer, "profile", explanation->profile);
	bt_json_write_member_int64(writer, "nodeCount", explanation->node_count);
	bt_json_write_member_int64(writer, "feasibleCount", explanation->feasible_count);
	bt_json_write_member(writer, "bestNode", explanation->best_node);
	bt_explain_write_json_groups(explanation, writer);
	bt_json_begin_member_array(writer, "nodes");
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		write_node(report, &explanation->nodes.items[i], writer);
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "proposals");
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		bt_json_begin_object(writer);
		write_changes(report, "changes", &proposal->remedies, writer);
		bt_json_write_member(writer, "node", proposal->node);
		bt_json_write_member_int64(writer, "opens", proposal->opened_count);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
	bt_json_write_member_int64(writer, "untriedNodes", explanation->untried_count);
	write_changes(report, "entryChanges", &explanation->entry_remedies, writer);
	write_preemption(&explanation->preemption, writer);
	write_queue(report, writer);
	bt_json_write_name_c(writer, "events");
	write_events(&report->events, writer);
	bt_json_end_object(writer);
}

int bt_explain_report_write(const struct bt_explain_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	return bt_output_write(format, bt_explain_report_write_table, write_json, report, out, err);
}
