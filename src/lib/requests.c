/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/engine.h"

#include "api/storage.h"
#include "base/alloc.h"
#include "plugins/preemption_executor.h"

/**
 * Adds a request of this kind; the caller fills in the other members. The new request has no key,
 * so find_or_add does not find the request.
 */
static struct bt_request *add(struct bt_requests *requests, enum berth_request_kind kind)
{
	struct bt_request *request = BT_NEW(struct bt_request);

	bt_vec_store(&requests->items, &requests->free_slots, request, request->slot);
	request->request.kind = kind;
	request->request.id = (uint64_t)++requests->serial << 32 | (request->slot + 1U);
	bt_fifo_push(&requests->untaken, request);
	return request;
}

static void remove_key(struct bt_requests *requests, struct bt_request *request)
{
	if (request->key.length != 0) {
		(void)bt_map_remove(&requests->by_key, bt_str_hash(request->key), request->slot);
		(void)bt_map_remove(
			&requests->by_owner, bt_str_hash(request->owner_uid), request->slot);
		request->key.length = 0;
	}
}

static void remove_request(struct bt_requests *requests, struct bt_request *request)
{
	remove_key(requests, request);
	requests->items.items[request->slot] = NULL;
	bt_vec_push(&requests->free_slots, request->slot);
	bt_arena_finish(&request->arena);
	bt_free(request);
}

static struct bt_str copy(struct bt_request *request, struct bt_str text)
{
	return bt_arena_str(&request->arena, text);
}

static void set_identity(
	struct bt_request *request, struct bt_str namespace_, struct bt_str name, struct bt_str uid)
{
	request->request.object_namespace = copy(request, namespace_);
	request->request.object_name = copy(request, name);
	request->request.uid = copy(request, uid);
}

/**
 * Finds the request for this kind of write of this object that the running binding cycle added in
 * an earlier call, or adds a request. *out_new is the added request, which the caller must fill in;
 * it is NULL if the request existed. Returns BT_WRITE_PENDING if there is no answer yet. Otherwise,
 * returns the code of the answer, sets err if the code is negative, and sets requests->result to
 * the request.
 */
static int find_or_add(struct bt_requests *requests, enum berth_request_kind kind,
	struct bt_str namespace_, struct bt_str name, struct bt_request **out_new,
	struct berth_error *err)
{
	struct bt_str owner_uid = bt_scheduler_binding_uid(requests->scheduler);
	struct bt_strbuf key = {0};

	bt_strbuf_printf(&key, "%d %.*s %.*s/%.*s", (int)kind, BT_STR_ARG(owner_uid),
		BT_STR_ARG(namespace_), BT_STR_ARG(name));
	struct bt_request *request = NULL;
	uint64_t hash = bt_str_hash(bt_strbuf_str(&key));
	BT_MAP_EACH (&requests->by_key, hash, index) {
		struct bt_request *other = requests->items.items[index];
		request = bt_str_equal(other->key, bt_strbuf_str(&key)) ? other : request;
	}

