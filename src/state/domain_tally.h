/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_DOMAIN_TALLY_H
#define BT_STATE_DOMAIN_TALLY_H
/**
 * Counts by topology domain (an index into the dictionary of a label column); domain 0, nodes
 * without the label, is never counted. Made for many tallies with few domains each: they are kept
 * in a small hash table, and in an array while at least a quarter (later: not far fewer) of the
 * domains are occupied. All-zero memory is an empty tally.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct bt_domain_sum {
	uint32_t domain; /* 0: the entry is free */
	uint64_t count;
};

struct bt_domain_tally {
	struct bt_domain_sum *entries; /* linear probing, at most half full; or NULL */
	uint32_t entry_capacity;       /* power of two, or 0 */
	uint32_t domain_capacity;
	uint64_t *by_domain;
	uint64_t total;
	uint32_t occupied_count; /* number of domains with a count other than 0 */
};

static inline uint32_t bt_domain_tally_home(uint32_t domain, uint32_t capacity)
{
	return (uint32_t)(domain * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (capacity - 1);
}

/** 0 for domain 0. */
static inline uint64_t bt_domain_tally_at(const struct bt_domain_tally *tally, uint32_t domain)
{
	uint32_t at;

	if (tally->by_domain != NULL) {
		return domain < tally->domain_capacity ? tally->by_domain[domain] : 0;
	}
	if (tally->entry_capacity == 0) {
		return 0;
	}
	at = bt_domain_tally_home(domain, tally->entry_capacity);
	while (tally->entries[at].domain != 0 && tally->entries[at].domain != domain) {
		at = (at + 1) & (tally->entry_capacity - 1);
	}
	/* A free entry has count 0. */
	return tally->entries[at].count;
}

/**
 * Add delta to the domain's count, which must not become negative. domain_count: entries of the
 * dictionary, larger than domain. No effect for domain 0.
 */
void bt_domain_tally_add(
	struct bt_domain_tally *tally, uint32_t domain, int64_t delta, uint32_t domain_count);
/** sums[domain] += factor x count for each domain, wrapping. All domains must be below size. */
void bt_domain_tally_add_to(
	const struct bt_domain_tally *tally, int64_t factor, int64_t *sums, uint32_t size);
/** Whether all counts are 0. */
void bt_domain_tally_finish(struct bt_domain_tally *tally);
size_t bt_domain_tally_memory_bytes(const struct bt_domain_tally *tally);
#endif
