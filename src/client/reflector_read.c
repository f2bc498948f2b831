/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/pod.h"
#include "base/log.h"
#include "client/reflector_private.h"
#include "client/watch_event.h"
#include "net/loop.h"

/** Maximum number of a list's items that are kept unpacked: a few megabytes. */
#define UNPACKED_MAX 8192

void bt_reflector_store_finish(struct bt_reflector_store *store)
{
	for (uint32_t i = 0; i < store->items.count; i++) {
		bt_object_release_packable(store->items.items[i]);
	}
	bt_vec_finish_each(&store->unpacked, bt_object_release(*each));
	bt_vec_finish(&store->items);
	bt_map_finish(&store->map);
}

/** Returns the object's index, or UINT32_MAX. */
static uint32_t index_of(const struct bt_reflector_store *store, struct bt_str namespace_,
	struct bt_str name, uint64_t hash)
{
	BT_MAP_EACH (&store->map, hash, index) {
		const struct bt_object *known = store->items.items[index];

		if (bt_str_equal(bt_object_name(known), name) &&
			bt_str_equal(bt_object_namespace(known), namespace_)) {
			return index;
		}
	}
	return UINT32_MAX;
}

struct bt_object *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name)
{
	uint32_t index = index_of(store, namespace_, name, bt_hash_name(namespace_, name));

	return index != UINT32_MAX ? store->items.items[index] : NULL;
}

/**
 * Adds or replaces an object; takes ownership of object. Returns the replaced object, which the
 * caller then owns, or NULL.
 */
static struct bt_object *reflector_store_set(
	struct bt_reflector_store *store, struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;
	uint64_t hash = bt_hash_name(meta->namespace_, meta->name);
	uint32_t index = index_of(store, meta->namespace_, meta->name, hash);
	struct bt_object *old = NULL;

	if (index == UINT32_MAX) {
		bt_map_insert(&store->map, hash, store->items.count);
		bt_vec_push(&store->items, object);
	} else {
		old = bt_object_unpack(store->items.items[index]);
		store->items.items[index] = object;
	}
	bt_object_allow_pack(object);
	return old;
}

/** Removes and returns the object, which the caller then owns; NULL: not found. */
static struct bt_object *reflector_store_take(
	struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_hash_name(namespace_, name);
	uint32_t index = index_of(store, namespace_, name, hash);
	uint32_t last = store->items.count - 1;

	if (index == UINT32_MAX) {
		return NULL;
	}
	struct bt_object *object = store->items.items[index];
	struct bt_object *moved = store->items.items[last];
	bt_map_remove_swap(&store->map, hash, index,
		bt_hash_name(bt_object_namespace(moved), bt_object_name(moved)), last);
	bt_vec_remove_swap(&store->items, index);
	return bt_object_unpack(object);
}

/** Reports an addition (old NULL) or an update. Takes ownership of old and object. */
static void report_object(
	struct bt_reflector *reflector, struct bt_object *old, struct bt_object *object)
{
	reflector->options.sink.changed(reflector->options.sink.context, old, object, false);
	bt_object_release(object);
	bt_object_release(old);
}

/** Puts the object into the store, and reports the change. Takes ownership of object. */
static void apply_object(struct bt_reflector *reflector, struct bt_object *object)
{
	struct bt_object *for_sink = bt_object_share(object); /* unpacked for the sink */
	struct bt_object *old = reflector_store_set(&reflector->store, object);

	report_object(reflector, old, for_sink);
}

/**
 * Removes an object, and reports the deletion. last: state from the DELETED event, borrowed; NULL:
 * the watch missed the deletion.
 */
static void apply_deletion(struct bt_reflector *reflector, struct bt_str namespace_,
	struct bt_str name, struct bt_object *last)
{
	struct bt_object *old = reflector_store_take(&reflector->store, namespace_, name);

	if (old != NULL) {
		/*
		 * If the UIDs differ, the event is about a newer object with the same name, and the
		 * deletion of the stored object was missed.
		 */
		bool is_ours = last != NULL && bt_str_equal(old->meta->uid, last->meta->uid);

		reflector->options.sink.changed(
			reflector->options.sink.context, is_ours ? last : old, NULL, !is_ours);
		bt_object_release(old);
	}
}

static void record_version(struct bt_reflector *reflector)
{
	int64_t version;

	if (reflector->version_cell != NULL &&
		bt_str_parse_int64(bt_strbuf_str(&reflector->state.resource_version), &version)) {
		/* keeps 15 digits, which a double holds exactly */
		bt_metric_set(reflector->version_cell, (double)(version % 1000000000000000));
	}
}

