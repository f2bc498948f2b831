/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/elector.h"

#include "api/time.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"

#define US_PER_SECOND 1000000
/* Last second of the year 9999, and first second of year 1: microseconds fit int64_t. */
#define SECONDS_MAX INT64_C(253402300799)
#define SECONDS_MIN INT64_C(-62135596800)

static int64_t read_time(const struct bt_json_value *lease, const char *path)
{
	struct bt_time time = bt_time_or_zero(bt_json_text_at(lease, path));
	if (!time.set || time.seconds < SECONDS_MIN || time.seconds > SECONDS_MAX) {
		return 0;
	}
	return time.seconds * US_PER_SECOND + time.nanoseconds / BT_NS_PER_US;
}

void bt_lease_record_read(const struct bt_json_value *lease, struct bt_lease_record *out_record)
{
	*out_record = (struct bt_lease_record){
		.holder = bt_json_text_at(lease, "spec.holderIdentity"),
		.duration_seconds = bt_json_int64_at(lease, "spec.leaseDurationSeconds", 0),
		.acquire_us = read_time(lease, "spec.acquireTime"),
		.renew_us = read_time(lease, "spec.renewTime"),
		.transitions = bt_json_int64_at(lease, "spec.leaseTransitions", 0),
		.preferred_holder = bt_json_text_at(lease, "spec.preferredHolder"),
		.strategy = bt_json_text_at(lease, "spec.strategy"),
	};
}

static struct bt_json_value *new_time(struct bt_arena *arena, int64_t time_us)
{
	if (time_us == 0) {
		return bt_json_new(arena, BT_JSON_NULL);
	}
	int64_t rest = time_us % US_PER_SECOND;
	int64_t seconds = time_us / US_PER_SECOND;
	if (rest < 0) {
		rest += US_PER_SECOND;
		seconds--;
	}
	struct bt_time time = {seconds, (int32_t)(rest * BT_NS_PER_US), true};
	struct bt_strbuf text = {0};
	bt_micro_time_format(&time, &text);
	return bt_json_new_str(arena, bt_arena_take_strbuf(arena, &text));
}

struct bt_json_value *bt_lease_record_write(
	const struct bt_lease_record *record, struct bt_arena *arena)
{
	return bt_json_put(arena, NULL,
		"{holderIdentity: %s, leaseDurationSeconds: %d, acquireTime: %v, renewTime: %v, "
		"leaseTransitions: %d, strategy?: %s, preferredHolder?: %s}",
		record->holder, (int64_t)record->duration_seconds,
		new_time(arena, record->acquire_us), new_time(arena, record->renew_us),
		(int64_t)record->transitions, record->strategy, record->preferred_holder);
}

#define CANCELLED "context canceled"
#define DEADLINE_EXCEEDED "context deadline exceeded"
/*
 * The pause between two tries to acquire is the retry period plus 0 to 12 tenths (random) of the
 * retry period.
 */
#define JITTER_TENTHS 12
#define RECORD_BYTES 128

void bt_elector_init(struct bt_elector *elector, const struct bt_elector_options *options)
{
	*elector = (struct bt_elector){.options = *options};
	bt_arena_init(&elector->observed_arena, RECORD_BYTES);
	bt_arena_init(&elector->fetched_arena, RECORD_BYTES);
}

void bt_elector_finish(struct bt_elector *elector)
{
	bt_arena_finish(&elector->observed_arena);
	bt_arena_finish(&elector->fetched_arena);
}

static bool is_own_lease(const struct bt_elector *elector, const struct bt_lease_record *record)
{
	return bt_str_equal(record->holder, elector->options.identity);
}

bool bt_elector_may_act(const struct bt_elector *elector, int64_t steady_ns)
{
	/*
	 * Other candidates wait for the record's duration, which is in whole seconds. A duration
	 * below one second (0 in the record) gives no protection, as with upstream.
	 */
	int64_t window_ns = elector->options.renew_deadline_ns;
	int64_t lease_ns = bt_ns_of_seconds(elector->observed.duration_seconds);
	if (lease_ns > 0 && lease_ns < window_ns) {
		window_ns = lease_ns;
	}
	return elector->phase == BT_ELECTOR_PHASE_RENEW && !elector->stopping &&
		is_own_lease(elector, &elector->observed) &&
		steady_ns - elector->renewed_ns < window_ns;
}

void bt_elector_start(struct bt_elector *elector)
{
	if (elector->phase == BT_ELECTOR_PHASE_IDLE) {
		elector->phase = BT_ELECTOR_PHASE_ACQUIRE;
		elector->try_ns = INT64_MIN;
		BT_LOG_INFO(0, "Attempting to acquire leader lease...",
			BT_LOG_STR("lock", elector->options.lock));
	}
}

void bt_elector_stop(struct bt_elector *elector)
{
	elector->stopping = true;
}

