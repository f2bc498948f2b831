/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the affinity index with a walk over all pods while nodes and pods are added, changed and
 * removed, and labels get new values.
 */
#include "base/prng.h"
#include "state/affinity_index.h"
#include "state_fixture.h"
#include "test_main.h"
#include "validate/validate.h"

#define NODES 10
#define PODS 30
#define SEEDS BT_TEST_SEEDS(60)
#define STEPS 120

static const char *const keys[] = {"zone", "host", "turn", "none"};
static const char *const namespaces[] = {"n1", "n2", "n3"};

struct world {
	struct fixture f;
	struct bt_prng prng;
	const struct bt_node *nodes[NODES]; /* NULL: node does not exist */
	const struct bt_pod *pods[PODS];
	uint32_t uid;
	uint32_t turn;
	uint64_t seed;
	uint32_t step;
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

#define PICK(w, ...) \
	(((const char *const[]){__VA_ARGS__})[below( \
		(w), (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))])

/* --- objects --- */

static struct bt_str text_terms(struct world *w, bool weighted)
{
	struct bt_str text = {0};
	uint32_t count = below(w, 4);
	struct bt_arena *arena = &w->f.arena;

	for (uint32_t i = 0; i < count; i++) {
		const char *selector = PICK(w, "{}", "{'matchLabels':{'a':'1'}}",
			"{'matchLabels':{'a':'1','b':'1'}}",
			"{'matchExpressions':[{'key':'a','operator':'In','values':['1','2','1']}]}",
			"{'matchExpressions':[{'key':'a','operator':'In','values':['1','2','3','4',"
			"'5','6','7','8','9']}]}",
			"{'matchExpressions':[{'key':'b','operator':'Exists'}]}",
			"{'matchExpressions':[{'key':'b','operator':'NotIn','values':['1']}]}",
			"null");
		const char *where =
			PICK(w, "", "", ",'namespaces':['n1','n2','n1']", ",'namespaceSelector':{}",
				",'namespaces':['1','2','3','4','5','6','7','8','n1']",
				",'namespaceSelector':{'matchLabels':{'team':'x'}}");
		struct bt_str term =
			bt_arena_printf(arena, "{'topologyKey':'%s','labelSelector':%s%s}",
				keys[below(w, 4)], selector, where);

		if (weighted) {
			term = bt_arena_printf(arena, "{'weight':%u,'podAffinityTerm':%.*s}",
				below(w, 3), BT_STR_ARG(term));
		}
		/* A term that a pod has twice counts twice. */
		for (uint32_t times = 1 + (below(w, 5) == 0); times > 0; times--) {
			text = bt_arena_printf(arena, "%.*s%s%.*s", BT_STR_ARG(text),
				text.length != 0 ? "," : "", BT_STR_ARG(term));
		}
	}
	return text;
}

static struct bt_str text_affinity(struct world *w)
{
	struct bt_str required = text_terms(w, false);
	struct bt_str preferred = text_terms(w, true);

	return bt_arena_printf(&w->f.arena,
		"{'requiredDuringSchedulingIgnoredDuringExecution':[%.*s],"
		"'preferredDuringSchedulingIgnoredDuringExecution':[%.*s]}",
		BT_STR_ARG(required), BT_STR_ARG(preferred));
}

static const char *node_name(struct world *w, uint32_t index)
{
	return bt_arena_printf(&w->f.arena, "node%u", index).data;
}

static struct bt_pod *fresh_pod(struct world *w, const char *node)
{
	struct bt_str near = text_affinity(w);
	struct bt_str apart = text_affinity(w);
	struct bt_str spec = bt_arena_printf(&w->f.arena,
		"'affinity':{'podAffinity':%.*s,'podAntiAffinity':%.*s}", BT_STR_ARG(near),
		BT_STR_ARG(apart));
	struct bt_str name = bt_arena_printf(&w->f.arena, "p%u", w->uid++);
	struct bt_pod *pod = make_pod(&w->f, name.data, node, below(w, 4) == 0 ? "" : spec.data);

	pod->metadata.namespace_ = bt_str_from(namespaces[below(w, 3)]);
	return pod;
}

static struct bt_node *fresh_node(struct world *w, uint32_t index)
{
	struct bt_str labels = bt_arena_printf(&w->f.arena, "'host':'h%u'%s,'turn':'t%u'", index,
		PICK(w, "", ",'zone':'z1'", ",'zone':'z2'"), w->turn++);

