/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/writes.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "api/identity.h"
#include "api/storage.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cluster/typed.h"
#include "codec/json.h"
#include "codec/json_edit.h"
#include "daemon/write_documents.h"
#include "plugins/preemption_executor.h"

static const struct bt_user scheduler_user = {
	.name = BT_STR_INIT("system:kube-scheduler"),
	.group_count = 1,
	.groups = (const struct bt_str[]){BT_STR_INIT("system:masters")},
};

/** --- requests --- */

/** Returns a request by the scheduler's user for `resource` of the API group `group`. */
static struct bt_api_request make_request(const struct bt_cluster_writes *writes, enum bt_verb verb,
	const char *group, const char *resource, struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = verb;
	request.resource = bt_resources_builtin(bt_api_resources(writes->api), group, resource);
	request.namespace_ = namespace_;
	request.name = name;
	request.user = &scheduler_user;
	request.field_manager = BT_STR("kube-scheduler");
	return request;
}

/**
 * Performs a request. Returns 0, or BERTH_ERR_* with the API's text. out_object (may be NULL):
 * receives a reference to the stored object; unchanged on errors.
 */
static int perform_request(struct bt_cluster_writes *writes, const struct bt_api_request *request,
	struct bt_stored **out_object, struct berth_error *err)
{
	struct bt_api_answer answer;
	bt_api_perform(writes->api, request, &writes->arena, &answer);
	int result = 0;
	if (answer.code >= 300) {
		bool exists = answer.failure.reason != NULL &&
			strcmp(answer.failure.reason, "AlreadyExists") == 0;
		int code = answer.code == 404 ? BERTH_ERR_NOT_FOUND
			: exists              ? BERTH_ERR_EXISTS
			: answer.code == 409  ? BERTH_ERR_STATE
					      : BERTH_ERR_INTERNAL;
		result = bt_error_set(err, code, "%.*s", BT_STR_ARG(answer.failure.message));
	} else if (out_object != NULL && answer.object != NULL) {
		*out_object = bt_stored_share(answer.object);
	}
	bt_api_answer_finish(&answer);
	return result;
}

/** Performs a request whose body is this JSON text. */
static int perform_text(struct bt_cluster_writes *writes, struct bt_api_request *request,
	struct bt_str text, struct berth_error *err)
{
	bt_arena_reset(&writes->arena);
	int result = bt_json_parse(&writes->arena, text, false, &request->body, err);
	return result == 0 ? perform_request(writes, request, NULL, err) : result;
}

/** --- pods --- */

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request =
		make_request(writes, BT_VERB_CREATE, "", "pods", pod->namespace_, pod->name);
	request.subresource = BT_SUBRESOURCE_BINDING;
	bt_strbuf_reset(&writes->text);
	bt_document_binding_json(pod, node_name, &writes->text);
	return perform_text(writes, &request, bt_strbuf_str(&writes->text), err);
}

/** Patches the status of an object. text: a strategic merge patch. */
static int write_status(struct bt_cluster_writes *writes, const char *group, const char *resource,
	struct bt_str namespace_, struct bt_str name, struct bt_str text, struct berth_error *err)
{
	struct bt_api_request request =
		make_request(writes, BT_VERB_PATCH, group, resource, namespace_, name);
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.patch_type = BT_PATCH_STRATEGIC;
	return perform_text(writes, &request, text, err);
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	bt_strbuf_reset(&writes->text);
	if (!bt_document_pod_status(
		    pod, condition, nomination, bt_api_now_ns(writes->api), &writes->text)) {
		return 0;
	}
	int result = write_status(writes, "", "pods", pod->metadata.namespace_, pod->metadata.name,
		bt_strbuf_str(&writes->text), err);
	if (result == BERTH_ERR_NOT_FOUND) {
		/* The pod was deleted meanwhile; the scheduler will observe that. */
		berth_error_finish(err);
		return 0;
	}
	return result;
}

static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	bt_strbuf_reset(&writes->text);
	bt_document_pod_group_status(group, condition, bt_api_now_ns(writes->api), &writes->text);
	return write_status(writes, "scheduling.k8s.io", "podgroups", group->metadata.namespace_,
		group->metadata.name, bt_strbuf_str(&writes->text), err);
}

/** --- events --- */

/**
 * Sends the JSON in event_text. Returns the answer's code, or 0 if event_text is not valid JSON. A
 * refused event is not sent again.
 */
