/* SPDX-License-Identifier: Apache-2.0 */
/** Deletes all objects of a terminating namespace, then the namespace. Spec: 14b section 7. */
#include <inttypes.h>

#include "cluster/tree.h"

/** Maximum number of deletions in one sync, so that other keys do not wait long. */
#define DELETIONS_PER_SYNC 200
/** Maximum number of finalizers that the conditions list. */
#define FINALIZERS_MAX 20
/**
 * The deletion of an object enqueues its namespace after this delay, so that one sync handles many
 * deletions.
 */
#define GATHER_NS (BT_NS_PER_SECOND / 10)

struct pass {
	struct bt_sync *sync;
	uint32_t deletions;
	uint64_t remaining;
	struct bt_text_set finalizers;   /* that remaining objects wait for */
	uint64_t counts[FINALIZERS_MAX]; /* how many objects wait for each finalizer */
	struct bt_strbuf remaining_text;
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_groups *ending = data; /* terminating namespaces, all in one group */

	if (observed->kind == BT_HUB_NAMESPACES) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(ending, observed->key);
		} else if (bt_tree_is_deleting(observed->after) &&
			bt_groups_of(ending, observed->key).length == 0) {
			bt_groups_set(ending, observed->key, BT_STR("."));
			bt_hub_enqueue(hub, observed->key);
		}
		return;
	}
	if (ending->by_key.count == 0 || observed->type != BT_CHANGE_DELETED) {
		return;
	}
	struct bt_str namespace_ = bt_key_namespace(observed->key);
	if (bt_groups_of(ending, namespace_).length != 0) {
		bt_hub_enqueue_at(hub, namespace_, hub->now_ns + GATHER_NS);
	}
}

static void count_finalizers(struct pass *pass, const struct bt_json_value *object)
{
	const struct bt_json_value *names = bt_json_array_at(object, "metadata.finalizers");

	for (uint32_t i = 0; i < names->count; i++) {
		struct bt_str name = names->elements[i]->text;
		uint32_t at = bt_text_set_find(&pass->finalizers, name);

		if (at == BT_MAP_NONE && pass->finalizers.items.count < FINALIZERS_MAX) {
			at = pass->finalizers.items.count;
			bt_text_set_append(
				&pass->finalizers, bt_arena_str(pass->sync->arena, name));
		}
		if (at != BT_MAP_NONE) {
			pass->counts[at]++;
		}
	}
}

