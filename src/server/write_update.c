/* SPDX-License-Identifier: Apache-2.0 */
/** Update, and the steps that store the result of a patch. Spec: 14 section 11, 14b section 2. */
#include <stdlib.h>

#include "server/custom_schema.h"
#include "server/rbac.h"
#include "server/write.h"

/** Once a list of new finalizers has this many bytes, a message leaves out the rest. */
#define NEW_FINALIZERS_BYTES_MAX 4000

/** --- identity --- */

bool bt_call_refuse_nameless(struct bt_call *call)
{
	return bt_call_refuse(call, 400, "BadRequest",
		"the name of the object (%.*s based on URL) was undeterminable: name must be "
		"provided",
		BT_STR_ARG(call->write.name));
}

static bool check_name(struct bt_call *call, const struct bt_json_value *metadata)
{
	struct bt_str name = bt_json_text_at(metadata, "name");
	struct bt_str namespace_ = bt_json_text_at(metadata, "namespace");
	if (name.length == 0) {
		return bt_call_refuse_nameless(call);
	}
	if (!bt_str_equal(name, call->write.name)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the name of the object (%.*s) does not match the name on the URL (%.*s)",
			BT_STR_ARG(name), BT_STR_ARG(call->write.name));
	}
	if (call->write.resource->namespaced && namespace_.length != 0 &&
		!bt_str_equal(namespace_, call->write.namespace_)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent "
			"on the request");
	}
	return true;
}

bool bt_call_refuse_precondition(
	struct bt_call *call, const char *what, struct bt_str wanted, struct bt_str found)
{
	struct bt_str text = bt_arena_printf(call->arena,
		"StorageError: invalid object, Code: 4, Key: /registry/%s/%.*s, "
		"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s in "
		"precondition: %.*s, %s in object meta: %.*s",
		call->write.resource->name, BT_STR_ARG(call->key), what, BT_STR_ARG(wanted), what,
		BT_STR_ARG(found));
	return bt_fail_conflict(
		&call->answer->failure, call->arena, call->write.resource, call->write.name, text);
}

bool bt_call_check_identity(struct bt_call *call, const struct bt_stored *stored,
	const struct bt_json_value *old, const struct bt_json_value *object,
	enum bt_body_source source)
{
	const struct bt_json_value *metadata = bt_json_object_at(object, "metadata");
	struct bt_str uid = bt_json_text_at(metadata, "uid");
	struct bt_str old_uid = bt_json_text_at(old, "metadata.uid");
	if (!check_name(call, metadata)) {
		return false;
	}
	if (uid.length != 0 && !bt_str_equal(uid, old_uid)) {
		if (source == BT_BODY_PATCHED) {
			struct bt_field_errors errors = {.arena = call->arena};
			bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("metadata.uid"),
				bt_json_find(metadata, "uid"), "field is immutable");
			return !bt_call_refuse_invalid(call, &errors);
		}
		return bt_call_refuse_precondition(call, "UID", uid, old_uid);
	}
	int64_t rv = bt_api_resource_version_of(metadata);
	bool needed = source == BT_BODY_OBJECT &&
		(call->write.resource->flags & BT_RESOURCE_NEEDS_VERSION) != 0;
	if (rv < 0 || (rv == 0 && needed)) {
		struct bt_field_errors errors = {.arena = call->arena};
		const struct bt_json_value *value = rv < 0
			? bt_json_find(metadata, "resourceVersion")
			: bt_json_new_int64(call->arena, 0);
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("metadata.resourceVersion"),
			value, rv < 0 ? "must be a number" : "must be specified for an update");
		/* unlike other messages, this one names the resource, not the kind */
		return bt_fail_invalid(&call->answer->failure, call->arena,
			bt_str_from(call->write.resource->group),
			bt_str_from(call->write.resource->name), call->write.name, &errors);
	}
	if (rv != 0 && (uint64_t)rv != stored->rv) {
		return bt_fail_conflict(&call->answer->failure, call->arena, call->write.resource,
			call->write.name,
			BT_STR("the object has been modified; please apply your changes to the "
			       "latest version and try again"));
	}
	return true;
}