static uint16_t send_event(struct bt_cluster_writes *writes, struct bt_api_request *request)
{
	struct bt_api_answer answer = {.code = 0};
	bt_arena_reset(&writes->event_arena);
	if (bt_json_parse(&writes->event_arena, bt_strbuf_str(&writes->event_text), false,
		    &request->body, NULL) == 0) {
		bt_api_perform(writes->api, request, &writes->event_arena, &answer);
		bt_api_answer_finish(&answer);
	}
	return answer.code;
}

static void deliver_event(void *context, const struct bt_event_delivery *event, bool patches)
{
	struct bt_cluster_writes *writes = context;
	struct bt_str namespace_ = bt_event_record_namespace(event->record);

	if (patches) {
		struct bt_strbuf name = {0};
		bt_strbuf_reset(&writes->event_text);
		bt_event_record_append_name(event->record, &name);
		bt_event_record_write_series(
			event->series_count, event->series_ns, &writes->event_text);
		struct bt_api_request patch = make_request(writes, BT_VERB_PATCH, "events.k8s.io",
			"events", namespace_, bt_strbuf_str(&name));
		patch.patch_type = BT_PATCH_STRATEGIC;
		uint16_t code = send_event(writes, &patch);
		bt_strbuf_finish(&name);
		if (code != 404) {
			return;
		}
	}
	struct bt_api_request request = make_request(
		writes, BT_VERB_CREATE, "events.k8s.io", "events", namespace_, BT_STR(""));
	bt_strbuf_reset(&writes->event_text);
	bt_event_record_write(event->record, bt_str_from(writes->host), event->series_count,
		event->series_ns, &writes->event_text);
	(void)send_event(writes, &request);
}

static void record_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	struct bt_cluster_writes *writes = context;
	bt_event_recorder_record_pod(
		writes->events, pod, type, reason, action, note, bt_api_now_ns(writes->api));
}

static void warn(void *context BT_UNUSED, struct bt_str line)
{
	(void)fprintf(stderr, "berth up: scheduler: %.*s\n", BT_STR_ARG(line));
}

/** --- preemption --- */

/** Patches the status of the pod, or deletes the pod if status (a patch) is "". */
static int perform_eviction(struct bt_cluster_writes *writes, struct bt_str namespace_,
	struct bt_str name, struct bt_str status, struct berth_error *err)
{
	if (status.length != 0) {
		return write_status(writes, "", "pods", namespace_, name, status, err);
	}
	struct bt_api_request request =
		make_request(writes, BT_VERB_DELETE, "", "pods", namespace_, name);
	bt_arena_reset(&writes->arena);
	return perform_request(writes, &request, NULL, err);
}

/**
 * Evicts a pod. Synchronous preemption (ticket without executor) evicts at once. Asynchronous
 * preemption evicts after the attempt, because the preemptor's nomination must be written before
 * the victims are deleted (spec 13 section 14.9); then the function returns BT_PREEMPTION_PENDING.
 */
static int evict(struct bt_cluster_writes *writes, struct bt_preemption_ticket ticket,
	struct bt_str namespace_, struct bt_str name, struct bt_str status, struct berth_error *err)
{
	struct bt_cluster_writes_eviction eviction = {.ticket = ticket};
	struct bt_strbuf text = {0};
	if (ticket.executor == NULL) {
		return perform_eviction(writes, namespace_, name, status, err);
	}
	bt_strbuf_printf(&text, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
	eviction.key = bt_strbuf_steal(&text);
	eviction.status = bt_strndup(status.length != 0 ? status.data : "", status.length);
	bt_vec_push(&writes->evictions, eviction);
	return BT_PREEMPTION_PENDING;
}

static void free_eviction(struct bt_cluster_writes_eviction *eviction)
{
	bt_free(eviction->key);
	bt_free(eviction->status);
}

/** Performs the evictions that preemption requested during the last attempt. */
static void attempt_ended(void *context)
{
	struct bt_cluster_writes *writes = context;
	/* Completing an eviction may append further evictions to the list. */
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		struct bt_cluster_writes_eviction eviction = writes->evictions.items[i];
		struct bt_str name = bt_str_from(eviction.key);
		struct bt_str namespace_ = bt_str_cut(&name, '/');
		struct berth_error err = BERTH_ERROR_INIT;
		int result = perform_eviction(
			writes, namespace_, name, bt_str_from(eviction.status), &err);
		berth_error_finish(&err);
		bt_preemption_complete(eviction.ticket.executor, eviction.ticket.id, result);
		free_eviction(&eviction);
	}
	writes->evictions.count = 0;
}

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	bt_strbuf_reset(&writes->text);
	if (!bt_document_pod_status(
		    pod, condition, nomination, bt_api_now_ns(writes->api), &writes->text)) {
		return 0;
	}
	return evict(writes, ticket, pod->metadata.namespace_, pod->metadata.name,
		bt_strbuf_str(&writes->text), err);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	return evict(context, ticket, victim->namespace_, victim->name, BT_STR(""), err);
}

