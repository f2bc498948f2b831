/* SPDX-License-Identifier: Apache-2.0 */
#include "api/event.h"

#include "api/field_rows.h"

static const struct bt_field event_series_rows[] = {
	BT_ROW_I32_ALWAYS(bt_event_series, count, "count", 1),
	BT_ROW_MICRO_TIME_ALWAYS(bt_event_series, last_observed_time, "lastObservedTime", 2),
};
static const struct bt_message event_series_message =
	BT_MESSAGE(bt_event_series, "EventSeries", event_series_rows);

static const struct bt_field event_rows[] = {
	BT_ROW_MSG(bt_event, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MICRO_TIME_ALWAYS(bt_event, event_time, "eventTime", 2),
	BT_ROW_MSG_NULLABLE(bt_event, series, "series", 3, bt_event_series, event_series_message),
	BT_ROW_STR(bt_event, reporting_controller, "reportingController", 4),
	BT_ROW_STR(bt_event, reporting_instance, "reportingInstance", 5),
	BT_ROW_STR(bt_event, action, "action", 6),
	BT_ROW_STR(bt_event, reason, "reason", 7),
	BT_ROW_MSG(bt_event, regarding, "regarding", 8, bt_object_reference,
		bt_object_reference_message),
	BT_ROW_MSG_NULLABLE(
		bt_event, related, "related", 9, bt_object_reference, bt_object_reference_message),
	BT_ROW_STR(bt_event, note, "note", 10),
	BT_ROW_STR(bt_event, type, "type", 11),
};
const struct bt_message bt_event_message = BT_MESSAGE(bt_event, "Event", event_rows);

static const struct bt_field event_source_rows[] = {
	BT_ROW_STR(bt_event_source, component, "component", 1),
	BT_ROW_STR(bt_event_source, host, "host", 2),
};
static const struct bt_message event_source_message =
	BT_MESSAGE(bt_event_source, "EventSource", event_source_rows);

static const struct bt_field core_event_rows[] = {
	BT_ROW_MSG(bt_core_event, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_core_event, involved_object, "involvedObject", 2, bt_object_reference,
		bt_object_reference_message),
	BT_ROW_STR(bt_core_event, reason, "reason", 3),
	BT_ROW_STR(bt_core_event, message, "message", 4),
	BT_ROW_MSG(bt_core_event, source, "source", 5, bt_event_source, event_source_message),
	BT_ROW_TIME_ALWAYS(bt_core_event, first_timestamp, "firstTimestamp", 6),
	BT_ROW_TIME_ALWAYS(bt_core_event, last_timestamp, "lastTimestamp", 7),
	BT_ROW_I32(bt_core_event, count, "count", 8),
	BT_ROW_STR(bt_core_event, type, "type", 9),
	BT_ROW_MICRO_TIME_ALWAYS(bt_core_event, event_time, "eventTime", 10),
	BT_ROW_MSG_NULLABLE(
		bt_core_event, series, "series", 11, bt_event_series, event_series_message),
	BT_ROW_STR(bt_core_event, action, "action", 12),
	BT_ROW_MSG_NULLABLE(bt_core_event, related, "related", 13, bt_object_reference,
		bt_object_reference_message),
	BT_ROW_STR_ALWAYS(bt_core_event, reporting_component, "reportingComponent", 14),
	BT_ROW_STR_ALWAYS(bt_core_event, reporting_instance, "reportingInstance", 15),
};
const struct bt_message bt_core_event_message = BT_MESSAGE(bt_core_event, "Event", core_event_rows);
