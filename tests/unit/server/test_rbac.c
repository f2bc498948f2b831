/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization: roles, bindings, bootstrap rules, escalation, impersonation, reviews. */
#include <stdio.h>

#include "../test_main.h"
#include "front_fixture.h"

#define RBAC "/apis/rbac.authorization.k8s.io/v1"
#define IN(namespace_) RBAC "/namespaces/" namespace_

/** Each request carries the token of a user; the token also gives the user's groups. */
#define AUTHENTICATED BT_STR_INIT("system:authenticated")
static const struct bt_str group_authenticated[] = {AUTHENTICATED};
static const struct bt_str group_masters[] = {BT_STR_INIT("system:masters"), AUTHENTICATED};
static const struct bt_str group_staff[] = {BT_STR_INIT("staff"), AUTHENTICATED};
static const struct bt_str group_nodes[] = {BT_STR_INIT("system:nodes"), AUTHENTICATED};
static const struct bt_front_token tokens[] = {
	{"n1", {.name = BT_STR_INIT("system:node:n1"), .group_count = 2, .groups = group_nodes}},
	{"false", {.name = BT_STR_INIT("system:node:n1"), .group_count = 2, .groups = group_staff}},
	{"admin", {.name = BT_STR_INIT("admin"), .group_count = 2, .groups = group_masters}},
	{"bob", {.name = BT_STR_INIT("bob"), .group_count = 2, .groups = group_staff}},
	{"eve", {.name = BT_STR_INIT("eve"), .group_count = 1, .groups = group_authenticated}},
	{"sa",
		{.name = BT_STR_INIT("system:serviceaccount:a:robot"),
			.group_count = 1,
			.groups = group_authenticated}},
};

static void setup(struct front_fixture *f)
{
	struct bt_front_options options = {
		.certificate_pem = "", .tokens = tokens, .token_count = BT_ARRAY_LENGTH(tokens)};
	front_fixture_init(f, &options);
}

static void must(struct front_fixture *f, const char *method, const char *target, const char *body)
{
	uint16_t code = front_ask_as(f, "admin", method, target, body);
	ck_assert_msg(
		code == 200 || code == 201, "%s %s: %u %s", method, target, code, front_body(f));
}

struct row {
	const char *user;
	const char *method;
	const char *target;
	const char *body;
	uint16_t code;
	const char *part; /* of the answer's body, with ' in place of \"; NULL: not compared */
};

static void check_rows(struct front_fixture *f, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		char wanted[1024] = "";
		uint16_t code = front_ask_as(f, row->user, row->method, row->target, row->body);
		size_t length = 0;
		for (const char *p = row->part; p != NULL && *p != '\0'; p++) {
			if (*p == '\'') {
				wanted[length++] = '\\';
			}
			wanted[length++] = *p == '\'' ? '"' : *p;
		}
		ck_assert_msg(code == row->code && strstr(front_body(f), wanted) != NULL,
			"row %zu: %s %s %s: %u %s", i, row->user != NULL ? row->user : "-",
			row->method, row->target, code, front_body(f));
	}
}

/** The metrics count a refused request by its own verb. */
START_TEST(test_rbac__metrics)
{
	struct front_fixture f;
	setup(&f);
	static const char count[] =
		"apiserver_request_total{code=\"403\",group=\"\",resource=\"pods\","
		"scope=\"resource\",subresource=\"\",verb=\"DELETE\",version=\"v1\"} 1\n";
	ck_assert_uint_eq(
		front_ask_as(&f, "bob", "DELETE", "/api/v1/namespaces/a/pods/x", NULL), 403);
	ck_assert_uint_eq(front_ask_as(&f, "admin", "GET", "/metrics", NULL), 200);
	ck_assert_ptr_nonnull(strstr(front_body(&f), count));
	front_fixture_finish(&f);
}
END_TEST

