/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/owners.h"

#include <inttypes.h>
#include <string.h>

#include "api/time.h"
#include "base/nanoseconds.h"
#include "base/unicode.h"
#include "codec/json_edit.h"

const struct bt_controller_row bt_controller_rows[] = {
#define BT_CONTROLLER(name, ops) {(name), &(ops)},
#include "cluster/controllers.def"
#undef BT_CONTROLLER
	{NULL, NULL},
};

static const struct {
	const char *group;
	const char *name;
} kind_names[] = {
#define BT_HUB_KIND(kind, group_, name_) [kind] = {(group_), (name_)},
#include "cluster/hub_kinds.def"
#undef BT_HUB_KIND
};

const struct bt_controllers_options bt_controllers_default_options = {
	.pod_start_delay_ns = BT_NS_PER_SECOND,
	.pod_stop_delay_ns = BT_NS_PER_SECOND,
	.provision_delay_ns = BT_NS_PER_SECOND,
	.job_run_time_ns = INT64_C(5000000000),
};

bool bt_controllers_has(const struct bt_controllers_options *options, const char *name)
{
	bool has_all = false;
	bool has_names = false;
	for (uint32_t i = 0; i < options->name_count; i++) {
		struct bt_str rest = bt_str_from(options->names[i]);
		while (rest.length != 0) {
			struct bt_str wanted = bt_str_cut(&rest, ',');
			bool is_off = bt_str_has_prefix(wanted, BT_STR("-"));
			if (bt_str_equal_c(bt_str_sub(wanted, is_off, BT_STR_MAX), name)) {
				return !is_off;
			}
			has_all = has_all || bt_str_equal_c(wanted, "*");
			has_names = has_names || !is_off;
		}
	}
	/* If every name starts with "-", all other controllers are on. */
	return has_all || !has_names;
}

int bt_controllers_check_names(
	const struct bt_controllers_options *options, struct berth_error *err)
{
	for (uint32_t i = 0; i < options->name_count; i++) {
		struct bt_str rest = bt_str_from(options->names[i]);
		do {
			struct bt_str name = bt_str_cut(&rest, ',');
			bool is_off = bt_str_has_prefix(name, BT_STR("-"));
			bool known = bt_str_equal_c(name, "*");
			name = bt_str_sub(name, is_off, BT_STR_MAX);
			for (const struct bt_controller_row *row = bt_controller_rows;
				row->name != NULL; row++) {
				known = known || bt_str_equal_c(name, row->name);
			}
			if (!known) {
				return bt_error_set(err, BERTH_ERR_INVALID,
					"\"%.*s\" is not in the list of known controllers",
					BT_STR_ARG(name));
			}
		} while (rest.data != NULL);
	}
	return 0;
}

static uint16_t perform(struct bt_hub *hub, struct bt_api_request *request, struct bt_arena *arena,
	struct bt_api_answer *out_answer)
{
	struct bt_api_answer unused;
	struct bt_api_answer *answer = out_answer != NULL ? out_answer : &unused;
	const struct bt_hub_member *member = &hub->members[hub->current];

	hub->work++;
	request->same_owners = request->subresource == BT_SUBRESOURCE_STATUS;
	if (hub->current < hub->member_count) {
		request->user = &member->user;
		request->field_manager = bt_str_from(member->name);
	}
	/*
	 * Keep the patched trees: their arena lives until the changes of this sync are observed.
	 * The trees of other verbs are not kept, because the caller may change them later.
	 */
	hub->keeps_trees = request->verb == BT_VERB_PATCH && arena == &hub->sync_arena;
	request->known = hub->known;
	bt_api_perform(hub->api, request, arena, answer);
	hub->known = NULL;
	hub->keeps_trees = false;
	uint16_t code = answer->code;
	if (out_answer == NULL) {
		bt_api_answer_finish(answer);
	}
	return code;
}

static struct bt_api_request make_request(enum bt_verb verb, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *body)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = verb;
	request.resource = resource;
	request.subresource = subresource;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.body = body;
	return request;
}

uint16_t bt_hub_create(struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str namespace_,
	struct bt_json_value *object, struct bt_arena *arena, struct bt_api_answer *out_answer)
{
	struct bt_api_request request = make_request(
		BT_VERB_CREATE, hub->kinds[kind], BT_SUBRESOURCE_NONE, BT_STR(""), object);

