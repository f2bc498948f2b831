/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_H
#define BT_CODEC_YAML_H
/**
 * Converts YAML to JSON text, document by document, as Kubernetes clients read manifests. Scalars
 * are YAML 1.1: yes, no, on and off are bools; 0x, 0o and 0 begin hexadecimal and octal integers;
 * base 60 numbers stay text; .inf and .nan are errors. Merge keys are applied. Anchors and aliases
 * are expanded up to an output limit. Repeated mapping keys are errors by default. Only this code
 * uses libyaml; this code is not part of the engine library. A build without libyaml has
 * yaml_none.c instead, which reads and writes only the YAML that is JSON.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

/** Nesting limit: libyaml's scanner takes quadratic time in flow depth. */
#define BT_YAML_DEPTH_MAX 100

struct bt_yaml_reader; /* reads one input stream */

struct bt_yaml_limits {
	uint64_t output_bytes_max; /* JSON text of one document, alias expansion included; 0 =
	                              default (see yaml_reader.c) */
	/**
	 * NULL: a repeated mapping key is an error. Otherwise the last value of a repeated key
	 * wins, and "\n  line N: key \"K\" already set in map" is appended to this buffer, where N
	 * is the line of the repeated key's value. At most a few KB of notes are appended. The
	 * buffer is borrowed until destroy.
	 */
	struct bt_strbuf *duplicates;
	bool words_are_text; /* as in YAML 1.2: of the bools only true and false, not yes or off */
};

/** Creates a reader of text, which is borrowed until destroy. limits NULL: the defaults. */
struct bt_yaml_reader *bt_yaml_reader_create(
	struct bt_str text, const struct bt_yaml_limits *limits);
void bt_yaml_reader_destroy(struct bt_yaml_reader *reader);

/**
 * Appends the next document as JSON text to out; an empty document is "null". If no document is
 * left, *out_more is false and out is unchanged. After an error out is unchanged, and further calls
 * find no document. Messages are go-yaml's, "yaml: line N: <problem>". BERTH_ERR_SYNTAX: the text
 * is not YAML. BERTH_ERR_INVALID: a key repeats, or JSON cannot represent the document.
 * BERTH_ERR_TOO_LARGE: the document nests too deep, or its output exceeds the limit.
 */
BT_MUST_USE int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out,
	bool *out_more, struct berth_error *err);

/**
 * Appends the first document of the text; out is unchanged if there is none. Documents after the
 * first are not read. limits and errors: as above.
 */
BT_MUST_USE static inline int bt_yaml_first_document(struct bt_str text,
	const struct bt_yaml_limits *limits, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, limits);
	bool more;
	int result = bt_yaml_next_document(reader, out, &more, err);

	bt_yaml_reader_destroy(reader);
	return result;
}

/**
 * Appends JSON text to out as YAML in go-yaml's layout: block style, two blanks per level, lists
 * not indented below their key, keys in input order. Strings are quoted only where YAML 1.1
 * requires quotes. Fails with BERTH_ERR_TOO_LARGE if the value nests deeper than BT_YAML_DEPTH_MAX
 * levels or the output is too large, and with the JSON reader's error if json is malformed.
 */
BT_MUST_USE int bt_yaml_from_json(
	struct bt_str json, struct bt_strbuf *out, struct berth_error *err);
#endif
