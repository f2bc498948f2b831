/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CustomResourceDefinitions: their status, validation, commits and deletion. Spec: 14 sections 6.3
 * and 24.
 */
#include "api/time.h"
#include "server/condition.h"
#include "server/kinds/common.h"
#include "server/write.h"

/** Largest numbers of versions, short names and categories of one definition. */
#define LIST_ITEMS_MAX 100
#define CLEANUP_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/** --- status --- */

/** Sets a condition; its transition time changes only with its status. */
static void set_condition(struct bt_call *call, struct bt_json_value *conditions, const char *type,
	bool holds, const char *reason, struct bt_str message)
{
	struct bt_arena *arena = call->arena;
	const char *status = holds ? "True" : "False";
	struct bt_json_value *condition = bt_condition_find(conditions, type);
	if (condition == NULL) {
		condition = bt_json_put(arena, NULL, "{type: %c}", type);
		bt_json_append(arena, conditions, condition);
	}
	if (!bt_str_equal_c(bt_json_text_at(condition, "status"), status)) {
		bt_json_put(arena, condition, "{status: %c, lastTransitionTime: %s}", status,
			bt_time_text(arena, call->write.now_ns));
	}
	bt_json_put(arena, condition, "{reason: %c, message: %s}", reason, message);
}

void bt_definition_prepare(struct bt_call *call, struct bt_json_value *definition)
{
	struct bt_arena *arena = call->arena;
	static const char *const limited_lists[] = {
		"versions", "names.shortNames", "names.categories"};
	struct bt_json_value *spec = bt_json_ensure_object(arena, definition, "spec");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(limited_lists); i++) {
		if (bt_json_array_at(spec, limited_lists[i])->count > LIST_ITEMS_MAX) {
			return; /* the validation refuses it */
		}
	}
	if (call->write.verb == BT_VERB_CREATE && !call->write.restoring) {
		bt_json_put(
			arena, definition, "{metadata: {finalizers: ['" CLEANUP_FINALIZER "']}}");
		(void)bt_json_remove_c(definition, "status");
	}
	struct bt_json_value *names = bt_json_ensure_object(arena, spec, "names");
	struct bt_str kind = bt_json_text_at(names, "kind");
	if (bt_json_text_at(names, "singular").length == 0 && kind.length != 0) {
		struct bt_strbuf singular = {0};
		bt_strbuf_append_lower(&singular, kind);
		bt_json_set_str(arena, names, "singular", bt_arena_take_strbuf(arena, &singular));
	}
	if (bt_json_text_at(names, "listKind").length == 0) {
		bt_json_set_str(arena, names, "listKind",
			bt_arena_printf(arena, "%.*sList", BT_STR_ARG(kind)));
	}
	struct bt_json_value *conversion = bt_json_ensure_object(arena, spec, "conversion");
	bt_kinds_default_c(arena, conversion, "strategy", "None");
	struct bt_str conflict = bt_resources_name_conflict(
		call->api->resources, call->write.name, definition, arena);
	bool accepted = conflict.data == NULL;
	struct bt_json_value *status = bt_json_ensure_object(arena, definition, "status");
	struct bt_json_value *conditions = bt_json_ensure_array(arena, status, "conditions");
	set_condition(call, conditions, "NamesAccepted", accepted,
		accepted ? "NoConflicts" : "NamesConflict",
		accepted ? BT_STR("no conflicts found") : conflict);
	set_condition(call, conditions, "Established", accepted,
		accepted ? "InitialNamesAccepted" : "NotAccepted",
		accepted ? BT_STR("the initial names have been accepted")
			 : BT_STR("not all names are accepted"));
	if (accepted) {
		bt_json_set_value(arena, status, "acceptedNames",
			bt_json_clone(arena, bt_json_find(spec, "names"), false));
	} else if (bt_json_find(status, "acceptedNames") == NULL) {
		bt_json_put(arena, status, "{acceptedNames: {plural: '', kind: ''}}");
	}
	/* Adds the storage version to status.storedVersions. */
	const struct bt_json_value *versions = bt_json_array_at(spec, "versions");
	struct bt_json_value *stored = bt_json_ensure_array(call->arena, status, "storedVersions");
	for (uint32_t i = 0; i < versions->count; i++) {
		struct bt_str name = bt_json_text_at(versions->elements[i], "name");
		if (bt_json_bool_at(versions->elements[i], "storage", false) &&
			!bt_json_has_text(stored, name)) {
			bt_json_append(call->arena, stored, bt_json_new_str(call->arena, name));
		}
	}
	if (bt_str_equal_c(bt_json_text_at(conversion, "strategy"), "Webhook")) {
		bt_call_warn(call,
			"spec.conversion: no webhook is called: an object is served in each "
			"version with the fields that were written");
	}
}

