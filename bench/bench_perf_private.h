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
#include "cluster/claim_maker.h"

/** What creates and deletes objects while pods are placed. */
struct bt_perf_churn {
	const struct bt_perf_op *op;
	int64_t next_ns;
	uint32_t made_count; /* rounds of templates */
	bool deleting;
	BT_VEC(struct bt_object *) objects; /* made and not deleted; owned */
};

struct bt_perf_pod {
	struct bt_str namespace_;
	struct bt_str name;
	bool is_attempted; /* without success */
};

/** Which pods an operation is about. */
struct bt_perf_filter {
	bt_str_list namespaces; /* none: all */
	bool has_selector;
	struct bt_selector selector;
};

/** What deletes pods one after another. */
struct bt_perf_removal {
	uint32_t at; /* pods from here to end */
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
	struct bt_arena arena; /* operations; names of pods */
	BT_VEC(struct bt_bench_template *) templates;
	BT_VEC(struct bt_perf_pod) pods; /* in order of creation */
	struct bt_map pods_by_name;
	BT_VEC(struct bt_object *) nodes; /* owned; without those of churn */
	BT_VEC(struct bt_perf_churn) churns;
	BT_VEC(struct bt_perf_removal) removals;
	struct bt_claim_maker *claims; /* NULL before the scheduler is made */
	uint64_t serial;               /* of objects */
	uint32_t next_node;            /* where the next claim is allocated, if it fits */
	struct bt_bench_watch watch;
	bool is_timed;
	bool is_collecting; /* between startCollectingMetrics and stopCollectingMetrics */
	struct bt_perf_filter collected;
};

/** --- bench_perf_make.c --- */

/** Operations that create: everything but waiting. count: parameters are filled in. */
BT_MUST_USE int bt_perf_create_nodes(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_namespaces(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_pods(struct bt_perf *perf, const struct bt_perf_op *op,
	struct bt_str namespace_, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_any(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
/** Object index of count, which exists, becomes as the template says. */
BT_MUST_USE int bt_perf_update_any(struct bt_perf *perf, const struct bt_perf_op *op,
	uint32_t index, uint32_t count, struct berth_error *err);
/** The index in pods, or UINT32_MAX. */
uint32_t bt_perf_find_pod(const struct bt_perf *perf, struct bt_str namespace_, struct bt_str name);
/** One object more of each template, or one less. */
BT_MUST_USE int bt_perf_churn_once(
	struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err);

/** --- bench_devices.c --- */

/** Slices of devices on each node whose name fits. */
BT_MUST_USE int bt_perf_create_driver(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err);
/** Every claim of the namespace that has no devices gets some, on one node after another. */
BT_MUST_USE int bt_perf_allocate_claims(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err);
#endif
