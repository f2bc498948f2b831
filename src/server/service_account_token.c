/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service_account_token.h"

#include "api/time.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "base/text_set.h"
#include "codec/base64.h"
#include "net/jwt.h"
#include "server/rbac.h"
#include "server/write.h"

#define LEGACY_ISSUER "kubernetes/serviceaccount"
#define LEGACY_CLAIM LEGACY_ISSUER "/"
#define SECONDS_DEFAULT 3600
#define SECONDS_MIN 600
#define SECONDS_MAX (INT64_C(1) << 32)
/**
 * Tokens stay valid for this long after the deletionTimestamp of the account or the bound object,
 * so that a pod can shut down properly.
 */
#define DELETION_SECONDS 60
/** Number of slots for cached tokens. A power of two. */
#define CACHE_SLOTS 256

/** The claims of a token. */
struct claims {
	bool is_legacy;
	struct bt_str namespace_;
	struct bt_str account;
	struct bt_str account_uid;
	struct bt_str secret;
	struct bt_str secret_uid;
	struct bt_str pod;
	struct bt_str pod_uid;
	struct bt_str node;
	struct bt_str node_uid;
	struct bt_str id;
	int64_t expires_seconds;
	int64_t from_seconds;
	const struct bt_json_value *audiences;
};

/**
 * A cached token with a verified signature. Verifying takes longer than all other work of a
 * request. Expiry and bound objects are still checked at each use.
 */
struct slot {
	struct bt_arena arena;
	struct bt_str token; /* "": empty */
	struct claims claims;
	/** RVs of the account and the bound object when their uids last matched the claims. */
	uint64_t account_rv;
	uint64_t bound_rv;
};

struct bt_tokens {
	struct bt_jwt_key *key; /* NULL: not needed yet */
	struct slot slots[CACHE_SLOTS];
};

struct bt_tokens *bt_tokens_create(void)
{
	return BT_NEW(struct bt_tokens);
}

void bt_tokens_destroy(struct bt_tokens *tokens)
{
	if (tokens == NULL) {
		return;
	}
	for (uint32_t i = 0; i < CACHE_SLOTS; i++) {
		bt_arena_finish(&tokens->slots[i].arena);
	}
	bt_jwt_key_destroy(tokens->key);
	bt_free(tokens);
}

/** Gets the key from the options, or else a key generated at first use. */
static int get_key(struct bt_api *api, struct bt_jwt_key **out_key, struct berth_error *err)
{
	const char *pem = api->options.service_account_key;
	if (api->tokens->key == NULL) {
		int result = bt_jwt_key_create(
			bt_str_from(pem != NULL ? pem : ""), &api->tokens->key, err);
		if (result < 0) {
			return result;
		}
	}
	*out_key = api->tokens->key;
	return 0;
}

/** --- creating tokens --- */

static int sign(struct bt_api *api, const struct bt_json_value *claims, struct bt_arena *arena,
	struct bt_str *out_token, struct berth_error *err)
{
	struct bt_jwt_key *key;
	int result = get_key(api, &key, err);
	if (result < 0) {
		return result;
	}
	struct bt_strbuf payload = {0};
	struct bt_strbuf token = {0};
	bt_json_format(claims, &payload);
	result = bt_jwt_sign(key, bt_strbuf_str(&payload), &token, err);
	if (result == 0) {
		*out_token = bt_arena_str(arena, bt_strbuf_str(&token));
	}
	bt_strbuf_finish(&payload);
	bt_strbuf_finish_wiped(&token);
	return result;
}

int bt_api_legacy_token(struct bt_api *api, struct bt_str account_key, struct bt_str secret_name,
	struct bt_arena *arena, struct bt_str *out_token, struct berth_error *err)
{
	const struct bt_json_value *account = bt_api_read(api,
		bt_resources_builtin(api->resources, "", "serviceaccounts"), account_key, arena);
	struct bt_str namespace_ = bt_key_namespace(account_key);
	struct bt_str name = bt_key_name(account_key);
	if (account == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "serviceaccount \"%.*s\" not found",
			BT_STR_ARG(name));
	}
	const struct bt_json_value *claims = bt_json_put(arena, NULL,
		"{iss: '" LEGACY_ISSUER "', " LEGACY_CLAIM "namespace: %s, " LEGACY_CLAIM
		"secret.name: %s, " LEGACY_CLAIM "service-account.name: %s, " LEGACY_CLAIM
		"service-account.uid: %s, sub: %s}",
		namespace_, secret_name, name, bt_json_text_at(account, "metadata.uid"),
		bt_account_user_name(arena, namespace_, name));
	return sign(api, claims, arena, out_token, err);
}

