/* SPDX-License-Identifier: Apache-2.0 */
/** Losses of nodes (--lose). */
#include <stdlib.h>
#include <string.h>

#include "api/identity.h"
#include "api/selector.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "cli/processes.h"
#include "cli/whatif/whatif_output.h"
#include "planning/whatif_report.h"
#include "state/pod_groups.h"

#define LABEL_ZONE "topology.kubernetes.io/zone"
/** Limits of listed losses and pods; further ones are only counted. -o wide shows all. */
#define LOSS_ROWS_MAX 40
#define POD_ROWS_MAX 20

struct loss {
	struct bt_str name; /* the node's name, or the label's value */
	BT_VEC(uint32_t) nodes;
	BT_VEC(uint32_t) pods; /* pods on the lost nodes */
	bool places_pods;      /* a pod has to be placed, so a copy simulates the loss */
	struct bt_json_value *answer;
	/* Numbers of pods in the answer. */
	int64_t pending;
	int64_t lost;
	int64_t preempted;
	int64_t left;
	int64_t moved;
};

struct losing {
	const struct bt_whatif_options *options;
	struct bt_whatif_side *side;
	BT_VEC(struct loss)
	losses; /* in the order of their first nodes; the report sorts the worst loss first */
	BT_VEC(uint32_t) tried; /* indexes of losses that a copy simulates */
	uint32_t *loss_of;      /* by object index of a node: index of its loss + 1; 0: none */
	int32_t *priorities;    /* by object index of a running pod */
	uint32_t unlabelled;    /* number of nodes without the label */
	/* Outcome without a loss: uids of pending pods, names of preempted pods. */
	struct bt_text_set pending_before;
	struct bt_text_set preempted_before;
	struct bt_arena arena;
};

static bool is_about_nodes(const struct bt_whatif_options *options)
{
	return strcmp(options->lose, "node") == 0;
}

static const char *table_heading(const struct bt_whatif_options *options)
{
	return is_about_nodes(options)               ? "NODE"
		: strcmp(options->lose, "zone") == 0 ? "ZONE"
						     : "VALUE";
}

static const char *label_key(const char *unit)
{
	return strcmp(unit, "zone") == 0 ? LABEL_ZONE : unit;
}

int bt_lose_unit_check(const char *unit, struct berth_error *err)
{
	return bt_label_key_is_valid(bt_str_from(label_key(unit)))
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "--lose: must be node, zone, or the key of a label of nodes; --remove "
			  "NODE shows one loss");
}

/** --- what is lost --- */

static void list_losses(struct losing *losing)
{
	const struct bt_manifests *cluster = &losing->side->cluster;
	struct bt_text_set names = {0}; /* names of the losses, in the same order */
	struct bt_str key = bt_str_from(label_key(losing->options->lose));
	losing->loss_of = BT_NEW_ARRAY(uint32_t, cluster->objects.count);
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		const struct bt_str *name = &object->name;
		if (object->kind != BT_KIND_NODE) {
			continue;
		}
		if (!is_about_nodes(losing->options)) {
			name = bt_str_map_find(&object->object->meta->labels, key);
		}
		if (name == NULL) {
			losing->unlabelled++;
			continue;
		}
		uint32_t index = bt_text_set_find(&names, *name);
		if (index == BT_MAP_NONE) {
			const struct loss loss = {.name = *name};
			index = losing->losses.count;
			bt_vec_push(&losing->losses, loss);
			bt_text_set_append(&names, *name);
		}
		bt_vec_push(&losing->losses.items[index].nodes, i);
		losing->loss_of[i] = 1 + index;
	}
	bt_text_set_finish(&names);
}

/** The loss that includes this node, or NULL. */
static struct loss *loss_of_node(const struct losing *losing, struct bt_str node_name)
{
	uint32_t node =
		bt_manifests_find(&losing->side->cluster, BT_KIND_NODE, BT_STR(""), node_name);
	uint32_t loss = node != BT_MANIFESTS_NONE ? losing->loss_of[node] : 0;
	return loss != 0 ? &losing->losses.items[loss - 1] : NULL;
}

