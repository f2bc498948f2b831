/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_H
#define BT_CODEC_YAML_H
/**
 * YAML to JSON text, document by document, as Kubernetes clients read manifests: YAML 1.1 scalars
 * (yes/no/on/off, 0x.., 0o../0.., sexagesimal stays text, .inf/.nan are errors), merge keys,
 * anchors and aliases within an expansion budget, duplicate mapping keys are errors. Only this code
 * uses libyaml; it is not part of the engine library.
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
	 * Not NULL: repeated mapping keys are allowed; the last value wins, and "\n  line N: key
	 * \"K\" already set in map" is appended here (borrowed until destroy), with the line of the
	 * repeated key's value. A few KB at most.
	 */
	struct bt_strbuf *duplicates;
};

/** text is borrowed until destroy. limits may be NULL. */
struct bt_yaml_reader *bt_yaml_reader_create(
	struct bt_str text, const struct bt_yaml_limits *limits);
void bt_yaml_reader_destroy(struct bt_yaml_reader *reader);

/**
 * Appends the next document as JSON text to out. *out_more false: there is no further document (out
 * is unchanged). *out_line (may be NULL) is the 1-based line where the document starts. An empty
 * document yields "null". After an error the reader is finished and out is unchanged. Messages are
 * go-yaml's, "yaml: line N: <problem>": BERTH_ERR_SYNTAX, BERTH_ERR_INVALID (well-formed, but not
 * representable as JSON; repeated keys), BERTH_ERR_TOO_LARGE for depth and expansion budget.
 */
BT_MUST_USE int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out,
	bool *out_more, uint32_t *out_line, struct berth_error *err);

/**
 * Converts JSON text to YAML in go-yaml's layout, for output: block style, two blanks, lists not
 * indented below their key, keys in input order, strings quoted only where YAML 1.1 requires it.
 * BERTH_ERR_TOO_LARGE beyond BT_YAML_DEPTH_MAX levels.
 */
BT_MUST_USE int bt_yaml_from_json(
	struct bt_str json, struct bt_strbuf *out, struct berth_error *err);
#endif
