/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_YAML_SCALAR_H
#define BT_CODEC_YAML_SCALAR_H
/**
 * Resolves plain YAML 1.1 scalars as go-yaml does. Private to the YAML reader and writer, and their
 * tests.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

enum bt_yaml_kind {
	BT_YAML_NULL,
	BT_YAML_BOOL,
	BT_YAML_INT,     /* sign and magnitude */
	BT_YAML_BIG_INT, /* decimal integer beyond 64 bits, kept as text */
	BT_YAML_FLOAT,   /* may be infinite or not a number */
	BT_YAML_STRING,
	BT_YAML_TIMESTAMP, /* becomes a string in JSON */
};

struct bt_yaml_scalar {
	enum bt_yaml_kind kind;
	bool boolean;
	bool negative;
	uint64_t magnitude;
	double number;
	struct bt_strbuf text; /* BT_YAML_BIG_INT: digits with sign, owned */
};

/** Resolves text as a plain scalar without tag. Finish *out by bt_yaml_scalar_finish. */
void bt_yaml_resolve(struct bt_str text, struct bt_yaml_scalar *out);
void bt_yaml_scalar_finish(struct bt_yaml_scalar *scalar);
/**
 * Returns true for text that YAML 1.1 readers other than go-yaml parse as a base 60 number: "1:30".
 */
bool bt_yaml_is_base60(struct bt_str text);
#endif
