/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_SOURCE_H
#define BT_BENCH_SOURCE_H
/**
 * Built-in workloads of `berth bench`. Makes each object from its number, as JSON. The same
 * workload, counts and seed give the same bytes, in whatever order the objects are made. For
 * workloads that bench/generate.py also has, both make the same objects except for random values.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "base/strbuf.h"

/** The way a workload runs. */
enum bt_bench_mode {
	BT_BENCH_PLACE,     /* one pod after the other */
	BT_BENCH_CHURN,     /* with changes between pods */
	BT_BENCH_WORST,     /* with a label change on every node between pods */
	BT_BENCH_NOMINATED, /* while nodes are reserved for nominated pods */
	BT_BENCH_BACKLOG,   /* with the scheduling queue: no pod fits until a node is added */
	BT_BENCH_GATED,     /* with the scheduling queue: one gate after the other is removed */
	BT_BENCH_GANGS,     /* with the scheduling queue: one gang after the other */
};

/**
 * Number of different pod specs in the backlog. Half of the specs wait for a pool of nodes, the
 * other half for a device.
 */
#define BT_BENCH_BACKLOG_SHAPES 100
/** Number of values of the label that BT_BENCH_WORST changes on every node. */
#define BT_BENCH_TURNS 4
/** The maximum of nominated pods in BT_BENCH_NOMINATED, each on a different node. */
#define BT_BENCH_NOMINATED_PODS 300
/** Nodes per rack, if the cluster has so many nodes. */
#define BT_BENCH_RACK_NODES 50
/** The maximum of services in the workload `services`. */
#define BT_BENCH_SERVICES 500

struct bt_bench_pod; /* bench_pods.h */

struct bt_bench_workload {
	const char *name;
	const char *summary;
	void (*bound)(struct bt_bench_pod *pod);
	void (*pending)(struct bt_bench_pod *pod);
	enum bt_bench_mode mode;
	uint32_t zones;
	bool has_mixed_sizes;
	bool has_taints;
	bool has_large_nodes;
	bool has_services;
	bool has_devices;
	bool has_racks;     /* nodes have a rack label; each gang must be in one rack */
	uint32_t gang_size; /* pods per gang; the last gang may have fewer */
	bool preempts;      /* victims of pods that fit nowhere are removed at once */
};

struct bt_bench_source {
	const struct bt_bench_workload *workload;
	uint32_t node_count;
	uint32_t bound_count; /* 0 if node_count is 0 */
	uint32_t pending_count;
	uint64_t seed;
};

/** Returns NULL if there is no workload of this name. */
const struct bt_bench_workload *bt_bench_workload_find(const char *name);
/** The workloads in the order of the help; NULL after the last. */
const struct bt_bench_workload *bt_bench_workload_at(uint32_t index);

/** Appends node number `index`, which may be node_count or more. */
void bt_bench_write_node(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out);
/**
 * Appends node number `index` with a label that depends on `turn`, so that each turn changes the
 * node. BT_BENCH_WORST uses BT_BENCH_TURNS values of the label.
 */
void bt_bench_write_node_turn(
	const struct bt_bench_source *source, uint32_t index, uint32_t turn, struct bt_strbuf *out);
/** Appends pod number `index`. Bound pods have the first numbers; pending pods follow. */
void bt_bench_write_pod(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out);
/**
 * The objects besides nodes and pods: Services and ReplicaSets, devices and claims, or PodGroups.
 * bt_bench_extra_count returns their number, bt_bench_write_extra appends the one with this index.
 */
uint32_t bt_bench_extra_count(const struct bt_bench_source *source);
void bt_bench_write_extra(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out);
/** Appends node number `index`, which fits one backlog pod that has spec number `shape`. */
void bt_bench_write_relief(uint32_t shape, uint32_t index, struct bt_strbuf *out);
#endif
