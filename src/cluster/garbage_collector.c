/* SPDX-License-Identifier: Apache-2.0 */
/** Deletes or orphans the dependents of deleted owners. Spec: 14b section 8. */
#include <inttypes.h>

#include "cluster/tree.h"

#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"
/** Maximum number of owners that the search for a cycle reads. */
#define CIRCLE_MAX 100

struct collector {
	/**
	 * References of objects of every resource, by the owner's uid. A key is the number of the
	 * reference in the object's ownerReferences, a space, and the object's queue key.
	 */
	struct bt_groups references;
	/**
	 * Queue keys of the owners in foreground deletion, which wait for their dependents. The
	 * group of a key is the owner's uid.
	 */
	struct bt_groups waiting;
};

/* --- queue keys: "collection:key" --- */

static struct bt_str queue_key(struct bt_arena *arena, uint32_t collection, struct bt_str key)
{
	return bt_arena_printf(arena, "%" PRIu32 ":%.*s", collection, BT_STR_ARG(key));
}

/** Returns the resource of a queue key and sets *out_key; NULL: the resource is gone. */
static const struct bt_api_resource *split_queue_key(
	struct bt_hub *hub, struct bt_str queue_key, struct bt_str *out_key)
{
	struct bt_str number = bt_str_cut(&queue_key, ':');
	int64_t collection = 0;

	(void)bt_str_parse_int64(number, &collection);
	*out_key = queue_key;
	return bt_resources_of_collection(bt_api_resources(hub->api), (uint32_t)collection);
}

/** Returns the queue key of the object with this reference. */
static struct bt_str dependent_of(const struct collector *self, uint32_t reference)
{
	struct bt_str text = bt_groups_key(&self->references, reference);

	(void)bt_str_cut(&text, ' ');
	return text;
}

static struct bt_str reference_key(struct bt_arena *arena, uint32_t number, struct bt_str queue_key)
{
	return bt_arena_printf(arena, "%" PRIu32 " %.*s", number, BT_STR_ARG(queue_key));
}

/* --- owners --- */

static bool has_finalizer(const struct bt_json_value *object, const char *name)
{
	return bt_json_has_text(bt_json_array_at(object, "metadata.finalizers"), bt_str_from(name));
}

/**
 * Returns metadata.uid of the object with this JSON text, or "". Reads only this member, because
 * parsing every owner of every pod would dominate the run time.
 */
static struct bt_str uid_of_text(struct bt_str text, struct bt_arena *arena)
{
	struct bt_json_reader reader;
	struct bt_str uid;
	bt_json_reader_init(&reader, text);
	return bt_json_seek(&reader, "metadata.uid") &&
			bt_json_read_string(&reader, arena, &uid, NULL, NULL) == 0
		? uid
		: BT_STR("");
}

enum owner_state {
	OWNER_LIVES, /* exists and is not in foreground deletion, or cannot be looked up */
	OWNER_WAITS, /* in foreground deletion */
	OWNER_IS_GONE,
};

static enum owner_state owner_state(struct bt_hub *hub, const struct bt_json_value *reference,
	struct bt_str namespace_, struct bt_arena *arena)
{
	const struct bt_api_resource *resource = bt_resources_find_kind(bt_api_resources(hub->api),
		bt_json_text_at(reference, "apiVersion"), bt_json_text_at(reference, "kind"));

	if (resource == NULL || (resource->namespaced && namespace_.length == 0)) {
		return OWNER_LIVES;
	}
	const struct bt_stored *stored = bt_store_find(hub->store, resource->collection,
		bt_api_key(arena, resource->namespaced ? namespace_ : BT_STR(""),
			bt_json_text_at(reference, "name")));
	if (stored == NULL ||
		!bt_str_equal(uid_of_text(bt_stored_text(stored), arena),
			bt_json_text_at(reference, "uid"))) {
		return OWNER_IS_GONE;
	}
	if (bt_str_find(bt_stored_text(stored), BT_STR("\"" FOREGROUND "\"")) >= 0) {
		const struct bt_json_value *owner = bt_api_parse_stored(stored, arena);

		if (bt_tree_is_deleting(owner) && has_finalizer(owner, FOREGROUND)) {
			return OWNER_WAITS;
		}
	}
	return OWNER_LIVES;
}

