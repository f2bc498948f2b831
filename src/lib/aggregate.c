/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/aggregate.h"

#include <stdatomic.h>

#include "api/resources.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "berth/node_info.h"
#include "lib/convert.h"
#include "lib/resource.h"

/**
 * Orders host ports by port, then protocol, then ip. The entries that can conflict with one port
 * are therefore adjacent: they differ only in the ip.
 */
static int compare(const struct berth_host_port *a, const struct berth_host_port *b)
{
	int order = BT_ORDER(a->port, b->port);

	if (order == 0) {
		order = bt_str_compare(a->protocol, b->protocol);
	}
	return order != 0 ? order : bt_str_compare(a->ip, b->ip);
}

static struct berth_host_port normalized(
	struct berth_str ip, struct berth_str protocol, int32_t port)
{
	return (struct berth_host_port){
		.ip = ip.length != 0 ? ip : BT_STR("0.0.0.0"),
		.protocol = protocol.length != 0 ? protocol : BT_STR("TCP"),
		.port = port,
	};
}

static uint32_t lower_bound(
	const struct berth_host_port_info *info, const struct berth_host_port *wanted)
{
	uint32_t low;

	BT_LOWER_BOUND(low, info->count, middle, compare(&info->ports[middle], wanted) < 0);
	return low;
}

void berth_host_port_info_add(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	uint32_t at = lower_bound(info, &wanted);

	if (port <= 0 || (at < info->count && compare(&info->ports[at], &wanted) == 0)) {
		return;
	}
	if (info->count == info->capacity) {
		info->capacity = bt_vec_grown_capacity(info->capacity, (uint64_t)info->count + 1);
		info->ports = bt_realloc_array(info->ports, info->capacity, sizeof(*info->ports));
	}
	memmove(&info->ports[at + 1], &info->ports[at], (info->count - at) * sizeof(*info->ports));
	info->ports[at] = (struct berth_host_port){
		bt_lib_own_text(wanted.ip), bt_lib_own_text(wanted.protocol), wanted.port};
	info->count++;
}

void berth_host_port_info_remove(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	uint32_t at = lower_bound(info, &wanted);

	if (at == info->count || compare(&info->ports[at], &wanted) != 0) {
		return;
	}
	bt_lib_free_text(info->ports[at].ip);
	bt_lib_free_text(info->ports[at].protocol);
	info->count--;
	memmove(&info->ports[at], &info->ports[at + 1], (info->count - at) * sizeof(*info->ports));
}

bool berth_host_port_info_check_conflict(const struct berth_host_port_info *info,
	struct berth_str ip, struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	struct berth_host_port first = {.protocol = wanted.protocol, .port = port};
	struct bt_host_port inside = {wanted.ip, wanted.protocol, port};

	if (port <= 0) {
		return false;
	}
	for (uint32_t i = lower_bound(info, &first); i < info->count; i++) {
		struct bt_host_port used = {
			info->ports[i].ip, info->ports[i].protocol, info->ports[i].port};

		if (used.port != port || !bt_str_equal(used.protocol, wanted.protocol)) {
			break;
		}
		if (bt_host_port_conflicts(&inside, &used)) {
			return true;
		}
	}
	return false;
}

void berth_host_port_info_clone(
	const struct berth_host_port_info *info, struct berth_host_port_info *out_copy)
{
	*out_copy = (struct berth_host_port_info){.count = info->count, .capacity = info->count};
	if (info->count != 0) {
		out_copy->ports = BT_NEW_ARRAY(struct berth_host_port, info->count);
	}
	for (uint32_t i = 0; i < info->count; i++) {
		out_copy->ports[i] = (struct berth_host_port){bt_lib_own_text(info->ports[i].ip),
			bt_lib_own_text(info->ports[i].protocol), info->ports[i].port};
	}
}

void berth_host_port_info_finish(struct berth_host_port_info *info)
{
	if (info == NULL) {
		return;
	}
	for (uint32_t i = 0; i < info->count; i++) {
		bt_lib_free_text(info->ports[i].ip);
		bt_lib_free_text(info->ports[i].protocol);
	}
	bt_free(info->ports);
	*info = (struct berth_host_port_info){0};
}

