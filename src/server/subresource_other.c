/* SPDX-License-Identifier: Apache-2.0 */
/** Finalize, tokens, and connections that a simulated node does not take. Spec: 14 section 17. */
#include "api/time.h"
#include "base/nanoseconds.h"
#include "codec/json_same.h"
#include "server/write.h"

#define TOKEN_SECONDS_DEFAULT 3600
#define TOKEN_SECONDS_MAX (INT64_C(1) << 32)

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

/** --- tokens --- */

void bt_call_token(struct bt_call *call)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *body = call->request->body;
	if (bt_call_find(call) == NULL) {
		return;
	}
	if (body == NULL) {
		body = bt_json_new(arena, BT_JSON_OBJECT);
	}
	if (!bt_call_decode_as(
		    call, body, BT_STR("authentication.k8s.io/v1"), BT_STR("TokenRequest"))) {
		return;
	}
	struct bt_json_value *spec = bt_json_ensure_object(arena, body, "spec");
	int64_t seconds = bt_json_int64_at(spec, "expirationSeconds", TOKEN_SECONDS_DEFAULT);
	seconds = seconds < 600 ? 600 : seconds;
	seconds = seconds > TOKEN_SECONDS_MAX ? TOKEN_SECONDS_MAX : seconds;
	bt_json_set_int64(arena, spec, "expirationSeconds", seconds);
	struct bt_json_value *audiences = bt_json_ensure_array(arena, spec, "audiences");
	if (audiences->count == 0) {
		bt_json_append(arena, audiences,
			bt_json_new_c(arena, "https://kubernetes.default.svc.cluster.local"));
	}
	struct bt_json_value *metadata = bt_call_metadata(call, body);
	bt_json_set_str(arena, metadata, "name", call->write.name);
	bt_json_set_str(arena, metadata, "namespace", call->write.namespace_);
	bt_json_set_str(
		arena, metadata, "creationTimestamp", bt_time_text(arena, call->write.now_ns));
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	/* These tokens are not checked: only the server's own tokens authenticate. */
	struct bt_prng *prng = bt_api_prng(call->api);
	bt_json_set_str(arena, status, "token",
		bt_arena_printf(call->arena, "berth.%016llx%016llx%016llx%016llx",
			(unsigned long long)bt_prng_next(prng),
			(unsigned long long)bt_prng_next(prng),
			(unsigned long long)bt_prng_next(prng),
			(unsigned long long)bt_prng_next(prng)));
	bt_json_set_str(arena, status, "expirationTimestamp",
		bt_time_text(arena, call->write.now_ns + seconds * BT_NS_PER_SECOND));
	bt_json_set_value(arena, body, "status", status);
	bt_json_set_c(arena, body, "kind", "TokenRequest");
	bt_json_set_c(arena, body, "apiVersion", "authentication.k8s.io/v1");
	call->answer->document = body;
	call->answer->code = 201;
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
	const char *lack = "cannot be connected to";
	if (subresource == BT_SUBRESOURCE_LOG) {
		lack = "has no logs";
	}
	(void)bt_fail_bad_request(failure, call->arena,
		"container \"%.*s\" in pod \"%.*s\" %s: this is a simulated node",
		BT_STR_ARG(container), BT_STR_ARG(call->write.name), lack);
}
