/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_LOG_H
#define BT_BASE_LOG_H
/**
 * Structured log lines: a message and pairs of key and value. The program installs a sink that
 * filters and formats log lines (daemon/klog.h); without a sink, as in the library, a log call
 * costs one comparison. Messages and keys are upstream's, spec 11 section 7.
 *
 *     BT_LOG_INFO(2, "Successfully bound pod to node", BT_LOG_REF("pod", namespace_, name),
 *             BT_LOG_STR("node", node_name), BT_LOG_INT("feasibleNodes", count));
 *     BT_LOG_ERROR(berth_error_message(&err), "Failed to watch", BT_LOG_STR("type", type));
 *     BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING, "error creating inClusterConfig, ...: %s", text);
 *
 * Pass untrusted text only as a value or an argument, never as a message or key. Never log secrets.
 * Only one thread may log.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

enum bt_log_severity {
	BT_LOG_SEVERITY_INFO,
	BT_LOG_SEVERITY_WARNING,
	BT_LOG_SEVERITY_ERROR,
	BT_LOG_SEVERITY_FATAL,
};

enum bt_log_type {
	BT_LOG_TYPE_STR,
	BT_LOG_TYPE_INT,
	BT_LOG_TYPE_BOOL,
	BT_LOG_TYPE_SECONDS, /* duration in nanoseconds, written in Go's format */
	BT_LOG_TYPE_REF,     /* namespace and name of an object */
	BT_LOG_TYPE_STRS,    /* list of texts */
	BT_LOG_TYPE_JSON,    /* value that is JSON already */
};

struct bt_log_pair {
	const char *key;
	enum bt_log_type type;
	struct bt_str text;       /* STR, JSON; REF: the name */
	struct bt_str namespace_; /* REF; "": none */
	int64_t number;           /* INT, BOOL, SECONDS (nanoseconds) */
	const struct bt_str *texts;
	uint32_t text_count;
};

struct bt_log_record {
	enum bt_log_severity severity;
	int verbosity;
	const char *file; /* __FILE__ */
	int line;
	bool structured; /* message and pairs; else message is the whole line */
	struct bt_str message;
	struct bt_str error; /* value of the key err in structured errors; data NULL: none */
	const struct bt_log_pair *pairs;
	uint32_t pair_count;
};

struct bt_log_sink {
	void *context;
	/** Whether verbosity is enabled for a source file. Called only for a verbosity above 0. */
	bool (*enabled)(void *context, const char *file, int verbosity);
	void (*write)(void *context, const struct bt_log_record *record);
};

/** Installs a copy of sink; NULL: no sink. */
void bt_log_set_sink(const struct bt_log_sink *sink);
/**
 * Sets the highest verbosity that may be enabled for any file. The owner of the sink must call this
 * function whenever that verbosity changes.
 */
void bt_log_set_verbosity_max(int verbosity);

/** Used by the macros only; -1 without a sink. */
extern int bt_log_verbosity_max;
bool bt_log_enabled_in(const char *file, int verbosity);
void bt_log_write(enum bt_log_severity severity, int verbosity, const char *file, int line,
	const char *message, struct bt_str error, const struct bt_log_pair *pairs,
	uint32_t pair_count);
BT_PRINTF(5, 6)
void bt_log_text(enum bt_log_severity severity, int verbosity, const char *file, int line,
	const char *format, ...);

/** Guards code that only prepares a log line. */
#define BT_LOG_ENABLED(verbosity) \
	((verbosity) <= bt_log_verbosity_max && bt_log_enabled_in(__FILE__, (verbosity)))

#define BT_LOG_STR(k, value) \
	((struct bt_log_pair){.key = (k), .type = BT_LOG_TYPE_STR, .text = (value)})
#define BT_LOG_CSTR(k, value) BT_LOG_STR(k, bt_str_from(value))
#define BT_LOG_INT(k, value) \
	((struct bt_log_pair){.key = (k), .type = BT_LOG_TYPE_INT, .number = (int64_t)(value)})
#define BT_LOG_BOOL(k, value) \
	((struct bt_log_pair){.key = (k), .type = BT_LOG_TYPE_BOOL, .number = (value)})
#define BT_LOG_DURATION(k, value_ns) \
	((struct bt_log_pair){.key = (k), .type = BT_LOG_TYPE_SECONDS, .number = (value_ns)})
#define BT_LOG_REF(k, object_namespace, object_name) \
	((struct bt_log_pair){.key = (k), \
		.type = BT_LOG_TYPE_REF, \
		.text = (object_name), \
		.namespace_ = (object_namespace)})
#define BT_LOG_STRS(k, values, count) \
	((struct bt_log_pair){ \
		.key = (k), .type = BT_LOG_TYPE_STRS, .texts = (values), .text_count = (count)})

#define BT_LOG_JSON(k, value) \
	((struct bt_log_pair){.key = (k), .type = BT_LOG_TYPE_JSON, .text = (value)})

#define BT_LOG_PAIRS_(...) \
	((const struct bt_log_pair[]){__VA_ARGS__}), \
		(uint32_t)(sizeof((const struct bt_log_pair[]){__VA_ARGS__}) / \
			sizeof(struct bt_log_pair))

/** Logs a message with pairs; BT_LOG_INFO_PLAIN logs a message without pairs. */
#define BT_LOG_INFO(verbosity, message, ...) \
	do { \
		if (BT_LOG_ENABLED(verbosity)) { \
			bt_log_write(BT_LOG_SEVERITY_INFO, (verbosity), __FILE__, __LINE__, \
				(message), (struct bt_str){0}, BT_LOG_PAIRS_(__VA_ARGS__)); \
		} \
	} while (0)
#define BT_LOG_INFO_PLAIN(verbosity, message) \
	do { \
		if (BT_LOG_ENABLED(verbosity)) { \
			bt_log_write(BT_LOG_SEVERITY_INFO, (verbosity), __FILE__, __LINE__, \
				(message), (struct bt_str){0}, NULL, 0); \
		} \
	} while (0)
/** error_text: const char *, the value of the key err. Errors are written at every verbosity. */
#define BT_LOG_ERROR(error_text, message, ...) \
	do { \
		if (bt_log_verbosity_max >= 0) { \
			bt_log_write(BT_LOG_SEVERITY_ERROR, 0, __FILE__, __LINE__, (message), \
				bt_str_from(error_text), BT_LOG_PAIRS_(__VA_ARGS__)); \
		} \
	} while (0)
#define BT_LOG_ERROR_PLAIN(error_text, message) \
	do { \
		if (bt_log_verbosity_max >= 0) { \
			bt_log_write(BT_LOG_SEVERITY_ERROR, 0, __FILE__, __LINE__, (message), \
				bt_str_from(error_text), NULL, 0); \
		} \
	} while (0)
/** Logs an unstructured line. */
#define BT_LOG_TEXT(severity, ...) \
	do { \
		if (bt_log_verbosity_max >= 0) { \
			bt_log_text((severity), 0, __FILE__, __LINE__, __VA_ARGS__); \
		} \
	} while (0)
#endif
