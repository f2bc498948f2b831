/* SPDX-License-Identifier: Apache-2.0 */
#include "kinds_rows.h"

#include <check.h>
#include <string.h>

#include "codec/json_edit.h"

static int64_t clock_of(void *context)
{
	return ((const struct api_fixture *)context)->now_ns;
}

void rows_init(struct api_fixture *fixture)
{
	api_fixture_init(fixture);
	bt_api_destroy(fixture->api);
	const struct bt_api_options options = {.store = fixture->store,
		.now_ns = clock_of,
		.clock_context = fixture,
		.seed = 1,
		.admit_service_account = true,
		.admit_taint_nodes = true,
		.admit_storage_protection = true,
		.admit_pod_group_protection = true,
		.generic_workload = true,
		.topology_aware_workload_scheduling = true,
		.workload_aware_preemption = true,
		.dra_workload_resource_claims = true,
		.workload_with_job = true};
	fixture->api = bt_api_create(&options);
}

void rows_create(
	struct api_fixture *fixture, const char *resource, const char *key, const char *body)
{
	uint16_t code = api_create(fixture, resource, key, body);
	if (code != 201) {
		ck_abort_msg("%s: %u %s", body, code, api_message(fixture));
	}
}

static const struct bt_json_value *parsed(struct api_fixture *fixture, const char *text)
{
	struct bt_str copy = bt_arena_str(&fixture->arena, bt_str_from(text));
	char *bytes = bt_arena_alloc_bytes(&fixture->arena, (size_t)copy.length + 1);
	struct bt_json_value *value;
	for (uint32_t i = 0; i <= copy.length; i++) {
		bytes[i] = copy.data[i] == '\'' ? '"' : copy.data[i];
	}
	int result = bt_json_parse(
		&fixture->arena, (struct bt_str){bytes, copy.length}, true, &value, NULL);
	ck_assert_msg(result == 0, "no JSON: %s", text);
	return value;
}

void rows_expect(
	struct api_fixture *fixture, const char *name, const char *path, const char *expected)
{
	const struct bt_json_value *value = fixture->result;
	struct bt_str rest = bt_str_from(path);
	/*
	 * A path is like "spec.containers.0.image": numbers are indices. '|' begins a name with
	 * dots.
	 */
	while (rest.length != 0 && value != NULL) {
		int64_t end = bt_str_find_char(rest, rest.data[0] == '|' ? '\n' : '.');
		struct bt_str part = bt_str_sub(rest, 0, end < 0 ? rest.length : (uint32_t)end);
		int64_t index;
		rest = end < 0 ? BT_STR("") : bt_str_sub(rest, (uint32_t)end + 1, rest.length);
		if (part.data[0] == '|') {
			part = bt_str_sub(part, 1, part.length);
		}
		if (value->type == BT_JSON_ARRAY && bt_str_parse_int64(part, &index)) {
			value = index < value->count ? value->elements[index] : NULL;
		} else {
			value = bt_json_get(value, part);
		}
	}
	if (expected[0] == '\0') {
		ck_assert_msg(value == NULL, "%s: %s is there", name, path);
		return;
	}
	if (value == NULL || !bt_json_equal(value, parsed(fixture, expected))) {
		ck_abort_msg(
			"%s: %s: expected %s in %s", name, path, expected, api_json(fixture, ""));
	}
}

void rows_check_values(const struct value_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct value_row *row = &rows[i];
		struct api_fixture fixture;
		rows_init(&fixture);
		uint16_t code = api_create(&fixture, row->resource, row->key, row->body);
		if (code != 201) {
			ck_abort_msg("%s: %u %s", row->name, code, api_message(&fixture));
		}
		rows_expect(&fixture, row->name, row->path, row->expected);
		api_fixture_finish(&fixture);
	}
}

void rows_check_refusals(const struct refusal_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct refusal_row *row = &rows[i];
		struct api_fixture fixture;
		rows_init(&fixture);
		uint16_t code = api_create(&fixture, row->resource, row->key, row->body);
		const char *message = api_message(&fixture);
		if (code != row->code || strstr(message, row->message) == NULL) {
			ck_abort_msg("%s: %u %s", row->name, code, message);
		}
		api_fixture_finish(&fixture);
	}
}

void rows_check_updates(const struct update_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct update_row *row = &rows[i];
		struct api_fixture fixture;
		rows_init(&fixture);
		rows_create(&fixture, row->resource, row->key, row->body);
		uint16_t code = api_patch(
			&fixture, BT_PATCH_MERGE, row->resource, row->object_key, row->patch);
		const char *message = api_message(&fixture);
		if (code != (row->message == NULL ? 200 : 422) ||
			(row->message != NULL && strstr(message, row->message) == NULL)) {
			ck_abort_msg("%s: %u %s", row->name, code, message);
		}
		api_fixture_finish(&fixture);
	}
}