const struct bt_resource_gates bt_aggregate_default_gates = {
	.pod_level_resources = true,
	.in_place_pod_level_resources = true,
};

int64_t bt_aggregate_next_generation(void)
{
	/*
	 * The counter is shared by all threads, because a generation must be unique in the process.
	 */
	static atomic_llong last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static bool has_affinity(const struct bt_pod *pod)
{
	const struct bt_affinity *affinity = pod->spec.affinity;

	return affinity != NULL &&
		(affinity->pod_affinity != NULL || affinity->pod_anti_affinity != NULL);
}

struct bt_aggregate_pod *bt_aggregate_pod_create(
	struct bt_object *object, const struct bt_resource_gates *gates)
{
	struct bt_aggregate_pod *pod = BT_NEW(struct bt_aggregate_pod);
	const struct bt_pod *value = bt_object_value(object, BT_KIND_POD);
	const struct bt_time *start = value->status.start_time;

	pod->reference_count = 1;
	pod->object = bt_object_share(object);
	pod->pod = value;
	pod->resources = bt_pod_resources_compute(value, gates, &pod->arena);
	const struct bt_pod_spec *spec = &value->spec;
	struct bt_shape *shape = &pod->shape;

	shape->pod = value;
	bt_resource_get_standard(&pod->resources.requested, shape->requested);
	memcpy(shape->non_zero, pod->resources.non_zero, sizeof(shape->non_zero));
	shape->host_ports = bt_pod_host_ports(spec, &pod->arena);
	if (spec->volumes.count != 0) {
		shape->claim_names.items =
			BT_ARENA_NEW_ARRAY(&pod->arena, struct bt_str, spec->volumes.count);
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_pvc_volume_source *claim =
			spec->volumes.items[i].persistent_volume_claim;
		if (claim != NULL) {
			shape->claim_names.items[shape->claim_names.count++] = claim->claim_name;
		}
	}
	shape->has_affinity = has_affinity(value);
	shape->has_required_anti_affinity = shape->has_affinity &&
		spec->affinity->pod_anti_affinity != NULL &&
		spec->affinity->pod_anti_affinity->required.count != 0;
	pod->info = (struct bt_pod_info){
		.name = value->metadata.name,
		.namespace_ = value->metadata.namespace_,
		.uid = value->metadata.uid,
		.labels = &value->metadata.labels,
		.shape = &pod->shape,
		.label_set = BT_LABEL_SET_NONE,
		.priority = bt_pod_priority(value),
		.start_seconds = start != NULL && start->set ? start->seconds : INT64_MIN,
		.node_name = value->spec.node_name,
		.nominated_node_name = value->status.nominated_node_name,
		.object = value,
		.pod_id = BT_POD_NONE,
	};
	return pod;
}

struct bt_aggregate_pod *bt_aggregate_pod_share(struct bt_aggregate_pod *pod)
{
	pod->reference_count++;
	return pod;
}

void bt_aggregate_pod_release(struct bt_aggregate_pod *pod)
{
	if (pod == NULL || --pod->reference_count != 0) {
		return;
	}
	bt_object_release(pod->object);
	bt_arena_finish(&pod->arena);
	bt_free(pod);
}

struct bt_aggregate *bt_aggregate_create(void)
{
	struct bt_aggregate *aggregate = BT_NEW(struct bt_aggregate);

	aggregate->view.owner = aggregate;
	aggregate->generation = bt_aggregate_next_generation();
	return aggregate;
}

static void release_node(struct bt_aggregate *aggregate)
{
	bt_object_release((struct bt_object *)(uintptr_t)aggregate->node);
	aggregate->node = NULL;
}

void bt_aggregate_destroy(struct bt_aggregate *aggregate)
{
	if (aggregate == NULL) {
		return;
	}
	release_node(aggregate);
	for (uint32_t i = 0; i < aggregate->pods.count; i++) {
		bt_aggregate_pod_release(aggregate->pods.items[i]);
	}
	for (uint32_t i = 0; i < aggregate->pods_with_affinity.count; i++) {
		bt_aggregate_pod_release(aggregate->pods_with_affinity.items[i]);
	}
	for (uint32_t i = 0; i < aggregate->images.count; i++) {
		bt_lib_free_text(aggregate->images.items[i].name);
	}
	bt_vec_finish(&aggregate->pods);
	bt_vec_finish(&aggregate->pods_with_affinity);
	bt_vec_finish(&aggregate->images);
	berth_resource_finish(&aggregate->requested);
	berth_resource_finish(&aggregate->non_zero);
	berth_resource_finish(&aggregate->allocatable);
	berth_host_port_info_finish(&aggregate->ports);
	bt_arena_finish(&aggregate->arena);
	bt_free(aggregate);
}

static void change_sums(
	struct bt_aggregate *aggregate, const struct bt_aggregate_pod *pod, int64_t sign)
{
	struct bt_resource non_zero = {
		.cpu_milli = pod->resources.non_zero[BT_CPU_MILLI],
		.memory_bytes = pod->resources.non_zero[BT_MEMORY_BYTES],
	};

	bt_lib_resource_accumulate(&aggregate->requested, &pod->resources.requested, sign);
	bt_lib_resource_accumulate(&aggregate->non_zero, &non_zero, sign);
	for (uint32_t i = 0; i < pod->shape.host_ports.count; i++) {
		const struct bt_host_port *port = &pod->shape.host_ports.items[i];

		if (sign > 0) {
			berth_host_port_info_add(
				&aggregate->ports, port->ip, port->protocol, port->port);
		} else {
			berth_host_port_info_remove(
				&aggregate->ports, port->ip, port->protocol, port->port);
		}
	}
	aggregate->generation = bt_aggregate_next_generation();
}

void bt_aggregate_add(struct bt_aggregate *aggregate, struct bt_aggregate_pod *pod)
{
	bt_vec_push(&aggregate->pods, bt_aggregate_pod_share(pod));
	if (pod->shape.has_affinity) {
		bt_vec_push(&aggregate->pods_with_affinity, bt_aggregate_pod_share(pod));
	}
	change_sums(aggregate, pod, 1);
}

void bt_aggregate_add_object(struct bt_aggregate *aggregate, struct bt_object *object)
{
	struct bt_aggregate_pod *pod = bt_aggregate_pod_create(object, &bt_aggregate_default_gates);

	bt_aggregate_add(aggregate, pod);
	bt_aggregate_pod_release(pod);
}

/** Returns the index of the first pod with this uid; `count` if no pod has it. */
static uint32_t find_pod(struct bt_aggregate_pod *const *pods, uint32_t count, struct bt_str uid)
{
	uint32_t i = 0;

	while (i < count && !bt_str_equal(pods[i]->info.uid, uid)) {
		i++;
	}
	return i;
}

const struct bt_pressures bt_pressures_unknown = {BERTH_CONDITION_STATUS_UNKNOWN,
	BERTH_CONDITION_STATUS_UNKNOWN, BERTH_CONDITION_STATUS_UNKNOWN};

void bt_pressures_take(struct bt_pressures *pressures, const struct bt_node *node)
{
	for (uint32_t i = 0; i < node->status.conditions.count; i++) {
		const struct bt_node_condition *condition = &node->status.conditions.items[i];
		enum berth_condition_status status = BERTH_CONDITION_STATUS_UNKNOWN;

		if (bt_str_equal_c(condition->status, "True")) {
			status = BERTH_CONDITION_STATUS_TRUE;
		} else if (bt_str_equal_c(condition->status, "False")) {
			status = BERTH_CONDITION_STATUS_FALSE;
		}

		if (bt_str_equal_c(condition->type, "MemoryPressure")) {
			pressures->memory = status;
		} else if (bt_str_equal_c(condition->type, "DiskPressure")) {
			pressures->disk = status;
		} else if (bt_str_equal_c(condition->type, "PIDPressure")) {
			pressures->pid = status;
		}
	}
}

void bt_aggregate_set_node(struct bt_aggregate *aggregate, struct bt_object *node)
{
	struct bt_object *shared = bt_object_share(node);

	release_node(aggregate);
	aggregate->node = shared;
	berth_resource_finish(&aggregate->allocatable);
	berth_resource_init(&aggregate->allocatable,
		berth_node_allocatable(berth_const_node_of(bt_aggregate_node(aggregate))));
	bt_pressures_take(&aggregate->pressures, bt_aggregate_node(aggregate));
	aggregate->generation = bt_aggregate_next_generation();
}

void bt_aggregate_push_image(
	struct bt_aggregate *aggregate, struct bt_str name, const struct berth_image_state *state)
{
	struct bt_aggregate_image image = {.state = *state};
	uint32_t count = aggregate->images.count;

	BT_ASSERT(count == 0 || bt_str_compare(aggregate->images.items[count - 1].name, name) < 0);
	image.name = bt_lib_own_text(name);
	bt_vec_push(&aggregate->images, image);
}

struct berth_node_info *berth_node_info_create(struct berth_object *const *pods, uint32_t count)
{
	struct bt_aggregate *aggregate = bt_aggregate_create();

	for (uint32_t i = 0; i < count; i++) {
		bt_aggregate_add_object(aggregate, bt_object_of(pods[i]));
	}
	return berth_node_info_of_aggregate(aggregate);
}

void berth_node_info_destroy(struct berth_node_info *node)
{
	bt_aggregate_destroy(bt_aggregate_of(node));
}

struct berth_node_info *berth_node_info_clone(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (node == NULL) {
		return NULL;
	}
	struct bt_aggregate *copy = BT_NEW(struct bt_aggregate);
	if (alone != NULL) {
		copy->node = alone->node;
		if (copy->node != NULL) {
			copy->node = bt_object_share((struct bt_object *)(uintptr_t)copy->node);
		}
		for (uint32_t i = 0; i < alone->pods.count; i++) {
			bt_vec_push(&copy->pods, bt_aggregate_pod_share(alone->pods.items[i]));
		}
		for (uint32_t i = 0; i < alone->pods_with_affinity.count; i++) {
			bt_vec_push(&copy->pods_with_affinity,
				bt_aggregate_pod_share(alone->pods_with_affinity.items[i]));
		}
		berth_resource_clone(&alone->requested, &copy->requested);
		berth_resource_clone(&alone->non_zero, &copy->non_zero);
		berth_resource_clone(&alone->allocatable, &copy->allocatable);
		berth_host_port_info_clone(&alone->ports, &copy->ports);
		for (uint32_t i = 0; i < alone->images.count; i++) {
			/*
			 * As in upstream, a clone keeps the size of each image but not the nodes
			 * that have the image, so node_count is 0: spec 01b section 9.5.
			 */
			struct berth_image_state state = {
				.size_bytes = alone->images.items[i].state.size_bytes};

			bt_aggregate_push_image(copy, alone->images.items[i].name, &state);
		}
		copy->pressures = alone->pressures;
		copy->generation = alone->generation;
	} else {
		bt_node_info_copy(&copy->view, bt_const_node_info_of(node), &copy->arena);
		copy->generation = berth_node_info_generation(node);
	}
	copy->view.owner = copy;
	return berth_node_info_of_aggregate(copy);
}

static int refuse_view(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_INVALID,
		"this function cannot change a view of the scheduler's tables");
}

