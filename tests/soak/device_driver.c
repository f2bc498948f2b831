/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulates the drivers of devices: publishes the ResourceSlices of pools, one slice after the
 * other.
 */
#include "soak/world.h"

/** The first slice of a pool has at most this many devices; the second slice has the other devices.
 * A pool of kind PART has its counters in the first slice and all devices in the second. */
#define SLICE_MAX 2

static const char *const drivers[BT_SIM_POOL__COUNT] = {
	"gpu.example.com", "nic.example.com", "part.example.com", "fabric.example.com"};
static const char *const tags[BT_SIM_POOL__COUNT] = {"gpu", "nic", "part", "fabric"};

/** --- devices --- */

static void append_part(uint32_t index, struct bt_strbuf *out)
{
	static const char *const names[] = {
		"whole", "half-0", "half-1", "quarter-0", "quarter-1", "quarter-2", "quarter-3"};
	static const unsigned sizes[] = {4, 2, 2, 1, 1, 1, 1};
	bt_strbuf_printf(out,
		"{\"name\":\"%s\",\"attributes\":{\"size\":{\"int\":%u}},\"consumesCounters\":[{"
		"\"counterSet\":\"memory\",\"counters\":{\"slots\":{\"value\":\"%u\"}}}]",
		names[index], sizes[index], sizes[index]);
}

static void append_device(
	const struct bt_sim_pool *pool, uint32_t index, bool is_last, struct bt_strbuf *out)
{
	switch (pool->kind) {
	case BT_SIM_POOL_GPU:
		bt_strbuf_printf(out,
			"{\"name\":\"g%u\",\"attributes\":{\"model\":{\"string\":\"%s\"},\"numa\":{"
			"\"int\":%u}}",
			index, index % 2 == 0 ? "plain" : "fast", index / 2);
		break;
	case BT_SIM_POOL_NIC:
		bt_strbuf_append_c(out,
			"{\"name\":\"nic\",\"allowMultipleAllocations\":true,\"capacity\":{"
			"\"bandwidth\":{\"value\":\"4\"}}");
		break;
	case BT_SIM_POOL_PART:
		append_part(index, out);
		break;
	case BT_SIM_POOL_FABRIC:
	case BT_SIM_POOL__COUNT:
		bt_strbuf_printf(out, "{\"name\":\"f%u\"", index);
		break;
	}
	if ((pool->tainted >> index & 1) != 0) {
		bt_strbuf_printf(out,
			",\"taints\":[{\"key\":\"worn\",\"value\":\"x\",\"effect\":\"%s\"}]",
			pool->effect);
	}
	bt_strbuf_append_c(out, is_last ? "}" : "},");
}

/** --- slices --- */

static struct bt_str slice_name(struct bt_sim *sim, const struct bt_sim_pool *pool, uint32_t number)
{
	return bt_arena_printf(
		&sim->texts, "%.*s-%s-%u", BT_STR_ARG(pool->name), tags[pool->kind], number);
}

/** Returns the number of slices of the pool. Counters have a separate slice. */
static uint32_t slice_count(const struct bt_sim_pool *pool)
{
	return pool->kind == BT_SIM_POOL_PART || pool->device_count > SLICE_MAX ? 2 : 1;
}

static void append_scope(const struct bt_sim_pool *pool, struct bt_strbuf *out)
{
	if (pool->kind != BT_SIM_POOL_FABRIC) {
		bt_strbuf_printf(out, "\"nodeName\":\"%.*s\",", BT_STR_ARG(pool->name));
		return;
	}
	bt_strbuf_printf(out,
		"\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
		"\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"%.*s\"]}]}]},",
		BT_STR_ARG(pool->name));
}

static void append_content(const struct bt_sim_pool *pool, uint32_t number, struct bt_strbuf *out)
{
	bool has_counters = pool->kind == BT_SIM_POOL_PART;
	uint32_t first = number * SLICE_MAX;
	uint32_t end = number + 1 == slice_count(pool) ? pool->device_count : first + SLICE_MAX;
	if (has_counters && number == 0) {
		bt_strbuf_append_c(out,
			"\"sharedCounters\":[{\"name\":\"memory\",\"counters\":{\"slots\":{"
			"\"value\":\"4\"}}}]");
		return;
	}
	bt_strbuf_append_c(out, "\"devices\":[");
	for (uint32_t i = has_counters ? 0 : first; i < end; i++) {
		append_device(pool, i, i + 1 == end, out);
	}
	bt_strbuf_append_c(out, "]");
}