/** Whether the pod is created again: by its controller, or because of recreate_bare. */
static bool comes_back(const struct losing *losing, const struct bt_pod *pod)
{
	enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
	return !bt_pod_is_terminating(pod) &&
		(keeper == BT_KEEPER_CONTROLLER ||
			(keeper == BT_KEEPER_NONE && losing->options->recreate_bare));
}

/** --- one loss, in a copy of the process --- */

static void write_pod(struct bt_json_writer *writer, const struct bt_pod *pod, int32_t priority)
{
	struct bt_pod_owner owner = bt_pod_owner_of(&pod->metadata);
	bt_json_write(writer, "namespace: %s, name: %s, priority: %i, owner: {kind: %s, name: %s}",
		pod->metadata.namespace_, pod->metadata.name, priority, owner.kind, owner.name);
}

/**
 * Pods that were removed from lost nodes. Pods that are created again are pending in the
 * simulation.
 */
struct taken_pods {
	BT_VEC(struct bt_object *)
	list; /* owned references; the simulation's pods borrow their texts */
};

static int simulate_loss(const struct losing *losing, const struct loss *loss,
	struct taken_pods *taken, struct berth_error *err)
{
	struct bt_simulation *simulation = &losing->side->simulation;
	bool *removed = BT_NEW_ARRAY(bool, simulation->cluster->objects.count);
	int result = 0;
	/* Drop the pods that DaemonSets would create on lost nodes. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_str place =
			bt_whatif_daemon_place(bt_pod_owner_of(&entry->pod->metadata), entry->pod);
		if (place.length != 0 && loss_of_node(losing, place) == loss) {
			bt_claim_maker_unmake(simulation->claims, entry->pod);
		} else {
			simulation->pods.items[kept++] = *entry;
		}
	}
	simulation->pods.count = kept;
	for (uint32_t i = 0; i < loss->pods.count && result == 0; i++) {
		struct bt_object *object =
			bt_simulation_take_running(simulation, loss->pods.items[i]);
		if (object == NULL) {
			continue;
		}
		bt_vec_push(&taken->list, object);
		const struct bt_pod *pod = bt_object_value(object, BT_KIND_POD);
		if (comes_back(losing, pod)) {
			struct bt_pod copy = bt_pod_recreated(pod);
			result = bt_simulation_add_pod(simulation, &copy, loss->pods.items[i], err);
		}
	}
	for (uint32_t i = 0; i < loss->nodes.count; i++) {
		removed[loss->nodes.items[i]] = true;
	}
	if (result == 0) {
		result = bt_simulation_remove_nodes(simulation, removed, err);
	}
	bt_free(removed);
	return result;
}

static struct bt_str key_of(struct bt_arena *arena, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

static void list_victims(struct losing *losing, struct bt_text_set *victims)
{
	const struct bt_simulation *simulation = &losing->side->simulation;
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		/* each victim is evicted once */
		(void)bt_text_set_add(
			victims, key_of(&losing->arena, eviction->namespace_, eviction->name));
	}
}

static bool is_pending(struct losing *losing, const struct bt_text_set *victims,
	const struct bt_simulated_pod *entry)
{
	const struct bt_object_meta *meta = &entry->pod->metadata;
	return bt_fate_is_pending(entry->fate) &&
		!bt_text_set_has(victims, key_of(&losing->arena, meta->namespace_, meta->name));
}

