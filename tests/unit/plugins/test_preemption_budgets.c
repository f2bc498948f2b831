/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets found through an index, compared with a walk over all budgets (spec 08 section 9.1). */
#include <check.h>

#include "api/object.h"
#include "api/types.h"
#include "base/prng.h"
#include "plugins/preemption_budgets.h"

#include "test_main.h"

#define BUDGETS 24
#define PODS 40
#define ROUNDS 200

/** A budget as the walk over all budgets sees it. */
struct naive_budget {
	struct bt_str namespace_;
	struct bt_selector selector;
	bool matches_something;
	struct bt_str disrupted; /* "": none */
	int32_t allowed;
};

static bool naive_charge(
	struct naive_budget *budgets, uint32_t count, const struct bt_pod_info *pod)
{
	bool violated = false;

	for (uint32_t i = 0; i < count && pod->labels->count != 0; i++) {
		struct naive_budget *budget = &budgets[i];

		if (!bt_str_equal(budget->namespace_, pod->namespace_) ||
			!budget->matches_something ||
			!bt_selector_matches(&budget->selector, pod->labels) ||
			bt_str_equal(budget->disrupted, pod->name)) {
			continue;
		}
		budget->allowed--;
		violated |= budget->allowed < 0;
	}
	return violated;
}

static const char *const selectors[] = {
	"",
	"'selector':{}",
	"'selector':{'matchLabels':{'a':'1'}}",
	"'selector':{'matchLabels':{'a':'2','b':'1'}}",
	"'selector':{'matchExpressions':[{'key':'b','operator':'In','values':['1','2']}]}",
	"'selector':{'matchExpressions':[{'key':'b','operator':'In','values':['2']}]}",
	"'selector':{'matchExpressions':[{'key':'a','operator':'NotIn','values':['1']}]}",
	"'selector':{'matchExpressions':[{'key':'a','operator':'Exists'}]}",
	("'selector':{'matchExpressions':[{'key':'b','operator':'DoesNotExist'},"
	 "{'key':'a','operator':'In','values':['1']}]}"),
	"'selector':{'matchExpressions':[{'key':'b','operator':'In','values':[]}]}",
};

static struct bt_str quoted(struct bt_arena *arena, struct bt_str text)
{
	struct bt_str copy = bt_arena_str(arena, text);
	char *bytes = bt_arena_alloc(arena, copy.length);

	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = copy.data[i] == '\'' ? '"' : copy.data[i];
	}
	return (struct bt_str){bytes, copy.length};
}

static struct bt_object *make_budget(struct bt_arena *arena, struct bt_prng *prng, uint32_t index)
{
	struct bt_object *object = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	const char *selector = selectors[bt_prng_below(prng, BT_ARRAY_LENGTH(selectors))];
	struct bt_str disrupted = BT_STR("");

	if (bt_prng_below(prng, 3) == 0) {
		disrupted = bt_arena_printf(arena, ",'disruptedPods':{'p%u':null}",
			(unsigned)bt_prng_below(prng, PODS));
	}
	struct bt_str json = quoted(arena,
		bt_arena_printf(arena,
			"{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':"
			"'b%u','namespace':'n%u'},'spec':{%s},'status':{'disruptionsAllowed':%u"
			"%.*s}}",
			index, (unsigned)bt_prng_below(prng, 2), selector,
			(unsigned)bt_prng_below(prng, 4), BT_STR_ARG(disrupted)));
	ck_assert_msg(bt_object_decode(json, &object, &err) == 0, "%s", berth_error_message(&err));
	return object;
}

static struct naive_budget make_naive(
	struct bt_arena *arena, const struct bt_pod_disruption_budget *object)
{
	struct naive_budget naive = {
		.namespace_ = object->metadata.namespace_,
		.disrupted = BT_STR(""),
		.allowed = object->status.disruptions_allowed,
	};

	if (object->spec.selector != NULL &&
		bt_selector_from_label_selector(
			object->spec.selector, arena, &naive.selector, NULL) == 0) {
		naive.matches_something =
			!naive.selector.nothing && !bt_selector_is_empty(&naive.selector);
	}
	if (object->status.disrupted_pods.count != 0) {
		naive.disrupted = object->status.disrupted_pods.items[0].key;
	}
	return naive;
}

