/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_STATE_H
#define BT_CODEC_YAML_STATE_H
/** State of the YAML reader, and functions shared by its files. Private to the YAML reader. */
#include <yaml.h>

#include "base/map.h"
#include "base/vec.h"
#include "codec/yaml.h"

/** Maximum bytes of a key, anchor or value in a message. */
#define BT_YAML_SHOWN_MAX 128

/** An anchored node. Its JSON text is in reader->anchored, at start. */
struct bt_yaml_anchor {
	uint64_t hash;
	char *name; /* owned */
	size_t start;
	size_t length;
	uint32_t height; /* nesting levels within the node */
	bool open;       /* the node is still being read */
};

/** A key of an open mapping. Its JSON text is in reader->out, at name_start. */
struct bt_yaml_key {
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
	bool words_are_text;          /* as in struct bt_yaml_limits */
	bool tag_directives_checked;
	struct bt_str text; /* borrowed */

	/* state of the current document */
	struct bt_strbuf *out;
	size_t out_start;
	uint64_t copied_bytes; /* bytes copied for anchors, aliases and merges; not output */
	uint32_t depth;
	uint32_t depth_peak; /* deepest level so far in the innermost open anchored node */
	struct bt_strbuf anchored;
	BT_VEC(struct bt_yaml_anchor) anchors;
	struct bt_map anchor_map;        /* hash of name -> index in anchors */
	BT_VEC(struct bt_yaml_key) keys; /* of all open mappings, outermost first */
	struct bt_map key_map;           /* hash of key -> index in keys */
	uint64_t mapping_serial; /* number of the last mapping; seeds the hashes of its keys */
	struct berth_error *err;
};

/** Fails with BERTH_ERR_TOO_LARGE if output and copied bytes of the document exceed the limit. */
BT_MUST_USE int bt_yaml_check_budget(struct bt_yaml_reader *reader);
/** Reads the next event (release with yaml_event_delete); fails with BERTH_ERR_SYNTAX. */
BT_MUST_USE int bt_yaml_next_event(struct bt_yaml_reader *reader, yaml_event_t *out_event);
/** Returns the 1-based line of the event. */
uint32_t bt_yaml_event_line(const yaml_event_t *event);

/** Reads the next node and appends it as JSON. */
BT_MUST_USE int bt_yaml_append_next_node(struct bt_yaml_reader *reader);
BT_MUST_USE int bt_yaml_append_scalar(struct bt_yaml_reader *reader, const yaml_event_t *event);
#endif
