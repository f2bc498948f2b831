/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/reflector.h"

#include "api/object.h"
#include "api/pod.h"
#include "base/alloc.h"
#include "lib/convert.h"
#include "state/object_store.h"

#define SECOND INT64_C(1000000000)
#define BACKOFF_FIRST_NS (SECOND / 10 * 8)
#define BACKOFF_MAX_NS (30 * SECOND)
#define BACKOFF_RESET_NS (120 * SECOND)
#define PAGE_LIMIT 500

struct berth_reflector {
	struct berth_cache *cache;
	enum bt_kind kind;
	struct bt_object_store objects; /* the objects that the server has, as far as known */
	struct bt_strbuf version;       /* last resourceVersion received */
	bool unavailable;               /* the server refused a list at `version` */
	bool paginated;                 /* the server splits lists at version "0" into pages */
	bool is_watching;               /* the next step is a watch, not a list */
	bool takes_version;             /* an ADDED event also sets `version` */
	bool had_event;                 /* the current watch has delivered an event */
	int64_t backoff_ns;             /* duration of the next backoff; 0: the initial duration */
	int64_t backoff_at_ns;          /* time of the last backoff */
};

struct berth_reflector *berth_reflector_create(
	struct berth_cache *cache, enum berth_reflector_resource resource)
{
	struct berth_reflector *reflector = BT_NEW(struct berth_reflector);

	reflector->cache = cache;
	reflector->kind = resource == BERTH_REFLECTOR_PODS ? BT_KIND_POD : BT_KIND_NODE;
	bt_object_store_init(&reflector->objects);
	return reflector;
}

void berth_reflector_destroy(struct berth_reflector *reflector)
{
	if (reflector == NULL) {
		return;
	}
	bt_object_store_finish(&reflector->objects);
	bt_strbuf_finish(&reflector->version);
	bt_free(reflector);
}

static struct bt_object *find(const struct berth_reflector *reflector,
	const struct bt_object_store *objects, const struct bt_object_meta *meta)
{
	return bt_object_store_find_object(objects, reflector->kind, meta->namespace_, meta->name);
}

/**
 * Sets *result and err to the error of an operation, unless an earlier operation failed. Empties
 * fresh_err.
 */
static void keep_first_error(
	int *result, int fresh, struct berth_error *err, struct berth_error *fresh_err)
{
	if (fresh != BERTH_OK && *result == BERTH_OK) {
		*result = bt_error_move(err, fresh_err);
	}
	berth_error_finish(fresh_err);
}

/**
 * Returns the pod if it belongs in the cache, because it is assigned and not terminal; else NULL.
 */
static const struct bt_pod *counted_pod(const struct bt_object *object)
{
	const struct bt_pod *pod = object != NULL ? object->value : NULL;

	return pod != NULL && pod->spec.node_name.length != 0 && !bt_pod_is_terminal(pod) ? pod
											  : NULL;
}

/**
 * Tells the cache about a change. before NULL: the object is new; after NULL: the object was
 * deleted.
 */
static int change(struct berth_reflector *reflector, struct bt_object *before,
	struct bt_object *after, struct berth_error *err)
{
	struct berth_cache *cache = reflector->cache;

	if (reflector->kind != BT_KIND_POD) {
		const struct berth_node *old_node = berth_object_node(berth_object_of(before));

		return after == NULL ? berth_cache_remove_node(cache, old_node, err)
			: before == NULL
			? berth_cache_add_node(cache, berth_object_of(after), err)
			: berth_cache_update_node(cache, old_node, berth_object_of(after), err);
	}
	const struct bt_pod *old_pod = counted_pod(before);
	const struct bt_pod *new_pod = counted_pod(after);
	struct berth_error fresh = BERTH_ERROR_INIT;
	int result = BERTH_OK;

	if (old_pod != NULL && new_pod != NULL &&
		bt_str_equal(old_pod->metadata.uid, new_pod->metadata.uid)) {
		return berth_cache_update_pod(
			cache, berth_const_pod_of(old_pod), berth_object_of(after), err);
	}
	/* The pod was deleted, and another pod with the same name was created. */
	if (old_pod != NULL) {
		keep_first_error(&result,
			berth_cache_remove_pod(cache, berth_const_pod_of(old_pod), &fresh), err,
			&fresh);
	}
	if (new_pod != NULL) {
		keep_first_error(&result,
			berth_cache_add_pod(cache, berth_object_of(after), &fresh), err, &fresh);
	}
	return result;
}

static bool is_any_version(struct bt_str version)
{
	return version.length == 0 || bt_str_equal_c(version, "0");
}

enum berth_reflector_step berth_reflector_step(const struct berth_reflector *reflector)
{
	return reflector->is_watching ? BERTH_REFLECTOR_WATCH : BERTH_REFLECTOR_LIST;
}

struct berth_str berth_reflector_resource_version(const struct berth_reflector *reflector)
{
	struct bt_str version = bt_strbuf_str(&reflector->version);

	if (reflector->is_watching) {
		return version;
	}
	if (reflector->unavailable) {
		return BT_STR("");
	}
	return version.length == 0 ? BT_STR("0") : version;
}

uint32_t berth_reflector_list_limit(const struct berth_reflector *reflector)
{
	return is_any_version(berth_reflector_resource_version(reflector)) || reflector->paginated
		? PAGE_LIMIT
		: 0;
}