START_TEST(test_rbac__table)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", "/api/v1/namespaces", "{'metadata':{'name':'a'}}");
	must(&f, "POST", "/api/v1/namespaces", "{'metadata':{'name':'b'}}");
	must(&f, "POST", "/api/v1/namespaces/a/configmaps", "{'metadata':{'name':'one'}}");
	must(&f, "POST", "/api/v1/namespaces/a/configmaps", "{'metadata':{'name':'two'}}");
	must(&f, "POST", IN("a") "/roles",
		"{'metadata':{'name':'reader'},'rules':["
		"{'verbs':['get','list','watch'],'apiGroups':[''],'resources':['pods','pods/log']},"
		"{'verbs':['get','list','delete','update'],'apiGroups':[''],'resources':['"
		"configmaps'],"
		"'resourceNames':['one']},"
		"{'verbs':['patch'],'apiGroups':['apps'],'resources':['*/scale']}]}");
	must(&f, "POST", IN("a") "/rolebindings",
		"{'metadata':{'name':'readers'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'Role','name':'reader'},'subjects':["
		"{'kind':'Group','apiGroup':'rbac.authorization.k8s.io','name':'staff'},"
		"{'kind':'ServiceAccount','name':'robot','namespace':'a'}]}");
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'looker'},'rules':["
		"{'verbs':['*'],'apiGroups':[''],'resources':['nodes']},"
		"{'verbs':['get'],'nonResourceURLs':['/metrics','/debug/*']}]}");
	must(&f, "POST", RBAC "/clusterrolebindings",
		"{'metadata':{'name':'lookers'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'ClusterRole','name':'looker'},'subjects':["
		"{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'eve'}]}");
	static const struct row rows[] = {
		/* verbs, namespaces and groups */
		{"bob", "GET", "/api/v1/namespaces/a/pods", NULL, 200, NULL},
		{"bob", "GET", "/api/v1/namespaces/a/pods/x", NULL, 404, NULL},
		{"bob", "GET", "/api/v1/namespaces/a/pods/x/log", NULL, 404, NULL},
		{"bob", "GET", "/api/v1/namespaces/a/pods/x/status", NULL, 403,
			"pods 'x' is forbidden: User 'bob' cannot get resource 'pods/status' in "
			"API group '' in the namespace 'a'"},
		{"bob", "GET", "/api/v1/namespaces/b/pods", NULL, 403,
			"pods is forbidden: User 'bob' cannot list resource 'pods' in API group "
			"'' in the namespace 'b'"},
		{"bob", "GET", "/api/v1/pods", NULL, 403,
			"pods is forbidden: User 'bob' cannot list resource 'pods' in API group "
			"'' at the cluster scope"},
		{"bob", "POST", "/api/v1/namespaces/a/pods", "{}", 403,
			"pods is forbidden: User 'bob' cannot create resource 'pods'"},
		{"bob", "DELETE", "/api/v1/namespaces/a/pods", NULL, 403,
			"User 'bob' cannot deletecollection resource 'pods'"},
		{"bob", "DELETE", "/api/v1/namespaces/a/pods/x", NULL, 403,
			"User 'bob' cannot delete resource 'pods'"},
		{"bob", "PUT", "/api/v1/namespaces/a/pods/x", "{}", 403,
			"User 'bob' cannot update resource 'pods'"},
		{"bob", "GET", "/api/v1/namespaces/a/secrets", NULL, 403, NULL},
		{"sa", "GET", "/api/v1/namespaces/a/pods", NULL, 200, NULL},
		{"eve", "GET", "/api/v1/namespaces/a/pods", NULL, 403, NULL},
		{NULL, "GET", "/api/v1/namespaces/a/pods", NULL, 403,
			"User 'system:anonymous' cannot list resource 'pods'"},
		{"nobody", "GET", "/api/v1/namespaces/a/pods", NULL, 401, "Unauthorized"},
		/* names: a list is allowed if its field selector selects the allowed name */
		{"bob", "GET", "/api/v1/namespaces/a/configmaps/one", NULL, 200, NULL},
		{"bob", "GET", "/api/v1/namespaces/a/configmaps/two", NULL, 403,
			"configmaps 'two' is forbidden"},
		{"bob", "GET", "/api/v1/namespaces/a/configmaps", NULL, 403, NULL},
		{"bob", "GET", "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Done",
			NULL, 200, "one"},
		{"bob", "GET",
			"/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3D%3Done",
			NULL, 200, NULL},
		{"bob", "GET",
			"/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%21%3Done",
			NULL, 403, NULL},
		{"bob", "GET",
			"/api/v1/namespaces/a/configmaps?fieldSelector=metadata.namespace%21%3Dx"
			"%5C%2Cmetadata.name%3Done",
			NULL, 403, NULL},
		{"bob", "GET", "/api/v1/watch/namespaces/a/configmaps/one", NULL, 403, NULL},
		/* subresources of every resource, within the group */
		{"bob", "PATCH", "/apis/apps/v1/namespaces/a/deployments/d/scale", "{}", 404, NULL},
		{"bob", "PATCH", "/apis/apps/v1/namespaces/a/deployments/d", "{}", 403, NULL},
		{"bob", "PATCH", "/api/v1/namespaces/a/replicationcontrollers/d/scale", "{}", 403,
			"cannot patch resource 'replicationcontrollers/scale' in API group ''"},
		/* every verb on one cluster resource, and non-resource paths */
		{"eve", "GET", "/api/v1/nodes", NULL, 200, NULL},
		{"eve", "DELETE", "/api/v1/nodes/n", NULL, 404, NULL},
		{"eve", "PATCH", "/api/v1/nodes/n/status", "{}", 403, NULL},
		{"eve", "GET", "/debug/x", NULL, 404, NULL},
		{"eve", "GET", "/de%62ug%2Fx", NULL, 404, NULL},
		{"eve", "GET", "/de%62ugger", NULL, 403, "cannot get path '/debugger'"},
		{"eve", "GET", "/debug%", NULL, 403, "cannot get path '/debug%'"},
		{"eve", "GET", "/debugger", NULL, 403,
			"forbidden: User 'eve' cannot get path '/debugger'"},
		{"eve", "POST", "/debug/x", NULL, 403, "cannot post path '/debug/x'"},
		{"bob", "GET", "/debug/x", NULL, 403, NULL},
		/* rules for all users, and rules for authenticated users */
		{NULL, "GET", "/healthz", NULL, 200, NULL},
		{NULL, "GET", "/version", NULL, 200, NULL},
		{NULL, "GET", "/api", NULL, 403,
			"forbidden: User 'system:anonymous' cannot get path '/api'"},
		{NULL, "GET", "/openapi/v2", NULL, 403, NULL},
		{"bob", "GET", "/api", NULL, 200, NULL},
		{"bob", "GET", "/apis/apps/v1", NULL, 200, NULL},
		{"bob", "GET", "/", NULL, 403, NULL},
		{"bob", "GET", "/api/v1/nonsense", NULL, 403,
			"nonsense is forbidden: User 'bob' cannot list resource 'nonsense'"},
		{"admin", "GET", "/api/v1/nonsense", NULL, 404, NULL},
	};
	check_rows(&f, rows, BT_ARRAY_LENGTH(rows));

	/* Changes of a role or a binding take effect at once, as does their deletion. */
	must(&f, "PATCH", IN("a") "/roles/reader",
		"{'rules':[{'verbs':['list'],'apiGroups':[''],'resources':['secrets']}]}");
	ck_assert_uint_eq(front_ask_as(&f, "bob", "GET", "/api/v1/namespaces/a/pods", NULL), 403);
	ck_assert_uint_eq(
		front_ask_as(&f, "bob", "GET", "/api/v1/namespaces/a/secrets", NULL), 200);
	must(&f, "PATCH", IN("a") "/rolebindings/readers", "{'subjects':null}");
	ck_assert_uint_eq(
		front_ask_as(&f, "bob", "GET", "/api/v1/namespaces/a/secrets", NULL), 403);
	must(&f, "DELETE", RBAC "/clusterroles/looker", NULL);
	ck_assert_uint_eq(front_ask_as(&f, "eve", "GET", "/api/v1/nodes", NULL), 403);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "
		"\\\"looker\\\" not found"));
	must(&f, "DELETE", RBAC "/clusterrolebindings/lookers", NULL);
	ck_assert_uint_eq(front_ask_as(&f, "eve", "GET", "/api/v1/nodes", NULL), 403);
	ck_assert_ptr_null(strstr(front_body(&f), "looker"));
	front_fixture_finish(&f);
}
END_TEST

