/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/snapshot.h"

#include <string.h>

#include "api/int_or_string.h"
#include "codec/message_layout.h"
#include "test_main.h"

/* --- every text field of the API tables has a row in snapshot_fields.def --- */

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
				"%s.%s has no row in src/cluster/snapshot_fields.def: is a "
				"name in it?",
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

/* --- a stripped snapshot contains no word of the user --- */

/* Fill one object of each kind with a unique word in every text field. */

#define FILL_DEPTH_MAX 24

/*
 * The secret words are put into texts of these shapes: names, and texts that begin like the API's
 * words.
 */
static const char *const shapes[] = {"%s", "kubernetes.io/%s", "hugepages-%s", "aws://%s/vol-1",
	"requests.hugepages-1%s", "True,%s", "NoSchedule %s", "1,3-5%s", "v1.2.3-%s", "%s%%", "@%s",
	"fd00::%s", "0%s"};

struct fill {
	struct bt_arena arena;
	const char *shape;
	uint32_t secret_count;
};

/* Appends a word of letters only, so that splitting never cuts the word: "qzbaaazq". */
static void append_secret(uint32_t number, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "qz");
	for (int i = 0; i < 4; i++) {
		bt_strbuf_append_char(out, (char)('a' + number % 25)); /* never z */
		number /= 25;
	}
	bt_strbuf_append_c(out, "zq");
}

static struct bt_str next_secret(struct fill *fill, bool is_json)
{
	struct bt_strbuf text = {0};
	const char *hole = strstr(fill->shape, "%s");
	bt_strbuf_append_c(&text, is_json ? "\"" : "");
	bt_strbuf_append_str(&text, (struct bt_str){fill->shape, (uint32_t)(hole - fill->shape)});
	append_secret(fill->secret_count++, &text);
	bt_strbuf_append_c(&text, hole[2] == '%' ? "%" : hole + 2);
	bt_strbuf_append_c(&text, is_json ? "\"" : "");
	struct bt_str secret = bt_arena_str(&fill->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return secret;
}

static void fill_message(
	struct fill *fill, const struct bt_message *message, void *value, int depth);

static void fill_value(struct fill *fill, const struct bt_field *field, void *member, int depth)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		bt_store_str(member, next_secret(fill, field->type == BT_FIELD_RAW_JSON));
		break;
	case BT_FIELD_MESSAGE:
		fill_message(fill, field->message, member, depth);
		break;
	case BT_FIELD_SCALAR:
		if (field->scalar == &bt_int_or_string_scalar) {
			struct bt_int_or_string text = {
				.text = next_secret(fill, false), .is_string = true};
			memcpy(member, &text, sizeof(text));
		}
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		break;
	}
}

/* The only annotations that a snapshot keeps. */
static const char *const kept_notes[] = {"batch.kubernetes.io/job-completion-index",
	"berth.dev/pods-exist", "kubernetes.io/config.mirror",
	"scheduler.alpha.kubernetes.io/preferAvoidPods",
	"storage.alpha.kubernetes.io/migrated-plugins", "volume.beta.kubernetes.io/storage-class"};

static struct bt_str_map filled_notes(struct fill *fill)
{
	struct bt_str_map notes = {
		.items = BT_ARENA_NEW_ARRAY(
			&fill->arena, struct bt_str_pair, BT_ARRAY_LENGTH(kept_notes)),
		.count = BT_ARRAY_LENGTH(kept_notes),
		.present = true,
	};
	for (uint32_t i = 0; i < notes.count; i++) {
		notes.items[i] =
			(struct bt_str_pair){bt_str_from(kept_notes[i]), next_secret(fill, false)};
	}
	return notes;
}

static void fill_items(struct fill *fill, const struct bt_field *field, void *member, int depth)
{
	struct bt_any_list list = {bt_arena_alloc(&fill->arena, field->item_size), 1, true};
	memset(list.items, 0, field->item_size);
	if (field->shape == BT_SHAPE_MAP) {
		bt_store_str(list.items, next_secret(fill, false));
	}
	fill_value(fill, field, (char *)list.items + bt_value_offset(field), depth);
	bt_store_list(member, list);
}

static void fill_message(
	struct fill *fill, const struct bt_message *message, void *value, int depth)
{
	ck_assert_int_lt(depth, FILL_DEPTH_MAX);
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		void *member = bt_field_at(value, field->offset);
		if (field->shape == BT_SHAPE_LIST || field->shape == BT_SHAPE_MAP) {
			fill_items(fill, field, member, depth + 1);
		} else if (bt_field_is_pointer(field)) {
			void *inner = bt_arena_alloc(&fill->arena, bt_pointee_size(field));
			memset(inner, 0, bt_pointee_size(field));
			fill_value(fill, field, inner, depth + 1);
			bt_store_pointer(member, inner);
		} else {
			fill_value(fill, field, member, depth + 1);
		}
		if (strcmp(field->name, "annotations") == 0) {
			struct bt_str_map notes = filled_notes(fill);
			memcpy(member, &notes, sizeof(notes));
		}
	}
}

static void *empty_value(struct fill *fill, enum bt_kind kind)
{
	size_t size = bt_kind_info(kind)->size;
	void *value = bt_arena_alloc(&fill->arena, size);
	memset(value, 0, size);
	return value;
}

static void add_filled(struct fill *fill, struct bt_manifests *cluster, enum bt_kind kind)
{
	void *value = empty_value(fill, kind);
	fill_message(fill, bt_kind_info(kind)->message, value, 0);
	struct bt_manifests_object entry = {
		.object = bt_object_create(kind, value),
		.kind = kind,
		.pods_exist = true,
	};
	entry.name = entry.object->meta->name;
	entry.namespace_ = entry.object->meta->namespace_;
	bt_vec_push(&cluster->objects, entry);
}

