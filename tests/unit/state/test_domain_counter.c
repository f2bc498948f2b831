/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares domain counters with a plain count over all pods: few and many domains, keys that are
 * first unique to each node and later not, rebuilt dictionaries, and the memory limit.
 */
#include "base/prng.h"
#include "state/domain_counter_private.h"
#include "state/pod_index.h"
#include "state_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

#define NODES 200U
#define PODS 600U
#define QUESTIONS 12U

struct world {
	struct fixture f;
	struct bt_prng prng;
	struct bt_node *nodes[NODES]; /* NULL: node does not exist */
	struct bt_pod *pods[PODS];
	uint32_t host_values; /* number of values of the label host */
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

static void set_node(struct world *w, uint32_t index, uint32_t host, const char *more)
{
	struct bt_str name = bt_arena_printf(&w->f.arena, "n%u", index);
	struct bt_str labels = bt_arena_printf(&w->f.arena, "'host':'h%u'%s", host, more);
	struct bt_node *node = make_node(&w->f, name.data, labels.data, "");

	if (w->nodes[index] == NULL) {
		bt_state_add_node(w->f.state, node);
	} else {
		bt_state_update_node(w->f.state, w->nodes[index], node);
	}
	w->nodes[index] = node;
}

static void change_node(struct world *w)
{
	static const char *const more[] = {
		"", ",'zone':'a'", ",'zone':'b'", ",'zone':'c'", ",'zone':'','disk':'ssd'"};
	uint32_t index = below(w, NODES);

	if (w->nodes[index] != NULL && below(w, 3) == 0) {
		check_ok(bt_state_remove_node(w->f.state, w->nodes[index], &err));
		w->nodes[index] = NULL;
		return;
	}
	set_node(w, index, below(w, w->host_values), more[below(w, 5)]);
}

static struct bt_pod *random_pod(struct world *w, uint32_t index, uint32_t node)
{
	static const char *const labels[] = {"'app':'a'", "'app':'a','tier':'x'",
		"'app':'b','tier':'x'", "'app':'b'", "", "'tier':'y'"};
	struct bt_str name = bt_arena_printf(&w->f.arena, "p%u", index);
	struct bt_str node_name = bt_arena_printf(&w->f.arena, "n%u", node);
	struct bt_str metadata =
		bt_arena_printf(&w->f.arena, "'labels':{%s}%s", labels[below(w, 6)],
			below(w, 6) == 0 ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "");

