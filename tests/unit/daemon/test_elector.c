/* SPDX-License-Identifier: Apache-2.0 */
/** Electors against a simulated store of one lease, on a simulated clock. Spec: 11 section 8. */
#include "daemon/elector.h"

#include <string.h>

#include "api/time.h"
#include "base/nanoseconds.h"
#include "test_main.h"

#define SECOND BT_NS_PER_SECOND
#define MACHINES 3
#define OPERATIONS 64
#define IDENTITIES 1000
#define REQUEST_TIMEOUT_NS (5 * SECOND)
#define STEP_NS (5 * BT_NS_PER_MS)

/** A write or read on its way to the store and back. */
struct operation {
	bool used;
	enum bt_elector_action action;
	uint64_t version; /* expected version of UPDATE: optimistic concurrency */
	struct bt_lease_record record;
	int64_t apply_ns; /* time of the effect; INT64_MAX: lost, or applied already */
	int64_t answer_ns;
	bool answer_is_lost;
	enum bt_elector_result result;
	uint64_t result_version;
	struct machine *machine; /* NULL: the machine abandoned the request */
};

struct machine {
	struct bt_elector elector;
	bool is_alive;
	int64_t steady_offset_ns;
	int64_t wall_offset_us;
	int64_t paused_until_ns;
	uint64_t version; /* version of the lease in the last answer to this machine */
	struct operation *under_way;
	int64_t wake_ns;
	uint32_t terms;
	uint32_t slow_paths;
	bool is_over;
};

struct world {
	int64_t now_ns;
	struct bt_prng prng;
	bool exists;
	uint64_t version;
	struct bt_lease_record lease;
	struct operation operations[OPERATIONS];
	struct machine machines[MACHINES];
	char identities[IDENTITIES][12]; /* lease records point to these names */
	uint32_t generation;
	/* Faults: probability in thousandths, time in nanoseconds. */
	uint32_t loss;
	int64_t delay_max_ns;
	bool is_down;
	uint32_t conflicts; /* number of coming writes that get a conflict */
	uint32_t requests[BT_ELECTOR_OVER];
};

static struct bt_elector_time time_of(const struct world *world, const struct machine *machine)
{
	return (struct bt_elector_time){world->now_ns + machine->steady_offset_ns,
		world->now_ns / 1000 + machine->wall_offset_us};
}

static void boot(struct world *world, struct machine *machine)
{
	static const struct bt_elector_options defaults = {
		.lock = BT_STR_INIT("kube-system/kube-scheduler"),
		.lease_duration_ns = 15 * SECOND,
		.renew_deadline_ns = 10 * SECOND,
		.retry_period_ns = 2 * SECOND,
	};
	struct bt_elector_options options = defaults;
	*machine = (struct machine){.is_alive = true};
	ck_assert(world->generation < IDENTITIES);
	char *identity = world->identities[world->generation++];
	(void)snprintf(identity, sizeof(world->identities[0]), "vm_%u", world->generation);
	options.identity = bt_str_from(identity);
	options.prng = &world->prng;
	machine->steady_offset_ns = (int64_t)bt_prng_below(&world->prng, 1000) * SECOND;
	machine->wall_offset_us = INT64_C(1795220860000000);
	machine->wake_ns = INT64_MIN;
	bt_elector_init(&machine->elector, &options);
	bt_elector_start(&machine->elector);
}

static void crash(struct machine *machine)
{
	if (machine->under_way != NULL) {
		machine->under_way->machine = NULL;
	}
	bt_elector_finish(&machine->elector);
	machine->under_way = NULL;
	machine->is_alive = false;
}

static void world_init(struct world *world, uint64_t seed)
{
	*world = (struct world){.now_ns = 100 * SECOND};
	bt_prng_init(&world->prng, seed);
}

static void world_finish(struct world *world)
{
	for (uint32_t i = 0; i < MACHINES; i++) {
		if (world->machines[i].is_alive) {
			crash(&world->machines[i]);
		}
	}
}