static void copy_record(
	struct bt_arena *arena, struct bt_lease_record *kept, const struct bt_lease_record *record)
{
	struct bt_arena fresh;
	bt_arena_init(&fresh, RECORD_BYTES);
	struct bt_lease_record copy = *record;
	copy.holder = bt_arena_str(&fresh, record->holder);
	copy.preferred_holder = bt_arena_str(&fresh, record->preferred_holder);
	copy.strategy = bt_arena_str(&fresh, record->strategy);
	bt_arena_finish(arena); /* after the copy: the arena may hold the texts of record */
	*arena = fresh;
	*kept = copy;
}

static void observe(struct bt_elector *elector, const struct bt_lease_record *record, int64_t at_ns)
{
	copy_record(&elector->observed_arena, &elector->observed, record);
	elector->observed_ns = at_ns;
}

static bool has_expired(const struct bt_elector *elector, int64_t at_ns)
{
	int64_t lease_ns = bt_ns_of_seconds(elector->observed.duration_seconds);
	return at_ns - elector->observed_ns >= lease_ns;
}

static void log_failure(const struct bt_elector *elector, const char *message, const char *error)
{
	BT_LOG_ERROR(error, message, BT_LOG_STR("lock", elector->options.lock));
}

static void finish_try(struct bt_elector *elector, bool ok, int64_t now_ns)
{
	const struct bt_elector_options *options = &elector->options;
	elector->wanted = BT_ELECTOR_REQUEST_NONE;
	if (elector->phase == BT_ELECTOR_PHASE_ACQUIRE) {
		if (ok) {
			BT_LOG_INFO(0, "Successfully acquired lease",
				BT_LOG_STR("lock", options->lock));
			elector->phase = BT_ELECTOR_PHASE_RENEW;
			elector->transition = BT_ELECTOR_LEADS;
			elector->polling = false;
			elector->try_ns = now_ns; /* renews at once, as upstream does */
		} else {
			BT_LOG_INFO(
				4, "Failed to acquire lease", BT_LOG_STR("lock", options->lock));
			int64_t most_ns = options->retry_period_ns / 10 * JITTER_TENTHS;
			elector->try_ns = now_ns + options->retry_period_ns;
			if (most_ns > 0) {
				elector->try_ns +=
					(int64_t)bt_prng_below(options->prng, (uint64_t)most_ns);
			}
		}
	} else if (ok) {
		BT_LOG_INFO(5, "Successfully renewed lease", BT_LOG_STR("lock", options->lock));
		elector->polling = false;
		elector->try_ns = now_ns + options->retry_period_ns;
	} else {
		elector->try_ns = elector->started_ns + options->retry_period_ns;
	}
}

static void keep_terms(struct bt_elector *elector)
{
	elector->proposal.acquire_us = elector->fetched.acquire_us;
	elector->proposal.transitions = elector->fetched.transitions;
}

/** Return whether this process may replace the lease in `fetched`. If so, complete the proposal. */
static bool may_take(struct bt_elector *elector)
{
	struct bt_str lock = elector->options.lock;
	if (is_own_lease(elector, &elector->observed)) {
		keep_terms(elector);
		elector->slow_path = true;
		return true;
	}
	if (elector->fetched.holder.length != 0 && !has_expired(elector, elector->started_ns)) {
		BT_LOG_INFO(4, "Lease is held by and has not yet expired", BT_LOG_STR("lock", lock),
			BT_LOG_STR("holder", elector->fetched.holder));
		return false;
	}
	elector->proposal.transitions = elector->fetched.transitions + 1;
	return true;
}

/**
 * Return whether this process may renew the lease in `fetched`, which the control plane assigns
 * (coordinated leader election). If so, complete the proposal.
 */
static bool may_renew_coordinated(struct bt_elector *elector)
{
	struct bt_str lock = elector->options.lock;
	if (has_expired(elector, elector->started_ns)) {
		BT_LOG_INFO(0, "Lease has expired", BT_LOG_STR("lock", lock));
		return false;
	}
	if (!is_own_lease(elector, &elector->observed)) {
		BT_LOG_INFO(6, "Lease is held by another candidate", BT_LOG_STR("lock", lock),
			BT_LOG_STR("holder", elector->fetched.holder));
		return false;
	}
	if (elector->fetched.preferred_holder.length != 0) {
		BT_LOG_INFO(4, "Lease is marked as 'end of term'", BT_LOG_STR("lock", lock));
		return false;
	}
	keep_terms(elector);
	elector->proposal.strategy = elector->fetched.strategy;
	return true;
}

