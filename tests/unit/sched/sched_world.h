/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCHED_WORLD_H
#define BT_TESTS_UNIT_SCHED_WORLD_H
/**
 * An engine with scripted plugins, on a cluster made of JSON snippets (' stands for "). Pods get a
 * name, a uid and the namespace "default" when they have none.
 */
#include <stdbool.h>
#include <stdint.h>

#include "fake_plugin.h"
#include "sched/engine.h"

enum script_form {
	SCRIPT_PLAIN,        /* Filter and Score node by node */
	SCRIPT_COLUMN,       /* pure, with columns kept by the plan */
	SCRIPT_CYCLE_COLUMN, /* columns in every cycle */
};

/** What a script says about one node. */
struct script_row {
	const char *node;
	struct fake_answer filter;
	int64_t score;
};

/** A fake plugin whose Filter and Score look at the node. Nodes without a row pass and score 0. */
struct script {
	struct fake fake; /* first */
	struct script_row *rows;
	uint32_t row_count;
	/* Called instead of the rows when not NULL: verdict (0 passes) and score of a node. */
	uint32_t (*verdict_of)(
		const struct script *script, const struct bt_state *state, uint32_t slot);
	int64_t (*score_of)(
		const struct script *script, const struct bt_state *state, uint32_t slot);
	uint64_t seed;               /* for these two */
	int32_t column_score_error;  /* the column form lies by this much */
	uint32_t column_verdict_lie; /* slot + 1 whose column verdict is turned round */
	/* What PreScore was given last. */
	uint32_t feasible[1024];
	uint32_t feasible_count;
	uint32_t feasible_least; /* fewest nodes PreScore was given */
	/* Slots Filter was asked about, in order; plain form only. */
	uint32_t filtered[4096];
	uint32_t filtered_count;
};

/** roles as for fake_plugin; FAKE_FILTER, FAKE_SCORE and FAKE_PRE_SCORE are the script's. */
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
 * config: KubeSchedulerConfiguration without apiVersion and kind, e.g. "{'profiles':[...]}", or a
 * list of plugins "A, B:2" for one profile of these alone, in this order.
 */
void world_init(struct world *world, const char *config, const struct bt_engine_options *options,
	struct script *const *scripts, uint32_t script_count);
void world_finish(struct world *world);
/** The configuration as above; a reference is given. Memory of texts: arena. */
struct bt_config *world_load_config(struct bt_arena *arena, const char *config);
/** With gates as the flag --feature-gates has them: "Name=true,..."; "" leaves the defaults. */
struct bt_config *world_load_config_gated(
	struct bt_arena *arena, const char *gate_text, const char *config);
/** The text with " for every '. */
struct bt_str world_json(struct bt_arena *arena, const char *json);
/** The JSON of a profile that consists of these plugins; memory of the arena. */
const char *world_profile(
	struct bt_arena *arena, const char *scheduler_name, const char *plugins, const char *more);

struct bt_pod *world_pod(struct world *world, const char *json);
struct bt_node *world_node(struct world *world, const char *json);
/** Nodes first .. first + count - 1 named "n<number>", with room for 1000 pods. */
void world_add_nodes(struct world *world, uint32_t first, uint32_t count);
void world_add_node(struct world *world, const char *json);
void world_remove_node(struct world *world, const char *name);
/** An assigned pod (spec.nodeName). */
void world_add_pod(struct world *world, const char *json);
const struct bt_pod_info *world_pending(struct world *world, const char *json);
/** One cycle for a fresh pod. */
struct bt_schedule_result world_schedule(struct world *world, const char *pod_json);
struct bt_schedule_result world_schedule_pod(struct world *world, const struct bt_pod_info *pod);

uint32_t world_slot(struct world *world, const char *node);
/** Name of the chosen node, "" without one. */
const char *world_chosen(struct world *world, const struct bt_schedule_result *result);
/** The message of the result's status. */
const char *world_message(struct world *world, const struct bt_schedule_result *result);
/** Names of the set's plugins, sorted, with spaces between. */
const char *world_plugins(struct world *world, const struct bt_plugin_set *set);
#endif
