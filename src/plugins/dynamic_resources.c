/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DynamicResources (PreEnqueue, PreFilter, Filter, PostFilter, Score, Reserve, PreBind): devices
 * that a pod claims. Spec: 12. This file has the instance, PreEnqueue, PreFilter, Sign, and common
 * functions.
 *
 * If a pod has no claims, and no device class provides its extended resources, then PreFilter is a
 * function of the shape and every node has the score 0, so the plugin adds no work to the cycle.
 */
#include "plugins/dynamic_resources.h"

#include "base/alloc.h"
#include "base/error.h"
#include "framework/framework.h"
#include "plugins/common_plugin.h"
#include "plugins/in_tree.h"

/**
 * Queueing hints resolve the claims of pods with at most this many entries without allocating
 * memory. Spec: 04 (hints) section 6.15.
 */
#define ENTRIES_USUAL 8

/**
 * Resolve the pod's claims. *out_has: whether `claim` (may be NULL) is one of the resolved claims.
 * Returns false if a claim cannot be resolved.
 */
static bool resolve(const struct bt_plugin *plugin, const struct bt_pod *pod,
	const struct bt_object_meta *claim, bool *out_has)
{
	uint32_t entry_count = pod->spec.resource_claims.count;
	struct bt_resolved_claim few[ENTRIES_USUAL];
	struct bt_resolved_claim *claims = entry_count <= ENTRIES_USUAL
		? few
		: BT_NEW_ARRAY(struct bt_resolved_claim, entry_count);
	uint32_t count;
	bool resolved =
		bt_dynamic_resolve(bt_dynamic_resources_of(plugin), pod, claims, &count, NULL) == 0;

	*out_has = false;
	for (uint32_t i = 0; resolved && claim != NULL && i < count; i++) {
		const struct bt_object_meta *meta = claims[i].claim->meta;

		/* Compare claims without uid (from files) by name. */
		*out_has |= bt_str_equal(meta->uid, claim->uid) &&
			(claim->uid.length != 0 ||
				(bt_str_equal(meta->name, claim->name) &&
					bt_str_equal(meta->namespace_, claim->namespace_)));
	}
	if (claims != few) {
		bt_free(claims);
	}
	return resolved;
}

/** Returns a claim with only the status, for comparison. Empty lists are made absent. */
static struct bt_resource_claim status_alone(const struct bt_resource_claim *claim)
{
	struct bt_resource_claim alone = {.status = claim->status};

	alone.status.reserved_for.present = alone.status.reserved_for.count > 0;
	alone.status.devices.present = alone.status.devices.count > 0;
	return alone;
}

static bool after_claim_change(const struct bt_hint_call *call)
{
	const struct bt_resource_claim *old_claim = call->old_object;
	const struct bt_resource_claim *new_claim = call->new_object;
	bool is_own;

	if (!resolve(call->plugin, call->pod->object, &new_claim->metadata, &is_own)) {
		return false;
	}
	/* Devices became free. They may help the pod, whichever claim had the devices before. */
	if (old_claim != NULL && old_claim->status.allocation != NULL &&
		new_claim->status.allocation == NULL) {
		return true;
	}
	if (is_own && old_claim != NULL) {
		struct bt_resource_claim before = status_alone(old_claim);
		struct bt_resource_claim after = status_alone(new_claim);

		is_own = !bt_message_equal(&bt_resource_claim_message, &before, &after);
	}
	return is_own;
}

static bool after_pod_change(const struct bt_hint_call *call)
{
	const struct bt_pod *changed = call->new_object;
	bool unused;

	return bt_str_equal(changed->metadata.uid, call->pod->uid) &&
		resolve(call->plugin, changed, NULL, &unused);
}

static const struct bt_event_registration events[] = {
	{{BT_RESOURCE_NODE,
		 BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL | BT_ACTION_UPDATE_NODE_ALLOCATABLE},
		NULL},
	{{BT_RESOURCE_RESOURCE_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_claim_change},
	{{BT_RESOURCE_POD, BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM}, after_pod_change},
	{{BT_RESOURCE_DEVICE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_RESOURCE_SLICE, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
};

static enum bt_hint_scope dynamic_resources_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	/* The pod's status has the names of generated claims, so this hint depends on the pod. */
	return bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_RESOURCE_CLAIM)
		? BT_HINT_SCOPE_POD
		: BT_HINT_SCOPE_SHAPE;
}

/** Cycle data of pods without claims; never changes. */
static struct bt_dynamic_cycle no_claims;

static struct bt_status unresolvable(struct bt_arena *arena, struct berth_error *err)
{
	struct bt_status status = bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
		bt_str_from(berth_error_message(err)));

	berth_error_finish(err);
	return status;
}

struct bt_dynamic_group *bt_dynamic_group_of(
	const struct bt_plugin *plugin, struct bt_cycle_state *cycle)
{
	struct bt_group_state *group = cycle->group;

	if (group == NULL) {
		return NULL;
	}
	if (group->data[plugin->index] == NULL) {
		group->data[plugin->index] = BT_ARENA_NEW(group->arena, struct bt_dynamic_group);
	}
	return group->data[plugin->index];
}

static uint32_t find_in_group(const struct bt_dynamic_group *group, struct bt_str uid)
{
	return bt_str_search(group->items, sizeof(*group->items), 0, group->count, uid);
}

void bt_dynamic_group_add(struct bt_dynamic_group *group, struct bt_str uid, struct bt_arena *arena)
{
	if (find_in_group(group, uid) == group->count) {
		bt_arena_push(arena, group, bt_arena_str(arena, uid));
	}
}

void bt_dynamic_group_drop(struct bt_dynamic_group *group, struct bt_str uid)
{
	uint32_t i = group != NULL ? find_in_group(group, uid) : 0;

	if (group != NULL && i < group->count) {
		group->items[i] = group->items[--group->count];
	}
}

void bt_dynamic_claim_set(
	struct bt_dynamic_claim *claim, struct bt_cycle_state *cycle, struct bt_object *object)
{
	bt_vec_push(&cycle->kept, object);
	claim->object = object;
	claim->claim = bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
}

bool bt_dynamic_is_wanted(const struct bt_dynamic_claim *claim, const struct bt_dynamic_node *node)
{
	return !claim->was_allocated && (!claim->is_special || node->special != NULL);
}

static struct bt_status pre_enqueue(
	struct bt_plugin *plugin, const struct bt_pod_info *pod, struct bt_arena *arena)
{
	uint32_t entry_count = pod->object->spec.resource_claims.count;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_resolved_claim *claims;
	uint32_t count;

	if (entry_count == 0) {
		return BT_STATUS_OK;
	}
	claims = BT_ARENA_NEW_ARRAY(arena, struct bt_resolved_claim, entry_count);
	return bt_dynamic_resolve(
		       bt_dynamic_resources_of(plugin), pod->object, claims, &count, &err) == 0
		? BT_STATUS_OK
		: unresolvable(arena, &err);
}

static bool pre_enqueue_passes(BT_UNUSED struct bt_plugin *plugin, const struct bt_shape *shape)
{
	return bt_shape_pod(shape)->spec.resource_claims.count == 0;
}

/** State shared by the functions of PreFilter. */
struct preparation {
	struct bt_plugin *plugin;
	struct bt_dynamic_resources *instance;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	struct bt_dynamic_cycle *data;
	struct bt_dynamic_group *group;
};

static bool is_pure_for(struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	/*
	 * With the gate DRAWorkloadResourceClaims, PreFilter looks up the pod's group even if
	 * neither the pod nor the group has claims, so the result does not depend on the shape
	 * alone.
	 */
	return bt_plugin_pod_spec(pod)->resource_claims.count == 0 &&
		!bt_extended_is_wanted(bt_dynamic_resources_of(plugin), pod->shape) &&
		(bt_plugin_pod_group_name(bt_plugin_pod_spec(pod)).length == 0 ||
			!bt_plugin_gate(plugin, BT_GATE_DRA_WORKLOAD_RESOURCE_CLAIMS));
}

static void add_claim(const struct preparation *preparation, struct bt_object *object,
	const struct bt_resource_claim_consumer_reference *reference)
{
	struct bt_dynamic_claim *claim = &preparation->data->claims[preparation->data->count++];
	struct bt_arena *arena = preparation->cycle->arena;

	bt_dynamic_claim_set(claim, preparation->cycle, object);
	claim->uid = object->meta->uid.length != 0
		? object->meta->uid
		: bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(object->meta->namespace_),
			  BT_STR_ARG(object->meta->name));
	claim->was_allocated = claim->claim->status.allocation != NULL;
	claim->reference = *reference;
	claim->reference.name = bt_arena_str(arena, reference->name);
	claim->reference.uid = bt_arena_str(arena, reference->uid);
}

/** Steps 2, 4 and 5 of PreFilter: find the claims of the pod's entries. */
static struct bt_status find_claims(const struct preparation *preparation)
{
	const struct bt_pod *pod = preparation->pod->object;
	struct bt_arena *arena = preparation->cycle->arena;
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t entry_count = pod->spec.resource_claims.count;
	struct bt_resource_claim_consumer_reference *references = BT_ARENA_NEW_ARRAY(
		arena, struct bt_resource_claim_consumer_reference, (size_t)entry_count + 1);
	struct bt_resolved_claim *claims =
		BT_ARENA_NEW_ARRAY(arena, struct bt_resolved_claim, entry_count);
	uint32_t count;

	if (bt_dynamic_resolve(preparation->instance, pod, claims, &count, &err) != 0) {
		return unresolvable(arena, &err);
	}
	for (uint32_t i = 0; i < entry_count || i == 0; i++) {
		uint32_t entry = entry_count != 0 ? i : UINT32_MAX;

		if (bt_dynamic_binding(preparation->instance, pod, entry, &references[i], &err) !=
			0) {
			return unresolvable(arena, &err);
		}
	}
	preparation->data->claims =
		BT_ARENA_NEW_ARRAY(arena, struct bt_dynamic_claim, (size_t)count + 1);
	for (uint32_t i = 0; i < count; i++) {
		add_claim(preparation, bt_object_share(claims[i].claim),
			&references[claims[i].entry]);
	}
	preparation->data->user_count = count;
	return BT_STATUS_OK;
}

/**
 * Check that the device class of a request exists. Messages name the request "request" or
 * "request/subrequest".
 */
static struct bt_status check_class(const struct preparation *preparation, struct bt_str request,
	struct bt_str subrequest, struct bt_str class_name)
{
	const struct bt_object_store *objects = &preparation->instance->base.handle->state->objects;
	struct bt_arena *arena = preparation->cycle->arena;
	const char *slash = subrequest.length != 0 ? "/" : "";

	if (class_name.length == 0) {
		return bt_status_error_text(arena,
			bt_arena_printf(arena, "request %.*s%s%.*s: unsupported request type",
				BT_STR_ARG(request), slash, BT_STR_ARG(subrequest)));
	}
	if (bt_object_store_find(objects, BT_KIND_DEVICE_CLASS, BT_STR(""), class_name) == NULL) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
			"request %.*s%s%.*s: device class %.*s does not exist", BT_STR_ARG(request),
			slash, BT_STR_ARG(subrequest), BT_STR_ARG(class_name));
	}
	return BT_STATUS_OK;
}

static struct bt_status check_request(const struct preparation *preparation,
	const struct bt_resource_claim *claim, const struct bt_device_request *request)
{
	struct bt_status status = BT_STATUS_OK;

	if (request->exactly != NULL) {
		return check_class(preparation, request->name, BT_STR(""),
			request->exactly->device_class_name);
	}
	const char *why = NULL;
	if (request->first_available.count == 0) {
		why = "unknown request type";
	} else if (!bt_plugin_gate(preparation->plugin, BT_GATE_DRA_PRIORITIZED_LIST)) {
		why = "has subrequests, but the DRAPrioritizedList feature is disabled";
	}
	if (why != NULL) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			preparation->cycle->arena, "resource claim %.*s/%.*s, request %.*s: %s",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name),
			BT_STR_ARG(request->name), why);
	}
	preparation->data->has_alternatives = true;
	for (uint32_t i = 0; i < request->first_available.count && bt_status_is_success(&status);
		i++) {
		const struct bt_device_sub_request *subrequest = &request->first_available.items[i];

		status = check_class(preparation, request->name, subrequest->name,
			subrequest->device_class_name);
	}
	return status;
}

static bool has_alternatives(const struct bt_resource_claim *claim)
{
	for (uint32_t i = 0; i < claim->spec.devices.requests.count; i++) {
		if (claim->spec.devices.requests.items[i].exactly == NULL) {
			return true;
		}
	}
	return false;
}

/** Step 6 of PreFilter: check the claims. */
static struct bt_status check_claims(const struct preparation *preparation)
{
	struct bt_dynamic_cycle *data = preparation->data;
	struct bt_status status = BT_STATUS_OK;

	for (uint32_t i = 0; i < data->count && bt_status_is_success(&status); i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];

		if (claim->was_allocated) {
			data->has_alternatives |= has_alternatives(claim->claim);
			/* Step 6a: parse the node selector of the allocation. */
			const struct bt_node_selector *selector =
				claim->claim->status.allocation->node_selector;
			struct bt_arena *arena = preparation->cycle->arena;
			struct bt_error_list errors = {0};

			if (selector == NULL) {
				status = BT_STATUS_OK;
			} else {
				claim->has_selector = true;
				claim->selector =
					bt_node_selector_parse(selector, BT_STR(""), arena);
				bt_node_selector_errors(&claim->selector, arena, &errors);
				status = errors.count == 0
					? BT_STATUS_OK
					: bt_status_error_text(
						  arena, bt_error_list_text(&errors, arena));
			}
		} else {
			data->unallocated_count++;
			/* Step 6b: check whether the claim can be allocated. */
			const struct bt_resource_claim *object = claim->claim;
			const struct bt_allocation_result *pending = bt_claim_cache_pending(
				&preparation->instance->dra->claims, claim->uid);

			if (pending != NULL && preparation->group != NULL &&
				find_in_group(preparation->group, claim->uid) <
					preparation->group->count) {
				claim->pending = pending;
				preparation->data->has_alternatives |= has_alternatives(object);
			} else if (pending != NULL) {
				status = bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					preparation->cycle->arena,
					"resource claim %.*s/%.*s is in the process of being "
					"allocated",
					BT_STR_ARG(object->metadata.namespace_),
					BT_STR_ARG(object->metadata.name));
			} else {
				for (uint32_t k = 0; !claim->is_special &&
					k < object->spec.devices.requests.count &&
					bt_status_is_success(&status);
					k++) {
					status = check_request(preparation, object,
						&object->spec.devices.requests.items[k]);
				}
			}
		}
	}
	return status;
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct preparation preparation = {
		.plugin = plugin,
		.instance = bt_dynamic_resources_of(plugin),
		.cycle = cycle,
		.pod = pod,
	};
	struct bt_dynamic_cycle *data;
	struct bt_status status;

	/* The cycle data has no claims until all steps have succeeded (step 8). */
	cycle->pre_filter_data[plugin->index] = &no_claims;
	if (is_pure_for(plugin, pod)) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	if (preparation.instance->base.handle->verify) {
		struct bt_dynamic_resources *instance = preparation.instance;
		struct bt_strbuf reason = {0};

		if (!bt_dra_validate(instance->dra, &reason)) {
			bt_panic("dynamic resources: %s", bt_strbuf_c(&reason));
		}
		bt_strbuf_finish(&reason);
	}
	preparation.data = BT_ARENA_NEW(cycle->arena, struct bt_dynamic_cycle);
	preparation.group = bt_dynamic_group_of(plugin, cycle);
	data = preparation.data;
	status = find_claims(&preparation);
	if (bt_status_is_success(&status)) {
		struct bt_resource_claim_consumer_reference reference;
		struct berth_error err = BERTH_ERROR_INIT;

		data->extended = bt_extended_begin(preparation.instance, pod, cycle->arena);
		if (data->extended == NULL) {
			status = BT_STATUS_OK; /* the pod needs no special claim */
		} else if (bt_dynamic_binding(preparation.instance, pod->object, UINT32_MAX,
				   &reference, &err) != 0) {
			status = unresolvable(cycle->arena, &err);
		} else {
			add_claim(&preparation, bt_extended_claim(data->extended), &reference);
			data->claims[data->user_count].is_special = true;
			status = BT_STATUS_OK;
		}
	}
	if (bt_status_is_success(&status) && data->count == 0) {
		status = bt_status_code_only(BT_STATUS_SKIP);
	} else {
		if (bt_status_is_success(&status)) {
			status = check_claims(&preparation);
		}
		if (bt_status_is_success(&status) && data->unallocated_count != 0) {
			/* Step 7: create the allocator. */
			struct bt_arena *arena = cycle->arena;
			struct bt_allocator_options options = {
				.begin = bt_dynamic_filter_begin,
				.is_over = bt_dynamic_filter_is_over,
				.context = &data->limit,
				.verify = preparation.instance->base.handle->verify,
			};

			data->limit = (struct bt_filter_limit){
				.handle = preparation.instance->base.handle,
				.timeout_ns = preparation.instance->filter_timeout_ns,
				.cycle = cycle,
			};
			data->todo = BT_ARENA_NEW_ARRAY(
				arena, const struct bt_resource_claim *, data->count);
			data->allocator =
				bt_allocator_create(preparation.instance->dra, &options, arena);
		}
	}
	if (bt_status_is_success(&status)) {
		data->slot_count = preparation.instance->base.handle->state->nodes.slot_count;
		cycle->pre_filter_data[plugin->index] = data;
	}
	return status;
}

/*
 * A constant score is only asked for if is_pure_for holds: such pods have no claims, and every node
 * has the score 0. Other pods are scored in every cycle.
 */

static bool score_is_constant(BT_UNUSED struct bt_plugin *plugin, BT_UNUSED const void *data,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const struct bt_state *state,
	int32_t *out_score)
{
	*out_score = 0;
	return true;
}

/**
 * Scores by column are right only if PreFilter and Filter of the plugin are enabled. Without
 * PreFilter, Score fails because there is no cycle data; without Filter, there are no allocations
 * to score.
 */
static bool score_fits_column(struct bt_plugin *plugin, BT_UNUSED const void *data,
	BT_UNUSED const struct bt_pod_info *pod)
{
	const struct bt_framework *framework = bt_plugin_handle(plugin)->framework;

	return framework != NULL && bt_framework_has_at(framework, BT_POINT_PRE_FILTER, plugin) &&
		bt_framework_has_at(framework, BT_POINT_FILTER, plugin);
}

static struct bt_status sign(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod,
	BT_UNUSED struct bt_sign_fragments *out)
{
	if (bt_plugin_pod_spec(pod)->resource_claims.count > 0) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_SIGN_DRA_CLAIMS);
	}
	return BT_STATUS_OK;
}

static struct bt_status pre_bind_pre_flight(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED uint32_t slot,
	struct bt_pre_bind_pre_flight *out_result)
{
	const struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);

	out_result->allow_parallel = true;
	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	return data->count == 0 ? bt_status_code_only(BT_STATUS_SKIP) : BT_STATUS_OK;
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct bt_dynamic_resources *instance = (struct bt_dynamic_resources *)(void *)plugin;
	const struct bt_handle *handle = bt_plugin_handle(plugin);

	instance->dra = bt_dra_of(handle->state, handle->gates);
	instance->filter_timeout_ns =
		args->dynamic_resources.filter_timeout_ns.value; /* 0 if the gate is off */
	instance->binding_timeout_ns = args->dynamic_resources.binding_timeout_ns.value;
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.is_pure_for = is_pure_for,
	.post_filter_changes_nothing = is_pure_for,
	.pre_enqueue_passes = pre_enqueue_passes,
	.hint_scope_of = dynamic_resources_hint_scope,
	.score_fits_column = score_fits_column,
	.score_is_constant = score_is_constant,
	.columns_per_cycle = true,
	.keeps_cycle_data = true,
	.filter_column = bt_dynamic_filter_column,
	.filter_needs_cells = true,
	.rejections =
		{
			[BT_ALLOCATION_NONE - 1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_CLAIMS_NOT_ALLOCATABLE},
			[BT_ALLOCATION_INVALID_POOL -
				1] = {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_INVALID_RESOURCE_POOLS},
		},
	.score_slots = bt_dynamic_score_slots,
	.cell_traits = bt_dynamic_cell_traits,
};

const struct bt_plugin_ops bt_dynamic_resources_plugin = {
	.name = "DynamicResources",
	.size = sizeof(struct bt_dynamic_resources),
	.args_kind = BT_ARGS_DYNAMIC_RESOURCES,
	.init = init,
	.shortcuts = &shortcuts,
	.pre_enqueue = pre_enqueue,
	.events = BT_EVENTS(events),
	.sign = sign,
	.pre_filter = pre_filter,
	.filter = bt_dynamic_filter,
	.post_filter = bt_dynamic_post_filter,
	.score = bt_dynamic_score,
	.normalize = BT_NORMALIZE_DEFAULT,
	.assume_status = bt_dynamic_assume_status,
	.reserve = bt_dynamic_reserve,
	.unreserve = bt_dynamic_unreserve,
	.pre_bind_pre_flight = pre_bind_pre_flight,
	.pre_bind = bt_dynamic_pre_bind,
};
