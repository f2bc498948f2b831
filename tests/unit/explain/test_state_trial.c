/* SPDX-License-Identifier: Apache-2.0 */
/** Trials (state/trial.h) also restore state that adding everything again would not restore. */
#include "base/error.h"
#include "base/prng.h"
#include "state/state.h"
#include "test_main.h"
#include "town.h"
#include "validate/validate.h"

static const char *node_json(struct town *town, struct bt_prng *prng, uint32_t number)
{
	static const char *const zones[] = {"a", "b", "c"};
	static const char *const images[] = {"", "{'names':['i1'],'sizeBytes':10}",
		"{'names':['i1','i2'],'sizeBytes':20}", "{'names':['i2'],'sizeBytes':30}"};
	static const char *const taints[] = {"", "{'key':'k','effect':'NoSchedule'}"};

	return bt_arena_printf(&town->world.arena,
		"{'metadata':{'name':'n%u','labels':{'topology.kubernetes.io/zone':'%s'}},'spec':{"
		"'taints':[%s]},'status':{'allocatable':{'cpu':'%u','pods':'10'},'images':[%s]}}",
		number, zones[bt_prng_below(prng, 3)], taints[bt_prng_below(prng, 2)],
		(unsigned int)(1 + bt_prng_below(prng, 8)), images[bt_prng_below(prng, 4)])
		.data;
}

static void add_pods(struct town *town, struct bt_prng *prng, uint32_t node_count, uint32_t count)
{
	static const char *const parts[] = {"", "'containers':[{'ports':[{'hostPort':80}]}],",
		"'containers':[{'resources':{'requests':{'cpu':'1','example.com/x':'2'}}}],",
		"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
		"'topologyKey':'t','labelSelector':{}}]}},",
		"'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[]}}"
		",",
		"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}],"};

	for (uint32_t i = 0; i < count; i++) {
		world_add_pod(&town->world,
			bt_arena_printf(&town->world.arena, "{'spec':{%s'nodeName':'n%u'}}",
				parts[bt_prng_below(prng, BT_ARRAY_LENGTH(parts))],
				(unsigned int)bt_prng_below(prng, node_count))
				.data);
	}
}

static void try_something(struct town *town, struct bt_prng *prng, uint64_t seed)
{
	struct bt_state *state = town->world.engine->state;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_state_trial trial;
	const char *before;
	bool changed = false;

	ck_assert_int_eq(bt_state_refresh_snapshot(state, &err), 0);
	before = town_fingerprint(town);
	ck_assert_int_eq(bt_state_trial_begin(&trial, state, &err), 0);
	for (uint32_t i = 0; i < town->nodes.count; i++) {
		const struct bt_node *was = town->nodes.items[i];
		uint32_t slot = bt_state_snapshot_find(state, was->metadata.name);
		const struct bt_node_row *row = &state->nodes.rows[slot];

		if (bt_prng_below(prng, 3) == 0) {
			struct bt_node *now = world_node(&town->world, node_json(town, prng, i));

			bt_state_trial_set_node(&trial, slot, was, now);
			changed = true;
		}
		while (row->pods.count != 0 && bt_prng_below(prng, 2) == 0) {
			bt_state_trial_take_pod(
				&trial, row->pods.items[bt_prng_below(prng, row->pods.count)]);
			changed = true;
		}
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(trial.state, &err), 0);
	ck_assert_int_eq(bt_state_trial_end(&trial, &err), 0);
	ck_assert_msg(strcmp(town_fingerprint(town), before) == 0, "seed %llu, changed %d:\n%s\n%s",
		(unsigned long long)seed, (int)changed, before, town_fingerprint(town));
}

/**
 * Removes pods, adds some back and removes some again, as pod group preemption does; the snapshot
 * is not refreshed.
 */
static void try_in_snapshot(struct town *town, struct bt_prng *prng, uint64_t seed)
{
	struct bt_state *state = town->world.engine->state;
	struct bt_state_trial trial;
	BT_VEC(uint32_t) away = {0};
	const char *before;
	int64_t generation;

	ck_assert_int_eq(bt_state_refresh_snapshot(state, NULL), 0);
	before = town_fingerprint(town);
	generation = state->next_generation;
	bt_snapshot_trial_begin(&trial, state);
	for (uint32_t step = 0; step < 40; step++) {
		const struct bt_node_row *row = &state->nodes.rows[bt_snapshot_list(
			&state->snapshot)[bt_prng_below(prng, state->snapshot.count)]];

		if (away.count != 0 && bt_prng_below(prng, 2) == 0) {
			uint32_t at = (uint32_t)bt_prng_below(prng, away.count);
			bt_snapshot_trial_return_pod(&trial, away.items[at]);
			bt_vec_remove_swap(&away, at);
		} else if (row->pods.count != 0) {
			uint32_t pod = row->pods.items[bt_prng_below(prng, row->pods.count)];
			bt_state_trial_take_pod(&trial, pod);
			bt_vec_push(&away, pod);
		}
	}
	bt_snapshot_trial_end(&trial);
	bt_vec_finish(&away);
	ck_assert_int_eq(state->next_generation, generation);
	ck_assert_uint_eq(state->snapshot.changed_slots.count, 0);
	ck_assert_int_eq(bt_state_refresh_snapshot(state, NULL), 0);
	ck_assert_msg(strcmp(town_fingerprint(town), before) == 0, "seed %llu:\n%s\n%s",
		(unsigned long long)seed, before, town_fingerprint(town));
}