	return make_pod_with(&w->f, name.data, node_name.data, metadata.data, "", "");
}

static void change_pod(struct world *w)
{
	uint32_t index = below(w, PODS);
	struct bt_pod *old = w->pods[index];
	struct bt_pod *pod;

	if (old == NULL) {
		/* Half of the pods go to five nodes, so that counts differ. */
		uint32_t node = below(w, 2) == 0 ? below(w, NODES) : below(w, 5);

		w->pods[index] = random_pod(w, index, node);
		check_ok(bt_state_add_pod(w->f.state, w->pods[index], &err));
	} else if (below(w, 2) == 0) {
		check_ok(bt_state_remove_pod(w->f.state, old, &err));
		w->pods[index] = NULL;
	} else {
		pod = random_pod(w, index, 0);
		pod->spec.node_name = old->spec.node_name;
		check_ok(bt_state_update_pod(w->f.state, old, pod, &err));
		w->pods[index] = pod;
	}
}

/** Creates, updates or (metadata NULL) deletes the pod; a new pod gets a random node. */
static void replace_pod(struct world *w, uint32_t index, const char *metadata)
{
	struct bt_pod *old = w->pods[index];
	struct bt_pod *pod = NULL;

	if (metadata != NULL) {
		struct bt_str name = bt_arena_printf(&w->f.arena, "p%u", index);
		struct bt_str node_name = old != NULL
			? old->spec.node_name
			: bt_arena_printf(&w->f.arena, "n%u", below(w, NODES));

		pod = make_pod_with(&w->f, name.data, node_name.data, metadata, "", "");
	}
	if (old != NULL && pod != NULL) {
		check_ok(bt_state_update_pod(w->f.state, old, pod, &err));
	} else if (pod != NULL) {
		check_ok(bt_state_add_pod(w->f.state, pod, &err));
	} else if (old != NULL) {
		check_ok(bt_state_remove_pod(w->f.state, old, &err));
	}
	w->pods[index] = pod;
}

/** Returns the counter of query number n; terms, keys and policies differ between queries. */
static const struct bt_domain_counter *ask(struct world *w, uint32_t n)
{
	static const struct bt_str own_namespace = BT_STR_INIT("ns");
	static const struct bt_str values[] = {BT_STR_INIT("a"), BT_STR_INIT("x")};
	static const struct bt_requirement requirements[] = {
		{.key = BT_STR_INIT("app"),
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &values[0]},
		{.key = BT_STR_INIT("tier"),
			.operator_ = BT_SELECTOR_IN,
			.value_count = 1,
			.values = &values[1]},
		{.key = BT_STR_INIT("app"), .operator_ = BT_SELECTOR_EXISTS},
	};
	static const struct bt_str labels[] = {BT_STR_INIT("disk"), BT_STR_INIT("zone")};
	struct bt_selector selector = {.requirement_count = 1 + n % 2,
		.requirements = &requirements[n % 3 == 2 ? 2
				: n % 2 == 0             ? n % 3
							 : 0]};
	struct bt_counted_term term = {.in_every_namespace = n % 4 == 3,
		.namespace_count = 1,
		.namespaces = &own_namespace,
		.selector = &selector};
	struct bt_counter_spec spec = {
		.term_count = n != 11,
		.terms = &term,
		.live_only = n % 2 == 0,
		.nodes = {.topology_key = n % 2 == 0 ? BT_STR("host") : BT_STR("zone"),
			.label_count = n % 5 == 4,
			.labels = &labels[n % 2]},
	};

	if (selector.requirements == &requirements[2]) {
		selector.requirement_count = 1;
	}
	return bt_domain_counter_get(w->f.state, &spec);
}

static void check_counters(struct world *w)
{
	struct bt_strbuf reason = {0};
	bool valid = bt_domain_counters_validate(w->f.state, &reason) &&
		bt_pod_index_validate(w->f.state, &reason);

	ck_assert_msg(valid, "%s", bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
}

static void begin(struct world *w, uint64_t seed, uint32_t host_values)
{
	*w = (struct world){.host_values = host_values};
	fixture_init(&w->f);
	bt_prng_init(&w->prng, seed);
}

START_TEST(test_domain_counter__random_steps)
{
	static struct world w;

	/* The seeds use few domains, many domains, and nearly one domain for each node. */
	for (uint32_t seed = 0; seed < 12; seed++) {
		begin(&w, seed, (uint32_t[]){10, 90, 5000}[seed % 3]);
		for (uint32_t step = 0; step < 60; step++) {
			uint32_t changes = below(&w, 8) == 0 ? 200 : below(&w, 20);

			for (uint32_t i = 0; i < changes; i++) {
				if (below(&w, 3) == 0) {
					change_node(&w);
				} else {
					change_pod(&w);
				}
			}
			check_refresh(&w.f);
			for (uint32_t i = 0; i < 3; i++) {
				ck_assert_ptr_nonnull(ask(&w, below(&w, QUESTIONS)));
			}
			check_counters(&w);
		}
		fixture_finish(&w.f);
	}
}
END_TEST

/** The minimum must be right while it rises and falls, with more domains than a scan visits. */
START_TEST(test_domain_counter__least_of_many_domains)
{
	static struct world w;
	struct bt_domain_sums sums;
	struct bt_pod *pod;

	begin(&w, 1, 1);
	for (uint32_t i = 0; i < 100; i++) {
		set_node(&w, i, i, "");
	}
	check_refresh(&w.f);
	sums = bt_domain_counter_sums(ask(&w, 0));
	ck_assert_uint_eq(sums.least, 0);
	ck_assert_uint_eq(sums.least_count, 100);
	ck_assert_uint_eq(sums.second_least, UINT32_MAX);
	ck_assert_uint_eq(sums.eligible_count, 100);
	for (uint32_t i = 0; i < 100; i++) {
		struct bt_str name = bt_arena_printf(&w.f.arena, "q%u", i);
		struct bt_str node = bt_arena_printf(&w.f.arena, "n%u", i);

		pod = make_pod_with(&w.f, name.data, node.data, "'labels':{'app':'a'}", "", "");
		check_ok(bt_state_add_pod(w.f.state, pod, &err));
		check_refresh(&w.f);
		sums = bt_domain_counter_sums(ask(&w, 0));
		ck_assert_uint_eq(sums.least, i == 99);
		ck_assert_uint_eq(sums.least_count, i == 99 ? 100 : 99 - i);
		ck_assert_uint_eq(sums.second_least, i == 99 ? UINT32_MAX : 1);
		ck_assert_uint_eq(sums.pod_total, i + 1);
		ck_assert_uint_eq(sums.occupied_count, i + 1);
	}
	check_ok(bt_state_remove_pod(w.f.state, pod, &err));
	check_refresh(&w.f);
	sums = bt_domain_counter_sums(ask(&w, 0));
	ck_assert_uint_eq(sums.least, 0);
	ck_assert_uint_eq(sums.least_count, 1);
	ck_assert_uint_eq(sums.second_least, 1);
	check_counters(&w);
	fixture_finish(&w.f);
}
END_TEST

/** Each domain has more pods than a histogram has buckets. */
START_TEST(test_domain_counter__counts_beyond_the_histogram)
{
	static struct world w;
	struct bt_domain_sums sums;

	begin(&w, 1, 1);
	for (uint32_t i = 0; i < 70; i++) {
		set_node(&w, i, i, "");
	}
	for (uint32_t i = 0; i < 2 * 4100; i++) {
		struct bt_str name = bt_arena_printf(&w.f.arena, "q%u", i);

		check_ok(bt_state_add_pod(w.f.state,
			make_pod_with(&w.f, name.data, i < 4100 ? "n1" : "n2",
				"'labels':{'app':'a'}", "", ""),
			&err));
	}
	check_refresh(&w.f);
	sums = bt_domain_counter_sums(ask(&w, 0));
	ck_assert_uint_eq(sums.least_count, 68);
	ck_assert_uint_eq(sums.second_least, 4100);
	for (uint32_t i = 0; i < 70; i++) {
		if (i != 1 && i != 2) {
			check_ok(bt_state_remove_node(w.f.state, w.nodes[i], &err));
		}
	}
	check_refresh(&w.f);
	sums = bt_domain_counter_sums(ask(&w, 0));
	ck_assert_uint_eq(sums.least, 4100);
	ck_assert_uint_eq(sums.least_count, 2);
	ck_assert_uint_eq(sums.second_least, UINT32_MAX);
	check_counters(&w);
	fixture_finish(&w.f);
}
END_TEST

/**
 * Between two queries usually more pods change than a counter repairs. If all changed pods with the
 * wanted label were added, the counter counts only these pods.
 */
START_TEST(test_domain_counter__added_pods_among_many_changes)
{
	static struct world w;
	const uint32_t wanted = 150; /* pods with lower numbers have app=a, others app=b */

	for (uint32_t seed = 0; seed < 6; seed++) {
		begin(&w, seed, 20);
		for (uint32_t i = 0; i < NODES; i++) {
			set_node(&w, i, i % 20, "");
		}
		for (uint32_t step = 0; step < 80; step++) {
			bool few = below(&w, 3) == 0;
			for (uint32_t i = few ? PODS : wanted; i < PODS; i++) {
				replace_pod(
					&w, i, w.pods[i] == NULL ? "'labels':{'app':'b'}" : NULL);
			}
			uint32_t index = 1 + below(&w, wanted - 1);
			switch (below(&w, 10)) {
			case 0:
				replace_pod(&w, index, NULL);
				break;
			case 1:
				/* for a while, wanted pods have two label sets */
				replace_pod(&w, 0,
					w.pods[0] == NULL ? "'labels':{'app':'a','tier':'x'}"
							  : NULL);
				break;
			case 2:
				replace_pod(&w, index,
					"'labels':{'app':'a'},"
					"'deletionTimestamp':'2026-01-01T00:00:00Z'");
				break;
			case 3:
				set_node(&w, below(&w, NODES), below(&w, 20), "");
				break;
			default:
				for (uint32_t i = 0; i < 3; i++) {
					replace_pod(&w, 1 + below(&w, wanted - 1),
						"'labels':{'app':'a'}");
				}
			}
			check_refresh(&w.f);
			ck_assert_ptr_nonnull(ask(&w, 0));
			check_counters(&w);
		}
		fixture_finish(&w.f);
	}
}
END_TEST

START_TEST(test_domain_counter__dictionary_made_anew)
{
	static struct world w;

	begin(&w, 1, 1);
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 20; i++) {
			set_node(&w, i, round * 20 + i, "");
		}
		change_pod(&w);
		check_refresh(&w.f);
		ck_assert_ptr_nonnull(ask(&w, 0));
		check_counters(&w);
	}
	ck_assert_uint_gt(bt_state_label_column(w.f.state, BT_STR("host"))->rebuild_count, 0);
	fixture_finish(&w.f);
}
END_TEST