static void write_loss(
	struct losing *losing, const struct loss *loss, struct bt_json_writer *writer)
{
	const struct bt_simulation *simulation = &losing->side->simulation;
	const struct bt_manifests *cluster = &losing->side->cluster;
	struct bt_text_set victims = {0};
	struct bt_text_set left = {0};
	list_victims(losing, &victims);
	bt_json_write(writer, "{lost: [");
	for (uint32_t i = 0; i < loss->pods.count; i++) {
		const struct bt_manifests_object *object =
			&cluster->objects.items[loss->pods.items[i]];
		struct bt_pod pod = *(const struct bt_pod *)object->object->value;
		pod.metadata.namespace_ = object->namespace_;
		if (bt_pod_is_terminating(&pod)) {
			continue;
		}
		if (bt_pod_keeper_of(&pod) == BT_KEEPER_NONE && !losing->options->recreate_bare) {
			bt_json_begin_object(writer);
			write_pod(writer, &pod, losing->priorities[loss->pods.items[i]]);
			bt_json_end_object(writer);
		} else if (comes_back(losing, &pod)) {
			(void)bt_text_set_add(&left, object->uid); /* uids are unique */
		}
	}
	bt_json_write(writer, "], pending: [");
	for (uint32_t i = 0; i < simulation->pods.count && loss->places_pods; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_str uid = entry->pod->metadata.uid;
		bool has_left = bt_text_set_has(&left, uid);
		if (is_pending(losing, &victims, entry) &&
			!bt_text_set_has(&losing->pending_before, uid)) {
			bt_json_begin_object(writer);
			write_pod(writer, entry->pod, bt_pod_priority(entry->pod));
			bt_json_write(writer, "ranThere: %b, reason: %c, message: %s}", has_left,
				bt_fate_name(entry->fate),
				entry->message.length != 0 ? entry->message : entry->group_message);
		}
	}
	bt_json_write(writer, "], preempted: [");
	for (uint32_t i = 0; i < simulation->evictions.count; i++) {
		const struct bt_simulated_eviction *eviction = &simulation->evictions.items[i];
		struct bt_str key = key_of(&losing->arena, eviction->namespace_, eviction->name);
		if (bt_text_set_has(&losing->preempted_before, key)) {
			continue;
		}
		const struct bt_object_meta *preemptor =
			&simulation->pods.items[eviction->preemptor].pod->metadata;
		bt_json_write(writer,
			"{namespace: %s, name: %s, priority: %i, node: %s, preemptor: {namespace: "
			"%s, name: %s}}",
			eviction->namespace_, eviction->name, eviction->priority,
			eviction->node_name, preemptor->namespace_, preemptor->name);
	}
	bt_json_write(writer, "], left: %u, moved: [", left.items.count);
	for (uint32_t i = 0; i < simulation->pods.count && left.items.count != 0; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		const struct bt_object_meta *meta = &entry->pod->metadata;
		if (entry->fate == BT_FATE_SCHEDULED && bt_text_set_has(&left, meta->uid)) {
			bt_json_write(writer, "{namespace: %s, name: %s, node: %s}",
				meta->namespace_, meta->name, entry->node_name);
		}
	}
	bt_json_write(writer, "]}");
	bt_text_set_finish(&left);
	bt_text_set_finish(&victims);
}

/** --- all of them --- */

static struct bt_str name_loss(const void *context, uint32_t index)
{
	const struct losing *losing = context;
	return losing->losses.items[losing->tried.items[index]].name;
}

static int try_loss(void *context, uint32_t index, struct bt_strbuf *out)
{
	struct losing *losing = context;
	const struct loss *loss = &losing->losses.items[losing->tried.items[index]];
	struct bt_simulation *simulation = &losing->side->simulation;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_writer writer;
	struct taken_pods taken = {0}; /* lives until the copy ends */
	int result = simulate_loss(losing, loss, &taken, &err);
	if (result < 0) {
		return bt_command_fail(losing->options->line.command, &err);
	}
	bt_simulation_close(simulation);
	bt_simulation_run(simulation, simulation->pods.count);
	bt_json_writer_init(&writer, out, 0);
	write_loss(losing, loss, &writer);
	return BT_EXIT_OK;
}

