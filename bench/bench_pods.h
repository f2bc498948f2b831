/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_PODS_H
#define BT_BENCH_PODS_H
/** Kinds of pods of the built-in workloads. Each function fills in what is special about one. */
#include "bench/bench_source.h"

/** A pod in the making. The texts are members of JSON objects, separated by commas. */
struct bt_bench_pod {
	const struct bt_bench_source *source;
	uint32_t index;
	struct bt_prng prng; /* of this pod alone */
	int32_t priority;
	struct bt_strbuf metadata; /* beside name, namespace, uid and labels */
	struct bt_strbuf labels;
	struct bt_strbuf spec;       /* beside schedulerName, priority, containers and affinity */
	struct bt_strbuf affinity;   /* members of spec.affinity */
	struct bt_strbuf requests;   /* empty: 100m CPU, 500 Mi */
	struct bt_strbuf containers; /* behind the first, each with a comma in front */
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
/** Four of them leave no room on a node for anything but another small pod. */
void bt_bench_pod_evictable(struct bt_bench_pod *pod);
void bt_bench_pod_preemptor(struct bt_bench_pod *pod);
/* bench_pods_more.c: what bench/generate.py has not. */
void bt_bench_pod_churn(struct bt_bench_pod *pod);
void bt_bench_pod_backlog(struct bt_bench_pod *pod);
void bt_bench_pod_gated(struct bt_bench_pod *pod);
void bt_bench_pod_service(struct bt_bench_pod *pod);
void bt_bench_pod_daemon(struct bt_bench_pod *pod);
/** Of a gang; small, so that many gangs fit. */
void bt_bench_pod_member(struct bt_bench_pod *pod);
void bt_bench_pod_large(struct bt_bench_pod *pod);
void bt_bench_pod_worst(struct bt_bench_pod *pod);
/* bench_devices.c; its class, slices and claims: how many, and one of them. */
void bt_bench_pod_device(struct bt_bench_pod *pod);
uint32_t bt_bench_device_object_count(const struct bt_bench_source *source);
void bt_bench_write_device_object(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out);

/** Append "," unless nothing is there yet. */
void bt_bench_comma(struct bt_strbuf *members);
#endif
