/* SPDX-License-Identifier: Apache-2.0 */
/** Deletes or orphans the dependents of deleted owners. Spec: 14b section 8. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/tree.h"

/* --- links: dependents by the uids in metadata.ownerReferences, for every resource --- */

#define BT_LINK_NONE UINT32_MAX

/**
 * One owner of one object. Only the hash of the owner's uid is stored. Two uids may have the same
 * hash, so callers must read the object to see whether it refers to the owner.
 */
struct bt_garbage_link {
	char *key; /* of the dependent, owned; NULL: a free slot */
	uint64_t owner_hash;
	uint32_t collection;
	uint32_t next; /* index of the owner's next link */
	uint32_t previous;
};

struct bt_garbage_links {
	BT_VEC(struct bt_garbage_link) links;
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_owner; /* first link of each owner */
	struct bt_map by_object;
};

static uint64_t object_hash(uint32_t collection, struct bt_str key)
{
	return bt_hash_bytes(key.data, key.length, collection);
}

static uint32_t first_of(const struct bt_garbage_links *links, uint64_t owner_hash)
{
	BT_MAP_EACH (&links->by_owner, owner_hash, link) {
		if (links->links.items[link].owner_hash == owner_hash) {
			return link;
		}
	}
	return BT_LINK_NONE;
}

static void garbage_links_add(struct bt_garbage_links *links, uint32_t collection,
	struct bt_str key, struct bt_str owner_uid)
{
	struct bt_garbage_link link = {
		.key = bt_strndup(key.data, key.length),
		.owner_hash = bt_str_hash(owner_uid),
		.collection = collection,
		.previous = BT_LINK_NONE,
		.next = BT_LINK_NONE,
	};
	uint32_t first = first_of(links, link.owner_hash);
	uint32_t index;

	bt_vec_store(&links->links, &links->free_slots, link, index);
	if (first == BT_LINK_NONE) {
		bt_map_insert(&links->by_owner, link.owner_hash, index);
	} else {
		/* Insert after the first link, so that the map's value stays valid. */
		struct bt_garbage_link *items = links->links.items;
		items[index].previous = first;
		items[index].next = items[first].next;
		if (items[first].next != BT_LINK_NONE) {
			items[items[first].next].previous = index;
		}
		items[first].next = index;
	}
	bt_map_insert(&links->by_object, object_hash(collection, key), index);
}

static void remove_link(struct bt_garbage_links *links, uint32_t index, uint64_t hash)
{
	struct bt_garbage_link *items = links->links.items;
	struct bt_garbage_link link = items[index];

	if (link.next != BT_LINK_NONE) {
		items[link.next].previous = link.previous;
	}
	if (link.previous != BT_LINK_NONE) {
		items[link.previous].next = link.next;
	} else {
		(void)bt_map_remove(&links->by_owner, link.owner_hash, index);
		if (link.next != BT_LINK_NONE) {
			bt_map_insert(&links->by_owner, link.owner_hash, link.next);
		}
	}
	(void)bt_map_remove(&links->by_object, hash, index);
	bt_free(link.key);
	items[index] = (struct bt_garbage_link){.key = NULL};
	bt_vec_push(&links->free_slots, index);
}

static void garbage_links_remove(
	struct bt_garbage_links *links, uint32_t collection, struct bt_str key)
{
	uint64_t hash = object_hash(collection, key);
	uint32_t found;

	do {
		found = BT_LINK_NONE;
		BT_MAP_EACH (&links->by_object, hash, index) {
			const struct bt_garbage_link *link = &links->links.items[index];

			if (link->collection == collection && bt_str_equal_c(key, link->key)) {
				found = index;
				break;
			}
		}
		if (found != BT_LINK_NONE) {
			remove_link(links, found, hash);
		}
	} while (found != BT_LINK_NONE);
}

#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"
/** Maximum number of owners that the search for a cycle reads. */
#define CIRCLE_MAX 100

struct collector {
	struct bt_garbage_links links;
	/**
	 * Queue keys of the owners in foreground deletion, which wait for their dependents. The
	 * group of a key is the owner's uid.
	 */
	struct bt_groups waiting;
};

static void finish(void *data)
{
	struct collector *self = data;

	for (uint32_t i = 0; i < self->links.links.count; i++) {
		bt_free(self->links.links.items[i].key);
	}
	bt_vec_finish(&self->links.links);
	bt_vec_finish(&self->links.free_slots);
	bt_map_finish(&self->links.by_owner);
	bt_map_finish(&self->links.by_object);
	bt_groups_finish(&self->waiting);
}

/* --- queue keys: "collection:key" --- */

