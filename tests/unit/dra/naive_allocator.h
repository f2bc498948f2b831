/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DRA_NAIVE_ALLOCATOR_H
#define BT_TESTS_UNIT_DRA_NAIVE_ALLOCATOR_H
/**
 * The allocator written as in spec 12 section 9: each call rebuilds all data and searches by
 * recursion without pruning. It supports only the default gates and whole amounts; the test
 * evaluates selectors.
 */
#include <stdlib.h>

#include "allocator_fixture.h"
#include "api/selector.h"
#include "dra/device_pools.h"

#define NAIVE_MAX 32U
#define NAIVE_STEPS_MAX 400000U

enum naive_result {
	NAIVE_NO,
	NAIVE_YES,
	NAIVE_TOO_MANY,
	NAIVE_ERROR,
	NAIVE_GIVEN_UP, /* the search exceeded the test's limit of steps */
};

enum naive_state {
	NAIVE_COMPLETE,
	NAIVE_INCOMPLETE,
	NAIVE_INVALID,
};

struct naive_counter {
	struct bt_str set;
	struct bt_str name;
	int64_t available;
	int64_t used;
};

struct naive_pool {
	struct bt_str driver;
	struct bt_str name;
	enum naive_state state;
	bool is_binding;
	const struct bt_resource_slice *kept[NAIVE_MAX];
	uint32_t kept_count;
	struct naive_counter counters[NAIVE_MAX];
	uint32_t counter_count;
};

struct naive_device {
	const struct bt_device *spec;
	const struct bt_resource_slice *slice;
	struct naive_pool *pool;
	bool taken_for[CLAIMS_MAX];
	int64_t own[NAIVE_MAX]; /* amounts of this device, by capacity */
	bool is_consuming;      /* whether the device consumes capacity, even if the amount is 0 */
};

/** A request without alternatives, or one alternative of a request. */
struct naive_q {
	struct bt_str base;
	struct bt_str sub;
	struct bt_str class_name;
	const struct bt_device_selector *selectors;
	uint32_t selector_count;
	bool is_admin;
	bool needs_all;
	int64_t count;
	const struct bt_device_toleration *tolerations;
	uint32_t toleration_count;
	const struct bt_resource_list *capacity;
	struct naive_device *all[NAIVE_MAX];
};

struct naive_constraint {
	const struct bt_device_constraint *spec;
	uint32_t count;
	const struct bt_device_attribute *value;
	struct bt_str seen_names[NAIVE_MAX];
	const struct bt_device_attribute *seen[NAIVE_MAX];
	uint32_t seen_count;
};

struct naive_chosen {
	uint32_t claim;
	struct naive_q q;
	struct naive_device *device;
};

struct naive {
	struct world *w;
	struct bt_str node;
	const struct bt_str_map *labels;
	/** Returns the verdict TRUE, FALSE or ERROR; an error has a text. */
	enum bt_verdict (*select)(struct bt_str expression, const struct bt_resource_slice *slice,
		const struct bt_device *device, const char **out_error);
	struct naive_pool pools[NAIVE_MAX];
	uint32_t pool_count;
	struct naive_device devices[NAIVE_MAX];
	uint32_t device_count;
	const struct bt_resource_claim *claims[CLAIMS_MAX];
	struct naive_constraint constraints[CLAIMS_MAX][4];
	int64_t all_counts[CLAIMS_MAX][4][4]; /* by claim, request, alternative */
	struct naive_device *alls[CLAIMS_MAX][4][4][NAIVE_MAX];
	struct naive_chosen chosen[NAIVE_MAX];
	uint32_t chosen_count;
	uint32_t steps;
	struct bt_strbuf error;
};

/* --- pools --- */

static inline bool naive_scope_matches(const struct naive *n, struct bt_str node_name,
	const struct bt_opt_bool *all_nodes, const struct bt_node_selector *selector)
{
	struct bt_arena arena = {0};
	struct bt_parsed_node_selector parsed;
	bool matches;

	if (node_name.length != 0) {
		return bt_str_equal(node_name, n->node);
	}
	if (all_nodes->value || selector == NULL) {
		return all_nodes->value;
	}
	parsed = bt_node_selector_parse(selector, BT_STR(""), &arena);
	matches = bt_node_selector_matches(&parsed, n->node, n->labels, &arena, NULL);
	bt_arena_finish(&arena);
	return matches;
}

static inline bool naive_device_matches(const struct naive *n, const struct bt_device *device)
{
	return naive_scope_matches(n, device->node_name, &device->all_nodes, device->node_selector);
}

static inline bool naive_is_relevant(const struct naive *n, const struct bt_resource_slice *slice)
{
	const struct bt_resource_slice_spec *spec = &slice->spec;

	if (spec->shared_counters.count != 0) {
		return true;
	}
	if (spec->node_name.length != 0 || spec->all_nodes.value || spec->node_selector != NULL) {
		return naive_scope_matches(
			n, spec->node_name, &spec->all_nodes, spec->node_selector);
	}
	for (uint32_t i = 0; spec->per_device_node_selection.value && i < spec->devices.count;
		i++) {
		if (naive_device_matches(n, &spec->devices.items[i])) {
			return true;
		}
	}
	return false;
}

