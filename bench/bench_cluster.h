/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_CLUSTER_H
#define BT_BENCH_CLUSTER_H
/** The cluster of one measurement, and what all kinds of measurements do with it. */
#include "api/object.h"
#include "bench/bench_run.h"

/** Made ahead of the timed section at a time: a million pending pods never exist together. */
#define BT_BENCH_BATCH 4096

struct bt_bench {
	const struct bt_bench_run *run;
	struct bt_bench_result *result;
	struct bt_engine *engine;           /* NULL: the living scheduler has it */
	BT_VEC(struct bt_object *) pending; /* from a file, or the batch */
	uint32_t pending_max;               /* no more pods than this are tried */
	bool keeps_digests;                 /* for a second run */
	BT_VEC(uint64_t) digests;           /* after each decision */
	struct bt_strbuf text;
};

double bt_bench_now_seconds(void);
/** A stretch of time that counts: its length is added to seconds and cpu_seconds at its end. */
struct bt_bench_watch {
	double start;
	double cpu_start;
};
struct bt_bench_watch bt_bench_watch_start(void);
void bt_bench_watch_stop(const struct bt_bench_watch *watch, struct bt_bench_result *result);
/** The same for other sums. */
void bt_bench_watch_add(const struct bt_bench_watch *watch, double *seconds, double *cpu_seconds);
/** A node, a bound or pending pod, or anything else; object is consumed. */
BT_MUST_USE int bt_bench_take(
	struct bt_bench *bench, struct bt_object *object, struct berth_error *err);
/** Everything but the pending pods of a built-in workload; everything of a file. */
BT_MUST_USE int bt_bench_load(struct bt_bench *bench, struct berth_error *err);
/** Objects of bench->text, which is emptied. owned */
BT_MUST_USE int bt_bench_decode_text(
	struct bt_bench *bench, struct bt_object **out_object, struct berth_error *err);
/** Pending pods first to first + count of a built-in workload, into pending. */
BT_MUST_USE int bt_bench_make_pending(
	struct bt_bench *bench, uint32_t first, uint32_t count, struct berth_error *err);
void bt_bench_release_pending(struct bt_bench *bench);
/** Intern the pod's shape, decide, assume; preempt when the run says so. */
void bt_bench_schedule(struct bt_bench *bench, const struct bt_pod *pod);
/** The digest of all decisions before (0: there was none) and this one. node_name "": no node. */
uint64_t bt_bench_digest(
	uint64_t before, struct bt_str namespace_, struct bt_str name, struct bt_str node_name);
/** Count a decision and add it to the digest. node_name "": none. */
void bt_bench_note(struct bt_bench *bench, struct bt_str namespace_, struct bt_str name,
	struct bt_str node_name);
/** How many pods are to be tried. */
uint32_t bt_bench_pending_count(const struct bt_bench *bench);

/**
 * The first pods_max decisions of both runs, which kept their digests, are the same: timed's result
 * says how many. BERTH_ERR_STATE otherwise.
 */
BT_MUST_USE int bt_bench_compare(const struct bt_bench *timed, const struct bt_bench *checking,
	uint32_t pods_max, struct berth_error *err);

/* The kinds of measurements; pods are tried up to pending_max. */

BT_MUST_USE int bt_bench_place(struct bt_bench *bench, struct berth_error *err);
/** bench_churn.c */
BT_MUST_USE int bt_bench_churn(struct bt_bench *bench, struct berth_error *err);
BT_MUST_USE int bt_bench_worst(struct bt_bench *bench, struct berth_error *err);
/** bench_queue.c: these make a living scheduler of their own and load it themselves. */
BT_MUST_USE int bt_bench_backlog(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
BT_MUST_USE int bt_bench_gated(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
/** Turns on the gates of pod groups beforehand. */
BT_MUST_USE int bt_bench_gangs(
	struct bt_bench *bench, const struct bt_setup *setup, struct berth_error *err);
#endif
