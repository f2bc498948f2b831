/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_all.h"

#include <stdlib.h>
#include <string.h>

#include "api/meta.h"
#include "api/text_template.h"
#include "cli/explain/explain_change.h"
#include "state/pod_groups.h"

/** Limit of owners whose pods are explained; further owners are only counted. */
#define GROUPS_MAX 500

/**
 * Pods of one owner. Groups of pods without a controller that have the same explanation are merged.
 */
struct group {
	struct bt_pod_owner owner;
	bool is_pod_group; /* owner is a PodGroup, which is explained as a whole */
	struct bt_str namespace_;
	const struct bt_pod *first; /* the first pod that stays pending, if any does */
	uint32_t first_index;       /* index of first in bt_simulation.pods */
	uint32_t count;             /* pods that are pending in the input */
	uint32_t fit_count;         /* number of these pods that fit now */
	uint32_t others;            /* groups that were merged into this one */
	const char *fate;           /* NULL: not explained */
	struct bt_str message;
	struct bt_str reasons;        /* "Insufficient cpu (5 nodes)"; "": the message says why */
	struct bt_str change;         /* proposed change; "" if none was found */
	struct bt_str nominated_node; /* nominated node of first; "": none */
};

struct answer {
	struct bt_arena arena;
	struct group *groups;
	uint32_t group_count;
	uint32_t pod_count;
	uint32_t fit_count;
	uint32_t node_count;
	struct bt_str best_change; /* the change that helps the most pods that stay pending */
	uint32_t best_count;
};

/** --- groups by owner --- */

struct member {
	struct bt_pod_owner owner;
	bool is_pod_group;
	const struct bt_pod *pod;
	uint32_t position;
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left;
	const struct member *b = right;
	bool is_owned = a->owner.kind.length != 0; /* otherwise the pod is a group of its own */
	return BT_ORDER_BY(bt_str_compare(a->pod->metadata.namespace_, b->pod->metadata.namespace_),
		bt_str_compare(a->owner.kind, b->owner.kind),
		bt_str_compare(a->owner.name, b->owner.name),
		is_owned ? 0 : bt_str_compare(a->pod->metadata.name, b->pod->metadata.name),
		BT_ORDER(a->position, b->position));
}

static void group_by_owner(
	const struct bt_simulation *simulation, const char *namespace_, struct answer *answer)
{
	struct member *members =
		BT_ARENA_NEW_ARRAY(&answer->arena, struct member, simulation->pods.count);
	bool has_groups = simulation->engine->state->pod_groups != NULL;
	uint32_t count = 0;
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_pod *pod = simulation->pods.items[i].pod;
		bool is_deleting = simulation->pods.items[i].fate == BT_FATE_DELETING;
		if (!is_deleting &&
			(namespace_ == NULL ||
				bt_str_equal_c(pod->metadata.namespace_, namespace_))) {
			const struct bt_str *name = has_groups ? bt_pod_group_name_of(pod) : NULL;
			members[count++] = name != NULL
				? (struct member){{BT_STR("PodGroup"), *name}, true, pod, i}
				: (struct member){bt_pod_owner_of(&pod->metadata), false, pod, i};
		}
	}
	qsort(members, count, sizeof(*members), compare_members);
	answer->pod_count = count;
	answer->groups = BT_ARENA_NEW_ARRAY(&answer->arena, struct group, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct member *before = &members[i != 0 ? i - 1 : 0];
		if (i == 0 || members[i].owner.kind.length == 0 ||
			!bt_str_equal(before->owner.kind, members[i].owner.kind) ||
			!bt_str_equal(before->owner.name, members[i].owner.name) ||
			!bt_str_equal(before->pod->metadata.namespace_,
				members[i].pod->metadata.namespace_)) {
			answer->groups[answer->group_count++] =
				(struct group){.owner = members[i].owner,
					.is_pod_group = members[i].is_pod_group,
					.namespace_ = members[i].pod->metadata.namespace_,
					.first = members[i].pod,
					.first_index = members[i].position};
		}
		struct group *group = &answer->groups[answer->group_count - 1];
		bool fits = simulation->pods.items[members[i].position].fate == BT_FATE_SCHEDULED;
		if (!fits && group->count == group->fit_count) {
			group->first = members[i].pod;
			group->first_index = members[i].position;
		}
		group->count++;
		group->fit_count += fits;
		answer->fit_count += fits;
	}
}

static uint32_t staying_count(const struct group *group)
{
	return group->count - group->fit_count;
}

BT_COMPARE(compare_groups, struct group,
	BT_ORDER_BY(BT_ORDER(staying_count(b), staying_count(a)), BT_ORDER(b->count, a->count),
		bt_str_compare(a->namespace_, b->namespace_),
		bt_str_compare(a->owner.name, b->owner.name),
		bt_str_compare(a->first->metadata.name, b->first->metadata.name)))

/** --- reasons --- */

