/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/load.h"

#include <stdio.h>

#include "api/text_template.h"
#include "base/text_set.h"
#include "base/vec.h"
#include "cluster/input.h"
#include "cluster/kustomize.h"
#include "codec/json_edit.h"

/** An object whose owner references are checked after all objects are loaded. */
struct dependent {
	const struct bt_api_resource *resource;
	struct bt_str key;
};

/**
 * An object of a kind that is not served yet; a later CustomResourceDefinition may add the kind.
 */
struct deferred {
	struct bt_origin origin;
	struct bt_str text;
};

/** Once the list of unserved kinds has this length, no more kinds are added. */
#define UNKNOWN_KINDS_BYTES_MAX 500

struct loading {
	struct bt_api *api;
	struct bt_input input;
	struct bt_cluster_load_report *report;
	struct bt_arena arena; /* reset for each object */
	struct bt_arena kept;  /* texts of the lists below */
	BT_VEC(struct dependent) dependents;
	BT_VEC(struct deferred) deferred;
	struct bt_text_set uids;
	bool is_last_round;
};

/** --- objects --- */

bool bt_cluster_ensure_namespace(struct bt_api *api, struct bt_str name, struct bt_arena *arena)
{
	const struct bt_api_resource *resource =
		bt_resources_builtin(bt_api_resources(api), "", "namespaces");
	if (bt_store_find(bt_api_store(api), resource->collection, name) != NULL) {
		return false;
	}
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;
	request.verb = BT_VERB_CREATE;
	request.resource = resource;
	request.body = bt_json_put(arena, NULL, "{metadata: {name: %s}}", name);
	/* If the name is not valid for a namespace, the API server refuses the object anyway. */
	bt_api_perform(api, &request, arena, &answer);
	bool is_made = answer.code == 201;
	bt_api_answer_finish(&answer);
	return is_made;
}

int bt_cluster_restore(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer,
	struct berth_error *err)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_json_value *before = bt_json_clone(arena, object, false);
	struct bt_str namespace_ = bt_json_text_at(before, "metadata.namespace");
	request.verb = BT_VERB_CREATE;
	request.resource = resource;
	request.body = object;
	request.restore = true;
	if (resource->namespaced) {
		request.namespace_ = namespace_.length != 0 ? namespace_ : BT_STR("default");
		(void)bt_cluster_ensure_namespace(api, request.namespace_, arena);
	}
	struct bt_api_answer own;
	struct bt_api_answer *answer = out_answer != NULL ? out_answer : &own;
	int result = 0;
	bt_api_perform(api, &request, arena, answer);
	if (answer->code >= 300) {
		result = bt_text_error(err, BERTH_ERR_INVALID, "%p [%p/]%p: %p",
			bt_json_text_at(before, "kind"), namespace_,
			bt_json_text_at(before, "metadata.name"), answer->failure.message);
	}
	if (out_answer == NULL) {
		bt_api_answer_finish(answer);
	}
	return result;
}

static int restore(struct loading *loading, const struct bt_api_resource *resource,
	struct bt_json_value *object, struct berth_error *err)
{
	struct bt_api_answer answer;
	bool has_owners = bt_json_array_at(object, "metadata.ownerReferences")->count != 0;
	struct bt_str namespace_ = bt_json_text_at(object, "metadata.namespace");
	loading->report->namespace_count += resource->namespaced &&
		bt_cluster_ensure_namespace(loading->api,
			namespace_.length != 0 ? namespace_ : BT_STR("default"), &loading->arena);
	int result =
		bt_cluster_restore(loading->api, resource, object, &loading->arena, &answer, err);
	if (result == 0 && answer.object != NULL) {
		struct bt_json_value *stored = bt_api_parse_stored(answer.object, &loading->arena);
		struct bt_str uid = bt_json_text_at(stored, "metadata.uid");
		if (uid.length != 0 && !bt_text_set_has(&loading->uids, uid)) {
			(void)bt_text_set_add(&loading->uids, bt_arena_str(&loading->kept, uid));
		}
		if (has_owners) {
			struct dependent dependent = {resource,
				bt_arena_str(&loading->kept, bt_stored_key(answer.object))};
			bt_vec_push(&loading->dependents, dependent);
		}
		loading->report->object_count++;
	}
	bt_api_answer_finish(&answer);
	return result;
}

