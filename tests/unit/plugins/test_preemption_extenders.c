/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of extenders on candidates. Spec: 08 section 18, cases 36 to 38, and section 10. */
#include "base/error.h"
#include "preemption_fixture.h"
#include "test_main.h"

/** An extender that filters the given nodes, or returns a scripted answer. */
struct script {
	const char *only;   /* keep only this node; NULL: all */
	const char *error;  /* the call fails with this error */
	const char *answer; /* "node1 uid-a uid-b": scripted answer, 3 violations */
	uint32_t calls;
	const char *asked; /* text of the extender's last request */
	struct bt_config_extender config;
};

static const char *describe(struct bt_arena *arena, const struct bt_node_victims_list *candidates)
{
	struct bt_strbuf text = {0};
	struct bt_str copy;

	for (uint32_t i = 0; i < candidates->count; i++) {
		const struct bt_node_victims *opinion = &candidates->items[i];

		bt_strbuf_printf(&text, "%s%.*s(%lld)", i != 0 ? " " : "",
			BT_STR_ARG(opinion->node_name), (long long)opinion->pdb_violations);
		for (uint32_t v = 0; v < opinion->victim_count; v++) {
			bt_strbuf_printf(&text, " %.*s", BT_STR_ARG(opinion->victim_uids[v]));
		}
	}
	copy = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

static struct bt_node_victims read_answer(struct bt_arena *arena, const char *answer)
{
	struct bt_str rest = bt_str_from(answer);
	struct bt_str *uids = BT_ARENA_NEW_ARRAY(arena, struct bt_str, 4);
	struct bt_node_victims opinion = {.victim_uids = uids, .pdb_violations = 3};
	int64_t space = bt_str_find_char(rest, ' ');

	opinion.node_name = space < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)space);
	while (space >= 0) {
		rest = bt_str_sub(rest, (uint32_t)space + 1, BT_STR_MAX);
		space = bt_str_find_char(rest, ' ');
		uids[opinion.victim_count++] =
			space < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)space);
	}
	return opinion;
}

static int process(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_node_victims_list *candidates, struct bt_arena *arena,
	struct bt_node_victims_list *out_answer, struct berth_error *err)
{
	struct script *script = context;
	struct bt_node_victims *kept =
		BT_ARENA_NEW_ARRAY(arena, struct bt_node_victims, candidates->count + 1);
	uint32_t count = 0;

	script->calls++;
	script->asked = describe(arena, candidates);
	if (script->error != NULL) {
		return bt_error_set(err, BERTH_ERR_IO, "%s", script->error);
	}
	for (uint32_t i = 0; script->answer == NULL && i < candidates->count; i++) {
		if (script->only == NULL ||
			bt_str_equal_c(candidates->items[i].node_name, script->only)) {
			kept[count++] = candidates->items[i];
		}
	}
	if (script->answer != NULL) {
		kept[count++] = read_answer(arena, script->answer);
	}
	*out_answer = (struct bt_node_victims_list){kept, count};
	return 0;
}

static void init(struct preemption_fixture *fixture, struct bt_preemption_extender *extenders,
	struct script *scripts, uint32_t count)
{
	preemption_init(fixture, NULL);
	preemption_add_node(fixture, "node1", "'cpu':'1','pods':'10'");
	preemption_add_node(fixture, "node2", "'cpu':'1','pods':'10'");
	preemption_add_node(fixture, "mock", "'cpu':'1','pods':'10'");
	preemption_add_pods(fixture, "node1", "a:mid,cpu=500m b:low,cpu=500m");
	preemption_add_pods(fixture, "node2", "c:low,cpu=1");
	preemption_add_pods(fixture, "mock", "d:hi,cpu=1");
	for (uint32_t i = 0; i < count; i++) {
		scripts[i].config.url_prefix = BT_STR("http://extender/");
		scripts[i].config.preempt_verb = BT_STR("preempt");
		extenders[i] = (struct bt_preemption_extender){
			.config = &scripts[i].config, .process = process, .context = &scripts[i]};
	}
	fixture->framework->handle.preemption_extenders = extenders;
	fixture->framework->handle.preemption_extender_count = count;
}

#define POD "p:hi,cpu=1"

