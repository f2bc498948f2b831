/* SPDX-License-Identifier: Apache-2.0 */
/** "berth explain podgroup/NAME", as text and as JSON. */
#include "api/identity.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "cli/explain/explain_all.h"
#include "cli/explain/explain_change.h"
#include "state/pod_groups.h"

/** Limit of listed members and placements, unless all are requested. */
#define ROWS_MAX 10

struct report {
	const struct bt_group_explanation *explanation;
	const struct bt_node_table *nodes;
	struct bt_str namespace_;
	struct bt_str name;
	bool wants_proposals;
};

/** --- the group --- */

int bt_explain_pod_group(struct bt_simulation *simulation, struct bt_str namespace_,
	struct bt_str name, const struct bt_explain_options *options,
	struct bt_group_explanation *out, struct berth_error *err)
{
	BT_VEC(const struct bt_pod *) pods = {0};
	*out = (struct bt_group_explanation){0};
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		bool is_placed = simulation->pods.items[i].fate == BT_FATE_SCHEDULED;
		const struct bt_str *group = bt_pod_group_name_of(pod);
		if (!is_placed && group != NULL && bt_str_equal(*group, name) &&
			bt_str_equal(pod->metadata.namespace_, namespace_) &&
			!bt_pod_is_terminating(pod)) {
			bt_vec_push(&pods, pod);
		}
	}
	int result = 0;
	if (pods.count != 0) {
		result = bt_explain_group(
			simulation->scheduler, pods.items, pods.count, options, out, err);
	} else {
		const struct bt_group_members *members =
			bt_pod_groups_find(simulation->engine->state, namespace_, name);
		out->scheduled_count = members != NULL ? members->scheduled_count : 0;
		out->has_object = bt_object_store_find(&simulation->engine->state->objects,
					  BT_KIND_POD_GROUP, namespace_, name) != NULL;
		out->fate = out->scheduled_count != 0 ? BT_GROUP_FITS : BT_GROUP_GATED;
	}
	bt_vec_finish(&pods);
	return result;
}

/**
 * Find the namespace that has a PodGroup of this name, or pods that name the group. Several such
 * namespaces are an error.
 */
static int find_group(const struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, struct bt_str *out_namespace,
	struct berth_error *err)
{
	const struct bt_manifests *cluster = simulation->cluster;
	struct bt_strbuf text = {0};
	struct bt_str found = BT_STR("");
	bool is_ambiguous = false;
	for (uint32_t i = 0; i < cluster->objects.count + simulation->pods.count; i++) {
		const struct bt_manifests_object *object =
			i < cluster->objects.count ? &cluster->objects.items[i] : NULL;
		const struct bt_pod *pod = object == NULL
			? simulation->pods.items[i - cluster->objects.count].pod
			: object->kind == BT_KIND_POD
			? (const struct bt_pod *)bt_object_value(object->object, BT_KIND_POD)
			: NULL;
		const struct bt_str *named = pod != NULL ? bt_pod_group_name_of(pod) : NULL;
		struct bt_str namespace_ =
			object != NULL ? object->namespace_ : pod->metadata.namespace_;
		bool is_group = pod == NULL && object->kind == BT_KIND_POD_GROUP &&
			bt_str_equal(object->name, reference->name);
		is_group = is_group || (named != NULL && bt_str_equal(*named, reference->name));
		if (!is_group ||
			(reference->namespace_.length != 0 &&
				!bt_str_equal(reference->namespace_, namespace_))) {
			continue;
		}
		is_ambiguous =
			is_ambiguous || (found.length != 0 && !bt_str_equal(found, namespace_));
		found = namespace_;
	}
	*out_namespace = found;
	if (found.length != 0 && !is_ambiguous) {
		return 0;
	}
	bt_printable_append(&text, bt_str_sub(reference->name, 0, BT_MANIFESTS_NAME_BYTES_MAX));
	int result = is_ambiguous
		? bt_error_set(err, BERTH_ERR_INVALID,
			  "pod groups named %s are in several namespaces, say which with -n",
			  bt_strbuf_c(&text))
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "there is no PodGroup %s among the objects read, and no pod names it in "
			  "spec.schedulingGroup",
			  bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return result;
}

/** --- texts --- */

