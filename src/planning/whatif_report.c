/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/whatif_report.h"

#include <stdlib.h>

#include "api/change.h"
#include "api/identity.h"
#include "api/node.h"
#include "base/assert.h"
#include "planning/whatif_private.h"

static uint64_t pod_hash(const struct bt_whatif_pod *pod)
{
	uint64_t hash = bt_str_hash(pod->namespace_);
	if (pod->place.length != 0) {
		hash = bt_hash_u64(hash, bt_str_hash(pod->place));
		return bt_hash_u64(hash, bt_str_hash(pod->owner.name));
	}
	return bt_hash_u64(hash, bt_str_hash(pod->name));
}

int bt_whatif_side_init(struct bt_whatif_side *side, bt_scheduler_create_fn *create,
	const void *context, struct berth_error *err)
{
	*side = (struct bt_whatif_side){0};
	int result = bt_simulation_init(&side->simulation, &side->cluster, create, context, err);
	if (result < 0) {
		return result;
	}
	bt_manifests_init(&side->cluster);
	return 0;
}

void bt_whatif_side_finish(struct bt_whatif_side *side)
{
	bt_simulation_finish(&side->simulation);
	bt_manifests_finish(&side->cluster);
	bt_vec_finish(&side->pods);
	bt_map_finish(&side->names);
	bt_arena_finish(&side->arena);
}

/** Returns the pod with the same name, or of the same DaemonSet and node, or NULL. */
static struct bt_whatif_pod *find(
	const struct bt_whatif_side *side, const struct bt_whatif_pod *pod)
{
	uint64_t hash = pod_hash(pod);
	BT_MAP_EACH (&side->names, hash, index) {
		struct bt_whatif_pod *other = &side->pods.items[index];
		if (bt_str_equal(other->namespace_, pod->namespace_) &&
			bt_str_equal(other->place, pod->place) &&
			(other->place.length != 0 ? bt_str_equal(other->owner.name, pod->owner.name)
						  : bt_str_equal(other->name, pod->name))) {
			return other;
		}
	}
	return NULL;
}

static void add(struct bt_whatif_side *side, const struct bt_whatif_pod *pod)
{
	bt_vec_push(&side->pods, *pod);
	bt_map_insert(&side->names, pod_hash(pod), side->pods.count - 1);
}

/** --- identity of pods --- */

struct bt_str bt_whatif_daemon_place(struct bt_pod_owner owner, const struct bt_pod *pod)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (!bt_str_equal_c(owner.kind, "DaemonSet") || affinity == NULL ||
		affinity->node_affinity == NULL || affinity->node_affinity->required == NULL) {
		return BT_STR("");
	}
	const struct bt_node_selector *required = affinity->node_affinity->required;
	for (uint32_t i = 0; i < required->terms.count; i++) {
		const struct bt_node_selector_term *term = &required->terms.items[i];
		if (term->match_fields.count == 1 &&
			bt_str_equal_c(term->match_fields.items[0].key, "metadata.name") &&
			term->match_fields.items[0].values.count == 1) {
			return term->match_fields.items[0].values.items[0];
		}
	}
	return BT_STR("");
}

int32_t bt_whatif_priority(
	const struct bt_simulation *simulation, const struct bt_manifests_object *object)
{
	const struct bt_state *state = simulation->engine->state;
	uint32_t id = bt_state_find_pod(state, object->uid);
	return id != BT_POD_NONE ? state->pods.records.items[id].priority
				 : bt_pod_priority(bt_object_value(object->object, BT_KIND_POD));
}

static void add_running(
	struct bt_whatif_side *side, const struct bt_manifests *source, uint32_t index)
{
	const struct bt_manifests_object *object = &source->objects.items[index];
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	struct bt_whatif_pod entry = {
		.namespace_ = object->namespace_,
		.name = object->name,
		.node_name = pod->spec.node_name,
		.priority = bt_whatif_priority(&side->simulation, object),
		.fate = BT_FATE_SCHEDULED,
		.running = true,
		.object = index,
		.owner = bt_pod_owner_of(&pod->metadata),
	};
	add(side, &entry);
}

