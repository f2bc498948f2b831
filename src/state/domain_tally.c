/* SPDX-License-Identifier: Apache-2.0 */
#include "state/domain_tally.h"

#include <stdbool.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"

#define ENTRIES_MIN 4
/** Use an array from 1/ARRAY_SHARE occupied domains on, and entries again below 1/SPARSE_SHARE. */
#define ARRAY_SHARE 4
#define SPARSE_SHARE 32

/** The entry of the domain, or the free entry for it. */
static struct bt_domain_sum *find_entry(const struct bt_domain_tally *tally, uint32_t domain)
{
	uint32_t at = bt_domain_tally_home(domain, tally->entry_capacity);

	while (tally->entries[at].domain != 0 && tally->entries[at].domain != domain) {
		at = (at + 1) & (tally->entry_capacity - 1);
	}
	return &tally->entries[at];
}

static void grow_entries(struct bt_domain_tally *tally)
{
	struct bt_domain_sum *old = tally->entries;
	uint32_t old_capacity = tally->entry_capacity;

	tally->entry_capacity = old_capacity == 0 ? ENTRIES_MIN : old_capacity * 2;
	tally->entries = BT_NEW_ARRAY(struct bt_domain_sum, tally->entry_capacity);
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old[i].domain != 0) {
			*find_entry(tally, old[i].domain) = old[i];
		}
	}
	bt_free(old);
}

static void reserve_domains(struct bt_domain_tally *tally, uint32_t domain_count)
{
	uint32_t old = tally->domain_capacity;

	if (domain_count <= old) {
		return;
	}
	tally->domain_capacity = bt_vec_grown_capacity(old, domain_count);
	tally->by_domain = bt_realloc_array(
		tally->by_domain, tally->domain_capacity, sizeof(*tally->by_domain));
	memset(tally->by_domain + old, 0, (tally->domain_capacity - old) * sizeof(uint64_t));
}

static void use_entries(struct bt_domain_tally *tally)
{
	uint64_t *by_domain = tally->by_domain;
	uint32_t domain_count = tally->domain_capacity;

	tally->by_domain = NULL;
	tally->domain_capacity = 0;
	while (tally->entry_capacity < tally->occupied_count * UINT64_C(2) + 2) {
		grow_entries(tally);
	}
	for (uint32_t domain = 1; domain < domain_count; domain++) {
		if (by_domain[domain] != 0) {
			*find_entry(tally, domain) =
				(struct bt_domain_sum){domain, by_domain[domain]};
		}
	}
	bt_free(by_domain);
}

void bt_domain_tally_add(
	struct bt_domain_tally *tally, uint32_t domain, int64_t delta, uint32_t domain_count)
{
	struct bt_domain_sum *entry = NULL;
	uint64_t *count;

	if (domain == 0 || delta == 0) {
		return;
	}
	BT_ASSERT(domain < domain_count);
	if (tally->by_domain == NULL) {
		if (tally->occupied_count >= domain_count / ARRAY_SHARE) {
			reserve_domains(tally, domain_count);
			for (uint32_t i = 0; i < tally->entry_capacity; i++) {
				if (tally->entries[i].domain != 0) {
					tally->by_domain[tally->entries[i].domain] =
						tally->entries[i].count;
				}
			}
			bt_free(tally->entries);
			tally->entries = NULL;
			tally->entry_capacity = 0;
		}
		/*
		 * Whether the array takes far more memory than entries, because few domains are
		 * still occupied or the key got many new values. Otherwise the tallies of a few
		 * nodes' terms would grow with the cluster.
		 */
	} else if (tally->occupied_count < domain_count / SPARSE_SHARE) {
		use_entries(tally);
	}
	if (tally->by_domain != NULL) {
		reserve_domains(tally, domain_count);
		count = &tally->by_domain[domain];
	} else {
		if (tally->occupied_count * UINT64_C(2) >= tally->entry_capacity) {
			grow_entries(tally);
		}
		entry = find_entry(tally, domain);
		entry->domain = domain;
		count = &entry->count;
	}
	uint64_t before = *count;
	BT_ASSERT(delta > 0 || before >= (uint64_t)-delta);
	*count = before + (uint64_t)delta;
	tally->total += (uint64_t)delta;
	tally->occupied_count += before == 0;
	if (*count == 0) {
		tally->occupied_count--;
		if (entry != NULL) {
			/* Free an entry; later entries of the probe sequence move up. */
			uint32_t mask = tally->entry_capacity - 1;
			uint32_t gap = (uint32_t)(entry - tally->entries);

			for (uint32_t at = (gap + 1) & mask; tally->entries[at].domain != 0;
				at = (at + 1) & mask) {
				uint32_t home = bt_domain_tally_home(
					tally->entries[at].domain, tally->entry_capacity);

				if (((at - home) & mask) >= ((at - gap) & mask)) {
					tally->entries[gap] = tally->entries[at];
					gap = at;
				}
			}
			tally->entries[gap] = (struct bt_domain_sum){0};
		}
	}
}

void bt_domain_tally_add_to(
	const struct bt_domain_tally *tally, int64_t factor, int64_t *sums, uint32_t size)
{
	uint32_t count = tally->domain_capacity < size ? tally->domain_capacity : size;

	/* Wraps on overflow, as upstream's int64 does. */
	for (uint32_t domain = 1; domain < count; domain++) {
		sums[domain] = (int64_t)((uint64_t)sums[domain] +
			(uint64_t)factor * tally->by_domain[domain]);
	}
	for (uint32_t i = 0; i < tally->entry_capacity; i++) {
		const struct bt_domain_sum *entry = &tally->entries[i];

		if (entry->domain != 0) {
			sums[entry->domain] = (int64_t)((uint64_t)sums[entry->domain] +
				(uint64_t)factor * entry->count);
		}
	}
}

void bt_domain_tally_finish(struct bt_domain_tally *tally)
{
	bt_free(tally->entries);
	bt_free(tally->by_domain);
	*tally = (struct bt_domain_tally){0};
}

size_t bt_domain_tally_memory_bytes(const struct bt_domain_tally *tally)
{
	return tally->entry_capacity * sizeof(struct bt_domain_sum) +
		tally->domain_capacity * sizeof(uint64_t);
}
