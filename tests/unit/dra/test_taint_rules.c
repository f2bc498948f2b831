/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/device_pools.h"
#include "dra_fixture.h"
#include "test_main.h"

struct heard {
	uint32_t count;
	uint32_t taints_before;
	uint32_t taints_after;
};

static uint32_t count_taints(const struct bt_resource_slice *slice)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
		count += slice->spec.devices.items[i].taints.count;
	}
	return count;
}

static void hear(void *context, struct bt_object *old_slice, struct bt_object *new_slice)
{
	struct heard *heard = context;

	heard->count++;
	heard->taints_before = count_taints(bt_object_value(old_slice, BT_KIND_RESOURCE_SLICE));
	heard->taints_after = count_taints(bt_object_value(new_slice, BT_KIND_RESOURCE_SLICE));
}

static void init(struct dra_fixture *f, bool on, struct heard *heard)
{
	struct bt_gates gates = bt_gates_default();

	gates.enabled[BT_GATE_DRA_DEVICE_TAINT_RULES] = on;
	dra_fixture_init_with(f, &gates);
	*heard = (struct heard){0};
	f->dra->patched_slice_listener = (struct bt_patched_slice_listener){hear, heard};
}

/** Puts a slice of devices a (with one taint in the slice) and b. */
static void put_slice(struct dra_fixture *f, const char *name, const char *pool)
{
	PUT(f, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'%s'},'spec':{'driver':'d','nodeName':'n1','pool':{'name':'%s'"
		","
		"'generation':1,'resourceSliceCount':1},'devices':[{'name':'a','taints':[{'key':"
		"'own','effect':'NoSchedule'}]},{'name':'b'}]}}",
		name, pool);
}

static void put_rule(struct dra_fixture *f, const char *name, const char *selector)
{
	PUT(f, BT_KIND_DEVICE_TAINT_RULE,
		"{'metadata':{'name':'%s'},'spec':{%s'taint':{'key':'%s','effect':'NoExecute'}}}",
		name, selector, name);
}

/**
 * Asserts which taint keys the devices of a slice have in the pools. expected "own r1|r1": the
 * first device has the taints own and r1, the second device has the taint r1.
 */
static void assert_seen(struct dra_fixture *f, const char *slice_name, const char *expected)
{
	const struct bt_resource_slice *slice;
	struct bt_strbuf text = {0};
	uint32_t cursor = 0;

	while ((slice = bt_device_pools_next_slice(f->dra->pools, &cursor)) != NULL &&
		!bt_str_equal_c(slice->metadata.name, slice_name)) {
	}
	ck_assert_ptr_nonnull(slice);
	for (uint32_t i = 0; i < slice->spec.devices.count; i++) {
		const struct bt_device *device = &slice->spec.devices.items[i];
		bt_strbuf_append_c(&text, i != 0 ? "|" : "");
		for (uint32_t j = 0; j < device->taints.count; j++) {
			bt_strbuf_append_c(&text, j != 0 ? " " : "");
			bt_strbuf_append_str(&text, device->taints.items[j].key);
		}
	}
	ck_assert_str_eq(bt_strbuf_c(&text), expected);
	bt_strbuf_finish(&text);
	dra_check_valid(f);
}

START_TEST(test_taint_rules__what_a_rule_matches)
{
	static const struct {
		const char *selector;
		const char *seen;
	} cases[] = {
		{"", "own r|r"},
		{"'deviceSelector':{},", "own r|r"},
		{"'deviceSelector':{'driver':'d'},", "own r|r"},
		{"'deviceSelector':{'driver':'e'},", "own|"},
		{"'deviceSelector':{'pool':'p1'},", "own r|r"},
		{"'deviceSelector':{'pool':'p2'},", "own|"},
		{"'deviceSelector':{'device':'b'},", "own|r"},
		{"'deviceSelector':{'driver':'d','pool':'p1','device':'a'},", "own r|"},
		{"'deviceSelector':{'driver':'d','pool':'p2','device':'a'},", "own|"},
		/* No device has an empty name. */
		{"'deviceSelector':{'device':''},", "own|"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int rule_first = 0; rule_first < 2; rule_first++) {
			struct dra_fixture f;
			struct heard heard;

			init(&f, true, &heard);
			if (rule_first) {
				put_rule(&f, "r", cases[i].selector);
			}
			put_slice(&f, "s1", "p1");
			if (!rule_first) {
				put_rule(&f, "r", cases[i].selector);
			}
			assert_seen(&f, "s1", cases[i].seen);
			/*
			 * If the rule is added after the slice, the queue gets an event for the
			 * changed slice.
			 */
			bool patched = strcmp(cases[i].seen, "own|") != 0;
			ck_assert_uint_eq(heard.count, patched && !rule_first);
			dra_fixture_finish(&f);
		}
	}
}
END_TEST

START_TEST(test_taint_rules__follow_changes)
{
	struct dra_fixture f;
	struct heard heard;

	init(&f, true, &heard);
	put_slice(&f, "s1", "p1");
	put_slice(&f, "s2", "p2");
	put_rule(&f, "r2", "'deviceSelector':{'device':'b'},");
	ck_assert_uint_eq(heard.count, 2);
	put_rule(&f, "r1", "'deviceSelector':{'pool':'p1'},");
	ck_assert_uint_eq(heard.count, 3);
	ck_assert_uint_eq(heard.taints_before, 2);
	ck_assert_uint_eq(heard.taints_after, 4);
	assert_seen(&f, "s1", "own r1|r1 r2"); /* sorted by name */
	assert_seen(&f, "s2", "own|r2");
	put_rule(&f, "r1", "'deviceSelector':{'pool':'p1','driver':'d'},");
	ck_assert_uint_eq(heard.count, 3); /* the rule selects the same devices */
	put_slice(&f, "s1", "p2");
	assert_seen(&f, "s1", "own|r2");
	ck_assert_uint_eq(heard.count, 3);
	delete_object(&f, BT_KIND_DEVICE_TAINT_RULE, "", "r2");
	ck_assert_uint_eq(heard.count, 5);
	assert_seen(&f, "s1", "own|");
	delete_object(&f, BT_KIND_RESOURCE_SLICE, "", "s1");
	delete_object(&f, BT_KIND_RESOURCE_SLICE, "", "s2");
	delete_object(&f, BT_KIND_DEVICE_TAINT_RULE, "", "r1");
	ck_assert_ptr_null(bt_device_pools_find_slice(f.dra->pools, BT_STR("s1")));
	dra_fixture_finish(&f);
}
END_TEST

/** Every field of a taint counts. */
START_TEST(test_taint_rules__spec_12_04_5_another_taint)
{
	static const char *const taints[] = {
		"'key':'k','effect':'NoExecute'",
		"'key':'k','effect':'NoSchedule'",
		"'key':'k','value':'v','effect':'NoSchedule'",
		"'key':'j','value':'v','effect':'NoSchedule'",
		"'key':'j','value':'v','effect':'NoSchedule','timeAdded':'2026-01-01T00:00:00Z'",
		"'key':'j','value':'v','effect':'NoSchedule','timeAdded':'2026-01-01T00:00:01Z'",
		"'key':'j','value':'v','effect':'NoSchedule'",
	};
	struct dra_fixture f;
	struct heard heard;

	init(&f, true, &heard);
	put_slice(&f, "s1", "p1");
	for (uint32_t i = 0; i < 2 * BT_ARRAY_LENGTH(taints); i++) {
		/* Puts each taint twice: the second put changes nothing. */
		PUT(&f, BT_KIND_DEVICE_TAINT_RULE,
			"{'metadata':{'name':'r'},'spec':{'taint':{%s}}}", taints[i / 2]);
		ck_assert_uint_eq(heard.count, i / 2 + 1);
	}
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_taint_rules__gate_off)
{
	struct dra_fixture f;
	struct heard heard;

	init(&f, false, &heard);
	put_rule(&f, "r", "");
	put_slice(&f, "s1", "p1");
	put_rule(&f, "r", "'deviceSelector':{},");
	assert_seen(&f, "s1", "own|");
	ck_assert_uint_eq(heard.count, 0);
	dra_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("taint_rules", test_taint_rules__what_a_rule_matches, test_taint_rules__follow_changes,
	test_taint_rules__spec_12_04_5_another_taint, test_taint_rules__gate_off)
