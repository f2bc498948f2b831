/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The validation pass and the search on one node. A stack of frames replaces the recursion of the
 * spec, because users control the depth of the recursion. Spec: 12 sections 9.3 and 9.4.
 */
#include "dra/allocator_private.h"

/** Search steps between two polls of is_over. */
#define STEPS_BETWEEN_POLLS 256U

/** Count a step, and poll options.is_over every few steps. true: abort the search. */
static bool is_over(struct bt_search *search)
{
	const struct bt_allocator_options *options = &search->allocator->options;

	if (++search->steps >= STEPS_BETWEEN_POLLS && options->is_over != NULL) {
		search->steps = 0;
		search->is_over = search->is_over || options->is_over(options->context);
	}
	return search->is_over;
}

/** Collect the devices that a request with allocationMode All must get. */
static enum bt_search_result collect_all(struct bt_search *search, struct bt_option *option)
{
	struct bt_search_memory *memory = search->memory;

	option->all_first = memory->all_devices.count;
	for (uint32_t v = 0; v < search->node->items.count; v++) {
		const struct bt_pool_view *view = search->node->items.items[v].view;
		if (view->state != BT_POOL_COMPLETE) {
			/* allocationMode All needs complete pools. */
			(void)bt_error_set(search->err, BERTH_ERR_INVALID,
				"claim %.*s, request %.*s: asks for all devices, but resource pool "
				"%.*s/%.*s is "
				"currently %s",
				BT_STR_ARG(search->prepared->items[option->claim].key),
				BT_STR_ARG(option->sub.data != NULL ? option->sub : option->base),
				BT_STR_ARG(bt_pool_driver(search->pools, view->pool)),
				BT_STR_ARG(bt_pool_name(search->pools, view->pool)),
				view->state == BT_POOL_INCOMPLETE ? "being updated" : "invalid");
			return BT_SEARCH_ERROR;
		}
		for (uint32_t i = 0; i < view->devices.count; i++) {
			const struct bt_pool_device *device = &view->devices.items[i];
			enum bt_search_result selected = is_over(search)
				? BT_SEARCH_ERROR
				: bt_search_select(search, option, device);
			if (selected == BT_SEARCH_ERROR) {
				return BT_SEARCH_ERROR;
			}
			if (selected == BT_SEARCH_YES &&
				bt_search_capacity_fits(search, option, device)) {
				struct bt_all_device all = {.view = view, .device = device};
				bt_vec_push(&memory->all_devices, all);
			}
		}
	}
	return BT_SEARCH_YES;
}

enum bt_search_result bt_search_validate(struct bt_search *search)
{
	const struct bt_prepared *prepared = search->prepared;

	search->memory->all_devices.count = 0;
	for (uint32_t c = 0; c < prepared->count; c++) {
		const struct bt_prepared_claim *claim = &prepared->items[c];
		int64_t total = 0;

		for (uint32_t r = 0; r < claim->request_count; r++) {
			const struct bt_prepared_request *request =
				&prepared->requests[claim->first_request + r];
			int64_t least = INT64_MAX;

			for (uint32_t i = 0; i < request->option_count; i++) {
				struct bt_option *option =
					&prepared->options[request->first_option + i];
				if (option->problem.data != NULL) {
					(void)bt_error_set(search->err, BERTH_ERR_INVALID, "%.*s",
						BT_STR_ARG(option->problem));
					return BT_SEARCH_ERROR;
				}
				if (option->needs_all) {
					enum bt_search_result result = collect_all(search, option);
					if (result != BT_SEARCH_YES) {
						return result;
					}
					option->count = search->memory->all_devices.count -
						option->all_first;
				}
				least = option->count < least ? option->count : least;
			}
			if (BT_ADD_OVERFLOW(total, least, &total)) {
				total = INT64_MAX;
				break;
			}
		}
		if (total > BT_CLAIM_DEVICES_MAX) {
			(void)bt_error_set(search->err, BERTH_ERR_INVALID,
				"claim %.*s: number of requested devices %lld exceeds the claim "
				"limit of %d",
				BT_STR_ARG(claim->key), (long long)total, BT_CLAIM_DEVICES_MAX);
			return BT_SEARCH_ERROR;
		}
		if (claim->constraint_problem.data != NULL) {
			(void)bt_error_set(search->err, BERTH_ERR_INVALID, "%.*s",
				BT_STR_ARG(claim->constraint_problem));
			return BT_SEARCH_ERROR;
		}
	}
	return BT_SEARCH_YES;
}

/**
 * If the position is behind the last device of a view, move the position to the first device in a
 * later view. Returns false if no device is left.
 */
static bool device_at(const struct bt_search *search, uint32_t *view, uint32_t *device)
{
	while (*view < search->node->items.count) {
		if (*device < search->node->items.items[*view].view->devices.count) {
			return true;
		}
		(*view)++;
		*device = 0;
	}
	return false;
}