	*out_new = NULL;
	if (request == NULL) {
		request = add(requests, kind);
		request->key = copy(request, bt_strbuf_str(&key));
		request->owner_uid = copy(request, owner_uid);
		bt_map_insert(&requests->by_key, hash, request->slot);
		bt_map_insert(&requests->by_owner, bt_str_hash(owner_uid), request->slot);
		*out_new = request;
	}
	bt_strbuf_finish(&key);
	if (!request->answered) {
		return BT_WRITE_PENDING;
	}
	int code = request->code;
	if (code < 0) {
		code = bt_error_set(err, code, "%.*s", BT_STR_ARG(request->message));
	}
	if (requests->result != NULL) {
		remove_request(requests, requests->result);
	}
	remove_key(requests, request);
	requests->result = request;
	return code;
}

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_requests *requests = context;
	struct bt_request *request;
	int code = find_or_add(
		requests, BERTH_REQUEST_BIND, pod->namespace_, pod->name, &request, err);

	if (request != NULL) {
		set_identity(request, pod->namespace_, pod->name, pod->uid);
		request->request.node_name = copy(request, node_name);
	}
	return code;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	BT_UNUSED const struct bt_persistent_volume_claim *claim,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	const struct bt_object_reference *bound = volume->spec.claim_ref;
	static const struct bt_str annotation = BT_STR_INIT("pv.kubernetes.io/bound-by-controller");
	struct bt_requests *requests = context;
	struct bt_request *request;
	int code = find_or_add(requests, BERTH_REQUEST_BIND_VOLUME, volume->metadata.namespace_,
		volume->metadata.name, &request, err);

	if (request != NULL) {
		struct berth_request *wanted = &request->request;
		set_identity(request, BT_STR(""), volume->metadata.name, volume->metadata.uid);
		wanted->resource_version = copy(request, *out_resource_version);
		if (bound != NULL) {
			wanted->claim.claim_namespace = copy(request, bound->namespace_);
			wanted->claim.claim_name = copy(request, bound->name);
			wanted->claim.uid = copy(request, bound->uid);
			wanted->claim.resource_version = copy(request, bound->resource_version);
		}
		wanted->bound_by_controller =
			bt_str_map_find(&volume->metadata.annotations, annotation) != NULL;
	} else if (code == 0) {
		*out_resource_version = requests->result->resource_version;
	}
	return code;
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_requests *requests = context;
	struct bt_request *request;
	int code = find_or_add(requests, BERTH_REQUEST_SELECT_NODE, claim->metadata.namespace_,
		claim->metadata.name, &request, err);

	if (request != NULL) {
		set_identity(request, claim->metadata.namespace_, claim->metadata.name,
			claim->metadata.uid);
		request->request.node_name = copy(request, node_name);
		request->request.resource_version = copy(request, *out_resource_version);
	} else if (code == 0) {
		*out_resource_version = requests->result->resource_version;
	}
	return code;
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	const struct bt_requests *requests = context;
	const struct bt_object *known =
		bt_scheduler_find_pod(requests->scheduler, pod->namespace_, pod->name);

	return known != NULL;
}

static void set_condition(struct bt_request *request, struct bt_str type, struct bt_str status,
	struct bt_str reason, struct bt_str message, int64_t observed_generation)
{
	request->request.has_condition = true;
	request->request.condition = (struct berth_pod_condition){
		.type = copy(request, type),
		.status = copy(request, status),
		.reason = copy(request, reason),
		.message = copy(request, message),
		.observed_generation = observed_generation,
	};
}

static void set_status(struct bt_request *request, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination)
{
	set_identity(request, pod->metadata.namespace_, pod->metadata.name, pod->metadata.uid);
	if (condition != NULL) {
		set_condition(request, condition->type, condition->status, condition->reason,
			condition->message, condition->observed_generation);
	}
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE) {
		request->request.has_nominated_node_name = true;
		request->request.nominated_node_name =
			copy(request, nomination->nominated_node_name);
	}
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	BT_UNUSED struct berth_error *err)
{
	struct bt_requests *requests = context;
	struct bt_request *request = add(requests, BERTH_REQUEST_PATCH_STATUS);

	request->awaited = bt_scheduler_queues_calls(requests->scheduler);
	set_status(request, pod, condition, nomination);
	return request->awaited ? BT_WRITE_PENDING : 0;
}

static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, BT_UNUSED struct berth_error *err)
{
	struct bt_request *request = add(context, BERTH_REQUEST_PATCH_POD_GROUP);

	set_identity(
		request, group->metadata.namespace_, group->metadata.name, group->metadata.uid);
	set_condition(request, condition->type, condition->status, condition->reason,
		condition->message, condition->observed_generation);
	return 0;
}

static void record_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	struct bt_request *request = add(context, BERTH_REQUEST_EVENT);

	set_identity(request, pod->metadata.namespace_, pod->metadata.name, pod->metadata.uid);
	request->request.event_type = copy(request, bt_str_from(type));
	request->request.event_reason = copy(request, bt_str_from(reason));
	request->request.event_action = copy(request, bt_str_from(action));
	request->request.event_note = copy(request, note);
}

/**
 * Attaches the ticket, through which the preemption gets the result, and returns
 * BT_PREEMPTION_PENDING. If the ticket has no executor (NULL), the caller does not wait for the
 * result: the function returns 0, so the write counts as successful.
 */
static int send_for(struct bt_request *request, struct bt_preemption_ticket ticket)
{
	request->ticket = ticket;
	return ticket.executor != NULL ? BT_PREEMPTION_PENDING : 0;
}

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	BT_UNUSED struct berth_error *err)
{
	struct bt_request *request = add(context, BERTH_REQUEST_PATCH_STATUS);

	set_status(request, pod, condition, nomination);
	return send_for(request, ticket);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, BT_UNUSED struct berth_error *err)
{
	struct bt_request *request = add(context, BERTH_REQUEST_DELETE_POD);

	set_identity(request, victim->namespace_, victim->name, victim->uid);
	return send_for(request, ticket);
}

