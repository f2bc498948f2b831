/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_MEASURE_H
#define BT_REPLAY_MEASURE_H
/**
 * The measures of a replay: how long pods waited, how much of the cluster was in use, how many
 * nodes were needed, how much work was lost. Memory depends on the number of samples, priorities,
 * owners and resources, not on the number of pods.
 */
#include "api/resources.h"
#include "base/text_set.h"
#include "replay/replay.h"

/**
 * A histogram of waiting times. Quantiles are exact to a sixteenth of their value. Below 16 ms,
 * they are exact to 1 ms.
 */
#define BT_WAIT_BUCKETS 704

struct bt_waits {
	uint64_t count;
	int64_t max_ns;
	uint64_t buckets[BT_WAIT_BUCKETS];
};

void bt_waits_add(struct bt_waits *waits, int64_t wait_ns);
/** Returns the time that this share of the pods did not exceed, or 0 without pods. */
int64_t bt_waits_quantile(const struct bt_waits *waits, double share);

/**
 * Maximum number of different requests that are counted. The most frequent requests, at most
 * BT_MEASURE_TYPICAL_MAX, are the typical requests.
 */
#define BT_MEASURE_REQUESTS_MAX 512
#define BT_MEASURE_TYPICAL_MAX 16
/** Rows of the heat map; several consecutive nodes may share a row. */
#define BT_MEASURE_HEAT_ROWS 96

/** Maximum numbers of owners and of priorities; further ones are counted together as "others". */
#define BT_MEASURE_OWNERS_MAX 1000
#define BT_MEASURE_PRIORITIES_MAX 64

/** Pods with the same owner or the same priority. */
struct bt_measured_group {
	struct bt_str name; /* "shop/ReplicaSet/web-6f"; a priority as text; "others" */
	int64_t priority;   /* only for a group of pods of one priority */
	struct bt_waits waits;
	uint64_t pending; /* pods pending at the end; waits includes their time so far */
};

struct bt_measured_resource {
	struct bt_str name; /* "cpu" */
	double used_ns;     /* amount times nanoseconds */
	double capacity_ns;
	double peak; /* highest share in use */
	/**
	 * Free amounts that typical pods could not use, times nanoseconds. Each node counts with
	 * its free amount times the share of the typical pods that do not fit on the node.
	 */
	double fragmented_ns;
};

/** Pods that request the same. */
struct bt_measured_request {
	struct bt_resource request;
	uint64_t count;
};

/** The price of a node of an instance type (label node.kubernetes.io/instance-type). */
struct bt_price {
	struct bt_str instance_type;
	double per_hour;
};

/** The cluster at one time. */
struct bt_measured_sample {
	int64_t time_ns;
	uint32_t pending;
	uint32_t nodes;
	uint32_t used_nodes;  /* nodes with a pod that no DaemonSet owns */
	const double *shares; /* share in use of each resource, by its index */
	uint32_t share_count;
	/** Use of the most used resource, per cent, by row of the heat map; 255: no node. */
	const uint8_t *heat;
};

/** All-zero memory is ready for use. */
struct bt_measure {
	struct bt_arena arena;
	struct bt_arena scratch;                       /* reset after each call */
	struct bt_waits waits;                         /* of all pods */
	BT_VEC(struct bt_measured_group *) priorities; /* highest first, after bt_measure_end */
	BT_VEC(struct bt_measured_group *) owners;
	struct bt_text_set owner_names; /* by index in owners */
	BT_VEC(struct bt_measured_resource) resources;
	BT_VEC(struct bt_measured_sample) samples;
	BT_VEC(struct bt_measured_request) requests;
	struct bt_map request_map;
	const struct bt_price *prices; /* borrowed; set before the replay */
	uint32_t price_count;
	double cost;      /* cost of the nodes in use, in the unit of the prices */
	double full_cost; /* cost of all nodes */
	double node_ns;   /* number of nodes times nanoseconds */
	double used_node_ns;
	double lost_ns;      /* run time of preempted and lost pods */
	uint32_t most_nodes; /* most nodes at one time */
	uint32_t most_used_nodes;
	struct bt_text_set ever_used; /* names of nodes */
	uint32_t never_used;          /* nodes of the last sample that were empty in all samples */
	uint32_t slots_per_row;       /* nodes per row of the heat map */
};

void bt_measure_finish(struct bt_measure *measure);
/** Returns the sink that feeds the measure during a replay. */
struct bt_replay_sink bt_measure_sink(struct bt_measure *measure);
/** Call it after the replay: sorts groups. */
void bt_measure_end(struct bt_measure *measure);
#endif