/** Adds to the claims the object that the token is bound to; false: the call failed. */
static bool bind_token(struct bt_call *call, const struct bt_json_value *reference,
	struct bt_json_value *own_claims)
{
	static const struct {
		const char *kind;
		const char *resource;
		const char *claim;
		bool namespaced;
	} kinds[] = {{"Pod", "pods", "pod", true}, {"Secret", "secrets", "secret", true},
		{"Node", "nodes", "node", false}};
	struct bt_arena *arena = call->arena;
	struct bt_failure *failure = &call->answer->failure;
	struct bt_str kind = bt_json_text_at(reference, "kind");
	struct bt_str version = bt_json_text_at(reference, "apiVersion");
	struct bt_str name = bt_json_text_at(reference, "name");
	struct bt_str uid = bt_json_text_at(reference, "uid");
	size_t k = 0;
	while (k < BT_ARRAY_LENGTH(kinds) && !bt_str_equal_c(kind, kinds[k].kind)) {
		k++;
	}
	if (k == BT_ARRAY_LENGTH(kinds) || !bt_str_equal_c(version, "v1")) {
		return bt_call_refuse(call, 400, "BadRequest",
			"cannot bind token to object of type %.*s, Kind=%.*s", BT_STR_ARG(version),
			BT_STR_ARG(kind));
	}
	const struct bt_api_resource *resource =
		bt_resources_builtin(call->api->resources, "", kinds[k].resource);
	struct bt_str namespace_ = kinds[k].namespaced ? call->write.namespace_ : BT_STR("");
	const struct bt_json_value *object =
		bt_api_read(call->api, resource, bt_api_key(arena, namespace_, name), arena);
	if (name.length == 0 || object == NULL) {
		return bt_fail_not_found(failure, arena, resource, name);
	}
	struct bt_str own_uid = bt_json_text_at(object, "metadata.uid");
	if (uid.length != 0 && !bt_str_equal(uid, own_uid)) {
		struct bt_str text = bt_arena_printf(arena,
			"the UID in the bound object reference (%.*s) does not match the UID in "
			"record. The object might have been deleted and then recreated",
			BT_STR_ARG(uid));
		return bt_fail_conflict(failure, arena, resource, name, text);
	}
	bt_json_put(arena, own_claims, "{%c: {name: %s, uid: %s}}", kinds[k].claim, name, own_uid);
	if (!bt_str_equal_c(kind, "Pod")) {
		return true;
	}
	struct bt_str node_name = bt_json_text_at(object, "spec.nodeName");
	if (!bt_str_equal(bt_json_text_at(object, "spec.serviceAccountName"), call->write.name)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"cannot bind token for serviceaccount \"%.*s\" to pod running with "
			"different serviceaccount name.",
			BT_STR_ARG(call->write.name));
	}
	if (node_name.length != 0) {
		const struct bt_json_value *node =
			bt_api_read(call->api, call->api->nodes, node_name, arena);
		bt_json_put(arena, own_claims, "{node: {name: %s, uid: %s}}", node_name,
			bt_json_text_at(node, "metadata.uid"));
	}
	return true;
}

