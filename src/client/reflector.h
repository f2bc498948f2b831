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

struct bt_reflector;

struct bt_reflector_sink {
	void *context;
	/**
	 * old_object NULL: new_object was added. new_object NULL: the object was deleted;
	 * old_object is its last state, from the DELETED event. is_stale: the watch missed the
	 * deletion, and old_object is the last known state. Objects are borrowed for the call.
	 */
	void (*changed)(void *context, struct bt_object *old_object, struct bt_object *new_object,
		bool is_stale);
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
	enum bt_kind kind;    /* of the objects; not used by bt_object_decode_metadata */
	/**
	 * Decodes an object from JSON; requests then accept only JSON. NULL: the fields that the
	 * kind's structure has, from JSON or protobuf.
	 */
	int (*decode_json)(enum bt_kind kind, struct bt_str json, struct bt_object **out_object,
		struct berth_error *err);
	/**
	 * Common parts that pods share (api/pod_common.h); borrowed. With them, pods and nodes from
	 * protobuf are packed except while the sink is called. NULL: objects are never packed.
	 */
	struct bt_pod_commons *commons;
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
 * The same for the objects of a kind, in the API version at this index: sets kind, path,
 * type_name and name.
 */
BT_MUST_USE struct bt_reflector *bt_reflector_create_of_kind(
	const struct bt_reflector_options *options, enum bt_kind kind, uint32_t version_index);
const char *bt_reflector_type_name(const struct bt_reflector *reflector);
/**
 * Releases the objects without calling the sink. Must not be called within the sink. NULL accepted.
 */
void bt_reflector_destroy(struct bt_reflector *reflector);
bool bt_reflector_is_synced(const struct bt_reflector *reflector);
/** Whether the server has begun to answer the running request. */
bool bt_reflector_is_open(const struct bt_reflector *reflector);
uint32_t bt_reflector_count(const struct bt_reflector *reflector);
/**
 * Returns the object with this name in the reflector's copy of the collection, borrowed; NULL: no
 * such object. The object may be packed.
 */
struct bt_object *bt_reflector_find(
	const struct bt_reflector *reflector, struct bt_str namespace_, struct bt_str name);
/** Visits every object, in no particular order; objects are unpacked only during the visit. */
void bt_reflector_for_each(const struct bt_reflector *reflector,
	void (*visit)(void *context, const struct bt_object *object), void *context);

#endif