static void enqueue_object(struct bt_hub *hub, uint32_t collection, struct bt_str key)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "%" PRIu32 ":%.*s", collection, BT_STR_ARG(key));
	bt_hub_enqueue(hub, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
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
	uint32_t collection = observed->resource->collection;
	struct bt_arena arena = {0};
	bool gone = false;

	if (observed->type == BT_CHANGE_DELETED) {
		/*
		 * Enqueue the owners that waited for this dependent, and the dependents of the
		 * deleted object.
		 */
		struct bt_str uid = bt_json_text_at(observed->after, "metadata.uid");

		garbage_links_remove(&self->links, collection, observed->key);
		for (uint32_t i = 0; i < owners->count; i++) {
			bt_hub_enqueue_group(
				hub, &self->waiting, bt_json_text_at(owners->elements[i], "uid"));
		}
		for (uint32_t link = first_of(&self->links, bt_str_hash(uid)); link != BT_LINK_NONE;
			link = self->links.links.items[link].next) {
			const struct bt_garbage_link *found = &self->links.links.items[link];
			enqueue_object(hub, found->collection, bt_str_from(found->key));
		}
		return;
	}
	if (observed->before == NULL ||
		!bt_json_equal(
			bt_json_array_at(observed->before, "metadata.ownerReferences"), owners)) {
		if (observed->before != NULL) {
			garbage_links_remove(&self->links, collection, observed->key);
		}
		for (uint32_t i = 0; i < owners->count; i++) {
			garbage_links_add(&self->links, collection, observed->key,
				bt_json_text_at(owners->elements[i], "uid"));
			gone = gone ||
				owner_state(hub, owners->elements[i],
					bt_key_namespace(observed->key), &arena) != OWNER_LIVES;
		}
	}
	bt_arena_finish(&arena);
	if (gone ||
		(bt_tree_is_deleting(observed->after) &&
			(has_finalizer(observed->after, FOREGROUND) ||
				has_finalizer(observed->after, ORPHAN)))) {
		enqueue_object(hub, collection, observed->key);
	}
}

/* --- dependents --- */

/**
 * Replaces the list `name` of the object's metadata. Returns false if the write must be tried
 * again.
 */
static bool write_metadata(struct bt_sync *sync, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *name, struct bt_json_value *list,
	struct bt_arena *arena)
{
	return bt_hub_is_done(
		bt_hub_patch(sync->hub, resource, BT_SUBRESOURCE_NONE, bt_tree_key(arena, object),
			bt_json_put(arena, NULL, "{metadata: {uid: %s, %c: %v}}",
				bt_json_text_at(object, "metadata.uid"), name,
				list->count != 0 ? list : bt_json_new(arena, BT_JSON_NULL)),
			arena));
}

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
		return write_metadata(sync, resource, object, "ownerReferences", living, arena);
	}
	if (bt_tree_is_deleting(object)) {
		return true;
	}
	if (has_finalizer(object, ORPHAN)) {
		propagation = BT_PROPAGATION_ORPHAN;
	} else if (has_finalizer(object, FOREGROUND) ||
		(is_waited_for && first_of(&self->links, bt_str_hash(uid)) != BT_LINK_NONE)) {
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
	const struct bt_resources *resources = bt_api_resources(sync->hub->api);

	for (uint32_t i = 0; i<owners->count && * left> 0; i++) {
		const struct bt_json_value *reference = owners->elements[i];
		const struct bt_api_resource *resource =
			bt_resources_find_kind(resources, bt_json_text_at(reference, "apiVersion"),
				bt_json_text_at(reference, "kind"));

		(*left)--;
		if (bt_str_equal(bt_json_text_at(reference, "uid"), uid)) {
			return true;
		}
		const struct bt_json_value *owner = resource != NULL
			? bt_api_read(sync->hub->api, resource,
				  bt_api_key(arena, resource->namespaced ? namespace_ : BT_STR(""),
					  bt_json_text_at(reference, "name")),
				  arena)
			: NULL;
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
	const struct bt_resources *resources = bt_api_resources(sync->hub->api);
	struct bt_str uid = bt_json_text_at(sync->object, "metadata.uid");
	struct bt_json_value *finalizers;
	struct bt_arena scratch = {0};
	bool blocked = false;
	bool succeeded = true;

	if (!orphan) {
		bt_groups_set(&self->waiting, sync->key, uid);
	}
	for (uint32_t link = first_of(&self->links, bt_str_hash(uid)); link != BT_LINK_NONE;
		link = self->links.links.items[link].next) {
		const struct bt_garbage_link *found = &self->links.links.items[link];
		const struct bt_api_resource *resource =
			bt_resources_of_collection(resources, found->collection);
		uint32_t left = CIRCLE_MAX;
		struct bt_str dependent_key = bt_arena_str(&scratch, bt_str_from(found->key));
		const struct bt_json_value *dependent = resource != NULL
			? bt_api_read(sync->hub->api, resource, dependent_key, &scratch)
			: NULL;
		const struct bt_json_value *reference = bt_json_element_with(
			bt_json_array_at(dependent, "metadata.ownerReferences"), "uid", uid);

		if (reference == NULL) {
			/* The object is not a dependent: another owner's uid has the same hash. */
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
	finalizers = bt_tree_copy_array(sync->arena, sync->object, "metadata.finalizers");
	bt_json_remove_text(finalizers, bt_str_from(orphan ? ORPHAN : FOREGROUND));
	bt_groups_remove(&self->waiting, sync->key);
	return write_metadata(
		sync, sync->resource, sync->object, "finalizers", finalizers, sync->arena);
}

static bool sync(struct bt_sync *sync)
{
	struct collector *self = sync->data;
	int64_t colon = bt_str_find_char(sync->key, ':');
	struct bt_str key = bt_str_sub(sync->key, (uint32_t)(colon + 1), sync->key.length);
	int64_t collection;

	if (colon <= 0 ||
		!bt_str_parse_int64(bt_str_sub(sync->key, 0, (uint32_t)colon), &collection)) {
		return true;
	}
	sync->resource =
		bt_resources_of_collection(bt_api_resources(sync->hub->api), (uint32_t)collection);
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
	.name = "garbage-collector-controller",
	.watches = BT_WATCH_ALL,
	.data_bytes = sizeof(struct collector),
	.finish = finish,
	.observe = observe,
	.sync = sync,
};
