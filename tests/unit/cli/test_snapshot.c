/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/snapshot.h"
#include "test_main.h"

/* --- every text of the tables is classified --- */

struct walk {
	BT_VEC(const struct bt_message *) seen;
	uint32_t text_count;
};

static bool has_texts(const struct bt_field *field)
{
	return field->type == BT_FIELD_STR || field->type == BT_FIELD_RAW_JSON ||
		field->shape == BT_SHAPE_MAP;
}

static void walk_message(struct walk *walk, const struct bt_message *message)
{
	for (uint32_t i = 0; i < walk->seen.count; i++) {
		if (walk->seen.items[i] == message) {
			return;
		}
	}
	bt_vec_push(&walk->seen, message);
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		enum bt_snapshot_action action;
		if (has_texts(field)) {
			walk->text_count++;
			ck_assert_msg(bt_snapshot_find_action(message->name, field->name, &action),
				"%s.%s has no row in src/cli/snapshot_fields.def: is a name in it?",
				message->name, field->name);
			ck_assert_msg(
				field->type != BT_FIELD_RAW_JSON || action == BT_SNAPSHOT_DROP,
				"%s.%s is JSON: no single text can take its place", message->name,
				field->name);
		}
		if (field->message != NULL) {
			walk_message(walk, field->message);
		}
	}
}

START_TEST(test_snapshot__every_text_has_a_row)
{
	struct walk walk = {0};
	for (int kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (kind != BT_KIND_EVENT && kind != BT_KIND_CORE_EVENT && kind != BT_KIND_LEASE) {
			walk_message(&walk, bt_kind_info((enum bt_kind)kind)->message);
		}
	}
	ck_assert_uint_gt(walk.text_count, 200);
	bt_vec_finish(&walk.seen);
}
END_TEST

START_TEST(test_snapshot__unknown_fields_have_no_row)
{
	enum bt_snapshot_action action;
	ck_assert(!bt_snapshot_find_action("PodSpec", "hostname", &action));
	ck_assert(bt_snapshot_find_action("PodSpec", "nodeName", &action));
	ck_assert_int_eq(action, BT_SNAPSHOT_NAME);
}
END_TEST

/* --- neutral names --- */

static const char *const texts[] = {"web", "web-0", "data-web-0", "data", "10.0.3.7", "ip-10-0-3-7",
	"0f0e0d0c-1111-2222-3333-0123456789ab", "pvc-0f0e0d0c-1111-2222-3333-0123456789ab",
	"kubernetes.io/hostname", "node-role.kubernetes.io/acme", "acme", "default", "123456",
	"99999", "x0", "x", "acme.io/a_b", "registry:5000/a:latest", "cpu", "-9223372036854775808"};

static void collect_texts(struct bt_neutral_names *names)
{
	bt_neutral_names_init(names);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		bt_neutral_names_collect(names, bt_str_from(texts[i]), false);
	}
	bt_neutral_names_settle(names);
}

START_TEST(test_neutral_names__keep_equality_and_composition)
{
	struct bt_neutral_names names;
	struct bt_arena arena = {0};
	struct bt_str out[BT_ARRAY_LENGTH(texts)];
	collect_texts(&names);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		out[i] = bt_neutral_names_rename(&names, bt_str_from(texts[i]), false, &arena);
		for (size_t k = 0; k < i; k++) {
			ck_assert_msg(!bt_str_equal(out[i], out[k]), "%s and %s became one",
				texts[i], texts[k]);
		}
	}
	struct bt_str joined =
		bt_arena_printf(&arena, "%.*s-%.*s-0", BT_STR_ARG(out[3]), BT_STR_ARG(out[0]));
	ck_assert(bt_str_equal(joined, out[2]));
	joined = bt_arena_printf(&arena, "node-role.kubernetes.io/%.*s", BT_STR_ARG(out[10]));
	ck_assert(bt_str_equal(joined, out[9]));
	ck_assert(bt_str_equal_c(out[8], "kubernetes.io/hostname"));
	ck_assert(bt_str_equal_c(out[11], "default"));
	ck_assert(bt_str_equal_c(out[12], "10001")); /* longer than 99999, which is 10000 */
	ck_assert(bt_str_equal_c(out[13], "10000"));
	ck_assert(!bt_str_equal_c(out[18], "cpu"));
	ck_assert(bt_str_equal_c(
		bt_neutral_names_rename(&names, BT_STR("cpu"), true, &arena), "cpu"));
	bt_arena_finish(&arena);
	bt_neutral_names_finish(&names);
}
END_TEST

START_TEST(test_neutral_names__no_original_word_is_a_neutral_one)
{
	struct bt_neutral_names names;
	collect_texts(&names);
	ck_assert(bt_str_equal_c(names.prefix, "xx")); /* "x0" is somebody's */
	bt_neutral_names_finish(&names);
}
END_TEST

BT_TEST_MAIN("snapshot", test_snapshot__every_text_has_a_row,
	test_snapshot__unknown_fields_have_no_row,
	test_neutral_names__keep_equality_and_composition,
	test_neutral_names__no_original_word_is_a_neutral_one)
