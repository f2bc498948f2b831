/* SPDX-License-Identifier: Apache-2.0 */
/* Checks, takes and gives back single devices. Spec: 12 sections 9.2, 9.5 to 9.9. */
#include "dra/allocator_private.h"
#include "dra/device_capacity.h"

/**
 * One evaluation of a selector counts as this many search steps, because a malicious expression
 * runs for up to a tenth of a second before its cost limit ends it.
 */
#define EVALUATION_STEPS 32U

static bool is_interrupted(void *context, struct bt_str *out_cause)
{
	struct bt_search *search = context;
	const struct bt_allocator_options *options = &search->allocator->options;

	*out_cause = BT_STR("context canceled");
	search->is_over = search->is_over || options->is_over(options->context);
	return search->is_over;
}

/** Evaluate the selectors of the class and of the request. Returns YES, NO or ERROR. */
static enum bt_search_result evaluate_selectors(struct bt_search *search,
	const struct bt_option *option, const struct bt_pool_device *device)
{
	struct bt_device_pools *pools = search->pools;
	const struct bt_cel_limits limits = {
		.cost_max = BT_CEL_COST_MAX,
		.is_interrupted =
			search->allocator->options.is_over != NULL ? is_interrupted : NULL,
		.context = search,
	};

	for (uint32_t i = 0; i < option->program_count; i++) {
		switch (bt_selector_verdict(pools, option->programs[i], device->row, &limits)) {
		case BT_VERDICT_TRUE:
			break;
		case BT_VERDICT_FALSE:
			return BT_SEARCH_NO;
		case BT_VERDICT_UNKNOWN:
			return BT_SEARCH_ERROR; /* interrupted */
		case BT_VERDICT_ERROR: {
			/*
			 * Set the error, which names the class or the claim to which the selector
			 * belongs.
			 */
			const struct bt_device_row *item = &pools->rows.items[device->row];
			struct berth_error reason = {0};

			if (bt_selector_compute(pools, &pools->programs.items[option->programs[i]],
				    bt_pool_slice_value(pools, item->slice)->spec.driver,
				    item->spec, &limits, &reason) == BT_VERDICT_UNKNOWN) {
				return BT_SEARCH_ERROR; /* interrupted */
			}
			if (i < option->class_program_count) {
				(void)bt_error_wrap(&reason, BERTH_ERR_INVALID,
					"class %.*s: selector #%u",
					BT_STR_ARG(option->device_class->metadata.name), i);
			} else {
				(void)bt_error_wrap(&reason, BERTH_ERR_INVALID,
					"claim %.*s: selector #%u",
					BT_STR_ARG(search->prepared->items[option->claim].key),
					i - option->class_program_count);
			}
			(void)bt_error_move(search->err, &reason);
			return BT_SEARCH_ERROR;
		}
		}
	}
	return BT_SEARCH_YES;
}

enum bt_search_result bt_search_select(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	struct bt_device_pools *pools = search->pools;
	uint64_t evaluated = pools->evaluated;

	if ((device->flags & BT_DEVICE_NEVER) != 0) {
		return BT_SEARCH_NO;
	}
	enum bt_search_result result = evaluate_selectors(search, option, device);
	search->steps += (uint32_t)(pools->evaluated - evaluated) * EVALUATION_STEPS;
	if (result != BT_SEARCH_YES) {
		return result;
	}
	if ((device->flags & BT_DEVICE_OWN_SCOPE) != 0 &&
		!bt_node_scope_matches(pools, pools->rows.items[device->row].scope, search->slot)) {
		return BT_SEARCH_NO;
	}
	return BT_SEARCH_YES;
}

static bool is_taken(const struct bt_search *search, uint32_t id)
{
	return id < search->memory->taken_counts.count &&
		search->memory->taken_counts.items[id] != 0;
}

bool bt_search_is_busy(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	bool is_taken_here = is_taken(search, device->id);

	if (!option->is_admin) {
		return is_taken_here ||
			bt_allocated_is_dedicated(&search->pools->dra->allocated, device->id);
	}
	for (uint32_t i = 0; is_taken_here && i < search->memory->taken.count; i++) {
		const struct bt_taken_device *taken = &search->memory->taken.items[i];
		if (taken->id == device->id && taken->option->claim == option->claim) {
			return true;
		}
	}
	return false;
}

