/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
#define BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
/**
 * Data of PodTopologySpread's PreFilter, for Filter and for code that explains Filter's results.
 */
#include "api/selector.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "state/domain_counter.h"
#include "state/pod_info.h"

/** A constraint with its selector parsed. Spec: 06 sections 2.3 to 2.6. */
struct bt_spread_constraint {
	struct bt_str topology_key;
	int32_t max_skew;
	int32_t min_domains;
	bool honors_affinity;
	bool honors_taints;
	struct bt_selector selector;
	/** Values of the key by slot; NULL: no node has the key. */
	const struct bt_label_column *column;
};

/**
 * The constraints of one action (hard or soft), and the data that decides which nodes are eligible.
 */
struct bt_spread_list {
	uint32_t count;
	struct bt_spread_constraint *items;
	/** The pod's nodeSelector and required node affinity. */
	struct bt_required_node_affinity affinity;
	const bt_toleration_list *tolerations;
	bool allow_comparison;
};

enum bt_spread_action {
	BT_SPREAD_HARD, /* DoNotSchedule */
	BT_SPREAD_SOFT, /* ScheduleAnyway */
};

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action);

/**
 * Whether the node is eligible for the constraint: its inclusion policies (nodeAffinityPolicy,
 * nodeTaintsPolicy) accept the node.
 */
bool bt_spread_counts_node(const struct bt_spread_list *list, uint32_t index,
	const struct bt_state *state, uint32_t slot);

/** Count of a domain without eligible nodes. */
#define BT_SPREAD_NO_DOMAIN INT64_MIN

/** Number of matching pods by domain for one constraint. */
struct bt_spread_table {
	/** By domain; BT_SPREAD_NO_DOMAIN if the domain has no eligible node. NULL: use sums. */
	int64_t *counts;
	uint32_t size;
	struct bt_domain_sums sums; /* sums of a counter, valid until the counter is refreshed */
	uint64_t serial;            /* serial of the counter; 0 if counts is set */
};

static inline int64_t bt_spread_table_at(const struct bt_spread_table *table, uint32_t domain)
{
	if (table->counts != NULL) {
		return table->counts[domain];
	}
	return bt_domain_nodes(&table->sums, domain) != 0 ? bt_domain_pods(&table->sums, domain)
							  : BT_SPREAD_NO_DOMAIN;
}

/** Counts and their minimum for one hard constraint. */
struct bt_spread_limit {
	struct bt_spread_table table;
	uint32_t domain_count;
	/*
	 * The lowest count, the number of domains that have it, and the lowest of the higher
	 * counts.
	 */
	int64_t low;
	uint32_t low_count;
	int64_t second_low;
	bool self_matches;
};

struct bt_spread_filter_data {
	struct bt_spread_list list;
	struct bt_spread_limit *limits; /* one for each constraint */
	struct bt_domain_changes changes;
};

/** Details of Filter: the reason why a node is rejected. */
enum {
	BT_SPREAD_NO_LABEL = 1,
	BT_SPREAD_SKEW = 2,
};

/**
 * Returns the count of the domain for constraint `index`, changes included; 0 if the domain has no
 * eligible node.
 */
int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain);
/** Returns the highest count at which a domain still accepts the pod under constraint `index`. */
int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index);

/**
 * Returns the natural logarithm of an integer of at least 2, bit-identical to upstream's result.
 */
double bt_spread_log(uint64_t value);

#endif
