/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "codec/yaml_state.h"

/** Default output limit: a base, plus ten bytes per byte of input. */
#define OUTPUT_BYTES_BASE (UINT64_C(64) << 20)
#define OUTPUT_BYTES_PER_INPUT_BYTE 10
/** Largest output limit, which keeps text lengths within 32 bits. */
#define OUTPUT_BYTES_CAP (UINT64_C(4000) << 20)
/**
 * Maximum number of "%TAG" directives in a stream. libyaml compares each directive with all earlier
 * directives, which takes quadratic time.
 */
#define TAG_DIRECTIVES_MAX 1000

struct bt_yaml_reader *bt_yaml_reader_create(
	struct bt_str text, const struct bt_yaml_limits *limits)
{
	struct bt_yaml_reader *reader = BT_NEW(struct bt_yaml_reader);
	if (yaml_parser_initialize(&reader->parser) == 0) {
		bt_panic("out of memory");
	}
	const char *data = text.data != NULL ? text.data : "";
	reader->text = (struct bt_str){data, text.length};
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *)data, text.length);
	reader->output_bytes_max =
		OUTPUT_BYTES_BASE + OUTPUT_BYTES_PER_INPUT_BYTE * (uint64_t)text.length;
	if (limits != NULL && limits->output_bytes_max != 0) {
		reader->output_bytes_max = limits->output_bytes_max;
	}
	reader->output_bytes_max = BT_MIN(reader->output_bytes_max, OUTPUT_BYTES_CAP);
	reader->duplicates = limits != NULL ? limits->duplicates : NULL;
	reader->words_are_text = limits != NULL && limits->words_are_text;
	return reader;
}

/**
 * Clears the state of a document. Frees the maps instead of clearing them: after one document with
 * large maps, clearing the large maps for each small document would be slow.
 */
static void reset_document(struct bt_yaml_reader *reader)
{
	for (uint32_t i = 0; i < reader->anchors.count; i++) {
		bt_free(reader->anchors.items[i].name);
	}
	reader->anchors.count = 0;
	reader->keys.count = 0;
	bt_map_finish(&reader->anchor_map);
	bt_map_finish(&reader->key_map);
	bt_strbuf_reset(&reader->anchored);
	reader->copied_bytes = 0;
	reader->depth = 0;
	reader->depth_peak = 0;
	reader->mapping_serial = 0;
}

void bt_yaml_reader_destroy(struct bt_yaml_reader *reader)
{
	if (reader == NULL) {
		return;
	}
	reset_document(reader);
	yaml_parser_delete(&reader->parser);
	bt_vec_finish(&reader->anchors);
	bt_vec_finish(&reader->keys);
	bt_strbuf_finish(&reader->anchored);
	bt_free(reader);
}

uint32_t bt_yaml_event_line(const yaml_event_t *event)
{
	return (uint32_t)event->start_mark.line + 1;
}

/**
 * Counts copied bytes in addition to output bytes, because merges may drop most of the copied bytes
 * from the output.
 */
int bt_yaml_check_budget(struct bt_yaml_reader *reader)
{
	if (reader->out->length - reader->out_start + reader->copied_bytes <=
		reader->output_bytes_max) {
		return 0;
	}
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE,
		"yaml: document expands to more than %llu bytes",
		(unsigned long long)reader->output_bytes_max);
}

int bt_yaml_next_event(struct bt_yaml_reader *reader, yaml_event_t *out_event)
{
	if (yaml_parser_parse(&reader->parser, out_event) == 0) {
		/* Report the parser's problem, with the line as go-yaml computes it. */
		const yaml_parser_t *parser = &reader->parser;
		const char *problem = parser->problem != NULL
			? parser->problem
			: "unknown problem parsing YAML content";
		size_t line = parser->context_mark.line != 0 ? parser->context_mark.line
							     : parser->problem_mark.line;
		if (line != 0 && parser->error == YAML_SCANNER_ERROR) {
			line++;
		}
		if (line == 0) {
			return bt_error_set(reader->err, BERTH_ERR_SYNTAX, "yaml: %s", problem);
		}
		return bt_error_set(
			reader->err, BERTH_ERR_SYNTAX, "yaml: line %zu: %s", line, problem);
	}
	return 0;
}

static int check_tag_directives(struct bt_yaml_reader *reader)
{
	static const char mark[] = "%TAG";
	uint32_t count = 0;
	const char *p = reader->text.data;
	const char *end = p + reader->text.length;
	while (p < end && count <= TAG_DIRECTIVES_MAX) {
		p = memchr(p, '%', (size_t)(end - p));
		if (p == NULL) {
			break;
		}
		if ((size_t)(end - p) >= sizeof(mark) - 1 &&
			memcmp(p, mark, sizeof(mark) - 1) == 0) {
			count++;
		}
		p++;
	}
	if (count <= TAG_DIRECTIVES_MAX) {
		return 0;
	}
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE, "yaml: more than %d tag directives",
		TAG_DIRECTIVES_MAX);
}

int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out, bool *out_more,
	struct berth_error *err)
{
	bool found = false;
	int result = 0;
	if (!reader->finished) {
		reader->out = out;
		reader->out_start = out->length;
		reader->err = err;
		if (!reader->tag_directives_checked) {
			reader->tag_directives_checked = true;
			result = check_tag_directives(reader);
		}
		for (bool ended = false; result == 0 && !ended && !found;) {
			yaml_event_t event;
			result = bt_yaml_next_event(reader, &event);
			if (result != 0) {
				break;
			}
			found = event.type == YAML_DOCUMENT_START_EVENT;
			ended = event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT;
			yaml_event_delete(&event);
		}
		if (result == 0 && found) {
			result = bt_yaml_append_next_node(reader);
		}
		if (result == 0 && found) {
			result = bt_yaml_check_budget(reader);
		}
		reader->finished = result != 0 || !found;
		reset_document(reader);
		if (result != 0 && out->data != NULL) {
			out->length = reader->out_start;
			out->data[out->length] = '\0';
		}
		reader->out = NULL;
		reader->err = NULL;
	}
	if (result == 0) {
		*out_more = found;
	}
	return result;
}
