/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of ServiceAccounts: claims, lifetime, revocation, and other ways to authenticate. */
#include <stdio.h>

#include "../test_main.h"
#include "api/time.h"
#include "codec/base64.h"
#include "codec/json_edit.h"
#include "front_fixture.h"
#include "net/jwt.h"

#define REVIEW "/apis/authentication.k8s.io/v1/tokenreviews"
#define SELF "/apis/authentication.k8s.io/v1/selfsubjectreviews"
#define ACCOUNT "/api/v1/namespaces/default/serviceaccounts/robot"

static const struct bt_str masters[] = {
	BT_STR_INIT("system:masters"), BT_STR_INIT("system:authenticated")};
static const struct bt_front_token admin = {
	"admin", {.name = BT_STR_INIT("admin"), .group_count = 2, .groups = masters}};

static char token[4096];

static void must(struct front_fixture *f, const char *method, const char *target, const char *body)
{
	uint16_t code = front_ask_as(f, "admin", method, target, body);
	ck_assert_msg(
		code == 200 || code == 201, "%s %s: %u %s", method, target, code, front_body(f));
}

static void setup(struct front_fixture *f)
{
	struct bt_front_options options = {
		.certificate_pem = "", .tokens = &admin, .token_count = 1};
	front_fixture_init(f, &options);
	must(f, "POST", "/api/v1/namespaces/default/serviceaccounts",
		"{'metadata':{'name':'robot'}}");
}

/** Requests a token and stores it in `token`. */
static void request_token(struct front_fixture *f, const char *spec)
{
	char body[512];
	(void)snprintf(body, sizeof(body), "{'spec':{%s}}", spec);
	must(f, "POST", ACCOUNT "/token", body);
	struct bt_arena arena = {0};
	struct bt_json_value *answer;
	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(front_body(f)), true, &answer, NULL), 0);
	struct bt_str text = bt_json_text_at(answer, "status.token");
	ck_assert_uint_lt(text.length, sizeof(token));
	(void)snprintf(token, sizeof(token), "%.*s", BT_STR_ARG(text));
	bt_arena_finish(&arena);
}

static bool is_good(struct front_fixture *f)
{
	uint16_t code = front_ask_as(f, token, "POST", SELF, "{}");
	ck_assert_msg(code == 201 || code == 401, "%u %s", code, front_body(f));
	return code == 201;
}

static const char *review(struct front_fixture *f, const char *audiences)
{
	char body[5000];
	(void)snprintf(
		body, sizeof(body), "{'spec':{'token':'%s','audiences':[%s]}}", token, audiences);
	must(f, "POST", REVIEW, body);
	return front_body(f);
}

START_TEST(test_tokens__users)
{
	struct front_fixture f;
	setup(&f);
	request_token(&f, "");
	ck_assert(is_good(&f));
	ck_assert_ptr_nonnull(
		strstr(front_body(&f), "\"username\":\"system:serviceaccount:default:robot\""));
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"\"groups\":[\"system:serviceaccounts\",\"system:serviceaccounts:default\","
		"\"system:authenticated\"]"));
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"JTI="));
	/* The account has exactly the permissions that RBAC gives it. */
	ck_assert_uint_eq(
		front_ask_as(&f, token, "GET", "/api/v1/namespaces/default/pods", NULL), 403);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"User \\\"system:serviceaccount:default:robot\\\" cannot list resource"));
	ck_assert_uint_eq(front_ask_as(&f, token, "GET", "/openid/v1/jwks", NULL), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&f), "{\"keys\":[{\"use\":\"sig\",\"kty\":\"EC\""));
	ck_assert_uint_eq(
		front_ask_as(&f, token, "GET", "/.well-known/openid-configuration", NULL), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"{\"issuer\":\"https://kubernetes.default.svc.cluster.local\",\"jwks_uri\":"));
	must(&f, "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		"{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'ClusterRole','name':'cluster-admin'},'subjects':["
		"{'kind':'ServiceAccount','name':'robot','namespace':'default'}]}");
	ck_assert_uint_eq(
		front_ask_as(&f, token, "GET", "/api/v1/namespaces/default/pods", NULL), 200);
	ck_assert_uint_eq(front_ask_as(&f, token, "GET", "/api/v1/pods", NULL), 403);
	front_fixture_finish(&f);
}
END_TEST

