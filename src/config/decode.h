/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_DECODE_H
#define BT_CONFIG_DECODE_H
/**
 * Decodes JSON values into structures by schema, with Go's error messages. Spec: 10 sections 4.3
 * and 4.4.
 */
#include "codec/path.h"
#include "config/schema.h"

/**
 * Decode an object into out, which holds the defaults of the fields that may be absent. JSON null
 * leaves out unchanged. Unknown names are skipped. All text is copied into the arena. The first
 * mismatch in document order is the error: "json: cannot unmarshal string into Go struct field
 * Plugin.profiles.plugins.score.enabled.weight of type int32". Returns 0, BERTH_ERR_INVALID or
 * BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_config_schema_decode(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena, void *out,
	struct berth_error *err);

/** Maximum number of errors kept for each document; equal errors are kept once. */
#define BT_STRICT_ERRORS_MAX 100

struct bt_strict_errors {
	struct bt_str items[BT_STRICT_ERRORS_MAX];
	uint32_t count;
};

/**
 * Collects the unknown and the repeated fields of a value, in document order.
 * bt_config_schema_decode must have accepted the value. The texts of the errors are in the arena.
 */
void bt_config_schema_find_strict_errors(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena,
	struct bt_strict_errors *out_errors);
#endif