void bt_reflector_complete_copy(struct bt_reflector *reflector)
{
	/*
	 * Apply one difference at a time, so that the copy is consistent whenever a difference is
	 * reported.
	 */
	struct bt_reflector_store *incoming = &reflector->incoming;
	struct bt_reflector_store *store = &reflector->store;

	bt_reflector_resume(reflector, true);
	for (uint32_t i = store->items.count; i > 0; i--) {
		const struct bt_object *object = store->items.items[i - 1];
		struct bt_str namespace_ = bt_object_namespace(object);
		struct bt_str name = bt_object_name(object);

		if (bt_reflector_store_find(incoming, namespace_, name) == NULL) {
			apply_deletion(reflector, namespace_, name, NULL);
		}
	}
	if (store->items.count == 0) {
		/*
		 * The first list may have a million items: take over the list's index instead of
		 * building a second one.
		 */
		bt_reflector_store_finish(store);
		*store = *incoming;
		*incoming = (struct bt_reflector_store){0};
		for (uint32_t i = 0; i < store->items.count; i++) {
			struct bt_object *object = bt_object_unpack(store->items.items[i]);
			struct bt_object *for_sink = bt_object_share(object);

			bt_object_allow_pack(object);
			report_object(reflector, NULL, for_sink);
		}
		bt_vec_finish_each(&store->unpacked, bt_object_release(*each));
	}
	for (uint32_t i = 0; i < incoming->items.count; i++) {
		apply_object(reflector, bt_object_unpack(incoming->items.items[i]));
	}
	incoming->items.count = 0; /* ownership has moved */
	bt_reflector_store_finish(incoming);
	record_version(reflector);
	BT_LOG_INFO(2, "Caches populated", BT_LOG_CSTR("type", reflector->options.type_name),
		BT_LOG_CSTR("reflector", reflector->options.name));
	if (!reflector->is_synced) {
		reflector->is_synced = true;
		if (reflector->options.sink.synced != NULL) {
			reflector->options.sink.synced(reflector->options.sink.context);
		}
	}
}

static int decode_object(struct bt_reflector *reflector, struct bt_str bytes,
	struct bt_object **out_object, struct berth_error *err)
{
	const struct bt_reflector_options *options = &reflector->options;
	struct bt_json_reader reader;

	if (options->decode_json != NULL) {
		return options->decode_json(options->kind, bytes, out_object, err);
	}
	if (reflector->is_protobuf) {
		return bt_object_decode_protobuf(
			options->kind, bytes, options->commons, out_object, err);
	}
	bt_json_reader_init(&reader, bytes);
	int code = bt_object_decode_as(options->kind, &reader, out_object, err);
	if (code == 0) {
		code = bt_json_expect_end(&reader, err);
		if (code != 0) {
			bt_object_release(*out_object);
		}
	}
	return code;
}

static void collect(struct bt_reflector *reflector, struct bt_object *object)
{
	struct bt_reflector_store *incoming = &reflector->incoming;

	if (reflector->options.commons != NULL && object->kind == BT_KIND_POD &&
		((const struct bt_pod *)object->value)->spec.node_name.length == 0 &&
		incoming->unpacked.count < UNPACKED_MAX) {
		/*
		 * The scheduler needs a pod without a node unpacked soon, so packing it would be
		 * wasted. A second reference, which is not packable, keeps the pod unpacked until
		 * bt_reflector_complete_copy has passed it to the sink.
		 */
		bt_vec_push(&incoming->unpacked, bt_object_share(object));
	}
	bt_object_release(reflector_store_set(incoming, object));
}

static enum bt_reflector_end end_of_status(
	const struct bt_reflector *reflector, const struct bt_api_status *status)
{
	bool is_expired = bt_str_equal(status->reason, BT_STR("Expired")) ||
		bt_str_equal(status->reason, BT_STR("Gone")) || status->code == 410;
	bool is_internal = bt_str_equal(status->reason, BT_STR("InternalError")) ||
		(status->reason.length == 0 && status->code == 500);

	if (is_expired) {
		return BT_REFLECTOR_END_EXPIRED;
	}
	if (bt_str_equal(status->reason, BT_STR("TooManyRequests")) || status->code == 429) {
		return BT_REFLECTOR_END_REFUSED;
	}
	if ((status->details != NULL &&
		    BT_STR_FIND(&status->details->causes, reason,
			    BT_STR("ResourceVersionTooLarge")) != NULL) ||
		bt_str_find(status->message, BT_STR("Too large resource version")) >= 0) {
		return BT_REFLECTOR_END_FUTURE;
	}
	return is_internal || reflector->state.phase == BT_REFLECTOR_STREAM
		? BT_REFLECTOR_END_FAILED
		: BT_REFLECTOR_END_BROKEN;
}

