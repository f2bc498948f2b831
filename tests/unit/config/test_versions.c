/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated versions: spec 11 section 5.1. */
#include "config/versions.h"

#include "config_test.h"

static void refuse(const char *emulated, const char *minimum, const char *message)
{
	struct bt_versions versions = bt_versions_default();
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_msg(bt_versions_set(&versions, bt_str_from(emulated), bt_str_from(minimum),
			      &err) == BERTH_ERR_INVALID,
		"accepted: %s %s", emulated, minimum);
	ck_assert_str_eq(berth_error_message(&err), message);
	ck_assert_int_eq(versions.release.emulated_minor, 36);
	berth_error_finish(&err);
}

static struct bt_versions accept(const char *emulated, const char *minimum)
{
	struct bt_versions versions = bt_versions_default();
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_versions_set(&versions, bt_str_from(emulated), bt_str_from(minimum), &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	return versions;
}

/** Compares the error of validation; message NULL: valid. */
static void expect_validation(const char *emulated, const char *minimum, const char *message)
{
	struct bt_versions versions = accept(emulated, minimum);
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	struct berth_error err = BERTH_ERROR_INIT;
	bt_versions_validate(&versions, &errors);
	(void)bt_config_errors_finish(&errors, &err);
	ck_assert_str_eq(berth_error_message(&err), message != NULL ? message : "");
	berth_error_finish(&err);
}

START_TEST(test_versions__set)
{
	static const struct {
		const char *emulated;
		const char *minimum;
		int emulated_minor;
		int min_compatibility_minor;
	} rows[] = {
		{"", "", 36, 35},
		{"1.36", "", 36, 35},
		{"1.35", "", 35, 34},
		{"kube=1.34", "", 34, 33},
		{"v1.33", "", 33, 33},
		{"1.32", "", 32, 33},
		{"1.35", "1.35", 35, 35},
		{"", "kube=1.33", 36, 33},
		{",1.34,", "", 34, 33},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_versions versions = accept(rows[i].emulated, rows[i].minimum);
		ck_assert_int_eq(versions.release.emulated_minor, rows[i].emulated_minor);
		ck_assert_int_eq(
			versions.release.min_compatibility_minor, rows[i].min_compatibility_minor);
	}
}
END_TEST

START_TEST(test_versions__refused)
{
	refuse("kube=1.35,kube=1.36", "", "duplicate version flag, kube=1.35 and kube=1.36");
	refuse("1.35,kube=1.36", "", "duplicate version flag, kube=1.35 and kube=1.36");
	refuse("foo=1.35", "", "component not registered: foo");
	refuse("", "foo=1.35", "component not registered: foo");
	refuse("x", "", "illegal version string \"x\"");
	refuse("1", "", "illegal version string \"1\"");
	refuse("1.35-alpha", "", "illegal version string \"1.35-alpha\"");
	refuse("1.035", "", "illegal version string \"1.035\"");
	refuse("1.99999999999999999999", "", "illegal version string \"1.99999999999999999999\"");
	refuse("2.0", "", "emulation version 2.0 is not between [1.33, 1.36]");
}
END_TEST

START_TEST(test_versions__edge_11_17_out_of_range)
{
	expect_validation("1.32", "",
		"[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion "
		"version 1.33 is not between [1.33, 1.32]]");
	expect_validation("1.37", "", "emulation version 1.37 is not between [1.33, 1.36.0]");
	expect_validation(
		"1.35", "1.36", "minCompatibilityVersion version 1.36 is not between [1.33, 1.35]");
	expect_validation("1.33", "", NULL);
	expect_validation("", "", NULL);
}
END_TEST

START_TEST(test_versions__edge_11_18_patch)
{
	refuse("1.35.1", "", "patch version not allowed, got: kube=1.35.1");
	refuse("", "kube=1.35.1", "patch version not allowed, got: kube=1.35.1");
}
END_TEST

START_TEST(test_versions__replacement)
{
	static const char *const good[] = {
		"v1.36.2", "v1.36.2-custom.1", "v1.36.2+build.7", "v1.36.2-rc.1+x-y"};
	static const char *const bad[] = {"v1.36.3", "v1.35.0", "1.36.2", "v1.36", "v1.36.2x",
		"v1.36.2-", "v1.36.2-a..b", "v1.36.2-\x1b[m", "v", ""};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(good); i++) {
		ck_assert_msg(bt_versions_check_replacement(bt_str_from(good[i]), NULL) == 0, "%s",
			good[i]);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad); i++) {
		ck_assert_msg(bt_versions_check_replacement(bt_str_from(bad[i]), NULL) ==
				BERTH_ERR_INVALID,
			"%s", bad[i]);
	}
}
END_TEST

/* --- gates of emulated releases --- */