static void apply(struct world *world, struct operation *operation)
{
	operation->apply_ns = INT64_MAX;
	operation->result = BT_ELECTOR_OK;
	if (operation->action == BT_ELECTOR_GET) {
		if (!world->exists) {
			operation->result = BT_ELECTOR_NOT_FOUND;
		}
		operation->record = world->lease;
	} else if (operation->action == BT_ELECTOR_CREATE) {
		if (world->exists) {
			operation->result = BT_ELECTOR_FAILED;
			return;
		}
		world->exists = true;
		world->lease = operation->record;
		world->version++;
	} else {
		if (world->conflicts > 0) {
			world->conflicts--;
			world->version++;
		}
		if (!world->exists || operation->version != world->version) {
			operation->result = BT_ELECTOR_FAILED;
			return;
		}
		world->lease = operation->record;
		world->version++;
	}
	operation->result_version = world->version;
}

static void send(struct world *world, struct machine *machine, const struct bt_elector_order *order)
{
	struct operation *operation = world->operations;
	while (operation->used) {
		operation++;
		ck_assert(operation < world->operations + OPERATIONS);
	}
	world->requests[order->action]++;
	*operation = (struct operation){.used = true,
		.action = order->action,
		.version = machine->version,
		.record = order->record,
		.machine = machine,
		.result = BT_ELECTOR_FAILED};
	int64_t there = 0;
	int64_t back = 0;
	if (world->delay_max_ns > 0) {
		there = (int64_t)bt_prng_below(&world->prng, (uint64_t)world->delay_max_ns);
		back = (int64_t)bt_prng_below(&world->prng, (uint64_t)world->delay_max_ns);
	}
	bool is_lost = world->is_down || bt_prng_below(&world->prng, 1000) < world->loss;
	operation->apply_ns = is_lost ? INT64_MAX : world->now_ns + there;
	operation->answer_is_lost = bt_prng_below(&world->prng, 1000) < world->loss;
	operation->answer_ns = world->now_ns + there + back;
	if (there + back > REQUEST_TIMEOUT_NS) {
		operation->answer_is_lost = true;
		operation->answer_ns = world->now_ns + REQUEST_TIMEOUT_NS;
	}
	machine->under_way = operation;
}

static void deliver(struct world *world, struct machine *machine)
{
	struct operation *operation = machine->under_way;
	struct bt_elector_time now = time_of(world, machine);
	enum bt_elector_result result =
		operation->answer_is_lost ? BT_ELECTOR_FAILED : operation->result;
	if (result == BT_ELECTOR_OK) {
		machine->version = operation->result_version;
	}
	bt_elector_answer(&machine->elector, result, &operation->record, "lost", &now);
	machine->under_way = NULL;
	operation->machine = NULL;
	machine->wake_ns = INT64_MIN;
}

static void step_machine(struct world *world, struct machine *machine)
{
	if (machine->under_way != NULL && world->now_ns >= machine->under_way->answer_ns) {
		deliver(world, machine);
	}
	while (!machine->is_over && world->now_ns >= machine->wake_ns) {
		struct bt_elector_time now = time_of(world, machine);
		struct bt_elector_order order;
		bt_elector_next(&machine->elector, &now, &order);
		machine->wake_ns = order.until_ns == INT64_MAX
			? INT64_MAX
			: order.until_ns - machine->steady_offset_ns;
		machine->terms += order.transition == BT_ELECTOR_LEADS;
		machine->slow_paths += order.slow_path;
		machine->is_over = order.action == BT_ELECTOR_OVER;
		if (order.abandon) {
			machine->under_way->machine = NULL;
			machine->under_way = NULL;
		}
		if (order.action != BT_ELECTOR_WAIT && order.action != BT_ELECTOR_OVER) {
			send(world, machine, &order);
		}
		if (order.transition != BT_ELECTOR_NO_TRANSITION) {
			machine->wake_ns = INT64_MIN;
		}
	}
}