static struct bt_pod_info make_pod(struct bt_arena *arena, struct bt_prng *prng, uint32_t index)
{
	static const char *const keys[] = {"a", "b", "c"};
	struct bt_str_map *labels = BT_ARENA_NEW(arena, struct bt_str_map);
	struct bt_str_pair *pairs =
		BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, BT_ARRAY_LENGTH(keys));

	for (size_t i = 0; i < BT_ARRAY_LENGTH(keys); i++) {
		uint64_t value = bt_prng_below(prng, 4);

		if (value != 0) {
			pairs[labels->count++] = (struct bt_str_pair){bt_str_from(keys[i]),
				bt_arena_printf(arena, "%u", (unsigned)value)};
		}
	}
	labels->items = pairs;
	return (struct bt_pod_info){
		.name = bt_arena_printf(arena, "p%u", index),
		.namespace_ = bt_arena_printf(arena, "n%u", (unsigned)bt_prng_below(prng, 3)),
		.labels = labels,
	};
}

START_TEST(test_preemption_budgets__index_against_walk)
{
	struct bt_prng prng;
	uint32_t violated = 0;

	bt_prng_init(&prng, 8);
	for (int round = 0; round < ROUNDS; round++) {
		struct bt_state_options options = {0};
		struct bt_state *state = bt_state_create(&options);
		struct bt_budgets budgets = {0};
		struct naive_budget naive[BUDGETS];
		struct bt_arena arena;
		uint32_t count = (uint32_t)bt_prng_below(&prng, BUDGETS + 1);

		bt_arena_init(&arena, 0);
		for (uint32_t i = 0; i < count; i++) {
			struct bt_object *object = make_budget(&arena, &prng, i);

			naive[i] = make_naive(&arena, object->value);
			bt_object_store_put(&state->objects, object);
		}
		bt_budgets_refresh(&budgets, state);
		ck_assert_uint_eq(budgets.keys.count + budgets.others.count, budgets.budgets.count);
		budgets.round++;
		for (uint32_t i = 0; i < PODS; i++) {
			struct bt_pod_info pod = make_pod(&arena, &prng, i);
			bool expected = naive_charge(naive, count, &pod);

			ck_assert_msg(bt_budgets_charge(&budgets, &pod) == expected,
				"round %d, pod %u", round, i);
			violated += expected;
		}
		bt_budgets_finish(&budgets);
		bt_state_destroy(state);
		bt_arena_finish(&arena);
	}
	/* Both results must occur often. */
	ck_assert_uint_gt(violated, ROUNDS * PODS / 10);
	ck_assert_uint_lt(violated, ROUNDS * PODS * 9 / 10);
}
END_TEST

START_TEST(test_preemption_budgets__follow_the_store)
{
	struct bt_state_options options = {0};
	struct bt_state *state = bt_state_create(&options);
	struct bt_budgets budgets = {0};
	struct bt_prng prng;
	struct bt_arena arena;

	bt_prng_init(&prng, 1);
	bt_arena_init(&arena, 0);
	for (uint32_t i = 0; i < 50; i++) {
		bt_object_store_put(&state->objects, make_budget(&arena, &prng, i));
	}
	bt_budgets_refresh(&budgets, state);
	ck_assert_uint_gt(budgets.keys.count, 0);
	ck_assert_uint_gt(budgets.others.count, 0);
	for (uint32_t i = 0; i < 50; i++) {
		struct bt_str name = bt_arena_printf(&arena, "b%u", i);

		for (int n = 0; n < 2; n++) {
			(void)bt_object_store_delete(&state->objects, BT_KIND_POD_DISRUPTION_BUDGET,
				n == 0 ? BT_STR("n0") : BT_STR("n1"), name);
		}
	}
	bt_budgets_refresh(&budgets, state);
	ck_assert_uint_eq(budgets.budgets.count, 0);
	ck_assert_uint_eq(budgets.keys.count, 0);
	ck_assert_uint_eq(budgets.others.count, 0);
	bt_budgets_finish(&budgets);
	bt_state_destroy(state);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN("preemption_budgets", test_preemption_budgets__index_against_walk,
	test_preemption_budgets__follow_the_store)
