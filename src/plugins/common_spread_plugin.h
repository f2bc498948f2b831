/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_SPREAD_PLUGIN_H
#define BT_PLUGINS_COMMON_SPREAD_PLUGIN_H
/** Between the files of the PodTopologySpread plugin: its instance, the data of its cycle, and the
 * slots that are not in its main file. */
#include "plugins/common_plugin.h"
#include "plugins/common_spread.h"
#include "plugins/common_topology.h"

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

/* common_spread_columns.c: Filter over many nodes, cells */

bool bt_spread_filter_column(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);
bool bt_spread_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out);

/* common_spread_score.c: spec 06 sections 2.10 to 2.13 */

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

/* common_spread_hints.c: spec 06 section 2.15 */

enum bt_hint_scope bt_spread_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
	const struct bt_cluster_event *event, const void *old_object, const void *new_object);
int bt_spread_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
