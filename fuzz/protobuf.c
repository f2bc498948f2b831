/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bodies of every kind. Bytes without an envelope are read as a Pod. A decoded object that
 * is written and read again must be the same.
 */
#include <stdint.h>

#include "base/assert.h"
#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct bt_schema_message *message, struct bt_str bytes)
{
	struct bt_arena arena = {NULL, NULL, NULL, 0, 0};
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_json_value *object = NULL;
	struct bt_json_value *again = NULL;

	if (bt_schema_decode_protobuf(message, bytes, &arena, &object, NULL) == 0) {
		bt_schema_encode_protobuf(message, object, &out);
		BT_ASSERT(bt_schema_decode_protobuf(
				  message, bt_strbuf_str(&out), &arena, &again, NULL) == 0);
		BT_ASSERT(bt_json_equal(object, again));
	}
	bt_strbuf_finish(&out);
	bt_arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str bytes = {(const char *)data, (uint32_t)size};
	struct bt_envelope envelope;

	if (size > UINT32_C(1) << 20) {
		return 0;
	}
	if (bt_envelope_decode(bytes, &envelope, NULL) == 0) {
		const struct bt_schema_message *message =
			bt_schema_find(envelope.api_version, envelope.kind);
		if (message != NULL) {
			check(message, envelope.raw);
		}
		return 0;
	}
	check(bt_schema_find(BT_STR("v1"), BT_STR("Pod")), bytes);
	return 0;
}
