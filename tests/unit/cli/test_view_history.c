/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/view.h"

#include "test_main.h"

static struct bt_object *decode(const char *json)
{
	struct bt_object *object;
	ck_assert_int_eq(bt_object_decode(bt_str_from(json), &object, NULL), 0);
	return object;
}

/** After the clock was set back, changes still come after earlier ones, so that the page shows
 * them. */
START_TEST(test_view_history__clock_set_back)
{
	struct bt_history history;
	struct bt_object *node = decode("{\"apiVersion\":\"v1\",\"kind\":\"Node\","
					"\"metadata\":{\"name\":\"n1\"}}");
	struct bt_object *pod = decode("{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
				       "\"metadata\":{\"name\":\"p\",\"namespace\":\"d\"}}");
	struct bt_object *bound = decode("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
					 "\"name\":\"p\",\"namespace\":\"d\"},"
					 "\"spec\":{\"nodeName\":\"n1\"}}");
	bt_history_init(&history, 100);
	bt_history_take(&history, 200, NULL, node);
	bt_history_take(&history, 300, NULL, pod);
	bt_history_take(&history, 50, pod, bound);
	ck_assert_int_eq(history.latest_ns, 300);
	ck_assert_uint_eq(history.versions.count, 3);
	ck_assert(bt_version_holds(&history.versions.items[0], history.latest_ns));
	ck_assert(!bt_version_holds(&history.versions.items[1], history.latest_ns));
	ck_assert(bt_version_holds(&history.versions.items[2], history.latest_ns));
	bt_history_take(&history, 60, bound, NULL);
	ck_assert(!bt_version_holds(&history.versions.items[2], history.latest_ns));
	bt_history_finish(&history);
	bt_object_release(node);
	bt_object_release(pod);
	bt_object_release(bound);
}
END_TEST

BT_TEST_MAIN("view_history", test_view_history__clock_set_back)