START_TEST(test_preemption__edge_08_36_extenders_narrow)
{
	struct bt_preemption_extender extenders[2];
	struct preemption_fixture fixture;
	struct script ignorable[2] = {
		{.only = "node1"}, {.error = "down", .config = {.ignorable = true}}};
	struct script nothing[2] = {{.only = "nowhere"}, {.only = "node1"}};
	struct script hard[2] = {{.error = "down"}, {.only = "node1"}};

	/* Without extenders preemption selects node2. */
	init(&fixture, extenders, ignorable, 0);
	preemption_expect(&fixture, POD, NULL, "Success", "node2", "node1[a b] node2[c]");
	preemption_finish(&fixture);

	init(&fixture, extenders, ignorable, 2);
	preemption_expect(&fixture, POD, NULL, "Success", "node1", "node1[a b]");
	ck_assert_str_eq(ignorable[0].asked, "node1(0) uid-a uid-b node2(0) uid-c");
	ck_assert_str_eq(ignorable[1].asked, "node1(0) uid-a uid-b");
	preemption_finish(&fixture);

	init(&fixture, extenders, nothing, 2);
	preemption_expect(&fixture, POD, NULL,
		"Unschedulable: preemption: no candidate node for preemption", "none", "none");
	ck_assert_msg(nothing[1].calls == 0, "nothing is left to ask about");
	preemption_finish(&fixture);

	init(&fixture, extenders, hard, 2);
	preemption_expect(&fixture, POD, NULL, "Error: preemption: down", "none", "none");
	ck_assert_uint_eq(hard[1].calls, 0);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_37_node_without_victims)
{
	struct bt_preemption_extender extenders[2];
	struct preemption_fixture fixture;
	struct script hard[] = {{.answer = "mock"}};
	struct script ignorable[] = {
		{.answer = "mock", .config = {.ignorable = true}}, {.only = "node1"}};

	init(&fixture, extenders, hard, 1);
	preemption_expect(&fixture, POD, NULL,
		"Error: preemption: expected at least one victim pod on node \"mock\"", "none",
		"none");
	preemption_finish(&fixture);

	init(&fixture, extenders, ignorable, 2);
	preemption_expect(&fixture, POD, NULL,
		"Unschedulable: preemption: no candidate node for preemption", "none", "none");
	ck_assert_uint_eq(ignorable[1].calls, 0);
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__edge_08_38_extender_that_is_not_interested)
{
	struct bt_preemption_extender extenders[2];
	struct preemption_fixture fixture;
	struct bt_config_managed_resource gpu = {.name = BT_STR("example.com/gpu")};
	struct bt_config_managed_resource cpu = {.name = BT_STR("cpu")};
	struct script scripts[2] = {{.only = "node1"}, {.only = "node1"}};

	init(&fixture, extenders, scripts, 2);
	scripts[0].config.managed_resources.items = &gpu;
	scripts[0].config.managed_resources.count = 1;
	scripts[1].config.preempt_verb = BT_STR("");
	preemption_expect(&fixture, POD, NULL, "Success", "node2", "node1[a b] node2[c]");
	ck_assert_uint_eq(scripts[0].calls + scripts[1].calls, 0);
	/* The extender is called once it manages a resource that the pod requests. */
	scripts[0].config.managed_resources.items = &cpu;
	preemption_expect(&fixture, POD, NULL, "Success", "node1", "node1[a b]");
	ck_assert_uint_eq(scripts[0].calls, 1);
	preemption_finish(&fixture);
}
END_TEST

/** --- other parts of section 10 --- */

START_TEST(test_preemption__extender_changes_victims)
{
	struct bt_preemption_extender extenders[1];
	struct preemption_fixture fixture;
	struct script scripts[] = {{.answer = "node1 uid-b uid-a"}};

	/* The extender's order and number of violations are used. */
	init(&fixture, extenders, scripts, 1);
	preemption_expect(&fixture, POD, NULL, "Success", "node1", "node1[b a]!3");
	/* The answer may even have a node that is not a candidate. */
	scripts[0].answer = "mock uid-d";
	preemption_expect(&fixture, POD, NULL, "Success", "mock", "mock[d]!3");
	preemption_finish(&fixture);
}
END_TEST

START_TEST(test_preemption__extender_answers_nonsense)
{
	struct bt_preemption_extender extenders[1];
	struct preemption_fixture fixture;
	struct script scripts[] = {{.answer = "nowhere uid-a"}};

	init(&fixture, extenders, scripts, 1);
	preemption_expect(&fixture, POD, NULL,
		"Error: preemption: nodeinfo not found for node name \"nowhere\"", "none", "none");
	scripts[0].answer = "node1 uid-c";
	preemption_expect(&fixture, POD, NULL,
		"Error: preemption: extender: http://extender/ claims to preempt pod (UID: "
		"&{uid-c}) on node: node1, but the pod is not found on that node",
		"none", "none");
	scripts[0].answer = "node1 uid-unheard-of";
	scripts[0].config.ignorable = true;
	preemption_expect(&fixture, POD, NULL, "Success", "node2", "node1[a b] node2[c]");
	preemption_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("preemption_extenders", test_preemption__edge_08_36_extenders_narrow,
	test_preemption__edge_08_37_node_without_victims,
	test_preemption__edge_08_38_extender_that_is_not_interested,
	test_preemption__extender_changes_victims, test_preemption__extender_answers_nonsense)
