/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations on a state and on the naive cache: errors, sums, orders and the snapshot must
 * agree. */
#include "base/prng.h"
#include "naive_cache.h"
#include "state_fixture.h"
#include "test_main.h"

struct run {
	struct fixture f;
	struct naive_cache naive;
	struct bt_prng prng;
	uint64_t seed;
	int step;
};

static int below(struct run *run, int bound)
{
	return (int)bt_prng_below(&run->prng, (uint64_t)bound);
}

/* --- objects --- */

static const char *const variant_specs[NAIVE_VARIANTS] = {
	"",
	"'containers':[{'name':'c','resources':{'requests':{'cpu':'100m','memory':'1Mi'}}}]",
	"'containers':[{'name':'c','resources':{'requests':{'cpu':'250m'}},'ports':[{'hostPort':80}"
	"]}]",
	"'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}],'affinity':{'podAffinity'"
	":{}},"
	"'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c0'}}]",
	"'containers':[{'name':'c'}],'affinity':{'podAntiAffinity':{'"
	"requiredDuringSchedulingIgnoredDuringExecution':"
	"[{'topologyKey':'z'}]}},'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c0'}}"
	","
	"{'name':'w','persistentVolumeClaim':{'claimName':'c1'}}]",
	"'containers':[{'name':'c','resources':{'requests':{'example.com/x':'3'}},"
	"'ports':[{'hostPort':80},{'hostPort':81}]}]",
};

static const struct {
	const char *region;
	const char *zone;
} zones[NAIVE_ZONES] = {{"", ""}, {"r", "z1"}, {"r", "z2"}, {"", "z3"}};

static struct bt_pod *pod_object(struct run *run, int pod, int node, int variant)
{
	struct bt_arena *arena = &run->f.arena;
	struct bt_str name = bt_arena_printf(arena, "p%d", pod);
	struct bt_str node_name = node < 0 ? BT_STR("") : bt_arena_printf(arena, "n%d", node);

	return make_pod(&run->f, name.data, node_name.data, variant_specs[variant]);
}

static struct bt_node *node_object(struct run *run, int node, const struct naive_object *object)
{
	struct bt_arena *arena = &run->f.arena;
	struct bt_strbuf status = {0};
	struct bt_node *made;

	bt_strbuf_printf(&status, "'allocatable':{'cpu':'%d','example.com/x':'%d'},'images':[",
		object->cpu, object->cpu % 3);
	for (int i = 0, first = 1; i < NAIVE_IMAGES; i++) {
		if ((object->images >> i & 1) != 0) {
			bt_strbuf_printf(&status, "%s{'names':['i%d'],'sizeBytes':%lld}",
				first ? "" : ",", i, (long long)object->size_bytes);
			first = 0;
		}
	}
	bt_strbuf_append_c(&status, "]");
	made = make_node(&run->f, bt_arena_printf(arena, "n%d", node).data,
		zone_labels(&run->f, zones[object->zone].region, zones[object->zone].zone),
		bt_strbuf_c(&status));
	bt_strbuf_finish(&status);
	return made;
}

/* --- comparison --- */

#define agree(run, condition, ...) \
	do { \
		if (!(condition)) { \
			struct bt_strbuf what = {0}; \
			bt_strbuf_printf(&what, __VA_ARGS__); \
			ck_abort_msg("seed %llu step %d: %s", (unsigned long long)(run)->seed, \
				(run)->step, bt_strbuf_c(&what)); \
		} \
	} while (0)

static uint32_t slot_of_node(const struct run *run, int node)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "n%d", node);
	return slot_of(&run->f, name);
}

static bool is_pod(const struct run *run, uint32_t pod_id, int pod)
{
	char uid[16];

	(void)snprintf(uid, sizeof(uid), "p%d-uid", pod);
	return bt_state_find_pod(run->f.state, bt_str_from(uid)) == pod_id;
}