void bt_call_token(struct bt_call *call)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *body = call->request->body;
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
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
	struct bt_json_value *given = bt_json_find(spec, "expirationSeconds");
	int64_t seconds = bt_json_int64_at(spec, "expirationSeconds", SECONDS_DEFAULT);
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) {
		struct bt_field_errors errors = {.arena = call->arena};
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("spec.expirationSeconds"),
			given, "may not specify a duration %s",
			seconds < SECONDS_MIN ? "less than 10 minutes"
					      : "larger than 2^32 seconds");
		(void)bt_fail_invalid(&call->answer->failure, arena,
			BT_STR("authentication.k8s.io"), BT_STR("TokenRequest"), BT_STR(""),
			&errors);
		return;
	}
	bt_json_set_int64(arena, spec, "expirationSeconds", seconds);
	struct bt_json_value *audiences = bt_json_ensure_array(arena, spec, "audiences");
	if (audiences->count == 0) {
		bt_json_append(arena, audiences, bt_json_new_c(arena, BT_TOKEN_ISSUER));
	}
	const struct bt_json_value *account = bt_api_parse_stored(stored, arena);
	int64_t now_seconds = call->write.now_ns / BT_NS_PER_SECOND;
	struct bt_json_value *claims = bt_json_put(arena, NULL,
		"{aud: %v, exp: %d, iat: %d, iss: %c, jti: %s, kubernetes.io: {namespace: %s}, "
		"nbf: %d, sub: %s}",
		audiences, now_seconds + seconds, now_seconds, BT_TOKEN_ISSUER,
		bt_api_new_uid(call->api, arena), call->write.namespace_, now_seconds,
		bt_account_user_name(arena, call->write.namespace_, call->write.name));
	struct bt_json_value *own = bt_json_find(claims, "kubernetes.io");
	const struct bt_json_value *reference = bt_json_find(spec, "boundObjectRef");
	if (!bt_node_restrict_token(call, reference) ||
		!bt_policies_validate(call, "CREATE", NULL, body)) {
		return;
	}
	if (reference != NULL && reference->type == BT_JSON_OBJECT &&
		!bind_token(call, reference, own)) {
		return;
	}
	bt_json_put(arena, own, "{serviceaccount: {name: %s, uid: %s}}", call->write.name,
		bt_json_text_at(account, "metadata.uid"));
	struct bt_str token;
	struct berth_error err = BERTH_ERROR_INIT;
	if (sign(call->api, claims, arena, &token, &err) < 0) {
		(void)bt_call_refuse(call, 500, "InternalError", "Internal error occurred: %s",
			berth_error_message(&err));
		berth_error_finish(&err);
		return;
	}
	(void)bt_json_remove_c(body, "status");
	bt_json_put(arena, body,
		"{metadata: {name: %s, namespace: %s, creationTimestamp: %s}, status: {token: %s, "
		"expirationTimestamp: %s}, kind: 'TokenRequest', "
		"apiVersion: 'authentication.k8s.io/v1'}",
		call->write.name, call->write.namespace_, bt_time_text(arena, call->write.now_ns),
		token, bt_time_text(arena, (now_seconds + seconds) * BT_NS_PER_SECOND));
	call->answer->document = body;
	call->answer->code = 201;
}

/** --- checking tokens --- */

/**
 * Verifies the token and returns the slot with its claims. NULL: the signature is invalid, or
 * another issuer created the token.
 */
static struct slot *find_claims(struct bt_api *api, struct bt_str token, struct bt_arena *arena)
{
	struct slot *slot = &api->tokens->slots[bt_str_hash(token) % CACHE_SLOTS];
	struct bt_jwt_key *key;
	struct bt_str text;
	struct bt_json_value *payload;
	if (slot->token.length != 0 && bt_str_equal(slot->token, token)) {
		return slot;
	}
	/* Verify before resetting the slot: an invalid token must not evict a valid one. */
	if (get_key(api, &key, NULL) < 0 || !bt_jwt_verify(key, token, arena, &text)) {
		return NULL;
	}
	bt_arena_reset(&slot->arena);
	slot->token = BT_STR("");
	if (bt_json_parse(&slot->arena, text, true, &payload, NULL) != 0) {
		return NULL;
	}
	struct bt_str issuer = bt_json_find_str(payload, "iss");
	const struct bt_json_value *own = bt_json_find(payload, "kubernetes.io");
	if (bt_str_equal_c(issuer, LEGACY_ISSUER)) {
		slot->claims = (struct claims){
			.is_legacy = true,
			.namespace_ = bt_json_find_str(payload, LEGACY_CLAIM "namespace"),
			.secret = bt_json_find_str(payload, LEGACY_CLAIM "secret.name"),
			.account = bt_json_find_str(payload, LEGACY_CLAIM "service-account.name"),
			.account_uid =
				bt_json_find_str(payload, LEGACY_CLAIM "service-account.uid"),
			.expires_seconds = INT64_MAX,
		};
	} else if (bt_str_equal_c(issuer, BT_TOKEN_ISSUER)) {
		slot->claims = (struct claims){
			.namespace_ = bt_json_find_str(own, "namespace"),
			.account = bt_json_text_at(own, "serviceaccount.name"),
			.account_uid = bt_json_text_at(own, "serviceaccount.uid"),
			.secret = bt_json_text_at(own, "secret.name"),
			.secret_uid = bt_json_text_at(own, "secret.uid"),
			.pod = bt_json_text_at(own, "pod.name"),
			.pod_uid = bt_json_text_at(own, "pod.uid"),
			.node = bt_json_text_at(own, "node.name"),
			.node_uid = bt_json_text_at(own, "node.uid"),
			.id = bt_json_find_str(payload, "jti"),
			.expires_seconds = bt_json_int64_at(payload, "exp", 0),
			.from_seconds = bt_json_int64_at(payload, "nbf", 0),
			.audiences = bt_json_array_at(payload, "aud"),
		};
	} else {
		return NULL; /* another issuer's token */
	}
	slot->token = bt_arena_str(&slot->arena, token);
	slot->account_rv = 0;
	slot->bound_rv = 0;
	return slot;
}

