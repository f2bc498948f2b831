/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/hub.h"

#include <string.h>

#include "codec/json_edit.h"

/* --- changes --- */

/** Inside of the commit: take a note, nothing else. */
static void take_note(void *context, const struct bt_store_change *change)
{
	struct bt_hub *hub = context;
	struct bt_hub_note note = {
		.type = change->type,
		.collection = change->collection,
		.before = change->before != NULL ? bt_stored_share(change->before) : NULL,
		.after = bt_stored_share(change->after),
	};

	bt_vec_push(&hub->notes, note);
}

/** "apps/replicasets", "pods", or "*" for every resource. */
static bool names_resource(const char *pattern, const struct bt_api_resource *resource)
{
	size_t group_length = strlen(resource->group);

	if (strcmp(pattern, "*") == 0) {
		return true;
	}
	if (group_length == 0) {
		return strcmp(pattern, resource->name) == 0;
	}
	return strncmp(pattern, resource->group, group_length) == 0 &&
		pattern[group_length] == '/' &&
		strcmp(pattern + group_length + 1, resource->name) == 0;
}

static const struct bt_hub_interest *interest_in(struct bt_hub *hub, uint32_t collection)
{
	const struct bt_resources *resources = bt_api_resources(hub->api);
	struct bt_hub_interest *interest;

	if (hub->interests_generation != bt_resources_generation(resources)) {
		hub->interests_generation = bt_resources_generation(resources);
		hub->interests.count = 0;
	}
	while (hub->interests.count <= collection) {
		struct bt_hub_interest unknown = {.known = false};
		bt_vec_push(&hub->interests, unknown);
	}
	interest = &hub->interests.items[collection];
	if (interest->known) {
		return interest;
	}
	interest->known = true;
	interest->resource = bt_resources_of_collection(resources, collection);
	for (uint32_t i = 0; interest->resource != NULL && i < hub->member_count; i++) {
		const char *const *pattern = hub->members[i].ops->resources;
		for (; *pattern != NULL; pattern++) {
			if (names_resource(*pattern, interest->resource)) {
				interest->members |= UINT64_C(1) << i;
			}
		}
	}
	return interest;
}

static void look_at(struct bt_hub *hub, const struct bt_hub_note *note)
{
	const struct bt_hub_interest *found = interest_in(hub, note->collection);
	struct bt_hub_interest interest = *found;
	bool is_pod = note->collection == hub->pod_collection;
	uint32_t current = hub->current;
	struct bt_observed observed = {
		.resource = interest.resource,
		.type = note->type,
		.key = bt_stored_key(note->after),
	};

	if (interest.resource == NULL || (interest.members == 0 && !is_pod)) {
		return;
	}
	observed.after = bt_api_parse_stored(note->after, &hub->note_arena);
	if (observed.after == NULL) {
		return;
	}
	if (note->before != NULL && note->type == BT_CHANGE_MODIFIED) {
		observed.before = bt_api_parse_stored(note->before, &hub->note_arena);
	} else if (note->type == BT_CHANGE_DELETED) {
		observed.before = observed.after;
	}
	if (is_pod) {
		bt_pod_index_observe(&hub->pods, note->type, observed.key, observed.after);
	}
	for (uint64_t left = interest.members; left != 0; left &= left - 1) {
		const struct bt_hub_member *member;
		hub->current = BT_CTZ64(left);
		member = &hub->members[hub->current];
		if (member->ops->observe != NULL) {
			member->ops->observe(member->self, hub, &observed);
		}
	}
	hub->current = current;
	bt_arena_reset(&hub->note_arena);
}

/* --- turns --- */

/** The next controller that has something to do; false: none has. */
static bool next_turn(struct bt_hub *hub)
{
	for (uint32_t i = 1; i <= hub->member_count; i++) {
		uint32_t member = (hub->current + i) % hub->member_count;
		if (hub->queue.ready_count[member] != 0) {
			hub->current = member;
			hub->turn_left = hub->queue.ready_count[member];
			return true;
		}
	}
	return false;
}

int64_t bt_controllers_run(struct bt_controllers *controllers, int64_t now_ns)
{
	struct bt_hub *hub = &controllers->hub;

	hub->now_ns = now_ns;
	hub->work = 0;
	for (;;) {
		for (uint32_t i = 0; i < hub->notes.count; i++) {
			struct bt_hub_note note = hub->notes.items[i];
			look_at(hub, &note);
			bt_stored_release(note.before);
			bt_stored_release(note.after);
		}
		/* A burst (or the start) must not keep its memory forever. */
		if (hub->notes.capacity > 65536) {
			bt_vec_finish(&hub->notes);
		}
		hub->notes.count = 0;
		bt_hub_queue_promote(&hub->queue, now_ns);
		if (hub->turn_left == 0 && (hub->member_count == 0 || !next_turn(hub))) {
			return bt_hub_queue_next_due(&hub->queue);
		}
		if (hub->work >= BT_HUB_WORK_PER_RUN) {
			return now_ns;
		}
		const struct bt_hub_member *member = &hub->members[hub->current];
		uint32_t slot = bt_hub_queue_take(&hub->queue, hub->current);
		const struct bt_hub_item *item = &hub->queue.items.items[slot];
		struct bt_str key = {item->key, item->key_length};
		bool succeeded;

		hub->turn_left--;
		hub->work++;
		succeeded =
			member->ops->sync(member->self, hub, key, &hub->sync_arena, hub->now_ns);
		bt_arena_reset(&hub->sync_arena);
		bt_hub_queue_done(&hub->queue, slot, succeeded, hub->now_ns);
	}
}