static inline const struct bt_resource_slice *naive_next_slice(struct naive *n, uint32_t *cursor)
{
	return bt_object_store_next(
		&n->w->f.state->objects, BT_KIND_RESOURCE_SLICE, (struct bt_str){NULL, 0}, cursor);
}

static inline void naive_keep(struct naive *n, const struct bt_resource_slice *slice)
{
	struct naive_pool *pool = NULL;
	int64_t generation = slice->spec.pool.generation;

	for (uint32_t i = 0; i < n->pool_count; i++) {
		if (bt_str_equal(n->pools[i].driver, slice->spec.driver) &&
			bt_str_equal(n->pools[i].name, slice->spec.pool.name)) {
			pool = &n->pools[i];
		}
	}
	if (pool == NULL) {
		pool = &n->pools[n->pool_count++];
		*pool = (struct naive_pool){
			.driver = slice->spec.driver, .name = slice->spec.pool.name};
	}
	if (pool->kept_count != 0 && pool->kept[0]->spec.pool.generation < generation) {
		pool->kept_count = 0;
	}
	if (pool->kept_count == 0 || pool->kept[0]->spec.pool.generation == generation) {
		pool->kept[pool->kept_count++] = slice;
	}
}

static inline struct naive_counter *naive_find_counter(
	struct naive_pool *pool, struct bt_str set, struct bt_str name)
{
	for (uint32_t i = 0; i < pool->counter_count; i++) {
		if (bt_str_equal(pool->counters[i].set, set) &&
			bt_str_equal(pool->counters[i].name, name)) {
			return &pool->counters[i];
		}
	}
	return NULL;
}

/** Returns the next allocation result of any claim for this device; NULL at the end. */
static inline const struct bt_device_request_allocation_result *naive_next_held(struct naive *n,
	struct bt_str driver, struct bt_str pool, struct bt_str device, uint32_t *cursor)
{
	uint32_t at = 0;
	uint32_t claim_cursor = 0;
	const struct bt_resource_claim *claim;

	while ((claim = bt_object_store_next(&n->w->f.state->objects, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){NULL, 0}, &claim_cursor)) != NULL) {
		const struct bt_allocation_result *allocation = claim->status.allocation;
		for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count;
			i++) {
			const struct bt_device_request_allocation_result *result =
				&allocation->devices.results.items[i];
			if (!result->admin_access.value && bt_str_equal(result->driver, driver) &&
				bt_str_equal(result->pool, pool) &&
				bt_str_equal(result->device, device) && at++ == *cursor) {
				(*cursor)++;
				return result;
			}
		}
	}
	return NULL;
}

static inline void naive_count(
	struct naive_pool *pool, const struct bt_device *device, int64_t sign, bool as_used)
{
	for (uint32_t i = 0; i < device->consumes_counters.count; i++) {
		const struct bt_device_counter_consumption *uses =
			&device->consumes_counters.items[i];
		for (uint32_t k = 0; k < uses->counters.count; k++) {
			int64_t amount =
				sign * bt_quantity_value(&uses->counters.items[k].value.value);
			struct naive_counter *counter = naive_find_counter(
				pool, uses->counter_set, uses->counters.items[k].key);
			counter->used += as_used ? amount : 0;
			counter->available += as_used ? 0 : amount;
		}
	}
}

static inline bool naive_add_sets(struct naive_pool *pool, const struct bt_resource_slice *slice)
{
	for (uint32_t i = 0; i < slice->spec.shared_counters.count; i++) {
		const struct bt_counter_set *set = &slice->spec.shared_counters.items[i];
		for (uint32_t k = 0; k < pool->counter_count; k++) {
			if (bt_str_equal(pool->counters[k].set, set->name)) {
				return false;
			}
		}
		for (uint32_t k = 0; k < set->counters.count; k++) {
			pool->counters[pool->counter_count++] = (struct naive_counter){
				.set = set->name,
				.name = set->counters.items[k].key,
				.available = bt_quantity_value(&set->counters.items[k].value.value),
			};
		}
	}
	return true;
}

/**
 * Subtracts what held devices of the slice consume from the counters of the pool; returns false if
 * a device consumes a counter that does not exist.
 */
