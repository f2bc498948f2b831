/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/whatif_report.h"

#include <stdlib.h>

#include "api/change.h"
#include "api/identity.h"
#include "api/node.h"
#include "base/assert.h"

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
	side->engine = side->simulation.engine;
	bt_manifests_init(&side->cluster);
	bt_arena_init(&side->arena, 0);
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

static void add_running(
	struct bt_whatif_side *side, const struct bt_manifests *source, uint32_t index)
{
	const struct bt_manifests_object *object = &source->objects.items[index];
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	struct bt_whatif_pod entry = {
		.namespace_ = object->namespace_,
		.name = object->name,
		.node_name = pod->spec.node_name,
		.priority = bt_pod_priority(pod),
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
	return &side->engine->state->nodes;
}

/** --- amounts --- */

struct bt_whatif_amount bt_whatif_amount_of(const struct bt_scalar_column *column, uint32_t slot)
{
	struct bt_whatif_amount amount = {0};
	if (column != NULL && slot != BT_SLOT_NONE) {
		amount.requested = column->requested[slot];
		amount.allocatable = column->allocatable[slot];
	}
	return amount;
}

struct bt_whatif_usage bt_whatif_usage_of(const struct bt_whatif_side *side, uint32_t slot)
{
	const struct bt_node_table *table = table_of(side);
	return (struct bt_whatif_usage){
		.pods = {table->pod_count[slot], table->allocatable_pods[slot]},
		.cpu_milli = {table->requested_cpu_milli[slot], table->allocatable_cpu_milli[slot]},
		.memory_bytes = {table->requested_memory_bytes[slot],
			table->allocatable_memory_bytes[slot]},
		.ephemeral_bytes = {table->requested_ephemeral_bytes[slot],
			table->allocatable_ephemeral_bytes[slot]},
	};
}

static void add_amount(struct bt_whatif_amount *total, struct bt_whatif_amount amount)
{
	/* Amounts of the input are int64 each, so their sum may overflow. */
	if (BT_ADD_OVERFLOW(total->requested, amount.requested, &total->requested)) {
		total->requested = INT64_MAX;
	}
	if (BT_ADD_OVERFLOW(total->allocatable, amount.allocatable, &total->allocatable)) {
		total->allocatable = INT64_MAX;
	}
}

static void add_usage(struct bt_whatif_usage *total, const struct bt_whatif_usage *usage)
{
	add_amount(&total->pods, usage->pods);
	add_amount(&total->cpu_milli, usage->cpu_milli);
	add_amount(&total->memory_bytes, usage->memory_bytes);
	add_amount(&total->ephemeral_bytes, usage->ephemeral_bytes);
}

static bool same_amount(struct bt_whatif_amount a, struct bt_whatif_amount b)
{
	return a.requested == b.requested && a.allocatable == b.allocatable;
}

static bool same_usage(const struct bt_whatif_report *report, const struct bt_whatif_node *node)
{
	for (uint32_t i = 0; i < report->resources.count; i++) {
		const struct bt_whatif_resource *resource = &report->resources.items[i];
		if (!same_amount(bt_whatif_amount_of(resource->before, node->before_slot),
			    bt_whatif_amount_of(resource->after, node->after_slot))) {
			return false;
		}
	}
	struct bt_whatif_usage a = bt_whatif_usage_of(report->before, node->before_slot);
	struct bt_whatif_usage b = bt_whatif_usage_of(report->after, node->after_slot);
	return same_amount(a.pods, b.pods) && same_amount(a.cpu_milli, b.cpu_milli) &&
		same_amount(a.memory_bytes, b.memory_bytes) &&
		same_amount(a.ephemeral_bytes, b.ephemeral_bytes);
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
	if (entry.before_slot != BT_SLOT_NONE) {
		struct bt_whatif_usage usage =
			bt_whatif_usage_of(report->before, entry.before_slot);
		add_usage(&report->total_before, &usage);
	}
	if (entry.after_slot != BT_SLOT_NONE) {
		struct bt_whatif_usage usage = bt_whatif_usage_of(report->after, entry.after_slot);
		add_usage(&report->total_after, &usage);
	}
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_whatif_resource *resource = &report->resources.items[i];
		add_amount(&resource->total_before,
			bt_whatif_amount_of(resource->before, entry.before_slot));
		add_amount(&resource->total_after,
			bt_whatif_amount_of(resource->after, entry.after_slot));
	}
	if (entry.before_slot == BT_SLOT_NONE || entry.after_slot == BT_SLOT_NONE ||
		entry.drained || entry.cordoned || entry.uncordoned || entry.taints ||
		entry.labels || entry.other || !same_usage(report, &entry)) {
		bt_vec_push(&report->nodes, entry);
	}
}

/**
 * Compares the next nodes of both sides. Below 0: the node exists only before; 0: before and after;
 * above 0: only after.
 */
static int compare_names(
	const struct bt_whatif_report *report, const uint32_t *had, const uint32_t *has)
{
	if (had == NULL || has == NULL) {
		return had == NULL ? 1 : -1;
	}
	return bt_str_compare(bt_node_table_name(table_of(report->before), *had),
		bt_node_table_name(table_of(report->after), *has));
}