/* --- changes --- */

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct collector *self = data;
	const struct bt_json_value *owners =
		bt_json_array_at(observed->after, "metadata.ownerReferences");
	bool is_new_list = observed->before == NULL ||
		!bt_json_equal(
			bt_json_array_at(observed->before, "metadata.ownerReferences"), owners);
	bool is_gone = observed->type == BT_CHANGE_DELETED;
	bool is_due = !is_gone && bt_tree_is_deleting(observed->after) &&
		(has_finalizer(observed->after, FOREGROUND) ||
			has_finalizer(observed->after, ORPHAN));
	struct bt_arena arena = {0};

	if (!is_gone && !is_due &&
		(!is_new_list || (observed->before == NULL && owners->count == 0))) {
		return;
	}
	struct bt_str key = queue_key(&arena, observed->resource->collection, observed->key);
	for (uint32_t i = 0; (is_gone || is_new_list) &&
		bt_groups_remove(&self->references, reference_key(&arena, i, key));
		i++) {
		/* The references of an object are numbered from 0. */
	}
	if (is_gone) {
		/*
		 * Enqueue the owners that waited for this dependent, and the dependents of the
		 * deleted object.
		 */
		for (uint32_t i = 0; i < owners->count; i++) {
			bt_hub_enqueue_group(
				hub, &self->waiting, bt_json_text_at(owners->elements[i], "uid"));
		}
		BT_GROUPS_EACH (&self->references, bt_json_text_at(observed->after, "metadata.uid"),
			reference) {
			bt_hub_enqueue(hub, dependent_of(self, reference));
		}
	}
	for (uint32_t i = 0; !is_gone && is_new_list && i < owners->count; i++) {
		bt_groups_set(&self->references, reference_key(&arena, i, key),
			bt_json_text_at(owners->elements[i], "uid"));
		is_due = is_due ||
			owner_state(hub, owners->elements[i], bt_key_namespace(observed->key),
				&arena) != OWNER_LIVES;
	}
	if (is_due) {
		bt_hub_enqueue(hub, key);
	}
	bt_arena_finish(&arena);
}

/* --- dependents --- */

/**
 * If an owner lives, removes the references to owners that are gone or in foreground deletion.
 * Otherwise deletes the object. The propagation policy of the delete is Orphan if the object has
 * the finalizer "orphan"; else Foreground if the object has the finalizer "foregroundDeletion", or
 * if an owner waits for the object and the object has dependents; else Background. Returns false if
 * a write must be tried again.
 */
static bool collect_dependent(struct bt_sync *sync, const struct bt_api_resource *resource,
	struct bt_str key, const struct bt_json_value *object, struct bt_arena *arena)
{
	const struct collector *self = sync->data;
	const struct bt_json_value *owners = bt_json_array_at(object, "metadata.ownerReferences");
	struct bt_str uid = bt_json_text_at(object, "metadata.uid");
	struct bt_json_value *living = bt_json_new(arena, BT_JSON_ARRAY);
	enum bt_propagation propagation = BT_PROPAGATION_BACKGROUND;
	bool is_waited_for = false;

	for (uint32_t i = 0; i < owners->count; i++) {
		enum owner_state state =
			owner_state(sync->hub, owners->elements[i], bt_key_namespace(key), arena);

		if (state == OWNER_LIVES) {
			bt_json_append(arena, living, owners->elements[i]);
		}
		is_waited_for = is_waited_for || state == OWNER_WAITS;
	}
	if (living->count == owners->count) {
		return true;
	}
	if (living->count != 0) {
		return bt_hub_is_done(bt_hub_patch(sync->hub, resource, BT_SUBRESOURCE_NONE, key,
			bt_json_put(arena, NULL, "{metadata: {uid: %s, ownerReferences: %v}}", uid,
				living),
			arena));
	}
	if (bt_tree_is_deleting(object)) {
		return true;
	}
	if (has_finalizer(object, ORPHAN)) {
		propagation = BT_PROPAGATION_ORPHAN;
	} else if (has_finalizer(object, FOREGROUND) ||
		(is_waited_for && bt_groups_first(&self->references, uid) != BT_GROUPS_NONE)) {
		propagation = BT_PROPAGATION_FOREGROUND;
	}
	uint16_t code = bt_hub_delete(sync->hub, resource, key, -1, propagation, uid, arena);
	return bt_hub_is_done(code) || code == 202 || code == 409 || code == 405;
}

/* --- owners in foreground deletion or with finalizer orphan --- */

/**
 * Returns whether the object with this uid is an owner of `object`, directly or indirectly. *left:
 * how many more owner references may be examined; each one decreases *left. At 0 the search ends
 * without a result (false).
 */
