/* SPDX-License-Identifier: Apache-2.0 */
#include "client/reflector_private.h"

#include <stdio.h>

#include "base/nanoseconds.h"
#include "client/rest.h"

#define BACKOFF_MIN_NS (800 * BT_NS_PER_MS)
#define BACKOFF_MAX_NS (30 * BT_NS_PER_SECOND)
#define BACKOFF_RESET_NS (120 * BT_NS_PER_SECOND)
#define SHORT_WATCH_NS BT_NS_PER_SECOND
#define WATCH_SECONDS_MIN 300
#define PAGE_ITEMS "500"

int64_t bt_reflector_backoff_step(
	struct bt_reflector_backoff *backoff, struct bt_prng *prng, int64_t now_ns)
{
	double jitter = (double)(bt_prng_next(prng) >> 11) * 0x1p-53;

	if (backoff->next_ns == 0 || now_ns - backoff->last_ns > BACKOFF_RESET_NS) {
		backoff->next_ns = BACKOFF_MIN_NS;
	}
	int64_t wait_ns = backoff->next_ns;
	backoff->last_ns = now_ns;
	backoff->next_ns = 2 * wait_ns < BACKOFF_MAX_NS ? 2 * wait_ns : BACKOFF_MAX_NS;
	return wait_ns + (int64_t)((double)wait_ns * jitter);
}

static struct bt_str usable_version(const struct bt_reflector_state *state)
{
	return state->unavailable ? BT_STR("") : bt_strbuf_str(&state->resource_version);
}

/** Starts a list with the resource version of spec 13 section 13.2. */
static void begin_list(struct bt_reflector_state *state)
{
	struct bt_str version = usable_version(state);

	if (version.length == 0 && !state->unavailable) {
		version = BT_STR("0");
	}
	state->phase = BT_REFLECTOR_LIST;
	state->is_limited =
		state->paginated || version.length == 0 || bt_str_equal(version, BT_STR("0"));
	state->is_repeated = false;
	bt_strbuf_set(&state->list_version, version);
	bt_strbuf_reset(&state->continue_token);
}

static void begin_turn(struct bt_reflector_state *state)
{
	if (state->streaming) {
		state->phase = BT_REFLECTOR_STREAM;
	} else {
		begin_list(state);
	}
}

void bt_reflector_state_init(struct bt_reflector_state *state, bool streaming)
{
	*state = (struct bt_reflector_state){.streaming = streaming};
	begin_turn(state);
}

void bt_reflector_state_query(struct bt_reflector_state *state, struct bt_str field_selector,
	struct bt_prng *prng, struct bt_strbuf *out)
{
	bool is_stream = state->phase == BT_REFLECTOR_STREAM;
	bool is_watch = is_stream || state->phase == BT_REFLECTOR_WATCH;
	bool is_page = state->phase == BT_REFLECTOR_LIST;
	bool continues = is_page && state->continue_token.length != 0;
	struct bt_str version = BT_STR("");

	if (is_watch) {
		version =
			is_stream ? usable_version(state) : bt_strbuf_str(&state->resource_version);
		bt_rest_append_query(out, "allowWatchBookmarks", BT_STR("true"));
	} else if (continues) {
		bt_rest_append_query(out, "continue", bt_strbuf_str(&state->continue_token));
	} else {
		version = bt_strbuf_str(&state->list_version);
	}
	if (field_selector.length != 0) {
		bt_rest_append_query(out, "fieldSelector", field_selector);
	}
	if (is_page && state->is_limited) {
		bt_rest_append_query(out, "limit", BT_STR(PAGE_ITEMS));
	}
	if (version.length != 0) {
		bt_rest_append_query(out, "resourceVersion", version);
	}
	if (is_stream) {
		bt_rest_append_query(out, "resourceVersionMatch", BT_STR("NotOlderThan"));
		bt_rest_append_query(out, "sendInitialEvents", BT_STR("true"));
	}
	if (is_watch) {
		char seconds[16];
		state->watch_seconds =
			WATCH_SECONDS_MIN + (uint32_t)bt_prng_below(prng, WATCH_SECONDS_MIN);
		(void)snprintf(seconds, sizeof(seconds), "%u", (unsigned int)state->watch_seconds);
		bt_rest_append_query(out, "timeoutSeconds", bt_str_from(seconds));
		bt_rest_append_query(out, "watch", BT_STR("true"));
		state->distrusts_added =
			is_stream || version.length == 0 || bt_str_equal(version, BT_STR("0"));
	}
}

