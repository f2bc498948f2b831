/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_H
#define BT_CODEC_YAML_H
/**
 * YAML to JSON text, document by document, as Kubernetes clients read manifests: YAML 1.1 scalars
 * (yes/no/on/off, 0x.., 0o../0.., sexagesimal stays text, .inf/.nan are errors), merge keys,
 * anchors and aliases within an expansion budget, duplicate mapping keys are errors. The only user
 * of libyaml; not part of the engine library.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"

/** Nesting beyond this is refused: libyaml's scanner is quadratic in flow depth. */
#define BT_YAML_DEPTH_MAX 100

struct bt_yaml_reader; /* one input stream */

struct bt_yaml_limits {
	uint64_t output_bytes_max; /* JSON text of one document, alias expansion included; 0 =
	                              default (see yaml_reader.c) */
	/**
	 * Not NULL: a repeated mapping key is no error; the last value wins, and "\n  line N: key
	 * \"K\" already set in map" is appended here (borrowed until destroy), N being the line of
	 * the repeated key's value. At most a few KB.
	 */
	struct bt_strbuf *duplicates;
};

/** text is borrowed until destroy. limits may be NULL. */
struct bt_yaml_reader *bt_yaml_reader_create(
	struct bt_str text, const struct bt_yaml_limits *limits);
void bt_yaml_reader_destroy(struct bt_yaml_reader *reader);

/**
 * Append the next document as JSON text to out. *out_more false: no document was left (out
 * untouched). *out_line (may be NULL) is the 1-based line where the document starts. An empty
 * document yields "null". After an error the reader is finished and out as before. Messages are
 * go-yaml's, "yaml: line N: <problem>": BERTH_ERR_SYNTAX, BERTH_ERR_INVALID (well-formed, but
 * without JSON form; repeated keys), BERTH_ERR_TOO_LARGE for depth and budget.
 */
BT_MUST_USE int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out,
	bool *out_more, uint32_t *out_line, struct berth_error *err);

/**
 * JSON text as YAML in go-yaml's layout: block style, two blanks, lists not indented below their
 * key, keys in input order, strings quoted only where YAML 1.1 needs it. For output.
 * BERTH_ERR_TOO_LARGE beyond BT_YAML_DEPTH_MAX levels.
 */
BT_MUST_USE int bt_yaml_from_json(
	struct bt_str json, struct bt_strbuf *out, struct berth_error *err);
#endif
