/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of refusals. Spec: 13 section 9.1, 14b section 5. */
#include "server/failure.h"

#include "base/strbuf.h"
#include "codec/json_edit.h"
#include "test_main.h"

static const char *text_of(struct bt_arena *arena, const struct bt_json_value *value)
{
	struct bt_strbuf buffer = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &buffer, 0);
	bt_json_write_value(&writer, value);
	const char *text = bt_arena_str(arena, bt_strbuf_str(&buffer)).data;
	bt_strbuf_finish(&buffer);
	return text;
}

START_TEST(test_failure__field_errors)
{
	struct bt_arena arena = {0};
	struct bt_failure failure;
	struct bt_field_errors errors = {.arena = &arena};
	struct bt_json_value *text = bt_json_new_c(&arena, "x\"y");
	bt_field_errors_add(&errors, BT_FIELD_REQUIRED, BT_STR("a"), NULL, "%s", "");
	ck_assert(!bt_fail_invalid(
		&failure, &arena, BT_STR("apps"), BT_STR("Deployment"), BT_STR("d"), &errors));
	ck_assert_uint_eq(failure.code, 422);
	ck_assert_str_eq(
		failure.message.data, "Deployment.apps \"d\" is invalid: a: Required value");
	bt_field_errors_add(&errors, BT_FIELD_INVALID, bt_arena_printf(errors.arena, "b[%d]", 3),
		text, "must be %d", 5);
	bt_field_errors_add(&errors, BT_FIELD_NOT_SUPPORTED, BT_STR("c"), text, "\"A\", \"B\"");
	bt_field_errors_add(&errors, BT_FIELD_FORBIDDEN, BT_STR("d"), text, "no");
	bt_field_errors_add(
		&errors, BT_FIELD_DUPLICATE, BT_STR("e"), bt_json_new_int64(&arena, 7), "%s", "");
	bt_field_errors_add(
		&errors, BT_FIELD_TOO_LONG, BT_STR("f"), text, "may not be more than 3 bytes");
	(void)bt_fail_invalid(&failure, &arena, BT_STR(""), BT_STR("Pod"), BT_STR("p"), &errors);
	ck_assert_str_eq(failure.message.data,
		"Pod \"p\" is invalid: [a: Required value, b[3]: Invalid value: \"x\\\"y\": must "
		"be 5, c: Unsupported value: \"x\\\"y\": supported values: \"A\", \"B\", d: "
		"Forbidden: no, e: Duplicate value: 7, f: Too long: may not be more than 3 bytes]");
	ck_assert_str_eq(failure.causes->next->reason, "FieldValueInvalid");
	ck_assert_str_eq(failure.causes->next->field.data, "b[3]");
	ck_assert_str_eq(
		failure.causes->next->message.data, "Invalid value: \"x\\\"y\": must be 5");
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_failure__hostile_values_are_cut)
{
	struct bt_arena arena = {0};
	struct bt_failure failure;
	struct bt_field_errors errors = {.arena = &arena};
	struct bt_strbuf big = {0};
	for (int i = 0; i < 100000; i++) {
		bt_strbuf_append_char(&big, 'x');
	}
	struct bt_json_value *value = bt_json_new_str(&arena, bt_strbuf_str(&big));
	for (int i = 0; i < 1000; i++) {
		bt_field_errors_add(&errors, BT_FIELD_INVALID, BT_STR("a"), value, "%s", "no");
	}
	ck_assert_uint_eq(errors.count, 100);
	(void)bt_fail_invalid(&failure, &arena, BT_STR(""), BT_STR("Pod"), BT_STR("p"), &errors);
	ck_assert_uint_le(failure.message.length, 500000);
	bt_strbuf_finish(&big);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_failure__documents)
{
	struct bt_arena arena = {0};
	struct bt_failure failure;
	const struct bt_api_resource leases = {
		.group = "coordination.k8s.io", .version = "v1", .name = "leases", .kind = "Lease"};
	ck_assert(!bt_fail_not_found(&failure, &arena, &leases, BT_STR("kube-scheduler")));
	ck_assert_uint_eq(failure.code, 404);
	ck_assert_str_eq(text_of(&arena, bt_failure_document(&failure, &arena)),
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"leases.coordination.k8s.io \\\"kube-scheduler\\\" not found\","
		"\"reason\":\"NotFound\",\"details\":{\"name\":\"kube-scheduler\",\"group\":"
		"\"coordination.k8s.io\",\"kind\":\"leases\"},\"code\":404}");
	ck_assert(!bt_fail(&failure, &arena, 410, "Expired", "too old: %d", 5));
	ck_assert_uint_eq(failure.code, 410);
	failure.continue_token = BT_STR("abc");
	failure.retry_after_seconds = 1;
	ck_assert_str_eq(text_of(&arena, bt_failure_document(&failure, &arena)),
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"abc\"},"
		"\"status\":\"Failure\",\"message\":\"too old: 5\",\"reason\":\"Expired\","
		"\"details\":{\"retryAfterSeconds\":1},\"code\":410}");
	(void)bt_fail_forbidden(&failure, &arena, &leases, BT_STR("x"), BT_STR("no"));
	ck_assert_str_eq(failure.message.data, "leases.coordination.k8s.io \"x\" is forbidden: no");
	(void)bt_fail_conflict(&failure, &arena, &leases, BT_STR("x"), BT_STR("no"));
	ck_assert_str_eq(failure.message.data,
		"Operation cannot be fulfilled on leases.coordination.k8s.io \"x\": no");
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("failure", test_failure__field_errors, test_failure__hostile_values_are_cut,
	test_failure__documents)
