/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_EXEC_PLUGIN_H
#define BT_CLIENT_EXEC_PLUGIN_H
/**
 * Credential plugins: their input and output, and one run: a child process whose standard output is
 * collected while the loop goes on. Spec: 13 section 6.5.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "client/config.h"
#include "net/loop.h"

/** The answer of a plugin. Memory: its arena, which is wiped. */
struct bt_exec_credential {
	struct bt_arena arena;
	struct bt_str token;       /* "": none */
	struct bt_str certificate; /* PEM; data NULL: no pair */
	struct bt_str key;
	bool expires;
	int64_t expiry_ns; /* since 1970 */
};

/** `exec plugin: invalid apiVersion "<v>"` */
BT_MUST_USE int bt_exec_check_version(const struct bt_client_exec *exec, struct berth_error *err);
/** ca: the bundle in use, or "". Appends one JSON object and a newline. */
void bt_exec_write_info(const struct bt_client_config *config, struct bt_str ca, bool interactive,
	struct bt_strbuf *out);
/** Standard output of a run that succeeded. No secret appears in an error. */
BT_MUST_USE int bt_exec_credential_read(struct bt_str output, struct bt_str api_version,
	struct bt_exec_credential *out_credential, struct berth_error *err);
void bt_exec_credential_finish(struct bt_exec_credential *credential);

/** Larger output ends the run. */
#define BT_EXEC_OUTPUT_BYTES_MAX (UINT32_C(1) << 20)

struct bt_exec_run;

/** How a run ended, for metrics. */
enum bt_exec_end {
	BT_EXEC_NO_ERROR,
	BT_EXEC_EXECUTION_ERROR,
	BT_EXEC_NOT_FOUND_ERROR,
	BT_EXEC_INTERNAL_ERROR,
};

struct bt_exec_result {
	enum bt_exec_end end;
	int exit_code; /* 0 with BT_EXEC_NO_ERROR only, else 1 at least */
};

/**
 * info is the value of KUBERNETES_EXEC_INFO. Never fails at once: what goes wrong is the result.
 */
BT_MUST_USE struct bt_exec_run *bt_exec_run_start(struct bt_loop *loop,
	const struct bt_client_exec *exec, bool interactive, struct bt_str info);
/** true: it is over. false: ask again at *out_next_ns, or in any later turn. */
bool bt_exec_run_poll(struct bt_exec_run *run, int64_t now_ns, int64_t *out_next_ns);
/** Of a run that is over: its output, borrowed, or the error. */
BT_MUST_USE int bt_exec_run_output(const struct bt_exec_run *run, struct bt_str *out_output,
	struct bt_exec_result *out_result, struct berth_error *err);
/** A child that still runs is killed. The output is wiped. NULL accepted. */
void bt_exec_run_destroy(struct bt_exec_run *run);

#endif
