/* SPDX-License-Identifier: Apache-2.0 */
/** Everything in a namespace that ends is deleted, then the namespace. Spec: 14b section 7. */
#include <inttypes.h>

#include "cluster/groups.h"
#include "cluster/tree.h"

/** So many deletions in one sync; then others have a turn. */
#define DELETIONS_PER_SYNC 200
/** Ends of objects are gathered for so long before the next look. */
#define GATHER_NS (BT_NS_PER_SECOND / 10)

struct terminator {
	const struct bt_api_resource *namespaces;
	struct bt_groups ending; /* namespaces; the group says nothing */
};

/** One look at one namespace. */
struct pass {
	struct terminator *self;
	struct bt_hub *hub;
	struct bt_str name;
	const struct bt_json_value *object;
	struct bt_arena *arena;
	int64_t now_ns;
	uint32_t deletions;
	uint64_t remaining;
	uint64_t finalized; /* those that wait for a finalizer */
	struct bt_strbuf remaining_text;
	bool failed;
};

static void *create(struct bt_hub *hub)
{
	struct terminator *self = BT_NEW(struct terminator);

	self->namespaces =
		bt_resources_builtin(bt_api_resources(bt_hub_api(hub)), "", "namespaces");
	bt_groups_init(&self->ending);
	return self;
}

static void destroy(void *data)
{
	struct terminator *self = data;

	bt_groups_finish(&self->ending);
	bt_free(self);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct terminator *self = data;
	struct bt_str namespace_;

	if (observed->resource == self->namespaces) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->ending, observed->key);
		} else if (bt_tree_is_deleting(observed->after) &&
			bt_groups_of(&self->ending, observed->key).length == 0) {
			bt_groups_put(&self->ending, observed->key, BT_STR("."));
			bt_hub_enqueue(hub, observed->key);
		}
		return;
	}
	if (self->ending.by_key.count == 0 || observed->type != BT_CHANGE_DELETED) {
		return;
	}
	namespace_ = bt_key_namespace(observed->key);
	if (bt_groups_of(&self->ending, namespace_).length != 0) {
		bt_hub_enqueue_at(hub, namespace_, bt_hub_now_ns(hub) + GATHER_NS);
	}
}

/* --- content --- */

static void delete_one(struct pass *pass, const struct bt_api_resource *resource,
	const struct bt_stored *stored, struct bt_arena *scratch)
{
	const struct bt_json_value *object = bt_api_parse_stored(stored, scratch);
	struct bt_str key = bt_arena_str(scratch, bt_stored_key(stored));
	struct bt_str uid = bt_arena_str(scratch, bt_json_text_at(object, "metadata.uid"));
	uint16_t code;

	if (bt_tree_is_deleting(object)) {
		pass->finalized += bt_json_array_at(object, "metadata.finalizers")->count != 0;
		return;
	}
	pass->deletions++;
	code = bt_hub_delete(pass->hub, resource, key, -1, uid, scratch);
	if (code != 200 && code != 202 && code != 404 && code != 409) {
		pass->failed = true;
	}
}

