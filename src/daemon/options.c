/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/options.h"

#include <stdio.h>

#include "base/flags.h"
#include "daemon/build_info.h"
#include "daemon/options_private.h"

struct command_line {
	struct bt_daemon_flag_value values[BT_DAEMON_FLAG__COUNT];
	struct bt_flag_setter setters[BT_DAEMON_FLAG__COUNT];
	struct bt_flag flags[BT_DAEMON_FLAG__COUNT];
	struct bt_arguments arguments;
};

static bool is_given(const struct command_line *line, enum bt_daemon_flag flag)
{
	return line->values[flag].number != 0;
}

static int set_value(void *context, const char *text, struct berth_error *err)
{
	return bt_flag_value_set(context, text, err);
}

/* --- what is said before there is a log --- */

static void print_help(bool with_intro, FILE *stream)
{
	struct bt_strbuf text = {0};
	bt_flags_write_help(with_intro, &text);
	(void)fputs(bt_strbuf_c(&text), stream);
	bt_strbuf_finish(&text);
}

/** The first argument that says something is one too many. */
static bool refuse_arguments(const struct bt_arguments *arguments)
{
	struct bt_strbuf shown = {0};
	bool refused = false;
	for (uint32_t i = 0; i < arguments->list.count; i++) {
		refused = refused || arguments->list.items[i][0] != '\0';
		bt_strbuf_append_c(&shown, i > 0 ? " " : "");
		bt_strbuf_append_quoted(&shown, bt_str_from(arguments->list.items[i]));
	}
	if (refused) {
		(void)fprintf(stderr,
			"Error: \"kube-scheduler\" does not take any arguments, got [%s]\n",
			bt_strbuf_c(&shown));
	}
	bt_strbuf_finish(&shown);
	return refused;
}

static enum bt_options_next read_line(struct command_line *line, int argc, char **argv)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool help; /* never set: the table has a flag of this name */
	if (bt_flags_parse(line->flags, BT_DAEMON_FLAG__COUNT, argc, argv, &line->arguments, &help,
		    &err) < 0) {
		print_help(false, stderr);
		(void)fprintf(stderr, "\nError: %s\n", berth_error_message(&err));
		berth_error_finish(&err);
		return BT_OPTIONS_EXIT_FAILURE;
	}
	if (is_given(line, BT_DAEMON_FLAG_HELP)) {
		print_help(true, stdout);
		return BT_OPTIONS_EXIT_OK;
	}
	return refuse_arguments(&line->arguments) ? BT_OPTIONS_EXIT_FAILURE : BT_OPTIONS_GO_ON;
}

/* --- versions and gates --- */

static void join(const struct bt_daemon_flag_value *value, struct bt_strbuf *out)
{
	bt_strbuf_reset(out);
	for (uint32_t i = 0; i < value->list.count; i++) {
		bt_strbuf_append_c(out, i > 0 ? "," : "");
		bt_strbuf_append_str(out, value->list.items[i].text);
	}
}

static int apply_gates(struct bt_daemon_options *options, const struct command_line *line,
	bt_gate_warning_list *out_warnings, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf second = {0};
	int code;
	join(&line->values[BT_DAEMON_FLAG_EMULATED_VERSION], &text);
	join(&line->values[BT_DAEMON_FLAG_MIN_COMPATIBILITY_VERSION], &second);
	code = bt_versions_set(
		&options->versions, bt_strbuf_str(&text), bt_strbuf_str(&second), err);
	if (code == 0) {
		join(&line->values[BT_DAEMON_FLAG_FEATURE_GATES], &text);
		code = bt_gates_set_at(&options->versions.release,
			is_given(line, BT_DAEMON_FLAG_STRICT_FEATURE_GATES), bt_strbuf_str(&text),
			&options->gates, out_warnings, &options->arena, err);
	}
	bt_strbuf_finish(&second);
	bt_strbuf_finish(&text);
	return code;
}