/** --- parts taken from the stored object --- */

/** Sets object[name] to a copy of old[name], or removes it if old has none. */
static void take_member(struct bt_call *call, struct bt_json_value *object,
	const struct bt_json_value *old, const char *name)
{
	struct bt_json_value *value = bt_json_find(old, name);
	if (value != NULL) {
		bt_json_set_value(
			call->arena, object, name, bt_json_clone(call->arena, value, false));
	} else {
		(void)bt_json_remove_c(object, name);
	}
}

/** Combines the stored object with the part that the call writes. */
static struct bt_json_value *merge_parts(
	struct bt_call *call, const struct bt_json_value *old, struct bt_json_value *object)
{
	const struct bt_json_value *old_metadata = bt_json_object_at(old, "metadata");
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion",
		"generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kept); i++) {
		take_member(call, metadata, old_metadata, kept[i]);
	}
	(void)bt_json_remove_c(metadata, "selfLink");
	bool is_apply =
		call->write.verb == BT_VERB_PATCH && call->request->patch_type == BT_PATCH_APPLY;
	if (!is_apply && bt_json_find(metadata, "managedFields") == NULL) {
		take_member(call, metadata, old_metadata, "managedFields");
	}
	const struct bt_api_resource *resource = call->write.resource;
	if (call->write.subresource == BT_SUBRESOURCE_RESIZE ||
		call->write.subresource == BT_SUBRESOURCE_EPHEMERAL_CONTAINERS) {
		return bt_call_pod_part(call, old, object);
	}
	if (call->write.subresource == BT_SUBRESOURCE_STATUS ||
		call->write.subresource == BT_SUBRESOURCE_APPROVAL) {
		/*
		 * The subresources status and approval may also write labels and the other metadata
		 * in `all`, except in definitions and custom objects, and except ownerReferences in
		 * pods: spec 14 section 11.5.
		 */
		static const char *const all[] = {
			"labels", "annotations", "ownerReferences", "finalizers", "generateName"};
		if ((resource->flags & BT_RESOURCE_CUSTOM) != 0 ||
			resource == call->api->definitions) {
			for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
				take_member(call, metadata, old_metadata, all[i]);
			}
		} else if (resource == call->api->pods) {
			take_member(call, metadata, old_metadata, "ownerReferences");
		}
		struct bt_json_value *result = bt_json_copy(call->arena, old);
		bt_json_set_value(
			call->arena, result, "metadata", bt_json_find(object, "metadata"));
		struct bt_json_value *status = bt_json_find(object, "status");
		if (status != NULL) {
			bt_json_set_value(call->arena, result, "status", status);
		} else {
			(void)bt_json_remove_c(result, "status");
		}
		return result;
	}
	if ((resource->subresources & 1u << BT_SUBRESOURCE_STATUS) != 0) {
		take_member(call, object, old, "status");
	}
	return object;
}

/** --- generation --- */

/**
 * Returns true if the compared members are the same, so that the update keeps metadata.generation.
 * Most kinds compare spec. Custom objects and EndpointSlices compare all members except metadata
 * and, if there is a status subresource, status. EndpointSlices also compare the labels.
 */
static bool same_desired_state(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	const struct bt_api_resource *resource = call->write.resource;
	if ((resource->flags & BT_RESOURCE_CUSTOM) == 0 &&
		!bt_str_equal_c(bt_str_from(resource->name), "endpointslices")) {
		const struct bt_json_value *left = bt_json_find(old, "spec");
		const struct bt_json_value *right = bt_json_find(object, "spec");
		return left == NULL || right == NULL ? left == right : bt_json_same(left, right);
	}
	if ((resource->flags & BT_RESOURCE_CUSTOM) == 0 &&
		!bt_json_same(bt_json_object_at(old, "metadata.labels"),
			bt_json_object_at(object, "metadata.labels"))) {
		return false;
	}
	struct bt_json_value *a = bt_json_clone(call->arena, old, false);
	struct bt_json_value *b = bt_json_clone(call->arena, object, false);
	(void)bt_json_remove_c(a, "metadata");
	(void)bt_json_remove_c(b, "metadata");
	if ((resource->subresources & 1u << BT_SUBRESOURCE_STATUS) != 0) {
		(void)bt_json_remove_c(a, "status");
		(void)bt_json_remove_c(b, "status");
	}
	return bt_json_same(a, b);
}

