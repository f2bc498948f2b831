/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_scan.h"
#include "codec/yaml_state.h"

static int append_node(struct bt_yaml_reader *reader, const yaml_event_t *event);
static int append_mapping(struct bt_yaml_reader *reader);

static int too_deep(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE,
		"yaml: line %u: exceeded max depth of %d", bt_yaml_event_line(event),
		BT_YAML_DEPTH_MAX);
}

static int name_length(const char *name)
{
	size_t length = strlen(name);
	return (int)BT_MIN(length, BT_YAML_SHOWN_MAX);
}

static struct bt_yaml_anchor *find_anchor(struct bt_yaml_reader *reader, const char *name)
{
	uint64_t hash = bt_hash_bytes(name, strlen(name), 0);
	uint32_t newest = BT_MAP_NONE;
	const struct bt_map *map = &reader->anchor_map;
	BT_MAP_EACH (map, hash, index) {
		if (strcmp(reader->anchors.items[index].name, name) == 0) {
			newest = index;
		}
	}
	return newest == BT_MAP_NONE ? NULL : &reader->anchors.items[newest];
}

static int append_alias(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct bt_yaml_anchor *anchor = find_anchor(reader, name);
	if (anchor == NULL) {
		return bt_error_set(reader->err, BERTH_ERR_SYNTAX,
			"yaml: unknown anchor '%.*s' referenced", name_length(name), name);
	}
	if (anchor->open) {
		return bt_error_set(reader->err, BERTH_ERR_SYNTAX,
			"yaml: anchor '%.*s' value contains itself", name_length(name), name);
	}
	uint32_t depth = reader->depth + anchor->height;
	if (depth > BT_YAML_DEPTH_MAX) {
		return too_deep(reader, event);
	}
	reader->depth_peak = BT_MAX(depth, reader->depth_peak);
	reader->copied_bytes += anchor->length;
	bt_strbuf_append(reader->out, reader->anchored.data + anchor->start, anchor->length);
	return bt_yaml_check_budget(reader);
}