bool bt_controllers_have_work(const struct bt_controllers *controllers)
{
	const struct bt_hub *hub = &controllers->hub;

	return hub->notes.count != 0 || hub->turn_left != 0 || bt_hub_queue_has_work(&hub->queue);
}

/* --- what controllers ask --- */

void bt_hub_enqueue(struct bt_hub *hub, struct bt_str key)
{
	bt_hub_queue_add(&hub->queue, hub->current, key);
}

void bt_hub_enqueue_at(struct bt_hub *hub, struct bt_str key, int64_t at_ns)
{
	bt_hub_queue_add_at(&hub->queue, hub->current, key, at_ns);
}

void bt_hub_enqueue_periodic(struct bt_hub *hub, struct bt_str key, int64_t at_ns)
{
	bt_hub_queue_add_periodic(&hub->queue, hub->current, key, at_ns);
}

void bt_hub_cancel_delay(struct bt_hub *hub, struct bt_str key)
{
	bt_hub_queue_cancel_delay(&hub->queue, hub->current, key);
}

struct bt_api *bt_hub_api(const struct bt_hub *hub)
{
	return hub->api;
}

const struct bt_controllers_options *bt_hub_options(const struct bt_hub *hub)
{
	return &hub->options;
}

int64_t bt_hub_now_ns(const struct bt_hub *hub)
{
	return hub->now_ns;
}

/* --- switching on --- */

static void add_member(struct bt_hub *hub, const struct bt_controller_ops *ops)
{
	static const struct bt_str groups[] = {
		BT_STR_INIT("system:masters"),
		BT_STR_INIT("system:serviceaccounts"),
		BT_STR_INIT("system:serviceaccounts:kube-system"),
		BT_STR_INIT("system:authenticated"),
	};
	struct bt_hub_member *member = &hub->members[hub->member_count];
	struct bt_strbuf name = {0};

	bt_strbuf_printf(&name, "system:serviceaccount:kube-system:%s", ops->name);
	member->ops = ops;
	member->user_name = bt_strbuf_steal(&name);
	member->user = (struct bt_user){
		.name = bt_str_from(member->user_name),
		.group_count = (uint32_t)BT_ARRAY_LENGTH(groups),
		.groups = groups,
	};
	hub->current = hub->member_count++;
	member->self = ops->create != NULL ? ops->create(hub) : NULL;
}

int bt_controllers_create(struct bt_api *api, const struct bt_controllers_options *options,
	struct bt_controllers **out_controllers, struct berth_error *err)
{
	struct bt_controllers *controllers;
	struct bt_hub *hub;
	int code = bt_controllers_check_names(options, err);

	if (code != 0) {
		return code;
	}
	controllers = BT_NEW(struct bt_controllers);
	hub = &controllers->hub;
	hub->api = api;
	hub->store = bt_api_store(api);
	hub->now_ns = bt_api_now_ns(api);
	hub->options = *options;
	hub->names = BT_NEW_ARRAY(char *, options->name_count);
	for (uint32_t i = 0; i < options->name_count; i++) {
		hub->names[i] = bt_strndup(options->names[i], strlen(options->names[i]));
	}
	hub->options.names = (const char *const *)hub->names;
	bt_hub_queue_init(&hub->queue);
	bt_pod_index_init(&hub->pods);
	hub->pod_collection = bt_resources_builtin(bt_api_resources(api), "", "pods")->collection;
	for (const struct bt_controller_row *row = bt_controller_rows; row->name != NULL; row++) {
		if (bt_controllers_has(options, row->name)) {
			BT_ASSERT(hub->member_count < BT_HUB_CONTROLLERS_MAX);
			add_member(hub, row->ops);
		}
	}
	/* The first turn is the first member's. */
	hub->current = hub->member_count != 0 ? hub->member_count - 1 : 0;
	/* What there is already comes as added. */
	uint32_t count = bt_store_collection_count(hub->store);

	for (uint32_t collection = 0; collection < count; collection++) {
		struct bt_store_walk walk;
		struct bt_stored *stored;

		if (bt_store_walk_begin(
			    hub->store, collection, 0, BT_STR(""), BT_STR(""), &walk, NULL) != 0) {
			continue;
		}
		while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
			struct bt_hub_note note = {
				.type = BT_CHANGE_ADDED,
				.collection = collection,
				.after = bt_stored_share(stored),
			};
			bt_vec_push(&hub->notes, note);
		}
		bt_store_walk_end(&walk);
	}
	bt_store_on_change(hub->store, take_note, hub);
	*out_controllers = controllers;
	return 0;
}

void bt_controllers_destroy(struct bt_controllers *controllers)
{
	struct bt_hub *hub;

	if (controllers == NULL) {
		return;
	}
	hub = &controllers->hub;
	bt_store_off_change(hub->store, hub);
	for (uint32_t i = 0; i < hub->member_count; i++) {
		if (hub->members[i].ops->destroy != NULL) {
			hub->members[i].ops->destroy(hub->members[i].self);
		}
		bt_free(hub->members[i].user_name);
	}
	for (uint32_t i = 0; i < hub->notes.count; i++) {
		bt_stored_release(hub->notes.items[i].before);
		bt_stored_release(hub->notes.items[i].after);
	}
	bt_vec_finish(&hub->notes);
	bt_vec_finish(&hub->interests);
	bt_hub_queue_finish(&hub->queue);
	bt_pod_index_finish(&hub->pods);
	bt_hub_events_finish(hub);
	for (uint32_t i = 0; i < hub->options.name_count; i++) {
		bt_free(hub->names[i]);
	}
	bt_free(hub->names);
	bt_arena_finish(&hub->note_arena);
	bt_arena_finish(&hub->sync_arena);
	bt_arena_finish(&hub->event_arena);
	bt_free(controllers);
}