/**
 * Whether the frame must fail, because too few usable devices are left from its position on. This
 * check saves a search that would try every free device and then fail. If a selector fails with an
 * error, the check returns false, and the search reports the error.
 *
 * Returns false without counting if devices consume counters or if a distinct constraint applies.
 * Failed tries change the state of counters and of distinct constraints (spec 12 section 21, D6 and
 * D9), so the search must run.
 */
static bool is_hopeless(struct bt_search *search, const struct bt_search_frame *frame)
{
	const struct bt_option *option = &search->prepared->options[frame->option];
	int64_t wanted = option->count - frame->number;
	uint32_t view = frame->view;
	uint32_t device = frame->device;

	if (wanted < 2 || search->node->has_counters || option->has_distinct ||
		(frame->number != 0 && !search->has_backtracked)) {
		return false;
	}
	for (; device_at(search, &view, &device); device++) {
		const struct bt_pool_device *item =
			&search->node->items.items[view].view->devices.items[device];
		if (is_over(search)) {
			return false;
		}
		if (bt_search_is_busy(search, option, item)) {
			continue;
		}
		enum bt_search_result selected = bt_search_select(search, option, item);
		if (selected == BT_SEARCH_ERROR) {
			berth_error_finish(search->err);
			return false; /* the search reports the error */
		}
		if (selected == BT_SEARCH_YES && bt_search_capacity_fits(search, option, item) &&
			bt_search_is_tolerated(search, option, item) &&
			(option->constraints == NULL ||
				bt_search_may_match(search, option, item)) &&
			--wanted == 0) {
			return false;
		}
	}
	return true;
}

/** The next step of the search: claim, request, alternative, device. */
struct position {
	uint32_t claim;
	uint32_t request;
	uint32_t option; /* BT_DEVICE_NONE: not chosen yet */
	int64_t number;
	uint32_t view;
	uint32_t device;
};

/** The result of a branch of the search, and the claim to which TOO_MANY applies. */
struct outcome {
	enum bt_search_result result;
	uint32_t claim;
};

static struct position start_of(uint32_t claim, uint32_t request)
{
	return (struct position){.claim = claim, .request = request, .option = BT_DEVICE_NONE};
}

/**
 * Advance *at to the next device to choose, push the frame of this choice and return true. If the
 * branch has ended, return false with the result in *out_outcome.
 */
static bool find_next_choice(
	struct bt_search *search, struct position *at, struct outcome *out_outcome)
{
	const struct bt_prepared *prepared = search->prepared;

	for (;;) {
		const struct bt_prepared_claim *claim = &prepared->items[at->claim];
		out_outcome->claim = at->claim;
		if (at->claim == prepared->count) {
			out_outcome->result = BT_SEARCH_YES;
			return false;
		}
		if (at->request == claim->request_count) {
			*at = start_of(at->claim + 1, 0);
			continue;
		}
		const struct bt_prepared_request *request =
			&prepared->requests[claim->first_request + at->request];
		if (at->option == BT_DEVICE_NONE) {
			at->option = request->first_option;
			if (request->has_alternatives) {
				struct bt_search_frame frame = {
					.claim = at->claim,
					.request = at->request,
					.option = at->option,
					.is_choice = true,
					.all_too_many = true,
				};

				bt_vec_push(&search->memory->frames, frame);
			}
		}
		const struct bt_option *option = &prepared->options[at->option];
		if (option->needs_all && option->count == 0) {
			out_outcome->result = BT_SEARCH_NO;
			return false;
		}
		if (at->number >= option->count) {
			*at = start_of(at->claim, at->request + 1);
			continue;
		}
		if (option->count - at->number > BT_CLAIM_DEVICES_MAX -
				(int64_t)search->memory->claim_counts.items[at->claim]) {
			out_outcome->result = BT_SEARCH_TOO_MANY;
			return false;
		}
		struct bt_search_frame frame = {
			.claim = at->claim,
			.request = at->request,
			.option = at->option,
			.number = at->number,
			.view = at->view,
			.device = at->device,
		};

		bt_vec_push(&search->memory->frames, frame);
		return true;
	}
}

/**
 * Try devices from the top frame's position on, and move the position behind the last device tried.
 * With allocationMode All, tries only the device that the frame must take. YES: a device was taken,
 * and *at is the next position.
 */
static enum bt_search_result advance(struct bt_search *search, struct position *at)
{
	struct bt_search_memory *memory = search->memory;
	struct bt_search_frame *frame = &memory->frames.items[memory->frames.count - 1];
	const struct bt_option *option = &search->prepared->options[frame->option];
	enum bt_search_result result = BT_SEARCH_NO;

