/* SPDX-License-Identifier: Apache-2.0 */
#include "writes_world.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "config/gates.h"

static void replace_quotes(char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			*text = '"';
		}
	}
}

static uint32_t in_flight_max(void *context)
{
	const struct writes_world *world = context;
	return world->in_flight_max != 0 ? world->in_flight_max : UINT32_MAX;
}

static int64_t now_of(void *context)
{
	const struct writes_world *world = context;
	return world->now_ns;
}

static bool may_write(void *context)
{
	struct writes_world *world = context;
	bool may = world->may_write;
	world->may_write = may && !world->loses_lease;
	return may;
}

static void log_event(void *context, const struct bt_event_delivery *event, bool patches BT_UNUSED)
{
	struct writes_world *world = context;
	bt_strbuf_printf(&world->event_log, "%.*s %.*s: %.*s\n",
		BT_STR_ARG(bt_event_record_part(event->record, BT_EVENT_REASON)),
		BT_STR_ARG(bt_event_record_part(event->record, BT_EVENT_NAME)),
		BT_STR_ARG(bt_event_record_part(event->record, BT_EVENT_NOTE)));
}

static void connect_client(struct writes_world *world, const char *content_type)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf url = {0};
	bt_strbuf_printf(&url, "http://127.0.0.1:%u", world->server.port);
	struct bt_client_config_input input = {.master = bt_strbuf_c(&url)};
	ck_assert_msg(bt_client_config_load(&input, &world->client_config, &err) == 0, "%s",
		berth_error_message(&err));
	struct bt_transport_options transport = {
		.loop = world->loop, .config = &world->client_config};
	ck_assert_int_eq(bt_transport_create(&transport, &world->transport, &err), 0);
	struct bt_rest_options rest = {
		.transport = world->transport,
		.loop = world->loop,
		.user_agent = "test",
		.content_type = bt_str_from(content_type),
		.qps = -1,
	};
	ck_assert_int_eq(bt_rest_client_create(&rest, &world->client, &err), 0);
	bt_strbuf_finish(&url);
}

static void create_scheduler(struct writes_world *world, const char *gate_text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_gates gates = bt_gates_default();
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	if (gate_text != NULL) {
		ck_assert_int_eq(bt_gates_set(&gates, bt_str_from(gate_text), &err), 0);
	}
	world->config = bt_config_create_default(&gates);
	options.verify = true;
	options.tie_policy = BT_TIE_FIRST_BY_NAME;
	ck_assert_int_eq(bt_scheduler_create(world->config, &options,
				 bt_api_writes_writer(world->writes), &world->scheduler, &err),
		0);
	bt_api_writes_attach(world->writes, world->scheduler);
}

void writes_world_answer_by_script(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	struct script *script = context;
	char line[512];
	(void)snprintf(line, sizeof(line), "%s %s", request->method, request->path);
	for (uint32_t i = 0; i < script->count; i++) {
		struct row *row = &script->rows[i];
		if (row->times != 0 && strncmp(line, row->begins, strlen(row->begins)) == 0) {
			row->times--;
			*out_answer = row->answer;
			return;
		}
	}
}

void writes_world_init(struct writes_world *world, const struct writes_world_options *options)
{
	const char *content_type =
		options->content_type != NULL ? options->content_type : "application/json";
	*world = (struct writes_world){.now_ns = WORLD_NOW_NS, .may_write = true};
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.answer = options->answer;
	world->server.context = options->context;
	connect_client(world, content_type);
	struct bt_event_sink sink = {.context = world, .send = log_event};
	world->events = bt_event_recorder_create(&sink);
	struct bt_api_writes_options writes = {
		.client = world->client,
		.loop = world->loop,
		.events = world->events,
		.may_write = may_write,
		.now_ns = now_of,
		.context = world,
		.in_flight_max = in_flight_max,
		.seed = 1,
	};
	world->writes = bt_api_writes_create(&writes);
	bt_object_store_init(&world->objects);
	create_scheduler(world, options->gates);
}

void writes_world_finish(struct writes_world *world)
{
	bt_api_writes_destroy(world->writes);
	bt_scheduler_destroy(world->scheduler);
	bt_object_store_finish(&world->objects);
	bt_config_unref(world->config);
	bt_event_recorder_destroy(world->events);
	bt_rest_client_destroy(world->client);
	bt_transport_destroy(world->transport);
	bt_client_config_finish(&world->client_config);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	bt_strbuf_finish(&world->event_log);
}

void writes_world_observe(struct writes_world *world, enum bt_kind kind, const char *json)
{
	struct bt_strbuf text = {0};
	struct bt_json_reader reader;
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	bt_strbuf_append_c(&text, json);
	replace_quotes(text.data);
	bt_json_reader_init(&reader, bt_strbuf_str(&text));
	int result = bt_object_decode_as(kind, &reader, &object, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	struct bt_object *old = bt_object_store_find_object(
		&world->objects, kind, object->meta->namespace_, object->meta->name);
	old = old != NULL ? bt_object_share(old) : NULL;
	bt_object_store_put(&world->objects, bt_object_share(object));
	ck_assert_int_eq(
		bt_scheduler_observe(world->scheduler, old, object, world->now_ns, &err), 0);
	bt_object_release(old);
	bt_object_release(object);
	bt_strbuf_finish(&text);
}

void writes_world_node(struct writes_world *world, const char *name)
{
	char json[512];
	(void)snprintf(json, sizeof(json),
		"{'metadata':{'name':'%s','uid':'u-%s','labels':{'kubernetes.io/hostname':'%s'}},"
		"'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'10'}}}",
		name, name, name);
	writes_world_observe(world, BT_KIND_NODE, json);
}

void writes_world_turn(struct writes_world *world, struct bt_attempt *out_attempt)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bt_api_writes_deliver(world->writes);
	(void)bt_scheduler_step(world->scheduler, world->now_ns, out_attempt);
	if (out_attempt->outcome == BT_ATTEMPT_IDLE) {
		ck_assert_int_eq(bt_loop_turn(world->loop, 20 * WORLD_SECOND / 1000, &err), 0);
	}
}

enum bt_attempt_outcome writes_world_run(struct writes_world *world)
{
	enum bt_attempt_outcome last = BT_ATTEMPT_IDLE;
	for (uint32_t idle = 0; idle < 3;) {
		struct bt_attempt attempt;
		writes_world_turn(world, &attempt);
		if (attempt.outcome != BT_ATTEMPT_IDLE) {
			last = attempt.outcome;
			idle = 0;
		} else {
			idle += bt_api_writes_in_flight(world->writes) == 0;
		}
	}
	return last;
}

const char *writes_world_log(struct writes_world *world)
{
	return scripted_server_log(&world->server);
}

const char *writes_world_events(struct writes_world *world)
{
	static char text[16384];
	(void)snprintf(text, sizeof(text), "%s", bt_strbuf_c(&world->event_log));
	bt_strbuf_reset(&world->event_log);
	return text;
}