/** Keep the answer about a loss, and the numbers that the report sorts by. */
static void keep_answer(struct loss *loss, struct bt_json_value *answer)
{
	loss->answer = answer;
	loss->pending = bt_json_find(answer, "pending")->count;
	loss->lost = bt_json_find(answer, "lost")->count;
	loss->preempted = bt_json_find(answer, "preempted")->count;
	loss->moved = bt_json_find(answer, "moved")->count;
	/* Cannot fail: this program wrote the number. */
	(void)bt_str_parse_int64(bt_json_find(answer, "left")->text, &loss->left);
	loss->left += loss->lost;
}

static int take_loss(void *context, uint32_t index, struct bt_str json, struct berth_error *err)
{
	struct losing *losing = context;
	struct bt_json_value *answer;
	int result = bt_json_parse(&losing->arena, json, true, &answer, err);
	if (result == 0) {
		keep_answer(&losing->losses.items[losing->tried.items[index]], answer);
	}
	return result;
}

/** --- many losses in one copy --- */

/**
 * Limit of losses that one copy simulates. Values that the copy caches for one loss, such as
 * scores, speed up the next loss.
 */
#define PART_MAX 256

static uint32_t part_size(const struct losing *losing)
{
	int64_t jobs = losing->options->jobs != 0 ? losing->options->jobs : 4;
	int64_t size = losing->tried.count / jobs + 1;
	return size < PART_MAX ? (uint32_t)size : PART_MAX;
}

/**
 * Whether the simulation can be restored exactly after the loss: the loss is a single node, whose
 * pods can be bound again as before.
 */
static bool can_be_returned(const struct losing *losing, const struct loss *loss)
{
	const struct bt_simulation *simulation = &losing->side->simulation;
	for (uint32_t i = 0; i < loss->pods.count; i++) {
		const struct bt_pod *pod = bt_object_value(
			losing->side->cluster.objects.items[loss->pods.items[i]].object,
			BT_KIND_POD);
		if (pod->spec.resource_claims.count != 0 || bt_pod_group_name_of(pod) != NULL) {
			return false;
		}
		for (uint32_t k = 0; k < pod->spec.volumes.count; k++) {
			const struct bt_volume *volume = &pod->spec.volumes.items[k];
			if (volume->persistent_volume_claim != NULL || volume->ephemeral != NULL) {
				return false;
			}
		}
	}
	return loss->nodes.count == 1 &&
		bt_simulation_can_return_node(simulation, loss->nodes.items[0]);
}

/**
 * Simulate a loss and undo it. Writes null if a pod is not bound at once: such a loss needs a fresh
 * copy.
 */
static int try_and_return(struct losing *losing, const struct loss *loss,
	struct bt_json_writer *writer, struct berth_error *err)
{
	struct bt_simulation *simulation = &losing->side->simulation;
	struct taken_pods taken = {0};
	uint32_t next_start = simulation->engine->next_start_node_index;
	int result = simulate_loss(losing, loss, &taken, err);
	if (result < 0) {
		return result;
	}
	bt_simulation_close(simulation);
	bt_simulation_run(simulation, simulation->pods.count);
	bool are_bound_at_once = true;
	for (uint32_t i = 0; i < simulation->pods.count && are_bound_at_once; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		are_bound_at_once = entry->fate == BT_FATE_SCHEDULED && entry->attempts == 1;
	}
	if (are_bound_at_once) {
		write_loss(losing, loss, writer);
	} else {
		bt_json_write_null(writer);
	}
	bt_simulation_reopen(simulation);
	bt_simulation_return_node(
		simulation, loss->nodes.items[0], taken.list.items, taken.list.count);
	simulation->engine->next_start_node_index = next_start;
	bt_vec_finish(&taken.list);
	return 0;
}

