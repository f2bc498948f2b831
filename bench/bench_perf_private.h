/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_PERF_PRIVATE_H
#define BT_BENCH_PERF_PRIVATE_H
/** One workload while it runs. Shared by bench_perf_*.c. */
#include "bench/bench_cluster.h"
#include "bench/bench_living.h"
#include "bench/bench_perf.h"
#include "bench/bench_template.h"

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
};

struct bt_perf {
	const struct bt_perf_file *file;
	const struct bt_perf_test *test;
	const struct bt_perf_workload *workload;
	struct bt_perf_result *result;
	struct bt_living living;
	struct bt_arena arena; /* names of pods */
	BT_VEC(struct bt_bench_template *) templates;
	BT_VEC(struct bt_perf_pod) pods; /* in order of creation */
	BT_VEC(struct bt_perf_churn) churns;
	uint64_t serial; /* of objects */
	struct bt_bench_watch watch;
	bool is_timed;
};

/** --- bench_perf_make.c --- */

/** The template of a path relative to the workload file; borrowed. */
BT_MUST_USE int bt_perf_template(struct bt_perf *perf, struct bt_str path,
	struct bt_bench_template **out_template, struct berth_error *err);
/** Operations that create: everything but waiting. count: parameters are filled in. */
BT_MUST_USE int bt_perf_create_nodes(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_namespaces(
	struct bt_perf *perf, const struct bt_perf_op *op, uint32_t count, struct berth_error *err);
BT_MUST_USE int bt_perf_create_pods(struct bt_perf *perf, const struct bt_perf_op *op,
	struct bt_str namespace_, uint32_t count, struct berth_error *err);
/** One object more of each template, or one less. */
BT_MUST_USE int bt_perf_churn_once(
	struct bt_perf *perf, struct bt_perf_churn *churn, struct berth_error *err);
#endif
