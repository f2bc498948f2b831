/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements of a cluster that changes between two decisions. */
#include <stdio.h>

#include "base/alloc.h"
#include "bench/bench_cluster.h"

static int make_node(struct bt_bench *bench, uint32_t number, uint32_t turn,
	struct bt_object **out_object, struct berth_error *err)
{
	bt_bench_write_node_turn(&bench->run->source, number, turn, &bench->text);
	return bt_bench_decode_text(bench, out_object, err);
}

/** Make the pending pod with this number, and no other. */
static int make_pod(struct bt_bench *bench, uint32_t number, struct berth_error *err)
{
	bt_bench_release_pending(bench);
	return bt_bench_make_pending(bench, number, 1, err);
}

static const struct bt_pod *made_pod(const struct bt_bench *bench)
{
	return bt_object_value(bench->pending.items[0], BT_KIND_POD);
}

/** --- churn --- */

enum change_kind {
	POD_FINISHES,
	NODE_HEARTBEAT, /* an update that changes no field */
	NODE_LABEL,
	NODE_GOES, /* with every pod on it */
	NODE_COMES,
};

struct change {
	enum change_kind kind;
	uint32_t pod;           /* number of the pod that finishes */
	struct bt_object *node; /* owned; NULL: the change has no node */
};

struct churn {
	struct bt_bench *bench;
	struct bt_prng prng;
	BT_VEC(uint32_t) pods;         /* numbers of placed pods, even if their node is gone */
	BT_VEC(uint32_t) nodes;        /* numbers of existing nodes */
	BT_VEC(struct change) changes; /* prepared for the current pod */
	uint32_t next_node;
	uint32_t turn;
};

/** Draw the kind of a change, with the weights in percent. */
static enum change_kind draw_kind(struct churn *churn)
{
	uint64_t number = bt_prng_below(&churn->prng, 100);
	if (number < 50) {
		return POD_FINISHES;
	}
	if (number < 80) {
		return NODE_HEARTBEAT;
	}
	if (number < 90) {
		return NODE_LABEL;
	}
	return number < 95 ? NODE_GOES : NODE_COMES;
}

static uint32_t find_pod(const struct churn *churn, uint32_t number)
{
	char uid[24];
	(void)snprintf(uid, sizeof(uid), "p-%u", number);
	return bt_state_find_pod(churn->bench->engine->state, bt_str_from(uid));
}

/**
 * Draws a placed pod that finishes. Returns false if no placed pod is left. Must be called after
 * the previous changes were made, because a change may remove pods.
 */
static bool draw_pod(struct churn *churn, uint32_t *out_pod_id)
{
	while (churn->pods.count != 0) {
		uint32_t at = (uint32_t)bt_prng_below(&churn->prng, churn->pods.count);
		*out_pod_id = find_pod(churn, churn->pods.items[at]);
		bt_vec_remove_swap(&churn->pods, at);
		if (*out_pod_id != BT_POD_NONE) {
			return true;
		}
	}
	return false;
}

static void remove_pod(struct churn *churn, uint32_t pod_id)
{
	struct bt_state *state = churn->bench->engine->state;
	struct bt_pod_info info;
	bt_pod_info_from_record(state, pod_id, &info);
	struct bt_pod pod = {
		.metadata = {.name = info.name, .namespace_ = info.namespace_, .uid = info.uid},
		.spec.node_name = info.node_name,
	};
	int result = bt_state_remove_pod(state, &pod, NULL);
	BT_ASSERT(result == 0); /* the pod was found just before */
	churn->bench->result->change_count++;
}

/** Draws the next changes, and decodes their objects before the clock runs. */
static int prepare(struct churn *churn, struct berth_error *err)
{
	for (uint32_t i = 0; i < churn->bench->run->changes; i++) {
		struct change change = {.kind = draw_kind(churn)};
		uint32_t number = churn->next_node;
		int result = 0;
		if (change.kind != POD_FINISHES && change.kind != NODE_COMES) {
			if (churn->nodes.count == 0) {
				continue;
			}
			uint32_t at = (uint32_t)bt_prng_below(&churn->prng, churn->nodes.count);
			number = churn->nodes.items[at];
			if (change.kind == NODE_GOES) {
				bt_vec_remove_swap(&churn->nodes, at);
			}
		} else if (change.kind == NODE_COMES) {
			bt_vec_push(&churn->nodes, churn->next_node);
			churn->next_node++;
		}
		if (change.kind != POD_FINISHES) {
			result = make_node(churn->bench, number,
				change.kind == NODE_LABEL ? ++churn->turn : 0, &change.node, err);
		}
		if (result < 0) {
			return result;
		}
		bt_vec_push(&churn->changes, change);
	}
	return 0;
}

static void remove_node(struct churn *churn, const struct bt_node *node)
{
	struct bt_state *state = churn->bench->engine->state;
	uint32_t slot = bt_node_table_find(&state->nodes, node->metadata.name);
	while (state->nodes.rows[slot].pods.count != 0) {
		remove_pod(churn, state->nodes.rows[slot].pods.items[0]);
	}
	int result = bt_state_remove_node(state, node, NULL);
	BT_ASSERT(result == 0); /* the node is in the list */
}

