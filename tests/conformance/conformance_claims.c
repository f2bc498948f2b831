/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Handles what DynamicResources writes while a case runs. PreBind's writes become part of the
 * answer, and the claim cache assumes them for later steps. PostFilter's writes succeed without
 * effect.
 */
#include "api/resource_claim.h"
#include "base/compiler.h"
#include "conformance/conformance_private.h"

static int answer(const struct bt_resource_claim *claim, struct bt_object **out_claim)
{
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	return 0;
}

static void begin_write(
	struct bt_case_run *run, const char *op, const struct bt_resource_claim *claim)
{
	bt_case_begin_write(run, op);
	bt_json_write_name_c(&run->writer, "claim");
	bt_json_write_str(&run->writer, bt_case_object_key(run, &claim->metadata));
}

/** Append a number to generateName, as the API does. */
static int create(struct bt_case_run *run, const struct bt_resource_claim *claim,
	struct bt_object **out_claim)
{
	struct bt_resource_claim created = *claim;
	created.metadata.name = bt_arena_printf(&run->arena, "%.*s%u",
		BT_STR_ARG(claim->metadata.generate_name), run->result_count);
	created.metadata.uid = created.metadata.name;
	/* The informer has the claim before the cache assumes it. */
	bt_object_store_put(
		&run->engine->state->objects, bt_object_create(BT_KIND_RESOURCE_CLAIM, &created));
	return answer(&created, out_claim);
}

/** Write the allocation without its timestamp, which differs from run to run. */
static void write_allocation(struct bt_json_writer *writer, const struct bt_resource_claim *claim)
{
	struct bt_allocation_result allocation = *claim->status.allocation;
	allocation.allocation_timestamp = NULL;
	bt_json_write_name_c(writer, "allocation");
	bt_message_encode_json(&bt_allocation_result_message, writer, &allocation);
}

static int write_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	enum bt_claim_write what, BT_UNUSED const struct bt_object *base,
	const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	struct bt_object **out_claim, BT_UNUSED struct berth_error *err)
{
	struct bt_case_run *run = context;
	struct bt_json_writer *writer = &run->writer;
	if (what == BT_CLAIM_WRITE_NEW) {
		return create(run, claim, out_claim);
	}
	if (!run->records_writes) {
		return answer(claim, out_claim);
	}
	if (what == BT_CLAIM_WRITE_FINALIZERS) {
		begin_write(run, "finalizers", claim);
		bt_json_end_object(writer);
		return answer(claim, out_claim);
	}
	begin_write(run, "allocate", claim);
	if (claim->status.allocation != NULL) {
		write_allocation(writer, claim);
	}
	bt_json_write_name_c(writer, "reservedFor");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		const struct bt_resource_claim_consumer_reference *reference =
			&claim->status.reserved_for.items[i];
		bt_json_write_str(writer,
			bt_arena_printf(&run->arena, "%.*s/%.*s", BT_STR_ARG(reference->resource),
				BT_STR_ARG(reference->name)));
	}
	bt_json_end_array(writer);
	bt_json_end_object(writer);
	return answer(claim, out_claim);
}

/** DynamicResources reads a claim only after a write conflict, which does not occur here. */
static int get(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED struct bt_str namespace_, struct bt_str name, BT_UNUSED bool must_end,
	BT_UNUSED struct bt_object **out_claim, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_NOT_FOUND,
		"resourceclaims.resource.k8s.io \"%.*s\" not found", BT_STR_ARG(name));
}

static int remove_claim(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	BT_UNUSED struct berth_error *err)
{
	return 0;
}

static void unreserve(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_resource_claim *claim, BT_UNUSED struct bt_str uid)
{
}

static int patch_pod_status(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_pod_status *old_status,
	BT_UNUSED const struct bt_pod_status *new_status, BT_UNUSED bool must_end,
	BT_UNUSED struct berth_error *err)
{
	return 0;
}

void bt_case_connect_claims(struct bt_case_run *run)
{
	run->claim_writer = (struct bt_claim_writer){
		.write = write_claim,
		.get = get,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
		.context = run,
	};
	for (uint32_t i = 0; i < run->engine->profiles.frameworks.count; i++) {
		run->engine->profiles.frameworks.items[i]->handle.claim_writer = &run->claim_writer;
	}
}
