/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_PERF_PRIVATE_H
#define BT_BENCH_PERF_PRIVATE_H
/** One workload while it runs. Shared by bench_perf_*.c and bench_devices.c. */
#include "api/selector.h"
#include "base/map.h"
#include "bench/bench_cluster.h"
#include "bench/bench_living.h"
#include "bench/bench_perf.h"
#include "bench/bench_template.h"
#include "cluster/pod_claims.h"

/** A churn operation: creates and deletes objects while pods are placed. */
struct bt_perf_churn {
	const struct bt_perf_op *op;
	int64_t next_ns;
	uint32_t made_count; /* rounds so far; a round creates one object of each template */
	bool deleting;
	BT_VEC(struct bt_object *) objects; /* created and not deleted yet; owned */
};

struct bt_perf_pod {
	struct bt_str namespace_;
	struct bt_str name;
	bool is_attempted; /* an attempt to schedule the pod has failed */
};

/** The pods that an operation applies to. */
struct bt_perf_filter {
	bt_str_list namespaces; /* empty: all */
	bool has_selector;
	struct bt_selector selector;
};

/** A deletePods operation that deletes pods one after another. */
struct bt_perf_removal {
	uint32_t at; /* the remaining pods are those from index at to end - 1 */
	uint32_t end;
	struct bt_perf_filter filter;
	int64_t next_ns;
	int64_t interval_ns;
};

struct bt_perf {
	const struct bt_perf_file *file;
	const struct bt_perf_test *test;
	const struct bt_perf_workload *workload;
	struct bt_perf_result *result;
	struct bt_living living;
	struct bt_arena arena; /* of operations and names of pods */
	BT_VEC(struct bt_bench_template *) templates;
	BT_VEC(struct bt_perf_pod) pods; /* in order of creation */
	struct bt_map pods_by_name;
	BT_VEC(struct bt_object *) nodes; /* owned; without the nodes of churn operations */
	BT_VEC(struct bt_perf_churn) churns;
	BT_VEC(struct bt_perf_removal) removals;
	struct bt_claim_maker *claims; /* NULL until the scheduler exists */
	uint64_t serial;               /* number of objects made so far, for unique names */
	uint32_t next_node;            /* the node that is tried first for the next claim */
	struct bt_bench_watch watch;
	bool is_timed;
	bool is_collecting; /* between startCollectingMetrics and stopCollectingMetrics */
	struct bt_perf_filter collected;
};

/** --- bench_perf_make.c --- */

/** Operations that create objects. `count` is the number after resolving parameters. */
BT_MUST_USE int bt_perf_create_nodes(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_namespaces(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_pods(struct bt_perf *perf, const struct bt_perf_op *op,
	struct bt_str namespace_, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_any(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
/** Changes the existing object number `index`, one of `count`, to match the template. */
BT_MUST_USE int bt_perf_update_any(struct bt_perf *perf, const struct bt_perf_op *op,
	uint32_t index, uint32_t count, struct berth_error *err);
/** Returns the pod's index in pods; UINT32_MAX: there is no such pod. */
uint32_t bt_perf_find_pod(const struct bt_perf *perf, struct bt_str namespace_, struct bt_str name);
/** Runs one round: creates an object from each template, or deletes the objects of a round. */
BT_MUST_USE int bt_perf_churn_once(
	struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err);

/** --- bench_devices.c --- */

/** Create slices of devices on each node whose name matches. */
BT_MUST_USE int bt_perf_create_driver(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err);
/**
 * Allocates devices to every unallocated claim of the namespace. Successive claims get successive
 * nodes that have enough free devices.
 */
BT_MUST_USE int bt_perf_allocate_claims(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err);
#endif
