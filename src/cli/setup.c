/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "cli/console.h"
#include "cluster/file.h"
#include "lib/document.h"
#include "lib/registry.h"

bool bt_setup_verify(void)
{
	const char *value = getenv("BERTH_VERIFY");
	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

int64_t bt_setup_max_pd_volumes(void)
{
	const char *value = getenv("KUBE_MAX_PD_VOLS");
	int64_t number;
	if (value == NULL || value[0] == '\0') {
		return 0;
	}
	if (!bt_str_parse_int64(bt_str_from(value), &number) || number <= 0) {
		(void)fprintf(
			stderr, "berth: KUBE_MAX_PD_VOLS is ignored: not a positive number\n");
		return 0;
	}
	return number;
}

/** out_warnings: allocated in arena. */
static int read_gates(const struct bt_setup *setup, struct bt_gates *out_gates,
	bt_gate_warning_list *out_warnings, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	for (uint32_t i = 0; i < setup->feature_gates.list.count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		bt_strbuf_append_c(&text, setup->feature_gates.list.items[i]);
	}
	int result = bt_gates_set_at(NULL, setup->strict_feature_gates, bt_strbuf_str(&text),
		out_gates, out_warnings, arena, err);
	bt_strbuf_finish(&text);
	return result < 0 ? bt_error_wrap(err, result, "--feature-gates") : 0;
}

int bt_setup_check_gates(const char *command_name, const struct bt_setup *setup,
	struct bt_gates *out_gates, struct berth_error *err)
{
	struct bt_arena arena = {0};
	bt_gate_warning_list found = {0};
	struct bt_warnings warnings = {.command = command_name};
	int result = read_gates(setup, out_gates, &found, &arena, err);
	for (uint32_t i = 0; i < found.count; i++) {
		const struct bt_gate_warning *item = &found.items[i];
		if (item->kind == BT_GATE_WARNING_UNKNOWN) {
			bt_warnings_take(&warnings,
				bt_arena_printf(&arena,
					"--feature-gates: unknown feature gate %.*s is ignored",
					BT_STR_ARG(item->gate))
					.data);
		}
	}
	bt_warnings_end(&warnings);
	bt_arena_finish(&arena);
	return result;
}

int bt_setup_start(const char *command_name, struct bt_setup *setup, struct berth_error *err)
{
	struct bt_gates gates;
	int result = bt_setup_check_gates(command_name, setup, &gates, err);
	if (result == 0 && setup->plugins.list.count + setup->plugin_folders.list.count != 0) {
		setup->registry = berth_registry_create();
	}
	for (uint32_t i = 0; i < setup->plugins.list.count && result == 0; i++) {
		result = berth_registry_load_plugin(
			setup->registry, setup->plugins.list.items[i], err);
		result = result < 0 ? bt_error_wrap(err, result, "--plugin") : 0;
	}
	for (uint32_t i = 0; i < setup->plugin_folders.list.count && result == 0; i++) {
		result = berth_registry_load_plugins(
			setup->registry, setup->plugin_folders.list.items[i], err);
		result = result < 0 ? bt_error_wrap(err, result, "--plugin-dir") : 0;
	}
	if (result == 0 && (setup->threads < 1 || setup->threads > BT_THREADS_MAX)) {
		result = bt_error_set(
			err, BERTH_ERR_INVALID, "--threads: must be from 1 to %d", BT_THREADS_MAX);
	}
	return result == 0 && setup->threads != 1
		? bt_thread_pool_create((uint32_t)setup->threads, &setup->pool, err)
		: result;
}

int bt_setup_load_config(
	const struct bt_setup *setup, struct bt_config **out_config, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_gates gates;
	bt_gate_warning_list warnings; /* not printed: bt_setup_start has printed the warnings */
	struct bt_config *config = NULL;
	int result = read_gates(setup, &gates, &warnings, &arena, err);
	bt_arena_finish(&arena);
	const char *path = setup->config_path;
	if (result == 0 && path == NULL) {
		config = bt_config_create_default(&gates);
	} else if (result == 0) {
		struct bt_file file;
		result = bt_file_read(path, (size_t)BT_CONFIG_BYTES_MAX, &file, err);
		if (result == 0) {
			struct bt_str text = {file.data, (uint32_t)file.length};
			result = bt_document_load_config(text, &gates, NULL, &config, err);
			bt_file_finish(&file);
		}
		result = result < 0 ? bt_error_wrap(err, result, "%s", path) : 0;
	}
	/* Without the extenders' answers the decisions would be wrong. */
	if (result == 0 && !setup->ignore_extenders && config->document.extenders.count != 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: extenders: this command does not call extenders; --ignore-extenders "
			"schedules as if there were none",
			setup->config_path);
	}
	if (result < 0) {
		bt_config_unref(config);
		return result;
	}
	*out_config = config;
	return 0;
}

int bt_setup_engine_options(const struct bt_setup *setup, struct bt_engine_options *out_options,
	struct berth_error *err)
{
	if (setup->percentage < -1 || setup->percentage > 100) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"--percentage-of-nodes-to-score: must be from 0 to 100");
	}
	if (setup->tie_seed < -1) {
		return bt_error_set(err, BERTH_ERR_INVALID, "--seed: must not be negative");
	}
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	options.tie_policy = setup->tie_seed < 0 ? BT_TIE_HEAP : BT_TIE_RANDOM;
	options.seed = (uint64_t)setup->tie_seed;
	options.verify = setup->verify;
	options.max_pd_volumes = bt_setup_max_pd_volumes();
	options.percentage_of_nodes_to_score = (int32_t)setup->percentage;
	options.extra_plugins = setup->registry != NULL ? &setup->registry->inside : NULL;
	options.workers = setup->pool != NULL ? bt_thread_pool_workers(setup->pool) : NULL;
	*out_options = options;
	return 0;
}

int bt_setup_engine(
	const struct bt_setup *setup, struct bt_engine **out_engine, struct berth_error *err)
{
	struct bt_engine_options options;
	struct bt_config *config;
	int result = bt_setup_engine_options(setup, &options, err);
	if (result == 0) {
		result = bt_setup_load_config(setup, &config, err);
	}
	if (result == 0) {
		result = bt_engine_create(config, &options, out_engine, err);
		bt_config_unref(config);
	}
	return result;
}

int bt_setup_scheduler(const void *setup, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err)
{
	struct bt_engine_options options;
	struct bt_config *config;
	int result = bt_setup_engine_options(setup, &options, err);
	if (result == 0) {
		result = bt_setup_load_config(setup, &config, err);
	}
	if (result == 0) {
		result = bt_scheduler_create(config, &options, writer, out_scheduler, err);
		bt_config_unref(config);
	}
	return result;
}

void bt_setup_finish(struct bt_setup *setup)
{
	bt_thread_pool_destroy(setup->pool);
	setup->pool = NULL;
	berth_registry_destroy(setup->registry);
	setup->registry = NULL;
}
