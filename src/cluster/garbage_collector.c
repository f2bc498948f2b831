/* SPDX-License-Identifier: Apache-2.0 */
/** What becomes of objects whose owners go. Spec: 14b section 8. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controller.h"
#include "cluster/groups.h"
#include "cluster/tree.h"

/* --- links: dependents by the uids in metadata.ownerReferences, for every resource --- */

#define BT_LINK_NONE UINT32_MAX

/** One owner of one object. The owner's uid is only known by its hash: who acts on a link looks
 * at the object again. */
struct bt_garbage_link {
	char *key; /* of the dependent, owned; NULL: a free link */
	uint64_t owner_hash;
	uint32_t collection;
	uint32_t next; /* of the same owner, or of the free links */
	uint32_t previous;
};

struct bt_garbage_links {
	BT_VEC(struct bt_garbage_link) links;
	uint32_t first_free;
	struct bt_map by_owner; /* first link of the owner */
	struct bt_map by_object;
};

static uint64_t object_hash(uint32_t collection, struct bt_str key)
{
	return bt_hash_bytes(key.data, key.length, collection);
}

static uint64_t hash_by_owner(const void *owner, uint32_t value)
{
	const struct bt_garbage_links *links = owner;
	return links->links.items[value].owner_hash;
}

static uint64_t hash_by_object(const void *owner, uint32_t value)
{
	const struct bt_garbage_links *links = owner;
	const struct bt_garbage_link *link = &links->links.items[value];
	return object_hash(link->collection, bt_str_from(link->key));
}

static void garbage_links_init(struct bt_garbage_links *links)
{
	*links = (struct bt_garbage_links){.first_free = BT_LINK_NONE};
	bt_map_init(&links->by_owner, hash_by_owner, links);
	bt_map_init(&links->by_object, hash_by_object, links);
}

static void garbage_links_finish(struct bt_garbage_links *links)
{
	for (uint32_t i = 0; i < links->links.count; i++) {
		bt_free(links->links.items[i].key);
	}
	bt_vec_finish(&links->links);
	bt_map_finish(&links->by_owner);
	bt_map_finish(&links->by_object);
}

static uint32_t first_of(const struct bt_garbage_links *links, uint64_t owner_hash)
{
	for (uint32_t at = bt_map_first(&links->by_owner, owner_hash); at != BT_MAP_NONE;
		at = bt_map_next(&links->by_owner, owner_hash, at)) {
		uint32_t link = bt_map_value(&links->by_owner, at);
		if (links->links.items[link].owner_hash == owner_hash) {
			return link;
		}
	}
	return BT_LINK_NONE;
}

