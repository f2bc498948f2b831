/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Objects that the API server creates in every new cluster: namespaces, priority classes, bootstrap
 * roles and bindings of RBAC, APIServices of its groups, priority levels and flow schemas. The
 * priority levels and flow schemas have no effect, because this server does not queue requests.
 */
#include "base/assert.h"
#include "server/rbac_private.h"
#include "server/write.h"

#define GROUP "rbac.authorization.k8s.io"

enum row_kind { ROW_ROLE, ROW_RULE, ROW_PATHS, ROW_BINDING };

struct row {
	enum row_kind kind;
	const char *texts[6];
};

#define BT_ROLE(...) {ROW_ROLE, {__VA_ARGS__}},
#define BT_RULE(...) {ROW_RULE, {__VA_ARGS__}},
#define BT_PATHS(...) {ROW_PATHS, {__VA_ARGS__}},
#define BT_BINDING(...) {ROW_BINDING, {__VA_ARGS__}},
static const struct row rows[] = {
#include "server/rbac_bootstrap.def"
};
#undef BT_ROLE
#undef BT_RULE
#undef BT_PATHS
#undef BT_BINDING

static void set_words(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, const char *words)
{
	struct bt_str rest = bt_str_from(words);
	while (rest.length != 0) {
		struct bt_str word = bt_str_cut(&rest, ' ');
		bt_json_append(arena, bt_json_ensure_array(arena, object, name),
			bt_json_new_str(arena, bt_str_equal_c(word, "core") ? BT_STR("") : word));
	}
}

static struct bt_json_value *new_object(struct bt_arena *arena, const char *name)
{
	return bt_json_put(arena, NULL,
		"{metadata: {name: %c, annotations: {'" GROUP "/autoupdate': 'true'},"
		" labels: {'kubernetes.io/bootstrapping': 'rbac-defaults'}}}",
		name);
}

/** Makes the role of a row. The rules of the role are in the rows that follow. */
static struct bt_json_value *make_role(const struct row *row, struct bt_arena *arena)
{
	struct bt_json_value *role = new_object(arena, row->texts[1]);
	struct bt_json_value *rules = bt_json_ensure_array(arena, role, "rules");
	if (row->texts[2][0] != '\0') {
		bt_json_put(arena, role, "{metadata: {labels: {%c: 'true'}}}", row->texts[2]);
	}
	if (row->texts[3][0] != '\0') {
		bt_json_put(arena, role,
			"{aggregationRule: {clusterRoleSelectors: [{matchLabels: {%c: 'true'}}]}}",
			row->texts[3]);
	}
	for (row++; row < rows + BT_ARRAY_LENGTH(rows) &&
		(row->kind == ROW_RULE || row->kind == ROW_PATHS);
		row++) {
		struct bt_json_value *rule = bt_json_new(arena, BT_JSON_OBJECT);
		set_words(arena, rule, "verbs", row->texts[0]);
		if (row->kind == ROW_PATHS) {
			set_words(arena, rule, "nonResourceURLs", row->texts[1]);
		} else {
			set_words(arena, rule, "apiGroups", row->texts[1]);
			set_words(arena, rule, "resources", row->texts[2]);
			set_words(arena, rule, "resourceNames", row->texts[3]);
		}
		bt_json_append(arena, rules, rule);
	}
	return role;
}

static struct bt_json_value *make_binding(const struct row *row, struct bt_arena *arena)
{
	struct bt_json_value *binding = new_object(arena, row->texts[1]);
	struct bt_str names = bt_str_from(row->texts[5]);
	bt_json_put(arena, binding, "{roleRef: {apiGroup: '" GROUP "', kind: %c, name: %c}}",
		row->texts[2], row->texts[3]);
	while (names.length != 0) {
		struct bt_str name = bt_str_cut(&names, ' ');
		struct bt_json_value *subject =
			bt_json_put(arena, NULL, "{kind: %c}", row->texts[4]);
		if (bt_str_equal_c(bt_str_from(row->texts[4]), "ServiceAccount")) {
			bt_json_set_str(arena, subject, "namespace", bt_str_cut(&name, ':'));
		} else {
			bt_json_set_c(arena, subject, "apiGroup", GROUP);
		}
		bt_json_set_str(arena, subject, "name", name);
		bt_json_append(arena, bt_json_ensure_array(arena, binding, "subjects"), subject);
	}
	return binding;
}

/** Creates an object, unless it exists. namespace_ "": cluster scope. Empties the arena. */
static void create(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_str namespace_, struct bt_json_value *object, struct bt_arena *arena)
{
	struct bt_str key = bt_api_key(arena, namespace_, bt_json_text_at(object, "metadata.name"));
	if (bt_store_find(api->options.store, resource->collection, key) == NULL) {
		struct bt_api_request request = BT_API_REQUEST_INIT;
		struct bt_api_answer answer;
		request.verb = BT_VERB_CREATE;
		request.resource = resource;
		request.namespace_ = namespace_;
		request.body = object;
		bt_api_perform(api, &request, arena, &answer);
		/*
		 * The create can fail only if the store was reopened while kube-system was being
		 * deleted.
		 */
		BT_ASSERT(answer.code == 201 || namespace_.length != 0);
		bt_api_answer_finish(&answer);
	}
	bt_arena_reset(arena);
}