static void delete_of(struct pass *pass, const struct bt_api_resource *resource)
{
	struct bt_sync *sync = pass->sync;
	struct bt_store *store = sync->hub->store;
	struct bt_str prefix = bt_arena_printf(sync->arena, "%.*s/", BT_STR_ARG(sync->key));
	struct bt_arena scratch = {0};
	const struct bt_stored *stored;

	if (bt_store_count_after(store, resource->collection, prefix, BT_STR("")) == 0) {
		return;
	}
	struct bt_store_walk walk = bt_store_walk_current(store, resource->collection, prefix);
	while (pass->deletions < DELETIONS_PER_SYNC &&
		(stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_json_value *object = bt_api_parse_stored(stored, &scratch);
		struct bt_str key = bt_arena_str(&scratch, bt_stored_key(stored));
		struct bt_str uid = bt_arena_str(&scratch, bt_json_text_at(object, "metadata.uid"));

		if (bt_tree_is_deleting(object)) {
			count_finalizers(pass, object);
		} else {
			uint16_t code = bt_hub_delete(sync->hub, resource, key, -1,
				BT_PROPAGATION_BACKGROUND, uid, &scratch);

			pass->deletions++;
			count_finalizers(pass, object);
			sync->failed = sync->failed ||
				!(bt_hub_is_done(code) || code == 202 || code == 409);
		}
		bt_arena_reset(&scratch);
	}
	bt_store_walk_end(&walk);
	bt_arena_finish(&scratch);
	uint64_t left = bt_store_count_after(store, resource->collection, prefix, BT_STR(""));
	if (left != 0) {
		bt_strbuf_printf(&pass->remaining_text,
			"%s%s.%s has %" PRIu64 " resource instances",
			pass->remaining != 0 ? ", " : "", resource->name, resource->group, left);
		pass->remaining += left;
	}
}

static void write_conditions(struct pass *pass)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *list = bt_tree_copy_array(arena, sync->object, "status.conditions");
	bool remains = pass->remaining != 0;
	bool finalized = pass->finalizers.items.count != 0;
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < pass->finalizers.items.count; i++) {
		bt_strbuf_printf(&text, "%s%.*s in %" PRIu64 " resource instances",
			i != 0 ? ", " : "", BT_STR_ARG(pass->finalizers.items.items[i]),
			pass->counts[i]);
	}
	const struct bt_tree_condition conditions[] = {
		{"NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
			BT_STR("All resources successfully discovered")},
		{"NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
			BT_STR("All legacy kube types successfully parsed")},
		{"NamespaceDeletionContentFailure", sync->failed ? "True" : "False",
			sync->failed ? "ContentDeletionFailed" : "ContentDeleted",
			sync->failed ? BT_STR("Failed to delete some resources")
				     : BT_STR("All content successfully deleted, may be waiting on "
					      "finalization")},
		{"NamespaceContentRemaining", remains ? "True" : "False",
			remains ? "SomeResourcesRemain" : "ContentRemoved",
			remains ? bt_arena_printf(arena, "Some resources are remaining: %s",
					  bt_strbuf_c(&pass->remaining_text))
				: BT_STR("All content successfully removed")},
		{"NamespaceFinalizersRemaining", finalized ? "True" : "False",
			finalized ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
			finalized ? bt_arena_printf(arena,
					    "Some content in the namespace has finalizers "
					    "remaining: %s",
					    bt_strbuf_c(&text))
				  : BT_STR("All content-preserving finalizers finished")},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(conditions); i++) {
		(void)bt_tree_set_condition(arena, list, &conditions[i], false, sync->now_ns);
	}
	bt_strbuf_finish(&text);
	bt_sync_write_status(sync, bt_json_put(arena, NULL, "{conditions: %v}", list));
}

static bool sync(struct bt_sync *sync)
{
	struct pass pass = {.sync = sync};
	const struct bt_resources *resources = bt_api_resources(sync->hub->api);

	if (!bt_tree_is_deleting(sync->object) ||
		bt_json_array_at(sync->object, "spec.finalizers")->count == 0) {
		return true;
	}
	/*
	 * Delete pods first, and nothing else while pods exist, because the objects that pods use
	 * must outlive the pods. Then delete the objects of each namespaced resource once: versions
	 * of a resource share a collection.
	 */
	delete_of(&pass, sync->hub->kinds[BT_HUB_PODS]);
	bool has_pods = pass.remaining != 0;
	for (uint32_t i = 0; !has_pods && i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (resource->namespaced && (resource->flags & BT_RESOURCE_REVIEW) == 0 &&
			(resource->verbs & 1u << BT_VERB_DELETE) != 0 &&
			bt_resources_of_collection(resources, resource->collection) == resource) {
			delete_of(&pass, resource);
		}
	}
	if (pass.remaining == 0) {
		/* PUT /finalize removes the finalizer "kubernetes". */
		struct bt_json_value *object = bt_json_clone(sync->arena, sync->object, false);

		bt_json_remove_text(
			bt_json_find_path(object, "spec.finalizers"), BT_STR("kubernetes"));
		sync->failed = sync->failed ||
			!bt_hub_is_done(bt_hub_update(sync->hub, sync->resource,
				BT_SUBRESOURCE_FINALIZE, sync->key, object, sync->arena));
	} else {
		write_conditions(&pass);
		if (pass.deletions >= DELETIONS_PER_SYNC) {
			bt_hub_enqueue(sync->hub, sync->key);
		}
	}
	bt_strbuf_finish(&pass.remaining_text);
	bt_text_set_finish(&pass.finalizers);
	return true;
}

const struct bt_controller_ops bt_namespace_controller_ops = {
	.watches = BT_WATCH_ALL,
	.object = BT_HUB_NAMESPACES,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};
