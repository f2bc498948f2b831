/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulation_ask.h"

#include "cli/output.h"
#include "cli/warnings.h"

int bt_simulation_ask(const struct bt_command *command, const struct bt_setup *setup,
	const struct bt_source *source, bt_simulation_answer_fn *answer, const void *context)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_warnings warnings = {.command = command};
	struct bt_engine *engine = NULL;
	struct bt_manifests cluster;
	bt_manifests_init(&cluster);
	cluster.warn = bt_warnings_take;
	cluster.warn_context = &warnings;
	int result = bt_setup_engine(setup, &engine, &err);
	if (result == 0) {
		result = bt_source_read(source, &cluster, &err);
	}
	if (result == 0) {
		struct bt_simulation simulation;
		struct bt_strbuf out = {0};
		bt_simulation_init(&simulation, &cluster, engine);
		result = answer(context, &simulation, &out, &err);
		if (result >= 0) {
			bt_output_print(&out);
		}
		bt_strbuf_finish(&out);
		bt_simulation_finish(&simulation);
	}
	bt_engine_destroy(engine);
	int exit_status = result < 0 ? bt_command_fail(command, &err) : result;
	bt_warnings_end(&warnings);
	bt_manifests_finish(&cluster);
	return exit_status;
}