/** --- volumes --- */

static int patch_volume_object(struct bt_cluster_writes *writes,
	const struct bt_api_request *request, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	struct bt_stored *stored = NULL;
	int result = perform_request(writes, request, &stored, err);
	if (result == 0) {
		(void)snprintf(writes->resource_version, sizeof(writes->resource_version),
			"%" PRIu64, stored != NULL ? stored->rv : 0);
		*out_resource_version = bt_str_from(writes->resource_version);
	}
	bt_stored_release(stored);
	return result;
}

/** Returns a merge-patch request that fails if the stored resourceVersion differs from meta's. */
static struct bt_api_request volume_request(
	struct bt_cluster_writes *writes, const struct bt_object_meta *meta, const char *resource)
{
	struct bt_arena *arena = &writes->arena;
	bt_arena_reset(arena);
	struct bt_api_request request =
		make_request(writes, BT_VERB_PATCH, "", resource, meta->namespace_, meta->name);
	request.patch_type = BT_PATCH_MERGE;
	request.body = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_str(arena, bt_json_ensure_object(arena, request.body, "metadata"),
		"resourceVersion", meta->resource_version);
	return request;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	BT_UNUSED const struct bt_persistent_volume_claim *claim,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request =
		volume_request(writes, &volume->metadata, "persistentvolumes");
	bt_document_bind_volume(&writes->arena, request.body, volume);
	return patch_volume_object(writes, &request, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request =
		volume_request(writes, &claim->metadata, "persistentvolumeclaims");
	bt_document_select_node(&writes->arena, request.body, node_name);
	return patch_volume_object(writes, &request, out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	struct bt_cluster_writes *writes = context;
	return bt_scheduler_find_same_pod(
		       writes->scheduler, pod->namespace_, pod->name, pod->uid) != NULL;
}

/**
 * --- claims: the writes of DynamicResources. They are synchronous, so no write is ever in flight.
 * Spec: 12 sections 12 to 15. ---
 */

/** name "": the request is for the collection, to create a claim. */
static struct bt_api_request request_for(const struct bt_cluster_writes *writes, enum bt_verb verb,
	struct bt_str namespace_, struct bt_str name)
{
	return make_request(writes, verb, "resource.k8s.io", "resourceclaims", namespace_, name);
}

/**
 * Decodes a stored claim; the returned object keeps the JSON text. NULL: the text is not valid, and
 * err is set.
 */
static struct bt_object *decode(const struct bt_stored *stored, struct berth_error *err)
{
	struct bt_object *object = bt_typed_decode(BT_KIND_RESOURCE_CLAIM, stored, err);
	if (object != NULL) {
		bt_object_keep_json(object, bt_stored_text(stored));
	}
	return object;
}

static int perform(struct bt_cluster_writes *writes, const struct bt_api_request *request,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_stored *stored = NULL;
	int result = perform_request(writes, request, &stored, err);
	if (result == 0 && out_claim != NULL && stored != NULL) {
		*out_claim = decode(stored, err);
		result = *out_claim != NULL ? 0 : BERTH_ERR_INVALID;
	}
	bt_stored_release(stored);
	return result == BERTH_ERR_STATE ? BT_WRITE_CONFLICT : result;
}

/**
 * Returns the stored claim, which has all members, if its resourceVersion is that of base.
 * Otherwise returns NULL, and the caller uses base.
 */
static struct bt_object *find_complete(struct bt_cluster_writes *writes,
	const struct bt_api_resource *claims, const struct bt_object *base)
{
	char version[24];
	const struct bt_stored *stored =
		bt_store_find(bt_api_store(writes->api), claims->collection,
			bt_api_key(&writes->arena, base->meta->namespace_, base->meta->name));
	if (stored == NULL) {
		return NULL;
	}
	(void)snprintf(version, sizeof(version), "%" PRIu64, stored->rv);
	return bt_str_equal_c(base->meta->resource_version, version) ? decode(stored, NULL) : NULL;
}

static int write_claim(void *context, const struct bt_pod_info *pod BT_UNUSED,
	enum bt_claim_write what, const struct bt_object *base,
	const struct bt_resource_claim *claim, bool must_end BT_UNUSED,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request =
		request_for(writes, what == BT_CLAIM_WRITE_NEW ? BT_VERB_CREATE : BT_VERB_UPDATE,
			claim->metadata.namespace_, claim->metadata.name);
	if (what == BT_CLAIM_WRITE_STATUS) {
		request.subresource = BT_SUBRESOURCE_STATUS;
	}
	bt_arena_reset(&writes->arena);
	bt_strbuf_reset(&writes->text);
	struct bt_object *whole =
		base != NULL ? find_complete(writes, request.resource, base) : NULL;
	int result = bt_document_claim(whole != NULL ? whole : base, claim, &writes->text, err);
	bt_object_release(whole);
	if (result == 0) {
		result = bt_json_parse(
			&writes->arena, bt_strbuf_str(&writes->text), false, &request.body, err);
	}
	return result == 0 ? perform(writes, &request, out_claim, err) : result;
}

static int get_claim(void *context, const struct bt_pod_info *pod BT_UNUSED,
	struct bt_str namespace_, struct bt_str name, bool must_end BT_UNUSED,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request = request_for(writes, BT_VERB_GET, namespace_, name);
	bt_arena_reset(&writes->arena);
	return perform(writes, &request, out_claim, err);
}

static int remove_claim(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_resource_claim *claim, bool must_end BT_UNUSED, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request = request_for(
		writes, BT_VERB_DELETE, claim->metadata.namespace_, claim->metadata.name);
	request.precondition_uid = claim->metadata.uid;
	bt_arena_reset(&writes->arena);
	return perform(writes, &request, NULL, err);
}

static void unreserve(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct bt_cluster_writes *writes = context;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_api_request request = request_for(
		writes, BT_VERB_PATCH, claim->metadata.namespace_, claim->metadata.name);
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.patch_type = BT_PATCH_STRATEGIC;
	bt_arena_reset(&writes->arena);
	bt_strbuf_reset(&writes->text);
	bt_document_unreserve(claim, uid, &writes->text);
	int result = bt_json_parse(
		&writes->arena, bt_strbuf_str(&writes->text), false, &request.body, &err);
	if (result == 0) {
		result = perform(writes, &request, NULL, &err);
	}
	if (result != 0 && result != BERTH_ERR_NOT_FOUND) {
		(void)fprintf(stderr, "berth up: scheduler: unreserve claim %.*s/%.*s: %s\n",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name),
			berth_error_message(&err));
	}
	berth_error_finish(&err);
}

static int patch_pod_status(void *context, const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end BT_UNUSED, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	bt_strbuf_reset(&writes->text);
	if (!bt_document_pod_claims(old_status, new_status, &writes->text)) {
		return 0;
	}
	return write_status(
		writes, "", "pods", pod->namespace_, pod->name, bt_strbuf_str(&writes->text), err);
}

/** --- creating and destroying --- */

void bt_cluster_writes_init(struct bt_cluster_writes *writes, struct bt_api *api)
{
	*writes = (struct bt_cluster_writes){.api = api, .host = "localhost"};
	/* A longer name is truncated. */
	(void)gethostname(writes->host, sizeof(writes->host) - 1);
	struct bt_event_sink sink = {.context = writes, .send = deliver_event};
	writes->events = bt_event_recorder_create(&sink);
	writes->volumes = (struct bt_volume_writer){
		.context = writes,
		.bind_volume = bind_volume,
		.select_node = select_node,
		.pod_exists = pod_exists,
	};
	writes->claims = (struct bt_claim_writer){
		.context = writes,
		.write = write_claim,
		.get = get_claim,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
	};
	writes->writer = (struct bt_scheduler_writer){
		.context = writes,
		.bind = bind,
		.patch_status = patch_status,
		.patch_pod_group = patch_pod_group,
		.event = record_event,
		.patch_other = patch_other,
		.delete_pod = delete_pod,
		.volumes = &writes->volumes,
		.claims = &writes->claims,
		.warn = warn,
		.attempt_ended = attempt_ended,
	};
}

void bt_cluster_writes_finish(struct bt_cluster_writes *writes)
{
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		free_eviction(&writes->evictions.items[i]);
	}
	bt_vec_finish(&writes->evictions);
	bt_event_recorder_destroy(writes->events);
	bt_strbuf_finish(&writes->event_text);
	bt_arena_finish(&writes->event_arena);
	bt_strbuf_finish(&writes->text);
	bt_arena_finish(&writes->arena);
}