static inline bool naive_take_held(
	struct naive *n, struct naive_pool *pool, const struct bt_resource_slice *slice)
{
	for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
		const struct bt_device *device = &slice->spec.devices.items[i];
		uint32_t cursor = 0;
		for (uint32_t u = 0; u < device->consumes_counters.count; u++) {
			const struct bt_device_counter_consumption *uses =
				&device->consumes_counters.items[u];
			for (uint32_t k = 0; k < uses->counters.count; k++) {
				if (naive_find_counter(pool, uses->counter_set,
					    uses->counters.items[k].key) == NULL) {
					return false;
				}
			}
		}
		if (naive_next_held(n, slice->spec.driver, slice->spec.pool.name, device->name,
			    &cursor) != NULL) {
			naive_count(pool, device, -1, false);
		}
	}
	return true;
}

static inline bool naive_has_duplicate(const struct naive_pool *pool)
{
	struct bt_str names[NAIVE_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < pool->kept_count; i++) {
		for (uint32_t k = 0; k < pool->kept[i]->spec.devices.count; k++) {
			names[count] = pool->kept[i]->spec.devices.items[k].name;
			for (uint32_t j = 0; j < count; j++) {
				if (bt_str_equal(names[j], names[count])) {
					return true;
				}
			}
			count++;
		}
	}
	return false;
}

/** Sets the state of the pool; returns false if the pool is obsolete. */
static inline bool naive_judge(struct naive *n, struct naive_pool *pool)
{
	const struct bt_resource_slice *all[NAIVE_MAX];
	const struct bt_resource_slice *slice;
	uint32_t count = 0;
	uint32_t cursor = 0;
	int64_t wanted = pool->kept[0]->spec.pool.resource_slice_count;
	int64_t generation = pool->kept[0]->spec.pool.generation;
	bool is_newer = false;

	while ((slice = naive_next_slice(n, &cursor)) != NULL) {
		if (bt_str_equal(slice->spec.driver, pool->driver) &&
			bt_str_equal(slice->spec.pool.name, pool->name)) {
			is_newer = is_newer || slice->spec.pool.generation > generation;
			if (slice->spec.pool.generation == generation) {
				all[count++] = slice;
			}
		}
	}
	if (pool->kept_count == wanted) {
		memcpy(all, pool->kept, sizeof(all));
		count = pool->kept_count;
	} else if (is_newer) {
		return false;
	} else if (count != wanted) {
		pool->state = NAIVE_INCOMPLETE;
		return true;
	}
	pool->state = naive_has_duplicate(pool) ? NAIVE_INVALID : NAIVE_COMPLETE;
	for (uint32_t i = 0; i < count; i++) {
		pool->state = naive_add_sets(pool, all[i]) ? pool->state : NAIVE_INVALID;
	}
	for (uint32_t i = 0; i < count && pool->state == NAIVE_COMPLETE; i++) {
		pool->state = naive_take_held(n, pool, all[i]) ? NAIVE_COMPLETE : NAIVE_INVALID;
	}
	for (uint32_t i = 0; i < pool->kept_count && pool->state == NAIVE_COMPLETE; i++) {
		for (uint32_t k = 0; k < pool->kept[i]->spec.devices.count; k++) {
			pool->is_binding = pool->is_binding ||
				pool->kept[i]->spec.devices.items[k].binding_conditions.present;
		}
	}
	return true;
}

static inline int naive_compare_pools(const void *a, const void *b)
{
	const struct naive_pool *left = a;
	const struct naive_pool *right = b;
	int order = bt_str_compare(left->driver, right->driver);

	if (left->is_binding != right->is_binding) {
		return left->is_binding ? 1 : -1;
	}
	return order != 0 ? order : bt_str_compare(left->name, right->name);
}

static inline void naive_gather(struct naive *n)
{
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;
	uint32_t count = 0;

	n->pool_count = 0;
	while ((slice = naive_next_slice(n, &cursor)) != NULL) {
		if (naive_is_relevant(n, slice)) {
			naive_keep(n, slice);
		}
	}
	for (uint32_t i = 0; i < n->pool_count; i++) {
		struct naive_pool pool = n->pools[i];
		if (naive_judge(n, &pool)) {
			n->pools[count++] = pool;
		}
	}
	n->pool_count = count;
	qsort(n->pools, count, sizeof(n->pools[0]), naive_compare_pools);
	n->device_count = 0;
	for (uint32_t p = 0; p < count; p++) {
		/* The store iterates slices by name, so kept slices are in that order. */
		for (uint32_t i = 0;
			n->pools[p].state == NAIVE_COMPLETE && i < n->pools[p].kept_count; i++) {
			slice = n->pools[p].kept[i];
			for (uint32_t k = 0; k < slice->spec.devices.count; k++) {
				n->devices[n->device_count++] =
					(struct naive_device){.spec = &slice->spec.devices.items[k],
						.slice = slice,
						.pool = &n->pools[p]};
			}
		}
	}
}

/* --- a device and a request --- */

static inline struct bt_str naive_bare(const struct naive_q *q)
{
	return q->sub.data != NULL ? q->sub : q->base;
}

static inline uint32_t naive_options(struct naive *n, uint32_t c, uint32_t r)
{
	const struct bt_device_request *request = &n->claims[c]->spec.devices.requests.items[r];

	return request->exactly != NULL ? 1 : request->first_available.count;
}

