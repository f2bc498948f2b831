/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_volume_binder.h"

#include "base/alloc.h"
#include "base/error.h"

static struct fake_volume_binder *fake_of(struct bt_volume_binder *binder)
{
	return (struct fake_volume_binder *)(void *)binder;
}

static int fail_with(const char *text, struct berth_error *err)
{
	return text != NULL ? bt_error_set(err, BERTH_ERR_STATE, "%s", text) : 0;
}

static void fake_destroy(struct bt_volume_binder *binder)
{
	bt_free(binder);
}

static int fake_get(BT_UNUSED struct bt_volume_binder *binder,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED struct bt_arena *arena,
	struct bt_pod_volume_claims *out_claims, BT_UNUSED struct berth_error *err)
{
	*out_claims = (struct bt_pod_volume_claims){0};
	return 0;
}

static int fake_find(struct bt_volume_binder *binder, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_pod_volume_claims *claims, BT_UNUSED const struct bt_node_info *node,
	BT_UNUSED struct bt_arena *arena, struct bt_pod_volumes **out_volumes,
	uint32_t *out_conflicts, struct berth_error *err)
{
	*out_volumes = NULL;
	*out_conflicts = fake_of(binder)->find_conflicts;
	return fail_with(fake_of(binder)->find_error, err);
}

static int fake_assume(struct bt_volume_binder *binder, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_str node_name, BT_UNUSED struct bt_pod_volumes *volumes,
	BT_UNUSED struct bt_arena *arena, bool *out_all_bound, struct berth_error *err)
{
	fake_of(binder)->assume_called = true;
	*out_all_bound = fake_of(binder)->all_bound;
	return fail_with(fake_of(binder)->assume_error, err);
}

static void fake_revert(
	BT_UNUSED struct bt_volume_binder *binder, BT_UNUSED const struct bt_pod_volumes *volumes)
{
}

static int fake_bind(struct bt_volume_binder *binder, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_str node_name, BT_UNUSED struct bt_pod_volumes *volumes,
	BT_UNUSED struct bt_arena *arena, struct berth_error *err)
{
	fake_of(binder)->bind_called = true;
	return fail_with(fake_of(binder)->bind_error, err);
}

static const struct bt_volume_binder_ops fake_ops = {
	.destroy = fake_destroy,
	.get_pod_volume_claims = fake_get,
	.find_pod_volumes = fake_find,
	.assume_pod_volumes = fake_assume,
	.revert_assumed_pod_volumes = fake_revert,
	.bind_pod_volumes = fake_bind,
};

struct fake_volume_binder *fake_volume_binder_create(const struct fake_volume_binder *config)
{
	struct fake_volume_binder *fake = BT_NEW(struct fake_volume_binder);

	*fake = *config;
	fake->base.ops = &fake_ops;
	return fake;
}