START_TEST(test_state_trial__random_changes_leave_no_trace)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct bt_strbuf reason = {0};
		struct bt_prng prng;
		struct town town;

		bt_prng_init(&prng, seed);
		town_init(&town, "{}");
		for (uint32_t i = 0; i < 6; i++) {
			town_add_node(&town, node_json(&town, &prng, i));
			/*
			 * Refresh after each node, so that the image states of earlier nodes become
			 * out of date.
			 */
			ck_assert_int_eq(
				bt_state_refresh_snapshot(town.world.engine->state, NULL), 0);
		}
		add_pods(&town, &prng, 6, (uint32_t)bt_prng_below(&prng, 30));
		for (uint32_t round = 0; round < 3; round++) {
			try_something(&town, &prng, seed);
			try_in_snapshot(&town, &prng, seed);
		}
		ck_assert_msg(bt_state_validate(town.world.engine->state, &reason), "seed %llu: %s",
			(unsigned long long)seed, bt_strbuf_c(&reason));
		bt_strbuf_finish(&reason);
		town_finish(&town);
	}
}
END_TEST

/** Two pods use one port: in a trial the port stays taken until both pods are removed. */
START_TEST(test_state_trial__shared_port_stays_taken)
{
	static const char *const json =
		"{'spec':{'nodeName':'n1','containers':[{'ports':[{'hostPort':80}]}]}}";
	struct town town;
	struct bt_state *state;
	struct bt_state_trial trial;
	const struct bt_node_row *row;

	town_init(&town, "{}");
	state = town.world.engine->state;
	town_add_node(&town, "{'metadata':{'name':'n1'}}");
	world_add_pod(&town.world, json);
	world_add_pod(&town.world, json);
	ck_assert_int_eq(bt_state_trial_begin(&trial, state, NULL), 0);
	row = &state->nodes.rows[world_slot(&town.world, "n1")];
	bt_state_trial_take_pod(&trial, row->pods.items[0]);
	ck_assert_uint_eq(row->ports.count, 1);
	bt_state_trial_take_pod(&trial, row->pods.items[0]);
	ck_assert_uint_eq(row->ports.count, 0);
	ck_assert_int_eq(bt_state_trial_end(&trial, NULL), 0);
	ck_assert_uint_eq(row->ports.count, 1);
	town_finish(&town);
}
END_TEST

/**
 * Ports are a set, as upstream: a removed pod frees the port even if another pod uses it, and a
 * trial must not restore the port.
 */
START_TEST(test_state_trial__port_that_was_lost_stays_lost)
{
	static const char *const json =
		"{'spec':{'nodeName':'n1','containers':[{'ports':[{'hostPort':80}]}]}}";
	struct town town;
	struct bt_state *state;
	struct bt_state_trial trial;
	const struct bt_node_row *row;
	const struct bt_pod *leaving;

	town_init(&town, "{}");
	state = town.world.engine->state;
	town_add_node(&town, "{'metadata':{'name':'n1'}}");
	world_add_pod(&town.world, json);
	leaving = world_pod(&town.world, json);
	ck_assert_int_eq(bt_state_add_pod(state, leaving, NULL), 0);
	ck_assert_int_eq(bt_state_remove_pod(state, leaving, NULL), 0);
	ck_assert_int_eq(bt_state_trial_begin(&trial, state, NULL), 0);
	row = &state->nodes.rows[world_slot(&town.world, "n1")];
	ck_assert_uint_eq(row->ports.count, 0);
	bt_state_trial_take_pod(&trial, row->pods.items[0]);
	ck_assert_int_eq(bt_state_trial_end(&trial, NULL), 0);
	ck_assert_uint_eq(row->ports.count, 0);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("state_trial", test_state_trial__random_changes_leave_no_trace,
	test_state_trial__shared_port_stays_taken, test_state_trial__port_that_was_lost_stays_lost)