/**
 * Returns whether the object exists and has this uid. An object that is being deleted counts until
 * DELETION_SECONDS after its deletionTimestamp. *seen_rv: RV at which the object last had this uid
 * and no deletionTimestamp; at that RV the object is not parsed again.
 */
static bool object_exists(struct bt_api *api, const char *resource_name, struct bt_str key,
	struct bt_str uid, struct bt_arena *arena, uint64_t *seen_rv)
{
	const struct bt_api_resource *resource =
		bt_resources_builtin(api->resources, "", resource_name);
	const struct bt_stored *stored =
		bt_store_find(api->options.store, resource->collection, key);
	if (stored == NULL) {
		return false;
	}
	if (stored->rv == *seen_rv) {
		return true;
	}
	const struct bt_json_value *object = bt_api_parse_stored(stored, arena);
	struct bt_time deleted;
	struct bt_str deletion = bt_json_text_at(object, "metadata.deletionTimestamp");
	if (!bt_str_equal(bt_json_text_at(object, "metadata.uid"), uid)) {
		return false;
	}
	if (deletion.length == 0) {
		*seen_rv = stored->rv;
		return true;
	}
	return bt_time_parse(deletion, &deleted, NULL) == 0 &&
		bt_api_now_ns(api) / BT_NS_PER_SECOND < deleted.seconds + DELETION_SECONDS;
}

/** Returns why the token is not valid now; NULL: the token is valid. */
static const char *find_problem(struct bt_api *api, struct slot *slot, struct bt_arena *arena)
{
	const struct claims *claims = &slot->claims;
	int64_t now_seconds = bt_api_now_ns(api) / BT_NS_PER_SECOND;
	if (now_seconds >= claims->expires_seconds) {
		return "service account token has expired";
	}
	if (now_seconds < claims->from_seconds) {
		return "service account token is not valid yet";
	}
	if (!object_exists(api, "serviceaccounts",
		    bt_api_key(arena, claims->namespace_, claims->account), claims->account_uid,
		    arena, &slot->account_rv)) {
		return "service account token has been invalidated";
	}
	bool is_bound = true;
	if (claims->is_legacy) {
		/* The Secret must still contain the same token. */
		const struct bt_json_value *secret =
			bt_api_read(api, bt_resources_builtin(api->resources, "", "secrets"),
				bt_api_key(arena, claims->namespace_, claims->secret), arena);
		struct bt_str kept;
		is_bound = secret != NULL &&
			bt_str_equal_c(bt_json_find_str(secret, "type"),
				"kubernetes.io/service-account-token") &&
			bt_json_text_at(secret, "metadata.deletionTimestamp").length == 0 &&
			bt_base64_decode(
				bt_json_text_at(secret, "data.token"), arena, &kept, NULL) == 0 &&
			bt_str_equal(kept, slot->token);
	} else if (claims->pod.length != 0) {
		is_bound = object_exists(api, "pods",
			bt_api_key(arena, claims->namespace_, claims->pod), claims->pod_uid, arena,
			&slot->bound_rv);
	} else if (claims->secret.length != 0) {
		is_bound = object_exists(api, "secrets",
			bt_api_key(arena, claims->namespace_, claims->secret), claims->secret_uid,
			arena, &slot->bound_rv);
	} else if (claims->node.length != 0) {
		is_bound = object_exists(
			api, "nodes", claims->node, claims->node_uid, arena, &slot->bound_rv);
	}
	return is_bound ? NULL : "service account token has been invalidated";
}

