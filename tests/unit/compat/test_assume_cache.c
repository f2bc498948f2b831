/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 07 section 3: both kinds of assume caches. */
#include "berth/assume_cache.h"

#include <stdlib.h>

#include "cluster.h"

static struct berth_object *claim_object(const char *name, const char *version, const char *owner)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s',"
		"'namespace':'d','resourceVersion':'%s','labels':{'owner':'%s'}},'spec':{}}",
		name, version, owner);
	return cluster_object(text);
}

static const struct berth_str *index_by_owner(void *context, const struct berth_object *object,
	struct berth_arena *arena, uint32_t *out_count)
{
	struct berth_str *values = berth_arena_alloc(arena, sizeof(*values));

	(void)context;
	values[0] = berth_object_label(object, BERTH_STR("owner"));
	*out_count = 1;
	return values;
}

/** The events that handlers received: a letter and the version of each. */
struct heard {
	char text[256];
	struct berth_assume_cache *cache; /* changed by the handler of the first add */
};

static void hear(struct heard *heard, char what, const struct berth_object *object)
{
	size_t length = strlen(heard->text);

	(void)snprintf(heard->text + length, sizeof(heard->text) - length, " %c%.*s", what,
		BERTH_STR_ARG(berth_object_resource_version(object)));
}

static void on_add(void *context, const struct berth_object *object, bool is_initial)
{
	struct heard *heard = context;

	hear(heard, is_initial ? 'i' : 'a', object);
	if (heard->cache != NULL) {
		struct berth_assume_cache *cache = heard->cache;

		heard->cache = NULL;
		berth_assume_cache_delete(cache, BERTH_STR("d/c"));
	}
}

static void on_update(
	void *context, const struct berth_object *old_object, const struct berth_object *new_object)
{
	(void)old_object;
	hear(context, 'u', new_object);
}

static void on_delete(void *context, const struct berth_object *old_object)
{
	hear(context, 'd', old_object);
}

static void expect_version(
	const struct berth_assume_cache *cache, const char *latest, const char *api)
{
	struct berth_object *object = NULL;

	ck_assert_int_eq(berth_assume_cache_get(cache, BERTH_STR("d/a"), &object, NULL), 0);
	cluster_expect(berth_object_resource_version(object), latest);
	ck_assert_int_eq(berth_assume_cache_get_api_obj(cache, BERTH_STR("d/a"), &object, NULL), 0);
	cluster_expect(berth_object_resource_version(object), api);
}

static void expect_assume_error(struct berth_assume_cache *cache, const char *name,
	const char *version, int code, const char *text)
{
	struct berth_object *object = claim_object(name, version, "x");
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_assume_cache_assume(cache, object, &err), code);
	ck_assert_str_eq(berth_error_message(&err), text);
	berth_error_finish(&err);
	berth_object_release(object);
}

static bool put(
	struct berth_assume_cache *cache, const char *name, const char *version, const char *owner)
{
	struct berth_object *object = claim_object(name, version, owner);
	bool accepted = berth_assume_cache_put(cache, object);

	berth_object_release(object);
	return accepted;
}

