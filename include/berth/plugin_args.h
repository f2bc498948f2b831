/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PLUGIN_ARGS_H
#define BERTH_PLUGIN_ARGS_H
/**
 * @file
 * A plugin's arguments (pluginConfig[].args of a profile) into a structure of the plugin's, by a
 * table of fields. Spec 02 section 7, upstream v1.36.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/arena.h"
#include "berth/config.h"
#include "berth/error.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the structure has at a field's offset. */
enum berth_args_type {
	BERTH_ARGS_STR,      /**< struct berth_str */
	BERTH_ARGS_BOOL,     /**< bool */
	BERTH_ARGS_INT32,    /**< int32_t */
	BERTH_ARGS_INT64,    /**< int64_t */
	BERTH_ARGS_FLOAT,    /**< float */
	BERTH_ARGS_DURATION, /**< int64_t nanoseconds, written as "1m30s" */
	BERTH_ARGS_STR_LIST, /**< struct berth_args_list of struct berth_str */
	BERTH_ARGS_OBJECT,   /**< the structure of `schema`, in place */
	BERTH_ARGS_LIST,     /**< struct berth_args_list of structures of `schema` */
};

/** A list; the elements are in the arena. */
struct berth_args_list {
	void *items;    /**< the first element */
	uint32_t count; /**< elements */
	bool present;   /**< the arguments name the list, even if it is empty */
};

struct berth_args_schema;

/** One member of a JSON object. */
struct berth_args_field {
	const char *name;                       /**< in the document, case-sensitive */
	enum berth_args_type type;              /**< what lies at offset */
	size_t offset;                          /**< offsetof in the structure */
	const struct berth_args_schema *schema; /**< BERTH_ARGS_OBJECT and _LIST; else NULL */
};

/** One JSON object and its structure. */
struct berth_args_schema {
	const char *type_name;                 /**< in messages: "CustomScoreArgs" */
	size_t size;                           /**< of the structure */
	const struct berth_args_field *fields; /**< in any order */
	uint32_t field_count;                  /**< entries of fields, at most 64 */
	bool strict;                           /**< unknown and repeated names are errors */
};

/** Objects may lie this deep in each other. */
#define BERTH_ARGS_DEPTH_MAX 16

/**
 * DecodeInto: JSON or YAML arguments into the structure @p into, which holds the defaults of what
 * may be absent. No arguments: nothing happens. Texts and lists are placed in @p arena.
 * BERTH_ERR_INVALID: "json: cannot unmarshal string into Go struct field CustomScoreArgs.weight of
 * type int32", "want args of type runtime.Unknown, got *config.NodeAffinityArgs", "not supported
 * content type text/plain"; BERTH_ERR_SYNTAX; BERTH_ERR_TOO_LARGE. After an error the content of
 * @p into is undefined.
 */
BERTH_API BERTH_MUST_USE int berth_plugin_args_decode_into(const struct berth_raw_args *args,
	const struct berth_args_schema *schema, struct berth_arena *arena, void *into,
	struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
