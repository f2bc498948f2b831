/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_REGISTRY_H
#define BERTH_REGISTRY_H
/**
 * @file
 * Plugin factories by name, and the loader of shared objects with plugins. Spec 02 section 7,
 * upstream v1.36.
 *
 * A shared object finds the library's functions in the program that loads it: a program linked with
 * the shared library has the functions; a program linked with the static library must link all of
 * it and export its symbols (-Wl,--whole-archive, -rdynamic), as the program berth does.
 *
 * @code{.c}
 * static int create_engine_with_plugin(struct berth_config *config,
 *     struct berth_registry *registry, const char *path, struct berth_engine **out_engine,
 *     struct berth_error *err)
 * {
 *     struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;
 *     int result = berth_registry_load_plugin(registry, path, err);
 *
 *     options.registry = registry;
 *     return result == BERTH_OK ? berth_engine_create(config, &options, out_engine, err)
 *                               : result;
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/plugin.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Registry: plugin factories by name. Must outlive every framework that uses it. Opaque. */
struct berth_registry;

/** Creates an empty registry. owned: berth_registry_destroy(). */
BERTH_API struct berth_registry *berth_registry_create(void);
/**
 * Creates a registry with the in-tree plugins (spec 02 section 7). owned: berth_registry_destroy().
 */
BERTH_API struct berth_registry *berth_registry_create_in_tree(void);
/** Releases the registry and unloads its shared objects. NULL is accepted. */
BERTH_API void berth_registry_destroy(struct berth_registry *registry);

/**
 * Adds a factory; each call of the factory receives @p context. The name is copied.
 * BERTH_ERR_EXISTS: `a plugin named <name> already exists`; BERTH_ERR_INVALID: no name or no
 * factory.
 */
BERTH_API int berth_registry_register(struct berth_registry *registry, const char *name,
	berth_plugin_factory_fn factory, void *context, struct berth_error *err);
/** Removes an entry. BERTH_ERR_NOT_FOUND: `no plugin named <name> exists`. */
BERTH_API int berth_registry_unregister(
	struct berth_registry *registry, const char *name, struct berth_error *err);
/**
 * Adds the entries of @p other. Stops at the first error and returns its code; entries added before
 * stay. @p other must outlive @p registry.
 */
BERTH_API int berth_registry_merge(struct berth_registry *registry,
	const struct berth_registry *other, struct berth_error *err);
/** Number of entries. */
BERTH_API uint32_t berth_registry_count(const struct berth_registry *registry);
/** Name of an entry in the order of registration, 0 <= index < count. */
BERTH_API struct berth_str berth_registry_name_at(
	const struct berth_registry *registry, uint32_t index);
/** Whether the registry has a plugin of this name. */
BERTH_API bool berth_registry_has(const struct berth_registry *registry, struct berth_str name);

/**
 * Loads a shared object and registers all of its plugins; on failure, registers none of them. A
 * path without "/" is a file of the working directory. The code of the file runs with the rights of
 * the process: load trusted files only. Errors name the file: BERTH_ERR_IO (the file cannot be
 * loaded), BERTH_ERR_INVALID (no berth_plugin_module, another ABI version, an incomplete module),
 * BERTH_ERR_TOO_LARGE (more than 1024 plugins), BERTH_ERR_EXISTS (`a plugin named <name> already
 * exists`).
 */
BERTH_API BERTH_MUST_USE int berth_registry_load_plugin(
	struct berth_registry *registry, const char *path, struct berth_error *err);
/**
 * Loads each file of a folder that is named *.so, in the order of the file names, as
 * berth_registry_load_plugin() does. Stops at the first error; files loaded before stay.
 * BERTH_ERR_IO: the folder cannot be read; BERTH_ERR_TOO_LARGE: more than 1024 such files.
 */
BERTH_API BERTH_MUST_USE int berth_registry_load_plugins(
	struct berth_registry *registry, const char *directory, struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