static const struct level {
	const char *name;
	int32_t shares;
	int32_t lendable_percent;
	int32_t queues; /* 0: requests beyond the limit are refused */
	int32_t hand_size;
} levels[] = {
	{"catch-all", 5, 0, 0, 0},
	{"global-default", 20, 50, 128, 6},
	{"leader-election", 10, 0, 16, 4},
	{"node-high", 40, 25, 64, 6},
	{"system", 30, 33, 64, 6},
	{"workload-high", 40, 50, 128, 6},
	{"workload-low", 100, 90, 128, 6},
};

/* Parts of the templates of flow schemas. */
#define GROUP_OF(name_) "{kind: 'Group', group: {name: '" name_ "'}}"
#define USER(name_) "{kind: 'User', user: {name: '" name_ "'}}"
#define ACCOUNT(name_) \
	"{kind: 'ServiceAccount', serviceAccount: {namespace: 'kube-system', name: '" name_ "'}}"
#define EVERYBODY GROUP_OF("system:authenticated") "," GROUP_OF("system:unauthenticated")
#define SUBJECTS(list_) "{spec: {rules: [{subjects: [" list_ "], "
#define CLUSTER_WIDE "clusterScope: true, namespaces: ['*']}"
#define ALL \
	"resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], " CLUSTER_WIDE "], " \
	"nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}]}]}}"
#define NODES \
	"resourceRules: [{verbs: ['*'], apiGroups: [''], resources: ['nodes', " \
	"'nodes/status'], " CLUSTER_WIDE ", {verbs: ['*'], apiGroups: ['coordination.k8s.io'], " \
	"resources: ['leases'], namespaces: ['*']}]}]}}"
#define WRITE(group_, resource_, namespace_) \
	"resourceRules: [{verbs: ['get', 'create', 'update'], apiGroups: ['" group_ "'], " \
	"resources: ['" resource_ "'], namespaces: ['" namespace_ "']}]}]}}"
#define LEASES WRITE("coordination.k8s.io", "leases", "*")
#define ENDPOINTS WRITE("", "endpoints", "kube-system")
#define PROBES \
	"nonResourceRules: [{verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez']}]" \
	"}]}}"

static const struct schema {
	const char *name;
	const char *level;
	const char *distinguisher; /* NULL: none */
	int32_t precedence;
	const char *rules; /* template */
} schemas[] = {
	{"catch-all", "catch-all", "ByUser", 10000, SUBJECTS(EVERYBODY) ALL},
	{"endpoint-controller", "workload-high", "ByUser", 150,
		SUBJECTS(USER("system:kube-controller-manager") "," ACCOUNT(
			"endpoint-controller") "," ACCOUNT("endpointslicemirroring-controller"))
			ENDPOINTS},
	{"exempt", "exempt", NULL, 1, SUBJECTS(GROUP_OF("system:masters")) ALL},
	{"global-default", "global-default", "ByUser", 9900, SUBJECTS(EVERYBODY) ALL},
	{"kube-controller-manager", "workload-high", "ByNamespace", 800,
		SUBJECTS(USER("system:kube-controller-manager")) ALL},
	{"kube-scheduler", "workload-high", "ByNamespace", 800,
		SUBJECTS(USER("system:kube-scheduler")) ALL},
	{"kube-system-service-accounts", "workload-high", "ByNamespace", 900,
		SUBJECTS(ACCOUNT("*")) ALL},
	{"probes", "exempt", NULL, 2, SUBJECTS(EVERYBODY) PROBES},
	{"service-accounts", "workload-low", "ByUser", 9000,
		SUBJECTS(GROUP_OF("system:serviceaccounts")) ALL},
	{"system-leader-election", "leader-election", "ByUser", 100,
		SUBJECTS(USER("system:kube-controller-manager") "," USER(
			"system:kube-scheduler") "," ACCOUNT("*")) LEASES},
	{"system-node-high", "node-high", "ByUser", 400, SUBJECTS(GROUP_OF("system:nodes")) NODES},
	{"system-nodes", "system", "ByUser", 500, SUBJECTS(GROUP_OF("system:nodes")) ALL},
	{"workload-leader-election", "leader-election", "ByUser", 200,
		SUBJECTS(ACCOUNT("cronjob-controller") "," ACCOUNT(
			"deployment-controller") "," ACCOUNT("statefulset-controller")) LEASES},
};

static struct bt_json_value *new_flow_object(struct bt_arena *arena, const char *name)
{
	return bt_json_put(arena, NULL,
		"{metadata: {name: %c, annotations: {'apf.kubernetes.io/autoupdate-spec': "
	        "'true'}}}",
		name);
}

