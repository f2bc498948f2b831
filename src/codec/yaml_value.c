/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml_state.h"

#include <math.h>

#include "codec/base64.h"
#include "codec/json.h"
#include "codec/yaml_scalar.h"

enum tag {
	TAG_NONE,
	TAG_STR, /* also unknown tags */
	TAG_BINARY,
	TAG_INT,
	TAG_FLOAT,
	TAG_BOOL,
	TAG_NULL,
	TAG_TIMESTAMP,
};

static const struct {
	const char *name; /* in messages */
	const char *uri;
} tags[] = {
	[TAG_NONE] = {"", ""},
	[TAG_STR] = {"!!str", YAML_STR_TAG},
	[TAG_BINARY] = {"!!binary", "tag:yaml.org,2002:binary"},
	[TAG_INT] = {"!!int", YAML_INT_TAG},
	[TAG_FLOAT] = {"!!float", YAML_FLOAT_TAG},
	[TAG_BOOL] = {"!!bool", YAML_BOOL_TAG},
	[TAG_NULL] = {"!!null", YAML_NULL_TAG},
	[TAG_TIMESTAMP] = {"!!timestamp", YAML_TIMESTAMP_TAG},
};

static enum tag tag_of(const yaml_event_t *event)
{
	const char *tag = (const char *)event->data.scalar.tag;
	if (tag == NULL) {
		return event->data.scalar.plain_implicit ? TAG_NONE : TAG_STR;
	}
	for (int i = TAG_STR; i <= TAG_TIMESTAMP; i++) {
		if (strcmp(tag, tags[i].uri) == 0) {
			return (enum tag)i;
		}
	}
	return TAG_STR;
}

static const enum tag tag_of_kind[] = {
	[BT_YAML_NULL] = TAG_NULL,
	[BT_YAML_BOOL] = TAG_BOOL,
	[BT_YAML_INT] = TAG_INT,
	[BT_YAML_BIG_INT] = TAG_INT,
	[BT_YAML_FLOAT] = TAG_FLOAT,
	[BT_YAML_STRING] = TAG_STR,
	[BT_YAML_TIMESTAMP] = TAG_TIMESTAMP,
};

static int write_number(struct bt_yaml_reader *reader, struct bt_json_writer *writer, double number)
{
	if (!isfinite(number)) {
		return bt_error_set(reader->err, BERTH_ERR_INVALID, "json: unsupported value: %s",
			isnan(number)        ? "NaN"
				: number > 0 ? "+Inf"
					     : "-Inf");
	}
	bt_json_write_double(writer, number);
	return 0;
}

static int write_resolved(struct bt_yaml_reader *reader, struct bt_json_writer *writer,
	struct bt_str text, const struct bt_yaml_scalar *scalar)
{
	switch (scalar->kind) {
	case BT_YAML_NULL:
		bt_json_write_null(writer);
		return 0;
	case BT_YAML_BOOL:
		bt_json_write_bool(writer, scalar->boolean);
		return 0;
	case BT_YAML_INT:
		if (scalar->negative) {
			bt_json_write_int64(writer, (int64_t)(0 - scalar->magnitude));
		} else {
			bt_json_write_uint64(writer, scalar->magnitude);
		}
		return 0;
	case BT_YAML_BIG_INT:
		bt_json_write_raw(writer, bt_strbuf_str(&scalar->text));
		return 0;
	case BT_YAML_FLOAT:
		return write_number(reader, writer, scalar->number);
	case BT_YAML_STRING:
	case BT_YAML_TIMESTAMP:
		bt_json_write_str(writer, text);
		return 0;
	}
	return 0;
}

int bt_yaml_append_scalar(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	struct bt_json_writer writer;
	struct bt_str text = {
		(const char *)event->data.scalar.value, (uint32_t)event->data.scalar.length};
	enum tag tag = tag_of(event);
	bt_json_writer_init(&writer, reader->out, 0);
	writer.escape_html = false;
	if (tag == TAG_BINARY) {
		struct bt_arena arena = {0};
		struct bt_str bytes;
		int result = 0;
		if (bt_base64_decode(text, &arena, &bytes, NULL) == 0) {
			bt_json_write_str(&writer, bytes);
		} else {
			result = bt_error_set(reader->err, BERTH_ERR_INVALID,
				"yaml: !!binary value contains invalid base64 data");
		}
		bt_arena_finish(&arena);
		return result;
	}
	if (tag == TAG_STR) {
		bt_json_write_str(&writer, text);
		return 0;
	}

	/* no tag, or a tag of a scalar type */
	struct bt_yaml_scalar scalar;
	bt_yaml_resolve(text, &scalar);
	if (reader->words_are_text && scalar.kind == BT_YAML_BOOL &&
		strchr("tTfF", text.data[0]) == NULL) {
		scalar.kind = BT_YAML_STRING;
	}
	enum tag found = tag_of_kind[scalar.kind];
	int result;
	if (tag == TAG_FLOAT && scalar.kind == BT_YAML_INT) {
		double number = (double)scalar.magnitude;
		result = write_number(reader, &writer, scalar.negative ? -number : number);
	} else if (tag == TAG_NONE || tag == found ||
		(tag == TAG_FLOAT && scalar.kind == BT_YAML_BIG_INT)) {
		result = write_resolved(reader, &writer, text, &scalar);
	} else {
		int shown = text.length <= BT_YAML_SHOWN_MAX ? (int)text.length : BT_YAML_SHOWN_MAX;
		result = bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: cannot decode %s `%.*s` as a %s", tags[found].name, shown, text.data,
			tags[tag].name);
	}
	bt_yaml_scalar_finish(&scalar);
	return result;
}
