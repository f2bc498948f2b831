/* SPDX-License-Identifier: Apache-2.0 */
/** What preemption writes: victims' conditions and deletions, nominations. Spec: 11b section 6.3.
 */
#include "base/nanoseconds.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"
#include "plugins/preemption_executor.h"

static const struct bt_pod *find_pod(
	const struct bt_api_writes *writes, const struct bt_preemption_pod *pod)
{
	return bt_scheduler_find_same_pod(writes->scheduler, pod->namespace_, pod->name, pod->uid);
}

/**
 * In the synchronous form the answer is waited for; else the write begins when the attempt is over
 * and its own patch is answered: first the preemptor is told where it will go, then victims leave
 * (spec 13 section 14.9).
 */
static int evict(
	struct bt_write *write, struct bt_preemption_ticket ticket, struct berth_error *err)
{
	struct bt_api_writes *writes = write->writes;
	write->ticket = ticket;
	if (ticket.executor == NULL) {
		bt_write_start(write);
		return bt_write_wait(write, err);
	}
	bt_vec_push(&writes->evictions, write);
	write->after = write->sequence; /* nothing ends with it: held until flush */
	return BT_PREEMPTION_PENDING;
}

void bt_api_writes_flush(void *context)
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

/** Of a pod whose status is as document's arguments say; 0: there is nothing to write. */
static int patch_pod(struct bt_api_writes *writes, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *target, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, struct berth_error *err)
{
	const struct bt_api_writes_options *options = &writes->options;
	const struct bt_pod *pod = find_pod(writes, target);
	if (pod == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "pod \"%.*s\" not found",
			BT_STR_ARG(target->name));
	}
	bt_strbuf_reset(&writes->scratch);
	if (!bt_document_pod_status(pod, condition, nomination, options->now_ns(options->context),
		    &writes->scratch)) {
		return 0;
	}
	struct bt_write *write = bt_write_create(
		writes, BT_WRITE_EVICTION, target->uid, target->namespace_, target->name);
	write->method = "PATCH";
	write->content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	write->retries = true;
	bt_write_set_path(write, BT_KIND_POD, "/status");
	bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
	return evict(write, ticket, err);
}

static int patch_condition(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, const struct bt_pod_condition *condition,
	struct berth_error *err)
{
	static const struct bt_post_filter_result as_it_is = {0};
	return patch_pod(context, ticket, victim, condition, &as_it_is, err);
}

static int clear_nomination(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, struct berth_error *err)
{
	struct bt_post_filter_result nothing = {true, BT_NOMINATING_OVERRIDE, BT_STR("")};
	return patch_pod(context, ticket, pod, NULL, &nothing, err);
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

static void tell_event(void *context, const struct bt_preemption_event *preempted)
{
	struct bt_api_writes *writes = context;
	const struct bt_pod *pod = find_pod(writes, &preempted->victim);
	if (pod != NULL) {
		writes->writer.event(
			writes, pod, "Normal", "Preempted", "Preempting", preempted->note);
	}
}

static void activate(void *context, const struct bt_preemption_pod *pods, uint32_t count)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	bt_scheduler_activate_now(
		writes->scheduler, pods, count, options->now_ns(options->context));
}

void bt_api_writes_init_preemption(struct bt_api_writes *writes)
{
	writes->preemption = (struct bt_preemption_writer){
		.context = writes,
		.patch_condition = patch_condition,
		.delete_pod = delete_pod,
		.clear_nomination = clear_nomination,
		.event = tell_event,
		.activate = activate,
	};
}