static inline struct naive_q naive_option(struct naive *n, uint32_t c, uint32_t r, uint32_t s)
{
	const struct bt_device_request *request = &n->claims[c]->spec.devices.requests.items[r];
	struct naive_q q = {.base = request->name};
	struct bt_str mode;

	if (request->exactly != NULL) {
		const struct bt_exact_device_request *e = request->exactly;
		q.class_name = e->device_class_name;
		q.selectors = e->selectors.items;
		q.selector_count = e->selectors.count;
		q.is_admin = e->admin_access.value;
		q.count = e->count;
		q.tolerations = e->tolerations.items;
		q.toleration_count = e->tolerations.count;
		q.capacity = e->capacity != NULL ? &e->capacity->requests : NULL;
		mode = e->allocation_mode;
	} else {
		const struct bt_device_sub_request *e = &request->first_available.items[s];
		q.sub = e->name;
		q.class_name = e->device_class_name;
		q.selectors = e->selectors.items;
		q.selector_count = e->selectors.count;
		q.count = e->count;
		q.tolerations = e->tolerations.items;
		q.toleration_count = e->tolerations.count;
		q.capacity = e->capacity != NULL ? &e->capacity->requests : NULL;
		mode = e->allocation_mode;
	}
	q.needs_all = bt_str_equal(mode, BT_STR("All"));
	if (q.needs_all) {
		q.count = n->all_counts[c][r][s];
		memcpy(q.all, n->alls[c][r][s], sizeof(q.all));
	}
	return q;
}

static inline enum naive_result naive_selectable(
	struct naive *n, uint32_t c, const struct naive_q *q, const struct naive_device *d)
{
	const struct bt_device_class *class_ = bt_object_store_find(
		&n->w->f.state->objects, BT_KIND_DEVICE_CLASS, BT_STR(""), q->class_name);
	const char *reason = NULL;

	for (uint32_t i = 0; i < class_->spec.selectors.count + q->selector_count; i++) {
		bool of_class = i < class_->spec.selectors.count;
		uint32_t at = of_class ? i : i - class_->spec.selectors.count;
		struct bt_str expression = of_class
			? class_->spec.selectors.items[at].cel->expression
			: q->selectors[at].cel->expression;
		switch (n->select(expression, d->slice, d->spec, &reason)) {
		case BT_VERDICT_TRUE:
			break;
		case BT_VERDICT_FALSE:
			return NAIVE_NO;
		case BT_VERDICT_UNKNOWN:
		case BT_VERDICT_ERROR:
			if (of_class) {
				bt_strbuf_printf(&n->error, "class %.*s: selector #%u: %s",
					BT_STR_ARG(q->class_name), at, reason);
			} else {
				bt_strbuf_printf(&n->error, "claim default/c%u: selector #%u: %s",
					c, at, reason);
			}
			return NAIVE_ERROR;
		}
	}
	return !d->slice->spec.per_device_node_selection.value || naive_device_matches(n, d->spec)
		? NAIVE_YES
		: NAIVE_NO;
}

static inline bool naive_is_shareable(const struct naive_device *d)
{
	return d->spec->allow_multiple_allocations.value;
}

/**
 * Returns whether a claim holds the whole device; *out_has_aggregate: shares of the device consume
 * capacity.
 */
static inline bool naive_is_dedicated(
	struct naive *n, const struct naive_device *d, bool *out_has_aggregate)
{
	const struct bt_device_request_allocation_result *held;
	uint32_t cursor = 0;
	bool is_dedicated = false;

	*out_has_aggregate = false;
	while ((held = naive_next_held(n, d->slice->spec.driver, d->slice->spec.pool.name,
			d->spec->name, &cursor)) != NULL) {
		is_dedicated = is_dedicated || held->share_id.data == NULL;
		*out_has_aggregate = *out_has_aggregate ||
			(held->share_id.data != NULL && held->consumed_capacity.count != 0);
	}
	return is_dedicated;
}

static inline int64_t naive_aggregate(
	struct naive *n, const struct naive_device *d, struct bt_str name)
{
	const struct bt_device_request_allocation_result *held;
	uint32_t cursor = 0;
	int64_t sum = 0;

	while ((held = naive_next_held(n, d->slice->spec.driver, d->slice->spec.pool.name,
			d->spec->name, &cursor)) != NULL) {
		const struct bt_quantity *amount =
			bt_resource_list_find(&held->consumed_capacity, name);
		sum += held->share_id.data != NULL && amount != NULL ? bt_quantity_value(amount)
								     : 0;
	}
	return sum;
}

