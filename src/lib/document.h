/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_DOCUMENT_H
#define BT_LIB_DOCUMENT_H
/** Texts of callers that are JSON or YAML. */
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "config/load.h"

/** The first byte that is not white space opens a JSON value; a byte order mark does not count. */
bool bt_document_is_json(struct bt_str text);

/** Receives documents as JSON text. A result other than 0 ends the reading with it. */
typedef int (*bt_document_take)(void *context, struct bt_str json, struct berth_error *err);

/** Every document of a JSON or YAML text; JSON is passed on as it is. */
BT_MUST_USE int bt_document_each(
	struct bt_str text, bt_document_take take, void *context, struct berth_error *err);

/**
 * The first document of a YAML text as JSON in out ("null" when there is none). duplicates (may be
 * NULL): see codec/yaml.h.
 */
BT_MUST_USE int bt_document_from_yaml(struct bt_str text, struct bt_strbuf *duplicates,
	struct bt_strbuf *out, struct berth_error *err);

/** A configuration file's text, JSON or YAML. gates NULL: the defaults; flags NULL: none. */
BT_MUST_USE int bt_document_load_config(struct bt_str text, const struct bt_gates *gates,
	const struct bt_config_flags *flags, struct bt_config **out_config,
	struct berth_error *err);
#endif
