/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include <math.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/yaml_mapping.h"
#include "codec/yaml_scalar.h"

/** Default output limit: this much, and ten bytes for each byte of input. */
#define OUTPUT_BYTES_BASE (UINT64_C(64) << 20)
#define OUTPUT_BYTES_PER_INPUT_BYTE 10
/** Texts are addressed with 32 bits. */
#define OUTPUT_BYTES_CAP (UINT64_C(4000) << 20)
/** Most "%TAG" lines of a stream: libyaml compares each with all earlier ones. */
#define TAG_DIRECTIVES_MAX 1000
/** Notes about repeated keys end here. */
#define DUPLICATES_BYTES_MAX 8192
/** Bytes of a key or anchor that a message shows. */
#define NAME_SHOWN_MAX 128

/** JSON text of an anchored node, in reader->anchored. */
struct anchor {
	uint64_t hash;
	char *name; /* owned */
	size_t start;
	size_t length;
	uint32_t height; /* levels of nesting inside */
	bool open;       /* the node is still being read */
};

/** A member of a mapping that is being read. Its name is out's text from name_start on. */
struct key {
	uint64_t hash;
	size_t name_start;
	size_t name_length;
	uint32_t line;
};

struct bt_yaml_reader {
	yaml_parser_t parser;
	bool finished;
	uint64_t output_bytes_max;
	struct bt_strbuf *duplicates; /* borrowed; NULL: repeated keys are errors */
	bool tag_directives_checked;
	struct bt_str text; /* borrowed */

	/* the present document */
	struct bt_strbuf *out;
	size_t out_start;
	uint64_t copied_bytes; /* text written for anchors, aliases and merges, beside the output */
	uint32_t depth;
	uint32_t depth_peak; /* of the innermost anchored node */
	struct bt_strbuf anchored;
	BT_VEC(struct anchor) anchors;
	struct bt_map anchor_map; /* into anchors */
	BT_VEC(struct key) keys;  /* of all open mappings, outermost first */
	struct bt_map key_map;    /* into keys */
	uint64_t mapping_serial;
	struct berth_error *err;
};

static uint64_t anchor_hash(const void *owner, uint32_t value)
{
	const struct bt_yaml_reader *reader = owner;
	return reader->anchors.items[value].hash;
}

static uint64_t key_hash(const void *owner, uint32_t value)
{
	const struct bt_yaml_reader *reader = owner;
	return reader->keys.items[value].hash;
}

struct bt_yaml_reader *bt_yaml_reader_create(struct bt_str text, const struct bt_yaml_limits *limits)
{
	struct bt_yaml_reader *reader = BT_NEW(struct bt_yaml_reader);
	if (yaml_parser_initialize(&reader->parser) == 0) {
		bt_panic("out of memory");
	}
	const char *data = text.data != NULL ? text.data : "";
	reader->text = (struct bt_str){data, text.length};
	yaml_parser_set_input_string(&reader->parser, (const unsigned char *)data, text.length);
	reader->output_bytes_max = OUTPUT_BYTES_BASE + OUTPUT_BYTES_PER_INPUT_BYTE * (uint64_t)text.length;
	if (limits != NULL && limits->output_bytes_max != 0) {
		reader->output_bytes_max = limits->output_bytes_max;
	}
	if (reader->output_bytes_max > OUTPUT_BYTES_CAP) {
		reader->output_bytes_max = OUTPUT_BYTES_CAP;
	}
	reader->duplicates = limits != NULL ? limits->duplicates : NULL;
	bt_map_init(&reader->anchor_map, anchor_hash, reader);
	bt_map_init(&reader->key_map, key_hash, reader);
	return reader;
}

/** Forget what belongs to one document. Maps give up their memory: clearing it for each small document adds up. */
static void reset_document(struct bt_yaml_reader *reader)
{
	for (uint32_t i = 0; i < reader->anchors.count; i++) {
		bt_free(reader->anchors.items[i].name);
	}
	reader->anchors.count = 0;
	reader->keys.count = 0;
	bt_map_finish(&reader->anchor_map);
	bt_map_finish(&reader->key_map);
	bt_map_init(&reader->anchor_map, anchor_hash, reader);
	bt_map_init(&reader->key_map, key_hash, reader);
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
	bt_map_finish(&reader->anchor_map);
	bt_map_finish(&reader->key_map);
	bt_strbuf_finish(&reader->anchored);
	bt_free(reader);
}

