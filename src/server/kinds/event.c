/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * Events of both groups. They are stored in the form of the core group. Spec: 14b section 5, 14
 * sections 6.3 and 23.
 */

#define NOTE_BYTES_MAX 1024

static const char *const event_types[] = {"Normal", "Warning", NULL};

/** What one thing is called in the two groups. */
static const struct {
	const char *core;
	const char *events;
} names[] = {
	{"involvedObject", "regarding"},
	{"message", "note"},
	{"reportingComponent", "reportingController"},
	{"source", "deprecatedSource"},
	{"firstTimestamp", "deprecatedFirstTimestamp"},
	{"lastTimestamp", "deprecatedLastTimestamp"},
	{"count", "deprecatedCount"},
};

static void rename_members(struct bt_json_value *object, bool to_core)
{
	for (uint32_t i = 0; i < object->count; i++) {
		for (uint32_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			const char *from = to_core ? names[n].events : names[n].core;
			if (bt_str_equal_c(object->members[i].name, from)) {
				object->members[i].name =
					bt_str_from(to_core ? names[n].core : names[n].events);
				break;
			}
		}
	}
}

static void from_stored(const struct bt_write *write, struct bt_json_value *object)
{
	(void)write;
	rename_members(object, false);
}

static void to_stored(const struct bt_write *write, struct bt_json_value *object)
{
	static const char *const texts[] = {"reportingComponent", "reportingInstance"};
	rename_members(object, true);
	(void)bt_json_ensure_object(write->arena, object, "involvedObject");
	(void)bt_json_ensure_object(write->arena, object, "source");
	for (uint32_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (bt_json_find(object, texts[i]) == NULL) {
			bt_json_set_c(write->arena, object, texts[i], "");
		}
	}
}

static void validate_core(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
}

static void check_required(struct bt_field_errors *errors, const struct bt_json_value *object)
{
	static const char *const required[] = {
		"eventTime", "reportingController", "reportingInstance", "action", "reason"};
	for (uint32_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		(void)bt_kinds_check_given(errors, NULL, object, required[i]);
	}
	bt_kinds_check_text_in(errors, NULL, object, "type", event_types, true);
}

static void validate_event(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *series = bt_kinds_object(object, "series");
	struct bt_str note = bt_kinds_text(object, "note");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	/* What the core group took in may be changed here as it is. */
	if (write->verb == BT_VERB_CREATE) {
		check_required(errors, object);
	}
	if (note.length > NOTE_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(NULL, "note"),
			bt_json_find(object, "note"), "can have at most %d bytes", NOTE_BYTES_MAX);
	}
	if (series != NULL && bt_json_int64_at(series, "count", 0) < 2) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(BT_PATH_NAME(NULL, "series"), "count"),
			bt_kinds_int_value(errors, bt_json_int64_at(series, "count", 0)),
			"should be at least 2");
	}
}

const struct bt_strategy bt_strategy_event = {.validate = validate_core};

const struct bt_strategy bt_strategy_event_v1 = {
	.validate = validate_event,
	.from_stored = from_stored,
	.to_stored = to_stored,
};
