/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes through the API. Each line of the input is one request: a letter for the verb, a letter
 * for the resource and subresource, a letter for the object's name and the options, and the JSON
 * body. After each request, the object is patched with an empty patch, which must change nothing:
 * stored objects are in their final form.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/error.h"
#include "server/api.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUESTS_MAX 16

static const char *const names[] = {"a", "b", "default", "as.example.com", "kube-system", "c"};

static int64_t fixed_clock(void *context)
{
	(void)context;
	return INT64_C(1795262400000000000);
}

static uint16_t perform(struct bt_api *api, struct bt_api_request *request, struct bt_arena *arena)
{
	struct bt_api_answer answer;
	bt_api_perform(api, request, arena, &answer);
	uint16_t code = answer.code;
	BT_ASSERT(code != 0);
	BT_ASSERT((answer.failure.code == 0) == (code < 300));
	BT_ASSERT(answer.failure.code != 0 || (answer.object == NULL) != (answer.document == NULL));
	if (answer.failure.code != 0) {
		BT_ASSERT(bt_failure_document(&answer.failure, arena) != NULL);
	} else if (answer.object != NULL) {
		BT_ASSERT(bt_api_parse_stored(answer.object, arena) != NULL);
	}
	bt_api_answer_finish(&answer);
	return code;
}

static void expect_final_form(
	struct bt_api *api, const struct bt_api_request *last, struct bt_arena *arena)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	uint64_t rv = bt_store_rv(bt_api_store(api));
	request.verb = BT_VERB_PATCH;
	request.resource = last->resource;
	request.namespace_ = last->namespace_;
	request.name = last->name;
	request.patch_type = BT_PATCH_MERGE;
	if ((last->resource->verbs & 1u << BT_VERB_PATCH) == 0 ||
		bt_json_parse(arena, BT_STR("{}"), false, &request.body, NULL) != 0) {
		return;
	}
	(void)perform(api, &request, arena);
	BT_ASSERT(bt_store_rv(bt_api_store(api)) == rv);
}

static void run_line(struct bt_api *api, struct bt_str line, struct bt_arena *arena)
{
	static const enum bt_verb verbs[] = {BT_VERB_CREATE, BT_VERB_UPDATE, BT_VERB_PATCH,
		BT_VERB_PATCH, BT_VERB_PATCH, BT_VERB_PATCH, BT_VERB_DELETE, BT_VERB_GET};
	struct bt_api_request request = BT_API_REQUEST_INIT;
	const struct bt_resources *resources = bt_api_resources(api);
	if (line.length < 3) {
		return;
	}
	uint8_t verb = (uint8_t)line.data[0];
	uint8_t resource = (uint8_t)line.data[1];
	uint8_t options = (uint8_t)line.data[2];
	request.verb = verbs[verb % BT_ARRAY_LENGTH(verbs)];
	request.patch_type = (enum bt_patch_type)(verb % 4);
	/* 'A' is the first resource; values after the last resource select a subresource */
	uint32_t count = bt_resources_count(resources);
	uint32_t at = (resource + 256u - 'A') % 256u;
	request.resource = bt_resources_at(resources, at % count);
	request.subresource = (enum bt_subresource)(at / count % BT_SUBRESOURCE__COUNT);
	request.namespace_ = request.resource->namespaced ? BT_STR("default") : BT_STR("");
	request.name = bt_str_from(names[options % BT_ARRAY_LENGTH(names)]);
	request.field_validation = (enum bt_field_validation)(options / 8 % 3);
	request.field_manager = BT_STR("m");
	request.dry_run = options >= 200;
	request.restore = options < 20;
	struct bt_str body = bt_str_sub(line, 3, line.length);
	if (body.length != 0 && bt_json_parse(arena, body, false, &request.body, NULL) != 0) {
		return;
	}
	if (request.verb == BT_VERB_CREATE && request.subresource == BT_SUBRESOURCE_NONE) {
		request.name = BT_STR("");
	}
	(void)perform(api, &request, arena);
	request.name = bt_str_from(names[options % BT_ARRAY_LENGTH(names)]);
	expect_final_form(api, &request, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str rest = {(const char *)data, (uint32_t)size};
	struct bt_arena arena = {0};
	if (size == 0 || size > 65536) {
		return 0;
	}
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	struct bt_api_options options = {.store = store,
		.now_ns = fixed_clock,
		.seed = 1,
		.admit_service_account = true,
		.admit_taint_nodes = true,
		.admit_storage_protection = true};
	struct bt_api *api = bt_api_create(&options);
	for (int i = 0; i < REQUESTS_MAX && rest.length != 0; i++) {
		int64_t end = bt_str_find_char(rest, '\n');
		uint32_t length = end < 0 ? rest.length : (uint32_t)end;
		run_line(api, bt_str_sub(rest, 0, length), &arena);
		rest = bt_str_sub(rest, length + 1, rest.length);
		bt_arena_reset(&arena);
	}
	bt_api_destroy(api);
	bt_store_destroy(store);
	bt_arena_finish(&arena);
	return 0;
}
