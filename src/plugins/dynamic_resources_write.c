/* SPDX-License-Identifier: Apache-2.0 */
/** Writes of claims: through the writer, or as if they were made. Spec: 12 sections 10, 12 and 13.
 */
#include "base/error.h"
#include "base/log.h"
#include "plugins/dynamic_resources.h"

static const struct bt_str finalizer = BT_STR_INIT(BT_CLAIM_FINALIZER);

bool bt_dynamic_has_finalizer(const struct bt_resource_claim *claim)
{
	for (uint32_t i = 0; i < claim->metadata.finalizers.count; i++) {
		if (bt_str_equal(claim->metadata.finalizers.items[i], finalizer)) {
			return true;
		}
	}
	return false;
}

void bt_dynamic_add_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena)
{
	uint32_t count = claim->metadata.finalizers.count;
	struct bt_str *items;

	if (bt_dynamic_has_finalizer(claim)) {
		return;
	}
	items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, (size_t)count + 1);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = claim->metadata.finalizers.items[i];
	}
	items[count] = finalizer;
	claim->metadata.finalizers = (bt_str_list){items, count + 1, true};
}

/** What the API would have answered. */
static int answer_as_written(const struct bt_resource_claim *claim, struct bt_object **out_claim)
{
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	return 0;
}

int bt_dynamic_write_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;

	return writer == NULL
		? answer_as_written(claim, out_claim)
		: writer->update(writer->context, pod, base, claim, false, out_claim, err);
}

int bt_dynamic_write_status(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;

	return writer == NULL
		? answer_as_written(claim, out_claim)
		: writer->update_status(writer->context, pod, base, claim, false, out_claim, err);
}

/** Where nothing is written nothing comes back from a watch: the cache takes it at once. */
static void assume_written(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim)
{
	struct bt_object *object = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_claim_cache_assume(&instance->dra->claims, object, &err) != 0) {
		BT_LOG_ERROR(berth_error_message(&err), "Claim not stored in assume cache",
			BT_LOG_REF("claim", claim->metadata.namespace_, claim->metadata.name));
		berth_error_finish(&err);
	}
	bt_object_release(object);
}

int bt_dynamic_deallocate(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *claim, struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	const struct bt_resource_claim *value = bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
	struct bt_resource_claim freed = *value;
	struct bt_object *answer = NULL;
	int code;

	freed.status = (struct bt_resource_claim_status){0};
	if (writer == NULL) {
		assume_written(instance, &freed);
		return 0;
	}
	code = writer->update_status(writer->context, pod, claim, &freed, true, &answer, err);
	bt_object_release(answer);
	/* A conflict is an error like any other here. */
	return code > 0 ? BERTH_ERR_STATE : code;
}

void bt_dynamic_end_write(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_dynamic_claim *claim)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_claim_cache *claims = &instance->dra->claims;
	struct bt_claim_bind *bind = &claim->bind;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;

	if (writer == NULL || bind->step != BT_CLAIM_STEP_STATUS) {
		return;
	}
	bind->step = BT_CLAIM_STEP_DONE;
	if (writer->update_status(
		    writer->context, pod, bind->base, bind->sent, true, &object, &err) != 0) {
		berth_error_finish(&err); /* nothing was written: nothing is to be undone */
		return;
	}
	if (bt_claim_cache_assume(claims, object, &err) != 0) {
		berth_error_finish(&err); /* the watch was faster */
	}
	bt_dynamic_claim_set(claim, cycle, object);
	if (bt_claim_cache_maybe_remove(claims, claim->uid, true)) {
		bt_dynamic_group_drop(bt_dynamic_group_of(plugin, cycle), claim->uid);
	}
}

void bt_dynamic_unreserve_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim, struct bt_str uid,
	struct bt_arena *arena)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	const struct bt_object *latest;
	struct bt_resource_claim left;

	if (writer != NULL) {
		writer->unreserve(writer->context, pod, claim, uid);
		return;
	}
	/* The cycle may have waited for long: others have changed the claim since. */
	latest = bt_claim_cache_find(
		&instance->dra->claims, claim->metadata.namespace_, claim->metadata.name);
	if (latest == NULL || !bt_str_equal(latest->meta->uid, claim->metadata.uid)) {
		return;
	}
	claim = bt_object_value(latest, BT_KIND_RESOURCE_CLAIM);
	left = *claim;
	(void)bt_resource_claim_drop_user(&left, uid, arena); /* written either way */
	assume_written(instance, &left);
}
