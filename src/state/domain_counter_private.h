/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_DOMAIN_COUNTER_PRIVATE_H
#define BT_STATE_DOMAIN_COUNTER_PRIVATE_H
/** Private to the domain counters. */
#include "state/domain_counter.h"
#include "state/node_table_edit.h"

/** Up to this many domains, the minimum is found by a scan of all domains. */
#define BT_DOMAINS_TO_SCAN 64U

/** A term with its namespaces as sorted symbols. */
struct counted_term {
	bool in_every_namespace;
	uint32_t namespace_count;
	bt_sym *namespaces;
	struct bt_selector selector; /* a copy */
	/* Labels that must have one certain value; references to their symbols are held. */
	uint32_t pair_count;
	struct bt_label_pair *pairs;
	bool pairs_are_all; /* the selector has no other requirements */
};

/** Histogram of domains by number of pods, for keys with many domains. */
struct domain_histogram {
	BT_VEC(uint32_t) buckets; /* [n]: eligible domains with n pods, without domain 0 */
	uint32_t beyond;          /* eligible domains with at least BUCKETS_MAX pods */
	uint32_t low;             /* all buckets before this index are empty */
};

struct bt_domain_counter {
	struct bt_arena arena; /* memory of the query */
	struct bt_str identity;
	uint64_t hash;
	uint64_t serial;
	uint32_t term_count;
	struct counted_term *terms;
	bool live_only;
	struct bt_eligibility *eligibility; /* reference held */
	struct bt_sparse_counts own;        /* by slot */
	struct bt_sparse_counts pods;       /* by domain */
	uint64_t pod_total;
	uint32_t occupied_count;
	bool uses_histogram;
	struct domain_histogram histogram;
	bool extremes_stale;
	uint32_t least;
	uint32_t least_count;
	uint32_t second_least;
	/* Position in the change log. */
	bool filled;
	uint64_t log_sequence;
	/* Epoch of the eligibility; if the epoch changes, the sums are computed anew. */
	uint64_t epoch;
	uint64_t move_count;
	uint32_t visited_count; /* label sets and pods visited by the last complete count */
	/* The label set whose pods were counted, if there was only one such set (pod_index.h). */
	uint32_t label_set;     /* BT_LABEL_SET_NONE: unknown, or not exactly one set */
	uint32_t listed_count;  /* length of the set's list when it was counted */
	uint64_t removal_count; /* bt_pod_index_removals_of at that time */
	/* Links in the list of all counters by last use. */
	struct bt_domain_counter *newer;
	struct bt_domain_counter *older;
	uint32_t id;
	uint64_t last_use; /* snapshot refresh_count */
	size_t bytes;
};

struct bt_domain_counters {
	BT_HASH_TABLE(struct bt_domain_counter *) items; /* an entry is NULL if it is free */
	struct bt_domain_counter *newest;
	struct bt_domain_counter *oldest;
	struct bt_strbuf key;
	struct bt_eligibility_table eligibilities;
	uint64_t next_serial;
	size_t bytes; /* without eligibilities */
	size_t bytes_max;
};

struct bt_domain_counters *bt_domain_counters_of(struct bt_state *state);
/** Updates the counter and its eligibility to the current pods and nodes. */
void bt_domain_counter_catch_up(struct bt_domain_counters *counters,
	struct bt_domain_counter *counter, struct bt_state *state);

#endif