/* --- errors --- */

/** The message of a parser failure, with go-yaml's idea of the line. */
static int parser_failed(struct bt_yaml_reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	const char *problem = parser->problem != NULL ? parser->problem : "unknown problem parsing YAML content";
	size_t line = parser->context_mark.line != 0 ? parser->context_mark.line : parser->problem_mark.line;
	if (line != 0 && parser->error == YAML_SCANNER_ERROR) {
		line++;
	}
	if (line == 0) {
		return bt_error_set(reader->err, BERTH_ERR_SYNTAX, "yaml: %s", problem);
	}
	return bt_error_set(reader->err, BERTH_ERR_SYNTAX, "yaml: line %zu: %s", line, problem);
}

static uint32_t event_line(const yaml_event_t *event)
{
	return (uint32_t)event->start_mark.line + 1;
}

/** What is copied counts as well as what comes out: merges can drop most of what they copied. */
static int check_budget(struct bt_yaml_reader *reader)
{
	if (reader->out->length - reader->out_start + reader->copied_bytes <= reader->output_bytes_max) {
		return 0;
	}
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE, "yaml: document expands to more than %llu bytes",
		(unsigned long long)reader->output_bytes_max);
}

static int too_deep(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE, "yaml: line %u: exceeded max depth of %d",
		event_line(event), BT_YAML_DEPTH_MAX);
}

static int name_length(const char *name)
{
	size_t length = strlen(name);
	return (int)(length <= NAME_SHOWN_MAX ? length : NAME_SHOWN_MAX);
}

/* --- anchors --- */

static struct anchor *find_anchor(struct bt_yaml_reader *reader, const char *name)
{
	uint64_t hash = bt_hash_bytes(name, strlen(name), 0);
	uint32_t newest = BT_MAP_NONE;
	const struct bt_map *map = &reader->anchor_map;
	for (uint32_t it = bt_map_first(map, hash); it != BT_MAP_NONE; it = bt_map_next(map, hash, it)) {
		uint32_t index = bt_map_value(map, it);
		if (strcmp(reader->anchors.items[index].name, name) == 0) {
			newest = index;
		}
	}
	return newest == BT_MAP_NONE ? NULL : &reader->anchors.items[newest];
}

/** A node with this anchor begins; returns its index. A name that is used again hides the earlier node. */
static uint32_t open_anchor(struct bt_yaml_reader *reader, const char *name)
{
	const struct anchor *hidden = find_anchor(reader, name);
	if (hidden != NULL) {
		uint32_t index = (uint32_t)(hidden - reader->anchors.items);
		(void)bt_map_remove(&reader->anchor_map, hidden->hash, index); /* was found a line above */
	}
	size_t length = strlen(name);
	struct anchor anchor = {
		.hash = bt_hash_bytes(name, length, 0), .name = bt_strndup(name, length), .open = true};
	uint32_t index = reader->anchors.count;
	bt_vec_push(&reader->anchors, anchor);
	bt_map_insert(&reader->anchor_map, anchor.hash, index);
	return index;
}

/** Keep a copy of the node's text: what it was copied from may still be rearranged. */
static void close_anchor(struct bt_yaml_reader *reader, uint32_t index, size_t node_start)
{
	struct anchor *anchor = &reader->anchors.items[index];
	anchor->open = false;
	anchor->start = reader->anchored.length;
	anchor->length = reader->out->length - node_start;
	anchor->height = reader->depth_peak - reader->depth;
	reader->copied_bytes += anchor->length;
	bt_strbuf_append(&reader->anchored, reader->out->data + node_start, anchor->length);
}

static int append_alias(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *anchor = find_anchor(reader, name);
	if (anchor == NULL) {
		return bt_error_set(reader->err, BERTH_ERR_SYNTAX, "yaml: unknown anchor '%.*s' referenced",
			name_length(name), name);
	}
	if (anchor->open) {
		return bt_error_set(reader->err, BERTH_ERR_SYNTAX, "yaml: anchor '%.*s' value contains itself",
			name_length(name), name);
	}
	uint32_t depth = reader->depth + anchor->height;
	if (depth > BT_YAML_DEPTH_MAX) {
		return too_deep(reader, event);
	}
	reader->depth_peak = depth > reader->depth_peak ? depth : reader->depth_peak;
	reader->copied_bytes += anchor->length;
	bt_strbuf_append(reader->out, reader->anchored.data + anchor->start, anchor->length);
	return check_budget(reader);
}

