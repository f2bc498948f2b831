/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage.h"
#include "soak/world.h"

/** --- random changes --- */

static uint32_t weight_of(const struct bt_sim_change *changes, uint32_t count)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		sum += changes[i].weight;
	}
	return sum;
}

static void run_change(
	struct bt_sim *sim, const struct bt_sim_change *changes, uint32_t count, uint64_t chosen)
{
	for (uint32_t i = 0; i < count; i++) {
		if (chosen < changes[i].weight) {
			bt_arena_reset(&sim->scratch);
			changes[i].run(sim);
			return;
		}
		chosen -= changes[i].weight;
	}
}

void bt_sim_workload_change(struct bt_sim *sim)
{
	uint32_t pods = weight_of(bt_sim_pod_changes, bt_sim_pod_change_count);
	uint32_t nodes = weight_of(bt_sim_node_changes, bt_sim_node_change_count);
	uint32_t devices = sim->workload.has_devices
		? weight_of(bt_sim_device_changes, bt_sim_device_change_count)
		: 0;
	uint64_t chosen = bt_prng_below(&sim->changes, pods + nodes + devices);
	if (chosen < pods) {
		run_change(sim, bt_sim_pod_changes, bt_sim_pod_change_count, chosen);
	} else if (chosen < pods + nodes) {
		run_change(sim, bt_sim_node_changes, bt_sim_node_change_count, chosen - pods);
	} else {
		run_change(sim, bt_sim_device_changes, bt_sim_device_change_count,
			chosen - pods - nodes);
	}
}

static void change(void *context, uint64_t argument BT_UNUSED)
{
	struct bt_sim *sim = context;
	if (sim->is_changing) {
		bt_sim_workload_change(sim);
		for (uint32_t i = 0; i < sim->workload.apps.count; i++) {
			if (bt_sim_chance(&sim->changes, 40)) {
				bt_arena_reset(&sim->scratch);
				bt_sim_workload_reconcile(sim, i);
			}
		}
	}
	bt_sim_clock_after(&sim->clock,
		bt_sim_between_ms(&sim->changes, 50, 1200) * BT_SIM_MILLISECOND, change, sim, 0);
}

/** --- start of a round --- */

static void create(struct bt_sim *sim)
{
	bt_sim_store_create(&sim->store, bt_strbuf_str(&sim->workload.json));
}

struct class_row {
	const char *name;
	const char *provisioner;
	const char *mode;
	const char *more; /* JSON members */
};

static const struct class_row classes[] = {
	{"made-late", "example.com/disks", "WaitForFirstConsumer", ""},
	/*
         * If the selected node moves to a zone that is not allowed, the provisioner rejects the
         * node, and the scheduler selects another node.
         */
	{"made-near", "example.com/disks", "WaitForFirstConsumer",
		",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":"
		"\"topology.kubernetes.io/zone\",\"values\":[\"z0\",\"z1\"]}]}]"},
	{"made-now", "example.com/disks", "Immediate", ""},
	{"found-late", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", ""},
};

static void create_class(struct bt_sim *sim, const struct class_row *row)
{
	struct bt_strbuf *json = &sim->workload.json;
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{"
		"\"name\":\"%s\"},\"provisioner\":\"%s\",\"volumeBindingMode\":\"%s\"%s}",
		row->name, row->provisioner, row->mode, row->more);
	create(sim);
}

/** Create the objects that stay for all rounds; workload_apps.c uses the classes by name. */
static void create_once(struct bt_sim *sim)
{
	struct bt_strbuf *json = &sim->workload.json;
	for (char letter = 'a'; letter <= 'b'; letter++) {
		bt_strbuf_reset(json);
		bt_strbuf_printf(json,
			"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
			"\"%c\",\"labels\":{\"resource.kubernetes.io/admin-access\":\"true\"}}}",
			letter);
		create(sim);
	}
	static const int priorities[] = {0, 100, 1000, -10};
	for (uint32_t i = 0; i < 2 * BT_ARRAY_LENGTH(priorities); i++) {
		bool never = i % 2 != 0;
		bt_strbuf_reset(json);
		bt_strbuf_printf(json,
			"{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\","
			"\"metadata\":{\"name\":\"%s%u\"},\"value\":%d,\"preemptionPolicy\":\"%"
			"s\"}",
			never ? "never" : "p", i / 2, priorities[i / 2],
			never ? "Never" : "PreemptLowerPriority");
		create(sim);
	}
	bt_strbuf_reset(json);
	bt_strbuf_append_c(json,
		"{\"apiVersion\":\"node.k8s.io/v1\",\"kind\":\"RuntimeClass\",\"metadata\":{"
		"\"name\":\"heavy\"},\"handler\":\"heavy\",\"overhead\":{\"podFixed\":{\"cpu\":"
		"\"10m\",\"memory\":\"8Mi\"}}}");
	create(sim);
}

static void create_basics(struct bt_sim *sim)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(classes); i++) {
		create_class(sim, &classes[i]);
	}
	if (sim->workload.has_devices) {
		bt_sim_create_device_classes(sim);
	}
	if (sim->workload.has_fabric) {
		bt_sim_create_fabric(sim);
	}
}