static inline int64_t naive_consumed(
	const struct naive_q *q, const struct bt_device_capacity_entry *entry)
{
	const struct bt_capacity_request_policy *policy = entry->value.request_policy;
	const struct bt_quantity *wanted =
		q->capacity != NULL ? bt_resource_list_find(q->capacity, entry->key) : NULL;
	int64_t request;

	if (wanted == NULL) {
		return bt_quantity_value(policy != NULL && policy->default_ != NULL
				? policy->default_
				: &entry->value.value);
	}
	request = bt_quantity_value(wanted);
	if (policy == NULL) {
		return request;
	}
	if (policy->valid_range != NULL && policy->valid_range->min != NULL) {
		int64_t min = bt_quantity_value(policy->valid_range->min);
		int64_t value = min;
		if (request <= min || policy->valid_range->step == NULL) {
			return request < min ? min : request;
		}
		while (value < request) {
			value += bt_quantity_value(policy->valid_range->step);
		}
		return value;
	}
	for (uint32_t i = 0; i < policy->valid_values.count; i++) {
		if (bt_quantity_value(&policy->valid_values.items[i]) >= request) {
			return bt_quantity_value(&policy->valid_values.items[i]);
		}
	}
	return request;
}

static inline bool naive_violates(const struct bt_capacity_request_policy *policy, int64_t amount)
{
	bool is_listed = false;

	if (policy == NULL ||
		(policy->default_ != NULL && bt_quantity_value(policy->default_) == amount)) {
		return false;
	}
	if (policy->valid_range != NULL) {
		const struct bt_capacity_request_policy_range *range = policy->valid_range;
		return (range->max != NULL && amount > bt_quantity_value(range->max)) ||
			(range->step != NULL &&
				(amount - bt_quantity_value(range->min)) %
						bt_quantity_value(range->step) !=
					0);
	}
	for (uint32_t i = 0; i < policy->valid_values.count; i++) {
		is_listed =
			is_listed || bt_quantity_value(&policy->valid_values.items[i]) == amount;
	}
	return policy->valid_values.count != 0 && !is_listed;
}

static inline bool naive_fits(
	struct naive *n, const struct naive_q *q, const struct naive_device *d)
{
	for (uint32_t i = 0; q->capacity != NULL && i < q->capacity->count; i++) {
		bool is_there = false;
		for (uint32_t k = 0; k < d->spec->capacity.count; k++) {
			is_there = is_there ||
				bt_str_equal(
					d->spec->capacity.items[k].key, q->capacity->items[i].name);
		}
		if (!is_there) {
			return false;
		}
	}
	for (uint32_t i = 0; i < d->spec->capacity.count; i++) {
		const struct bt_device_capacity_entry *entry = &d->spec->capacity.items[i];
		int64_t amount = naive_consumed(q, entry);
		if (naive_violates(entry->value.request_policy, amount) ||
			naive_aggregate(n, d, entry->key) + d->own[i] + amount >
				bt_quantity_value(&entry->value.value)) {
			return false;
		}
	}
	return true;
}

static inline bool naive_in_use(struct naive *n, const struct naive_device *d)
{
	bool has_aggregate;
	bool in_use = naive_is_dedicated(n, d, &has_aggregate);

	for (uint32_t c = 0; c < CLAIMS_MAX; c++) {
		in_use = in_use || d->taken_for[c];
	}
	return in_use;
}

static inline bool naive_tolerated(const struct naive_q *q, const struct bt_device_taint *taint)
{
	if (!bt_str_equal(taint->effect, BT_STR("NoSchedule")) &&
		!bt_str_equal(taint->effect, BT_STR("NoExecute"))) {
		return true;
	}
	for (uint32_t i = 0; i < q->toleration_count; i++) {
		const struct bt_device_toleration *t = &q->tolerations[i];
		bool exists = bt_str_equal(t->operator_, BT_STR("Exists"));
		if ((t->effect.length == 0 || bt_str_equal(t->effect, taint->effect)) &&
			(t->key.length == 0 || bt_str_equal(t->key, taint->key)) &&
			(exists || bt_str_equal(t->value, taint->value))) {
			return true;
		}
	}
	return false;
}

/* --- constraints --- */

static inline bool naive_applies(const struct bt_device_constraint *spec, const struct naive_q *q)
{
	char full[200];

	(void)snprintf(full, sizeof(full), "%.*s/%.*s", BT_STR_ARG(q->base), BT_STR_ARG(q->sub));
	for (uint32_t i = 0; i < spec->requests.count; i++) {
		if (bt_str_equal(spec->requests.items[i], q->base) ||
			(q->sub.data != NULL && bt_str_equal_c(spec->requests.items[i], full))) {
			return true;
		}
	}
	return spec->requests.count == 0;
}

