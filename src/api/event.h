/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_EVENT_H
#define BT_API_EVENT_H
/** Events about pods: the events.k8s.io form, and the core form used where that API is missing.
 * Spec: 01 section 4.12. */
#include "api/meta.h"
#include "api/storage.h"

struct bt_event_series {
	int32_t count;
	struct bt_time last_observed_time;
};

struct bt_event {
	struct bt_object_meta metadata;
	struct bt_time event_time;
	const struct bt_event_series *series;
	struct bt_str reporting_controller;
	struct bt_str reporting_instance;
	struct bt_str action;
	struct bt_str reason;
	struct bt_object_reference regarding;
	const struct bt_object_reference *related;
	struct bt_str note;
	struct bt_str type;
};

struct bt_event_source {
	struct bt_str component;
	struct bt_str host;
};

struct bt_core_event {
	struct bt_object_meta metadata;
	struct bt_object_reference involved_object;
	struct bt_str reason;
	struct bt_str message;
	struct bt_event_source source;
	struct bt_time first_timestamp;
	struct bt_time last_timestamp;
	int32_t count;
	struct bt_str type;
	struct bt_time event_time;
	const struct bt_event_series *series;
	struct bt_str action;
	const struct bt_object_reference *related;
	struct bt_str reporting_component;
	struct bt_str reporting_instance;
};

extern const struct bt_message bt_event_message;
extern const struct bt_message bt_core_event_message;

/**
 * Append what upstream sends as the note of a FailedScheduling or Preempted event with this
 * message: cut to 1024 bytes, with % sequences as a formatting function without arguments leaves
 * them.
 */
void bt_event_note(struct bt_str message, struct bt_strbuf *out);
#endif
