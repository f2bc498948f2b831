/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "test_main.h"

#define MODEL_KEYS 400
#define SECOND INT64_C(1000000000)

static struct bt_stored *put(
	struct bt_store *store, uint32_t collection, const char *key, const char *text)
{
	return bt_store_put(store, collection, bt_str_from(key), bt_str_from(text), 0);
}

/** Puts objects with these managedFields and expects them back unchanged. */
static void expect_owners(const char *const *lists, uint32_t count, bool shared)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	const struct bt_owners *owners = NULL;
	for (uint32_t i = 0; i < count; i++) {
		char key[2] = {(char)('a' + i), '\0'};
		struct bt_strbuf text = {0};
		struct bt_strbuf whole = {0};
		bt_strbuf_printf(&text, "{\"metadata\":{\"managedFields\":%s,\"name\":\"%s\"}}",
			lists[i], key);
		const struct bt_stored *entry =
			bt_store_put(store, pods, bt_str_from(key), bt_strbuf_str(&text), 0);
		for (int version = 0; version < 2; version++) {
			bt_strbuf_reset(&whole);
			bt_stored_append_complete(entry, &whole);
			ck_assert_str_eq(bt_strbuf_c(&whole), bt_strbuf_c(&text));
			ck_assert(i == 0 || shared == (entry->owners == owners));
			owners = i == 0 ? entry->owners : owners;
			entry = bt_store_put_owned(
				store, pods, bt_str_from(key), bt_stored_text(entry), NULL, 0);
		}
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&whole);
	}
	bt_store_destroy(store);
}

#define POD_IP(time_, ip_) \
	"[{\"manager\":\"kubelet\",\"time\":\"" time_ "\",\"fieldsV1\":{\"f:podIPs\":{\".\":{}," \
	"\"k:{\\\"ip\\\":\\\"" ip_ "\\\"}\":{\".\":{},\"f:ip\":{}}}}}," \
	"{\"manager\":\"user\",\"time\":\"" time_ "\"}]"

START_TEST(test_store__owners_with_other_keys_are_shared)
{
	static const char *const alike[] = {
		POD_IP("2026-11-21T00:00:00Z", "10.0.0.1"),
		POD_IP("2026-11-21T00:00:01Z", "10.200.100.10"),
		POD_IP("2026-11-21T00:00:01Z", "fd00:10::ffff"),
	};
	static const char *const different[] = {
		POD_IP("2026-11-21T00:00:00Z", "10.0.0.1"),
		POD_IP("2026-11-21T00:00:00Z", "web"),
		POD_IP("2026-11-21T00:00:00Z", ""),
		POD_IP("2026-11-21T00:00:00Z", " "),
		POD_IP("2026-11-21T00:00:00Z", "\\u0001"),
		POD_IP("2026-11-21T00:00:00Z", "10.0.0.1\\\",\\\"port\\\":\\\"80"),
		POD_IP("2026-11-21T00:00:00Z",
			"11111111112222222222333333333344444444445555555555"),
		"[{\"k:{\\\"ip\\\":1}\":{}},{\"k:{\\\"ip\\\":}\":{}},{\"v:\\\"10\":\"v:\"}]",
	};
	static const char *const sets[] = {
		"[{\"f:podCIDRs\":{\"v:\\\"10.0.0.0/24\\\"\":{}}}]",
		"[{\"f:podCIDRs\":{\"v:\\\"fd00::/64\\\"\":{}}}]",
	};
	expect_owners(alike, BT_ARRAY_LENGTH(alike), true);
	expect_owners(sets, BT_ARRAY_LENGTH(sets), true);
	for (uint32_t i = 1; i < BT_ARRAY_LENGTH(different); i++) {
		const char *const pair[] = {different[0], different[i]};
		expect_owners(pair, 2, false);
	}
}
END_TEST

