/* SPDX-License-Identifier: Apache-2.0 */
/** Get and create. Spec: 14 sections 9 and 10, 14b section 2. */
#include "api/time.h"
#include "base/alloc.h"
#include "server/policy.h"
#include "server/rbac.h"
#include "server/write.h"

/*
 * Caches the owners (the content of metadata.managedFields) of new objects. The owners depend on
 * the manager and on the object's shape. The shape has the names of members, the types, and some
 * values: those that may be zero, and those that may be list keys or elements of a set. Objects
 * from one template have the same shape, so they share the owners of the first object.
 */

#define SLOTS 256
/** Larger shapes are not cached. */
#define SHAPE_BYTES_MAX (16 * 1024)

struct slot {
	struct bt_owners *owners; /* NULL: free */
	char *shape;
	uint32_t shape_length;
};

struct bt_owner_cache {
	struct bt_strbuf shape; /* key of the current lookup */
	struct slot slots[SLOTS];
};

struct bt_owner_cache *bt_owner_cache_create(void)
{
	return BT_NEW(struct bt_owner_cache);
}

void bt_owner_cache_destroy(struct bt_owner_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		bt_owners_unref(cache->slots[i].owners);
		bt_free(cache->slots[i].shape);
	}
	bt_strbuf_finish(&cache->shape);
	bt_free(cache);
}

static void append_text(struct bt_strbuf *out, struct bt_str text)
{
	bt_strbuf_append(out, &text.length, sizeof(text.length));
	bt_strbuf_append_str(out, text);
}

/**
 * Appends the shape of a value. is_element: the value is an array element. by_value: the content of
 * a text is part of the shape, because the text may be a list key or an element of a set.
 */
static void append_shape(
	struct bt_strbuf *out, const struct bt_json_value *value, bool is_element, bool by_value)
{
	bt_strbuf_append_char(out, (char)('0' + (int)value->type));
	switch (value->type) {
	case BT_JSON_NULL:
		break;
	case BT_JSON_BOOL:
		bt_strbuf_append_char(out, value->boolean ? '1' : '0');
		break;
	case BT_JSON_STRING:
		/* short texts such as "" and "0" may be defaults, so their content matters */
		if (!by_value && value->text.length > 1) {
			bt_strbuf_append_char(out, '+');
			break;
		}
		bt_strbuf_append_char(out, '=');
		append_text(out, value->text);
		break;
	case BT_JSON_NUMBER:
		append_text(out, value->text);
		break;
	case BT_JSON_ARRAY:
		bt_strbuf_append(out, &value->count, sizeof(value->count));
		for (uint32_t i = 0; i < value->count; i++) {
			append_shape(out, value->elements[i], true, true);
		}
		break;
	case BT_JSON_OBJECT:
		bt_strbuf_append(out, &value->count, sizeof(value->count));
		for (uint32_t i = 0; i < value->count; i++) {
			append_text(out, value->members[i].name);
			append_shape(out, value->members[i].value, false, is_element);
		}
		break;
	case BT_JSON__COUNT:
		break;
	}
}

/**
 * Records in a new object which manager owns which fields; call before admission. If the owners of
 * an object with the same shape are cached, only sets call->owners to these.
 */
static void record_owners(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_owner_cache *cache = call->api->owner_cache;
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_apply_writer writer = bt_call_apply_writer(call);
	/*
	 * Not cached: custom resources, whose schema may change; objects that bring managedFields;
	 * objects whose managedFields a policy or a dry run reads.
	 */
	bool is_cached = (resource->flags & BT_RESOURCE_CUSTOM) == 0 && !call->write.dry_run &&
		bt_json_find_path(object, "metadata.managedFields") == NULL &&
		bt_policies_in_force(call->api, BT_POLICY_MUTATING) == NULL &&
		bt_policies_in_force(call->api, BT_POLICY_VALIDATING) == NULL;
	if (is_cached) {
		bt_strbuf_reset(&cache->shape);
		bt_strbuf_append(&cache->shape, &resource, sizeof(resource));
		append_text(&cache->shape, writer.manager);
		append_shape(&cache->shape, object, false, false);
		struct bt_str shape = bt_strbuf_str(&cache->shape);
		const struct slot *slot = &cache->slots[bt_str_hash(shape) % SLOTS];
		if (bt_str_equal(shape, (struct bt_str){slot->shape, slot->shape_length})) {
			call->owners = bt_owners_share(slot->owners);
			return;
		}
		if (shape.length <= SHAPE_BYTES_MAX) {
			call->shape = bt_arena_str(call->arena, shape);
		}
	}
	bt_apply_record_update(call->arena, &writer, NULL, object);
}

void bt_call_remember_owners(struct bt_call *call, const struct bt_stored *stored)
{
	/* cache only owners from which one value was cut out: the time of the creation */
	if (call->shape.length == 0 || stored->owners == NULL ||
		bt_stored_owned(stored).values.length !=
			bt_time_text(call->arena, call->write.now_ns).length) {
		return;
	}
	struct slot *slot = &call->api->owner_cache->slots[bt_str_hash(call->shape) % SLOTS];
	bt_owners_unref(slot->owners);
	bt_free(slot->shape);
	*slot = (struct slot){bt_owners_share(stored->owners),
		bt_strndup(call->shape.data, call->shape.length), call->shape.length};
}

/** Number of attempts to generate a name that is free: spec 14 section 10.2. */
#define GENERATED_NAME_TRIES 8

void bt_call_get(struct bt_call *call)
{
	struct bt_stored *stored = bt_call_find(call);
	if (stored != NULL) {
		bt_call_answer_stored(call, stored, 200);
	}
}

