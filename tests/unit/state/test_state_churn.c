/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users choose names, labels and requests: after any number of adds and removals the state must be
 * empty again.
 */
#include "base/prng.h"
#include "state_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

enum { NODES = 40, PODS = 120, STEPS = 10000 };

/** Objects are computed from a number, so only numbers are stored; 0: no object. */
struct churn {
	struct fixture f;
	struct bt_prng prng;
	unsigned int nodes[NODES];
	unsigned int pods[PODS];
	unsigned int pod_nodes[PODS];
	unsigned int serial;
};

static unsigned int below(struct churn *churn, unsigned int bound)
{
	return (unsigned int)bt_prng_below(&churn->prng, bound);
}

static struct bt_node *churn_node(struct churn *churn, unsigned int place, unsigned int number)
{
	struct bt_str json = bt_arena_printf(&churn->f.arena,
		"{'metadata':{'name':'n%u','uid':'%u','labels':{'host':'n%u','key%u':'value%u',"
		"'topology.kubernetes.io/"
		"zone':'z%u'}},'spec':{'taints':[{'key':'k%u','effect':'NoSchedule'}]},"
		"'status':{'allocatable':{'cpu':'%u','example.com/x%u':'4'},"
		"'images':[{'names':['i%u','j%u'],'sizeBytes':%u}],'declaredFeatures':['f%u']}}",
		place, number, place, number, number, number % 7, number, number % 9 + 1,
		number % 5, number, number % 11, number, number);

	return decode(&churn->f, &bt_node_message, json.data);
}

static struct bt_pod *churn_pod(struct churn *churn, unsigned int number, unsigned int node)
{
	struct bt_str json = bt_arena_printf(&churn->f.arena,
		"{'metadata':{'name':'p%u','namespace':'ns%u','uid':'uid%u','labels':{'app%u':'a','"
		"v':'%u'}},"
		"'spec':{'nodeName':'n%u','priority':%u,'containers':[{'name':'c%u','resources':{'"
		"requests':"
		"{'cpu':'%um','example.com/"
		"x%u':'1'}},'ports':[{'hostPort':%u,'hostIP':'10.0.0.%u'}]}],"
		"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
		"'topologyKey':'t%u'}]}},"
		"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'claim%u'}}]}}",
		number, number % 13, number, number, number, node, number % 3, number, number % 100,
		number % 5, 1 + number % 2000, number % 250, number % 17, number);

	return decode(&churn->f, &bt_pod_message, json.data);
}

static void step_node(struct churn *churn)
{
	unsigned int place = below(churn, NODES);
	unsigned int old = churn->nodes[place];

	if (old != 0 && below(churn, 3) == 0) {
		check_ok(bt_state_remove_node(churn->f.state, churn_node(churn, place, old), &err));
		churn->nodes[place] = 0;
		return;
	}
	churn->nodes[place] = ++churn->serial;
	bt_state_update_node(churn->f.state, old != 0 ? churn_node(churn, place, old) : NULL,
		churn_node(churn, place, churn->serial));
	if (old == 0) {
		bt_state_add_node(churn->f.state, churn_node(churn, place, churn->serial));
	}
}

static void step_pod(struct churn *churn)
{
	unsigned int place = below(churn, PODS);
	unsigned int old = churn->pods[place];
	/* Some pods are on nodes that never exist. */
	unsigned int node = below(churn, NODES + 5);

	if (old != 0) {
		check_ok(bt_state_remove_pod(
			churn->f.state, churn_pod(churn, old, churn->pod_nodes[place]), &err));
		churn->pods[place] = 0;
		return;
	}
	churn->pods[place] = ++churn->serial;
	churn->pod_nodes[place] = node;
	if (below(churn, 2) == 0) {
		check_ok(bt_state_add_pod(
			churn->f.state, churn_pod(churn, churn->serial, node), &err));
		return;
	}
	check_ok(bt_state_assume_pod(churn->f.state, churn_pod(churn, churn->serial, node), &err));
	switch (below(churn, 3)) {
	case 0:
		check_ok(bt_state_forget_pod(
			churn->f.state, churn_pod(churn, churn->serial, node), &err));
		churn->pods[place] = 0;
		break;
	case 1:
		check_ok(bt_state_add_pod(
			churn->f.state, churn_pod(churn, churn->serial, node), &err));
		break;
	default:
		break;
	}
}

