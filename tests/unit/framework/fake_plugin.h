/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_FRAMEWORK_FAKE_PLUGIN_H
#define BT_TESTS_UNIT_FRAMEWORK_FAKE_PLUGIN_H
/**
 * Plugins with scripted answers, and a world to run them in. A world has nodes n1, n2, n3 (slots in
 * snapshot order), a pod of priority 0 and one profile built from a line of text.
 */
#include "framework/framework.h"

enum fake_point {
	FAKE_PRE_FILTER,
	FAKE_ADD_POD,
	FAKE_REMOVE_POD,
	FAKE_FILTER,
	FAKE_POST_FILTER,
	FAKE_PRE_SCORE,
	FAKE_SCORE,
	FAKE_NORMALIZE,
	FAKE_RESERVE,
	FAKE_UNRESERVE,
	FAKE_PERMIT,
	FAKE_PRE_FLIGHT,
	FAKE_PRE_BIND,
	FAKE_BIND,
	FAKE_POST_BIND,
	FAKE_PRE_ENQUEUE,
	FAKE_QUEUE_SORT,
	FAKE_SIGN,
	FAKE_EVENTS,
	FAKE_PLACEMENTS,
	FAKE_SCORE_PLACEMENT,
	FAKE_NORMALIZE_PLACEMENTS,
	FAKE__COUNT,
};

#define FAKE_ROLE(point) (UINT32_C(1) << (point))

struct fake_answer {
	enum bt_status_code code;
	const char *reason; /* NULL: none */
	const char *error;  /* NULL: none */
};

struct fake {
	struct bt_plugin_ops ops;             /* must be the first member */
	struct bt_plugin_shortcuts shortcuts; /* shortcuts of ops, set once the plugin is created */
	struct fake_answer answers[FAKE__COUNT];
	uint32_t calls[FAKE__COUNT];
	/* Result of PreFilter: node names, NULL = all nodes. */
	const char *const *node_names;
	uint32_t node_name_count;
	int64_t score;
	int64_t normalized_score;
	int64_t timeout_ns;
	bool allow_parallel;
	/* Result of PostFilter: NULL = no result. */
	const char *nominated;
	enum bt_nominating_mode nominating_mode;
	/* Number of pods on the node at the last Filter call. */
	uint32_t filter_pod_count;
	/* Filter rejects a node with at least this many pods; 0 = never. */
	uint32_t filter_full_at;
	const struct bt_event_registration *events;
	uint32_t event_count;
	const struct bt_placement *placements;
	uint32_t placement_count;
	const struct bt_plugin_args *args; /* arguments that create received */
};

/** Returns a plugin with the roles of the mask (FAKE_ROLE). Every call returns Success. */
struct fake fake_plugin(const char *name, uint32_t roles);
void fake_answer(
	struct fake *fake, enum fake_point point, enum bt_status_code code, const char *reason);
/** Makes the role return code Error with a new error of this text. */
void fake_fail(struct fake *fake, enum fake_point point, const char *error);
/**
 * Returns the calls of PreEnqueue, Reserve, Unreserve, PreBind and PostBind since the last reset,
 * in order: "B.Unreserve A.Unreserve".
 */
const char *fake_log(void);
void fake_log_reset(void);

/**
 * Adds a profile from a line: "multiPoint=A:5,B; score=S; preScore!=*; config=A". "!=" fills the
 * disabled list, ":5" is a weight; config names plugins with empty arguments.
 */
void fake_config_add(struct bt_config *config, const char *scheduler_name, const char *plugins);

struct fake_world {
	struct bt_arena arena;
	struct bt_registry registry;
	struct bt_config *config;
	struct bt_state *state;
	struct bt_nominator nominator;
	struct bt_framework *framework; /* NULL if building the profile failed */
	struct berth_error err;
	struct bt_cycle_state cycle;
	struct bt_pod_info pod;
	uint32_t slots[3];
};

/** Registers the fakes, and "Sort" and "Bind", which are appended to the profile's lists. */
void fake_world_init(
	struct fake_world *world, struct fake *fakes, uint32_t count, const char *plugins);
void fake_world_finish(struct fake_world *world);
/** Returns a pod with this name and uid and an empty spec, in the world's arena. */
struct bt_pod_info fake_world_pod(struct fake_world *world, const char *name, int32_t priority);
struct bt_node_info fake_world_node(const struct fake_world *world, uint32_t index);
/** Returns the name of the status's plugin, zero-terminated. */
const char *fake_status_plugin(const struct fake_world *world, const struct bt_status *status);
const char *fake_status_text(struct fake_world *world, const struct bt_status *status);

/* Asserts code, message and plugin of a status ("" = not set). */
#define FAKE_EXPECT(world, status, expected_code, expected_text, expected_plugin) \
	do { \
		const struct bt_status fake_got = (status); \
		ck_assert_int_eq(fake_got.code, (expected_code)); \
		ck_assert_str_eq(fake_status_text((world), &fake_got), (expected_text)); \
		ck_assert_str_eq(fake_status_plugin((world), &fake_got), (expected_plugin)); \
	} while (0)
#endif