void bt_sim_workload_toggle_class(struct bt_sim *sim)
{
	const struct class_row *row =
		&classes[bt_prng_below(&sim->changes, BT_ARRAY_LENGTH(classes))];
	bt_sim_log(sim, "class %s goes or comes", row->name);
	if (!bt_sim_store_delete(
		    &sim->store, BT_KIND_STORAGE_CLASS, BT_STR(""), bt_str_from(row->name))) {
		create_class(sim, row);
	}
}

void bt_sim_workload_start(struct bt_sim *sim)
{
	struct bt_sim_workload *workload = &sim->workload;
	bool again = workload->nodes_max != 0;
	if (!again) {
		workload->nodes_max = 3 + (uint32_t)bt_prng_below(&sim->changes, 14);
		workload->pods_max = workload->nodes_max * 7;
		workload->has_volumes = bt_sim_chance(&sim->changes, 50);
		workload->has_topology = bt_sim_chance(&sim->changes, 70);
		workload->has_preemption = bt_sim_chance(&sim->changes, 70);
		workload->has_gates = bt_sim_chance(&sim->changes, 50);
		workload->has_devices = bt_sim_chance(&sim->changes, 50);
		workload->has_shared_devices =
			workload->has_devices && bt_sim_chance(&sim->changes, 50);
		workload->has_parts = workload->has_devices && bt_sim_chance(&sim->changes, 50);
		workload->has_fabric = workload->has_devices && bt_sim_chance(&sim->changes, 50);
		create_once(sim);
		change(sim, 0);
	}
	create_basics(sim);
	for (uint32_t i = 0; i < workload->nodes_max; i++) {
		bt_sim_workload_add_node(sim);
	}
}

void bt_sim_workload_finish(struct bt_sim_workload *workload)
{
	bt_vec_finish(&workload->apps);
	bt_vec_finish(&workload->pools);
	bt_strbuf_finish(&workload->json);
}

/** --- end of a round --- */

/** Deletes all objects of the kind. Objects with finalizers may stay for a while. */
static void delete_all(struct bt_sim *sim, enum bt_kind kind)
{
	BT_VEC(struct bt_object *) objects = {0};
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;
	while ((meta = bt_object_store_next(
			&sim->store.objects, kind, (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		struct bt_object *object =
			bt_sim_store_find(&sim->store, kind, meta->namespace_, meta->name);
		bt_vec_push(&objects, bt_object_share(object));
	}
	for (uint32_t i = 0; i < objects.count; i++) {
		/* The deletion of another object may have deleted it, too. */
		(void)bt_sim_store_delete_now(&sim->store, kind, objects.items[i]->meta->namespace_,
			objects.items[i]->meta->name);
		bt_object_release(objects.items[i]);
	}
	bt_vec_finish(&objects);
}

void bt_sim_workload_drain(struct bt_sim *sim)
{
	sim->workload.apps.count = 0;
	bool nodes_first = bt_sim_chance(&sim->changes, 50);
	if (nodes_first) {
		delete_all(sim, BT_KIND_NODE);
	}
	for (uint32_t kind = 0; kind < BT_KIND__COUNT; kind++) {
		if (kind != BT_KIND_NAMESPACE) {
			delete_all(sim, (enum bt_kind)kind);
		}
	}
}

/** --- volumes --- */

static void append_zone_affinity(struct bt_strbuf *json, struct bt_str zone)
{
	if (zone.length != 0) {
		bt_strbuf_printf(json,
			",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
			"\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
			"\"operator\":\"In\",\"values\":[\"%.*s\"]}]}]}}",
			BT_STR_ARG(zone));
	}
}

static void begin_volume(struct bt_strbuf *json, struct bt_str name, struct bt_str class_name)
{
	bt_strbuf_reset(json);
	bt_strbuf_printf(json,
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":"
		"\"%.*s\"},\"spec\":{\"capacity\":{\"storage\":\"10Gi\"},\"accessModes\":["
		"\"ReadWriteOnce\"],\"storageClassName\":\"%.*s\","
		"\"csi\":{\"driver\":\"example.com/disks\",\"volumeHandle\":\"%.*s\"}",
		BT_STR_ARG(name), BT_STR_ARG(class_name), BT_STR_ARG(name));
}

void bt_sim_workload_add_volume(struct bt_sim *sim)
{
	struct bt_strbuf *json = &sim->workload.json;
	if (!sim->workload.has_volumes ||
		bt_object_store_count(&sim->store.objects, BT_KIND_PERSISTENT_VOLUME) > 20) {
		return;
	}
	struct bt_str name =
		bt_arena_printf(&sim->scratch, "found-%u", sim->workload.next_volume++);
	struct bt_str zone =
		bt_arena_printf(&sim->scratch, "z%u", (unsigned)bt_prng_below(&sim->changes, 3));
	begin_volume(json, name, BT_STR("found-late"));
	append_zone_affinity(json, zone);
	bt_strbuf_append_c(json, "}}");
	create(sim);
}
