/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoded message and its copy must be equal and have the same hash. The JSON that is written
 * from a message must stay the same if it is read and written again. The message table of the unit
 * tests has every type in every shape.
 */
#include <stdint.h>

#include "base/assert.h"
#include "sample_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int decode(struct bt_str json, struct bt_arena *arena, struct sample *out)
{
	struct bt_json_reader reader;
	struct berth_error err = BERTH_ERROR_INIT;
	memset(out, 0, sizeof(*out));
	bt_json_reader_init(&reader, json);
	int result = bt_message_decode_json(&sample_message, &reader, arena, out, &err);
	BT_ASSERT((result == 0) == (err.message == NULL));
	berth_error_finish(&err);
	return result;
}

static void encode(const struct sample *value, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_message_encode_json(&sample_message, &writer, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_arena arena = {0};
	struct sample value;
	if (decode((struct bt_str){(const char *)data, (uint32_t)size}, &arena, &value) == 0) {
		struct bt_arena copy_arena = {0};
		struct sample copy;
		bt_message_copy(&sample_message, &copy, &value, &copy_arena);
		BT_ASSERT(bt_message_equal(&sample_message, &value, &copy));
		BT_ASSERT(bt_message_hash(&sample_message, 1, &value) ==
			bt_message_hash(&sample_message, 1, &copy));
		struct bt_strbuf first = {0};
		struct bt_strbuf second = {0};
		struct sample back;
		encode(&value, &first);
		BT_ASSERT(decode(bt_strbuf_str(&first), &arena, &back) == 0);
		encode(&back, &second);
		BT_ASSERT(bt_str_equal(bt_strbuf_str(&first), bt_strbuf_str(&second)));
		bt_strbuf_finish(&first);
		bt_strbuf_finish(&second);
		bt_arena_finish(&copy_arena);
	}
	bt_arena_finish(&arena);
	return 0;
}
