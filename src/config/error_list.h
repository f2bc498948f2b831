/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_ERROR_LIST_H
#define BT_CONFIG_ERROR_LIST_H
/**
 * Validation messages of a document, aggregated as upstream prints them: equal messages are printed
 * once; a single message is printed without brackets, several messages as "[e1, e2]". Spec: 10
 * section 8.1.
 */
#include "api/selector.h"
#include "base/arena.h"
#include "base/error.h"
#include "codec/path.h"

/** Maximum number of messages: further messages are dropped, to bound the size of the error. */
#define BT_CONFIG_ERRORS_MAX 16384

struct bt_config_errors {
	struct bt_arena arena;
	struct bt_error_list texts;
};

#define BT_CONFIG_ERRORS_INIT \
	{ \
		0 \
	}

/** Adds the message "<path>: <text>", or only the text when path is NULL. */
BT_PRINTF(3, 4)
void bt_config_errors_add(
	struct bt_config_errors *errors, const struct bt_path *path, const char *format, ...);
/** Adds a complete message. */
void bt_config_errors_add_text(struct bt_config_errors *errors, struct bt_str text);
/**
 * These functions quote the text: the first as Go's %q, the second as a JSON string, because
 * upstream prints values of named string types as JSON. The result is valid until
 * bt_config_errors_finish. The result is "" if the list is full.
 */
const char *bt_config_errors_quote(struct bt_config_errors *errors, struct bt_str text);
const char *bt_config_errors_quote_json(struct bt_config_errors *errors, struct bt_str text);
/**
 * Returns 0 if there are no errors, else BERTH_ERR_INVALID with the aggregate in err. Releases all
 * memory.
 */
int bt_config_errors_finish(struct bt_config_errors *errors, struct berth_error *err);
#endif
