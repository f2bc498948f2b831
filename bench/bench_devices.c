/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Objects of the workload `devices`: nodes with a slice of devices each, and a claim for each pod.
 * Also drivers and claims of scheduler_perf files.
 */
#include "base/assert.h"
#include "bench/bench_perf_private.h"
#include "bench/bench_pods.h"
#include "dra/allocator.h"
#include "state/node_info.h"

#define DRIVER "gpu.example.com"
#define DEVICES_OF_A_NODE 8
#define DEVICES_OF_A_SOCKET 4
/** The maximum number of devices in a slice (spec 12 section 3). */
#define SLICE_DEVICES_MAX 128
/** The maximum number of devices on a node for one driver of a scheduler_perf file. */
#define NODE_DEVICES_MAX 65536

static bool is_large(uint32_t node)
{
	return node % 2 == 0;
}

static void write_class(struct bt_strbuf *out)
{
	bt_strbuf_append_c(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",\"metadata\":"
		"{\"name\":\"" DRIVER "\",\"uid\":\"class\"},\"spec\":{\"selectors\":[{\"cel\":"
		"{\"expression\":\"device.driver == \\\"" DRIVER "\\\"\"}}]}}");
}

static void write_slice(uint32_t node, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":"
		"{\"name\":\"slice-%05u\",\"uid\":\"s-%u\"},\"spec\":{\"driver\":\"" DRIVER
		"\",\"nodeName\":\"node-%05u\",\"pool\":{\"name\":\"node-%05u\","
		"\"generation\":1,\"resourceSliceCount\":1},\"devices\":[",
		node, node, node, node);
	for (uint32_t i = 0; i < DEVICES_OF_A_NODE; i++) {
		bt_strbuf_printf(out,
			"%s{\"name\":\"gpu-%u\",\"attributes\":{\"model\":{\"string\":\"%s\"},"
			"\"index\":{\"int\":%u},\"numa\":{\"int\":%u},"
			"\"driverVersion\":{\"version\":\"12.%u.0\"}},"
			"\"capacity\":{\"memory\":{\"value\":\"%s\"}}}",
			i != 0 ? "," : "", i, is_large(node) ? "large" : "small", i,
			i / DEVICES_OF_A_SOCKET, node % 3, is_large(node) ? "80Gi" : "40Gi");
	}
	bt_strbuf_append_c(out, "]}}");
}

/** Every pending pod has a claim; a bound pod has a claim only if its node has a free device. */
static bool has_claim(const struct bt_bench_source *source, uint32_t pod)
{
	return pod >= source->bound_count || pod / source->node_count < DEVICES_OF_A_NODE;
}

static uint32_t bound_claims(const struct bt_bench_source *source)
{
	uint64_t devices = (uint64_t)source->node_count * DEVICES_OF_A_NODE;

	return source->bound_count < devices ? source->bound_count : (uint32_t)devices;
}

static void write_allocation(uint32_t node, uint32_t device, uint32_t pod, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"gpu\","
		"\"driver\":\"" DRIVER "\",\"pool\":\"node-%05u\",\"device\":\"gpu-%u\"}]},"
		"\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":"
		"\"metadata.name\",\"operator\":\"In\",\"values\":[\"node-%05u\"]}]}]}},"
		"\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"pod-%06u\",\"uid\":"
		"\"p-%u\"}]}",
		node, device, node, pod, pod);
}

/** Every second claim accepts any device with enough memory. */
static void write_claim(const struct bt_bench_source *source, uint32_t pod, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":"
		"{\"name\":\"claim-%06u\",\"namespace\":\"default\",\"uid\":\"c-%u\"},\"spec\":"
		"{\"devices\":{\"requests\":[{\"name\":\"gpu\",\"exactly\":{\"deviceClassName\":"
		"\"" DRIVER "\",\"allocationMode\":\"ExactCount\",\"count\":1,\"selectors\":"
		"[{\"cel\":{\"expression\":\"%sdevice.capacity[\\\"" DRIVER
		"\\\"].memory.compareTo(quantity(\\\"%s\\\")) >= 0\"}}]}}]}}",
		pod, pod,
		pod % 2 == 0 ? "device.attributes[\\\"" DRIVER "\\\"].model == \\\"large\\\" && "
			     : "device.attributes[\\\"" DRIVER "\\\"].index < 8 && ",
		pod % 2 == 0 ? "80Gi" : "20Gi");
	if (pod < source->bound_count) {
		write_allocation(pod % source->node_count, pod / source->node_count, pod, out);
	}
	bt_strbuf_append_char(out, '}');
}