static int try_part(void *context, uint32_t index, struct bt_strbuf *out)
{
	struct losing *losing = context;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_writer writer;
	uint32_t size = part_size(losing);
	int result = 0;
	/*
	 * A loss that needs preemption is simulated again in a copy of its own. Here the victims
	 * must stay for the next loss, so preemption is off, and the pod that would preempt is not
	 * bound.
	 */
	losing->side->simulation.preempt = false;
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_array(&writer);
	for (uint32_t i = index * size;
		i < losing->tried.count && i < (index + 1) * size && result == 0; i++) {
		const struct loss *loss = &losing->losses.items[losing->tried.items[i]];
		if (can_be_returned(losing, loss)) {
			result = try_and_return(losing, loss, &writer, &err);
		} else {
			bt_json_write_null(&writer);
		}
	}
	bt_json_end_array(&writer);
	return result < 0 ? bt_command_fail(losing->options->line.command, &err) : BT_EXIT_OK;
}

static int take_part(void *context, uint32_t index, struct bt_str json, struct berth_error *err)
{
	struct losing *losing = context;
	struct bt_json_value *answers;
	uint32_t first = index * part_size(losing);
	int result = bt_json_parse(&losing->arena, json, true, &answers, err);
	for (uint32_t i = 0; result == 0 && i < answers->count; i++) {
		struct loss *loss = &losing->losses.items[losing->tried.items[first + i]];
		if (answers->elements[i]->type == BT_JSON_OBJECT) {
			keep_answer(loss, answers->elements[i]);
		}
	}
	return result;
}

static struct bt_str name_part(const void *context, uint32_t index)
{
	return name_loss(context, index * part_size(context));
}

static struct bt_str name_baseline(const void *context BT_UNUSED, uint32_t index BT_UNUSED)
{
	return BT_STR("before: placing pods");
}

static int try_baseline(void *context, uint32_t index BT_UNUSED, struct bt_strbuf *out)
{
	struct losing *losing = context;
	struct bt_json_writer writer;
	struct bt_text_set victims = {0};
	struct bt_simulation *simulation = &losing->side->simulation;
	bt_simulation_close(simulation);
	bt_simulation_run(simulation, simulation->pods.count);
	bt_json_writer_init(&writer, out, 0);
	list_victims(losing, &victims);
	bt_json_write(&writer, "{pending: [");
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		const struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (is_pending(losing, &victims, entry)) {
			bt_json_write_str(&writer, entry->pod->metadata.uid);
		}
	}
	bt_json_write(&writer, "], preempted: [");
	for (uint32_t i = 0; i < victims.items.count; i++) {
		bt_json_write_str(&writer, victims.items.items[i]);
	}
	bt_json_write(&writer, "]}");
	bt_text_set_finish(&victims);
	return BT_EXIT_OK;
}

static void take_texts(struct bt_text_set *set, const struct bt_json_value *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		(void)bt_text_set_add(set, list->elements[i]->text); /* names are unique */
	}
}

static int take_baseline(
	void *context, uint32_t index BT_UNUSED, struct bt_str json, struct berth_error *err)
{
	struct losing *losing = context;
	struct bt_json_value *answer;
	int result = bt_json_parse(&losing->arena, json, true, &answer, err);
	if (result == 0) {
		take_texts(&losing->pending_before, bt_json_find(answer, "pending"));
		take_texts(&losing->preempted_before, bt_json_find(answer, "preempted"));
	}
	return result;
}