static void apply(struct churn *churn, const struct change *change)
{
	struct bt_state *state = churn->bench->engine->state;
	uint32_t pod_id;
	switch (change->kind) {
	case POD_FINISHES:
		if (draw_pod(churn, &pod_id)) {
			remove_pod(churn, pod_id);
		}
		return;
	case NODE_HEARTBEAT:
	case NODE_LABEL:
		bt_state_update_node(state, NULL, bt_object_value(change->node, BT_KIND_NODE));
		break;
	case NODE_GOES:
		remove_node(churn, bt_object_value(change->node, BT_KIND_NODE));
		break;
	case NODE_COMES:
		bt_state_add_node(state, bt_object_value(change->node, BT_KIND_NODE));
		break;
	}
	churn->bench->result->change_count++;
}

static void forget_changes(struct churn *churn)
{
	for (uint32_t i = 0; i < churn->changes.count; i++) {
		bt_object_release(churn->changes.items[i].node);
	}
	churn->changes.count = 0;
}

/** Adds the time since the watch started to the run's time and to the time of its changes. */
static void stop_changes(const struct bt_bench_watch *watch, struct bt_bench_result *result)
{
	double seconds = 0;
	double cpu_seconds = 0;
	bt_bench_watch_add(watch, &seconds, &cpu_seconds);
	result->seconds += seconds;
	result->cpu_seconds += cpu_seconds;
	result->change_seconds += seconds;
	result->change_cpu_seconds += cpu_seconds;
}

/**
 * Makes the changes, then the decision. Each has a separate watch, which leaves out the reading of
 * the clock between them: a twentieth of their time. `number` is the number of the prepared pod
 * among all pods.
 */
static void churn_and_schedule(struct churn *churn, uint32_t number)
{
	struct bt_bench_result *result = churn->bench->result;
	uint32_t scheduled_before = result->scheduled_count;
	struct bt_bench_watch watch = bt_bench_watch_start();
	for (uint32_t i = 0; i < churn->changes.count; i++) {
		apply(churn, &churn->changes.items[i]);
	}
	stop_changes(&watch, result);
	watch = bt_bench_watch_start();
	bt_bench_schedule(churn->bench, made_pod(churn->bench));
	bt_bench_watch_stop(&watch, result);
	if (result->scheduled_count != scheduled_before) {
		bt_vec_push(&churn->pods, number);
	}
}

int bt_bench_churn(struct bt_bench *bench, struct berth_error *err)
{
	const struct bt_bench_source *source = &bench->run->source;
	struct churn churn = {.bench = bench, .next_node = source->node_count};
	uint32_t total = bt_bench_pending_count(bench);
	int result = 0;
	bt_prng_init(&churn.prng, source->seed);
	for (uint32_t i = 0; i < source->node_count; i++) {
		bt_vec_push(&churn.nodes, i);
	}
	for (uint32_t i = 0; i < source->bound_count; i++) {
		bt_vec_push(&churn.pods, i);
	}
	for (uint32_t i = 0; i < total && result == 0; i++) {
		result = make_pod(bench, i, err);
		if (result == 0) {
			result = prepare(&churn, err);
		}
		if (result == 0) {
			churn_and_schedule(&churn, source->bound_count + i);
		}
		forget_changes(&churn);
	}
	bt_vec_finish(&churn.pods);
	bt_vec_finish(&churn.nodes);
	bt_vec_finish(&churn.changes);
	return result;
}

/** --- worst --- */

static void update_all(struct bt_bench *bench, struct bt_object *const *nodes)
{
	uint32_t count = bench->run->source.node_count;
	for (uint32_t i = 0; i < count; i++) {
		bt_state_update_node(
			bench->engine->state, NULL, bt_object_value(nodes[i], BT_KIND_NODE));
	}
	bench->result->change_count += count;
}

static int make_turns(struct bt_bench *bench, struct bt_object **nodes, struct berth_error *err)
{
	uint32_t count = bench->run->source.node_count;
	int result = 0;
	for (uint32_t i = 0; i < BT_BENCH_TURNS * count && result == 0; i++) {
		result = make_node(bench, i % count, i / count, &nodes[i], err);
	}
	return result;
}

static int run_worst(
	struct bt_bench *bench, struct bt_object *const *nodes, struct berth_error *err)
{
	struct bt_bench_result *counted = bench->result;
	uint32_t node_count = bench->run->source.node_count;
	uint32_t total = bt_bench_pending_count(bench);
	int result = 0;
	for (uint32_t i = 0; i < total && result == 0; i++) {
		result = make_pod(bench, i, err);
		if (result == 0) {
			size_t turn = (i + 1) % BT_BENCH_TURNS;
			struct bt_bench_watch watch = bt_bench_watch_start();
			update_all(bench, &nodes[turn * node_count]);
			stop_changes(&watch, counted);
			watch = bt_bench_watch_start();
			bt_bench_schedule(bench, made_pod(bench));
			bt_bench_watch_stop(&watch, counted);
		}
	}
	return result;
}

int bt_bench_worst(struct bt_bench *bench, struct berth_error *err)
{
	size_t count = (size_t)BT_BENCH_TURNS * bench->run->source.node_count;
	struct bt_object **nodes = bt_calloc(count, sizeof(struct bt_object *));
	int result = make_turns(bench, nodes, err);
	if (result == 0) {
		result = run_worst(bench, nodes, err);
	}
	for (size_t i = 0; i < count; i++) {
		bt_object_release(nodes[i]);
	}
	bt_free(nodes);
	return result;
}
