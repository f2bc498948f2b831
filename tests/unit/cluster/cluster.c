/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"

#include <check.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "codec/json_edit.h"

#define START_NS INT64_C(1795262400000000000)

void cluster_init(struct cluster *cluster, const char *names)
{
	static const struct bt_api_request no_options = BT_API_REQUEST_INIT;
	struct bt_cluster_options options = {
		.start_ns = START_NS, .controllers = bt_controllers_default_options, .seed = 1};

	options.controllers.root_ca = "certificates";

	struct bt_gates gates = bt_gates_default();

	gates.enabled[BT_GATE_GENERIC_WORKLOAD] = true;
	options.gates = &gates;
	*cluster = (struct cluster){.api = {.request = no_options}};
	while (names != NULL && *names != '\0') {
		size_t length = strcspn(names, ",");
		cluster->names[options.controllers.name_count++] =
			bt_arena_str(&cluster->api.arena, (struct bt_str){names, (uint32_t)length})
				.data;
		names += length + (names[length] == ',');
	}
	options.controllers.names = cluster->names;
	ck_assert_int_eq(bt_cluster_create(&options, &cluster->cluster, NULL), 0);
	cluster->api.api = cluster->cluster->api;
	cluster->api.store = cluster->cluster->store;
}

void cluster_finish(struct cluster *cluster)
{
	bt_api_answer_finish(&cluster->api.answer);
	bt_cluster_destroy(cluster->cluster);
	bt_arena_finish(&cluster->api.arena);
}

void cluster_run(struct cluster *cluster, int64_t milliseconds)
{
	struct berth_error err = {0};
	int code = 0;

	if (cluster->controllers == NULL) {
		code = bt_cluster_start(cluster->cluster, &err);
		ck_assert_msg(code == 0, "%s", err.message);
		cluster->controllers = cluster->cluster->controllers;
	}
	code = bt_cluster_run_until(cluster->cluster,
		bt_api_now_ns(cluster->api.api) + milliseconds * BT_NS_PER_MS, &err);
	ck_assert_msg(code == 0, "%s", err.message);
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

	walk = bt_store_walk_current(cluster->api.store, events->collection, BT_STR(""));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		count += bt_str_equal_c(
			bt_json_text_at(bt_api_parse_stored(stored, &cluster->api.arena), "reason"),
			reason);
	}
	bt_store_walk_end(&walk);
	return count;
}