static bool depends_on(struct bt_sync *sync, const struct bt_json_value *object,
	struct bt_str namespace_, struct bt_str uid, uint32_t *left, struct bt_arena *arena)
{
	const struct bt_json_value *owners = bt_json_array_at(object, "metadata.ownerReferences");

	for (uint32_t i = 0; i < owners->count && *left != 0; i++) {
		const struct bt_json_value *reference = owners->elements[i];

		(*left)--;
		if (bt_str_equal(bt_json_text_at(reference, "uid"), uid)) {
			return true;
		}
		const struct bt_json_value *owner =
			bt_hub_read_reference(sync->hub, reference, namespace_, arena, NULL);
		if (owner != NULL && depends_on(sync, owner, namespace_, uid, left, arena)) {
			return true;
		}
	}
	return false;
}

/**
 * Ends the deletion of an owner (spec 14b section 8). orphan: removes the references of the
 * dependents to the owner. Otherwise deletes the dependents; the owner waits for dependents with
 * blockOwnerDeletion. Removes the owner's finalizer once the owner need not wait. Returns false if
 * a write must be tried again.
 */
static bool end_owner(struct bt_sync *sync, struct bt_str key, bool orphan)
{
	struct collector *self = sync->data;
	struct bt_str uid = bt_json_text_at(sync->object, "metadata.uid");
	struct bt_arena scratch = {0};
	bool blocked = false;
	bool succeeded = true;

	if (!orphan) {
		bt_groups_set(&self->waiting, sync->key, uid);
	}
	BT_GROUPS_EACH (&self->references, uid, at) {
		struct bt_str dependent_key;
		const struct bt_api_resource *resource =
			split_queue_key(sync->hub, dependent_of(self, at), &dependent_key);
		uint32_t left = CIRCLE_MAX;
		const struct bt_json_value *dependent = resource != NULL
			? bt_api_read(sync->hub->api, resource, dependent_key, &scratch)
			: NULL;
		const struct bt_json_value *reference = bt_json_element_with(
			bt_json_array_at(dependent, "metadata.ownerReferences"), "uid", uid);

		if (reference == NULL) {
			/* An earlier delete or patch of this sync has removed the reference. */
		} else if (orphan) {
			succeeded = bt_tree_release(
					    sync->hub, resource, dependent, uid, NULL, &scratch) &&
				succeeded;
		} else {
			succeeded = collect_dependent(
					    sync, resource, dependent_key, dependent, &scratch) &&
				succeeded;
			dependent = bt_api_read(sync->hub->api, resource, dependent_key, &scratch);
			reference = bt_json_element_with(
				bt_json_array_at(dependent, "metadata.ownerReferences"), "uid",
				uid);
			/*
			 * A dependent that itself owns the owner, directly or indirectly, does not
			 * block the owner: otherwise each would wait for the other.
			 */
			blocked = blocked ||
				(bt_json_bool_at(reference, "blockOwnerDeletion", false) &&
					!depends_on(sync, sync->object, bt_key_namespace(key),
						bt_json_text_at(dependent, "metadata.uid"), &left,
						&scratch));
		}
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	/* The deletion of each dependent enqueues a blocked owner again. */
	if (blocked || (orphan && !succeeded)) {
		return succeeded;
	}
	bt_groups_remove(&self->waiting, sync->key);
	return bt_sync_remove_finalizer(
		sync, sync->resource, sync->object, orphan ? ORPHAN : FOREGROUND);
}

static bool sync(struct bt_sync *sync)
{
	struct collector *self = sync->data;
	struct bt_str key;

	sync->resource = split_queue_key(sync->hub, sync->key, &key);
	if (sync->resource != NULL) {
		sync->object = bt_api_read(sync->hub->api, sync->resource, key, sync->arena);
	}
	if (sync->object == NULL) {
		bt_groups_remove(&self->waiting, sync->key);
		return true;
	}
	if (bt_tree_is_deleting(sync->object) && has_finalizer(sync->object, ORPHAN)) {
		return end_owner(sync, key, true);
	}
	if (bt_tree_is_deleting(sync->object) && has_finalizer(sync->object, FOREGROUND)) {
		return end_owner(sync, key, false);
	}
	return collect_dependent(sync, sync->resource, key, sync->object, sync->arena);
}

const struct bt_controller_ops bt_garbage_collector_ops = {
	.watches = BT_WATCH_ALL,
	.group_count = 2,
	.observe = observe,
	.sync = sync,
};
