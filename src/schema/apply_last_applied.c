/* SPDX-License-Identifier: Apache-2.0 */
/* What kubectl's client-side apply left behind: it notes its configuration in an annotation. */
#include "schema/apply_managers.h"

/* All annotations of an object together may have so many bytes. */
#define ANNOTATION_BYTES_MAX (256 * 1024)

static const char name[] = "kubectl.kubernetes.io/last-applied-configuration";

static struct bt_json_value *annotations_of(const struct bt_json_value *object)
{
	return bt_json_find_path(object, "metadata.annotations");
}

bool bt_apply_is_kubectl(const struct bt_apply_writer *writer)
{
	return bt_str_equal(writer->manager, BT_STR("kubectl")) && writer->subresource.length == 0;
}

const struct bt_field_set *bt_apply_last_applied(struct bt_arena *arena,
	const struct bt_apply_writer *writer, const struct bt_json_value *live)
{
	struct bt_str text = bt_json_find_str(annotations_of(live), name);
	struct bt_json_value *object = NULL;
	if (text.length == 0 || bt_json_parse(arena, text, true, &object, NULL) != 0 ||
		bt_schema_normalise(writer->message, object, true, arena, NULL, NULL) != 0) {
		return NULL; /* anybody can write anything there */
	}
	struct bt_spot root = bt_spot_root(writer->message);
	return bt_field_set_stripped(
		arena, bt_field_set_of(arena, &root, object), writer->ignored_member);
}

/* With the kind, which decoded objects do not have. */
static void write_configuration(const struct bt_apply_writer *writer,
	const struct bt_json_value *applied, struct bt_strbuf *out)
{
	struct bt_json_writer json;
	bt_json_writer_init(&json, out, 0);
	bt_json_begin_object(&json);
	bt_json_write_name_c(&json, "apiVersion");
	bt_json_write_str(&json, writer->api_version);
	bt_json_write_name_c(&json, "kind");
	bt_json_write_str(&json, writer->kind);
	for (uint32_t i = 0; i < applied->count; i++) {
		const struct bt_json_member *member = &applied->members[i];
		if (!bt_str_equal_c(member->name, "apiVersion") &&
			!bt_str_equal_c(member->name, "kind")) {
			bt_json_write_name(&json, member->name);
			bt_json_write_value(&json, member->value);
		}
	}
	bt_json_end_object(&json);
	bt_strbuf_append_char(out, '\n');
}

void bt_apply_note_last_applied(struct bt_arena *arena, const struct bt_apply_writer *writer,
	const struct bt_json_value *live, const struct bt_json_value *applied,
	struct bt_json_value *object)
{
	if (bt_json_find_str(annotations_of(live), name).length == 0 ||
		bt_json_find(annotations_of(applied), name) != NULL ||
		bt_json_find(annotations_of(object), name) == NULL) {
		return;
	}
	struct bt_strbuf text = {0};
	write_configuration(writer, applied, &text);
	if (text.length > ANNOTATION_BYTES_MAX) {
		bt_strbuf_reset(&text);
	}
	bt_json_set_str(
		arena, annotations_of(object), name, bt_arena_str(arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}