START_TEST(test_domain_counter__limits)
{
	static struct world w;
	const struct bt_domain_counter *first;
	uint64_t serial;

	begin(&w, 1, 1);
	set_node(&w, 0, 0, "");
	check_refresh(&w.f);
	bt_domain_counters_of(w.f.state)->bytes_max = 1;
	first = ask(&w, 0);
	serial = bt_domain_counter_serial(first);
	/*
	 * The memory limit is far exceeded. The counter used in this cycle stays, and no further
	 * counter is created.
	 */
	ck_assert_ptr_null(ask(&w, 1));
	ck_assert_uint_eq(bt_domain_counter_serial(ask(&w, 0)), serial);
	bt_domain_counters_of(w.f.state)->bytes_max = 1 << 20;
	ck_assert_ptr_nonnull(ask(&w, 1));
	bt_domain_counters_of(w.f.state)->bytes_max = 1024;
	ck_assert_uint_eq(bt_domain_counter_serial(ask(&w, 0)), serial);
	check_refresh(&w.f);
	/* In the next cycle the counter is dropped, because no query used it in that cycle. */
	ck_assert_ptr_nonnull(ask(&w, 1));
	ck_assert_uint_ne(bt_domain_counter_serial(ask(&w, 0)), serial);
	fixture_finish(&w.f);
}
END_TEST

BT_TEST_MAIN("domain_counter", test_domain_counter__random_steps,
	test_domain_counter__least_of_many_domains,
	test_domain_counter__counts_beyond_the_histogram,
	test_domain_counter__added_pods_among_many_changes,
	test_domain_counter__dictionary_made_anew, test_domain_counter__limits)
