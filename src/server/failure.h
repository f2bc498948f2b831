/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_FAILURE_H
#define BT_SERVER_FAILURE_H
/**
 * Refused requests: the code, reason, message and details of their Status. Spec: 13 section 9.1, 14
 * throughout, 14b section 5.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "codec/json.h"
#include "server/resource.h"

struct bt_failure_cause {
	const char *reason; /* "FieldValueRequired" */
	struct bt_str message;
	struct bt_str field;
	struct bt_failure_cause *next;
};

/** code 0: no failure. Texts live in the arena of the request. */
struct bt_failure {
	uint16_t code;
	const char *reason; /* "NotFound"; NULL: none */
	struct bt_str message;
	struct bt_str name; /* details; absent members are left out */
	struct bt_str group;
	struct bt_str kind;
	struct bt_str uid;
	struct bt_failure_cause *causes;
	int32_t retry_after_seconds; /* shown in details and the Retry-After header; 0: none */
	/** retry_after_seconds is only in details, and the answer has no Retry-After header. */
	bool retry_only_in_details;
	struct bt_str continue_token; /* metadata.continue of a 410 */
};

/** Status object as JSON tree, {"kind":"Status","apiVersion":"v1","metadata":{},...}. */
BT_MUST_USE struct bt_json_value *bt_failure_document(
	const struct bt_failure *failure, struct bt_arena *arena);

/** Formats a message in the arena. */
BT_PRINTF(2, 0)
struct bt_str bt_failure_vprintf(struct bt_arena *arena, const char *format, va_list arguments);
/** Returns the text in double quotes, as bt_strbuf_append_quoted writes it. */
struct bt_str bt_failure_quoted(struct bt_arena *arena, struct bt_str text);

/**
 * The functions bt_fail* set *out and return false; texts are in the arena or borrowed. bt_fail
 * formats the message and leaves the details empty.
 */
BT_PRINTF(5, 6)
bool bt_fail(struct bt_failure *out, struct bt_arena *arena, uint16_t code, const char *reason,
	const char *format, ...);
/** Like bt_fail, with details: the object's name, and the group and name of its resource. */
BT_PRINTF(7, 8)
bool bt_fail_about(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, uint16_t code,
	const char *reason, const char *format, ...);
/** Fails with 404 `pods "x" not found` and details. */
bool bt_fail_not_found(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name);
/** Fails with 409 `Operation cannot be fulfilled on pods "x": <text>`. */
bool bt_fail_conflict(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, struct bt_str text);
/** Fails with 403 `pods "x" is forbidden: <text>`. */
bool bt_fail_forbidden(struct bt_failure *out, struct bt_arena *arena,
	const struct bt_api_resource *resource, struct bt_str name, struct bt_str text);

/** --- validation --- */

enum bt_field_error_type {
	BT_FIELD_REQUIRED,
	BT_FIELD_INVALID,
	BT_FIELD_NOT_SUPPORTED,
	BT_FIELD_FORBIDDEN,
	BT_FIELD_DUPLICATE,
	BT_FIELD_TOO_LONG,
	BT_FIELD_TOO_MANY,
	BT_FIELD_NOT_FOUND,
};

struct bt_field_error {
	enum bt_field_error_type type;
	struct bt_str field;
	struct bt_str value;  /* JSON text, or quoted text; "": none */
	struct bt_str detail; /* NOT_SUPPORTED: the supported values, each quoted, joined by ", " */
	struct bt_field_error *next;
};

struct bt_field_errors {
	struct bt_arena *arena;
	struct bt_field_error *first;
	struct bt_field_error **last; /* NULL while empty */
	uint32_t count;               /* errors beyond 100 are dropped */
	size_t expression_bytes;      /* size of the object's CEL expressions compiled so far */
};

/** Adds an error. format: printf format of the detail. value: the invalid value, or NULL. */
BT_PRINTF(5, 6)
void bt_field_errors_add(struct bt_field_errors *errors, enum bt_field_error_type type,
	struct bt_str field, const struct bt_json_value *value, const char *format, ...);
/**
 * Fails with 422 Invalid `<Kind>[.<group>] "<name>" is invalid: ...` and the errors as causes.
 * kind: "Pod", for example.
 */
bool bt_fail_invalid(struct bt_failure *out, struct bt_arena *arena, struct bt_str group,
	struct bt_str kind, struct bt_str name, const struct bt_field_errors *errors);
#endif
