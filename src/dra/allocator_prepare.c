/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares a list of claims for the allocator: resolves names to classes and programs, and formats
 * the errors that do not depend on the node. Spec: 12 section 9.3.
 */
#include "dra/allocator_private.h"

/** Formats "claim X, request Q: <problem>". */
#define OPTION_PROBLEM(allocator, key, name, format, ...) \
	bt_arena_printf((allocator)->arena, "claim %.*s, request %.*s: " format, BT_STR_ARG(key), \
		BT_STR_ARG(name), __VA_ARGS__)

/** Returns the first problem of the option itself (spec 12 section 9.3, item 3); absent: none. */
static struct bt_str find_problem(struct bt_allocator *allocator, struct bt_str key,
	struct bt_str name, const struct bt_exact_device_request *request,
	const struct bt_device_class *device_class)
{
	const struct bt_gates *gates = allocator->pools->dra->gates;

	for (uint32_t i = 0; i < request->selectors.count; i++) {
		if (request->selectors.items[i].cel == NULL) {
			return bt_arena_printf(allocator->arena,
				"claim %.*s, request %.*s, selector #%u: CEL expression empty "
				"(unsupported selector type?)",
				BT_STR_ARG(key), BT_STR_ARG(name), i);
		}
	}
	if (request->admin_access.present && !bt_gate_enabled(gates, BT_GATE_DRA_ADMIN_ACCESS)) {
		return OPTION_PROBLEM(allocator, key, name, "%s",
			"admin access is requested, but the feature is disabled");
	}
	if (request->device_class_name.length == 0) {
		return OPTION_PROBLEM(allocator, key, name, "%s",
			"missing device class name (unsupported request type?)");
	}
	if (device_class == NULL) {
		return OPTION_PROBLEM(allocator, key, name,
			"could not retrieve device class %.*s: deviceclass.resource.k8s.io "
			"\"%.*s\" not found",
			BT_STR_ARG(request->device_class_name),
			BT_STR_ARG(request->device_class_name));
	}
	if (!bt_str_equal(request->allocation_mode, BT_STR("ExactCount")) &&
		!bt_str_equal(request->allocation_mode, BT_STR("All"))) {
		return OPTION_PROBLEM(allocator, key, name, "unsupported count mode %.*s",
			BT_STR_ARG(request->allocation_mode));
	}
	return (struct bt_str){0};
}

static struct bt_str expression_of(const struct bt_device_selector *selector)
{
	return selector->cel != NULL ? selector->cel->expression : BT_STR("");
}

/**
 * Whether the `requests` list of a constraint or configuration names the option. Spec 12 section
 * 9.9.
 */
bool bt_names_option(const bt_str_list *names, const struct bt_option *option, struct bt_str full)
{
	return bt_str_list_has(names, option->base) ||
		(option->sub.data != NULL && bt_str_list_has(names, full));
}

static void find_constraints(struct bt_allocator *allocator, const struct bt_resource_claim *claim,
	struct bt_option *option)
{
	uint32_t count = claim->spec.devices.constraints.count;

	if (count == 0) {
		return;
	}
	struct bt_str full = bt_option_name(option, allocator->arena);
	bool *applies = BT_ARENA_NEW_ARRAY(allocator->arena, bool, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_device_constraint *spec = &claim->spec.devices.constraints.items[i];
		applies[i] =
			spec->requests.count == 0 || bt_names_option(&spec->requests, option, full);
		option->has_distinct =
			option->has_distinct || (applies[i] && spec->match_attribute.data == NULL);
	}
	option->constraints = applies;
}

struct bt_str bt_option_name(const struct bt_option *option, struct bt_arena *arena)
{
	if (option->sub.data == NULL) {
		return option->base;
	}
	return bt_arena_printf(
		arena, "%.*s/%.*s", BT_STR_ARG(option->base), BT_STR_ARG(option->sub));
}

/**
 * Returns the error for the first feature of the request whose gate is off (spec 12 section 9.3,
 * items 1 and 2); absent: none.
 */
static struct bt_str find_request_problem(
	struct bt_allocator *allocator, struct bt_str key, const struct bt_device_request *request)
{
	const struct bt_gates *gates = allocator->pools->dra->gates;

