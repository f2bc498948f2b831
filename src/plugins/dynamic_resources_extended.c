/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/resources.h"
#include "framework/framework.h"
#include "framework/scheduler_metrics.h"
#include "plugins/dynamic_resources.h"

/*
 * DynamicResources: the special claim, which requests devices for extended resources that a
 * DeviceClass provides. Spec: 12 sections 14.1 to 14.3. Writes of the claim: sections 14.4 to 14.6.
 */

#define IN_MEMORY_NAME BT_STR("<extended-resources>")

enum {
	KNOWN_MAX = 16,
};

/** A scalar resource that the pod requests (not 0) and that devices may provide. */
struct extended_scalar {
	struct bt_str name;
	struct bt_str device_class; /* "": no class provides the resource */
	uint32_t column;            /* column of the node table */
};

/**
 * Cached claim of nodes on which devices provide the same set of resources. Most nodes have the
 * same set.
 */
struct known_node_claim {
	const bool *by_devices; /* by index in scalars: devices provide the resource */
	const struct bt_extended_node_claim *claim;
};

struct bt_extended_resources {
	struct bt_object *found; /* from the claim cache, borrowed; NULL: the claim is in memory */
	struct bt_resource_claim claim;
	bool is_stale; /* the claim has requests of an earlier cycle */
	struct extended_scalar *scalars;
	uint32_t scalar_count;
	bool *scratch; /* by index in scalars */
	struct known_node_claim known[KNOWN_MAX];
	uint32_t known_count;
};

bool bt_extended_is_wanted(
	const struct bt_dynamic_resources *instance, const struct bt_shape *shape)
{
	struct bt_request_options options = {0};
	struct bt_arena arena = {0};
	struct bt_resource_list requests;
	bool wanted = false;

	if (instance->dra->classes.mappings.map.count == 0) {
		return false;
	}
	requests = bt_pod_requests(bt_shape_pod(shape), &options, &arena);
	for (uint32_t i = 0; !wanted && i < requests.count; i++) {
		const struct bt_resource_entry *request = &requests.items[i];
		wanted = !bt_quantity_is_zero(&request->quantity) &&
			bt_resource_is_dra_extended(request->name) &&
			bt_device_class_for_resource(&instance->dra->classes, request->name) !=
				NULL;
	}
	bt_arena_finish(&arena);
	return wanted;
}

struct bt_extended_resources *bt_extended_begin(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_extended_resources *extended;

	if (!bt_extended_is_wanted(instance, pod->shape)) {
		return NULL;
	}
	extended = BT_ARENA_NEW(arena, struct bt_extended_resources);
	struct bt_request_options options = {0};
	struct bt_resource_list requests =
		bt_pod_requests(bt_shape_pod(pod->shape), &options, arena);
	struct bt_resource resource = {0};

	bt_resource_add(&resource, &requests, arena);
	extended->scalars =
		BT_ARENA_NEW_ARRAY(arena, struct extended_scalar, resource.scalar_count);
	extended->scratch = BT_ARENA_NEW_ARRAY(arena, bool, resource.scalar_count);
	for (uint32_t i = 0; i < resource.scalar_count; i++) {
		struct bt_str name = resource.scalars[i].name;
		const struct bt_device_class *device_class;

		if (resource.scalars[i].value == 0 || !bt_resource_is_dra_extended(name)) {
			continue;
		}
		device_class = bt_device_class_for_resource(&instance->dra->classes, name);
		extended->scalars[extended->scalar_count++] = (struct extended_scalar){
			.name = bt_arena_str(arena, name),
			.device_class = device_class != NULL
				? bt_arena_str(arena, device_class->metadata.name)
				: BT_STR(""),
			.column = bt_node_table_scalar(&instance->base.handle->state->nodes, name),
		};
	}
	extended->found = bt_claim_cache_find_special(&instance->dra->claims, pod->name, pod->uid);
	if (extended->found == NULL) {
		/*
		 * The name and uid are never sent to the API server. No other claim has the name,
		 * and the uid is unique to the pod.
		 */
		struct bt_resource_claim *claim = &extended->claim;
		claim->metadata.name = IN_MEMORY_NAME;
		claim->metadata.namespace_ = bt_arena_str(arena, pod->namespace_);
		claim->metadata.uid =
			bt_arena_printf(arena, "<extended-resources>/%.*s", BT_STR_ARG(pod->uid));
		claim->metadata.generate_name =
			bt_arena_printf(arena, "%.*s-extended-resources-", BT_STR_ARG(pod->name));
		struct bt_str_pair *pair = BT_ARENA_NEW(arena, struct bt_str_pair);

		*pair = (struct bt_str_pair){BT_SPECIAL_CLAIM_ANNOTATION, BT_STR("true")};
		claim->metadata.annotations.items = pair;
		claim->metadata.annotations.count = 1;
		claim->metadata.annotations.present = true;
		struct bt_owner_reference *owner = BT_ARENA_NEW(arena, struct bt_owner_reference);

		*owner = (struct bt_owner_reference){
			.api_version = BT_STR("v1"),
			.kind = BT_STR("Pod"),
			.name = bt_arena_str(arena, pod->name),
			.uid = bt_arena_str(arena, pod->uid),
			.controller = {.present = true, .value = true},
		};
		claim->metadata.owner_references.items = owner;
		claim->metadata.owner_references.count = 1;
		claim->metadata.owner_references.present = true;
	} else {
		extended->claim = *(const struct bt_resource_claim *)bt_object_value(
			extended->found, BT_KIND_RESOURCE_CLAIM);
		extended->is_stale = extended->claim.spec.devices.requests.count != 0;
	}
	return extended;
}

