/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_AFFINITY_INDEX_PRIVATE_H
#define BT_STATE_AFFINITY_INDEX_PRIVATE_H
/**
 * Private to the affinity index: affinity_index.c counts pods; affinity_index_terms.c has the terms
 * and their topology keys and finds the terms that match a pod.
 */
#include "base/hash_table.h"
#include "state/affinity_index.h"

/** A term of a group. */
struct group_term {
	uint32_t term;  /* index in terms */
	uint32_t key;   /* index in keys: the term's topology key */
	uint32_t times; /* how often each pod of the group lists the term */
};

/** The pods of one shape and namespace. */
struct owner_group {
	uint64_t shape_serial;
	bt_sym namespace_; /* reference held */
	bool in_use;
	uint64_t hash;
	BT_VEC(struct group_term) terms;
	uint64_t pod_count; /* over all slots; the group is freed when the count becomes 0 */
	/* Valid while a slot is updated. */
	uint64_t mark;       /* if equal to the index's mark, the group is in `touched` */
	uint32_t touched_at; /* index in touched */
};

/** A topology key of terms, and for each slot the domain that the sums use. */
struct topology_key {
	struct bt_str text; /* owned */
	uint64_t hash;
	uint32_t term_count;                  /* 0: the entry is free */
	const struct bt_label_column *column; /* NULL: no node has had the key */
	/* Of the column, when the domains were read or updated. */
	uint32_t rebuild_count;
	uint64_t change_count;
	uint32_t *domains; /* by slot; NULL: 0 everywhere */
	uint32_t slot_capacity;
	bool stale; /* the key's sums must be computed anew */
};

/** Position of a term in a list. */
struct posting_link {
	uint32_t list;
	uint32_t position;
};

struct posting {
	uint32_t term;
	uint32_t link; /* index in the term's links */
};

/** What all terms of a posting list require of a pod. */
enum posting_kind {
	POSTING_VALUE,     /* the pod has the label `key` with `value` */
	POSTING_NAMESPACE, /* the pod is in the namespace `value` */
	POSTING_ANY,       /* no requirement: the terms are tried with every pod */
	POSTING__COUNT,
};

struct posting_list {
	enum posting_kind kind;
	enum bt_affinity_group group;
	struct bt_str key;   /* owned */
	struct bt_str value; /* owned */
	uint64_t hash;
	BT_VEC(struct posting) postings; /* empty: the list is free */
};

struct indexed_term {
	struct bt_arena arena;
	struct bt_str identity;
	uint64_t hash;
	uint64_t serial;
	enum bt_affinity_group group;
	/*
	 * A copy. If the original has in_own_namespace, the copy lists the owner's namespace
	 * instead.
	 */
	struct bt_affinity_term term;
	uint32_t key; /* index in keys */
	/** Number of groups with this term; the term is freed when the number becomes 0. */
	uint32_t group_count;
	struct posting_link *links;
	uint32_t link_count;
	struct bt_sparse_counts pods;
	/* Valid while a group is made. */
	uint64_t mark; /* if equal to the index's term_mark, the group has the term */
	uint32_t at;   /* index in the group's terms */
};

/** Number of pods of a group on a slot. */
struct slot_group {
	uint32_t group;
	uint32_t count;
};

struct slot_list {
	BT_VEC(struct slot_group) groups;
	bool unlisted; /* see bt_affinity_index_has_unlisted */
};

/** Number of a group's pods on the updated slot, before and after the update. */
struct touched_group {
	uint32_t group;
	uint32_t before;
	uint32_t after;
};

struct bt_affinity_index {
	struct bt_state *state;
	/* Fields of affinity_index_terms.c. */
	BT_HASH_TABLE(struct indexed_term *) terms; /* by identity; NULL: free */
	BT_HASH_TABLE(struct posting_list) lists;
	uint32_t list_counts[POSTING__COUNT][BT_AFFINITY_GROUP__COUNT];
	BT_HASH_TABLE(struct topology_key) keys;
	BT_VEC(uint32_t) active_keys; /* keys with a column */
	uint64_t key_epoch;           /* label_key_epoch of the last column lookup */
	uint64_t next_serial;
	uint64_t term_mark;
	struct bt_strbuf text;
	/* Fields of affinity_index.c. */
	BT_HASH_TABLE(struct owner_group) groups;
	BT_VEC(struct slot_list) slots;
	BT_VEC(struct touched_group) touched; /* scratch memory for updating one slot */
	uint64_t mark;
	uint32_t unlisted_count;
	bool filled;
	uint64_t log_sequence;
};

void bt_affinity_index_finish_terms(struct bt_affinity_index *index);
/**
 * Returns the id of the term. A new term has group_count 0; the caller increases the count. The id
 * is valid until the count becomes 0 again. owner_namespace: namespace of the pods with the term.
 */
uint32_t bt_affinity_index_term(struct bt_affinity_index *index,
	const struct bt_affinity_term *term, enum bt_affinity_group group,
	struct bt_str owner_namespace);
void bt_affinity_index_drop_term(struct bt_affinity_index *index, uint32_t id);
/** Returns the id of the term with this identity, or UINT32_MAX. hash: bt_str_hash(identity). */
uint32_t bt_affinity_index_find_term(
	const struct bt_affinity_index *index, struct bt_str identity, uint64_t hash);
/**
 * Update the keys after nodes' labels may have changed: look up the columns of keys that have no
 * column yet, and mark keys as stale if their domains were renumbered. Returns true if a key is
 * stale.
 */
bool bt_affinity_index_update_keys(struct bt_affinity_index *index);
/** Set the slot's domain for the key. */
void bt_affinity_index_set_domain(
	struct bt_affinity_index *index, struct topology_key *key, uint32_t slot, uint32_t domain);
/** Read the domains of all slots from the key's column. */
void bt_affinity_index_take_domains(struct bt_affinity_index *index, struct topology_key *key);

static inline uint32_t key_domain(const struct topology_key *key, uint32_t slot)
{
	return key->domains != NULL ? key->domains[slot] : 0;
}
#endif