	if (request->exactly == NULL && request->first_available.count != 0 &&
		!bt_gate_enabled(gates, BT_GATE_DRA_PRIORITIZED_LIST)) {
		return OPTION_PROBLEM(allocator, key, request->name, "%s",
			"has subrequests, but the DRAPrioritizedList feature is disabled");
	}
	if (allocator->pools->with_capacity) {
		return (struct bt_str){0};
	}
	if (request->exactly != NULL && request->exactly->capacity != NULL) {
		return OPTION_PROBLEM(allocator, key, request->name, "%s",
			"has capacity requests, but the DRAConsumableCapacity feature is disabled");
	}
	for (uint32_t i = 0; request->exactly == NULL && i < request->first_available.count; i++) {
		if (request->first_available.items[i].capacity != NULL) {
			return bt_arena_printf(allocator->arena,
				"claim %.*s, subrequest %.*s: has capacity requests, but the "
				"DRAConsumableCapacity feature is disabled",
				BT_STR_ARG(key),
				BT_STR_ARG(request->first_available.items[i].name));
		}
	}
	return (struct bt_str){0};
}

static void prepare_request(struct bt_allocator *allocator, struct bt_prepared *prepared,
	uint32_t claim, uint32_t number)
{
	const struct bt_prepared_claim *owner = &prepared->items[claim];
	struct bt_prepared_request *item = &prepared->requests[owner->first_request + number];
	const struct bt_device_request *request =
		&owner->claim->spec.devices.requests.items[number];
	struct bt_str problem = find_request_problem(allocator, owner->key, request);

	item->first_option = prepared->option_count;
	item->has_alternatives = request->exactly == NULL && request->first_available.count != 0;
	item->option_count = item->has_alternatives ? request->first_available.count : 1;
	for (uint32_t i = 0; i < item->option_count; i++) {
		struct bt_exact_device_request exact = {0};
		struct bt_option *option = &prepared->options[prepared->option_count++];
		option->base = request->name;
		if (item->has_alternatives) {
			/* A subrequest has the fields of a request, except adminAccess. */
			const struct bt_device_sub_request *sub =
				&request->first_available.items[i];
			option->sub = sub->name.data != NULL ? sub->name : BT_STR("");
			exact = (struct bt_exact_device_request){
				.device_class_name = sub->device_class_name,
				.selectors = sub->selectors,
				.allocation_mode = sub->allocation_mode,
				.count = sub->count,
				.tolerations = sub->tolerations,
				.capacity = sub->capacity,
			};
		} else if (request->exactly != NULL) {
			exact = *request->exactly;
		}
		option->claim = claim;
		option->request = number;
		option->selectors = exact.selectors.items;
		option->tolerations = exact.tolerations.items;
		option->toleration_count = exact.tolerations.count;
		option->capacity = exact.capacity != NULL && exact.capacity->requests.count != 0
			? &exact.capacity->requests
			: NULL;
		option->is_admin = exact.admin_access.present && exact.admin_access.value;
		option->needs_all = bt_str_equal(exact.allocation_mode, BT_STR("All"));
		option->count = exact.count;
		option->device_class = bt_object_store_find(&allocator->pools->dra->state->objects,
			BT_KIND_DEVICE_CLASS, BT_STR(""), exact.device_class_name);
		option->problem = problem.data != NULL
			? problem
			: find_problem(allocator, owner->key,
				  item->has_alternatives ? option->sub : option->base, &exact,
				  option->device_class);
		if (option->problem.data == NULL) {
			const struct bt_device_class *device_class = option->device_class;

			option->class_program_count = device_class->spec.selectors.count;
			option->program_count = option->class_program_count + exact.selectors.count;
			option->programs = BT_ARENA_NEW_ARRAY(
				allocator->arena, uint32_t, option->program_count);
			for (uint32_t k = 0; k < option->class_program_count; k++) {
				option->programs[k] = bt_selector_intern(allocator->pools,
					expression_of(&device_class->spec.selectors.items[k]));
			}
			for (uint32_t k = 0; k < exact.selectors.count; k++) {
				option->programs[option->class_program_count + k] =
					bt_selector_intern(allocator->pools,
						expression_of(&exact.selectors.items[k]));
			}
		}
		find_constraints(allocator, owner->claim, option);
		prepared->needs_check =
			prepared->needs_check || option->needs_all || option->problem.data != NULL;
	}
}