/* --- scalars --- */

enum tag {
	TAG_NONE,
	TAG_STR, /* also tags that mean nothing here */
	TAG_BINARY,
	TAG_INT,
	TAG_FLOAT,
	TAG_BOOL,
	TAG_NULL,
	TAG_TIMESTAMP,
};

static enum tag tag_of(const yaml_event_t *event)
{
	static const char *const names[] = {
		[TAG_STR] = YAML_STR_TAG, [TAG_BINARY] = "tag:yaml.org,2002:binary", [TAG_INT] = YAML_INT_TAG,
		[TAG_FLOAT] = YAML_FLOAT_TAG, [TAG_BOOL] = YAML_BOOL_TAG, [TAG_NULL] = YAML_NULL_TAG,
		[TAG_TIMESTAMP] = YAML_TIMESTAMP_TAG,
	};
	const char *tag = (const char *)event->data.scalar.tag;
	if (tag == NULL) {
		return event->data.scalar.plain_implicit ? TAG_NONE : TAG_STR;
	}
	for (int i = TAG_STR; i <= TAG_TIMESTAMP; i++) {
		if (strcmp(tag, names[i]) == 0) {
			return (enum tag)i;
		}
	}
	return TAG_STR;
}

static const char *tag_name(enum tag tag)
{
	static const char *const names[] = {"", "!!str", "!!binary", "!!int", "!!float", "!!bool", "!!null",
		"!!timestamp"};
	return names[tag];
}

static enum tag tag_of_kind(enum bt_yaml_kind kind)
{
	switch (kind) {
	case BT_YAML_NULL:
		return TAG_NULL;
	case BT_YAML_BOOL:
		return TAG_BOOL;
	case BT_YAML_INT:
	case BT_YAML_BIG_INT:
		return TAG_INT;
	case BT_YAML_FLOAT:
		return TAG_FLOAT;
	case BT_YAML_STRING:
		return TAG_STR;
	case BT_YAML_TIMESTAMP:
		return TAG_TIMESTAMP;
	}
	return TAG_STR;
}

static int write_number(struct bt_yaml_reader *reader, struct bt_json_writer *writer, double number)
{
	if (!isfinite(number)) {
		return bt_error_set(reader->err, BERTH_ERR_INVALID, "json: unsupported value: %s",
			isnan(number) ? "NaN" : number > 0 ? "+Inf" : "-Inf");
	}
	bt_json_write_double(writer, number);
	return 0;
}

static int write_resolved(struct bt_yaml_reader *reader, struct bt_json_writer *writer, struct bt_str text,
	const struct bt_yaml_scalar *scalar)
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

static int append_binary(struct bt_yaml_reader *reader, struct bt_json_writer *writer, struct bt_str text)
{
	struct bt_strbuf bytes = {0};
	int result = 0;
	if (bt_yaml_decode_base64(text, &bytes)) {
		bt_json_write_str(writer, bt_strbuf_str(&bytes));
	} else {
		result = bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: !!binary value contains invalid base64 data");
	}
	bt_strbuf_finish(&bytes);
	return result;
}

/** A scalar with a tag that asks for a type, or none. */
static int append_typed(struct bt_yaml_reader *reader, struct bt_json_writer *writer, struct bt_str text, enum tag tag)
{
	struct bt_yaml_scalar scalar;
	bt_yaml_resolve(text, &scalar);
	enum tag found = tag_of_kind(scalar.kind);
	int result;
	if (tag == TAG_FLOAT && scalar.kind == BT_YAML_INT) {
		double number = (double)scalar.magnitude;
		result = write_number(reader, writer, scalar.negative ? -number : number);
	} else if (tag == TAG_NONE || tag == found || (tag == TAG_FLOAT && scalar.kind == BT_YAML_BIG_INT)) {
		result = write_resolved(reader, writer, text, &scalar);
	} else {
		int shown = text.length <= NAME_SHOWN_MAX ? (int)text.length : NAME_SHOWN_MAX;
		result = bt_error_set(reader->err, BERTH_ERR_INVALID, "yaml: cannot decode %s `%.*s` as a %s",
			tag_name(found), shown, text.data, tag_name(tag));
	}
	bt_yaml_scalar_finish(&scalar);
	return result;
}

