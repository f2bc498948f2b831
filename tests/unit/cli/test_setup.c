/* SPDX-License-Identifier: Apache-2.0 */
/** Engines made from configuration files: the cases of spec 10 that need the plugins. */
#include "cli/command.h"
#include "cli/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "config/config.h"
#include "test_main.h"

#define KIND \
	"apiVersion: kubescheduler.config.k8s.io/v1\n" \
	"kind: KubeSchedulerConfiguration\n"

static bool ignore_extenders;

static int setup_with(const char *text, struct bt_engine **out_engine, struct berth_error *err)
{
	char path[] = "berth-test-setup-XXXXXX";
	int descriptor = mkstemp(path);
	struct bt_setup setup = BT_SETUP_INIT;

	ck_assert_int_ge(descriptor, 0);
	FILE *file = fdopen(descriptor, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	setup.config_path = path;
	setup.ignore_extenders = ignore_extenders;
	int result = bt_setup_engine(&setup, out_engine, err);
	bt_setup_finish(&setup);
	ck_assert_int_eq(unlink(path), 0);
	return result;
}

/*
 * Setup must fail. plugins: members of "plugins", with ' for ". expected: the error without the
 * prefix that names the profile.
 */
static void refuse(const char *plugins, const char *expected)
{
	static const char start[] =
		"initializing profiles: creating profile for scheduler name default-scheduler: ";
	struct bt_strbuf text = {0};
	struct bt_strbuf message = {0};
	struct bt_engine *engine = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	bt_strbuf_append_c(&text,
		"{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\","
		"\"kind\":\"KubeSchedulerConfiguration\",\"profiles\":[{\"plugins\":{");
	for (const char *at = plugins; *at != '\0'; at++) {
		bt_strbuf_append_char(&text, *at == '\'' ? '"' : *at);
	}
	bt_strbuf_append_c(&text, "}}]}");
	bt_strbuf_printf(&message, "%s%s", start, expected);
	ck_assert_msg(setup_with(bt_strbuf_c(&text), &engine, &err) < 0, "accepted: %s", plugins);
	ck_assert_ptr_null(engine);
	ck_assert_str_eq(berth_error_message(&err), bt_strbuf_c(&message));
	berth_error_finish(&err);
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&message);
}

START_TEST(test_setup__edge_10_37_unknown_plugin)
{
	refuse("'filter':{'enabled':[{'name':'NoSuch'}]}",
		"FilterPlugin \"NoSuch\" does not exist");
	refuse("'multiPoint':{'enabled':[{'name':'NoSuch'}]}",
		"PreFilterPlugin \"NoSuch\" does not exist");
}
END_TEST

START_TEST(test_setup__edge_10_38_plugin_without_the_role)
{
	refuse("'filter':{'enabled':[{'name':'ImageLocality'}]}",
		"plugin \"ImageLocality\" does not extend FilterPlugin plugin");
}
END_TEST

START_TEST(test_setup__edge_10_39_twice_at_a_point)
{
	refuse("'filter':{'enabled':[{'name':'NodeName'},{'name':'NodeName'}]}",
		"plugin \"NodeName\" already registered as \"FilterPlugin\"");
}
END_TEST

START_TEST(test_setup__edge_10_40_twice_at_multi_point)
{
	refuse("'multiPoint':{'enabled':[{'name':'NodeName'},{'name':'NodeName'}]}",
		"plugin \"NodeName\" already registered as \"FilterPlugin\"");
}
END_TEST

START_TEST(test_setup__edge_10_65_second_document)
{
	struct bt_engine *engine = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = setup_with(
		KIND "parallelism: 3\n---\n" KIND "parallelism: 0\nnothing: such\n", &engine, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert_int_eq(engine->config->document.parallelism, 3);
	bt_engine_destroy(engine);
	/* Without the first document, the second document is read and refused. */
	ck_assert_int_lt(setup_with(KIND "parallelism: 0\nnothing: such\n", &engine, &err), 0);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "unknown field \"nothing\""));
	berth_error_finish(&err);
}
END_TEST

START_TEST(test_setup__extenders_are_not_passed_over)
{
	static const char config[] = "{\"apiVersion\":\"kubescheduler.config.k8s.io/v1\","
				     "\"kind\":\"KubeSchedulerConfiguration\","
				     "\"extenders\":[{\"urlPrefix\":\"http://h\"}]}";
	struct bt_engine *engine = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ignore_extenders = false;
	ck_assert_int_eq(setup_with(config, &engine, &err), BERTH_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err),
		": extenders: this command does not call extenders; --ignore-extenders schedules "
		"as if there were none"));
	berth_error_finish(&err);
	ignore_extenders = true;
	ck_assert_int_eq(setup_with(config, &engine, &err), 0);
	ck_assert_uint_eq(engine->extenders.count, 0);
	bt_engine_destroy(engine);
	ignore_extenders = false;
}
END_TEST

START_TEST(test_setup__threads)
{
	static const struct {
		int64_t threads;
		bool fits;
		bool pool;
	} rows[] = {{-1, false, false}, {0, false, false}, {1, true, false}, {2, true, true},
		{257, false, false}, {INT64_MAX, false, false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_setup setup = BT_SETUP_INIT;
		struct bt_engine_options options;
		struct berth_error err = BERTH_ERROR_INIT;
		setup.threads = rows[i].threads;
		int result = bt_setup_start("simulate", &setup, &err);
		ck_assert_int_eq(result, rows[i].fits ? 0 : BERTH_ERR_INVALID);
		if (rows[i].fits) {
			ck_assert_int_eq(bt_setup_engine_options(&setup, &options, &err), 0);
			ck_assert_int_eq(options.workers != NULL, rows[i].pool);
		} else {
			ck_assert_str_eq(
				berth_error_message(&err), "--threads: must be from 1 to 256");
		}
		berth_error_finish(&err);
		bt_setup_finish(&setup);
	}
}
END_TEST

BT_TEST_MAIN("setup", test_setup__extenders_are_not_passed_over, test_setup__threads,
	test_setup__edge_10_37_unknown_plugin, test_setup__edge_10_38_plugin_without_the_role,
	test_setup__edge_10_39_twice_at_a_point, test_setup__edge_10_40_twice_at_multi_point,
	test_setup__edge_10_65_second_document)
