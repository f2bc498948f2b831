/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/reference.h"
#include "planning/whatif.h"
#include "cluster/manifests.h"
#include "test_main.h"

/** --- arguments of the command --- */

struct row {
	enum bt_whatif_kind kind;
	const char *text;
	const char *target;
	const char *namespace_;
	const char *key;
	const char *value;
	const char *effect;
	int64_t count;
	bool removes;
};

START_TEST(test_whatif_change__parse)
{
	static const struct row rows[] = {
		{BT_WHATIF_DRAIN, "n1", "n1", "", "", "", "", 0, false},
		{BT_WHATIF_REMOVE, "[a=b,!c]", "[a=b,!c]", "", "", "", "", 0, false},
		{BT_WHATIF_ADD, "3=n1", "n1", "", "", "", "", 3, false},
		{BT_WHATIF_TAINT, "n1=k=v:NoExecute", "n1", "", "k", "v", "NoExecute", 0, false},
		{BT_WHATIF_TAINT, "n*=a/k:NoSchedule", "n*", "", "a/k", "", "NoSchedule", 0, false},
		{BT_WHATIF_TAINT, "n1=k=v:NoExecute-", "n1", "", "k", "v", "NoExecute", 0, true},
		{BT_WHATIF_TAINT, "n1=k-", "n1", "", "k", "", "", 0, true},
		{BT_WHATIF_TAINT, "[z=a]=k=v:NoSchedule", "[z=a]", "", "k", "v", "NoSchedule", 0,
			false},
		{BT_WHATIF_LABEL, "n1=k=v", "n1", "", "k", "v", "", 0, false},
		{BT_WHATIF_LABEL, "n1=k=", "n1", "", "k", "", "", 0, false},
		{BT_WHATIF_LABEL, "n1=k-", "n1", "", "k", "", "", 0, true},
		{BT_WHATIF_LABEL, "[z in (a,b)]=k=v", "[z in (a,b)]", "", "k", "v", "", 0, false},
		{BT_WHATIF_SCALE, "Deployment/web=0", "web", "default", "", "", "", 0, false},
		{BT_WHATIF_SCALE, "sts/shop/db=7", "db", "shop", "", "", "", 7, false},
		{BT_WHATIF_SCALE, "deployments.apps/web=1", "web", "default", "", "", "", 1, false},
		{BT_WHATIF_WITH, "a=b.yaml", "a=b.yaml", "", "", "", "", 0, false},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		struct bt_whatif_change change;
		ck_assert_msg(bt_whatif_change_parse(row->kind, row->text, &change, NULL) == 0,
			"%s", row->text);
		ck_assert_msg(bt_str_equal_c(change.target, row->target) &&
				bt_str_equal_c(change.namespace_, row->namespace_) &&
				bt_str_equal_c(change.key, row->key) &&
				bt_str_equal_c(change.value, row->value) &&
				bt_str_equal_c(change.effect, row->effect) &&
				change.count == row->count && change.removes == row->removes,
			"%s", row->text);
	}
}
END_TEST

