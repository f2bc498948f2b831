/* SPDX-License-Identifier: Apache-2.0 */
#include "dra_fixture.h"
#include "test_main.h"

#define ALLOCATED(device) \
	"'status':{'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'p'," \
	"'device':'" device "'}]}}}"

struct heard {
	uint32_t count;
	bool had_old;
	bool has_new;
	char versions[2][32];
};

static void hear(void *context, struct bt_object *old_claim, struct bt_object *new_claim)
{
	struct heard *heard = context;

	heard->count++;
	heard->had_old = old_claim != NULL;
	heard->has_new = new_claim != NULL;
	struct bt_object *const both[] = {old_claim, new_claim};
	for (int i = 0; i < 2; i++) {
		(void)snprintf(heard->versions[i], sizeof(heard->versions[i]), "%.*s",
			BT_STR_ARG(both[i] != NULL ? both[i]->meta->resource_version
						   : BT_STR("none")));
	}
}

static void put_claim(struct dra_fixture *f, const char *version, const char *rest)
{
	PUT(f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'c','namespace':'n','uid':'u','resourceVersion':'%s'}%s%s}",
		version, rest[0] != '\0' ? "," : "", rest);
}

static struct bt_object *latest(struct dra_fixture *f)
{
	return bt_claim_cache_find(&f->dra->claims, BT_STR("n"), BT_STR("c"));
}

static int assume(
	struct dra_fixture *f, const char *version, const char *rest, struct berth_error *err)
{
	struct bt_object *claim = make_object(BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'c','namespace':'n','uid':'u','resourceVersion':'%s'}%s%s}",
		version, rest[0] != '\0' ? "," : "", rest);
	int result = bt_claim_cache_assume(&f->dra->claims, claim, err);

	bt_object_release(claim);
	return result;
}

static bool is_held(struct dra_fixture *f, const char *device)
{
	uint32_t id =
		bt_device_ids_find(&f->dra->ids, BT_STR("d"), BT_STR("p"), bt_str_from(device));

	return id != BT_DEVICE_NONE && bt_allocated_is_dedicated(&f->dra->allocated, id) &&
		bt_allocated_is_held(&f->dra->allocated, id);
}

START_TEST(test_claim_cache__follows_newer_objects_only)
{
	struct dra_fixture f;
	struct heard heard = {0};

	dra_fixture_init(&f);
	f.dra->claims.listener = (struct bt_claim_listener){hear, &heard};
	put_claim(&f, "9", "");
	ck_assert_uint_eq(heard.count, 1);
	ck_assert(!heard.had_old && heard.has_new);
	put_claim(&f, "10", ""); /* greater as a number, smaller as a text */
	ck_assert_uint_eq(heard.count, 2);
	ck_assert_str_eq(heard.versions[0], "9");
	ck_assert_str_eq(heard.versions[1], "10");
	put_claim(&f, "10", ALLOCATED("a"));
	put_claim(&f, "9", ALLOCATED("a"));
	ck_assert_uint_eq(heard.count, 2);
	ck_assert(!is_held(&f, "a"));
	put_claim(&f, "", ALLOCATED("a")); /* no version: counts as newer */
	ck_assert_uint_eq(heard.count, 3);
	ck_assert(is_held(&f, "a"));
	put_claim(&f, "3", "");
	ck_assert_uint_eq(heard.count, 4);
	ck_assert(!is_held(&f, "a"));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "c");
	ck_assert_uint_eq(heard.count, 5);
	ck_assert(heard.had_old && !heard.has_new);
	ck_assert_ptr_null(latest(&f));
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_claim_cache__assume_and_restore)
{
	struct dra_fixture f;
	struct heard heard = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	dra_fixture_init(&f);
	f.dra->claims.listener = (struct bt_claim_listener){hear, &heard};
	ck_assert_int_eq(assume(&f, "1", "", &err), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "could not find ResourceClaim \"n/c\"");
	berth_error_finish(&err);
	put_claim(&f, "5", "");
	ck_assert_int_eq(assume(&f, "4", "", &err), BERTH_ERR_STATE);
	ck_assert_str_eq(berth_error_message(&err),
		"ResourceClaim \"n/c\" is out of sync (stored: 5, assume: 4)");
	berth_error_finish(&err);
	ck_assert_uint_eq(heard.count, 1);
	ck_assert_int_eq(assume(&f, "5", ALLOCATED("a"), &err), 0); /* the same version suffices */
	ck_assert_uint_eq(heard.count, 2);
	ck_assert(is_held(&f, "a"));
	put_claim(&f, "5", ""); /* not newer than the assumed version */
	ck_assert(is_held(&f, "a"));
	bt_claim_cache_restore(&f.dra->claims, BT_STR("n"), BT_STR("c"));
	ck_assert_uint_eq(heard.count, 3);
	ck_assert(heard.had_old && heard.has_new);
	ck_assert(!is_held(&f, "a"));
	bt_claim_cache_restore(&f.dra->claims, BT_STR("n"), BT_STR("other"));
	ck_assert_uint_eq(heard.count, 3);
	/* The API's answer is assumed; the later event with the same version changes nothing. */
	ck_assert_int_eq(assume(&f, "7", ALLOCATED("a"), &err), 0);
	put_claim(&f, "7", ALLOCATED("a"));
	ck_assert_uint_eq(heard.count, 4);
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "c");
	ck_assert(!is_held(&f, "a"));
	dra_fixture_finish(&f);
}
END_TEST