static const struct bt_own_capacity *find_own_capacity(const struct bt_search *search, uint32_t id)
{
	for (uint32_t i = 0; i < search->memory->own.count; i++) {
		const struct bt_own_capacity *own = &search->memory->own.items[i];
		if (own->id == id) {
			return own;
		}
	}
	return NULL;
}

/** A device without capacities fits a request that asks for none. */
bool bt_search_capacity_fits(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	const struct bt_allocated_devices *allocated = &search->pools->dra->allocated;

	if (!search->pools->with_capacity) {
		return true;
	}
	if ((device->flags & BT_DEVICE_CAPACITY) == 0) {
		return option->capacity == NULL;
	}
	const struct bt_own_capacity *own = (device->flags & BT_DEVICE_SHAREABLE) != 0
		? find_own_capacity(search, device->id)
		: NULL;
	if (option->capacity == NULL && own == NULL &&
		!bt_allocated_is_held(allocated, device->id)) {
		return (device->flags & BT_DEVICE_CAPACITY_FITS) != 0;
	}
	return bt_device_capacity_fits(search->pools->rows.items[device->row].spec,
		option->capacity, bt_allocated_consumed(allocated, device->id),
		own != NULL ? &search->memory->own_amounts.items[own->first] : NULL);
}

static bt_int128 amount_of(
	const struct bt_option *option, const struct bt_device_capacity_entry *entry)
{
	struct bt_quantity amount = bt_device_capacity_consumed(option->capacity != NULL
			? bt_resource_list_find(option->capacity, entry->key)
			: NULL,
		&entry->value);

	return bt_device_amount(&amount);
}

bool bt_search_is_tolerated(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	return (device->flags & BT_DEVICE_TAINTED) == 0 ||
		bt_device_find_untolerated_taint(search->pools->rows.items[device->row].spec,
			option->tolerations, option->toleration_count) == NULL;
}

static const struct bt_device_attribute *find_entry(
	const struct bt_device *device, struct bt_str name)
{
	const struct bt_device_attribute_entry *entry = BT_STR_FIND(&device->attributes, key, name);

	return entry != NULL ? &entry->value : NULL;
}

/**
 * Find an attribute by its full name. If there is none and the domain of the name is the driver,
 * look for the name without domain.
 */
static const struct bt_device_attribute *find_attribute(
	const struct bt_search *search, uint32_t row, struct bt_str name)
{
	const struct bt_device_row *item = &search->pools->rows.items[row];
	const struct bt_device_attribute *found = find_entry(item->spec, name);

	if (found != NULL) {
		return found;
	}
	struct bt_str domain = bt_str_cut(&name, '/');
	if (name.data == NULL ||
		!bt_str_equal(
			domain, bt_pool_slice_value(search->pools, item->slice)->spec.driver)) {
		return NULL;
	}
	return find_entry(item->spec, name);
}

/** Values are equal only if both have the same comparable type. */
static bool is_same_value(const struct bt_device_attribute *a, const struct bt_device_attribute *b)
{
	if (a->string.data != NULL) {
		return b->string.data != NULL && bt_str_equal(a->string, b->string);
	}
	if (a->int_.present) {
		return b->int_.present && a->int_.value == b->int_.value;
	}
	if (a->bool_.present) {
		return b->bool_.present && a->bool_.value == b->bool_.value;
	}
	return a->version.data != NULL && b->version.data != NULL &&
		bt_str_equal(a->version, b->version);
}

/**
 * Returns the index at which a distinct constraint stores the value for the option: the index of
 * the first request with the name of the option's request.
 */
static uint32_t seen_index(const struct bt_search *search, const struct bt_option *option)
{
	const struct bt_prepared_claim *claim = &search->prepared->items[option->claim];
	uint32_t i = 0;

	while (!bt_str_equal(claim->claim->spec.devices.requests.items[i].name, option->base)) {
		i++;
	}
	return i;
}

