/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_CONFIG_H
#define BT_CONFIG_CONFIG_H
/**
 * KubeSchedulerConfiguration: a document that is decoded, defaulted, validated and then immutable.
 * Spec: chapter 10; plugin sets: 02 section 8. All memory of a configuration is in one arena. Any
 * thread may read a configuration, but the reference count is not atomic.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "base/arena.h"
#include "base/error.h"
#include "codec/json.h"
#include "codec/message.h"
#include "config/gates.h"

/**
 * Extension points that a configuration can set, in the order in which their plugin lists are
 * checked (spec 02 section 8.4).
 */
enum bt_extension_point {
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_RESERVE,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT_PERMIT,
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
	BT_POINT__COUNT,
};

#define BT_CONFIG_PLUGINS_POINTS 12
/**
 * The extension points that are fields of upstream's Plugins structure, without multiPoint and the
 * placement points, in the order of the fields.
 */
extern const enum bt_extension_point bt_config_plugins_points[BT_CONFIG_PLUGINS_POINTS];

/** Name of an extension point, "PreFilter", "QueueSort", ...; messages append "Plugin". */
const char *bt_extension_point_name(enum bt_extension_point point);
/** Member name of an extension point in a configuration: "preFilter", "queueSort", ... */
const char *bt_extension_point_member(enum bt_extension_point point);

#include "config/types.h" /* the structures; needs the enumeration above */

/** A loaded configuration. It is immutable after loading. */
struct bt_config {
	uint32_t ref_count;
	struct bt_arena arena; /* owns the memory of all members below */
	struct bt_gates gates;
	/**
	 * If percentage_of_nodes_to_score is 0, the scheduler computes the percentage from the
	 * number of nodes.
	 */
	struct bt_config_document document;
	/**
	 * True if the document sets percentageOfNodesToScore. The scheduler then honours the
	 * percentage exactly, including the rotating start node.
	 */
	bool percentage_is_explicit;
	/**
	 * Default plugins that a profile lists again under multiPoint, profile by profile: each is
	 * logged as "Default plugin is explicitly re-configured; overriding" (spec 10 section 6.3).
	 */
	bt_str_list overridden;
};

/** Limits of a document: its size in bytes, its levels of nesting, its number of profiles. */
#define BT_CONFIG_BYTES_MAX (4U * 1024 * 1024)
#define BT_CONFIG_DEPTH_MAX 256
#define BT_CONFIG_PROFILES_MAX 1024
/** Maximum number of entries of each list and each map of a document. */
#define BT_CONFIG_LIST_MAX 65536

/**
 * Decode, default and validate a configuration given as JSON text. bt_config_load_input also
 * takes flags, the file's bytes and the YAML reader's error.
 *
 * @json        borrowed for the call
 * @gates       feature gates, borrowed for the call; NULL = defaults of v1.36
 * @out_config  owned: one reference, bt_config_unref()
 * @err         decode errors and all validation messages joined as upstream prints them
 * Returns 0, BERTH_ERR_SYNTAX, BERTH_ERR_INVALID or BERTH_ERR_TOO_LARGE.
 */
BT_MUST_USE int bt_config_load(struct bt_str json, const struct bt_gates *gates,
	struct bt_config **out_config, struct berth_error *err);
/**
 * Creates a configuration with one reference and the defaults that precede the decoding of text.
 * gates are copied; NULL means the defaults of v1.36.
 */
struct bt_config *bt_config_create(const struct bt_gates *gates);
/** Like bt_config_create, but with all defaults filled in. */
struct bt_config *bt_config_create_default(const struct bt_gates *gates);
struct bt_config *bt_config_ref(struct bt_config *config);
void bt_config_unref(struct bt_config *config);

/**
 * Returns the arguments of a plugin in this profile, or NULL. If a name occurs several times, the
 * first entry counts.
 */
const struct bt_plugin_args *bt_config_profile_find_args(
	const struct bt_config_profile *profile, struct bt_str plugin);

/**
 * Checks arguments as a plugin constructor does (spec 10 section 7.5). The paths in messages are
 * relative to the arguments, without "profiles[0].pluginConfig[0].args". NodeResourcesFit arguments
 * are checked only here, because the validation of a configuration does not check them, as in
 * upstream. If gates is NULL, the defaults of v1.36 apply. Returns 0 or BERTH_ERR_INVALID.
 */
BT_MUST_USE int bt_plugin_args_validate(
	const struct bt_plugin_args *args, const struct bt_gates *gates, struct berth_error *err);
/** Returns "NodeResourcesFitArgs", ...; NULL for BT_ARGS_NONE and BT_ARGS_OTHER. */
const char *bt_plugin_args_kind_name(enum bt_plugin_args_kind kind);

/**
 * Appends the effective configuration as one compact JSON document with sorted names (spec 10
 * section 10); --write-config-to converts this text to YAML.
 */
void bt_config_write(const struct bt_config *config, struct bt_strbuf *out);
/**
 * Appends the configuration as /configz shows it: entries of disabled plugins stay, in the order of
 * spec 10 section 6.4.
 */
void bt_config_write_stored(const struct bt_config *config, struct bt_strbuf *out);
#endif
