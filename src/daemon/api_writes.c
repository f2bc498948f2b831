/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Creates the writes of bindings, statuses, preemption and volumes, records events, and reports
 * answers to the scheduler. Spec: 11b section 6.
 */
#include "daemon/api_writes.h"

#include "base/log.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"
#include "plugins/preemption_executor.h"

/**
 * With an executor (asynchronous preemption) the eviction is held until the attempt ends and the
 * patch of the preemptor has its answer: the API server learns the nominated node before the
 * victims leave (spec 13 section 14.9). Without an executor the call waits for the answer.
 */
static int evict(
	struct bt_write *write, struct bt_preemption_ticket ticket, struct berth_error *err)
{
	struct bt_api_writes *writes = write->writes;
	write->ticket = ticket;
	if (ticket.executor == NULL) {
		bt_write_start(write);
		if (bt_write_await(write)) {
			return bt_write_take(write, err);
		}
		writes->in_flight -= write->state < BT_WRITE_ANSWERED;
		bt_write_destroy(write);
		return bt_error_set(err, BERTH_ERR_STATE, "context canceled");
	}
	bt_vec_push(&writes->evictions, write);
	write->after =
		write->sequence; /* the write waits for itself: only flush_evictions starts it */
	return BT_PREEMPTION_PENDING;
}

/**
 * Start the evictions that were held during the attempt. If the attempt's status patch has no
 * answer yet, the evictions are sent after that answer.
 */
static void flush_evictions(void *context)
{
	struct bt_api_writes *writes = context;
	const struct bt_write *patch = NULL;
	for (uint32_t i = 0; i < writes->list.count && writes->evictions.count != 0; i++) {
		const struct bt_write *write = writes->list.items[i];
		if (write != NULL && write->sequence == writes->attempt_patch &&
			write->state < BT_WRITE_ANSWERED) {
			patch = write;
		}
	}
	for (uint32_t i = 0; i < writes->evictions.count; i++) {
		struct bt_write *write = writes->evictions.items[i];
		write->after = patch != NULL ? patch->sequence : 0;
		bt_write_start(write);
	}
	writes->evictions.count = 0;
	writes->attempt_patch = 0;
}

bool bt_api_writes_may_write(const struct bt_api_writes *writes, struct berth_error *err)
{
	const struct bt_api_writes_options *options = &writes->options;
	if (options->may_write == NULL || options->may_write(options->context)) {
		return true;
	}
	(void)bt_error_set(err, BERTH_ERR_STATE, "this process does not lead any more");
	return false;
}

/** Create a write that patches the status with the body in writes->scratch. */
static struct bt_write *create_status_patch(struct bt_api_writes *writes, enum bt_write_kind kind,
	enum bt_kind object_kind, const struct bt_object_meta *meta)
{
	struct bt_write *write =
		bt_write_create(writes, kind, meta->uid, meta->namespace_, meta->name);
	write->method = "PATCH";
	write->content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	write->retries = true;
	bt_write_set_path(write, object_kind, "/status");
	bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
	return write;
}

/**
 * Create a write that patches the pod's status, without starting the write. NULL: the patch would
 * change nothing.
 */
static struct bt_write *create_patch(struct bt_api_writes *writes, enum bt_write_kind kind,
	const struct bt_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination)
{
	const struct bt_api_writes_options *options = &writes->options;
	bt_strbuf_reset(&writes->scratch);
	bool changes = bt_document_pod_status(
		pod, condition, nomination, options->now_ns(options->context), &writes->scratch);
	return changes ? create_status_patch(writes, kind, BT_KIND_POD, &pod->metadata) : NULL;
}

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_write *write =
		create_patch(context, BT_WRITE_EVICTION, pod, condition, nomination);
	return write != NULL ? evict(write, ticket, err) : 0;
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	if (!bt_api_writes_may_write(writes, err)) {
		return BERTH_ERR_STATE;
	}
	struct bt_write *write = bt_write_create(
		writes, BT_WRITE_EVICTION, victim->uid, victim->namespace_, victim->name);
	write->method = "DELETE";
	bt_write_set_path(write, BT_KIND_POD, "");
	if (bt_rest_writes_protobuf(writes->options.client)) {
		write->content_type = BT_STR(BT_MEDIA_PROTOBUF);
		bt_write_set_body(write, bt_document_delete_protobuf);
	} else {
		write->content_type = BT_STR(BT_MEDIA_JSON);
		bt_write_set_body(write, bt_document_delete_json);
	}
	return evict(write, ticket, err);
}

