/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Objects that the API server creates: APIServices of its groups, and the priority levels and flow
 * schemas of every new cluster. This server does not queue requests by them.
 */
#include <inttypes.h>

#include "base/assert.h"
#include "server/write.h"

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

#define RESOURCES(verbs_, groups_, resources_) \
	"{\"verbs\":" verbs_ ",\"apiGroups\":" groups_ ",\"resources\":" resources_ \
	",\"clusterScope\":true,\"namespaces\":[\"*\"]}"
#define ALL_RESOURCES "[" RESOURCES("[\"*\"]", "[\"*\"]", "[\"*\"]") "]"
#define ALL_PATHS "[{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]"
#define LEASES \
	"[{\"verbs\":[\"get\",\"create\",\"update\"],\"apiGroups\":[\"coordination.k8s.io\"]," \
	"\"resources\":[\"leases\"],\"namespaces\":[\"*\"]}]"
#define NODES \
	"[" RESOURCES("[\"*\"]", "[\"\"]", \
		"[\"nodes\",\"nodes/status\"]") ",{\"verbs\":[\"*\"],\"apiGroups\":[" \
						"\"coordination.k8s.io\"],\"resources\":[" \
						"\"leases\"]," \
						"\"namespaces\":[\"*\"]}]"
#define ENDPOINTS \
	"[{\"verbs\":[\"get\",\"create\",\"update\"],\"apiGroups\":[\"\"],\"resources\":" \
	"[\"endpoints\"],\"namespaces\":[\"kube-system\"]}]"
#define GROUP(name_) "{\"kind\":\"Group\",\"group\":{\"name\":\"" name_ "\"}}"
#define USER(name_) "{\"kind\":\"User\",\"user\":{\"name\":\"" name_ "\"}}"
#define ACCOUNT(name_) \
	"{\"kind\":\"ServiceAccount\",\"serviceAccount\":{\"namespace\":\"kube-system\"," \
	"\"name\":\"" name_ "\"}}"
#define EVERYBODY GROUP("system:authenticated") "," GROUP("system:unauthenticated")
#define PROBES "[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/healthz\",\"/readyz\",\"/livez\"]}]"

static const struct schema {
	const char *name;
	const char *level;
	const char *distinguisher; /* NULL: none */
	int32_t precedence;
	const char *subjects;
	const char *resources; /* NULL: none */
	const char *paths;
} schemas[] = {
	{"catch-all", "catch-all", "ByUser", 10000, EVERYBODY, ALL_RESOURCES, ALL_PATHS},
	{"endpoint-controller", "workload-high", "ByUser", 150,
		USER("system:kube-controller-manager") "," ACCOUNT(
			"endpoint-controller") "," ACCOUNT("endpointslicemirroring-controller"),
		ENDPOINTS, NULL},
	{"exempt", "exempt", NULL, 1, GROUP("system:masters"), ALL_RESOURCES, ALL_PATHS},
	{"global-default", "global-default", "ByUser", 9900, EVERYBODY, ALL_RESOURCES, ALL_PATHS},
	{"kube-controller-manager", "workload-high", "ByNamespace", 800,
		USER("system:kube-controller-manager"), ALL_RESOURCES, ALL_PATHS},
	{"kube-scheduler", "workload-high", "ByNamespace", 800, USER("system:kube-scheduler"),
		ALL_RESOURCES, ALL_PATHS},
	{"kube-system-service-accounts", "workload-high", "ByNamespace", 900, ACCOUNT("*"),
		ALL_RESOURCES, ALL_PATHS},
	{"probes", "exempt", NULL, 2, EVERYBODY, NULL, PROBES},
	{"service-accounts", "workload-low", "ByUser", 9000, GROUP("system:serviceaccounts"),
		ALL_RESOURCES, ALL_PATHS},
	{"system-leader-election", "leader-election", "ByUser", 100,
		USER("system:kube-controller-manager") "," USER(
			"system:kube-scheduler") "," ACCOUNT("*"),
		LEASES, NULL},
	{"system-node-high", "node-high", "ByUser", 400, GROUP("system:nodes"), NODES, NULL},
	{"system-nodes", "system", "ByUser", 500, GROUP("system:nodes"), ALL_RESOURCES, ALL_PATHS},
	{"workload-leader-election", "leader-election", "ByUser", 200,
		ACCOUNT("cronjob-controller") "," ACCOUNT("deployment-controller") "," ACCOUNT(
			"statefulset-controller"),
		LEASES, NULL},
};

