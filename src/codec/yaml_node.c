/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml_state.h"

#include "base/alloc.h"

static int too_deep(struct bt_yaml_reader *reader, const yaml_event_t *event)
{
	return bt_error_set(reader->err, BERTH_ERR_TOO_LARGE,
		"yaml: line %u: exceeded max depth of %d", bt_yaml_event_line(event),
		BT_YAML_DEPTH_MAX);
}

static int name_length(const char *name)
{
	size_t length = strlen(name);
	return (int)(length <= BT_YAML_SHOWN_MAX ? length : BT_YAML_SHOWN_MAX);
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

/**
 * Registers the anchor of a node that begins, and returns its index. An earlier anchor of the same
 * name is hidden.
 */
static uint32_t open_anchor(struct bt_yaml_reader *reader, const char *name)
{
	const struct bt_yaml_anchor *hidden = find_anchor(reader, name);
	if (hidden != NULL) {
		uint32_t index = (uint32_t)(hidden - reader->anchors.items);
		(void)bt_map_remove(&reader->anchor_map, hidden->hash, index); /* found above */
	}
	size_t length = strlen(name);
	struct bt_yaml_anchor anchor = {.hash = bt_hash_bytes(name, length, 0),
		.name = bt_strndup(name, length),
		.open = true};
	uint32_t index = reader->anchors.count;
	bt_vec_push(&reader->anchors, anchor);
	bt_map_insert(&reader->anchor_map, anchor.hash, index);
	return index;
}

/** Copies the node's text, because the output may still be rearranged. */
static void close_anchor(struct bt_yaml_reader *reader, uint32_t index, size_t node_start)
{
	struct bt_yaml_anchor *anchor = &reader->anchors.items[index];
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
	reader->depth_peak = depth > reader->depth_peak ? depth : reader->depth_peak;
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
		result = bt_yaml_append_node(reader, &event);
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
		reader->depth_peak =
			reader->depth > reader->depth_peak ? reader->depth : reader->depth_peak;
		int result = event->type == YAML_MAPPING_START_EVENT
			? bt_yaml_append_mapping(reader)
			: append_sequence(reader);
		reader->depth--;
		return result;
	}
	}
}

/** Appends the node that event starts. Recursive, up to BT_YAML_DEPTH_MAX. */
int bt_yaml_append_node(struct bt_yaml_reader *reader, const yaml_event_t *event)
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
		result = bt_yaml_check_budget(reader);
	}
	reader->depth_peak = outer_peak > reader->depth_peak ? outer_peak : reader->depth_peak;
	return result;
}

/** Reads the next event and appends the node that it starts. */
int bt_yaml_append_next_node(struct bt_yaml_reader *reader)
{
	yaml_event_t event;
	int result = bt_yaml_next_event(reader, &event);
	if (result == 0) {
		result = bt_yaml_append_node(reader, &event);
		yaml_event_delete(&event);
	}
	return result;
}