/**
 * PersistentVolumes and PersistentVolumeClaims are written as a whole. The scheduler keeps only the
 * fields that it reads, so the object is read first and then written with the resourceVersion that
 * the scheduler has: if the object has changed since that version, the API server answers with a
 * conflict. Spec: 11b section 6.4, 13 section 14.6.
 */

void bt_write_volume_answered(struct bt_write *write, const struct bt_rest_answer *answer)
{
	struct bt_arena arena = {0};
	struct bt_json_value *object;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_rest_answer_error(answer, &err);
	if (result == 0) {
		result = bt_rest_decode_body(answer, &arena, &object, &err);
	}
	if (result == 0 && !write->was_read && object->type != BT_JSON_OBJECT) {
		result = bt_error_set(&err, BERTH_ERR_SYNTAX, "the answer is not an object");
	}
	if (result != 0 || write->was_read) {
		if (result == 0) {
			bt_write_set_text(&write->resource_version,
				bt_json_text_at(object, "metadata.resourceVersion"));
		}
		bt_write_end(write, result, &err);
		bt_arena_finish(&arena);
		return;
	}
	/* Change the object in the answer to the GET, and PUT the changed object. */
	const struct bt_persistent_volume_claim *claim =
		bt_object_value(write->claim, BT_KIND_PERSISTENT_VOLUME_CLAIM);
	struct bt_str version = claim->metadata.resource_version;
	if (write->volume != NULL) {
		const struct bt_persistent_volume *volume =
			bt_object_value(write->volume, BT_KIND_PERSISTENT_VOLUME);
		version = volume->metadata.resource_version;
		bt_document_bind_volume(&arena, object, volume);
	} else {
		bt_document_select_node(&arena, object, bt_str_from(write->subject));
	}
	struct bt_json_value *metadata = bt_json_ensure_object(&arena, object, "metadata");
	(void)bt_json_remove_c(metadata, "managedFields"); /* the server keeps its value */
	bt_json_set_str(&arena, metadata, "resourceVersion", version);
	/*
	 * Write JSON even if the client uses protobuf: encoding as protobuf would drop the fields
	 * that berth does not define.
	 */
	struct bt_strbuf *scratch = &write->writes->scratch;
	bt_strbuf_reset(scratch);
	bt_json_format(object, scratch);
	write->content_type = BT_STR(BT_MEDIA_JSON);
	bt_write_set_body(write, bt_strbuf_str(scratch));
	write->was_read = true;
	bt_write_send(write);
	bt_arena_finish(&arena);
}

/**
 * Take the result of a BT_WRITE_VOLUME. Returns BT_WRITE_PENDING while the write has no answer.
 * *out_version: resourceVersion of the written object, set only on success; borrowed until the next
 * call.
 */
static int take_answer(struct bt_write *write, struct bt_str *out_version, struct berth_error *err)
{
	struct bt_api_writes *writes = write->writes;
	if (write->state < BT_WRITE_ANSWERED) {
		return BT_WRITE_PENDING;
	}
	if (write->result == 0) {
		bt_strbuf_reset(&writes->resource_version);
		bt_strbuf_append_c(&writes->resource_version, write->resource_version);
		*out_version = bt_strbuf_str(&writes->resource_version);
	}
	return bt_write_take(write, err);
}

/**
 * Create a BT_WRITE_VOLUME for the pod whose binding cycle runs now (bt_scheduler_binding_uid). The
 * caller sets the write's volume and claim, and starts the write.
 */
static struct bt_write *start(struct bt_api_writes *writes, const struct bt_object_meta *meta,
	struct bt_str subject, enum bt_kind kind)
{
	struct bt_write *write = bt_write_create(writes, BT_WRITE_VOLUME,
		bt_scheduler_binding_uid(writes->scheduler), meta->namespace_, meta->name);
	bt_write_set_path(write, kind, "");
	write->method = "PUT";
	bt_write_set_text(&write->subject, subject);
	return write;
}

