/* SPDX-License-Identifier: Apache-2.0 */
#include "soak/watch.h"

#include "api/pod.h"

void bt_sim_watch_init(struct bt_sim_watch *watch, struct bt_sim_clock *clock,
	struct bt_object_store *objects, uint64_t seed)
{
	*watch = (struct bt_sim_watch){.clock = clock, .objects = objects};
	bt_prng_init(&watch->prng, seed);
	bt_object_store_init(&watch->mirror);
}

static void clear_stream(struct bt_sim_stream *stream)
{
	for (uint32_t i = stream->first; i < stream->events.count; i++) {
		bt_object_release(stream->events.items[i].object);
	}
	stream->events.count = 0;
	stream->first = 0;
}

void bt_sim_watch_finish(struct bt_sim_watch *watch)
{
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		clear_stream(&watch->streams[kind]);
		bt_vec_finish(&watch->streams[kind].events);
	}
	bt_object_store_finish(&watch->mirror);
}

/** --- the mirror, and callbacks --- */

static bool is_selected(const struct bt_object *object)
{
	return object->kind != BT_KIND_POD || !bt_pod_is_terminal(object->value);
}

static struct bt_object *known(const struct bt_sim_watch *watch, const struct bt_object *object)
{
	return bt_object_store_find_object(
		&watch->mirror, object->kind, object->meta->namespace_, object->meta->name);
}

static void report_present(struct bt_sim_watch *watch, struct bt_object *object)
{
	struct bt_object *before = known(watch, object);
	struct bt_object *held = before != NULL ? bt_object_share(before) : NULL;
	bt_object_store_put(&watch->mirror, bt_object_share(object));
	watch->observe(watch->context, held, object);
	bt_object_release(held);
}

static void report_deleted(struct bt_sim_watch *watch, struct bt_object *last, bool lost)
{
	struct bt_object *held = bt_object_share(last);
	(void)bt_object_store_delete(&watch->mirror, last->kind, last->meta->namespace_,
		last->meta->name); /* it was found before */
	if (lost) {
		watch->lost(watch->context, held);
	} else {
		watch->observe(watch->context, held, NULL);
	}
	bt_object_release(held);
}

/** Apply one event of a watch. */
static void apply(struct bt_sim_watch *watch, struct bt_object *object, bool deleted)
{
	struct bt_object *before = known(watch, object);
	if (!deleted && is_selected(object)) {
		report_present(watch, object);
	} else if (before != NULL) {
		/*
		 * A pod that leaves the selection is reported in its previous state, a deleted
		 * object in its last state.
		 */
		report_deleted(watch, is_selected(object) ? object : before, false);
	}
}

static void deliver(void *context, uint64_t kind)
{
	struct bt_sim_watch *watch = context;
	struct bt_sim_stream *stream = &watch->streams[kind];
	if (stream->first >= stream->events.count ||
		stream->events.items[stream->first].due_ns > watch->clock->now_ns) {
		return; /* the stream broke after the event was sent */
	}
	struct bt_sim_watch_event event = stream->events.items[stream->first++];
	if (stream->first == stream->events.count) {
		stream->events.count = 0;
		stream->first = 0;
	}
	apply(watch, event.object, event.deleted);
	bt_object_release(event.object);
}

/** --- broken streams --- */

static bool is_gone(
	const struct bt_sim_watch *watch, const struct bt_object_meta *meta, enum bt_kind kind)
{
	const struct bt_object *object =
		bt_object_store_find_object(watch->objects, kind, meta->namespace_, meta->name);
	return object == NULL || !is_selected(object);
}

static void report_missing(struct bt_sim_watch *watch, enum bt_kind kind)
{
	BT_VEC(struct bt_object *) gone = {0};
	struct bt_str everywhere = {NULL, 0};
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;
	while ((meta = bt_object_store_next(&watch->mirror, kind, everywhere, &cursor)) != NULL) {
		if (is_gone(watch, meta, kind)) {
			struct bt_object *object = bt_object_store_find_object(
				&watch->mirror, kind, meta->namespace_, meta->name);
			bt_vec_push(&gone, bt_object_share(object));
		}
	}
	for (uint32_t i = 0; i < gone.count; i++) {
		report_deleted(watch, gone.items[i], true);
		bt_object_release(gone.items[i]);
	}
	bt_vec_finish(&gone);
}

static void report_listed(struct bt_sim_watch *watch, enum bt_kind kind)
{
	BT_VEC(struct bt_object *) listed = {0};
	struct bt_str everywhere = {NULL, 0};
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;
	while ((meta = bt_object_store_next(watch->objects, kind, everywhere, &cursor)) != NULL) {
		struct bt_object *object = bt_object_store_find_object(
			watch->objects, kind, meta->namespace_, meta->name);
		bt_vec_push(&listed, bt_object_share(object));
	}
	for (uint32_t i = 0; i < listed.count; i++) {
		if (is_selected(listed.items[i])) {
			report_present(watch, listed.items[i]);
		}
		bt_object_release(listed.items[i]);
	}
	bt_vec_finish(&listed);
}

/**
 * Reports the differences between store and mirror at once. Deletions come first or last, at
 * random.
 */
static void relist(void *context, uint64_t kind)
{
	struct bt_sim_watch *watch = context;
	watch->streams[kind].broken = false;
	watch->streams[kind].last_due_ns = watch->clock->now_ns;
	watch->relist_count++;
	watch->note(watch->context, (enum bt_kind)kind, "listed again");
	bool gone_first = bt_prng_below(&watch->prng, 2) == 0;
	if (gone_first) {
		report_missing(watch, (enum bt_kind)kind);
	}
	report_listed(watch, (enum bt_kind)kind);
	if (!gone_first) {
		report_missing(watch, (enum bt_kind)kind);
	}
}

static bool one_in(struct bt_sim_watch *watch, uint32_t count)
{
	return count != 0 && bt_prng_below(&watch->prng, count) == 0;
}

void bt_sim_watch_changed(
	struct bt_sim_watch *watch, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_object *object = new_object != NULL ? new_object : old_object;
	struct bt_sim_stream *stream = &watch->streams[object->kind];
	if (stream->broken) {
		return;
	}
	if (one_in(watch, watch->break_one_in)) {
		clear_stream(stream);
		stream->broken = true;
		watch->note(watch->context, object->kind, "watch broken");
		bt_sim_clock_after(watch->clock,
			(300 + (int64_t)bt_prng_below(&watch->prng, 8000)) * BT_SIM_MILLISECOND,
			relist, watch, object->kind);
		return;
	}
	int64_t delay_ns = (1 + (int64_t)bt_prng_below(&watch->prng, 30)) * BT_SIM_MILLISECOND;
	if (one_in(watch, watch->late_one_in)) {
		delay_ns = (100 + (int64_t)bt_prng_below(&watch->prng, 4000)) * BT_SIM_MILLISECOND;
	}
	int64_t due_ns = watch->clock->now_ns + delay_ns;
	if (due_ns < stream->last_due_ns) {
		due_ns = stream->last_due_ns;
	}
	stream->last_due_ns = due_ns;
	struct bt_sim_watch_event event = {bt_object_share(object), new_object == NULL, due_ns};
	bt_vec_push(&stream->events, event);
	bt_sim_clock_after(
		watch->clock, due_ns - watch->clock->now_ns, deliver, watch, object->kind);
}

bool bt_sim_watch_is_quiet(const struct bt_sim_watch *watch)
{
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		const struct bt_sim_stream *stream = &watch->streams[kind];
		if (stream->broken || stream->first < stream->events.count) {
			return false;
		}
	}
	return true;
}
