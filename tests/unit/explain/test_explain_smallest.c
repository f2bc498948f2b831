/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The first proposal must be a smallest change: no smaller change may help. The tests try every
 * single change of every kind in random clusters, and every pair of changes in tiny clusters.
 */
#include "base/error.h"
#include "random_plan.h"
#include "test_main.h"

#define SINGLES_SEED_COUNT BT_TEST_SEEDS(600)
#define PAIRS_SEED_COUNT BT_TEST_SEEDS(150)
#define TINY_NODES 3
#define TINY_PODS 5

typedef BT_VEC(struct bt_remedy) remedy_vec;

/** Returns whether the pod requests more than the node's allocatable; then freeing cannot help. */
static bool asks_for_more(
	const struct bt_pod *pod, const struct bt_node *node, struct bt_str resource)
{
	const struct bt_resource_list *requests = &pod->spec.containers.items[0].resources.requests;
	const struct bt_quantity *wanted = bt_resource_list_find(requests, resource);
	const struct bt_quantity *whole =
		bt_resource_list_find(&node->status.allocatable, resource);

	return wanted != NULL && (whole == NULL || bt_quantity_compare(wanted, whole) > 0);
}

static void add_of_nodes(const struct town *town, const struct bt_pod *pod, remedy_vec *out)
{
	static const struct bt_str labels[][2] = {{BT_STR_INIT("disk"), BT_STR_INIT("ssd")},
		{BT_STR_INIT("disk"), BT_STR_INIT("nvme")},
		{BT_STR_INIT("cores"), BT_STR_INIT("8")}};
	static const struct bt_str resources[] = {BT_STR_INIT("cpu"), BT_STR_INIT("memory"),
		BT_STR_INIT("pods"), BT_STR_INIT("example.com/gpu")};

	for (uint32_t i = 0; i < town->nodes.count; i++) {
		const struct bt_node *node = town->nodes.items[i];
		struct bt_str name = node->metadata.name;

		bt_vec_push(out, ((struct bt_remedy){.kind = BT_REMEDY_UNCORDON, .node = name}));
		bt_vec_push(out,
			((struct bt_remedy){.kind = BT_REMEDY_REMOVE_LABEL,
				.node = name,
				.key = BT_STR("disk")}));
		for (size_t k = 0; k < BT_ARRAY_LENGTH(labels); k++) {
			bt_vec_push(out,
				((struct bt_remedy){.kind = BT_REMEDY_SET_LABEL,
					.node = name,
					.key = labels[k][0],
					.value = labels[k][1]}));
		}
		for (size_t k = 0; k < BT_ARRAY_LENGTH(resources); k++) {
			if (asks_for_more(pod, node, resources[k])) {
				continue;
			}
			bt_vec_push(out,
				((struct bt_remedy){.kind = BT_REMEDY_FREE_RESOURCE,
					.node = name,
					.resource = resources[k],
					.amount = INT64_C(1) << 40}));
		}
		for (uint32_t k = 0; k < node->spec.taints.count; k++) {
			const struct bt_taint *taint = &node->spec.taints.items[k];
			const struct bt_remedy tolerate = {.kind = BT_REMEDY_TOLERATE,
				.key = taint->key,
				.value = taint->value,
				.effect = taint->effect};
			struct bt_remedy any = {.kind = BT_REMEDY_TOLERATE, .key = taint->key};

			bt_vec_push(out, tolerate);
			bt_vec_push(out, any);
			any.value = taint->value;
			bt_vec_push(out, any);
		}
	}
}

static void add_removals(struct town *town, const struct random_plan *plan, remedy_vec *out)
{
	for (uint32_t i = 0; i < plan->pod_count; i++) {
		const struct bt_pod *pod = world_pod(&town->world, plan->pods[i]);

		bt_vec_push(out,
			((struct bt_remedy){.kind = BT_REMEDY_REMOVE_POD,
				.node = pod->spec.node_name,
				.pod_namespace = pod->metadata.namespace_,
				.pod_name = pod->metadata.name}));
	}
}

