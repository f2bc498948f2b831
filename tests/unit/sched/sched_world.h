/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCHED_WORLD_H
#define BT_TESTS_UNIT_SCHED_WORLD_H
/**
 * An engine with scripted plugins on a cluster made of JSON snippets (with ' in place of "). Pods
 * without a name, uid or namespace get a name, a uid and the namespace "default".
 */
#include <stdbool.h>
#include <stdint.h>

#include "fake_plugin.h"
#include "sched/engine.h"

enum script_form {
	SCRIPT_PLAIN,        /* Filter and Score node by node */
	SCRIPT_COLUMN,       /* pure, with columns kept by the plan */
	SCRIPT_CYCLE_COLUMN, /* makes its columns in every cycle */
};

/** The answers of a script for one node. */
struct script_row {
	const char *node;
	struct fake_answer filter;
	int64_t score;
};

/** A fake plugin whose Filter and Score look at the node. Nodes without a row pass and score 0. */
struct script {
	struct fake fake; /* must be the first member */
	struct script_row *rows;
	uint32_t row_count;
	/*
	 * If not NULL, these functions replace the rows. They return the verdict (0: the node
	 * passes) and the score of a node.
	 */
	uint32_t (*verdict_of)(
		const struct script *script, const struct bt_state *state, uint32_t slot);
	int64_t (*score_of)(
		const struct script *script, const struct bt_state *state, uint32_t slot);
	uint64_t seed;               /* for verdict_of and score_of */
	int32_t column_score_error;  /* the column form's scores are wrong by this much */
	uint32_t column_verdict_lie; /* slot + 1 whose verdict in the column is inverted; 0: none */
	/* The feasible nodes of the last PreScore call. */
	uint32_t feasible[1024];
	uint32_t feasible_count;
	uint32_t feasible_least; /* fewest nodes of any PreScore call */
	/* Slots for which Filter ran, in order; plain form only. */
	uint32_t filtered[4096];
	uint32_t filtered_count;
};

/**
 * Makes a script that implements FAKE_FILTER, FAKE_SCORE and FAKE_PRE_SCORE. roles as for
 * fake_plugin.
 */
struct script script_make(const char *name, uint32_t roles, enum script_form form);
void script_set_rows(struct script *script, struct script_row *rows, uint32_t count);

struct world {
	struct bt_arena arena;
	struct bt_config *config;
	struct bt_engine *engine;
	struct bt_framework *framework; /* of the first profile */
	BT_VEC(struct bt_pod_info *) pods;
	uint32_t pod_number;
};

/**
 * Makes an engine with these scripts; options NULL: the defaults. config:
 * KubeSchedulerConfiguration without apiVersion and kind, e.g. "{'profiles':[...]}", or a list of
 * plugins "A, B:2" for one profile of only these plugins, in this order.
 */
void world_init(struct world *world, const char *config, const struct bt_engine_options *options,
	struct script *const *scripts, uint32_t script_count);
void world_finish(struct world *world);
/**
 * Loads a configuration in one of these two forms; the caller gets a reference. Texts are in the
 * arena.
 */
struct bt_config *world_load_config(struct bt_arena *arena, const char *config);
/**
 * Like world_load_config, with gates in the form of --feature-gates, "Name=true,..."; "": defaults.
 */
struct bt_config *world_load_config_gated(
	struct bt_arena *arena, const char *gate_text, const char *config);
/** Returns the text with " in place of '. */
struct bt_str world_json(struct bt_arena *arena, const char *json);
/** Returns the JSON of a profile with only these plugins; the memory is the arena's. */
const char *world_profile(
	struct bt_arena *arena, const char *scheduler_name, const char *plugins, const char *more);

struct bt_pod *world_pod(struct world *world, const char *json);
struct bt_node *world_node(struct world *world, const char *json);
/** Adds nodes first .. first + count - 1, named "n<number>", each with room for 1000 pods. */
void world_add_nodes(struct world *world, uint32_t first, uint32_t count);
void world_add_node(struct world *world, const char *json);
void world_remove_node(struct world *world, const char *name);
/** Adds an assigned pod (with spec.nodeName). */
void world_add_pod(struct world *world, const char *json);
const struct bt_pod_info *world_pending(struct world *world, const char *json);
/**
 * Run one scheduling cycle and return its result: world_schedule of a new pod, world_schedule_pod
 * of the given pod.
 */
struct bt_schedule_result world_schedule(struct world *world, const char *pod_json);
struct bt_schedule_result world_schedule_pod(struct world *world, const struct bt_pod_info *pod);

uint32_t world_slot(struct world *world, const char *node);
/** Returns the name of the chosen node; "": none. */
const char *world_chosen(struct world *world, const struct bt_schedule_result *result);
/** Returns the message of the result's status. */
const char *world_message(struct world *world, const struct bt_schedule_result *result);
/** Returns the names of the set's plugins, sorted and separated by spaces. */
const char *world_plugins(struct world *world, const struct bt_plugin_set *set);
#endif