START_TEST(test_whatif_change__refuse)
{
	static const struct {
		enum bt_whatif_kind kind;
		const char *text;
	} rows[] = {
		{BT_WHATIF_DRAIN, ""},
		{BT_WHATIF_DRAIN, "[a=b"},
		{BT_WHATIF_DRAIN, "[a]x"},
		{BT_WHATIF_ADD, ""},
		{BT_WHATIF_ADD, "n1"},
		{BT_WHATIF_ADD, "2="},
		{BT_WHATIF_ADD, "-1=n1"},
		{BT_WHATIF_ADD, "100001=n1"},
		{BT_WHATIF_ADD, "99999999999999999999=n1"},
		{BT_WHATIF_ADD, "1=n?"},
		{BT_WHATIF_TAINT, "n1"},
		{BT_WHATIF_TAINT, "n1="},
		{BT_WHATIF_TAINT, "=k=v:NoSchedule"},
		{BT_WHATIF_TAINT, "n1=k=v"},
		{BT_WHATIF_TAINT, "n1=k:Never"},
		{BT_WHATIF_TAINT, "n1=k:Never-"},
		{BT_WHATIF_TAINT, "n1=:NoSchedule"},
		{BT_WHATIF_TAINT, "n1=k=v v:NoSchedule"},
		{BT_WHATIF_TAINT, "[a=b]k=v:NoSchedule"},
		{BT_WHATIF_LABEL, "n1"},
		{BT_WHATIF_LABEL, "n1=k"},
		{BT_WHATIF_LABEL, "n1=-"},
		{BT_WHATIF_LABEL, "n1==v"},
		{BT_WHATIF_SCALE, "web=3"},
		{BT_WHATIF_SCALE, "deployment/=3"},
		{BT_WHATIF_SCALE, "deployment/web"},
		{BT_WHATIF_SCALE, "deployment/web=x"},
		{BT_WHATIF_SCALE, "deployment/web=-1"},
		{BT_WHATIF_SCALE, "deployment/web=1000001"},
		{BT_WHATIF_SCALE, "pod/web=1"},
		{BT_WHATIF_SCALE, "ds/web=1"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_whatif_change change;
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_msg(bt_whatif_change_parse(rows[i].kind, rows[i].text, &change, &err) ==
				BERTH_ERR_INVALID,
			"%s", rows[i].text);
		ck_assert_str_ne(berth_error_message(&err), "");
		berth_error_finish(&err);
	}
}
END_TEST

/** A reference for pattern matching: it tries all splits, so it is slow but plainly correct. */
static bool matches_plainly(const char *pattern, const char *name)
{
	if (*pattern == 0) {
		return *name == 0;
	}
	if (*pattern == '*') {
		return matches_plainly(pattern + 1, name) ||
			(*name != 0 && matches_plainly(pattern, name + 1));
	}
	return *name != 0 && (*pattern == '?' || *pattern == *name) &&
		matches_plainly(pattern + 1, name + 1);
}

/**
 * Writes text number `number` to out. Shorter texts have lower numbers, so counting up from 0 gives
 * all short texts.
 */
static void text_of(uint32_t number, const char *letters, uint32_t letter_count, char *out)
{
	while (number != 0) {
		number--;
		*out++ = letters[number % letter_count];
		number /= letter_count;
	}
	*out = 0;
}

START_TEST(test_node_pattern__all_short_ones)
{
	for (uint32_t p = 0; p < 1365; p++) {
		for (uint32_t n = 0; n < 63; n++) {
			char pattern[8];
			char name[8];
			text_of(p, "ab*?", 4, pattern);
			text_of(n, "ab", 2, name);
			if (bt_str_matches_pattern(bt_str_from(name), bt_str_from(pattern)) !=
				matches_plainly(pattern, name)) {
				ck_abort_msg("%s %s", pattern, name);
			}
		}
	}
}
END_TEST

/** --- objects --- */

static void read_text(struct bt_manifests *cluster, const char *json)
{
	bt_manifests_init(cluster);
	ck_assert_int_eq(bt_manifests_read_text(cluster, "input", bt_str_from(json), NULL), 0);
}

static int apply(struct bt_whatif *whatif, enum bt_whatif_kind kind, const char *text)
{
	struct bt_whatif_change change;
	ck_assert_int_eq(bt_whatif_change_parse(kind, text, &change, NULL), 0);
	return bt_whatif_apply(whatif, &change, NULL);
}

#define NODE(name) \
	"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\"}}\n"
#define POD(name, node) \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\"}," \
	"\"spec\":{\"nodeName\":\"" node "\"}}\n"

/** The result must share every object of the input (same address), and no object may change. */
START_TEST(test_whatif__input_is_shared_and_unchanged)
{
	struct bt_manifests input;
	struct bt_manifests result;
	struct bt_whatif whatif;
	const struct bt_object *objects[4];
	read_text(&input, NODE("n1") NODE("n2") POD("a", "n1") POD("b", "n2"));
	for (uint32_t i = 0; i < 4; i++) {
		objects[i] = input.objects.items[i].object;
	}
	bt_whatif_init(&whatif, &input);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_ptr_eq(whatif.work.objects.items[i].object, objects[i]);
	}
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_DRAIN, "n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_TAINT, "n2=k=v:NoExecute"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_ADD, "2=n2"), 0);
	bt_manifests_init(&result);
	bt_whatif_result(&whatif, &result);
	ck_assert_uint_eq(result.objects.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_ptr_eq(input.objects.items[i].object, objects[i]);
		ck_assert_uint_eq(
			bt_manifests_find(&result, BT_KIND_POD, BT_STR("default"), BT_STR("a")),
			BT_MANIFESTS_NONE);
	}
	bt_manifests_finish(&result);
	bt_whatif_finish(&whatif);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(objects[i]->reference_count, 1);
	}
	bt_manifests_finish(&input);
}
END_TEST

START_TEST(test_whatif__contradictions)
{
	struct bt_manifests input;
	struct bt_whatif whatif;
	read_text(&input, NODE("n1") NODE("n2"));
	bt_whatif_init(&whatif, &input);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_DRAIN, "n1"), 0);
	ck_assert_int_lt(apply(&whatif, BT_WHATIF_DRAIN, "n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_UNCORDON, "n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_DRAIN, "n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_REMOVE, "n1"), 0);
	ck_assert_int_lt(apply(&whatif, BT_WHATIF_CORDON, "n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_ADD, "1=n1"), 0);
	ck_assert_int_eq(apply(&whatif, BT_WHATIF_CORDON, "n1-1"), 0);
	ck_assert_int_lt(apply(&whatif, BT_WHATIF_ADD, "1=n3"), 0);
	bt_whatif_finish(&whatif);
	bt_manifests_finish(&input);
}
END_TEST

BT_TEST_MAIN("whatif", test_whatif_change__parse, test_whatif_change__refuse,
	test_node_pattern__all_short_ones, test_whatif__input_is_shared_and_unchanged,
	test_whatif__contradictions)