/** --- validation --- */

void bt_rule_definition_versions(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *definition)
{
	const struct bt_json_value *versions = bt_json_array_at(definition, "spec.versions");
	const struct bt_json_value *stored = bt_json_array_at(definition, "status.storedVersions");
	uint32_t storage_count = 0;
	for (uint32_t i = 0; i < versions->count; i++) {
		storage_count += bt_json_bool_at(versions->elements[i], "storage", false) ? 1 : 0;
	}
	if (versions->count != 0 && storage_count != 1) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "spec.versions"), versions,
			"must have exactly one version marked as storage version");
	}
	/* A version stays in the spec while objects may be stored in it. */
	for (uint32_t i = 0; i < stored->count; i++) {
		if (bt_json_element_with(versions, "name", stored->elements[i]->text) == NULL) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID,
				BT_PATH_INDEX(BT_PATH_NAME(place, "status.storedVersions"), i),
				stored->elements[i], "must appear in spec.versions");
		}
	}
}

/** Groups of the Kubernetes project need an annotation that says where the API was approved. */
void bt_rule_definition_approval(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *definition)
{
	static const char annotation[] = "api-approved.kubernetes.io";
	const struct bt_json_value *annotations =
		bt_json_object_at(definition, "metadata.annotations");
	const struct bt_json_value *given = bt_json_find(annotations, annotation);
	const struct bt_json_value *before =
		bt_json_find(bt_json_object_at(check->old, "metadata.annotations"), annotation);
	const struct bt_path *at =
		BT_PATH_KEY(BT_PATH_NAME(place, "metadata.annotations"), bt_str_from(annotation));
	/* The cluster of a dump may be older than this rule. */
	if (check->write->restoring ||
		!bt_kinds_is_kubernetes_domain(bt_json_text_at(definition, "spec.group")) ||
		(check->old != NULL && bt_kinds_same(given, before))) {
		return;
	}
	if (given == NULL || given->text.length == 0) {
		bt_kinds_error(check->errors, BT_FIELD_REQUIRED, at, NULL,
			"protected groups must have approval annotation \"%s\", see "
			"https://github.com/kubernetes/enhancements/pull/1111",
			annotation);
	} else if (!bt_str_has_prefix(given->text, BT_STR("unapproved")) &&
		bt_str_find(given->text, BT_STR("://")) <= 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, at, given,
			"protected groups must have approval annotation \"%s\" with either a URL "
			"or a reason starting with \"unapproved\", see "
			"https://github.com/kubernetes/enhancements/pull/1111",
			annotation);
	}
}

/** --- commits --- */

void bt_definition_changed(
	struct bt_api *api, struct bt_str name, const struct bt_json_value *definition)
{
	bool served = definition != NULL &&
		bt_condition_is(
			bt_json_array_at(definition, "status.conditions"), "Established", "True");
	bt_resources_define(api->resources, name, served ? definition : NULL);
	if (definition != NULL) {
		return;
	}
	/* Accepts definitions of the group whose names the removed definition had. */
	struct bt_str group = name;
	struct bt_arena arena = {0};
	(void)bt_str_cut(&group, '.');
	BT_STORE_EACH (stored, api->options.store, api->definitions->collection, BT_STR("")) {
		struct bt_str key = bt_stored_key(stored);
		struct bt_str other = key;
		(void)bt_str_cut(&other, '.');
		/* Searched as text, because parsing all definitions takes long. */
		if (!bt_str_equal(other, group) ||
			bt_str_find(bt_stored_text(stored), BT_STR("\"NamesConflict\"")) < 0) {
			continue;
		}
		struct bt_api_request request = BT_API_REQUEST_INIT;
		struct bt_api_answer answer;
		request.verb = BT_VERB_PATCH;
		request.patch_type = BT_PATCH_MERGE;
		request.resource = api->definitions;
		request.name = bt_arena_str(&arena, key);
		request.body = bt_json_new(&arena, BT_JSON_OBJECT);
		request.same_owners = true;
		bt_api_perform(api, &request, &arena, &answer); /* sets the status anew */
		bt_api_answer_finish(&answer);
	}
	bt_arena_finish(&arena);
}