#define GRANT(rules) "{'metadata':{'name':'r'},'rules':[" rules "]}"
#define BIND(kind, name, role_kind, role) \
	"{'metadata':{'name':'" name \
	"'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'" role_kind \
	"','name':'" role "'},'subjects':[{'kind':'" kind \
	"','apiGroup':'rbac.authorization.k8s.io','name':'eve'}]}"

START_TEST(test_rbac__grants_are_limited_to_own_permissions)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", "/api/v1/namespaces", "{'metadata':{'name':'a'}}");
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'power'},'rules':["
		"{'verbs':['*'],'apiGroups':['rbac.authorization.k8s.io'],"
		"'resources':['roles','rolebindings','clusterroles']},"
		"{'verbs':['get','list'],'apiGroups':['','apps'],'resources':['pods','*/scale']},"
		"{'verbs':['get'],'apiGroups':[''],'resources':['secrets'],'resourceNames':['s']}]"
		"}");
	must(&f, "PATCH", RBAC "/clusterroles/power",
		"{'rules':[{'verbs':['create','update','patch','get'],"
		"'apiGroups':['rbac.authorization.k8s.io'],'resources':['*']},"
		"{'verbs':['bind'],'apiGroups':['rbac.authorization.k8s.io'],"
		"'resources':['clusterroles'],'resourceNames':['view']},"
		"{'verbs':['get','list'],'apiGroups':['','apps'],'resources':['pods','*/scale']},"
		"{'verbs':['get'],'apiGroups':[''],'resources':['secrets'],'resourceNames':['s']}]"
		"}");
	must(&f, "POST", RBAC "/clusterrolebindings", BIND("User", "p", "ClusterRole", "power"));
	static const struct row rows[] = {
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get','delete'],'apiGroups':[''],'resources':['pods']}"),
			403,
			"roles.rbac.authorization.k8s.io 'r' is forbidden: user 'eve' "
			"(groups=['system:authenticated']) is attempting to grant RBAC "
			"permissions not currently held:\\n{APIGroups:[''], Resources:['pods'], "
			"Verbs:['delete']}"},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['*'],'apiGroups':[''],'resources':['pods']}"), 403, NULL},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get'],'apiGroups':['*'],'resources':['pods']}"), 403,
			NULL},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get'],'apiGroups':[''],'resources':['*']}"), 403, NULL},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get'],'apiGroups':[''],'resources':['secrets']}"), 403,
			NULL},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get'],'apiGroups':[''],'resources':['secrets'],"
			      "'resourceNames':['s','t']}"),
			403, "Resources:['secrets'], ResourceNames:['t'], Verbs:['get']}"},
		{"eve", "POST", RBAC "/clusterroles",
			GRANT("{'verbs':['get'],'nonResourceURLs':['/metrics']}"), 403,
			"{NonResourceURLs:['/metrics'], Verbs:['get']}"},
		{"eve", "POST", RBAC "/clusterroles",
			"{'metadata':{'name':'r'},'aggregationRule':{'clusterRoleSelectors':[{}]}}",
			403, "must have cluster-admin privileges to use an aggregationRule"},
		{"eve", "POST", IN("a") "/roles",
			GRANT("{'verbs':['get'],'apiGroups':[''],'resources':['pods',"
			      "'replicationcontrollers/scale']},{'verbs':['get'],'apiGroups':[''],"
			      "'resources':['secrets'],'resourceNames':['s']}"),
			201, NULL},
		/* a role may be written again with the same rules, but not with further rules */
		{"eve", "PATCH", IN("a") "/roles/r", "{'metadata':{'labels':{'x':'y'}}}", 200,
			NULL},
		{"eve", "PATCH", IN("a") "/roles/r",
			"{'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['nodes']}]}", 403,
			NULL},
		{"eve", "POST", IN("a") "/rolebindings", BIND("User", "x", "Role", "r"), 201, NULL},
		{"eve", "POST", IN("a") "/rolebindings",
			BIND("User", "y", "ClusterRole", "cluster-admin"), 403,
			"rolebindings.rbac.authorization.k8s.io 'y' is forbidden: user 'eve'"},
		{"eve", "POST", IN("a") "/rolebindings", BIND("User", "y", "ClusterRole", "none"),
			404, "clusterroles.rbac.authorization.k8s.io 'none' not found"},
		{"eve", "POST", IN("a") "/rolebindings", BIND("User", "y", "ClusterRole", "view"),
			201, NULL},
		{"eve", "POST", RBAC "/clusterrolebindings",
			BIND("User", "y", "ClusterRole", "cluster-admin"), 403, NULL},
		{"eve", "PUT", RBAC "/clusterrolebindings/p",
			BIND("Group", "p", "ClusterRole", "cluster-admin"), 403, NULL},
	};
	check_rows(&f, rows, BT_ARRAY_LENGTH(rows));
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'escalator'},'rules':[{'verbs':['escalate','bind'],"
		"'apiGroups':['rbac.authorization.k8s.io'],'resources':['roles','clusterroles']}]"
		"}");
	must(&f, "POST", RBAC "/clusterrolebindings",
		BIND("User", "e", "ClusterRole", "escalator"));
	static const struct row may[] = {
		{"eve", "PATCH", IN("a") "/roles/r",
			"{'rules':[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]}", 200,
			NULL},
		{"eve", "POST", IN("a") "/rolebindings",
			BIND("User", "z", "ClusterRole", "cluster-admin"), 201, NULL},
	};
	check_rows(&f, may, BT_ARRAY_LENGTH(may));
	front_fixture_finish(&f);
}
END_TEST