static void remove_everything(struct churn *churn)
{
	for (unsigned int place = 0; place < PODS; place++) {
		if (churn->pods[place] != 0) {
			check_ok(bt_state_remove_pod(churn->f.state,
				churn_pod(churn, churn->pods[place], churn->pod_nodes[place]),
				&err));
			churn->pods[place] = 0;
		}
	}
	for (unsigned int place = 0; place < NODES; place++) {
		if (churn->nodes[place] != 0) {
			check_ok(bt_state_remove_node(churn->f.state,
				churn_node(churn, place, churn->nodes[place]), &err));
			churn->nodes[place] = 0;
		}
	}
	check_refresh(&churn->f);
}

static void refresh(struct churn *churn)
{
	struct berth_error err = BERTH_ERROR_INIT;
	/*
	 * A node update before the first add does not change the node order, so a refresh may find
	 * lists of different lengths.
	 */
	int result = bt_state_refresh_snapshot(churn->f.state, &err);
	ck_assert(result == 0 || result == BERTH_ERR_STATE);
	berth_error_finish(&err);
}

static void run_steps(struct churn *churn)
{
	for (int i = 0; i < STEPS; i++) {
		if (below(churn, 3) == 0) {
			step_node(churn);
		} else {
			step_pod(churn);
		}
		if (below(churn, 5) == 0) {
			refresh(churn);
		}
		if (i % 50 == 0) {
			/* Keys of selectors; no node has the key "absent". */
			(void)bt_node_table_label_column(&churn->f.state->nodes, BT_STR("host"));
			(void)bt_node_table_label_column(&churn->f.state->nodes, BT_STR("absent"));
			check_valid(&churn->f);
		}
		bt_arena_reset(&churn->f.arena);
		bt_strbuf_reset(&churn->f.warnings);
	}
}

static uint32_t column_symbols(const struct bt_state *state)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->nodes.label_columns.count; i++) {
		const struct bt_label_column *column = state->nodes.label_columns.items[i];

		count += 1 + column->dictionary.count - 1; /* the first entry is "no value" */
		ck_assert_uint_eq(column->live_count, 0);
		ck_assert_uint_le(column->dictionary.count, 2 * state->nodes.slot_count + 64 + 1);
	}
	return count;
}

START_TEST(test_state__churn_leaves_nothing_behind)
{
	struct churn churn = {0};
	size_t bytes = 0;

	fixture_init(&churn.f);
	bt_prng_init(&churn.prng, 7);
	for (int round = 0; round < 3; round++) {
		const struct bt_state *state = churn.f.state;
		run_steps(&churn);
		remove_everything(&churn);
		ck_assert_uint_eq(state->shapes.shapes.map.count, 0);
		ck_assert_uint_eq(state->label_sets.sets.map.count, 0);
		ck_assert_uint_eq(state->nodes.taint_sets.map.count, 0);
		ck_assert_uint_eq(state->nodes.label_columns.count, 2);
		ck_assert_uint_eq(state->nodes.label_keys.map.count, 0);
		ck_assert_uint_eq(state->nodes.names.count, 0);
		ck_assert_uint_eq(state->images.images.map.count, 0);
		ck_assert_uint_eq(state->pods.count, 0);
		ck_assert_uint_eq(state->used_claims.map.count, 0);
		ck_assert_uint_eq(state->order.zones.count, 0);
		ck_assert_uint_eq(state->nodes.free_slots.count, state->nodes.slot_count);
		/* Only the names of scalar resources remain, and the keys and values of columns. */
		ck_assert_uint_eq(state->nodes.scalars.count, 5);
		ck_assert_uint_eq(state->symbols.map.count, 5 + column_symbols(state));
		/* Tables keep their memory, so the second round may need only a little more. */
		if (round > 0) {
			ck_assert_uint_le(bt_state_memory_bytes(state), bytes + bytes / 4);
		}
		bytes = bt_state_memory_bytes(state);
	}
	fixture_finish(&churn.f);
}
END_TEST

BT_TEST_MAIN("state_churn", test_state__churn_leaves_nothing_behind)