static void print_version(const struct bt_daemon_options *options, bool raw)
{
	struct bt_strbuf text = {0};
	if (raw) {
		bt_build_write_raw(&options->versions, &text);
	} else {
		bt_strbuf_printf(
			&text, "Kubernetes %.*s\n", BT_STR_ARG(options->versions.git_version));
	}
	(void)fputs(bt_strbuf_c(&text), stdout);
	bt_strbuf_finish(&text);
}

/* --- log --- */

static enum bt_options_next fail(struct berth_error *err)
{
	BT_LOG_ERROR_PLAIN(berth_error_message(err), "command failed");
	berth_error_finish(err);
	return BT_OPTIONS_EXIT_FAILURE;
}

static int validate(
	struct bt_daemon_options *options, const struct command_line *line, struct berth_error *err)
{
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	int code;
	bt_versions_validate(&options->versions, &errors);
	bt_serving_validate(options, &errors);
	bt_metrics_flags_take(options, line->values, &errors);
	code = bt_config_errors_finish(&errors, err);
	return code == 0 ? bt_serving_check(options, err) : code;
}

static enum bt_options_next apply(
	struct bt_daemon_options *options, const struct command_line *line)
{
	static const struct bt_klog_options plain = {.format = BT_KLOG_TEXT};
	const struct bt_daemon_flag_value *version = &line->values[BT_DAEMON_FLAG_VERSION];
	bt_gate_warning_list warnings = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bt_klog_start(&plain);
	if (apply_gates(options, line, &warnings, &err) != 0) {
		return fail(&err);
	}
	if (is_given(line, BT_DAEMON_FLAG_VERSION)) {
		print_version(options, bt_str_equal_c(version->text, "raw"));
		return BT_OPTIONS_EXIT_OK;
	}
	if (bt_logging_check(line->values, &options->gates, &err) != 0) {
		(void)fprintf(stderr, "%s\n", berth_error_message(&err));
		berth_error_finish(&err);
		return BT_OPTIONS_EXIT_FAILURE;
	}
	bt_klog_start(&options->log);
	for (uint32_t i = 0; i < warnings.count; i++) {
		const struct bt_gate_warning *warning = &warnings.items[i];
		BT_LOG_INFO(0, bt_gate_warning_text(warning->kind),
			BT_LOG_STR("featureGate", warning->gate),
			BT_LOG_BOOL("value", warning->value));
	}
	for (uint32_t i = 0; i < options->flags.count && BT_LOG_ENABLED(1); i++) {
		struct bt_strbuf quoted = {0};
		bt_strbuf_append_quoted(&quoted, options->flags.items[i].value);
		bt_log_text(BT_LOG_SEVERITY_INFO, 1, __FILE__, __LINE__, "FLAG: --%s=%s",
			options->flags.items[i].name, bt_strbuf_c(&quoted));
		bt_strbuf_finish(&quoted);
	}
	return validate(options, line, &err) != 0 ? fail(&err) : BT_OPTIONS_GO_ON;
}

enum bt_options_next bt_daemon_options_parse(
	int argc, char **argv, struct bt_daemon_options *out_options)
{
	struct command_line line;
	enum bt_options_next next;
	*out_options = (struct bt_daemon_options){0};
	line = (struct command_line){0};
	bt_flag_values_init(line.values, &out_options->arena);
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		const struct bt_flag_row *row = &bt_flag_rows[i];
		bool bare = row->kind == BT_FLAG_KIND_BOOL || row->kind == BT_FLAG_KIND_VERSION;
		line.setters[i] =
			(struct bt_flag_setter){set_value, &line.values[i], bare ? "true" : NULL};
		line.flags[i] = (struct bt_flag){.name = row->name,
			.shorthand = row->shorthand,
			.type = BT_FLAG_SETTER,
			.target = &line.setters[i]};
	}
	next = read_line(&line, argc, argv);
	if (next == BT_OPTIONS_GO_ON) {
		bt_daemon_options_take(out_options, line.values);
		next = apply(out_options, &line);
	}
	bt_flag_values_finish(line.values);
	bt_vec_finish(&line.arguments.list);
	return next;
}

void bt_daemon_options_finish(struct bt_daemon_options *options)
{
	bt_klog_finish();
	bt_arena_finish(&options->arena);
	*options = (struct bt_daemon_options){0};
}