/* A CertificateSigningRequest has all that is known about its requester. */
START_TEST(test_tokens__requesters_of_certificates)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		"{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'ClusterRole','name':'cluster-admin'},'subjects':["
		"{'kind':'ServiceAccount','name':'robot','namespace':'default'}]}");
	request_token(&f, "");
	ck_assert_uint_eq(
		front_ask_as(&f, token, "POST",
			"/apis/certificates.k8s.io/v1/certificatesigningrequests",
			"{'metadata':{'name':'r'},'spec':{'request':'"
			"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0=','signerName':"
			"'example.com/x','usages':['client auth'],'extra':{'forged':['x']}}}"),
		201);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"JTI="));
	front_fixture_finish(&f);
}
END_TEST

START_TEST(test_tokens__expire)
{
	struct front_fixture f;
	setup(&f);
	request_token(&f, "'expirationSeconds':600");
	ck_assert_ptr_nonnull(
		strstr(front_body(&f), "\"expirationTimestamp\":\"2026-11-21T12:10:00Z\""));
	f.now_ns += INT64_C(599) * 1000000000;
	ck_assert(is_good(&f));
	f.now_ns += INT64_C(1000000000);
	ck_assert(!is_good(&f));
	ck_assert_ptr_nonnull(strstr(review(&f, ""),
		"\"authenticated\":false,\"error\":\"[invalid bearer token, service account token "
		"has expired]\""));
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", ACCOUNT "/token",
				  "{'spec':{'expirationSeconds':599}}"),
		422);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"spec.expirationSeconds: Invalid value: 599: may not specify a duration less than "
		"10 minutes"));
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", ACCOUNT "/token",
				  "{'spec':{'expirationSeconds':4294967297}}"),
		422);
	ck_assert_uint_eq(
		front_ask_as(&f, "admin", "POST",
			"/api/v1/namespaces/default/serviceaccounts/none/token", "{'spec':{}}"),
		404);
	front_fixture_finish(&f);
}
END_TEST

START_TEST(test_tokens__audiences)
{
	struct front_fixture f;
	setup(&f);
	request_token(&f, "'audiences':['vault','shop']");
	ck_assert(!is_good(&f));
	ck_assert_ptr_nonnull(strstr(review(&f, ""), "\"authenticated\":false"));
	ck_assert_ptr_nonnull(strstr(review(&f, "'shop','x'"), "\"audiences\":[\"shop\"]"));
	ck_assert_ptr_nonnull(strstr(review(&f, "'x'"), "\"authenticated\":false"));
	request_token(&f, "");
	ck_assert_ptr_nonnull(strstr(review(&f, "'vault'"), "\"authenticated\":false"));
	front_fixture_finish(&f);
}
END_TEST

#define POD(account) \
	"{'metadata':{'name':'p'},'spec':{'serviceAccountName':'" account \
	"','terminationGracePeriodSeconds':0,'containers':[{'name':'c','image':'i'}]}}"
#define PODS "/api/v1/namespaces/default/pods"
#define TO_POD "'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p'}"