uint32_t bt_bench_device_object_count(const struct bt_bench_source *source)
{
	return 1 + source->node_count + bound_claims(source) + source->pending_count;
}

void bt_bench_write_device_object(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out)
{
	uint32_t first_claim = 1 + source->node_count;
	uint32_t claim = index - first_claim;

	BT_ASSERT(index < bt_bench_device_object_count(source));
	if (index == 0) {
		write_class(out);
	} else if (index < first_claim) {
		write_slice(index - 1, out);
	} else if (claim < bound_claims(source)) {
		write_claim(source, claim, out);
	} else {
		write_claim(source, source->bound_count + claim - bound_claims(source), out);
	}
}

void bt_bench_pod_device(struct bt_bench_pod *pod)
{
	if (has_claim(pod->source, pod->index)) {
		bt_strbuf_printf(&pod->spec,
			",\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":"
			"\"claim-%06u\"}]",
			pod->index);
	}
}

/** --- scheduler_perf --- */

static void write_device(struct bt_json_writer *writer, struct bt_arena *arena, uint32_t index)
{
	bt_json_begin_object(writer);
	bt_json_write_member(writer, "name", bt_arena_printf(arena, "instance-%u", index));
	bt_json_write_name_c(writer, "attributes");
	bt_json_write_raw(writer,
		BT_STR("{\"model\":{\"string\":\"A100\"},\"family\":{\"string\":\"GRID\"},"
		       "\"driverVersion\":{\"version\":\"1.2.3\"}}"));
	bt_json_write_name_c(writer, "capacity");
	bt_json_write_raw(writer, BT_STR("{\"memory\":{\"value\":\"1Gi\"}}"));
	bt_json_end_object(writer);
}

/**
 * Adds a ResourceSlice with up to SLICE_DEVICES_MAX devices of a node. slice: index of the slice
 * among the slice_count slices of the node.
 */
static int add_slice(struct bt_perf *perf, const struct bt_perf_op *op, struct bt_str node_name,
	uint32_t slice, uint32_t slice_count, struct bt_arena *arena, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_object *object;
	uint32_t first = slice * SLICE_DEVICES_MAX;
	uint64_t serial = ++perf->serial;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_begin_object(&writer);
	bt_json_write_member_c(&writer, "apiVersion", "resource.k8s.io/v1");
	bt_json_write_member_c(&writer, "kind", "ResourceSlice");
	bt_json_write_name_c(&writer, "metadata");
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "name",
		bt_arena_printf(arena, "%.*s-%.*s-%u", BT_STR_ARG(node_name),
			BT_STR_ARG(op->driver), slice));
	bt_json_write_member(&writer, "uid",
		bt_arena_printf(
			arena, "00000000-0000-4000-8000-%012llx", (unsigned long long)serial));
	bt_json_end_object(&writer);
	bt_json_write_name_c(&writer, "spec");
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "driver", op->driver);
	bt_json_write_member(&writer, "nodeName", node_name);
	bt_json_write_name_c(&writer, "pool");
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "name", node_name);
	bt_json_write_member_int64(&writer, "generation", 1);
	bt_json_write_member_int64(&writer, "resourceSliceCount", slice_count);
	bt_json_end_object(&writer);
	bt_json_write_name_c(&writer, "devices");
	bt_json_begin_array(&writer);
	for (uint32_t i = first; i < first + SLICE_DEVICES_MAX && i < (uint64_t)op->claims_per_node;
		i++) {
		write_device(&writer, arena, i);
	}
	bt_json_end_array(&writer);
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
	int result = bt_object_decode(bt_strbuf_str(&text), &object, err);
	bt_strbuf_finish(&text);
	return result == 0 ? bt_living_add(&perf->living, object, err) : result;
}