int bt_whatif_side_run(struct bt_whatif_side *side, const struct bt_manifests *source,
	const struct bt_whatif_mark *marks, bool preempt, struct berth_error *err)
{
	struct bt_simulation *simulation = &side->simulation;
	simulation->preempt = preempt;
	int result = bt_simulation_load(simulation, err);
	if (result < 0) {
		return result;
	}
	for (uint32_t i = 0; i < source->objects.count; i++) {
		const struct bt_object *object = source->objects.items[i].object;
		if (object->kind == BT_KIND_POD && (marks == NULL || !marks[i].is_deleted) &&
			bt_pod_is_assigned(object->value) && !bt_pod_is_terminal(object->value)) {
			add_running(side, source, i);
		}
	}
	bt_simulation_run(simulation, simulation->pods.count);
	uint32_t group_count;
	uint32_t *group_of = BT_NEW_ARRAY(uint32_t, simulation->pods.count);
	struct bt_simulated_group *groups =
		bt_simulation_groups(simulation, group_of, &group_count);
	struct bt_str *waits = BT_NEW_ARRAY(struct bt_str, group_count);
	for (uint32_t i = 0; i < group_count; i++) {
		const struct bt_simulated_group *group = &groups[i];
		waits[i] = group->stopped == UINT32_MAX
			? bt_arena_str(&side->arena, group->message)
			: bt_arena_printf(&side->arena, "%.*s%s%.*s: %.*s",
				  BT_STR_ARG(group->message),
				  group->message.length != 0 ? "; " : "",
				  BT_STR_ARG(simulation->pods.items[group->stopped]
						     .pod->metadata.name),
				  BT_STR_ARG(group->reason));
	}
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *decided = &simulation->pods.items[i];
		const struct bt_pod *pod = decided->pod;
		struct bt_whatif_pod entry = {
			.namespace_ = pod->metadata.namespace_,
			.name = pod->metadata.name,
			.node_name = decided->node_name,
			.message = decided->message,
			.priority = bt_pod_priority(pod),
			.fate = decided->fate,
			.object = bt_manifests_find(
				source, BT_KIND_POD, pod->metadata.namespace_, pod->metadata.name),
			.owner = bt_pod_owner_of(&pod->metadata),
		};
		if (decided->group_name.length != 0) {
			entry.owner =
				(struct bt_pod_owner){BT_STR("PodGroup"), decided->group_name};
		}
		if (decided->group_name.length != 0 && bt_fate_is_pending(decided->fate)) {
			entry.message = waits[group_of[i]];
			entry.is_grouped = true;
		}
		if (entry.object == BT_MANIFESTS_NONE) {
			entry.place = bt_whatif_daemon_place(entry.owner, pod);
		}
		side->pending_count += bt_fate_is_pending(decided->fate);
		add(side, &entry);
	}
	bt_free(waits);
	bt_free(group_of);
	bt_free(groups);
	for (uint32_t i = 0; i < side->simulation.evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &side->simulation.evictions.items[i];
		const struct bt_object_meta *preemptor =
			&side->simulation.pods.items[eviction->preemptor].pod->metadata;
		struct bt_whatif_pod key = {
			.namespace_ = eviction->namespace_, .name = eviction->name};
		struct bt_whatif_pod *victim = find(side, &key);
		if (victim != NULL) {
			victim->preempted = true;
			victim->preemptor_namespace = preemptor->namespace_;
			victim->preemptor_name = preemptor->name;
		}
	}
	return 0;
}

/** --- differences between the nodes of both sides, and their use --- */

static const struct bt_node_table *table_of(const struct bt_whatif_side *side)
{
	return &side->simulation.engine->state->nodes;
}

/** --- amounts --- */

struct bt_node_amounts bt_whatif_amounts(const struct bt_whatif_report *report,
	const struct bt_whatif_node *node, uint32_t resource, bool is_after)
{
	const struct bt_whatif_resource *wanted = &report->resources.items[resource];
	if (node == NULL) {
		return is_after ? wanted->total_after : wanted->total_before;
	}
	uint32_t slot = is_after ? node->after_slot : node->before_slot;
	return slot != BT_SLOT_NONE ? bt_amounts_at(is_after ? wanted->after : wanted->before, slot)
				    : (struct bt_node_amounts){0};
}

static void add_amounts(struct bt_node_amounts *total, struct bt_node_amounts amounts)
{
	/* Amounts of the input are int64 each, so their sum may overflow. */
	if (BT_ADD_OVERFLOW(total->requested, amounts.requested, &total->requested)) {
		total->requested = INT64_MAX;
	}
	if (BT_ADD_OVERFLOW(total->allocatable, amounts.allocatable, &total->allocatable)) {
		total->allocatable = INT64_MAX;
	}
}

/** --- one node --- */

