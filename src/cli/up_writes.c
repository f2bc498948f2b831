/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/up_writes.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "api/identity.h"
#include "api/storage.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "plugins/preemption_executor.h"

static const struct bt_user scheduler_user = {
	.name = BT_STR_INIT("system:kube-scheduler"),
	.group_count = 1,
	.groups = (const struct bt_str[]){BT_STR_INIT("system:masters")},
};

/** --- one write --- */

static const struct bt_api_resource *builtin(
	const struct bt_up_writes *writes, const char *group, const char *name)
{
	return bt_resources_builtin(bt_api_resources(writes->api), group, name);
}

static struct bt_api_request request_for(
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.resource = resource;
	request.namespace_ = namespace_;
	request.name = name;
	request.user = &scheduler_user;
	request.field_manager = BT_STR("kube-scheduler");
	return request;
}

/** 0, or BERTH_ERR_* with the API's text. out_rv (may be NULL): of the object as it is now. */
static int perform(struct bt_up_writes *writes, const struct bt_api_request *request,
	uint64_t *out_rv, struct berth_error *err)
{
	struct bt_api_answer answer;
	bt_api_perform(writes->api, request, &writes->arena, &answer);
	int result = 0;
	if (answer.code >= 300) {
		int code = answer.code == 404 ? BERTH_ERR_NOT_FOUND
			: answer.code == 409  ? BERTH_ERR_STATE
					      : BERTH_ERR_INTERNAL;
		result = bt_error_set(err, code, "%.*s", BT_STR_ARG(answer.failure.message));
	} else if (out_rv != NULL && answer.object != NULL) {
		*out_rv = answer.object->rv;
	}
	bt_api_answer_finish(&answer);
	return result;
}

static struct bt_time now_of(const struct bt_up_writes *writes)
{
	return (struct bt_time){bt_api_now_ns(writes->api) / BT_NS_PER_SECOND, 0, true};
}

static struct bt_str time_text(struct bt_arena *arena, const struct bt_time *time)
{
	struct bt_strbuf text = {0};
	bt_time_format(time, &text);
	struct bt_str result = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

/** --- pods --- */

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	struct bt_arena *arena = &writes->arena;
	bt_arena_reset(arena);
	struct bt_api_request request =
		request_for(builtin(writes, "", "pods"), pod->namespace_, pod->name);
	request.verb = BT_VERB_CREATE;
	request.subresource = BT_SUBRESOURCE_BINDING;
	request.body = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, request.body, "metadata");
	bt_json_set_str(arena, metadata, "name", pod->name);
	bt_json_set_str(arena, metadata, "namespace", pod->namespace_);
	bt_json_set_str(arena, metadata, "uid", pod->uid);
	struct bt_json_value *target = bt_json_ensure_object(arena, request.body, "target");
	bt_json_set_c(arena, target, "kind", "Node");
	bt_json_set_str(arena, target, "name", node_name);
	return perform(writes, &request, NULL, err);
}

static void set_condition(struct bt_up_writes *writes, struct bt_json_value *status,
	const struct bt_pod_condition *condition)
{
	struct bt_arena *arena = &writes->arena;
	struct bt_json_value *item = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_value(arena, item, "lastProbeTime", bt_json_new(arena, BT_JSON_NULL));
	bt_json_set_str(arena, item, "lastTransitionTime",
		time_text(arena, &condition->last_transition_time));
	bt_json_set_str(arena, item, "message", condition->message);
	if (condition->observed_generation != 0) {
		bt_json_set_int64(
			arena, item, "observedGeneration", condition->observed_generation);
	}
	bt_json_set_str(arena, item, "reason", condition->reason);
	bt_json_set_str(arena, item, "status", condition->status);
	bt_json_set_str(arena, item, "type", condition->type);
	bt_json_append(arena, bt_json_ensure_array(arena, status, "conditions"), item);
}

static int patch_pod_status(struct bt_up_writes *writes, struct bt_str namespace_,
	struct bt_str name, struct bt_json_value *status, struct berth_error *err)
{
	struct bt_api_request request = request_for(builtin(writes, "", "pods"), namespace_, name);
	request.verb = BT_VERB_PATCH;
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.patch_type = BT_PATCH_STRATEGIC;
	request.body = bt_json_new(&writes->arena, BT_JSON_OBJECT);
	bt_json_set_value(&writes->arena, request.body, "status", status);
	return perform(writes, &request, NULL, err);
}