static int append_scalar(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	struct bt_json_writer writer;
	struct bt_str text = {(const char *)event->data.scalar.value, (uint32_t)event->data.scalar.length};
	enum tag tag = tag_of(event);
	bt_json_writer_init(&writer, reader->out, 0);
	writer.escape_html = false;
	if (tag == TAG_BINARY) {
		return append_binary(reader, &writer, text);
	}
	if (tag == TAG_STR) {
		bt_json_write_str(&writer, text);
		return 0;
	}
	return append_typed(reader, &writer, text, tag);
}

/* --- mappings --- */

static int append_node(struct bt_yaml_reader *reader, const yaml_event_t *event);

static int next_event(struct bt_yaml_reader *reader, yaml_event_t *out_event)
{
	if (yaml_parser_parse(&reader->parser, out_event) == 0) {
		return parser_failed(reader);
	}
	return 0;
}

/** Read the next event and the node that it starts. */
static int append_next_node(struct bt_yaml_reader *reader)
{
	yaml_event_t event;
	int result = next_event(reader, &event);
	if (result == 0) {
		result = append_node(reader, &event);
		yaml_event_delete(&event);
	}
	return result;
}

static bool is_merge(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT && event->data.scalar.plain_implicit &&
		event->data.scalar.tag == NULL && event->data.scalar.length == 2 &&
		memcmp(event->data.scalar.value, "<<", 2) == 0;
}

/** The node from start on was read as a value; as the name of a member it must be a string. */
static int make_name(struct bt_yaml_reader *reader, size_t start, uint32_t line)
{
	struct bt_strbuf *out = reader->out;
	switch (out->data[start]) {
	case '"':
		return 0;
	case '{':
	case '[':
		return bt_error_set(reader->err, BERTH_ERR_INVALID, "yaml: line %u: invalid map key", line);
	case 'n':
		return bt_error_set(reader->err, BERTH_ERR_INVALID, "yaml: line %u: unsupported map key: null", line);
	default:
		break;
	}
	bt_strbuf_append(out, "\"\"", 2);
	memmove(out->data + start + 1, out->data + start, out->length - 2 - start);
	out->data[start] = '"';
	return 0;
}

static uint32_t find_key(const struct bt_yaml_reader *reader, uint64_t hash, const char *name, size_t length,
	uint32_t first_key)
{
	const struct bt_map *map = &reader->key_map;
	for (uint32_t it = bt_map_first(map, hash); it != BT_MAP_NONE; it = bt_map_next(map, hash, it)) {
		uint32_t index = bt_map_value(map, it);
		const struct key *key = &reader->keys.items[index];
		if (index >= first_key && key->name_length == length &&
			memcmp(reader->out->data + key->name_start, name, length) == 0) {
			return index;
		}
	}
	return BT_MAP_NONE;
}

/** name is JSON text; shown as Go's %#v shows the key. */
static void append_key_shown(struct bt_strbuf *message, const char *name, size_t length)
{
	size_t shown = length <= NAME_SHOWN_MAX ? length : NAME_SHOWN_MAX;
	bt_strbuf_append(message, name, shown);
	if (shown < length) {
		bt_strbuf_append_c(message, "...\"");
	}
}

/** The key was there before. Either an error or a note. */
static int repeated_key(struct bt_yaml_reader *reader, const struct key *key, uint32_t earlier_line,
	uint32_t value_line)
{
	const char *name = reader->out->data + key->name_start;
	if (reader->duplicates == NULL) {
		struct bt_strbuf shown = {0};
		append_key_shown(&shown, name, key->name_length);
		int result = bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: line %u: mapping key %s already defined at line %u", key->line, bt_strbuf_c(&shown),
			earlier_line);
		bt_strbuf_finish(&shown);
		return result;
	}
	if (reader->duplicates->length < DUPLICATES_BYTES_MAX) {
		bt_strbuf_printf(reader->duplicates, "\n  line %u: key ", value_line);
		append_key_shown(reader->duplicates, name, key->name_length);
		bt_strbuf_append_c(reader->duplicates, " already set in map");
	}
	return 0;
}

