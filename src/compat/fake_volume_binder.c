/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/fake_volume_binder.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/error.h"

static struct berth_fake_volume_binder *fake_of(struct berth_volume_binder *binder)
{
	return (struct berth_fake_volume_binder *)(void *)binder;
}

static int fail_with(const char *text, struct berth_error *err)
{
	return text != NULL ? bt_error_set(err, BERTH_ERR_STATE, "%s", text) : BERTH_OK;
}

static void destroy(struct berth_volume_binder *binder)
{
	bt_free(binder);
}

int berth_fake_volume_binder_get_pod_volume_claims(BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_arena *arena,
	struct berth_pod_volume_claims *out_claims, BT_UNUSED struct berth_error *err)
{
	*out_claims = (struct berth_pod_volume_claims){0};
	return BERTH_OK;
}

void berth_fake_volume_binder_get_eligible_nodes(BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pvc_list *bound_claims, BT_UNUSED struct berth_arena *arena,
	struct berth_pre_filter_result *out_nodes)
{
	*out_nodes = (struct berth_pre_filter_result){0};
}

int berth_fake_volume_binder_find_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod,
	BT_UNUSED struct berth_pod_volume_claims *claims,
	BT_UNUSED const struct berth_node_info *node, BT_UNUSED struct berth_arena *arena,
	struct berth_pod_volumes **out_volumes, struct berth_conflict_reasons *out_reasons,
	struct berth_error *err)
{
	*out_volumes = NULL;
	*out_reasons = fake_of(binder)->config.find_reasons;
	return fail_with(fake_of(binder)->config.find_err, err);
}

int berth_fake_volume_binder_assume_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_str node_name,
	BT_UNUSED struct berth_pod_volumes *volumes, BT_UNUSED struct berth_arena *arena,
	bool *out_all_bound, struct berth_error *err)
{
	fake_of(binder)->assume_called = true;
	*out_all_bound = fake_of(binder)->config.all_bound;
	return fail_with(fake_of(binder)->config.assume_err, err);
}

void berth_fake_volume_binder_revert_assumed_pod_volumes(
	BT_UNUSED struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_volumes *volumes)
{
}

int berth_fake_volume_binder_bind_pod_volumes(struct berth_volume_binder *binder,
	BT_UNUSED const struct berth_pod_info *pod, BT_UNUSED struct berth_str node_name,
	BT_UNUSED struct berth_pod_volumes *volumes, BT_UNUSED struct berth_arena *arena,
	struct berth_error *err)
{
	fake_of(binder)->bind_called = true;
	return fail_with(fake_of(binder)->config.bind_err, err);
}

static const struct berth_volume_binder_ops fake_ops = {
	.destroy = destroy,
	.get_pod_volume_claims = berth_fake_volume_binder_get_pod_volume_claims,
	.get_eligible_nodes = berth_fake_volume_binder_get_eligible_nodes,
	.find_pod_volumes = berth_fake_volume_binder_find_pod_volumes,
	.assume_pod_volumes = berth_fake_volume_binder_assume_pod_volumes,
	.revert_assumed_pod_volumes = berth_fake_volume_binder_revert_assumed_pod_volumes,
	.bind_pod_volumes = berth_fake_volume_binder_bind_pod_volumes,
};

struct berth_fake_volume_binder *berth_fake_volume_binder_create(
	const struct berth_fake_volume_binder_config *config)
{
	struct berth_fake_volume_binder *fake = BT_NEW(struct berth_fake_volume_binder);

	fake->base.ops = &fake_ops;
	if (config != NULL) {
		fake->config = *config;
	}
	return fake;
}