#define METADATA \
	"{\"metadata\":{\"name\":\"%s\",\"annotations\":{" \
	"\"apf.kubernetes.io/autoupdate-spec\":\"true\"}},\"spec\":{"

static void create(struct bt_api *api, const struct bt_api_resource *resource,
	struct bt_strbuf *text, struct bt_arena *arena)
{
	struct bt_json_value *object;
	int result = bt_json_parse(arena, bt_strbuf_str(text), true, &object, NULL);
	BT_ASSERT(result == 0);
	bt_api_create_if_missing(api, resource, object, arena);
	bt_strbuf_reset(text);
	bt_arena_reset(arena);
}

static void create_flow_control(struct bt_api *api, struct bt_strbuf *text, struct bt_arena *arena)
{
	const char *group = "flowcontrol.apiserver.k8s.io";
	const struct bt_api_resource *resource =
		bt_resources_builtin(api->resources, group, "prioritylevelconfigurations");
	bt_strbuf_printf(text, METADATA "\"type\":\"Exempt\"}}", "exempt");
	create(api, resource, text, arena);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(levels); i++) {
		const struct level *level = &levels[i];
		bt_strbuf_printf(text,
			METADATA "\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":"
				 "%" PRId32 ",\"lendablePercent\":%" PRId32
				 ",\"limitResponse\":{\"type\":\"%s\"",
			level->name, level->shares, level->lendable_percent,
			level->queues != 0 ? "Queue" : "Reject");
		if (level->queues != 0) {
			bt_strbuf_printf(text,
				",\"queuing\":{\"queues\":%" PRId32 ",\"handSize\":%" PRId32
				",\"queueLengthLimit\":50}",
				level->queues, level->hand_size);
		}
		bt_strbuf_append_c(text, "}}}}");
		create(api, resource, text, arena);
	}
	resource = bt_resources_builtin(api->resources, group, "flowschemas");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(schemas); i++) {
		const struct schema *schema = &schemas[i];
		bt_strbuf_printf(text,
			METADATA "\"priorityLevelConfiguration\":{\"name\":\"%s\"},"
				 "\"matchingPrecedence\":%" PRId32,
			schema->name, schema->level, schema->precedence);
		if (schema->distinguisher != NULL) {
			bt_strbuf_printf(text, ",\"distinguisherMethod\":{\"type\":\"%s\"}",
				schema->distinguisher);
		}
		bt_strbuf_printf(text, ",\"rules\":[{\"subjects\":[%s]", schema->subjects);
		if (schema->resources != NULL) {
			bt_strbuf_printf(text, ",\"resourceRules\":%s", schema->resources);
		}
		if (schema->paths != NULL) {
			bt_strbuf_printf(text, ",\"nonResourceRules\":%s", schema->paths);
		}
		bt_strbuf_append_c(text, "}]}}");
		create(api, resource, text, arena);
	}
}

/**
 * One for each group and version of a built-in resource, except metrics.k8s.io, whose APIService
 * comes with a metrics server.
 */
static void create_api_services(struct bt_api *api, struct bt_strbuf *text, struct bt_arena *arena)
{
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
		bt_strbuf_printf(text,
			"{\"metadata\":{\"name\":\"%s.%s\",\"labels\":{"
			"\"kube-aggregator.kubernetes.io/automanaged\":\"onstart\"}},\"spec\":{"
			"\"group\":\"%s\",\"version\":\"%s\",\"groupPriorityMinimum\":%d,"
			"\"versionPriority\":%d}}",
			resource->version, resource->group, resource->group, resource->version,
			is_core ? 18000 : 17000,
			is_core             ? 1
				: is_stable ? 15
					    : 9);
		create(api, services, text, arena);
	}
}

void bt_api_bootstrap(struct bt_api *api)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	create_flow_control(api, &text, &arena);
	create_api_services(api, &text, &arena);
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
}