bool bt_search_may_match(const struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_device *device)
{
	const struct bt_prepared_claim *claim = &search->prepared->items[option->claim];

	for (uint32_t i = 0; i < claim->constraint_count; i++) {
		const struct bt_prepared_constraint *constraint = &claim->constraints[i];
		if (!option->constraints[i] || !constraint->is_match) {
			continue;
		}
		const struct bt_device_attribute *value =
			find_attribute(search, device->row, constraint->spec->match_attribute);
		if (value == NULL ||
			(constraint->count != 0 && !is_same_value(constraint->value, value))) {
			return false;
		}
	}
	return true;
}

/** From the first `count` constraints of the claim, remove the device that was added last. */
static void remove_constraints(
	struct bt_search *search, const struct bt_option *option, uint32_t count)
{
	const struct bt_prepared_claim *claim = &search->prepared->items[option->claim];

	for (uint32_t i = 0; i < count; i++) {
		struct bt_prepared_constraint *constraint = &claim->constraints[i];
		if (!option->constraints[i]) {
			continue;
		}
		if (constraint->is_match) {
			constraint->count--;
		} else {
			constraint->seen[seen_index(search, option)] = NULL;
		}
	}
}

/** Add the device to a constraint. Returns false if the constraint rejects the device. */
static bool add_constraint(const struct bt_search *search, const struct bt_option *option,
	struct bt_prepared_constraint *constraint, uint32_t row)
{
	const struct bt_device_attribute *value = find_attribute(search, row,
		constraint->is_match ? constraint->spec->match_attribute
				     : constraint->spec->distinct_attribute);

	if (value == NULL) {
		return false;
	}
	if (constraint->is_match) {
		if (constraint->count == 0) {
			constraint->value = value;
		} else if (!is_same_value(constraint->value, value)) {
			return false;
		}
		constraint->count++;
		return true;
	}
	bool can_differ = value->string.data != NULL || value->int_.present ||
		value->bool_.present || value->version.data != NULL;
	for (uint32_t i = 0; i < constraint->seen_count; i++) {
		if (constraint->seen[i] != NULL &&
			(!can_differ || is_same_value(constraint->seen[i], value))) {
			return false;
		}
	}
	/* Upstream quirk, spec 12 section 21, D9: only one value is kept for each request name. */
	constraint->seen[seen_index(search, option)] = value;
	return true;
}

/**
 * Add the device to the constraints that apply to the option. If a constraint rejects the device,
 * removes the device from the earlier constraints and returns false.
 */
static bool add_constraints(struct bt_search *search, const struct bt_option *option, uint32_t row)
{
	const struct bt_prepared_claim *claim = &search->prepared->items[option->claim];

	for (uint32_t i = 0; i < claim->constraint_count; i++) {
		if (option->constraints[i] &&
			!add_constraint(search, option, &claim->constraints[i], row)) {
			remove_constraints(search, option, i);
			return false;
		}
	}
	return true;
}

static bool take_counters(struct bt_search *search, const struct bt_pool_view *view,
	const struct bt_pool_device *device)
{
	if ((device->flags & BT_DEVICE_COUNTERS) == 0) {
		return true;
	}
	if (!search->pools->with_partitions) {
		return false;
	}
	if ((device->flags & BT_DEVICE_SHAREABLE) != 0) {
		/*
		 * Only the first share that consumes capacity takes the counters ("capInUse" in
		 * spec 12).
		 */
		const struct bt_own_capacity *own = find_own_capacity(search, device->id);

		if (bt_allocated_consumed(&search->pools->dra->allocated, device->id) != NULL ||
			(own != NULL && own->is_consuming)) {
			return true;
		}
	}
	return bt_pool_counters_take(
		search->pools, view->pool, view->counters, device->consumption);
}

/*
 * Upstream quirk, spec 12 section 21, D6: counters that were taken are not given back if a later
 * check rejects the device.
 */
