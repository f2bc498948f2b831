/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_RUN_H
#define BT_BENCH_RUN_H
/**
 * One measurement of `berth bench`: a cluster is loaded, pods are placed, the clock runs only while
 * they are. Reads the clock; prints nothing.
 */
#include "bench/bench_source.h"
#include "cli/setup.h"

/** What to measure: a file or a built-in workload. */
struct bt_bench_run {
	const struct bt_setup *setup;
	const char *path; /* NULL: source */
	struct bt_bench_source source;
	bool preempt;
	uint32_t changes; /* BT_BENCH_CHURN: between two pods */
	bool check;       /* a second run, every decision made the plain way as well, must agree */
	uint32_t check_pods; /* of so many pods; 0: all */
};

struct bt_bench_result {
	uint32_t node_count;
	uint32_t bound_count;
	uint32_t pending_count;
	uint32_t scheduled_count;
	uint32_t failed_count;
	uint32_t preempted_count; /* scheduled after the victims had gone */
	uint32_t victim_count;
	double load_seconds; /* making, reading and decoding everything */
	double seconds;      /* decisions, assuming included, and changes of the cluster */
	uint64_t change_count;
	double cpu_seconds;    /* the same by the processor's time: others may keep it busy */
	double change_seconds; /* the part of seconds that changes took */
	double change_cpu_seconds;
	double peak_rss_mb; /* of the process when the last pod was placed */
	uint64_t decisions; /* digest of pod and node of every decision, in order */
	/* BT_BENCH_BACKLOG */
	uint32_t event_count;     /* nodes that came */
	double event_ms;          /* from a node's event to its pod's placement: the longest */
	double event_cpu_ms;      /* the same by the processor's time */
	double event_median_ms;   /* the median of all */
	double settled_ms;        /* until every pod that woke up was tried: the longest */
	double waiting_pod_bytes; /* of heap for each pod that waits; 0: not known */
	uint32_t checked_count;   /* pods that the second run agreed about */
	bool verified_inline;     /* BERTH_VERIFY=1: while the clock ran */
};

/** BERTH_ERR_STATE: the second run decided otherwise; the message says where. */
BT_MUST_USE int bt_bench_run(const struct bt_bench_run *run, struct bt_bench_result *out_result,
	struct berth_error *err);
/** Per second; 0 when nothing took any time. */
double bt_bench_rate(uint64_t count, double seconds);
#endif
