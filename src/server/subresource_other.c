/* SPDX-License-Identifier: Apache-2.0 */
/** The finalize subresource. Spec: 14 section 17. */
#include "codec/json_same.h"
#include "server/write.h"

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
