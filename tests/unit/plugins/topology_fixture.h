/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_TOPOLOGY_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_TOPOLOGY_FIXTURE_H
/**
 * Clusters for the plugins of spec 06. Each result is computed in three ways, which must agree: by
 * walking all pods, from counters, and in columns.
 */
#include "api/object.h"
#include "fixture.h"

#define NODE(name, labels) "{'metadata':{'name':'" name "','labels':{" labels "}}}"
/** A pod on a node. */
#define ON(node, labels) "{'metadata':{'labels':{" labels "}},'spec':{'nodeName':'" node "'}}"

/** Adds an object that is no node or pod: a service, an owner, a namespace. */
void topology_add_object(struct fixture *fixture, enum bt_kind kind, const char *json);
/** Adds count pods with these labels on the node. */
void topology_add_pods(
	struct fixture *fixture, const char *node, const char *labels, uint32_t count);

/**
 * Expects verdicts of all nodes named in expected, "a:P b:S": P passes, S spread, L missing label
 * of spread, A affinity, B anti-affinity, X anti-affinity of existing pods. For "Skip" and other
 * PreFilter results expected is the text of fixture_status_text.
 */
void topology_expect_verdicts(struct fixture *fixture, const char *pod, const char *expected);

/** A pod added to (+1) or removed from (-1) a node after PreFilter. */
struct topology_step {
	int delta;
	const char *node;
	const char *pod;
};

/** Expects the verdict of one node after steps, which all change that node. */
void topology_expect_after(struct fixture *fixture, const char *pod, const char *node,
	const struct topology_step *steps, uint32_t step_count, const char *expected);

/**
 * Expects raw and normalised scores, with the named nodes as feasible nodes: "a:4/20 b:2/60".
 * For "Skip" and other PreScore results expected is the text of fixture_status_text.
 */
void topology_expect_scores(struct fixture *fixture, const char *pod, const char *expected);
#endif
