/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the queue with the model under random operations: all numbers after every step, all pods
 * after some steps. BERTH_QUEUE_SEEDS: number of seeds (default: a few). BERTH_QUEUE_OPERATIONS:
 * operations of each seed (default 100,000). The first line of a failure names seed and step.
 */
#include <stdlib.h>

#include "framework/cluster_event.h"
#include "queue_walk.h"
#include "test_main.h"

#define SEEDS_DEFAULT 4
#define OPERATIONS_DEFAULT 100000

static uint32_t below(struct world *world, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&world->prng, bound);
}

/** Makes a version of pod `key`: a changed copy of `from`, or a new pod if `from` is NULL. */
static struct bt_object *make_pod(struct world *world, uint32_t key, const struct bt_object *from)
{
	static struct bt_toleration tolerations[2] = {
		{.operator_ = {"Exists", 6}}, {.operator_ = {"Exists", 6}}};
	static struct bt_str_pair label = {.key = {"k", 1}};
	static const struct bt_str values[] = {{"0", 1}, {"1", 1}, {"2", 1}};
	static const struct bt_str nodes[] = {{"", 0}, {"", 0}, {"n0", 2}, {"n1", 2}};
	struct bt_pod pod = {0};
	char name[16];
	char uid[32];

	(void)snprintf(name, sizeof(name), "p%c", (char)('a' + key));
	if (from != NULL) {
		pod = *(const struct bt_pod *)from->value;
	} else {
		(void)snprintf(uid, sizeof(uid), "u%llu", (unsigned long long)world->uid_number++);
		pod.metadata.name = bt_str_from(name);
		pod.metadata.namespace_ = key % 2 == 0 ? BT_STR("ns1") : BT_STR("ns2");
		pod.metadata.uid = bt_str_from(uid);
		pod.spec.scheduler_name = key % 5 == 4 ? BT_STR("profile-1") : BT_STR("profile-0");
		pod.spec.priority =
			(struct bt_opt_i32){.present = true, .value = (int32_t)below(world, 4)};
	}
	if (from == NULL || below(world, 3) == 0) {
		label.value = values[below(world, 3)];
		pod.metadata.labels = (struct bt_str_map){&label, 1, true};
	}
	if (from == NULL || below(world, 3) == 0) {
		pod.spec.tolerations.items = tolerations;
		pod.spec.tolerations.count = below(world, 3);
		pod.spec.tolerations.present = pod.spec.tolerations.count > 0;
	}
	if (from == NULL || below(world, 3) == 0) {
		pod.status.nominated_node_name = nodes[below(world, BT_ARRAY_LENGTH(nodes))];
	}
	if (from != NULL && below(world, 10) == 0) {
		pod.spec.priority.value = (int32_t)below(world, 4);
	}
	return bt_object_create(BT_KIND_POD, &pod);
}

static void set_informer(struct world *world, uint32_t key, struct bt_object *pod)
{
	bt_object_release(world->informer[key]);
	world->informer[key] = pod;
}

static void world_open(struct world *world, uint64_t seed, const char *gates)
{
	struct fake fakes[MODEL_PLUGINS];
	static struct fake kept[MODEL_PLUGINS];
	struct queue_setup setup = {.gates = gates, .fakes = kept, .fake_count = MODEL_PLUGINS};

	*world = (struct world){.seed = seed};
	bt_prng_init(&world->prng, seed);
	walk_make_fakes(fakes);
	memcpy(kept, fakes, sizeof(kept));
	setup.config = queue_profiles("profile-0=A,B,C,D,E,N,G,H;profile-1=A,C,N,G");
	queue_init_with(&world->queue, &setup);
	world->model = (struct model){
		.plugins = walk_plugins,
		.pops_backoff = gates == NULL,
		.initial_ns = QUEUE_SECOND,
		.max_ns = 10 * QUEUE_SECOND,
		.max_in_unschedulable_ns = 300 * QUEUE_SECOND,
	};
	walk_gate_open[0] = false;
	walk_gate_open[1] = false;
	for (uint32_t i = 0; i < OTHERS; i++) {
		char json[128];

		(void)snprintf(json, sizeof(json), "{'metadata':{'name':'o%u'}}", i);
		world->nodes[i] = queue_object(&world->queue, BT_KIND_NODE, json);
		world->volumes[i] = queue_object(&world->queue, BT_KIND_PERSISTENT_VOLUME, json);
		(void)snprintf(json, sizeof(json),
			"{'metadata':{'name':'x%u','uid':'x%u'},'spec':{'nodeName':'n'}}", i, i);
		world->strangers[i] = queue_pod(&world->queue, json);
	}
}