	if (kind == BT_HUB_PODS && hub->options.pods.take != NULL) {
		struct bt_api_answer answer = {
			.code = bt_hub_take_pod(hub, namespace_, object, false, arena)};
		if (out_answer != NULL) {
			*out_answer = answer;
		}
		return answer.code;
	}
	request.namespace_ = namespace_;
	return perform(hub, &request, arena, out_answer);
}

uint16_t bt_hub_patch(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *patch,
	struct bt_arena *arena)
{
	struct bt_api_request request =
		make_request(BT_VERB_PATCH, resource, subresource, key, patch);

	request.patch_type = BT_PATCH_MERGE;
	return perform(hub, &request, arena, NULL);
}

uint16_t bt_hub_update(struct bt_hub *hub, const struct bt_api_resource *resource,
	enum bt_subresource subresource, struct bt_str key, struct bt_json_value *object,
	struct bt_arena *arena)
{
	struct bt_api_request request =
		make_request(BT_VERB_UPDATE, resource, subresource, key, object);

	return perform(hub, &request, arena, NULL);
}

uint16_t bt_hub_delete(struct bt_hub *hub, const struct bt_api_resource *resource,
	struct bt_str key, int64_t grace_seconds, enum bt_propagation propagation,
	struct bt_str uid, struct bt_arena *arena)
{
	struct bt_api_request request =
		make_request(BT_VERB_DELETE, resource, BT_SUBRESOURCE_NONE, key, NULL);

	request.grace_period_seconds = grace_seconds;
	request.propagation = propagation;
	request.precondition_uid = uid;
	return perform(hub, &request, arena, NULL);
}

#define BURST_MILLI 25000
/**
 * Time in which a rate limit gains a thousandth of an event. So a limit gains one event in 300 s.
 */
#define NS_PER_MILLI_TOKEN (INT64_C(300) * BT_NS_PER_SECOND / 1000)
#define MESSAGE_BYTES_MAX 1024
/** Longest object name in an Event's name, which must stay a valid name with the stamp added. */
#define NAME_BYTES_MAX 230

/** Takes one event from the rate limit with this hash. Returns false if the limit is used up. */
static bool take_token(struct bt_hub *hub, uint64_t hash)
{
	if (hub->event_sources == NULL) {
		hub->event_sources = BT_NEW_ARRAY(struct bt_hub_event_source, BT_HUB_EVENT_SOURCES);
	}
	struct bt_hub_event_source *source = &hub->event_sources[hash % BT_HUB_EVENT_SOURCES];
	if (source->hash != hash) {
		*source = (struct bt_hub_event_source){hash, BURST_MILLI, hub->now_ns};
	}
	int64_t gained = (hub->now_ns - source->updated_ns) / NS_PER_MILLI_TOKEN;
	if (gained > 0) {
		source->updated_ns += gained * NS_PER_MILLI_TOKEN;
		source->tokens_milli = gained > BURST_MILLI - source->tokens_milli
			? BURST_MILLI
			: source->tokens_milli + gained;
	}
	if (source->tokens_milli < 1000) {
		return false;
	}
	source->tokens_milli -= 1000;
	return true;
}

static uint64_t hash_c(uint64_t hash, struct bt_str text)
{
	return bt_hash_bytes(text.data, text.length, hash);
}

void bt_hub_event(struct bt_hub *hub, const char *component, const struct bt_api_resource *resource,
	const struct bt_json_value *object, const char *type, const char *reason,
	struct bt_str message)
{
	struct bt_arena *arena = &hub->event_arena;
	struct bt_str namespace_ = bt_json_text_at(object, "metadata.namespace");
	struct bt_str uid = bt_json_text_at(object, "metadata.uid");
	uint64_t source_hash = hash_c(hash_c(0, bt_str_from(component)), uid);
	uint64_t hash = hash_c(
		hash_c(hash_c(source_hash, bt_str_from(type)), bt_str_from(reason)), message);
	uint32_t length = message.length;
	struct bt_str name;