static void set_name(struct bt_call *call, struct bt_str name)
{
	call->write.name = name;
	call->key = bt_api_key(call->arena, call->write.namespace_, name);
}

static bool is_taken(const struct bt_call *call)
{
	return bt_store_find(call->api->options.store, call->write.resource->collection,
		       call->key) != NULL;
}

void bt_call_create_object(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	if (call->request->checks_access && call->request->verb != BT_VERB_CREATE) {
		/* An update or apply that creates an object needs the right to create, too. */
		struct bt_access access = {.user = call->write.user,
			.verb = BT_STR("create"),
			.namespace_ = call->write.namespace_,
			.group = bt_str_from(call->write.resource->group),
			.resource = bt_str_from(call->write.resource->name),
			.subresource = BT_STR(""),
			.name = call->write.name};
		if (!bt_api_authorize(call->api, &access, call->arena, NULL)) {
			bt_rbac_forbid(&access, BT_STR(""), call->arena, &call->answer->failure);
			return;
		}
	}
	if (bt_json_text_at(call->write.resource->definition, "metadata.deletionTimestamp")
			.length != 0) {
		(void)bt_call_refuse(call, 405, "MethodNotAllowed",
			"create not allowed while custom resource definition is terminating");
		return;
	}
	if (bt_api_resource_version_of(metadata) != 0 && !call->write.restoring) {
		(void)bt_call_refuse(call, 500, NULL,
			"resourceVersion should not be set on objects to be created");
		return;
	}
	struct bt_str namespace_ = bt_json_text_at(metadata, "namespace");
	if (!call->write.resource->namespaced) {
		(void)bt_json_remove_c(metadata, "namespace");
	} else if (namespace_.length == 0) {
		bt_json_set_str(call->arena, metadata, "namespace", call->write.namespace_);
	} else if (!bt_str_equal(namespace_, call->write.namespace_)) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent "
			"on the request");
		return;
	}
	struct bt_str base = bt_json_text_at(metadata, "generateName");
	set_name(call, bt_json_text_at(metadata, "name"));
	if (call->write.name.length == 0 && base.length == 0) {
		struct bt_field_errors errors = {.arena = call->arena};
		bt_field_errors_add(&errors, BT_FIELD_REQUIRED, BT_STR("metadata.name"), NULL,
			"name or generateName is required");
		(void)bt_call_refuse_invalid(call, &errors);
		return;
	}
	if (call->write.name.length == 0) {
		int tries = GENERATED_NAME_TRIES;
		do {
			set_name(call, bt_api_generate_name(call->api, call->arena, base));
		} while (is_taken(call) && --tries != 0);
		bt_json_set_str(call->arena, metadata, "name", call->write.name);
	}
	static const char *const ignored[] = {"uid", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generation"};
	bool restoring = call->write.restoring;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ignored) && !restoring; i++) {
		(void)bt_json_remove_c(metadata, ignored[i]);
	}
	(void)bt_json_remove_c(metadata, "selfLink");
	(void)bt_json_remove_c(metadata, "resourceVersion");
	if (call->request->verb != BT_VERB_PATCH && !restoring) { /* apply has recorded owners */
		record_owners(call, object);
	}
	call->write.from_cluster =
		call->write.restoring && bt_json_text_at(metadata, "uid").length != 0;
	if (bt_json_text_at(metadata, "uid").length == 0) {
		bt_json_set_str(
			call->arena, metadata, "uid", bt_api_new_uid(call->api, call->arena));
	}
	if (bt_json_text_at(metadata, "creationTimestamp").length == 0) {
		bt_json_set_str(call->arena, metadata, "creationTimestamp",
			bt_time_text(call->arena, call->write.now_ns));
	}
	if ((call->write.resource->flags & BT_RESOURCE_GENERATION) != 0 &&
		bt_json_int64_at(metadata, "generation", 0) <= 0) {
		bt_json_set_int64(call->arena, metadata, "generation", 1);
	}
	bt_kinds_remove_disabled(&call->write, NULL, object);
	bt_admit(&call->write, NULL, object, &call->answer->failure);
	if (call->answer->failure.code != 0 || !bt_policies_mutate(call, NULL, object)) {
		return;
	}
	const struct bt_api_resource *resource = call->write.resource;
	bt_kinds_reset_status(&call->write, object);
	if (resource->strategy->prepare_create != NULL) {
		resource->strategy->prepare_create(&call->write, object);
	}
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0 && !call->write.restoring &&
		(resource->subresources & 1u << BT_SUBRESOURCE_STATUS) != 0) {
		(void)bt_json_remove_c(object, "status");
	}
	if (resource == call->api->definitions) {
		bt_definition_prepare(call, object);
	}
	if (!bt_call_validate(call, NULL, object)) {
		return;
	}
	if (is_taken(call) && !call->write.restoring) {
		struct bt_str qualified = bt_resource_qualified(resource, call->arena);
		(void)bt_fail_about(&call->answer->failure, call->arena, resource, call->write.name,
			409, "AlreadyExists", "%.*s \"%.*s\" already exists", BT_STR_ARG(qualified),
			BT_STR_ARG(call->write.name));
		return;
	}
	bt_call_store(call, NULL, object, 201);
}

void bt_call_create(struct bt_call *call)
{
	struct bt_json_value *object = call->request->body;
	if ((call->write.resource->flags & BT_RESOURCE_REVIEW) != 0) {
		if (call->write.resource->group[0] == '\0') {
			bt_call_binding(call);
		} else {
			bt_call_review(call);
		}
		return;
	}
	if (bt_call_decode(call, object, BT_BODY_OBJECT)) {
		bt_call_create_object(call, object);
	}
}