static void create_flow_control(struct bt_api *api, struct bt_arena *arena)
{
	const char *group = "flowcontrol.apiserver.k8s.io";
	const struct bt_api_resource *resource =
		bt_resources_builtin(api->resources, group, "prioritylevelconfigurations");
	create(api, resource, BT_STR(""),
		bt_json_put(arena, new_flow_object(arena, "exempt"), "{spec: {type: 'Exempt'}}"),
		arena);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(levels); i++) {
		const struct level *level = &levels[i];
		struct bt_json_value *object =
			bt_json_put(arena, new_flow_object(arena, level->name),
				"{spec: {type: 'Limited', limited: {nominalConcurrencyShares: %d, "
				"lendablePercent: %d, limitResponse: {type: %c}}}}",
				(int64_t)level->shares, (int64_t)level->lendable_percent,
				level->queues != 0 ? "Queue" : "Reject");
		if (level->queues != 0) {
			bt_json_put(arena, object,
				"{spec: {limited: {limitResponse: {queuing: {queues: %d, "
				"handSize: %d, queueLengthLimit: %d}}}}}",
				(int64_t)level->queues, (int64_t)level->hand_size, INT64_C(50));
		}
		create(api, resource, BT_STR(""), object, arena);
	}
	resource = bt_resources_builtin(api->resources, group, "flowschemas");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(schemas); i++) {
		const struct schema *schema = &schemas[i];
		struct bt_json_value *object = bt_json_put(arena,
			new_flow_object(arena, schema->name),
			"{spec: {priorityLevelConfiguration: {name: %c}, matchingPrecedence: %d, "
			"distinguisherMethod?: {type: %c}}}",
			schema->level, (int64_t)schema->precedence, schema->distinguisher);
		create(api, resource, BT_STR(""), bt_json_put(arena, object, schema->rules), arena);
	}
}

void bt_api_bootstrap(struct bt_api *api)
{
	static const char *const namespaces[] = {
		"default", "kube-system", "kube-public", "kube-node-lease"};
	static const struct {
		const char *name;
		int64_t value;
		const char *description;
	} classes[] = {
		{"system-cluster-critical", 2000000000,
			"Used for system critical pods that must run in the cluster, but can be "
			"moved to another node if necessary."},
		{"system-node-critical", 2000001000,
			"Used for system critical pods that must not be moved from their current "
			"node."},
	};
	struct bt_arena arena = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(namespaces); i++) {
		create(api, api->namespaces, BT_STR(""),
			bt_json_put(&arena, NULL, "{metadata: {name: %c}}", namespaces[i]), &arena);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
		create(api,
			bt_resources_builtin(
				api->resources, "scheduling.k8s.io", "priorityclasses"),
			BT_STR(""),
			bt_json_put(&arena, NULL,
				"{metadata: {name: %c}, value: %d, description: %c}",
				classes[i].name, classes[i].value, classes[i].description),
			&arena);
	}
	create_flow_control(api, &arena);
	/*
	 * Creates an APIService for each group and version of the built-in resources, except
	 * apiregistration.k8s.io itself and metrics.k8s.io, whose APIService comes with a metrics
	 * server.
	 */
	const struct bt_api_resource *services =
		bt_resources_builtin(api->resources, "apiregistration.k8s.io", "apiservices");
	for (uint32_t i = 0; i < bt_resources_count(api->resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(api->resources, i);
		bool is_core = resource->group[0] == '\0';
		bool is_stable = strstr(resource->version, "beta") == NULL &&
			strstr(resource->version, "alpha") == NULL;
		if ((resource->flags & BT_RESOURCE_CUSTOM) != 0 ||
			strcmp(resource->group, services->group) == 0 ||
			strcmp(resource->group, "metrics.k8s.io") == 0) {
			continue;
		}
		int64_t version_priority = is_stable ? 15 : 9;
		create(api, services, BT_STR(""),
			bt_json_put(&arena, NULL,
				"{metadata: {name: %s, labels: "
				"{'kube-aggregator.kubernetes.io/automanaged': 'onstart'}}, spec: "
				"{group: %c, version: %c, groupPriorityMinimum: %d, "
				"versionPriority: %d}}",
				bt_arena_printf(
					&arena, "%s.%s", resource->version, resource->group),
				resource->group, resource->version,
				is_core ? INT64_C(18000) : INT64_C(17000),
				is_core ? INT64_C(1) : version_priority),
			&arena);
	}
	for (size_t i = 0; api->options.has_rbac && i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		bool is_role = row->kind == ROW_ROLE;
		if (!is_role && row->kind != ROW_BINDING) {
			continue;
		}
		struct bt_str namespace_ = bt_str_from(row->texts[0]);
		const char *resource = is_role ? "roles" : "rolebindings";
		if (namespace_.length == 0) {
			resource = is_role ? "clusterroles" : "clusterrolebindings";
		}
		create(api, bt_resources_builtin(api->resources, GROUP, resource), namespace_,
			is_role ? make_role(row, &arena) : make_binding(row, &arena), &arena);
	}
	bt_arena_finish(&arena);
}
