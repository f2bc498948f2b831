/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Trials that take pods away from claims: which claims are deallocated, and that the trial leaves
 * no trace.
 */
#include "base/prng.h"
#include "dra/dra.h"
#include "dra_fixture.h"
#include "test_main.h"

#define CLAIMS 6
#define DEVICES 5
#define PODS 3
#define SEEDS 200

struct world {
	struct dra_fixture f;
	struct bt_prng prng;
	uint32_t heard; /* changes that the listener received */
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

static void hear(
	void *context, BT_UNUSED struct bt_object *old_claim, BT_UNUSED struct bt_object *new_claim)
{
	((struct world *)context)->heard++;
}

/**
 * Cases that a trial may refuse: two claims hold one device, or a share consumes 0 of its device.
 */
enum oddity { NONE, CLASH, NOTHING_CONSUMED };

/** Puts a claim that holds one whole device and a share of another. */
static void put_claim(struct world *w, uint32_t number, enum oddity oddity)
{
	struct bt_strbuf results = {0};
	struct bt_strbuf users = {0};
	uint32_t share = below(w, DEVICES);

	bt_strbuf_printf(&results, "{'driver':'d','pool':'p','device':'own-%u'}",
		oddity == CLASH ? number / 2 : number);
	bt_strbuf_printf(&results,
		",{'driver':'d','pool':'p','device':'shared-%u','shareID':'s%u',"
		"'consumedCapacity':{'memory':'%uGi'}}",
		share, number, below(w, 3) + (oddity != NOTHING_CONSUMED));
	for (uint32_t i = 0; i < PODS; i++) {
		if (below(w, 2) == 0) {
			bt_strbuf_printf(&users, "%s{'resource':'pods','name':'p%u','uid':'u%u'}",
				users.length == 0 ? "" : ",", i, i);
		}
	}
	PUT(&w->f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'namespace':'n','name':'c%u','uid':'c%u','resourceVersion':'%u'},"
		"'status':{'allocation':{'devices':{'results':[%s]}},'reservedFor':[%s]}}",
		number, number, number + 1, bt_strbuf_c(&results), bt_strbuf_c(&users));
	bt_strbuf_finish(&results);
	bt_strbuf_finish(&users);
}

static void append_device(struct world *w, struct bt_strbuf *out, const char *kind, uint32_t number)
{
	struct bt_str name = bt_arena_printf(&w->f.arena, "%s-%u", kind, number);
	uint32_t id = bt_device_ids_find(&w->f.dra->ids, BT_STR("d"), BT_STR("p"), name);
	const struct bt_shared_device *shared;
	const struct bt_quantity *memory;

	if (id == BT_DEVICE_NONE) {
		return; /* no claim holds the device */
	}
	shared = bt_allocated_consumed(&w->f.dra->allocated, id);
	memory = shared != NULL ? bt_shared_device_consumed(shared, BT_STR("memory")) : NULL;
	bt_strbuf_printf(out, " %.*s %d%d", BT_STR_ARG(name),
		bt_allocated_is_dedicated(&w->f.dra->allocated, id),
		bt_allocated_is_held(&w->f.dra->allocated, id));
	if (memory != NULL) {
		bt_strbuf_printf(out, " %lld", (long long)bt_quantity_value(memory));
	}
}

/** Writes all state of claims and devices that an allocator or a plugin could see. */
static void describe(struct world *w, struct bt_strbuf *out)
{
	uint32_t cursor = 0;
	const struct bt_object *claim;

	while ((claim = bt_claim_cache_next(&w->f.dra->claims, &cursor)) != NULL) {
		bt_strbuf_printf(
			out, " %.*s %p", BT_STR_ARG(claim->meta->name), (const void *)claim);
	}
	for (uint32_t i = 0; i < CLAIMS; i++) {
		append_device(w, out, "own", i);
		append_device(w, out, "shared", i);
	}
}

