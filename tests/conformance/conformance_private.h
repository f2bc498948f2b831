/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFORMANCE_PRIVATE_H
#define BT_CONFORMANCE_PRIVATE_H
/**
 * Shared by the files that run one case: conformance_load.c reads the case, conformance_run.c runs
 * it, conformance_write.c writes the answer.
 */
#include "base/vec.h"
#include "conformance/conformance.h"
#include "sched/engine.h"

struct bt_case_list {
	BT_VEC(struct bt_str) items; /* JSON texts, borrowed from the line */
};

struct bt_case_text {
	struct bt_str name;
	struct bt_str config;
	struct bt_str feature_gates;
	struct bt_case_list objects;
	struct bt_case_list pending;
	bool brief;
};

/** A pod of the case, placed or not. */
struct bt_case_pod {
	struct bt_str key; /* "namespace/name" */
	const struct bt_pod *pod;
	bool placed;
};

struct bt_case_node {
	struct bt_str name;
	const struct bt_node *node;
	struct bt_str json; /* the node as JSON */
	bool deleted;
};

/** A write of a volume or claim that PreBind made for an earlier pod; in the run's arena. */
struct bt_case_write {
	struct bt_str volume; /* "" for a write of a claim */
	struct bt_str claim_namespace;
	struct bt_str claim;
	struct bt_str claim_uid;
	struct bt_str selected_node; /* "" for a write of a volume */
};

struct bt_case_run {
	struct bt_arena arena;
	struct bt_case_text text;
	struct bt_engine *engine;
	BT_VEC(struct bt_case_pod) pods;
	BT_VEC(struct bt_case_node) nodes;
	BT_VEC(struct bt_pod_info *) queued; /* nominated pods, waiting in the queue */
	BT_VEC(struct bt_case_write) writes;
	struct bt_json_writer writer;
	bool writes_open;    /* the current result's member `writes` has begun */
	bool records_writes; /* PreBind is running, so writes of claims go to the answer */
	struct bt_claim_writer claim_writer;
	struct bt_explain_tally *tally;       /* NULL: no explanations */
	const struct bt_json_value *expected; /* the case's recorded answer */
	struct bt_strbuf *complaints;         /* lines about explanations and verification */
	uint32_t result_count;                /* pods that were scheduled so far */
};

/* conformance_load.c */

/** Read a line of CASES; texts are borrowed from json. */
int bt_case_read(struct bt_str json, struct bt_arena *arena, struct bt_case_text *text,
	struct berth_error *err);
/** Load the initial cluster of the case. */
int bt_case_load_objects(struct bt_case_run *run, struct berth_error *err);
/** Apply a step that changes the cluster. */
int bt_case_apply_operation(struct bt_case_run *run, const struct bt_json_value *step,
	struct bt_str json, struct berth_error *err);
/** Put an object into the engine's state. Not for pods and nodes. */
int bt_case_store_object(struct bt_engine *engine, struct bt_str json, struct berth_error *err);
/** Returns the current version of the node; NULL: there is no such node. */
const struct bt_node *bt_case_find_node(const struct bt_case_run *run, struct bt_str name);
/** Decode an object into the arena; *out is its structure. */
int bt_case_decode(const struct bt_message *message, struct bt_str json, struct bt_arena *arena,
	void **out, struct berth_error *err);
/** "namespace/name", in the arena of the run. */
struct bt_str bt_case_object_key(struct bt_case_run *run, const struct bt_object_meta *meta);
/** Records a pod and whether the pod is placed. Steps refer to the pod by its key. */
void bt_case_note_pod(struct bt_case_run *run, const struct bt_pod *pod, bool placed);

/* conformance_run.c */

/** Creates an engine with the case's configuration. On failure, `refused` has the reason. */
int bt_case_create_engine(struct bt_case_run *run, bool verify, struct bt_engine **out_engine,
	struct berth_error *refused);

/**
 * Begins an element of `writes`, and `writes` itself before the first element. The caller ends the
 * element.
 */
void bt_case_begin_write(struct bt_case_run *run, const char *op);

/* conformance_claims.c */

/** Gives the engine a claim writer. The answer gets the claims that PreBind writes. */
void bt_case_connect_claims(struct bt_case_run *run);

/* conformance_explain.c */

/** Explain a pod before it is scheduled; differences go to the run's complaints. */
int bt_case_explain(struct bt_case_run *run, const struct bt_pod *pod, struct bt_str json,
	struct berth_error *err);

/* conformance_write.c: write members of a result */

void bt_case_write_status(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_status *status);
void bt_case_write_pre_filter(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation);
void bt_case_write_filter(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation);
void bt_case_write_best(struct bt_case_run *run, const struct bt_evaluation *evaluation);
void bt_case_write_error(struct bt_case_run *run, const struct bt_status *status);
void bt_case_write_post_filter(struct bt_case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation);
/** Returns the name of the node in `slot`, borrowed from the state. */
struct bt_str bt_case_slot_name(const struct bt_case_run *run, uint32_t slot);

#endif
