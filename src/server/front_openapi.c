/* SPDX-License-Identifier: Apache-2.0 */
/** /openapi/v2 and /openapi/v3. Spec: 14 section 7. */
#include "schema/openapi.h"

#include "base/vec.h"
#include "server/front_private.h"

#define V2_PROTOBUF_TYPE "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
#define YEAR_CACHE "public, immutable, max-age=31536000"

struct rows {
	struct bt_arena *arena;
	BT_VEC(struct bt_openapi_resource) items;
};

static struct bt_str verb_words(uint32_t verbs, struct bt_arena *arena)
{
	struct bt_strbuf words = {0};
	for (int i = 0; i < BT_VERB__COUNT; i++) {
		if ((verbs & 1u << i) != 0) {
			bt_strbuf_append_c(&words, words.length != 0 ? " " : "");
			bt_strbuf_append_c(&words, bt_verb_name((enum bt_verb)i));
		}
	}
	return bt_arena_take_strbuf(arena, &words);
}

static void add_row(
	struct rows *rows, const struct bt_api_resource *resource, enum bt_subresource subresource)
{
	struct bt_discovery_kind kind = bt_discovery_kind_of(resource, subresource);
	struct bt_openapi_resource row = {
		.group = bt_str_from(resource->group),
		.version = bt_str_from(resource->version),
		.name = bt_str_from(resource->name),
		.kind_group = bt_str_from(kind.group),
		.kind_version = bt_str_from(kind.version),
		.kind = bt_str_from(kind.kind),
		.namespaced = resource->namespaced,
		.verbs = verb_words(bt_api_verbs(resource, subresource), rows->arena),
	};
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		static const struct bt_json_value none = {.type = BT_JSON_OBJECT};
		const struct bt_json_value *schema =
			bt_json_find_path(resource->definition_version, "schema.openAPIV3Schema");
		row.schema = schema != NULL ? schema : &none;
	}
	if (subresource != BT_SUBRESOURCE_NONE) {
		row.name = bt_arena_printf(
			rows->arena, "%s/%s", resource->name, bt_subresource_name(subresource));
	}
	bt_vec_push(&rows->items, row);
}

static void collect(struct bt_front_call *call, struct rows *rows)
{
	const struct bt_resources *resources = bt_api_resources(call->front->api);
	rows->arena = &call->arena;
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (resource == NULL || (resource->flags & BT_RESOURCE_HIDDEN) != 0) {
			continue;
		}
		add_row(rows, resource, BT_SUBRESOURCE_NONE);
		for (int j = BT_SUBRESOURCE_NONE + 1; j < BT_SUBRESOURCE__COUNT; j++) {
			/* proxied paths are not described */
			if ((resource->subresources & 1u << j) != 0 && j != BT_SUBRESOURCE_PROXY) {
				add_row(rows, resource, (enum bt_subresource)j);
			}
		}
	}
}

/*
 * Returns the cached document of all resources; makes it again only after a resource was added or
 * removed.
 */
static const struct bt_front_cached *cached_document(struct bt_front_call *call,
	struct bt_front_cached *cached,
	void (*make)(
		const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out))
{
	uint64_t generation = bt_resources_generation(bt_api_resources(call->front->api));
	if (cached->body.length == 0 || cached->generation != generation) {
		struct rows rows = {0};
		collect(call, &rows);
		bt_strbuf_reset(&cached->body);
		make(rows.items.items, rows.items.count, &cached->body);
		bt_vec_finish(&rows.items);
		cached->generation = generation;
		bt_openapi_hash(bt_strbuf_str(&cached->body), cached->hash);
	}
	return cached;
}

static void send_cached(
	struct bt_front_call *call, const struct bt_front_cached *cached, const char *type)
{
	bt_front_no_cache(call);
	bt_front_header(call, "Vary", BT_STR("Accept"));
	if (bt_front_send_if_changed(call, cached->hash)) {
		bt_strbuf_append_str(&call->body, bt_strbuf_str(&cached->body));
		bt_front_send(call, 200, type);
	}
}

static void send_v2(struct bt_front_call *call)
{
	bool is_protobuf;
	if (!bt_accept_openapi(call->front->wire->header(call->exchange, "Accept"), &is_protobuf)) {
		bt_front_send_text(call, 406, "");
		return;
	}
	if (is_protobuf) {
		send_cached(call,
			cached_document(
				call, &call->front->openapi_v2_protobuf, bt_openapi_v2_protobuf),
			V2_PROTOBUF_TYPE);
	} else {
		send_cached(call,
			cached_document(call, &call->front->openapi_v2, bt_openapi_v2_document),
			"application/json");
	}
}

/* Parses "api/v1" or "apis/<group>/<version>"; false: not served. */
static bool parse_group_version(
	const struct rows *rows, struct bt_str text, struct bt_str *group, struct bt_str *version)
{
	for (uint32_t i = 0; i < rows->items.count; i++) {
		const struct bt_openapi_resource *row = &rows->items.items[i];
		struct bt_str name = row->group.length == 0
			? bt_arena_printf(rows->arena, "api/%.*s", BT_STR_ARG(row->version))
			: bt_arena_printf(rows->arena, "apis/%.*s/%.*s", BT_STR_ARG(row->group),
				  BT_STR_ARG(row->version));
		if (bt_str_equal(name, text)) {
			*group = row->group;
			*version = row->version;
			return true;
		}
	}
	return false;
}

static void send_v3_group(struct bt_front_call *call)
{
	struct rows rows = {0};
	struct bt_str group;
	struct bt_str version;
	struct bt_str text = call->route.text;
	char hash[BT_OPENAPI_HASH_BYTES];
	collect(call, &rows);
	if (!parse_group_version(&rows, text, &group, &version)) {
		bt_vec_finish(&rows.items);
		bt_front_send_text(call, 404, "404 page not found\n");
		return;
	}
	bt_openapi_v3_document(group, version, rows.items.items, rows.items.count, &call->body);
	bt_vec_finish(&rows.items);
	bt_openapi_hash(bt_strbuf_str(&call->body), hash);
	struct bt_str given = call->query.hash;
	if (given.length != 0 && !bt_str_equal_c(given, hash)) {
		bt_strbuf_reset(&call->body);
		bt_front_header(call, "Location",
			bt_arena_printf(
				&call->arena, "/openapi/v3/%.*s?hash=%s", BT_STR_ARG(text), hash));
		bt_front_send_text(call, 301, "");
		return;
	}
	if (given.length != 0) {
		bt_front_header(call, "Cache-Control", BT_STR(YEAR_CACHE));
	} else {
		bt_front_no_cache(call);
	}
	bt_front_header(call, "Vary", BT_STR("Accept"));
	if (bt_front_send_if_changed(call, hash)) {
		bt_front_send(call, 200, "application/json");
	}
}

void bt_front_openapi(struct bt_front_call *call)
{
	if (call->route.kind == BT_ROUTE_OPENAPI_V2) {
		send_v2(call);
	} else if (call->route.text.length != 0) {
		send_v3_group(call);
	} else {
		send_cached(call,
			cached_document(call, &call->front->openapi_index, bt_openapi_v3_index),
			"application/json");
	}
}