/** The condition as it will be, its time included; false: the pod has it already. */
static bool next_condition(struct bt_up_writes *writes, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, struct bt_pod_condition *out_condition)
{
	struct bt_time now = now_of(writes);
	bool differs;
	bt_pod_condition_list list =
		bt_pod_conditions_set(&pod->status, condition, &now, &writes->arena, &differs);
	for (uint32_t i = 0; i < list.count && differs; i++) {
		if (bt_str_equal(list.items[i].type, condition->type)) {
			*out_condition = list.items[i];
		}
	}
	return differs;
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	struct bt_arena *arena = &writes->arena;
	struct bt_pod_condition next;
	bt_arena_reset(arena);
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	if (condition != NULL && next_condition(writes, pod, condition, &next)) {
		set_condition(writes, status, &next);
	}
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(pod->status.nominated_node_name, nomination->nominated_node_name)) {
		struct bt_str node_name = nomination->nominated_node_name;
		bt_json_set_value(arena, status, "nominatedNodeName",
			node_name.length != 0 ? bt_json_new_str(arena, node_name)
					      : bt_json_new(arena, BT_JSON_NULL));
	}
	if (status->count == 0) {
		return 0;
	}
	int result =
		patch_pod_status(writes, pod->metadata.namespace_, pod->metadata.name, status, err);
	if (result == BERTH_ERR_NOT_FOUND) {
		/* It has gone meanwhile, as the next change says. */
		berth_error_finish(err);
		return 0;
	}
	return result;
}

/** --- events --- */

static void post_event(void *context, const struct bt_event_delivery *event)
{
	struct bt_up_writes *writes = context;
	struct bt_str namespace_ = bt_event_record_namespace(event->record);
	struct bt_api_request request =
		request_for(builtin(writes, "events.k8s.io", "events"), namespace_, BT_STR(""));
	struct bt_api_answer answer;
	bt_arena_reset(&writes->event_arena);
	bt_strbuf_reset(&writes->event_text);
	bt_event_record_write(event->record, bt_str_from(writes->host), event->series_count,
		event->series_ns, &writes->event_text);
	if (bt_json_parse(&writes->event_arena, bt_strbuf_str(&writes->event_text), false,
		    &request.body, NULL) < 0) {
		return; /* what the writer makes can be parsed */
	}
	request.verb = BT_VERB_CREATE;
	bt_api_perform(
		writes->api, &request, &writes->event_arena, &answer); /* refused: not retried */
	bt_api_answer_finish(&answer);
}

static bool patch_event(void *context, const struct bt_event_delivery *event)
{
	struct bt_up_writes *writes = context;
	struct bt_strbuf name = {0};
	struct bt_api_answer answer;
	bt_arena_reset(&writes->event_arena);
	bt_strbuf_reset(&writes->event_text);
	bt_event_record_append_name(event->record, &name);
	bt_event_record_write_series(event->series_count, event->series_ns, &writes->event_text);
	struct bt_api_request request = request_for(builtin(writes, "events.k8s.io", "events"),
		bt_event_record_namespace(event->record), bt_strbuf_str(&name));
	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_STRATEGIC;
	bool is_gone = false;
	if (bt_json_parse(&writes->event_arena, bt_strbuf_str(&writes->event_text), false,
		    &request.body, NULL) == 0) {
		bt_api_perform(writes->api, &request, &writes->event_arena, &answer);
		is_gone = answer.code == 404;
		bt_api_answer_finish(&answer);
	}
	bt_strbuf_finish(&name);
	return !is_gone;
}

static void record(struct bt_up_writes *writes, const struct bt_object_meta *meta, const char *type,
	const char *reason, const char *action, struct bt_str controller, struct bt_str note)
{
	struct bt_event_facts facts = {
		.kind = "Pod",
		.api_version = "v1",
		.regarding = meta,
		.type = type,
		.reason = reason,
		.action = action,
		.controller = controller,
		.note = note,
	};
	bt_event_recorder_record(writes->events, &facts, bt_api_now_ns(writes->api));
}

static void event(void *context, const struct bt_pod *pod, const char *type, const char *reason,
	const char *action, struct bt_str note)
{
	record(context, &pod->metadata, type, reason, action, pod->spec.scheduler_name, note);
}

static void warn(void *context BT_UNUSED, struct bt_str line)
{
	(void)fprintf(stderr, "berth up: scheduler: %.*s\n", BT_STR_ARG(line));
}

/** --- preemption --- */

