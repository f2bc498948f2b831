/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random slices, classes, claims and nodes that change step by step: the allocator must give the
 * result of the naive allocator. BERTH_DRA_SEED is the first seed, BERTH_DRA_SEEDS the number of
 * seeds.
 */
#include "base/prng.h"
#include "naive_allocator.h"
#include "test_main.h"

#define SEEDS 2000U
#define STEPS 10U

struct generator {
	struct bt_prng prng;
	struct bt_strbuf text;
	struct bt_strbuf devices;
	struct bt_strbuf held;
};

static uint32_t below(struct generator *g, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&g->prng, bound);
}

static bool chance(struct generator *g, uint32_t percent)
{
	return below(g, 100) < percent;
}

static const char *pick(struct generator *g, const char *const *items, uint32_t count)
{
	return items[below(g, count)];
}

#define PICK(g, ...) \
	pick((g), (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* --- selectors, and their results by the rules of the language --- */

static const char *const expressions[] = {
	"true",
	"false",
	"device.driver == \\\"d\\\"",
	"device.attributes[\\\"d\\\"].n > 0",
	"\\\"n\\\" in device.attributes[device.driver]",
	"device.allowMultipleAllocations",
};

static int64_t number_of(const struct bt_resource_slice *slice, const struct bt_device *device,
	const char *driver, bool *out_found)
{
	*out_found = false;
	for (uint32_t i = 0; i < device->attributes.count; i++) {
		if (bt_str_equal(device->attributes.items[i].key, BT_STR("n")) &&
			bt_str_equal_c(slice->spec.driver, driver)) {
			*out_found = true;
			return device->attributes.items[i].value.int_.value;
		}
	}
	return 0;
}

static enum bt_verdict select_by_rule(struct bt_str expression,
	const struct bt_resource_slice *slice, const struct bt_device *device,
	const char **out_error)
{
	char driver[4] = {slice->spec.driver.data[0]};
	bool found;
	bool matches = false;

	for (uint32_t i = 0; i < device->attributes.count; i++) {
		if (device->attributes.items[i].value.ints.count != 0) {
			*out_error = "CEL runtime error: attribute d/kind: unsupported attribute "
				     "value";
			return BT_VERDICT_ERROR;
		}
	}
	if (bt_str_equal(expression, BT_STR("true"))) {
		matches = true;
	} else if (bt_str_equal(expression, BT_STR("device.driver == \"d\""))) {
		matches = driver[0] == 'd';
	} else if (bt_str_has_suffix(expression, BT_STR("> 0"))) {
		matches = number_of(slice, device, "d", &found) > 0;
		if (!found) {
			*out_error = "CEL runtime error: no such key: n";
			return BT_VERDICT_ERROR;
		}
	} else if (bt_str_has_prefix(expression, BT_STR("\"n\""))) {
		(void)number_of(slice, device, driver, &matches);
	} else if (bt_str_equal(expression, BT_STR("device.allowMultipleAllocations"))) {
		matches = device->allow_multiple_allocations.value;
	}
	return matches ? BT_VERDICT_TRUE : BT_VERDICT_FALSE;
}

static void append_selectors(struct generator *g, struct bt_strbuf *out, uint32_t percent)
{
	bt_strbuf_append_c(out, "'selectors':[");
	for (uint32_t i = 0; i < 2 && chance(g, percent); i++) {
		/* Failing selectors are rare, otherwise every allocation would fail. */
		uint32_t at = below(g, 6);
		at = at == 3 && !chance(g, 20) ? 4 : at == 1 && !chance(g, 30) ? 0 : at;
		bt_strbuf_printf(
			out, "%s{'cel':{'expression':'%s'}}", i == 0 ? "" : ",", expressions[at]);
	}
	bt_strbuf_append_char(out, ']');
}

/* --- slices --- */

static const char *scope(struct generator *g)
{
	return PICK(g, "'nodeName':'n1'", "'nodeName':'n1'", "'nodeName':'n2'", "'allNodes':true",
		"'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'rack',"
		"'operator':'In','values':['r1']}]}]}");
}

static const char *const names[] = {"a", "b", "x", "y", "z", "v", "w", "u"};

static void append_device(struct generator *g, bool per_device, uint32_t place)
{
	struct bt_strbuf *out = &g->devices;

	bt_strbuf_printf(out, "{'name':'%s'", names[chance(g, 98) ? place : below(g, 8)]);
	if (per_device) {
		bt_strbuf_printf(out, ",%s", scope(g));
	}
	bt_strbuf_printf(out, ",'attributes':{'d/kind':{%s}",
		chance(g, 2) ? "'ints':[1]"
			     : PICK(g, "'string':'k1'", "'string':'k2'", "'int':1", "'int':2"));
	if (chance(g, 85)) {
		bt_strbuf_printf(out, ",'n':{'int':%u}", below(g, 3));
	}
	bt_strbuf_append_char(out, '}');
	if (chance(g, 30)) {
		bt_strbuf_append_c(out, ",'allowMultipleAllocations':true");
	}
	if (chance(g, 40)) {
		bt_strbuf_printf(out, ",'capacity':{'memory':{'value':'%u'%s}}", below(g, 4) + 2,
			PICK(g, "", ",'requestPolicy':{'default':'1'}",
				",'requestPolicy':{'validRange':{'min':'1','max':'4','step':'2'}}",
				",'requestPolicy':{'default':'0','validValues':['1','2','4']}",
				",'requestPolicy':{'validRange':{'min':'2'}}"));
	}
	if (chance(g, 20)) {
		bt_strbuf_printf(out, ",'taints':[{'key':'%s','value':'v','effect':'%s'}]",
			PICK(g, "k", "l"), PICK(g, "NoSchedule", "NoExecute", "None"));
	}
	if (chance(g, 8)) {
		bt_strbuf_append_c(out, ",'bindingConditions':['x']");
	}
}

/** Puts one or two random slices of the pool, and sometimes a slice with counters. */
static void put_slices(struct generator *g, struct world *w, const char *driver, const char *pool)
{
	uint32_t count = below(g, 2) + 1;
	uint32_t generation = below(g, 3);
	bool has_counters = chance(g, 35);

	for (uint32_t i = 0; i < count; i++) {
		char name[16];
		uint32_t device_count = below(g, 4) + 1;
		bool per_device = chance(g, 20);
		(void)snprintf(name, sizeof(name), "%s-%u", pool, (i + below(g, 2)) % 3);
		bt_strbuf_reset(&g->devices);
		for (uint32_t k = 0; k < device_count; k++) {
			bt_strbuf_append_c(&g->devices, k == 0 ? "" : ",");
			append_device(g, per_device, i * 4 + k);
			if (has_counters && chance(g, 70)) {
				bt_strbuf_printf(&g->devices,
					",'consumesCounters':[{'counterSet':'%s','counters':{'m':{"
					"'value':'%u'}}}]",
					chance(g, 97) ? "set" : "other", below(g, 3) + 1);
			}
			bt_strbuf_append_char(&g->devices, '}');
		}
		add_slice(w, name, driver, pool, (int)(chance(g, 90) ? generation : below(g, 3)),
			(int)(chance(g, 90) ? count + has_counters : below(g, 3) + 1),
			per_device ? "'perDeviceNodeSelection':true" : scope(g),
			bt_strbuf_c(&g->devices));
	}
	if (has_counters) {
		char name[16];
		(void)snprintf(name, sizeof(name), "%s-c", pool);
		bt_strbuf_reset(&g->devices);
		bt_strbuf_printf(&g->devices, "{'name':'set','counters':{'m':{'value':'%u'}}}",
			below(g, 6) + 1);
		add_counters(w, name, driver, pool, (int)generation, (int)count + 1,
			bt_strbuf_c(&g->devices));
	}
}

static void drop_slice(struct generator *g, struct world *w)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "%s-%s", PICK(g, "p1", "p2", "p3"),
		PICK(g, "0", "1", "2", "c", "c"));
	(void)bt_object_store_delete(&w->f.state->objects, BT_KIND_RESOURCE_SLICE, BT_STR(""),
		bt_str_from(name)); /* the slice may not exist */
}