static void compare_entry(const struct run *run, int node)
{
	const struct naive_entry *entry = &run->naive.entries[node];
	const struct bt_node_table *nodes = &run->f.state->nodes;
	uint32_t slot = slot_of_node(run, node);
	struct naive_variant sums = {0};
	uint32_t affinity = 0;
	uint32_t anti_affinity = 0;
	bool in_cache = slot != BT_SLOT_NONE && nodes->rows[slot].in_cache;

	agree(run, in_cache == entry->exists, "n%d in cache: %d", node, in_cache);
	if (!entry->exists) {
		return;
	}
	agree(run, nodes->rows[slot].has_node == entry->has_node, "n%d has a node", node);
	agree(run, nodes->rows[slot].pods.count == (uint32_t)entry->pod_count,
		"n%d: number of pods", node);
	for (int i = 0; i < entry->pod_count; i++) {
		const struct naive_variant *variant = &naive_variants[entry->variants[i]];
		agree(run, is_pod(run, nodes->rows[slot].pods.items[i], entry->pods[i]),
			"n%d: pod %d", node, i);
		sums.cpu_milli += variant->cpu_milli;
		sums.memory_bytes += variant->memory_bytes;
		sums.non_zero_cpu_milli += variant->non_zero_cpu_milli;
		sums.scalar += variant->scalar;
		affinity += variant->affinity;
		anti_affinity += variant->anti_affinity;
	}
	agree(run, nodes->requested[BT_CPU_MILLI][slot] == sums.cpu_milli, "n%d: cpu", node);
	agree(run, nodes->requested[BT_MEMORY_BYTES][slot] == sums.memory_bytes, "n%d: memory",
		node);
	agree(run, nodes->non_zero[BT_CPU_MILLI][slot] == sums.non_zero_cpu_milli,
		"n%d: non-zero cpu", node);
	agree(run, nodes->rows[slot].pods_with_affinity.count == affinity, "n%d: affinity pods",
		node);
	agree(run, nodes->rows[slot].pods_with_required_anti_affinity.count == anti_affinity,
		"n%d: anti-affinity", node);
	agree(run, nodes->rows[slot].ports.count == (uint32_t)BT_POPCOUNT64(entry->ports),
		"n%d: ports", node);
	agree(run,
		nodes->scalars.count == 0 || nodes->scalars.items[0].requested[slot] == sums.scalar,
		"n%d: scalar", node);
	agree(run,
		!entry->has_node ||
			nodes->allocatable[BT_CPU_MILLI][slot] == INT64_C(1000) * entry->object.cpu,
		"n%d: allocatable", node);
}

static void compare_cache(const struct run *run)
{
	uint32_t pods = 0;
	uint32_t assumed = 0;

	for (int node = 0; node < NAIVE_NODES; node++) {
		compare_entry(run, node);
	}
	for (int pod = 0; pod < NAIVE_PODS; pod++) {
		pods += run->naive.pods[pod].known;
		assumed += run->naive.pods[pod].assumed;
	}
	agree(run, run->f.state->pods.count == pods, "number of pods");
	agree(run, run->f.state->pods.assumed_count == assumed, "number of assumed pods");
	agree(run, run->f.state->node_entry_count == (uint32_t)naive_count(run->naive.entries),
		"number of entries");
}

static void compare_listed(const struct run *run, int place)
{
	const struct bt_snapshot *snapshot = &run->f.state->snapshot;
	uint32_t slot = bt_snapshot_list(snapshot)[place];
	int node = run->naive.snapshot.list[place];
	const struct naive_entry *copy = &run->naive.snapshot.map[node];
	struct bt_node_info info;

	agree(run, slot == slot_of_node(run, node), "place %d: n%d", place, node);
	bt_node_info_init(&info, run->f.state, slot);
	for (int i = 0; i < NAIVE_IMAGES; i++) {
		char name[16];
		int64_t size_bytes = 0;
		uint32_t node_count = 0;
		bool found;
		(void)snprintf(name, sizeof(name), "i%d", i);
		found = bt_node_info_find_image(&info, bt_str_from(name), &size_bytes, &node_count);
		agree(run, found == ((copy->object.images >> i & 1) != 0), "n%d: image %d", node,
			i);
		agree(run, !found || node_count == (uint32_t)copy->image_counts[i],
			"n%d: nodes of image %d: %u, not %d", node, i, node_count,
			copy->image_counts[i]);
		agree(run, !found || size_bytes == copy->image_sizes[i], "n%d: size of image %d",
			node, i);
	}
}