/** status NULL: delete it. */
static int perform_eviction(struct bt_up_writes *writes, struct bt_str namespace_,
	struct bt_str name, struct bt_json_value *status, struct berth_error *err)
{
	struct bt_api_request request = request_for(builtin(writes, "", "pods"), namespace_, name);
	if (status != NULL) {
		return patch_pod_status(writes, namespace_, name, status, err);
	}
	request.verb = BT_VERB_DELETE;
	return perform(writes, &request, NULL, err);
}

/** At once in the synchronous form, else when the attempt is over: first the preemptor is told
 * where it will go, then victims leave (spec 13 section 14.9). */
static int evict(struct bt_up_writes *writes, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, struct bt_json_value *status, struct berth_error *err)
{
	struct bt_up_eviction eviction = {.ticket = ticket};
	struct bt_strbuf text = {0};
	if (ticket.executor == NULL) {
		return perform_eviction(writes, pod->namespace_, pod->name, status, err);
	}
	bt_strbuf_printf(&text, "%.*s/%.*s", BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
	eviction.key = bt_strbuf_steal(&text);
	if (status != NULL) {
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, &text, 0);
		bt_json_write_value(&writer, status);
		eviction.status = bt_strbuf_steal(&text);
	}
	bt_vec_push(&writes->evictions, eviction);
	return BT_PREEMPTION_PENDING;
}

static void free_eviction(struct bt_up_eviction *eviction)
{
	bt_free(eviction->key);
	bt_free(eviction->status);
}

void bt_up_writes_evict(struct bt_up_writes *writes)
{
	/* The end of one may add the next. */
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		struct bt_up_eviction eviction = writes->evictions.items[i];
		struct bt_str key = bt_str_from(eviction.key);
		uint32_t slash = (uint32_t)bt_str_find_char(key, '/');
		struct bt_json_value *status = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		int result = 0;
		bt_arena_reset(&writes->arena);
		if (eviction.status != NULL) {
			result = bt_json_parse(
				&writes->arena, bt_str_from(eviction.status), false, &status, &err);
		}
		if (result == 0) {
			result = perform_eviction(writes, bt_str_sub(key, 0, slash),
				bt_str_sub(key, slash + 1, key.length), status, &err);
		}
		berth_error_finish(&err);
		bt_preemption_complete(eviction.ticket.executor, eviction.ticket.id, result);
		free_eviction(&eviction);
	}
	writes->evictions.count = 0;
}

static int patch_condition(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, const struct bt_pod_condition *condition,
	struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	struct bt_pod_condition timed = *condition;
	bt_arena_reset(&writes->arena);
	if (!timed.last_transition_time.set) {
		timed.last_transition_time = now_of(writes);
	}
	struct bt_json_value *status = bt_json_new(&writes->arena, BT_JSON_OBJECT);
	set_condition(writes, status, &timed);
	return evict(writes, ticket, victim, status, err);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	bt_arena_reset(&writes->arena);
	return evict(writes, ticket, victim, NULL, err);
}

static int clear_nomination(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	bt_arena_reset(&writes->arena);
	struct bt_json_value *status = bt_json_new(&writes->arena, BT_JSON_OBJECT);
	bt_json_set_value(&writes->arena, status, "nominatedNodeName",
		bt_json_new(&writes->arena, BT_JSON_NULL));
	return evict(writes, ticket, pod, status, err);
}

static void preemption_event(void *context, const struct bt_preemption_event *preempted)
{
	struct bt_up_writes *writes = context;
	struct bt_object *victim = bt_scheduler_find_pod(
		writes->scheduler, preempted->victim.namespace_, preempted->victim.name);
	if (victim != NULL) {
		const struct bt_pod *pod = bt_object_value(victim, BT_KIND_POD);
		record(writes, &pod->metadata, "Normal", "Preempted", "Preempting",
			pod->spec.scheduler_name, preempted->note);
	}
}

static void activate(void *context, const struct bt_preemption_pod *pods, uint32_t count)
{
	struct bt_up_writes *writes = context;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_object *pod =
			bt_scheduler_find_pod(writes->scheduler, pods[i].namespace_, pods[i].name);
		if (pod != NULL) {
			(void)bt_queue_activate(bt_scheduler_queue(writes->scheduler), pod,
				bt_api_now_ns(writes->api));
		}
	}
}

/** --- volumes --- */

static int patch_volume_object(struct bt_up_writes *writes, const struct bt_api_request *request,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	uint64_t rv = 0;
	int result = perform(writes, request, &rv, err);
	if (result == 0) {
		(void)snprintf(
			writes->resource_version, sizeof(writes->resource_version), "%" PRIu64, rv);
		*out_resource_version = bt_str_from(writes->resource_version);
	}
	return result;
}