	return make_node(&w->f, node_name(w, index), labels.data, "");
}

/* --- steps --- */

static void change_node(struct world *w)
{
	uint32_t index = below(w, NODES);
	const struct bt_node *old = w->nodes[index];

	if (old != NULL && below(w, 6) == 0) {
		ck_assert_int_eq(bt_state_remove_node(w->f.state, old, NULL), 0);
		w->nodes[index] = NULL;
		return;
	}
	w->nodes[index] = fresh_node(w, index);
	if (old == NULL) {
		bt_state_add_node(w->f.state, w->nodes[index]);
	} else {
		bt_state_update_node(w->f.state, old, w->nodes[index]);
	}
}

static void change_pod(struct world *w)
{
	uint32_t index = below(w, PODS);

	if (w->pods[index] != NULL) {
		ck_assert_int_eq(bt_state_remove_pod(w->f.state, w->pods[index], NULL), 0);
		w->pods[index] = NULL;
	} else {
		w->pods[index] = fresh_pod(w, node_name(w, below(w, NODES)));
		ck_assert_int_eq(bt_state_add_pod(w->f.state, w->pods[index], NULL), 0);
	}
}

static void take_step(struct world *w)
{
	uint32_t changes = below(w, 20) == 0 ? 8 * NODES : below(w, 4);

	for (uint32_t i = 0; i < changes; i++) {
		if (below(w, 2) == 0) {
			change_node(w);
		} else {
			change_pod(w);
		}
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(w->f.state, NULL), 0);
}

/* --- queries --- */

struct question {
	struct bt_str namespace_;
	struct bt_str_map labels;
	struct bt_str_map namespace_labels;
};

/**
 * Sums by group, key and slot: the sum of (weight + 1) over all terms of pods in the slot's domain.
 */
struct sums {
	const struct bt_state *state;
	int64_t at[BT_AFFINITY_GROUP__COUNT][4][NODES + 4];
};

static void add_hit(void *context, const struct bt_affinity_hit *hit)
{
	struct sums *sums = context;

	for (uint32_t k = 0; k < 4 && hit->column != NULL; k++) {
		struct bt_str key = bt_symbol_text(&sums->state->symbols, hit->column->key);

		if (!bt_str_equal_c(key, keys[k])) {
			continue;
		}
		for (uint32_t slot = 0; slot < sums->state->nodes.slot_count; slot++) {
			sums->at[hit->group][k][slot] += (hit->weight + 1) *
				(int64_t)bt_sparse_count(hit->pods, hit->column->values[slot]);
		}
	}
}

static const struct bt_str *label_of(const struct bt_state *state, uint32_t slot, const char *key)
{
	return bt_str_map_find(&state->nodes.rows[slot].labels, bt_str_from(key));
}

static void add_term(struct sums *sums, uint32_t on, enum bt_affinity_group group,
	const struct bt_affinity_term *term)
{
	for (uint32_t k = 0; k < 4; k++) {
		const struct bt_str *value = label_of(sums->state, on, keys[k]);

		if (value == NULL || !bt_str_equal_c(term->topology_key, keys[k])) {
			continue;
		}
		for (uint32_t slot = 0; slot < sums->state->nodes.slot_count; slot++) {
			const struct bt_str *other = label_of(sums->state, slot, keys[k]);
			if (other != NULL && bt_str_equal(*value, *other)) {
				sums->at[group][k][slot] += term->weight + 1;
			}
		}
	}
}

static void walk(struct sums *sums, const struct question *question)
{
	const struct bt_state *state = sums->state;

	for (uint32_t n = 0; n < state->snapshot.count; n++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[n];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		for (uint32_t i = 0; i < row->pods.count; i++) {
			struct bt_pod_info pod;

			bt_pod_info_from_record(state, row->pods.items[i], &pod);
			for (uint32_t g = 0; pod.shape->has_affinity && g < 4; g++) {
				const struct bt_affinity_term_list *list =
					&pod.shape->affinity_terms->groups[g];
				for (uint32_t t = 0; t < list->count; t++) {
					if (bt_affinity_term_matches(&list->items[t],
						    pod.namespace_, question->namespace_,
						    &question->labels,
						    &question->namespace_labels)) {
						add_term(sums, slot, (enum bt_affinity_group)g,
							&list->items[t]);
					}
				}
			}
		}
	}
}

static struct bt_str_map pick_labels(struct world *w)
{
	static struct bt_str_pair pairs[] = {
		{BT_STR_INIT("a"), BT_STR_INIT("1")}, {BT_STR_INIT("b"), BT_STR_INIT("1")}};
	static struct bt_str_pair others[] = {
		{BT_STR_INIT("a"), BT_STR_INIT("9")}, {BT_STR_INIT("b"), BT_STR_INIT("2")}};

