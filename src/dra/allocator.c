/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/allocator.h"

#include "dra/allocator_private.h"

/** Score of the first alternative of a request; each further alternative scores 1 less. */
#define FIRST_AVAILABLE_SCORE 8U

/**
 * Compare cached verdicts and counters of the node's devices with recomputed ones (BERTH_VERIFY=1).
 */
static void verify_devices(const struct bt_search *search)
{
	struct bt_device_pools *pools = search->pools;

	for (uint32_t v = 0; v < search->node->items.count; v++) {
		const struct bt_pool_view *view = search->node->items.items[v].view;
		for (uint32_t n = 0; n < view->devices.count * search->prepared->option_count;
			n++) {
			uint32_t row = view->devices.items[n / search->prepared->option_count].row;
			const struct bt_option *option =
				&search->prepared->options[n % search->prepared->option_count];
			for (uint32_t i = 0; i < option->program_count; i++) {
				const struct bt_selector_program *program =
					&pools->programs.items[option->programs[i]];
				if (!bt_selector_verdict_is_valid(pools, program, row)) {
					bt_panic("allocator: the cached verdict of %.*s on device "
						 "%.*s is wrong",
						(int)program->length, program->text,
						BT_STR_ARG(pools->rows.items[row].spec->name));
				}
			}
		}
		struct bt_pool_counters *counters = view->counters;
		if (counters == NULL || !counters->is_fresh ||
			counters->version !=
				bt_allocated_pool_version(&pools->dra->allocated,
					pools->pools.items[view->pool].id)) {
			continue;
		}
		/* The version is unchanged, so a refresh must not change a counter. */
		bt_int128 *kept = bt_calloc(counters->counters.count, sizeof(*kept));
		for (uint32_t i = 0; i < counters->counters.count; i++) {
			kept[i] = counters->counters.items[i].available;
		}
		bt_pool_counters_refresh(pools, view->pool, counters);
		for (uint32_t i = 0; i < counters->counters.count; i++) {
			if (kept[i] != counters->counters.items[i].available) {
				bt_panic("allocator: cached counters of pool %.*s/%.*s are wrong",
					BT_STR_ARG(bt_pool_driver(pools, view->pool)),
					BT_STR_ARG(bt_pool_name(pools, view->pool)));
			}
		}
		bt_free(kept);
	}
}

struct bt_allocator *bt_allocator_create(
	struct bt_dra *dra, const struct bt_allocator_options *options, struct bt_arena *arena)
{
	struct bt_allocator *allocator = BT_ARENA_NEW(arena, struct bt_allocator);

	allocator->pools = dra->pools;
	allocator->options = *options;
	allocator->arena = arena;
	bt_device_pools_catch_up(dra->pools);
	if (dra->pools->search == NULL) {
		dra->pools->search = BT_NEW(struct bt_search_memory);
	}
	return allocator;
}

/**
 * Whether a pool has a node selector that cannot be parsed, which makes the whole allocation fail.
 * Sets search->err.
 */
static bool has_broken_pool(const struct bt_search *search)
{
	const struct bt_device_pools *pools = search->pools;

	for (uint32_t i = 0; i < search->node->items.count; i++) {
		const struct bt_pool_view *view = search->node->items.items[i].view;
		if (view->state != BT_POOL_BROKEN) {
			continue;
		}
		bool is_device = view->broken_row != BT_DEVICE_NONE;
		(void)bt_error_set(search->err, BERTH_ERR_INVALID,
			"gather pool information: failed to perform node selection for "
			"%s%.*s%sslice %.*s: %s%.*s",
			is_device ? "device " : "",
			BT_STR_ARG(is_device ? pools->rows.items[view->broken_row].spec->name
					     : BT_STR("")),
			is_device ? " in " : "",
			BT_STR_ARG(pools->slices.items[view->slices.items[0]].object->meta->name),
			is_device ? "" : "failed to parse node selector: ",
			BT_STR_ARG(pools->scopes.items[view->broken_scope].problem));
		return true;
	}
	return false;
}

