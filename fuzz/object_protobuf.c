/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf objects of any kind, which the first byte chooses. A decoded object equals its copy, and
 * can be written.
 */
#include <stddef.h>
#include <stdint.h>

#include "api/object.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_object(const struct bt_object *object)
{
	const struct bt_message *message = bt_kind_info(object->kind)->message;
	struct bt_object *copy = bt_object_create(object->kind, object->value);
	struct bt_strbuf text = {NULL, 0, 0};
	struct bt_json_writer writer;

	BT_ASSERT(bt_message_equal(message, object->value, copy->value));
	BT_ASSERT(bt_message_hash(message, 1, object->value) ==
		bt_message_hash(message, 1, copy->value));
	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(object->kind, object->value, &writer);
	bt_strbuf_finish(&text);
	bt_object_release(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	int code;

	if (size == 0) {
		return 0;
	}
	code = bt_object_decode_protobuf((enum bt_kind)(data[0] % BT_KIND__COUNT),
		(struct bt_str){(const char *)data + 1, (uint32_t)(size - 1)}, NULL, &object, &err);
	BT_ASSERT((code == 0) == (err.code == 0) && (code == 0) == (object != NULL));
	if (object != NULL) {
		check_object(object);
	}
	bt_object_release(object);
	berth_error_finish(&err);
	return 0;
}