bool bt_api_authenticate_token(struct bt_api *api, struct bt_str token,
	const struct bt_json_value *audiences, struct bt_arena *arena, struct bt_user *out_user,
	struct bt_json_value **out_audiences, const char **out_problem)
{
	struct slot *slot = find_claims(api, token, arena);
	const char *problem = slot == NULL ? "" : find_problem(api, slot, arena);
	if (problem == NULL) {
		/* The audience of legacy tokens is the API server. */
		struct bt_json_value *own = bt_json_new(arena, BT_JSON_ARRAY);
		bt_json_append(arena, own, bt_json_new_c(arena, BT_TOKEN_ISSUER));
		const struct bt_json_value *wanted =
			audiences != NULL && audiences->count != 0 ? audiences : own;
		const struct bt_json_value *given =
			slot->claims.is_legacy ? own : slot->claims.audiences;
		struct bt_text_set known = {0}; /* clients choose the lengths of both lists */
		for (uint32_t i = 0; i < given->count; i++) {
			if (given->elements[i]->type == BT_JSON_STRING) {
				(void)bt_text_set_add(&known, given->elements[i]->text);
			}
		}
		*out_audiences = bt_json_new(arena, BT_JSON_ARRAY);
		for (uint32_t i = 0; i < wanted->count; i++) {
			if (wanted->elements[i]->type == BT_JSON_STRING &&
				bt_text_set_has(&known, wanted->elements[i]->text)) {
				bt_json_append(arena, *out_audiences,
					bt_json_new_str(arena,
						bt_arena_str(arena, wanted->elements[i]->text)));
			}
		}
		bt_text_set_finish(&known);
		problem = (*out_audiences)->count != 0
			? NULL
			: "token audiences do not match what is asked for";
	}
	if (problem != NULL) {
		if (out_problem != NULL) {
			*out_problem = problem;
		}
		return false;
	}
	const struct claims *claims = &slot->claims;
	struct bt_str *groups = BT_ARENA_NEW_ARRAY(arena, struct bt_str, 3);
	struct bt_user_extra *extras = BT_ARENA_NEW_ARRAY(arena, struct bt_user_extra, 5);
	groups[0] = BT_STR("system:serviceaccounts");
	groups[1] = bt_arena_printf(
		arena, "system:serviceaccounts:%.*s", BT_STR_ARG(claims->namespace_));
	groups[2] = BT_STR("system:authenticated");
	*out_user = (struct bt_user){
		.name = bt_account_user_name(arena, claims->namespace_, claims->account),
		.uid = bt_arena_str(arena, claims->account_uid),
		.group_count = 3,
		.groups = groups,
		.extras = extras,
	};
	struct bt_str id = claims->id;
	if (id.length != 0) {
		id = bt_arena_printf(arena, "JTI=%.*s", BT_STR_ARG(claims->id));
	}
	const struct bt_user_extra all[] = {
		{BT_STR("authentication.kubernetes.io/credential-id"), id},
		{BT_STR("authentication.kubernetes.io/node-name"), claims->node},
		{BT_STR("authentication.kubernetes.io/node-uid"), claims->node_uid},
		{BT_STR("authentication.kubernetes.io/pod-name"), claims->pod},
		{BT_STR("authentication.kubernetes.io/pod-uid"), claims->pod_uid},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		if (all[i].value.length != 0) {
			extras[out_user->extra_count++] = (struct bt_user_extra){
				all[i].key, bt_arena_str(arena, all[i].value)};
		}
	}
	return true;
}

/** --- documents for verifying tokens --- */

struct bt_json_value *bt_openid_keys(struct bt_api *api, struct bt_arena *arena)
{
	struct bt_jwt_key *key;
	if (get_key(api, &key, NULL) < 0) {
		return NULL;
	}
	struct bt_jwt_public public_ = bt_jwt_key_public(key);
	return bt_json_put(arena, NULL,
		"{keys: [{use: 'sig', kty: 'EC', kid: %s, crv: 'P-256', alg: 'ES256', x: %s, "
		"y: %s}]}",
		public_.id, public_.x, public_.y);
}