/** What is special about the mapping that is being read. */
struct mapping {
	uint64_t seed; /* of key hashes: tells apart equal keys of different mappings */
	uint32_t first_key;
	bool repeats;            /* a key came more than once */
	struct bt_strbuf merged; /* values of "<<", one JSON text after the other, separated by commas */
};

/** Note the key whose name was just appended; sets *out_earlier_line to 0 unless it was there before. */
static struct key add_key(struct bt_yaml_reader *reader, const struct mapping *mapping, size_t name_start, uint32_t line,
	uint32_t *out_earlier_line)
{
	const char *name = reader->out->data + name_start;
	struct key key = {.name_start = name_start, .name_length = reader->out->length - name_start, .line = line};
	key.hash = bt_hash_bytes(name, key.name_length, mapping->seed);
	uint32_t earlier = find_key(reader, key.hash, name, key.name_length, mapping->first_key);
	*out_earlier_line = 0;
	if (earlier != BT_MAP_NONE) {
		*out_earlier_line = reader->keys.items[earlier].line;
		return key;
	}
	uint32_t index = reader->keys.count;
	bt_vec_push(&reader->keys, key);
	bt_map_insert(&reader->key_map, key.hash, index);
	return key;
}

static int append_member(struct bt_yaml_reader *reader, struct mapping *mapping, const yaml_event_t *name_event)
{
	size_t name_start = reader->out->length;
	uint32_t line = event_line(name_event);
	int result = append_node(reader, name_event);
	if (result == 0) {
		result = make_name(reader, name_start, line);
	}
	if (result != 0) {
		return result;
	}
	uint32_t earlier_line;
	struct key key = add_key(reader, mapping, name_start, line, &earlier_line);
	yaml_event_t event;
	result = next_event(reader, &event);
	if (result != 0) {
		return result;
	}
	if (earlier_line != 0) {
		mapping->repeats = true;
		result = repeated_key(reader, &key, earlier_line, event_line(&event));
	}
	if (result == 0) {
		bt_strbuf_append_char(reader->out, ':');
		result = append_node(reader, &event);
	}
	yaml_event_delete(&event);
	return result;
}

/** The value of "<<": kept aside until the mapping's own keys are known. */
static int append_merge(struct bt_yaml_reader *reader, struct mapping *mapping, uint32_t line)
{
	size_t start = reader->out->length;
	int result = append_next_node(reader);
	if (result != 0) {
		return result;
	}
	struct bt_str value = {reader->out->data + start, (uint32_t)(reader->out->length - start)};
	if (!bt_yaml_is_merge_value(value)) {
		return bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: line %u: map merge requires map or sequence of maps as the value", line);
	}
	reader->copied_bytes += value.length;
	if (mapping->merged.length != 0) {
		bt_strbuf_append_char(&mapping->merged, ',');
	}
	bt_strbuf_append_str(&mapping->merged, value);
	reader->out->length = start;
	return 0;
}

static int append_members(struct bt_yaml_reader *reader, struct mapping *mapping)
{
	bool comma = false;
	for (;;) {
		yaml_event_t event;
		int result = next_event(reader, &event);
		if (result != 0) {
			return result;
		}
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		if (is_merge(&event)) {
			result = append_merge(reader, mapping, event_line(&event));
		} else {
			if (comma) {
				bt_strbuf_append_char(reader->out, ',');
			}
			comma = true;
			result = append_member(reader, mapping, &event);
		}
		yaml_event_delete(&event);
		if (result == 0) {
			result = check_budget(reader);
		}
		if (result != 0) {
			return result;
		}
	}
}

static int append_mapping(struct bt_yaml_reader *reader)
{
	struct mapping mapping = {.seed = ++reader->mapping_serial, .first_key = reader->keys.count};
	size_t start = reader->out->length;
	bt_strbuf_append_char(reader->out, '{');
	int result = append_members(reader, &mapping);
	bt_strbuf_append_char(reader->out, '}');
	if (result == 0 && (mapping.repeats || mapping.merged.length != 0)) {
		bt_yaml_rewrite_mapping(reader->out, start, bt_strbuf_str(&mapping.merged));
		reader->copied_bytes += reader->out->length - start;
		result = check_budget(reader);
	}
	while (reader->keys.count > mapping.first_key) {
		uint32_t index = --reader->keys.count;
		(void)bt_map_remove(&reader->key_map, reader->keys.items[index].hash, index); /* all were inserted */
	}
	bt_strbuf_finish(&mapping.merged);
	return result;
}

