/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_PRIVATE_H
#define BT_CLIENT_REFLECTOR_PRIVATE_H
/**
 * Shared by reflector*.c: requests and how they end (reflector.c), processing of bodies and updates
 * of the copy (reflector_read.c).
 */
#include "base/map.h"
#include "base/vec.h"
#include "client/reflector.h"
#include "client/reflector_state.h"
#include "client/watch_frames.h"

/**
 * Items by namespace and name; keys are read from the items instead of stored. The store's
 * references are packable if the codec has `packing`. Must not move once it has items.
 */
struct bt_reflector_store {
	const struct bt_reflector_codec *codec;
	BT_VEC(void *) items; /* owned */
	struct bt_map map;    /* key -> index */
	BT_VEC(void *) unpacked; /* ordinary references that keep items unpacked until finish */
};

void bt_reflector_store_init(
	struct bt_reflector_store *store, const struct bt_reflector_codec *codec);
/** Releases all items; the store can be used again. */
void bt_reflector_store_finish(struct bt_reflector_store *store);

void *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name);

struct bt_reflector {
	struct bt_reflector_options options; /* texts are owned copies */
	struct bt_reflector_state state;
	struct bt_reflector_store store;    /* the current copy */
	struct bt_reflector_store incoming; /* items of the list being received */
	struct bt_arena arena;              /* for one event or list member */
	struct bt_metric_cell *version_cell;
	bool is_synced;
	int64_t due_ns;     /* time of the next request, if none is running */
	int64_t lost_ns;    /* start of the time without a working watch; 0: the watch works */
	bool has_bookmarks; /* the server sends bookmarks */

	/* the running request */
	struct bt_rest_call *call;
	struct bt_frames frames;
	bool is_open;
	bool is_protobuf;
	int64_t opened_ns;
	int64_t last_event_ns;
	int64_t mentioned_ns; /* last log line about its silence */
	uint32_t event_count;
	struct bt_strbuf list_version;
	struct bt_strbuf continue_token;
	enum bt_reflector_end failure; /* why reading failed */
};

/** For bt_frames_sink: context is the reflector. */
BT_MUST_USE int bt_reflector_take_part(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err);
/** Replaces the copy by the complete list: reports the differences, logs, and calls synced. */
void bt_reflector_complete_copy(struct bt_reflector *reflector);
/** The copy is up to date again: calls `resumed` if it was not. */
void bt_reflector_resume(struct bt_reflector *reflector, bool is_list);

static inline bool bt_reflector_is_listing(const struct bt_reflector *reflector)
{
	return reflector->state.phase == BT_REFLECTOR_LIST ||
		reflector->state.phase == BT_REFLECTOR_LIST_FULL;
}

static inline struct bt_str bt_reflector_type_name(const struct bt_reflector *reflector)
{
	return bt_str_from(reflector->options.type_name);
}

static inline struct bt_str bt_reflector_own_name(const struct bt_reflector *reflector)
{
	return bt_str_from(reflector->options.name);
}

#endif
