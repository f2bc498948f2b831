/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queueing hints of DynamicResources, and its signature of pods. Spec: 12 section 16, 04 (hints)
 * section 6.15.
 */
#include "devices_fixture.h"
#include "test_main.h"

#define META(name, uid) \
	"'metadata':{'name':'" name "','namespace':'default','uid':'" uid "','resourceVersion':'" \
	"2'}"
#define CLAIM(status) "{" META("c", "uid-c") ",'status':{" status "}}"
#define ALLOCATED(amount) \
	"'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'n1','device':" \
	"'a','consumedCapacity':{'m':'" amount "'}}]}}"
#define POD(name, uid, claim) \
	"{'metadata':{'name':'" name "','uid':'" uid "'},'spec':{'resourceClaims':[{'name':'x'," \
	"'resourceClaimName':'" claim "'}]}}"

START_TEST(test_dynamic_resources_hints__spec_12_16_events)
{
	static const struct {
		const char *resource;
		uint32_t action;
		enum fixture_hint expected;
	} rows[] = {
		{"Node", BT_ACTION_ADD, FIXTURE_QUEUE},
		{"Node", BT_ACTION_UPDATE_NODE_LABEL, FIXTURE_QUEUE},
		{"Node", BT_ACTION_UPDATE_NODE_ALLOCATABLE, FIXTURE_QUEUE},
		{"Node", BT_ACTION_UPDATE_NODE_CONDITION, FIXTURE_NOT_REGISTERED},
		{"ResourceClaim", BT_ACTION_DELETE, FIXTURE_NOT_REGISTERED},
		{"Pod", BT_ACTION_ADD, FIXTURE_NOT_REGISTERED},
		{"Pod", BT_ACTION_DELETE, FIXTURE_NOT_REGISTERED},
		{"DeviceClass", BT_ACTION_ADD, FIXTURE_QUEUE},
		{"DeviceClass", BT_ACTION_UPDATE, FIXTURE_QUEUE},
		{"DeviceClass", BT_ACTION_DELETE, FIXTURE_NOT_REGISTERED},
		{"ResourceSlice", BT_ACTION_ADD, FIXTURE_QUEUE},
		{"ResourceSlice", BT_ACTION_UPDATE, FIXTURE_QUEUE},
		{"ResourceSlice", BT_ACTION_DELETE, FIXTURE_NOT_REGISTERED},
	};
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum fixture_hint actual = fixture_hint(&fixture, rows[i].resource, rows[i].action,
			fixture_pending(&fixture, POD("p", "uid-p", "c")), NULL, NULL, NULL);
		ck_assert_msg(actual == rows[i].expected, "%s, row %zu", rows[i].resource, i);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_hints__spec_12_16_claims)
{
	static const struct {
		const char *row;
		const char *old_json;
		const char *new_json;
		enum fixture_hint expected;
	} rows[] = {
		{"its own comes", NULL, CLAIM(""), FIXTURE_QUEUE},
		{"another's comes", NULL, "{" META("e", "uid-e") "}", FIXTURE_SKIP},
		{"allocated", CLAIM(""), CLAIM(ALLOCATED("1")), FIXTURE_QUEUE},
		{"freed", CLAIM(ALLOCATED("1")), CLAIM(""), FIXTURE_QUEUE},
		{"another's is freed", "{" META("e", "uid-e") ",'status':{" ALLOCATED("1") "}}",
			"{" META("e", "uid-e") "}", FIXTURE_QUEUE},
		{"another's is reserved", "{" META("e", "uid-e") "}",
			"{" META("e", "uid-e") ",'status':{'reservedFor':[{'uid':'u'}]}}",
			FIXTURE_SKIP},
		{"nothing changes", CLAIM(""), CLAIM(""), FIXTURE_SKIP},
		{"no devices are as good as an empty list", CLAIM(""), CLAIM("'devices':[]"),
			FIXTURE_SKIP},
		{"and the other way round", CLAIM("'devices':[]"), CLAIM(""), FIXTURE_SKIP},
		{"nobody is as good as an empty list", CLAIM("'reservedFor':[]"), CLAIM(""),
			FIXTURE_SKIP},
		{"a device says something", CLAIM(""),
			CLAIM("'devices':[{'driver':'d','pool':'n1','device':'a'}]"),
			FIXTURE_QUEUE},
		{"an amount in other words", CLAIM(ALLOCATED("1")), CLAIM(ALLOCATED("1000m")),
			FIXTURE_SKIP},
		{"another amount", CLAIM(ALLOCATED("1")), CLAIM(ALLOCATED("2")), FIXTURE_QUEUE},
		{"another object of its name", NULL, "{" META("c", "uid-new") "}", FIXTURE_SKIP},
	};
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum fixture_hint actual = fixture_hint(&fixture, "ResourceClaim", BT_ACTION_UPDATE,
			fixture_pending(&fixture, POD("p", "uid-p", "c")), rows[i].old_json,
			rows[i].new_json, NULL);
		ck_assert_msg(actual == rows[i].expected, "%s", rows[i].row);
		/* The pod's claim does not exist, so no freed device makes the pod schedulable. */
		ck_assert_int_eq(fixture_hint(&fixture, "ResourceClaim", BT_ACTION_UPDATE,
					 fixture_pending(&fixture, POD("p", "uid-p", "none")),
					 rows[i].old_json, rows[i].new_json, NULL),
			FIXTURE_SKIP);
	}
	fixture_finish(&fixture);
}
END_TEST

