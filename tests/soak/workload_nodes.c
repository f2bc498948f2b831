/* SPDX-License-Identifier: Apache-2.0 */
/** What happens to nodes. */
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
	(void)bt_sim_store_create(&sim->store, bt_strbuf_str(json));
	bt_sim_log(sim, "node %.*s is added", BT_STR_ARG(name));
}

/** How many volumes a node may have; it may become known late, and change. It stays known: no hint
 * tells that a limit is gone. */
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
	(void)bt_sim_store_create(&sim->store, bt_strbuf_str(json));
}

/** Cordoned, and emptied. */
static void drain(struct bt_sim *sim)
{
	BT_VEC(uint64_t) uids = {0};
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	struct bt_object *object = bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
	if (object == NULL) {
		return;
	}
	struct bt_node node = *(const struct bt_node *)object->value;
	bt_sim_log(sim, "node %.*s is drained", BT_STR_ARG(node.metadata.name));
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			(struct bt_str){NULL, 0}, &cursor)) != NULL) {
		int64_t uid;
		if (bt_str_equal(pod->spec.node_name, node.metadata.name) &&
			bt_str_parse_int64(pod->metadata.uid, &uid)) {
			bt_vec_push(&uids, (uint64_t)uid);
		}
	}
	node.spec.unschedulable = true;
	(void)bt_sim_store_replace(&sim->store, BT_KIND_NODE, &node);
	for (uint32_t i = 0; i < uids.count; i++) {
		struct bt_object *found = bt_sim_store_by_uid(&sim->store, uids.items[i]);
		if (found != NULL) {
			/* It was found. */
			(void)bt_sim_store_delete_pod(
				sim, found->meta->namespace_, found->meta->name, NULL);
		}
	}
	bt_vec_finish(&uids);
}

void bt_sim_workload_add_node(struct bt_sim *sim)
{
	/* Some names come again. */
	uint32_t serial = sim->workload.next_node++;
	struct bt_str name = bt_arena_printf(
		&sim->scratch, "n%u", serial % (sim->workload.nodes_max + KEPT_NAMES));
	if (bt_object_store_count(&sim->store.objects, BT_KIND_NODE) <= sim->workload.nodes_max &&
		bt_sim_store_find(&sim->store, BT_KIND_NODE, BT_STR(""), name) == NULL) {
		bt_sim_excuse(sim, name);
		create_node(sim, name);
	}
}

/** A copy of one node to change, by chance; false: there is none. */
static bool pick_node(struct bt_sim *sim, struct bt_node *out_node)
{
	struct bt_object *object = bt_sim_store_pick(&sim->store, BT_KIND_NODE, &sim->changes);
	if (object == NULL) {
		return false;
	}
	*out_node = *(const struct bt_node *)object->value;
	return true;
}

static void put_node(struct bt_sim *sim, const struct bt_node *node, const char *what)
{
	bt_sim_log(sim, "node %.*s %s", BT_STR_ARG(node->metadata.name), what);
	(void)bt_sim_store_replace(&sim->store, BT_KIND_NODE, node);
}

static void remove_node(struct bt_sim *sim)
{
	struct bt_node node;
	if (!pick_node(sim, &node)) {
		return;
	}
	struct bt_str name = bt_arena_str(&sim->scratch, node.metadata.name);
	bt_sim_log(sim, "node %.*s is removed", BT_STR_ARG(name));
	(void)bt_sim_store_delete(&sim->store, BT_KIND_NODE, BT_STR(""), name);
	if (bt_sim_chance(&sim->changes, 40)) {
		bt_sim_excuse(sim, name);
		create_node(sim, name);
	}
}

static void cordon(struct bt_sim *sim)
{
	struct bt_node node;
	if (pick_node(sim, &node)) {
		node.spec.unschedulable = bt_sim_chance(&sim->changes, 35);
		put_node(sim, &node, node.spec.unschedulable ? "is cordoned" : "is uncordoned");
	}
}

static void taint(struct bt_sim *sim)
{
	struct bt_node node;
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	if (!pick_node(sim, &node)) {
		return;
	}
	struct bt_taint one = {.key = BT_STR("dedicated"),
		.value = BT_STR("x"),
		.effect = bt_str_from(effects[bt_prng_below(&sim->changes, 3)])};
	bool tainted = bt_sim_chance(&sim->changes, 35);
	node.spec.taints.items = &one;
	node.spec.taints.count = tainted;
	put_node(sim, &node, tainted ? "is tainted" : "is untainted");
}

static void relabel(struct bt_sim *sim)
{
	struct bt_node node;
	if (!pick_node(sim, &node)) {
		return;
	}
	struct bt_str_map copy = {.present = true};
	bool zone = bt_sim_chance(&sim->changes, 40);
	struct bt_str key = zone ? BT_STR("topology.kubernetes.io/zone") : BT_STR("disk");
	struct bt_str value = zone
		? bt_arena_printf(&sim->scratch, "z%u", (unsigned)bt_prng_below(&sim->changes, 3))
		: bt_sim_chance(&sim->changes, 50) ? BT_STR("ssd")
						   : BT_STR("hdd");
	copy.items =
		BT_ARENA_NEW_ARRAY(&sim->scratch, struct bt_str_pair, node.metadata.labels.count);
	copy.count = node.metadata.labels.count;
	for (uint32_t i = 0; i < copy.count; i++) {
		copy.items[i] = node.metadata.labels.items[i];
		if (bt_str_equal(copy.items[i].key, key)) {
			copy.items[i].value = value;
		}
	}
	node.metadata.labels = copy;
	put_node(sim, &node, "has other labels");
}

static void resize(struct bt_sim *sim)
{
	struct bt_node node;
	if (!pick_node(sim, &node)) {
		return;
	}
	struct bt_resource_list copy = node.status.allocatable;
	copy.items = BT_ARENA_NEW_ARRAY(&sim->scratch, struct bt_resource_entry, copy.count);
	for (uint32_t i = 0; i < copy.count; i++) {
		copy.items[i] = node.status.allocatable.items[i];
		if (bt_str_equal_c(copy.items[i].name, "cpu")) {
			copy.items[i].quantity =
				bt_quantity_make(1 + (int64_t)bt_prng_below(&sim->changes, 6), 0,
					BT_QUANTITY_DECIMAL_SI);
		}
	}
	node.status.allocatable = copy;
	bt_sim_excuse(sim, node.metadata.name);
	put_node(sim, &node, "has another size");
}

/** A change that concerns nobody. */
static void heartbeat(struct bt_sim *sim)
{
	struct bt_node node;
	if (pick_node(sim, &node)) {
		put_node(sim, &node, "is alive");
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
