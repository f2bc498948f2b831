/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_CONVERT_H
#define BT_LIB_CONVERT_H
/**
 * Converts between public opaque types and internal structures. A public pointer has the address of
 * the internal structure. An object that the library creates for a caller may be a larger structure
 * whose first member is the internal structure. struct berth_str and struct berth_status need no
 * conversion: bt_str and bt_status are other names of the same types.
 */
#include "api/object.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "berth/str.h"
#include "berth/config.h"
#include "berth/cycle_state.h"
#include "berth/handle.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/pod_info.h"
#include "berth/resource.h"
#include "config/config.h"
#include "framework/cycle_state.h"
#include "framework/plugin.h"
#include "framework/waiting_pods.h"
#include "state/node_info.h"
#include "state/pod_info.h"

/**
 * Defines four casts: bt_<name>_of() and bt_const_<name>_of() to the internal type,
 * berth_<name>_of() and berth_const_<name>_of() to the public type.
 */
#define BT_LIB_CONVERT(name, internal, public_type) \
	static inline BT_UNUSED struct internal *bt_##name##_of(struct public_type *outside) \
	{ \
		return (struct internal *)(void *)outside; \
	} \
	static inline BT_UNUSED const struct internal *bt_const_##name##_of( \
		const struct public_type *outside) \
	{ \
		return (const struct internal *)(const void *)outside; \
	} \
	static inline BT_UNUSED struct public_type *berth_##name##_of(struct internal *inside) \
	{ \
		return (struct public_type *)(void *)inside; \
	} \
	static inline BT_UNUSED const struct public_type *berth_const_##name##_of( \
		const struct internal *inside) \
	{ \
		return (const struct public_type *)(const void *)inside; \
	}

/** Defines a public function that returns a field of the internal structure. */
#define BT_LIB_GETTER(type, function, name, field) \
	type function(const struct berth_##name *outside) \
	{ \
		return bt_const_##name##_of(outside)->field; \
	}

/**
 * Defines a public function that looks up a key in a map of the internal structure. The result has
 * data NULL if the map does not have the key.
 */
#define BT_LIB_MAP_GETTER(function, name, map) \
	struct berth_str function(const struct berth_##name *outside, struct berth_str key) \
	{ \
		return bt_lib_map_value(&bt_const_##name##_of(outside)->map, key); \
	}

/**
 * Defines a public function that returns the content of an object of one kind; NULL if the object
 * is NULL or of another kind.
 */
#define BT_LIB_VALUE_GETTER(function, name, object_kind) \
	const struct berth_##name *function(const struct berth_object *object) \
	{ \
		const struct bt_object *inside = bt_const_object_of(object); \
		bool is_kind = inside != NULL && inside->kind == (object_kind); \
		return berth_const_##name##_of(is_kind ? inside->value : NULL); \
	}

BT_LIB_CONVERT(arena, bt_arena, berth_arena)
BT_LIB_CONVERT(config, bt_config, berth_config)
BT_LIB_CONVERT(cycle_state, bt_cycle_state, berth_cycle_state)
BT_LIB_CONVERT(framework, bt_framework, berth_framework)
BT_LIB_CONVERT(handle, bt_handle, berth_handle)
BT_LIB_CONVERT(node, bt_node, berth_node)
BT_LIB_CONVERT(node_info, bt_node_info, berth_node_info)
BT_LIB_CONVERT(object, bt_object, berth_object)
BT_LIB_CONVERT(pod, bt_pod, berth_pod)
BT_LIB_CONVERT(pod_info, bt_pod_info, berth_pod_info)
BT_LIB_CONVERT(plugins, bt_config_plugins, berth_plugins)
BT_LIB_CONVERT(profile, bt_config_profile, berth_profile)
BT_LIB_CONVERT(resource_list, bt_resource_list, berth_resource_list)
BT_LIB_CONVERT(shared_lister, bt_snapshot_view, berth_shared_lister)
BT_LIB_CONVERT(waiting_pod, bt_waiting_pod, berth_waiting_pod)

/**
 * Copies a caller's options over the defaults in *options. The caller's structure begins with its
 * size (size_t). The caller may have been built with another version of the header, so only the
 * members that the caller's version and the library's version have in common are copied. If given
 * is NULL, the defaults stay.
 */
static inline void bt_lib_read_options(void *options, size_t size, const void *given)
{
	if (given != NULL) {
		size_t given_size = *(const size_t *)given;

		memcpy(options, given, given_size < size ? given_size : size);
	}
}

static inline struct bt_status bt_lib_unknown_node(struct bt_arena *arena, struct bt_str name)
{
	return bt_status_printf(BT_STATUS_ERROR, arena, "nodeinfo not found for node name \"%.*s\"",
		BT_STR_ARG(name));
}

/** Copies the text to the heap, with a zero byte at the end. Free it with bt_lib_free_text. */
static inline struct bt_str bt_lib_own_text(struct bt_str text)
{
	return (struct bt_str){
		bt_strndup(text.data != NULL ? text.data : "", text.length), text.length};
}

static inline void bt_lib_free_text(struct bt_str text)
{
	bt_free((char *)(uintptr_t)text.data);
}

/** Returns the value of the key; {NULL, 0} if the map lacks the key. */
static inline struct bt_str bt_lib_map_value(const struct bt_str_map *map, struct bt_str key)
{
	const struct bt_str *value = bt_str_map_find(map, key);

	return value != NULL ? *value : (struct bt_str){NULL, 0};
}

/**
 * Converts the arguments of the configuration to the form that out-of-tree plugins receive. The
 * texts are borrowed from args. args NULL: the plugin has no arguments.
 */
struct berth_raw_args bt_raw_args_of(const struct bt_plugin_args *args);
#endif
