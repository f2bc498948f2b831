/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_EXPLAIN_TOWN_H
#define BT_TESTS_UNIT_EXPLAIN_TOWN_H
/** A world (sched_world.h) that remembers its nodes, and words for what explanations say. */
#include "explain/explain.h"
#include "sched_world.h"

struct town {
	struct world world;
	BT_VEC(const struct bt_node *) nodes;
};

/** config as for world_init; "{}": the default profile. */
void town_init(struct town *town, const char *config);
/** With plugins of the test. */
void town_init_scripted(struct town *town, const char *config, struct script *const *scripts,
	uint32_t script_count);
void town_finish(struct town *town);
/** JSON with ' for ". */
void town_add_node(struct town *town, const char *json);
/** A pod on its node, or what is neither pod nor node. */
void town_add_object(struct town *town, const char *json);
/** A pod to be scheduled; the default scheduler's when it names none. */
struct bt_pod *town_pod(struct town *town, const char *json);
struct bt_explain_objects town_objects(struct town *town);

/** Ends the test on an error, and when the state is not as it was. */
void town_explain(struct town *town, const struct bt_pod *pod, uint32_t proposals_max,
	struct bt_explanation *out);
/** "FreeResource n1 cpu 250; Tolerate key=value:effect" */
const char *town_remedies(struct town *town, const struct bt_remedy *remedies, uint32_t count);
/** One line a proposal: "FreeResource n1 cpu 250 -> n1 (1)". */
const char *town_proposals(struct town *town, const struct bt_explanation *explanation);
/** One line a group: "NodeResourcesFit: Insufficient cpu: n2 n1". */
const char *town_groups(struct town *town, const struct bt_explanation *explanation);
/** One line an obstacle of the node: "NodeName: is not b, which the pod names". */
const char *town_obstacles(
	struct town *town, const struct bt_explanation *explanation, const char *node);
const struct bt_explained_node *town_node(
	const struct bt_explanation *explanation, const char *node);
/** Everything a decision could depend on that the state's own check does not compare. */
const char *town_fingerprint(struct town *town);
#endif
