/* SPDX-License-Identifier: Apache-2.0 */
/* Feature gates: spec 11 section 5 and its edge cases 9 to 16. */
#include "config_test.h"

static void refuse(const char *text, const char *message)
{
	const struct bt_gates defaults = bt_gates_default();
	struct bt_gates gates = defaults;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_msg(bt_gates_set(&gates, bt_str_from(text), &err) == BERTH_ERR_INVALID,
		"accepted: %s", text);
	ck_assert_str_eq(berth_error_message(&err), message);
	ck_assert_int_eq(memcmp(&gates, &defaults, sizeof(gates)), 0);
	berth_error_finish(&err);
}

static struct bt_gate_state state_of(enum bt_gate gate)
{
	return bt_gate_state_at(gate, BT_GATE_RELEASE_MINOR);
}

START_TEST(test_gates__defaults)
{
	static const struct {
		enum bt_gate gate;
		enum bt_gate_stage stage;
		bool value;
		bool locked;
	} rows[] = {
		{BT_GATE_NODE_DECLARED_FEATURES, BT_GATE_STAGE_BETA, true, false},
		{BT_GATE_DYNAMIC_RESOURCE_ALLOCATION, BT_GATE_STAGE_GA, true, true},
		{BT_GATE_DRA_PRIORITIZED_LIST, BT_GATE_STAGE_GA, true, false},
		{BT_GATE_GANG_SCHEDULING, BT_GATE_STAGE_ALPHA, false, false},
		{BT_GATE_SCHEDULER_ASYNC_API_CALLS, BT_GATE_STAGE_BETA, false, false},
		{BT_GATE_STORAGE_CAPACITY_SCORING, BT_GATE_STAGE_ALPHA, false, false},
		{BT_GATE_OPPORTUNISTIC_BATCHING, BT_GATE_STAGE_BETA, true, false},
		{BT_GATE_SCHEDULER_QUEUEING_HINTS, BT_GATE_STAGE_GA, true, true},
	};
	struct bt_gates gates = bt_gates_default();
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const char *name = bt_gate_name(rows[i].gate);
		ck_assert_msg(bt_gate_enabled(&gates, rows[i].gate) == rows[i].value, "%s", name);
		ck_assert_msg(state_of(rows[i].gate).value == rows[i].value, "%s", name);
		ck_assert_msg(state_of(rows[i].gate).stage == rows[i].stage, "%s", name);
		ck_assert_msg(state_of(rows[i].gate).locked == rows[i].locked, "%s", name);
		ck_assert_msg(bt_gate_find(bt_str_from(name)) == rows[i].gate, "%s", name);
	}
	ck_assert_int_eq(bt_gate_find(BT_STR("AllAlpha")), BT_GATE__COUNT);
}
END_TEST

START_TEST(test_gates__names_are_distinct)
{
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		ck_assert_uint_eq(
			(uint32_t)bt_gate_find(bt_str_from(bt_gate_name((enum bt_gate)i))), i);
		ck_assert(state_of((enum bt_gate)i).stage >= BT_GATE_STAGE_GA ||
			!state_of((enum bt_gate)i).locked);
	}
}
END_TEST

START_TEST(test_gates__edge_11_09_unknown)
{
	refuse("Nope=true", "unrecognized feature gate: Nope");
}
END_TEST

START_TEST(test_gates__edge_11_10_locked)
{
	struct bt_gates gates = test_gates("DynamicResourceAllocation=true");
	ck_assert(bt_gate_enabled(&gates, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION));
	refuse("DynamicResourceAllocation=false",
		"cannot set feature gate DynamicResourceAllocation to false, feature is locked to "
		"true");
}
END_TEST

START_TEST(test_gates__edge_11_11_no_value)
{
	refuse("GangScheduling", "missing bool value for GangScheduling");
}
END_TEST

START_TEST(test_gates__edge_11_12_no_boolean)
{
	refuse("GangScheduling=yes",
		"invalid value of GangScheduling=yes, err: strconv.ParseBool: parsing \"yes\": "
		"invalid syntax");
	refuse("GangScheduling=",
		"invalid value of GangScheduling=, err: strconv.ParseBool: parsing \"\": invalid "
		"syntax");
}
END_TEST

START_TEST(test_gates__edge_11_13_dependency)
{
	refuse("GangScheduling=true",
		"GangScheduling is enabled, but depends on features that are disabled: "
		"[GenericWorkload]");
	refuse("NodeDeclaredFeatures=false,PodLevelResources=false",
		"InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that "
		"are disabled: "
		"[PodLevelResources NodeDeclaredFeatures]");
	refuse("WorkloadAwarePreemption=true,TopologyAwareWorkloadScheduling=true",
		"[TopologyAwareWorkloadScheduling is enabled, but depends on features that are "
		"disabled: "
		"[GenericWorkload], WorkloadAwarePreemption is enabled, but depends on features "
		"that are disabled: "
		"[GangScheduling]]");
}
END_TEST

START_TEST(test_gates__edge_11_14_mixed_prefixes)
{
	struct bt_gates gates;
	refuse("kube:GenericWorkload=true,GangScheduling=true",
		"set kube feature gates with default empty prefix or kube: prefix consistently, do "
		"not mix use");
	gates = test_gates("kube:GenericWorkload=true,kube:GangScheduling=true");
	ck_assert(bt_gate_enabled(&gates, BT_GATE_GANG_SCHEDULING));
}
END_TEST

