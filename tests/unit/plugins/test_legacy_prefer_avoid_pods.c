/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "test_main.h"

#define ENTRY(controller) "{\\'podSignature\\':{" controller "},\\'reason\\':\\'r\\'}"
#define AVOID_ABC \
	"\\'podController\\':{\\'kind\\':\\'ReplicaSet\\',\\'uid\\':\\'abc\\',\\'controller\\':" \
	"true}"
#define OWNED(kind, uid, controller) \
	"{'metadata':{'ownerReferences':[{'kind':'" kind "','uid':'" uid \
	"','controller':" controller "}]}}"

static int64_t score_with(const char *annotation, const char *pod)
{
	struct fixture fixture;
	int64_t score;

	fixture_init(&fixture, &bt_legacy_node_prefer_avoid_pods_plugin);
	fixture_add_node(&fixture,
		bt_arena_printf(&fixture.arena,
			"{'metadata':{'name':'n','annotations':{'other':'x',"
			"'scheduler.alpha.kubernetes.io/preferAvoidPods':'%s'}}}",
			annotation)
			.data);
	score = fixture_score(&fixture, pod, "n");
	fixture_finish(&fixture);
	return score;
}

START_TEST(test_node_prefer_avoid_pods__edge_05b_16_controllers)
{
	static const char avoid[] = "{\\'preferAvoidPods\\':[" ENTRY("") "," ENTRY(AVOID_ABC) "]}";
	static const struct {
		const char *name;
		const char *annotation;
		const char *pod;
		int64_t expected;
	} rows[] = {
		{"same controller", avoid, OWNED("ReplicaSet", "abc", "true"), 0},
		{"other uid", avoid, OWNED("ReplicaSet", "xyz", "true"), 100},
		{"other kind", avoid, OWNED("ReplicationController", "abc", "true"), 100},
		{"stateful set", avoid, OWNED("StatefulSet", "abc", "true"), 100},
		{"not the controller", avoid, OWNED("ReplicaSet", "abc", "false"), 100},
		{"no owner", avoid, "{}", 100},
		{"not json", "not json", OWNED("ReplicaSet", "abc", "true"), 100},
		{"empty", "", OWNED("ReplicaSet", "abc", "true"), 100},
		{"null", "null", OWNED("ReplicaSet", "abc", "true"), 100},
		{"wrong type", "{\\'preferAvoidPods\\':{}}", OWNED("ReplicaSet", "abc", "true"),
			100},
		{"trailing text", "{\\'preferAvoidPods\\':[" ENTRY(AVOID_ABC) "]} x",
			OWNED("ReplicaSet", "abc", "true"), 100},
		{"broken entry after a match", "{\\'preferAvoidPods\\':[" ENTRY(AVOID_ABC) ",7]}",
			OWNED("ReplicaSet", "abc", "true"), 100},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t score = score_with(rows[i].annotation, rows[i].pod);

		ck_assert_msg(score == rows[i].expected, "%s: got %d", rows[i].name, (int)score);
	}
}
END_TEST

START_TEST(test_node_prefer_avoid_pods__annotation_comes_and_goes)
{
	static const char pod[] = OWNED("ReplicaSet", "abc", "true");
	struct fixture fixture;
	struct bt_node *bare;
	struct bt_node *avoiding;

	fixture_init(&fixture, &bt_legacy_node_prefer_avoid_pods_plugin);
	bare = fixture_node(&fixture, "{'metadata':{'name':'n'}}");
	avoiding = fixture_node(&fixture,
		"{'metadata':{'name':'n','annotations':{'scheduler.alpha.kubernetes.io/"
		"preferAvoidPods':"
		"'{\\'preferAvoidPods\\':[" ENTRY(AVOID_ABC) "]}'}}}");
	bt_state_add_node(fixture.state, bare);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	ck_assert_int_eq(fixture_score(&fixture, pod, "n"), 100);
	bt_state_update_node(fixture.state, bare, avoiding);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	ck_assert_int_eq(fixture_score(&fixture, pod, "n"), 0);
	bt_state_update_node(fixture.state, avoiding, bare);
	ck_assert_int_eq(bt_state_refresh_snapshot(fixture.state, NULL), 0);
	ck_assert_int_eq(fixture_score(&fixture, pod, "n"), 100);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("legacy_prefer_avoid_pods", test_node_prefer_avoid_pods__edge_05b_16_controllers,
	test_node_prefer_avoid_pods__annotation_comes_and_goes)
