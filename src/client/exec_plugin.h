/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_EXEC_PLUGIN_H
#define BT_CLIENT_EXEC_PLUGIN_H
/**
 * Credential plugins: the formats of their input and output, and their runs. A run is a child
 * process. Its standard output is collected without blocking the loop. Spec: 13 section 6.5.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "client/config.h"
#include "net/loop.h"

/**
 * Parsed output of a plugin. All memory belongs to `arena`, which bt_exec_credential_finish wipes.
 */
struct bt_exec_credential {
	struct bt_arena arena;
	struct bt_str token;       /* "": none */
	struct bt_str certificate; /* PEM; data NULL: neither certificate nor key */
	struct bt_str key;
	bool expires;
	int64_t expiry_ns; /* since 1970 */
};

/** Appends the plugin's input: one JSON object and a newline. ca: the bundle in use, or "". */
void bt_exec_write_info(const struct bt_client_config *config, struct bt_str ca, bool interactive,
	struct bt_strbuf *out);
/** Parses standard output of a successful run. Errors contain no secrets. */
BT_MUST_USE int bt_exec_credential_read(struct bt_str output, struct bt_str api_version,
	struct bt_exec_credential *out_credential, struct berth_error *err);
void bt_exec_credential_finish(struct bt_exec_credential *credential);

/** A run with larger output is killed. */
#define BT_EXEC_OUTPUT_BYTES_MAX (UINT32_C(1) << 20)

struct bt_exec_run;

/** Result of a run, as metrics name it. */
enum bt_exec_end {
	BT_EXEC_NO_ERROR,
	BT_EXEC_EXECUTION_ERROR,
	BT_EXEC_NOT_FOUND_ERROR,
	BT_EXEC_INTERNAL_ERROR,
};

struct bt_exec_result {
	enum bt_exec_end end;
	int exit_code; /* 0 only with BT_EXEC_NO_ERROR, else at least 1 */
};

/**
 * Starts the plugin. exec: borrowed for the run. info: value of KUBERNETES_EXEC_INFO. Never fails:
 * bt_exec_run_output reports errors.
 */
BT_MUST_USE struct bt_exec_run *bt_exec_run_start(struct bt_loop *loop,
	const struct bt_kubeconfig_exec *exec, bool interactive, struct bt_str info);
/**
 * Returns true if the run has ended; otherwise call this function again at *out_next_ns, or in any
 * later turn of the loop.
 */
bool bt_exec_run_poll(struct bt_exec_run *run, int64_t now_ns, int64_t *out_next_ns);
/**
 * Returns 0 and the output (borrowed) of a finished run, or the error of the run. *out_result is
 * set in both cases.
 */
BT_MUST_USE int bt_exec_run_output(const struct bt_exec_run *run, struct bt_str *out_output,
	struct bt_exec_result *out_result, struct berth_error *err);
/** Kills a running child. Wipes the output. NULL accepted. */
void bt_exec_run_destroy(struct bt_exec_run *run);

#endif