START_TEST(test_gates__edge_11_15_component)
{
	refuse("apiserver:X=true", "component not registered: apiserver");
}
END_TEST

START_TEST(test_gates__edge_11_16_all_alpha)
{
	struct bt_gates gates = test_gates("AllAlpha=true,StorageCapacityScoring=false");
	ck_assert(bt_gate_enabled(&gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING));
	ck_assert(bt_gate_enabled(&gates, BT_GATE_GENERIC_WORKLOAD));
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_STORAGE_CAPACITY_SCORING));
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_SCHEDULER_ASYNC_API_CALLS));
}
END_TEST

START_TEST(test_gates__all_beta)
{
	struct bt_gates gates = test_gates("AllBeta=false");
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_NODE_DECLARED_FEATURES));
	ck_assert(bt_gate_enabled(&gates, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION));
	gates = test_gates("OpportunisticBatching=true,AllBeta=false");
	ck_assert(bt_gate_enabled(&gates, BT_GATE_OPPORTUNISTIC_BATCHING));
}
END_TEST

START_TEST(test_gates__syntax)
{
	static const char *const on[] = {"1", "t", "T", "TRUE", "true", "True"};
	static const char *const off[] = {"0", "f", "F", "FALSE", "false", "False"};
	struct bt_gates gates;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(on); i++) {
		struct bt_strbuf text = {0};
		bt_strbuf_printf(
			&text, ", GenericWorkload = %s ,OpportunisticBatching=%s,", on[i], off[i]);
		gates = test_gates(bt_strbuf_c(&text));
		ck_assert(bt_gate_enabled(&gates, BT_GATE_GENERIC_WORKLOAD));
		ck_assert(!bt_gate_enabled(&gates, BT_GATE_OPPORTUNISTIC_BATCHING));
		bt_strbuf_finish(&text);
	}
	gates = test_gates("");
	gates = test_gates("GenericWorkload=false,GenericWorkload=true");
	ck_assert(bt_gate_enabled(&gates, BT_GATE_GENERIC_WORKLOAD));
}
END_TEST

/**
 * The list also accepts gates of other components, since clusters pass one list to all components.
 */
START_TEST(test_gates__of_other_components)
{
	static const struct {
		const char *name;
		enum bt_gate_stage stage;
		bool value;
	} rows[] = {
		{"CRDObservedGenerationTracking", BT_GATE_STAGE_BETA, true},
		{"CRIListStreaming", BT_GATE_STAGE_ALPHA, false},
		{"ControllerManagerReleaseLeaderElectionLockOnExit", BT_GATE_STAGE_ALPHA, false},
		{"DeclarativeValidationBeta", BT_GATE_STAGE_BETA, true},
		{"ExtendWebSocketsToKubelet", BT_GATE_STAGE_BETA, true},
		{"ImageVolumeWithDigest", BT_GATE_STAGE_ALPHA, false},
		{"ManifestBasedAdmissionControlConfig", BT_GATE_STAGE_ALPHA, false},
		{"MaxUnavailableStatefulSet", BT_GATE_STAGE_BETA, false},
		{"PLEGOnDemandRelist", BT_GATE_STAGE_BETA, true},
		{"PersistentVolumeClaimUnusedSinceTime", BT_GATE_STAGE_ALPHA, false},
		{"PodLevelResourceManagers", BT_GATE_STAGE_ALPHA, false},
		{"PodsAPI", BT_GATE_STAGE_ALPHA, false},
		{"ReloadKubeletClientCAFile", BT_GATE_STAGE_BETA, true},
		{"ResourceHealthStatus", BT_GATE_STAGE_BETA, true},
		{"ResourceHealthStatusMessage", BT_GATE_STAGE_BETA, true},
		{"ShardedListAndWatch", BT_GATE_STAGE_ALPHA, false},
		{"StaleControllerConsistencyDaemonSet", BT_GATE_STAGE_BETA, true},
		{"StaleControllerConsistencyJob", BT_GATE_STAGE_BETA, true},
		{"StaleControllerConsistencyReplicaSet", BT_GATE_STAGE_BETA, true},
		{"StaleControllerConsistencyStatefulSet", BT_GATE_STAGE_BETA, true},
	};
	struct bt_gates gates = test_gates("UserNamespacesSupport=false,HPAScaleToZero=true");
	ck_assert(!bt_gate_enabled(&gates, BT_GATE_USER_NAMESPACES_SUPPORT));
	ck_assert(bt_gate_enabled(&gates, BT_GATE_HPA_SCALE_TO_ZERO));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum bt_gate gate = bt_gate_find(bt_str_from(rows[i].name));
		ck_assert_msg(gate != BT_GATE__COUNT, "%s", rows[i].name);
		ck_assert_msg(state_of(gate).stage == rows[i].stage, "%s", rows[i].name);
		ck_assert_msg(state_of(gate).value == rows[i].value, "%s", rows[i].name);
	}
}
END_TEST

BT_TEST_MAIN("gates", test_gates__defaults, test_gates__names_are_distinct,
	test_gates__edge_11_09_unknown, test_gates__edge_11_10_locked,
	test_gates__edge_11_11_no_value, test_gates__edge_11_12_no_boolean,
	test_gates__edge_11_13_dependency, test_gates__edge_11_14_mixed_prefixes,
	test_gates__edge_11_15_component, test_gates__edge_11_16_all_alpha, test_gates__all_beta,
	test_gates__syntax, test_gates__of_other_components)