/* seed-map 004.23, 004.24, 004.25, 004.26, 004.27, 004.28 */
START_TEST(test_assume_cache__assume_restore_get)
{
	struct berth_assume_cache *cache =
		berth_assume_cache_create("ResourceClaim", NULL, NULL, NULL);
	struct heard heard = {.text = ""};
	struct berth_assume_cache_handler handler = {&heard, on_add, on_update, on_delete};
	struct berth_object *assumed = claim_object("a", "7", "x");
	struct berth_object *missing = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert(put(cache, "a", "5", "x"));
	berth_assume_cache_add_event_handler(cache, &handler);
	ck_assert(!put(cache, "a", "5", "x")); /* not newer */
	ck_assert(!put(cache, "a", "x9", "x"));
	ck_assert_int_eq(berth_assume_cache_assume(cache, assumed, NULL), 0);
	expect_version(cache, "7", "5");
	ck_assert(!put(cache, "a", "6", "x"));
	expect_version(cache, "7", "5");
	berth_assume_cache_restore(cache, BERTH_STR("d/a"));
	berth_assume_cache_restore(cache, BERTH_STR("d/a"));
	berth_assume_cache_restore(cache, BERTH_STR("d/nobody"));
	expect_version(cache, "5", "5");
	ck_assert_int_eq(berth_assume_cache_assume(cache, assumed, NULL), 0);
	ck_assert(put(cache, "a", "8", "x"));
	expect_version(cache, "8", "8");
	ck_assert_str_eq(heard.text, " i5 u7 u5 u7 u8");
	expect_assume_error(cache, "a", "7", BERTH_ERR_STATE,
		"ResourceClaim \"d/a\" is out of sync (stored: 8, assume: 7)");
	expect_assume_error(
		cache, "b", "7", BERTH_ERR_NOT_FOUND, "could not find ResourceClaim \"d/b\"");
	expect_assume_error(cache, "a", "7b", BERTH_ERR_INVALID,
		"error parsing ResourceVersion \"7b\" for ResourceClaim \"d/a\": "
		"strconv.ParseInt: parsing \"7b\": invalid syntax");
	expect_assume_error(cache, "a", "9223372036854775808", BERTH_ERR_INVALID,
		"error parsing ResourceVersion \"9223372036854775808\" for ResourceClaim \"d/a\": "
		"strconv.ParseInt: parsing \"9223372036854775808\": value out of range");
	berth_assume_cache_delete(cache, BERTH_STR("d/a"));
	ck_assert_int_eq(berth_assume_cache_get(cache, BERTH_STR("d/a"), &missing, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "could not find ResourceClaim \"d/a\"");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_assume_cache_get_api_obj(cache, BERTH_STR("d/a"), &missing, NULL),
		BERTH_ERR_NOT_FOUND);
	berth_object_release(assumed);
	berth_assume_cache_destroy(cache);
	berth_assume_cache_destroy(NULL);
}
END_TEST

/* seed-map 004.29 */
START_TEST(test_assume_cache__list_by_index)
{
	struct berth_assume_cache *cache =
		berth_assume_cache_create("claim", "owner", index_by_owner, NULL);
	struct berth_assume_cache *plain = berth_assume_cache_create("claim", NULL, NULL, NULL);
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *of_ann = claim_object("?", "1", "ann");
	struct berth_object *moved = claim_object("b", "3", "ann");
	uint32_t count = 0;

	cluster_expect(berth_assume_cache_index_name(cache), "owner");
	cluster_expect(berth_assume_cache_index_name(plain), "");
	ck_assert(put(cache, "a", "1", "ann"));
	ck_assert(put(cache, "b", "2", "bob"));
	ck_assert(put(plain, "a", "1", "ann"));
	(void)berth_assume_cache_list(cache, NULL, arena, &count);
	ck_assert_uint_eq(count, 2);
	cluster_expect(
		berth_object_name(berth_assume_cache_list(cache, of_ann, arena, &count)[0]), "a");
	ck_assert_uint_eq(count, 1);
	/* The index uses the assumed version of an object. */
	ck_assert_int_eq(berth_assume_cache_assume(cache, moved, NULL), 0);
	(void)berth_assume_cache_list(cache, of_ann, arena, &count);
	ck_assert_uint_eq(count, 2);
	(void)berth_assume_cache_list(plain, moved, arena, &count);
	ck_assert_uint_eq(count, 1);
	berth_object_release(of_ann);
	berth_object_release(moved);
	berth_assume_cache_destroy(cache);
	berth_assume_cache_destroy(plain);
	berth_arena_destroy(arena);
}
END_TEST

START_TEST(test_assume_cache__changes_by_handlers_come_after)
{
	struct berth_assume_cache *cache = berth_assume_cache_create("claim", NULL, NULL, NULL);
	struct heard first = {.cache = cache};
	struct heard second = {.text = ""};
	struct berth_assume_cache_handler handlers[] = {
		{&first, on_add, on_update, on_delete},
		{&second, on_add, on_update, on_delete},
	};

	berth_assume_cache_add_event_handler(cache, &handlers[0]);
	berth_assume_cache_add_event_handler(cache, &handlers[1]);
	ck_assert(put(cache, "c", "4", "x"));
	ck_assert_str_eq(first.text, " a4 d4");
	ck_assert_str_eq(second.text, " a4 d4");
	berth_assume_cache_delete(cache, BERTH_STR("d/c"));
	ck_assert_str_eq(second.text, " a4 d4");
	berth_assume_cache_destroy(cache);
}
END_TEST