struct bt_object *bt_extended_claim(const struct bt_extended_resources *extended)
{
	return extended->found != NULL ? bt_object_share(extended->found)
				       : bt_object_create(BT_KIND_RESOURCE_CLAIM, &extended->claim);
}

bool bt_extended_is_in_memory(const struct bt_resource_claim *claim)
{
	return bt_str_equal(claim->metadata.name, IN_MEMORY_NAME);
}

struct container_request {
	uint32_t container;
	int64_t count;
	struct bt_str name;
};

struct request_builder {
	const struct bt_pod_spec *spec;
	struct bt_arena *arena;
	struct bt_str resource;
	struct bt_str device_class;
	struct bt_device_request *requests;
	uint32_t request_count;
	BT_VEC(struct bt_container_extended_resource_request) mappings; /* in the arena */
	/**
	 * Requests for `resource` of containers that run until the pod ends: regular containers and
	 * sidecars.
	 */
	struct container_request *long_lived;
	uint32_t long_lived_count;
};

static const struct bt_container *container_at(const struct bt_pod_spec *spec, uint32_t index)
{
	return index < spec->init_containers.count
		? &spec->init_containers.items[index]
		: &spec->containers.items[index - spec->init_containers.count];
}

static bool is_short_lived(const struct bt_pod_spec *spec, uint32_t index)
{
	return index < spec->init_containers.count &&
		!bt_container_is_sidecar(&spec->init_containers.items[index]);
}

/**
 * Get the request of a container for builder->resource. Returns false if the request is absent, not
 * positive, or not exactly an int64.
 */
static bool request_of(const struct request_builder *builder, uint32_t index,
	struct container_request *out_request)
{
	const struct bt_resource_list *list =
		&container_at(builder->spec, index)->resources.requests;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_quantity *quantity = &list->items[i].quantity;
		int64_t value = bt_quantity_value(quantity);
		struct bt_quantity exact = bt_quantity_make(value, 0, BT_QUANTITY_DECIMAL_SI);

		if (!bt_str_equal(list->items[i].name, builder->resource)) {
			continue;
		}
		*out_request = (struct container_request){
			.container = index,
			.count = value,
			.name = bt_arena_printf(
				builder->arena, "container-%u-request-%u", index, i),
		};
		return value > 0 && bt_quantity_compare(quantity, &exact) == 0;
	}
	return false;
}

static void add_request(struct request_builder *builder, const struct container_request *request)
{
	struct bt_exact_device_request *exactly =
		BT_ARENA_NEW(builder->arena, struct bt_exact_device_request);

	exactly->device_class_name = builder->device_class;
	exactly->allocation_mode = BT_STR("ExactCount");
	exactly->count = request->count;
	builder->requests[builder->request_count++] =
		(struct bt_device_request){.name = request->name, .exactly = exactly};
}