	if (hub->options.pods.take != NULL || !take_token(hub, source_hash)) {
		return;
	}
	struct bt_str now = bt_time_text(arena, hub->now_ns);
	if (hub->events == NULL) {
		hub->events = BT_NEW_ARRAY(struct bt_hub_event_memory, BT_HUB_EVENTS_REMEMBERED);
	}
	for (uint32_t i = 0; i < BT_HUB_EVENTS_REMEMBERED; i++) {
		struct bt_hub_event_memory *memory = &hub->events[i];

		if (memory->key == NULL || memory->hash != hash) {
			continue;
		}
		struct bt_json_value *patch = bt_json_put(
			arena, NULL, "{count: %d, lastTimestamp: %s}", memory->count + 1, now);
		if (bt_hub_patch(hub, hub->kinds[BT_HUB_EVENTS], BT_SUBRESOURCE_NONE,
			    bt_str_from(memory->key), patch, arena) == 200) {
			memory->count++;
			bt_arena_reset(arena);
			return;
		}
		/* The stored Event was deleted: create a new one. */
		bt_free(memory->key);
		*memory = (struct bt_hub_event_memory){0};
		break;
	}
	hub->last_event_stamp =
		hub->now_ns > hub->last_event_stamp ? hub->now_ns : hub->last_event_stamp + 1;
	name = bt_arena_printf(arena, "%.*s.%" PRIx64,
		BT_STR_ARG(bt_str_sub(bt_json_text_at(object, "metadata.name"), 0, NAME_BYTES_MAX)),
		(uint64_t)hub->last_event_stamp);
	namespace_ = namespace_.length != 0 ? namespace_ : BT_STR("default");
	if (length > MESSAGE_BYTES_MAX) {
		length = bt_utf8_cut(message.data, MESSAGE_BYTES_MAX);
	}
	struct bt_json_value *event = bt_json_put(arena, NULL,
		"{metadata: {name: %s, namespace: %s}, involvedObject: %v, reason: %c, "
		"message: %s, source: {component: %c}, firstTimestamp: %s, lastTimestamp: %s, "
		"count: %d, type: %c, reportingComponent: %c}",
		name, namespace_, bt_controller_reference(arena, resource, object), reason,
		bt_str_sub(message, 0, length), component, now, now, INT64_C(1), type, component);
	if (bt_hub_create(hub, BT_HUB_EVENTS, namespace_, event, arena, NULL) == 201) {
		struct bt_hub_event_memory *oldest = &hub->events[hub->next_event];
		struct bt_str key = bt_api_key(arena, namespace_, name);

		hub->next_event = (hub->next_event + 1) % BT_HUB_EVENTS_REMEMBERED;
		bt_free(oldest->key);
		*oldest = (struct bt_hub_event_memory){hash, bt_strndup(key.data, key.length), 1};
	}
	bt_arena_reset(arena);
}

/* --- changes --- */

static const struct bt_hub_interest *interest_in(struct bt_hub *hub, uint32_t collection)
{
	const struct bt_resources *resources = bt_api_resources(hub->api);

	if (hub->interests_generation != bt_resources_generation(resources)) {
		hub->interests_generation = bt_resources_generation(resources);
		hub->interests.count = 0;
	}
	while (hub->interests.count <= collection) {
		struct bt_hub_interest unknown = {.known = false};
		bt_vec_push(&hub->interests, unknown);
	}
	struct bt_hub_interest *interest = &hub->interests.items[collection];
	if (interest->known) {
		return interest;
	}
	interest->known = true;
	interest->resource = bt_resources_of_collection(resources, collection);
	for (uint32_t i = 1; interest->resource != NULL && i < BT_HUB_KIND_COUNT; i++) {
		if (hub->kinds[i]->collection == collection) {
			interest->kind = (enum bt_hub_kind)i;
		}
	}
	for (uint32_t i = 0; interest->resource != NULL && i < hub->member_count; i++) {
		if ((hub->members[i].ops->watches & BT_WATCH(interest->kind)) != 0) {
			interest->members |= UINT64_C(1) << i;
		}
	}
	return interest;
}

