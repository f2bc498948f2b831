/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_DEVICES_WORLD_H
#define BT_TESTS_UNIT_PLUGINS_DEVICES_WORLD_H
/** One pod with one claim, after Reserve, with an API that logs writes. */
#include "devices_fixture.h"

#define SECOND_NS (INT64_C(1000) * 1000 * 1000)
#define RESULT_A "{'request':'r','driver':'d','pool':'n1','device':'a'}"
#define FOR_P "{'resource':'pods','name':'p','uid':'uid-p'}"
/** Binding conditions of device a. */
#define CONDITIONS "'bindingConditions':['ready'],'bindingFailureConditions':['broken']"
#define RESULT_CONDITIONS "{'request':'r','driver':'d','pool':'n1','device':'a'," CONDITIONS "}"

/**
 * Node n1 with device a, the API, and the cycle of pod p with claim c; world_place runs the cycle
 * up to Reserve.
 */
struct world {
	struct fixture fixture;
	struct claim_recorder api;
	struct devices_cycle cycle;
};

/**
 * Makes the world without the cycle. args: arguments of the plugin; script: answers of the API
 * (struct claim_recorder).
 */
static inline void world_init_with(
	struct world *world, const char *gates, const char *args, const char *script)
{
	devices_fixture_init(&world->fixture, gates, args);
	put_slice(&world->fixture, "n1", "{'name':'a'}");
	claim_recorder_init(&world->api, &world->fixture, script);
}

static inline void world_init(struct world *world, const char *gates, const char *script)
{
	world_init_with(world, gates, NULL, script);
}

static inline void world_place(struct world *world)
{
	devices_cycle_place(
		&world->cycle, &world->fixture, devices_pod(&world->fixture, "p", "c"), "n1");
}

static inline void world_finish(struct world *world)
{
	devices_cycle_end(&world->cycle);
	claim_recorder_finish(&world->api);
	fixture_finish(&world->fixture);
}

static inline void expect_log(struct world *world, const char *expected)
{
	fixture_expect("writes", bt_strbuf_c(&world->api.log), expected);
}

static inline bool is_in_flight(struct world *world, const char *uid)
{
	return bt_claim_cache_pending(&world->fixture.state->dra->claims, bt_str_from(uid)) != NULL;
}
#endif
