/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_CLI_CLI_TEST_H
#define BT_TESTS_UNIT_CLI_CLI_TEST_H
/** Helpers of the command line tests: read clusters from text and run simulations. */
#include "cli/command.h"
#include "cluster/simulation.h"
#include "test_main.h"

/** Appends the warning to the text in context as a line. */
static inline void collect_warning(void *context, const char *line)
{
	struct bt_strbuf *lines = context;
	bt_strbuf_append_c(lines, line);
	bt_strbuf_append_char(lines, '\n');
}

static inline void read_text(struct bt_manifests *cluster, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_manifests_read_text(cluster, "test", bt_str_from(text), &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

static inline void expand_text(
	struct bt_manifests *cluster, struct bt_expansion *expansion, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bt_manifests_init(cluster);
	read_text(cluster, text);
	*expansion = (struct bt_expansion){.cluster = cluster};
	int result = bt_expansion_run(expansion, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

/**
 * Returns the names of the expanded pods, each followed by a space; random endings are written as
 * "*".
 */
static inline const char *expanded_names(
	const struct bt_expansion *expansion, struct bt_strbuf *out)
{
	bt_strbuf_reset(out);
	for (uint32_t i = 0; i < expansion->pods.count; i++) {
		const struct bt_object_meta *meta = &expansion->pods.items[i].pod->metadata;
		struct bt_str name = meta->name;
		if (meta->generate_name.length != 0) {
			ck_assert(bt_str_has_prefix(name, meta->generate_name));
			ck_assert_uint_eq(name.length, meta->generate_name.length + 5);
			name = meta->generate_name;
		}
		bt_strbuf_printf(out, "%.*s%s ", BT_STR_ARG(name),
			meta->generate_name.length != 0 ? "*" : "");
	}
	return bt_strbuf_c(out);
}

static inline void assert_label(const struct bt_pod *pod, const char *key, const char *value)
{
	const struct bt_str *found = bt_str_map_find(&pod->metadata.labels, bt_str_from(key));
	ck_assert_msg(found != NULL && bt_str_equal_c(*found, value), "label %s is \"%.*s\"", key,
		BT_STR_ARG(found != NULL ? *found : BT_STR("(absent)")));
}

/** The input, result and warnings of a finished simulation. */
struct test_run {
	struct bt_manifests cluster;
	struct bt_simulation simulation;
	struct bt_strbuf warnings;
};

/** Reads the text and runs the simulation; returns 0, or an error code with err set. */
static inline int test_run_init(struct test_run *run, const char *text, struct berth_error *err)
{
	struct bt_setup setup = BT_SETUP_INIT;
	*run = (struct test_run){0};
	setup.verify = true;
	bt_manifests_init(&run->cluster);
	run->cluster.warn = collect_warning;
	run->cluster.warn_context = &run->warnings;
	ck_assert_int_eq(bt_simulation_init(
				 &run->simulation, &run->cluster, bt_setup_scheduler, &setup, err),
		0);
	int result = bt_manifests_read_text(&run->cluster, "test", bt_str_from(text), err);
	if (result == 0) {
		result = bt_simulation_load(&run->simulation, err);
	}
	if (result == 0) {
		bt_simulation_run(&run->simulation, run->simulation.pods.count);
	}
	return result;
}

static inline void test_run_finish(struct test_run *run)
{
	bt_simulation_finish(&run->simulation);
	bt_manifests_finish(&run->cluster);
	bt_strbuf_finish(&run->warnings);
}
#endif