static void write_slice(struct bt_sim *sim, const struct bt_sim_pool *pool, uint32_t number)
{
	struct bt_strbuf *json = &sim->workload.json;
	struct bt_str name = slice_name(sim, pool, number);
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":{"
		"\"name\":\"%.*s\"},\"spec\":{\"driver\":\"%s\",\"pool\":{\"name\":\"%.*s\","
		"\"generation\":%lld,\"resourceSliceCount\":%u},",
		BT_STR_ARG(name), drivers[pool->kind], BT_STR_ARG(pool->name),
		(long long)pool->generation, slice_count(pool));
	append_scope(pool, json);
	append_content(pool, number, json);
	bt_strbuf_append_c(json, "}}");
	bt_sim_log(sim, "slice %.*s: generation %lld, %u devices in the pool, tainted %x",
		BT_STR_ARG(name), (long long)pool->generation, pool->device_count, pool->tainted);
	if (bt_sim_store_find(&sim->store, BT_KIND_RESOURCE_SLICE, BT_STR(""), name) == NULL) {
		bt_sim_store_create(&sim->store, bt_strbuf_str(json));
	} else {
		/* The lists in slices have no merge keys, so a patch replaces them. */
		(void)bt_sim_store_patch(&sim->store, BT_KIND_RESOURCE_SLICE, BT_STR(""), name,
			BT_SUBRESOURCE_NONE, bt_strbuf_str(json));
	}
}

static bool is_published(const struct bt_sim *sim, const struct bt_sim_pool *pool)
{
	return !pool->is_away && sim->workload.has_devices &&
		(pool->kind == BT_SIM_POOL_FABRIC ||
			bt_sim_store_find(&sim->store, BT_KIND_NODE, BT_STR(""), pool->name) !=
				NULL);
}

/** --- publishing slice by slice: the pool is incomplete in between --- */

#define SECOND_SLICE (UINT64_C(1) << 32)

static void sync_slice(void *context, uint64_t argument)
{
	struct bt_sim *sim = context;
	uint32_t number = argument >= SECOND_SLICE;
	const struct bt_sim_pool *pool = &sim->workload.pools.items[(uint32_t)argument];
	bt_sim_action_done(sim);
	if (is_published(sim, pool) && number < slice_count(pool)) {
		write_slice(sim, pool, number);
	} else {
		struct bt_str name = slice_name(sim, pool, number);
		if (bt_sim_store_delete(&sim->store, BT_KIND_RESOURCE_SLICE, BT_STR(""), name)) {
			bt_sim_log(sim, "slice %.*s is gone", BT_STR_ARG(name));
		}
	}
}

void bt_sim_publish(struct bt_sim *sim, uint32_t pool)
{
	bool in_order = bt_sim_chance(&sim->times, 70);
	int64_t delay_ms = bt_sim_between_ms(&sim->times, 20, 1500);
	int64_t gap_ms = bt_sim_between_ms(&sim->times, 1, 800);
	sim->workload.pools.items[pool].generation++;
	bt_sim_after(sim, (in_order ? delay_ms : delay_ms + gap_ms) * BT_SIM_MILLISECOND,
		sync_slice, pool);
	bt_sim_after(sim, (in_order ? delay_ms + gap_ms : delay_ms) * BT_SIM_MILLISECOND,
		sync_slice, pool | SECOND_SLICE);
}

/** --- nodes are added and removed --- */

/** Whether a node of this name has a pool of this kind. The result depends on the name only. */
static bool has_pool(const struct bt_sim *sim, struct bt_str node_name, enum bt_sim_pool_kind kind)
{
	const struct bt_sim_workload *workload = &sim->workload;
	int64_t number = 0;
	if (!bt_str_parse_int64(bt_str_sub(node_name, 1, node_name.length), &number)) {
		return false;
	}
	switch (kind) {
	case BT_SIM_POOL_GPU:
		return number % 3 != 2;
	case BT_SIM_POOL_NIC:
		return workload->has_shared_devices && number % 2 == 0;
	case BT_SIM_POOL_PART:
		return workload->has_parts && number % 3 != 0;
	case BT_SIM_POOL_FABRIC:
	case BT_SIM_POOL__COUNT:
		break;
	}
	return false;
}

static uint32_t pool_of(struct bt_sim *sim, struct bt_str node_name, enum bt_sim_pool_kind kind)
{
	struct bt_sim_workload *workload = &sim->workload;
	for (uint32_t i = 0; i < workload->pools.count; i++) {
		if (workload->pools.items[i].kind == kind &&
			bt_str_equal(workload->pools.items[i].name, node_name)) {
			return i;
		}
	}
	static const uint32_t counts[BT_SIM_POOL__COUNT] = {3, 1, 7, 0};
	struct bt_sim_pool pool = {.kind = kind,
		.name = bt_arena_str(&sim->texts, node_name),
		.device_count = counts[kind],
		.effect = "NoSchedule"};
	bt_vec_push(&workload->pools, pool);
	return workload->pools.count - 1;
}

void bt_sim_device_driver_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object)
{
	const struct bt_object *object = new_object != NULL ? new_object : old_object;
	if (!sim->workload.has_devices || object->kind != BT_KIND_NODE ||
		(old_object != NULL && new_object != NULL)) {
		return;
	}
	for (uint32_t kind = 0; kind < BT_SIM_POOL__COUNT; kind++) {
		if (has_pool(sim, object->meta->name, (enum bt_sim_pool_kind)kind)) {
			bt_sim_publish(
				sim, pool_of(sim, object->meta->name, (enum bt_sim_pool_kind)kind));
		}
	}
}