int berth_node_info_add_pod(
	struct berth_node_info *node, struct berth_object *pod, struct berth_error *err)
{
	struct bt_aggregate *aggregate = bt_standalone_of(node);

	if (aggregate == NULL) {
		return refuse_view(err);
	}
	if (berth_object_pod(pod) == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "not a pod");
	}
	bt_aggregate_add_object(aggregate, bt_object_of(pod));
	return BERTH_OK;
}

int berth_node_info_add_pod_info(
	struct berth_node_info *node, const struct berth_pod_info *pod, struct berth_error *err)
{
	struct bt_aggregate *aggregate = bt_aggregate_of(node);

	/*
	 * Refuse a pod of an aggregate (ref_count 0): the clone adds up scalar resources by column,
	 * and such a pod has no columns (struct bt_aggregate_pod).
	 */
	if (aggregate == NULL || aggregate->view.state == NULL ||
		bt_const_pod_info_of(pod)->shape->ref_count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"only the clone of a view takes pods of the scheduler's tables");
	}
	bt_node_info_add_pod(&aggregate->view, &aggregate->arena, bt_const_pod_info_of(pod));
	aggregate->generation = bt_aggregate_next_generation();
	return BERTH_OK;
}

int berth_node_info_remove_pod(
	struct berth_node_info *node, const struct berth_pod *pod, struct berth_error *err)
{
	struct bt_aggregate *aggregate = bt_aggregate_of(node);
	const struct bt_pod *inside = bt_const_pod_of(pod);
	struct bt_pod_info info = {.pod_id = BT_POD_NONE};