static void world_close(struct world *world)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		bt_object_release(world->informer[i]);
	}
	model_finish(&world->model);
	queue_finish(&world->queue);
}

/* --- operations --- */

static uint32_t random_known(struct world *world)
{
	uint32_t key = below(world, KEYS);

	for (uint32_t i = 0; i < KEYS && world->informer[key] == NULL; i++) {
		key = (key + 1) % KEYS;
	}
	return key;
}

static void do_add(struct world *world)
{
	uint32_t key = below(world, KEYS);

	if (world->informer[key] != NULL) {
		return;
	}
	set_informer(world, key, make_pod(world, key, NULL));
	bt_queue_add(world->queue.queue, world->informer[key], world->queue.now_ns);
	model_add(&world->model, world->informer[key], world->queue.now_ns);
}

static void do_update(struct world *world)
{
	uint32_t key = random_known(world);
	struct bt_object *before = world->informer[key];
	struct bt_object *after;

	if (before == NULL) {
		return;
	}
	after = make_pod(world, key, before);
	bt_queue_update(world->queue.queue, before, after, world->queue.now_ns);
	model_update(&world->model, before, after, world->queue.now_ns);
	set_informer(world, key, after);
}

static void do_delete(struct world *world)
{
	uint32_t key = random_known(world);

	if (world->informer[key] == NULL) {
		return;
	}
	bt_queue_delete(world->queue.queue, world->informer[key]);
	model_delete(&world->model, world->informer[key]);
	set_informer(world, key, NULL);
}

static void note_popped(struct world *world, struct bt_queue_entry *entry, uint32_t record)
{
	world->out[world->out_count++] = (struct flight){entry, record};
}

static void do_pop(struct world *world)
{
	struct bt_queue_entry *entry;

	if (world->out_count == OUT_MAX) {
		return;
	}
	entry = bt_queue_pop(world->queue.queue);
	/* The pop discards records whose uid is in flight already. */
	for (;;) {
		uint32_t next = UINT32_MAX;

		for (uint32_t i = 0; i < world->model.records.count; i++) {
			if (model_may_pop(&world->model, i)) {
				next = i;
			}
		}
		if (next == UINT32_MAX) {
			MUST(world, entry == NULL, "popped a pod that must wait");
			return;
		}
		if (entry != NULL && world->model.records.items[next].object == entry->object &&
			!model_is_in_flight(&world->model, entry->pod.uid)) {
			(void)model_pop(&world->model, next); /* compared below */
			note_popped(world, entry, next);
			return;
		}
		MUST(world, !model_pop(&world->model, next), "popped the wrong pod");
	}
}

static void do_pop_pod(struct world *world)
{
	const struct bt_object *pod = world->informer[random_known(world)];
	struct bt_queue_entry *entry;
	uint32_t record;

	if (pod == NULL || world->out_count == OUT_MAX) {
		return;
	}
	entry = bt_queue_pop_pod(
		world->queue.queue, pod->meta->namespace_, pod->meta->name, world->queue.now_ns);
	record = model_pop_pod(
		&world->model, pod->meta->namespace_, pod->meta->name, world->queue.now_ns);
	MUST(world, (entry == NULL) == (record == UINT32_MAX), "pop of a named pod");
	if (entry != NULL) {
		note_popped(world, entry, record);
	}
}

static struct flight take_out(struct world *world)
{
	uint32_t index = below(world, world->out_count);
	struct flight flight = world->out[index];

	world->out[index] = world->out[--world->out_count];
	return flight;
}

static void release(struct world *world, struct flight flight)
{
	model_done(&world->model, flight.entry->pod.uid);
	model_drop(&world->model, flight.record);
	bt_queue_release(world->queue.queue, flight.entry);
}

static uint32_t random_plugins(struct world *world, uint32_t profile)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if (walk_plugins[i].in_profile[profile] && below(world, 3) == 0) {
			mask |= UINT32_C(1) << i;
		}
	}
	return mask;
}

static struct bt_rejectors set_of(struct world *world, uint32_t profile, uint32_t mask)
{
	struct bt_rejectors set = {{0}};

	for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
		if ((mask >> i & 1) != 0) {
			bt_rejectors_add(&set,
				bt_queue_find_rejector(world->queue.queue, profile,
					bt_str_from(walk_plugins[i].name)));
		}
	}
	return set;
}

