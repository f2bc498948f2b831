/* SPDX-License-Identifier: Apache-2.0 */
#include "sched_world.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "config/gates.h"

struct bt_str world_json(struct bt_arena *arena, const char *json)
{
	size_t length = strlen(json);
	char *text = bt_arena_alloc_bytes(arena, length + 1);

	for (size_t i = 0; i <= length; i++) {
		text[i] = json[i] == '\'' ? '"' : json[i];
	}
	return (struct bt_str){text, (uint32_t)length};
}

static void decode(
	struct world *world, const struct bt_message *message, const char *json, void *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, world_json(&world->arena, json));
	code = bt_message_decode_json(message, &reader, &world->arena, out, &err);
	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
}

static void append_entry(struct bt_strbuf *out, struct bt_str entry)
{
	int64_t colon = bt_str_find_char(entry, ':');
	struct bt_str name = colon < 0 ? entry : bt_str_sub(entry, 0, (uint32_t)colon);

	bt_strbuf_printf(out, "{'name':'%.*s'", BT_STR_ARG(name));
	if (colon >= 0) {
		struct bt_str weight = bt_str_sub(entry, (uint32_t)colon + 1, BT_STR_MAX);

		bt_strbuf_printf(out, ",'weight':%.*s", BT_STR_ARG(weight));
	}
	bt_strbuf_append_char(out, '}');
}

const char *world_profile(
	struct bt_arena *arena, const char *scheduler_name, const char *plugins, const char *more)
{
	struct bt_str rest = bt_str_from(plugins);
	struct bt_strbuf text = {0};
	struct bt_str copy;

	bt_strbuf_printf(&text,
		"{'schedulerName':'%s',%s'plugins':{'multiPoint':{'disabled':"
		"[{'name':'*'}],'enabled':[{'name':'PrioritySort'}",
		scheduler_name, more);
	while (rest.length > 0) {
		int64_t comma = bt_str_find_char(rest, ',');
		struct bt_str entry = comma < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)comma);

		rest = comma < 0 ? BT_STR("") : bt_str_sub(rest, (uint32_t)comma + 1, BT_STR_MAX);
		while (entry.length > 0 && entry.data[0] == ' ') {
			entry = bt_str_sub(entry, 1, BT_STR_MAX);
		}
		bt_strbuf_append_char(&text, ',');
		append_entry(&text, entry);
	}
	/* DefaultBinder is last, so that a script may bind first. */
	bt_strbuf_append_c(&text, ",{'name':'DefaultBinder'}]}}}");
	copy = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

struct bt_config *world_load_config(struct bt_arena *arena, const char *config)
{
	return world_load_config_gated(arena, "", config);
}