/* --- claims --- */

static void append_tail(struct generator *g, struct bt_strbuf *out, uint32_t count)
{
	bool needs_all = chance(g, 12);

	bt_strbuf_printf(out, "'deviceClassName':'%s','allocationMode':'%s','count':%u,",
		PICK(g, "c", "c", "sel"), needs_all ? "All" : "ExactCount",
		chance(g, 2) ? 33 : count);
	append_selectors(g, out, 40);
	if (chance(g, 25)) {
		bt_strbuf_printf(out, ",'tolerations':[{%s}]",
			PICK(g, "'operator':'Exists'", "'key':'k','value':'v'",
				"'key':'l','operator':'Exists','effect':'NoSchedule'"));
	}
	if (chance(g, 20)) {
		bt_strbuf_printf(out, ",'capacity':{'requests':{'%s':'%u'}}",
			PICK(g, "memory", "memory", "other"), below(g, 5));
	}
}

static void append_request(struct generator *g, struct bt_strbuf *out, uint32_t number)
{
	bt_strbuf_printf(out, "%s{'name':'r%u',", number == 0 ? "" : ",", number);
	if (!chance(g, 25)) {
		bt_strbuf_append_c(out, "'exactly':{");
		append_tail(g, out, below(g, 3) + 1);
		bt_strbuf_append_c(out, chance(g, 12) ? ",'adminAccess':true}}" : "}}");
		return;
	}
	bt_strbuf_append_c(out, "'firstAvailable':[");
	for (uint32_t i = 0; i == 0 || (i < 3 && chance(g, 60)); i++) {
		bt_strbuf_printf(out, "%s{'name':'s%u',", i == 0 ? "" : ",", i);
		append_tail(g, out, below(g, 2) + 1);
		bt_strbuf_append_char(out, '}');
	}
	bt_strbuf_append_c(out, "]}");
}

