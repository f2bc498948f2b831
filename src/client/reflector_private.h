/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_PRIVATE_H
#define BT_CLIENT_REFLECTOR_PRIVATE_H
/**
 * Shared by reflector*.c: requests and their ends (reflector.c), what their bodies say and how the
 * copy follows (reflector_read.c).
 */
#include "base/map.h"
#include "base/vec.h"
#include "client/reflector.h"
#include "client/reflector_state.h"
#include "client/watch_frames.h"

/**
 * Items by namespace and name; keys are read from the items, not kept. Items whose references can
 * rest do, as long as they are in the store. Must not move once it has items.
 */
struct bt_reflector_store {
	const struct bt_reflector_codec *codec;
	BT_VEC(void *) items; /* owned */
	struct bt_map map;    /* key -> index */
	BT_VEC(void *) awake; /* references that keep items from resting until the end */
};

void bt_reflector_store_init(
	struct bt_reflector_store *store, const struct bt_reflector_codec *codec);
/** Also empties one that is used again: its memory is given back. */
void bt_reflector_store_finish(struct bt_reflector_store *store);

void *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name);

struct bt_reflector {
	struct bt_reflector_options options; /* texts: owned copies */
	struct bt_reflector_state state;
	struct bt_reflector_store store;    /* the copy */
	struct bt_reflector_store incoming; /* of a list that is not complete */
	struct bt_arena arena;              /* for one event or list member */
	struct bt_metric_cell *version_cell;
	bool is_synced;
	int64_t due_ns;     /* of the next request, when there is none */
	int64_t lost_ns;    /* since then the copy follows no watch that sent something; 0: it does
	                     */
	bool has_bookmarks; /* the server sends them, as was asked */

	/* the request under way */
	struct bt_rest_call *call;
	struct bt_frames frames;
	bool is_open;
	bool is_protobuf;
	int64_t opened_ns;
	int64_t last_event_ns;
	int64_t mentioned_ns; /* when its silence was */
	uint32_t event_count;
	struct bt_strbuf list_version;
	struct bt_strbuf continue_token;
	enum bt_reflector_end failure; /* why its reading was given up */
};

/** For bt_frames_sink: context is the reflector. */
BT_MUST_USE int bt_reflector_take_part(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err);
/** What came is the copy now: told as differences, logged, synced. */
void bt_reflector_complete_copy(struct bt_reflector *reflector);
/** The copy follows again, if it did not: tell for how long. */
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
