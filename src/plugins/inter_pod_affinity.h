/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_INTER_POD_AFFINITY_H
#define BT_PLUGINS_INTER_POD_AFFINITY_H
/**
 * Between the files of the InterPodAffinity plugin.
 *
 * Numbers per (topology key, value) pair, as spec 06 sections 3.5 and 3.8 want them. A table is a
 * key; its number in a domain is the sum of what its sources say there, so that
 * domains without a reader cost nothing. What a what-if run adds or removes on one node is a short
 * list of changes on top, so that a copy of the tables costs only that list.
 */
#include "plugins/common_plugin.h"
#include "plugins/common_topology.h"
#include "state/domain_counter.h"
#include "state/domain_tally.h"
#include "state/shape.h"

/** Sums that the state keeps, times a factor. */
struct bt_affinity_source {
	const struct bt_domain_tally *tally; /* NULL: pods says it */
	struct bt_sparse_counts pods;        /* by domain */
	int64_t factor;
};

struct bt_affinity_table {
	const struct bt_label_column *column;
	int64_t *own; /* by domain: what was counted here, or copied; NULL: nothing */
	struct bt_affinity_source *sources;
	uint32_t source_count;
	uint32_t source_capacity;
	/** Of the questions behind the numbers: equal sums, equal questions, whatever their order.
	 */
	uint64_t identity[2];
};

struct bt_affinity_tables {
	struct bt_affinity_table *items;
	uint32_t count;
	uint32_t capacity;
	bool copies; /* sources are copied, for cycles that outlive them */
	/** Pairs whose number is not 0, changes included; with several sources in a table at least
	 * 1 when there is one. */
	int64_t entry_count;
	bool touched; /* something was ever counted, also if it added up to 0 */
	struct bt_domain_changes changes;
};

/** The table of a key, made when it is new; BT_NO_TABLE when no node has the key. */
uint32_t bt_affinity_table_of_key(struct bt_affinity_tables *tables, struct bt_state *state,
	struct bt_arena *arena, struct bt_str key);
/** Nothing counted; the tables stay. */
void bt_affinity_tables_reset(struct bt_affinity_tables *tables);

/** While counting: the pair of this domain (not 0) gets delta more. */
void bt_affinity_table_count(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
/** After counting: a what-if change. */
void bt_affinity_table_change(struct bt_affinity_tables *tables, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
/** The tables of a cloned cycle. */
void bt_affinity_tables_clone(struct bt_affinity_tables *tables, struct bt_arena *arena);

/** A table's number without changes; 0 in domain 0. */
static inline int64_t bt_affinity_table_at(const struct bt_affinity_table *table, uint32_t domain)
{
	uint64_t sum = table->own != NULL ? (uint64_t)table->own[domain] : 0;

	/* Wraps as upstream's int64 for absurd weights. */
	for (uint32_t i = 0; i < table->source_count; i++) {
		const struct bt_affinity_source *source = &table->sources[i];
		uint64_t pods = source->tally != NULL ? bt_domain_tally_at(source->tally, domain)
						      : bt_sparse_count(&source->pods, domain);

		sum += (uint64_t)source->factor * pods;
	}
	return (int64_t)sum;
}

static inline int64_t bt_affinity_tables_at(
	const struct bt_affinity_tables *tables, uint32_t table, uint32_t domain)
{
	return bt_affinity_table_at(&tables->items[table], domain) +
		bt_domain_changes_sum(&tables->changes, table, domain);
}

/** sums[domain] = the table's number without changes, for every domain of its column. */
void bt_affinity_table_sum(const struct bt_affinity_table *table, int64_t *sums);
/** Whether so many slots are better served by bt_affinity_table_sum than one by one. */
static inline bool bt_affinity_table_sums_pay(
	const struct bt_affinity_table *table, uint32_t slot_count)
{
	return slot_count >= 16 && slot_count >= table->column->dictionary.count / 4;
}

/* --- the instance, and terms of the pod to be placed --- */

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

/* inter_pod_affinity_columns.c */

bool bt_affinity_filter_column(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);
bool bt_affinity_cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out);

/* inter_pod_affinity_score.c: spec 06 sections 3.8 and 3.9 */

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

#endif
