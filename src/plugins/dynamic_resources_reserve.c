/* SPDX-License-Identifier: Apache-2.0 */
/** Reserve and Unreserve of DynamicResources. Spec: 12 section 12. */
#include "base/error.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "plugins/dynamic_resources.h"

/**
 * PreBind of DynamicResources: write allocation and reservation of the claims, one claim after the
 * other, then wait for the devices. Spec: 12 section 13.
 *
 * No call blocks: struct bt_claim_bind has the next step of each claim, and a call whose answer is
 * pending is repeated unchanged.
 */

#define CONFLICTS_MAX 5
#define CONFLICT_STEP_NS (10 * BT_NS_PER_MS)
/** A jitter of 0.1: up to a tenth of a step is added. */
#define CONFLICT_JITTER_NS BT_NS_PER_MS
/** Interval and limit of waiting until the watch has reported the created special claim. */
#define ASSUME_STEP_NS BT_NS_PER_SECOND
#define ASSUME_LIMIT_NS (120 * ASSUME_STEP_NS)

/** State shared by the steps of one claim's binding. */
struct binding {
	struct bt_plugin *plugin;
	struct bt_dynamic_resources *instance;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	struct bt_dynamic_claim *claim;
	const struct bt_dynamic_node *node;
};

static int64_t now_of(const struct binding *binding)
{
	return binding->instance->base.handle->now_ns;
}

static const struct bt_resource_claim *base_of(const struct binding *binding)
{
	return bt_object_value(binding->claim->bind.base, BT_KIND_RESOURCE_CLAIM);
}

static int wait_until(const struct binding *binding, int64_t wake_ns)
{
	binding->claim->bind.wake_ns = wake_ns;
	if (wake_ns < binding->cycle->wake_ns) {
		binding->cycle->wake_ns = wake_ns;
	}
	return BT_WRITE_PENDING;
}

static bool retries_at_once(const struct binding *binding)
{
	const struct bt_claim_writer *writer = binding->instance->base.handle->claim_writer;

	return writer != NULL && writer->retries_at_once;
}

/**
 * End the attempts with an error. The claim's last version is assumed first, then the error is
 * reported. Consumes err. Returns 0, so that the next step runs.
 */
static int end_attempts(const struct binding *binding, int code, struct berth_error *err)
{
	struct bt_claim_bind *bind = &binding->claim->bind;

	bind->failure = code < 0 ? code : BERTH_ERR_STATE;
	bind->failure_text =
		bt_arena_str(binding->cycle->arena, bt_str_from(berth_error_message(err)));
	bind->step = BT_CLAIM_STEP_ASSUME;
	berth_error_finish(err);
	return 0;
}

BT_PRINTF(2, 3)
static int fail_with(const struct binding *binding, const char *format, ...)
{
	struct berth_error err = BERTH_ERROR_INIT;
	va_list arguments;

	va_start(arguments, format);
	int code = bt_error_set_v(&err, BERTH_ERR_STATE, format, arguments);
	va_end(arguments);
	return end_attempts(binding, code, &err);
}

static void set_base(const struct binding *binding, struct bt_object *object)
{
	bt_vec_push(&binding->cycle->kept, object);
	binding->claim->bind.base = object;
}

static int begin_status(const struct binding *binding)
{
	struct bt_claim_bind *bind = &binding->claim->bind;
	const struct bt_resource_claim *base = base_of(binding);
	struct bt_arena *arena = binding->cycle->arena;
	/* A copy of the claim with the reservation and allocation to write. */
	struct bt_resource_claim *claim = BT_ARENA_NEW(arena, struct bt_resource_claim);
	uint32_t count = base->status.reserved_for.count;
	struct bt_resource_claim_consumer_reference *references = bt_arena_copy_array(
		arena, base->status.reserved_for.items, count, 1, sizeof(*references));

	*claim = *base;
	references[count] = binding->claim->reference;
	claim->status.reserved_for.items = references;
	claim->status.reserved_for.count = count + 1;
	claim->status.reserved_for.present = true;
	if (binding->claim->allocation != NULL) {
		claim->status.allocation = binding->claim->allocation;
	}
	if (bt_dynamic_binds_conditions(binding->plugin)) {
		if (claim->status.allocation == NULL) {
			return fail_with(binding,
				"claim %.*s/%.*s got deallocated elsewhere in the meantime",
				BT_STR_ARG(base->metadata.namespace_),
				BT_STR_ARG(base->metadata.name));
		}
		/* The timestamp of the allocation is the start of the wait for the devices. */
		int64_t now_ns = now_of(binding) + binding->instance->base.handle->wall_offset_ns;
		struct bt_allocation_result *allocation;
		struct bt_time *now;

		if (claim->status.allocation->allocation_timestamp == NULL) {
			allocation = BT_ARENA_NEW(arena, struct bt_allocation_result);
			now = BT_ARENA_NEW(arena, struct bt_time);
			*now = (struct bt_time){.seconds = now_ns / BT_NS_PER_SECOND, .set = true};
			*allocation = *claim->status.allocation;
			allocation->allocation_timestamp = now;
			claim->status.allocation = allocation;
		}
	}
	bind->sent = claim;
	bind->step = BT_CLAIM_STEP_STATUS;
	return 0;
}