static int append_sequence(struct bt_yaml_reader *reader)
{
	bool comma = false;
	bt_strbuf_append_char(reader->out, '[');
	for (;;) {
		yaml_event_t event;
		int result = bt_yaml_next_event(reader, &event);
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
			result = bt_yaml_check_budget(reader);
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

static int append_plain_node(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return append_alias(reader, event);
	case YAML_SCALAR_EVENT:
		return bt_yaml_append_scalar(reader, event);
	default: {
		if (reader->depth == BT_YAML_DEPTH_MAX) {
			return too_deep(reader, event);
		}
		reader->depth++;
		reader->depth_peak = BT_MAX(reader->depth, reader->depth_peak);
		int result = event->type == YAML_MAPPING_START_EVENT ? append_mapping(reader)
								     : append_sequence(reader);
		reader->depth--;
		return result;
	}
	}
}

/**
 * Appends, as JSON, the node whose first event is `event`; reads the further events of the node.
 * Recursive, up to BT_YAML_DEPTH_MAX levels.
 */
static int append_node(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	const char *name = anchor_of(event);
	if (name == NULL) {
		return append_plain_node(reader, event);
	}
	/* later aliases do not find an earlier anchor of the same name any more */
	const struct bt_yaml_anchor *hidden = find_anchor(reader, name);
	if (hidden != NULL) {
		(void)bt_map_remove(&reader->anchor_map, hidden->hash,
			(uint32_t)(hidden - reader->anchors.items)); /* found above */
	}
	size_t length = strlen(name);
	struct bt_yaml_anchor anchor = {.hash = bt_hash_bytes(name, length, 0),
		.name = bt_strndup(name, length),
		.open = true};
	uint32_t index = reader->anchors.count;
	bt_vec_push(&reader->anchors, anchor);
	bt_map_insert(&reader->anchor_map, anchor.hash, index);
	size_t start = reader->out->length;
	uint32_t outer_peak = reader->depth_peak;
	reader->depth_peak = reader->depth;
	int result = append_plain_node(reader, event);
	if (result == 0) {
		/* copy the text, because rewrite_mapping may still rearrange the output */
		struct bt_yaml_anchor *opened = &reader->anchors.items[index];
		opened->open = false;
		opened->start = reader->anchored.length;
		opened->length = reader->out->length - start;
		opened->height = reader->depth_peak - reader->depth;
		reader->copied_bytes += opened->length;
		bt_strbuf_append(&reader->anchored, reader->out->data + start, opened->length);
		result = bt_yaml_check_budget(reader);
	}
	reader->depth_peak = BT_MAX(outer_peak, reader->depth_peak);
	return result;
}

int bt_yaml_append_next_node(struct bt_yaml_reader *reader)
{
	yaml_event_t event;
	int result = bt_yaml_next_event(reader, &event);
	if (result == 0) {
		result = append_node(reader, &event);
		yaml_event_delete(&event);
	}
	return result;
}

/** If `duplicates` has this many bytes, further notes about repeated keys are dropped. */
#define DUPLICATES_BYTES_MAX 8192
/** Only the first keys of a mapping are searched linearly; further keys are in key_map. */
#define KEYS_COMPARED 16

struct member {
	uint64_t hash;
	struct bt_str name; /* source text without quotes; equal names have equal source text */
	struct bt_str value;
};

struct members {
	BT_VEC(struct member) list;
	struct bt_map map;
};

/**
 * Adds the members of the object at the reader's position. If a name is in members already, its
 * value is replaced if `replace` is set, and kept otherwise. The text was written by the YAML
 * reader, so it is well-formed and not too deep.
 */
static void add_object(struct members *members, struct bt_json_reader *reader, bool replace)
{
	bool first = true;
	bool more;
	int result = bt_json_enter_object(reader, NULL);
	BT_ASSERT(result == 0);
	for (;;) {
		struct bt_json_raw_string name;
		struct member member;
		result = bt_json_next_raw_member(reader, &first, &more, &name, NULL);
		BT_ASSERT(result == 0);
		if (!more) {
			return;
		}
		result = bt_json_skip(reader, &member.value, NULL);
		BT_ASSERT(result == 0);
		member.name = (struct bt_str){name.data, (uint32_t)name.length};
		member.hash = bt_hash_bytes(name.data, name.length, 0);

		struct member *earlier = NULL;
		const struct bt_map *map = &members->map;
		BT_MAP_EACH (map, member.hash, at) {
			if (bt_str_equal(members->list.items[at].name, member.name)) {
				earlier = &members->list.items[at];
			}
		}
		if (earlier == NULL) {
			uint32_t index = members->list.count;
			bt_vec_push(&members->list, member);
			bt_map_insert(&members->map, member.hash, index);
		} else if (replace) {
			earlier->value = member.value;
		}
	}
}

/**
 * Rewrites the JSON object that begins at `start` and ends at the end of out. If a name repeats,
 * its last value stays. merged has the values of "<<" in order, separated by commas; "" if there
 * are none. Members of the merged objects are added if the object lacks their name. If several
 * merged objects have the same name, the value of the first of them is added.
 */
static void rewrite_mapping(struct bt_strbuf *out, size_t start, struct bt_str merged)
{
	struct members members = {0};
	struct bt_json_reader reader;
	struct bt_strbuf text = {0};
	bt_json_reader_init(
		&reader, (struct bt_str){out->data + start, (uint32_t)(out->length - start)});
	add_object(&members, &reader, true);
	bt_json_reader_init(&reader, merged);
	while (reader.position < reader.end) {
		if (*reader.position == ',') {
			reader.position++;
		}
		if (*reader.position == '{') {
			add_object(&members, &reader, false);
			continue;
		}
		int result;
		BT_JSON_EACH_ELEMENT (&reader, result, NULL) {
			add_object(&members, &reader, false);
		}
		BT_ASSERT(result == 0);
	}
	for (uint32_t i = 0; i < members.list.count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "{\"" : ",\"");
		bt_strbuf_append_str(&text, members.list.items[i].name);
		bt_strbuf_append_c(&text, "\":");
		bt_strbuf_append_str(&text, members.list.items[i].value);
	}
	bt_strbuf_append_c(&text, members.list.count == 0 ? "{}" : "}");
	out->length = start;
	bt_strbuf_append_str(out, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_map_finish(&members.map);
	bt_vec_finish(&members.list);
}

static bool is_key(
	const struct bt_yaml_reader *reader, uint32_t index, const struct bt_yaml_key *wanted)
{
	const struct bt_yaml_key *key = &reader->keys.items[index];
	const char *text = reader->out->data;
	return key->hash == wanted->hash && key->name_length == wanted->name_length &&
		memcmp(text + key->name_start, text + wanted->name_start, key->name_length) == 0;
}

/** Appends a key to a message, shortened to BT_YAML_SHOWN_MAX. name is the key's JSON text. */
static void append_key_shown(struct bt_strbuf *message, const char *name, size_t length)
{
	size_t shown = BT_MIN(length, BT_YAML_SHOWN_MAX);
	bt_strbuf_append(message, name, shown);
	if (shown < length) {
		bt_strbuf_append_c(message, "...\"");
	}
}

/**
 * Handles a repeated key: fails if `duplicates` is NULL, otherwise appends a note to `duplicates`.
 * earlier_line is the line of the earlier key, value_line the line of the repeated key's value.
 */
static int repeated_key(struct bt_yaml_reader *reader, const struct bt_yaml_key *key,
	uint32_t earlier_line, uint32_t value_line)
{
	const char *name = reader->out->data + key->name_start;
	if (reader->duplicates == NULL) {
		struct bt_strbuf shown = {0};
		append_key_shown(&shown, name, key->name_length);
		int result = bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: line %u: mapping key %s already defined at line %u", key->line,
			bt_strbuf_c(&shown), earlier_line);
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

/** State of the mapping being read. */
struct mapping {
	uint64_t seed; /* seed of key hashes, differs between mappings */
	uint32_t first_key;
	bool repeats;            /* a key occurred more than once */
	struct bt_strbuf merged; /* values of "<<" as JSON text, separated by commas */
};

/**
 * Returns the key whose name was just appended, and records the key in reader->keys unless the name
 * repeats. *out_earlier_line is the line of the recorded key with the same name, or 0 if there is
 * none.
 */
static struct bt_yaml_key add_key(struct bt_yaml_reader *reader, const struct mapping *mapping,
	size_t name_start, uint32_t line, uint32_t *out_earlier_line)
{
	struct bt_yaml_key key = {.name_start = name_start,
		.name_length = reader->out->length - name_start,
		.line = line};
	key.hash = bt_hash_bytes(reader->out->data + name_start, key.name_length, mapping->seed);
	uint32_t index = reader->keys.count;
	uint32_t compared = BT_MIN(index - mapping->first_key, KEYS_COMPARED);
	for (uint32_t i = mapping->first_key; i < mapping->first_key + compared; i++) {
		if (is_key(reader, i, &key)) {
			*out_earlier_line = reader->keys.items[i].line;
			return key;
		}
	}
	if (index - mapping->first_key > KEYS_COMPARED) {
		const struct bt_map *map = &reader->key_map;
		BT_MAP_EACH (map, key.hash, i) {
			if (i >= mapping->first_key && is_key(reader, i, &key)) {
				*out_earlier_line = reader->keys.items[i].line;
				return key;
			}
		}
	}
	*out_earlier_line = 0;
	bt_vec_push(&reader->keys, key);
	if (index - mapping->first_key >= KEYS_COMPARED) {
		bt_map_insert(&reader->key_map, key.hash, index);
	}
	return key;
}

static int append_member(
	struct bt_yaml_reader *reader, struct mapping *mapping, const yaml_event_t *name_event)
{
	struct bt_strbuf *out = reader->out;
	size_t name_start = out->length;
	uint32_t line = bt_yaml_event_line(name_event);
	int result = append_node(reader, name_event);
	if (result != 0) {
		return result;
	}
	/* a bool or number becomes a string */
	char first = out->data[name_start];
	if (first == '{' || first == '[') {
		return bt_error_set(
			reader->err, BERTH_ERR_INVALID, "yaml: line %u: invalid map key", line);
	}
	if (first == 'n') {
		return bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: line %u: unsupported map key: null", line);
	}
	if (first != '"') {
		bt_strbuf_append(out, "\"\"", 2);
		memmove(out->data + name_start + 1, out->data + name_start,
			out->length - 2 - name_start);
		out->data[name_start] = '"';
	}
	uint32_t earlier_line;
	struct bt_yaml_key key = add_key(reader, mapping, name_start, line, &earlier_line);
	yaml_event_t event;
	result = bt_yaml_next_event(reader, &event);
	if (result != 0) {
		return result;
	}
	if (earlier_line != 0) {
		mapping->repeats = true;
		result = repeated_key(reader, &key, earlier_line, bt_yaml_event_line(&event));
	}
	if (result == 0) {
		bt_strbuf_append_char(out, ':');
		result = append_node(reader, &event);
	}
	yaml_event_delete(&event);
	return result;
}

/** Reads the value of "<<" and keeps it until the mapping's other keys are known. */
static int append_merge(struct bt_yaml_reader *reader, struct mapping *mapping, uint32_t line)
{
	size_t start = reader->out->length;
	int result = bt_yaml_append_next_node(reader);
	if (result != 0) {
		return result;
	}
	struct bt_str value = {reader->out->data + start, (uint32_t)(reader->out->length - start)};
	bool is_merge = value.data[0] == '{' || value.data[0] == '[';
	if (value.data[0] == '[') {
		struct bt_json_reader elements;
		bt_json_reader_init(&elements, value);
		BT_JSON_EACH_ELEMENT (&elements, result, NULL) {
			is_merge = is_merge && *elements.position == '{';
			result = bt_json_skip(&elements, NULL, NULL);
		}
		BT_ASSERT(result == 0);
	}
	if (!is_merge) {
		return bt_error_set(reader->err, BERTH_ERR_INVALID,
			"yaml: line %u: map merge requires map or sequence of maps as the value",
			line);
	}
	reader->copied_bytes += value.length;
	if (mapping->merged.length != 0) {
		bt_strbuf_append_char(&mapping->merged, ',');
	}
	bt_strbuf_append_str(&mapping->merged, value);
	reader->out->length = start;
	return 0;
}

static int append_mapping(struct bt_yaml_reader *reader)
{
	struct mapping mapping = {
		.seed = ++reader->mapping_serial, .first_key = reader->keys.count};
	size_t start = reader->out->length;
	bt_strbuf_append_char(reader->out, '{');
	bool comma = false;
	int result;
	do {
		yaml_event_t event;
		result = bt_yaml_next_event(reader, &event);
		if (result != 0) {
			break;
		}
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			break;
		}
		if (event.type == YAML_SCALAR_EVENT && event.data.scalar.plain_implicit &&
			event.data.scalar.tag == NULL && event.data.scalar.length == 2 &&
			memcmp(event.data.scalar.value, "<<", 2) == 0) {
			result = append_merge(reader, &mapping, bt_yaml_event_line(&event));
		} else {
			if (comma) {
				bt_strbuf_append_char(reader->out, ',');
			}
			comma = true;
			result = append_member(reader, &mapping, &event);
		}
		yaml_event_delete(&event);
		if (result == 0) {
			result = bt_yaml_check_budget(reader);
		}
	} while (result == 0);
	bt_strbuf_append_char(reader->out, '}');
	if (result == 0 && (mapping.repeats || mapping.merged.length != 0)) {
		rewrite_mapping(reader->out, start, bt_strbuf_str(&mapping.merged));
		reader->copied_bytes += reader->out->length - start;
		result = bt_yaml_check_budget(reader);
	}
	while (reader->keys.count - mapping.first_key > KEYS_COMPARED) {
		uint32_t index = --reader->keys.count;
		(void)bt_map_remove(&reader->key_map, reader->keys.items[index].hash,
			index); /* inserted by add_key */
	}
	reader->keys.count = mapping.first_key;
	bt_strbuf_finish(&mapping.merged);
	return result;
}
