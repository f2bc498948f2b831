/* SPDX-License-Identifier: Apache-2.0 */
/* Pools that follow slices and nodes, and cached selector verdicts. Spec 12 sections 9.1 and 18. */
#include "allocator_fixture.h"
#include "dra/device_pools_private.h"
#include "test_main.h"

#define SIZED(name, size) "{'name':'" name "','attributes':{'size':{'int':" size "}}}"
#define LARGE SELECTOR("device.attributes[\\\"d\\\"].size > 1")

/**
 * Makes three nodes with a pool of two devices each, and evaluates a claim with a selector on all
 * nodes.
 */
static void begin_on_three_nodes(struct world *w)
{
	char name[16];
	char scope[32];

	world_init(w);
	add_class(w, "c", "");
	add_claim(w, REQUESTS(EXACT_WITH("r", "1", LARGE)));
	for (int i = 1; i <= 3; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		(void)snprintf(scope, sizeof(scope), "'nodeName':'n%d'", i);
		add_node(w, name, "");
		add_slice(w, name, "d", name, 1, 1, scope, SIZED("a", "1") "," SIZED("b", "2"));
	}
	for (int i = 1; i <= 3; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		ck_assert(strstr(allocate(w, name), "/b") != NULL);
	}
}

/** Number of verdicts evaluated so far, and number of cached verdicts. */
struct verdict_figures {
	uint64_t evaluated;
	uint64_t kept;
};

static struct verdict_figures figures(const struct world *w)
{
	const struct bt_device_pools *pools = w->f.dra->pools;
	struct verdict_figures figures = {.evaluated = pools->evaluated};

	for (uint32_t i = 0; i < pools->programs.count; i++) {
		figures.kept += pools->programs.items[i].known_count;
	}
	return figures;
}

START_TEST(test_device_pools__verdicts_are_computed_once)
{
	struct world w;

	begin_on_three_nodes(&w);
	ck_assert_uint_eq(figures(&w).evaluated, 6);
	ck_assert_uint_eq(figures(&w).kept, 6);
	(void)allocate(&w, "n1");
	(void)allocate(&w, "n2");
	ck_assert_uint_eq(figures(&w).evaluated, 6);
	world_finish(&w);
}
END_TEST

START_TEST(test_device_pools__slice_update_repairs_what_changed)
{
	struct world w;

	begin_on_three_nodes(&w);
	/* The same devices in another order, one with a taint: no selector is evaluated again. */
	add_slice(&w, "n2", "d", "n2", 2, 1, "'nodeName':'n2'",
		SIZED("b", "2") ",{'name':'a','attributes':{'size':{'int':1}},'taints':[{'key':'k'"
				",'effect':'None'}]}");
	ck_assert_str_eq(allocate(&w, "n2"), "r=n2/b");
	ck_assert_uint_eq(figures(&w).evaluated, 6);
	ck_assert_uint_eq(figures(&w).kept, 6);
	/* The content of one device changes. */
	add_slice(
		&w, "n2", "d", "n2", 3, 1, "'nodeName':'n2'", SIZED("a", "3") "," SIZED("b", "2"));
	ck_assert_uint_eq(figures(&w).kept, 5);
	ck_assert_str_eq(allocate(&w, "n2"), "r=n2/a");
	ck_assert_str_eq(allocate(&w, "n1"), "r=n1/b");
	ck_assert_str_eq(allocate(&w, "n3"), "r=n3/b");
	ck_assert_uint_eq(figures(&w).evaluated, 7);
	/* Deleting a slice drops its verdicts and no others. */
	delete_object(&w.f, BT_KIND_RESOURCE_SLICE, "", "n2");
	ck_assert_uint_eq(figures(&w).kept, 4);
	ck_assert_str_eq(allocate(&w, "n2"), "none");
	ck_assert_str_eq(allocate(&w, "n1"), "r=n1/b");
	ck_assert_uint_eq(figures(&w).evaluated, 7);
	world_finish(&w);
}
END_TEST

START_TEST(test_device_pools__nodes_come_and_change)
{
	struct world w;

	begin_on_three_nodes(&w);
	add_slice(&w, "net", "d", "net", 1, 1,
		"'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'rack','operator'"
		":'In','values':['r1']}]}]}",
		SIZED("net", "5"));
	ck_assert_str_eq(allocate(&w, "n1"), "r=n1/b");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(EXACT_WITH("r", "2", LARGE)));
	ck_assert_str_eq(allocate(&w, "n1"), "none");
	add_node(&w, "n1", "'rack':'r1'");
	ck_assert_str_eq(allocate(&w, "n1"), "r=n1/b r=net/net");
	ck_assert_str_eq(allocate(&w, "n2"), "none");
	add_node(&w, "n1", "'rack':'r2'");
	ck_assert_str_eq(allocate(&w, "n1"), "none");
	add_node(&w, "n4", "'rack':'r1'");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(EXACT_WITH("r", "1", LARGE)));
	ck_assert_str_eq(allocate(&w, "n4"), "r=net/net");
	world_finish(&w);
}
END_TEST

START_TEST(test_device_pools__more_changes_than_are_remembered)
{
	struct world w;

	begin_on_three_nodes(&w);
	for (int i = 0; i < 600; i++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "x%d", i % 7);
		add_slice(&w, name, "d", name, i, 1, "'nodeName':'n3'", SIZED("a", "0"));
	}
	ck_assert_str_eq(allocate(&w, "n3"), "r=n3/b");
	world_drop_claims(&w);
	add_claim(&w, REQUESTS(ALL("r")));
	ck_assert_str_eq(allocate(&w, "n3"),
		"r=n3/a r=n3/b r=x0/a r=x1/a r=x2/a r=x3/a r=x4/a r=x5/a r=x6/a");
	world_finish(&w);
}
END_TEST

START_TEST(test_device_pools__expressions_are_bounded)
{
	struct world w;

	begin_on_three_nodes(&w);
	for (int i = 0; i < 2000; i++) {
		struct bt_strbuf claim = {0};
		world_drop_claims(&w);
		bt_strbuf_printf(&claim,
			REQUESTS(EXACT_WITH(
				"r", "1", SELECTOR("device.attributes[\\\"d\\\"].size > %d"))),
			i % 700 + 1);
		add_claim(&w, bt_strbuf_c(&claim));
		bt_strbuf_finish(&claim);
		ck_assert_str_eq(allocate(&w, "n1"), i % 700 == 0 ? "r=n1/b" : "none");
		ck_assert_uint_le(figures(&w).kept, 2 * 512 + 6);
	}
	world_finish(&w);
}
END_TEST

BT_TEST_MAIN("device_pools", test_device_pools__verdicts_are_computed_once,
	test_device_pools__slice_update_repairs_what_changed,
	test_device_pools__nodes_come_and_change,
	test_device_pools__more_changes_than_are_remembered,
	test_device_pools__expressions_are_bounded)