/** The watch delivers the written claim: no listener is called, and only one copy is kept. */
START_TEST(test_claim_cache__one_copy_of_what_was_written)
{
	struct dra_fixture f;
	struct heard heard = {0};

	dra_fixture_init(&f);
	put_claim(&f, "9", "");
	ck_assert_int_eq(assume(&f, "10", ALLOCATED("a"), NULL), 0);
	f.dra->claims.listener = (struct bt_claim_listener){hear, &heard};
	put_claim(&f, "10", ALLOCATED("b"));
	struct bt_object *assumed = latest(&f);
	ck_assert_uint_eq(assumed->reference_count, 1);
	put_claim(&f, "10", ALLOCATED("a"));
	ck_assert_uint_gt(latest(&f)->reference_count, 1);
	ck_assert_uint_eq(heard.count, 0);
	ck_assert(is_held(&f, "a"));
	bt_claim_cache_restore(&f.dra->claims, BT_STR("n"), BT_STR("c"));
	ck_assert(is_held(&f, "a"));
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "c");
	ck_assert(!is_held(&f, "a"));
	dra_fixture_finish(&f);
}
END_TEST

/**
 * The watch may deliver the very object that was assumed. The claim is then in the API, so ending
 * the assumption changes nothing.
 */
START_TEST(test_claim_cache__the_same_object_comes_back)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_claim(&f, "9", "");
	ck_assert_int_eq(assume(&f, "10", ALLOCATED("a"), NULL), 0);
	struct bt_object *assumed = bt_object_share(latest(&f));
	bt_object_store_put(&f.state->objects, assumed); /* takes the reference */
	bt_claim_cache_restore(&f.dra->claims, BT_STR("n"), BT_STR("c"));
	ck_assert_ptr_eq(latest(&f), assumed);
	ck_assert(is_held(&f, "a"));
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_claim_cache__in_flight)
{
	struct dra_fixture f;
	struct bt_object *claim =
		make_object(BT_KIND_RESOURCE_CLAIM, "{'metadata':{'name':'c'}," ALLOCATED("a") "}");
	struct bt_object *other =
		make_object(BT_KIND_RESOURCE_CLAIM, "{'metadata':{'name':'c'}," ALLOCATED("b") "}");
	struct bt_str uid = BT_STR("u");

	dra_fixture_init(&f);
	struct bt_claim_cache *cache = &f.dra->claims;
	ck_assert_ptr_null(bt_claim_cache_pending(cache, uid));
	ck_assert(!bt_claim_cache_maybe_remove(cache, uid, true));
	bt_claim_cache_signal(cache, uid, claim);
	bt_claim_cache_signal(cache, uid, other); /* the first allocation stays */
	const struct bt_resource_claim *value = bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
	ck_assert_ptr_eq(bt_claim_cache_pending(cache, uid), value->status.allocation);
	ck_assert(is_held(&f, "a") && !is_held(&f, "b"));
	dra_check_valid(&f);
	ck_assert(!bt_claim_cache_maybe_remove(cache, uid, false));
	ck_assert(is_held(&f, "a"));
	ck_assert(bt_claim_cache_maybe_remove(cache, uid, false));
	ck_assert(!is_held(&f, "a"));
	ck_assert_ptr_null(bt_claim_cache_pending(cache, uid));
	bt_claim_cache_signal(cache, uid, other);
	bt_claim_cache_signal(cache, uid, other);
	ck_assert(bt_claim_cache_maybe_remove(cache, uid, true));
	ck_assert(!is_held(&f, "b"));
	bt_claim_cache_signal(cache, uid, other); /* destroying the cache frees this reference */
	bt_object_release(claim);
	bt_object_release(other);
	dra_fixture_finish(&f);
}
END_TEST

