/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_KLOG_H
#define BT_DAEMON_KLOG_H
/**
 * Log output as klog writes it, text or JSON: the sink of base/log.h in a daemon. Spec: 11 sections
 * 4.10 and 7. One per process.
 */
#include "base/log.h"
#include "base/strbuf.h"
#include "codec/message.h"

enum bt_klog_format {
	BT_KLOG_TEXT,
	BT_KLOG_JSON,
};

struct bt_klog_module {
	struct bt_str pattern; /* of file names without folder and suffix; wildcards * and ? */
	int verbosity;
};

struct bt_klog_options {
	enum bt_klog_format format;
	int verbosity;
	BT_LIST(struct bt_klog_module) modules; /* --vmodule */
	bool split_stream; /* errors to standard error, information to standard output */
};

/** The line buffer is kept between lines if it is at most this large. */
#define BT_KLOG_LINE_KEPT_BYTES 65536

/**
 * Install the sink. options: borrowed until bt_klog_finish. Each line is written at once, in one
 * piece, so no line is lost when the process ends.
 */
void bt_klog_start(const struct bt_klog_options *options);
/** Remove the sink. */
void bt_klog_finish(void);
/** Set the verbosity at run time, for PUT /debug/flags/v. */
void bt_klog_set_verbosity(int verbosity);
/**
 * Append one record as the sink writes it, with its newline. For tests: time and thread are
 * arguments.
 */
void bt_klog_format(enum bt_klog_format format, const struct bt_log_record *record, int64_t now_ns,
	int thread_id, struct bt_strbuf *out);
#endif