/**
 * Whether the claim's allocation has changed since the node was chosen: its users were deleted, and
 * another pod allocated the claim again, perhaps with devices that the node cannot use. Spec 12
 * section 21, D13.
 */
static bool has_moved(const struct binding *binding)
{
	const struct bt_allocation_result *chosen = binding->claim->claim->status.allocation;
	const struct bt_allocation_result *now = base_of(binding)->status.allocation;

	if (chosen == NULL || now == NULL) {
		return false;
	}
	struct bt_allocation_result ours = *chosen;
	struct bt_allocation_result theirs = *now;
	ours.allocation_timestamp = NULL;
	theirs.allocation_timestamp = NULL;
	return !bt_message_equal(&bt_allocation_result_message, &ours, &theirs);
}

/** Start an attempt with the claim in bind->base. */
static int begin_attempt(const struct binding *binding)
{
	const struct bt_resource_claim *base = base_of(binding);
	struct bt_claim_bind *bind = &binding->claim->bind;
	const char *why = NULL;

	if (base->metadata.deletion_timestamp != NULL) {
		why = "deleted";
	} else if ((binding->claim->allocation != NULL && base->status.allocation != NULL) ||
		has_moved(binding)) {
		why = "allocated elsewhere";
	}
	if (why != NULL) {
		return fail_with(binding, "claim %.*s/%.*s got %s in the meantime",
			BT_STR_ARG(base->metadata.namespace_), BT_STR_ARG(base->metadata.name),
			why);
	}
	if (binding->claim->allocation == NULL ||
		bt_str_list_has(&base->metadata.finalizers, BT_STR(BT_CLAIM_FINALIZER))) {
		return begin_status(binding);
	}
	struct bt_arena *arena = binding->cycle->arena;
	struct bt_resource_claim *claim = BT_ARENA_NEW(arena, struct bt_resource_claim);
	uint32_t count = base->metadata.finalizers.count;
	struct bt_str *finalizers = bt_arena_copy_array(
		arena, base->metadata.finalizers.items, count, 1, sizeof(*finalizers));
	finalizers[count] = BT_STR(BT_CLAIM_FINALIZER);
	*claim = *base;
	claim->metadata.finalizers = (bt_str_list){finalizers, count + 1, true};
	bind->sent = claim;
	bind->step = BT_CLAIM_STEP_FINALIZER;
	return 0;
}

/**
 * PUT the claim with the finalizer or with the new status. Without a writer the PUT succeeds at
 * once.
 */