static void compare_node(struct bt_whatif_report *report, const uint32_t *had, const uint32_t *has)
{
	BT_ASSERT(had != NULL || has != NULL);
	struct bt_whatif_node entry = {
		.name = had != NULL ? bt_node_table_name(table_of(report->before), *had)
				    : bt_node_table_name(table_of(report->after), *has),
		.before_slot = had != NULL ? *had : BT_SLOT_NONE,
		.after_slot = has != NULL ? *has : BT_SLOT_NONE,
	};
	if (has != NULL) {
		const struct bt_manifests *base = report->whatif->base;
		const struct bt_manifests *work = &report->whatif->work;
		uint32_t index = bt_manifests_find(work, BT_KIND_NODE, BT_STR(""), entry.name);
		entry.drained = report->whatif->marks.items[index].drained;
		if (entry.before_slot != BT_SLOT_NONE &&
			base->objects.items[index].object != work->objects.items[index].object) {
			const struct bt_node *before =
				bt_object_value(base->objects.items[index].object, BT_KIND_NODE);
			const struct bt_node *after =
				bt_object_value(work->objects.items[index].object, BT_KIND_NODE);
			entry.cordoned = after->spec.unschedulable && !before->spec.unschedulable;
			entry.uncordoned = before->spec.unschedulable && !after->spec.unschedulable;
			entry.taints =
				!bt_taint_list_equal(&before->spec.taints, &after->spec.taints);
			entry.labels = !bt_str_map_equal(
				&before->metadata.labels, &after->metadata.labels);
			struct bt_node like = *after;
			like.spec = before->spec;
			like.metadata.labels = before->metadata.labels;
			entry.other = !bt_message_equal(&bt_node_message, before, &like);
		}
	}
	bool is_same = had != NULL && has != NULL;
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_whatif_resource *resource = &report->resources.items[i];
		struct bt_node_amounts before = bt_whatif_amounts(report, &entry, i, false);
		struct bt_node_amounts after = bt_whatif_amounts(report, &entry, i, true);
		add_amounts(&resource->total_before, before);
		add_amounts(&resource->total_after, after);
		is_same = is_same && before.requested == after.requested &&
			before.allocatable == after.allocatable;
	}
	if (entry.drained || entry.cordoned || entry.uncordoned || entry.taints || entry.labels ||
		entry.other || !is_same) {
		bt_vec_push(&report->nodes, entry);
	}
}

/** Fills in the node and resource parts of the report. */
static void whatif_compare_nodes(struct bt_whatif_report *report)
{
	static const struct bt_str fixed[] = {[BT_WHATIF_PODS] = BT_STR_INIT("pods"),
		[BT_WHATIF_CPU] = BT_STR_INIT("cpu"),
		[BT_WHATIF_MEMORY] = BT_STR_INIT("memory"),
		[BT_WHATIF_EPHEMERAL] = BT_STR_INIT("ephemeral-storage")};
	const struct bt_whatif_side *sides[] = {report->before, report->after};
	for (uint32_t i = 0; i < BT_WHATIF_SCALARS; i++) {
		bt_vec_push(&report->resources, (struct bt_whatif_resource){.name = fixed[i]});
	}
	for (size_t side = 0; side < BT_ARRAY_LENGTH(sides); side++) {
		const struct bt_node_table *table = table_of(sides[side]);
		for (uint32_t i = 0; i < table->scalars.count; i++) {
			struct bt_whatif_resource resource = {
				.name = bt_symbol_text(
					table->symbols, table->scalars.items[i].name)};
			bt_vec_push(&report->resources, resource);
		}
	}
	qsort(report->resources.items + BT_WHATIF_SCALARS,
		report->resources.count - BT_WHATIF_SCALARS, sizeof(report->resources.items[0]),
		bt_str_compare_qsort);
	uint32_t count = BT_WHATIF_SCALARS;
	for (uint32_t i = BT_WHATIF_SCALARS; i < report->resources.count; i++) {
		struct bt_whatif_resource resource = report->resources.items[i];
		if (!bt_str_equal(report->resources.items[count - 1].name, resource.name)) {
			report->resources.items[count++] = resource;
		}
	}
	report->resources.count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_whatif_resource *resource = &report->resources.items[i];
		resource->before = bt_node_table_columns(table_of(report->before), resource->name);
		resource->after = bt_node_table_columns(table_of(report->after), resource->name);
	}
	uint32_t *before = bt_simulation_node_slots(&report->before->simulation);
	uint32_t *after = bt_simulation_node_slots(&report->after->simulation);
	report->node_count_before = report->before->simulation.node_count;
	report->node_count_after = report->after->simulation.node_count;
	uint32_t b = 0;
	uint32_t a = 0;
	while (b < report->node_count_before || a < report->node_count_after) {
		const uint32_t *had = b < report->node_count_before ? &before[b] : NULL;
		const uint32_t *has = a < report->node_count_after ? &after[a] : NULL;
		/* Below 0: the node exists only before; above 0: only after. */
		int order = had == NULL ? 1
			: has == NULL
			? -1
			: bt_str_compare(bt_node_table_name(table_of(report->before), *had),
				  bt_node_table_name(table_of(report->after), *has));
		compare_node(report, order <= 0 ? had : NULL, order >= 0 ? has : NULL);
		b += order <= 0;
		a += order >= 0;
	}
	bt_free(before);
	bt_free(after);
}

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

