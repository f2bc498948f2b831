/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
#define BT_PLUGINS_POD_TOPOLOGY_SPREAD_H
/**
 * Selectors put together from requirements, and the one of default constraints: what the services
 * and the owner of a pod select. A namespace may have thousands of services, so it is kept for pods
 * that agree in namespace, labels and owner until an object changes. Spec: 06 section 2.3.
 */
#include "api/selector.h"
#include "framework/plugin.h"
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "state/domain_counter.h"
#include "state/pod_info.h"

/** A list of requirements that grows in an arena. */
struct bt_requirements {
	struct bt_arena *arena;
	struct bt_requirement *items;
	uint32_t count;
	uint32_t capacity;
};

struct bt_spread_selectors;

struct bt_spread_selectors *bt_spread_selectors_create(void);
void bt_spread_selectors_destroy(struct bt_spread_selectors *kept);

/* --- topology spread constraints of a pod, resolved: its own or the default ones, selectors
 * parsed, and which nodes count for them. Spec: 06 sections 2.3 to 2.6 --- */

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
	struct bt_spread_selectors *selectors;
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

/* --- the instance, and the data of its cycle --- */

struct bt_spread_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	struct bt_spread_source source;
	bool system_defaulted;
	BT_VEC(uint8_t) verdicts; /* scratch of one column pass: by domain */
};

static inline struct bt_spread_plugin *bt_spread_instance(struct bt_plugin *plugin)
{
	return (struct bt_spread_plugin *)plugin;
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

/** What one soft constraint adds to a node's score. */
struct bt_spread_term {
	const struct bt_label_column *column; /* NULL: no node has the key */
	bool is_hostname;
	/* Other keys: matching pods by domain. */
	struct bt_spread_table table;
	uint32_t empty_domain; /* of the value ""; nodes without the label belong to it; 0: none */
	int64_t pods_without_label;
	/* Hostname key: the node's own matching pods by slot; NULL: the table's sums say it. */
	uint32_t *own;
	double weight;
	double offset; /* maxSkew - 1 */
};

struct bt_spread_score_data {
	bool requires_all_keys; /* a node that lacks a key is ignored */
	uint32_t count;
	struct bt_spread_term *terms;
};

/* pod_topology_spread.c */

/** Count of a domain with the changes, 0 where there is none. */
int64_t bt_spread_count_at(
	const struct bt_spread_filter_data *data, uint32_t index, uint32_t domain);
/** Largest count with which a domain still takes the pod. */
int64_t bt_spread_highest_count(const struct bt_spread_filter_data *data, uint32_t index);

/* pod_topology_spread_columns.c: Filter over many nodes, cells */

bool bt_spread_filter_column(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);
bool bt_spread_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out);

/* pod_topology_spread_score.c: spec 06 sections 2.10 to 2.13 */

struct bt_status bt_spread_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
struct bt_status bt_spread_pre_score_cells(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
	uint32_t cell_count);
bool bt_spread_pre_score_skips(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod);
/** All of the pre-score data but the weights; NULL: nothing to score by. false: counters cannot
 * tell. */
bool bt_spread_prepare_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_spread_score_data **out_data);
struct bt_status bt_spread_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
struct bt_status bt_spread_normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count);
void bt_spread_score_slots(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
	uint32_t count, int64_t *scores);
void bt_spread_normalize_column(struct bt_plugin *plugin, const void *data,
	const struct bt_state *state, const uint32_t *feasible_slots, uint32_t count,
	int64_t *scores);
/** Natural logarithm of an integer of at least 2, in the last bit as upstream computes it. */
double bt_spread_log(uint64_t value);

#endif
