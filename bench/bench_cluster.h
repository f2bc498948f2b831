/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_CLUSTER_H
#define BT_BENCH_CLUSTER_H
/** The cluster of one measurement, and functions that all kinds of measurements share. */
#include "api/object.h"
#include "bench/bench_run.h"

/**
 * Pending pods are made in batches of this size, outside of the timed section, so that a million
 * pending pods never exist at the same time.
 */
#define BT_BENCH_BATCH 4096

struct bt_bench {
	const struct bt_bench_run *run;
	struct bt_bench_result *result;
	struct bt_engine *engine;           /* NULL: a struct bt_living owns the engine */
	BT_VEC(struct bt_object *) pending; /* all pending pods of a file, or the current batch */
	uint32_t pending_max;               /* maximum number of pods to try */
	bool keeps_digests;                 /* fill digests, to compare two runs */
	BT_VEC(uint64_t) digests;           /* the digest after each decision */
	struct bt_strbuf text;
};

double bt_bench_now_seconds(void);
/** A timed section. Stopping the watch adds the section's time to seconds and cpu_seconds. */
struct bt_bench_watch {
	double start;
	double cpu_start;
};
struct bt_bench_watch bt_bench_watch_start(void);
void bt_bench_watch_stop(const struct bt_bench_watch *watch, struct bt_bench_result *result);
/** Like bt_bench_watch_stop, but adds the times to *seconds and *cpu_seconds. */
void bt_bench_watch_add(const struct bt_bench_watch *watch, double *seconds, double *cpu_seconds);
/** Adds a node, a bound or pending pod, or another object. `object` is consumed. */
BT_MUST_USE int bt_bench_take(
	struct bt_bench *bench, struct bt_object *object, struct berth_error *err);
/** Loads all objects of a file, or all objects of a built-in workload except pending pods. */
BT_MUST_USE int bt_bench_load(struct bt_bench *bench, struct berth_error *err);
/** Decode the object in bench->text, and empty the text. *out_object is owned. */
BT_MUST_USE int bt_bench_decode_text(
	struct bt_bench *bench, struct bt_object **out_object, struct berth_error *err);
/** Makes `count` pending pods of a built-in workload, from number `first`, in `pending`. */
BT_MUST_USE int bt_bench_make_pending(
	struct bt_bench *bench, uint32_t first, uint32_t count, struct berth_error *err);
void bt_bench_release_pending(struct bt_bench *bench);
/**
 * Makes the decision for a pod and assumes the pod on the chosen node. If the pod does not fit and
 * the run has preemption, removes the victims and tries again.
 */
void bt_bench_schedule(struct bt_bench *bench, const struct bt_pod *pod);
/**
 * Adds a decision to `before`, the digest of all earlier decisions (0: none), and returns the new
 * digest. node_name "": no node.
 */
uint64_t bt_bench_digest(
	uint64_t before, struct bt_str namespace_, struct bt_str name, struct bt_str node_name);
/** Count a decision and add it to the digest. node_name "": no node. */
void bt_bench_note(struct bt_bench *bench, struct bt_str namespace_, struct bt_str name,
	struct bt_str node_name);
/** How many pods the measurement tries. */
uint32_t bt_bench_pending_count(const struct bt_bench *bench);

/**
 * Compares the first pods_max decisions of two runs that kept their digests. Sets checked_count in
 * the result of `timed`. Returns BERTH_ERR_STATE if a decision differs.
 */
BT_MUST_USE int bt_bench_compare(const struct bt_bench *timed, const struct bt_bench *checking,
	uint32_t pods_max, struct berth_error *err);

/* The kinds of measurements. Each function tries up to pending_max pods. */

BT_MUST_USE int bt_bench_place(struct bt_bench *bench, struct berth_error *err);
/** bench_churn.c */
BT_MUST_USE int bt_bench_churn(struct bt_bench *bench, struct berth_error *err);
BT_MUST_USE int bt_bench_nominated(struct bt_bench *bench, struct berth_error *err);
BT_MUST_USE int bt_bench_worst(struct bt_bench *bench, struct berth_error *err);
/** bench_queue.c: these functions create and load a struct bt_living. */
BT_MUST_USE int bt_bench_backlog(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
BT_MUST_USE int bt_bench_gated(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
/** Enables the feature gates of pod groups first. */
BT_MUST_USE int bt_bench_gangs(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
#endif
