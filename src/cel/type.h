/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_TYPE_H
#define BT_CEL_TYPE_H
/** Static types of the checker. Spec: 12b section 3. */
#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/** Kinds of types and of values. */
enum bt_cel_kind {
	BT_CEL_NULL, /* all-zero memory is the value null */
	BT_CEL_BOOL,
	BT_CEL_INT,
	BT_CEL_UINT,
	BT_CEL_DOUBLE,
	BT_CEL_STRING,
	BT_CEL_BYTES,
	BT_CEL_LIST,
	BT_CEL_MAP,
	BT_CEL_DURATION,
	BT_CEL_TIMESTAMP,
	BT_CEL_TYPE,
	BT_CEL_OPTIONAL,
	BT_CEL_QUANTITY,
	BT_CEL_SEMVER,
	BT_CEL_URL,
	BT_CEL_FORMAT,
	BT_CEL_IP,
	BT_CEL_CIDR,
	BT_CEL_DEVICE,
	BT_CEL_ERROR,
	/* Kinds of types only. */
	BT_CEL_ANY,
	BT_CEL_DYN,
	BT_CEL_PARAMETER, /* of an overload: A, B; bound anew for each call */
	BT_CEL_OBJECT,    /* named fields; the values of such a type have kind BT_CEL_MAP */
	/* Types and values of the authorization functions (spec 12b section 9.11). */
	BT_CEL_AUTHORIZER,
	BT_CEL_PATH_CHECK,
	BT_CEL_GROUP_CHECK,
	BT_CEL_RESOURCE_CHECK,
	BT_CEL_DECISION,
	BT_CEL_KIND__COUNT,
};

/** Spec: 12b section 3. */
struct bt_cel_kind_info {
	const char *name;    /* name at run time, and in messages about the type of the result */
	const char *checked; /* name in other messages of the checker; NULL: same as name */
	const char *word;    /* name in signatures (functions.def); NULL: none */
	const char *go_type; /* Go type in messages about ranges of macros; NULL: same as name */
	bool is_identifier;  /* expressions can use the name as a value: type(x) == int */
	bool takes_null;     /* null can be assigned to this type */
};

extern const struct bt_cel_kind_info bt_cel_kinds[BT_CEL_KIND__COUNT];

struct bt_cel_object;

struct bt_cel_type {
	enum bt_cel_kind kind;
	uint32_t parameter; /* BT_CEL_PARAMETER: its number */
	/** number of types that the type consists of, itself included; 0 means 1 */
	uint32_t parts;
	/**
	 * list(T), optional(T), type(T): T is of[0]. map(K, V): K is of[0], V is of[1]. Unused:
	 * NULL.
	 */
	const struct bt_cel_type *of[2];
	const struct bt_cel_object *object; /* of a BT_CEL_OBJECT; else NULL */
	/**
	 * Maximum bytes of a text, or elements of a list or map; 0: unknown. Only for cost
	 * estimates: types that differ only in size_max are the same type.
	 */
	uint64_t size_max;
};

struct bt_cel_variable {
	struct bt_str name;
	const struct bt_cel_type *type;
};

/** Object types are the same if they point to the same struct. */
struct bt_cel_object {
	struct bt_str name; /* for messages */
	const struct bt_cel_variable *fields;
	uint32_t field_count;
	bool has_any_field; /* any field name is valid, of type dyn */
};

/**
 * Types without element types, by kind: bt_cel_types[BT_CEL_STRING]. The entries of list, map, type
 * and optional are used where an expression names one of these types as a value: type(x) == list.
 */
extern const struct bt_cel_type bt_cel_types[BT_CEL_KIND__COUNT];

/**
 * Formats a type as the checker prints it: "map(string, any)", "kubernetes.Quantity"; a type
 * parameter is "_var" and its number.
 */
void bt_cel_type_print(const struct bt_cel_type *type, struct bt_strbuf *out);
/** Formats a type as in messages about the result type: "map(string, google.protobuf.Any)". */
void bt_cel_type_print_output(const struct bt_cel_type *type, struct bt_strbuf *out);
/**
 * Name of a kind in messages at run time: "int", "list", "kubernetes.Quantity",
 * "google.protobuf.Duration".
 */
const char *bt_cel_kind_name(enum bt_cel_kind kind);
#endif