static int take_object(struct loading *loading, struct bt_origin origin, struct bt_str text,
	struct bt_str api_version, struct bt_str kind, struct berth_error *err)
{
	struct bt_json_value *object;
	bt_arena_reset(&loading->arena);
	int result = bt_json_parse(&loading->arena, text, false, &object, err);
	if (result < 0) {
		return result;
	}
	if (object->type != BT_JSON_OBJECT) {
		return object->type == BT_JSON_NULL
			? 0
			: bt_error_set(err, BERTH_ERR_INVALID, "expected an object, got %s",
				  bt_json_type_name(object->type));
	}
	/* Items of typed lists (PodList) have no kind and apiVersion. */
	if (bt_json_find_str(object, "kind").length == 0) {
		bt_json_put(
			&loading->arena, object, "{kind: %s, apiVersion: %s}", kind, api_version);
	}
	const struct bt_api_resource *resource =
		bt_resources_find_kind(bt_api_resources(loading->api),
			bt_json_find_str(object, "apiVersion"), bt_json_find_str(object, "kind"));
	if (resource != NULL) {
		return restore(loading, resource, object, err);
	}
	if (!loading->is_last_round) {
		struct bt_strbuf whole = {0};
		bt_json_format(object, &whole);
		struct deferred deferred = {origin, bt_arena_take_strbuf(&loading->kept, &whole)};
		bt_vec_push(&loading->deferred, deferred);
		return 0;
	}
	struct bt_strbuf *kinds = &loading->report->unknown_kinds;
	struct bt_strbuf name = {0};
	bt_text_append(&name, "%p %p", bt_json_find_str(object, "apiVersion"),
		bt_json_find_str(object, "kind"));
	loading->report->unknown_count++;
	if (bt_str_find(bt_strbuf_str(kinds), bt_strbuf_str(&name)) < 0 &&
		kinds->length < UNKNOWN_KINDS_BYTES_MAX) {
		bt_strbuf_append_c(kinds, kinds->length != 0 ? ", " : "");
		bt_strbuf_append_str(kinds, bt_strbuf_str(&name));
	}
	bt_strbuf_finish(&name);
	return 0;
}

/** --- documents --- */

static int take_value(void *context, struct bt_origin origin, struct bt_json_reader *reader,
	struct berth_error *err)
{
	struct loading *loading = context;
	struct bt_str text;
	enum bt_json_type type;
	int result = bt_json_peek(reader, &type, err);
	if (result == 0) {
		result = bt_json_skip(reader, &text, err);
	}
	if (result < 0 || type == BT_JSON_NULL) {
		return result;
	}
	if (type != BT_JSON_OBJECT) {
		return bt_error_set(err, BERTH_ERR_INVALID, "expected an object, got %s",
			bt_json_type_name(type));
	}
	/* Read the top-level members. items: absent unless the member's value is an array. */
	struct bt_str api_version = BT_STR("");
	struct bt_str kind = BT_STR("");
	struct bt_str items = {0};
	struct bt_json_reader members;
	struct bt_str name;
	bt_json_reader_init(&members, text);
	BT_JSON_EACH_MEMBER (&members, &loading->arena, name, result, err) {
		struct bt_str value;
		result = bt_json_peek(&members, &type, err);
		if (result == 0 && type == BT_JSON_STRING &&
			(bt_str_equal_c(name, "kind") || bt_str_equal_c(name, "apiVersion"))) {
			result = bt_json_read_string(&members, &loading->kept, &value, NULL, err);
			*(bt_str_equal_c(name, "kind") ? &kind : &api_version) = value;
		} else if (result == 0) {
			result = bt_json_skip(&members, &value, err);
			if (result == 0 && type == BT_JSON_ARRAY && bt_str_equal_c(name, "items")) {
				items = value;
			}
		}
	}
	if (result < 0) {
		return result;
	}
	if (items.data == NULL || !bt_str_has_suffix(kind, BT_STR("List"))) {
		return take_object(loading, origin, text, BT_STR(""), BT_STR(""), err);
	}
	/* Store the items one by one, so that a long list is never in memory as one tree. */
	struct bt_json_reader elements;
	kind.length -= 4; /* "List" */
	bt_json_reader_init(&elements, items);
	BT_JSON_EACH_ELEMENT (&elements, result, err) {
		struct bt_str item;
		result = bt_json_skip(&elements, &item, err);
		if (result == 0) {
			result = take_object(loading, origin, item, api_version, kind, err);
		}
	}
	return result;
}