static void answer_get(struct bt_elector *elector, enum bt_elector_result result,
	const struct bt_lease_record *record, const char *error, int64_t now_ns)
{
	if (result == BT_ELECTOR_OK) {
		const struct bt_lease_record *old = &elector->fetched;
		bool changed = !elector->has_fetched ||
			!bt_str_equal(old->holder, record->holder) ||
			old->duration_seconds != record->duration_seconds ||
			old->acquire_us != record->acquire_us ||
			old->renew_us != record->renew_us ||
			old->transitions != record->transitions ||
			!bt_str_equal(old->preferred_holder, record->preferred_holder) ||
			!bt_str_equal(old->strategy, record->strategy);
		copy_record(&elector->fetched_arena, &elector->fetched, record);
		elector->has_fetched = true;
		if (changed) {
			observe(elector, record, now_ns);
		}
		if (elector->options.coordinated ? may_renew_coordinated(elector)
						 : may_take(elector)) {
			elector->wanted = BT_ELECTOR_REQUEST_UPDATE;
		} else {
			finish_try(elector, false, now_ns);
		}
	} else if (result == BT_ELECTOR_NOT_FOUND && !elector->options.coordinated) {
		elector->wanted = BT_ELECTOR_REQUEST_CREATE;
	} else if (result == BT_ELECTOR_NOT_FOUND) {
		BT_LOG_INFO(0, "Lease lock not found", BT_LOG_STR("lock", elector->options.lock));
		finish_try(elector, false, now_ns);
	} else {
		log_failure(elector, "Error retrieving lease lock", error);
		finish_try(elector, false, now_ns);
	}
}

void bt_elector_answer(struct bt_elector *elector, enum bt_elector_result result,
	const struct bt_lease_record *record, const char *error, const struct bt_elector_time *now)
{
	enum bt_elector_request request = elector->under_way;
	struct bt_str lock = elector->options.lock;
	elector->under_way = BT_ELECTOR_REQUEST_NONE;
	switch (request) {
	case BT_ELECTOR_REQUEST_NONE:
		break;
	case BT_ELECTOR_REQUEST_GET:
		answer_get(elector, result, record, error, now->steady_ns);
		break;
	case BT_ELECTOR_REQUEST_OPTIMISTIC:
	case BT_ELECTOR_REQUEST_CREATE:
	case BT_ELECTOR_REQUEST_UPDATE:
		if (result == BT_ELECTOR_OK) {
			observe(elector, &elector->proposal, now->steady_ns);
			elector->renewed_ns = elector->sent_ns;
			finish_try(elector, true, now->steady_ns);
		} else if (request == BT_ELECTOR_REQUEST_OPTIMISTIC) {
			BT_LOG_INFO(2,
				"Failed to update lease optimistically, falling back to slow path",
				BT_LOG_CSTR("err", error), BT_LOG_STR("lock", lock));
			elector->wanted = BT_ELECTOR_REQUEST_GET;
		} else {
			log_failure(elector,
				request == BT_ELECTOR_REQUEST_CREATE
					? "Error initially creating lease lock"
					: "Failed to update lease",
				error);
			finish_try(elector, false, now->steady_ns);
		}
		break;
	case BT_ELECTOR_REQUEST_RELEASE_GET:
		if (result == BT_ELECTOR_NOT_FOUND) {
			BT_LOG_INFO(0, "lease lock not found", BT_LOG_STR("lock", lock));
		} else if (result == BT_ELECTOR_FAILED) {
			BT_LOG_INFO(0, "error retrieving resource lock", BT_LOG_CSTR("err", error),
				BT_LOG_STR("lock", lock));
		} else if (is_own_lease(elector, &elector->observed) &&
			is_own_lease(elector, record)) {
			elector->proposal = (struct bt_lease_record){
				.duration_seconds = 1,
				.acquire_us = now->wall_us,
				.renew_us = now->wall_us,
				.transitions = record->transitions,
			};
			elector->wanted = BT_ELECTOR_REQUEST_RELEASE_UPDATE;
			break;
		}
		elector->phase = BT_ELECTOR_PHASE_OVER;
		break;
	case BT_ELECTOR_REQUEST_RELEASE_UPDATE:
		if (result != BT_ELECTOR_OK) {
			log_failure(elector, "Failed to release lease", error);
		}
		elector->phase = BT_ELECTOR_PHASE_OVER;
		break;
	}
}

static void abandon_request(struct bt_elector *elector, struct bt_elector_order *order)
{
	order->abandon = elector->under_way != BT_ELECTOR_REQUEST_NONE;
	elector->under_way = BT_ELECTOR_REQUEST_NONE;
	elector->wanted = BT_ELECTOR_REQUEST_NONE;
}

static bool is_between_tries(const struct bt_elector *elector)
{
	return (elector->phase == BT_ELECTOR_PHASE_ACQUIRE ||
		       elector->phase == BT_ELECTOR_PHASE_RENEW) &&
		elector->under_way == BT_ELECTOR_REQUEST_NONE &&
		elector->wanted == BT_ELECTOR_REQUEST_NONE;
}