static void nominate(struct world *world, const struct bt_queue_entry *entry)
{
	static const char *const nodes[] = {NULL, "", "n0", "n1", "n2"};
	const char *node = nodes[below(world, BT_ARRAY_LENGTH(nodes))];
	struct bt_post_filter_result info = {
		.present = true,
		.mode = node != NULL ? BT_NOMINATING_OVERRIDE : BT_NOMINATING_NOOP,
		.nominated_node_name = bt_str_from(node != NULL ? node : ""),
	};

	bt_queue_nominate(world->queue.queue, entry, &info, true);
	model_nominate(&world->model, entry->object, node);
}

/** Fails the attempt of a pod in flight, in the queue and in the model: spec 04 section 11. */
static void do_fail(struct world *world)
{
	struct bt_queue_rejection rejection;
	struct flight flight;
	struct bt_object *known;
	uint32_t unschedulable;
	uint32_t pending;
	int code;

	if (world->out_count == 0) {
		return;
	}
	flight = take_out(world);
	known = world->informer[flight.entry->pod.name.data[1] - 'a'];
	if (known == NULL || !bt_str_equal(known->meta->uid, flight.entry->pod.uid)) {
		release(world, flight);
		return;
	}
	bt_queue_refresh(world->queue.queue, flight.entry, known);
	bt_object_release(world->model.records.items[flight.record].object);
	world->model.records.items[flight.record].object = bt_object_share(known);
	world->model.records.items[flight.record].pod = known->value;
	unschedulable = random_plugins(world, flight.entry->profile);
	pending = below(world, 4) == 0
		? unschedulable & random_plugins(world, flight.entry->profile)
		: 0;
	if (below(world, 4) == 0) {
		unschedulable = 0;
		pending = 0;
	}
	rejection = (struct bt_queue_rejection){
		.unschedulable_plugins = set_of(world, flight.entry->profile, unschedulable),
		.pending_plugins = set_of(world, flight.entry->profile, pending),
	};
	code = bt_queue_add_unschedulable_if_not_present(
		world->queue.queue, flight.entry, &rejection, world->queue.now_ns, NULL);
	MUST(world,
		model_add_unschedulable(&world->model, flight.record, unschedulable, pending,
			world->queue.now_ns) == (code == BERTH_OK),
		"add unschedulable: %d", code);
	if (code != BERTH_OK) {
		release(world, flight);
	} else if (below(world, 3) == 0) {
		nominate(world, flight.entry);
	}
}

static void do_release(struct world *world)
{
	if (world->out_count > 0) {
		release(world, take_out(world));
	}
}

static void do_done(struct world *world)
{
	struct bt_str uid;

	if (world->out_count > 0) {
		uid = world->out[below(world, world->out_count)].entry->pod.uid;
		bt_queue_done(world->queue.queue, uid);
		model_done(&world->model, uid);
	}
}

/** Adds a pod again while it is in flight. */
static void do_add_twice(struct world *world)
{
	const struct bt_queue_entry *entry;
	struct bt_object *pod;

	if (world->out_count == 0 || below(world, 4) != 0) {
		return;
	}
	entry = world->out[below(world, world->out_count)].entry;
	pod = entry->object;
	if (bt_queue_find(world->queue.queue, entry->pod.namespace_, entry->pod.name) == NULL) {
		bt_queue_add(world->queue.queue, pod, world->queue.now_ns);
		model_add(&world->model, pod, world->queue.now_ns);
	}
}

static const struct {
	struct bt_cluster_event event;
	bool has_old;
	bool has_new;
} moves[] = {
	{{BT_RESOURCE_NODE, BT_ACTION_ADD}, false, true},
	{{BT_RESOURCE_NODE, BT_ACTION_DELETE}, true, false},
	{{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_LABEL}, true, true},
	{{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_TAINT}, true, true},
	{{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_ALLOCATABLE}, true, true},
	{{BT_RESOURCE_NODE, BT_ACTION_UPDATE_NODE_CONDITION}, true, true},
	{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_ADD}, false, true},
	{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_DELETE}, true, false},
	{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_UPDATE_POD_LABEL}, true, true},
	{{BT_RESOURCE_ASSIGNED_POD, BT_ACTION_UPDATE_POD_SCALE_DOWN}, true, true},
	{{BT_RESOURCE_UNSCHEDULABLE_POD, BT_ACTION_ADD}, false, true},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD}, false, true},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_UPDATE}, true, true},
};