static void step(struct world *world)
{
	world->now_ns += STEP_NS;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		struct operation *operation = &world->operations[i];
		if (operation->used && world->now_ns >= operation->apply_ns) {
			apply(world, operation);
		}
		if (operation->machine == NULL && operation->apply_ns == INT64_MAX) {
			operation->used = false;
		}
	}
	for (uint32_t i = 0; i < MACHINES; i++) {
		struct machine *machine = &world->machines[i];
		if (machine->is_alive && world->now_ns >= machine->paused_until_ns) {
			step_machine(world, machine);
		}
	}
}

static void run_for(struct world *world, int64_t duration_ns)
{
	int64_t end_ns = world->now_ns + duration_ns;
	while (world->now_ns < end_ns) {
		step(world);
	}
}

static bool may_act(const struct world *world, const struct machine *machine)
{
	return machine->is_alive &&
		bt_elector_may_act(&machine->elector, world->now_ns + machine->steady_offset_ns);
}

static bool leads(const struct machine *machine)
{
	return machine->is_alive && machine->elector.phase == BT_ELECTOR_PHASE_RENEW &&
		!machine->elector.stopping;
}

/** Puts a lease held by another candidate, which never renews it. */
static void put_lease(struct world *world, const char *holder)
{
	world->exists = true;
	world->version++;
	world->lease = (struct bt_lease_record){.holder = bt_str_from(holder),
		.duration_seconds = 15,
		.acquire_us = 1,
		.renew_us = 2,
		.transitions = 3};
}

/** --- cases --- */

START_TEST(test_elector__edge_11_36_no_lease_yet)
{
	static struct world world;
	world_init(&world, 1);
	boot(&world, &world.machines[0]);
	step(&world); /* GET */
	step(&world); /* POST */
	step(&world);
	ck_assert(world.exists);
	ck_assert_int_eq(world.lease.transitions, 0);
	ck_assert_int_eq(world.lease.acquire_us, world.lease.renew_us);
	ck_assert_int_eq(world.lease.duration_seconds, 15);
	int64_t acquired_us = world.lease.acquire_us;
	run_for(&world, SECOND);
	ck_assert(may_act(&world, &world.machines[0]));
	/* The lease is renewed at once and then every two seconds, without another GET. */
	ck_assert_uint_eq(world.requests[BT_ELECTOR_UPDATE], 1);
	run_for(&world, 10 * SECOND);
	ck_assert_uint_eq(world.requests[BT_ELECTOR_UPDATE], 6);
	ck_assert_uint_eq(world.requests[BT_ELECTOR_GET], 1);
	ck_assert_int_eq(world.lease.acquire_us, acquired_us);
	ck_assert_int_gt(world.lease.renew_us, world.lease.acquire_us);
	ck_assert_int_eq(world.lease.transitions, 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_37_lease_of_another)
{
	static struct world world;
	world_init(&world, 2);
	put_lease(&world, "other");
	boot(&world, &world.machines[0]);
	run_for(&world, 14900 * BT_NS_PER_MS);
	ck_assert_uint_eq(world.requests[BT_ELECTOR_UPDATE], 0);
	ck_assert(!leads(&world.machines[0]));
	/*
	 * The lease expires at 15 s. The next retry, which takes the lease over, is at most 4.4 s
	 * later.
	 */
	run_for(&world, 4500 * BT_NS_PER_MS);
	ck_assert(leads(&world.machines[0]));
	ck_assert_int_eq(world.lease.transitions, 4);
	ck_assert_int_ge(world.lease.acquire_us, world.now_ns / 1000);
	world_finish(&world);
}
END_TEST

/** Calls the elector directly, without the pauses between retries. */
START_TEST(test_elector__edge_11_37_to_the_tenth_of_a_second)
{
	static const struct {
		int64_t after_ms;
		enum bt_elector_action action;
	} rows[] = {{14900, BT_ELECTOR_WAIT}, {15100, BT_ELECTOR_UPDATE}};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_prng prng;
		bt_prng_init(&prng, 1);
		struct bt_elector elector;
		struct bt_elector_options options = {.identity = BT_STR("B"),
			.lock = BT_STR("a/b"),
			.lease_duration_ns = 15 * SECOND,
			.renew_deadline_ns = 10 * SECOND,
			.retry_period_ns = 2 * SECOND,
			.prng = &prng};
		struct bt_lease_record record = {.holder = BT_STR("A"), .duration_seconds = 15};
		struct bt_elector_time now = {5 * SECOND, 1};
		struct bt_elector_order order;
		bt_elector_init(&elector, &options);
		bt_elector_start(&elector);
		bt_elector_next(&elector, &now, &order);
		ck_assert_int_eq(order.action, BT_ELECTOR_GET);
		bt_elector_answer(&elector, BT_ELECTOR_OK, &record, "", &now);
		now.steady_ns += rows[i].after_ms * BT_NS_PER_MS;
		bt_elector_next(&elector, &now, &order);
		ck_assert_int_eq(order.action, BT_ELECTOR_GET);
		bt_elector_answer(&elector, BT_ELECTOR_OK, &record, "", &now);
		bt_elector_next(&elector, &now, &order);
		ck_assert_int_eq(order.action, rows[i].action);
		bt_elector_finish(&elector);
	}
}
END_TEST

