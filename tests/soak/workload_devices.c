/* SPDX-License-Identifier: Apache-2.0 */
/** Device classes, and random changes of devices. */
#include "soak/world.h"

#define GPUS_MAX 4
#define FABRIC_ZONES 3
#define FABRIC_DEVICES 2

const struct bt_sim_selector bt_sim_selectors[] = {
	{"device.driver == \"gpu.example.com\"", "gpu.example.com", NULL, NULL, 0},
	{"device.driver == \"gpu.example.com\" && "
	 "device.attributes[\"gpu.example.com\"].model == \"fast\"",
		"gpu.example.com", "model", "fast", 0},
	{"device.driver == \"nic.example.com\"", "nic.example.com", NULL, NULL, 0},
	{"device.driver == \"part.example.com\"", "part.example.com", NULL, NULL, 0},
	{"device.driver == \"fabric.example.com\"", "fabric.example.com", NULL, NULL, 0},
	{"device.attributes[\"gpu.example.com\"].numa == 0", "gpu.example.com", "numa", NULL, 0},
	{"device.attributes[\"part.example.com\"].size == 1", "part.example.com", "size", NULL, 1},
	{"device.attributes[\"part.example.com\"].size == 2", "part.example.com", "size", NULL, 2},
};
const uint32_t bt_sim_selector_count = BT_ARRAY_LENGTH(bt_sim_selectors);

/** --- device classes, for the first selectors of the table --- */

static const char *const class_names[] = {"gpu", "fast-gpu", "nic", "part", "fabric"};

static void append_quoted(struct bt_strbuf *out, const char *text)
{
	bt_strbuf_append_char(out, '"');
	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '"') {
			bt_strbuf_append_char(out, '\\');
		}
		bt_strbuf_append_char(out, *at);
	}
	bt_strbuf_append_char(out, '"');
}

void bt_sim_append_selector(struct bt_strbuf *out, const char *expression)
{
	bt_strbuf_append_c(out, "\"selectors\":[{\"cel\":{\"expression\":");
	append_quoted(out, expression);
	bt_strbuf_append_c(out, "}}]");
}

static void create_class(struct bt_sim *sim, uint32_t index)
{
	struct bt_strbuf *json = &sim->workload.json;
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",\"metadata\":{"
		"\"name\":\"%s\"},\"spec\":{",
		class_names[index]);
	bt_sim_append_selector(json, bt_sim_selectors[index].expression);
	bt_strbuf_append_c(json, "}}");
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

void bt_sim_create_device_classes(struct bt_sim *sim)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(class_names); i++) {
		create_class(sim, i);
	}
}

static void restore_class(void *context, uint64_t index)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	if (bt_sim_store_find(&sim->store, BT_KIND_DEVICE_CLASS, BT_STR(""),
		    bt_str_from(class_names[index])) == NULL) {
		bt_sim_log(sim, "device class %s comes back", class_names[index]);
		create_class(sim, (uint32_t)index);
	}
}

/**
 * Deletes a random device class. A timer creates the class again soon, or this function starts the
 * timer when it picks the missing class again.
 */
static void remove_class(struct bt_sim *sim)
{
	uint32_t index = (uint32_t)bt_prng_below(&sim->changes, BT_ARRAY_LENGTH(class_names));
	bool is_there = bt_sim_store_delete(
		&sim->store, BT_KIND_DEVICE_CLASS, BT_STR(""), bt_str_from(class_names[index]));
	if (is_there) {
		bt_sim_log(sim, "device class %s is deleted", class_names[index]);
	}
	if (!is_there || bt_sim_chance(&sim->changes, 60)) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 100, 9000) * BT_SIM_MILLISECOND,
			restore_class, index);
	}
}

/** --- pools --- */

void bt_sim_create_fabric(struct bt_sim *sim)
{
	struct bt_sim_workload *workload = &sim->workload;
	for (uint32_t zone = 0; workload->fabric_count < FABRIC_ZONES; zone++) {
		struct bt_sim_pool pool = {.kind = BT_SIM_POOL_FABRIC,
			.name = bt_arena_printf(&sim->texts, "z%u", zone),
			.device_count = FABRIC_DEVICES,
			.effect = "NoSchedule"};
		bt_vec_push(&workload->pools, pool);
		workload->fabric_count++;
	}
	for (uint32_t i = 0; i < workload->fabric_count; i++) {
		bt_sim_publish(sim, i);
	}
}

/** The index of a random pool; UINT32_MAX: there is none. */
static uint32_t pick_pool(struct bt_sim *sim)
{
	uint32_t count = sim->workload.pools.count;
	return count == 0 ? UINT32_MAX : (uint32_t)bt_prng_below(&sim->changes, count);
}

/**
 * Taint random devices or remove taints, but not in pools of kind PART: a tainted device that
 * consumes counters may keep the counters from other devices (spec 12 section 21, D6).
 */
static void taint(struct bt_sim *sim)
{
	static const char *const effects[] = {"NoSchedule", "NoExecute", "None"};
	uint32_t index = pick_pool(sim);
	if (index == UINT32_MAX || sim->workload.pools.items[index].kind == BT_SIM_POOL_PART) {
		return;
	}
	struct bt_sim_pool *pool = &sim->workload.pools.items[index];
	pool->tainted = bt_sim_chance(&sim->changes, 60)
		? 0
		: (uint32_t)bt_prng_below(&sim->changes, UINT64_C(1) << pool->device_count);
	pool->effect = effects[bt_prng_below(&sim->changes, BT_ARRAY_LENGTH(effects))];
	bt_sim_publish(sim, index);
}

/** Change the number of a node's devices, even if they are in use. */
static void resize(struct bt_sim *sim)
{
	uint32_t index = pick_pool(sim);
	if (index != UINT32_MAX && sim->workload.pools.items[index].kind == BT_SIM_POOL_GPU) {
		struct bt_sim_pool *pool = &sim->workload.pools.items[index];
		pool->device_count = 1 + (uint32_t)bt_prng_below(&sim->changes, GPUS_MAX);
		pool->tainted &= (UINT32_C(1) << pool->device_count) - 1;
		bt_sim_publish(sim, index);
	}
}

static void come_back(void *context, uint64_t index)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	if (sim->workload.pools.items[index].is_away) {
		sim->workload.pools.items[index].is_away = false;
		bt_sim_publish(sim, (uint32_t)index);
	}
}

/** A driver is updated: its slices are gone for a while. */
static void restart_driver(struct bt_sim *sim)
{
	uint32_t index = pick_pool(sim);
	if (index != UINT32_MAX && !sim->workload.pools.items[index].is_away) {
		sim->workload.pools.items[index].is_away = true;
		bt_sim_publish(sim, index);
		bt_sim_after(sim, bt_sim_between_ms(&sim->times, 2000, 15000) * BT_SIM_MILLISECOND,
			come_back, index);
	}
}

const struct bt_sim_change bt_sim_device_changes[] = {
	{4, taint},
	{3, resize},
	{3, restart_driver},
	{2, remove_class},
	{3, bt_sim_delete_device_claim},
};
const uint32_t bt_sim_device_change_count = BT_ARRAY_LENGTH(bt_sim_device_changes);
