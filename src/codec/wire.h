/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CODEC_WIRE_H
#define BT_CODEC_WIRE_H
/** Protobuf wire format: reads and writes tags and values. */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

enum bt_wire_type {
	BT_WIRE_VARINT = 0,
	BT_WIRE_FIXED64 = 1,
	BT_WIRE_BYTES = 2,
	BT_WIRE_GROUP = 3,
	BT_WIRE_GROUP_END = 4,
	BT_WIRE_FIXED32 = 5,
};

/** Nesting limit of groups, which Kubernetes does not use. */
#define BT_WIRE_GROUP_DEPTH_MAX 500

/** Borrowed bytes; reading advances `at`. */
struct bt_wire {
	const unsigned char *at;
	const unsigned char *end;
};

static inline struct bt_wire bt_wire_from(struct bt_str bytes)
{
	const unsigned char *at = (const unsigned char *)(bytes.data != NULL ? bytes.data : "");

	return (struct bt_wire){at, at + bytes.length};
}

/** The bt_wire_read functions fail with BERTH_ERR_SYNTAX if the bytes are malformed. */
BT_MUST_USE int bt_wire_read_varint(
	struct bt_wire *wire, uint64_t *out_value, struct berth_error *err);
BT_MUST_USE int bt_wire_read_tag(
	struct bt_wire *wire, uint32_t *out_number, uint32_t *out_type, struct berth_error *err);
/** Reads a length and that many bytes. */
BT_MUST_USE int bt_wire_read_bytes(
	struct bt_wire *wire, struct bt_str *out_bytes, struct berth_error *err);
/**
 * Skips the value after a tag; number and type are the tag's. A value may be a whole group. Fails
 * with BERTH_ERR_SYNTAX if the value is malformed, and with BERTH_ERR_TOO_LARGE if groups nest
 * deeper than BT_WIRE_GROUP_DEPTH_MAX.
 */
BT_MUST_USE int bt_wire_skip(
	struct bt_wire *wire, uint32_t number, uint32_t type, struct berth_error *err);

/**
 * Fields 1 to 3 of a small message. The index is the field number; the last occurrence of a field
 * counts.
 */
struct bt_wire_fields {
	uint64_t numbers[4]; /* varints; 0 if the field is absent */
	struct bt_str texts[4];
};

/**
 * Reads fields 1 to 3 and skips other fields. After an error *out has the fields before the error.
 */
int bt_wire_read_fields(struct bt_str bytes, struct bt_wire_fields *out, struct berth_error *err);

void bt_wire_write_varint(struct bt_strbuf *out, uint64_t value);
void bt_wire_write_bytes(struct bt_strbuf *out, uint32_t number, struct bt_str bytes);
void bt_wire_write_number(struct bt_strbuf *out, uint32_t number, uint64_t value);
/**
 * Starts a value whose length is not known yet: bytes appended between open and close are its
 * content. Returns the argument for bt_wire_close.
 */
size_t bt_wire_open(struct bt_strbuf *out, uint32_t number);
void bt_wire_close(struct bt_strbuf *out, size_t opened);
#endif