START_TEST(test_elector__edge_11_38_empty_holder)
{
	static struct world world;
	world_init(&world, 3);
	put_lease(&world, "");
	boot(&world, &world.machines[0]);
	run_for(&world, SECOND);
	ck_assert(leads(&world.machines[0]));
	ck_assert_int_eq(world.lease.transitions, 4);
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_39_restart_waits)
{
	static struct world world;
	world_init(&world, 4);
	boot(&world, &world.machines[0]);
	run_for(&world, 5 * SECOND);
	ck_assert(leads(&world.machines[0]));
	crash(&world.machines[0]);
	boot(&world, &world.machines[0]);
	run_for(&world, 14 * SECOND);
	ck_assert(!leads(&world.machines[0]));
	run_for(&world, 6 * SECOND);
	ck_assert(leads(&world.machines[0]));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_40_conflict)
{
	static struct world world;
	world_init(&world, 5);
	boot(&world, &world.machines[0]);
	run_for(&world, 3500 * BT_NS_PER_MS);
	ck_assert_uint_eq(world.machines[0].slow_paths, 0);
	int64_t acquired_us = world.lease.acquire_us;
	world.conflicts = 1;
	run_for(&world, 2 * SECOND);
	ck_assert_uint_eq(world.machines[0].slow_paths, 1);
	ck_assert_uint_eq(world.requests[BT_ELECTOR_GET], 2);
	ck_assert(may_act(&world, &world.machines[0]));
	ck_assert_int_eq(world.lease.acquire_us, acquired_us);
	ck_assert_int_eq(world.lease.transitions, 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_41_api_down)
{
	static struct world world;
	world_init(&world, 6);
	boot(&world, &world.machines[0]);
	run_for(&world, 4100 * BT_NS_PER_MS);
	struct machine *machine = &world.machines[0];
	world.is_down = true;
	/* The last successful PUT was at 4 s: the leader may act until 14 s. */
	run_for(&world, 9700 * BT_NS_PER_MS);
	ck_assert(may_act(&world, machine));
	run_for(&world, 400 * BT_NS_PER_MS);
	ck_assert(!may_act(&world, machine));
	ck_assert(leads(machine));
	/*
	 * The renew loop began at 6 s; the leader gives up at 16 s and tries to release the lease.
	 */
	run_for(&world, 1700 * BT_NS_PER_MS);
	ck_assert(leads(machine));
	uint32_t gets = world.requests[BT_ELECTOR_GET];
	run_for(&world, 300 * BT_NS_PER_MS);
	ck_assert(!leads(machine));
	ck_assert_uint_eq(world.requests[BT_ELECTOR_GET], gets + 1);
	run_for(&world, SECOND);
	ck_assert(machine->is_over && machine->elector.lost && machine->elector.was_leading);
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_42_clock_jumps)
{
	static struct world world;
	world_init(&world, 7);
	boot(&world, &world.machines[0]);
	run_for(&world, 3 * SECOND);
	boot(&world, &world.machines[1]);
	run_for(&world, 3 * SECOND);
	world.machines[1].wall_offset_us += INT64_C(3600000000);
	run_for(&world, 20 * SECOND);
	world.machines[0].wall_offset_us -= INT64_C(3600000000);
	run_for(&world, 20 * SECOND);
	ck_assert(may_act(&world, &world.machines[0]));
	ck_assert(!leads(&world.machines[1]));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_43_lease_deleted)
{
	static struct world world;
	world_init(&world, 8);
	put_lease(&world, "");
	boot(&world, &world.machines[0]);
	run_for(&world, 3 * SECOND);
	ck_assert_int_eq(world.lease.transitions, 4);
	world.exists = false;
	run_for(&world, 2 * SECOND);
	ck_assert(world.exists);
	ck_assert(may_act(&world, &world.machines[0]));
	ck_assert_uint_eq(world.machines[0].terms, 1);
	ck_assert_uint_eq(world.requests[BT_ELECTOR_CREATE], 1);
	run_for(&world, 2 * SECOND);
	/*
	 * The leader first sends an optimistic update from the record it knows, then POSTs the same
	 * record.
	 */
	ck_assert(may_act(&world, &world.machines[0]));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_11_44_stop_releases)
{
	static struct world world;
	world_init(&world, 9);
	boot(&world, &world.machines[0]);
	run_for(&world, 5 * SECOND);
	bt_elector_stop(&world.machines[0].elector);
	ck_assert(!may_act(&world, &world.machines[0]));
	world.machines[0].wake_ns = INT64_MIN; /* as bt_leader_election_stop does */
	run_for(&world, SECOND);
	ck_assert(world.machines[0].is_over);
	ck_assert(!world.machines[0].elector.lost);
	ck_assert_uint_eq(world.lease.holder.length, 0);
	ck_assert_int_eq(world.lease.duration_seconds, 1);
	ck_assert_int_eq(world.lease.acquire_us, world.lease.renew_us);
	/* A candidate that is not the leader stops without writing the lease. */
	put_lease(&world, "other");
	boot(&world, &world.machines[1]);
	run_for(&world, SECOND);
	bt_elector_stop(&world.machines[1].elector);
	world.machines[1].wake_ns = INT64_MIN;
	run_for(&world, SECOND);
	ck_assert(world.machines[1].is_over && !world.machines[1].elector.was_leading);
	ck_assert(bt_str_equal_c(world.lease.holder, "other"));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__edge_13_37_conflict_and_another_holder)
{
	static struct world world;
	world_init(&world, 10);
	boot(&world, &world.machines[0]);
	run_for(&world, 3 * SECOND);
	put_lease(&world, "other");
	run_for(&world, 1500 * BT_NS_PER_MS);
	/*
	 * By upstream's rules the elector still leads, but it may not act once it has read the
	 * other holder.
	 */
	ck_assert(leads(&world.machines[0]));
	ck_assert(!may_act(&world, &world.machines[0]));
	run_for(&world, 10 * SECOND);
	ck_assert(world.machines[0].is_over && world.machines[0].elector.lost);
	/* The stopped leader did not release the other holder's lease. */
	ck_assert(bt_str_equal_c(world.lease.holder, "other"));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__stopped_process_may_not_act)
{
	static struct world world;
	world_init(&world, 11);
	boot(&world, &world.machines[0]);
	run_for(&world, 3 * SECOND);
	world.machines[0].paused_until_ns = world.now_ns + 3600 * SECOND;
	world.now_ns += 12 * SECOND;
	ck_assert(leads(&world.machines[0]));
	ck_assert(!may_act(&world, &world.machines[0]));
	world_finish(&world);
}
END_TEST

START_TEST(test_elector__short_leases)
{
	/* Other candidates wait for whole seconds only: 1 s, although 1.9 s are configured. */
	struct bt_elector elector;
	struct bt_elector_options options = {.identity = BT_STR("A"),
		.lock = BT_STR("a/b"),
		.lease_duration_ns = 1900 * BT_NS_PER_MS,
		.renew_deadline_ns = 1500 * BT_NS_PER_MS,
		.retry_period_ns = 200 * BT_NS_PER_MS};
	struct bt_elector_time now = {5 * SECOND, 1};
	struct bt_elector_order order;
	bt_elector_init(&elector, &options);
	bt_elector_start(&elector);
	bt_elector_next(&elector, &now, &order);
	bt_elector_answer(&elector, BT_ELECTOR_NOT_FOUND, NULL, "", &now);
	bt_elector_next(&elector, &now, &order);
	ck_assert_int_eq(order.action, BT_ELECTOR_CREATE);
	bt_elector_answer(&elector, BT_ELECTOR_OK, &order.record, "", &now);
	ck_assert(bt_elector_may_act(&elector, now.steady_ns + 999 * BT_NS_PER_MS));
	ck_assert(!bt_elector_may_act(&elector, now.steady_ns + SECOND));
	bt_elector_finish(&elector);
}
END_TEST

START_TEST(test_elector__coordinated)
{
	static const struct {
		const char *name;
		enum bt_elector_result result;
		struct bt_lease_record record;
		enum bt_elector_action action;
	} rows[] = {
		{"none is made", BT_ELECTOR_NOT_FOUND, {.transitions = 0}, BT_ELECTOR_WAIT},
		{"of another", BT_ELECTOR_OK, {.holder = BT_STR_INIT("A"), .duration_seconds = 15},
			BT_ELECTOR_WAIT},
		{"of nobody", BT_ELECTOR_OK, {.duration_seconds = 15}, BT_ELECTOR_WAIT},
		{"end of term", BT_ELECTOR_OK,
			{.holder = BT_STR_INIT("B"),
				.duration_seconds = 15,
				.preferred_holder = BT_STR_INIT("A")},
			BT_ELECTOR_WAIT},
		{"mine", BT_ELECTOR_OK,
			{.holder = BT_STR_INIT("B"),
				.duration_seconds = 15,
				.acquire_us = 77,
				.transitions = 4,
				.strategy = BT_STR_INIT("OldestEmulationVersion")},
			BT_ELECTOR_UPDATE},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_prng prng;
		bt_prng_init(&prng, 1);
		struct bt_elector elector;
		struct bt_elector_options options = {.identity = BT_STR("B"),
			.lock = BT_STR("a/b"),
			.lease_duration_ns = 15 * SECOND,
			.renew_deadline_ns = 10 * SECOND,
			.retry_period_ns = 2 * SECOND,
			.coordinated = true,
			.prng = &prng};
		struct bt_elector_time now = {5 * SECOND, 1000};
		struct bt_elector_order order;
		bt_elector_init(&elector, &options);
		bt_elector_start(&elector);
		bt_elector_next(&elector, &now, &order);
		bt_elector_answer(&elector, rows[i].result, &rows[i].record, "", &now);
		bt_elector_next(&elector, &now, &order);
		ck_assert_msg(order.action == rows[i].action, "%s", rows[i].name);
		if (order.action == BT_ELECTOR_UPDATE) {
			ck_assert_int_eq(order.record.acquire_us, 77);
			ck_assert_int_eq(order.record.renew_us, 1000);
			ck_assert_int_eq(order.record.transitions, 4);
			ck_assert(bt_str_equal_c(order.record.strategy, "OldestEmulationVersion"));
			/*
			 * The lease was not renewed for longer than its duration, and is not taken
			 * again.
			 */
			bt_elector_answer(&elector, BT_ELECTOR_FAILED, NULL, "lost", &now);
			now.steady_ns += 16 * SECOND;
			bt_elector_next(&elector, &now, &order);
			bt_elector_answer(&elector, BT_ELECTOR_OK, &rows[i].record, "", &now);
			bt_elector_next(&elector, &now, &order);
			ck_assert_int_eq(order.action, BT_ELECTOR_WAIT);
		}
		bt_elector_finish(&elector);
	}
}
END_TEST

/** --- the model --- */

static void disturb(struct world *world)
{
	struct machine *machine = &world->machines[bt_prng_below(&world->prng, MACHINES)];
	switch (bt_prng_below(&world->prng, 10)) {
	case 0:
		machine->paused_until_ns =
			world->now_ns + (int64_t)bt_prng_below(&world->prng, 40) * SECOND;
		break;
	case 1:
		if (machine->is_alive) {
			crash(machine);
		}
		break;
	case 2:
		machine->wall_offset_us +=
			((int64_t)bt_prng_below(&world->prng, 7200) - 3600) * 1000000;
		break;
	case 3:
		world->is_down = !world->is_down;
		break;
	case 4:
		world->loss = (uint32_t)bt_prng_below(&world->prng, 400);
		break;
	case 5:
		world->delay_max_ns = (int64_t)bt_prng_below(&world->prng, 8000) * BT_NS_PER_MS;
		break;
	case 6:
		world->delay_max_ns = 0;
		world->loss = 0;
		world->is_down = false;
		break;
	case 7:
		world->conflicts = 1;
		break;
	case 8:
		if (machine->is_alive) {
			bt_elector_stop(&machine->elector);
			machine->wake_ns = INT64_MIN;
		}
		break;
	default:
		break;
	}
}

static void revive(struct world *world)
{
	for (uint32_t i = 0; i < MACHINES; i++) {
		struct machine *machine = &world->machines[i];
		if (machine->is_alive && machine->is_over) {
			crash(machine);
		}
		if (!machine->is_alive && bt_prng_below(&world->prng, 4) == 0) {
			boot(world, machine);
		}
	}
}

static uint32_t count_actors(const struct world *world)
{
	uint32_t actors = 0;
	for (uint32_t i = 0; i < MACHINES; i++) {
		actors += may_act(world, &world->machines[i]);
	}
	return actors;
}

START_TEST(test_elector__never_two_may_act)
{
	uint32_t acting = 0;
	uint32_t steps = 0;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		static struct world world;
		world_init(&world, seed);
		for (uint32_t second = 0; second < 400; second++) {
			if (bt_prng_below(&world.prng, 4) == 0) {
				disturb(&world);
			}
			revive(&world);
			for (uint32_t i = 0; i < SECOND / STEP_NS; i++) {
				step(&world);
				uint32_t actors = count_actors(&world);
				if (actors > 1) {
					ck_abort_msg("seed %u: two may act", (unsigned)seed);
				}
				acting += actors;
				steps++;
			}
		}
		world_finish(&world);
	}
	/* Despite all faults, some machine may act for more than a fifth of the time. */
	ck_assert_uint_gt(acting, steps / 5);
}
END_TEST

