/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices held by claims, compared with a literal model of spec 12 section 4.3: events of the claim
 * cache change plain sets, and each read joins these sets with all allocations in flight.
 */
#include <stdlib.h>

#include "base/prng.h"
#include "dra_fixture.h"
#include "test_main.h"

#define CLAIMS 6
#define DEVICES 5
#define SHARES 3
#define RESULTS 3
#define NAMES 2
#define SEEDS 60
#define STEPS 400

/** One result of an allocation; share -1: dedicated; amount -1: not consumed. */
struct model_result {
	uint32_t device;
	int share;
	bool admin;
	int amounts[NAMES];
};

struct model_allocation {
	bool set;
	uint32_t count;
	struct model_result results[RESULTS];
};

struct model_claim {
	bool exists;
	int version; /* version of the latest object; 0: none */
	struct model_allocation api;
	struct model_allocation latest;
	uint32_t sharers;
	struct model_allocation in_flight;
};

struct model_sets {
	bool dedicated[DEVICES];
	bool shares[DEVICES][SHARES];
	bool has_aggregate[DEVICES];
	int aggregate[DEVICES][NAMES];
};

struct world {
	struct dra_fixture f;
	struct bt_prng prng;
	struct model_claim claims[CLAIMS];
	struct model_sets api;
	struct model_sets before; /* joined sets at the last check */
	uint64_t pool_versions[DEVICES];
	bool consumable;
	uint64_t seed;
	uint32_t step;
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

/* --- the model --- */

static void model_add(
	const struct world *w, struct model_sets *sets, const struct model_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->count; i++) {
		const struct model_result *result = &allocation->results[i];
		uint32_t d = result->device;
		if (result->admin) {
			continue;
		}
		if (!w->consumable || result->share < 0) {
			sets->dedicated[d] = true;
			continue;
		}
		sets->shares[d][result->share] = true;
		for (uint32_t n = 0; n < NAMES; n++) {
			if (result->amounts[n] >= 0) {
				sets->has_aggregate[d] = true;
				sets->aggregate[d][n] += result->amounts[n];
			}
		}
	}
}

static void model_remove(
	const struct world *w, struct model_sets *sets, const struct model_allocation *allocation)
{
	for (uint32_t i = 0; i < allocation->count; i++) {
		const struct model_result *result = &allocation->results[i];
		uint32_t d = result->device;
		bool has_amount = false;
		bool all_zero = true;
		if (result->admin) {
			continue;
		}
		if (!w->consumable || result->share < 0) {
			sets->dedicated[d] = false;
			continue;
		}
		sets->shares[d][result->share] = false;
		for (uint32_t n = 0; n < NAMES; n++) {
			if (result->amounts[n] >= 0 && sets->has_aggregate[d]) {
				has_amount = true;
				sets->aggregate[d][n] -= result->amounts[n];
			}
			all_zero &= sets->aggregate[d][n] == 0;
		}
		sets->has_aggregate[d] &= !has_amount || !all_zero;
	}
}

static void model_event(struct world *w, const struct model_allocation *before,
	const struct model_allocation *after)
{
	if (!before->set && after->set) {
		model_add(w, &w->api, after);
	} else if (before->set && !after->set) {
		model_remove(w, &w->api, before);
	}
}

static struct model_sets joined(const struct world *w)
{
	struct model_sets sets = w->api;

	for (uint32_t i = 0; i < CLAIMS; i++) {
		if (w->claims[i].sharers != 0) {
			model_add(w, &sets, &w->claims[i].in_flight);
		}
	}
	return sets;
}

/* --- the comparison --- */

static struct bt_str device_name(uint32_t device)
{
	static const char *const names[DEVICES] = {"d0", "d1", "d2", "d3", "d4"};

	return bt_str_from(names[device]);
}

static struct bt_str pool_name(uint32_t device)
{
	return device % 2 == 0 ? BT_STR("p0") : BT_STR("p1");
}