static void add_mapping(struct request_builder *builder, uint32_t container, struct bt_str request)
{
	struct bt_container_extended_resource_request mapping = {
		.container_name =
			bt_arena_str(builder->arena, container_at(builder->spec, container)->name),
		.resource_name = builder->resource,
		.request_name = request,
	};

	bt_arena_push(builder->arena, &builder->mappings, mapping);
}

/**
 * Map a short-lived container to devices of long-lived containers that start after the short-lived
 * container has ended. Returns the number of devices, which may exceed the number that `wanted`
 * asks for.
 */
static int64_t borrow_devices(
	struct request_builder *builder, const struct container_request *wanted)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < builder->long_lived_count && sum < wanted->count; i++) {
		const struct container_request *lender = &builder->long_lived[i];

		if (lender->container >= wanted->container) {
			add_mapping(builder, wanted->container, lender->name);
			sum = lender->count > INT64_MAX - sum ? INT64_MAX : sum + lender->count;
		}
	}
	return sum;
}

BT_COMPARE(compare_requests, struct bt_device_request, bt_str_compare(a->name, b->name))

static const struct bt_extended_node_claim *make_node_claim(
	const struct bt_extended_resources *extended, const bool *by_devices,
	const struct bt_pod_info *pod, struct bt_arena *arena)
{
	struct bt_extended_node_claim *result;
	const struct bt_pod_spec *spec = bt_plugin_pod_spec(pod);
	uint32_t containers = spec->init_containers.count + spec->containers.count;
	struct request_builder builder = {
		.spec = spec,
		.arena = arena,
		.requests = BT_ARENA_NEW_ARRAY(arena, struct bt_device_request,
			(size_t)containers * extended->scalar_count),
		.long_lived = BT_ARENA_NEW_ARRAY(arena, struct container_request, containers),
	};

	for (uint32_t i = 0; i < extended->scalar_count; i++) {
		if (by_devices[i]) {
			builder.resource = extended->scalars[i].name;
			builder.device_class = extended->scalars[i].device_class;
			struct container_request request;

			builder.long_lived_count = 0;
			for (uint32_t k = 0; k < containers; k++) {
				if (!is_short_lived(builder.spec, k) &&
					request_of(&builder, k, &request)) {
					add_request(&builder, &request);
					add_mapping(&builder, k, request.name);
					builder.long_lived[builder.long_lived_count++] = request;
				}
			}
			/*
			 * Init containers run one after the other, so one request with the largest
			 * number of devices is enough for all of them.
			 */
			struct container_request largest = {0};
			uint32_t *own = BT_ARENA_NEW_ARRAY(
				builder.arena, uint32_t, builder.spec->init_containers.count);
			uint32_t own_count = 0;

			for (uint32_t n = 0; n < builder.spec->init_containers.count; n++) {
				struct container_request short_lived;

				if (!is_short_lived(builder.spec, n) ||
					!request_of(&builder, n, &short_lived)) {
					continue;
				}
				short_lived.count -= borrow_devices(&builder, &short_lived);
				if (short_lived.count > 0) {
					own[own_count++] = builder.mappings.count;
					add_mapping(&builder, n, short_lived.name);
					largest = short_lived.count > largest.count ? short_lived
										    : largest;
				}
			}
			for (uint32_t n = 0; n < own_count; n++) {
				builder.mappings.items[own[n]].request_name = largest.name;
			}
			if (own_count != 0) {
				add_request(&builder, &largest);
			}
		}
	}
	if (builder.request_count != 0) {
		qsort(builder.requests, builder.request_count, sizeof(*builder.requests),
			compare_requests);
	}
	result = BT_ARENA_NEW(arena, struct bt_extended_node_claim);
	result->claim = extended->claim;
	result->claim.spec.devices.requests.items = builder.requests;
	result->claim.spec.devices.requests.count = builder.request_count;
	result->claim.spec.devices.requests.present = true;
	result->mappings.items = builder.mappings.items;
	result->mappings.count = builder.mappings.count;
	result->mappings.present = true;
	return result;
}

struct bt_status bt_extended_for_node(struct bt_extended_resources *extended,
	const struct bt_pod_info *pod, const struct bt_node_info *node, bool has_user_claims,
	struct bt_arena *arena, const struct bt_extended_node_claim **out_claim)
{
	bool *by_devices = extended->scratch;
	bool any = has_user_claims;

