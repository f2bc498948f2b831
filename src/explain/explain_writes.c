/* SPDX-License-Identifier: Apache-2.0 */
/** PostFilter frees claims that are allocated in vain. Who only looks writes nothing. */
#include "api/resource_claim.h"
#include "base/compiler.h"
#include "explain/explain_private.h"

static int answer(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_object *base, const struct bt_resource_claim *claim,
	BT_UNUSED bool must_end, struct bt_object **out_claim, BT_UNUSED struct berth_error *err)
{
	*out_claim = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	return 0;
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

/** The others belong to points that nobody runs here, or follow a conflict, which there is none. */
static const struct bt_claim_writer silent = {
	.update = answer,
	.update_status = answer,
	.remove = remove_claim,
	.unreserve = unreserve,
};

const struct bt_claim_writer **bt_explain_silence_writes(struct bt_engine *engine)
{
	uint32_t count = engine->profiles.frameworks.count;
	const struct bt_claim_writer **writers =
		BT_NEW_ARRAY(const struct bt_claim_writer *, count);

	for (uint32_t i = 0; i < count; i++) {
		writers[i] = engine->profiles.frameworks.items[i]->handle.claim_writer;
		engine->profiles.frameworks.items[i]->handle.claim_writer = &silent;
	}
	return writers;
}

void bt_explain_restore_writes(struct bt_engine *engine, const struct bt_claim_writer **writers)
{
	for (uint32_t i = 0; i < engine->profiles.frameworks.count; i++) {
		engine->profiles.frameworks.items[i]->handle.claim_writer = writers[i];
	}
	bt_free(writers);
}