#define CHECK(w, condition) \
	do { \
		if (!(condition)) { \
			ck_abort_msg("seed %llu step %u device %u: %s", \
				(unsigned long long)(w)->seed, (w)->step, device, #condition); \
		} \
	} while (0)

static bool is_same_view(const struct model_sets *a, const struct model_sets *b, uint32_t device)
{
	bool same = a->dedicated[device] == b->dedicated[device] &&
		a->has_aggregate[device] == b->has_aggregate[device];

	for (uint32_t n = 0; n < NAMES; n++) {
		same &= !a->has_aggregate[device] ||
			a->aggregate[device][n] == b->aggregate[device][n];
	}
	return same;
}

static void check_consumed(struct world *w, const struct bt_shared_device *shared,
	const struct model_sets *sets, uint32_t device)
{
	static const char *const names[NAMES] = {"memory", "cores"};

	for (uint32_t n = 0; n < NAMES; n++) {
		struct bt_quantity want =
			bt_quantity_make(sets->aggregate[device][n], 18, BT_QUANTITY_DECIMAL_SI);
		const struct bt_quantity *have =
			bt_shared_device_consumed(shared, bt_str_from(names[n]));
		CHECK(w,
			have != NULL ? bt_quantity_compare(have, &want) == 0
				     : sets->aggregate[device][n] == 0);
	}
}

static void check_device(struct world *w, const struct model_sets *sets, uint32_t device)
{
	const struct bt_allocated_devices *allocated = &w->f.dra->allocated;
	uint32_t id = bt_device_ids_find(
		&w->f.dra->ids, BT_STR("d"), pool_name(device), device_name(device));
	uint32_t pool =
		bt_device_ids_find(&w->f.dra->ids, BT_STR("d"), pool_name(device), BT_STR(""));
	bool shared = false;

	for (uint32_t s = 0; s < SHARES; s++) {
		shared |= sets->shares[device][s];
	}
	bool held = sets->dedicated[device] || shared || sets->has_aggregate[device];
	if (id == BT_DEVICE_NONE) {
		CHECK(w, !held);
	} else {
		CHECK(w, bt_allocated_is_dedicated(allocated, id) == sets->dedicated[device]);
		CHECK(w, bt_allocated_is_held(allocated, id) == held);
		const struct bt_shared_device *entry = bt_allocated_consumed(allocated, id);
		CHECK(w, (entry != NULL) == sets->has_aggregate[device]);
		if (entry != NULL) {
			check_consumed(w, entry, sets, device);
		}
	}
	/* The pool's version must increase, so that data derived from the pool is recomputed. */
	uint64_t version =
		pool != BT_DEVICE_NONE ? bt_allocated_pool_version(allocated, pool) : UINT64_MAX;
	if (!is_same_view(sets, &w->before, device)) {
		CHECK(w, version == UINT64_MAX || version > w->pool_versions[device]);
	}
	w->pool_versions[device] = version == UINT64_MAX ? 0 : version;
}

static void check(struct world *w)
{
	struct model_sets sets = joined(w);

	for (uint32_t device = 0; device < DEVICES; device++) {
		check_device(w, &sets, device);
	}
	w->before = sets;
	dra_check_valid(&w->f);
}

/* --- operations --- */

static void random_allocation(struct world *w, struct model_allocation *allocation)
{
	*allocation = (struct model_allocation){.set = below(w, 3) != 0};
	for (allocation->count = 0; allocation->set && allocation->count < RESULTS;
		allocation->count++) {
		struct model_result *result = &allocation->results[allocation->count];
		if (below(w, 3) == 0) {
			return;
		}
		result->device = below(w, DEVICES);
		result->admin = below(w, 8) == 0;
		result->share = below(w, 2) == 0 ? -1 : (int)below(w, SHARES);
		for (uint32_t n = 0; n < NAMES; n++) {
			result->amounts[n] = below(w, 2) == 0 ? -1 : (int)below(w, 20);
		}
	}
}

static void write_result(struct bt_strbuf *text, const struct model_result *result)
{
	const char *separator = "";

	bt_strbuf_printf(text,
		"{'request':'r','driver':'d','pool':'%.*s','device':'%.*s','adminAccess':%s",
		BT_STR_ARG(pool_name(result->device)), BT_STR_ARG(device_name(result->device)),
		result->admin ? "true" : "false");
	if (result->share >= 0) {
		bt_strbuf_printf(text, ",'shareID':'s%d'", result->share);
	}
	bt_strbuf_append_c(text, ",'consumedCapacity':{");
	for (uint32_t n = 0; n < NAMES; n++) {
		if (result->amounts[n] >= 0) {
			/* Sums exceed int64. */
			bt_strbuf_printf(text, "%s'%s':'%dE'", separator,
				n == 0 ? "memory" : "cores", result->amounts[n]);
			separator = ",";
		}
	}
	bt_strbuf_append_c(text, "}}");
}

static struct bt_object *object_of(
	uint32_t claim, int version, const struct model_allocation *allocation)
{
	struct bt_strbuf text = {0};
	struct bt_object *object;

	for (uint32_t i = 0; i < allocation->count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? "," : "");
		write_result(&text, &allocation->results[i]);
	}
	object = make_object(BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'c%u','namespace':'n','uid':'u%u','resourceVersion':'%s%d'}%s%"
		"s"
		"%s}",
		claim, claim, version == 0 ? "x" : "", version,
		allocation->set ? ",'status':{'allocation':{'devices':{'results':[" : "",
		bt_strbuf_c(&text), allocation->set ? "]}}}" : "");
	bt_strbuf_finish(&text);
	return object;
}