/**
 * Find the BT_WRITE_VOLUME for this object and subject that the running binding cycle started in an
 * earlier call. NULL: there is no such write.
 */
static struct bt_write *find(const struct bt_api_writes *writes, const struct bt_object_meta *meta,
	struct bt_str subject)
{
	struct bt_write *write = bt_write_find(
		writes, BT_WRITE_VOLUME, bt_scheduler_binding_uid(writes->scheduler), subject);
	return write != NULL && bt_str_equal_c(meta->name, write->name) &&
			bt_str_equal_c(meta->namespace_, write->namespace_)
		? write
		: NULL;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str *out_resource_version,
	struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	struct bt_write *write = find(writes, &volume->metadata, claim->metadata.uid);
	if (write == NULL) {
		write = start(
			writes, &volume->metadata, claim->metadata.uid, BT_KIND_PERSISTENT_VOLUME);
		write->volume = bt_object_create(BT_KIND_PERSISTENT_VOLUME, volume);
		write->claim = bt_object_create(BT_KIND_PERSISTENT_VOLUME_CLAIM, claim);
		bt_write_start(write);
	}
	return take_answer(write, out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	struct bt_write *write = find(writes, &claim->metadata, node_name);
	if (write == NULL) {
		write = start(writes, &claim->metadata, node_name, BT_KIND_PERSISTENT_VOLUME_CLAIM);
		write->claim = bt_object_create(BT_KIND_PERSISTENT_VOLUME_CLAIM, claim);
		bt_write_start(write);
	}
	return take_answer(write, out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	const struct bt_api_writes *writes = context;
	return bt_scheduler_find_same_pod(
		       writes->scheduler, pod->namespace_, pod->name, pod->uid) != NULL;
}

void bt_write_set_path(struct bt_write *write, enum bt_kind kind, const char *tail)
{
	struct bt_strbuf path = {0};
	bt_kind_append_path(kind, bt_kind_version_at(kind, 0), &path);
	bt_rest_append_object(&path, bt_str_from(write->namespace_),
		bt_str_from(bt_kind_info(kind)->resource), bt_str_from(write->name));
	bt_strbuf_append_c(&path, tail);
	write->path = bt_strbuf_steal(&path);
	write->resource = bt_kind_info(kind)->resource;
}

/** --- bindings: spec 11b section 6.1 --- */

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	struct bt_write *known = bt_write_find(writes, BT_WRITE_BINDING, pod->uid, node_name);
	if (known != NULL) {
		return known->state >= BT_WRITE_ANSWERED ? bt_write_take(known, err)
							 : BT_WRITE_PENDING;
	}
	if (!bt_api_writes_may_write(writes, err)) {
		return BERTH_ERR_STATE;
	}
	struct bt_write *write =
		bt_write_create(writes, BT_WRITE_BINDING, pod->uid, pod->namespace_, pod->name);
	BT_LOG_INFO(3, "Attempting to bind pod to node",
		BT_LOG_REF("pod", pod->namespace_, pod->name), BT_LOG_STR("node", node_name));
	bt_write_set_text(&write->subject, node_name);
	write->method = "POST";
	bt_write_set_path(write, BT_KIND_POD, "/binding");
	bt_strbuf_reset(&writes->scratch);
	if (bt_rest_writes_protobuf(writes->options.client)) {
		write->content_type = BT_STR(BT_MEDIA_PROTOBUF);
		bt_document_binding_protobuf(pod, node_name, &writes->scratch);
	} else {
		write->content_type = BT_STR(BT_MEDIA_JSON);
		bt_document_binding_json(pod, node_name, &writes->scratch);
	}
	bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
	bt_write_start(write);
	return BT_WRITE_PENDING;
}

/** --- status patches: spec 11b section 6.2 --- */

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err BT_UNUSED)
{
	struct bt_api_writes *writes = context;
	struct bt_write *write = create_patch(writes, BT_WRITE_STATUS, pod, condition, nomination);
	if (write == NULL) {
		return 0;
	}
	writes->attempt_patch = write->sequence;
	bt_write_start(write);
	return bt_scheduler_queues_calls(writes->scheduler) ? BT_WRITE_PENDING : 0;
}

