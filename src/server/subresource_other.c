/* SPDX-License-Identifier: Apache-2.0 */
/** Finalize, and connections that a simulated node does not take. Spec: 14 section 17. */
#include "codec/json_same.h"
#include "server/write.h"

/** Annotation of pods: what the log of each container says. */
#define BT_ANNOTATION_LOG "berth.dev/log"

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

/** --- connections --- */

void bt_call_refuse_connection(struct bt_call *call)
{
	struct bt_stored *stored = bt_call_find(call);
	struct bt_failure *failure = &call->answer->failure;
	enum bt_subresource subresource = call->write.subresource;
	if (stored == NULL) {
		return;
	}
	if (subresource == BT_SUBRESOURCE_PROXY) {
		(void)bt_fail(failure, call->arena, 503, "ServiceUnavailable",
			"no endpoints available: this is a simulated node");
		return;
	}
	const struct bt_json_value *pod = bt_api_parse_stored(stored, call->arena);
	const struct bt_json_value *containers = bt_json_array_at(pod, "spec.containers");
	struct bt_str container = containers->count != 0
		? bt_json_text_at(containers->elements[0], "name")
		: BT_STR("");
	const struct bt_json_value *log =
		bt_json_find(bt_json_object_at(pod, "metadata.annotations"), BT_ANNOTATION_LOG);
	const char *lack = "cannot be connected to";
	if (subresource == BT_SUBRESOURCE_LOG && log != NULL) {
		call->answer->text = bt_arena_str(call->arena, log->text);
		call->answer->code = 200;
		return;
	}
	if (subresource == BT_SUBRESOURCE_LOG) {
		lack = "has no logs";
	}
	(void)bt_fail_bad_request(failure, call->arena,
		"container \"%.*s\" in pod \"%.*s\" %s: this is a simulated node",
		BT_STR_ARG(container), BT_STR_ARG(call->write.name), lack);
}