/** Context of join: a handler that the first add adds. */
struct joining {
	struct berth_assume_cache *cache;
	struct berth_assume_cache_handler handler;
	bool is_done;
};

static void join(void *context, const struct berth_object *object, bool is_initial)
{
	struct joining *joining = context;

	(void)object;
	(void)is_initial;
	if (!joining->is_done) {
		joining->is_done = true;
		berth_assume_cache_add_event_handler(joining->cache, &joining->handler);
	}
}

START_TEST(test_assume_cache__handlers_get_no_change_before_their_list)
{
	struct berth_assume_cache *cache = berth_assume_cache_create("claim", NULL, NULL, NULL);
	struct heard heard = {.text = ""};
	struct joining joining = {cache, {&heard, on_add, on_update, on_delete}, false};
	struct berth_assume_cache_handler handler = {&joining, join, NULL, NULL};

	berth_assume_cache_add_event_handler(cache, &handler);
	ck_assert(put(cache, "c", "4", "x"));
	ck_assert_str_eq(heard.text, " i4");
	ck_assert(put(cache, "c", "5", "x"));
	ck_assert_str_eq(heard.text, " i4 u5");
	berth_assume_cache_destroy(cache);
}
END_TEST

#define VOLUME(name, version, class_) \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name \
	"','resourceVersion':'" version "'},'spec':{'capacity':{'storage':'5Gi'}," \
	"'storageClassName':'" class_ "'}}"
#define CLAIM(version, volume) \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c'," \
	"'namespace':'d','resourceVersion':'" version "'},'spec':{'volumeName':'" volume "'}}"

/* seed-map 004.30, 004.31, 004.32, 004.33, 004.34 */
START_TEST(test_assume_cache__volumes)
{
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	const struct berth_handle *handle = berth_framework_handle(cluster_framework(engine));
	struct berth_pv_assume_cache *cache = berth_pv_assume_cache_create(handle);
	struct berth_arena *arena = berth_arena_create();
	struct berth_object *assumed = cluster_object(VOLUME("v", "a", "slow"));
	struct berth_object *late = cluster_object(VOLUME("v", "9", "slow"));
	const struct berth_pv *pv = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t count = 0;

	ck_assert_int_eq(berth_pv_assume_cache_get_pv(cache, BERTH_STR("v"), &pv, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "persistentvolumes \"v\" not found");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_pv_assume_cache_assume(cache, assumed, NULL), BERTH_ERR_NOT_FOUND);
	cluster_put(engine, VOLUME("v", "a", "fast"));
	cluster_put(engine, VOLUME("w", "1", "fast"));
	ck_assert_int_eq(berth_pv_assume_cache_assume(cache, late, &err), BERTH_ERR_STATE);
	ck_assert_str_eq(berth_error_message(&err), "\"v\" is out of sync (stored: a, assume: 9)");
	berth_error_finish(&err);
	ck_assert_int_eq(berth_pv_assume_cache_assume(cache, assumed, NULL), 0);
	ck_assert_int_eq(berth_pv_assume_cache_get_pv(cache, BERTH_STR("v"), &pv, NULL), 0);
	cluster_expect(berth_pv_class(pv), "slow");
	ck_assert_int_eq(berth_pv_capacity_bytes(pv), INT64_C(5) << 30);
	ck_assert_int_eq(berth_pv_assume_cache_get_api_pv(cache, BERTH_STR("v"), &pv, NULL), 0);
	cluster_expect(berth_pv_class(pv), "fast");
	/*
	 * Volumes are listed by the class of the stored version, but returned in the assumed
	 * version.
	 */
	const struct berth_pv *const *list =
		berth_pv_assume_cache_list_pvs(cache, BERTH_STR("fast"), arena, &count);
	ck_assert_uint_eq(count, 2);
	cluster_expect(berth_pv_class(list[0]), "slow");
	(void)berth_pv_assume_cache_list_pvs(cache, BERTH_STR("slow"), arena, &count);
	ck_assert_uint_eq(count, 0);
	berth_pv_assume_cache_restore(cache, berth_object_pv(late)); /* not assumed: no effect */
	ck_assert_int_eq(berth_pv_assume_cache_get_pv(cache, BERTH_STR("v"), &pv, NULL), 0);
	cluster_expect(berth_pv_class(pv), "slow");
	berth_pv_assume_cache_restore(cache, berth_object_pv(assumed));
	ck_assert_int_eq(berth_pv_assume_cache_get_pv(cache, BERTH_STR("v"), &pv, NULL), 0);
	cluster_expect(berth_pv_class(pv), "fast");
	/* Any newer version in the store ends an assumption. */
	ck_assert_int_eq(berth_pv_assume_cache_assume(cache, assumed, NULL), 0);
	cluster_put(engine, VOLUME("v", "b", "fast"));
	ck_assert_int_eq(berth_pv_assume_cache_get_pv(cache, BERTH_STR("v"), &pv, NULL), 0);
	cluster_expect(berth_pv_resource_version(pv), "b");
	berth_object_release(assumed);
	berth_object_release(late);
	berth_pv_assume_cache_destroy(cache);
	berth_arena_destroy(arena);
	berth_engine_destroy(engine);
}
END_TEST