static int try_all(struct losing *losing, struct berth_error *err)
{
	bool has_pending = losing->side->simulation.pods.count != 0;
	const struct bt_processes baseline = {
		.context = losing,
		.work = try_baseline,
		.take = take_baseline,
		.name = name_baseline,
		.failed = "failed",
		.jobs = 1,
	};
	const struct bt_processes losses = {
		.context = losing,
		.work = try_loss,
		.take = take_loss,
		.name = name_loss,
		.failed = "its loss could not be tried",
		.progress = "trying losses",
		.jobs = losing->options->jobs,
	};
	int result = has_pending ? bt_processes_run(&baseline, 1, err) : 0;
	for (uint32_t i = 0; i < losing->losses.count && result == 0; i++) {
		struct loss *loss = &losing->losses.items[i];
		loss->places_pods = loss->places_pods || has_pending;
		if (loss->places_pods) {
			bt_vec_push(&losing->tried, i);
			continue;
		}
		/* No pod is pending before or after the loss, so no simulation is needed. */
		struct bt_strbuf json = {0};
		struct bt_json_writer writer;
		struct bt_json_value *answer;
		bt_json_writer_init(&writer, &json, 0);
		write_loss(losing, loss, &writer);
		result = bt_json_parse(&losing->arena, bt_strbuf_str(&json), true, &answer, err);
		if (result == 0) {
			keep_answer(loss, answer);
		}
		bt_strbuf_finish(&json);
	}
	if (result == 0) {
		const struct bt_simulation *simulation = &losing->side->simulation;
		uint32_t size = part_size(losing);
		const struct bt_processes parts = {
			.context = losing,
			.work = try_part,
			.take = take_part,
			.name = name_part,
			.failed = "its loss could not be tried",
			.progress = "trying losses",
			.items = losing->tried.count,
			.jobs = losing->options->jobs,
		};
		/*
		 * Try the losses in parts; those without an answer stay in losing->tried.
		 * Out-of-tree plugins may keep state.
		 */
		if (simulation->pods.count == 0 && losing->options->line.setup.registry == NULL &&
			size >= 2 &&
			bt_object_store_count(
				&simulation->engine->state->objects, BT_KIND_RESOURCE_SLICE) == 0) {
			result = bt_processes_run(
				&parts, (losing->tried.count + size - 1) / size, err);
			uint32_t left = 0;
			for (uint32_t i = 0; i < losing->tried.count; i++) {
				if (losing->losses.items[losing->tried.items[i]].answer == NULL) {
					losing->tried.items[left++] = losing->tried.items[i];
				}
			}
			losing->tried.count = left;
		}
	}
	return result == 0 ? bt_processes_run(&losses, losing->tried.count, err) : result;
}

/** --- the report --- */

/** Orders the worse loss first. */
BT_COMPARE(compare_losses, struct loss,
	BT_ORDER_BY(BT_ORDER(b->pending + b->lost, a->pending + a->lost),
		BT_ORDER(b->pending, a->pending), BT_ORDER(b->preempted, a->preempted),
		BT_ORDER(b->left, a->left), bt_str_compare(a->name, b->name)))

static uint32_t count_harmful(const struct losing *losing)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < losing->losses.count; i++) {
		const struct loss *loss = &losing->losses.items[i];
		count += loss->pending != 0 || loss->lost != 0 || loss->preempted != 0;
	}
	return count;
}

static void write_json(const void *context, struct bt_json_writer *writer)
{
	const struct losing *losing = context;
	const struct bt_manifests *cluster = &losing->side->cluster;
	static const char *const members[] = {"pending", "lost", "preempted", "moved"};
	bt_json_begin_object(writer);
	bt_whatif_write_changes(writer, &losing->options->changes, losing->options->new_config);
	bt_json_write(writer,
		"lose: %c, summary: {worse: %b, losses: %u, harmful: %u, pendingBefore: %u, "
		"nodesWithoutLabel: %u}, losses: [",
		is_about_nodes(losing->options) ? "node" : label_key(losing->options->lose),
		count_harmful(losing) != 0, losing->losses.count, count_harmful(losing),
		losing->pending_before.items.count, losing->unlabelled);
	for (uint32_t i = 0; i < losing->losses.count; i++) {
		const struct loss *loss = &losing->losses.items[i];
		bt_json_write(writer, "{name: %s, nodes: [", loss->name);
		for (uint32_t k = 0; k < loss->nodes.count; k++) {
			bt_json_write_str(
				writer, cluster->objects.items[loss->nodes.items[k]].name);
		}
		bt_json_write(writer, "], left: %d", loss->left);
		for (size_t k = 0; k < BT_ARRAY_LENGTH(members); k++) {
			bt_json_write(writer, "%c: %t", members[k],
				bt_json_find(loss->answer, members[k]));
		}
		bt_json_end_object(writer);
	}
	bt_json_write(writer, "]}");
}