START_TEST(test_store__owners_are_shared)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	static const char *const texts[] = {
		"{\"metadata\":{\"managedFields\":[{\"manager\":\"a]\\\"\",\"time\":"
		"\"2026-11-21T00:00:00Z\",\"fieldsV1\":{\"f:time\":{}}}],\"name\":\"x\"}}",
		"{\"metadata\":{\"managedFields\":[{\"manager\":\"a]\\\"\",\"time\":"
		"\"2026-11-21T00:00:01Z\",\"fieldsV1\":{\"f:time\":{}}}],\"name\":\"y\"},"
		"\"spec\":{}}",
		"{\"metadata\":{\"managedFields\":[{\"manager\":\"b\"},{\"time\":\"late\"},"
		"{\"time\":\"\"}]}}",
	};
	const struct bt_stored *entries[3];
	for (uint32_t i = 0; i < 3; i++) {
		char key[2] = {(char)('a' + i), '\0'};
		entries[i] = bt_store_put(store, pods, bt_str_from(key), bt_str_from(texts[i]), 0);
	}
	ck_assert_ptr_eq(entries[0]->owners, entries[1]->owners);
	ck_assert_ptr_ne(entries[0]->owners, entries[2]->owners);
	ck_assert(bt_str_equal_c(bt_stored_text(entries[0]), "{\"metadata\":{\"name\":\"x\"}}"));
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_strbuf whole = {0};
		bt_stored_append_complete(entries[i], &whole);
		ck_assert_str_eq(bt_strbuf_c(&whole), texts[i]);
		bt_strbuf_finish(&whole);
	}
	/* a later version keeps the owners, or has none */
	const struct bt_stored *same = bt_store_put_owned(
		store, pods, BT_STR("b"), BT_STR("{\"metadata\":{\"name\":\"z\"}}"), NULL, 0);
	struct bt_strbuf owners = {0};
	bt_stored_append_complete(same, &owners);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&owners), "2026-11-21T00:00:01Z"));
	bt_strbuf_finish(&owners);
	ck_assert_ptr_null(
		bt_store_put(store, pods, BT_STR("b"), BT_STR("{\"metadata\":{}}"), 0)->owners);
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_store__collections_by_name)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	uint32_t nodes = bt_store_collection(store, BT_STR("nodes"));

	ck_assert_uint_ne(pods, nodes);
	ck_assert_uint_eq(bt_store_collection(store, BT_STR("pods")), pods);
	ck_assert(bt_str_equal(bt_store_collection_name(store, nodes), BT_STR("nodes")));
	ck_assert_uint_eq(bt_store_collection_count(store), 2);
	put(store, pods, "a/x", "{1}");
	ck_assert_ptr_null(bt_store_find(store, nodes, BT_STR("a/x")));
	ck_assert_ptr_nonnull(bt_store_find(store, pods, BT_STR("a/x")));
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_store__entries_outlive_their_place)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_stored *first = bt_stored_share(put(store, pods, "a/x", "{1}"));
	struct bt_stored *removed;

	ck_assert_uint_eq(first->rv, 2);
	ck_assert_uint_eq(put(store, pods, "a/x", "{2}")->rv, 3);
	removed = bt_store_remove(store, pods, BT_STR("a/x"), BT_STR("{3}"), 0);
	ck_assert_uint_eq(removed->rv, 4);
	ck_assert(bt_str_equal(bt_stored_text(removed), BT_STR("{3}")));
	ck_assert_uint_eq(bt_store_count(store, pods), 0);
	bt_store_destroy(store);
	ck_assert(bt_str_equal(bt_stored_text(first), BT_STR("{1}")));
	ck_assert(bt_str_equal(bt_stored_key(first), BT_STR("a/x")));
	bt_stored_release(first);
}
END_TEST

