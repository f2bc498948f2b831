/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_COMPAT_CLUSTER_H
#define BT_TESTS_UNIT_COMPAT_CLUSTER_H
/** An engine with objects written as JSON with ' for ", through public headers only. */
#include <stdio.h>
#include <string.h>

#include "berth/engine.h"
#include "berth/scheduling_cycle.h"
#include "test_main.h"

/**
 * A configuration of the profile "default-scheduler". profile_members and more: further members of
 * the profile and of the configuration, each with a comma in front.
 */
#define CLUSTER_CONFIG(profile_members, more) \
	"{'apiVersion':'kubescheduler.config.k8s.io/v1','kind':'KubeSchedulerConfiguration'," \
	"'profiles':[{'schedulerName':'default-scheduler'" profile_members "}]" more "}"

/** Members of a profile that enables only PrioritySort, DefaultBinder and the plugins in lists. */
#define CLUSTER_ONLY(lists) \
	",'plugins':{'multiPoint':{'disabled':[{'name':'*'}]},'queueSort':{'enabled':[{'name':" \
	"'PrioritySort'}]},'bind':{'enabled':[{'name':'DefaultBinder'}]}" lists "}"

static inline void cluster_unquote(char *out, size_t size, const char *text)
{
	ck_assert_uint_lt(strlen(text), size);
	for (; *text != '\0'; text++) {
		*out++ = *text == '\'' ? '"' : *text;
	}
	*out = '\0';
}

static inline struct berth_object *cluster_object(const char *text)
{
	struct berth_object *decoded = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	char json[4096];

	cluster_unquote(json, sizeof(json), text);
	ck_assert_msg(berth_object_decode(berth_str_from(json), &decoded, &err) == 0, "%s: %s",
		json, berth_error_message(&err));
	return decoded;
}

static inline struct berth_config *cluster_config(const char *text)
{
	struct berth_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	char json[4096];

	cluster_unquote(json, sizeof(json), text);
	ck_assert_msg(berth_config_load(berth_str_from(json), NULL, &config, &err) == 0, "%s: %s",
		json, berth_error_message(&err));
	return config;
}

static inline struct berth_engine *cluster_create(
	const char *config_text, const struct berth_engine_options *options)
{
	struct berth_config *config = cluster_config(config_text);
	struct berth_engine *engine = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_msg(berth_engine_create(config, options, &engine, &err) == 0, "%s",
		berth_error_message(&err));
	berth_config_release(config);
	return engine;
}

static inline void cluster_put(struct berth_engine *engine, const char *text)
{
	struct berth_object *object = cluster_object(text);

	ck_assert_int_eq(berth_engine_put(engine, object, 1, NULL), 0);
	berth_object_release(object);
}

/**
 * Adds a node with 8Gi of memory and 10 pods. more: further members of the node, each with a comma
 * in front.
 */
static inline void cluster_put_node(
	struct berth_engine *engine, const char *name, const char *cpu, const char *more)
{
	char text[2048];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{'host':'%s'}},"
		"'status':{'allocatable':{'cpu':'%s','memory':'8Gi','pods':'10'}}%s}",
		name, name, cpu, more);
	cluster_put(engine, text);
}

/**
 * Returns a pod in namespace d with uid "uid-<name>" and label app=<name>. more: members of spec,
 * each with a comma in front.
 */
static inline struct berth_object *cluster_pod(const char *name, const char *cpu, const char *more)
{
	char text[2048];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d','uid':"
		"'uid-%s','labels':{'app':'%s'}},'spec':{'schedulerName':'default-scheduler',"
		"'containers':[{'name':'c','resources':{'requests':{'cpu':'%s'}}}]%s}}",
		name, name, name, cpu, more);
	return cluster_object(text);
}

static inline void cluster_put_pod(
	struct berth_engine *engine, const char *name, const char *cpu, const char *more)
{
	struct berth_object *pod = cluster_pod(name, cpu, more);

	ck_assert_int_eq(berth_engine_put(engine, pod, 1, NULL), 0);
	berth_object_release(pod);
}

static inline struct berth_framework *cluster_framework(struct berth_engine *engine)
{
	return berth_engine_framework(engine, BERTH_STR("default-scheduler"));
}

static inline struct berth_pod_info *cluster_pod_info(
	struct berth_framework *framework, const char *name, const char *cpu, const char *more)
{
	struct berth_object *pod = cluster_pod(name, cpu, more);
	struct berth_pod_info *info = berth_framework_pod_create(framework, pod);

	berth_object_release(pod);
	return info;
}

static inline void cluster_expect(struct berth_str actual, const char *expected)
{
	ck_assert_msg(berth_str_equal_c(actual, expected), "'%.*s' instead of '%s'",
		BERTH_STR_ARG(actual), expected);
}

/** Compares the status, written as "<Code>: <message>". */
static inline void cluster_expect_status(
	const struct berth_status *status, struct berth_arena *arena, const char *expected)
{
	struct berth_str message = berth_status_message(status, arena);
	struct berth_str text = berth_arena_printf(arena, "%s: %.*s",
		berth_code_string(berth_status_code(status)), BERTH_STR_ARG(message));

	cluster_expect(text, expected);
}
#endif
