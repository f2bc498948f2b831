/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error answers of API servers. The first byte selects the status code, the second byte the content
 * type, and the rest is the body.
 */
#include <stdint.h>

#include "base/assert.h"
#include "client/rest_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t codes[] = {200, 201, 400, 401, 403, 404, 405, 406, 409, 410, 413, 415,
		422, 429, 500, 503, 504};
	static const struct bt_str types[] = {
		BT_STR_INIT("application/json"),
		BT_STR_INIT("application/vnd.kubernetes.protobuf"),
		BT_STR_INIT("text/plain; charset=utf-8"),
		BT_STR_INIT(""),
	};
	const struct bt_status_subject subject = {
		"POST", BT_STR("/apis/g/v1/pods"), BT_STR("pods"), BT_STR("p")};
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_rest_answer answer;

	if (size < 2 || size > UINT32_MAX) {
		return 0;
	}
	answer = (struct bt_rest_answer){
		.code = codes[data[0] % BT_ARRAY_LENGTH(codes)],
		.content_type = types[data[1] % BT_ARRAY_LENGTH(types)],
		.body = {(const char *)data + 2, (uint32_t)(size - 2)},
		.sent = true,
	};
	bt_status_classify(&subject, &arena, &answer);
	BT_ASSERT(answer.code < 400 || answer.class_ != BT_REST_OK);
	BT_ASSERT((answer.class_ == BT_REST_OK) == (bt_rest_answer_error(&answer, &err) == 0));
	berth_error_finish(&err);
	bt_arena_finish(&arena);
	return 0;
}
