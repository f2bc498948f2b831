/* SPDX-License-Identifier: Apache-2.0 */
/** Random changes of nodes. */
#include "soak/world.h"

#define KEPT_NAMES 4

static void create_node(struct bt_sim *sim, struct bt_str name)
{
	struct bt_strbuf *json = &sim->workload.json;
	struct bt_prng *prng = &sim->changes;
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%.*s\","
		"\"labels\":{\"kubernetes.io/hostname\":\"%.*s\","
		"\"topology.kubernetes.io/zone\":\"z%u\",\"disk\":\"%s\"}},",
		BT_STR_ARG(name), BT_STR_ARG(name), (unsigned)bt_prng_below(prng, 3),
		bt_sim_chance(prng, 50) ? "ssd" : "hdd");
	bt_strbuf_printf(json,
		"\"status\":{\"allocatable\":{\"cpu\":\"%u\",\"memory\":\"%uGi\","
		"\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\",\"example.com/gpu\":\"%u\"},"
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
		(unsigned)(1 + bt_prng_below(prng, 6)), (unsigned)(2 + bt_prng_below(prng, 12)),
		(unsigned)(4 + bt_prng_below(prng, 14)),
		bt_sim_chance(prng, 25) ? (unsigned)bt_prng_below(prng, 4) : 0);
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
	bt_sim_log(sim, "node %.*s is added", BT_STR_ARG(name));
}

/**
 * Sets or changes the volume limit of a random node. A limit is never removed, because no queueing
 * hint reports the removal, so waiting pods would not be requeued.
 */
static void limit_volumes(struct bt_sim *sim)
{
	struct bt_strbuf *json = &sim->workload.json;
	struct bt_object *node = bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
	if (node == NULL || !sim->workload.has_volumes) {
		return;
	}
	struct bt_str name = bt_arena_str(&sim->scratch, node->meta->name);
	(void)bt_sim_store_delete(&sim->store, BT_KIND_CSI_NODE, BT_STR(""), name);
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSINode\",\"metadata\":{"
		"\"name\":\"%.*s\"},\"spec\":{\"drivers\":[{\"name\":"
		"\"example.com/disks\",\"nodeID\":\"i\",\"allocatable\":{\"count\":%u}}]}}",
		BT_STR_ARG(name), (unsigned)(1 + bt_prng_below(&sim->changes, 5)));
	bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

/** Returns the name of a random node; "": there are no nodes. */
static struct bt_str pick_node(struct bt_sim *sim)
{
	struct bt_object *object = bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
	return object != NULL ? bt_arena_str(&sim->scratch, object->meta->name) : BT_STR("");
}

/** Apply a strategic merge patch to the node. what: the change, for the log. */
static void patch_node(struct bt_sim *sim, struct bt_str name, enum bt_subresource subresource,
	const char *what, struct bt_str json)
{
	bt_sim_log(sim, "node %.*s %s", BT_STR_ARG(name), what);
	/* The node exists: it was just picked. */
	(void)bt_sim_store_patch(&sim->store, BT_KIND_NODE, BT_STR(""), name, subresource, json);
}

/** Cordon a node and delete its pods. */
static void drain(struct bt_sim *sim)
{
	BT_VEC(struct bt_object *) pods = {0};
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	struct bt_str name = pick_node(sim);
	if (name.length == 0) {
		return;
	}
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (bt_str_equal(pod->spec.node_name, name)) {
			struct bt_object *object = bt_sim_store_find(&sim->store, BT_KIND_POD,
				pod->metadata.namespace_, pod->metadata.name);
			bt_vec_push(&pods, bt_object_share(object));
		}
	}
	patch_node(sim, name, BT_SUBRESOURCE_NONE, "is drained",
		BT_STR("{\"spec\":{\"unschedulable\":true}}"));
	for (uint32_t i = 0; i < pods.count; i++) {
		const struct bt_object_meta *meta = pods.items[i]->meta;
		/* The pod may be deleted already. */
		(void)bt_sim_store_delete(&sim->store, BT_KIND_POD, meta->namespace_, meta->name);
		bt_object_release(pods.items[i]);
	}
	bt_vec_finish(&pods);
}

void bt_sim_workload_add_node(struct bt_sim *sim)
{
	/* Names are reused after a while. */
	uint32_t serial = sim->workload.next_node++;
	struct bt_str name = bt_arena_printf(
		&sim->scratch, "n%u", serial % (sim->workload.nodes_max + KEPT_NAMES));
	if (bt_object_store_count(&sim->store.objects, BT_KIND_NODE) <= sim->workload.nodes_max &&
		bt_sim_store_find(&sim->store, BT_KIND_NODE, BT_STR(""), name) == NULL) {
		bt_sim_excuse(sim, name);
		create_node(sim, name);
	}
}

