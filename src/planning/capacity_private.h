/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_CAPACITY_PRIVATE_H
#define BT_PLANNING_CAPACITY_PRIVATE_H
/** Declarations shared by the files capacity*.c. */
#include "planning/capacity.h"
#include "cluster/simulation.h"

/** State of a member while its copies are placed. */
struct bt_capacity_runner {
	struct bt_capacity_member *member;
	/**
	 * The spec's objects in the session's cluster: the pods of the spec's PodGroup, or one
	 * object. Their indexes are consecutive.
	 */
	uint32_t object; /* index of the first object */
	uint32_t object_count;
	struct bt_framework *framework;
	struct bt_pod prototype; /* the first pod of `pods` */
	/**
	 * The admitted pods: the pods of a group; with has_own_pods one pod for each copy;
	 * otherwise a single pod, which all copies are made from.
	 */
	BT_VEC(const struct bt_pod *) pods;
	bool has_own_pods;       /* the controller creates claims for each pod, so copies differ */
	bool warned_of_template; /* a missing claim template was reported */
	struct bt_str uid_front;
	uint32_t next_number; /* suffix of the next copy's name and uid */
	bool is_out;          /* the member's stop is final */
	bool is_passed_over;  /* the last attempt for this member failed */
	uint32_t failed_at;   /* copies of all members at the last failed attempt */
};

/** A cluster loaded into an engine for one question. */
struct bt_capacity_session {
	const struct bt_capacity_question *question;
	struct bt_capacity_answer *answer;
	struct bt_manifests cluster;
	struct bt_simulation simulation;
	struct bt_engine *engine; /* owned by the simulation */
	uint32_t *extras;         /* extra pods to make, by object index (bt_expansion.extras) */
	struct bt_capacity_runner *runners;
	uint32_t *slots;            /* slot of each node, by index in answer->nodes */
	uint32_t *node_of_slot;     /* index in answer->nodes, by slot */
	struct bt_arena copy_arena; /* holds one copy */
	bool ran_dry;               /* a member has used all pods that were made for it */
};

/** Fills in a member's requests. Call it before the first copy. */
void bt_capacity_describe_requests(
	struct bt_capacity_session *session, struct bt_capacity_runner *runner);
/**
 * Makes the pod of one more copy in copy_arena. Returns false if all pods that were made for the
 * workload are used.
 */
bool bt_capacity_next_copy(
	struct bt_capacity_session *session, uint32_t index, struct bt_pod *out_copy);
/**
 * Makes the claims of a copy (bt_claim_maker_make). Returns the name of a missing claim template,
 * "" if none is missing. bt_claim_maker_unmake of session->simulation.claims removes the claims
 * again.
 */
struct bt_str bt_capacity_make_claims(
	struct bt_capacity_session *session, struct bt_pod *pod, struct bt_arena *arena);
/**
 * Sets the hint of each member's stop: why most nodes reject the next copy. Call it after the last
 * copy.
 */
void bt_capacity_set_hints(struct bt_capacity_session *session);
/**
 * Measures the use of the nodes and the cluster. after: false before the first copy, true after the
 * last copy.
 */
void bt_capacity_measure(struct bt_capacity_session *session, bool after);
#endif
