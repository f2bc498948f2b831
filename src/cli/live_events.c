/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/event.h"
#include "cli/live_private.h"

/* What a cluster says about one pod. */

static struct bt_time last_of(const struct bt_core_event *event)
{
	const struct bt_time *times[] = {
		event->series != NULL ? &event->series->last_observed_time : NULL,
		&event->last_timestamp, &event->event_time, &event->first_timestamp};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(times); i++) {
		if (times[i] != NULL && times[i]->set) {
			return *times[i];
		}
	}
	return event->metadata.creation_timestamp;
}

static struct bt_time first_of(const struct bt_core_event *event)
{
	const struct bt_time *times[] = {&event->first_timestamp, &event->event_time};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(times); i++) {
		if (times[i]->set) {
			return *times[i];
		}
	}
	return event->metadata.creation_timestamp;
}

static int64_t count_of(const struct bt_core_event *event)
{
	int64_t count = event->series != NULL ? event->series->count : event->count;
	return count > 1 ? count : 1;
}

static int compare_events(const void *a, const void *b)
{
	const struct bt_live_event *first = a;
	const struct bt_live_event *second = b;
	int order = bt_time_compare(&first->last, &second->last);
	if (order == 0) {
		order = bt_str_compare(first->reason, second->reason);
	}
	return order != 0 ? order : bt_str_compare(first->message, second->message);
}

static int run(struct bt_live_list *list, struct berth_error *err)
{
	int result = 0;
	list->live->heard_ns = bt_loop_now_ns(list->live->loop);
	bt_live_list_start(list);
	while (result == 0 && !list->is_over) {
		result = bt_live_wait(list->live, err);
	}
	if (result == 0 && list->err.code != 0) {
		result = bt_error_move(err, &list->err);
	}
	return result;
}

int bt_live_pod_events(struct bt_live *live, struct bt_str namespace_, struct bt_str name,
	struct bt_str uid, struct bt_live_events *out_events, struct berth_error *err)
{
	struct bt_strbuf selector = {0};
	bt_strbuf_printf(&selector,
		"involvedObject.kind=Pod,involvedObject.name=%.*s,involvedObject.namespace=%.*s",
		BT_STR_ARG(name), BT_STR_ARG(namespace_));
	if (uid.length != 0) {
		bt_strbuf_printf(&selector, ",involvedObject.uid=%.*s", BT_STR_ARG(uid));
	}
	struct bt_live_list list = {
		.live = live,
		.kind = BT_KIND_CORE_EVENT,
		.namespace_ = namespace_,
		.field_selector = bt_strbuf_str(&selector),
		.objects_max = BT_LIVE_EVENTS_MAX,
		.err = BERTH_ERROR_INIT,
	};
	*out_events = (struct bt_live_events){0};
	bt_arena_init(&out_events->arena, 0);
	int result = run(&list, err);
	if (result == 0) {
		out_events->items = BT_ARENA_NEW_ARRAY(
			&out_events->arena, struct bt_live_event, list.objects.count);
		out_events->count = list.objects.count;
		out_events->is_cut = list.is_cut;
		for (uint32_t i = 0; i < out_events->count; i++) {
			const struct bt_core_event *event =
				bt_object_value(list.objects.items[i], BT_KIND_CORE_EVENT);
			struct bt_arena *arena = &out_events->arena;
			struct bt_str source = event->reporting_component.length != 0
				? event->reporting_component
				: event->source.component;
			out_events->items[i] = (struct bt_live_event){
				.type = bt_arena_str(arena, event->type),
				.reason = bt_arena_str(arena, event->reason),
				.message = bt_arena_str(arena, event->message),
				.source = bt_arena_str(arena, source),
				.count = count_of(event),
				.first = first_of(event),
				.last = last_of(event),
			};
		}
		if (out_events->count > 1) {
			qsort(out_events->items, out_events->count, sizeof(out_events->items[0]),
				compare_events);
		}
	}
	bt_live_list_finish(&list);
	bt_strbuf_finish(&selector);
	return result;
}

void bt_live_events_finish(struct bt_live_events *events)
{
	bt_arena_finish(&events->arena);
	*events = (struct bt_live_events){0};
}