static int check_kind(const struct berth_reflector *reflector, const struct berth_object *object,
	struct berth_error *err)
{
	return object != NULL && bt_const_object_of(object)->kind == reflector->kind
		? BERTH_OK
		: bt_error_set(err, BERTH_ERR_INVALID, "object is no %s",
			  bt_kind_info(reflector->kind)->name);
}

int berth_reflector_replace(struct berth_reflector *reflector, struct berth_object *const *objects,
	uint32_t count, struct berth_str resource_version, bool paged, struct berth_error *err)
{
	struct berth_error fresh = BERTH_ERROR_INIT;
	int result = BERTH_OK;

	for (uint32_t i = 0; i < count && result == BERTH_OK; i++) {
		result = check_kind(reflector, objects[i], err);
	}
	if (result != BERTH_OK) {
		return result;
	}
	if (paged && bt_str_equal_c(berth_reflector_resource_version(reflector), "0")) {
		reflector->paginated = true;
	}
	struct bt_object_store before = reflector->objects;
	const struct bt_object_meta *meta;
	uint32_t cursor = 0;

	bt_object_store_init(&reflector->objects);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_object *object = bt_object_of(objects[i]);
		struct bt_object *known = find(reflector, &reflector->objects, object->meta);

		known = known != NULL ? known : find(reflector, &before, object->meta);
		keep_first_error(&result, change(reflector, known, object, &fresh), err, &fresh);
		bt_object_store_put(&reflector->objects, bt_object_share(object));
	}
	while ((meta = bt_object_store_next(
			&before, reflector->kind, (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		if (find(reflector, &reflector->objects, meta) == NULL) {
			keep_first_error(&result,
				change(reflector, find(reflector, &before, meta), NULL, &fresh),
				err, &fresh);
		}
	}
	bt_object_store_finish(&before);
	bt_strbuf_set(&reflector->version, resource_version);
	reflector->unavailable = false;
	reflector->is_watching = true;
	reflector->takes_version = !is_any_version(resource_version);
	reflector->had_event = false;
	return result;
}

int berth_reflector_event(struct berth_reflector *reflector, enum berth_watch_event type,
	struct berth_object *object, struct berth_error *err)
{
	int result = check_kind(reflector, object, err);

	if (result != BERTH_OK) {
		return result;
	}
	const struct bt_object_meta *meta = bt_object_of(object)->meta;
	struct bt_object *known = find(reflector, &reflector->objects, meta);
	reflector->had_event = true;
	/*
	 * A watch at version "0" begins with ADDED events for the existing objects. They are not in
	 * the order of versions, so the version must not be taken from them.
	 */
	reflector->takes_version |= type != BERTH_WATCH_ADDED;
	if (reflector->takes_version) {
		bt_strbuf_set(&reflector->version, meta->resource_version);
	}
	switch (type) {
	case BERTH_WATCH_ADDED:
	case BERTH_WATCH_MODIFIED:
		result = change(reflector, known, bt_object_of(object), err);
		bt_object_store_put(&reflector->objects, bt_object_share(bt_object_of(object)));
		break;
	case BERTH_WATCH_DELETED:
		if (known != NULL) {
			result = change(reflector, known, NULL, err);
			(void)bt_object_store_delete(
				&reflector->objects, reflector->kind, meta->namespace_, meta->name);
		}
		break;
	case BERTH_WATCH_BOOKMARK:
		break;
	}
	return result;
}

void berth_reflector_watch_ended(struct berth_reflector *reflector, int64_t lasted_ns)
{
	if (!reflector->had_event && lasted_ns < SECOND) {
		berth_reflector_failed(reflector, BERTH_REFLECTOR_OTHER);
	}
	reflector->had_event = false;
	reflector->takes_version = !is_any_version(bt_strbuf_str(&reflector->version));
}

void berth_reflector_failed(struct berth_reflector *reflector, enum berth_reflector_failure failure)
{
	switch (failure) {
	case BERTH_REFLECTOR_GONE:
		/*
		 * After a watch, list at the version of the watch; if that list fails too, list the
		 * newest version.
		 */
		reflector->unavailable = !reflector->is_watching;
		reflector->is_watching = false;
		break;
	case BERTH_REFLECTOR_RETRY:
		break;
	case BERTH_REFLECTOR_OTHER:
		reflector->is_watching = false;
		break;
	}
	reflector->had_event = false;
}

int64_t berth_reflector_backoff_ns(struct berth_reflector *reflector, int64_t now_ns, double random)
{
	int64_t base = reflector->backoff_ns;
	double part = random >= 0 && random < 1 ? random : 0;

	if (base == 0 || now_ns - reflector->backoff_at_ns > BACKOFF_RESET_NS) {
		base = BACKOFF_FIRST_NS;
	}
	reflector->backoff_at_ns = now_ns;
	reflector->backoff_ns = base * 2 < BACKOFF_MAX_NS ? base * 2 : BACKOFF_MAX_NS;
	return base + (int64_t)((double)base * part);
}

uint32_t berth_reflector_count(const struct berth_reflector *reflector)
{
	return bt_object_store_count(&reflector->objects, reflector->kind);
}

struct berth_object *berth_reflector_find(const struct berth_reflector *reflector,
	struct berth_str object_namespace, struct berth_str name)
{
	return berth_object_of(bt_object_store_find_object(
		&reflector->objects, reflector->kind, object_namespace, name));
}