/** Sets the owners of *observed. */
static void notify_members(struct bt_hub *hub, uint64_t members, struct bt_observed *observed)
{
	uint32_t current = hub->current;

	observed->owner_before = bt_controller_owner_of(observed->before);
	observed->owner = bt_controller_owner_of(observed->after);
	if (observed->kind == BT_HUB_PODS) {
		bt_pod_index_observe(&hub->pods, observed);
	}
	for (uint64_t left = members; left != 0; left &= left - 1) {
		hub->current = BT_CTZ64(left);
		const struct bt_hub_member *member = &hub->members[hub->current];
		if (member->ops->observe != NULL) {
			member->ops->observe(member->data, hub, observed);
		}
	}
	hub->current = current;
}

static void observe_change(struct bt_hub *hub, const struct bt_hub_note *note)
{
	struct bt_hub_interest interest = *interest_in(hub, note->collection);
	struct bt_observed observed = {
		.kind = interest.kind,
		.resource = interest.resource,
		.type = note->type,
		.key = bt_stored_key(note->after),
		.before = note->trees.before,
		.after = note->trees.after,
	};

	if (interest.resource == NULL || (interest.members == 0 && interest.kind != BT_HUB_PODS)) {
		return;
	}
	if (observed.after == NULL) {
		observed.after = bt_api_parse_stored(note->after, &hub->note_arena);
	}
	if (observed.after == NULL) {
		return;
	}
	if (note->type == BT_CHANGE_DELETED) {
		observed.before = observed.after;
	} else if (note->before != NULL && observed.before == NULL) {
		observed.before = bt_api_parse_stored(note->before, &hub->note_arena);
	}
	notify_members(hub, interest.members, &observed);
	bt_arena_reset(&hub->note_arena);
}

/**
 * Called within the commit. A change by a client is observed at once, while its parsed trees exist;
 * this is safe because observing only enqueues keys. During a run the change is only recorded,
 * because the pod index must not change during a sync. While earlier changes wait, the change is
 * recorded, too, because changes are observed in order.
 */
static void record_change(void *context, const struct bt_store_change *change)
{
	struct bt_hub *hub = context;
	const struct bt_api_trees *trees = bt_api_trees(hub->api);
	struct bt_hub_note note = {
		.type = change->type,
		.collection = change->collection,
		.before = change->before,
		.after = change->after,
	};

	if (!hub->is_running && hub->notes.count == 0 && trees->after != NULL) {
		hub->now_ns = bt_api_now_ns(hub->api);
		note.trees = *trees;
		observe_change(hub, &note);
		return;
	}
	if (hub->keeps_trees && change->collection == hub->kinds[BT_HUB_PODS]->collection) {
		note.trees = *trees;
	}
	if (note.before != NULL) {
		bt_stored_share(note.before);
	}
	bt_stored_share(note.after);
	bt_vec_push(&hub->notes, note);
}

/* --- pods that go to options.pods --- */

static void observe_pod(struct bt_hub *hub, const struct bt_json_value *pod, struct bt_arena *arena)
{
	const struct bt_api_resource *pods = hub->kinds[BT_HUB_PODS];
	struct bt_observed observed = {
		.kind = BT_HUB_PODS,
		.resource = pods,
		.type = BT_CHANGE_ADDED,
		.key = bt_api_key(arena, bt_json_text_at(pod, "metadata.namespace"),
			bt_json_text_at(pod, "metadata.name")),
		.after = pod,
	};

	notify_members(hub, interest_in(hub, pods->collection)->members, &observed);
}

uint16_t bt_hub_take_pod(struct bt_hub *hub, struct bt_str namespace_, struct bt_json_value *pod,
	bool repeated, struct bt_arena *arena)
{
	struct bt_json_value *metadata = bt_json_ensure_object(arena, pod, "metadata");
	struct bt_str name;
	struct bt_str uid;

	bt_json_set_str(arena, metadata, "namespace", namespace_);
	uint16_t code =
		hub->options.pods.take(hub->options.pods.context, pod, repeated, &name, &uid);
	if (code == 201) {
		bt_json_set_str(arena, metadata, "name", name);
		bt_json_set_str(arena, metadata, "uid", uid);
		observe_pod(hub, pod, arena);
	}
	return code;
}

void bt_controllers_add_pod(struct bt_hub *hub, const struct bt_json_value *pod)
{
	observe_pod(hub, pod, &hub->note_arena);
	bt_arena_reset(&hub->note_arena);
}