void bt_reflector_state_observed(
	struct bt_reflector_state *state, bool is_added, struct bt_str resource_version)
{
	if (state->phase != BT_REFLECTOR_WATCH || (is_added && state->distrusts_added)) {
		return;
	}
	state->distrusts_added = false;
	if (resource_version.length != 0) {
		bt_strbuf_set(&state->resource_version, resource_version);
	}
}

bool bt_reflector_state_listed(struct bt_reflector_state *state, struct bt_str resource_version,
	struct bt_str continue_token)
{
	if (continue_token.length != 0 && state->phase == BT_REFLECTOR_LIST) {
		if (bt_str_equal(bt_strbuf_str(&state->list_version), BT_STR("0"))) {
			state->paginated = true;
		}
		bt_strbuf_set(&state->continue_token, continue_token);
		return true;
	}
	state->unavailable = false;
	state->phase = BT_REFLECTOR_WATCH;
	bt_strbuf_set(&state->resource_version, resource_version);
	return false;
}

static enum bt_reflector_report stream_ended(
	struct bt_reflector_state *state, const struct bt_reflector_ending *ending, bool *out_waits)
{
	switch (ending->end) {
	case BT_REFLECTOR_END_CLEAN:
		if (ending->event_count == 0 && ending->age_ns < SHORT_WATCH_NS) {
			begin_list(state);
			return BT_REFLECTOR_REPORT_VERY_SHORT;
		}
		*out_waits = true;
		return BT_REFLECTOR_REPORT_NONE;
	case BT_REFLECTOR_END_REFUSED:
		*out_waits = true;
		return BT_REFLECTOR_REPORT_NONE;
	case BT_REFLECTOR_END_EXPIRED:
	case BT_REFLECTOR_END_FUTURE:
		/*
		 * the server refused a version although none was requested: wait before the retry
		 */
		*out_waits = usable_version(state).length == 0;
		state->unavailable = true;
		return BT_REFLECTOR_REPORT_NONE;
	case BT_REFLECTOR_END_FAILED:
	case BT_REFLECTOR_END_BROKEN:
		break;
	}
	begin_list(state);
	return BT_REFLECTOR_REPORT_FALLBACK;
}

static enum bt_reflector_report list_ended(
	struct bt_reflector_state *state, const struct bt_reflector_ending *ending, bool *out_waits)
{
	bool expired = ending->end == BT_REFLECTOR_END_EXPIRED;

	if (expired && state->phase == BT_REFLECTOR_LIST && state->continue_token.length != 0) {
		state->phase = BT_REFLECTOR_LIST_FULL;
		bt_strbuf_reset(&state->continue_token);
		return BT_REFLECTOR_REPORT_NONE;
	}
	if ((expired || ending->end == BT_REFLECTOR_END_FUTURE) && !state->is_repeated) {
		state->unavailable = true;
		state->is_repeated = true;
		state->phase = BT_REFLECTOR_LIST;
		bt_strbuf_reset(&state->list_version);
		bt_strbuf_reset(&state->continue_token);
		return BT_REFLECTOR_REPORT_NONE;
	}
	*out_waits = true;
	begin_turn(state);
	return BT_REFLECTOR_REPORT_ERROR;
}

enum bt_reflector_report bt_reflector_state_ended(
	struct bt_reflector_state *state, const struct bt_reflector_ending *ending, bool *out_waits)
{
	*out_waits = false;
	switch (state->phase) {
	case BT_REFLECTOR_STREAM:
		return stream_ended(state, ending, out_waits);
	case BT_REFLECTOR_LIST:
	case BT_REFLECTOR_LIST_FULL:
		return list_ended(state, ending, out_waits);
	case BT_REFLECTOR_WATCH:
		break;
	}
	enum bt_reflector_report report = BT_REFLECTOR_REPORT_ERROR;

	switch (ending->end) {
	case BT_REFLECTOR_END_CLEAN:
		if (ending->event_count != 0 || ending->age_ns >= SHORT_WATCH_NS) {
			return BT_REFLECTOR_REPORT_NONE; /* watch again from the last version */
		}
		report = BT_REFLECTOR_REPORT_VERY_SHORT;
		break;
	case BT_REFLECTOR_END_REFUSED:
		*out_waits = true;
		return BT_REFLECTOR_REPORT_NONE;
	case BT_REFLECTOR_END_EXPIRED:
		report = BT_REFLECTOR_REPORT_CLOSED;
		break;
	case BT_REFLECTOR_END_BROKEN:
		report = BT_REFLECTOR_REPORT_WARNING;
		break;
	case BT_REFLECTOR_END_FUTURE:
	case BT_REFLECTOR_END_FAILED:
		break;
	}
	*out_waits = true;
	begin_turn(state);
	return report;
}