/** An update or an apply that creates the object needs the permission to create. */
START_TEST(test_rbac__creating_by_other_verbs)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'changer'},'rules':[{'verbs':['update','patch'],"
		"'apiGroups':['','coordination.k8s.io'],'resources':['configmaps','leases']}]}");
	must(&f, "POST", RBAC "/clusterrolebindings", BIND("User", "c", "ClusterRole", "changer"));
	static const char lease[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
	static const struct row rows[] = {
		{"eve", "PUT", lease, "{'metadata':{'name':'l'}}", 403,
			"leases.coordination.k8s.io 'l' is forbidden: User 'eve' cannot create "
			"resource 'leases'"},
		{"admin", "PUT", lease, "{'metadata':{'name':'l'}}", 201, NULL},
		{"eve", "PUT", lease, "{'metadata':{'name':'l'}}", 422, NULL},
	};
	check_rows(&f, rows, BT_ARRAY_LENGTH(rows));
	f.headers = "Authorization: Bearer eve\nContent-Type: application/apply-patch+yaml\n";
	static const char apply[] = "/api/v1/namespaces/default/configmaps/c?fieldManager=m";
	struct bt_str body = BT_STR(
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}");
	ck_assert_uint_eq(front_ask(&f, "PATCH", apply, body), 403);
	f.headers = "Authorization: Bearer admin\nContent-Type: application/apply-patch+yaml\n";
	ck_assert_uint_eq(front_ask(&f, "PATCH", apply, body), 201);
	f.headers = "Authorization: Bearer eve\nContent-Type: application/apply-patch+yaml\n";
	ck_assert_uint_eq(front_ask(&f, "PATCH", apply, body), 200);
	front_fixture_finish(&f);
}
END_TEST

#define AS(user, lines) "Authorization: Bearer " user "\n" lines
#define REVIEW "/apis/authentication.k8s.io/v1/selfsubjectreviews"

START_TEST(test_rbac__impersonation)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'actor'},'rules':["
		"{'verbs':['impersonate'],'apiGroups':[''],'resources':['users'],"
		"'resourceNames':['jane']},"
		"{'verbs':['impersonate'],'apiGroups':[''],'resources':['groups'],"
		"'resourceNames':['dev']}]}");
	must(&f, "POST", RBAC "/clusterrolebindings", BIND("User", "a", "ClusterRole", "actor"));
	static const struct {
		const char *headers;
		uint16_t code;
		const char *part;
	} rows[] = {
		{AS("eve", "Impersonate-User: jane\n"), 201,
			"\"username\":\"jane\",\"groups\":[\"system:authenticated\"]"},
		{AS("eve", "Impersonate-User: jane\nImpersonate-Group: dev\n"), 201,
			"\"groups\":[\"dev\",\"system:authenticated\"]"},
		{AS("eve", "Impersonate-User: jane\nImpersonate-Group: system:masters\n"), 403,
			"groups \\\"system:masters\\\" is forbidden: User \\\"eve\\\" cannot "
			"impersonate resource \\\"groups\\\" in API group \\\"\\\" at the cluster "
			"scope"},
		{AS("eve", "Impersonate-User: jane\nImpersonate-Uid: 1\n"), 403,
			"uids.authentication.k8s.io \\\"1\\\" is forbidden"},
		{AS("eve", "Impersonate-User: john\n"), 403,
			"users \\\"john\\\" is forbidden: User \\\"eve\\\" cannot impersonate "
			"resource \\\"users\\\""},
		{AS("eve", "Impersonate-User: system:serviceaccount:a:b\n"), 403,
			"serviceaccounts \\\"b\\\" is forbidden: User \\\"eve\\\" cannot "
			"impersonate resource \\\"serviceaccounts\\\" in API group \\\"\\\" in the "
			"namespace \\\"a\\\""},
		{AS("admin", "Impersonate-User: system:serviceaccount:a:b\n"), 201,
			"\"groups\":[\"system:serviceaccounts\",\"system:serviceaccounts:a\","
			"\"system:authenticated\"]"},
		{AS("admin", "Impersonate-User: system:anonymous\n"), 403, NULL},
		{"Impersonate-User: jane\n", 403,
			"User \\\"system:anonymous\\\" cannot impersonate"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		f.headers = rows[i].headers;
		uint16_t code = front_ask(&f, "POST", REVIEW, BT_STR("{}"));
		ck_assert_msg(code == rows[i].code &&
				(rows[i].part == NULL ||
					strstr(front_body(&f), rows[i].part) != NULL),
			"row %zu: %u %s", i, code, front_body(&f));
	}
	/* all groups count, however many there are */
	struct bt_strbuf headers = {0};
	bt_strbuf_append_c(&headers, AS("admin", "Impersonate-User: jane\n"));
	for (int i = 0; i < 100; i++) {
		bt_strbuf_printf(&headers, "Impersonate-Group: g%d\n", i);
	}
	f.headers = bt_strbuf_c(&headers);
	ck_assert_uint_eq(front_ask(&f, "POST", REVIEW, BT_STR("{}")), 201);
	ck_assert_msg(strstr(front_body(&f), "\"g99\",\"system:authenticated\"]") != NULL, "%s",
		front_body(&f));
	bt_strbuf_finish(&headers);
	front_fixture_finish(&f);
}
END_TEST