/** Upstream waits for the answer only to log an error, so this function does not wait. */
static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err BT_UNUSED)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	bt_strbuf_reset(&writes->scratch);
	bt_document_pod_group_status(
		group, condition, options->now_ns(options->context), &writes->scratch);
	bt_write_start(create_status_patch(
		writes, BT_WRITE_POD_GROUP, BT_KIND_POD_GROUP, &group->metadata));
	return 0;
}

static void record_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	if (options->events != NULL) {
		bt_event_recorder_record_pod(options->events, pod, type, reason, action, note,
			options->now_ns(options->context));
	}
}

static void warn(void *context BT_UNUSED, struct bt_str line)
{
	BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%.*s", BT_STR_ARG(line));
}

void bt_api_writes_deliver(struct bt_api_writes *writes)
{
	/*
	 * Remove the first write in each pass, and keep no index: while a result is reported, the
	 * scheduler may drop another write or fetch its result, which removes that write from the
	 * list.
	 */
	while (writes->answered.count != 0) {
		struct bt_write *write = writes->answered.items[0];
		struct bt_preemption_ticket ticket = write->ticket;
		struct bt_str uid = bt_str_from(write->uid);
		const char *message = write->message != NULL ? write->message : "";
		int result = write->result;
		bt_vec_remove_ordered(&writes->answered, 0);
		switch (write->kind) {
		case BT_WRITE_BINDING:
		case BT_WRITE_VOLUME:
		case BT_WRITE_CLAIM:
			if (write->subject == NULL) {
				bt_write_destroy(write);
				break;
			}
			write->state = BT_WRITE_REPORTED;
			writes->reported++;
			bt_scheduler_resume(writes->scheduler, uid);
			break;
		case BT_WRITE_STATUS:
			if (!bt_scheduler_patch_answered(
				    writes->scheduler, uid, result, bt_str_from(message)) &&
				result < 0) {
				BT_LOG_ERROR(message, "Error updating pod",
					BT_LOG_REF("pod", bt_str_from(write->namespace_),
						bt_str_from(write->name)));
			}
			bt_write_destroy(write);
			break;
		case BT_WRITE_POD_GROUP:
			if (result < 0) {
				BT_LOG_ERROR(message, "Failed to update pod group status",
					BT_LOG_REF("podGroup", bt_str_from(write->namespace_),
						bt_str_from(write->name)));
			}
			bt_write_destroy(write);
			break;
		case BT_WRITE_EVICTION:
			bt_write_destroy(write);
			bt_preemption_complete(ticket.executor, ticket.id, result);
			break;
		}
	}
	flush_evictions(writes);
}

/**
 * Return whether the next attempt may start. Also destroy the writes in state BT_WRITE_REPORTED:
 * the scheduler continues all resumed binding cycles before it calls this function, so a result
 * that is still here belongs to a binding cycle that has ended.
 */
static bool may_schedule(void *context)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	for (uint32_t i = 0; i < writes->list.count && writes->reported != 0; i++) {
		struct bt_write *write = writes->list.items[i];
		if (write != NULL && write->state == BT_WRITE_REPORTED) {
			bt_write_destroy(write);
		}
	}
	return (options->in_flight_max == NULL ||
		       writes->in_flight < options->in_flight_max(options->context)) &&
		bt_api_writes_may_write(writes, NULL);
}

const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes)
{
	return &writes->writer;
}

void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler)
{
	writes->scheduler = scheduler;
}

void bt_api_writes_init(struct bt_api_writes *writes)
{
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
		.patch_pod_group = patch_pod_group,
		.patch_other = patch_other,
		.delete_pod = delete_pod,
		.attempt_ended = flush_evictions,
		.event = record_event,
		.volumes = &writes->volumes,
		.claims = &writes->claims,
		.warn = warn,
		.may_schedule = may_schedule,
	};
}