void bt_search_begin(struct bt_search *search, struct bt_allocator *allocator, uint32_t slot,
	const struct bt_resource_claim *const *claims, uint32_t count, struct berth_error *err)
{
	*search = (struct bt_search){
		.allocator = allocator,
		.pools = allocator->pools,
		.memory = allocator->pools->search,
		.prepared = bt_prepared_of(allocator, claims, count),
		.node = bt_device_pools_of_node(allocator->pools, slot),
		.slot = slot,
		.err = err,
	};
	search->pools->call++;
	if (search->prepared->has_constraints) {
		const struct bt_prepared *prepared = search->prepared;
		for (uint32_t c = 0; c < prepared->count; c++) {
			for (uint32_t i = 0; i < prepared->items[c].constraint_count; i++) {
				struct bt_prepared_constraint *constraint =
					&prepared->items[c].constraints[i];
				constraint->count = 0;
				constraint->value = NULL;
				for (uint32_t k = 0; k < constraint->seen_count; k++) {
					constraint->seen[k] = NULL;
				}
			}
		}
	}
}

struct bt_node_allocation bt_allocator_allocate(struct bt_allocator *allocator, uint32_t slot,
	const struct bt_resource_claim *const *claims, uint32_t count,
	const struct bt_allocation_choice **out_choice, struct berth_error *err)
{
	struct bt_search search;
	struct bt_node_allocation answer = {BT_ALLOCATION_NONE, 0};
	enum bt_search_result result = BT_SEARCH_YES;

	if (out_choice != NULL) {
		*out_choice = NULL;
	}
	if (allocator->options.begin != NULL) {
		allocator->options.begin(allocator->options.context);
	}
	bt_search_begin(&search, allocator, slot, claims, count, err);
	if (BT_UNLIKELY(allocator->options.verify)) {
		bt_device_pools_verify_node(search.pools, search.slot);
		verify_devices(&search);
		search.node = bt_device_pools_of_node(search.pools, search.slot);
	}
	if (BT_UNLIKELY(search.node->has_problem) && has_broken_pool(&search)) {
		answer.outcome = BT_ALLOCATION_ERROR;
		return answer;
	}
	if (search.prepared->needs_check) {
		result = bt_search_validate(&search);
	}
	if (result == BT_SEARCH_YES) {
		result = bt_search_run(&search);
	}
	const struct bt_search_memory *memory = search.memory;
	switch (result) {
	case BT_SEARCH_YES:
		answer.outcome = BT_ALLOCATION_FOUND;
		for (uint32_t i = 0; i < memory->taken.count; i++) {
			/*
			 * The devices of a request follow one another; add the score of a request
			 * only once.
			 */
			const struct bt_option *option = memory->taken.items[i].option;
			const struct bt_prepared *prepared = search.prepared;
			const struct bt_prepared_request *request =
				&prepared->requests[prepared->items[option->claim].first_request +
					option->request];

			if (request->has_alternatives &&
				(i == 0 || memory->taken.items[i - 1].option != option)) {
				answer.score += FIRST_AVAILABLE_SCORE -
					(uint32_t)(option -
						&prepared->options[request->first_option]);
			}
		}
		if (out_choice != NULL) {
			struct bt_allocation_choice *choice = bt_arena_alloc(allocator->arena,
				sizeof(*choice) + memory->taken.count * sizeof(choice->devices[0]));
			*choice = (struct bt_allocation_choice){
				search.prepared, slot, memory->taken.count};
			for (uint32_t i = 0; i < memory->taken.count; i++) {
				choice->devices[i].row = memory->taken.items[i].row;
				choice->devices[i].option = memory->taken.items[i].option;
			}
			*out_choice = choice;
		}
		break;
	case BT_SEARCH_ERROR:
		answer.outcome = search.is_over ? BT_ALLOCATION_OVER : BT_ALLOCATION_ERROR;
		break;
	case BT_SEARCH_NO:
	case BT_SEARCH_TOO_MANY:
		for (uint32_t i = 0; search.node->has_problem && i < search.node->items.count;
			i++) {
			if (search.node->items.items[i].view->state == BT_POOL_INVALID) {
				answer.outcome = BT_ALLOCATION_INVALID_POOL;
			}
		}
		break;
	}
	/* Give back all devices: the search must leave no trace. */
	while (search.memory->taken.count != 0) {
		bt_search_release_device(&search);
	}
	return answer;
}