static inline const struct bt_device_attribute *naive_attribute(
	const struct naive_device *d, struct bt_str name)
{
	struct bt_str rest = name;
	struct bt_str domain = bt_str_cut(&rest, '/');
	const struct bt_device_attribute *found = NULL;

	for (uint32_t i = 0; i < d->spec->attributes.count; i++) {
		if (bt_str_equal(d->spec->attributes.items[i].key, rest) &&
			bt_str_equal(domain, d->slice->spec.driver)) {
			found = &d->spec->attributes.items[i].value;
		}
	}
	for (uint32_t i = 0; i < d->spec->attributes.count; i++) {
		if (bt_str_equal(d->spec->attributes.items[i].key, name)) {
			found = &d->spec->attributes.items[i].value;
		}
	}
	return found;
}

/** Attributes of the test have a string, an int or neither. */
static inline bool naive_equal(
	const struct bt_device_attribute *a, const struct bt_device_attribute *b)
{
	return (a->int_.present && b->int_.present && a->int_.value == b->int_.value) ||
		(a->string.data != NULL && b->string.data != NULL &&
			bt_str_equal(a->string, b->string));
}

static inline void naive_unremember(struct naive_constraint *k, struct bt_str name)
{
	for (uint32_t i = 0; i < k->seen_count; i++) {
		if (bt_str_equal(k->seen_names[i], name)) {
			k->seen_names[i] = k->seen_names[k->seen_count - 1];
			k->seen[i] = k->seen[--k->seen_count];
			return;
		}
	}
}

static inline bool naive_add(
	struct naive_constraint *k, const struct naive_q *q, const struct naive_device *d)
{
	bool is_match = k->spec->match_attribute.data != NULL;
	const struct bt_device_attribute *value = naive_attribute(
		d, is_match ? k->spec->match_attribute : k->spec->distinct_attribute);

	if (!naive_applies(k->spec, q)) {
		return true;
	}
	if (value == NULL) {
		return false;
	}
	if (is_match) {
		if (k->count != 0 && !naive_equal(k->value, value)) {
			return false;
		}
		k->value = k->count++ == 0 ? value : k->value;
		return true;
	}
	for (uint32_t i = 0; i < k->seen_count; i++) {
		if ((!value->int_.present && value->string.data == NULL) ||
			naive_equal(k->seen[i], value)) {
			return false;
		}
	}
	naive_unremember(k, q->base);
	k->seen_names[k->seen_count] = q->base;
	k->seen[k->seen_count++] = value;
	return true;
}

static inline void naive_remove(struct naive_constraint *k, const struct naive_q *q)
{
	if (!naive_applies(k->spec, q)) {
		return;
	}
	if (k->spec->match_attribute.data != NULL) {
		k->count--;
	} else {
		naive_unremember(k, q->base);
	}
}

/* --- taking devices --- */

static inline bool naive_take_counters(struct naive *n, struct naive_device *d)
{
	bool cap_in_use;

	(void)naive_is_dedicated(n, d, &cap_in_use);
	cap_in_use = cap_in_use || d->is_consuming;
	if (d->spec->consumes_counters.count == 0 || (naive_is_shareable(d) && cap_in_use)) {
		return true;
	}
	naive_count(d->pool, d->spec, 1, true);
	for (uint32_t i = 0; i < d->pool->counter_count; i++) {
		if (d->pool->counters[i].used > d->pool->counters[i].available) {
			naive_count(d->pool, d->spec, -1, true);
			return false;
		}
	}
	return true;
}

static inline enum naive_result naive_take(
	struct naive *n, uint32_t c, const struct naive_q *q, struct naive_device *d, bool must)
{
	uint32_t constraint_count = n->claims[c]->spec.devices.constraints.count;
	bool shareable = naive_is_shareable(d);

	if ((!shareable && q->is_admin && d->taken_for[c]) ||
		(!q->is_admin && naive_in_use(n, d)) || !naive_take_counters(n, d)) {
		return NAIVE_NO;
	}
	for (uint32_t i = 0; i < d->spec->taints.count; i++) {
		if (!naive_tolerated(q, &d->spec->taints.items[i])) {
			return NAIVE_NO;
		}
	}
	for (uint32_t i = 0; i < constraint_count; i++) {
		if (naive_add(&n->constraints[c][i], q, d)) {
			continue;
		}
		if (must) {
			bt_strbuf_printf(&n->error,
				"claim default/c%u, request %.*s: cannot add device "
				"%.*s/%.*s/%.*s because a claim constraint would not be "
				"satisfied",
				c, BT_STR_ARG(naive_bare(q)), BT_STR_ARG(d->slice->spec.driver),
				BT_STR_ARG(d->slice->spec.pool.name), BT_STR_ARG(d->spec->name));
			return NAIVE_ERROR;
		}
		while (i-- > 0) {
			naive_remove(&n->constraints[c][i], q);
		}
		return NAIVE_NO;
	}
	if (!naive_fits(n, q, d)) {
		for (uint32_t i = 0; i < constraint_count; i++) {
			naive_remove(&n->constraints[c][i], q);
		}
		return NAIVE_NO;
	}
	d->taken_for[c] = d->taken_for[c] || !shareable;
	for (uint32_t i = 0; shareable && i < d->spec->capacity.count; i++) {
		d->own[i] += naive_consumed(q, &d->spec->capacity.items[i]);
		d->is_consuming = true;
	}
	n->chosen[n->chosen_count++] = (struct naive_chosen){.claim = c, .q = *q, .device = d};
	return NAIVE_YES;
}

