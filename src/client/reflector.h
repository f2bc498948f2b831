/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_REFLECTOR_H
#define BT_CLIENT_REFLECTOR_H
/**
 * A reflector keeps a copy of one API collection up to date: it reads a streaming or paged list,
 * then watches. When a watch ends, the reflector opens another watch from the last seen version; if
 * that is not possible, it starts again with a list. Spec: 13 sections 10 to 13, 11b section 5. The
 * sink gets exact changes (additions, updates with the old object, deletions), each once and in
 * order. After a new list, it gets only the differences between the list and the copy.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/prng.h"
#include "client/rest.h"
#include "codec/json.h"

struct bt_reflector;

/**
 * Functions for items that can be packed: kept in a compact form that must be unpacked before it is
 * read. The reflector allows its items to be packed (bt_object_allow_pack), except while it calls
 * the sink.
 */
struct bt_reflector_packing {
	void (*allow_pack)(void *item);
	void (*unpack)(void *item);
	/** Reads namespace and name; also works for a packed item. */
	void (*key)(const void *item, struct bt_str *out_namespace, struct bt_str *out_name);
	/**
	 * Returns true if the sink will keep an ordinary reference: packing the item before that
	 * would be wasted work.
	 */
	bool (*is_soon_unpacked)(const void *item);
};

/**
 * How to decode and hold one kind of items. Items are reference counted. bt_reflector_object_codec
 * gives the codec of a bt_kind.
 */
struct bt_reflector_codec {
	/** Decodes an API object from JSON. *out_item is owned. */
	int (*decode_json)(
		void *context, struct bt_str json, void **out_item, struct berth_error *err);
	/**
	 * Decodes the raw bytes of an envelope or a list's item; NULL: requests accept only JSON.
	 */
	int (*decode_protobuf)(
		void *context, struct bt_str bytes, void **out_item, struct berth_error *err);
	const struct bt_object_meta *(*meta)(const void *item);
	void *(*share)(void *item);
	void (*release)(void *item);
	void *context;
	const struct bt_reflector_packing *packing; /* NULL: items are never packed */
};

/** The context of the codecs of API objects. */
struct bt_object_decoding {
	enum bt_kind kind;
	struct bt_pod_commons *commons; /* borrowed; NULL: objects are never packed */
};

const struct bt_reflector_codec *bt_reflector_object_codec(enum bt_kind kind);
/**
 * Returns the codec for pods or nodes that can be packed; pods share common parts
 * (api/pod_common.h). The codec borrows `decoding`.
 */
struct bt_reflector_codec bt_reflector_packing_codec(struct bt_object_decoding *decoding);

struct bt_reflector_sink {
	void *context;
	/**
	 * old_item NULL: new_item was added. new_item NULL: the item was deleted; old_item is its
	 * last state, from the DELETED event. is_stale: the watch missed the deletion, and old_item
	 * is the last known state. Items are borrowed for the call.
	 */
	void (*changed)(void *context, void *old_item, void *new_item, bool is_stale);
	/** Called once, after all objects of the first list were reported. */
	void (*synced)(void *context);
	/**
	 * A request failed before a successful answer began; the reflector will repeat the request.
	 * May be NULL.
	 */
	void (*failed)(void *context, const struct bt_rest_answer *answer);
	/**
	 * Called after a watch was broken for silent_ns. is_list false: the watch continues, and no
	 * changes were lost. is_list true: a list replaces the copy, and its differences are
	 * reported next. Not called for the first list. May be NULL.
	 */
	void (*resumed)(void *context, int64_t silent_ns, bool is_list);
};

struct bt_reflector_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_prng *prng; /* for jitter; borrowed */
	const struct bt_reflector_codec *codec;
	struct bt_str path;           /* "/api/v1/pods"; copied */
	struct bt_str field_selector; /* "" */
	/**
	 * For messages: "*v1.Pod". Watch objects whose kind is set and differs from the part after
	 * the last dot are ignored.
	 */
	const char *type_name;
	const char *name; /* name for messages; as upstream, the name of the resource */
	bool streaming;   /* request lists as streams, as upstream does with gate WatchListClient */
	struct bt_reflector_sink sink;
	struct bt_metrics *metrics; /* informer_*; NULL: none */
};

/** Sends the first request in the loop's next turn. Copies the options. */
BT_MUST_USE struct bt_reflector *bt_reflector_create(const struct bt_reflector_options *options);
/**
 * The same for the objects of a kind, in the API version at this index: sets path, type_name and
 * name.
 */
BT_MUST_USE struct bt_reflector *bt_reflector_create_of_kind(
	const struct bt_reflector_options *options, enum bt_kind kind, uint32_t version_index);
const char *bt_reflector_type_name(const struct bt_reflector *reflector);
/**
 * Releases the items without calling the sink. Must not be called within the sink. NULL accepted.
 */
void bt_reflector_destroy(struct bt_reflector *reflector);
bool bt_reflector_is_synced(const struct bt_reflector *reflector);
/** Whether the server has begun to answer the running request. */
bool bt_reflector_is_open(const struct bt_reflector *reflector);
uint32_t bt_reflector_count(const struct bt_reflector *reflector);
/**
 * Returns the item with this name in the reflector's copy of the collection, borrowed; NULL: no
 * such item. The item may be packed.
 */
void *bt_reflector_find(
	const struct bt_reflector *reflector, struct bt_str namespace_, struct bt_str name);
/** Visits every item, in no particular order; items are unpacked only during the visit. */
void bt_reflector_for_each(const struct bt_reflector *reflector,
	void (*visit)(void *context, void *item), void *context);

/** Items with their whole JSON tree, for uses that do not need the decoded structures. */

/** Immutable and shared. */
struct bt_json_item {
	uint32_t references;
	struct bt_arena arena; /* holds all memory of the item */
	struct bt_object_meta meta;
	struct bt_json_value *document;
};

/** Codec for struct bt_json_item. */
extern const struct bt_reflector_codec bt_reflector_json_codec;

/** NULL accepted. */
struct bt_json_item *bt_json_item_share(struct bt_json_item *item);
/** NULL accepted. */
void bt_json_item_release(struct bt_json_item *item);

#endif
