/* SPDX-License-Identifier: Apache-2.0 */
/** What preemption writes: victims' conditions and deletions, nominations. Spec: 11b section 6.3.
 */
#include "base/nanoseconds.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"
#include "plugins/preemption_executor.h"

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

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	const struct bt_api_writes_options *options = &writes->options;
	const struct bt_object_meta *meta = &pod->metadata;
	bt_strbuf_reset(&writes->scratch);
	if (!bt_document_pod_status(pod, condition, nomination, options->now_ns(options->context),
		    &writes->scratch)) {
		return 0;
	}
	struct bt_write *write =
		bt_write_create(writes, BT_WRITE_EVICTION, meta->uid, meta->namespace_, meta->name);
	write->method = "PATCH";
	write->content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH);
	write->retries = true;
	bt_write_set_path(write, BT_KIND_POD, "/status");
	bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
	return evict(write, ticket, err);
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

void bt_api_writes_init_preemption(struct bt_api_writes *writes)
{
	writes->writer.patch_other = patch_other;
	writes->writer.delete_pod = delete_pod;
	writes->writer.attempt_ended = bt_api_writes_flush;
}
