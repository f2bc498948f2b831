/* SPDX-License-Identifier: Apache-2.0 */
/** Delete: grace, finalizers, preconditions. Spec: 14 section 13. */
#include "api/time.h"
#include "base/nanoseconds.h"
#include "server/write.h"

/** Longest grace period: more than thirty years, and too short to overflow. */
#define GRACE_SECONDS_MAX INT64_C(0x3fffffff)

/**
 * Checks a precondition (absent: none) on the object's UID or ResourceVersion. hint: why the object
 * may have another value. false: the call failed.
 */
static bool check_precondition(struct bt_call *call, const char *what, struct bt_str wanted,
	struct bt_str found, const char *hint)
{
	struct bt_failure *failure = &call->answer->failure;
	const char *kind = call->write.resource->kind;
	if (wanted.data == NULL || bt_str_equal(wanted, found)) {
		return true;
	}
	(void)bt_fail_about(failure, call->arena, call->write.resource, call->write.name, 409,
		"Conflict",
		"Operation cannot be fulfilled on %s \"%.*s\": the %s in the precondition (%.*s) "
		"does not match the %s in record (%.*s). The object might have been %s",
		kind, BT_STR_ARG(call->write.name), what, BT_STR_ARG(wanted), what,
		BT_STR_ARG(found), hint);
	failure->kind = bt_str_from(kind);
	return false;
}

/** Returns the grace period in the request; -1: none. */
static int64_t requested_grace(const struct bt_call *call)
{
	int64_t grace = call->request->grace_period_seconds;
	if (grace < -1) {
		return 1; /* a negative period counts as 1 second: spec 14 section 23, case 10 */
	}
	return BT_MIN(grace, GRACE_SECONDS_MAX);
}

static void set_deletion(
	struct bt_call *call, struct bt_json_value *object, int64_t deletion_ns, int64_t grace)
{
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	bt_json_set_str(
		call->arena, metadata, "deletionTimestamp", bt_time_text(call->arena, deletion_ns));
	if (call->write.resource != call->api->namespaces) {
		bt_json_set_int64(call->arena, metadata, "deletionGracePeriodSeconds", grace);
	}
}

/** --- finalizers of the garbage collector --- */

static void set_finalizer(
	struct bt_call *call, struct bt_json_value *metadata, const char *name, bool wanted)
{
	struct bt_json_value *finalizers = bt_json_find(metadata, "finalizers");
	bool is_list = finalizers != NULL && finalizers->type == BT_JSON_ARRAY;
	if (wanted && !(is_list && bt_json_has_text(finalizers, bt_str_from(name)))) {
		bt_json_append(call->arena,
			bt_json_ensure_array(call->arena, metadata, "finalizers"),
			bt_json_new_c(call->arena, name));
	} else if (!wanted && is_list) {
		bt_json_remove_text(finalizers, bt_str_from(name));
		if (finalizers->count == 0) {
			(void)bt_json_remove_c(metadata, "finalizers");
		}
	}
}

/** Adds or removes the garbage collector's finalizers: spec 14 section 13.3. */
static void set_propagation(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	enum bt_propagation propagation = call->request->propagation;
	if (propagation == BT_PROPAGATION_DEFAULT &&
		bt_str_equal_c(bt_str_from(call->write.resource->group), "batch") &&
		bt_str_equal_c(bt_str_from(call->write.resource->name), "jobs")) {
		propagation = BT_PROPAGATION_ORPHAN;
		bt_call_warn(call,
			"child pods are preserved by default when jobs are deleted; set "
			"propagationPolicy=Background to remove them or set "
			"propagationPolicy=Orphan to suppress this warning");
	}
	if (propagation == BT_PROPAGATION_DEFAULT ||
		bt_str_equal_c(bt_str_from(call->write.resource->name), "events")) {
		return;
	}
	set_finalizer(
		call, metadata, "foregroundDeletion", propagation == BT_PROPAGATION_FOREGROUND);
	set_finalizer(call, metadata, "orphan", propagation == BT_PROPAGATION_ORPHAN);
}

/** --- deletion --- */

static void remove_object(struct bt_call *call, struct bt_json_value *object)
{
	struct bt_str uid = bt_arena_str(call->arena, bt_json_text_at(object, "metadata.uid"));
	bt_call_remove(call, object);
	if ((call->write.resource->flags & BT_RESOURCE_ANSWERS_DELETED) == 0) {
		bt_api_answer_finish(call->answer);
		bt_call_answer_success(call, 200, uid);
	}
}

