/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_PODS_H
#define BT_BENCH_PODS_H
/** Kinds of pods of the built-in workloads. Each function adds the members of one kind. */
#include "bench/bench_source.h"

/** A pod that is being made. Each text has members of a JSON object, separated by commas. */
struct bt_bench_pod {
	const struct bt_bench_source *source;
	uint32_t index;
	struct bt_prng prng; /* seeded for this pod */
	int32_t priority;
	struct bt_strbuf metadata; /* besides name, namespace, uid and labels */
	struct bt_strbuf labels;
	struct bt_strbuf spec;       /* besides schedulerName, priority, containers and affinity */
	struct bt_strbuf affinity;   /* members of spec.affinity */
	struct bt_strbuf requests;   /* empty: 100m CPU, 500 Mi */
	struct bt_strbuf containers; /* after the first, each preceded by a comma */
};

void bt_bench_pod_basic(struct bt_bench_pod *pod);
void bt_bench_pod_nodeaffinity(struct bt_bench_pod *pod);
void bt_bench_pod_spread(struct bt_bench_pod *pod);
void bt_bench_pod_prefspread(struct bt_bench_pod *pod);
void bt_bench_pod_affinity(struct bt_bench_pod *pod);
void bt_bench_pod_antiaffinity(struct bt_bench_pod *pod);
void bt_bench_pod_prefaffinity(struct bt_bench_pod *pod);
void bt_bench_pod_prefantiaffinity(struct bt_bench_pod *pod);
void bt_bench_pod_hetero(struct bt_bench_pod *pod);
void bt_bench_pod_mixed(struct bt_bench_pod *pod);
/** A bound pod of workload `preemption`: a node with four such pods has room for one small pod. */
void bt_bench_pod_evictable(struct bt_bench_pod *pod);
void bt_bench_pod_preemptor(struct bt_bench_pod *pod);
/* bench_pods_more.c: kinds that bench/generate.py does not have. */
void bt_bench_pod_churn(struct bt_bench_pod *pod);
void bt_bench_pod_backlog(struct bt_bench_pod *pod);
void bt_bench_pod_gated(struct bt_bench_pod *pod);
void bt_bench_pod_service(struct bt_bench_pod *pod);
void bt_bench_pod_daemon(struct bt_bench_pod *pod);
/** A member of a gang; small, so that many gangs fit. */
void bt_bench_pod_member(struct bt_bench_pod *pod);
void bt_bench_pod_large(struct bt_bench_pod *pod);
void bt_bench_pod_worst(struct bt_bench_pod *pod);
/*
 * bench_devices.c, for the workload `devices`. Its objects besides nodes and pods are the device
 * class, slices and claims: bt_bench_device_object_count returns their number, and
 * bt_bench_write_device_object appends the one with this index.
 */
void bt_bench_pod_device(struct bt_bench_pod *pod);
uint32_t bt_bench_device_object_count(const struct bt_bench_source *source);
void bt_bench_write_device_object(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out);

/** Append "," unless members is empty. */
void bt_bench_comma(struct bt_strbuf *members);
#endif