static const struct bt_resource_claim *claim_at(struct world *w, uint32_t number)
{
	struct bt_str name = bt_arena_printf(&w->f.arena, "c%u", number);
	struct bt_object *object = bt_claim_cache_find(&w->f.dra->claims, BT_STR("n"), name);

	return bt_object_value(object, BT_KIND_RESOURCE_CLAIM);
}

/** Checks which claims are still allocated. gone: bit mask of the pods that were taken away. */
static void check_claims(struct world *w, const struct bt_resource_claim *const *before,
	uint32_t gone, uint64_t seed)
{
	for (uint32_t i = 0; i < CLAIMS; i++) {
		const struct bt_resource_claim *now = claim_at(w, i);
		uint32_t left = 0;

		for (uint32_t k = 0; k < before[i]->status.reserved_for.count; k++) {
			struct bt_str uid = before[i]->status.reserved_for.items[k].uid;

			left += (gone >> (uid.data[1] - '0') & 1) == 0;
		}
		ck_assert_msg(now->status.reserved_for.count == left,
			"seed %llu: claim %u is reserved for %u, not %u", (unsigned long long)seed,
			i, now->status.reserved_for.count, left);
		/* A claim that was never reserved stays allocated. */
		ck_assert_msg((now->status.allocation != NULL) ==
				(left != 0 || before[i]->status.reserved_for.count == 0),
			"seed %llu: claim %u", (unsigned long long)seed, i);
	}
}

static void run_trial(struct world *w, enum oddity oddity, uint64_t seed)
{
	const struct bt_resource_claim *before[CLAIMS];
	struct bt_dra_trial trial;
	uint32_t gone = 0;

	for (uint32_t i = 0; i < CLAIMS; i++) {
		before[i] = claim_at(w, i);
	}
	bt_dra_trial_begin(&trial, w->f.dra);
	for (uint32_t i = 1 + below(w, PODS); i > 0; i--) {
		uint32_t pod = below(w, PODS);
		struct bt_str uid = bt_arena_printf(&w->f.arena, "u%u", pod);

		if (bt_dra_trial_take_pod(&trial, uid)) {
			gone |= 1U << pod;
		} else {
			ck_assert_msg(oddity != NONE, "seed %llu", (unsigned long long)seed);
		}
	}
	if (oddity == NONE) {
		check_claims(w, before, gone, seed);
		dra_check_valid(&w->f);
	}
	bt_dra_trial_end(&trial);
}

START_TEST(test_trial__random_pods_leave_no_trace)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		enum oddity oddity = seed % 4 < 2 ? (enum oddity)(seed % 4 + 1) : NONE;
		struct bt_strbuf was = {0};
		struct bt_strbuf is = {0};
		struct world w = {0};

		dra_fixture_init(&w.f);
		bt_prng_init(&w.prng, seed);
		for (uint32_t i = 0; i < CLAIMS; i++) {
			put_claim(&w, i, oddity);
		}
		ck_assert_int_eq(bt_allocated_has_history(&w.f.dra->allocated), oddity == CLASH);
		w.f.dra->claims.listener = (struct bt_claim_listener){hear, &w};
		describe(&w, &was);
		run_trial(&w, oddity, seed);
		describe(&w, &is);
		ck_assert_msg(bt_str_equal(bt_strbuf_str(&was), bt_strbuf_str(&is)),
			"seed %llu: %s\nwas %s", (unsigned long long)seed, bt_strbuf_c(&is),
			bt_strbuf_c(&was));
		ck_assert_int_eq(bt_allocated_has_history(&w.f.dra->allocated), oddity == CLASH);
		ck_assert_uint_eq(w.heard, 0);
		put_claim(&w, CLAIMS, NONE);
		ck_assert_uint_eq(w.heard, 1); /* the listener is called again */
		bt_strbuf_finish(&was);
		bt_strbuf_finish(&is);
		dra_fixture_finish(&w.f);
	}
}
END_TEST

BT_TEST_MAIN("trial", test_trial__random_pods_leave_no_trace)
