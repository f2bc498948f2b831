/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_events.h"

#include "cli/json_members.h"
#include "cluster/printable.h"

/** The last ones, in a table. */
#define EVENTS_SHOWN 5
/** A message is anybody's. */
#define MESSAGE_BYTES_MAX 1024

#if BT_HAVE_DAEMON
void bt_explain_events_read(struct bt_explain_events *events, const struct bt_source *source,
	const struct bt_object_meta *pod)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_live *live;
	if (source->kubeconfig == NULL) {
		return;
	}
	events->asked = true;
	int result = bt_live_open(source->kubeconfig, source->context, &live, &err);
	if (result == 0) {
		result = bt_live_pod_events(
			live, pod->namespace_, pod->name, pod->uid, &events->list, &err);
		bt_live_close(live);
	}
	if (result < 0) {
		bt_printable_append(&events->problem, bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
}

void bt_explain_events_finish(struct bt_explain_events *events)
{
	bt_strbuf_finish(&events->problem);
	bt_live_events_finish(&events->list);
}
#else
void bt_explain_events_read(struct bt_explain_events *events, const struct bt_source *source,
	const struct bt_object_meta *pod)
{
	(void)events;
	(void)source;
	(void)pod;
}

void bt_explain_events_finish(struct bt_explain_events *events)
{
	bt_strbuf_finish(&events->problem);
}
#endif

void bt_explain_write_events(const struct bt_explain_events *events, struct bt_strbuf *out)
{
	uint32_t first = 0;
	if (!events->asked) {
		return;
	}
	bt_strbuf_append_c(out, "\nEvents:\n");
	if (events->problem.length != 0) {
		bt_strbuf_printf(out, "  not read: %s\n", bt_strbuf_c(&events->problem));
		return;
	}
	if (events->list.count == 0) {
		bt_strbuf_append_c(out, "  none are left\n");
	}
	if (events->list.count > EVENTS_SHOWN) {
		first = events->list.count - EVENTS_SHOWN;
		bt_strbuf_printf(out, "  %u older ones\n", first);
	}
	for (uint32_t i = first; i < events->list.count; i++) {
		const struct bt_live_event *event = &events->list.items[i];
		bt_strbuf_append_c(out, "  ");
		bt_time_format(&event->last, out);
		bt_strbuf_append_char(out, ' ');
		bt_printable_append(out, event->reason);
		if (event->count > 1) {
			bt_strbuf_printf(out, " (%lld times since ", (long long)event->count);
			bt_time_format(&event->first, out);
			bt_strbuf_append_char(out, ')');
		}
		bt_strbuf_append_c(out, ": ");
		bt_printable_append(out, bt_str_sub(event->message, 0, MESSAGE_BYTES_MAX));
		bt_strbuf_append_char(out, '\n');
	}
}

void bt_explain_write_events_json(
	const struct bt_explain_events *events, struct bt_json_writer *writer)
{
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < events->list.count; i++) {
		const struct bt_live_event *event = &events->list.items[i];
		bt_json_begin_object(writer);
		bt_json_write_member(writer, "type", event->type);
		bt_json_write_member(writer, "reason", event->reason);
		bt_json_write_member(writer, "message", event->message);
		bt_json_write_member(writer, "source", event->source);
		bt_json_write_member_int64(writer, "count", event->count);
		bt_json_write_member_time(writer, "first", &event->first);
		bt_json_write_member_time(writer, "last", &event->last);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}