struct bt_prepared *bt_prepared_of(struct bt_allocator *allocator,
	const struct bt_resource_claim *const *claims, uint32_t count)
{
	struct bt_prepared *prepared = allocator->prepared;

	if (prepared != NULL && prepared->count == count &&
		prepared->drop_count == allocator->pools->drop_count) {
		uint32_t i = 0;
		while (i < count && prepared->claims[i] == claims[i]) {
			i++;
		}
		if (i == count) {
			return prepared;
		}
	}
	struct bt_prepared *made = BT_ARENA_NEW(allocator->arena, struct bt_prepared);
	uint32_t option_count = 0;
	uint32_t request_count = 0;
	uint32_t first_request = 0;

	for (uint32_t c = 0; c < count; c++) {
		request_count += claims[c]->spec.devices.requests.count;
		for (uint32_t r = 0; r < claims[c]->spec.devices.requests.count; r++) {
			option_count +=
				claims[c]->spec.devices.requests.items[r].first_available.count + 1;
		}
	}
	allocator->pools->tick++;
	made->claims =
		BT_ARENA_NEW_ARRAY(allocator->arena, const struct bt_resource_claim *, count);
	made->count = count;
	made->items = BT_ARENA_NEW_ARRAY(allocator->arena, struct bt_prepared_claim, count);
	made->requests =
		BT_ARENA_NEW_ARRAY(allocator->arena, struct bt_prepared_request, request_count);
	made->options = BT_ARENA_NEW_ARRAY(allocator->arena, struct bt_option, option_count);
	for (uint32_t c = 0; c < count; c++) {
		const struct bt_resource_claim *claim = claims[c];
		const struct bt_object_meta *meta = &claim->metadata;
		struct bt_prepared_claim *item = &made->items[c];
		int64_t total = 0;

		made->claims[c] = claim;
		item->claim = claim;
		item->key = bt_arena_printf(allocator->arena, "%.*s/%.*s",
			BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
		item->first_request = first_request;
		item->request_count = claim->spec.devices.requests.count;

		item->constraint_count = claim->spec.devices.constraints.count;
		item->constraints = BT_ARENA_NEW_ARRAY(
			allocator->arena, struct bt_prepared_constraint, item->constraint_count);
		for (uint32_t k = 0; k < item->constraint_count; k++) {
			struct bt_prepared_constraint *constraint = &item->constraints[k];
			const struct bt_device_constraint *spec =
				&claim->spec.devices.constraints.items[k];
			constraint->spec = spec;
			constraint->is_match = spec->match_attribute.data != NULL;
			if (!constraint->is_match) {
				constraint->seen_count = item->request_count;
				constraint->seen = BT_ARENA_NEW_ARRAY(allocator->arena,
					const struct bt_device_attribute *, constraint->seen_count);
			}
			if (item->constraint_problem.data == NULL && !constraint->is_match &&
				(spec->distinct_attribute.data == NULL ||
					!allocator->pools->with_capacity)) {
				item->constraint_problem = bt_arena_printf(allocator->arena,
					"claim %.*s, constraint #%u: empty constraint (unsupported "
					"constraint type?)",
					BT_STR_ARG(item->key), k);
			}
		}
		for (uint32_t r = 0; r < item->request_count; r++) {
			const struct bt_prepared_request *request =
				&made->requests[first_request + r];
			int64_t least = INT64_MAX;
			prepare_request(allocator, made, c, r);
			for (uint32_t i = 0; i < request->option_count; i++) {
				int64_t wanted = made->options[request->first_option + i].count;
				wanted = wanted < 0 ? 0 : wanted;
				least = wanted < least ? wanted : least;
			}
			total += least > BT_CLAIM_DEVICES_MAX ? BT_CLAIM_DEVICES_MAX + 1 : least;
			made->needs_check = made->needs_check || total > BT_CLAIM_DEVICES_MAX;
		}
		made->has_constraints = made->has_constraints || item->constraint_count != 0;
		made->needs_check = made->needs_check || item->constraint_problem.data != NULL;
		first_request += made->items[c].request_count;
	}
	made->drop_count = allocator->pools->drop_count;
	allocator->prepared = made;
	return made;
}