static int append_sequence(struct bt_yaml_reader *reader)
{
	bool comma = false;
	bt_strbuf_append_char(reader->out, '[');
	for (;;) {
		yaml_event_t event;
		int result = next_event(reader, &event);
		if (result != 0) {
			return result;
		}
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			bt_strbuf_append_char(reader->out, ']');
			return 0;
		}
		if (comma) {
			bt_strbuf_append_char(reader->out, ',');
		}
		comma = true;
		result = append_node(reader, &event);
		yaml_event_delete(&event);
		if (result == 0) {
			result = check_budget(reader);
		}
		if (result != 0) {
			return result;
		}
	}
}

static const char *anchor_of(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)event->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)event->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return (const char *)event->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static int append_collection(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	if (reader->depth == BT_YAML_DEPTH_MAX) {
		return too_deep(reader, event);
	}
	reader->depth++;
	reader->depth_peak = reader->depth > reader->depth_peak ? reader->depth : reader->depth_peak;
	int result = event->type == YAML_MAPPING_START_EVENT ? append_mapping(reader) : append_sequence(reader);
	reader->depth--;
	return result;
}

static int append_plain_node(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return append_alias(reader, event);
	case YAML_SCALAR_EVENT:
		return append_scalar(reader, event);
	default:
		return append_collection(reader, event);
	}
}

/** Append the node that event starts. Recursion ends at BT_YAML_DEPTH_MAX. */
static int append_node(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	const char *anchor = anchor_of(event);
	if (anchor == NULL) {
		return append_plain_node(reader, event);
	}
	size_t start = reader->out->length;
	uint32_t outer_peak = reader->depth_peak;
	uint32_t index = open_anchor(reader, anchor);
	reader->depth_peak = reader->depth;
	int result = append_plain_node(reader, event);
	if (result == 0) {
		close_anchor(reader, index, start);
		result = check_budget(reader);
	}
	reader->depth_peak = outer_peak > reader->depth_peak ? outer_peak : reader->depth_peak;
	return result;
}

/* --- documents --- */

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
		if ((size_t)(end - p) >= sizeof(mark) - 1 && memcmp(p, mark, sizeof(mark) - 1) == 0) {
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

/** Up to the start of the next document; *out_line 0 at the end of the stream. */
static int find_document(struct bt_yaml_reader *reader, uint32_t *out_line)
{
	for (;;) {
		yaml_event_t event;
		int result = next_event(reader, &event);
		if (result != 0) {
			return result;
		}
		yaml_event_type_t type = event.type;
		uint32_t line = event_line(&event);
		yaml_event_delete(&event);
		if (type == YAML_DOCUMENT_START_EVENT) {
			*out_line = line;
			return 0;
		}
		if (type == YAML_STREAM_END_EVENT || type == YAML_NO_EVENT) {
			*out_line = 0;
			return 0;
		}
	}
}

static int read_document(struct bt_yaml_reader *reader, uint32_t *out_line)
{
	int result = 0;
	if (!reader->tag_directives_checked) {
		reader->tag_directives_checked = true;
		result = check_tag_directives(reader);
	}
	if (result == 0) {
		result = find_document(reader, out_line);
	}
	if (result == 0 && *out_line != 0) {
		result = append_next_node(reader);
	}
	if (result == 0 && *out_line != 0) {
		result = check_budget(reader);
	}
	return result;
}

int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out, bool *out_more, uint32_t *out_line,
	struct berth_error *err)
{
	uint32_t line = 0;
	int result = 0;
	if (!reader->finished) {
		reader->out = out;
		reader->out_start = out->length;
		reader->err = err;
		result = read_document(reader, &line);
		reader->finished = result != 0 || line == 0;
		reset_document(reader);
		if (result != 0 && out->data != NULL) {
			out->length = reader->out_start;
			out->data[out->length] = '\0';
		}
		reader->out = NULL;
		reader->err = NULL;
	}
	if (result == 0) {
		*out_more = line != 0;
		if (out_line != NULL && line != 0) {
			*out_line = line;
		}
	}
	return result;
}
