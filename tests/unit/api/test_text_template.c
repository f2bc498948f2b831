/* SPDX-License-Identifier: Apache-2.0 */
/** Texts from templates. */
#include "api/text_template.h"

#include "test_main.h"

static void expect(struct bt_strbuf *out, const char *text)
{
	ck_assert_str_eq(bt_strbuf_c(out), text);
	bt_strbuf_reset(out);
}

START_TEST(test_text__conversions)
{
	struct bt_strbuf out = {0};

	bt_text_append(&out, "%s|%p|%c|%%", BT_STR("a\n"), BT_STR("a\n"), "c\n");
	expect(&out, "a\n|a\\n|c\n|%");
	bt_text_append(&out, "%m|%w", BT_STR("shop"), BT_STR("a\t"), BT_STR("it's"));
	expect(&out, "shop/a\\t|'it'\\''s'");
	bt_text_append(&out, "%u %i %d %n %N", UINT32_MAX, INT32_MIN, INT64_MIN, UINT32_C(4812),
		INT64_C(-4812));
	expect(&out, "4294967295 -2147483648 -9223372036854775808 4,812 -4,812");
	bt_text_append(&out, "%a, %a", BT_STR("cpu"), INT64_C(1500), BT_AMOUNT_NEAREST,
		BT_STR("memory"), INT64_C(1025), BT_AMOUNT_UP);
	expect(&out, "1.5, 1.1Ki");
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_text__nouns)
{
	struct bt_strbuf out = {0};

	for (uint32_t i = 0; i < 3; i++) {
		bt_text_append(&out, "%n {pod is|pods are} %c, {it waits|they wait}\n", i, "late");
	}
	expect(&out,
		"0 pods are late, they wait\n"
		"1 pod is late, it waits\n"
		"2 pods are late, they wait\n");
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_text__optional_parts)
{
	struct bt_strbuf out = {0};

	bt_text_append(&out, "[no %s][[%u] a[%? %u]b", BT_STR(""), 7, false, 8);
	expect(&out, "[7] ab");
	bt_text_append(&out, "[%?%u, ][%n {pod|pods}, ][%c]", true, 0, 1, "");
	expect(&out, "0, 1 pod, ");
	bt_text_append(&out, "[on %p]", BT_STR(""));
	expect(&out, "");
	/* Only the first argument decides. */
	bt_text_append(&out, "[%p (%p)][%m]", BT_STR("a"), BT_STR(""), BT_STR(""), BT_STR("b"));
	expect(&out, "a ()");
	bt_strbuf_finish(&out);
}
END_TEST

BT_TEST_MAIN("text", test_text__conversions, test_text__nouns, test_text__optional_parts)
