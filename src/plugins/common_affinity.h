/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_AFFINITY_H
#define BT_PLUGINS_COMMON_AFFINITY_H
/** Between the files of the InterPodAffinity plugin: its instance, terms of the pod to be placed,
 * what a cycle knows, and the slots that are not in its main file. */
#include "plugins/common_affinity_tables.h"
#include "plugins/common_plugin.h"
#include "state/shape.h"

struct bt_affinity_plugin {
	struct bt_plugin base;
	const struct bt_handle *handle;
	int32_t hard_weight; /* of existing pods' required affinity terms in the score */
	bool ignores_preferred_terms_of_existing_pods;
	/* Scratch of one column pass: by domain. */
	BT_VEC(uint8_t) verdicts;
	BT_VEC(int64_t) sums;
};

/** A term of the pod to be placed with its namespaces spelled out. Spec 06 section 3.4. */
struct bt_incoming_term {
	const struct bt_affinity_term *term;
	bool in_every_namespace;
	uint32_t namespace_count;
	const struct bt_str *namespaces;
	uint32_t table; /* in the tables it belongs to; BT_NO_TABLE: no node has its key */
};

struct bt_incoming_terms {
	uint32_t count;
	struct bt_incoming_term *items;
};

/** Terms of the pod, NULL when it has no inter-pod affinity at all. */
static inline const struct bt_affinity_terms *bt_affinity_terms_of(const struct bt_pod_info *pod)
{
	return pod->shape->affinity_terms;
}

/** The terms of a group; count 0 when terms is NULL. */
static inline struct bt_affinity_term_list bt_affinity_group_of(
	const struct bt_affinity_terms *terms, enum bt_affinity_group group)
{
	return terms != NULL ? terms->groups[group] : (struct bt_affinity_term_list){0};
}

/** Labels of the Namespace object, or none. */
const struct bt_str_map *bt_affinity_namespace_labels(
	const struct bt_state *state, struct bt_str name);
/** A group of the pod's terms, expanded; tables are looked up in (or added to) tables. */
struct bt_incoming_terms bt_affinity_expand(struct bt_state *state, const struct bt_pod_info *pod,
	enum bt_affinity_group group, struct bt_affinity_tables *tables, struct bt_arena *arena);
/** An incoming term against another pod. */
bool bt_incoming_term_matches(const struct bt_incoming_term *term, struct bt_str namespace_,
	const struct bt_str_map *labels);
/** There are terms, and each of them matches. */
bool bt_incoming_terms_all_match(const struct bt_incoming_terms *terms, struct bt_str namespace_,
	const struct bt_str_map *labels);

/**
 * Adds factor x the pods that match all the terms to the table. false: no counter is kept for such
 * terms.
 */
bool bt_affinity_count_matching(struct bt_state *state, const struct bt_incoming_term *terms,
	uint32_t term_count, struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, int64_t factor);

/** Where the terms of existing pods that select the pod are added up. */
struct bt_existing_sum {
	struct bt_state *state;
	struct bt_arena *arena;
	struct bt_affinity_tables *tables;
	int64_t factors[BT_AFFINITY_GROUP__COUNT]; /* of the term's weight */
	int64_t fixed[BT_AFFINITY_GROUP__COUNT];   /* added to that */
};

/**
 * Adds the terms of these groups (bits) that select the pod, from the index. false: the index does
 * not show what the snapshot's lists show.
 */
bool bt_affinity_add_existing(struct bt_existing_sum *sum, uint32_t groups,
	const struct bt_pod_info *pod, const struct bt_str_map *namespace_labels);

/** What PreFilter leaves for Filter. */
struct bt_affinity_filter_data {
	struct bt_incoming_terms affinity;
	struct bt_incoming_terms anti_affinity;
	const struct bt_str_map *namespace_labels; /* of the pod's namespace */
	bool matches_itself;                       /* all of its own affinity terms */
	bool counted;                              /* from counters, not by walking */
	struct bt_affinity_tables near;            /* A: pods that satisfy affinity */
	struct bt_affinity_tables apart;           /* B: pods that violate anti-affinity */
	struct bt_affinity_tables existing;        /* X: existing pods that want the pod away */
};

/** What PreScore leaves for Score. */
struct bt_affinity_score_data {
	bool counted;                      /* from counters, not by walking */
	struct bt_affinity_tables weights; /* M */
};

/** Details of Filter; 0 passes. */
enum {
	BT_DETAIL_AFFINITY = 1,
	BT_DETAIL_ANTI_AFFINITY = 2,
	BT_DETAIL_EXISTING = 3,
};

/** No pod anywhere satisfies the affinity, so the first of its kind may go anywhere. */
static inline bool bt_affinity_is_first_of_its_kind(const struct bt_affinity_filter_data *data)
{
	return data->near.entry_count == 0 && data->matches_itself;
}

/* common_affinity_columns.c */

bool bt_affinity_filter_column(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);
bool bt_affinity_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out);

/* common_affinity_score.c: spec 06 sections 3.8 and 3.9 */

/** The arguments say that such a pod gets no score, whatever other pods prefer. */
bool bt_affinity_never_scores(const struct bt_plugin *plugin, const struct bt_pod_info *pod);
/**
 * What PreScore will find for this pod, which must have no invalid term. It is kept in the cycle,
 * so that PreScore need not look again. NULL: this cycle must not keep it.
 */
const struct bt_affinity_score_data *bt_affinity_prepare_score(struct bt_plugin *plugin,
	const struct bt_cycle_state *cycle, const struct bt_pod_info *pod);

struct bt_status bt_affinity_pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count);
bool bt_affinity_pre_score_skips(struct bt_plugin *plugin, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod);
struct bt_status bt_affinity_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score);
struct bt_status bt_affinity_normalize_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_node_score *scores, uint32_t count);
void bt_affinity_score_slots(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, const uint32_t *slots,
	uint32_t count, int64_t *scores);
void bt_affinity_normalize_column(struct bt_plugin *plugin, const void *data,
	const struct bt_state *state, const uint32_t *feasible_slots, uint32_t count,
	int64_t *scores);

/* common_affinity_hints.c: spec 06 section 3.12 */

enum bt_hint_scope bt_affinity_hint_scope(struct bt_plugin *plugin, const struct bt_shape *shape,
	const struct bt_cluster_event *event, const void *old_object, const void *new_object);
int bt_affinity_events_to_register(struct bt_plugin *plugin,
	const struct bt_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err);
#endif