/** First of the links to an owner; go on with next. */
static uint32_t garbage_links_of(const struct bt_garbage_links *links, struct bt_str owner_uid)
{
	return first_of(links, bt_str_hash(owner_uid));
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
	uint32_t index = links->first_free;

	if (index != BT_LINK_NONE) {
		links->first_free = links->links.items[index].next;
		links->links.items[index] = link;
	} else {
		index = links->links.count;
		bt_vec_push(&links->links, link);
	}
	if (first == BT_LINK_NONE) {
		bt_map_insert(&links->by_owner, link.owner_hash, index);
	} else {
		/* Behind the first one, so that the map's value stays. */
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
	items[index] = (struct bt_garbage_link){.next = links->first_free};
	links->first_free = index;
}

/** All links of an object. */
static void garbage_links_remove(
	struct bt_garbage_links *links, uint32_t collection, struct bt_str key)
{
	uint64_t hash = object_hash(collection, key);
	bool found = true;

	while (found) {
		found = false;
		for (uint32_t at = bt_map_first(&links->by_object, hash);
			at != BT_MAP_NONE && !found;
			at = bt_map_next(&links->by_object, hash, at)) {
			uint32_t index = bt_map_value(&links->by_object, at);
			const struct bt_garbage_link *link = &links->links.items[index];

			if (link->collection == collection && bt_str_equal_c(key, link->key)) {
				found = true;
				remove_link(links, index, hash);
				break;
			}
		}
	}
}

#define FOREGROUND "foregroundDeletion"
#define ORPHAN "orphan"

struct collector {
	struct bt_garbage_links links;
	/** Owners that wait for their dependents: queue keys, by uid. */
	struct bt_groups waiting;
};

/** One look at one object. */
struct pass {
	struct collector *self;
	struct bt_hub *hub;
	struct bt_resources *resources;
	const struct bt_api_resource *resource;
	struct bt_str key;
	struct bt_str item; /* key of the queue */
	const struct bt_json_value *object;
	struct bt_arena *arena;
};

static void *create(struct bt_hub *hub)
{
	struct collector *self = BT_NEW(struct collector);

	(void)hub;
	garbage_links_init(&self->links);
	bt_groups_init(&self->waiting);
	return self;
}

static void destroy(void *data)
{
	struct collector *self = data;

	garbage_links_finish(&self->links);
	bt_groups_finish(&self->waiting);
	bt_free(self);
}

/* --- keys of the queue: "collection:key" --- */

static void enqueue_object(struct bt_hub *hub, uint32_t collection, struct bt_str key)
{
	struct bt_strbuf text = {0};

	bt_strbuf_printf(&text, "%" PRIu32 ":%.*s", collection, BT_STR_ARG(key));
	bt_hub_enqueue(hub, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static bool split_item(struct bt_str item, uint32_t *out_collection, struct bt_str *out_key)
{
	int64_t colon = bt_str_find_char(item, ':');
	int64_t collection;

	if (colon <= 0 || !bt_str_parse_int64(bt_str_sub(item, 0, (uint32_t)colon), &collection)) {
		return false;
	}
	*out_collection = (uint32_t)collection;
	*out_key = bt_str_sub(item, (uint32_t)colon + 1, item.length);
	return true;
}

/* --- owners --- */

enum owner_state {
	OWNER_LIVES,
	OWNER_IS_GONE,
};

/**
 * metadata.uid, read from the text: parsing every owner of every pod would cost more than all the
 * rest. "" when it has none.
 */
static struct bt_str uid_of_text(struct bt_str text, struct bt_arena *arena)
{
	static const char *const path[] = {"metadata", "uid"};
	struct bt_json_reader reader;
	struct bt_str name;
	struct bt_str uid = BT_STR("");
	uint32_t depth = 0;
	bool first = true;
	bool more;
	bt_json_reader_init(&reader, text);
	int result = bt_json_enter_object(&reader, NULL);
	while (result == 0) {
		result = bt_json_next_member(&reader, &first, arena, &more, &name, NULL);
		if (result < 0 || !more) {
			break;
		}
		if (!bt_str_equal_c(name, path[depth])) {
			result = bt_json_skip(&reader, NULL, NULL);
		} else if (depth == 0) {
			result = bt_json_enter_object(&reader, NULL);
			first = true;
			depth = 1;
		} else {
			result = bt_json_read_string(&reader, arena, &uid, NULL, NULL);
			break;
		}
	}
	return result == 0 ? uid : BT_STR("");
}

/** Of the object with this key. An owner that cannot be looked up is left to live. */
static enum owner_state look_up(struct bt_hub *hub, const struct bt_json_value *reference,
	struct bt_str namespace_, struct bt_arena *arena)
{
	struct bt_api *api = bt_hub_api(hub);
	const struct bt_api_resource *resource = bt_resources_find_kind(bt_api_resources(api),
		bt_json_text_at(reference, "apiVersion"), bt_json_text_at(reference, "kind"));
	struct bt_str uid = bt_json_text_at(reference, "uid");
	struct bt_str name = bt_json_text_at(reference, "name");
	const struct bt_stored *stored;

	if (resource == NULL || (resource->namespaced && namespace_.length == 0)) {
		return OWNER_LIVES;
	}
	stored = bt_store_find(bt_api_store(api), resource->collection,
		bt_api_key(arena, resource->namespaced ? namespace_ : BT_STR(""), name));
	if (stored == NULL) {
		return OWNER_IS_GONE;
	}
	return bt_str_equal(uid_of_text(bt_stored_text(stored), arena), uid) ? OWNER_LIVES
									     : OWNER_IS_GONE;
}

static bool has_finalizer(const struct bt_json_value *object, const char *name)
{
	return bt_json_has_text(bt_json_array_at(object, "metadata.finalizers"), bt_str_from(name));
}

/* --- changes --- */

static void note_owners(
	struct collector *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *owners =
		bt_json_array_at(observed->after, "metadata.ownerReferences");
	struct bt_str namespace_ = bt_key_namespace(observed->key);
	uint32_t collection = observed->resource->collection;
	struct bt_arena arena = {0};
	bool gone = false;

	if (observed->before != NULL) {
		if (bt_json_equal(bt_json_array_at(observed->before, "metadata.ownerReferences"),
			    owners)) {
			return;
		}
		garbage_links_remove(&self->links, collection, observed->key);
	}
	for (uint32_t i = 0; i < owners->count; i++) {
		garbage_links_add(&self->links, collection, observed->key,
			bt_json_text_at(owners->elements[i], "uid"));
		gone = gone ||
			look_up(hub, owners->elements[i], namespace_, &arena) == OWNER_IS_GONE;
	}
	bt_arena_finish(&arena);
	if (gone) {
		enqueue_object(hub, collection, observed->key);
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct collector *self = data;

	if (observed->type == BT_CHANGE_DELETED) {
		/* Those that waited for the end of this dependent, and those that depend on it. */
		const struct bt_json_value *owners =
			bt_json_array_at(observed->after, "metadata.ownerReferences");
		struct bt_str uid = bt_json_text_at(observed->after, "metadata.uid");

		garbage_links_remove(&self->links, observed->resource->collection, observed->key);
		for (uint32_t i = 0; i < owners->count; i++) {
			uint32_t entry = bt_groups_first(
				&self->waiting, bt_json_text_at(owners->elements[i], "uid"));
			for (; entry != BT_GROUPS_NONE;
				entry = bt_groups_next(&self->waiting, entry)) {
				bt_hub_enqueue(hub, bt_groups_key(&self->waiting, entry));
			}
		}
		for (uint32_t link = garbage_links_of(&self->links, uid); link != BT_LINK_NONE;
			link = self->links.links.items[link].next) {
			const struct bt_garbage_link *found = &self->links.links.items[link];
			enqueue_object(hub, found->collection, bt_str_from(found->key));
		}
		return;
	}
	note_owners(self, hub, observed);
	if (bt_tree_is_deleting(observed->after) &&
		(has_finalizer(observed->after, FOREGROUND) ||
			has_finalizer(observed->after, ORPHAN))) {
		enqueue_object(hub, observed->resource->collection, observed->key);
	}
}

/* --- dependents --- */

static bool write_metadata(struct pass *pass, const char *name, struct bt_json_value *list)
{
	struct bt_json_value *patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(pass->arena, patch, "metadata");
	uint16_t code;

	bt_json_set_str(
		pass->arena, metadata, "uid", bt_json_text_at(pass->object, "metadata.uid"));
	bt_json_set_value(pass->arena, metadata, name,
		list->count != 0 ? list : bt_json_new(pass->arena, BT_JSON_NULL));
	code = bt_hub_patch(pass->hub, pass->resource, BT_SUBRESOURCE_NONE, pass->key, patch,
		pass->arena, NULL);
	/* Another object of that name is none of our business. */
	return code == 200 || code == 404 || code == 409 || code == 422;
}

/** Delete it when all its owners are gone; else drop those that are. */
static bool judge(struct pass *pass)
{
	const struct bt_json_value *owners =
		bt_json_array_at(pass->object, "metadata.ownerReferences");
	struct bt_json_value *living = bt_json_new(pass->arena, BT_JSON_ARRAY);
	uint16_t code;

	for (uint32_t i = 0; i < owners->count; i++) {
		if (look_up(pass->hub, owners->elements[i], bt_key_namespace(pass->key),
			    pass->arena) == OWNER_LIVES) {
			bt_json_append(pass->arena, living, owners->elements[i]);
		}
	}
	if (living->count == owners->count) {
		return true;
	}
	if (living->count != 0) {
		return write_metadata(pass, "ownerReferences", living);
	}
	if (bt_tree_is_deleting(pass->object)) {
		return true;
	}
	code = bt_hub_delete(pass->hub, pass->resource, pass->key, -1,
		bt_json_text_at(pass->object, "metadata.uid"), pass->arena);
	return code == 200 || code == 202 || code == 404 || code == 409 || code == 405;
}

/* --- owners that wait --- */

static bool remove_finalizer(struct pass *pass, const char *name)
{
	struct bt_json_value *left = bt_json_clone(
		pass->arena, bt_json_array_at(pass->object, "metadata.finalizers"), false);

	bt_json_remove_text(left, bt_str_from(name));
	bt_groups_remove(&pass->self->waiting, pass->item);
	return write_metadata(pass, "finalizers", left);
}

struct dependent {
	const struct bt_api_resource *resource;
	struct bt_str key;
	const struct bt_json_value *object;
	const struct bt_json_value *reference; /* to the owner */
};

/** Look at a link's object again. false: it does not depend on this owner. */
static bool read_dependent(struct pass *pass, uint32_t link, struct bt_str uid,
	struct bt_arena *arena, struct dependent *out)
{
	const struct bt_garbage_link *found = &pass->self->links.links.items[link];
	const struct bt_json_value *owners;

	out->resource = bt_resources_of_collection(pass->resources, found->collection);
	out->key = bt_arena_str(arena, bt_str_from(found->key));
	out->object = out->resource != NULL
		? bt_api_read(bt_hub_api(pass->hub), out->resource, out->key, arena)
		: NULL;
	owners = bt_json_array_at(out->object, "metadata.ownerReferences");
	for (uint32_t i = 0; i < owners->count; i++) {
		if (bt_str_equal(bt_json_text_at(owners->elements[i], "uid"), uid)) {
			out->reference = owners->elements[i];
			return true;
		}
	}
	return false;
}

/** Spec 14b section 8: dependents go first; those that block are waited for. */
static bool delete_in_foreground(struct pass *pass)
{
	struct bt_str uid = bt_json_text_at(pass->object, "metadata.uid");
	struct bt_arena scratch = {0};
	uint32_t link = garbage_links_of(&pass->self->links, uid);
	bool blocked = false;
	bool succeeded = true;

	bt_groups_put(&pass->self->waiting, pass->item, uid);
	for (; link != BT_LINK_NONE; link = pass->self->links.links.items[link].next) {
		struct dependent dependent;
		uint16_t code = 200;

		if (read_dependent(pass, link, uid, &scratch, &dependent)) {
			if (!bt_tree_is_deleting(dependent.object)) {
				code = bt_hub_delete(pass->hub, dependent.resource, dependent.key,
					-1, bt_json_text_at(dependent.object, "metadata.uid"),
					&scratch);
			}
			succeeded = succeeded && (code == 200 || code == 202 || code == 404);
			blocked = blocked ||
				(bt_json_bool_at(
					 dependent.reference, "blockOwnerDeletion", false) &&
					bt_store_find(bt_api_store(bt_hub_api(pass->hub)),
						dependent.resource->collection,
						dependent.key) != NULL);
		}
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	/* The end of each dependent brings this owner back. */
	return blocked ? succeeded : remove_finalizer(pass, FOREGROUND);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str item, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {.self = data, .hub = hub, .arena = arena, .item = item};
	uint32_t collection;

	(void)now_ns;
	if (!split_item(item, &collection, &pass.key)) {
		return true;
	}
	pass.resources = bt_api_resources(bt_hub_api(hub));
	pass.resource = bt_resources_of_collection(pass.resources, collection);
	if (pass.resource != NULL) {
		pass.object = bt_api_read(bt_hub_api(hub), pass.resource, pass.key, arena);
	}
	if (pass.object == NULL) {
		bt_groups_remove(&pass.self->waiting, item);
		return true;
	}
	if (bt_tree_is_deleting(pass.object) && has_finalizer(pass.object, ORPHAN)) {
		struct bt_str uid = bt_json_text_at(pass.object, "metadata.uid");
		struct bt_arena scratch = {0};
		uint32_t link = garbage_links_of(&pass.self->links, uid);
		bool succeeded = true;

		for (; link != BT_LINK_NONE; link = pass.self->links.links.items[link].next) {
			struct dependent dependent;

			if (read_dependent(&pass, link, uid, &scratch, &dependent)) {
				succeeded = bt_tree_release(pass.hub, dependent.resource,
						    dependent.object, uid, &scratch) &&
					succeeded;
			}
			bt_arena_reset(&scratch);
		}
		bt_arena_finish(&scratch);
		return succeeded && remove_finalizer(&pass, ORPHAN);
	}
	if (bt_tree_is_deleting(pass.object) && has_finalizer(pass.object, FOREGROUND)) {
		return delete_in_foreground(&pass);
	}
	return judge(&pass);
}

static const char *const watched[] = {"*", NULL};

const struct bt_controller_ops bt_garbage_collector_ops = {
	.name = "garbage-collector-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
