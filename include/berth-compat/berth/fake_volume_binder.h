/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_FAKE_VOLUME_BINDER_H
#define BERTH_FAKE_VOLUME_BINDER_H
/**
 * @file
 * A volume binder for tests that returns configured results. Spec 07 section 16.3, upstream v1.36.
 */
#include <stdbool.h>

#include "berth/api.h"
#include "berth/volume_binder.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FakeVolumeBinderConfig: the results that the fake binder returns. All zero: the pod's claims are
 * not all bound, and every function succeeds.
 */
struct berth_fake_volume_binder_config {
	bool all_bound;                             /**< result of assume_pod_volumes */
	struct berth_conflict_reasons find_reasons; /**< result of find_pod_volumes */
	const char *find_err;   /**< text of the error of find_pod_volumes; NULL: success */
	const char *assume_err; /**< text of the error of assume_pod_volumes; NULL: success */
	const char *bind_err;   /**< text of the error of bind_pod_volumes; NULL: success */
};

/** FakeVolumeBinder. */
struct berth_fake_volume_binder {
	struct berth_volume_binder base;               /**< for VolumeBinding */
	struct berth_fake_volume_binder_config config; /**< may be changed at any time */
	bool assume_called;                            /**< assume_pod_volumes was called */
	bool bind_called;                              /**< bind_pod_volumes was called */
};

/**
 * NewFakeVolumeBinder. @p config is copied, but its texts are borrowed; NULL: all zero. owned:
 * berth_volume_binder_destroy() of the member base.
 */
BERTH_API struct berth_fake_volume_binder *berth_fake_volume_binder_create(
	const struct berth_fake_volume_binder_config *config);

/** Returns no claims and no error. */
BERTH_API int berth_fake_volume_binder_get_pod_volume_claims(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, struct berth_error *err);
/** Restricts nothing: every node is eligible. */
BERTH_API void berth_fake_volume_binder_get_eligible_nodes(struct berth_volume_binder *binder,
	const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes);
/** Returns no volumes, the reasons config.find_reasons and the error config.find_err. */
BERTH_API int berth_fake_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_pod_volume_claims *claims,
	const struct berth_node_info *node, struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err);
/** Sets assume_called; returns config.all_bound and the error config.assume_err. */
BERTH_API int berth_fake_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, bool *out_all_bound,
	struct berth_error *err);
/** Does nothing. */
BERTH_API void berth_fake_volume_binder_revert_assumed_pod_volumes(
	struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes);
/** Sets bind_called; returns the error config.bind_err. */
BERTH_API int berth_fake_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