static struct bt_json_value *metadata_patch(struct bt_up_writes *writes,
	const struct bt_object_meta *meta, const char *annotation, struct bt_str value)
{
	struct bt_arena *arena = &writes->arena;
	struct bt_json_value *metadata = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_str(arena, metadata, "resourceVersion", meta->resource_version);
	if (value.length != 0) {
		bt_json_set_str(arena, bt_json_ensure_object(arena, metadata, "annotations"),
			annotation, value);
	}
	return metadata;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	static const char bound_by_controller[] = "pv.kubernetes.io/bound-by-controller";
	struct bt_up_writes *writes = context;
	struct bt_arena *arena = &writes->arena;
	bt_arena_reset(arena);
	const struct bt_str *by_controller =
		bt_str_map_find(&volume->metadata.annotations, bt_str_from(bound_by_controller));
	struct bt_api_request request = request_for(
		builtin(writes, "", "persistentvolumes"), BT_STR(""), volume->metadata.name);
	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_MERGE;
	request.body = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_value(arena, request.body, "metadata",
		metadata_patch(writes, &volume->metadata, bound_by_controller,
			by_controller != NULL ? *by_controller : BT_STR("")));
	struct bt_json_value *spec = bt_json_ensure_object(arena, request.body, "spec");
	struct bt_json_value *reference = bt_json_ensure_object(arena, spec, "claimRef");
	bt_json_set_c(arena, reference, "apiVersion", "v1");
	bt_json_set_c(arena, reference, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, reference, "namespace", claim->metadata.namespace_);
	bt_json_set_str(arena, reference, "name", claim->metadata.name);
	bt_json_set_str(arena, reference, "uid", claim->metadata.uid);
	bt_json_set_str(arena, reference, "resourceVersion", claim->metadata.resource_version);
	return patch_volume_object(writes, &request, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_up_writes *writes = context;
	bt_arena_reset(&writes->arena);
	struct bt_api_request request = request_for(builtin(writes, "", "persistentvolumeclaims"),
		claim->metadata.namespace_, claim->metadata.name);
	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_MERGE;
	request.body = bt_json_new(&writes->arena, BT_JSON_OBJECT);
	bt_json_set_value(&writes->arena, request.body, "metadata",
		metadata_patch(
			writes, &claim->metadata, "volume.kubernetes.io/selected-node", node_name));
	return patch_volume_object(writes, &request, out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	struct bt_up_writes *writes = context;
	struct bt_object *known =
		bt_scheduler_find_pod(writes->scheduler, pod->namespace_, pod->name);
	return known != NULL && bt_str_equal(known->meta->uid, pod->uid);
}

/** --- life --- */

void bt_up_writes_init(struct bt_up_writes *writes, struct bt_api *api)
{
	*writes = (struct bt_up_writes){.api = api, .host = "localhost"};
	/* A name that is too long is cut. */
	(void)gethostname(writes->host, sizeof(writes->host) - 1);
	bt_arena_init(&writes->arena, 0);
	bt_arena_init(&writes->event_arena, 0);
	struct bt_event_sink sink = {.context = writes, .post = post_event, .patch = patch_event};
	writes->events = bt_event_recorder_create(&sink);
	writes->preemption = (struct bt_preemption_writer){
		.context = writes,
		.patch_condition = patch_condition,
		.delete_pod = delete_pod,
		.clear_nomination = clear_nomination,
		.event = preemption_event,
		.activate = activate,
	};
	writes->volumes = (struct bt_volume_writer){
		.context = writes,
		.bind_volume = bind_volume,
		.select_node = select_node,
		.pod_exists = pod_exists,
	};
	writes->writer = (struct bt_scheduler_writer){
		.context = writes,
		.bind = bind,
		.patch_status = patch_status,
		.event = event,
		.preemption = &writes->preemption,
		.volumes = &writes->volumes,
		.warn = warn,
	};
}

void bt_up_writes_finish(struct bt_up_writes *writes)
{
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		free_eviction(&writes->evictions.items[i]);
	}
	bt_vec_finish(&writes->evictions);
	bt_event_recorder_destroy(writes->events);
	bt_strbuf_finish(&writes->event_text);
	bt_arena_finish(&writes->event_arena);
	bt_arena_finish(&writes->arena);
}

void bt_up_writes_tick(struct bt_up_writes *writes, int64_t now_ns)
{
	(void)bt_event_recorder_tick(writes->events, now_ns); /* asked every second anyway */
}