static void do_move(struct world *world)
{
	uint32_t row = below(world, BT_ARRAY_LENGTH(moves));
	struct bt_object *object = world->nodes[below(world, OTHERS)];
	struct bt_queue_check check = {0};
	uint32_t known = random_known(world);

	if (bt_str_equal_c(moves[row].event.resource, "PersistentVolume")) {
		object = world->volumes[below(world, OTHERS)];
	} else if (!bt_str_equal_c(moves[row].event.resource, "Node")) {
		object = world->strangers[below(world, OTHERS)];
		if (below(world, 3) == 0 && world->informer[known] != NULL) {
			object = world->informer[known];
		}
	}
	if (below(world, 4) == 0) {
		check.has_priority_max = true;
		check.priority_max = (int32_t)below(world, 4);
	} else if (below(world, 4) == 0 && world->informer[known] != NULL) {
		check.excluded_uid = world->informer[known]->meta->uid;
	}
	bt_queue_move_all_to_active_or_backoff_queue(world->queue.queue, &moves[row].event,
		moves[row].has_old ? object : NULL, moves[row].has_new ? object : NULL, &check,
		world->queue.now_ns);
	model_move(&world->model, &moves[row].event, moves[row].has_old ? object : NULL,
		moves[row].has_new ? object : NULL, &check, world->queue.now_ns);
}

static void do_activate(struct world *world)
{
	struct bt_object *pod = world->informer[random_known(world)];

	if (pod != NULL) {
		bool activated = bt_queue_activate(world->queue.queue, pod, world->queue.now_ns);

		MUST(world, activated == model_activate(&world->model, pod, world->queue.now_ns),
			"activate");
	}
}

static void do_flush(struct world *world)
{
	world->queue.now_ns += (int64_t)bt_prng_below(&world->prng, 3 * QUEUE_SECOND);
	if (below(world, 10) == 0) {
		world->queue.now_ns += 400 * QUEUE_SECOND;
		bt_queue_flush_unschedulable_leftover(world->queue.queue, world->queue.now_ns);
		model_flush_unschedulable(&world->model, world->queue.now_ns);
	} else {
		bt_queue_flush_backoff_completed(world->queue.queue, world->queue.now_ns);
		model_flush_backoff(&world->model, world->queue.now_ns);
	}
}

static void do_turn_gate(struct world *world)
{
	bool *gate = &walk_gate_open[below(world, 2)];

	*gate = !*gate;
}

/** Operations with their weights. */
static const struct {
	void (*run)(struct world *world);
	uint32_t weight;
} operations[] = {
	{do_add, 14},
	{do_update, 14},
	{do_delete, 4},
	{do_pop, 22},
	{do_pop_pod, 2},
	{do_fail, 22},
	{do_release, 3},
	{do_done, 2},
	{do_add_twice, 2},
	{do_move, 18},
	{do_activate, 3},
	{do_flush, 8},
	{do_turn_gate, 1},
};

static void walk(uint64_t seed, uint64_t steps, const char *gates)
{
	struct world world;
	uint32_t total = 0;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(operations); i++) {
		total += operations[i].weight;
	}
	world_open(&world, seed, gates);
	for (world.step = 0; world.step < steps; world.step++) {
		uint32_t choice = below(&world, total);
		size_t i = 0;

		while (choice >= operations[i].weight) {
			choice -= operations[i++].weight;
		}
		/* All timestamps differ: the heap's test covers the order of equal timestamps. */
		world.queue.now_ns++;
		operations[i].run(&world);
		bt_strbuf_reset(&world.queue.warnings);
		/*
		 * Looking at a pod takes the pod out of its group, so all pods are compared in some
		 * steps only.
		 */
		if (below(&world, 4) == 0) {
			walk_compare(&world);
		} else {
			walk_compare_numbers(&world);
		}
	}
	world_close(&world);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(test_queue_model__random_operations)
{
	uint64_t seeds = number_from("BERTH_QUEUE_SEEDS", SEEDS_DEFAULT);
	uint64_t steps = number_from("BERTH_QUEUE_OPERATIONS", OPERATIONS_DEFAULT);

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		/*
		 * Every third seed runs with SchedulerPopFromBackoffQ off: no backoff windows, no
		 * pops from backoff.
		 */
		walk(seed, steps, seed % 3 == 0 ? "SchedulerPopFromBackoffQ=false" : NULL);
	}
}
END_TEST

BT_TEST_MAIN("queue_model", test_queue_model__random_operations)