/** --- after the last document --- */

/**
 * Drops references to owners that do not exist. Dumps are often incomplete, and the garbage
 * collector would delete objects whose owners are missing.
 */
static void drop_missing_owners(struct loading *loading, const struct dependent *dependent)
{
	struct bt_arena *arena = &loading->arena;
	bt_arena_reset(arena);
	struct bt_json_value *object =
		bt_api_read(loading->api, dependent->resource, dependent->key, arena);
	const struct bt_json_value *owners = bt_json_array_at(object, "metadata.ownerReferences");
	struct bt_json_value *kept = bt_json_new(arena, BT_JSON_ARRAY);
	for (uint32_t i = 0; i < owners->count; i++) {
		if (bt_text_set_has(&loading->uids, bt_json_text_at(owners->elements[i], "uid"))) {
			bt_json_append(arena, kept, owners->elements[i]);
		}
	}
	if (kept->count == owners->count) {
		return;
	}
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;
	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_MERGE;
	request.resource = dependent->resource;
	request.namespace_ = bt_json_text_at(object, "metadata.namespace");
	request.name = bt_json_text_at(object, "metadata.name");
	request.body = bt_json_put(arena, NULL, "{metadata: {ownerReferences: %v}}", kept);
	bt_api_perform(loading->api, &request, arena, &answer); /* the object exists: cannot fail */
	loading->report->orphan_count += answer.code == 200 ? 1 : 0;
	bt_api_answer_finish(&answer);
}

static void report_skipped(void *context, struct bt_origin origin,
	BT_UNUSED struct bt_str api_version, BT_UNUSED struct bt_str kind,
	BT_UNUSED struct bt_str json)
{
	const struct loading *loading = context;
	struct bt_strbuf line = {0};
	bt_input_describe(&loading->input, origin, &line);
	(void)fprintf(
		stderr, "berth up: %s is not a manifest and is left out\n", bt_strbuf_c(&line));
	bt_strbuf_finish(&line);
}

int bt_cluster_load(struct bt_api *api, const struct bt_arguments *paths,
	const struct bt_arguments *kustomizations, struct bt_cluster_load_report *out_report,
	struct berth_error *err)
{
	struct loading loading = {.api = api, .report = out_report};
	int result = 0;
	*out_report = (struct bt_cluster_load_report){0};
	loading.input.sink = (struct bt_input_sink){
		.context = &loading, .skipped = report_skipped, .take_value = take_value};
	for (uint32_t i = 0; i < paths->list.count && result == 0; i++) {
		result = bt_input_read(&loading.input, paths->list.items[i], err);
	}
	for (uint32_t i = 0; i < kustomizations->list.count && result == 0; i++) {
		const char *folder = kustomizations->list.items[i];
		struct bt_strbuf text = {0};
		result = bt_kustomize(folder, &text, err);
		if (result == 0) {
			result = bt_input_read_text(
				&loading.input, folder, bt_strbuf_str(&text), err);
		}
		bt_strbuf_finish(&text);
	}
	loading.is_last_round = true;
	for (uint32_t i = 0; i < loading.deferred.count && result == 0; i++) {
		const struct deferred *deferred = &loading.deferred.items[i];
		result = take_object(
			&loading, deferred->origin, deferred->text, BT_STR(""), BT_STR(""), err);
		if (result < 0) {
			result = bt_input_wrap(&loading.input, deferred->origin, result, err);
		}
	}
	for (uint32_t i = 0; i < loading.dependents.count && result == 0; i++) {
		drop_missing_owners(&loading, &loading.dependents.items[i]);
	}
	bt_input_finish(&loading.input);
	bt_vec_finish(&loading.dependents);
	bt_vec_finish(&loading.deferred);
	bt_text_set_finish(&loading.uids);
	bt_arena_finish(&loading.arena);
	bt_arena_finish(&loading.kept);
	return result;
}
