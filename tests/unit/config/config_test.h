/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CONFIG_TEST_H
#define BT_TESTS_UNIT_CONFIG_TEST_H
/**
 * Helpers for tests of configurations. Documents are written with ' for ", and without the
 * apiVersion and kind that every configuration has: "'parallelism': 4". Messages are compared
 * whole.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "config/gates.h"
#include "config/load.h"
#include "test_main.h"

#define TEST_SCHEME "\"pkg/scheduler/apis/config/scheme/scheme.go:29\""
#define TEST_META \
	"'apiVersion':'kubescheduler.config.k8s.io/v1','kind':'KubeSchedulerConfiguration'"
#define TEST_V1 "'apiVersion':'kubescheduler.config.k8s.io/v1'"
/** A configuration with one profile and one pluginConfig entry. */
#define TEST_ARGS(plugin, args) \
	"'profiles':[{'pluginConfig':[{'name':'" plugin "','args':" args "}]}]"
#define TEST_PLUGINS(plugins) "'profiles':[{'plugins':{" plugins "}}]"
#define TEST_ARGS_PATH "profiles[0].pluginConfig[0].args"

/** Appends the text with every ' replaced by ". */
static inline void test_unquote(const char *text, struct bt_strbuf *out)
{
	for (const char *at = text; *at != '\0'; at++) {
		bt_strbuf_append_char(out, *at == '\'' ? '"' : *at);
	}
}

static inline int test_load_raw(const char *text, const struct bt_gates *gates,
	struct bt_config **out_config, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	int code;
	test_unquote(text, &json);
	code = bt_config_load(bt_strbuf_str(&json), gates, out_config, err);
	bt_strbuf_finish(&json);
	return code;
}

static inline void test_document(const char *members, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "{%s%s%s}", TEST_META, members[0] != '\0' ? "," : "", members);
}

/**
 * Loads a configuration with these members; fails the test with the error message if loading fails.
 */
static inline struct bt_config *test_load_gated(const char *members, const struct bt_gates *gates)
{
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};
	int code;
	test_document(members, &text);
	code = test_load_raw(bt_strbuf_c(&text), gates, &config, &err);
	ck_assert_msg(code == 0, "%s: %s", bt_strbuf_c(&text), berth_error_message(&err));
	ck_assert_ptr_nonnull(config);
	bt_strbuf_finish(&text);
	return config;
}

static inline struct bt_config *test_load(const char *members)
{
	return test_load_gated(members, NULL);
}

/** Loading the unchanged text must fail with exactly this message. */
static inline void test_refuse_raw(
	const char *text, const struct bt_gates *gates, const char *message)
{
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int code = test_load_raw(text, gates, &config, &err);
	ck_assert_msg(code != 0, "accepted: %s", text);
	ck_assert_msg(strcmp(berth_error_message(&err), message) == 0, "%s\n  got  %s\n  want %s",
		text, berth_error_message(&err), message);
	ck_assert_int_eq(code, err.code);
	ck_assert_ptr_null(config);
	berth_error_finish(&err);
}

static inline void test_refuse_gated(
	const char *members, const struct bt_gates *gates, const char *message)
{
	struct bt_strbuf text = {0};
	test_document(members, &text);
	test_refuse_raw(bt_strbuf_c(&text), gates, message);
	bt_strbuf_finish(&text);
}

static inline void test_refuse(const char *members, const char *message)
{
	test_refuse_gated(members, NULL, message);
}

static inline void test_accept(const char *members)
{
	bt_config_unref(test_load(members));
}

/** Returns the gates that the value of --feature-gates sets. */
static inline struct bt_gates test_gates(const char *text)
{
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_gates_set(&gates, bt_str_from(text), &err);
	ck_assert_msg(code == 0, "%s: %s", text, berth_error_message(&err));
	return gates;
}

/** Compares the enabled plugins of a set with a list such as "SchedulingGates PrioritySort:2". */
static inline void test_expect_enabled(const struct bt_config_plugin_set *set, const char *expected)
{
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < set->enabled.count; i++) {
		const struct bt_config_plugin *plugin = &set->enabled.items[i];
		bt_strbuf_printf(&text, "%s%.*s", i > 0 ? " " : "", BT_STR_ARG(plugin->name));
		if (plugin->weight != 0) {
			bt_strbuf_printf(&text, ":%d", (int)plugin->weight);
		}
	}
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
}

/** Returns the plugin's arguments in the first profile. */
static inline const struct bt_plugin_args *test_args(
	const struct bt_config *config, const char *plugin)
{
	const struct bt_plugin_args *args = bt_config_profile_find_args(
		&config->document.profiles.items[0], bt_str_from(plugin));
	ck_assert_msg(args != NULL, "no arguments for %s", plugin);
	return args;
}
#endif
