/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/transport_private.h"
#include "net/clock.h"

/* The install hint is shown this often in an hour. */
#define HINTS_MAX 10
#define HINT_PERIOD_NS (3600 * BT_NS_PER_SECOND)

/* Spec 13 section 6.5, run() step 1. */
static int choose_interactive(
	const struct bt_client_exec *exec, bool *out_interactive, struct berth_error *err)
{
	bool is_terminal = isatty(STDIN_FILENO) == 1;

	switch (exec->interactive_mode) {
	case BT_EXEC_INTERACTIVE_NEVER:
		*out_interactive = false;
		return 0;
	case BT_EXEC_INTERACTIVE_IF_AVAILABLE:
		*out_interactive = is_terminal;
		return 0;
	case BT_EXEC_INTERACTIVE_ALWAYS:
		break;
	}
	if (!is_terminal) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"exec plugin cannot support interactive mode: standard input is not a "
			"terminal");
	}
	*out_interactive = true;
	return 0;
}

static int start_run(struct bt_transport *transport, bool is_refresh, struct berth_error *err)
{
	const struct bt_client_exec *exec = transport->config->exec;
	struct bt_strbuf info = {0};
	bool interactive = false;
	int code = choose_interactive(exec, &interactive, err);

	if (code != 0) {
		return code;
	}
	bt_exec_write_info(
		transport->config, bt_strbuf_str(&transport->tls.ca), interactive, &info);
	transport->exec.run =
		bt_exec_run_start(transport->loop, exec, interactive, bt_strbuf_str(&info));
	transport->exec.is_refresh = is_refresh;
	bt_strbuf_finish(&info);
	return 0;
}

static bool is_valid(const struct bt_transport_exec *exec)
{
	return exec->cached && (!exec->expires || bt_clock_wall_ns() <= exec->expiry_ns);
}

bool bt_transport_exec_ready(struct bt_transport *transport)
{
	struct bt_transport_exec *exec = &transport->exec;

	if (!exec->active || (exec->run == NULL && is_valid(exec))) {
		return true;
	}
	/* A run that cannot begin is told of when the loop asks: see bt_transport_exec_check. */
	bt_loop_call_at(transport->loop, 0);
	return false;
}

void bt_transport_exec_refused(struct bt_transport *transport, uint32_t generation)
{
	struct bt_transport_exec *exec = &transport->exec;
	struct berth_error cause = BERTH_ERROR_INIT;

	if (!exec->active || exec->run != NULL || generation != exec->generation) {
		return;
	}
	if (start_run(transport, true, &cause) != 0) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "refreshing credentials: %s",
			berth_error_message(&cause));
		berth_error_finish(&cause);
	}
}

/* --- the end of a run --- */

static void count_run(struct bt_transport *transport, struct bt_exec_result result)
{
	static const char *const names[] = {"no_error", "plugin_execution_error",
		"plugin_not_found_error", "client_internal_error"};
	char code[16];
	struct bt_str values[2];

	if (transport->exec_calls == NULL) {
		return;
	}
	(void)snprintf(code, sizeof(code), "%d", result.exit_code);
	values[0] = bt_str_from(code);
	values[1] = bt_str_from(names[result.end]);
	bt_metric_add(bt_metric_cell(transport->exec_calls, values), 1);
}

/* `executable not found` with what could be done about it, ten times an hour. */
static void add_hint(struct bt_transport *transport, int64_t now_ns, struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	struct berth_error plain = BERTH_ERROR_INIT;

	if (exec->hint_count == 0 || now_ns - exec->hint_since_ns >= HINT_PERIOD_NS) {
		exec->hint_since_ns = now_ns;
		exec->hint_count = 0;
	}
	if (exec->hint_count == HINTS_MAX) {
		return;
	}
	exec->hint_count++;
	(void)bt_error_move(&plain, err);
	(void)bt_error_set(err, plain.code,
		"%s\n\nIt looks like you are trying to use a client-go credential plugin that is "
		"not installed.\n\n%.*s",
		berth_error_message(&plain), BT_STR_ARG(transport->config->exec->install_hint));
	berth_error_finish(&plain);
}

static int take_credential(struct bt_transport *transport,
	const struct bt_exec_credential *credential, struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	int code = bt_authorization_set_token(&transport->authorization, credential->token, err);

	if (code != 0) {
		return code;
	}
	exec->cached = true;
	exec->generation++;
	exec->expires = credential->expires;
	exec->expiry_ns = credential->expiry_ns;
	if (bt_tls_material_set_pair(&transport->tls, credential->certificate, credential->key)) {
		bt_transport_apply_tls(transport, true);
	}
	return 0;
}

static int end_run(struct bt_transport *transport, int64_t now_ns, struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	struct bt_exec_credential credential = {0};
	struct bt_exec_result result = {0};
	struct bt_str output;
	int code = bt_exec_run_output(exec->run, &output, &result, err);

	count_run(transport, result);
	if (code != 0 && result.end == BT_EXEC_NOT_FOUND_ERROR) {
		add_hint(transport, now_ns, err);
	}
	if (code == 0) {
		code = bt_exec_credential_read(
			output, transport->config->exec->api_version, &credential, err);
	}
	if (code == 0) {
		code = take_credential(transport, &credential, err);
	}
	bt_exec_credential_finish(&credential);
	bt_exec_run_destroy(exec->run);
	exec->run = NULL;
	exec->is_refresh = false;
	return code;
}

/* true: one is under way, or err says why none could be started. */
static bool start_if_needed(struct bt_transport *transport, struct berth_error *err)
{
	if (is_valid(&transport->exec)) {
		return true;
	}
	return start_run(transport, false, err) != 0;
}

bool bt_transport_exec_check(struct bt_transport *transport, int64_t now_ns, int64_t *out_next_ns,
	struct berth_error *err)
{
	struct bt_transport_exec *exec = &transport->exec;
	bool was_refresh = exec->is_refresh;
	struct berth_error cause = BERTH_ERROR_INIT;

	*out_next_ns = INT64_MAX;
	if (exec->run == NULL) {
		if (transport->waiting.first == NULL || start_if_needed(transport, err)) {
			return transport->waiting.first != NULL;
		}
	}
	if (!bt_exec_run_poll(exec->run, now_ns, out_next_ns)) {
		return false;
	}
	if (end_run(transport, now_ns, &cause) == 0) {
		return true;
	}
	if (was_refresh) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "refreshing credentials: %s",
			berth_error_message(&cause));
		/* What is cached may serve still. */
		if (is_valid(exec)) {
			berth_error_finish(&cause);
			return true;
		}
	}
	(void)bt_error_move(err, &cause);
	return true;
}