/* seed-map 004.35, 004.36, 004.37, 004.38 */
START_TEST(test_assume_cache__claims)
{
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	const struct berth_handle *handle = berth_framework_handle(cluster_framework(engine));
	struct berth_pvc_assume_cache *cache = berth_pvc_assume_cache_create(handle);
	struct berth_object *assumed = cluster_object(CLAIM("3", "assumed"));
	struct berth_object *volume = cluster_object(VOLUME("v", "3", "fast"));
	const struct berth_pvc *pvc = NULL;
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_pvc_assume_cache_get_pvc(cache, BERTH_STR("d/c"), &pvc, &err),
		BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(berth_error_message(&err), "persistentvolumeclaims \"d/c\" not found");
	berth_error_finish(&err);
	cluster_put(engine, CLAIM("3", "stored"));
	ck_assert_int_eq(berth_pvc_assume_cache_assume(cache, volume, NULL), BERTH_ERR_INVALID);
	ck_assert_int_eq(berth_pvc_assume_cache_assume(cache, assumed, NULL), 0);
	ck_assert_int_eq(berth_pvc_assume_cache_get_pvc(cache, BERTH_STR("d/c"), &pvc, NULL), 0);
	cluster_expect(berth_pvc_volume_name(pvc), "assumed");
	ck_assert_int_eq(
		berth_pvc_assume_cache_get_api_pvc(cache, BERTH_STR("d/c"), &pvc, NULL), 0);
	cluster_expect(berth_pvc_volume_name(pvc), "stored");
	ck_assert_int_eq(berth_pvc_assume_cache_get_api_pvc(cache, BERTH_STR("c"), &pvc, NULL),
		BERTH_ERR_NOT_FOUND);
	berth_pvc_assume_cache_restore(cache, berth_object_pvc(assumed));
	ck_assert_int_eq(berth_pvc_assume_cache_get_pvc(cache, BERTH_STR("d/c"), &pvc, NULL), 0);
	cluster_expect(berth_pvc_volume_name(pvc), "stored");
	berth_object_release(assumed);
	berth_object_release(volume);
	berth_pvc_assume_cache_destroy(cache);
	berth_engine_destroy(engine);
}
END_TEST

BT_TEST_MAIN("lib_assume_cache", test_assume_cache__assume_restore_get,
	test_assume_cache__list_by_index, test_assume_cache__changes_by_handlers_come_after,
	test_assume_cache__handlers_get_no_change_before_their_list,
	test_assume_cache__volumes, test_assume_cache__claims)
