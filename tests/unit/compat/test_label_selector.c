/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 01 sections 5.5 and 5.6. */
#include "berth/label_selector.h"

#include <stddef.h>

#include "objects.h"

static struct berth_label_selector *selector_from(const char *text)
{
	struct berth_label_selector *selector = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_OK(berth_label_selector_parse(berth_str_from(text), &selector, &err));
	return selector;
}

/* seed-map 000.29 */
START_TEST(test_label_selector__matches)
{
	static const struct {
		const char *selector;
		bool matches; /* whether the selector matches the labels app=web, tier=1 */
	} rows[] = {
		{"{}", true},
		{"{\"matchLabels\":{\"app\":\"web\"}}", true},
		{"{\"matchLabels\":{\"app\":\"db\"}}", false},
		{"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
		 "\"values\":[\"db\",\"web\"]}]}",
			true},
		{"{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"NotIn\","
		 "\"values\":[\"web\"]}]}",
			false},
		{"{\"matchExpressions\":[{\"key\":\"none\",\"operator\":\"DoesNotExist\"}]}", true},
		{"{\"matchExpressions\":[{\"key\":\"none\",\"operator\":\"Exists\"}]}", false},
	};
	static const struct berth_label labels[] = {
		{{"tier", 4}, {"1", 1}}, {{"app", 3}, {"web", 3}}};
	struct berth_object *pod = pod_from("p", "\"tier\":\"1\",\"app\":\"web\"", "");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct berth_label_selector *selector = selector_from(rows[i].selector);

		ck_assert_msg(berth_label_selector_matches(selector, labels, 2) == rows[i].matches,
			"%s", rows[i].selector);
		ck_assert_msg(berth_label_selector_matches_object(selector, pod) == rows[i].matches,
			"%s", rows[i].selector);
		ck_assert_int_eq(berth_label_selector_is_empty(selector), i == 0);
		berth_label_selector_destroy(selector);
	}
	ck_assert(!berth_label_selector_matches(NULL, labels, 2));
	berth_object_release(pod);
}
END_TEST

/* seed-map 000.29: a plain map is not validated */
START_TEST(test_label_selector__from_map)
{
	static const struct berth_label wanted[] = {{{"no key!", 7}, {"v", 1}}};
	static const struct berth_label labels[] = {
		{{"x", 1}, {"y", 1}}, {{"no key!", 7}, {"v", 1}}};
	struct berth_label_selector *selector = berth_label_selector_from_map(wanted, 1);
	struct berth_label_selector *all = berth_label_selector_from_map(NULL, 0);

	ck_assert(berth_label_selector_matches(selector, labels, 2));
	ck_assert(!berth_label_selector_matches(selector, labels, 1));
	ck_assert(berth_label_selector_matches(all, NULL, 0));
	ck_assert(berth_label_selector_is_empty(all));
	berth_label_selector_destroy(selector);
	berth_label_selector_destroy(all);
	berth_label_selector_destroy(NULL);
}
END_TEST

START_TEST(test_label_selector__errors)
{
	struct berth_label_selector *selector = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	CHECK_FAILS(berth_label_selector_parse(BERTH_STR("{\"matchExpressions\":[{\"key\":\"a\","
							 "\"operator\":\"Near\"}]}"),
			    &selector, &err),
		BERTH_ERR_INVALID, "\"Near\" is not a valid label selector operator");
	ck_assert_ptr_null(selector);
	ck_assert_int_eq(
		berth_label_selector_parse(BERTH_STR("{"), &selector, NULL), BERTH_ERR_SYNTAX);
}
END_TEST

BT_TEST_MAIN("lib_label_selector", test_label_selector__matches, test_label_selector__from_map,
	test_label_selector__errors)
