/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_SCHEMA_H
#define BT_CONFIG_SCHEMA_H
/**
 * Schema of a configuration document: one table per structure, used to decode the structure
 * strictly, to find unknown and repeated fields, and to write the structure as JSON. Made by
 * tools/gen_types.py from config/types and api/types. Spec: 10 sections 4.3, 4.4, 5 and 10.
 */
#include <stddef.h>
#include <stdint.h>

#include "codec/path.h"
#include "config/config.h"

/** Type of a field. JSON null leaves a field of any type unchanged. */
enum bt_config_schema_kind {
	BT_CONFIG_SCHEMA_VERSION, /* apiVersion: not stored */
	BT_CONFIG_SCHEMA_KIND,    /* kind: not stored */
	BT_CONFIG_SCHEMA_STR,     /* struct bt_str */
	BT_CONFIG_SCHEMA_BOOL,
	BT_CONFIG_SCHEMA_I32,
	BT_CONFIG_SCHEMA_I64,
	BT_CONFIG_SCHEMA_F32,
	BT_CONFIG_SCHEMA_DURATION, /* int64_t nanoseconds */
	BT_CONFIG_SCHEMA_BYTES,    /* struct bt_str, base64 in the document */
	BT_CONFIG_SCHEMA_STRUCT,   /* a structure stored in place */
	BT_CONFIG_SCHEMA_POINTER,  /* const struct *; NULL = absent */
	BT_CONFIG_SCHEMA_LIST,     /* BT_LIST(struct) */
	BT_CONFIG_SCHEMA_STR_LIST, /* bt_str_list */
	BT_CONFIG_SCHEMA_STR_MAP,  /* struct bt_str_map */
	BT_CONFIG_SCHEMA_ARGS,     /* struct bt_plugin_args */
};

enum {
	BT_CONFIG_SCHEMA_ALWAYS = 1,  /* written even when zero, empty or absent */
	BT_CONFIG_SCHEMA_PRESENT = 2, /* a bool at present_offset says whether the field is set */
};

struct bt_config_schema;

struct bt_config_schema_field {
	const char *name;
	uint8_t kind; /* enum bt_config_schema_kind */
	uint8_t flags;
	uint32_t offset;
	uint32_t present_offset;
	const char *go_type; /* type name in messages; NULL: follows from kind */
	const struct bt_config_schema
		*schema; /* schema of the structure in a STRUCT, POINTER or LIST; else NULL */
};

/**
 * Schema of one structure. The fields are sorted by the bytes of their names, because fields are
 * written in this order.
 */
struct bt_config_schema {
	const char *go_type; /* type name in Go, such as "v1.Plugin" */
	uint32_t size;
	uint32_t field_count;
	const struct bt_config_schema_field *fields;
};

#define BT_CONFIG_API_VERSION "kubescheduler.config.k8s.io/v1"
#define BT_CONFIG_KIND "KubeSchedulerConfiguration"

extern const struct bt_config_schema bt_config_document_schema;
extern const struct bt_config_schema bt_config_profile_schema;
extern const struct bt_config_schema bt_config_extender_schema;
/** Schema of each args kind; NULL for BT_ARGS_NONE and BT_ARGS_OTHER. */
extern const struct bt_config_schema *const bt_config_args_schemas[BT_ARGS__COUNT];

/** Finds the args kind by name, as "NodeResourcesFitArgs"; BT_ARGS_OTHER when there is none. */
enum bt_plugin_args_kind bt_config_schema_args_kind_named(struct bt_str name);
/**
 * Finds the args kind of a plugin: the kind named like the plugin, with the suffix "Args";
 * BT_ARGS_OTHER when there is none.
 */
enum bt_plugin_args_kind bt_config_schema_args_kind_of(struct bt_str plugin);
/**
 * Returns the address of the union of arguments. All members of the union start at this address, so
 * it is the address of the arguments whatever their kind.
 */
void *bt_plugin_args_body(struct bt_plugin_args *args);
/** Returns the type name without the package: "Plugin" for "v1.Plugin". */
const char *bt_config_schema_name(const struct bt_config_schema *schema);
/** Finds a field by case-sensitive name; NULL when the structure has no such field. */
const struct bt_config_schema_field *bt_config_schema_find(
	const struct bt_config_schema *schema, struct bt_str name);
/** Appends arguments as one JSON value; raw arguments are written with sorted names. */
void bt_plugin_args_write(const struct bt_plugin_args *args, struct bt_strbuf *out);

/* decode.c: structures from JSON values, with Go's error messages. Spec: 10 sections 4.3, 4.4. */

/**
 * Decode an object into out, which holds the defaults of the fields that may be absent. JSON null
 * leaves out unchanged. Unknown names are skipped. All text is copied into the arena. The first
 * mismatch in document order is the error: "json: cannot unmarshal string into Go struct field
 * Plugin.profiles.plugins.score.enabled.weight of type int32". Returns 0, BERTH_ERR_INVALID or
 * BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_config_schema_decode(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena, void *out,
	struct berth_error *err);

/** Maximum number of errors kept for each document; equal errors are kept once. */
#define BT_STRICT_ERRORS_MAX 100

struct bt_strict_errors {
	struct bt_str items[BT_STRICT_ERRORS_MAX];
	uint32_t count;
};

/**
 * Collects the unknown and the repeated fields of a value, in document order.
 * bt_config_schema_decode must have accepted the value. The texts of the errors are in the arena.
 */
void bt_config_schema_find_strict_errors(const struct bt_config_schema *schema,
	const struct bt_json_value *value, struct bt_arena *arena,
	struct bt_strict_errors *out_errors);
#endif
