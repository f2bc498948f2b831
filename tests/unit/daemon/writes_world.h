/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_WRITES_WORLD_H
#define BT_TESTS_UNIT_WRITES_WORLD_H
/** A running scheduler whose writes go to a scripted server over real sockets. JSON has ' for ". */
#include "client/rest.h"
#include "daemon/api_writes.h"
#include "sched/scheduler.h"
#include "scripted_server.h"

#define WORLD_SECOND INT64_C(1000000000)
/** 2026-01-02T03:04:05Z */
#define WORLD_NOW_NS (INT64_C(1767323045) * WORLD_SECOND)

struct writes_world {
	struct bt_loop *loop;
	struct scripted_server server;
	struct bt_client_config client_config;
	struct bt_transport *transport;
	struct bt_rest_client *client;
	struct bt_event_recorder *events;
	struct bt_api_writes *writes;
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_object_store objects;
	struct bt_strbuf event_log; /* "<reason> <name>: <note>\n" */
	int64_t now_ns;
	uint32_t version;
	bool may_write;
	uint32_t in_flight_max; /* 0: unlimited */
	bool loses_lease;       /* the lease is lost after the next check */
};

struct writes_world_options {
	const char *content_type; /* NULL: application/json */
	const char *gates;        /* as --feature-gates; NULL: the defaults */
	void (*answer)(void *context, const struct scripted_request *request,
		struct scripted_answer *out_answer);
	void *context;
};

/**
 * The answer to requests whose "METHOD path" begins with a text, and how often the answer is given.
 */
struct row {
	const char *begins; /* such as "POST /api" */
	uint32_t times;
	struct scripted_answer answer;
};

struct script {
	struct row rows[8];
	uint32_t count;
};

/**
 * An answer function for the options; context: a struct script. Uses the first matching row with
 * answers left, or answers 200 {} if there is none.
 */
void writes_world_answer_by_script(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer);

#define STATUS(code, reason, message) \
	{ \
		(code), NULL, \
			BT_STR_INIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}," \
				    "\"status\":\"Failure\",\"message\":\"" message \
				    "\",\"reason\":\"" reason "\",\"code\":" #code "}"), \
			false, false \
	}

#define CREATED \
	{ \
		201, NULL, \
			BT_STR_INIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}," \
				    "\"status\":\"Success\",\"code\":201}"), \
			false, false \
	}

void writes_world_init(struct writes_world *world, const struct writes_world_options *options);
void writes_world_finish(struct writes_world *world);
/** Delivers a new version of an object to the scheduler, as a watch does. */
void writes_world_observe(struct writes_world *world, enum bt_kind kind, const char *json);
void writes_world_node(struct writes_world *world, const char *name);
/** Runs one turn of the loop and the daemon's work in it; *out_attempt: the last attempt. */
void writes_world_turn(struct writes_world *world, struct bt_attempt *out_attempt);
/**
 * Runs until no request is in flight and no pod can be tried. Returns the outcome of the last
 * attempt that tried a pod.
 */
enum bt_attempt_outcome writes_world_run(struct writes_world *world);
/** Returns the requests since the last call. */
const char *writes_world_log(struct writes_world *world);
/** Returns the events since the last call. */
const char *writes_world_events(struct writes_world *world);
#endif