/** The name of the loss in tables: labels such as node-role.kubernetes.io/worker have value "". */
static struct bt_str shown_name(const struct loss *loss)
{
	return loss->name.length != 0 ? loss->name : BT_STR("\"\"");
}

/** loss NULL: the table has no column for it. */
static void add_pod(struct bt_table *table, const struct loss *loss, const char *member,
	const struct bt_json_value *pod)
{
	const struct bt_json_value *preemptor = bt_json_find(pod, "preemptor");
	if (loss != NULL) {
		bt_table_add(table, shown_name(loss));
	}
	bt_table_add_cells(table, "%c\t%m", member, bt_json_find_str(pod, "namespace"),
		bt_json_find_str(pod, "name"));
	if (preemptor != NULL) {
		bt_table_add_cells(table, "for %m, on %p", bt_json_find_str(preemptor, "namespace"),
			bt_json_find_str(preemptor, "name"), bt_json_find_str(pod, "node"));
	} else if (strcmp(member, "pending") == 0) {
		bt_table_add_cells(table, "%p: %p", bt_json_find_str(pod, "reason"),
			bt_json_find_str(pod, "message"));
	} else {
		bt_table_add_c(table, "no controller recreates it");
	}
}

/** The pods of the worst loss; wide: of all losses. */
static void write_pods(const struct losing *losing, bool wide, struct bt_strbuf *out)
{
	static const char *const members[] = {"pending", "lost", "preempted"};
	struct bt_table table;
	uint32_t count = 0;
	bt_text_append(
		out, "\n[%?The worst, without %p:\n]", !wide, shown_name(&losing->losses.items[0]));
	BT_TABLE_BEGIN(
		&table, wide ? table_heading(losing->options) : NULL, "CHANGE", "POD", "WHY");
	for (uint32_t i = 0; i < (wide ? losing->losses.count : 1); i++) {
		const struct loss *loss = &losing->losses.items[i];
		for (size_t m = 0; m < BT_ARRAY_LENGTH(members); m++) {
			const struct bt_json_value *list = bt_json_find(loss->answer, members[m]);
			for (uint32_t k = 0; k < list->count; k++) {
				if (wide || count < POD_ROWS_MAX) {
					add_pod(&table, wide ? loss : NULL, members[m],
						list->elements[k]);
				}
				count++;
			}
		}
	}
	bt_table_write(&table, out);
	if (!wide && count > POD_ROWS_MAX) {
		bt_text_append(
			out, "%n more {pod|pods}: -o wide lists all\n", count - POD_ROWS_MAX);
	}
}

static void write_text(const void *answer, bool wide, struct bt_strbuf *out)
{
	const struct losing *losing = answer;
	bool has_nodes = !is_about_nodes(losing->options);
	struct bt_table table;
	uint32_t shown = wide || losing->losses.count <= LOSS_ROWS_MAX ? losing->losses.count
								       : LOSS_ROWS_MAX;
	BT_TABLE_BEGIN(&table, table_heading(losing->options), has_nodes ? "NODES" : NULL, "PODS",
		"PENDING", "LOST", "PREEMPTED", "MOVED");
	for (uint32_t i = 0; i < shown; i++) {
		const struct loss *loss = &losing->losses.items[i];
		bt_table_add(&table, shown_name(loss));
		if (has_nodes) {
			bt_table_add_cells(&table, "%u", loss->nodes.count);
		}
		bt_table_add_cells(&table, "%d\t%d\t%d\t%d\t%d", loss->left, loss->pending,
			loss->lost, loss->preempted, loss->moved);
	}
	bt_table_write(&table, out);
	if (shown < losing->losses.count) {
		bt_text_append(out,
			"%n more {loss, not worse|losses, none of them worse}: -o wide lists all\n",
			losing->losses.count - shown);
	}
	uint32_t harmful = count_harmful(losing);
	if (harmful != 0) {
		write_pods(losing, wide, out);
	}
	static const char *const nouns[][2] = {
		{"node", "nodes"},
		{"zone", "zones"},
		{"value of the label", "values of the label"},
	};
	const char *const *noun = nouns[!has_nodes                   ? 0
			: strcmp(losing->options->lose, "zone") == 0 ? 1
								     : 2];
	bt_text_append(out, "\n%n of %n %c can be lost without pods pending, lost or preempted; ",
		losing->losses.count - harmful, losing->losses.count,
		losing->losses.count == 1 ? noun[0] : noun[1]);
	bt_text_append(out, "%n {pod|pods} pending before\n", losing->pending_before.items.count);
}