/** Adds the remedies of the pod; a remedy for a field that the pod lacks has no effect. */
static void add_of_pod(const struct bt_pod *pod, remedy_vec *out)
{
	static const struct bt_str resources[] = {BT_STR_INIT("cpu"), BT_STR_INIT("memory")};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(resources); i++) {
		bt_vec_push(out,
			((struct bt_remedy){.kind = BT_REMEDY_LOWER_REQUEST,
				.resource = resources[i],
				.amount = bt_remedy_requested_of(pod, resources[i]) - 1}));
	}
	for (uint32_t i = 0; i < 2; i++) {
		static const enum bt_remedy_kind kinds[] = {BT_REMEDY_DROP_POD_AFFINITY,
			BT_REMEDY_DROP_POD_ANTI_AFFINITY, BT_REMEDY_RAISE_MAX_SKEW};

		for (size_t k = 0; k < BT_ARRAY_LENGTH(kinds); k++) {
			bt_vec_push(out,
				((struct bt_remedy){.kind = kinds[k], .index = i, .amount = 1000}));
		}
	}
	bt_vec_push(out, ((struct bt_remedy){.kind = BT_REMEDY_DROP_NODE_AFFINITY}));
	bt_vec_push(out,
		((struct bt_remedy){.kind = BT_REMEDY_DROP_NODE_SELECTOR, .key = BT_STR("disk")}));
	bt_vec_push(out,
		((struct bt_remedy){.kind = BT_REMEDY_DROP_NODE_SELECTOR, .key = BT_STR("cores")}));
	bt_vec_push(out,
		((struct bt_remedy){
			.kind = BT_REMEDY_DROP_HOST_PORT, .amount = 80, .value = BT_STR("TCP")}));
	bt_vec_push(out, ((struct bt_remedy){.kind = BT_REMEDY_REMOVE_GATE, .key = BT_STR("g")}));
	bt_vec_push(out,
		((struct bt_remedy){.kind = BT_REMEDY_SET_SCHEDULER_NAME,
			.value = BT_STR("default-scheduler")}));
}

static bool helps(struct town *town, const struct bt_pod *pod, const struct bt_remedy *remedies,
	uint32_t count)
{
	struct bt_scan scan = town_try(town, pod, remedies, count, BT_STR(""));

	return scan.feasible_count != 0 && !scan.error;
}

static void expect_smallest(struct town *town, const struct bt_pod *pod,
	const struct bt_explanation *explanation, const remedy_vec *all, uint32_t size,
	uint64_t seed)
{
	uint32_t found = explanation->proposals.count != 0
		? explanation->proposals.items[0].remedies.count
		: UINT32_MAX;

	for (uint32_t i = 0; i < all->count && size < found; i++) {
		for (uint32_t k = i; k < all->count; k++) {
			struct bt_remedy set[2] = {all->items[i], all->items[k]};

			if ((size == 1) != (i == k)) {
				continue;
			}
			ck_assert_msg(!helps(town, pod, set, size),
				"seed %llu: enough is %s, proposed:\n%s", (unsigned long long)seed,
				town_remedies(town, set, size), town_proposals(town, explanation));
		}
	}
}

static void try_seeds(uint64_t first, uint32_t count, bool tiny)
{
	uint32_t pending = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct bt_explanation explanation;
		struct random_plan plan;
		remedy_vec all = {0};
		struct town town;
		struct bt_pod *pod;

		random_plan_init(&plan, seed, tiny ? TINY_NODES : RANDOM_PLAN_NODES_MAX,
			tiny ? TINY_PODS : RANDOM_PLAN_PODS_MAX);
		random_plan_build(&plan, &town);
		pod = town_pod(&town, plan.pending);
		town_explain(&town, pod, 3, &explanation);
		if (explanation.fate != BT_EXPLAINED_FITS) {
			pending++;
			add_of_nodes(&town, pod, &all);
			add_removals(&town, &plan, &all);
			add_of_pod(pod, &all);
			expect_smallest(&town, pod, &explanation, &all, 1, seed);
			if (tiny) {
				expect_smallest(&town, pod, &explanation, &all, 2, seed);
			}
		}
		bt_vec_finish(&all);
		bt_explanation_finish(&explanation);
		town_finish(&town);
		random_plan_finish(&plan);
	}
	ck_assert_uint_gt(pending, count / 4);
}

START_TEST(test_explain_smallest__no_single_change_is_missed)
{
	try_seeds(1, SINGLES_SEED_COUNT, false);
}
END_TEST

START_TEST(test_explain_smallest__no_pair_is_missed_in_tiny_clusters)
{
	try_seeds(10001, PAIRS_SEED_COUNT, true);
}
END_TEST

BT_TEST_MAIN("explain_smallest", test_explain_smallest__no_single_change_is_missed,
	test_explain_smallest__no_pair_is_missed_in_tiny_clusters)
