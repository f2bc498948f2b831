/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_FAKE_VOLUME_BINDER_H
#define BERTH_FAKE_VOLUME_BINDER_H
/**
 * @file
 * A volume binder for tests that says what it is told to say. Spec 07 section 16.3, upstream v1.36.
 */
#include <stdbool.h>

#include "berth/api.h"
#include "berth/volume_binder.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FakeVolumeBinderConfig. All zero: the pod needs to be bound, and everything succeeds. */
struct berth_fake_volume_binder_config {
	bool all_bound;                             /**< what assume_pod_volumes says */
	struct berth_conflict_reasons find_reasons; /**< what find_pod_volumes says */
	const char *find_err;   /**< find_pod_volumes fails with this text; NULL: it does not */
	const char *assume_err; /**< assume_pod_volumes fails with this text; NULL: likewise */
	const char *bind_err;   /**< bind_pod_volumes fails with this text; NULL: likewise */
};

/** FakeVolumeBinder. */
struct berth_fake_volume_binder {
	struct berth_volume_binder base;               /**< what VolumeBinding takes */
	struct berth_fake_volume_binder_config config; /**< may be changed at any time */
	bool assume_called;                            /**< assume_pod_volumes was called */
	bool bind_called;                              /**< bind_pod_volumes was called */
};

/** NewFakeVolumeBinder. @p config is copied, its texts are borrowed; NULL: all zero. owned:
 * berth_volume_binder_destroy() of its base. */
BERTH_API struct berth_fake_volume_binder *berth_fake_volume_binder_create(
	const struct berth_fake_volume_binder_config *config);

/** No claims, no error. */
BERTH_API int berth_fake_volume_binder_get_pod_volume_claims(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, struct berth_error *err);
/** No restriction. */
BERTH_API void berth_fake_volume_binder_get_eligible_nodes(struct berth_volume_binder *binder,
	const struct berth_pvc_list *bound_claims, struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes);
/** No volumes, config.find_reasons, config.find_err. */
BERTH_API int berth_fake_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_pod_volume_claims *claims,
	const struct berth_node_info *node, struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err);
/** Sets assume_called; config.all_bound, config.assume_err. */
BERTH_API int berth_fake_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, bool *out_all_bound,
	struct berth_error *err);
/** Nothing. */
BERTH_API void berth_fake_volume_binder_revert_assumed_pod_volumes(
	struct berth_volume_binder *binder, const struct berth_pod_volumes *volumes);
/** Sets bind_called; config.bind_err. */
BERTH_API int berth_fake_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	const struct berth_pod_info *pod, struct berth_str node_name,
	struct berth_pod_volumes *volumes, struct berth_arena *arena, struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif
