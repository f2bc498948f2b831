/* SPDX-License-Identifier: Apache-2.0 */
/**
 * VolumeBinding (PreFilter, Filter, PreScore, Score, Reserve, PreBind): accepts nodes on which the
 * pod's claims are bound or can be bound, and binds these claims. The volume binder does the work
 * (volume_binder.h). Spec: 07 section 5.
 */
#include "plugins/volume_binding.h"

#include <math.h>

#include "api/change.h"
#include "base/alloc.h"
#include "base/wrap.h"
#include "framework/framework.h"
#include "framework/hint_marks.h"
#include "plugins/common_plugin.h"
#include "plugins/common_sign.h"
#include "plugins/common_volume.h"
#include "plugins/in_tree.h"

/*
 * Score of VolumeBinding: utilisation of the storage that the pod would use. Spec: 07 section 10.
 */

struct class_use {
	struct bt_str class_name;
	int64_t requested;
	int64_t capacity;
};

struct class_uses {
	struct class_use *items;
	uint32_t count;
};

static struct class_use *use_of(struct class_uses *uses, struct bt_str class_name)
{
	uint32_t index = BT_STR_INDEX(uses->items, uses->count, class_name, class_name);

	if (index == uses->count) {
		uses->items[uses->count++] = (struct class_use){.class_name = class_name};
	}
	return &uses->items[index];
}

static int64_t request_bytes(const struct bt_persistent_volume_claim *claim)
{
	const struct bt_quantity *request = bt_claim_request(claim);

	return request != NULL ? bt_quantity_value(request) : 0;
}

/**
 * Returns the score of a node, computed from the volumes found for the node. Returns 0 if volumes
 * is NULL. Spec 07 section 10.
 */
static int64_t volume_score(const struct bt_shape_point *shape, uint32_t point_count,
	const struct bt_pod_volumes *volumes, struct bt_arena *arena)
{
	struct class_uses uses = {0};
	int64_t sum = 0;

	if (volumes == NULL) {
		return 0;
	}
	uses.items = BT_ARENA_NEW_ARRAY(
		arena, struct class_use, (size_t)volumes->static_count + volumes->dynamic_count);
	for (uint32_t i = 0; i < volumes->static_count; i++) {
		const struct bt_static_binding *binding = &volumes->static_bindings[i];
		struct class_use *use = use_of(&uses, binding->volume->spec.storage_class_name);

		use->requested = bt_wrap_add(use->requested, request_bytes(binding->claim));
		use->capacity = bt_wrap_add(
			use->capacity, bt_quantity_value(bt_volume_capacity(binding->volume)));
	}
	/* Provisioned volumes count only if no existing volume is used. */
	if (volumes->static_count == 0) {
		for (uint32_t i = 0; i < volumes->dynamic_count; i++) {
			const struct bt_dynamic_provision *provision =
				&volumes->dynamic_provisions[i];

			if (provision->node_capacity == NULL) {
				continue;
			}
			struct class_use *use =
				use_of(&uses, bt_persistent_volume_claim_class(provision->claim));
			use->requested =
				bt_wrap_add(use->requested, request_bytes(provision->claim));
			use->capacity = provision->node_capacity->capacity != NULL
				? bt_quantity_value(provision->node_capacity->capacity)
				: 0;
		}
	}
	if (uses.count == 0) {
		return 0;
	}
	for (uint32_t i = 0; i < uses.count && point_count != 0; i++) {
		const struct class_use *use = &uses.items[i];
		int64_t utilization = 100;

		if (use->capacity != 0 && use->requested <= use->capacity) {
			utilization = bt_wrap_div(bt_wrap_mul(use->requested, 100), use->capacity);
		}
		sum = bt_wrap_add(sum, bt_broken_line(shape, point_count, utilization));
	}
	return bt_trunc_to_i64(round((double)sum / (double)uses.count));
}

/* Hints. Spec: 07 section 12. */

static bool after_storage_class_change(const struct bt_hint_call *call)
{
	const struct bt_storage_class *old_class = call->old_object;
	const struct bt_storage_class *new_class = call->new_object;

	/* Skip if allowedTopologies has not changed; absent and empty lists are equal. */
	if (old_class == NULL ||
		old_class->allowed_topologies.count != new_class->allowed_topologies.count) {
		return true;
	}
	for (uint32_t i = 0; i < old_class->allowed_topologies.count; i++) {
		const struct bt_topology_selector_term *left =
			&old_class->allowed_topologies.items[i];
		const struct bt_topology_selector_term *right =
			&new_class->allowed_topologies.items[i];
		uint32_t count = left->match_label_expressions.count;

		if (count != right->match_label_expressions.count) {
			return true;
		}
		for (uint32_t k = 0; k < count; k++) {
			if (!bt_str_equal(left->match_label_expressions.items[k].key,
				    right->match_label_expressions.items[k].key) ||
				!bt_str_list_equal(&left->match_label_expressions.items[k].values,
					&right->match_label_expressions.items[k].values)) {
				return true;
			}
		}
	}
	return false;
}

static bool after_csi_node_change(const struct bt_hint_call *call)
{
	const struct bt_csi_node *old_node = call->old_object;
	const struct bt_csi_node *new_node = call->new_object;
	const struct bt_str *old_value;
	const struct bt_str *new_value;

	if (old_node == NULL) {
		return true;
	}
	old_value =
		bt_str_map_find(&old_node->metadata.annotations, BT_ANNOTATION_MIGRATED_PLUGINS);
	new_value =
		bt_str_map_find(&new_node->metadata.annotations, BT_ANNOTATION_MIGRATED_PLUGINS);
	return !bt_str_equal(old_value != NULL ? *old_value : BT_STR(""),
		new_value != NULL ? *new_value : BT_STR(""));
}

static bool checks_capacity(const struct bt_csi_driver *driver)
{
	return driver->spec.storage_capacity.present && driver->spec.storage_capacity.value;
}

/**
 * Upstream quirk, spec 07 section 12: only inline volumes of the driver are considered, not volumes
 * of claims.
 */
static bool after_csi_driver_change(const struct bt_hint_call *call)
{
	const struct bt_csi_driver *old_driver = call->old_object;
	const struct bt_csi_driver *new_driver = call->new_object;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(call->pod);

	if (old_driver == NULL || !checks_capacity(old_driver) || checks_capacity(new_driver)) {
		return false;
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_inline_csi_volume_source *csi = spec->volumes.items[i].csi;

		if (csi != NULL && bt_str_equal(csi->driver, new_driver->metadata.name)) {
			return true;
		}
	}
	return false;
}

static bool after_capacity_change(const struct bt_hint_call *call)
{
	if (call->old_object == NULL) {
		return true;
	}
	const struct bt_quantity *old_limit = bt_storage_capacity_limit(call->old_object);
	const struct bt_quantity *new_limit = bt_storage_capacity_limit(call->new_object);
	return new_limit != NULL &&
		(old_limit == NULL || bt_quantity_value(new_limit) > bt_quantity_value(old_limit));
}

const struct bt_event_registration bt_volume_binding_events[] = {
	{{BT_RESOURCE_STORAGE_CLASS, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_storage_class_change},
	{{BT_RESOURCE_PERSISTENT_VOLUME_CLAIM, BT_ACTION_ADD | BT_ACTION_UPDATE},
		bt_hint_if_uses_claim},
	{{BT_RESOURCE_PERSISTENT_VOLUME, BT_ACTION_ADD | BT_ACTION_UPDATE}, NULL},
	{{BT_RESOURCE_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE_NODE_LABEL}, NULL},
	{{BT_RESOURCE_CSI_NODE, BT_ACTION_ADD | BT_ACTION_UPDATE}, after_csi_node_change},
	{{BT_RESOURCE_CSI_DRIVER, BT_ACTION_UPDATE}, after_csi_driver_change},
	{{BT_RESOURCE_CSI_STORAGE_CAPACITY, BT_ACTION_ADD | BT_ACTION_UPDATE},
		after_capacity_change},
};
const uint32_t bt_volume_binding_event_count = (uint32_t)BT_ARRAY_LENGTH(bt_volume_binding_events);

static enum bt_hint_scope volume_binding_hint_scope(BT_UNUSED struct bt_plugin *plugin,
	const struct bt_shape *shape, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, BT_UNUSED const void *new_object)
{
	return bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_PERSISTENT_VOLUME_CLAIM)
		? bt_claim_hint_scope(shape)
		: BT_HINT_SCOPE_SHAPE;
}

static void hint_wants(BT_UNUSED struct bt_plugin *plugin, const struct bt_shape *shape,
	struct bt_hint_wants *wants)
{
	for (uint32_t i = 0; i < shape->claim_names.count; i++) {
		bt_hint_want(wants,
			bt_hint_mark(BT_MARK_CLAIM_NAME, shape->claim_names.items[i], BT_STR("")));
	}
	if (bt_claim_hint_scope(shape) == BT_HINT_SCOPE_POD) {
		bt_hint_want(wants, bt_hint_mark(BT_MARK_CLAIM, BT_STR(""), BT_STR("")));
	}
}

/** Offer marks for events of claims. Returns false for other events, which may help any pod. */
static bool hint_offers(BT_UNUSED struct bt_plugin *plugin, const struct bt_cluster_event *event,
	BT_UNUSED const void *old_object, const void *new_object, struct bt_hint_offers *offers)
{
	const struct bt_persistent_volume_claim *claim = new_object;

	if (!bt_str_equal(event->resource, (struct bt_str)BT_RESOURCE_PERSISTENT_VOLUME_CLAIM)) {
		return false;
	}
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_CLAIM, BT_STR(""), BT_STR("")));
	bt_hint_offer(offers, bt_hint_mark(BT_MARK_CLAIM_NAME, claim->metadata.name, BT_STR("")));
	return true;
}

/**
 * Cycle data of the plugin. Clones of the cycle share the data, and Filter writes to the data. Spec
 * 07 section 5 says why this is harmless.
 */
struct binding_data {
	bool all_bound;
	struct bt_pod_volume_claims claims;
	uint32_t slot_count;
	bool *passed; /* by slot: the node has passed Filter */
	struct bt_pod_volumes **volumes;
};

struct volume_binding_plugin {
	struct bt_plain_plugin base;
	struct bt_volume_binder *binder;
	bt_claim_getter get_claim; /* source of claims for PreFilter; NULL: the state */
	void *get_claim_context;
	struct binding_data no_claims; /* cycle data of pods without claims; never changes */
	struct bt_shape_point *shape;  /* NULL: no score */
	uint32_t shape_count;
};

static struct binding_data *data_of(
	const struct bt_plugin *plugin, const struct bt_cycle_state *cycle)
{
	return cycle->pre_filter_data[plugin->index];
}

static bool has_entry(const struct binding_data *data, uint32_t slot)
{
	return data != NULL && slot < data->slot_count && data->passed[slot];
}

static bool is_pure_for(BT_UNUSED struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	return !bt_pod_has_claims(bt_plugin_pod_spec(pod), true);
}

static struct bt_status unresolvable(struct bt_arena *arena, struct bt_str text)
{
	return bt_status_text(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena, text);
}

static struct bt_status pre_filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, BT_UNUSED struct bt_pre_filter_result *out_result)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	struct berth_error err = BERTH_ERROR_INIT;

	if (!bt_pod_has_claims(spec, true)) {
		cycle->pre_filter_data[plugin->index] = &instance->no_claims;
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		struct bt_volume_claim named;

		if (!bt_volume_claim_of(pod, &spec->volumes.items[i], cycle->arena, &named)) {
			continue;
		}
		const struct bt_persistent_volume_claim *claim = instance->get_claim != NULL
			? instance->get_claim(
				  instance->get_claim_context, pod->namespace_, named.name)
			: bt_find_claim(instance->base.handle->state, pod->namespace_, named.name);

		if (claim == NULL && named.ephemeral) {
			return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				cycle->arena,
				"waiting for ephemeral volume controller to create the "
				"persistentvolumeclaim \"%.*s\"",
				BT_STR_ARG(named.name));
		}
		if (claim == NULL) {
			return unresolvable(cycle->arena,
				bt_not_found_text(
					cycle->arena, "persistentvolumeclaim", named.name));
		}
		if (bt_str_equal_c(claim->status.phase, "Lost")) {
			return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				cycle->arena,
				"persistentvolumeclaim \"%.*s\" bound to non-existent "
				"persistentvolume \"%.*s\"",
				BT_STR_ARG(claim->metadata.name),
				BT_STR_ARG(claim->spec.volume_name));
		}
		if (claim->metadata.deletion_timestamp != NULL) {
			return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				cycle->arena, "persistentvolumeclaim \"%.*s\" is being deleted",
				BT_STR_ARG(claim->metadata.name));
		}
		if (named.ephemeral && !bt_pod_owns_claim(pod, claim)) {
			return unresolvable(
				cycle->arena, bt_claim_not_owned_text(pod, claim, cycle->arena));
		}
	}
	struct binding_data *data = BT_ARENA_NEW(cycle->arena, struct binding_data);
	data->slot_count = instance->base.handle->state->nodes.slot_count;
	data->passed = BT_ARENA_NEW_ARRAY(cycle->arena, bool, data->slot_count);
	data->volumes = BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_pod_volumes *, data->slot_count);
	if (instance->binder->ops->get_pod_volume_claims(
		    instance->binder, pod, cycle->arena, &data->claims, &err) != 0) {
		return bt_status_from_error(cycle->arena, &err);
	}
	if (data->claims.immediate.count != 0) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			BT_REASON_VOLUME_UNBOUND_IMMEDIATE);
	}
	cycle->pre_filter_data[plugin->index] = data;
	return BT_STATUS_OK;
}

static void count_failure(const struct volume_binding_plugin *instance, const char *stage)
{
	bt_metrics_count(
		bt_handle_metrics(instance->base.handle), BT_FAMILY_VOLUME_STAGE_ERRORS, stage);
}

/* In the order of spec 07 section 7.1. */
const enum bt_reason bt_volume_conflict_reasons[BT_VOLUME_CONFLICTS] = {
	BT_REASON_VOLUME_NODE_CONFLICT,
	BT_REASON_VOLUME_BIND_CONFLICT,
	BT_REASON_VOLUME_NOT_ENOUGH_SPACE,
	BT_REASON_VOLUME_NOT_EXIST,
};

static struct bt_status filter(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	struct binding_data *data = data_of(plugin, cycle);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_pod_volumes *volumes = NULL;
	uint32_t conflicts = 0;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (instance->binder->ops->find_pod_volumes(instance->binder, pod, &data->claims, node,
		    cycle->arena, &volumes, &conflicts, &err) != 0) {
		count_failure(instance, "predicate");
		return bt_status_from_error(cycle->arena, &err);
	}
	if (conflicts != 0) {
		struct bt_status status = {0};

		for (uint32_t i = 0; i < BT_VOLUME_CONFLICTS; i++) {
			enum bt_reason reason = bt_volume_conflict_reasons[i];

			if ((conflicts >> i & 1) == 0) {
				continue;
			}
			if (status.reason_count == 0) {
				status = bt_status_reason(
					BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, reason);
			} else {
				bt_status_append_reason(
					&status, cycle->arena, bt_reason_texts[reason]);
			}
		}
		return status;
	}
	if (node->slot < data->slot_count) {
		data->passed[node->slot] = true;
		data->volumes[node->slot] = volumes;
	}
	return BT_STATUS_OK;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, BT_UNUSED const uint32_t *slots,
	BT_UNUSED uint32_t slot_count)
{
	const struct volume_binding_plugin *instance = bt_plugin_instance(plugin);

	if (instance->shape == NULL) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	return data_of(plugin, cycle) != NULL
		? BT_STATUS_OK
		: bt_status_error_text(cycle->arena, BT_STR("not found"));
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, const struct bt_node_info *node,
	int64_t *out_score)
{
	const struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	const struct binding_data *data = data_of(plugin, cycle);

	*out_score = 0;
	if (instance->shape == NULL) {
		return BT_STATUS_OK;
	}
	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (has_entry(data, node->slot)) {
		*out_score = volume_score(instance->shape, instance->shape_count,
			data->volumes[node->slot], cycle->arena);
	}
	return BT_STATUS_OK;
}

static struct bt_status reserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	struct binding_data *data = data_of(plugin, cycle);
	struct berth_error err = BERTH_ERROR_INIT;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (!has_entry(data, slot)) {
		data->all_bound = true;
		return BT_STATUS_OK;
	}
	if (instance->binder->ops->assume_pod_volumes(instance->binder, pod,
		    bt_node_table_name(&instance->base.handle->state->nodes, slot),
		    data->volumes[slot], cycle->arena, &data->all_bound, &err) != 0) {
		count_failure(instance, "assume");
		return bt_status_from_error(cycle->arena, &err);
	}
	return BT_STATUS_OK;
}

static void unreserve(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t slot)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	const struct binding_data *data = data_of(plugin, cycle);

	if (has_entry(data, slot) && data->volumes[slot] != NULL) {
		instance->binder->ops->revert_assumed_pod_volumes(
			instance->binder, data->volumes[slot]);
	}
}

static struct bt_status no_entry(
	const struct bt_plugin *plugin, uint32_t slot, struct bt_arena *arena)
{
	/* libberth-compat passes BT_SLOT_NONE for a node that was removed. */
	struct bt_str name = slot != BT_SLOT_NONE
		? bt_node_table_name(&bt_plugin_handle(plugin)->state->nodes, slot)
		: BT_STR("");

	return bt_status_error_text(arena,
		bt_arena_printf(arena, "no pod volume found for node \"%.*s\"", BT_STR_ARG(name)));
}

static struct bt_status pre_bind_pre_flight(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t slot,
	struct bt_pre_bind_pre_flight *out_result)
{
	const struct binding_data *data = data_of(plugin, cycle);

	out_result->allow_parallel = true;
	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (data->all_bound) {
		return bt_status_code_only(BT_STATUS_SKIP);
	}
	return has_entry(data, slot) ? BT_STATUS_OK : no_entry(plugin, slot, cycle->arena);
}

static struct bt_status pre_bind(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);
	struct binding_data *data = data_of(plugin, cycle);
	struct berth_error err = BERTH_ERROR_INIT;

	if (data == NULL) {
		return bt_status_error_text(cycle->arena, BT_STR("not found"));
	}
	if (data->all_bound) {
		return BT_STATUS_OK;
	}
	if (!has_entry(data, slot)) {
		return no_entry(plugin, slot, cycle->arena);
	}
	struct bt_pod_volumes *volumes = data->volumes[slot];
	int code = instance->binder->ops->bind_pod_volumes(instance->binder, pod,
		bt_node_table_name(&instance->base.handle->state->nodes, slot), volumes,
		cycle->arena, &err);
	if (code < 0) {
		count_failure(instance, "bind");
		return bt_status_from_error(cycle->arena, &err);
	}
	if (code == BT_WRITE_PENDING) {
		int64_t wake_ns = volumes != NULL ? volumes->progress.next_check_ns : 0;
		if (wake_ns != 0 && wake_ns < cycle->wake_ns) {
			cycle->wake_ns = wake_ns;
		}
		return bt_status_code_only(BT_STATUS_WAIT);
	}
	return BT_STATUS_OK;
}

void bt_volume_binding_set_binder(struct bt_plugin *plugin, struct bt_volume_binder *binder)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);

	instance->binder->ops->destroy(instance->binder);
	instance->binder = binder;
}

void bt_volume_binding_set_claims(
	struct bt_plugin *plugin, bt_claim_getter get_claim, void *context)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);

	instance->get_claim = get_claim;
	instance->get_claim_context = context;
}

struct bt_volume_binder *bt_volume_binding_binder(const struct bt_plugin *plugin)
{
	const struct volume_binding_plugin *instance = bt_plugin_instance(plugin);

	return instance->binder;
}

static void destroy(struct bt_plugin *plugin)
{
	struct volume_binding_plugin *instance = bt_plugin_instance(plugin);

	instance->binder->ops->destroy(instance->binder);
	bt_free(instance->shape);
	bt_free(instance);
}

static int init(struct bt_plugin *plugin, const struct bt_plugin_args *args,
	BT_UNUSED struct berth_error *err)
{
	struct volume_binding_plugin *instance = (struct volume_binding_plugin *)(void *)plugin;

	instance->no_claims.all_bound = true;
	instance->binder = bt_volume_binder_create(
		bt_plugin_handle(plugin), args->volume_binding.bind_timeout_seconds.value);
	if (bt_plugin_gate(&instance->base.base, BT_GATE_STORAGE_CAPACITY_SCORING)) {
		/*
		 * The gate turns the score on. Scores in the arguments go up to 10, plugin scores
		 * up to 100.
		 */
		instance->shape_count = args->volume_binding.shape.count;
		instance->shape =
			BT_NEW_ARRAY(struct bt_shape_point, args->volume_binding.shape.count);
		for (uint32_t i = 0; i < args->volume_binding.shape.count; i++) {
			instance->shape[i] = (struct bt_shape_point){
				args->volume_binding.shape.items[i].utilization,
				(int64_t)args->volume_binding.shape.items[i].score * 10};
		}
	}
	return 0;
}

static const struct bt_plugin_shortcuts shortcuts = {
	.is_pure_for = is_pure_for,
	.hint_scope_of = volume_binding_hint_scope,
	.hint_wants = hint_wants,
	.hint_offers = hint_offers,
};

const struct bt_plugin_ops bt_volume_binding_plugin = {
	.name = "VolumeBinding",
	.size = sizeof(struct volume_binding_plugin),
	.args_kind = BT_ARGS_VOLUME_BINDING,
	.args_error = "want args to be of type",
	.init = init,
	.destroy = destroy,
	.shortcuts = &shortcuts,
	.events = BT_EVENTS(bt_volume_binding_events),
	.sign = bt_sign_volume_plugin,
	.pre_filter = pre_filter,
	.filter = filter,
	.pre_score = pre_score,
	.score = score,
	.reserve = reserve,
	.unreserve = unreserve,
	.pre_bind_pre_flight = pre_bind_pre_flight,
	.pre_bind = pre_bind,
};
