/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/lease_record.h"

#include "api/time.h"
#include "codec/json_edit.h"

#define US_PER_SECOND 1000000
#define NS_PER_US 1000
/* Years 1 to 9999, far from the ends of int64 in microseconds. */
#define SECONDS_MAX INT64_C(253402300799)
#define SECONDS_MIN INT64_C(-62135596800)

static int64_t read_time(const struct bt_json_value *lease, const char *path)
{
	struct bt_str text = bt_json_text_at(lease, path);
	struct bt_time time;
	if (text.length == 0 || bt_time_parse(text, &time, NULL) < 0 || !time.set ||
		time.seconds < SECONDS_MIN || time.seconds > SECONDS_MAX) {
		return 0;
	}
	return time.seconds * US_PER_SECOND + time.nanoseconds / NS_PER_US;
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

static void write_time(
	struct bt_arena *arena, struct bt_json_value *spec, const char *name, int64_t time_us)
{
	if (time_us == 0) {
		bt_json_set_value(arena, spec, name, bt_json_new(arena, BT_JSON_NULL));
		return;
	}
	int64_t rest = time_us % US_PER_SECOND;
	int64_t seconds = time_us / US_PER_SECOND;
	if (rest < 0) {
		rest += US_PER_SECOND;
		seconds--;
	}
	struct bt_time time = {seconds, (int32_t)(rest * NS_PER_US), true};
	struct bt_strbuf text = {0};
	bt_micro_time_format(&time, &text);
	bt_json_set_str(arena, spec, name, bt_arena_str(arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}

struct bt_json_value *bt_lease_record_write(
	const struct bt_lease_record *record, struct bt_arena *arena)
{
	struct bt_json_value *spec = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_str(arena, spec, "holderIdentity", record->holder);
	bt_json_set_int64(arena, spec, "leaseDurationSeconds", record->duration_seconds);
	write_time(arena, spec, "acquireTime", record->acquire_us);
	write_time(arena, spec, "renewTime", record->renew_us);
	bt_json_set_int64(arena, spec, "leaseTransitions", record->transitions);
	if (record->strategy.length != 0) {
		bt_json_set_str(arena, spec, "strategy", record->strategy);
	}
	if (record->preferred_holder.length != 0) {
		bt_json_set_str(arena, spec, "preferredHolder", record->preferred_holder);
	}
	return spec;
}

bool bt_lease_record_equal(const struct bt_lease_record *a, const struct bt_lease_record *b)
{
	return bt_str_equal(a->holder, b->holder) && a->duration_seconds == b->duration_seconds &&
		a->acquire_us == b->acquire_us && a->renew_us == b->renew_us &&
		a->transitions == b->transitions &&
		bt_str_equal(a->preferred_holder, b->preferred_holder) &&
		bt_str_equal(a->strategy, b->strategy);
}

struct bt_lease_record bt_lease_record_copy(
	const struct bt_lease_record *record, struct bt_arena *arena)
{
	struct bt_lease_record copy = *record;
	copy.holder = bt_arena_str(arena, record->holder);
	copy.preferred_holder = bt_arena_str(arena, record->preferred_holder);
	copy.strategy = bt_arena_str(arena, record->strategy);
	return copy;
}
