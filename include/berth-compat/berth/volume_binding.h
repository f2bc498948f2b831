/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_VOLUME_BINDING_H
#define BERTH_VOLUME_BINDING_H
/**
 * @file
 * The plugin VolumeBinding as an object: it checks that the claims of a pod are bound or can be
 * bound on the node, and binds them. Spec 07 sections 5 and 16, upstream v1.36.
 *
 * An engine creates the VolumeBinding plugins of its profiles from the configuration. This object
 * is for programs that call the plugin directly, or register a changed plugin under another name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cycle_state.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/lister.h"
#include "berth/node_info.h"
#include "berth/plugin.h"
#include "berth/pod_info.h"
#include "berth/status.h"
#include "berth/str.h"
#include "berth/volume_binder.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the plugin in configurations, and key of the plugin's data in a cycle state. */
#define BERTH_PLUGIN_VOLUME_BINDING "VolumeBinding"

/**
 * feature.Features: the gates that the plugin reads (spec 07 section 11.2; other gates are locked).
 */
struct berth_features {
	bool enable_storage_capacity_scoring; /**< StorageCapacityScoring: the plugin scores */
};

/** The gates of the handle's configuration. */
BERTH_API struct berth_features berth_handle_features(const struct berth_handle *handle);

/** A point of the function from utilization to score. */
struct berth_utilization_shape_point {
	int32_t utilization; /**< 0..100, increasing */
	int32_t score;       /**< 0..10 */
};

/** VolumeBindingArgs (spec 07 section 11.1). Start from BERTH_VOLUME_BINDING_ARGS_INIT. */
struct berth_volume_binding_args {
	size_t size;                  /**< sizeof(struct berth_volume_binding_args) */
	int64_t bind_timeout_seconds; /**< how long PreBind waits */
	/**
	 * With the gate StorageCapacityScoring: the function, or NULL for the default
	 * [{0, 10}, {100, 0}]. Without the gate: must be NULL.
	 */
	const struct berth_utilization_shape_point *shape;
	uint32_t shape_count; /**< entries of shape */
};

/** The defaults. */
#define BERTH_VOLUME_BINDING_ARGS_INIT \
	{ \
		sizeof(struct berth_volume_binding_args), 600, 0, 0 \
	}

/** The plugin. */
struct berth_volume_binding {
	/** First member; its ops are the functions below. */
	struct berth_plugin base;
	/**
	 * The binder in use; may be replaced between cycles by a borrowed binder. The binder that
	 * berth_volume_binding_create() made is destroyed with the plugin, even if it was replaced.
	 */
	struct berth_volume_binder *binder;
	/**
	 * PVCLister: the claims that PreFilter reads, const struct berth_pvc *; only get is called.
	 * May be replaced.
	 */
	struct berth_lister pvc_lister;
};

/**
 * New: creates the plugin with a new binder over the objects of the handle's scheduler. @p features
 * NULL: the gates of the handle. @p out_plugin is owned: berth_volume_binding_destroy().
 * BERTH_ERR_INVALID: `want args to be of type VolumeBindingArgs, got <nil>`, or the error of an
 * argument (spec 07 section 11.1).
 */
BERTH_API BERTH_MUST_USE int berth_volume_binding_create(
	const struct berth_volume_binding_args *args, const struct berth_handle *handle,
	const struct berth_features *features, struct berth_volume_binding **out_plugin,
	struct berth_error *err);
/** Releases the plugin and the binder that it was created with. NULL is accepted. */
BERTH_API void berth_volume_binding_destroy(struct berth_volume_binding *plugin);
/**
 * Replaces the binder of the framework's VolumeBinding. @p binder is consumed: it is destroyed with
 * the framework. BERTH_ERR_NOT_FOUND: the profile has no VolumeBinding.
 */
BERTH_API int berth_volume_binding_replace_binder(struct berth_framework *framework,
	struct berth_volume_binder *binder, struct berth_error *err);

/** "VolumeBinding". */
BERTH_API const char *berth_volume_binding_name(const struct berth_volume_binding *plugin);

/** framework.ClusterEventWithHint. */
struct berth_cluster_event_with_hint {
	struct berth_cluster_event event; /**< the event */
	/** Receives &plugin->base; NULL: always QUEUE. */
	berth_queueing_hint_fn queueing_hint;
};

/** EventsToRegister (spec 07 section 12); borrowed from the plugin. */
BERTH_API const struct berth_cluster_event_with_hint *berth_volume_binding_events_to_register(
	const struct berth_volume_binding *plugin, uint32_t *out_count);

/**
 * PreFilter: Skip without claims; UnschedulableAndUnresolvable when a claim is missing, lost, or
 * unbound with immediate binding; Error. Never narrows the nodes. The claims are kept in the state
 * for the later extension points.
 */
BERTH_API struct berth_status berth_volume_binding_pre_filter(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_pre_filter_result *out_result);
/** Returns NULL: other pods of a node do not affect the result. */
BERTH_API const struct berth_pre_filter_extensions *berth_volume_binding_pre_filter_extensions(
	const struct berth_volume_binding *plugin);
/** Filter: UnschedulableAndUnresolvable with the texts of enum berth_conflict_reason; Error. */
BERTH_API struct berth_status berth_volume_binding_filter(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node);
/** PreScore: Skip without the gate StorageCapacityScoring. */
BERTH_API struct berth_status berth_volume_binding_pre_score(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count);
/**
 * Score: by the utilization of the storage on a node that passed Filter, 0..100; 0 without the
 * gate.
 */
BERTH_API struct berth_status berth_volume_binding_score(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, int64_t *out_score);
/** Returns NULL: scores are not normalised. */
BERTH_API const struct berth_score_extensions *berth_volume_binding_score_extensions(
	const struct berth_volume_binding *plugin);
/** Reserve: assumes the volumes that Filter found for the node. */
BERTH_API struct berth_status berth_volume_binding_reserve(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** PreBindPreFlight: Skip when all claims are bound. */
BERTH_API struct berth_status berth_volume_binding_pre_bind_pre_flight(
	struct berth_volume_binding *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name, bool *out_allow_parallel);
/**
 * PreBind: writes the bindings and returns Wait until all claims are bound: call again as struct
 * berth_plugin_ops says.
 */
BERTH_API struct berth_status berth_volume_binding_pre_bind(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);
/** Unreserve: drops the assumptions; may be called any number of times. */
BERTH_API void berth_volume_binding_unreserve(struct berth_volume_binding *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_str node_name);

/**
 * PreFilterResult.Merge: the nodes that both results contain, in the order of @p a; all nodes when
 * neither narrows. In the arena. Spec 02 section 2.
 */
BERTH_API struct berth_pre_filter_result berth_pre_filter_result_merge(
	const struct berth_pre_filter_result *a, const struct berth_pre_filter_result *b,
	struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