static void compare_snapshot(const struct run *run)
{
	const struct bt_snapshot *snapshot = &run->f.state->snapshot;
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(run->f.state);
	const struct naive_snapshot *naive = &run->naive.snapshot;
	uint32_t affinity = 0;
	uint32_t anti_affinity = 0;
	unsigned int claims = 0;

	agree(run, snapshot->count == (uint32_t)naive->count, "%u listed, not %d", snapshot->count,
		naive->count);
	for (int i = 0; i < naive->count; i++) {
		const struct naive_entry *copy = &naive->map[naive->list[i]];
		bool has_affinity = false;
		bool has_anti_affinity = false;
		compare_listed(run, i);
		for (int k = 0; k < copy->pod_count; k++) {
			has_affinity = has_affinity || naive_variants[copy->variants[k]].affinity;
			has_anti_affinity = has_anti_affinity ||
				naive_variants[copy->variants[k]].anti_affinity;
			claims |= naive_variants[copy->variants[k]].claims;
		}
		agree(run,
			!has_affinity ||
				(affinity < lists->affinity.count &&
					lists->affinity.items[affinity] ==
						bt_snapshot_list(snapshot)[i]),
			"affinity list at place %d", i);
		agree(run,
			!has_anti_affinity ||
				(anti_affinity < lists->anti_affinity.count &&
					lists->anti_affinity.items[anti_affinity] ==
						bt_snapshot_list(snapshot)[i]),
			"anti-affinity list at place %d", i);
		affinity += has_affinity;
		anti_affinity += has_anti_affinity;
	}
	agree(run, lists->affinity.count == affinity, "length of the affinity list");
	agree(run, lists->anti_affinity.count == anti_affinity, "length of the anti-affinity list");
	agree(run, bt_state_is_claim_used(run->f.state, BT_STR("ns/c0")) == ((claims & 1) != 0),
		"claim c0");
	agree(run, bt_state_is_claim_used(run->f.state, BT_STR("ns/c1")) == ((claims & 2) != 0),
		"claim c1");
	for (int node = 0; node < NAIVE_NODES; node++) {
		char name[16];
		(void)snprintf(name, sizeof(name), "n%d", node);
		agree(run,
			(bt_state_snapshot_find(run->f.state, bt_str_from(name)) != BT_SLOT_NONE) ==
				naive->map[node].exists,
			"n%d found in the snapshot", node);
	}
}

/* --- steps --- */

static void check_result(
	struct run *run, const char *operation, int result, struct berth_error *err)
{
	agree(run, (result == 0) == (run->naive.error[0] == '\0'), "%s: %d %s, expected %s",
		operation, result, berth_error_message(err), run->naive.error);
	agree(run, strcmp(berth_error_message(err), run->naive.error) == 0, "%s: %s, expected %s",
		operation, berth_error_message(err), run->naive.error);
	berth_error_finish(err);
}

/* Returns the pod's node in most cases, so that operations succeed. */
static int likely_node(struct run *run, int pod)
{
	return run->naive.pods[pod].known && below(run, 6) != 0 ? run->naive.pods[pod].node
								: below(run, NAIVE_NODES);
}