/** The arguments of a put may be parts of the entry that it replaces. */
START_TEST(test_store__arguments_of_the_replaced_entry)
{
	struct bt_store_options options = {.window_changes_min = 0};
	struct bt_store *store = bt_store_create(&options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));

	for (int i = 0; i < 3; i++) {
		struct bt_stored *old = put(store, pods, "a/x", "{\"n\":1}");

		old = bt_store_put(store, pods, bt_stored_key(old), bt_stored_text(old), 0);
		old = bt_store_remove(store, pods, bt_stored_key(old), bt_stored_text(old), 0);
		ck_assert(bt_str_equal(bt_stored_text(old), BT_STR("{\"n\":1}")));
	}
	bt_store_destroy(store);
}
END_TEST

/* --- the window --- */

START_TEST(test_store__window_keeps_min_age_and_bytes)
{
	struct bt_store_options options = {
		.window_changes_min = 10,
		.window_age_ns = 60 * SECOND,
		.window_bytes_max = 4000,
	};
	struct bt_store *store = bt_store_create(&options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	uint32_t other = bt_store_collection(store, BT_STR("other"));
	struct bt_store_change change;

	/* Changes that are young and small are all kept. */
	for (int i = 0; i < 30; i++) {
		bt_store_put(store, pods, BT_STR("k"), BT_STR("{}"), i * SECOND);
	}
	ck_assert_uint_eq(bt_store_window_start(store, pods), 1);
	ck_assert_uint_eq(bt_store_window_start(store, other), 1);
	/* Only changes of the last minute are kept, but at least ten. */
	bt_store_put(store, pods, BT_STR("k"), BT_STR("{}"), 80 * SECOND);
	ck_assert(bt_store_next_change(store, pods, bt_store_window_start(store, pods), &change));
	ck_assert_uint_eq(change.rv, 22);
	bt_store_put(store, pods, BT_STR("k"), BT_STR("{}"), 1000 * SECOND);
	ck_assert_uint_eq(bt_store_window_start(store, pods), 33 - 10);
	/*
	 * If the changes have too many bytes, ten changes stay, or fewer if ten changes exceed four
	 * times the limit.
	 */
	for (int i = 0; i < 30; i++) {
		char text[401];

		memset(text, 'x', sizeof(text));
		bt_store_put(store, pods, BT_STR("k"), (struct bt_str){text, 401}, 1000 * SECOND);
	}
	ck_assert_uint_eq(bt_store_window_start(store, pods), bt_store_rv(store) - 10);
	for (int i = 0; i < 30; i++) {
		static char text[4000];

		bt_store_put(store, pods, BT_STR("k"), (struct bt_str){text, 4000}, 1000 * SECOND);
	}
	ck_assert_uint_eq(bt_store_window_start(store, pods), bt_store_rv(store) - 3);
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_store__next_change_steps_through_all)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	uint32_t nodes = bt_store_collection(store, BT_STR("nodes"));
	struct bt_store_change change;

	put(store, pods, "a", "{1}");
	put(store, nodes, "a", "{1}");
	put(store, pods, "a", "{2}");
	bt_store_remove(store, pods, BT_STR("a"), BT_STR("{3}"), 0);
	ck_assert(bt_store_next_change(store, pods, 1, &change));
	ck_assert_uint_eq(change.rv, 2);
	ck_assert_int_eq(change.type, BT_CHANGE_ADDED);
	ck_assert_ptr_null(change.before);
	ck_assert(bt_store_next_change(store, pods, 2, &change));
	ck_assert_uint_eq(change.rv, 4);
	ck_assert_int_eq(change.type, BT_CHANGE_MODIFIED);
	ck_assert(bt_str_equal(bt_stored_text(change.before), BT_STR("{1}")));
	ck_assert(bt_store_next_change(store, pods, 4, &change));
	ck_assert_int_eq(change.type, BT_CHANGE_DELETED);
	ck_assert(bt_str_equal(bt_stored_text(change.before), BT_STR("{2}")));
	ck_assert(bt_str_equal(bt_stored_text(change.after), BT_STR("{3}")));
	ck_assert_uint_eq(change.after->rv, 5);
	ck_assert(!bt_store_next_change(store, pods, 5, &change));
	bt_store_destroy(store);
}
END_TEST

