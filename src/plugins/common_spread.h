/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SPREAD_H
#define BT_PLUGINS_COMMON_SPREAD_H
/**
 * Topology spread constraints of a pod, resolved: its own or the default ones, selectors parsed,
 * and which nodes count for them. Spec: 06 sections 2.3 to 2.6.
 */
#include "api/selector.h"
#include "framework/plugin.h"
#include "state/domain_counter.h"

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

/** What resolution reads besides the pod; borrowed. */
struct bt_spread_source {
	struct bt_state *state;
	struct bt_spread_selectors *selectors; /* common_spread_selectors.h */
	const struct bt_gates *gates;
	const struct bt_topology_spread_constraint *defaults;
	uint32_t default_count;
};

enum bt_spread_action {
	BT_SPREAD_HARD, /* DoNotSchedule */
	BT_SPREAD_SOFT, /* ScheduleAnyway */
};

extern const struct bt_topology_spread_constraint bt_spread_system_defaults[2];

bool bt_spread_has_action(
	const struct bt_topology_spread_constraint *constraint, enum bt_spread_action action);

/**
 * The constraints of the action in list order. Texts are borrowed from the pod, the object store
 * and the source; the rest lives in the arena. err: `obtaining pod's hard topology spread
 * constraints: <selector error>` or `setting default hard topology spread constraints: <...>`.
 */
BT_MUST_USE int bt_spread_resolve(const struct bt_spread_source *source,
	const struct bt_pod_info *pod, enum bt_spread_action action, struct bt_arena *arena,
	struct bt_spread_list *out_list, struct berth_error *err);

/** Every topology key of the list is a label of the node. */
bool bt_spread_has_all_keys(const struct bt_spread_list *list, uint32_t slot);
/** The inclusion policies of a constraint let the node's pods count. */
bool bt_spread_counts_node(const struct bt_spread_list *list, uint32_t index,
	const struct bt_state *state, uint32_t slot);
/** Live pods of the namespace on the node that the selector matches; an empty one counts none. */
int64_t bt_spread_count_pods(const struct bt_state *state, const struct bt_selector *selector,
	bt_sym namespace_, uint32_t slot);

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

/**
 * The table of a constraint from a kept counter: pods as bt_spread_count_pods counts them, nodes
 * that the inclusion policies admit and, if wanted, that have all keys of the list. Domain 0, of
 * nodes without the constraint's own key, means nothing when all keys are wanted. false: count by
 * walking.
 */
bool bt_spread_count(struct bt_state *state, const struct bt_spread_list *list, uint32_t index,
	const struct bt_pod_info *pod, bool with_all_keys, struct bt_spread_table *out_table);
/** Counts of its own, all of this value. */
void bt_spread_table_init(struct bt_spread_table *table, const struct bt_label_column *column,
	int64_t value, struct bt_arena *arena);
/** Counts of its own instead of the counter's. */
void bt_spread_table_own(struct bt_spread_table *table, struct bt_arena *arena);
#endif