	return (struct bt_str_map){
		.items = below(w, 2) == 0 ? pairs : others, .count = below(w, 3), .present = true};
}

static void ask(struct world *w)
{
	static struct bt_str_pair team[] = {{BT_STR_INIT("team"), BT_STR_INIT("x")}};
	static struct sums walked;
	static struct sums found;
	struct question question = {
		.namespace_ = bt_str_from(namespaces[below(w, 3)]),
		.labels = pick_labels(w),
		.namespace_labels = {.items = team, .count = below(w, 2), .present = true},
	};
	uint32_t groups = below(w, 16);
	const struct bt_affinity_index *index = bt_affinity_index_get(w->f.state);

	ck_assert(!bt_affinity_index_has_unlisted(index));
	walked = (struct sums){.state = w->f.state};
	found = (struct sums){.state = w->f.state};
	walk(&walked, &question);
	bt_affinity_index_find(index, groups, question.namespace_, &question.labels,
		&question.namespace_labels, add_hit, &found);
	for (uint32_t g = 0; g < BT_AFFINITY_GROUP__COUNT; g++) {
		for (uint32_t k = 0; k < 4; k++) {
			for (uint32_t slot = 0; slot < w->f.state->nodes.slot_count; slot++) {
				int64_t expected =
					(groups >> g & 1) != 0 ? walked.at[g][k][slot] : 0;
				ck_assert_msg(found.at[g][k][slot] == expected,
					"seed %llu, step %u: group %u, key %s, slot %u: %lld, not "
					"%lld",
					(unsigned long long)w->seed, w->step, g, keys[k], slot,
					(long long)found.at[g][k][slot], (long long)expected);
			}
		}
	}
}

START_TEST(test_affinity_index__random_steps)
{
	static struct world w;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		w = (struct world){.seed = seed};
		fixture_init(&w.f);
		bt_prng_init(&w.prng, seed);
		for (w.step = 0; w.step < STEPS; w.step++) {
			struct bt_strbuf reason = {0};

			take_step(&w);
			/* Sometimes several refreshes pass between two queries. */
			if (below(&w, 3) == 0) {
				continue;
			}
			ask(&w);
			ask(&w);
			ck_assert_msg(bt_affinity_index_validate(w.f.state, &reason),
				"seed %llu, step %u: %s", (unsigned long long)seed, w.step,
				bt_strbuf_c(&reason));
			bt_strbuf_finish(&reason);
		}
		fixture_finish(&w.f);
	}
}
END_TEST

/* --- single cases --- */

struct total {
	uint64_t pods;
	uint32_t hits;
	uint64_t serial;
};

static void add_total(void *context, const struct bt_affinity_hit *hit)
{
	struct total *total = context;

	total->pods += hit->pods->total;
	total->serial = hit->serial;
	total->hits++;
}

static struct total total_of(struct fixture *f, const struct bt_str_map *labels)
{
	struct total total = {0};

	ck_assert_int_eq(bt_state_refresh_snapshot(f->state, NULL), 0);
	bt_affinity_index_find(bt_affinity_index_get(f->state), 15, BT_STR("ns"), labels,
		&(struct bt_str_map){0}, add_total, &total);
	return total;
}

/** A query visits only terms that select the pod's labels; removing pods removes their terms. */
START_TEST(test_affinity_index__terms_go_with_their_last_pod)
{
	static struct bt_str_pair pair = {BT_STR_INIT("app"), BT_STR_INIT("a7")};
	struct bt_str_map labels = {.items = &pair, .count = 1, .present = true};
	const struct bt_pod *pods[40];
	struct fixture f;
	size_t empty_bytes;

	fixture_init(&f);
	bt_state_add_node(f.state, make_node(&f, "n", "'zone':'z'", ""));
	ck_assert_uint_eq(total_of(&f, &labels).hits, 0);
	empty_bytes = bt_affinity_index_memory_bytes(f.state);
	for (uint32_t i = 0; i < 40; i++) {
		struct bt_str name = bt_arena_printf(&f.arena, "p%u", i);
		struct bt_str spec = bt_arena_printf(&f.arena,
			"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuring"
			"Execution':[{'topologyKey':'zone','labelSelector':{'matchLabels':{'app':"
			"'a%u'}}}]}}",
			i / 2);
		pods[i] = make_pod(&f, name.data, "n", spec.data);
		ck_assert_int_eq(bt_state_add_pod(f.state, pods[i], NULL), 0);
	}
	struct total total = total_of(&f, &labels);
	ck_assert_uint_eq(total.hits, 1);
	ck_assert_uint_eq(total.pods, 2);
	/* A label of a node that is no topology key of the terms changes no sum. */
	bt_state_update_node(f.state, NULL, make_node(&f, "n", "'other':'x','zone':'z'", ""));
	ck_assert_uint_eq(total_of(&f, &labels).serial, total.serial);
	bt_state_update_node(f.state, NULL, make_node(&f, "n", "'other':'x'", ""));
	ck_assert_uint_eq(total_of(&f, &labels).pods, 0);
	bt_state_update_node(f.state, NULL, make_node(&f, "n", "'zone':'y'", ""));
	ck_assert_uint_eq(total_of(&f, &labels).pods, 2);
	for (uint32_t i = 0; i < 40; i++) {
		ck_assert_int_eq(bt_state_remove_pod(f.state, pods[i], NULL), 0);
	}
	ck_assert_uint_eq(total_of(&f, &labels).hits, 0);
	/* Vectors and maps keep their memory; terms, lists and sums are freed. */
	ck_assert_uint_lt(bt_affinity_index_memory_bytes(f.state), empty_bytes + 16384);
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("affinity_index", test_affinity_index__random_steps,
	test_affinity_index__terms_go_with_their_last_pod)