static void remove_node(struct bt_sim *sim)
{
	struct bt_str name = pick_node(sim);
	if (name.length == 0) {
		return;
	}
	bt_sim_log(sim, "node %.*s is removed", BT_STR_ARG(name));
	(void)bt_sim_store_delete(&sim->store, BT_KIND_NODE, BT_STR(""), name); /* it exists */
	if (bt_sim_chance(&sim->changes, 40)) {
		bt_sim_excuse(sim, name);
		create_node(sim, name);
	}
}

static void cordon(struct bt_sim *sim)
{
	struct bt_str name = pick_node(sim);
	bool cordoned = bt_sim_chance(&sim->changes, 35);
	if (name.length != 0) {
		patch_node(sim, name, BT_SUBRESOURCE_NONE,
			cordoned ? "is cordoned" : "is uncordoned",
			cordoned ? BT_STR("{\"spec\":{\"unschedulable\":true}}")
				 : BT_STR("{\"spec\":{\"unschedulable\":null}}"));
	}
}

/**
 * Taint or untaint a random node. The patch replaces all taints; controllers restore the taints of
 * node conditions.
 */
static void taint(struct bt_sim *sim)
{
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	struct bt_str name = pick_node(sim);
	const char *effect = effects[bt_prng_below(&sim->changes, 3)];
	bool tainted = bt_sim_chance(&sim->changes, 35);
	if (name.length != 0) {
		patch_node(sim, name, BT_SUBRESOURCE_NONE, tainted ? "is tainted" : "is untainted",
			tainted ? bt_arena_printf(&sim->scratch,
					  "{\"spec\":{\"taints\":[{\"key\":\"dedicated\","
					  "\"value\":\"x\",\"effect\":\"%s\"}]}}",
					  effect)
				: BT_STR("{\"spec\":{\"taints\":null}}"));
	}
}

static void relabel(struct bt_sim *sim)
{
	struct bt_str name = pick_node(sim);
	bool zone = bt_sim_chance(&sim->changes, 40);
	unsigned number = (unsigned)bt_prng_below(&sim->changes, 3);
	const char *disk = bt_sim_chance(&sim->changes, 50) ? "ssd" : "hdd";
	if (name.length == 0) {
		return;
	}
	patch_node(sim, name, BT_SUBRESOURCE_NONE, "has other labels",
		zone ? bt_arena_printf(&sim->scratch,
			       "{\"metadata\":{\"labels\":{\"topology.kubernetes.io/zone\":"
			       "\"z%u\"}}}",
			       number)
		     : bt_arena_printf(&sim->scratch,
			       "{\"metadata\":{\"labels\":{\"disk\":\"%s\"}}}", disk));
}

static void resize(struct bt_sim *sim)
{
	struct bt_str name = pick_node(sim);
	unsigned cpu = 1 + (unsigned)bt_prng_below(&sim->changes, 6);
	if (name.length != 0) {
		bt_sim_excuse(sim, name);
		patch_node(sim, name, BT_SUBRESOURCE_STATUS, "has another size",
			bt_arena_printf(&sim->scratch,
				"{\"status\":{\"allocatable\":{\"cpu\":\"%u\"},\"capacity\":{"
				"\"cpu\":\"%u\"}}}",
				cpu, cpu));
	}
}

/** Changes a field of a node that the scheduler does not read. */
static void heartbeat(struct bt_sim *sim)
{
	struct bt_str name = pick_node(sim);
	if (name.length != 0) {
		patch_node(sim, name, BT_SUBRESOURCE_NONE, "is alive",
			bt_arena_printf(&sim->scratch,
				"{\"metadata\":{\"annotations\":{\"beat\":\"%llu\"}}}",
				(unsigned long long)sim->report->changes));
	}
}

const struct bt_sim_change bt_sim_node_changes[] = {
	{4, bt_sim_workload_add_node},
	{2, remove_node},
	{4, cordon},
	{4, taint},
	{3, relabel},
	{3, resize},
	{2, heartbeat},
	{1, drain},
	{3, limit_volumes},
	{3, bt_sim_workload_add_volume},
	{1, bt_sim_workload_toggle_class},
};
const uint32_t bt_sim_node_change_count = BT_ARRAY_LENGTH(bt_sim_node_changes);
