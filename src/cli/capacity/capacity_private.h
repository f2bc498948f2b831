/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CAPACITY_PRIVATE_H
#define BT_CLI_CAPACITY_PRIVATE_H
/** What the files of the capacity question share. */
#include "cli/capacity/capacity.h"
#include "cluster/simulation.h"

/** A member while copies of it are placed. */
struct bt_capacity_runner {
	struct bt_capacity_member *member;
	uint32_t object;       /* index in the session's cluster */
	uint32_t object_count; /* a group's pods are so many, in a row */
	struct bt_framework *framework;
	struct bt_pod prototype;
	/** Pods that are each their own (BT_CAPACITY: own claims); otherwise all are the
	 * prototype's. */
	BT_VEC(const struct bt_pod *) pods;
	bool has_own_pods;
	bool warned_of_template; /* that is not there */
	struct bt_str uid_front;
	uint32_t next_number; /* of the next copy's name and uid, behind "-" */
	bool is_out;          /* nothing can change its stop any more */
	bool is_passed_over;  /* its last attempt failed */
	uint32_t failed_at;   /* copies of all members then */
};

/** A cluster in an engine of its own, for one question. */
struct bt_capacity_session {
	const struct bt_capacity_question *question;
	struct bt_capacity_answer *answer;
	struct bt_manifests cluster;
	struct bt_simulation simulation;
	struct bt_engine *engine; /* of the simulation */
	uint32_t *extras;         /* by object index */
	struct bt_capacity_runner *runners;
	uint32_t *slots;            /* by index in answer->nodes */
	uint32_t *node_of_slot;     /* the other way round */
	struct bt_arena copy_arena; /* of one copy */
	bool ran_dry;               /* a member has no pods of its own left */
};

/** What a member asks for; before the first copy. */
void bt_capacity_describe_requests(
	struct bt_capacity_session *session, struct bt_capacity_runner *runner);
/** The pod of one more copy, in copy_arena; false: the workload was not asked for that many. */
bool bt_capacity_next_copy(
	struct bt_capacity_session *session, uint32_t index, struct bt_pod *out_copy);
/**
 * What bt_claim_maker_make does for a copy. Returns the template that is not there; "": all are.
 * bt_claim_maker_unmake of session->simulation.claims takes the claims back.
 */
struct bt_str bt_capacity_make_claims(
	struct bt_capacity_session *session, struct bt_pod *pod, struct bt_arena *arena);
/** What stops most nodes, for people, kept with each member's stop; after the last copy. */
void bt_capacity_tell_tightest(struct bt_capacity_session *session);
/** Use of nodes and cluster, before the first copy or after the last one. */
void bt_capacity_measure(struct bt_capacity_session *session, bool after);
#endif