void bt_group_proposal_append_text(const struct bt_group_proposal *proposal,
	const struct bt_pod *pod, const struct bt_node_table *nodes, struct bt_strbuf *out)
{
	bool is_of_pods = false;
	switch (proposal->kind) {
	case BT_GROUP_CHANGE_ADD_NODES:
		bt_text_append(
			out, "add %n empty {node|nodes} like %p", proposal->count, proposal->node);
		return;
	case BT_GROUP_CHANGE_LOWER_MIN_COUNT:
		bt_text_append(out, "make the PodGroup anew with minCount %u", proposal->count);
		return;
	case BT_GROUP_CHANGE_ADD_PODS:
		bt_text_append(out, "create %n more {pod|pods} of the group", proposal->count);
		return;
	case BT_GROUP_CHANGE_REMEDIES:
		break;
	}
	(void)bt_changes_append_text(&proposal->remedies, pod, nodes, out);
	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		is_of_pods = is_of_pods || bt_remedy_is_of_pod(proposal->remedies.items[i].kind);
	}
	bt_strbuf_append_c(out, is_of_pods ? ", in every pod of the group" : "");
}

const char *bt_explained_group_fate_name(const struct bt_group_explanation *explanation)
{
	bool has_pending = explanation->members.count != 0;
	switch (explanation->fate) {
	case BT_GROUP_FITS:
		return has_pending ? "Fits" : "Scheduled";
	case BT_GROUP_UNSCHEDULABLE:
		return "Unschedulable";
	case BT_GROUP_GATED:
		return has_pending ? "Gated" : "NoPods";
	case BT_GROUP_ERROR:
		return "Error";
	}
	return "";
}

/** --- text output --- */

static void write_summary(const struct report *report, struct bt_strbuf *out)
{
	const struct bt_group_explanation *explanation = report->explanation;
	bool is_placed =
		explanation->topology_key.length != 0 && explanation->placements.count != 0;
	bt_text_append(out, "PodGroup %m", report->namespace_, report->name);
	if (explanation->members.count == 0) {
		bt_strbuf_append_c(out,
			explanation->scheduled_count != 0
				? " is scheduled: no pod of it waits for a node.\n"
				: " has no pods: none names it in spec.schedulingGroup.\n");
		return;
	}
	switch (explanation->fate) {
	case BT_GROUP_FITS:
		bt_strbuf_append_c(out, " fits");
		break;
	case BT_GROUP_UNSCHEDULABLE:
		bt_strbuf_append_c(out, " does not fit");
		break;
	case BT_GROUP_GATED:
		bt_text_append(out,
			" is not tried on any node: %n {pod is|pods are} held back before the "
			"queue",
			explanation->gated_count);
		break;
	case BT_GROUP_ERROR:
		bt_strbuf_append_c(out, " cannot be scheduled");
		break;
	}
	if (explanation->fate != BT_GROUP_GATED) {
		bt_text_append(out, ": %n of %n pending {pod|pods} %c a node[%? in %p]",
			explanation->placed_count, explanation->members.count,
			explanation->placed_count == 1 ? "finds" : "find", is_placed,
			is_placed ? explanation->placements.items[explanation->closest].name
				  : BT_STR(""));
	}
	bt_text_append(out, "[, %n {pod has|pods have} one already][, minCount is %i].\n",
		explanation->scheduled_count, explanation->min_count);
	if (!explanation->has_object) {
		bt_strbuf_append_c(out,
			"There is no PodGroup object of that name: pods that name one wait for "
			"it.\n");
	}
	bt_text_append(out, "[\nThe scheduler says:\n  %p\n]", explanation->message);
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct report *report = answer;
	const struct bt_group_explanation *explanation = report->explanation;
	write_summary(report, out);
	if (explanation->members.count == 0) {
		return;
	}
	struct bt_table table;
	uint32_t count = explanation->placements.count;
	uint32_t shown = wide || count < ROWS_MAX ? count : ROWS_MAX;
	if (explanation->topology_key.length != 0 && count != 0) {
		bt_text_append(out, "\nPlacements by %p, the %c one first:\n",
			explanation->topology_key,
			explanation->fate == BT_GROUP_FITS ? "chosen" : "closest");
		BT_TABLE_BEGIN(&table, "  PLACEMENT", "NODES", "PODS");
		for (uint32_t i = 0; i < shown; i++) {
			/* The closest placement first, then the others by name. */
			uint32_t index = i == 0             ? explanation->closest
				: i <= explanation->closest ? i - 1
							    : i;
			const struct bt_explained_placement *placement =
				&explanation->placements.items[index];
			bt_table_add_cells(&table, "  %p\t%u\t%u/%u", placement->name,
				placement->node_count, placement->placed_count,
				explanation->members.count - explanation->gated_count);
		}
		bt_table_write(&table, out);
		bt_explain_write_more(shown, count, "  ", out);
	}
	count = explanation->members.count;
	shown = wide || count < ROWS_MAX ? count : ROWS_MAX;
	bt_strbuf_append_c(out, "\nPods, in the order in which they are tried:\n");
	BT_TABLE_BEGIN(&table, "  POD", "NODE", "MESSAGE");
	for (uint32_t i = 0; i < shown; i++) {
		const struct bt_explained_member *member = &explanation->members.items[i];
		bt_table_add_cells(&table, "  %p\t%p\t%p", member->name,
			member->node_name.length != 0 ? member->node_name : BT_STR("-"),
			member->message);
	}
	bt_table_write(&table, out);
	bt_explain_write_more(shown, count, "  ", out);
	if (explanation->stopped != NULL && explanation->stop.groups.count != 0) {
		bt_text_append(out, "\nWhat stops %p, nearest nodes first:\n",
			explanation->stopped->metadata.name);
		bt_explain_write_groups(&explanation->stop, out);
	}
	if (explanation->fate == BT_GROUP_FITS || explanation->fate == BT_GROUP_ERROR ||
		!report->wants_proposals) {
		return;
	}
	bt_strbuf_append_c(out, "\nChanges that would help the group:\n");
	if (explanation->proposals.count == 0) {
		bt_strbuf_append_c(out, "  no change that was tried; see above what stops it\n");
	}
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_group_proposal *proposal = &explanation->proposals.items[i];
		bt_text_append(out, "  %u. ", i + 1);
		bt_group_proposal_append_text(proposal, explanation->stopped, report->nodes, out);
		bt_text_append(out, ": then %n of %n pending {pod|pods} find a node\n",
			proposal->placed_count, explanation->members.count);
	}
}