static bool is_same_result(const struct model_result *a, const struct model_result *b)
{
	return a->device == b->device && a->share == b->share && a->admin == b->admin &&
		memcmp(a->amounts, b->amounts, sizeof(a->amounts)) == 0;
}

static bool is_same(const struct model_allocation *a, const struct model_allocation *b)
{
	uint32_t i = 0;

	while (i < a->count && i < b->count && is_same_result(&a->results[i], &b->results[i])) {
		i++;
	}
	return a->set == b->set && a->count == b->count && i == a->count;
}

static void put(struct world *w, uint32_t c)
{
	struct model_claim *claim = &w->claims[c];
	struct model_allocation allocation;
	int version = claim->version + (int)below(w, 4) - 1;

	version = version < 0 || below(w, 10) == 0 ? 0 : version;
	random_allocation(w, &allocation);
	bt_object_store_put(&w->f.state->objects, object_of(c, version, &allocation));
	if (claim->exists && version != 0 && claim->version != 0 && version <= claim->version) {
		/*
		 * An event equal to the assumed claim confirms it: the API has this allocation now.
		 */
		if (version == claim->version && is_same(&allocation, &claim->latest)) {
			claim->api = allocation;
		}
		return;
	}
	model_event(w, &claim->latest, &allocation);
	claim->exists = true;
	claim->version = version;
	claim->api = allocation;
	claim->latest = allocation;
}

static void assume(struct world *w, uint32_t c)
{
	struct model_claim *claim = &w->claims[c];
	struct berth_error err = BERTH_ERROR_INIT;
	struct model_allocation allocation;
	int version = claim->version + (int)below(w, 3) - 1;
	uint32_t device = 0;

	version = version < 0 ? 0 : version;
	random_allocation(w, &allocation);
	struct bt_object *object = object_of(c, version, &allocation);
	int result = bt_claim_cache_assume(&w->f.dra->claims, object, &err);
	bt_object_release(object);
	CHECK(w, (result == 0) == (claim->exists && version >= claim->version));
	if (result == 0) {
		model_event(w, &claim->latest, &allocation);
		claim->version = version;
		claim->latest = allocation;
	}
	berth_error_finish(&err);
}

static int api_version(struct world *w, uint32_t c)
{
	char name[8];
	int64_t version = 0;

	(void)snprintf(name, sizeof(name), "c%u", c);
	const struct bt_resource_claim *claim = bt_object_value(
		bt_claim_cache_find(&w->f.dra->claims, BT_STR("n"), bt_str_from(name)),
		BT_KIND_RESOURCE_CLAIM);
	(void)bt_str_parse_int64(claim->metadata.resource_version, &version);
	return (int)version;
}

static void restore(struct world *w, uint32_t c)
{
	struct model_claim *claim = &w->claims[c];
	char name[8];

	(void)snprintf(name, sizeof(name), "c%u", c);
	bt_claim_cache_restore(&w->f.dra->claims, BT_STR("n"), bt_str_from(name));
	if (claim->exists) {
		model_event(w, &claim->latest, &claim->api);
		claim->latest = claim->api;
		claim->version = api_version(w, c);
	}
}

