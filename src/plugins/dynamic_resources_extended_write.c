/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: what is written of the special claim for extended resources. Spec: 12 sections
 * 14.4 to 14.6. Without a writer the object store takes it as made. */
#include "framework/framework.h"
#include "framework/scheduler_metrics.h"
#include "plugins/dynamic_resources.h"

/** Attempts at an update that others are faster with. */
#define UPDATES_MAX 5

static struct bt_object_store *store_of(const struct bt_dynamic_resources *instance)
{
	return &instance->base.handle->state->objects;
}

/* --- 14.4 --- */

int bt_extended_create(const struct bt_dynamic_resources *instance, const struct bt_pod_info *pod,
	const struct bt_extended_node_claim *node_claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_resource_claim claim = node_claim->claim;
	int code;

	claim.metadata.name = BT_STR("");
	claim.metadata.uid = BT_STR("");
	if (writer == NULL) {
		struct bt_object_store *store = store_of(instance);
		struct bt_resource_claim created = claim;
		struct bt_arena arena = {0};
		struct bt_object *object;

		/* As the API would make a name: nobody has it. */
		struct bt_str name;
		uint32_t number = 0;

		do {
			name = bt_arena_printf(&arena, "%.*s%05u",
				BT_STR_ARG(claim.metadata.generate_name), number++);
		} while (bt_object_store_find(store, BT_KIND_RESOURCE_CLAIM,
				 claim.metadata.namespace_, name) != NULL);
		created.metadata.name = name;
		created.metadata.uid = bt_arena_printf(&arena, "%.*s/%.*s",
			BT_STR_ARG(claim.metadata.namespace_), BT_STR_ARG(created.metadata.name));
		object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &created);
		bt_arena_finish(&arena);
		bt_object_store_put(store, bt_object_share(object));
		*out_claim = object;
		return 0;
	}
	code = writer->create(writer->context, pod, &claim, out_claim, err);
	if (code == BT_WRITE_PENDING) {
		return code;
	}
	bt_metrics_claim_created(bt_handle_metrics(instance->base.handle), code == 0);
	return code == 0
		? 0
		: bt_error_wrap(err, BERTH_ERR_STATE, "create claim for extended resources %.*s/",
			  BT_STR_ARG(claim.metadata.namespace_));
}

/* --- 14.5 --- */

int bt_extended_patch_pod(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_str claim_name, BT_UNUSED struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_pod_extended_resource_claim_status extended = {.resource_claim_name = claim_name};
	struct bt_pod_status status = pod->object->status;
	int code;

	if (node_claim->mappings.count == 0) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"nil or empty request mappings, no update of pod %.*s/%.*s "
			"ExtendedResourceClaimStatus",
			BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
	}
	if (writer == NULL) {
		return 0;
	}
	extended.request_mappings.items = node_claim->mappings.items;
	extended.request_mappings.count = node_claim->mappings.count;
	extended.request_mappings.present = true;
	status.extended_resource_claim_status = &extended;
	code = writer->patch_pod_status(
		writer->context, pod, &pod->object->status, &status, false, err);
	return code == 0 || code == BT_WRITE_PENDING
		? code
		: bt_error_wrap(err, BERTH_ERR_STATE,
			  "update pod %.*s/%.*s ExtendedResourceClaimStatus",
			  BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
}

/* --- 14.6 --- */

static int wrap_with_claim(
	struct berth_error *err, const char *what, const struct bt_object_meta *meta)
{
	return bt_error_wrap(err, BERTH_ERR_STATE, "%s resourceclaim %.*s/%.*s", what,
		BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
}

/** *object: a reference, exchanged for what the API has now. */
static int read_again(const struct bt_claim_writer *writer, const struct bt_pod_info *pod,
	struct bt_object **object, struct berth_error *err)
{
	struct bt_object *now;
	const struct bt_object_meta *meta = (*object)->meta;
	int code = writer->get(writer->context, pod, meta->namespace_, meta->name, true, &now, err);

	if (code != 0) {
		return wrap_with_claim(err, "get", meta);
	}
	bt_object_release(*object);
	*object = now;
	return 0;
}

static int remove_finalizer(const struct bt_claim_writer *writer, const struct bt_pod_info *pod,
	struct bt_object **object, struct bt_arena *arena, struct berth_error *err)
{
	for (int attempt = 1;; attempt++) {
		const struct bt_resource_claim *was =
			bt_object_value(*object, BT_KIND_RESOURCE_CLAIM);
		struct bt_resource_claim claim = *was;
		struct bt_object *written;
		int code;

		bt_resource_claim_drop_finalizer(&claim, arena);
		code = writer->update(writer->context, pod, *object, &claim, true, &written, err);

		if (code == 0) {
			bt_object_release(*object);
			*object = written;
			return 0;
		}
		if (code != BT_WRITE_CONFLICT || attempt == UPDATES_MAX) {
			return wrap_with_claim(err, "update", (*object)->meta);
		}
		berth_error_finish(err);
		code = read_again(writer, pod, object, err);
		if (code != 0) {
			return code;
		}
	}
}

int bt_extended_delete(const struct bt_dynamic_resources *instance, const struct bt_pod_info *pod,
	struct bt_object *claim, struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_object *object;
	int code;

	if (writer == NULL) {
		/* It may be gone already. */
		(void)bt_object_store_delete(store_of(instance), BT_KIND_RESOURCE_CLAIM,
			claim->meta->namespace_, claim->meta->name);
		return 0;
	}
	object = bt_object_share(claim);
	code = remove_finalizer(writer, pod, &object, arena, err);
	if (code == 0) {
		code = writer->remove(writer->context, pod,
			bt_object_value(object, BT_KIND_RESOURCE_CLAIM), true, err);
	}
	bt_object_release(object);
	return code;
}