static int step_write(const struct binding *binding)
{
	const struct bt_claim_writer *writer = binding->instance->base.handle->claim_writer;
	struct bt_claim_bind *bind = &binding->claim->bind;
	bool is_status = bind->step == BT_CLAIM_STEP_STATUS;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	int code = 0;

	if (writer == NULL) {
		object = bt_object_create(BT_KIND_RESOURCE_CLAIM, bind->sent);
	} else {
		code = writer->write(writer->context, binding->pod,
			is_status ? BT_CLAIM_WRITE_STATUS : BT_CLAIM_WRITE_FINALIZERS, bind->base,
			bind->sent, false, &object, &err);
	}
	if (code == BT_WRITE_PENDING) {
		return code;
	}
	if (code != 0) {
		const char *what = !is_status                ? "add finalizer to"
			: binding->claim->allocation != NULL ? "add allocation and reservation to"
							     : "add reservation to";
		/* After a conflict, get the claim and try again. */
		const struct bt_object_meta *meta = &base_of(binding)->metadata;
		struct bt_prng *prng = binding->instance->base.handle->prng;
		int64_t jitter_ns =
			prng != NULL ? (int64_t)bt_prng_below(prng, CONFLICT_JITTER_NS) : 0;

		(void)bt_error_wrap(&err, code, "%s claim %.*s/%.*s", what,
			BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
		if (code != BT_WRITE_CONFLICT || ++bind->conflicts == CONFLICTS_MAX) {
			return end_attempts(binding, code, &err);
		}
		berth_error_finish(&err);
		bind->step = BT_CLAIM_STEP_GET;
		return retries_at_once(binding)
			? 0
			: wait_until(binding, now_of(binding) + CONFLICT_STEP_NS + jitter_ns);
	}
	bind->is_written = true;
	set_base(binding, object);
	if (!is_status) {
		return begin_status(binding);
	}
	bind->step = BT_CLAIM_STEP_ASSUME;
	return 0;
}

/**
 * Assume the last written version of the claim, also after failed attempts. Spec 12 section 13.1
 * step 4.
 */
static int step_assume(const struct binding *binding, struct berth_error *err)
{
	struct bt_claim_cache *claims = &binding->instance->dra->claims;
	struct bt_claim_bind *bind = &binding->claim->bind;
	const struct bt_object_meta *meta = bind->base->meta;
	struct berth_error assume_error = BERTH_ERROR_INIT;
	int64_t now_ns = now_of(binding);

	if (now_ns < bind->wake_ns && bind->give_up_ns != 0) {
		return wait_until(binding, bind->wake_ns);
	}
	bool assumed =
		bind->is_written && bt_claim_cache_assume(claims, bind->base, &assume_error) == 0;
	if (bind->is_written && !assumed) {
		if (bind->give_up_ns == 0) {
			bind->give_up_ns = now_ns + ASSUME_LIMIT_NS;
		}
		if (binding->claim->is_special && now_ns < bind->give_up_ns &&
			bt_claim_cache_find(claims, meta->namespace_, meta->name) == NULL) {
			berth_error_finish(&assume_error);
			return wait_until(
				binding, now_ns + (retries_at_once(binding) ? 0 : ASSUME_STEP_NS));
		}
		BT_LOG_ERROR(berth_error_message(&assume_error), "Claim not stored in assume cache",
			BT_LOG_REF("claim", meta->namespace_, meta->name));
		berth_error_finish(&assume_error);
	}
	if (binding->claim->allocation != NULL || assumed) {
		/*
		 * The allocation is written, or will never be written. So the allocation is no
		 * longer in flight.
		 */
		binding->claim->is_signalled = false;
		(void)bt_claim_cache_maybe_remove(claims, binding->claim->uid, true);
	}
	if (bind->failure != 0) {
		bind->step = BT_CLAIM_STEP_DONE;
		return bt_error_set(err, bind->failure, "%.*s", BT_STR_ARG(bind->failure_text));
	}
	binding->claim->object = bind->base;
	binding->claim->claim = base_of(binding);
	bind->step = binding->claim->is_special ? BT_CLAIM_STEP_PATCH_POD : BT_CLAIM_STEP_DONE;
	return 0;
}

static int run_step(const struct binding *binding, struct berth_error *err)
{
	const struct bt_claim_writer *writer = binding->instance->base.handle->claim_writer;
	struct bt_dynamic_claim *claim = binding->claim;
	const struct bt_object_meta *meta;
	struct berth_error cause = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	int code = 0;

	switch (claim->bind.step) {
	case BT_CLAIM_STEP_START:
		claim->bind.base = claim->object;
		/*
		 * If the claim has changed since PreFilter, a real API would answer with a
		 * conflict, and the next attempt would start from the latest version. Without a
		 * writer, start from the latest version at once.
		 */
		object = writer == NULL
			? bt_claim_cache_find(&binding->instance->dra->claims,
				  claim->object->meta->namespace_, claim->object->meta->name)
			: NULL;
		if (object != NULL) {
			set_base(binding, bt_object_share(object));
		}
		if (claim->is_special && bt_extended_is_in_memory(claim->claim)) {
			claim->bind.step = BT_CLAIM_STEP_CREATE;
			return 0;
		}
		return begin_attempt(binding);
	case BT_CLAIM_STEP_CREATE:
		code = bt_extended_create(
			binding->instance, binding->pod, binding->node->special, &object, err);
		if (code != 0) {
			return code;
		}
		bt_dynamic_claim_set(claim, binding->cycle, object);
		claim->bind.base = object;
		return begin_attempt(binding);
	case BT_CLAIM_STEP_GET:
		if (now_of(binding) < claim->bind.wake_ns) {
			return wait_until(binding, claim->bind.wake_ns);
		}
		meta = (claim->bind.base != NULL ? claim->bind.base : claim->object)->meta;
		code = writer->get(writer->context, binding->pod, meta->namespace_, meta->name,
			false, &object, &cause);
		if (code == BT_WRITE_PENDING) {
			return code;
		}
		if (code != 0) {
			(void)bt_error_wrap(&cause, code,
				"get updated claim %.*s/%.*s after conflict",
				BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
			return end_attempts(binding, code, &cause);
		}
		set_base(binding, object);
		return begin_attempt(binding);
	case BT_CLAIM_STEP_FINALIZER:
	case BT_CLAIM_STEP_STATUS:
		return step_write(binding);
	case BT_CLAIM_STEP_ASSUME:
		return step_assume(binding, err);
	case BT_CLAIM_STEP_PATCH_POD:
		code = bt_extended_patch_pod(binding->instance, binding->pod,
			binding->node->special, claim->claim->metadata.name, err);
		if (code == 0) {
			claim->bind.step = BT_CLAIM_STEP_DONE;
		}
		return code;
	case BT_CLAIM_STEP_DONE:
		break;
	}
	return 0;
}

/** Whether the claim needs no write, or no further write. */
static bool needs_no_binding(const struct binding *binding)
{
	const struct bt_dynamic_claim *claim = binding->claim;
	const struct bt_extended_node_claim *special =
		binding->node != NULL ? binding->node->special : NULL;

	return claim->bind.step == BT_CLAIM_STEP_DONE || (claim->is_special && special == NULL) ||
		/*
	         * Reserve has not allocated the special claim, and the special claim has no
	         * requests.
	         */
		(claim->is_special && claim->bind.step == BT_CLAIM_STEP_START &&
			claim->allocation == NULL &&
			special->claim.spec.devices.requests.count == 0) ||
		(claim->bind.step == BT_CLAIM_STEP_START &&
			bt_dynamic_is_reserved_for(
				binding->instance, claim->claim, binding->pod->object));
}

struct bt_status bt_dynamic_pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	struct binding binding = {
		.plugin = plugin,
		.instance = bt_dynamic_resources_of(plugin),
		.cycle = cycle,
		.pod = pod,
	};
	struct berth_error err = BERTH_ERROR_INIT;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	binding.node = bt_dynamic_node_of(data, slot);
	int code = 0;
	for (uint32_t i = 0; i < data->count && code == 0; i++) {
		binding.claim = &data->claims[i];
		if (needs_no_binding(&binding)) {
			continue;
		}
		do {
			code = run_step(&binding, &err);
		} while (code == 0 && binding.claim->bind.step != BT_CLAIM_STEP_DONE);
	}
	if (code == 0 && !data->is_patched && binding.node != NULL &&
		binding.node->demand != NULL) {
		code = bt_node_allocatable_patch(binding.instance, pod, binding.node->demand, &err);
		data->is_patched = code == 0;
	}
	if (code == 0 && bt_dynamic_binds_conditions(plugin)) {
		code = bt_dynamic_wait(plugin, cycle, pod, slot, &err);
	}
	if (code == BT_WRITE_PENDING) {
		return bt_status_code_only(BT_STATUS_WAIT);
	}
	return code == 0 ? BT_STATUS_OK : bt_status_from_error(cycle->arena, &err);
}

struct bt_status bt_dynamic_reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (data->unallocated_count == 0) {
		return BT_STATUS_OK;
	}
	if (data->column != NULL && bt_dynamic_node_of(data, slot) == NULL) {
		/*
		 * The column only has outcomes: run Filter on the chosen node to get the devices.
		 */
		struct bt_node_info info;

		bt_node_info_init(&info, bt_plugin_handle(plugin)->state, slot);
		struct bt_status status = bt_dynamic_filter(plugin, cycle, pod, &info);
		if (!bt_status_is_success(&status)) {
			return status;
		}
	}
	const struct bt_dynamic_node *node = bt_dynamic_node_of(data, slot);
	if (node == NULL) {
		/*
		 * If Filter made no entry for the node, device plugins on the node provide the
		 * special claim's resources. All other claims must have an allocation.
		 */
		for (uint32_t i = 0; i < data->user_count; i++) {
			if (!data->claims[i].was_allocated) {
				return bt_status_error_text(cycle->arena,
					BT_STR("claim allocation not found for node"));
			}
		}
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		struct bt_allocation_result result;
		struct berth_error err = BERTH_ERROR_INIT;

		if (!bt_dynamic_is_wanted(claim, node)) {
			continue;
		}
		if (bt_dynamic_allocation(data, node, i, instance->base.handle->prng, cycle->arena,
			    &result, &err) != 0) {
			return bt_status_from_error(cycle->arena, &err);
		}
		/*
		 * Mark the allocation as in flight in the claim cache, so that other pods do not
		 * get its devices. The claim in flight has the allocation, but not the finalizer,
		 * which PreBind writes.
		 */
		struct bt_resource_claim allocated =
			*(claim->is_special ? &node->special->claim : claim->claim);
		allocated.status.allocation = &result;
		struct bt_object *object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &allocated);
		bt_claim_cache_signal(&instance->dra->claims, claim->uid, object);
		claim->is_signalled = true;
		claim->allocation =
			((const struct bt_resource_claim *)object->value)->status.allocation;
		bt_vec_push(&cycle->kept, object);
		if (cycle->group != NULL) {
			bt_dynamic_group_add(bt_dynamic_group_of(plugin, cycle), claim->uid,
				cycle->group->arena);
		}
	}
	return BT_STATUS_OK;
}

