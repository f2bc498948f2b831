/* SPDX-License-Identifier: Apache-2.0 */
#include "server/event_expiry.h"

#include "base/alloc.h"
#include "base/vec.h"

#define DELETIONS_PER_RUN 200

/** One write of an Event. The Event expires at due_ns, unless there is a later write. */
struct written {
	uint64_t rv;
	int64_t due_ns;
	char *key;
};

struct bt_event_expiry {
	struct bt_api *api;
	const struct bt_api_resource *events;
	int64_t ttl_ns;
	BT_VEC(struct written) queue; /* sorted by RV */
	uint32_t first;
};

static void add_event(struct bt_event_expiry *expiry, const struct bt_stored *stored)
{
	struct bt_str key = bt_stored_key(stored);
	int64_t now_ns = bt_api_now_ns(expiry->api);
	struct written written = {
		.rv = stored->rv,
		.due_ns = expiry->ttl_ns < INT64_MAX - now_ns ? now_ns + expiry->ttl_ns : INT64_MAX,
		.key = bt_strndup(key.data, key.length),
	};

	if (expiry->first > 1024 && expiry->first > expiry->queue.count / 2) {
		expiry->queue.count -= expiry->first;
		memmove(expiry->queue.items, expiry->queue.items + expiry->first,
			expiry->queue.count * sizeof(written));
		expiry->first = 0;
	}
	bt_vec_push(&expiry->queue, written);
}

static void changed(void *context, const struct bt_store_change *change)
{
	struct bt_event_expiry *expiry = context;

	if (change->collection == expiry->events->collection && change->type != BT_CHANGE_DELETED) {
		add_event(expiry, change->after);
	}
}

struct bt_event_expiry *bt_event_expiry_create(struct bt_api *api, int64_t ttl_ns)
{
	struct bt_event_expiry *expiry = BT_NEW(struct bt_event_expiry);
	struct bt_store *store = bt_api_store(api);
	const struct bt_stored *stored;

	expiry->api = api;
	expiry->ttl_ns = ttl_ns;
	expiry->events = bt_resources_builtin(bt_api_resources(api), "", "events");
	struct bt_store_walk walk =
		bt_store_walk_current(store, expiry->events->collection, BT_STR(""));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		add_event(expiry, stored);
	}
	bt_store_walk_end(&walk);
	bt_store_on_change(store, changed, expiry);
	return expiry;
}

void bt_event_expiry_destroy(struct bt_event_expiry *expiry)
{
	if (expiry == NULL) {
		return;
	}
	bt_store_off_change(bt_api_store(expiry->api), expiry);
	for (uint32_t i = expiry->first; i < expiry->queue.count; i++) {
		bt_free(expiry->queue.items[i].key);
	}
	bt_vec_finish(&expiry->queue);
	bt_free(expiry);
}

int64_t bt_event_expiry_run(struct bt_event_expiry *expiry)
{
	int64_t now_ns = bt_api_now_ns(expiry->api);
	struct bt_store *store = bt_api_store(expiry->api);

	for (uint32_t deleted = 0;
		expiry->first < expiry->queue.count && deleted < DELETIONS_PER_RUN;) {
		struct written written = expiry->queue.items[expiry->first];
		struct bt_str key = bt_str_from(written.key);

		if (written.due_ns > now_ns) {
			return written.due_ns;
		}
		expiry->first++;
		const struct bt_stored *stored =
			bt_store_find(store, expiry->events->collection, key);
		/*
		 * If the Event was written again, its RV differs, and the queue has a later entry
		 * for that write.
		 */
		if (stored != NULL && stored->rv == written.rv) {
			struct bt_api_request request = BT_API_REQUEST_INIT;
			struct bt_api_answer answer = {0};
			struct bt_arena arena = {0};

			request.verb = BT_VERB_DELETE;
			request.resource = expiry->events;
			request.namespace_ = bt_key_namespace(key);
			request.name = bt_key_name(key);
			bt_api_perform(expiry->api, &request, &arena, &answer);
			bt_api_answer_finish(&answer);
			bt_arena_finish(&arena);
			deleted++;
		}
		bt_free(written.key);
	}
	return expiry->first < expiry->queue.count ? now_ns : INT64_MAX;
}