static void delete_claim(struct world *w, uint32_t c)
{
	struct model_claim *claim = &w->claims[c];
	struct model_allocation nothing = {0};
	char name[8];

	if (!claim->exists) {
		return;
	}
	(void)snprintf(name, sizeof(name), "c%u", c);
	delete_object(&w->f, BT_KIND_RESOURCE_CLAIM, "n", name);
	model_event(w, &claim->latest, &nothing);
	claim->exists = false;
	claim->version = 0;
	claim->latest = nothing;
	claim->api = nothing;
}

static void fly(struct world *w, uint32_t c)
{
	struct model_claim *claim = &w->claims[c];
	struct model_allocation allocation;
	char uid[8];

	(void)snprintf(uid, sizeof(uid), "u%u", c);
	random_allocation(w, &allocation);
	if (!allocation.set) {
		uint32_t device = 0;
		bool force = below(w, 3) == 0;
		bool gone = claim->sharers == 1 || (force && claim->sharers != 0);
		CHECK(w,
			bt_claim_cache_maybe_remove(&w->f.dra->claims, bt_str_from(uid), force) ==
				gone);
		claim->sharers = gone || claim->sharers == 0 ? 0 : claim->sharers - 1;
		return;
	}
	struct bt_object *object = object_of(c, 1, &allocation);
	bt_claim_cache_signal(&w->f.dra->claims, bt_str_from(uid), object);
	bt_object_release(object);
	if (claim->sharers++ == 0) {
		claim->in_flight = allocation;
	}
}

static void run(uint64_t seed, bool consumable)
{
	struct world w = {.seed = seed, .consumable = consumable};
	struct bt_gates gates = bt_gates_default();
	static void (*const operations[])(struct world * w, uint32_t claim) = {
		put, put, assume, restore, delete_claim, fly, fly, fly};

	gates.enabled[BT_GATE_DRA_CONSUMABLE_CAPACITY] = consumable;
	dra_fixture_init_with(&w.f, &gates);
	bt_prng_init(&w.prng, seed);
	for (w.step = 0; w.step < STEPS; w.step++) {
		operations[below(&w, sizeof(operations) / sizeof(operations[0]))](
			&w, below(&w, CLAIMS));
		check(&w);
	}
	for (uint32_t c = 0; c < CLAIMS; c++) {
		char uid[8];
		(void)snprintf(uid, sizeof(uid), "u%u", c);
		delete_claim(&w, c);
		(void)bt_claim_cache_maybe_remove(&w.f.dra->claims, bt_str_from(uid), true);
		w.claims[c].sharers = 0;
	}
	check(&w);
	dra_fixture_finish(&w.f);
}

