/* SPDX-License-Identifier: Apache-2.0 */
/** Verification ends the process when columns and plain forms disagree. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sched_world.h"
#include "test_main.h"

struct lie {
	enum script_form form;
	uint32_t verdict_of_node; /* number of the node whose column verdict is wrong; 0: none */
	int32_t score_error;
	bool all_rejected;
	bool evaluate;
};

/* Runs in a child process with one plugin whose columns are wrong. */
static void run_wrong_plugin(const struct lie *lie)
{
	static const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};
	struct script plugin =
		script_make("L", FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SCORE), lie->form);
	struct script_row rows[] = {{"n1", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 1},
		{"n2", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 2},
		{"n3", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 3}};
	struct world world;

	for (size_t i = 0; i < 3 && !lie->all_rejected; i++) {
		rows[i].filter = (struct fake_answer){BT_STATUS_SUCCESS, NULL, NULL};
	}
	script_set_rows(&plugin, rows, 3);
	world_init(&world, "L", &options, (struct script *[]){&plugin}, 1);
	world_add_nodes(&world, 1, 3);
	ck_assert_int_eq(bt_state_refresh_snapshot(world.engine->state, NULL), 0);
	if (lie->verdict_of_node != 0) {
		plugin.column_verdict_lie =
			bt_snapshot_list(&world.engine->state->snapshot)[lie->verdict_of_node - 1] +
			1;
	}
	plugin.column_score_error = lie->score_error;
	if (lie->evaluate) {
		struct bt_evaluation evaluation;

		bt_engine_evaluate(
			world.engine, world.framework, world_pending(&world, "{}"), &evaluation);
	} else {
		(void)world_schedule(&world, "{}");
	}
	world_finish(&world);
}

/* Returns the child's wait status and its standard error. */
static int run_child(const struct lie *lie, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;
	int status = 0;
	int ends[2];
	pid_t child;

	ck_assert_int_eq(pipe(ends), 0);
	(void)fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		run_wrong_plugin(lie);
		_exit(0);
	}
	(void)close(ends[1]);
	while ((got = read(ends[0], text + length, size - 1 - length)) > 0) {
		length += (size_t)got;
	}
	text[length] = '\0';
	(void)close(ends[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static void check_lie(const char *row, struct lie lie, const char *expected)
{
	char text[4096];
	int status = run_child(&lie, text, sizeof(text));

	ck_assert_msg(strstr(text, expected) != NULL, "%s: no \"%s\" in: %s", row, expected, text);
	ck_assert_msg(!WIFEXITED(status) || WEXITSTATUS(status) != 0, "%s: the child lived", row);
}

START_TEST(test_verify__truth_passes)
{
	char text[4096];
	struct lie honest = {.form = SCRIPT_COLUMN};

	ck_assert_int_eq(run_child(&honest, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	honest.form = SCRIPT_CYCLE_COLUMN;
	honest.evaluate = true;
	ck_assert_int_eq(run_child(&honest, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(test_verify__column_lies_are_found)
{
	check_lie("column rejects", (struct lie){.form = SCRIPT_COLUMN, .verdict_of_node = 2},
		"feasible nodes: plain form says \"3\", columns say \"2\"");
	check_lie("column passes",
		(struct lie){.form = SCRIPT_COLUMN, .verdict_of_node = 1, .all_rejected = true},
		"feasible nodes: plain form says \"0\", columns say \"1\"");
	check_lie("cycle column rejects",
		(struct lie){.form = SCRIPT_CYCLE_COLUMN, .verdict_of_node = 3}, "feasible nodes");
	check_lie("score", (struct lie){.form = SCRIPT_COLUMN, .score_error = 1},
		"node n3: total of the chosen node: plain form says \"3\", columns say \"4\"");
	check_lie("cycle score", (struct lie){.form = SCRIPT_CYCLE_COLUMN, .score_error = 1},
		"total of the chosen node");
	check_lie("evaluation, verdict",
		(struct lie){.form = SCRIPT_COLUMN, .verdict_of_node = 2, .evaluate = true},
		"node n2: filter verdict: plain form says \"Success  []\"");
	check_lie("evaluation, score",
		(struct lie){.form = SCRIPT_COLUMN, .score_error = 1, .evaluate = true},
		"total score");
}
END_TEST

BT_TEST_MAIN("verify", test_verify__truth_passes, test_verify__column_lies_are_found)