enum bt_search_result bt_search_take(struct bt_search *search, const struct bt_option *option,
	const struct bt_pool_view *view, const struct bt_pool_device *device, bool must)
{
	struct bt_taken_device taken = {
		.row = device->row,
		.id = device->id,
		.flags = device->flags,
		.consumption = device->consumption,
		.option = option,
		.view = view,
	};

	if (bt_search_is_busy(search, option, device) || !take_counters(search, view, device) ||
		!bt_search_is_tolerated(search, option, device)) {
		return BT_SEARCH_NO;
	}
	if (option->constraints != NULL && !add_constraints(search, option, device->row)) {
		const struct bt_device_row *item = &search->pools->rows.items[device->row];
		const struct bt_resource_slice *slice =
			bt_pool_slice_value(search->pools, item->slice);

		if (!must) {
			return BT_SEARCH_NO;
		}
		(void)bt_error_set(search->err, BERTH_ERR_INVALID,
			"claim %.*s, request %.*s: cannot add device %.*s/%.*s/%.*s because a "
			"claim constraint would not be satisfied",
			BT_STR_ARG(search->prepared->items[option->claim].key),
			BT_STR_ARG(option->sub.data != NULL ? option->sub : option->base),
			BT_STR_ARG(slice->spec.driver), BT_STR_ARG(slice->spec.pool.name),
			BT_STR_ARG(item->spec->name));
		return BT_SEARCH_ERROR;
	}
	if (!bt_search_capacity_fits(search, option, device)) {
		if (option->constraints != NULL) {
			remove_constraints(search, option,
				search->prepared->items[option->claim].constraint_count);
		}
		return BT_SEARCH_NO;
	}
	struct bt_search_memory *memory = search->memory;
	if ((device->flags & BT_DEVICE_SHAREABLE) != 0) {
		/* Count one more share with its capacity. */
		const struct bt_device *spec = search->pools->rows.items[device->row].spec;
		const struct bt_own_capacity *found = find_own_capacity(search, device->id);
		uint32_t at;

		if (found == NULL) {
			struct bt_own_capacity own = {
				.id = device->id, .first = memory->own_amounts.count};
			for (uint32_t i = 0; i < spec->capacity.count; i++) {
				bt_vec_push(&memory->own_amounts, 0);
			}
			at = memory->own.count;
			bt_vec_push(&memory->own, own);
		} else {
			at = (uint32_t)(found - memory->own.items);
		}
		memory->own.items[at].share_count++;
		memory->own.items[at].is_consuming = spec->capacity.count != 0;
		for (uint32_t i = 0; i < spec->capacity.count; i++) {
			memory->own_amounts.items[memory->own.items[at].first + i] +=
				amount_of(option, &spec->capacity.items[i]);
		}
		taken.own = at;
	} else {
		bt_vec_pad(&memory->taken_counts, device->id + 1, 0);
		memory->taken_counts.items[device->id]++;
	}
	memory->claim_counts.items[option->claim]++;
	bt_vec_push(&memory->taken, taken);
	return BT_SEARCH_YES;
}

void bt_search_release_device(struct bt_search *search)
{
	struct bt_search_memory *memory = search->memory;
	struct bt_taken_device taken = memory->taken.items[--memory->taken.count];

	memory->claim_counts.items[taken.option->claim]--;
	if (taken.option->constraints != NULL) {
		remove_constraints(search, taken.option,
			search->prepared->items[taken.option->claim].constraint_count);
	}
	if ((taken.flags & BT_DEVICE_SHAREABLE) != 0) {
		const struct bt_device *spec = search->pools->rows.items[taken.row].spec;
		struct bt_own_capacity *own = &memory->own.items[taken.own];

		own->is_consuming = false;
		for (uint32_t i = 0; i < spec->capacity.count; i++) {
			bt_int128 *amount = &memory->own_amounts.items[own->first + i];

			*amount -= amount_of(taken.option, &spec->capacity.items[i]);
			own->is_consuming = own->is_consuming || *amount != 0;
		}
		own->share_count--;
		/*
		 * Shares are given back in reverse order, so the amounts of this device are the
		 * last ones.
		 */
		if (own->share_count == 0) {
			memory->own_amounts.count = own->first;
			memory->own.count = taken.own;
		}
		return;
	}
	memory->taken_counts.items[taken.id]--;
	if ((taken.flags & BT_DEVICE_COUNTERS) != 0) {
		bt_pool_counters_release(taken.view->counters, taken.consumption);
	}
}
