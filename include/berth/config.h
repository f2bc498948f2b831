/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_CONFIG_H
#define BERTH_CONFIG_H
/**
 * @file
 * KubeSchedulerConfiguration: decoded, defaulted, validated; immutable and reference counted. Spec
 * 10, upstream v1.36.
 *
 * @code{.c}
 * static struct berth_config *load_or_default(const char *text, struct berth_error *err)
 * {
 *     struct berth_config *config = NULL;
 *
 *     if (text == NULL) {
 *         return berth_config_create_default();
 *     }
 *     return berth_config_load(berth_str_from(text), NULL, &config, err) == 0 ? config : NULL;
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A configuration. Opaque. */
struct berth_config;
/** One of profiles[]. Opaque, belongs to the configuration. */
struct berth_profile;
/**
 * config.Plugins: the plugins that a profile enables and disables. Opaque, belongs to the
 * configuration.
 */
struct berth_plugins;

/** Extension points that a configuration names. Spec 02 section 4. */
enum berth_extension_point {
	BERTH_POINT_PRE_FILTER,         /**< preFilter */
	BERTH_POINT_FILTER,             /**< filter */
	BERTH_POINT_POST_FILTER,        /**< postFilter */
	BERTH_POINT_RESERVE,            /**< reserve, Unreserve included */
	BERTH_POINT_PRE_SCORE,          /**< preScore */
	BERTH_POINT_SCORE,              /**< score */
	BERTH_POINT_PRE_BIND,           /**< preBind */
	BERTH_POINT_BIND,               /**< bind */
	BERTH_POINT_POST_BIND,          /**< postBind */
	BERTH_POINT_PERMIT,             /**< permit */
	BERTH_POINT_PRE_ENQUEUE,        /**< preEnqueue */
	BERTH_POINT_QUEUE_SORT,         /**< queueSort */
	BERTH_POINT_PLACEMENT_GENERATE, /**< placementGenerate */
	BERTH_POINT_PLACEMENT_SCORE,    /**< placementScore */
	BERTH_POINT_MULTI_POINT,        /**< multiPoint: every point the plugin implements */
};

/** Name of the extension point Filter in messages and metric labels. */
#define BERTH_EXTENSION_POINT_FILTER "Filter"

/** Name of an extension point: "PreFilter", ..., "MultiPoint"; "" for other numbers. */
BERTH_API const char *berth_extension_point_name(enum berth_extension_point point);

/** config.Plugin: an entry of an enabled or disabled list. */
struct berth_plugin_entry {
	struct berth_str name; /**< name of the plugin; "*" in a disabled list: all plugins */
	int32_t weight;        /**< weight of the scores; 0: not configured */
};

/** runtime.Unknown: the arguments of a plugin as source text. Spec 02 section 7. */
struct berth_raw_args {
	struct berth_str content_type; /**< "application/json", "application/yaml" or "" (JSON) */
	/** Source text of the arguments; absent: no arguments, or those of an in-tree plugin. */
	struct berth_str raw;
	/**
	 * Type of an in-tree plugin's arguments: "NodeResourcesFitArgs", ... Absent for other
	 * plugins.
	 */
	struct berth_str type_name;
};

/** config.PluginConfig: the arguments of one plugin. */
struct berth_plugin_config {
	struct berth_str name;      /**< name of the plugin */
	struct berth_raw_args args; /**< borrowed from the configuration */
};

/**
 * Decodes, defaults and validates a configuration given as JSON or YAML (borrowed for the call). @p
 * feature_gates: "Name=true,Other=false", or NULL for the defaults of v1.36; unknown gates are
 * BERTH_ERR_INVALID. @p out_config is owned: berth_config_release(). Errors: BERTH_ERR_SYNTAX,
 * BERTH_ERR_INVALID (the message lists all errors of the validation, worded as upstream),
 * BERTH_ERR_TOO_LARGE.
 */
BERTH_API BERTH_MUST_USE int berth_config_load(struct berth_str text, const char *feature_gates,
	struct berth_config **out_config, struct berth_error *err);
/** The default configuration with the default feature gates. owned: berth_config_release(). */
BERTH_API struct berth_config *berth_config_create_default(void);
/** Adds a reference; returns @p config. */
BERTH_API struct berth_config *berth_config_share(struct berth_config *config);
/** Releases a reference. NULL is accepted. */
BERTH_API void berth_config_release(struct berth_config *config);

/** percentageOfNodesToScore of the configuration; profiles may override it. 0: adaptive. */
BERTH_API int32_t berth_config_percentage_of_nodes_to_score(const struct berth_config *config);
/** Number of profiles. */
BERTH_API uint32_t berth_config_profile_count(const struct berth_config *config);
/** A profile in document order, 0 <= index < count. Borrowed from the configuration. */
BERTH_API const struct berth_profile *berth_config_profile_at(
	const struct berth_config *config, uint32_t index);

/** schedulerName. */
BERTH_API struct berth_str berth_profile_scheduler_name(const struct berth_profile *profile);
/** plugins of the profile, with the defaults merged in (spec 10 section 6). Never NULL. */
BERTH_API const struct berth_plugins *berth_profile_plugins(const struct berth_profile *profile);
/** Number of entries in pluginConfig, defaults included. */
BERTH_API uint32_t berth_profile_plugin_config_count(const struct berth_profile *profile);
/** An entry of pluginConfig, 0 <= index < count. */
BERTH_API struct berth_plugin_config berth_profile_plugin_config_at(
	const struct berth_profile *profile, uint32_t index);

/** Number of entries in the enabled list of an extension point. */
BERTH_API uint32_t berth_plugins_enabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point);
/** An entry of the enabled list, 0 <= index < count. */
BERTH_API struct berth_plugin_entry berth_plugins_enabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index);
/** Number of entries in the disabled list of an extension point. */
BERTH_API uint32_t berth_plugins_disabled_count(
	const struct berth_plugins *plugins, enum berth_extension_point point);
/** An entry of the disabled list, 0 <= index < count. */
BERTH_API struct berth_plugin_entry berth_plugins_disabled_at(
	const struct berth_plugins *plugins, enum berth_extension_point point, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