/** Handles the second and later deletions of an object: spec 14 section 13.2. */
static void delete_again(
	struct bt_call *call, struct bt_stored *stored, struct bt_json_value *object)
{
	struct bt_json_value *metadata = bt_call_metadata(call, object);
	int64_t pending = bt_json_int64_at(metadata, "deletionGracePeriodSeconds", 0);
	int64_t grace = requested_grace(call);
	if (bt_call_is_finished(call, object)) {
		remove_object(call, object);
		return;
	}
	if (call->write.resource != call->api->pods || grace < 0 || grace >= pending) {
		bt_call_answer_stored(call, stored, 200);
		return;
	}
	struct bt_time deletion;
	int64_t deletion_ns = call->write.now_ns + grace * BT_NS_PER_SECOND;
	if (bt_time_parse(bt_json_text_at(metadata, "deletionTimestamp"), &deletion, NULL) == 0) {
		deletion_ns = bt_ns_of_seconds(deletion.seconds - pending + grace);
	}
	set_deletion(call, object, deletion_ns, grace);
	if (bt_call_is_finished(call, object)) {
		remove_object(call, object);
	} else {
		bt_call_store(call, stored, object, 200);
	}
}

void bt_call_delete(struct bt_call *call)
{
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
		return;
	}
	if (call->write.resource == call->api->namespaces &&
		bt_str_has_word(BT_STR("default kube-system kube-public"), call->write.name)) {
		(void)bt_fail_forbidden(&call->answer->failure, call->arena, call->write.resource,
			call->write.name, BT_STR("this namespace may not be deleted"));
		return;
	}
	struct bt_json_value *object = bt_call_parse(call, stored);
	if (!check_precondition(call, "UID", call->request->precondition_uid,
		    bt_json_text_at(object, "metadata.uid"), "deleted and then recreated") ||
		!check_precondition(call, "ResourceVersion", call->request->precondition_rv,
			bt_json_text_at(object, "metadata.resourceVersion"), "modified") ||
		!bt_node_restrict(call, object, NULL) ||
		!bt_policies_validate(call, "DELETE", object, NULL)) {
		return;
	}
	if (bt_json_text_at(object, "metadata.deletionTimestamp").length != 0) {
		delete_again(call, stored, object);
		return;
	}
	set_propagation(call, object);
	/* The grace period of the deletion: spec 14 section 13.1. */
	struct bt_str phase = bt_json_text_at(object, "status.phase");
	int64_t grace = requested_grace(call);
	if (call->write.resource != call->api->pods ||
		bt_json_text_at(object, "spec.nodeName").length == 0 ||
		bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed")) {
		grace = 0;
	} else if (grace < 0) {
		grace = bt_json_int64_at(object, "spec.terminationGracePeriodSeconds", 0);
		grace = grace < 0 ? 1 : BT_MIN(grace, GRACE_SECONDS_MAX);
	}
	if (grace > 0 ||
		(bt_json_array_at(object, "metadata.finalizers")->count != 0 ||
			(call->write.resource == call->api->namespaces &&
				bt_json_array_at(object, "spec.finalizers")->count != 0))) {
		struct bt_json_value *metadata = bt_call_metadata(call, object);
		int64_t generation = bt_json_int64_at(metadata, "generation", 0);
		set_deletion(call, object, call->write.now_ns + grace * BT_NS_PER_SECOND, grace);
		if (generation > 0) {
			bt_json_set_int64(call->arena, metadata, "generation", generation + 1);
		}
		if (call->write.resource == call->api->namespaces) {
			bt_json_set_c(call->arena,
				bt_json_ensure_object(call->arena, object, "status"), "phase",
				"Terminating");
		}
		bt_call_store(call, stored, object, 200);
		if (call->write.resource == call->api->definitions && !call->write.dry_run) {
			bt_definition_delete_objects(call);
		}
		return;
	}
	if (call->write.resource == call->api->pods) {
		set_deletion(call, object, call->write.now_ns, 0);
	}
	remove_object(call, object);
}

/** The finalize subresource. Spec: 14 section 17. */

void bt_call_finalize(struct bt_call *call)
{
	struct bt_json_value *object = call->request->body;
	if (!bt_call_decode(call, object, BT_BODY_OBJECT)) {
		return;
	}
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
		return;
	}
	const struct bt_json_value *old = bt_call_parse(call, stored);
	if (!bt_call_check_identity(call, stored, old, object, BT_BODY_OBJECT)) {
		return;
	}
	struct bt_json_value *result = bt_json_clone(call->arena, old, false);
	struct bt_json_value *spec = bt_json_ensure_object(call->arena, result, "spec");
	struct bt_json_value *finalizers = bt_json_find_path(object, "spec.finalizers");
	if (finalizers != NULL) {
		bt_json_set_value(call->arena, spec, "finalizers", finalizers);
	} else {
		(void)bt_json_remove_c(spec, "finalizers");
	}
	if (bt_call_is_finished(call, result)) {
		bt_call_remove(call, result);
	} else if (bt_json_same(old, result)) {
		bt_call_answer_stored(call, stored, 200);
	} else {
		bt_call_store(call, stored, result, 200);
	}
}