START_TEST(test_tokens__bound_to_pods_and_accounts)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", PODS, POD("robot"));
	request_token(&f, TO_POD);
	ck_assert(is_good(&f));
	ck_assert_ptr_nonnull(
		strstr(front_body(&f), "\"authentication.kubernetes.io/pod-name\":[\"p\"]"));
	must(&f, "DELETE", PODS "/p", NULL);
	ck_assert(!is_good(&f));
	/* A new pod of the same name does not make the token valid again. */
	must(&f, "POST", PODS, POD("robot"));
	ck_assert(!is_good(&f));
	ck_assert_ptr_nonnull(strstr(review(&f, ""), "token has been invalidated"));
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", ACCOUNT "/token",
				  "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1',"
				  "'name':'p','uid':'other'}}}"),
		409);
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", ACCOUNT "/token",
				  "{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1',"
				  "'name':'q'}}}"),
		404);
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", ACCOUNT "/token",
				  "{'spec':{'boundObjectRef':{'kind':'ConfigMap','apiVersion':'v1',"
				  "'name':'q'}}}"),
		400);
	must(&f, "DELETE", PODS "/p", NULL);
	must(&f, "POST", "/api/v1/namespaces/default/serviceaccounts",
		"{'metadata':{'name':'other'}}");
	must(&f, "POST", PODS, POD("other"));
	ck_assert_uint_eq(
		front_ask_as(&f, "admin", "POST", ACCOUNT "/token", "{'spec':{" TO_POD "}}"), 400);
	/* Tokens bound to a Secret and to a node. */
	must(&f, "POST", "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'s'}}");
	request_token(&f, "'boundObjectRef':{'kind':'Secret','apiVersion':'v1','name':'s'}");
	ck_assert(is_good(&f));
	must(&f, "DELETE", "/api/v1/namespaces/default/secrets/s", NULL);
	ck_assert(!is_good(&f));
	must(&f, "POST", "/api/v1/nodes", "{'metadata':{'name':'n'}}");
	request_token(&f, "'boundObjectRef':{'kind':'Node','apiVersion':'v1','name':'n'}");
	ck_assert(is_good(&f));
	must(&f, "DELETE", "/api/v1/nodes/n", NULL);
	ck_assert(!is_good(&f));
	/*
	 * Deleting the account revokes its token, and a new account of the same name does not
	 * restore it.
	 */
	request_token(&f, "");
	ck_assert(is_good(&f));
	must(&f, "DELETE", ACCOUNT, NULL);
	ck_assert(!is_good(&f));
	must(&f, "POST", "/api/v1/namespaces/default/serviceaccounts",
		"{'metadata':{'name':'robot'}}");
	ck_assert(!is_good(&f));
	front_fixture_finish(&f);
}
END_TEST

START_TEST(test_tokens__going_accounts_keep_theirs_for_a_minute)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", PODS,
		"{'metadata':{'name':'p','finalizers':['a.example/b']},'spec':{"
		"'serviceAccountName':'robot','containers':[{'name':'c','image':'i'}]}}");
	request_token(&f, TO_POD);
	must(&f, "DELETE", PODS "/p?gracePeriodSeconds=0", NULL);
	f.now_ns += INT64_C(59) * 1000000000;
	ck_assert(is_good(&f));
	f.now_ns += INT64_C(2) * 1000000000;
	ck_assert(!is_good(&f));
	front_fixture_finish(&f);
}
END_TEST

/** Forged tokens: changed bytes, another key's signature, other algorithms. */
START_TEST(test_tokens__forged)
{
	struct front_fixture f;
	struct bt_jwt_key *key;
	struct bt_arena arena = {0};
	struct bt_str payload;
	struct bt_strbuf other = {0};
	setup(&f);
	request_token(&f, "");
	ck_assert(is_good(&f));
	size_t length = strlen(token);
	for (size_t i = 0; i < length; i += 7) {
		char kept = token[i];
		token[i] = kept == 'A' ? 'B' : 'A';
		ck_assert_msg(!is_good(&f), "byte %zu", i);
		token[i] = kept;
	}
	ck_assert(is_good(&f));
	ck_assert_int_eq(bt_jwt_key_create(BT_STR(""), &key, NULL), 0);
	ck_assert(!bt_jwt_verify(key, bt_str_from(token), &arena, &payload));
	const char *first = strchr(token, '.');
	const char *second = strchr(first + 1, '.');
	struct bt_str claims;
	ck_assert(bt_base64_url_decode(
		(struct bt_str){first + 1, (uint32_t)(second - first - 1)}, &arena, &claims));
	ck_assert_int_eq(bt_jwt_sign(key, claims, &other, NULL), 0);
	ck_assert(bt_jwt_verify(key, bt_strbuf_str(&other), &arena, &payload));
	ck_assert(bt_str_equal(payload, claims));
	ck_assert_uint_eq(front_ask_as(&f, bt_strbuf_c(&other), "POST", SELF, "{}"), 401);
	/* {"alg":"none"} */
	bt_strbuf_reset(&other);
	bt_strbuf_printf(&other, "eyJhbGciOiJub25lIn0%.*s.", (int)(second - first), first);
	ck_assert_uint_eq(front_ask_as(&f, bt_strbuf_c(&other), "POST", SELF, "{}"), 401);
	static const char *const broken[] = {"", ".", "..", "...", "a.b.c", "a.b", "....."};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(broken); i++) {
		ck_assert(!bt_jwt_verify(key, bt_str_from(broken[i]), &arena, &payload));
		ck_assert_uint_eq(front_ask_as(&f, broken[i], "POST", SELF, "{}"), 401);
	}
	bt_strbuf_finish(&other);
	bt_jwt_key_destroy(key);
	bt_arena_finish(&arena);
	front_fixture_finish(&f);
}
END_TEST

