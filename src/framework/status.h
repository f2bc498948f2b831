/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_STATUS_H
#define BT_FRAMEWORK_STATUS_H
/**
 * Verdicts of plugins: code, reasons, plugin. Statuses are passed by value. Fixed reasons are
 * constants from reasons.def; other reasons are in the cycle's arena. Zero memory is Success. Spec:
 * 02 section 1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/status.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

enum bt_status_code {
	BT_STATUS_SUCCESS = 0,
	BT_STATUS_ERROR = 1,
	BT_STATUS_UNSCHEDULABLE = 2,
	BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE = 3,
	BT_STATUS_WAIT = 4,
	BT_STATUS_SKIP = 5,
	BT_STATUS_PENDING = 6,
};

/** "Success", "UnschedulableAndUnresolvable", ... */
const char *bt_status_code_name(enum bt_status_code code);

/** The library and its users share this structure; see include/berth/status.h. */
#define bt_status berth_status

#define BT_STATUS_OK ((struct bt_status){0})

static inline bool bt_status_is_success(const struct bt_status *status)
{
	return status->code == BT_STATUS_SUCCESS;
}

static inline bool bt_status_is_rejected(const struct bt_status *status)
{
	return status->code == BT_STATUS_UNSCHEDULABLE ||
		status->code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE ||
		status->code == BT_STATUS_PENDING;
}

/** Fixed reasons: BT_REASON_<NAME> indexes bt_reason_texts. */
enum bt_reason {
#define BT_REASON(name, text) BT_REASON_##name,
#include "framework/reasons.def"
#undef BT_REASON
	BT_REASON__COUNT,
};

extern const struct bt_str bt_reason_texts[BT_REASON__COUNT];

/** Makes a status with one fixed reason; allocates nothing. */
static inline struct bt_status bt_status_reason(enum bt_status_code code, enum bt_reason reason)
{
	return (struct bt_status){
		.code = (uint8_t)code, .reason_count = 1, .reasons = &bt_reason_texts[reason]};
}

/** Makes a status with a code and no reasons. */
static inline struct bt_status bt_status_code_only(enum bt_status_code code)
{
	return (struct bt_status){.code = (uint8_t)code};
}

/** Makes a status with one reason; text is copied into the arena. */
struct bt_status bt_status_text(
	enum bt_status_code code, struct bt_arena *arena, struct bt_str text);
BT_PRINTF(3, 4)
struct bt_status bt_status_printf(
	enum bt_status_code code, struct bt_arena *arena, const char *format, ...);
/**
 * Makes an Error from err, whose text is copied into the arena as the error's text, not as a
 * reason. Finishes err.
 */
struct bt_status bt_status_from_error(struct bt_arena *arena, struct berth_error *err);
/** Makes an Error; text is copied into the arena as the error's text. */
struct bt_status bt_status_error_text(struct bt_arena *arena, struct bt_str text);
/** Adds a reason at the end of the reasons. The list of reasons is copied into the arena. */
void bt_status_append_reason(
	struct bt_status *status, struct bt_arena *arena, struct bt_str reason);
/** Appends the error's text and the reasons, joined with ", "; appends nothing for Success. */
void bt_status_message(const struct bt_status *status, struct bt_strbuf *out);
/** Returns the text of bt_status_message, in the arena or borrowed from the status. */
struct bt_str bt_status_message_str(const struct bt_status *status, struct bt_arena *arena);
/**
 * Gets the text of AsError, in the arena or borrowed from the status. Returns false and leaves
 * out_text unchanged for Success, Wait and Skip. Spec 02 section 1.2.
 */
bool bt_status_as_error(
	const struct bt_status *status, struct bt_arena *arena, struct bt_str *out_text);
/**
 * Returns the number of reasons of upstream's Status.Reasons(): the error's text, if the status has
 * an error, and then the reasons.
 */
uint32_t bt_status_all_reason_count(const struct bt_status *status);
struct bt_str bt_status_all_reason_at(const struct bt_status *status, uint32_t index);
/**
 * Whether code, plugin, error text and reasons are equal. Two Success statuses are always equal.
 */
bool bt_status_equal(const struct bt_status *a, const struct bt_status *b);
/** Copies the status with all texts into another arena. */
struct bt_status bt_status_copy(const struct bt_status *status, struct bt_arena *arena);
#endif