	if (option->needs_all) {
		const struct bt_all_device *all =
			&memory->all_devices.items[option->all_first + (uint32_t)frame->number];
		result = bt_search_take(search, option, all->view, all->device, true);
	} else {
		while (result == BT_SEARCH_NO && device_at(search, &frame->view, &frame->device)) {
			const struct bt_pool_view *view =
				search->node->items.items[frame->view].view;
			const struct bt_pool_device *device = &view->devices.items[frame->device];
			if (is_over(search)) {
				return BT_SEARCH_ERROR;
			}
			if (!bt_search_is_busy(search, option, device)) {
				result = bt_search_select(search, option, device);
			}
			if (result == BT_SEARCH_YES) {
				result = bt_search_capacity_fits(search, option, device)
					? bt_search_take(search, option, view, device, false)
					: BT_SEARCH_NO;
			}
			frame->device++;
		}
	}
	if (result == BT_SEARCH_YES) {
		frame->has_taken = true;
		*at = (struct position){
			.claim = frame->claim,
			.request = frame->request,
			.option = frame->option,
			.number = frame->number + 1,
			.view = option->needs_all ? 0 : frame->view,
			.device = option->needs_all ? 0 : frame->device,
		};
	}
	return result;
}

enum backtrack_result {
	BACKTRACK_END,    /* there is nothing left to try */
	BACKTRACK_ENTER,  /* continue at *at */
	BACKTRACK_DEVICE, /* continue with the next device of the top frame */
};

/** Decide what to try next after a branch has failed. */
static enum backtrack_result backtrack(
	struct bt_search *search, struct outcome *outcome, struct position *at)
{
	struct bt_search_memory *memory = search->memory;

	search->has_backtracked = true;
	while (memory->frames.count != 0) {
		struct bt_search_frame *frame = &memory->frames.items[memory->frames.count - 1];
		if (frame->claim != outcome->claim && outcome->result == BT_SEARCH_TOO_MANY) {
			outcome->result = BT_SEARCH_NO;
		}
		outcome->claim = frame->claim;
		if (frame->is_choice) {
			const struct bt_prepared *prepared = search->prepared;
			const struct bt_prepared_request *request =
				&prepared->requests[prepared->items[frame->claim].first_request +
					frame->request];

			frame->all_too_many =
				frame->all_too_many && outcome->result == BT_SEARCH_TOO_MANY;
			if (++frame->option != request->first_option + request->option_count) {
				*at = (struct position){.claim = frame->claim,
					.request = frame->request,
					.option = frame->option};
				return BACKTRACK_ENTER;
			}
			/* There is no other alternative: combine the results of all. */
			outcome->result = frame->all_too_many ? BT_SEARCH_TOO_MANY : BT_SEARCH_NO;
		} else {
			bool has_more = frame->has_taken && outcome->result == BT_SEARCH_NO &&
				!search->prepared->options[frame->option].needs_all;
			if (frame->has_taken) {
				bt_search_release_device(search);
				frame->has_taken = false;
			}
			if (has_more) {
				return BACKTRACK_DEVICE;
			}
		}
		memory->frames.count--;
	}
	return BACKTRACK_END;
}

enum bt_search_result bt_search_run(struct bt_search *search)
{
	struct bt_search_memory *memory = search->memory;
	struct position at = start_of(0, 0);
	struct outcome outcome = {0};
	bool is_entering = true;

	memory->frames.count = 0;
	memory->claim_counts.count = 0;
	for (uint32_t c = 0; c < search->prepared->count; c++) {
		bt_vec_push(&memory->claim_counts, 0);
	}
	for (;;) {
		if (is_entering) {
			if (!find_next_choice(search, &at, &outcome)) {
				if (outcome.result == BT_SEARCH_YES) {
					return BT_SEARCH_YES;
				}
			} else {
				struct bt_search_frame *frame =
					&memory->frames.items[memory->frames.count - 1];
				outcome.result =
					!search->prepared->options[frame->option].needs_all &&
						is_hopeless(search, frame)
					? BT_SEARCH_NO
					: advance(search, &at);
			}
		} else {
			outcome.result = advance(search, &at);
		}
		if (outcome.result == BT_SEARCH_YES) {
			is_entering = true;
			continue;
		}
		if (outcome.result == BT_SEARCH_ERROR) {
			return BT_SEARCH_ERROR;
		}
		switch (backtrack(search, &outcome, &at)) {
		case BACKTRACK_END:
			return outcome.result;
		case BACKTRACK_ENTER:
			is_entering = true;
			break;
		case BACKTRACK_DEVICE:
			is_entering = false;
			break;
		}
	}
}

void bt_search_memory_destroy(struct bt_search_memory *memory)
{
	if (memory == NULL) {
		return;
	}
	bt_vec_finish(&memory->frames);
	bt_vec_finish(&memory->taken);
	bt_vec_finish(&memory->taken_counts);
	bt_vec_finish(&memory->claim_counts);
	bt_vec_finish(&memory->all_devices);
	bt_vec_finish(&memory->own);
	bt_vec_finish(&memory->own_amounts);
	bt_free(memory);
}
