/* SPDX-License-Identifier: Apache-2.0 */
#include "soak/store.h"

#include "base/assert.h"
#include "codec/json_edit.h"

/** Kinds that neither the scheduler nor a checker reads. */
static bool is_ignored(enum bt_kind kind)
{
	return kind == BT_KIND_EVENT || kind == BT_KIND_CORE_EVENT || kind == BT_KIND_LEASE ||
		kind == BT_KIND_PRIORITY_CLASS || kind == BT_KIND_WORKLOAD;
}

static const struct bt_api_resource *resource_of(
	const struct bt_sim_store *store, enum bt_kind kind)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	return bt_resources_builtin(
		bt_api_resources(store->cluster->api), info->group, info->resource);
}

/** --- objects --- */

/** Records a change for bt_sim_store_flush; called within a commit, so it must not do more. */
static void note_change(void *context, const struct bt_store_change *change)
{
	struct bt_sim_store *store = context;
	if (change->collection < store->kinds.count &&
		store->kinds.items[change->collection] != BT_KIND__COUNT) {
		struct bt_store_change noted = *change;
		noted.before = NULL; /* not needed: the decoded object is in objects */
		noted.after = bt_stored_share(change->after);
		bt_vec_push(&store->changes, noted);
	}
}

static struct bt_object *decode(enum bt_kind kind, const struct bt_stored *stored)
{
	struct bt_json_reader reader;
	struct bt_object *object;
	struct berth_error err = BERTH_ERROR_INIT;
	bt_json_reader_init(&reader, bt_stored_text(stored));
	if (bt_object_decode_as(kind, &reader, &object, &err) < 0) {
		bt_panic("simulator: the API stored what cannot be decoded: %s",
			berth_error_message(&err));
	}
	return object;
}

static void apply_change(struct bt_sim_store *store, const struct bt_store_change *change)
{
	enum bt_kind kind = (enum bt_kind)store->kinds.items[change->collection];
	struct bt_object *object = decode(kind, change->after);
	const struct bt_object_meta *meta = object->meta;
	struct bt_object *before = bt_sim_store_find(store, kind, meta->namespace_, meta->name);
	struct bt_object *held = before != NULL ? bt_object_share(before) : NULL;
	bool is_deleted = change->type == BT_CHANGE_DELETED;
	if (is_deleted) {
		/* The deletion succeeds: the object was added before. */
		(void)bt_object_store_delete(&store->objects, kind, meta->namespace_, meta->name);
	} else {
		bt_object_store_put(&store->objects, bt_object_share(object));
	}
	if (store->changed != NULL) {
		store->changed(
			store->context, is_deleted ? object : held, is_deleted ? NULL : object);
	}
	bt_object_release(held);
	bt_object_release(object);
}

void bt_sim_store_flush(struct bt_sim_store *store)
{
	/* store->changed may make requests, which call this function again. */
	while (store->changes.count != 0) {
		struct bt_store_change change = store->changes.items[0];
		bt_vec_remove_ordered(&store->changes, 0);
		apply_change(store, &change);
		bt_stored_release(change.after);
	}
}

int64_t bt_sim_store_run(struct bt_sim_store *store)
{
	int64_t next_ns = INT64_MAX;
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_cluster_run(store->cluster, &next_ns, &err) < 0) {
		bt_panic("simulator: %s", berth_error_message(&err));
	}
	bt_sim_store_flush(store);
	return next_ns;
}

/** --- init and finish --- */

/** Read the objects that the API creates at its start, and listen for changes. */
static void listen(struct bt_sim_store *store)
{
	struct bt_store *objects = store->cluster->store;
	for (uint32_t i = 0; i < BT_KIND__COUNT; i++) {
		if (is_ignored((enum bt_kind)i)) {
			continue;
		}
		uint32_t collection = resource_of(store, (enum bt_kind)i)->collection;
		struct bt_stored *stored;
		while (store->kinds.count <= collection) {
			bt_vec_push(&store->kinds, BT_KIND__COUNT);
		}
		store->kinds.items[collection] = (uint8_t)i;
		struct bt_store_walk walk = bt_store_walk_current(objects, collection, BT_STR(""));
		while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
			struct bt_store_change change = {.rv = stored->rv,
				.type = BT_CHANGE_ADDED,
				.collection = collection,
				.after = stored};
			note_change(store, &change);
		}
		bt_store_walk_end(&walk);
	}
	bt_store_on_change(objects, note_change, store);
}

