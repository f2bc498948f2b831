/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 10: the configuration as users of the library read it. */
#include "berth/config.h"

#include <stddef.h>

#include "test_main.h"

#define KIND "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

#define CHECK_TEXT(text, expected) \
	do { \
		struct berth_str checked = (text); \
		ck_assert_msg(berth_str_equal_c(checked, (expected)), "\"%.*s\" is not \"%s\"", \
			BERTH_STR_ARG(checked), (expected)); \
	} while (0)

/* seed-map 001.4 */
START_TEST(test_config__names_of_extension_points)
{
	ck_assert_str_eq(
		berth_extension_point_name(BERTH_POINT_FILTER), BERTH_EXTENSION_POINT_FILTER);
	ck_assert_str_eq(BERTH_EXTENSION_POINT_FILTER, "Filter");
	ck_assert_str_eq(berth_extension_point_name(BERTH_POINT_PRE_FILTER), "PreFilter");
	ck_assert_str_eq(berth_extension_point_name(BERTH_POINT_MULTI_POINT), "MultiPoint");
	ck_assert_str_eq(berth_extension_point_name(
				 (enum berth_extension_point)(BERTH_POINT_MULTI_POINT + 1)),
		"");
}
END_TEST

/* seed-map 001.112 to 001.115 */
START_TEST(test_config__profiles)
{
	struct berth_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_config_load(
		BERTH_STR(KIND "profiles:\n- schedulerName: mine\n  plugins:\n    score:\n"
			       "      enabled:\n      - {name: Custom, weight: 7}\n"
			       "      disabled:\n      - name: ImageLocality\n"
			       "  pluginConfig:\n  - name: Custom\n    args: {a: 1}\n"),
		NULL, &config, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert_uint_eq(berth_config_profile_count(config), 1);

	const struct berth_profile *profile = berth_config_profile_at(config, 0);
	const struct berth_plugins *plugins = berth_profile_plugins(profile);

	CHECK_TEXT(berth_profile_scheduler_name(profile), "mine");
	ck_assert_uint_eq(berth_plugins_enabled_count(plugins, BERTH_POINT_SCORE), 1);

	struct berth_plugin_entry entry = berth_plugins_enabled_at(plugins, BERTH_POINT_SCORE, 0);

	CHECK_TEXT(entry.name, "Custom");
	ck_assert_int_eq(entry.weight, 7);
	ck_assert_uint_eq(berth_plugins_disabled_count(plugins, BERTH_POINT_SCORE), 1);
	CHECK_TEXT(berth_plugins_disabled_at(plugins, BERTH_POINT_SCORE, 0).name, "ImageLocality");
	ck_assert_uint_gt(berth_plugins_enabled_count(plugins, BERTH_POINT_MULTI_POINT), 5);

	bool found = false;
	bool found_in_tree = false;

	for (uint32_t i = 0; i < berth_profile_plugin_config_count(profile); i++) {
		struct berth_plugin_config plugin = berth_profile_plugin_config_at(profile, i);

		if (berth_str_equal_c(plugin.name, "Custom")) {
			found = true;
			CHECK_TEXT(plugin.args.raw, "{\"a\":1}");
			CHECK_TEXT(plugin.args.content_type, "application/json");
			ck_assert_ptr_null(plugin.args.type_name.data);
		} else if (berth_str_equal_c(plugin.name, "NodeAffinity")) {
			found_in_tree = true;
			ck_assert_ptr_null(plugin.args.raw.data);
			CHECK_TEXT(plugin.args.type_name, "NodeAffinityArgs");
		}
	}
	ck_assert(found);
	ck_assert(found_in_tree);
	ck_assert_ptr_eq(berth_config_share(config), config);
	berth_config_release(config);
	berth_config_release(config);
	berth_config_release(NULL);
}
END_TEST

START_TEST(test_config__errors)
{
	struct berth_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_config_load(BERTH_STR("{"), NULL, &config, &err), BERTH_ERR_SYNTAX);
	berth_error_finish(&err);
	ck_assert_int_eq(
		berth_config_load(BERTH_STR(KIND "parallelism: -1\n"), NULL, &config, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_ne(berth_error_message(&err), "");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_config_load(BERTH_STR(KIND), "NoSuchGate=true", &config, &err),
		BERTH_ERR_INVALID);
	berth_error_finish(&err);
	ck_assert_ptr_null(config);
	ck_assert_int_eq(berth_config_load(BERTH_STR("\xEF\xBB\xBF{\"apiVersion\":\"kubescheduler."
						     "config.k8s.io/v1\",\"kind\":"
						     "\"KubeSchedulerConfiguration\"}"),
				 NULL, &config, &err),
		BERTH_OK);
	berth_config_release(config);
	config = berth_config_create_default();
	ck_assert_uint_eq(berth_config_profile_count(config), 1);
	CHECK_TEXT(berth_profile_scheduler_name(berth_config_profile_at(config, 0)),
		"default-scheduler");
	berth_config_release(config);
}
END_TEST

BT_TEST_MAIN("lib_config", test_config__names_of_extension_points, test_config__profiles,
	test_config__errors)
