/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a domain counter: sums by domain, and the least of them without a walk. */
#include "base/alloc.h"
#include "state/domain_counter_private.h"

/** Buckets of a histogram; domains with as many pods or more are looked at one by one. */
#define BUCKETS_MAX 4096U

/* --- histogram --- */

static void count_bucket(struct domain_histogram *histogram, uint32_t pods, bool more)
{
	uint32_t step = more ? 1 : UINT32_MAX;

	if (pods >= BUCKETS_MAX) {
		histogram->beyond += step;
		return;
	}
	while (histogram->buckets.count <= pods) {
		bt_vec_push(&histogram->buckets, 0);
	}
	histogram->buckets.items[pods] += step;
	if (more && pods < histogram->low) {
		histogram->low = pods;
	}
}

/** The first bucket from `from` on that has a domain; the count of buckets when none has. */
static uint32_t next_bucket(const struct domain_histogram *histogram, uint32_t from)
{
	uint32_t at = from;

	while (at < histogram->buckets.count && histogram->buckets.items[at] == 0) {
		at++;
	}
	return at;
}

void bt_domain_counter_clear(struct bt_domain_counter *counter)
{
	struct domain_histogram *histogram = &counter->histogram;

	bt_sparse_counts_clear(&counter->pods);
	counter->pod_total = 0;
	counter->occupied_count = 0;
	counter->extremes_stale = true;
	counter->uses_histogram = counter->eligibility->size > BT_DOMAINS_TO_SCAN;
	histogram->buckets.count = 0;
	histogram->beyond = 0;
	histogram->low = 0;
	if (counter->uses_histogram) {
		bt_vec_push(&histogram->buckets, counter->eligibility->eligible_count);
	}
}

void bt_domain_counter_add(struct bt_domain_counter *counter, uint32_t domain, uint32_t delta)
{
	uint32_t *pods;
	uint32_t before;

	if (delta == 0) {
		return;
	}
	pods = bt_sparse_counts_at(&counter->pods, domain);
	before = *pods;
	*pods = before + delta;
	if (domain == 0) {
		return;
	}
	counter->pod_total += (uint64_t)*pods - before;
	counter->occupied_count += (*pods != 0) - (uint32_t)(before != 0);
	counter->extremes_stale = true;
	if (counter->uses_histogram) {
		count_bucket(&counter->histogram, before, false);
		count_bucket(&counter->histogram, *pods, true);
	}
}

void bt_domain_counter_enter(struct bt_domain_counter *counter, uint32_t domain)
{
	if (domain == 0) {
		return;
	}
	counter->extremes_stale = true;
	if (counter->uses_histogram) {
		count_bucket(&counter->histogram, 0, true);
	}
}

void bt_domain_counter_leave(struct bt_domain_counter *counter, uint32_t domain)
{
	if (domain == 0) {
		return;
	}
	counter->extremes_stale = true;
	if (counter->uses_histogram) {
		count_bucket(&counter->histogram, 0, false);
	}
}

/* --- the least --- */

/** By looking at the domains with at least `from` pods. */
static void scan(struct bt_domain_counter *counter, uint32_t from)
{
	const struct bt_eligibility *eligibility = counter->eligibility;

	counter->least = UINT32_MAX;
	counter->second_least = UINT32_MAX;
	counter->least_count = 0;
	for (uint32_t domain = 1; domain < eligibility->size; domain++) {
		uint32_t pods = bt_sparse_count(&counter->pods, domain);

		if (eligibility->nodes[domain] == 0 || pods < from) {
			continue;
		}
		if (pods < counter->least) {
			counter->second_least = counter->least;
			counter->least = pods;
			counter->least_count = 1;
		} else if (pods == counter->least) {
			counter->least_count++;
		} else if (pods < counter->second_least) {
			counter->second_least = pods;
		}
	}
}

void bt_domain_counter_find_extremes(struct bt_domain_counter *counter)
{
	struct domain_histogram *histogram = &counter->histogram;
	uint32_t first;
	uint32_t second;

	counter->extremes_stale = false;
	if (!counter->uses_histogram) {
		scan(counter, 0);
		return;
	}
	first = next_bucket(histogram, histogram->low);
	histogram->low = first;
	if (first == histogram->buckets.count) {
		scan(counter, BUCKETS_MAX);
		return;
	}
	second = next_bucket(histogram, first + 1);
	if (second == histogram->buckets.count) {
		second = UINT32_MAX;
		if (histogram->beyond != 0) {
			scan(counter, BUCKETS_MAX);
			second = counter->least;
		}
	}
	counter->least = first;
	counter->least_count = histogram->buckets.items[first];
	counter->second_least = second;
}
