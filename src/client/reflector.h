/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_H
#define BT_CLIENT_REFLECTOR_H
/**
 * A reflector keeps a copy of one collection of the API up to date: streaming list or paged list,
 * then watch, for ever, through every way a server can end them. Spec: 13 sections 10 to 13, 11b
 * section 5. What it tells its sink is exact: additions, updates with the old state, deletions,
 * each once and in order; a list that replaces the copy is told as the differences.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/prng.h"
#include "client/rest.h"
#include "codec/json.h"

struct bt_reflector;

/**
 * Of items whose references can rest (api/object.h): those of the copy do, but while they are told
 * of.
 */
struct bt_reflector_resting {
	void (*rest)(void *item);
	void (*wake)(void *item);
	/** Also of an item that rests. */
	void (*key)(const void *item, struct bt_str *out_namespace, struct bt_str *out_name);
	/** Whoever is told of it will keep it awake: there is no use in putting it to rest first.
	 */
	bool (*is_soon_awake)(const void *item);
};

/**
 * The kind of things it holds. Items are counted references. The codec of enum bt_kind's objects is
 * bt_reflector_object_codec.
 */
struct bt_reflector_codec {
	/** A JSON value (an object of the API). *out_item is owned. */
	int (*decode_json)(
		void *context, struct bt_str json, void **out_item, struct berth_error *err);
	/** The raw bytes of an envelope, or of a list's item; NULL: only JSON is asked for. */
	int (*decode_protobuf)(
		void *context, struct bt_str bytes, void **out_item, struct berth_error *err);
	const struct bt_object_meta *(*meta)(const void *item);
	void *(*share)(void *item);
	void (*release)(void *item);
	void *context;
	const struct bt_reflector_resting *resting; /* NULL: items do not rest */
};

const struct bt_reflector_codec *bt_reflector_object_codec(enum bt_kind kind);
/** For pods that share what they have in common (api/pod_common.h). commons: borrowed. */
struct bt_reflector_codec bt_reflector_pod_codec(struct bt_pod_commons *commons);
/** For nodes that rest. commons: as the pods'. */
struct bt_reflector_codec bt_reflector_node_codec(struct bt_pod_commons *commons);

struct bt_reflector_sink {
	void *context;
	/**
	 * old NULL: added; new NULL: deleted (old is the last state, as the DELETED event shows
	 * it); is_stale: a deletion that was missed and found by a list. Borrowed for the call.
	 */
	void (*changed)(void *context, void *old_item, void *new_item, bool is_stale);
	/** The first complete copy was told. Once. */
	void (*synced)(void *context);
	/** A request failed before anything came; it will be repeated. NULL: not told. */
	void (*failed)(void *context, const struct bt_rest_answer *answer);
	/**
	 * After the first copy: a watch goes on that was broken for so long (is_list false: nothing
	 * was missed), or a list replaces the copy, and its differences come next. NULL: not told.
	 */
	void (*resumed)(void *context, int64_t silent_ns, bool is_list);
};

struct bt_reflector_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_prng *prng; /* jitter; borrowed */
	const struct bt_reflector_codec *codec;
	struct bt_str path;           /* "/api/v1/pods"; copied */
	struct bt_str field_selector; /* "" */
	/** "*v1.Pod": in messages. Objects of a watch that say that they are of another kind than
	 * what follows the last dot are passed over. */
	const char *type_name;
	const char *name; /* the reflector's own in messages; the resource */
	bool streaming;   /* gate WatchListClient, and the environment's veto */
	struct bt_reflector_sink sink;
	struct bt_metrics *metrics; /* informer_*; NULL: none */
};

/** Starts at the next turn of the loop. Options are copied. */
BT_MUST_USE struct bt_reflector *bt_reflector_create(const struct bt_reflector_options *options);
/** Items are released without being told. Not from within its sink. NULL accepted. */
void bt_reflector_destroy(struct bt_reflector *reflector);
bool bt_reflector_is_synced(const struct bt_reflector *reflector);
uint32_t bt_reflector_count(const struct bt_reflector *reflector);
/** Its copy of one object, borrowed; NULL: none. It may rest. */
void *bt_reflector_find(
	const struct bt_reflector *reflector, struct bt_str namespace_, struct bt_str name);
/** Every item, in no order, until visit returns false; awake for the visit only. */
void bt_reflector_for_each(const struct bt_reflector *reflector,
	bool (*visit)(void *context, void *item), void *context);

/** Objects as a reflector keeps them when all of their JSON matters, and not their kind. */

/** Immutable and shared. */
struct bt_json_item {
	uint32_t references;
	struct bt_arena arena; /* of all of it */
	struct bt_object_meta meta;
	struct bt_json_value *document;
};

/** Items are struct bt_json_item. */
extern const struct bt_reflector_codec bt_reflector_json_codec;

/** NULL accepted. */
struct bt_json_item *bt_json_item_share(struct bt_json_item *item);
/** NULL accepted. */
void bt_json_item_release(struct bt_json_item *item);

#endif