static void delete_of(struct pass *pass, const struct bt_api_resource *resource)
{
	struct bt_store *store = bt_api_store(bt_hub_api(pass->hub));
	struct bt_str prefix = bt_arena_printf(pass->arena, "%.*s/", BT_STR_ARG(pass->name));
	struct bt_arena scratch = {0};
	struct bt_store_walk walk;
	const struct bt_stored *stored;
	uint64_t left;

	if (bt_store_count_after(store, resource->collection, prefix, BT_STR("")) == 0 ||
		bt_store_walk_begin(
			store, resource->collection, 0, prefix, BT_STR(""), &walk, NULL) != 0) {
		return;
	}
	while (pass->deletions < DELETIONS_PER_SYNC &&
		(stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		delete_one(pass, resource, stored, &scratch);
		bt_arena_reset(&scratch);
	}
	bt_store_walk_end(&walk);
	bt_arena_finish(&scratch);
	left = bt_store_count_after(store, resource->collection, prefix, BT_STR(""));
	if (left != 0) {
		struct bt_str name = bt_resource_qualified(resource, pass->arena);
		bt_strbuf_printf(&pass->remaining_text, "%s%.*s has %" PRIu64 " resource instances",
			pass->remaining != 0 ? ", " : "", BT_STR_ARG(name), left);
		pass->remaining += left;
	}
}

/* --- status --- */

static void set_condition(struct pass *pass, struct bt_json_value *conditions, const char *type,
	bool is_true, const char *reason, struct bt_str message)
{
	struct bt_tree_condition condition = {type, is_true ? "True" : "False", reason, message};
	(void)bt_tree_set_condition(pass->arena, conditions, &condition, false, pass->now_ns);
}

static bool write_conditions(struct pass *pass)
{
	struct bt_json_value *conditions = bt_json_clone(
		pass->arena, bt_json_array_at(pass->object, "status.conditions"), false);
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bool remains = pass->remaining != 0;
	struct bt_str remaining = bt_arena_printf(pass->arena, "Some resources are remaining: %s",
		bt_strbuf_c(&pass->remaining_text));

	set_condition(pass, conditions, "NamespaceDeletionDiscoveryFailure", false,
		"ResourcesDiscovered", BT_STR("All resources successfully discovered"));
	set_condition(pass, conditions, "NamespaceDeletionGroupVersionParsingFailure", false,
		"ParsedGroupVersions", BT_STR("All legacy kube types successfully parsed"));
	set_condition(pass, conditions, "NamespaceDeletionContentFailure", pass->failed,
		pass->failed ? "ContentDeletionFailed" : "ContentDeleted",
		pass->failed ? BT_STR("Failed to delete some resources")
			     : BT_STR("All content successfully deleted, may be waiting on "
				      "finalization"));
	set_condition(pass, conditions, "NamespaceContentRemaining", remains,
		remains ? "SomeResourcesRemain" : "ContentRemoved",
		remains ? remaining : BT_STR("All content successfully removed"));
	set_condition(pass, conditions, "NamespaceFinalizersRemaining", pass->finalized != 0,
		pass->finalized != 0 ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
		pass->finalized != 0 ? BT_STR("Some content in the namespace has finalizers "
					      "remaining")
				     : BT_STR("All content-preserving finalizers finished"));
	bt_json_set_value(pass->arena, status, "conditions", conditions);
	return bt_tree_write_status(
		pass->hub, pass->self->namespaces, pass->object, status, pass->arena);
}

/** PUT /finalize without "kubernetes". */
static bool finalize(struct pass *pass)
{
	struct bt_json_value *object = bt_json_clone(pass->arena, pass->object, false);
	struct bt_json_value *spec = bt_json_ensure_object(pass->arena, object, "spec");
	struct bt_json_value *finalizers = bt_json_ensure_array(pass->arena, spec, "finalizers");
	uint16_t code;

	for (uint32_t i = finalizers->count; i > 0; i--) {
		if (bt_str_equal_c(finalizers->elements[i - 1]->text, "kubernetes")) {
			bt_json_remove_at(finalizers, i - 1);
		}
	}
	code = bt_hub_update(pass->hub, pass->self->namespaces, BT_SUBRESOURCE_FINALIZE, pass->name,
		object, pass->arena, NULL);
	return code == 200 || code == 404;
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {
		.self = data, .hub = hub, .name = key, .arena = arena, .now_ns = now_ns};
	bool succeeded;

	pass.object = bt_api_read(bt_hub_api(hub), pass.self->namespaces, key, arena);
	if (pass.object == NULL || !bt_tree_is_deleting(pass.object) ||
		bt_json_array_at(pass.object, "spec.finalizers")->count == 0) {
		return true;
	}
	/* Every namespaced resource once: versions share a collection. */
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(pass.hub));

	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (resource->namespaced && (resource->flags & BT_RESOURCE_REVIEW) == 0 &&
			(resource->verbs & 1u << BT_VERB_DELETE) != 0 &&
			bt_resources_of_collection(resources, resource->collection) == resource) {
			delete_of(&pass, resource);
		}
	}
	if (pass.remaining == 0) {
		succeeded = finalize(&pass);
	} else {
		succeeded = write_conditions(&pass);
		if (pass.deletions >= DELETIONS_PER_SYNC) {
			bt_hub_enqueue(hub, key);
		}
	}
	bt_strbuf_finish(&pass.remaining_text);
	return succeeded && !pass.failed;
}

static const char *const watched[] = {"*", NULL};

const struct bt_controller_ops bt_namespace_controller_ops = {
	.name = "namespace-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
