/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_DOCUMENT_H
#define BT_LIB_DOCUMENT_H
/** Reads configuration files and other documents, which may be JSON or YAML. */
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "config/load.h"

/**
 * Returns true if the text must be read as JSON, which is the case if the first byte after white
 * space is { or [. JSON behind a byte order mark is read as YAML, whose reader skips the mark.
 */
bool bt_document_is_json(struct bt_str text);

/**
 * Appends the first document of a YAML text to out (empty), as JSON; "null" if there is none.
 * duplicates: receives complaints about duplicate keys (codec/yaml.h); may be NULL.
 */
BT_MUST_USE int bt_document_from_yaml(struct bt_str text, struct bt_strbuf *duplicates,
	struct bt_strbuf *out, struct berth_error *err);

/**
 * Loads the text of a configuration file. If gates is NULL, the default gates apply; if flags is
 * NULL, no flag is given.
 */
BT_MUST_USE int bt_document_load_config(struct bt_str text, const struct bt_gates *gates,
	const struct bt_config_flags *flags, struct bt_config **out_config,
	struct berth_error *err);
#endif