/** --- JSON output --- */

static void write_json(const void *answer, struct bt_json_writer *writer)
{
	static const char *const types[] = {"Change", "AddNodes", "LowerMinCount", "AddPods"};
	const struct report *report = answer;
	const struct bt_group_explanation *explanation = report->explanation;
	bt_json_write(writer,
		"{podGroup: {namespace: %s, name: %s, exists: %b, minCount: %i, topologyKey: %s}, "
		"fate: %c, message: %s, scheduled: %u",
		report->namespace_, report->name, explanation->has_object, explanation->min_count,
		explanation->topology_key, bt_explained_group_fate_name(explanation),
		explanation->message, explanation->scheduled_count);
	bt_json_write(writer, "pending: %u, placed: %u, gated: %u, placements: [",
		explanation->members.count, explanation->placed_count, explanation->gated_count);
	for (uint32_t i = 0; i < explanation->placements.count; i++) {
		const struct bt_explained_placement *placement = &explanation->placements.items[i];
		bt_json_write(writer, "{name: %s, nodes: %u, placed: %u, fits: %b, closest: %b}",
			placement->name, placement->node_count, placement->placed_count,
			placement->is_feasible, i == explanation->closest);
	}
	bt_json_write(writer, "], pods: [");
	for (uint32_t i = 0; i < explanation->members.count; i++) {
		const struct bt_explained_member *member = &explanation->members.items[i];
		bt_json_write(writer, "{name: %s, node: %s, message: %s, gated: %b}", member->name,
			member->node_name, member->message, member->is_gated);
	}
	bt_json_end_array(writer);
	if (explanation->stopped != NULL) {
		bt_json_write(writer, "stopped: {pod: %s", explanation->stopped->metadata.name);
		bt_explain_write_json_groups(&explanation->stop, writer);
		bt_json_end_object(writer);
	}
	bt_json_begin_member_array(writer, "proposals");
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_group_proposal *proposal = &explanation->proposals.items[i];
		struct bt_strbuf text = {0};
		bt_group_proposal_append_text(proposal, explanation->stopped, report->nodes, &text);
		bt_json_write(writer, "{type: %c, text: %s, changes:", types[proposal->kind],
			bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		bt_changes_write_json(
			&proposal->remedies, explanation->stopped, report->nodes, writer);
		bt_json_write(writer, "count: %u, node: %s, placed: %u}", proposal->count,
			proposal->node, proposal->placed_count);
	}
	bt_json_write(writer, "]}");
}

int bt_explain_pod_group_write(struct bt_simulation *simulation,
	const struct bt_pod_reference *reference, const struct bt_explain_options *options,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_group_explanation explanation = {0};
	struct report report = {.explanation = &explanation,
		.nodes = &simulation->engine->state->nodes,
		.name = reference->name,
		.wants_proposals = options->proposals_max != 0};
	int result = find_group(simulation, reference, &report.namespace_, err);
	if (result == 0) {
		result = bt_simulation_check_group(simulation, report.namespace_, report.name, err);
	}
	if (result == 0) {
		result = bt_explain_pod_group(
			simulation, report.namespace_, report.name, options, &explanation, err);
	}
	if (result == 0) {
		result = bt_output_write(format, write_text, write_json, &report, out, err);
	}
	if (result == 0 && explanation.fate != BT_GROUP_FITS) {
		result = BT_EXIT_FINDING;
	}
	bt_group_explanation_finish(&explanation);
	return result;
}
