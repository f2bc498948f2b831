/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_DOCUMENT_H
#define BT_LIB_DOCUMENT_H
/** Reads texts from callers that are JSON or YAML. */
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "config/load.h"

/** Whether the first byte after white space opens a JSON value; a byte order mark is skipped. */
bool bt_document_is_json(struct bt_str text);

/**
 * Receives documents as JSON text. If the result is not 0, reading ends and returns this result.
 */
typedef int (*bt_document_take)(void *context, struct bt_str json, struct berth_error *err);

/** Calls take for every document of a JSON or YAML text; JSON is passed on unchanged. */
BT_MUST_USE int bt_document_each(
	struct bt_str text, bt_document_take take, void *context, struct berth_error *err);

/**
 * Writes the first document of a YAML text to out as JSON ("null" if there is none). duplicates
 * (may be NULL): see codec/yaml.h.
 */
BT_MUST_USE int bt_document_from_yaml(struct bt_str text, struct bt_strbuf *duplicates,
	struct bt_strbuf *out, struct berth_error *err);

/** Loads a configuration file's text, JSON or YAML. gates NULL: the defaults; flags NULL: none. */
BT_MUST_USE int bt_document_load_config(struct bt_str text, const struct bt_gates *gates,
	const struct bt_config_flags *flags, struct bt_config **out_config,
	struct berth_error *err);
#endif
