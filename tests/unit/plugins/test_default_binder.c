/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "fixture.h"
#include "test_main.h"

struct recorder {
	char node[32];
	char pod[32];
	bool fails;
};

static int record(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct recorder *recorder = context;

	(void)snprintf(recorder->node, sizeof(recorder->node), "%.*s", BT_STR_ARG(node_name));
	(void)snprintf(recorder->pod, sizeof(recorder->pod), "%.*s", BT_STR_ARG(pod->name));
	return recorder->fails ? bt_error_set(err, BERTH_ERR_IO, "pods \"p\" not found") : 0;
}

static const char *bind(struct fixture *fixture)
{
	struct bt_cycle_state cycle;
	struct bt_status status;

	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	status = fixture->plugin->ops->bind(fixture->plugin, &cycle,
		fixture_pending(fixture, "{'metadata':{'name':'p'}}"), fixture_slot(fixture, "n"));
	bt_cycle_state_finish(&cycle);
	return fixture_status_text(fixture, status);
}

START_TEST(test_default_binder__hands_the_binding_over)
{
	struct recorder recorder = {.fails = false};
	struct bt_binder binder = {record, &recorder};
	struct fixture fixture;

	fixture_init(&fixture, &bt_default_binder_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fixture_expect("nobody listens", bind(&fixture), "Success");
	fixture.handle.binder = &binder;
	fixture_expect("accepted", bind(&fixture), "Success");
	ck_assert_str_eq(recorder.node, "n");
	ck_assert_str_eq(recorder.pod, "p");
	recorder.fails = true;
	fixture_expect("refused", bind(&fixture), "Error: pods \"p\" not found");
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("default_binder", test_default_binder__hands_the_binding_over)