	*out_claim = NULL;
	if (extended->is_stale) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_SPECIAL_CLAIM_STALE);
	}
	for (uint32_t i = 0; i < extended->scalar_count; i++) {
		const struct extended_scalar *scalar = &extended->scalars[i];

		by_devices[i] = scalar->device_class.length != 0 &&
			bt_node_info_scalar_allocatable(node, scalar->column) == 0;
		any |= by_devices[i];
		/* An amount of 0 without a class is left to NodeResourcesFit. */
		if (!by_devices[i] && !bt_node_info_has_extended(node, scalar->column)) {
			return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
				BT_REASON_RESOURCE_NOT_FITTING);
		}
	}
	if (!any) {
		return BT_STATUS_OK;
	}
	for (uint32_t i = 0; i < extended->known_count; i++) {
		if (memcmp(extended->known[i].by_devices, by_devices,
			    extended->scalar_count * sizeof(*by_devices)) == 0) {
			*out_claim = extended->known[i].claim;
			return BT_STATUS_OK;
		}
	}
	*out_claim = make_node_claim(extended, by_devices, pod, arena);
	if (extended->known_count < KNOWN_MAX) {
		bool *copy = bt_arena_copy_array(
			arena, by_devices, extended->scalar_count, 0, sizeof(*copy));
		extended->known[extended->known_count++] =
			(struct known_node_claim){copy, *out_claim};
	}
	return BT_STATUS_OK;
}

/*
 * DynamicResources: writes of the special claim for extended resources. Without a writer the claim
 * is written to the object store. Spec: 12 sections 14.4 to 14.6.
 */

/** Maximum number of attempts to update the claim before a conflict is reported. */
#define UPDATES_MAX 5

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
		struct bt_object_store *store = &instance->base.handle->state->objects;
		struct bt_resource_claim created = claim;
		struct bt_arena arena = {0};
		struct bt_object *object;

		/* Generate a name that no claim has, as the API server would do. */
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
	code = writer->write(
		writer->context, pod, BT_CLAIM_WRITE_NEW, NULL, &claim, false, out_claim, err);
	if (code == BT_WRITE_PENDING) {
		return code;
	}
	bt_metrics_count(bt_handle_metrics(instance->base.handle), BT_FAMILY_CLAIM_CREATES,
		code == 0 ? "success" : "failure");
	return code == 0
		? 0
		: bt_error_wrap(err, BERTH_ERR_STATE, "create claim for extended resources %.*s/",
			  BT_STR_ARG(claim.metadata.namespace_));
}

int bt_extended_patch_pod(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_extended_node_claim *node_claim,
	struct bt_str claim_name, struct berth_error *err)
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

static int wrap_with_claim(
	struct berth_error *err, const char *what, const struct bt_object_meta *meta)
{
	return bt_error_wrap(err, BERTH_ERR_STATE, "%s resourceclaim %.*s/%.*s", what,
		BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
}

static int remove_finalizer(const struct bt_claim_writer *writer, const struct bt_pod_info *pod,
	struct bt_object **object, struct bt_arena *arena, struct berth_error *err)
{
	for (int attempt = 1;; attempt++) {
		const struct bt_object_meta *meta = (*object)->meta;
		struct bt_resource_claim claim = *(const struct bt_resource_claim *)bt_object_value(
			*object, BT_KIND_RESOURCE_CLAIM);
		struct bt_object *answer;

		bt_resource_claim_remove_finalizer(&claim, arena);
		int code = writer->write(writer->context, pod, BT_CLAIM_WRITE_FINALIZERS, *object,
			&claim, true, &answer, err);
		bool is_written = code == 0;
		if (!is_written) {
			if (code != BT_WRITE_CONFLICT || attempt == UPDATES_MAX) {
				return wrap_with_claim(err, "update", meta);
			}
			berth_error_finish(err);
			if (writer->get(writer->context, pod, meta->namespace_, meta->name, true,
				    &answer, err) != 0) {
				return wrap_with_claim(err, "get", meta);
			}
		}
		bt_object_release(*object);
		*object = answer;
		if (is_written) {
			return 0;
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
		/* The claim may be deleted already. */
		(void)bt_object_store_delete(&instance->base.handle->state->objects,
			BT_KIND_RESOURCE_CLAIM, claim->meta->namespace_, claim->meta->name);
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