START_TEST(test_elector__takeover_in_time)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		static struct world world;
		world_init(&world, seed);
		world.delay_max_ns = 100 * BT_NS_PER_MS;
		for (uint32_t i = 0; i < MACHINES; i++) {
			boot(&world, &world.machines[i]);
		}
		run_for(&world, (10 + (int64_t)(seed % 7)) * SECOND);
		ck_assert_uint_eq(count_actors(&world), 1);
		for (uint32_t i = 0; i < MACHINES; i++) {
			if (leads(&world.machines[i])) {
				crash(&world.machines[i]);
			}
		}
		/*
		 * The bound: the duration of a lease, a retry with jitter, and the delays of four
		 * requests.
		 */
		run_for(&world, (15000 + 4400 + 800) * BT_NS_PER_MS);
		ck_assert_uint_eq(count_actors(&world), 1);
		world_finish(&world);
	}
}
END_TEST

BT_TEST_MAIN("elector", test_elector__edge_11_36_no_lease_yet,
	test_elector__edge_11_37_lease_of_another,
	test_elector__edge_11_37_to_the_tenth_of_a_second, test_elector__edge_11_38_empty_holder,
	test_elector__edge_11_39_restart_waits, test_elector__edge_11_40_conflict,
	test_elector__edge_11_41_api_down, test_elector__edge_11_42_clock_jumps,
	test_elector__edge_11_43_lease_deleted, test_elector__edge_11_44_stop_releases,
	test_elector__edge_13_37_conflict_and_another_holder,
	test_elector__stopped_process_may_not_act, test_elector__short_leases,
	test_elector__coordinated, test_elector__never_two_may_act, test_elector__takeover_in_time)
