/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"

#include <check.h>
#include <string.h>

#include "codec/json_edit.h"

static int64_t clock_of(void *context)
{
	return ((const struct cluster *)context)->api.now_ns;
}

void cluster_init(struct cluster *cluster, const char *names)
{
	static const struct bt_api_request no_options = BT_API_REQUEST_INIT;
	struct bt_api_options options = {
		.now_ns = clock_of,
		.clock_context = cluster,
		.seed = 1,
		.admit_taint_nodes = true,
		.admit_storage_protection = true,
		.admit_pod_group_protection = true,
	};

	*cluster = (struct cluster){.options = bt_controllers_default_options};
	cluster->api.now_ns = INT64_C(1795262400000000000);
	cluster->api.request = no_options;
	cluster->api.store = bt_store_create(&bt_store_default_options);
	options.store = cluster->api.store;
	cluster->api.api = bt_api_create(&options);
	while (names != NULL && *names != '\0') {
		size_t length = strcspn(names, ",");
		struct bt_str name =
			bt_arena_str(&cluster->api.arena, (struct bt_str){names, (uint32_t)length});
		cluster->names[cluster->options.name_count++] = name.data;
		names += length + (names[length] == ',');
	}
	cluster->options.names = cluster->names;
}

void cluster_finish(struct cluster *cluster)
{
	bt_controllers_destroy(cluster->controllers);
	api_fixture_finish(&cluster->api);
}

void cluster_run(struct cluster *cluster, int64_t milliseconds)
{
	int64_t end = cluster->api.now_ns + milliseconds * 1000000;
	struct berth_error err = {0};

	if (cluster->controllers == NULL) {
		int code = bt_controllers_create(
			cluster->api.api, &cluster->options, &cluster->controllers, &err);
		ck_assert_msg(code == 0, "%s", err.message);
	}
	for (uint32_t rounds = 0;; rounds++) {
		int64_t next = bt_controllers_run(cluster->controllers, cluster->api.now_ns);
		if (rounds > 100000) {
			ck_abort_msg("the controllers never rest");
		}
		if (next > end) {
			break;
		}
		if (next > cluster->api.now_ns) {
			cluster->api.now_ns = next;
		}
	}
	cluster->api.now_ns = end;
}

void cluster_create(
	struct cluster *cluster, const char *resource, const char *key, const char *body)
{
	uint16_t code = api_create(&cluster->api, resource, key, body);
	ck_assert_msg(code == 201, "%s %s: %u %s", resource, key, code,
		code == 201 ? "" : api_message(&cluster->api));
}

void cluster_patch(struct cluster *cluster, const char *resource, const char *key, const char *body)
{
	uint16_t code = api_patch(&cluster->api, BT_PATCH_MERGE, resource, key, body);
	ck_assert_msg(code == 200, "%s %s: %u %s", resource, key, code,
		code == 200 ? "" : api_message(&cluster->api));
}

void cluster_delete(struct cluster *cluster, const char *resource, const char *key)
{
	uint16_t code = api_delete(&cluster->api, resource, key);
	ck_assert_msg(code == 200, "%s %s: %u", resource, key, code);
}

void cluster_add_node(struct cluster *cluster, const char *name)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s'}},"
		"'status':{'capacity':{'cpu':'4','memory':'8Gi','pods':'10'}}}",
		name, name);
	cluster_create(cluster, "nodes", "", body.data);
}

bool cluster_has(struct cluster *cluster, const char *resource, const char *key)
{
	return api_get(&cluster->api, resource, key) == 200;
}

const char *cluster_text(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path)
{
	return cluster_has(cluster, resource, key) ? api_text(&cluster->api, dotted_path) : "";
}

const char *cluster_json(
	struct cluster *cluster, const char *resource, const char *key, const char *dotted_path)
{
	return cluster_has(cluster, resource, key) ? api_json(&cluster->api, dotted_path) : "";
}

const char *cluster_condition(
	struct cluster *cluster, const char *resource, const char *key, const char *type)
{
	const struct bt_json_value *list;

	if (!cluster_has(cluster, resource, key)) {
		return "";
	}
	list = bt_json_array_at(cluster->api.result, "status.conditions");
	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_json_value *entry = list->elements[i];
		if (bt_str_equal_c(bt_json_text_at(entry, "type"), type)) {
			struct bt_str status = bt_json_text_at(entry, "status");
			struct bt_str reason = bt_json_text_at(entry, "reason");
			struct bt_str text = bt_arena_printf(&cluster->api.arena, "%.*s/%.*s",
				BT_STR_ARG(status), BT_STR_ARG(reason));
			return text.data;
		}
	}
	return "";
}

uint32_t cluster_events(struct cluster *cluster, const char *reason)
{
	const struct bt_api_resource *events =
		bt_resources_builtin(bt_api_resources(cluster->api.api), "", "events");
	struct bt_store_walk walk;
	const struct bt_stored *stored;
	uint32_t count = 0;

	ck_assert_int_eq(bt_store_walk_begin(cluster->api.store, events->collection, 0, BT_STR(""),
				 BT_STR(""), &walk, NULL),
		0);
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		count += bt_str_equal_c(
			bt_json_text_at(bt_api_parse_stored(stored, &cluster->api.arena), "reason"),
			reason);
	}
	bt_store_walk_end(&walk);
	return count;
}