static inline void naive_give_back(struct naive *n)
{
	struct naive_chosen *last = &n->chosen[--n->chosen_count];
	struct naive_device *d = last->device;

	for (uint32_t i = 0; i < n->claims[last->claim]->spec.devices.constraints.count; i++) {
		naive_remove(&n->constraints[last->claim][i], &last->q);
	}
	if (!naive_is_shareable(d)) {
		d->taken_for[last->claim] = false;
		naive_count(d->pool, d->spec, -1, true);
		return;
	}
	d->is_consuming = false;
	for (uint32_t i = 0; i < d->spec->capacity.count; i++) {
		d->own[i] -= naive_consumed(&last->q, &d->spec->capacity.items[i]);
		d->is_consuming = d->is_consuming || d->own[i] != 0;
	}
}

/* --- validation and search --- */

static inline enum naive_result naive_validate_all(
	struct naive *n, uint32_t c, uint32_t r, uint32_t s)
{
	struct naive_q q = naive_option(n, c, r, s);
	int64_t count = 0;

	for (uint32_t p = 0; p < n->pool_count; p++) {
		if (n->pools[p].state != NAIVE_COMPLETE) {
			bt_strbuf_printf(&n->error,
				"claim default/c%u, request %.*s: asks for all devices, but "
				"resource pool %.*s/%.*s is currently %s",
				c, BT_STR_ARG(naive_bare(&q)), BT_STR_ARG(n->pools[p].driver),
				BT_STR_ARG(n->pools[p].name),
				n->pools[p].state == NAIVE_INVALID ? "invalid" : "being updated");
			return NAIVE_ERROR;
		}
		for (uint32_t i = 0; i < n->device_count; i++) {
			enum naive_result selected;
			if (n->devices[i].pool != &n->pools[p]) {
				continue;
			}
			selected = naive_selectable(n, c, &q, &n->devices[i]);
			if (selected == NAIVE_ERROR) {
				return NAIVE_ERROR;
			}
			if (selected == NAIVE_YES && naive_fits(n, &q, &n->devices[i])) {
				n->alls[c][r][s][count++] = &n->devices[i];
			}
		}
	}
	n->all_counts[c][r][s] = count;
	return NAIVE_YES;
}

static inline enum naive_result naive_validate(struct naive *n)
{
	for (uint32_t c = 0; c < n->w->claim_count; c++) {
		int64_t total = 0;
		for (uint32_t r = 0; r < n->claims[c]->spec.devices.requests.count; r++) {
			int64_t least = INT64_MAX;
			for (uint32_t s = 0; s < naive_options(n, c, r); s++) {
				int64_t count;
				if (naive_option(n, c, r, s).needs_all &&
					naive_validate_all(n, c, r, s) == NAIVE_ERROR) {
					return NAIVE_ERROR;
				}
				count = naive_option(n, c, r, s).count;
				least = count < least ? count : least;
			}
			total += least;
		}
		if (total > 32) {
			bt_strbuf_printf(&n->error,
				"claim default/c%u: number of requested devices %lld exceeds the "
				"claim limit of 32",
				c, (long long)total);
			return NAIVE_ERROR;
		}
		for (uint32_t i = 0; i < n->claims[c]->spec.devices.constraints.count; i++) {
			n->constraints[c][i] = (struct naive_constraint){
				.spec = &n->claims[c]->spec.devices.constraints.items[i]};
		}
	}
	return NAIVE_YES;
}

static enum naive_result naive_try(
	struct naive *n, uint32_t c, uint32_t r, int s, int64_t k, uint32_t start);

static inline enum naive_result naive_try_alternatives(struct naive *n, uint32_t c, uint32_t r)
{
	bool all_too_many = true;

	for (uint32_t s = 0; s < naive_options(n, c, r); s++) {
		enum naive_result x = naive_try(n, c, r, (int)s, 0, 0);
		if (x == NAIVE_TOO_MANY) {
			continue;
		}
		all_too_many = false;
		if (x != NAIVE_NO) {
			return x;
		}
	}
	return all_too_many ? NAIVE_TOO_MANY : NAIVE_NO;
}

static inline enum naive_result naive_try_devices(struct naive *n, uint32_t c, uint32_t r, int s,
	int64_t k, uint32_t start, const struct naive_q *q)
{
	for (uint32_t i = start; i < n->device_count; i++) {
		struct naive_device *d = &n->devices[i];
		enum naive_result x;
		if (q->is_admin ? d->taken_for[c] : naive_in_use(n, d)) {
			continue;
		}
		x = naive_selectable(n, c, q, d);
		if (x == NAIVE_ERROR) {
			return x;
		}
		if (x == NAIVE_NO || !naive_fits(n, q, d) ||
			naive_take(n, c, q, d, false) != NAIVE_YES) {
			continue;
		}
		x = naive_try(n, c, r, s, k + 1, i + 1);
		if (x == NAIVE_YES) {
			return x;
		}
		naive_give_back(n);
		if (x != NAIVE_NO) {
			return x;
		}
	}
	return NAIVE_NO;
}