/** Fills in the node and resource parts of the report. */
static void whatif_compare_nodes(struct bt_whatif_report *report)
{
	/* Merge the resources of both sides by name. */
	const struct bt_whatif_side *sides[] = {report->before, report->after};
	for (size_t side = 0; side < BT_ARRAY_LENGTH(sides); side++) {
		const struct bt_node_table *table = table_of(sides[side]);
		for (uint32_t i = 0; i < table->scalars.count; i++) {
			const struct bt_scalar_column *column = &table->scalars.items[i];
			struct bt_whatif_resource resource = {
				.name = bt_symbol_text(table->symbols, column->name),
				.before = side == 0 ? column : NULL,
				.after = side == 1 ? column : NULL,
			};
			bt_vec_push(&report->resources, resource);
		}
	}
	if (report->resources.count > 1) {
		qsort(report->resources.items, report->resources.count,
			sizeof(report->resources.items[0]), bt_str_compare_qsort);
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < report->resources.count; i++) {
		struct bt_whatif_resource resource = report->resources.items[i];
		struct bt_whatif_resource *last =
			count != 0 ? &report->resources.items[count - 1] : NULL;
		if (last != NULL && bt_str_equal(last->name, resource.name)) {
			last->before = resource.before != NULL ? resource.before : last->before;
			last->after = resource.after != NULL ? resource.after : last->after;
		} else {
			report->resources.items[count++] = resource;
		}
	}
	report->resources.count = count;
	uint32_t *before = bt_simulation_node_slots(&report->before->simulation);
	uint32_t *after = bt_simulation_node_slots(&report->after->simulation);
	report->node_count_before = report->before->simulation.node_count;
	report->node_count_after = report->after->simulation.node_count;
	uint32_t b = 0;
	uint32_t a = 0;
	while (b < report->node_count_before || a < report->node_count_after) {
		const uint32_t *had = b < report->node_count_before ? &before[b] : NULL;
		const uint32_t *has = a < report->node_count_after ? &after[a] : NULL;
		int order = compare_names(report, had, has);
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

/** Returns why the after side no longer makes a pod that the before side made for a workload. */
static const char *expanded_reason(
	const struct bt_whatif_report *report, const struct bt_whatif_pod *before)
{
	const struct bt_manifests *work = &report->whatif->work;
	if (before->place.length == 0) {
		return bt_departure_name(BT_DEPARTURE_SCALED_DOWN);
	}
	uint32_t node = bt_manifests_find(work, BT_KIND_NODE, BT_STR(""), before->place);
	bool removed = node == BT_MANIFESTS_NONE || report->whatif->marks.items[node].is_deleted;
	return removed ? bt_departure_name(BT_DEPARTURE_NODE_REMOVED)
		       : "its DaemonSet does not select the node any more";
}

static void compare_removed(struct bt_whatif_report *report, const struct bt_whatif_pod *before)
{
	const struct bt_whatif_mark *mark = mark_of(report, before);
	const char *reason = departure_of(report, before);
	bool is_lost = mark != NULL && mark->lost;
	if (!before->preempted) {
		add_change(report, is_lost ? BT_EFFECT_LOST : BT_EFFECT_GONE, before, NULL,
			is_lost || reason[0] != 0 ? reason : expanded_reason(report, before));
	}
}

static int compare_differences(const void *left, const void *right)
{
	const struct bt_whatif_difference *a = left;
	const struct bt_whatif_difference *b = right;
	const struct bt_whatif_pod *x = a->after != NULL ? a->after : a->before;
	const struct bt_whatif_pod *y = b->after != NULL ? b->after : b->before;
	const struct bt_str keys[][2] = {
		{x->namespace_, y->namespace_},
		{x->owner.name, y->owner.name},
		{x->owner.kind, y->owner.kind},
		{x->name, y->name},
		{x->place, y->place},
	};
	int order = (a->effect > b->effect) - (a->effect < b->effect);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(keys) && order == 0; i++) {
		order = bt_str_compare(keys[i][0], keys[i][1]);
	}
	return order;
}

void bt_whatif_compare(struct bt_whatif_report *report)
{
	bt_arena_init(&report->arena, 0);
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
		} else {
			if (after->preempted) {
				if (before == NULL || !before->preempted) {
					add_change(report, BT_EFFECT_PREEMPTED, before, after, "");
				}
			} else if (bt_fate_is_pending(after->fate) &&
				(before == NULL || is_placed(before) || before->preempted)) {
				add_change(report, BT_EFFECT_PENDING, before, after,
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
		if (find(report->after, before) == NULL) {
			compare_removed(report, before);
		}
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
	bt_arena_finish(&report->arena);
}

bool bt_whatif_is_worse(const struct bt_whatif_report *report)
{
	return report->counts[BT_EFFECT_PENDING] != 0 || report->counts[BT_EFFECT_LOST] != 0 ||
		report->counts[BT_EFFECT_PREEMPTED] != 0;
}