struct bt_config *world_load_config_gated(
	struct bt_arena *arena, const char *gate_text, const char *config)
{
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_config *loaded = NULL;
	struct bt_str json;
	int code = bt_gates_set(&gates, bt_str_from(gate_text), &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	if (config[0] != '{') {
		config = bt_arena_printf(arena, "{'profiles':[%s]}",
			world_profile(arena, "default-scheduler", config, ""))
				 .data;
	}
	json = bt_arena_printf(arena,
		"{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':'KubeSchedulerConfiguration'"
		"%s%s",
		config[1] == '}' ? "" : ",", config + 1);
	code = bt_config_load(world_json(arena, json.data), &gates, &loaded, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	return loaded;
}

void world_init(struct world *world, const char *config, const struct bt_engine_options *options,
	struct script *const *scripts, uint32_t script_count)
{
	struct bt_engine_options with_scripts = BT_ENGINE_OPTIONS_INIT;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_registry registry;
	int code;

	*world = (struct world){0};
	world->config = world_load_config(&world->arena, config);
	registry = (struct bt_registry){0};
	for (uint32_t i = 0; i < script_count; i++) {
		code = bt_registry_register(&registry, &scripts[i]->fake.ops, &err);
		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	}
	if (options != NULL) {
		with_scripts = *options;
	}
	with_scripts.extra_plugins = &registry;
	code = bt_engine_create(world->config, &with_scripts, &world->engine, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	bt_vec_finish(&registry.entries);
	world->framework = world->engine->profiles.frameworks.items[0];
	fake_log_reset();
}

void world_finish(struct world *world)
{
	for (uint32_t i = 0; i < world->pods.count; i++) {
		bt_pod_info_finish_pending(world->engine->state, world->pods.items[i]);
	}
	bt_vec_finish(&world->pods);
	bt_engine_destroy(world->engine);
	bt_config_unref(world->config);
	bt_arena_finish(&world->arena);
}

struct bt_pod *world_pod(struct world *world, const char *json)
{
	struct bt_pod *pod = BT_ARENA_NEW(&world->arena, struct bt_pod);

	decode(world, &bt_pod_message, json, pod);
	if (pod->metadata.name.length == 0) {
		pod->metadata.name = bt_arena_printf(&world->arena, "pod-%u", world->pod_number);
	}
	if (pod->metadata.uid.length == 0) {
		pod->metadata.uid = bt_arena_printf(&world->arena, "uid-%u", world->pod_number);
	}
	if (pod->metadata.namespace_.length == 0) {
		pod->metadata.namespace_ = BT_STR("default");
	}
	world->pod_number++;
	return pod;
}

struct bt_node *world_node(struct world *world, const char *json)
{
	struct bt_node *node = BT_ARENA_NEW(&world->arena, struct bt_node);

	decode(world, &bt_node_message, json, node);
	return node;
}

void world_add_nodes(struct world *world, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		world_add_node(world,
			bt_arena_printf(&world->arena,
				"{'metadata':{'name':'n%u'},'status':{'allocatable':{'pods':'1000'"
				"}}}",
				i)
				.data);
	}
}

void world_add_node(struct world *world, const char *json)
{
	bt_state_add_node(world->engine->state, world_node(world, json));
}

void world_remove_node(struct world *world, const char *name)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const char *json = bt_arena_printf(&world->arena, "{'metadata':{'name':'%s'}}", name).data;
	int code = bt_state_remove_node(world->engine->state, world_node(world, json), &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

void world_add_pod(struct world *world, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_state_add_pod(world->engine->state, world_pod(world, json), &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

const struct bt_pod_info *world_pending(struct world *world, const char *json)
{
	struct bt_pod_info *info = BT_ARENA_NEW(&world->arena, struct bt_pod_info);

	bt_pod_info_init_pending(world->engine->state, world_pod(world, json), info);
	bt_vec_push(&world->pods, info);
	return info;
}

struct bt_schedule_result world_schedule(struct world *world, const char *pod_json)
{
	return world_schedule_pod(world, world_pending(world, pod_json));
}

struct bt_schedule_result world_schedule_pod(struct world *world, const struct bt_pod_info *pod)
{
	struct bt_framework *framework = world->framework;
	struct bt_schedule_result result;

	if (pod->object->spec.scheduler_name.length != 0) {
		framework = bt_engine_profile(world->engine, pod->object->spec.scheduler_name);
	}
	bt_engine_schedule(world->engine, framework, pod, NULL, &result);
	return result;
}

uint32_t world_slot(struct world *world, const char *node)
{
	return bt_state_snapshot_find(world->engine->state, bt_str_from(node));
}

const char *world_chosen(struct world *world, const struct bt_schedule_result *result)
{
	if (result->slot == BT_SLOT_NONE) {
		return "";
	}
	return bt_arena_str(
		&world->arena, bt_node_table_name(&world->engine->state->nodes, result->slot))
		.data;
}

const char *world_message(struct world *world, const struct bt_schedule_result *result)
{
	return bt_arena_str(&world->arena, bt_status_message_str(&result->status, &world->arena))
		.data;
}

const char *world_plugins(struct world *world, const struct bt_plugin_set *set)
{
	const struct bt_framework *framework = world->framework;
	struct bt_str names[BT_PLUGINS_MAX];
	struct bt_strbuf text = {0};
	struct bt_str copy;
	uint32_t count = 0;

	for (uint32_t i = 0; i < framework->instances.count; i++) {
		if (bt_plugin_set_has(set, i)) {
			names[count++] = bt_framework_plugin_name(framework, i);
		}
	}
	qsort(names, count, sizeof(names[0]), bt_str_compare_qsort);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? " " : "");
		bt_strbuf_append_str(&text, names[i]);
	}
	copy = bt_arena_str(&world->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}