	if (aggregate == NULL) {
		return refuse_view(err);
	}
	if (aggregate->view.state == NULL) {
		struct bt_str uid = inside->metadata.uid;
		const struct bt_node *object = bt_aggregate_node(aggregate);

		if (uid.length == 0) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"cannot get cache key for pod with empty UID");
		}
		uint32_t at = find_pod(aggregate->pods.items, aggregate->pods.count, uid);
		if (at == aggregate->pods.count) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"no corresponding pod %.*s in pods of node %.*s",
				BT_STR_ARG(inside->metadata.name),
				BT_STR_ARG(object != NULL ? object->metadata.name : BT_STR("")));
		}
		struct bt_aggregate_pod *stored = aggregate->pods.items[at];
		bt_vec_remove_swap(&aggregate->pods, at);
		if (has_affinity(inside)) {
			at = find_pod(aggregate->pods_with_affinity.items,
				aggregate->pods_with_affinity.count, uid);
			if (at != aggregate->pods_with_affinity.count) {
				bt_aggregate_pod_release(aggregate->pods_with_affinity.items[at]);
				bt_vec_remove_swap(&aggregate->pods_with_affinity, at);
			}
		}
		change_sums(aggregate, stored, -1);
		bt_aggregate_pod_release(stored);
		return BERTH_OK;
	}
	info.name = inside->metadata.name;
	info.uid = inside->metadata.uid;
	int result = bt_node_info_remove_pod(&aggregate->view, &aggregate->arena, &info, err);
	if (result == BERTH_OK) {
		aggregate->generation = bt_aggregate_next_generation();
	}
	return result;
}

int berth_node_info_set_node(
	struct berth_node_info *node, struct berth_object *object, struct berth_error *err)
{
	struct bt_aggregate *aggregate = bt_standalone_of(node);

	if (aggregate == NULL) {
		return refuse_view(err);
	}
	if (berth_object_node(object) == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "not a node");
	}
	bt_aggregate_set_node(aggregate, bt_object_of(object));
	return BERTH_OK;
}

int berth_node_info_remove_node(struct berth_node_info *node, struct berth_error *err)
{
	struct bt_aggregate *aggregate = bt_standalone_of(node);

	if (aggregate == NULL) {
		return refuse_view(err);
	}
	release_node(aggregate);
	aggregate->pressures = bt_pressures_unknown;
	aggregate->generation = bt_aggregate_next_generation();
	return BERTH_OK;
}

struct berth_transient_info *berth_node_info_transient_info(struct berth_node_info *node)
{
	struct bt_aggregate *aggregate = bt_standalone_of(node);

	return aggregate != NULL ? &aggregate->transient : NULL;
}

void berth_transient_info_reset(struct berth_transient_info *info)
{
	info->allocatable_volumes_count = 0;
	info->requested_volumes = 0;
}