void bt_definitions_load(struct bt_api *api)
{
	struct bt_arena arena = {0};
	BT_STORE_EACH (stored, api->options.store, api->definitions->collection, BT_STR("")) {
		const struct bt_json_value *definition = bt_api_parse_stored(stored, &arena);
		bt_definition_changed(api, bt_stored_key(stored), definition);
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}

/** --- deletion --- */

void bt_definition_remove_if_empty(struct bt_api *api, struct bt_str name, struct bt_arena *arena)
{
	struct bt_store *store = api->options.store;
	struct bt_stored *stored = bt_store_find(store, api->definitions->collection, name);
	uint32_t collection = bt_store_collection_find(store, name);
	if (stored == NULL) {
		return;
	}
	if (collection != BT_STORE_NO_COLLECTION && bt_store_count(store, collection) != 0) {
		/*
		 * If the names of the definition were refused, the collection of this name may
		 * belong to a built-in resource, whose objects do not count.
		 */
		const struct bt_api_resource *resource =
			bt_resources_of_collection(api->resources, collection);
		if (resource == NULL || (resource->flags & BT_RESOURCE_CUSTOM) != 0) {
			return;
		}
	}
	struct bt_json_value *definition = bt_api_parse_stored(stored, arena);
	struct bt_json_value *finalizers = bt_json_find_path(definition, "metadata.finalizers");
	if (bt_json_text_at(definition, "metadata.deletionTimestamp").length == 0 ||
		finalizers == NULL || finalizers->type != BT_JSON_ARRAY) {
		return;
	}
	/* The finalizer kept the definition until its objects were deleted. */
	bt_json_remove_text(finalizers, BT_STR(CLEANUP_FINALIZER));
	if (finalizers->count == 0) {
		(void)bt_json_remove_c(bt_json_find(definition, "metadata"), "finalizers");
	}
	struct bt_api_request request = BT_API_REQUEST_INIT;
	struct bt_api_answer answer;
	struct bt_call call;
	request.verb = BT_VERB_UPDATE;
	request.resource = api->definitions;
	request.name = bt_arena_str(arena, bt_stored_key(stored));
	bt_call_init(&call, api, &request, arena, &answer);
	if (bt_call_is_finished(&call, definition)) {
		bt_call_remove(&call, definition);
	} else {
		bt_call_store(&call, stored, definition, 200);
	}
	bt_api_answer_finish(&answer);
}

void bt_definition_delete_objects(struct bt_call *call)
{
	struct bt_api *api = call->api;
	struct bt_store *store = api->options.store;
	uint32_t collection = bt_store_collection_find(store, call->write.name);
	const struct bt_api_resource *resource = collection != BT_STORE_NO_COLLECTION
		? bt_resources_of_collection(api->resources, collection)
		: NULL;
	struct bt_arena arena = {0};
	if (resource == NULL && collection != BT_STORE_NO_COLLECTION &&
		bt_store_count(store, collection) != 0) {
		/* No version is served any more: serve all again, to delete the objects. */
		struct bt_json_value *definition =
			bt_api_read(api, api->definitions, call->write.name, call->arena);
		const struct bt_json_value *versions =
			bt_json_array_at(definition, "spec.versions");
		for (uint32_t i = 0; i < versions->count; i++) {
			bt_json_set_bool(call->arena, versions->elements[i], "served", true);
		}
		bt_resources_define(api->resources, call->write.name, definition);
		resource = bt_resources_of_collection(api->resources, collection);
	}
	if (resource != NULL && (resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		BT_STORE_EACH (stored, store, collection, BT_STR("")) {
			struct bt_str key = bt_stored_key(stored);
			struct bt_api_request request = BT_API_REQUEST_INIT;
			struct bt_api_answer answer;
			request.verb = BT_VERB_DELETE;
			request.resource = resource;
			request.propagation = BT_PROPAGATION_BACKGROUND;
			request.namespace_ = bt_arena_str(&arena, bt_key_namespace(key));
			request.name = bt_arena_str(&arena, bt_key_name(key));
			bt_api_perform(api, &request, &arena, &answer);
			bt_api_answer_finish(&answer);
			bt_arena_reset(&arena);
		}
	}
	bt_arena_finish(&arena);
	bt_definition_remove_if_empty(api, call->write.name, call->arena);
}