/**
 * Undo what Reserve did for a claim. Without a writer no watch reports the claim, so the assumed
 * version in the cache must stay.
 */
static void take_back(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, struct bt_dynamic_claim *claim)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	struct bt_claim_cache *claims = &instance->dra->claims;

	if (!claim->is_signalled) {
		return;
	}
	claim->is_signalled = false;
	if (bt_claim_cache_maybe_remove(claims, claim->uid, false)) {
		if (instance->base.handle->claim_writer != NULL) {
			bt_claim_cache_restore(
				claims, claim->object->meta->namespace_, claim->object->meta->name);
		}
		bt_dynamic_group_drop(bt_dynamic_group_of(plugin, cycle), claim->uid);
	}
}

void bt_dynamic_unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_claim_cache *claims = &instance->dra->claims;
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);

	if (data == NULL) {
		return;
	}
	/*
	 * If PreBind was cancelled while the status of a claim was being written, wait for the
	 * answer. Otherwise devices could be given to other claims although this claim gets them,
	 * and it would be unknown what to undo.
	 */
	for (uint32_t i = 0; writer != NULL && i < data->count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		struct bt_claim_bind *bind = &claim->bind;
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_object *object = NULL;

		if (bind->step != BT_CLAIM_STEP_STATUS) {
			continue;
		}
		bind->step = BT_CLAIM_STEP_DONE;
		if (writer->write(writer->context, pod, BT_CLAIM_WRITE_STATUS, bind->base,
			    bind->sent, true, &object, &err) != 0) {
			/* Nothing was written, so there is nothing to undo. */
			berth_error_finish(&err);
			continue;
		}
		if (bt_claim_cache_assume(claims, object, &err) != 0) {
			berth_error_finish(&err); /* the watch has reported the claim already */
		}
		bt_dynamic_claim_set(claim, cycle, object);
		if (bt_claim_cache_maybe_remove(claims, claim->uid, true)) {
			bt_dynamic_group_drop(bt_dynamic_group_of(plugin, cycle), claim->uid);
		}
	}
	for (uint32_t i = 0; i < data->user_count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		take_back(plugin, cycle, claim);
		if (!claim->is_undone && claim->claim->status.allocation != NULL &&
			bt_resource_claim_is_reserved_by(claim->claim, pod->uid)) {
			claim->is_undone = true;
			bt_dynamic_unreserve_claim(
				instance, pod, claim->claim, pod->uid, cycle->arena);
		}
	}
	if (data->count > data->user_count) {
		/* The special claim exists only for this attempt, so delete it. */
		struct bt_dynamic_claim *special = &data->claims[data->user_count];
		struct berth_error err = BERTH_ERROR_INIT;

		take_back(plugin, cycle, special);
		if (!special->is_undone && !bt_extended_is_in_memory(special->claim)) {
			special->is_undone = true;
			if (bt_extended_delete(
				    instance, pod, special->object, cycle->arena, &err) != 0) {
				BT_LOG_ERROR(berth_error_message(&err),
					"Failed to delete the claim for extended resources",
					BT_LOG_REF("pod", pod->namespace_, pod->name));
				berth_error_finish(&err);
			}
		}
	}
	const struct bt_dynamic_node *node = bt_dynamic_node_of(data, slot);
	if (node != NULL && node->demand != NULL) {
		bt_node_allocatable_clear(instance, pod, node->demand);
	}
}