int bt_perf_create_driver(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	struct bt_arena arena = {0};
	uint32_t slice_count =
		(uint32_t)((op->claims_per_node + SLICE_DEVICES_MAX - 1) / SLICE_DEVICES_MAX);
	uint32_t node_count = 0;
	int result = op->claims_per_node <= NODE_DEVICES_MAX
		? 0
		: bt_error_set(err, BERTH_ERR_TOO_LARGE, "maxClaimsPerNode: at most %d",
			  NODE_DEVICES_MAX);
	for (uint32_t i = 0; i < perf->nodes.count && result == 0; i++) {
		struct bt_str name = perf->nodes.items[i]->meta->name;
		if (!bt_str_matches_pattern(name, op->nodes)) {
			continue;
		}
		node_count++;
		for (uint32_t k = 0; k < slice_count && result == 0; k++) {
			result = add_slice(perf, op, name, k, slice_count, &arena, err);
			bt_arena_reset(&arena);
		}
	}
	bt_arena_finish(&arena);
	return result == 0 && node_count == 0
		? bt_error_set(err, BERTH_ERR_INVALID, "nodes: no node is called \"%.*s\"",
			  BT_STR_ARG(op->nodes))
		: result;
}

/**
 * Allocates devices for a claim on the first node from next_node on that has enough of them free.
 */
static int allocate_claim(struct bt_perf *perf, struct bt_object *object, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_state *state = bt_scheduler_engine(perf->living.scheduler)->state;
	const struct bt_resource_claim *claim = object->value;
	const struct bt_allocator_options options = {.verify = false};
	struct bt_allocator *allocator = bt_allocator_create(state->dra, &options, arena);
	for (uint32_t i = 0; i < perf->nodes.count; i++) {
		uint32_t at = (perf->next_node + i) % perf->nodes.count;
		uint32_t slot =
			bt_node_table_find(&state->nodes, perf->nodes.items[at]->meta->name);
		const struct bt_allocation_choice *choice;
		struct bt_allocation_result allocation;
		if (slot == BT_SLOT_NONE) {
			continue;
		}
		enum bt_allocation_outcome outcome =
			bt_allocator_allocate(allocator, slot, &claim, 1, &choice, err).outcome;
		if (outcome == BT_ALLOCATION_ERROR) {
			return BERTH_ERR_INVALID;
		}
		if (outcome != BT_ALLOCATION_FOUND) {
			continue;
		}
		int result = bt_allocation_choice_result(
			allocator, choice, 0, NULL, arena, &allocation, err);
		if (result < 0) {
			return result;
		}
		struct bt_resource_claim allocated = *claim;
		allocated.status.allocation = &allocation;
		allocated.metadata.resource_version = bt_arena_printf(arena, "%llu",
			(unsigned long long)++perf->living.resource_version + UINT32_MAX);
		perf->next_node = at + 1;
		return bt_living_change(&perf->living, bt_object_share(object),
			bt_object_create(BT_KIND_RESOURCE_CLAIM, &allocated), err);
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "no node has free devices for it");
}

int bt_perf_allocate_claims(
	struct bt_perf *perf, const struct bt_perf_op *op, struct berth_error *err)
{
	struct bt_state *state = bt_scheduler_engine(perf->living.scheduler)->state;
	BT_VEC(struct bt_object *) claims = {0};
	const struct bt_resource_claim *claim;
	struct bt_arena arena = {0};
	uint32_t cursor = 0;
	int result = 0;
	if (state->dra == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "no profile has the plugin DynamicResources");
	}
	while ((claim = bt_object_store_next(&state->objects, BT_KIND_RESOURCE_CLAIM,
			op->namespace_, &cursor)) != NULL) {
		if (claim->status.allocation == NULL) {
			struct bt_object *object = bt_object_store_find_object(&state->objects,
				BT_KIND_RESOURCE_CLAIM, op->namespace_, claim->metadata.name);
			bt_vec_push(&claims, bt_object_share(object));
		}
	}
	for (uint32_t i = 0; i < claims.count; i++) {
		if (result == 0) {
			result = allocate_claim(perf, claims.items[i], &arena, err);
			bt_arena_reset(&arena);
			if (result < 0) {
				const struct bt_object_meta *meta = claims.items[i]->meta;
				result = bt_error_wrap(err, result, "ResourceClaim %.*s/%.*s",
					BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
			}
		}
		bt_object_release(claims.items[i]);
	}
	bt_vec_finish(&claims);
	bt_arena_finish(&arena);
	return result;
}