/* --- turns --- */

/** Starts the turn of the next controller with ready keys. Returns false if no key is ready. */
static bool next_turn(struct bt_hub *hub)
{
	for (uint32_t i = 1; i <= hub->member_count; i++) {
		uint32_t member = (hub->current + i) % hub->member_count;
		if (bt_fifo_count(&hub->queue.ready[member]) != 0) {
			hub->current = member;
			hub->turn_left = bt_fifo_count(&hub->queue.ready[member]);
			return true;
		}
	}
	return false;
}

static bool sync_key(struct bt_hub *hub, struct bt_str key)
{
	const struct bt_hub_member *member = &hub->members[hub->current];
	const struct bt_controller_ops *ops = member->ops;
	struct bt_sync sync = {
		.hub = hub,
		.data = member->data,
		.arena = &hub->sync_arena,
		.key = key,
		.resource = hub->kinds[ops->object],
		.now_ns = hub->now_ns,
		.now_seconds = hub->now_ns / BT_NS_PER_SECOND,
		.wait_until_seconds = INT64_MAX,
	};

	hub->turn_left--;
	hub->work++;
	if (sync.resource != NULL) {
		sync.object = bt_api_read(hub->api, sync.resource, key, sync.arena);
		if (sync.object == NULL && !ops->syncs_gone) {
			return true;
		}
	}
	bool succeeded = ops->sync(&sync);
	if (sync.wait_until_seconds != INT64_MAX) {
		bt_hub_enqueue_at(hub, key, bt_ns_of_seconds(sync.wait_until_seconds));
	}
	return succeeded && !sync.failed;
}

static uint32_t count_ready(const struct bt_hub *hub)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < hub->member_count; i++) {
		count += bt_fifo_count(&hub->queue.ready[i]);
	}
	return count;
}

static int64_t run_controllers(struct bt_hub *hub, int64_t now_ns)
{
	uint32_t notes_left = BT_HUB_NOTES_PER_RUN;

	for (;;) {
		for (; hub->next_note < hub->notes.count; hub->next_note++) {
			struct bt_hub_note note = hub->notes.items[hub->next_note];
			if (notes_left-- == 0) {
				return now_ns;
			}
			observe_change(hub, &note);
			bt_stored_release(note.before);
			bt_stored_release(note.after);
		}
		/* The start and bursts of changes make the list of notes long: free its memory. */
		if (hub->notes.capacity > 65536) {
			bt_vec_finish(&hub->notes);
		}
		hub->notes.count = 0;
		hub->next_note = 0;
		bt_hub_queue_promote(&hub->queue, now_ns);
		if (hub->turn_left == 0 && (hub->member_count == 0 || !next_turn(hub))) {
			return bt_hub_queue_next_due(&hub->queue);
		}
		if (hub->work >= BT_HUB_WORK_PER_RUN &&
			(hub->work >= BT_HUB_BACKLOG || count_ready(hub) > BT_HUB_BACKLOG)) {
			return now_ns;
		}
		uint32_t slot = bt_hub_queue_take(&hub->queue, hub->current);
		const struct bt_hub_item *item = &hub->queue.items.items[slot];

		/* The changes of the last sync were observed, so their trees can be freed. */
		bt_arena_reset(&hub->sync_arena);
		bool succeeded = sync_key(hub, (struct bt_str){item->key, item->key_length});
		bt_hub_queue_done(&hub->queue, slot, succeeded, hub->now_ns);
	}
}

int64_t bt_controllers_run(struct bt_hub *hub, int64_t now_ns)
{
	hub->now_ns = now_ns;
	hub->work = 0;
	hub->is_running = true;
	int64_t next_ns = run_controllers(hub, now_ns);
	hub->is_running = false;
	return next_ns;
}

bool bt_controllers_have_work(const struct bt_hub *hub)
{
	return hub->notes.count != 0 || hub->turn_left != 0 || bt_hub_queue_has_work(&hub->queue);
}

/* --- enabling controllers --- */

int bt_controllers_create(struct bt_api *api, const struct bt_controllers_options *options,
	struct bt_hub **out_hub, struct berth_error *err)
{
	int code = bt_controllers_check_names(options, err);