/** Append "Insufficient cpu (5 nodes), ...". */
static void append_reasons(const struct bt_explanation *explanation, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *rejected = &explanation->groups.items[i];
		for (uint32_t k = 0; k < rejected->reasons.count; k++) {
			bt_text_append(
				out, "%c%p", i + k != 0 ? ", " : "", rejected->reasons.items[k]);
		}
		bt_text_append(out, " (%n {node|nodes})", rejected->nodes.count);
	}
}

static int explain_pod_group(struct bt_simulation *simulation,
	const struct bt_explain_options *options, struct answer *answer, struct group *group,
	struct berth_error *err)
{
	struct bt_group_explanation explanation;
	struct bt_strbuf text = {0};
	int result = bt_explain_pod_group(
		simulation, group->namespace_, group->owner.name, options, &explanation, err);
	if (result == 0) {
		group->fate = bt_explained_group_fate_name(&explanation);
		group->message = bt_arena_str(&answer->arena, explanation.message);
		if (explanation.fate == BT_GROUP_UNSCHEDULABLE) {
			bt_text_append(&text,
				"%u of %u {pod finds|pods find} a node[, minCount is %i]",
				explanation.placed_count, explanation.members.count,
				explanation.min_count);
		}
		if (text.length != 0 && explanation.stop.groups.count != 0) {
			bt_strbuf_append_c(&text, "; the next: ");
			append_reasons(&explanation.stop, &text);
		}
		group->reasons = bt_arena_take_strbuf(&answer->arena, &text);
		if (explanation.proposals.count != 0) {
			bt_group_proposal_append_text(&explanation.proposals.items[0], group->first,
				&simulation->engine->state->nodes, &text);
		}
		group->change = bt_arena_take_strbuf(&answer->arena, &text);
	}
	bt_group_explanation_finish(&explanation);
	return result;
}

static int explain_group(struct bt_simulation *simulation, const struct bt_explain_options *options,
	struct answer *answer, struct group *group, struct berth_error *err)
{
	struct bt_explanation explanation;
	struct bt_strbuf text = {0};
	const struct bt_simulated_pod *entry = &simulation->pods.items[group->first_index];
	if (staying_count(group) == 0) {
		group->fate = bt_explained_fate_name(BT_EXPLAINED_FITS);
		return 0;
	}
	if (group->is_pod_group) {
		return explain_pod_group(simulation, options, answer, group, err);
	}
	int result = bt_explain(simulation->engine, group->first, options, &explanation, err);
	if (result == 0 && explanation.fate == BT_EXPLAINED_FITS) {
		/*
		 * A plugin rejected the pod after Filter, so only the simulated attempt has the
		 * reason.
		 */
		group->fate = bt_fate_name(entry->fate);
		group->message = entry->message;
	} else if (result == 0) {
		group->fate = bt_explained_fate_name(explanation.fate);
		group->message = bt_arena_str(&answer->arena, explanation.message);
		group->nominated_node = entry->nominated_node_name;
		if (explanation.fate == BT_EXPLAINED_UNSCHEDULABLE) {
			append_reasons(&explanation, &text);
		}
		group->reasons = bt_arena_take_strbuf(&answer->arena, &text);
		if (explanation.proposals.count != 0) {
			(void)bt_changes_append_text(&explanation.proposals.items[0].remedies,
				group->first, &simulation->engine->state->nodes, &text);
		}
		group->change = bt_arena_take_strbuf(&answer->arena, &text);
	}
	bt_explanation_finish(&explanation);
	return result;
}

/** --- answers --- */

static void write_text(const void *context, bool wide BT_UNUSED, struct bt_strbuf *out)
{
	const struct answer *answer = context;
	if (answer->pod_count == 0) {
		bt_strbuf_append_c(out, "No pod waits for a node.\n");
		return;
	}
	bt_text_append(out,
		"%n {pod waits|pods wait} for a node, [%n of them {fits|fit}, ]%n {group|groups}, "
		"%n {node|nodes}.\n",
		answer->pod_count, answer->fit_count, answer->group_count, answer->node_count);
	bt_text_append(out, "[%?What would help %c%n of them: %s\n]", answer->best_count != 0,
		answer->best_count > 1 ? "each of " : "", answer->best_count, answer->best_change);
	uint32_t others = 0; /* groups that are not explained */
	uint32_t other_pods = 0;
	for (uint32_t i = 0; i < answer->group_count; i++) {
		const struct group *group = &answer->groups[i];
		if (group->fate == NULL) {
			others++;
			other_pods += group->count;
			continue;
		}
		uint32_t staying = staying_count(group);
		bt_text_append(out,
			"\n[%n of ]%n {pod|pods}: ", group->fit_count != 0 ? staying : 0,
			group->count);
		if (group->owner.kind.length != 0) {
			bt_strbuf_append_lower(out, group->owner.kind);
			bt_text_append(out, "/%p", group->owner.name);
		} else {
			bt_text_append(out, "pod/%p[ and %u more]", group->first->metadata.name,
				group->others);
		}
		bt_text_append(out, " in %p", group->namespace_);
		bt_strbuf_append_c(out, "\n  why:  ");
		if (staying == 0) {
			bt_strbuf_append_c(out,
				group->is_pod_group
					? "all of it fits: the scheduler has not come to it yet"
					: group->count == 1
					? "it fits: the scheduler has not come to it yet"
					: "all of them fit: the scheduler has not come to them "
					  "yet");
		} else {
			bt_text_append(out, "%s[%p]", group->reasons,
				group->reasons.length == 0 ? group->message : BT_STR(""));
		}
		bt_text_append(out,
			"\n[        the other %n {fits|fit}\n]"
			"[        preemption would make room on %p\n]"
			"[  help: %s\n]",
			staying != 0 ? group->fit_count : 0, group->nominated_node, group->change);
	}
	bt_text_append(out, "[\n%n more {group|groups} with %n {pod|pods} %c not explained\n]",
		others, other_pods, others == 1 ? "is" : "are");
}

