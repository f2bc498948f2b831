/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_EXEC_RUN_H
#define BT_CLIENT_EXEC_RUN_H
/**
 * One run of a credential plugin: a child process whose standard output is collected while the loop
 * goes on. Spec: 13 section 6.5, run().
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "client/config.h"
#include "net/loop.h"

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