/** A key that was saved and loaded verifies the tokens it signed before. */
START_TEST(test_tokens__keys_are_kept)
{
	struct bt_jwt_key *key;
	struct bt_jwt_key *again;
	struct bt_strbuf pem = {0};
	struct bt_strbuf text = {0};
	struct bt_arena arena = {0};
	struct bt_str payload;
	ck_assert_int_eq(bt_jwt_key_create(BT_STR(""), &key, NULL), 0);
	ck_assert_int_eq(bt_jwt_key_write(key, &pem, NULL), 0);
	ck_assert_int_eq(bt_jwt_key_create(bt_strbuf_str(&pem), &again, NULL), 0);
	for (int i = 0; i < 300; i++) { /* some signatures have numbers with leading zeros */
		bt_strbuf_reset(&text);
		ck_assert_int_eq(bt_jwt_sign(key, BT_STR("{}"), &text, NULL), 0);
		ck_assert(bt_jwt_verify(again, bt_strbuf_str(&text), &arena, &payload));
		bt_arena_reset(&arena);
	}
	ck_assert(bt_str_equal(bt_jwt_key_public(key).id, bt_jwt_key_public(again).id));
	bt_jwt_key_destroy(again);
	ck_assert_int_eq(bt_jwt_key_create(BT_STR("no key"), &again, NULL), BERTH_ERR_INVALID);
	bt_jwt_key_destroy(key);
	bt_strbuf_finish(&pem);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
END_TEST

/** The admission of pods mounts the account's token. */
START_TEST(test_tokens__volumes)
{
	struct front_fixture f;
	setup(&f);
	static const char mount[] =
		"\"readOnly\":true,\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"";
	ck_assert_uint_eq(front_ask_as(&f, "admin", "POST", PODS, POD("nobody")), 403);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"pods \\\"p\\\" is forbidden: error looking up service account default/nobody: "
		"serviceaccount \\\"nobody\\\" not found"));
	must(&f, "POST", PODS,
		"{'metadata':{'name':'q'},'spec':{'serviceAccountName':'robot','initContainers':["
		"{'name':'i','image':'i'}],'containers':[{'name':'c','image':'i'},{'name':'d',"
		"'image':'i','volumeMounts':[{'name':'v','mountPath':"
		"'/var/run/secrets/kubernetes.io/serviceaccount'}]}],'volumes':[{'name':'v',"
		"'emptyDir':{}}]}}");
	const char *first = strstr(front_body(&f), mount);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(strstr(first + 1, mount));
	ck_assert_ptr_null(strstr(strstr(first + 1, mount) + 1, mount));
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,"
		"\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":["
		"{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{\"items\":["));
	must(&f, "POST", "/api/v1/namespaces/default/serviceaccounts",
		"{'metadata':{'name':'shy'},'automountServiceAccountToken':false,"
		"'imagePullSecrets':[{'name':'pull'}]}");
	must(&f, "POST", PODS, POD("shy"));
	ck_assert_ptr_null(strstr(front_body(&f), mount));
	ck_assert_ptr_nonnull(strstr(front_body(&f), "\"imagePullSecrets\":[{\"name\":\"pull\"}]"));
	must(&f, "POST", PODS,
		"{'metadata':{'name':'r'},'spec':{'serviceAccountName':'shy',"
		"'automountServiceAccountToken':true,'containers':[{'name':'c','image':'i'}]}}");
	ck_assert_ptr_nonnull(strstr(front_body(&f), mount));
	/* This test has no controller that makes the account "default": its pods get no token. */
	must(&f, "POST", PODS,
		"{'metadata':{'name':'s'},'spec':{'containers':[{'name':'c',"
		"'image':'i'}]}}");
	ck_assert_ptr_null(strstr(front_body(&f), mount));
	front_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("tokens", test_tokens__users, test_tokens__requesters_of_certificates,
	test_tokens__expire, test_tokens__audiences, test_tokens__bound_to_pods_and_accounts,
	test_tokens__going_accounts_keep_theirs_for_a_minute, test_tokens__forged,
	test_tokens__keys_are_kept, test_tokens__volumes)