static void add_change(struct bt_whatif_report *report, enum bt_whatif_effect effect,
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

/** Returns whether the pod has a node and is not preempted. */
static bool is_placed(const struct bt_whatif_pod *pod)
{
	return pod != NULL && !pod->preempted && pod->node_name.length != 0;
}

static int compare_differences(const void *left, const void *right)
{
	const struct bt_whatif_difference *a = left;
	const struct bt_whatif_difference *b = right;
	const struct bt_whatif_pod *x = a->after != NULL ? a->after : a->before;
	const struct bt_whatif_pod *y = b->after != NULL ? b->after : b->before;
	return BT_ORDER_BY(BT_ORDER(a->effect, b->effect),
		bt_str_compare(x->namespace_, y->namespace_),
		bt_str_compare(x->owner.name, y->owner.name),
		bt_str_compare(x->owner.kind, y->owner.kind), bt_str_compare(x->name, y->name),
		bt_str_compare(x->place, y->place));
}

void bt_whatif_compare(struct bt_whatif_report *report)
{
	for (uint32_t i = 0; i < report->after->pods.count; i++) {
		const struct bt_whatif_pod *after = &report->after->pods.items[i];
		const struct bt_whatif_pod *before = find(report->before, after);
		if (is_placed(after)) {
			if (!is_placed(before)) {
				add_change(report, BT_EFFECT_PLACED, before, after,
					before != NULL && before->preempted
						? "it is not preempted any more"
						: "");
			} else if (!bt_str_equal(before->node_name, after->node_name)) {
				bool moved = before->running || report->from_scratch;
				add_change(report, moved ? BT_EFFECT_MOVED : BT_EFFECT_REPLANNED,
					before, after, departure_of(report, after));
			}
		} else if (after->preempted) {
			if (before == NULL || !before->preempted) {
				add_change(report, BT_EFFECT_PREEMPTED, before, after, "");
			}
		} else if (bt_fate_is_pending(after->fate) &&
			(before == NULL || is_placed(before) || before->preempted)) {
			add_change(report, BT_EFFECT_PENDING, before, after,
				departure_of(report, after));
		}
		const struct bt_whatif_mark *mark = mark_of(report, after);
		if (mark != NULL && mark->budget != 0 && after->node_name.length == 0) {
			report->whatif->budgets.items[mark->budget - 1].still_pending++;
		}
	}
	for (uint32_t i = 0; i < report->before->pods.count; i++) {
		const struct bt_whatif_pod *before = &report->before->pods.items[i];
		if (find(report->after, before) != NULL || before->preempted) {
			continue;
		}
		const struct bt_whatif_mark *mark = mark_of(report, before);
		const char *reason = departure_of(report, before);
		bool is_lost = mark != NULL && mark->lost;
		if (!is_lost && reason[0] == 0) {
			/* The pod was made for a workload, which makes it no more. */
			reason = before->place.length == 0
				? bt_departure_name(BT_DEPARTURE_SCALED_DOWN)
				: bt_whatif_find(report->whatif, BT_KIND_NODE, BT_STR(""),
					  before->place) == BT_MANIFESTS_NONE
				? bt_departure_name(BT_DEPARTURE_NODE_REMOVED)
				: "its DaemonSet does not select the node any more";
		}
		add_change(report, is_lost ? BT_EFFECT_LOST : BT_EFFECT_GONE, before, NULL, reason);
	}
	if (report->pods.count > 1) {
		qsort(report->pods.items, report->pods.count, sizeof(report->pods.items[0]),
			compare_differences);
	}
	whatif_compare_nodes(report);
}

void bt_whatif_report_finish(struct bt_whatif_report *report)
{
	bt_vec_finish(&report->pods);
	bt_vec_finish(&report->nodes);
	bt_vec_finish(&report->resources);
}

bool bt_whatif_is_worse(const struct bt_whatif_report *report)
{
	return report->counts[BT_EFFECT_PENDING] != 0 || report->counts[BT_EFFECT_LOST] != 0 ||
		report->counts[BT_EFFECT_PREEMPTED] != 0;
}
