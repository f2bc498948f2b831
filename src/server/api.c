/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "server/write.h"

static const struct bt_str admin_groups[] = {
	BT_STR_INIT("system:masters"), BT_STR_INIT("system:authenticated")};

const struct bt_user bt_user_admin = {
	.name = BT_STR_INIT("admin"),
	.group_count = BT_ARRAY_LENGTH(admin_groups),
	.groups = admin_groups,
};

struct bt_api *bt_api_create(const struct bt_api_options *options)
{
	struct bt_api *api = BT_NEW(struct bt_api);
	api->options = *options;
	api->resources = bt_resources_create(
		options->store, options->generic_workload ? 0 : BT_RESOURCE_WORKLOAD);
	bt_prng_init(&api->prng, options->seed);
	api->tokens = bt_tokens_create();
	api->owner_cache = bt_owner_cache_create();
	api->pods = bt_resources_builtin(api->resources, "", "pods");
	api->nodes = bt_resources_builtin(api->resources, "", "nodes");
	api->namespaces = bt_resources_builtin(api->resources, "", "namespaces");
	api->budgets = bt_resources_builtin(api->resources, "policy", "poddisruptionbudgets");
	api->definitions = bt_resources_builtin(
		api->resources, "apiextensions.k8s.io", "customresourcedefinitions");
	api->metadata_message =
		bt_schema_field_find(api->pods->message, BT_STR("metadata"), NULL)->message;
	bt_definitions_load(api);
	bt_api_bootstrap(api);
	if (options->has_rbac) {
		api->rbac = bt_rbac_create(api);
	}
	return api;
}

void bt_api_destroy(struct bt_api *api)
{
	if (api != NULL) {
		bt_rbac_destroy(api->rbac);
		bt_tokens_destroy(api->tokens);
		bt_owner_cache_destroy(api->owner_cache);
		bt_policies_destroy(api->policies);
		bt_quota_sums_destroy(api->quota_sums);
		bt_service_addresses_destroy(api->service_addresses);
		bt_resources_destroy(api->resources);
		bt_strbuf_finish(&api->text);
		bt_vec_finish(&api->node_usage.nodes);
		bt_map_finish(&api->node_usage.by_name);
		bt_free(api);
	}
}

struct bt_store *bt_api_store(const struct bt_api *api)
{
	return api->options.store;
}

struct bt_resources *bt_api_resources(const struct bt_api *api)
{
	return api->resources;
}

int64_t bt_api_now_ns(const struct bt_api *api)
{
	return api->options.now_ns(api->options.clock_context);
}

const struct bt_api_options *bt_api_options(const struct bt_api *api)
{
	return &api->options;
}

struct bt_prng *bt_api_prng(struct bt_api *api)
{
	return &api->prng;
}

/** --- objects --- */

const struct bt_api_trees *bt_api_trees(const struct bt_api *api)
{
	return &api->trees;
}

struct bt_json_value *bt_api_parse_stored(const struct bt_stored *stored, struct bt_arena *arena)
{
	struct bt_json_value *object;
	int result = bt_json_parse(arena, bt_stored_text(stored), false, &object, NULL);
	BT_ASSERT(result == 0); /* the store holds valid JSON only: it checks its file */
	return object;
}

struct bt_json_value *bt_api_read(const struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_str key, struct bt_arena *arena)
{
	struct bt_stored *stored = bt_store_find(api->options.store, resource->collection, key);
	struct bt_json_value *object = NULL;
	if (stored != NULL) {
		/* One copy of the whole text is cheaper than a copy of each string. */
		struct bt_str text = bt_arena_str(arena, bt_stored_text(stored));
		int result = bt_json_parse(arena, text, false, &object, NULL);
		BT_ASSERT(result == 0);
	}
	return object;
}

struct bt_str bt_api_key(struct bt_arena *arena, struct bt_str namespace_, struct bt_str name)
{
	if (namespace_.length == 0) {
		return bt_arena_str(arena, name.data != NULL ? name : BT_STR(""));
	}
	uint32_t length = namespace_.length + 1 + name.length;
	char *key = bt_arena_alloc_bytes(arena, (size_t)length + 1);
	memcpy(key, namespace_.data, namespace_.length);
	key[namespace_.length] = '/';
	if (name.length != 0) {
		memcpy(key + namespace_.length + 1, name.data, name.length);
	}
	key[length] = '\0';
	return (struct bt_str){key, length};
}

/** --- requests --- */