static void put_claim(struct generator *g, struct world *w)
{
	struct bt_strbuf *out = &g->text;

	bt_strbuf_reset(out);
	bt_strbuf_append_c(out, "'requests':[");
	for (uint32_t i = 0; i == 0 || (i < 3 && chance(g, 40)); i++) {
		append_request(g, out, i);
	}
	bt_strbuf_append_char(out, ']');
	if (chance(g, 35)) {
		bt_strbuf_printf(out, ",'constraints':[{'requests':[%s],'%s':'%s'}%s]",
			PICK(g, "", "", "'r0'", "'r0','r1'", "'r0/s0','r1'"),
			PICK(g, "matchAttribute", "distinctAttribute"),
			PICK(g, "d/kind", "d/kind", "d/n"),
			PICK(g, "", "", ",{'matchAttribute':'e/n'}",
				",{'distinctAttribute':'d/kind'}"));
	}
	add_claim(w, bt_strbuf_c(out));
}

/**
 * Adds the claim, or deletes it if it exists. There is one claim for each device and share: if two
 * claims held one device, the state after deleting one would depend on their order (spec 12 section
 * 4.3).
 */
static void change_held(struct generator *g, struct world *w)
{
	const char *pool = PICK(g, "p1", "p1", "p2", "p3");
	const char *device = PICK(g, "a", "b", "x", "y", "z", "v");
	uint32_t share = chance(g, 35) ? below(g, 2) + 1 : 0;
	char name[32];

	(void)snprintf(name, sizeof(name), "held-%s-%s-%u", pool, device, share);
	if (bt_object_store_delete(&w->f.state->objects, BT_KIND_RESOURCE_CLAIM, BT_STR("other"),
		    bt_str_from(name))) {
		return;
	}
	bt_strbuf_reset(&g->held);
	if (share != 0) {
		bt_strbuf_printf(&g->held, ",'shareID':'s%u','consumedCapacity':{'memory':'%u'}",
			share, below(g, 3) + 1);
	}
	PUT(&w->f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'%s','namespace':'other','uid':'%s'},'status':{'allocation':{"
		"'devices':{'results':[{'request':'x','driver':'%s','pool':'%s','device':'%s'%s%s}]"
		"}}}}",
		name, name, strcmp(pool, "p3") == 0 ? "e" : "d", pool, device,
		bt_strbuf_c(&g->held), chance(g, 15) ? ",'adminAccess':true" : "");
}

/* --- steps --- */

static void change(struct generator *g, struct world *w)
{
	switch (below(g, 6)) {
	case 0:
	case 1:
		put_slices(g, w, "d", PICK(g, "p1", "p2"));
		break;
	case 2:
		put_slices(g, w, "e", "p3");
		break;
	case 3:
		drop_slice(g, w);
		break;
	case 4:
		change_held(g, w);
		change_held(g, w);
		break;
	default:
		add_node(w, PICK(g, "n1", "n2"), PICK(g, "'rack':'r1'", "'rack':'r2'"));
		break;
	}
}

/** Counts of results so far: the test must see each kind of result. */
static struct {
	uint32_t found;
	uint32_t several; /* more than one device */
	uint32_t none;
	uint32_t invalid_pool;
	uint32_t errors;
	uint32_t given_up;
	uint32_t kept;   /* columns from an earlier step */
	uint32_t scored; /* nodes with a score */
} answers;

static void count_answer(const char *text)
{
	struct bt_str answer = bt_str_from(text);

	answers.none += bt_str_equal(answer, BT_STR("none"));
	answers.invalid_pool += bt_str_equal(answer, BT_STR("invalid pool"));
	answers.errors += bt_str_has_prefix(answer, BT_STR("error: "));
	answers.found += bt_str_find_char(answer, '=') >= 0;
	answers.several += bt_str_find(answer, BT_STR(" r1")) >= 0;
}

/**
 * Returns the score of an answer. Requests with alternatives are named "r0/s1". Spec 12 section 11.
 */
static uint32_t score_of(const char *text)
{
	struct bt_str rest = bt_str_from(text);
	struct bt_str last = {0};
	uint32_t score = 0;

	while (rest.length != 0) {
		struct bt_str word = bt_str_cut(&rest, ' ');
		bool ends_claim = bt_str_has_suffix(word, BT_STR(";"));
		struct bt_str name = bt_str_cut(&word, '=');
		bool is_result = word.data != NULL; /* not the amount of a capacity */
		if (is_result && bt_str_find_char(name, '/') >= 0 && !bt_str_equal(name, last)) {
			score += 8 - (uint32_t)(name.data[name.length - 1] - '0');
		}
		last = ends_claim ? (struct bt_str){0} : is_result ? name : last;
	}
	return score;
}

/** The cached answer must equal the naive allocator's answer. */
static void compare_column(struct world *w, const char *node, const char *wanted, uint64_t seed)
{
	const struct bt_allocator_options options = {0};
	const struct bt_resource_claim *claims[CLAIMS_MAX];
	uint32_t slot = bt_node_table_find(&w->f.state->nodes, bt_str_from(node));
	enum bt_allocation_outcome outcome = strcmp(wanted, "none") == 0 ? BT_ALLOCATION_NONE
		: strcmp(wanted, "invalid pool") == 0 ? BT_ALLOCATION_INVALID_POOL
		: strncmp(wanted, "error: ", 7) == 0  ? BT_ALLOCATION_ERROR
						      : BT_ALLOCATION_FOUND;

	for (uint32_t i = 0; i < w->claim_count; i++) {
		claims[i] = bt_object_value(w->claims[i], BT_KIND_RESOURCE_CLAIM);
	}
	struct bt_allocator *allocator = bt_allocator_create(w->f.dra, &options, &w->f.arena);
	const struct bt_allocation_column *column =
		bt_allocation_column_get(allocator, claims, w->claim_count);

	if (column == NULL) {
		column = bt_allocation_column_get(allocator, claims, w->claim_count);
	} else {
		answers.kept++;
	}
	ck_assert_ptr_nonnull(column);
	struct bt_node_allocation answer = column->answers[column->values[slot]];

	if (answer.outcome != outcome ||
		(outcome == BT_ALLOCATION_FOUND && answer.score != score_of(wanted))) {
		ck_abort_msg("seed %llu on %s: outcome %d, score %u, not %s",
			(unsigned long long)seed, node, (int)answer.outcome, answer.score, wanted);
	}
	answers.scored += answer.score != 0;
}

static void compare(struct generator *g, struct world *w, const char *node, uint64_t seed)
{
	struct naive *naive = bt_calloc(1, sizeof(*naive));
	struct bt_strbuf wanted = {0};

	naive->select = select_by_rule;
	if (!naive_allocate(naive, w, node, &wanted)) {
		answers.given_up++;
	} else if (strcmp(allocate(w, node), bt_strbuf_c(&wanted)) != 0) {
		ck_abort_msg("seed %llu on %s:\n%s, not\n%s\nlast claim %s",
			(unsigned long long)seed, node, bt_strbuf_c(&w->text), bt_strbuf_c(&wanted),
			bt_strbuf_c(&g->text));
	} else {
		compare_column(w, node, bt_strbuf_c(&wanted), seed);
	}
	count_answer(bt_strbuf_c(&wanted));
	bt_strbuf_finish(&wanted);
	bt_free(naive);
}

static void run(uint64_t seed)
{
	struct generator g = {0};
	struct world w;

	bt_prng_init(&g.prng, seed);
	world_init(&w);
	add_node(&w, "n1", "'rack':'r1'");
	add_node(&w, "n2", "'rack':'r2'");
	add_class(&w, "c", "");
	bt_strbuf_append_c(&g.text, "");
	append_selectors(&g, &g.text, 70);
	add_class(&w, "sel", bt_strbuf_c(&g.text));
	put_slices(&g, &w, "d", "p1");
	put_slices(&g, &w, "d", "p2");
	for (uint32_t step = 0; step < STEPS; step++) {
		change(&g, &w);
		/* Some claims stay for several steps, and so do their columns. */
		if (w.claim_count == 0 || chance(&g, 60)) {
			world_drop_claims(&w);
			for (uint32_t i = 0; i == 0 || (i < 3 && chance(&g, 30)); i++) {
				put_claim(&g, &w);
			}
		}
		compare(&g, &w, "n1", seed);
		compare(&g, &w, "n2", seed);
	}
	bt_strbuf_finish(&g.text);
	bt_strbuf_finish(&g.devices);
	bt_strbuf_finish(&g.held);
	world_finish(&w);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	int64_t value;

	return bt_str_parse_int64(bt_str_from(getenv(name)), &value) ? (uint64_t)value : otherwise;
}

START_TEST(test_allocator_random__agrees_with_naive_allocator)
{
	uint64_t first = number_from("BERTH_DRA_SEED", 1);
	uint64_t count = number_from("BERTH_DRA_SEEDS", SEEDS);

	for (uint64_t seed = first; seed < first + count; seed++) {
		run(seed);
	}
	(void)printf("%u found, %u of them several, %u none, %u invalid pools, %u errors, %u given "
		     "up, %u columns kept, %u scores\n",
		answers.found, answers.several, answers.none, answers.invalid_pool, answers.errors,
		answers.given_up, answers.kept, answers.scored);
	if (count == SEEDS) {
		ck_assert_uint_gt(answers.found, 5000);
		ck_assert_uint_gt(answers.several, 1000);
		ck_assert_uint_gt(answers.none, 5000);
		ck_assert_uint_gt(answers.invalid_pool, 500);
		ck_assert_uint_gt(answers.errors, 1000);
		ck_assert_uint_lt(answers.given_up, 400);
		ck_assert_uint_gt(answers.kept, 10000);
		ck_assert_uint_gt(answers.scored, 1000);
	}
}
END_TEST

BT_TEST_MAIN("allocator_random", test_allocator_random__agrees_with_naive_allocator)