static void begin_try_if_due(struct bt_elector *elector, const struct bt_elector_time *now)
{
	if (!is_between_tries(elector) || now->steady_ns < elector->try_ns) {
		return;
	}
	if (elector->phase == BT_ELECTOR_PHASE_RENEW && !elector->polling) {
		elector->polling = true;
		elector->deadline_ns = now->steady_ns + elector->options.renew_deadline_ns;
	}
	elector->started_ns = now->steady_ns;
	elector->proposal = (struct bt_lease_record){
		.holder = elector->options.identity,
		.duration_seconds = elector->options.lease_duration_ns / BT_NS_PER_SECOND,
		.acquire_us = now->wall_us,
		.renew_us = now->wall_us,
	};
	if (!elector->options.coordinated && is_own_lease(elector, &elector->observed) &&
		!has_expired(elector, now->steady_ns)) {
		elector->proposal.acquire_us = elector->observed.acquire_us;
		elector->proposal.transitions = elector->observed.transitions;
		elector->wanted = BT_ELECTOR_REQUEST_OPTIMISTIC;
	} else {
		elector->wanted = BT_ELECTOR_REQUEST_GET;
	}
}

void bt_elector_next(struct bt_elector *elector, const struct bt_elector_time *now,
	struct bt_elector_order *out_order)
{
	static const enum bt_elector_action wants[] = {
		[BT_ELECTOR_REQUEST_NONE] = BT_ELECTOR_WAIT,
		[BT_ELECTOR_REQUEST_OPTIMISTIC] = BT_ELECTOR_UPDATE,
		[BT_ELECTOR_REQUEST_GET] = BT_ELECTOR_GET,
		[BT_ELECTOR_REQUEST_CREATE] = BT_ELECTOR_CREATE,
		[BT_ELECTOR_REQUEST_UPDATE] = BT_ELECTOR_UPDATE,
		[BT_ELECTOR_REQUEST_RELEASE_GET] = BT_ELECTOR_GET,
		[BT_ELECTOR_REQUEST_RELEASE_UPDATE] = BT_ELECTOR_UPDATE,
	};
	struct bt_elector_order order = {
		.action = BT_ELECTOR_WAIT, .transition = elector->transition};
	elector->transition = BT_ELECTOR_NO_TRANSITION;
	if (order.transition == BT_ELECTOR_NO_TRANSITION) {
		/* End a phase whose time has passed, or that bt_elector_stop ends. */
		bool is_late = now->steady_ns >= elector->deadline_ns;
		if ((elector->phase == BT_ELECTOR_PHASE_IDLE ||
			    elector->phase == BT_ELECTOR_PHASE_ACQUIRE) &&
			elector->stopping) {
			abandon_request(elector, &order);
			elector->phase = BT_ELECTOR_PHASE_OVER;
		} else if (elector->phase == BT_ELECTOR_PHASE_RENEW &&
			(elector->stopping || (elector->polling && is_late))) {
			BT_LOG_INFO(0, "Failed to renew lease",
				BT_LOG_STR("lock", elector->options.lock),
				BT_LOG_CSTR(
					"err", elector->stopping ? CANCELLED : DEADLINE_EXCEEDED));
			abandon_request(elector, &order);
			elector->was_leading = true;
			elector->lost = !elector->stopping;
			elector->phase = BT_ELECTOR_PHASE_RELEASE;
			elector->deadline_ns = now->steady_ns + elector->options.renew_deadline_ns;
			elector->wanted = BT_ELECTOR_REQUEST_RELEASE_GET;
			order.transition = BT_ELECTOR_LEFT;
		} else if (elector->phase == BT_ELECTOR_PHASE_RELEASE && is_late) {
			abandon_request(elector, &order);
			log_failure(elector, "Failed to release lease", DEADLINE_EXCEEDED);
			elector->phase = BT_ELECTOR_PHASE_OVER;
		}
		begin_try_if_due(elector, now);
	}
	order.slow_path = elector->slow_path;
	elector->slow_path = false;
	int64_t until_ns = is_between_tries(elector) ? elector->try_ns : INT64_MAX;
	if ((elector->polling || elector->phase == BT_ELECTOR_PHASE_RELEASE) &&
		elector->deadline_ns < until_ns) {
		until_ns = elector->deadline_ns;
	}
	order.until_ns = until_ns;
	if (elector->phase == BT_ELECTOR_PHASE_OVER) {
		order.action = BT_ELECTOR_OVER;
	} else if (elector->wanted != BT_ELECTOR_REQUEST_NONE) {
		order.action = wants[elector->wanted];
		order.record = elector->proposal;
		elector->under_way = elector->wanted;
		elector->wanted = BT_ELECTOR_REQUEST_NONE;
		elector->sent_ns = now->steady_ns;
	}
	*out_order = order;
}