static void put_special(
	struct dra_fixture *f, const char *namespace_, const char *name, const char *annotation)
{
	PUT(f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'%s','namespace':'%s','uid':'u-%s','annotations':{'other':"
		"'true','resource.kubernetes.io/extended-resource-claim':'%s'},'ownerReferences':"
		"[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'uid-p','controller':true}]}}",
		name, namespace_, name, annotation);
}

static void expect_special(struct dra_fixture *f, const char *name)
{
	struct bt_object *found =
		bt_claim_cache_find_special(&f->dra->claims, BT_STR("p"), BT_STR("uid-p"));

	ck_assert(found == NULL ? name == NULL
				: name != NULL && bt_str_equal_c(found->meta->name, name));
}

/**
 * If several claims match, the first by namespace and name is returned, independent of insertion
 * order.
 */
START_TEST(test_claim_cache__spec_12_14_1_special_claims)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_special(&f, "n", "said-no", "false");
	put_special(&f, "n", "said-nothing", "");
	expect_special(&f, NULL);
	put_special(&f, "n", "second", "true");
	expect_special(&f, "second");
	put_special(&f, "n", "first", "true");
	put_special(&f, "n", "third", "true");
	expect_special(&f, "first");
	put_special(&f, "m", "zero", "true");
	expect_special(&f, "zero");
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "m", "zero");
	delete_object(&f, BT_KIND_RESOURCE_CLAIM, "n", "first");
	expect_special(&f, "second");
	put_special(&f, "n", "second", "false");
	expect_special(&f, "third");
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_claim_cache__reads_what_is_there)
{
	struct bt_state_options options = {.resource_gates = {.pod_level_resources = true}};
	struct dra_fixture f = {.state = bt_state_create(&options), .gates = bt_gates_default()};

	put_claim(&f, "1", ALLOCATED("a"));
	f.dra = bt_dra_of(f.state, &f.gates);
	ck_assert_ptr_nonnull(latest(&f));
	ck_assert(is_held(&f, "a"));
	ck_assert_ptr_eq(bt_dra_of(f.state, &f.gates), f.dra);
	uint32_t cursor = 0;
	ck_assert_ptr_eq(bt_claim_cache_next(&f.dra->claims, &cursor), latest(&f));
	ck_assert_ptr_null(bt_claim_cache_next(&f.dra->claims, &cursor));
	dra_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("claim_cache", test_claim_cache__follows_newer_objects_only,
	test_claim_cache__the_same_object_comes_back, test_claim_cache__assume_and_restore,
	test_claim_cache__one_copy_of_what_was_written, test_claim_cache__in_flight,
	test_claim_cache__spec_12_14_1_special_claims, test_claim_cache__reads_what_is_there)
