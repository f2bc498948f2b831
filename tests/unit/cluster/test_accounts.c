/* SPDX-License-Identifier: Apache-2.0 */
/* ServiceAccounts and the Secrets that keep their tokens; aggregated ClusterRoles. */
#include "../test_main.h"
#include "cluster.h"
#include "codec/base64.h"
#include "server/service_account_token.h"

#define ROLES "clusterroles.rbac.authorization.k8s.io"
#define RULE(resource) "{'verbs':['get'],'apiGroups':[''],'resources':['" resource "']}"

START_TEST(test_accounts__aggregated_roles)
{
	struct cluster c;
	cluster_init(&c, "clusterrole-aggregation-controller");
	cluster_create(&c, ROLES, "",
		"{'metadata':{'name':'all'},'rules':[" RULE(
			"nodes") "],'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'to'"
	                         ":'all'}},"
				 "{'matchExpressions':[{'key':'also','operator':'Exists'}]}]}}");
	cluster_create(&c, ROLES, "",
		"{'metadata':{'name':'b','labels':{'to':'all'}},'rules':[" RULE("pods") "]}");
	cluster_create(&c, ROLES, "",
		"{'metadata':{'name':'a','labels':{'also':''}},'rules':[" RULE("pods") "," RULE(
			"secrets") "]}");
	cluster_create(&c, ROLES, "",
		"{'metadata':{'name':'c','labels':{'to':'none'}},'rules':[" RULE("services") "]}");
	cluster_run(&c, 100);
	/*
	 * Rules come in the order of role names, each rule once; the rules written by hand are
	 * replaced.
	 */
	ck_assert_str_eq(
		cluster_json(&c, ROLES, "all", "rules"), "[" RULE("pods") "," RULE("secrets") "]");
	cluster_patch(&c, ROLES, "c", "{'metadata':{'labels':{'to':'all'}}}");
	cluster_delete(&c, ROLES, "a");
	cluster_run(&c, 100);
	ck_assert_str_eq(
		cluster_json(&c, ROLES, "all", "rules"), "[" RULE("pods") "," RULE("services") "]");
	/*
	 * Rules changed by hand are restored, and an aggregated role can be part of another
	 * aggregated role.
	 */
	cluster_create(&c, ROLES, "",
		"{'metadata':{'name':'top'},'aggregationRule':{'clusterRoleSelectors':["
		"{'matchLabels':{'level':'2'}}]}}");
	cluster_patch(&c, ROLES, "all", "{'metadata':{'labels':{'level':'2'}},'rules':[]}");
	cluster_run(&c, 100);
	ck_assert_str_eq(
		cluster_json(&c, ROLES, "top", "rules"), "[" RULE("pods") "," RULE("services") "]");
	cluster_patch(&c, ROLES, "b", "{'metadata':{'labels':null}}");
	cluster_patch(&c, ROLES, "c", "{'metadata':{'labels':null}}");
	cluster_run(&c, 100);
	ck_assert_str_eq(cluster_json(&c, ROLES, "top", "rules"), "null");
	cluster_finish(&c);
}
END_TEST

#define SECRET(name, account) \
	"{'metadata':{'name':'" name \
	"','annotations':{'kubernetes.io/service-account.name':'" account \
	"'}},'type':'kubernetes.io/service-account-token'}"

/** Returns the user that the token authenticates, "" if the token is invalid. */
static const char *user_of(struct cluster *c, struct bt_str token)
{
	struct bt_user user;
	struct bt_json_value *audiences;
	return bt_api_authenticate_token(
		       c->api.api, token, NULL, &c->api.arena, &user, &audiences, NULL)
		? user.name.data
		: "";
}

START_TEST(test_accounts__secrets_keep_tokens)
{
	struct cluster c;
	struct bt_str token;
	cluster_init(&c, "serviceaccount-token-controller");
	cluster_create(&c, "serviceaccounts", "default/", "{'metadata':{'name':'robot'}}");
	cluster_create(&c, "secrets", "default/", SECRET("kept", "robot"));
	cluster_create(&c, "secrets", "default/", SECRET("lost", "nobody"));
	cluster_create(&c, "secrets", "default/", "{'metadata':{'name':'plain'}}");
	cluster_run(&c, 100);
	ck_assert(!cluster_has(&c, "secrets", "default/lost"));
	ck_assert(cluster_has(&c, "secrets", "default/plain"));
	ck_assert_str_eq(
		cluster_text(&c, "secrets", "default/kept", "data.namespace"), "ZGVmYXVsdA==");
	ck_assert_int_eq(bt_base64_decode(bt_str_from(cluster_text(
						  &c, "secrets", "default/kept", "data.token")),
				 &c.api.arena, &token, NULL),
		0);
	ck_assert_str_eq(user_of(&c, token), "system:serviceaccount:default:robot");
	/*
	 * When the Secret holds another token, the old token is invalid; deleting the account
	 * deletes the Secret.
	 */
	cluster_patch(&c, "secrets", "default/kept", "{'data':{'token':'eA=='}}");
	ck_assert_str_eq(user_of(&c, token), "");
	cluster_patch(&c, "secrets", "default/kept", "{'data':{'token':null}}");
	cluster_run(&c, 100);
	ck_assert_str_ne(cluster_text(&c, "secrets", "default/kept", "data.token"), "");
	cluster_delete(&c, "serviceaccounts", "default/robot");
	ck_assert_str_eq(user_of(&c, token), "");
	cluster_run(&c, 100);
	ck_assert(!cluster_has(&c, "secrets", "default/kept"));
	cluster_finish(&c);
}
END_TEST

BT_TEST_MAIN("accounts", test_accounts__aggregated_roles, test_accounts__secrets_keep_tokens)
