/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_VALUE_H
#define BT_CEL_VALUE_H
/**
 * Values of an evaluation: small and copied by assignment; pointers refer to an arena or to memory
 * of the caller. Spec: 12b sections 3 and 8.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/quantity.h"
#include "base/str.h"
#include "cel/type.h"

struct bt_cel_value;

struct bt_cel_list {
	const struct bt_cel_value *items;
	uint32_t count;
};

/** An entry's key is a bool, int, uint or string. */
struct bt_cel_entry;

struct bt_cel_map {
	const struct bt_cel_entry *entries; /* in iteration order */
	uint32_t count;
	/**
	 * The value that indexing, selecting and has() give for a key that the map lacks. NULL: the
	 * map has no such value. The operator `in`, size, == and macros ignore this value. The maps
	 * of device attributes and capacities have such a value, because a domain that the device
	 * lacks must read as an empty map (spec 12b section 4).
	 */
	const struct bt_cel_value *missing;
	/**
	 * Type name of an object that the expression made, such as `Object.spec`. NULL: the value
	 * is a map.
	 */
	const struct bt_str *type_name;
};

/** A parsed version (spec 12b section 9.8); texts point into the source. */
struct bt_cel_semver {
	uint64_t major;
	uint64_t minor;
	uint64_t patch;
	struct bt_str prerelease; /* "1.rc" in "1.2.3-1.rc"; "" for none */
	struct bt_str build;
	struct bt_str text;
};

struct bt_cel_ip {
	uint8_t bytes[16]; /* IPv4: the first four */
	bool is_v6;
};

struct bt_cel_cidr {
	struct bt_cel_ip ip;
	uint8_t prefix_length;
};

/** UTC, within years 1 to 9999. */
struct bt_cel_timestamp {
	int64_t seconds;
	int32_t nanoseconds;
};

struct bt_cel_url; /* defined in cel/function.h */

struct bt_cel_access;

/** Answers the authorization checks of an expression. */
struct bt_cel_authorizer {
	void *context;
	/** Returns whether the access is allowed; *out_reason in the arena. */
	bool (*ask)(void *context, const struct bt_cel_access *access, struct bt_arena *arena,
		struct bt_str *out_reason);
};

/** An authorization check, with the fields that the expression has set, and the decision. */
struct bt_cel_access {
	const struct bt_cel_authorizer *authorizer;
	struct bt_str account_namespace; /* of a ServiceAccount; absent: the request's user */
	struct bt_str account_name;
	bool is_path;
	bool allowed;
	struct bt_str path;
	struct bt_str group;
	struct bt_str resource;
	struct bt_str subresource;
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str verb;
	struct bt_str reason;
};

struct bt_cel_value {
	enum bt_cel_kind kind;
	/** The quantity is a result of add or sub (spec 12b section 8.4). */
	bool is_computed;
	union {
		bool boolean;
		int64_t integer; /* also a duration, in nanoseconds */
		uint64_t uinteger;
		double real;
		struct bt_str text; /* string, bytes; an error's message; a format's name */
		struct bt_cel_list list;
		const struct bt_cel_map *map;
		struct bt_cel_timestamp timestamp;
		const struct bt_cel_type *type;
		const struct bt_cel_value *optional; /* NULL: optional.none() */
		const struct bt_quantity *quantity;
		const struct bt_cel_semver *semver;
		const struct bt_cel_url *url;
		const struct bt_cel_ip *ip;
		const struct bt_cel_cidr *cidr;
		const struct bt_cel_access *access; /* authorizer, check or decision */
		const struct bt_cel_value *fields;  /* BT_CEL_DEVICE: by enum bt_cel_device_field */
		const void *content;                /* any of the pointers above */
	};
};

struct bt_cel_entry {
	struct bt_cel_value key;
	struct bt_cel_value value;
};

static inline struct bt_cel_value bt_cel_bool(bool value)
{
	return (struct bt_cel_value){.kind = BT_CEL_BOOL, .boolean = value};
}

static inline struct bt_cel_value bt_cel_int(int64_t value)
{
	return (struct bt_cel_value){.kind = BT_CEL_INT, .integer = value};
}

static inline struct bt_cel_value bt_cel_uint(uint64_t value)
{
	return (struct bt_cel_value){.kind = BT_CEL_UINT, .uinteger = value};
}

static inline struct bt_cel_value bt_cel_double(double value)
{
	return (struct bt_cel_value){.kind = BT_CEL_DOUBLE, .real = value};
}

static inline struct bt_cel_value bt_cel_string(struct bt_str value)
{
	return (struct bt_cel_value){.kind = BT_CEL_STRING, .text = value};
}

static inline struct bt_cel_value bt_cel_list(const struct bt_cel_value *items, uint64_t count)
{
	return (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, (uint32_t)count}};
}

/** text is borrowed: it must be a literal or live in the arena of the evaluation. */
static inline struct bt_cel_value bt_cel_error(struct bt_str text)
{
	return (struct bt_cel_value){.kind = BT_CEL_ERROR, .text = text};
}

static inline bool bt_cel_is_number(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_INT || value->kind == BT_CEL_UINT ||
		value->kind == BT_CEL_DOUBLE;
}

static inline bool bt_cel_is_error(const struct bt_cel_value *value)
{
	return value->kind == BT_CEL_ERROR;
}
#endif