/** Claims from files have no uid: two claims of one name differ by namespace. */
START_TEST(test_dynamic_resources_hints__claims_without_uid)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_put(&fixture,
		"{'apiVersion':'resource.k8s.io/"
		"v1','kind':'ResourceClaim','metadata':{'name':'c'}}");
	ck_assert_int_eq(fixture_hint(&fixture, "ResourceClaim", BT_ACTION_ADD,
				 fixture_pending(&fixture, POD("p", "uid-p", "c")), NULL,
				 "{'metadata':{'name':'c','namespace':'default'}}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "ResourceClaim", BT_ACTION_ADD,
				 fixture_pending(&fixture, POD("p", "uid-p", "c")), NULL,
				 "{'metadata':{'name':'c','namespace':'other'}}", NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

/**
 * The pod has more entries than the fixed buffer, and the entry of the event's claim is beyond the
 * buffer.
 */
START_TEST(test_dynamic_resources_hints__a_pod_with_many_claims)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	put_device_claim(&fixture, "e", ONE_REQUEST, "");
	ck_assert_int_eq(fixture_hint(&fixture, "ResourceClaim", BT_ACTION_ADD,
				 fixture_pending(&fixture,
					 devices_pod(&fixture, "p", "e e e e e e e e e e c")),
				 NULL, CLAIM(""), NULL),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_hints__spec_12_16_generated_claims)
{
	static const struct {
		const char *row;
		const char *changed;
		enum fixture_hint expected;
	} rows[] = {
		{"its claim is there", POD("p", "uid-p", "c"), FIXTURE_QUEUE},
		{"it is not", POD("p", "uid-p", "none"), FIXTURE_SKIP},
		{"another pod of that name", POD("p", "uid-other", "c"), FIXTURE_SKIP},
	};
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		enum fixture_hint actual =
			fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM,
				fixture_pending(&fixture, POD("p", "uid-p", "none")), NULL,
				rows[i].changed, NULL);
		ck_assert_msg(actual == rows[i].expected, "%s", rows[i].row);
	}
	fixture_finish(&fixture);
}
END_TEST

/* --- by shape --- */

START_TEST(test_dynamic_resources_hints__spec_12_05_sign)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_expect("a claim", fixture_sign(&fixture, POD("p", "uid-p", "c")),
		"Unschedulable: pods with dra resource claims are not signable");
	fixture_expect("none", fixture_sign(&fixture, "{}"), "");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources_hints__pre_enqueue_by_shape)
{
	const struct bt_plugin_shortcuts *shortcuts = bt_dynamic_resources_plugin.shortcuts;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	ck_assert(!shortcuts->pre_enqueue_passes(
		fixture.plugin, fixture_pending(&fixture, POD("p", "uid-p", "c"))->shape));
	ck_assert(shortcuts->pre_enqueue_passes(
		fixture.plugin, fixture_pending(&fixture, "{}")->shape));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_hints", test_dynamic_resources_hints__spec_12_16_events,
	test_dynamic_resources_hints__spec_12_16_claims,
	test_dynamic_resources_hints__claims_without_uid,
	test_dynamic_resources_hints__a_pod_with_many_claims,
	test_dynamic_resources_hints__spec_12_16_generated_claims,
	test_dynamic_resources_hints__spec_12_05_sign,
	test_dynamic_resources_hints__pre_enqueue_by_shape)
