/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
#define BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
/** What PodTopologySpread's PreFilter finds out, for code that explains its verdicts. */
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
	/** Values of the key by slot; NULL when no node has the key. */
	const struct bt_label_column *column;
};

/** The constraints of one action, with what node eligibility depends on. */
struct bt_spread_list {
	uint32_t count;
	struct bt_spread_constraint *items;
	struct bt_required_node_affinity affinity; /* the pod's */
	const bt_toleration_list *tolerations;
	bool allow_comparison;
};

enum bt_spread_action {
	BT_SPREAD_HARD, /* DoNotSchedule */
	BT_SPREAD_SOFT, /* ScheduleAnyway */
};

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action);

/** The inclusion policies of a constraint let the node's pods count. */
bool bt_spread_counts_node(const struct bt_spread_list *list, uint32_t index,
	const struct bt_state *state, uint32_t slot);

/** A domain that no eligible node has. */
#define BT_SPREAD_NO_DOMAIN INT64_MIN

/** Matching pods per domain of one constraint. */
struct bt_spread_table {
	int64_t *counts; /* by domain, BT_SPREAD_NO_DOMAIN where there is none; NULL: see sums */
	uint32_t size;
	struct bt_domain_sums sums; /* of a counter; good until the snapshot's next refresh */
	uint64_t serial;            /* the counter's; 0 with counts */
};

static inline int64_t bt_spread_table_at(const struct bt_spread_table *table, uint32_t domain)
{
	if (table->counts != NULL) {
		return table->counts[domain];
	}
	return bt_domain_nodes(&table->sums, domain) != 0 ? bt_domain_pods(&table->sums, domain)
							  : BT_SPREAD_NO_DOMAIN;
}

/** Of one hard constraint. */
struct bt_spread_limit {
	struct bt_spread_table table;
	uint32_t domain_count;
	/* The least count, how many domains have it, and the least of the others. */
	int64_t low;
	uint32_t low_count;
	int64_t second_low;
	bool self_matches;
};

struct bt_spread_filter_data {
	struct bt_spread_list list;
	struct bt_spread_limit *limits; /* as many as constraints */
	struct bt_domain_changes changes;
};

/** Why a node is rejected: detail of the column form. */
enum {
	BT_SPREAD_NO_LABEL = 1,
	BT_SPREAD_SKEW = 2,
};

/** Count of a domain with the changes, 0 where there is none. */
int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain);
/** Largest count with which a domain still takes the pod. */
int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index);

/** Natural logarithm of an integer of at least 2, in the last bit as upstream computes it. */
double bt_spread_log(uint64_t value);

#endif
