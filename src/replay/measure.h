/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_MEASURE_H
#define BT_REPLAY_MEASURE_H
/**
 * What a replay is judged by: how long pods waited, how much of the cluster was in use, how many
 * nodes were needed, how much work was lost. Memory depends on the number of samples, priorities,
 * owners and resources, not on the number of pods.
 */
#include "api/resources.h"
#include "base/bitset.h"
#include "replay/replay.h"

/** Waiting times. Quantiles are exact to a sixteenth of their value; below 16 ms to 1 ms. */
#define BT_WAIT_BUCKETS 704

struct bt_waits {
	uint64_t count;
	int64_t max_ns;
	uint64_t buckets[BT_WAIT_BUCKETS];
};

void bt_waits_add(struct bt_waits *waits, int64_t wait_ns);
/** The time that this share of the pods did not exceed; 0 when there are none. */
int64_t bt_waits_quantile(const struct bt_waits *waits, double share);

/** Kinds of pods by what they request; the most frequent ones are typical. */
#define BT_MEASURE_REQUESTS_MAX 512
#define BT_MEASURE_TYPICAL_MAX 16
/** Rows of the heat map: nodes that came one after another share one. */
#define BT_MEASURE_HEAT_ROWS 96

/** Owners and priorities beyond these are counted together. */
#define BT_MEASURE_OWNERS_MAX 1000
#define BT_MEASURE_PRIORITIES_MAX 64

/** Pods that have something in common. */
struct bt_measured_group {
	struct bt_str name; /* "shop/ReplicaSet/web-6f"; a priority as text; "others" */
	int64_t priority;   /* of a group by priority */
	struct bt_waits waits;
	uint64_t pending; /* at the end; their time so far is part of waits */
};

struct bt_measured_resource {
	struct bt_str name; /* "cpu" */
	double used_ns;     /* amount times time */
	double capacity_ns;
	double peak; /* highest share in use */
	/** Free amounts times time that no typical pod could use: on each node the free amount,
	 * times the share of typical pods that do not fit there. */
	double fragmented_ns;
};

/** Pods that request the same. */
struct bt_measured_request {
	struct bt_resource request;
	uint64_t count;
};

/** Of an instance type (label node.kubernetes.io/instance-type). */
struct bt_price {
	struct bt_str instance_type;
	double per_hour;
};

/** The cluster at one instant. */
struct bt_measured_sample {
	int64_t time_ns;
	uint32_t pending;
	uint32_t nodes;
	uint32_t used_nodes;  /* with a pod of no DaemonSet */
	const double *shares; /* in use, by resource; resources seen later: 0 */
	uint32_t share_count;
	/** In use of the scarcest resource, per cent, by row of the heat map; 255: no node. */
	const uint8_t *heat;
};

struct bt_measure {
	struct bt_arena arena;
	struct bt_arena scratch;                       /* of one call */
	struct bt_waits waits;                         /* of all pods */
	BT_VEC(struct bt_measured_group *) priorities; /* the highest first, once ended */
	BT_VEC(struct bt_measured_group *) owners;
	struct bt_map owner_map;
	BT_VEC(struct bt_measured_resource) resources;
	BT_VEC(struct bt_measured_sample) samples;
	BT_VEC(struct bt_measured_request) requests;
	struct bt_map request_map;
	const struct bt_price *prices; /* borrowed; set before the replay */
	uint32_t price_count;
	double cost;      /* of nodes while they are in use */
	double full_cost; /* of all nodes */
	double node_ns;   /* nodes times time */
	double used_node_ns;
	double lost_ns;      /* running time of pods that were preempted or lost */
	uint32_t most_nodes; /* at one time */
	uint32_t most_used_nodes;
	uint32_t most_pending;
	struct bt_bitset ever_used; /* slots */
	uint32_t never_used;        /* of the last sample's nodes: empty in all samples */
	uint32_t slots_per_row;     /* of the heat map */
};

void bt_measure_init(struct bt_measure *measure);
void bt_measure_finish(struct bt_measure *measure);
/** What follows a replay for the measure. */
struct bt_replay_sink bt_measure_sink(struct bt_measure *measure);
/** After the replay: put groups in order. */
void bt_measure_end(struct bt_measure *measure);
#endif