static void count_change(void *context, const struct bt_store_change *change)
{
	uint64_t *last = context;

	ck_assert_uint_eq(change->rv, *last + 1);
	*last = change->rv;
}

START_TEST(test_store__listeners_see_each_commit)
{
	struct bt_store *store = bt_store_create(&bt_store_default_options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	uint64_t last = 1;

	bt_store_on_change(store, count_change, &last);
	put(store, pods, "a", "{1}");
	put(store, pods, "b", "{1}");
	bt_store_remove(store, pods, BT_STR("a"), BT_STR("{}"), 0);
	ck_assert_uint_eq(last, 4);
	bt_store_destroy(store);
}
END_TEST

/* --- against a naive model --- */

/** The objects at one RV. values: for each key the number in the object's text; 0: no object. */
struct model_state {
	uint32_t values[MODEL_KEYS];
};

static void key_text(uint32_t index, char *buffer, size_t size)
{
	/*
	 * Keys are not in the order of their numbers, differ in length, and are in two namespaces.
	 */
	(void)snprintf(buffer, size, "%s/%x%s", index % 3 == 0 ? "a" : "b", index * 2654435761U,
		index % 5 == 0 ? "-long-tail" : "");
}

static uint32_t value_of(const struct bt_stored *stored)
{
	return (uint32_t)strtoul(bt_stored_text(stored).data + 1, NULL, 10);
}

static int compare_index_keys(const void *a, const void *b)
{
	char left[64];
	char right[64];

	key_text(*(const uint32_t *)a, left, sizeof(left));
	key_text(*(const uint32_t *)b, right, sizeof(right));
	return strcmp(left, right);
}

struct model {
	struct bt_store *store;
	uint32_t collection;
	struct bt_prng prng;
	BT_VEC(struct model_state) states; /* by RV - 1 */
	uint32_t order[MODEL_KEYS];        /* key numbers in the order of the keys */
	uint64_t count;
};

static void model_write(struct model *model, int64_t now_ns)
{
	struct model_state state = model->states.items[model->states.count - 1];
	uint32_t index = (uint32_t)bt_prng_below(&model->prng, MODEL_KEYS);
	uint32_t number = (uint32_t)bt_store_next_rv(model->store);
	char key[64];
	char text[32];

	key_text(index, key, sizeof(key));
	(void)snprintf(text, sizeof(text), "{%u}", number);
	if (state.values[index] != 0 && bt_prng_below(&model->prng, 2) == 0) {
		(void)bt_store_remove(model->store, model->collection, bt_str_from(key),
			bt_str_from(text), now_ns);
		state.values[index] = 0;
		model->count--;
	} else {
		model->count += state.values[index] == 0;
		(void)bt_store_put(model->store, model->collection, bt_str_from(key),
			bt_str_from(text), now_ns);
		state.values[index] = number;
	}
	bt_vec_push(&model->states, state);
}

/** Walks over a past state while the store changes; every object must equal the model's object. */
static void model_walk(struct model *model, uint64_t seed)
{
	static const char *const prefixes[] = {"", "a/", "b/", "c/"};
	uint64_t start = bt_store_window_start(model->store, model->collection);
	uint64_t rv = start + bt_prng_below(&model->prng, bt_store_rv(model->store) - start + 1);
	struct bt_str prefix = bt_str_from(prefixes[bt_prng_below(&model->prng, 4)]);
	uint32_t writes = (uint32_t)bt_prng_below(&model->prng, 3);
	char after[64] = "";
	struct bt_store_walk walk;
	uint32_t from = 0;

	if (bt_prng_below(&model->prng, 2) == 0) {
		key_text((uint32_t)bt_prng_below(&model->prng, MODEL_KEYS), after, sizeof(after));
	}
	if (!bt_store_walk_begin(
		    model->store, model->collection, rv, prefix, bt_str_from(after), &walk)) {
		ck_abort_msg("seed %llu: no walk at %llu", (unsigned long long)seed,
			(unsigned long long)rv);
	}
	for (;;) {
		bool lost = false;
		const struct bt_stored *stored = bt_store_walk_next(&walk, &lost);
		uint32_t expected = 0;

		if (lost) {
			if (rv >= bt_store_window_start(model->store, model->collection)) {
				ck_abort_msg("lost for no reason");
			}
			break;
		}
		for (; from < MODEL_KEYS && expected == 0; from++) {
			char key[64];

			key_text(model->order[from], key, sizeof(key));
			if (bt_str_has_prefix(bt_str_from(key), prefix) && strcmp(key, after) > 0) {
				expected = model->states.items[rv - 1].values[model->order[from]];
			}
		}
		if ((stored == NULL) != (expected == 0) ||
			(stored != NULL && value_of(stored) != expected)) {
			ck_abort_msg("seed %llu: walk at %llu: expected %u, got %u",
				(unsigned long long)seed, (unsigned long long)rv, expected,
				stored != NULL ? value_of(stored) : 0);
		}
		if (stored == NULL) {
			break;
		}
		for (uint32_t i = 0; i < writes; i++) {
			model_write(model, (int64_t)bt_store_rv(model->store) * 1000000);
		}
	}
	bt_store_walk_end(&walk);
}

static void model_check(struct model *model, uint64_t seed)
{
	const struct model_state *state = &model->states.items[model->states.count - 1];
	uint64_t of_a = 0;

	for (uint32_t i = 0; i < MODEL_KEYS; i++) {
		char key[64];
		const struct bt_stored *stored;

		key_text(i, key, sizeof(key));
		stored = bt_store_find(model->store, model->collection, bt_str_from(key));
		of_a += key[0] == 'a' && strcmp(key, "a/5") > 0 && state->values[i] != 0;
		if ((stored != NULL ? value_of(stored) : 0) != state->values[i]) {
			ck_abort_msg("seed %llu: key %s", (unsigned long long)seed, key);
		}
	}
	if (bt_store_count(model->store, model->collection) != model->count ||
		bt_store_count_after(model->store, model->collection, BT_STR(""), BT_STR("")) !=
			model->count ||
		bt_store_count_after(
			model->store, model->collection, BT_STR("a/"), BT_STR("a/5")) != of_a) {
		ck_abort_msg("seed %llu: counts", (unsigned long long)seed);
	}
}

START_TEST(test_store__random_operations_and_past_states)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct bt_store_options options = {
			.window_changes_min = seed % 2 == 0 ? 300 : 2000,
			.window_age_ns = 0,
			.window_bytes_max = 1 << 20,
		};
		struct model model = {.store = bt_store_create(&options)};

		(void)printf("seed %llu\n", (unsigned long long)seed);
		bt_prng_init(&model.prng, seed);
		model.collection = bt_store_collection(model.store, BT_STR("pods"));
		bt_vec_push(&model.states, (struct model_state){{0}});
		for (uint32_t i = 0; i < MODEL_KEYS; i++) {
			model.order[i] = i;
		}
		qsort(model.order, MODEL_KEYS, sizeof(model.order[0]), compare_index_keys);
		for (uint32_t round = 0; round < 12; round++) {
			for (uint32_t i = 0; i < 150; i++) {
				model_write(&model, (int64_t)bt_store_rv(model.store) * 1000000);
			}
			model_check(&model, seed);
			model_walk(&model, seed);
		}
		bt_vec_finish(&model.states);
		bt_store_destroy(model.store);
	}
}
END_TEST