#define ACCESS "/apis/authorization.k8s.io/v1/"
#define SELF ACCESS "selfsubjectaccessreviews"

#define NODES "/api/v1/nodes"
#define PODS "/api/v1/namespaces/a/pods"
#define ACCOUNTS "/api/v1/namespaces/a/serviceaccounts"
#define SECRETS "/api/v1/namespaces/a/secrets"
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
#define CSI_NODES "/apis/storage.k8s.io/v1/csinodes"
#define SLICES "/apis/resource.k8s.io/v1/resourceslices"
#define CONTAINERS "'containers':[{'name':'c','image':'i'}]"
#define MIRROR(spec) \
	"{'metadata':{'name':'mirror','annotations':{'kubernetes.io/" \
	"config.mirror':'x'}},'spec':{" spec CONTAINERS "}}"

/** Makes nodes n1 and n2, and their pods: n1 runs pod a/mine, n2 runs pod a/other. */
static void make_nodes(struct front_fixture *f)
{
	static const char *const secrets[] = {
		"volume", "projected", "variable", "all", "pull", "csi", "disk", "other", "free"};
	must(f, "POST", "/api/v1/namespaces", "{'metadata':{'name':'a'}}");
	must(f, "POST", NODES, "{'metadata':{'name':'n1','labels':{'x':'y'}}}");
	must(f, "POST", NODES, "{'metadata':{'name':'n2'}}");
	must(f, "POST", LEASES, "{'metadata':{'name':'n2'}}");
	must(f, "POST", ACCOUNTS, "{'metadata':{'name':'default'}}");
	must(f, "POST", ACCOUNTS, "{'metadata':{'name':'robot'}}");
	must(f, "POST", ACCOUNTS, "{'metadata':{'name':'free'}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(secrets); i++) {
		char body[64];
		(void)snprintf(body, sizeof(body), "{'metadata':{'name':'%s'}}", secrets[i]);
		must(f, "POST", SECRETS, body);
	}
	must(f, "POST", PODS,
		"{'metadata':{'name':'mine'},'spec':{'nodeName':'n1','serviceAccountName':'robot',"
		"'imagePullSecrets':[{'name':'pull'}],'containers':[{'name':'c','image':'i','env':["
		"{"
		"'name':'A','valueFrom':{'secretKeyRef':{'name':'variable','key':'k'}}}],"
		"'envFrom':[{'secretRef':{'name':'all'}},{'configMapRef':{'name':'settings'}}]}],"
		"'volumes':[{'name':'v','secret':{'secretName':'volume'}},"
		"{'name':'w','projected':{'sources':[{'secret':{'name':'projected'}}]}},"
		"{'name':'x','csi':{'driver':'d','nodePublishSecretRef':{'name':'csi'}}},"
		"{'name':'y','persistentVolumeClaim':{'claimName':'data'}},"
		"{'name':'z','ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':["
		"'ReadWriteOnce'],'resources':{'requests':{'storage':'1'}}}}}}]}}");
	must(f, "POST", PODS,
		"{'metadata':{'name':'other'},'spec':{'nodeName':'n2'," CONTAINERS
		",'volumes':[{'name':'v','secret':{'secretName':'other'}}]}}");
	must(f, "POST", "/api/v1/namespaces/a/configmaps", "{'metadata':{'name':'settings'}}");
	must(f, "POST", "/api/v1/namespaces/a/configmaps", "{'metadata':{'name':'free'}}");
	must(f, "POST", "/api/v1/persistentvolumes",
		"{'metadata':{'name':'disk'},'spec':{'capacity':{'storage':'1'},'accessModes':["
		"'ReadWriteOnce'],'claimRef':{'namespace':'a','name':'data'},'csi':{'driver':'d',"
		"'volumeHandle':'h','nodeStageSecretRef':{'namespace':'a','name':'disk'}}}}");
	must(f, "POST", "/api/v1/persistentvolumes",
		"{'metadata':{'name':'free'},'spec':{'capacity':{'storage':'1'},'accessModes':["
		"'ReadWriteOnce'],'csi':{'driver':'d','volumeHandle':'i'}}}");
	must(f, "POST", SLICES,
		"{'metadata':{'name':'s2'},'spec':{'driver':'d','nodeName':'n2','pool':{'name':'p',"
		"'generation':1,'resourceSliceCount':1}}}");
}

