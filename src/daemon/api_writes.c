/* SPDX-License-Identifier: Apache-2.0 */
/** Bindings, status patches, events; how answers reach the scheduler. Spec: 11b section 6. */
#include "daemon/api_writes.h"

#include "base/log.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"
#include "plugins/preemption_executor.h"

bool bt_api_writes_may_write(const struct bt_api_writes *writes, struct berth_error *err)
{
	const struct bt_api_writes_options *options = &writes->options;
	if (options->may_write == NULL || options->may_write(options->context)) {
		return true;
	}
	(void)bt_error_set(err, BERTH_ERR_STATE, "this process does not lead any more");
	return false;
}

void bt_write_set_path(struct bt_write *write, enum bt_kind kind, const char *tail)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	struct bt_strbuf path = {0};
	bt_strbuf_append_c(&path, info->group[0] == '\0' ? "/api/" : "/apis/");
	bt_kind_append_api_version(kind, &path);
	bt_strbuf_append_char(&path, '/');
	if (write->namespace_[0] != '\0') {
		bt_strbuf_append_c(&path, "namespaces/");
		bt_rest_append_segment(&path, bt_str_from(write->namespace_));
		bt_strbuf_append_char(&path, '/');
	}
	bt_strbuf_append_c(&path, info->resource);
	if (write->name[0] != '\0') {
		bt_strbuf_append_char(&path, '/');
		bt_rest_append_segment(&path, bt_str_from(write->name));
	}
	bt_strbuf_append_c(&path, tail);
	write->path = bt_strbuf_steal(&path);
	struct bt_strbuf resource = {0};
	bt_strbuf_printf(&resource, "%s%s%s", info->resource, info->group[0] != '\0' ? "." : "",
		info->group);
	write->resource = bt_strbuf_steal(&resource);
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
	const struct bt_api_writes_options *options = &writes->options;
	bt_strbuf_reset(&writes->scratch);
	if (!bt_document_pod_status(pod, condition, nomination, options->now_ns(options->context),
		    &writes->scratch)) {
		return 0;
	}
	struct bt_write *write = bt_write_create(writes, BT_WRITE_STATUS, pod->metadata.uid,
		pod->metadata.namespace_, pod->metadata.name);
	write->method = "PATCH";
	write->content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	write->retries = true;
	bt_write_set_path(write, BT_KIND_POD, "/status");
	bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
	writes->attempt_patch = write->sequence;
	bt_write_start(write);
	return bt_scheduler_queues_calls(writes->scheduler) ? BT_WRITE_PENDING : 0;
}

/** --- events --- */

static void event(void *context, const struct bt_pod *pod, const char *type, const char *reason,
	const char *action, struct bt_str note)
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

/** --- answers --- */

static void tell_of_patch(struct bt_write *write)
{
	const char *message = write->message != NULL ? write->message : "";
	bool is_known = bt_scheduler_patch_answered(write->writes->scheduler,
		bt_str_from(write->uid), write->result, bt_str_from(message));
	if (!is_known && write->result < 0) {
		BT_LOG_ERROR(message, "Error updating pod",
			BT_LOG_REF(
				"pod", bt_str_from(write->namespace_), bt_str_from(write->name)));
	}
}

static void tell(struct bt_write *write)
{
	struct bt_api_writes *writes = write->writes;
	struct bt_preemption_ticket ticket = write->ticket;
	int result = write->result;
	switch (write->kind) {
	case BT_WRITE_BINDING:
	case BT_WRITE_VOLUME:
	case BT_WRITE_CLAIM:
		if (write->subject == NULL) {
			bt_write_destroy(write);
			return;
		}
		write->state = BT_WRITE_TOLD;
		writes->told++;
		bt_scheduler_resume(writes->scheduler, bt_str_from(write->uid));
		return;
	case BT_WRITE_STATUS:
		tell_of_patch(write);
		bt_write_destroy(write);
		return;
	case BT_WRITE_EVICTION:
		bt_write_destroy(write);
		bt_preemption_complete(ticket.executor, ticket.id, result);
		return;
	}
}

void bt_api_writes_deliver(struct bt_api_writes *writes)
{
	/* What is told may answer the next one at once. */
	for (uint32_t i = 0; i < writes->answered.count; i++) {
		tell(writes->answered.items[i]);
	}
	writes->answered.count = 0;
	bt_api_writes_flush(writes);
}

/** No binding cycle has asked for the answers that are left: drop them. */
static bool may_schedule(void *context)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	for (uint32_t i = 0; i < writes->list.count && writes->told != 0; i++) {
		struct bt_write *write = writes->list.items[i];
		if (write != NULL && write->state == BT_WRITE_TOLD) {
			bt_write_destroy(write);
		}
	}
	return (options->in_flight_max == NULL ||
		       writes->in_flight < options->in_flight_max(options->context)) &&
		bt_api_writes_may_write(writes, NULL);
}

/** --- life --- */

void bt_api_writes_init_pods(struct bt_api_writes *writes)
{
	writes->writer = (struct bt_scheduler_writer){
		.context = writes,
		.bind = bind,
		.patch_status = patch_status,
		.event = event,
		.volumes = &writes->volumes,
		.claims = &writes->claims,
		.warn = warn,
		.may_schedule = may_schedule,
	};
}

const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes)
{
	return &writes->writer;
}

void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler)
{
	writes->scheduler = scheduler;
}