START_TEST(test_store__walk_refuses_states_outside_the_window)
{
	struct bt_store_options options = {.window_changes_min = 2};
	struct bt_store *store = bt_store_create(&options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_store_walk walk;
	bool lost = true;

	for (int i = 0; i < 10; i++) {
		put(store, pods, "a/x", "{1}");
	}
	ck_assert(!bt_store_walk_begin(store, pods, 3, BT_STR(""), BT_STR(""), &walk));
	ck_assert(!bt_store_walk_begin(store, pods, 99, BT_STR(""), BT_STR(""), &walk));
	walk = bt_store_walk_current(store, pods, BT_STR(""));
	ck_assert_uint_eq(walk.rv, 11);
	for (int i = 0; i < 3; i++) {
		put(store, pods, "a/x", "{2}");
	}
	ck_assert_ptr_null(bt_store_walk_next(&walk, &lost));
	ck_assert(lost);
	bt_store_walk_end(&walk);
	bt_store_destroy(store);
}
END_TEST

/** While a walk is open, the window keeps the changes that the walk needs. */
START_TEST(test_store__window_waits_for_walks)
{
	struct bt_store_options options = {.window_changes_min = 2, .window_bytes_max = 1 << 20};
	struct bt_store *store = bt_store_create(&options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_store_walk walk;
	bool lost = true;

	put(store, pods, "a/x", "{1}");
	walk = bt_store_walk_current(store, pods, BT_STR(""));
	for (int i = 0; i < 100; i++) {
		(void)bt_store_put(store, pods, BT_STR("a/x"), BT_STR("{2}"), i * SECOND);
	}
	ck_assert(bt_str_equal(bt_stored_text(bt_store_walk_next(&walk, &lost)), BT_STR("{1}")));
	ck_assert(!lost);
	bt_store_walk_end(&walk);
	(void)bt_store_put(store, pods, BT_STR("a/x"), BT_STR("{2}"), 200 * SECOND);
	ck_assert_uint_eq(bt_store_window_start(store, pods), bt_store_rv(store) - 2);
	bt_store_destroy(store);
}
END_TEST

START_TEST(test_store__many_keys_in_and_out)
{
	enum { COUNT = 30000 };
	struct bt_store_options options = {.window_changes_min = 10};
	struct bt_store *store = bt_store_create(&options);
	uint32_t pods = bt_store_collection(store, BT_STR("pods"));
	struct bt_store_walk walk;
	uint32_t seen = 0;
	char previous[BT_STORE_KEY_BYTES_MAX] = "";

	for (uint32_t i = 0; i < COUNT; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "ns/%u", i * 7919 % COUNT);
		put(store, pods, key, "{}");
	}
	walk = bt_store_walk_current(store, pods, BT_STR("ns/"));
	for (struct bt_stored *at; (at = bt_store_walk_next(&walk, NULL)) != NULL; seen++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "%.*s", BT_STR_ARG(bt_stored_key(at)));
		if (strcmp(previous, key) >= 0) {
			ck_abort_msg("%s before %s", previous, key);
		}
		memcpy(previous, key, sizeof(key));
	}
	bt_store_walk_end(&walk);
	ck_assert_uint_eq(seen, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "ns/%u", i * 104729 % COUNT);
		(void)bt_store_remove(store, pods, bt_str_from(key), BT_STR("{}"), 0);
	}
	ck_assert_uint_eq(bt_store_count(store, pods), 0);
	ck_assert_uint_eq(bt_store_count_after(store, pods, BT_STR(""), BT_STR("")), 0);
	bt_store_destroy(store);
}
END_TEST

BT_TEST_MAIN("store", test_store__owners_are_shared, test_store__owners_with_other_keys_are_shared,
	test_store__collections_by_name, test_store__entries_outlive_their_place,
	test_store__arguments_of_the_replaced_entry, test_store__window_keeps_min_age_and_bytes,
	test_store__next_change_steps_through_all, test_store__listeners_see_each_commit,
	test_store__random_operations_and_past_states,
	test_store__walk_refuses_states_outside_the_window, test_store__window_waits_for_walks,
	test_store__many_keys_in_and_out)
