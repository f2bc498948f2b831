/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_RUN_H
#define BT_BENCH_RUN_H
/**
 * One measurement of `berth bench`: loads a cluster and places pods. Only the placing of pods is
 * timed. Prints nothing.
 */
#include "bench/bench_source.h"
#include "cli/setup.h"

/** What to measure: a file, or a built-in workload. */
struct bt_bench_run {
	const struct bt_setup *setup;
	const char *path; /* file with the objects; NULL: source says what to make */
	struct bt_bench_source source;
	bool preempt;
	uint32_t changes;    /* number of changes before each pod, for BT_BENCH_CHURN */
	bool check;          /* make a second, verifying run and compare decisions */
	uint32_t check_pods; /* number of pods to compare; 0: all pods */
};

struct bt_bench_result {
	uint32_t node_count;
	uint32_t bound_count;
	uint32_t pending_count;
	uint32_t scheduled_count;
	uint32_t failed_count;
	uint32_t preempted_count; /* pods that were placed after their victims were removed */
	uint32_t victim_count;
	double load_seconds; /* time to generate, read and decode objects */
	double seconds;      /* time of decisions, of assuming pods, and of changes */
	uint64_t change_count;
	double cpu_seconds;    /* `seconds` in processor time, which other programs disturb less */
	double change_seconds; /* part of seconds: changes of the cluster */
	double change_cpu_seconds;
	double peak_rss_mb; /* of the process when the last pod was placed */
	uint64_t decisions; /* digest of pod and node of every decision, in order */
	/* The following members are for BT_BENCH_BACKLOG. */
	uint32_t event_count;     /* nodes added */
	double event_ms;          /* longest time from a node's event to its pod's placement */
	double event_cpu_ms;      /* event_ms in processor time */
	double event_median_ms;   /* the median of event_ms over all events */
	double settled_ms;        /* longest time until every requeued pod was tried */
	double waiting_pod_bytes; /* heap per waiting pod; 0: unknown */
	uint32_t checked_count;   /* pods with equal decisions in the second run */
	bool verified_inline;     /* BERTH_VERIFY=1: verified while the clock ran */
};

/**
 * Runs the measurement. Returns BERTH_ERR_STATE if a decision of the second, verifying run differs.
 * The message names the first difference.
 */
BT_MUST_USE int bt_bench_run(const struct bt_bench_run *run, struct bt_bench_result *out_result,
	struct berth_error *err);
/** count / seconds; 0 if seconds is 0. */
double bt_bench_rate(uint64_t count, double seconds);
#endif