/** Processes an ADDED, MODIFIED or DELETED event. Takes ownership of object. */
static void take_change(
	struct bt_reflector *reflector, enum bt_watch_event_type type, struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;
	bool is_watch = reflector->state.phase == BT_REFLECTOR_WATCH;

	bt_reflector_state_observed(
		&reflector->state, type == BT_WATCH_ADDED, meta->resource_version);
	record_version(reflector);
	if (type != BT_WATCH_DELETED) {
		if (is_watch) {
			apply_object(reflector, object);
		} else {
			collect(reflector, object);
		}
		return;
	}
	if (is_watch) {
		apply_deletion(reflector, meta->namespace_, meta->name, object);
	} else {
		bt_object_release(
			reflector_store_take(&reflector->incoming, meta->namespace_, meta->name));
	}
	bt_object_release(object);
}

static int take_event(struct bt_reflector *reflector, struct bt_str bytes, struct berth_error *err)
{
	struct bt_watch_event event;
	int code =
		bt_watch_event_read(bytes, reflector->is_protobuf, &reflector->arena, &event, err);

	if (code != 0) {
		return code;
	}
	reflector->event_count++;
	reflector->last_event_ns = bt_loop_now_ns(reflector->options.loop);
	if (event.type == BT_WATCH_ERROR) {
		struct bt_api_status status = {.code = 0};
		code = bt_watch_object_read(&bt_api_status_message, event.object,
			reflector->is_protobuf, &reflector->arena, &status, err);
		if (code != 0) {
			return bt_error_wrap(err, code, "Status");
		}
		reflector->failure = end_of_status(reflector, &status);
		return bt_error_set(
			err, BERTH_ERR_IO, "%.*s", BT_STR_ARG(bt_str_sub(status.message, 0, 1024)));
	}
	if (reflector->state.phase == BT_REFLECTOR_WATCH) {
		bt_reflector_resume(reflector, false);
	}
	if (event.type == BT_WATCH_BOOKMARK) {
		struct bt_partial_object_metadata bookmark = {0};
		const struct bt_object_meta *meta = &bookmark.metadata;
		code = bt_watch_object_read(&bt_partial_object_metadata_message, event.object,
			reflector->is_protobuf, &reflector->arena, &bookmark, err);

		if (code != 0) {
			return bt_error_wrap(err, code, "bookmark");
		}
		const struct bt_str *end =
			bt_str_map_find(&meta->annotations, BT_STR("k8s.io/initial-events-end"));
		if (reflector->state.phase == BT_REFLECTOR_STREAM && end != NULL &&
			bt_str_equal(*end, BT_STR("true"))) {
			reflector->state.unavailable = false;
			reflector->state.distrusts_added = false;
			reflector->state.phase = BT_REFLECTOR_WATCH;
			bt_strbuf_set(&reflector->state.resource_version, meta->resource_version);
			bt_reflector_complete_copy(reflector);
		} else {
			reflector->has_bookmarks = true;
			bt_reflector_state_observed(
				&reflector->state, false, meta->resource_version);
			record_version(reflector);
		}
		return 0;
	}
	/* Compares the kind with the type's name without its package: "Pod" in "*v1.Pod". */
	const char *dot = strrchr(reflector->options.type_name, '.');
	struct bt_object *object;

	if (event.kind.length != 0 && dot != NULL && !bt_str_equal_c(event.kind, dot + 1)) {
		BT_LOG_ERROR("an object of another kind", "Unexpected watch event object",
			BT_LOG_CSTR("reflector", reflector->options.name),
			BT_LOG_CSTR("expected", reflector->options.type_name),
			BT_LOG_STR("actual", event.kind));
		return 0;
	}
	code = decode_object(reflector, event.object, &object, err);
	if (code == 0) {
		take_change(reflector, event.type, object);
	}
	return code;
}

int bt_reflector_take_part(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err)
{
	struct bt_reflector *reflector = context;
	struct bt_str kind;
	struct bt_object *object;
	int code = 0;

	bt_arena_reset(&reflector->arena);
	switch (part) {
	case BT_FRAME_EVENT:
		return take_event(reflector, bytes, err);
	case BT_FRAME_KIND:
		code = bt_list_kind_read(
			bytes, reflector->is_protobuf, &reflector->arena, &kind, err);
		if (code == 0 && !bt_str_has_suffix(kind, BT_STR("List"))) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"the answer is not a list but a %.*s",
				kind.length > 40 ? 40 : (int)kind.length, kind.data);
		}
		break;
	case BT_FRAME_METADATA:
		code = bt_list_meta_read(bytes, reflector->is_protobuf, &reflector->arena,
			&reflector->list_version, &reflector->continue_token, err);
		break;
	case BT_FRAME_ITEM:
		code = decode_object(reflector, bytes, &object, err);
		if (code == 0) {
			collect(reflector, object);
		}
		break;
	}
	return code;
}
