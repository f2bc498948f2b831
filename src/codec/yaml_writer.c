/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include <yaml.h>

#include "base/arena.h"
#include "base/assert.h"
#include "codec/json.h"
#include "codec/yaml_scalar.h"

/** Limit of the output: indentation can expand a small input. */
#define OUTPUT_BYTES_MAX ((size_t)1 << 30)

struct writer {
	yaml_emitter_t emitter;
	struct bt_strbuf text;
	struct bt_json_reader reader;
	struct bt_arena arena; /* unescaped strings */
	struct berth_error *err;
};

static int append_output(void *data, unsigned char *buffer, size_t size)
{
	struct bt_strbuf *text = data;
	/* drop output beyond the limit; write_node then fails */
	if (text->length <= OUTPUT_BYTES_MAX) {
		bt_strbuf_append(text, buffer, size);
	}
	return 1;
}

/**
 * Emits an event. initialised is the result of the event's initialisation function. A failure is a
 * panic, because libyaml fails only if memory runs out or if this file has a bug.
 */
static void emit(struct writer *writer, yaml_event_t *event, int initialised)
{
	if (initialised == 0 || yaml_emitter_emit(&writer->emitter, event) == 0) {
		bt_panic("YAML emitter: %s",
			writer->emitter.problem != NULL ? writer->emitter.problem
							: "out of memory");
	}
}

static void emit_scalar(struct writer *writer, struct bt_str text, yaml_scalar_style_t style)
{
	yaml_event_t event;
	/*
	 * libyaml does not write to the text. The length fits an int, because the JSON reader
	 * limits strings to BT_JSON_STRING_BYTES_MAX.
	 */
	int made = yaml_scalar_event_initialize(
		&event, NULL, NULL, (const yaml_char_t *)text.data, (int)text.length, 1, 1, style);
	emit(writer, &event, made);
}

static void emit_string(struct writer *writer, struct bt_str string)
{
	struct bt_str text = string.data != NULL ? string : BT_STR("");
	yaml_scalar_style_t style = YAML_LITERAL_SCALAR_STYLE;
	if (text.length == 0 || memchr(text.data, '\n', text.length) == NULL) {
		struct bt_yaml_scalar scalar;
		bt_yaml_resolve(text, &scalar);
		bool plain = scalar.kind == BT_YAML_STRING && !bt_yaml_is_base60(text) &&
			!bt_str_equal_c(text, "<<");
		bt_yaml_scalar_finish(&scalar);
		style = plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	}
	emit_scalar(writer, text, style);
}

static int write_node(struct writer *writer, uint32_t depth);

static int write_array(struct writer *writer, uint32_t depth)
{
	yaml_event_t event;
	int result;
	emit(writer, &event,
		yaml_sequence_start_event_initialize(
			&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
	BT_JSON_EACH_ELEMENT (&writer->reader, result, writer->err) {
		result = write_node(writer, depth + 1);
	}
	if (result == 0) {
		emit(writer, &event, yaml_sequence_end_event_initialize(&event));
	}
	return result;
}

static int write_object(struct writer *writer, uint32_t depth)
{
	yaml_event_t event;
	struct bt_str name;
	int result;
	emit(writer, &event,
		yaml_mapping_start_event_initialize(
			&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
	BT_JSON_EACH_MEMBER (&writer->reader, &writer->arena, name, result, writer->err) {
		emit_string(writer, name);
		result = write_node(writer, depth + 1);
	}
	if (result == 0) {
		emit(writer, &event, yaml_mapping_end_event_initialize(&event));
	}
	return result;
}

static int write_node(struct writer *writer, uint32_t depth)
{
	enum bt_json_type type;
	struct bt_str text;
	if (writer->text.length > OUTPUT_BYTES_MAX) {
		return bt_error_set(writer->err, BERTH_ERR_TOO_LARGE,
			"YAML text is longer than %zu bytes", OUTPUT_BYTES_MAX);
	}
	int result = bt_json_peek(&writer->reader, &type, writer->err);
	if (result != 0) {
		return result;
	}
	switch (type) {
	case BT_JSON_NULL:
	case BT_JSON_BOOL:
	case BT_JSON_NUMBER:
		result = bt_json_skip(&writer->reader, &text, writer->err);
		if (result == 0) {
			emit_scalar(writer, text, YAML_PLAIN_SCALAR_STYLE);
		}
		return result;
	case BT_JSON_STRING:
		result = bt_json_read_string(
			&writer->reader, &writer->arena, &text, NULL, writer->err);
		if (result == 0) {
			emit_string(writer, text);
		}
		return result;
	case BT_JSON_ARRAY:
	case BT_JSON_OBJECT:
		if (depth == BT_YAML_DEPTH_MAX) {
			return bt_error_set(writer->err, BERTH_ERR_TOO_LARGE,
				"exceeded max depth of %d", BT_YAML_DEPTH_MAX);
		}
		return type == BT_JSON_ARRAY ? write_array(writer, depth)
					     : write_object(writer, depth);
	case BT_JSON__COUNT:
		break;
	}
	BT_ASSERT(false);
	return BERTH_ERR_INTERNAL;
}

int bt_yaml_from_json(struct bt_str json, struct bt_strbuf *out, struct berth_error *err)
{
	struct writer writer = {.err = err};
	yaml_event_t event;
	if (yaml_emitter_initialize(&writer.emitter) == 0) {
		bt_panic("out of memory");
	}
	yaml_emitter_set_unicode(&writer.emitter, 1);
	yaml_emitter_set_width(&writer.emitter, -1);
	yaml_emitter_set_output(&writer.emitter, append_output, &writer.text);
	bt_json_reader_init(&writer.reader, json);
	emit(&writer, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&writer, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	int result = write_node(&writer, 0);
	if (result == 0) {
		result = bt_json_expect_end(&writer.reader, err);
	}
	if (result == 0) {
		emit(&writer, &event, yaml_document_end_event_initialize(&event, 1));
		emit(&writer, &event, yaml_stream_end_event_initialize(&event));
		bt_strbuf_append(out, writer.text.data, writer.text.length);
	}
	yaml_emitter_delete(&writer.emitter);
	bt_arena_finish(&writer.arena);
	bt_strbuf_finish(&writer.text);
	return result;
}