static int run(struct losing *losing, struct bt_strbuf *out, struct berth_error *err)
{
	const struct bt_manifests *cluster = &losing->side->cluster;
	list_losses(losing);
	if (losing->losses.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--lose %s: %s%s",
			losing->options->lose,
			losing->unlabelled != 0 ? "no node has the label "
						: "there is no node in the input",
			losing->unlabelled != 0 ? label_key(losing->options->lose) : "");
	}
	if (losing->unlabelled != 0) {
		bt_manifests_warn(cluster,
			"--lose %c: %u {node does|nodes do} not have the label %c and {is|are} "
			"not lost",
			losing->options->lose, losing->unlabelled,
			label_key(losing->options->lose));
	}
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD || object->object == NULL) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		struct loss *loss = bt_pod_is_assigned(pod) && !bt_pod_is_terminal(pod)
			? loss_of_node(losing, pod->spec.node_name)
			: NULL;
		if (loss != NULL) {
			bt_vec_push(&loss->pods, i);
			loss->places_pods = loss->places_pods || comes_back(losing, pod);
		}
	}
	int result = bt_simulation_load(&losing->side->simulation, err);
	losing->priorities = BT_NEW_ARRAY(int32_t, cluster->objects.count);
	for (uint32_t i = 0; i < losing->losses.count && result == 0; i++) {
		const struct loss *loss = &losing->losses.items[i];
		for (uint32_t k = 0; k < loss->pods.count; k++) {
			uint32_t pod = loss->pods.items[k];
			losing->priorities[pod] = bt_whatif_priority(
				&losing->side->simulation, &cluster->objects.items[pod]);
		}
	}
	if (result == 0) {
		result = try_all(losing, err);
	}
	if (result == 0) {
		qsort(losing->losses.items, losing->losses.count, sizeof(losing->losses.items[0]),
			compare_losses);
		result = bt_output_write(
			losing->options->line.format, write_text, write_json, losing, out, err);
	}
	return result;
}

int bt_whatif_lose_each(const struct bt_whatif_options *options, struct bt_whatif_side *side,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct losing losing = {.options = options, .side = side};
	/* As in a cluster, pods that lost their node may preempt others. */
	side->simulation.preempt = true;
	side->simulation.keep_bound = true;
	side->simulation.stays_open = true;
	int result = run(&losing, out, err);
	if (result == 0 && count_harmful(&losing) != 0) {
		result = BT_EXIT_FINDING;
	}
	for (uint32_t i = 0; i < losing.losses.count; i++) {
		bt_vec_finish(&losing.losses.items[i].nodes);
		bt_vec_finish(&losing.losses.items[i].pods);
	}
	bt_vec_finish(&losing.losses);
	bt_vec_finish(&losing.tried);
	bt_free(losing.loss_of);
	bt_free(losing.priorities);
	bt_text_set_finish(&losing.pending_before);
	bt_text_set_finish(&losing.preempted_before);
	bt_arena_finish(&losing.arena);
	return result;
}