	if (code != 0) {
		return code;
	}
	struct bt_hub *hub = BT_NEW(struct bt_hub);
	hub->api = api;
	hub->store = bt_api_store(api);
	hub->now_ns = bt_api_now_ns(api);
	hub->options = *options;
	bt_heap_init(&hub->queue.delayed, NULL, &hub->queue);
	for (uint32_t i = 1; i < BT_HUB_KIND_COUNT; i++) {
		hub->kinds[i] = bt_resources_builtin(
			bt_api_resources(api), kind_names[i].group, kind_names[i].name);
	}
	for (const struct bt_controller_row *row = bt_controller_rows; row->name != NULL; row++) {
		if (bt_controllers_has(options, row->name)) {
			BT_ASSERT(hub->member_count < BT_HUB_CONTROLLERS_MAX);
			static const struct bt_str groups[] = {
				BT_STR_INIT("system:masters"),
				BT_STR_INIT("system:serviceaccounts"),
				BT_STR_INIT("system:serviceaccounts:kube-system"),
				BT_STR_INIT("system:authenticated"),
			};
			struct bt_hub_member *member = &hub->members[hub->member_count];
			const struct bt_controller_ops *ops = row->ops;
			struct bt_strbuf name = {0};
			size_t bytes = ops->group_count * sizeof(struct bt_groups) +
				(ops->has_selectors ? sizeof(struct bt_selector_table) : 0);

			bt_strbuf_printf(&name, "system:serviceaccount:kube-system:%s", row->name);
			member->name = row->name;
			member->ops = ops;
			member->user_name = bt_strbuf_steal(&name);
			member->user = (struct bt_user){
				.name = bt_str_from(member->user_name),
				.group_count = (uint32_t)BT_ARRAY_LENGTH(groups),
				.groups = groups,
			};
			hub->current = hub->member_count++;
			bytes = BT_MAX(bytes, ops->data_bytes);
			member->data = bytes != 0 ? bt_calloc(1, bytes) : NULL;
			if (ops->init != NULL) {
				ops->init(member->data, hub);
			}
		}
	}
	/* Begin at the last member, so that the first turn is the first member's. */
	hub->current = hub->member_count != 0 ? hub->member_count - 1 : 0;
	/* Report existing objects as added. */
	uint32_t count = bt_store_collection_count(hub->store);

	for (uint32_t collection = 0; collection < count; collection++) {
		struct bt_store_walk walk =
			bt_store_walk_current(hub->store, collection, BT_STR(""));
		struct bt_stored *stored;

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
	bt_store_on_change(hub->store, record_change, hub);
	*out_hub = hub;
	return 0;
}

void bt_controllers_destroy(struct bt_hub *hub)
{
	if (hub == NULL) {
		return;
	}
	bt_store_off_change(hub->store, hub);
	for (uint32_t i = 0; i < hub->member_count; i++) {
		const struct bt_hub_member *member = &hub->members[i];
		struct bt_groups *groups = member->data;

		for (uint32_t n = 0; n < member->ops->group_count; n++) {
			bt_groups_finish(&groups[n]);
		}
		if (member->ops->has_selectors) {
			bt_selector_table_finish((void *)&groups[member->ops->group_count]);
		}
		if (member->ops->finish != NULL) {
			member->ops->finish(member->data);
		}
		bt_free(member->data);
		bt_free(member->user_name);
	}
	for (uint32_t i = hub->next_note; i < hub->notes.count; i++) {
		bt_stored_release(hub->notes.items[i].before);
		bt_stored_release(hub->notes.items[i].after);
	}
	bt_vec_finish(&hub->notes);
	bt_vec_finish(&hub->interests);
	bt_hub_queue_finish(&hub->queue);
	bt_pod_index_finish(&hub->pods);
	for (uint32_t i = 0; hub->events != NULL && i < BT_HUB_EVENTS_REMEMBERED; i++) {
		bt_free(hub->events[i].key);
	}
	bt_free(hub->events);
	bt_free(hub->event_sources);
	bt_arena_finish(&hub->note_arena);
	bt_arena_finish(&hub->sync_arena);
	bt_arena_finish(&hub->event_arena);
	bt_free(hub);
}