static struct bt_gates gates_at(
	int minor, const char *text, bt_gate_warning_list *out_warnings, struct bt_arena *arena)
{
	struct bt_gate_release release = {minor, minor - 1};
	struct bt_gates gates;
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_gates_set_at(
		&release, true, bt_str_from(text), &gates, out_warnings, arena, &err);
	ck_assert_msg(code == 0, "1.%d %s: %s", minor, text, berth_error_message(&err));
	return gates;
}

static void refuse_gate_at(int minor, const char *text, const char *message)
{
	struct bt_gate_release release = {minor, minor - 1};
	struct bt_gates gates;
	bt_gate_warning_list warnings;
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(
		bt_gates_set_at(&release, true, bt_str_from(text), &gates, &warnings, &arena, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
	bt_arena_finish(&arena);
}

/** The defaults of each release are consistent, and no gate returns to an earlier stage. */
START_TEST(test_versions__gates_of_releases)
{
	struct bt_arena arena = {0};
	bt_gate_warning_list warnings;
	for (int minor = BT_GATE_RELEASE_OLDEST_MINOR; minor <= BT_GATE_RELEASE_MINOR; minor++) {
		struct bt_gates defaults = bt_gates_default_at(minor);
		struct bt_gates set = gates_at(minor, "", &warnings, &arena);
		ck_assert_mem_eq(&set, &defaults, sizeof(set));
		ck_assert_uint_eq(warnings.count, 0);
		for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
			struct bt_gate_state before = bt_gate_state_at((enum bt_gate)i, minor - 1);
			struct bt_gate_state now = bt_gate_state_at((enum bt_gate)i, minor);
			ck_assert_msg(before.stage == BT_GATE_STAGE_NONE ||
					(now.stage != BT_GATE_STAGE_NONE &&
						before.stage <= now.stage),
				"%s at 1.%d", bt_gate_name((enum bt_gate)i), minor);
			ck_assert_msg(now.stage == BT_GATE_STAGE_GA ||
					now.stage == BT_GATE_STAGE_DEPRECATED || !now.locked,
				"%s", bt_gate_name((enum bt_gate)i));
			ck_assert_msg((now.stage != BT_GATE_STAGE_ALPHA &&
					      now.stage != BT_GATE_STAGE_NONE) ||
					!now.value,
				"%s", bt_gate_name((enum bt_gate)i));
		}
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_versions__emulated_gates)
{
	struct bt_arena arena = {0};
	bt_gate_warning_list warnings;
	struct bt_gates gates = gates_at(34, "", &warnings, &arena);
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_NODE_DECLARED_FEATURES));
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_OPPORTUNISTIC_BATCHING));
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION));
	ck_assert(bt_gate_enabled(&gates, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION));
	gates = gates_at(34, "DynamicResourceAllocation=false,AllBeta=false", &warnings, &arena);
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION));
	gates = gates_at(34, "AllAlpha=true", &warnings, &arena);
	ck_assert(bt_gate_enabled(&gates, BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION));
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_GANG_SCHEDULING));
	refuse_gate_at(34, "GangScheduling=true",
		"cannot set feature gate GangScheduling to true, feature is PreAlpha at emulated "
		"version 1.34, min compatibility version 1.33");
	refuse_gate_at(35, "DynamicResourceAllocation=false",
		"cannot set feature gate DynamicResourceAllocation to false, feature is locked to "
		"true");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_versions__warnings)
{
	struct bt_arena arena = {0};
	bt_gate_warning_list warnings;
	(void)gates_at(36,
		"VolumeAttributesClass=true,StorageCapacityScoring=true,DRAPrioritizedList=true,"
		"DRAPrioritizedList=false",
		&warnings, &arena);
	ck_assert_uint_eq(warnings.count, 2);
	ck_assert(bt_str_equal_c(warnings.items[0].gate, "DRAPrioritizedList"));
	ck_assert(!warnings.items[0].value);
	ck_assert(bt_str_equal_c(warnings.items[1].gate, "VolumeAttributesClass"));
	ck_assert(warnings.items[1].value);
	(void)gates_at(36, "GitRepoVolumeDriver=true,NodeSwap=true", &warnings, &arena);
	ck_assert_uint_eq(warnings.count, 2);
	ck_assert(bt_str_equal_c(warnings.items[0].gate, "GitRepoVolumeDriver"));
	ck_assert_int_eq(warnings.items[0].kind, BT_GATE_WARNING_DEPRECATED);
	ck_assert(bt_str_equal_c(warnings.items[1].gate, "NodeSwap"));
	ck_assert_int_eq(warnings.items[1].kind, BT_GATE_WARNING_GA);
	(void)gates_at(33, "VolumeAttributesClass=true", &warnings, &arena);
	ck_assert_uint_eq(warnings.count, 0);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("versions", test_versions__set, test_versions__refused,
	test_versions__edge_11_17_out_of_range, test_versions__edge_11_18_patch,
	test_versions__replacement, test_versions__gates_of_releases, test_versions__emulated_gates,
	test_versions__warnings)