static int append_piece(void *context, struct bt_str text, struct berth_error *err)
{
	(void)err; /* no allocation can fail here */
	bt_strbuf_append_str(context, text);
	return 0;
}

static void snapshot_of_secrets(struct fill *fill, bool strips, struct bt_strbuf *out)
{
	struct bt_snapshot_stream *stream = bt_snapshot_stream_create(strips);
	struct bt_manifests cluster;
	bt_manifests_init(&cluster);
	for (int kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (kind != BT_KIND_EVENT && kind != BT_KIND_CORE_EVENT && kind != BT_KIND_LEASE) {
			add_filled(fill, &cluster, (enum bt_kind)kind);
		}
	}
	ck_assert_int_eq(bt_snapshot_write(&cluster, stream, append_piece, out, NULL), 0);
	bt_snapshot_stream_destroy(stream);
	bt_manifests_finish(&cluster);
}

static void check_stripped(const char *shape)
{
	struct fill fill = {.shape = shape};
	struct bt_strbuf out = {0};
	bt_arena_init(&fill.arena, 0);
	snapshot_of_secrets(&fill, true, &out);
	int64_t at = bt_str_find(bt_strbuf_str(&out), BT_STR("qz"));
	ck_assert_msg(at < 0, "of %u secrets one is left: ...%.120s", fill.secret_count,
		bt_strbuf_c(&out) + (at < 60 ? 0 : at - 60));
	ck_assert_uint_gt(fill.secret_count, 1000);
	bt_strbuf_reset(&out);
	snapshot_of_secrets(&fill, false, &out);
	ck_assert_int_gt(bt_str_find(bt_strbuf_str(&out), BT_STR("qz")), 0);
	bt_strbuf_finish(&out);
	bt_arena_finish(&fill.arena);
}

START_TEST(test_snapshot__no_text_of_any_field_is_left)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(shapes); i++) {
		check_stripped(shapes[i]);
	}
}
END_TEST

/** The template of a ReplicationController is optional; without it the mark stays, too. */
START_TEST(test_snapshot__every_workload_is_marked)
{
	for (int kind = 0; kind < BT_KIND__COUNT; kind++) {
		struct fill fill = {.shape = NULL};
		struct bt_snapshot_stream *stream = bt_snapshot_stream_create(false);
		struct bt_manifests cluster;
		struct bt_strbuf out = {0};
		bt_arena_init(&fill.arena, 0);
		bt_manifests_init(&cluster);
		struct bt_manifests_object entry = {
			.object = bt_object_create(
				(enum bt_kind)kind, empty_value(&fill, (enum bt_kind)kind)),
			.kind = (enum bt_kind)kind,
			.pods_exist = true,
		};
		bt_vec_push(&cluster.objects, entry);
		ck_assert_int_eq(bt_snapshot_write(&cluster, stream, append_piece, &out, NULL), 0);
		bt_snapshot_stream_destroy(stream);
		bool is_marked = bt_str_find(bt_strbuf_str(&out),
					 BT_STR("\"berth.dev/pods-exist\":\"true\"")) >= 0;
		ck_assert_msg(is_marked == bt_kind_creates_pods((enum bt_kind)kind), "%s",
			bt_strbuf_c(&out));
		bt_strbuf_finish(&out);
		bt_manifests_finish(&cluster);
		bt_arena_finish(&fill.arena);
	}
}
END_TEST

/* --- neutral names --- */

static const char *const texts[] = {"web", "web-0", "data-web-0", "data", "10.0.3.7", "ip-10-0-3-7",
	"0f0e0d0c-1111-2222-3333-0123456789ab", "pvc-0f0e0d0c-1111-2222-3333-0123456789ab",
	"kubernetes.io/hostname", "node-role.kubernetes.io/acme", "acme", "default", "123456",
	"99999", "0000123456", "fd00:1234::7", "fd00:1234::8", "1234", "hugepages-2Mi",
	"hugepages-x", "x0", "x", "acme.io/a_b", "registry:5000/a:latest", "cpu",
	"-9223372036854775808"};

static void collect_texts(struct bt_neutral_names *names)
{
	*names = (struct bt_neutral_names){0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		bt_neutral_names_collect(names, bt_str_from(texts[i]), false);
	}
	bt_neutral_names_sort(names);
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
	ck_assert(bt_str_equal_c(out[12], "10001")); /* "123456" ranks after "99999" */
	ck_assert(bt_str_equal_c(out[13], "10000"));
	ck_assert(bt_str_equal_c(out[14], "000010001")); /* the same number with zeros in front */
	ck_assert_int_lt(bt_str_find(out[15], BT_STR("1234")), 0);
	ck_assert(bt_str_equal_c(out[17], "1234"));
	ck_assert(bt_str_equal_c(out[18], "hugepages-2Mi"));
	ck_assert(!bt_str_equal_c(out[19], "hugepages-x"));
	ck_assert(!bt_str_equal_c(out[24], "cpu"));
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
	ck_assert(bt_str_equal_c(names.prefix, "xx")); /* "x0" is a word of the input */
	bt_neutral_names_finish(&names);
}
END_TEST

BT_TEST_MAIN("snapshot", test_snapshot__every_text_has_a_row,
	test_snapshot__unknown_fields_have_no_row, test_snapshot__no_text_of_any_field_is_left,
	test_snapshot__every_workload_is_marked, test_neutral_names__keep_equality_and_composition,
	test_neutral_names__no_original_word_is_a_neutral_one)