static enum naive_result naive_try(
	struct naive *n, uint32_t c, uint32_t r, int s, int64_t k, uint32_t start)
{
	enum naive_result x;
	struct naive_q q;
	int64_t had = 0;

	if (++n->steps > NAIVE_STEPS_MAX) {
		return NAIVE_GIVEN_UP;
	}
	if (c == n->w->claim_count) {
		return NAIVE_YES;
	}
	if (r == n->claims[c]->spec.devices.requests.count) {
		x = naive_try(n, c + 1, 0, -1, 0, 0);
		return x == NAIVE_TOO_MANY ? NAIVE_NO : x;
	}
	if (n->claims[c]->spec.devices.requests.items[r].exactly == NULL && s < 0) {
		return naive_try_alternatives(n, c, r);
	}
	q = naive_option(n, c, r, s < 0 ? 0 : (uint32_t)s);
	if (q.needs_all && q.count == 0) {
		return NAIVE_NO;
	}
	if (k >= q.count) {
		return naive_try(n, c, r + 1, -1, 0, 0);
	}
	for (uint32_t i = 0; i < n->chosen_count; i++) {
		had += n->chosen[i].claim == c;
	}
	if (had + q.count - k > 32) {
		return NAIVE_TOO_MANY;
	}
	if (!q.needs_all) {
		return naive_try_devices(n, c, r, s, k, start, &q);
	}
	x = naive_take(n, c, &q, q.all[k], true);
	if (x != NAIVE_YES) {
		return x;
	}
	x = naive_try(n, c, r, s, k + 1, 0);
	if (x != NAIVE_YES) {
		naive_give_back(n);
	}
	return x;
}

static inline void naive_append(struct naive *n, uint32_t c, struct bt_strbuf *out)
{
	bool is_first = true;

	for (uint32_t i = 0; i < n->chosen_count; i++) {
		const struct naive_chosen *chosen = &n->chosen[i];
		const struct bt_device *spec = chosen->device->spec;
		if (chosen->claim != c) {
			continue;
		}
		bt_strbuf_printf(out, "%s%.*s%s%.*s=%.*s/%.*s%s", is_first ? "" : " ",
			BT_STR_ARG(chosen->q.base), chosen->q.sub.data != NULL ? "/" : "",
			BT_STR_ARG(chosen->q.sub),
			BT_STR_ARG(chosen->device->slice->spec.pool.name), BT_STR_ARG(spec->name),
			chosen->q.is_admin ? "(admin)" : "");
		for (uint32_t k = 0; naive_is_shareable(chosen->device) && k < spec->capacity.count;
			k++) {
			bt_strbuf_printf(out, "(%.*s %lld)",
				BT_STR_ARG(spec->capacity.items[k].key),
				(long long)naive_consumed(&chosen->q, &spec->capacity.items[k]));
		}
		is_first = false;
	}
}

/**
 * Writes the same text as allocate(); returns false if the search exceeded the test's limit of
 * steps. Before the call, all members of *n except select are zero.
 */
static inline bool naive_allocate(
	struct naive *n, struct world *w, const char *node_name, struct bt_strbuf *out)
{
	enum naive_result result;
	bool is_invalid = false;

	n->w = w;
	n->node = bt_str_from(node_name);
	n->labels = &w->f.state->nodes.rows[bt_node_table_find(&w->f.state->nodes, n->node)].labels;
	for (uint32_t c = 0; c < w->claim_count; c++) {
		n->claims[c] = bt_object_value(w->claims[c], BT_KIND_RESOURCE_CLAIM);
	}
	naive_gather(n);
	result = naive_validate(n);
	if (result == NAIVE_YES) {
		result = naive_try(n, 0, 0, -1, 0, 0);
	}
	for (uint32_t i = 0; i < n->pool_count; i++) {
		is_invalid = is_invalid || n->pools[i].state == NAIVE_INVALID;
	}
	if (result == NAIVE_YES) {
		for (uint32_t c = 0; c < w->claim_count; c++) {
			bt_strbuf_append_c(out, c == 0 ? "" : "; ");
			naive_append(n, c, out);
		}
	} else if (result == NAIVE_ERROR) {
		bt_strbuf_printf(out, "error: %s", bt_strbuf_c(&n->error));
	} else {
		bt_strbuf_append_c(out, is_invalid ? "invalid pool" : "none");
	}
	bt_strbuf_finish(&n->error);
	return result != NAIVE_GIVEN_UP;
}
#endif