#define VERB(verb) (1u << (verb))
#define PART_VERBS (VERB(BT_VERB_GET) | VERB(BT_VERB_UPDATE) | VERB(BT_VERB_PATCH))
#define CONNECT_VERBS (VERB(BT_VERB_GET) | VERB(BT_VERB_CREATE))

static void (*const verbs[BT_VERB__COUNT])(struct bt_call *call) = {
	[BT_VERB_GET] = bt_call_get,
	[BT_VERB_CREATE] = bt_call_create,
	[BT_VERB_UPDATE] = bt_call_update,
	[BT_VERB_PATCH] = bt_call_patch,
	[BT_VERB_DELETE] = bt_call_delete,
};

/**
 * Verbs and function of each subresource. `perform` NULL: the subresource is a part of the object,
 * and the functions for whole objects serve it, too.
 */
static const struct {
	uint32_t verbs;
	void (*perform)(struct bt_call *call);
} subresources[BT_SUBRESOURCE__COUNT] = {
	[BT_SUBRESOURCE_STATUS] = {PART_VERBS, NULL},
	[BT_SUBRESOURCE_APPROVAL] = {PART_VERBS, NULL},
	[BT_SUBRESOURCE_RESIZE] = {PART_VERBS, NULL},
	[BT_SUBRESOURCE_EPHEMERAL_CONTAINERS] = {PART_VERBS, NULL},
	[BT_SUBRESOURCE_SCALE] = {PART_VERBS, bt_call_scale},
	[BT_SUBRESOURCE_BINDING] = {VERB(BT_VERB_CREATE), bt_call_binding},
	[BT_SUBRESOURCE_EVICTION] = {VERB(BT_VERB_CREATE), bt_call_eviction},
	[BT_SUBRESOURCE_FINALIZE] = {VERB(BT_VERB_UPDATE), bt_call_finalize},
	[BT_SUBRESOURCE_TOKEN] = {VERB(BT_VERB_CREATE), bt_call_token},
	[BT_SUBRESOURCE_LOG] = {VERB(BT_VERB_GET), bt_call_connect},
	[BT_SUBRESOURCE_EXEC] = {CONNECT_VERBS, bt_call_connect},
	[BT_SUBRESOURCE_ATTACH] = {CONNECT_VERBS, bt_call_connect},
	[BT_SUBRESOURCE_PORT_FORWARD] = {CONNECT_VERBS, bt_call_connect},
	[BT_SUBRESOURCE_PROXY] = {~0u, bt_call_connect},
};

uint32_t bt_api_verbs(const struct bt_api_resource *resource, enum bt_subresource subresource)
{
	if (subresource == BT_SUBRESOURCE_NONE) {
		return resource->verbs;
	}
	return (resource->subresources & 1u << subresource) != 0 ? subresources[subresource].verbs
								 : 0;
}

/** Returns whether the value nests deeper than this many levels; recursion stops there. */
static bool is_deeper(const struct bt_json_value *value, uint32_t levels)
{
	if (value->type != BT_JSON_ARRAY && value->type != BT_JSON_OBJECT) {
		return false;
	}
	if (levels == 0) {
		return true;
	}
	for (uint32_t i = 0; i < value->count; i++) {
		const struct bt_json_value *item =
			value->type == BT_JSON_ARRAY ? value->elements[i] : value->members[i].value;
		if (is_deeper(item, levels - 1)) {
			return true;
		}
	}
	return false;
}

void bt_api_perform(struct bt_api *api, const struct bt_api_request *request,
	struct bt_arena *arena, struct bt_api_answer *out_answer)
{
	struct bt_call call;
	bt_call_init(&call, api, request, arena, out_answer);
	void (*perform)(struct bt_call * call) = subresources[request->subresource].perform;
	if (perform == NULL) {
		perform = verbs[request->verb];
	}
	if (perform == NULL ||
		(bt_api_verbs(request->resource, request->subresource) & VERB(request->verb)) ==
			0) {
		(void)bt_call_refuse(&call, 405, "MethodNotAllowed",
			"the server does not allow this method on the requested resource");
	} else if (request->body != NULL && is_deeper(request->body, BT_API_DEPTH_MAX)) {
		(void)bt_call_refuse(&call, 400, "BadRequest",
			"the document nests more than %d levels deep", BT_API_DEPTH_MAX);
	} else {
		perform(&call);
	}
	bt_owners_unref(call.owners);
	if (out_answer->failure.code != 0) {
		out_answer->code = out_answer->failure.code;
	}
}

void bt_api_answer_finish(struct bt_api_answer *answer)
{
	bt_stored_release(answer->object);
	answer->object = NULL;
}