int bt_sim_store_init(struct bt_sim_store *store, const struct bt_gates *gates, uint64_t seed,
	int64_t start_ns, struct berth_error *err)
{
	/* Without this controller, pods need no ServiceAccount. */
	static const char *const controllers[] = {"*", "-serviceaccount-controller"};
	struct bt_cluster_options options = {
		.start_ns = start_ns,
		.controllers = bt_controllers_default_options,
		.gates = gates,
		.seed = seed,
	};
	options.controllers.names = controllers;
	options.controllers.name_count = BT_ARRAY_LENGTH(controllers);
	*store = (struct bt_sim_store){0};
	bt_object_store_init(&store->objects);
	int result = bt_cluster_create(&options, &store->cluster, err);
	if (result == 0) {
		listen(store);
		result = bt_cluster_start(store->cluster, err);
	}
	return result;
}

void bt_sim_store_finish(struct bt_sim_store *store)
{
	if (store->cluster != NULL) {
		bt_store_off_change(store->cluster->store, store);
	}
	for (uint32_t i = 0; i < store->changes.count; i++) {
		bt_stored_release(store->changes.items[i].after);
	}
	bt_vec_finish(&store->changes);
	bt_vec_finish(&store->kinds);
	bt_object_store_finish(&store->objects);
	bt_arena_finish(&store->arena);
	bt_cluster_destroy(store->cluster);
}

/** --- requests --- */

static uint16_t perform(struct bt_sim_store *store, const struct bt_api_request *request,
	struct bt_strbuf *out_message)
{
	struct bt_api_answer answer;
	bt_api_perform(store->cluster->api, request, &store->arena, &answer);
	uint16_t code = answer.code;
	if (code >= 300 && out_message != NULL) {
		bt_strbuf_append_str(out_message, answer.failure.message);
	}
	bt_api_answer_finish(&answer);
	bt_sim_store_flush(store);
	return code;
}

static struct bt_json_value *parse(struct bt_sim_store *store, struct bt_str json)
{
	struct bt_json_value *value;
	struct berth_error err = BERTH_ERROR_INIT;
	bt_arena_reset(&store->arena);
	if (bt_json_parse(&store->arena, json, true, &value, &err) < 0) {
		bt_panic("simulator: %s: %.*s", berth_error_message(&err), BT_STR_ARG(json));
	}
	return value;
}

void bt_sim_store_create(struct bt_sim_store *store, struct bt_str json)
{
	struct bt_json_value *body = parse(store, json);
	struct bt_strbuf message = {0};
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = BT_VERB_CREATE;
	request.resource = bt_resources_find_kind(bt_api_resources(store->cluster->api),
		bt_json_text_at(body, "apiVersion"), bt_json_text_at(body, "kind"));
	request.namespace_ = bt_json_text_at(body, "metadata.namespace");
	request.body = body;
	if (perform(store, &request, &message) != 201) {
		bt_panic("simulator: %s: %.*s", bt_strbuf_c(&message), BT_STR_ARG(json));
	}
	bt_strbuf_finish(&message);
}

static struct bt_api_request request_for(const struct bt_sim_store *store, enum bt_verb verb,
	enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = verb;
	request.resource = resource_of(store, kind);
	request.namespace_ = namespace_;
	request.name = name;
	return request;
}

uint16_t bt_sim_store_patch(struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, enum bt_subresource subresource, struct bt_str json)
{
	struct bt_json_value *body = parse(store, json);
	struct bt_api_request request = request_for(store, BT_VERB_PATCH, kind,
		bt_arena_str(&store->arena, namespace_), bt_arena_str(&store->arena, name));
	request.subresource = subresource;
	request.patch_type = BT_PATCH_STRATEGIC;
	request.body = body;
	return perform(store, &request, NULL);
}

static bool delete (struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, int64_t grace_period_seconds)
{
	bt_arena_reset(&store->arena);
	struct bt_api_request request = request_for(store, BT_VERB_DELETE, kind,
		bt_arena_str(&store->arena, namespace_), bt_arena_str(&store->arena, name));
	request.grace_period_seconds = grace_period_seconds;
	return perform(store, &request, NULL) < 300;
}

bool bt_sim_store_delete(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	return delete (store, kind, namespace_, name, -1);
}

bool bt_sim_store_delete_now(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	return delete (store, kind, namespace_, name, 0);
}

/** --- finding objects --- */

struct bt_object *bt_sim_store_find(const struct bt_sim_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find_object(&store->objects, kind, namespace_, name);
}

struct bt_object *bt_sim_store_pick(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_prng *prng)
{
	uint32_t count = bt_object_store_count(&store->objects, kind);
	const struct bt_object_meta *meta = NULL;
	uint32_t cursor = 0;
	if (count == 0) {
		return NULL;
	}
	uint64_t chosen = bt_prng_below(prng, count);
	for (uint64_t i = 0; i <= chosen; i++) {
		meta = bt_object_store_next(
			&store->objects, kind, (struct bt_str){NULL, 0}, &cursor);
	}
	return meta == NULL ? NULL : bt_sim_store_find(store, kind, meta->namespace_, meta->name);
}