static void warn(void *context, struct bt_str line)
{
	const struct bt_requests *requests = context;

	if (requests->warn != NULL) {
		requests->warn(requests->warn_context, line);
	}
}

void bt_requests_init(struct bt_requests *requests, berth_warn_fn warn_function, void *warn_context)
{
	*requests = (struct bt_requests){.warn = warn_function, .warn_context = warn_context};
	requests->volumes = (struct bt_volume_writer){
		.bind_volume = bind_volume,
		.select_node = select_node,
		.pod_exists = pod_exists,
		.context = requests,
	};
	requests->writer = (struct bt_scheduler_writer){
		.context = requests,
		.bind = bind,
		.patch_status = patch_status,
		.patch_pod_group = patch_pod_group,
		.event = record_event,
		.patch_other = patch_other,
		.delete_pod = delete_pod,
		.volumes = &requests->volumes,
		.warn = warn,
	};
}

void bt_requests_finish(struct bt_requests *requests)
{
	for (uint32_t i = 0; i < requests->items.count; i++) {
		if (requests->items.items[i] != NULL) {
			remove_request(requests, requests->items.items[i]);
		}
	}
	bt_vec_finish(&requests->items);
	bt_vec_finish(&requests->free_slots);
	bt_fifo_finish(&requests->untaken);
	bt_map_finish(&requests->by_key);
	bt_map_finish(&requests->by_owner);
}

bool berth_engine_take_request(struct berth_engine *engine, struct berth_request *out_request)
{
	struct bt_requests *requests = &engine->requests;
	if (requests->event != NULL) {
		remove_request(requests, requests->event);
		requests->event = NULL;
	}
	if (bt_fifo_count(&requests->untaken) == 0) {
		return false;
	}
	struct bt_request *request = bt_fifo_at(&requests->untaken, 0);
	bt_fifo_drop_first(&requests->untaken);
	request->taken = true;
	*out_request = request->request;
	if (request->request.kind == BERTH_REQUEST_EVENT) {
		requests->event = request;
	}
	return true;
}

void berth_engine_answer(
	struct berth_engine *engine, uint64_t id, const struct berth_answer *answer)
{
	struct bt_requests *requests = &engine->requests;
	uint64_t slot = (id & UINT32_MAX) - 1;
	struct bt_request *request =
		slot < requests->items.count ? requests->items.items[slot] : NULL;

	/* Ignore answers to events, to requests not taken yet, and to requests already answered. */
	if (request == NULL || request->request.id != id || !request->taken || request->answered ||
		request->request.kind == BERTH_REQUEST_EVENT) {
		return;
	}
	if (request->key.length != 0 && !request->abandoned) {
		request->answered = true;
		request->code = answer->code;
		request->message = copy(request, answer->message);
		request->resource_version = copy(request, answer->resource_version);
		bt_scheduler_resume(requests->scheduler, request->owner_uid);
		return;
	}
	struct bt_preemption_ticket ticket = request->ticket;
	bool heard = request->awaited &&
		bt_scheduler_patch_answered(
			requests->scheduler, request->request.uid, answer->code, answer->message);
	if (ticket.executor == NULL && answer->code < 0 && !request->abandoned && !heard) {
		warn(requests, answer->message);
	}
	remove_request(requests, request);
	if (ticket.executor != NULL) {
		bt_preemption_complete(ticket.executor, ticket.id, answer->code);
	}
}

/** A request with a key for the binding of this pod; NULL: there is none. */
static struct bt_request *find_by_owner(const struct bt_requests *requests, struct bt_str owner_uid)
{
	BT_MAP_EACH (&requests->by_owner, bt_str_hash(owner_uid), slot) {
		if (bt_str_equal(requests->items.items[slot]->owner_uid, owner_uid)) {
			return requests->items.items[slot];
		}
	}
	return NULL;
}

void bt_requests_abandon(struct bt_requests *requests, struct bt_str owner_uid)
{
	struct bt_request *request;

	while ((request = find_by_owner(requests, owner_uid)) != NULL) {
		remove_key(requests, request);
		request->abandoned = true;
		if (request->answered) {
			remove_request(requests, request);
		}
	}
}
