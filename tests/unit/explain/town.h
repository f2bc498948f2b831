/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_EXPLAIN_TOWN_H
#define BT_TESTS_UNIT_EXPLAIN_TOWN_H
/** A world (sched_world.h) that remembers its nodes, and short texts for explanations. */
#include "explain/explain_private.h"
#include "sched_world.h"

struct town {
	struct world world;
	BT_VEC(const struct bt_node *) nodes;
};

/** Makes a town without nodes. config: as for world_init; "{}": the default profile. */
void town_init(struct town *town, const char *config);
/** Like town_init, with scripted plugins of the test. */
void town_init_scripted(struct town *town, const char *config, struct script *const *scripts,
	uint32_t script_count);
void town_finish(struct town *town);
/** Adds a node; JSON with ' for ". */
void town_add_node(struct town *town, const char *json);
/** Adds an assigned pod, or an object of any kind except Pod and Node. */
void town_add_object(struct town *town, const char *json);
/** Returns a pending pod; schedulerName defaults to the default scheduler. */
struct bt_pod *town_pod(struct town *town, const char *json);
struct bt_explain_objects town_objects(struct town *town);
/**
 * Applies the changes, runs Filter for the pod, and reverts the changes. node: name of the node for
 * slot_fits; "": no node. If a change concerns an object that does not exist, the result is zero.
 */
struct bt_scan town_try(struct town *town, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str node);

/**
 * Explains why the pod does not fit, without preemption. Fails the test on an error, or if the
 * explanation changed the state. The caller finishes *out.
 */
void town_explain(struct town *town, const struct bt_pod *pod, uint32_t proposals_max,
	struct bt_explanation *out);
/** Returns the remedies as text, such as "FreeResource n1 cpu 250; Tolerate key=value:effect". */
const char *town_remedies(struct town *town, const struct bt_remedy *remedies, uint32_t count);
/** Returns one line per proposal: "FreeResource n1 cpu 250 -> n1 (1)". */
const char *town_proposals(struct town *town, const struct bt_explanation *explanation);
/** Returns one line per group: "NodeResourcesFit: Insufficient cpu: n2 n1". */
const char *town_groups(struct town *town, const struct bt_explanation *explanation);
/** Returns one line per obstacle of the node: "NodeName: is not b, which the pod names". */
const char *town_obstacles(
	struct town *town, const struct bt_explanation *explanation, const char *node);
const struct bt_explained_node *town_node(
	const struct bt_explanation *explanation, const char *node);
/** Returns as text the state that decisions depend on and bt_state_validate does not compare. */
const char *town_fingerprint(struct town *town);
#endif
