/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "cli/progress.h"
#include "cli/whatif/whatif_report.h"

static uint64_t pod_hash(const struct bt_whatif_pod *pod)
{
	uint64_t hash = bt_str_hash(pod->namespace_);
	if (pod->place.length != 0) {
		hash = bt_hash_u64(hash, bt_str_hash(pod->place));
		return bt_hash_u64(hash, bt_str_hash(pod->owner_name));
	}
	return bt_hash_u64(hash, bt_str_hash(pod->name));
}

static uint64_t pod_hash_of(const void *owner, uint32_t value)
{
	const struct bt_whatif_side *side = owner;
	return pod_hash(&side->pods.items[value]);
}

void bt_whatif_side_init(struct bt_whatif_side *side, struct bt_engine *engine)
{
	*side = (struct bt_whatif_side){.engine = engine};
	bt_manifests_init(&side->cluster);
	bt_map_init(&side->names, pod_hash_of, side);
	bt_arena_init(&side->arena, 0);
	bt_simulation_init(&side->simulation, &side->cluster, engine);
}

void bt_whatif_side_finish(struct bt_whatif_side *side)
{
	bt_simulation_finish(&side->simulation);
	bt_engine_destroy(side->engine);
	bt_manifests_finish(&side->cluster);
	bt_vec_finish(&side->pods);
	bt_map_finish(&side->names);
	bt_arena_finish(&side->arena);
}

static struct bt_whatif_pod *find(
	const struct bt_whatif_side *side, const struct bt_whatif_pod *pod)
{
	uint64_t hash = pod_hash(pod);
	for (uint32_t at = bt_map_first(&side->names, hash); at != BT_MAP_NONE;
		at = bt_map_next(&side->names, hash, at)) {
		struct bt_whatif_pod *other = &side->pods.items[bt_map_value(&side->names, at)];
		if (bt_str_equal(other->namespace_, pod->namespace_) &&
			bt_str_equal(other->place, pod->place) &&
			(other->place.length != 0 ? bt_str_equal(other->owner_name, pod->owner_name)
						  : bt_str_equal(other->name, pod->name))) {
			return other;
		}
	}
	return NULL;
}

const struct bt_whatif_pod *bt_whatif_side_find(
	const struct bt_whatif_side *side, const struct bt_whatif_pod *pod)
{
	return find(side, pod);
}

static void add(struct bt_whatif_side *side, const struct bt_whatif_pod *pod)
{
	bt_vec_push(&side->pods, *pod);
	bt_map_insert(&side->names, pod_hash(pod), side->pods.count - 1);
}

/** --- who it is --- */

/** What people call the owner: the Deployment behind a ReplicaSet. */
static void name_owner(struct bt_whatif_pod *entry, const struct bt_pod *pod)
{
	const struct bt_owner_reference *controller = bt_object_controller(&pod->metadata);
	if (controller == NULL) {
		return;
	}
	entry->owner_kind = controller->kind;
	entry->owner_name = controller->name;
	if (bt_str_equal_c(controller->kind, "ReplicaSet")) {
		struct bt_str deployment =
			bt_manifests_deployment_of(&pod->metadata, controller->name);
		if (deployment.length != 0) {
			entry->owner_kind = BT_STR("Deployment");
			entry->owner_name = deployment;
		}
	}
}

/** A DaemonSet's pods for nodes are told apart by the node: their names are drawn in its order. */
static struct bt_str daemon_place(const struct bt_whatif_pod *entry, const struct bt_pod *pod)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (!bt_str_equal_c(entry->owner_kind, "DaemonSet") || affinity == NULL ||
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
	};
	name_owner(&entry, pod);
	add(side, &entry);
}

static void mark_evicted(struct bt_whatif_side *side)
{
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
}

int bt_whatif_side_run(struct bt_whatif_side *side, const struct bt_manifests *source,
	const struct bt_whatif_mark *marks, bool preempt, const char *what, struct berth_error *err)
{
	struct bt_progress progress;
	struct bt_simulation *simulation = &side->simulation;
	simulation->preempt = preempt;
	int result = bt_simulation_load(simulation, err);
	if (result < 0) {
		return result;
	}
	for (uint32_t i = 0; i < source->objects.count; i++) {
		const struct bt_object *object = source->objects.items[i].object;
		if (object->kind == BT_KIND_POD && (marks == NULL || !marks[i].gone) &&
			bt_pod_is_assigned(object->value) && !bt_pod_is_terminal(object->value)) {
			add_running(side, source, i);
		}
	}
	bt_progress_start(&progress, what, true);
	simulation->progress = bt_progress_show;
	simulation->progress_context = &progress;
	bt_simulation_run(simulation);
	bt_progress_end(&progress);
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
		};
		name_owner(&entry, pod);
		if (entry.object == BT_MANIFESTS_NONE) {
			entry.place = daemon_place(&entry, pod);
		}
		side->pending_count += bt_fate_is_pending(decided->fate);
		add(side, &entry);
	}
	mark_evicted(side);
	return 0;
}