START_TEST(test_allocated_devices__equal_sets_joined_anew)
{
	const char *given = getenv("BERTH_TEST_SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;

	for (uint64_t seed = first; seed < first + (given != NULL ? 1 : SEEDS); seed++) {
		run(seed, true);
		run(seed, false);
	}
}
END_TEST

static void put_holder(struct dra_fixture *f, const char *name, const char *device)
{
	PUT(f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'%s','namespace':'n'},'status':{'allocation':{'devices':{"
		"'results':[{'driver':'d','pool':'p','device':'%s'}]}}}}",
		name, device);
}

static bool is_dedicated(struct dra_fixture *f, const char *device)
{
	uint32_t id =
		bt_device_ids_find(&f->dra->ids, BT_STR("d"), BT_STR("p"), bt_str_from(device));

	return id != BT_DEVICE_NONE && bt_allocated_is_dedicated(&f->dra->allocated, id);
}

START_TEST(test_allocated_devices__two_claims_of_the_api_are_one_entry)
{
	struct dra_fixture f;
	struct bt_object *flying = make_object(BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'x'},'status':{'allocation':{'devices':{'results':["
		"{'driver':'d','pool':'p','device':'a'}]}}}}");

	dra_fixture_init(&f);
	put_holder(&f, "one", "a");
	put_holder(&f, "two", "a");
	ck_assert(is_dedicated(&f, "a"));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert_msg(!is_dedicated(&f, "a"), "a set, not a counter");
	/*
	 * Each read joins the allocations in flight again, whatever happens to claims of the API.
	 */
	bt_claim_cache_signal(&f.dra->claims, BT_STR("u"), flying);
	put_holder(&f, "one", "a");
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert(is_dedicated(&f, "a"));
	put_holder(&f, "one", "a");
	ck_assert(bt_claim_cache_maybe_remove(&f.dra->claims, BT_STR("u"), false));
	ck_assert(is_dedicated(&f, "a"));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert(!is_dedicated(&f, "a"));
	bt_object_release(flying);
	dra_fixture_finish(&f);
}
END_TEST

static bool is_valid(struct dra_fixture *f)
{
	struct bt_strbuf reason = {0};
	bool valid = bt_dra_validate(f->dra, &reason);

	bt_strbuf_finish(&reason);
	return valid;
}

/** Flips the bit of the device and returns whether validation reports the difference. */
static bool is_noticed(struct dra_fixture *f, const char *device)
{
	struct bt_bitset *dedicated = &f->dra->allocated.dedicated;
	uint32_t id =
		bt_device_ids_find(&f->dra->ids, BT_STR("d"), BT_STR("p"), bt_str_from(device));
	bool valid;

	bt_bitset_assign(dedicated, id, !bt_bitset_get(dedicated, id));
	valid = is_valid(f);
	bt_bitset_assign(dedicated, id, !bt_bitset_get(dedicated, id));
	return !valid;
}

START_TEST(test_allocated_devices__history_is_of_the_devices_concerned)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_holder(&f, "other", "b");
	put_holder(&f, "one", "a");
	put_holder(&f, "two", "a");
	ck_assert(bt_allocated_has_history(&f.dra->allocated));
	ck_assert(is_noticed(&f, "b"));
	ck_assert(!is_noticed(&f, "a"));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert(is_valid(&f));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "two");
	ck_assert(!bt_allocated_has_history(&f.dra->allocated));
	put_holder(&f, "one", "a");
	ck_assert(is_noticed(&f, "a"));
	/*
	 * Spec 12 section 4.3: an update from one allocation to another changes no device, so a
	 * stays held. Deleting claim one frees b, although claim other holds b.
	 */
	put_holder(&f, "one", "b");
	ck_assert(is_dedicated(&f, "a"));
	ck_assert(is_valid(&f));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert(is_dedicated(&f, "a"));
	ck_assert(!is_dedicated(&f, "b"));
	ck_assert(is_valid(&f));
	dra_fixture_finish(&f);
}
END_TEST

static void put_share(struct dra_fixture *f, const char *name, const char *amount)
{
	PUT(f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'%s','namespace':'n'},'status':{'allocation':{'devices':{"
		"'results':[{'driver':'d','pool':'p','device':'a','shareID':'%s',"
		"'consumedCapacity':{'x':'%s'}}]}}}}",
		name, name, amount);
}

/**
 * When a share ends and the device's other shares consume amounts of 0, the device has no consumed
 * capacity any more. The other shares still hold the device.
 */
START_TEST(test_allocated_devices__shares_that_consume_nothing)
{
	struct dra_fixture f;
	uint32_t id;

	dra_fixture_init(&f);
	put_share(&f, "one", "0");
	put_share(&f, "two", "0");
	id = bt_device_ids_find(&f.dra->ids, BT_STR("d"), BT_STR("p"), BT_STR("a"));
	ck_assert_ptr_nonnull(bt_allocated_consumed(&f.dra->allocated, id));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	ck_assert_ptr_null(bt_allocated_consumed(&f.dra->allocated, id));
	ck_assert(bt_allocated_is_held(&f.dra->allocated, id));
	ck_assert(is_valid(&f));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "two");
	ck_assert(!bt_allocated_has_history(&f.dra->allocated));
	ck_assert(!bt_allocated_is_held(&f.dra->allocated, id));
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_allocated_devices__a_device_without_a_name_is_none)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_holder(&f, "one", "");
	ck_assert_uint_eq(f.dra->allocated.version, 0);
	ck_assert_uint_eq(f.dra->ids.items.map.count, 0);
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "one");
	dra_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("allocated_devices", test_allocated_devices__equal_sets_joined_anew,
	test_allocated_devices__two_claims_of_the_api_are_one_entry,
	test_allocated_devices__history_is_of_the_devices_concerned,
	test_allocated_devices__shares_that_consume_nothing,
	test_allocated_devices__a_device_without_a_name_is_none)
