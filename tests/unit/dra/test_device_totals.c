/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the cached counts of a class's devices on a node with counts slice by slice (spec 05
 * section 11.7) and with counts by hand, while slices, claims, classes and node labels change.
 */
#include <stdlib.h>

#include "base/prng.h"
#include "dra/device_totals.h"
#include "dra_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

#define NODES 5
#define SLICES 7
#define CLAIMS 6
#define SEEDS 30
#define STEPS 150

static void add_node(struct dra_fixture *f, uint32_t number, const char *zone)
{
	struct bt_object *node = make_object(BT_KIND_NODE,
		"{'metadata':{'name':'n%u','labels':{'zone':'%s'}},'status':{}}", number, zone);

	if (bt_node_table_find(&f->state->nodes, bt_object_name(node)) == BT_SLOT_NONE) {
		bt_state_add_node(f->state, bt_object_value(node, BT_KIND_NODE));
	} else {
		bt_state_update_node(f->state, NULL, bt_object_value(node, BT_KIND_NODE));
	}
	bt_object_release(node);
}

static uint32_t slot_of(const struct dra_fixture *f, uint32_t number)
{
	char name[8];

	(void)snprintf(name, sizeof(name), "n%u", number);
	return bt_node_table_find(&f->state->nodes, bt_str_from(name));
}

static void put_class(struct dra_fixture *f, const char *selectors)
{
	PUT(f, BT_KIND_DEVICE_CLASS,
		"{'metadata':{'name':'c'},'spec':{'extendedResourceName':'e.io/"
	        "x','selectors':[%s]}}",
		selectors);
}

#define CEL(expression) "{'cel':{'expression':'" expression "'}}"
#define BIG "device.attributes[\\\"d\\\"].big"

static const struct bt_device_class *the_class(const struct dra_fixture *f)
{
	return bt_device_class_for_resource(&f->dra->classes, BT_STR("e.io/x"));
}

/* --- by hand --- */

static void expect(
	struct dra_fixture *f, const char *row, uint32_t node, int64_t devices, int64_t allocated)
{
	struct bt_device_totals kept = bt_dra_device_totals(f->dra, the_class(f), slot_of(f, node));
	struct bt_device_totals anew =
		bt_dra_device_totals_anew(f->dra, the_class(f), slot_of(f, node));

	ck_assert_msg(kept.devices == devices && kept.allocated == allocated, "%s: %lld of %lld",
		row, (long long)kept.allocated, (long long)kept.devices);
	ck_assert_msg(anew.devices == devices && anew.allocated == allocated,
		"%s: %lld of %lld made anew", row, (long long)anew.allocated,
		(long long)anew.devices);
}

/**
 * Puts slice s<number> of pool p<number>. scope: further members of the spec, beginning with a
 * comma, or "".
 */