static void step_pod(struct run *run)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_state *state = run->f.state;
	int pod = below(run, NAIVE_PODS);
	int node = likely_node(run, pod);
	int variant = run->naive.pods[pod].known && below(run, 2) ? run->naive.pods[pod].variant
								  : below(run, NAIVE_VARIANTS);
	struct bt_pod *object = pod_object(run, pod, node, variant);
	int other;

	switch (below(run, 6)) {
	case 0:
		naive_assume_pod(&run->naive, pod, node, variant);
		check_result(run, "assume", bt_state_assume_pod(state, object, &err), &err);
		break;
	case 1:
		naive_forget_pod(&run->naive, pod, node);
		check_result(run, "forget", bt_state_forget_pod(state, object, &err), &err);
		break;
	case 2:
	case 3:
		naive_add_pod(&run->naive, pod, node, variant);
		check_result(run, "add", bt_state_add_pod(state, object, &err), &err);
		break;
	case 4:
		other = below(run, NAIVE_PODS);
		other = run->naive.pods[other].known ? pod : other;
		naive_update_pod(&run->naive, pod, other, node, variant);
		check_result(run, "update",
			bt_state_update_pod(
				state, object, pod_object(run, other, node, variant), &err),
			&err);
		break;
	default:
		node = below(run, 10) == 0 ? -1 : node;
		naive_remove_pod(&run->naive, pod, node);
		check_result(run, "remove",
			bt_state_remove_pod(state, pod_object(run, pod, node, variant), &err),
			&err);
		break;
	}
}

static void step_node(struct run *run)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_state *state = run->f.state;
	int node = below(run, NAIVE_NODES);
	struct naive_entry *entry = &run->naive.entries[node];
	bool real = entry->exists && entry->has_node;
	struct naive_object object = {.zone = below(run, NAIVE_ZONES),
		.cpu = 1 + below(run, 4),
		.images = (unsigned int)below(run, 1 << NAIVE_IMAGES),
		.size_bytes = 1 + below(run, 5)};
	struct naive_object old = real ? entry->object : object;

	if (real && below(run, 3) == 0) {
		object.images = old.images;
	}
	switch (below(run, 4)) {
	case 0:
		/*
		 * A real node keeps its zone here: with another zone upstream would list the node
		 * twice, and berth would not; see test_state_nodes.
		 */
		object.zone = real ? old.zone : object.zone;
		naive_add_node(&run->naive, node, &object);
		bt_state_add_node(state, node_object(run, node, &object));
		break;
	case 1:
		naive_update_node(&run->naive, node, old.zone, &object);
		bt_state_update_node(state,
			real && below(run, 2) ? NULL : node_object(run, node, &old),
			node_object(run, node, &object));
		break;
	case 2:
		object.zone = real ? old.zone : object.zone;
		naive_update_node(&run->naive, node, old.zone, &object);
		bt_state_update_node(
			state, node_object(run, node, &old), node_object(run, node, &object));
		break;
	default:
		/*
		 * Upstream leaks the images of a node that an update made real without adding the
		 * node to the tree.
		 */
		if (real && !naive_tree_has(&run->naive.tree, node)) {
			return;
		}
		naive_remove_node(&run->naive, node, old.zone);
		check_result(run, "remove node",
			bt_state_remove_node(state, node_object(run, node, &old), &err), &err);
		break;
	}
}

static void step_refresh(struct run *run)
{
	struct berth_error err = BERTH_ERROR_INIT;

	naive_refresh(&run->naive);
	check_result(run, "refresh", bt_state_refresh_snapshot(run->f.state, &err), &err);
	compare_snapshot(run);
}

static void run_seed(uint64_t seed, int steps)
{
	struct run run = {.seed = seed};

	fixture_init(&run.f);
	bt_prng_init(&run.prng, seed);
	(void)bt_node_table_label_column(
		&run.f.state->nodes, BT_STR("topology.kubernetes.io/zone"));
	for (run.step = 0; run.step < steps; run.step++) {
		int kind = below(&run, 10);
		run.naive.error[0] = '\0';
		if (kind < 6) {
			step_pod(&run);
		} else if (kind < 8) {
			step_node(&run);
		} else {
			step_refresh(&run);
		}
		compare_cache(&run);
		check_valid(&run.f);
		bt_strbuf_reset(&run.f.warnings);
		bt_arena_reset(&run.f.arena);
	}
	fixture_finish(&run.f);
}

START_TEST(test_state__random_operations_agree_with_the_naive_cache)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		(void)printf("seed %llu\n", (unsigned long long)seed);
		run_seed(seed, 4000);
	}
}
END_TEST

BT_TEST_MAIN("state_random", test_state__random_operations_agree_with_the_naive_cache)