/** --- validation --- */

/** Checks new finalizers: spec 14 section 11.5. */
static void check_finalizers(const struct bt_json_value *old, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_array_at(old, "metadata.finalizers");
	const struct bt_json_value *after = bt_json_array_at(object, "metadata.finalizers");
	struct bt_strbuf added = {0};
	if (bt_json_text_at(old, "metadata.deletionTimestamp").length == 0 || after->count == 0) {
		return;
	}
	struct bt_str *known =
		BT_ARENA_NEW_ARRAY(errors->arena, struct bt_str, (size_t)before->count + 1);
	for (uint32_t i = 0; i < before->count; i++) {
		known[i] = before->elements[i]->text;
	}
	qsort(known, before->count, sizeof(*known), bt_str_compare_qsort);
	for (uint32_t i = 0; i < after->count && added.length < NEW_FINALIZERS_BYTES_MAX; i++) {
		struct bt_str text = after->elements[i]->text;
		if (bsearch(&text, known, before->count, sizeof(text), bt_str_compare_qsort) ==
			NULL) {
			bt_strbuf_append_c(&added, added.length != 0 ? ", " : "");
			bt_strbuf_append_quoted(&added, text);
		}
	}
	if (added.length != 0) {
		bt_field_errors_add(errors, BT_FIELD_FORBIDDEN, BT_STR("metadata.finalizers"), NULL,
			"no new finalizers can be added if the object is being deleted, found new "
			"finalizers []string{%s}",
			bt_strbuf_c(&added));
	}
	bt_strbuf_finish(&added);
}

bool bt_call_validate(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	const struct bt_api_resource *resource = call->write.resource;
	struct bt_field_errors errors = {.arena = call->arena};
	if (call->request->checks_access &&
		!bt_rbac_check_escalation(call->api, call->write.user, resource,
			call->write.namespace_, call->write.name, old, object, call->arena,
			&call->answer->failure)) {
		return false;
	}
	if (call->request->checks_access && old != NULL &&
		bt_str_equal_c(BT_STR("certificatesigningrequests"), resource->name) &&
		!bt_rbac_check_signer(call->api, call->write.user, call->write.subresource,
			call->write.name, old, object, call->arena, &call->answer->failure)) {
		return false;
	}
	if (call->api->options.skip_validation) {
		bt_admit_validate(&call->write, old, object, &call->answer->failure);
		return call->answer->failure.code == 0;
	}
	if (old != NULL) {
		check_finalizers(old, object, &errors);
	}
	bt_kinds_validate(&call->write, old, object, &errors);
	if ((resource->flags & BT_RESOURCE_CUSTOM) != 0) {
		bt_custom_validate(resource, old, object, &errors);
	}
	if (call->write.from_cluster) {
		/* Snapshots leave out required fields that no scheduler reads, such as names of
		 * Secrets. */
		struct bt_field_error **link = &errors.first;
		while (*link != NULL) {
			if ((*link)->type == BT_FIELD_REQUIRED) {
				*link = (*link)->next;
				errors.count--;
			} else {
				link = &(*link)->next;
			}
		}
		errors.last = link;
	}
	if (bt_call_refuse_invalid(call, &errors)) {
		return false;
	}
	if (bt_str_has_suffix(bt_str_from(resource->kind), BT_STR("WebhookConfiguration")) &&
		strcmp(resource->group, "admissionregistration.k8s.io") == 0) {
		bt_call_warn(call, "no webhook is called: this API server does not run containers");
	}
	bt_call_warn_about(call, old, object);
	bt_admit_validate(&call->write, old, object, &call->answer->failure);
	return call->answer->failure.code == 0 && bt_node_restrict(call, old, object) &&
		bt_pod_security_check(call, old, object) &&
		bt_policies_validate(call, old != NULL ? "UPDATE" : "CREATE", old, object);
}