static void write_json(const void *context, struct bt_json_writer *writer)
{
	const struct answer *answer = context;
	bt_json_write(writer,
		"{apiVersion: 'berth.dev/v1', kind: 'PendingPods', summary: {pending: %u, fits: "
		"%u, stays: %u, nodes: %u, change: %s, helpedByChange: %u}, groups: [",
		answer->pod_count, answer->fit_count, (answer->pod_count - answer->fit_count),
		answer->node_count, answer->best_change, answer->best_count);
	for (uint32_t i = 0; i < answer->group_count; i++) {
		const struct group *group = &answer->groups[i];
		bt_json_write(writer,
			"{count: %u, fits: %u, stays: %u, namespace: %s, owner: {kind: %s, name: "
			"%s}, firstPod: %s, fate: %c",
			group->count, group->fit_count, staying_count(group), group->namespace_,
			group->owner.kind, group->owner.name, group->first->metadata.name,
			group->fate != NULL ? group->fate : "");
		bt_json_write(writer, "message: %s, nominatedNode: %s, change: %s}", group->message,
			group->nominated_node, group->change);
	}
	bt_json_write(writer, "]}");
}

int bt_explain_all_write(struct bt_simulation *simulation, const char *namespace_,
	const struct bt_explain_options *options, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct answer answer = {.node_count = simulation->node_count, .best_change = BT_STR("")};
	int result = 0;
	bt_simulation_place(simulation, simulation->pods.count, "placing the pods that fit");
	/* Dropped pods join their pod groups again; the simulation removed them from the groups. */
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->group_name.length != 0 && entry->is_dropped) {
			bt_pod_groups_add_pending(simulation->engine->state, entry->pod);
		}
	}
	group_by_owner(simulation, namespace_, &answer);
	qsort(answer.groups, answer.group_count, sizeof(*answer.groups), compare_groups);
	for (uint32_t i = 0; i < answer.group_count && i < GROUPS_MAX && result == 0; i++) {
		result = explain_group(simulation, options, &answer, &answer.groups[i], err);
	}
	if (result == 0) {
		/* Merge pods without a controller that have the same explanation. */
		uint32_t kept = 0;
		for (uint32_t i = 0; i < answer.group_count; i++) {
			struct group *group = &answer.groups[i];
			struct group *same = NULL;
			for (uint32_t k = 0; k < kept && same == NULL && group->fate != NULL; k++) {
				struct group *other = &answer.groups[k];
				if (other->fate != NULL && group->owner.kind.length == 0 &&
					other->owner.kind.length == 0 &&
					bt_str_equal(other->namespace_, group->namespace_) &&
					strcmp(other->fate, group->fate) == 0 &&
					bt_str_equal(other->message, group->message) &&
					bt_str_equal(other->change, group->change) &&
					bt_str_equal(
						other->nominated_node, group->nominated_node)) {
					same = other;
				}
			}
			if (same == NULL) {
				answer.groups[kept++] = *group;
			} else {
				same->count += group->count;
				same->fit_count += group->fit_count;
				same->others += 1;
			}
		}
		answer.group_count = kept;
		qsort(answer.groups, answer.group_count, sizeof(*answer.groups), compare_groups);
		for (uint32_t i = 0; i < answer.group_count; i++) {
			uint32_t count = 0;
			for (uint32_t k = 0;
				k < answer.group_count && answer.groups[i].change.length != 0;
				k++) {
				count += bt_str_equal(
						 answer.groups[k].change, answer.groups[i].change)
					? staying_count(&answer.groups[k])
					: 0;
			}
			if (count > answer.best_count) {
				answer.best_change = answer.groups[i].change;
				answer.best_count = count;
			}
		}
		result = bt_output_write(format, write_text, write_json, &answer, out, err);
	}
	if (result == 0 && answer.pod_count != 0) {
		result = BT_EXIT_FINDING;
	}
	bt_arena_finish(&answer.arena);
	return result;
}
