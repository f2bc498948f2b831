/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The requests of DynamicResources: reads, writes and deletions of whole claims, and patches of
 * claim and pod statuses. Spec: 12 sections 10 and 12 to 15, 11b section 6.5, 13 section 14.7.
 */
#include "base/log.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"
#include "daemon/complete_object.h"

struct call {
	const char *method;
	enum bt_kind kind;
	struct bt_str namespace_;
	struct bt_str name; /* "": a request on the collection */
	const char *tail;   /* end of the path: "" or "/status" */
	struct bt_str content_type;
	struct bt_str body;
	bool retries;
};

static bool is_method(const struct bt_write *write, const char *method)
{
	return strcmp(write->method, method) == 0;
}

void bt_write_claim_answered(struct bt_write *write, const struct bt_rest_answer *answer)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_rest_answer_error(answer, &err);
	write->conflicts = answer->class_ == BT_REST_CONFLICT;
	if (result == 0 && !is_method(write, "PATCH") && !is_method(write, "DELETE")) {
		result = bt_complete_object_decode(
			BT_KIND_RESOURCE_CLAIM, answer->body, &write->object, &err);
	}
	if (result < 0 && (is_method(write, "PATCH") && write->target == BT_KIND_RESOURCE_CLAIM)) {
		BT_LOG_ERROR(berth_error_message(&err), "unreserve",
			BT_LOG_REF("resourceclaim", bt_str_from(write->namespace_),
				bt_str_from(write->name)));
	}
	bt_write_end(write, result, &err);
}

static struct bt_write *create(
	struct bt_api_writes *writes, const struct bt_pod_info *pod, const struct call *call)
{
	struct bt_write *write =
		bt_write_create(writes, BT_WRITE_CLAIM, pod->uid, call->namespace_, call->name);
	bt_write_set_path(write, call->kind, call->tail);
	write->method = call->method;
	write->content_type = call->content_type;
	write->retries = call->retries;
	write->target = call->kind;
	write->digest = bt_str_hash(call->body);
	if (call->body.length != 0) {
		bt_write_set_body(write, call->body);
	}
	return write;
}

/**
 * Start the request, or take its result if an earlier call with the same arguments started it.
 * must_end: wait for the answer. out_claim: the claim in the answer; NULL: not needed. Returns 0,
 * an error, BT_WRITE_PENDING while there is no answer, or BT_WRITE_CONFLICT.
 */
static int perform(struct bt_api_writes *writes, const struct bt_pod_info *pod,
	const struct call *call, bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_strbuf subject = {0};
	bt_strbuf_printf(&subject, "%s %s/%.*s/%.*s%s", call->method,
		bt_kind_info(call->kind)->name, BT_STR_ARG(call->namespace_),
		BT_STR_ARG(call->name), call->tail);
	struct bt_write *write =
		bt_write_find(writes, BT_WRITE_CLAIM, pod->uid, bt_strbuf_str(&subject));
	if (write != NULL && write->digest != bt_str_hash(call->body)) {
		/* An earlier, abandoned attempt started this write, with another body. */
		bt_write_abandon(write);
		write = NULL;
	}
	if (write == NULL && bt_api_writes_may_write(writes, err)) {
		write = create(writes, pod, call);
		bt_write_set_text(&write->subject, bt_strbuf_str(&subject));
		bt_write_start(write);
	}
	bt_strbuf_finish(&subject);
	if (write == NULL) {
		return BERTH_ERR_STATE;
	}
	if (must_end && !bt_write_await(write)) {
		bt_write_abandon(write);
		return bt_error_set(err, BERTH_ERR_STATE, "context canceled");
	}
	if (write->state < BT_WRITE_ANSWERED) {
		return BT_WRITE_PENDING;
	}
	bool conflicts = write->conflicts;
	struct bt_object *object = write->object;
	write->object = NULL;
	int result = bt_write_take(write, err);
	if (result == 0 && out_claim != NULL) {
		*out_claim = object;
	} else {
		bt_object_release(object);
	}
	return conflicts ? BT_WRITE_CONFLICT : result;
}

static int write_claim(void *context, const struct bt_pod_info *pod, enum bt_claim_write what,
	const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	bt_strbuf_reset(&writes->scratch);
	int result = bt_document_claim(base, claim, &writes->scratch, err);
	if (result < 0) {
		return result;
	}
	/*
	 * Write JSON even if the client uses protobuf: encoding as protobuf would drop the fields
	 * that berth does not define.
	 */
	struct call call = {
		.method = what == BT_CLAIM_WRITE_NEW ? "POST" : "PUT",
		.kind = BT_KIND_RESOURCE_CLAIM,
		.namespace_ = claim->metadata.namespace_,
		.name = claim->metadata.name,
		.tail = what == BT_CLAIM_WRITE_STATUS ? "/status" : "",
		.content_type = BT_STR(BT_MEDIA_JSON),
		.body = bt_strbuf_str(&writes->scratch),
	};
	return perform(writes, pod, &call, must_end, out_claim, err);
}

static int get_claim(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct call call = {
		.method = "GET",
		.kind = BT_KIND_RESOURCE_CLAIM,
		.namespace_ = namespace_,
		.name = name,
		.tail = "",
	};
	return perform(context, pod, &call, must_end, out_claim, err);
}

static int remove_claim(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, bool must_end, struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	bt_strbuf_reset(&writes->scratch);
	bt_document_delete_uid(claim->metadata.uid, &writes->scratch);
	struct call call = {
		.method = "DELETE",
		.kind = BT_KIND_RESOURCE_CLAIM,
		.namespace_ = claim->metadata.namespace_,
		.name = claim->metadata.name,
		.tail = "",
		.content_type = BT_STR(BT_MEDIA_JSON),
		.body = bt_strbuf_str(&writes->scratch),
	};
	return perform(writes, pod, &call, must_end, NULL, err);
}

static void unreserve(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct bt_api_writes *writes = context;
	bt_strbuf_reset(&writes->scratch);
	bt_document_unreserve(claim, uid, &writes->scratch);
	struct call call = {
		.method = "PATCH",
		.kind = BT_KIND_RESOURCE_CLAIM,
		.namespace_ = claim->metadata.namespace_,
		.name = claim->metadata.name,
		.tail = "/status",
		.content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH),
		.body = bt_strbuf_str(&writes->scratch),
	};
	bt_write_start(create(writes, pod, &call));
}

static int patch_pod_status(void *context, const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end, struct berth_error *err)
{
	struct bt_api_writes *writes = context;
	bt_strbuf_reset(&writes->scratch);
	if (!bt_document_pod_claims(old_status, new_status, &writes->scratch)) {
		return 0;
	}
	struct call call = {
		.method = "PATCH",
		.kind = BT_KIND_POD,
		.namespace_ = pod->namespace_,
		.name = pod->name,
		.tail = "/status",
		.content_type = BT_STR(BT_MEDIA_STRATEGIC_PATCH),
		.body = bt_strbuf_str(&writes->scratch),
		.retries = true,
	};
	return perform(writes, pod, &call, must_end, NULL, err);
}

void bt_api_writes_init_claims(struct bt_api_writes *writes)
{
	writes->claims = (struct bt_claim_writer){
		.context = writes,
		.write = write_claim,
		.get = get_claim,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
	};
}