static const struct row node_rows[] = {
	/* objects that the node's pods reference */
	{"n1", "GET", SECRETS "/volume", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/projected", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/variable", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/all", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/pull", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/csi", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/disk", NULL, 200, NULL},
	{"n1", "GET", SECRETS "?fieldSelector=metadata.name%3Dvolume", NULL, 200, NULL},
	{"n1", "GET", SECRETS "/other", NULL, 403,
		"secrets 'other' is forbidden: User 'system:node:n1' cannot get resource 'secrets' "
		"in API group '' in the namespace 'a'"},
	{"n1", "GET", SECRETS "/free", NULL, 403,
		"in the namespace 'a': no relationship found between node "},
	{"n1", "GET", SECRETS "/settings", NULL, 403, NULL},
	{"n1", "GET", SECRETS, NULL, 403, NULL},
	{"n1", "GET", "/api/v1/secrets", NULL, 403, NULL},
	{"n1", "GET", "/api/v1/namespaces/default/secrets/volume", NULL, 403, NULL},
	{"n1", "PATCH", SECRETS "/volume", "{}", 403, NULL},
	{"n1", "GET", "/api/v1/namespaces/a/configmaps/settings", NULL, 200, NULL},
	{"n1", "GET", "/api/v1/namespaces/a/configmaps/free", NULL, 403, NULL},
	{"n1", "GET", "/api/v1/namespaces/a/persistentvolumeclaims/data", NULL, 404, NULL},
	{"n1", "GET", "/api/v1/namespaces/a/persistentvolumeclaims/mine-z", NULL, 404, NULL},
	{"n1", "GET", "/api/v1/namespaces/a/persistentvolumeclaims/mine-v", NULL, 403, NULL},
	{"n1", "GET", "/api/v1/persistentvolumes/disk", NULL, 200, NULL},
	{"n1", "GET", "/api/v1/persistentvolumes/free", NULL, 403, NULL},
	/* a user with a node's name but without the group system:nodes is no node */
	{"false", "GET", SECRETS "/volume", NULL, 403, NULL},
	{"false", "GET", NODES "/n1", NULL, 403, NULL},
	/* nodes and pods */
	{"n1", "GET", NODES "/n1", NULL, 200, NULL},
	{"n1", "GET", NODES "/n2", NULL, 403, "only its own Node object"},
	{"n1", "GET", NODES, NULL, 403, NULL},
	{"n1", "GET", NODES "?fieldSelector=metadata.name%3Dn1", NULL, 200, NULL},
	{"n1", "GET", PODS "/mine", NULL, 200, NULL},
	{"n1", "GET", PODS "/other", NULL, 403, NULL},
	{"n1", "GET", "/api/v1/pods", NULL, 403,
		"can only list/watch pods with spec.nodeName field selector"},
	{"n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL, 200, NULL},
	{"n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", NULL, 403, NULL},
	{"n1", "GET", "/api/v1/services", NULL, 200, NULL},
	{"n1", "GET", "/apis/apps/v1/deployments", NULL, 403, NULL},
	/* NodeRestriction */
	{"n1", "PATCH", NODES "/n1", "{'metadata':{'labels':{'team':'a','x':'z'}}}", 200, NULL},
	{"n1", "PATCH", NODES "/n1",
		"{'metadata':{'labels':{'node.kubernetes.io/a':'b',"
		"'topology.kubernetes.io/zone':'z'}}}",
		200, NULL},
	{"n1", "PATCH", NODES "/n1",
		"{'metadata':{'labels':{'node-restriction.kubernetes.io/a':'b'}}}", 403,
		"nodes 'n1' is forbidden: is not allowed to modify labels: "
		"node-restriction.kubernetes.io/a"},
	{"n1", "PATCH", NODES "/n1", "{'metadata':{'labels':{'node-role.kubernetes.io/x':''}}}",
		403, NULL},
	{"n1", "PATCH", NODES "/n1/status", "{'metadata':{'labels':{'k8s.io/x':''}}}", 403, NULL},
	{"n1", "PATCH", NODES "/n1/status", "{'status':{'phase':'Running'}}", 200, NULL},
	{"n1", "PATCH", NODES "/n1", "{'spec':{'taints':[{'key':'a','effect':'NoSchedule'}]}}", 403,
		"node 'n1' is not allowed to modify taints"},
	{"n1", "PATCH", NODES "/n2", "{'metadata':{'labels':{'team':'a'}}}", 403,
		"node 'n1' is not allowed to modify node 'n2'"},
	{"n1", "POST", NODES, "{'metadata':{'name':'n3'}}", 403,
		"nodes 'n3' is forbidden: node 'n1' is not allowed to modify node 'n3'"},
	{"n1", "DELETE", NODES "/n1", NULL, 403, NULL},
	{"n1", "PATCH", PODS "/mine/status", "{'status':{'message':'m'}}", 200, NULL},
	{"n1", "PATCH", PODS "/mine/status", "{'metadata':{'labels':{'a':'b'}}}", 403,
		"cannot update labels through pod status"},
	{"n1", "PATCH", PODS "/other/status", "{'status':{'message':'m'}}", 403, NULL},
	{"n1", "PATCH", PODS "/mine", "{'metadata':{'labels':{'a':'b'}}}", 403, NULL},
	{"n1", "POST", PODS, "{'metadata':{'name':'q'},'spec':{'nodeName':'n1'," CONTAINERS "}}",
		403, "node 'n1' can only create mirror pods"},
	{"n1", "POST", PODS, MIRROR("'nodeName':'n2',"), 403,
		"can only create pods with spec.nodeName set to itself"},
	{"n1", "POST", PODS,
		MIRROR("'nodeName':'n1','volumes':[{'name':'v','secret':{'secretName':'free'}}],"),
		403, "node 'n1' can not create pods that reference secrets"},
	{"n1", "POST", PODS, MIRROR("'nodeName':'n1','imagePullSecrets':[{'name':'free'}],"), 403,
		"can not create pods that reference secrets"},
	{"n1", "POST", PODS, MIRROR("'nodeName':'n1','serviceAccountName':'free',"), 403,
		"can not create pods that reference a service account"},
	{"n1", "POST", PODS,
		MIRROR("'nodeName':'n1','volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':"
		       "{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':"
		       "{'storage':'1'}}}}}}],"),
		403, "can not create pods that reference persistentvolumeclaims"},
	{"n1", "POST", PODS,
		MIRROR("'nodeName':'n1','resourceClaims':[{'name':'r',"
		       "'resourceClaimTemplateName':'t'}],"),
		403, "can not create pods that reference resourceclaims"},
	{"n1", "POST", PODS, MIRROR("'nodeName':'n1',"), 201, NULL},
	{"n1", "DELETE", PODS "/other", NULL, 403, NULL},
	{"n1", "DELETE", PODS "/mirror", NULL, 200, NULL},
	/* objects with the node's name */
	{"n1", "POST", LEASES, "{'metadata':{'name':'n1'}}", 201, NULL},
	{"n1", "POST", LEASES, "{'metadata':{'name':'n3'}}", 403,
		"can only access node lease with the same name as the requesting node"},
	{"n1", "GET", LEASES "/n1", NULL, 200, NULL},
	{"n1", "PATCH", LEASES "/n2", "{}", 403, NULL},
	{"n1", "GET", "/apis/coordination.k8s.io/v1/namespaces/a/leases/n1", NULL, 403,
		"can only access leases in the"},
	{"n1", "POST", CSI_NODES, "{'metadata':{'name':'n2'},'spec':{'drivers':[]}}", 403, NULL},
	{"n1", "POST", CSI_NODES, "{'metadata':{'name':'n1'},'spec':{'drivers':[]}}", 201, NULL},
	{"n1", "GET", CSI_NODES "/n2", NULL, 403, NULL},
	{"n1", "GET", SLICES "/s2", NULL, 403, NULL},
	{"n1", "GET", SLICES, NULL, 403, NULL},
	{"n1", "GET", SLICES "?fieldSelector=spec.nodeName%3Dn1", NULL, 200, NULL},
	{"n1", "POST", SLICES,
		"{'metadata':{'name':'s3'},'spec':{'driver':'d','nodeName':'n2','pool':{'name':'p',"
		"'generation':1,'resourceSliceCount':1}}}",
		403, "can only write a ResourceSlice"},
	/* tokens */
	{"n1", "POST", ACCOUNTS "/free/token", "{}", 403, NULL},
	{"n1", "POST", ACCOUNTS "/robot/token", "{}", 403,
		"node requested token not bound to a pod"},
	{"n1", "POST", ACCOUNTS "/robot/token",
		"{'spec':{'boundObjectRef':{'apiVersion':'v1','kind':'Pod','name':'other','uid':'x'"
		"}"
		"}}",
		403, "node requested token bound to a pod scheduled on a different node"},
};

START_TEST(test_rbac__nodes)
{
	struct front_fixture f;
	setup(&f);
	make_nodes(&f);
	check_rows(&f, node_rows, BT_ARRAY_LENGTH(node_rows));
	/*
	 * RBAC rules add to what the node authorizer allows; deleting a pod revokes access to its
	 * Secrets
	 */
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'view-apps'},'rules':[{'verbs':['list'],'apiGroups':['apps'],"
		"'resources':['deployments']}]}");
	must(&f, "POST", RBAC "/clusterrolebindings",
		"{'metadata':{'name':'nodes'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'ClusterRole','name':'view-apps'},'subjects':[{'kind':'Group','apiGroup':"
		"'rbac.authorization.k8s.io','name':'system:nodes'}]}");
	must(&f, "DELETE", PODS "/mine?gracePeriodSeconds=0", NULL);
	static const struct row rows[] = {
		{"n1", "GET", "/apis/apps/v1/deployments", NULL, 200, NULL},
		{"n1", "GET", SECRETS "/volume", NULL, 403, NULL},
	};
	check_rows(&f, rows, BT_ARRAY_LENGTH(rows));
	front_fixture_finish(&f);
}
END_TEST

START_TEST(test_rbac__reviews)
{
	struct front_fixture f;
	setup(&f);
	must(&f, "POST", IN("default") "/roles",
		GRANT("{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['p']"
		      "}"));
	must(&f, "POST", IN("default") "/rolebindings", BIND("User", "b", "Role", "r"));
	static const struct row rows[] = {
		{"eve", "POST", SELF,
			"{'spec':{'resourceAttributes':{'verb':'get','resource':'pods','name':'p',"
			"'namespace':'default'}}}",
			201,
			"RBAC: allowed by RoleBinding \\'b/default\\' of Role \\'r\\' to User "
			"\\'eve\\'"},
		{"eve", "POST", SELF,
			"{'spec':{'resourceAttributes':{'verb':'get','resource':'pods',"
			"'namespace':'default'}}}",
			201, "allowed\":false}"},
		{"eve", "POST", SELF, "{'spec':{}}", 422,
			"exactly one of nonResourceAttributes or resourceAttributes must be "
			"specified"},
		{"eve", "POST", SELF,
			"{'spec':{'resourceAttributes':{},'nonResourceAttributes':{}}}", 422,
			"cannot be specified in combination with resourceAttributes"},
		{"eve", "POST", SELF,
			"{'spec':{'nonResourceAttributes':{'path':'/healthz','verb':'get'}}}", 201,
			"allowed\":true"},
		{NULL, "POST", SELF,
			"{'spec':{'nonResourceAttributes':{'path':'/healthz','verb':'get'}}}", 403,
			NULL},
		{"eve", "POST", ACCESS "subjectaccessreviews", "{'spec':{'user':'x'}}", 403, NULL},
		{"admin", "POST", ACCESS "subjectaccessreviews",
			"{'spec':{'user':'x','groups':['system:masters'],'resourceAttributes':{"
			"'verb':'*','resource':'*'}}}",
			201, "allowed\":true"},
		{"admin", "POST", ACCESS "namespaces/default/localsubjectaccessreviews",
			"{'metadata':{'namespace':'default'},'spec':{'user':'eve',"
			"'resourceAttributes':{'verb':'get','resource':'pods','name':'p',"
			"'namespace':'default'}}}",
			201, "allowed\":true"},
		{"admin", "POST", ACCESS "namespaces/default/localsubjectaccessreviews",
			"{'metadata':{'namespace':'default'},'spec':{'user':'eve',"
			"'resourceAttributes':{'verb':'get','resource':'pods','name':'p',"
			"'namespace':'other'}}}",
			400, "must match namespace"},
		{"eve", "POST", ACCESS "selfsubjectrulesreviews", "{'spec':{}}", 400,
			"no namespace on request"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct row row = rows[i];
		const char *part = row.part;
		row.part = NULL;
		check_rows(&f, &row, 1);
		char wanted[512] = "";
		for (size_t k = 0; part != NULL && part[k] != '\0'; k++) {
			wanted[k] = part[k] == '\'' ? '"' : part[k];
		}
		ck_assert_msg(
			strstr(front_body(&f), wanted) != NULL, "row %zu: %s", i, front_body(&f));
	}
	ck_assert_uint_eq(front_ask_as(&f, "eve", "POST", ACCESS "selfsubjectrulesreviews",
				  "{'spec':{'namespace':'default'}}"),
		201);
	ck_assert_ptr_nonnull(strstr(front_body(&f),
		"{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"],"
		"\"resourceNames\":[\"p\"]}"));
	ck_assert_ptr_nonnull(strstr(front_body(&f), "\"incomplete\":false"));
	/* A repeated subject counts once, however often a binding has it. */
	struct bt_strbuf binding = {0};
	must(&f, "POST", RBAC "/clusterroles",
		"{'metadata':{'name':'often'},'rules':[{'verbs':['get'],'apiGroups':['often'],"
		"'resources':['x']}]}");
	bt_strbuf_append_c(&binding,
		"{'metadata':{'name':'often'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
		"'kind':'ClusterRole','name':'often'},'subjects':[{'kind':'User','name':'eve'}");
	for (int i = 0; i < 100; i++) {
		bt_strbuf_append_c(&binding, ",{'kind':'User','name':'eve'}");
	}
	bt_strbuf_append_c(&binding, "]}");
	must(&f, "POST", RBAC "/clusterrolebindings", bt_strbuf_c(&binding));
	bt_strbuf_finish(&binding);
	ck_assert_uint_eq(front_ask_as(&f, "eve", "POST", ACCESS "selfsubjectrulesreviews",
				  "{'spec':{'namespace':'default'}}"),
		201);
	const char *often = strstr(front_body(&f), "\"often\"");
	ck_assert_ptr_nonnull(often);
	ck_assert_ptr_null(strstr(often + 1, "\"often\""));
	front_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("rbac", test_rbac__nodes, test_rbac__metrics, test_rbac__table,
	test_rbac__grants_are_limited_to_own_permissions, test_rbac__creating_by_other_verbs,
	test_rbac__impersonation, test_rbac__reviews)