/** --- the new state --- */

bool bt_call_is_finished(const struct bt_call *call, const struct bt_json_value *object)
{
	if (bt_json_text_at(object, "metadata.deletionTimestamp").length == 0 ||
		bt_json_array_at(object, "metadata.finalizers")->count != 0 ||
		bt_json_int64_at(object, "metadata.deletionGracePeriodSeconds", 0) != 0) {
		return false;
	}
	return call->write.resource != call->api->namespaces ||
		bt_json_array_at(object, "spec.finalizers")->count == 0;
}

void bt_call_update_object(struct bt_call *call, struct bt_stored *stored,
	const struct bt_json_value *old, struct bt_json_value *object)
{
	const struct bt_strategy *strategy = call->write.resource->strategy;
	call->old = old;
	object = merge_parts(call, old, object);
	bt_kinds_remove_disabled(&call->write, old, object);
	if (!call->same_owners &&
		(call->write.verb != BT_VERB_PATCH ||
			call->request->patch_type != BT_PATCH_APPLY)) {
		/* before admission, because fields that admission sets have no manager */
		struct bt_apply_writer writer = bt_call_apply_writer(call);
		bt_apply_record_update(call->arena, &writer, old, object);
	}
	bt_admit(&call->write, old, object, &call->answer->failure);
	if (call->answer->failure.code != 0 || !bt_policies_mutate(call, old, object)) {
		return;
	}
	if (strategy->prepare_update != NULL) {
		strategy->prepare_update(&call->write, old, object);
	}
	if (call->write.resource == call->api->definitions) {
		bt_definition_prepare(call, object);
	}
	if ((call->write.resource->flags & BT_RESOURCE_GENERATION) != 0 &&
		call->write.subresource != BT_SUBRESOURCE_STATUS &&
		!same_desired_state(call, old, object)) {
		bt_json_set_int64(call->arena, bt_call_metadata(call, object), "generation",
			bt_json_int64_at(old, "metadata.generation", 0) + 1);
	}
	if (!bt_call_validate(call, old, object)) {
		return;
	}
	if (bt_call_is_finished(call, object)) {
		bt_call_remove(call, object);
		return;
	}
	if (bt_json_same(old, object)) {
		bt_call_answer_stored(call, stored, 200);
		return;
	}
	bt_call_store(call, stored, object, 200);
}

void bt_call_update(struct bt_call *call)
{
	struct bt_json_value *object = call->request->body;
	struct bt_stored *stored = bt_store_find(
		call->api->options.store, call->write.resource->collection, call->key);
	if (!bt_call_decode(call, object, BT_BODY_OBJECT)) {
		return;
	}
	if (stored == NULL) {
		bool creates = call->write.subresource == BT_SUBRESOURCE_NONE &&
			(call->write.resource->flags & BT_RESOURCE_CREATE_BY_UPDATE) != 0;
		if (!check_name(call, bt_json_object_at(object, "metadata"))) {
			return;
		}
		if (!creates ||
			bt_api_resource_version_of(bt_json_object_at(object, "metadata")) != 0) {
			bt_call_not_found(call);
			return;
		}
		call->write.verb = BT_VERB_CREATE;
		bt_call_create_object(call, object);
		return;
	}
	const struct bt_json_value *old = bt_call_parse(call, stored);
	if (bt_call_check_identity(call, stored, old, object, BT_BODY_OBJECT)) {
		bt_call_update_object(call, stored, old, object);
	}
}