static void put_slice(
	struct dra_fixture *f, uint32_t number, const char *scope, const char *devices)
{
	PUT(f, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'s%u'},'spec':{'driver':'d','pool':{'name':'p%u','generation':"
	        "1,"
		"'resourceSliceCount':3}%s,'devices':[%s]}}",
		number, number, scope, devices);
}

#define ZONE_A \
	",'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In'" \
	"," \
	"'values':['a']}]}]}"
#define TWO "{'name':'a'},{'name':'b'}"

START_TEST(test_device_totals__which_nodes_reach_a_slice)
{
	static const struct {
		const char *row;
		const char *scope;
		const char *devices;
		int64_t on_n0; /* in zone a */
		int64_t on_n1; /* in zone b */
	} cases[] = {
		{"node name", ",'nodeName':'n0'", TWO, 2, 0},
		{"all nodes", ",'allNodes':true", TWO, 2, 2},
		{"selector", ZONE_A, TWO, 2, 0},
		{"nothing said", "", TWO, 2, 2},
		{"by device", ",'perDeviceNodeSelection':true",
			"{'name':'a','nodeName':'n1'},{'name':'b','allNodes':true},{'name':'"
	                "c'" ZONE_A "},{'name':'d'}",
			2, 2},
		{"a selector that cannot be parsed",
			",'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
			"'operator':'Odd'}]}]}",
			TWO, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dra_fixture f;

		dra_fixture_init(&f);
		add_node(&f, 0, "a");
		add_node(&f, 1, "b");
		put_class(&f, "");
		put_slice(&f, 0, cases[i].scope, cases[i].devices);
		expect(&f, cases[i].row, 0, cases[i].on_n0, 0);
		expect(&f, cases[i].row, 1, cases[i].on_n1, 0);
		dra_fixture_finish(&f);
	}
}
END_TEST

static void hold(struct dra_fixture *f, const char *name, const char *result)
{
	PUT(f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'%s','namespace':'n'},'status':{'allocation':{'devices':{"
		"'results':[{'driver':'d','pool':'p0',%s}]}}}}",
		name, result);
}

START_TEST(test_device_totals__selectors_and_allocations)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	add_node(&f, 0, "a");
	put_class(&f, CEL(BIG));
	put_slice(&f, 0, ",'nodeName':'n0'",
		"{'name':'a','attributes':{'big':{'bool':true}}},{'name':'b','attributes':{'big':{"
		"'bool':false}}},{'name':'c','attributes':{'big':{'bool':true}}}");
	expect(&f, "two are big", 0, 2, 0);
	hold(&f, "one", "'device':'a'");
	expect(&f, "one is held", 0, 2, 1);
	hold(&f, "two", "'device':'b'");
	expect(&f, "one of another class", 0, 2, 1);
	hold(&f, "three", "'device':'c','shareID':'s'");
	expect(&f, "a share is enough", 0, 2, 2);
	hold(&f, "four", "'device':'a','adminAccess':true");
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	expect(&f, "admin access is not", 0, 2, 1);
	put_class(&f, "");
	expect(&f, "without selectors", 0, 3, 2);
	put_class(&f, CEL(BIG) ",{}");
	expect(&f, "an entry without CEL says nothing", 0, 2, 1);
	put_slice(&f, 1, ",'allNodes':true", "{'name':'x'}");
	expect(&f, "an error hides all", 0, 0, 0);
	delete_object(&f, BT_KIND_RESOURCE_SLICE, "", "s1");
	expect(&f, "until it is gone", 0, 2, 1);
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_device_totals__memory_is_counted)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	add_node(&f, 0, "a");
	put_slice(&f, 0, ",'nodeName':'n0'", TWO);
	put_class(&f, "");
	(void)bt_dra_device_totals_anew(f.dra, the_class(&f), slot_of(&f, 0));
	size_t bytes = bt_state_memory_bytes(f.state);
	(void)bt_dra_device_totals(f.dra, the_class(&f), slot_of(&f, 0));
	ck_assert_uint_gt(bt_state_memory_bytes(f.state), bytes);
	dra_fixture_finish(&f);
}
END_TEST

/* --- at random --- */

struct world {
	struct dra_fixture f;
	struct bt_prng prng;
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

#define PICK(w, ...) \
	(((const char *const[]){__VA_ARGS__})[below( \
		(w), (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))])

static void random_slice(struct world *w)
{
	struct bt_strbuf devices = {0};
	uint32_t number = below(w, SLICES);
	uint32_t count = 1 + below(w, 4);

	if (below(w, 4) == 0) {
		char name[8];
		(void)snprintf(name, sizeof(name), "s%u", number);
		(void)bt_object_store_delete(&w->f.state->objects, BT_KIND_RESOURCE_SLICE,
			BT_STR(""), bt_str_from(name)); /* the slice may not exist */
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&devices, "%s{'name':'%c'%s%s}", i != 0 ? "," : "", 'a' + i,
			PICK(w, "", ",'nodeName':'n1'", ",'allNodes':true", ZONE_A),
			PICK(w, ",'attributes':{'big':{'bool':true}}",
				",'attributes':{'big':{'bool':true}}",
				",'attributes':{'big':{'bool':false}}",
				below(w, 8) == 0 ? "" : ",'attributes':{'big':{'bool':true}}"));
	}
	put_slice(&w->f, number,
		PICK(w, ",'nodeName':'n0'", ",'nodeName':'n1'", ",'nodeName':'n2'",
			",'allNodes':true", "", ZONE_A, ",'perDeviceNodeSelection':true"),
		bt_strbuf_c(&devices));
	bt_strbuf_finish(&devices);
}

static void random_claim(struct world *w)
{
	uint32_t number = below(w, CLAIMS);

	PUT(&w->f, BT_KIND_RESOURCE_CLAIM, "{'metadata':{'name':'c%u','namespace':'n'}%s%u%s%c%s}",
		number, ",'status':{'allocation':{'devices':{'results':[{'driver':'d','pool':'p",
		below(w, SLICES), "','device':'", (char)('a' + below(w, 4)),
		below(w, 3) == 0 ? "','shareID':'s'}]}}}" : "'}]}}}");
	if (below(w, 2) == 0) {
		char name[8];
		(void)snprintf(name, sizeof(name), "c%u", number);
		delete_object(&w->f, BT_KIND_RESOURCE_CLAIM, "n", name);
	}
}

static void random_class(struct world *w)
{
	put_class(&w->f,
		PICK(w, "", CEL(BIG), CEL("!" BIG), CEL(BIG) "," CEL("true"),
			CEL("device.driver == \\\"d\\\"")));
}

static void random_node(struct world *w)
{
	add_node(&w->f, below(w, NODES), PICK(w, "a", "b"));
}

static void compare(struct world *w, uint64_t seed, uint32_t step)
{
	for (uint32_t node = 0; node < NODES; node++) {
		uint32_t slot = slot_of(&w->f, node);
		struct bt_device_totals kept =
			bt_dra_device_totals(w->f.dra, the_class(&w->f), slot);
		struct bt_device_totals anew =
			bt_dra_device_totals_anew(w->f.dra, the_class(&w->f), slot);

		if (kept.devices != anew.devices || kept.allocated != anew.allocated) {
			ck_abort_msg("seed %llu step %u node %u: %lld/%lld, not %lld/%lld",
				(unsigned long long)seed, step, node, (long long)kept.allocated,
				(long long)kept.devices, (long long)anew.allocated,
				(long long)anew.devices);
		}
	}
}

static void run(uint64_t seed)
{
	static void (*const operations[])(struct world * w) = {
		random_slice, random_slice, random_claim, random_claim, random_class, random_node};
	struct world w;

	dra_fixture_init(&w.f);
	bt_prng_init(&w.prng, seed);
	put_class(&w.f, "");
	for (uint32_t node = 0; node < NODES; node++) {
		add_node(&w.f, node, "a");
	}
	for (uint32_t step = 0; step < STEPS; step++) {
		operations[below(&w, sizeof(operations) / sizeof(operations[0]))](&w);
		compare(&w, seed, step);
	}
	dra_fixture_finish(&w.f);
}

START_TEST(test_device_totals__kept_equal_made_anew)
{
	const char *given = getenv("BERTH_TEST_SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;

	for (uint64_t seed = first; seed < first + (given != NULL ? 1 : SEEDS); seed++) {
		run(seed);
	}
}
END_TEST

BT_TEST_MAIN("device_totals", test_device_totals__which_nodes_reach_a_slice,
	test_device_totals__selectors_and_allocations,
	test_device_totals__memory_is_counted, test_device_totals__kept_equal_made_anew)
