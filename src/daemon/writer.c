/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/writer.h"

#include "codec/json_edit.h"
#include "daemon/write_documents.h"

static struct bt_write_request make_request(enum bt_write_kind kind, const char *method,
	enum bt_kind target, const char *tail, struct bt_str namespace_, struct bt_str name)
{
	return (struct bt_write_request){
		.kind = kind,
		.method = method,
		.target = target,
		.tail = tail,
		.namespace_ = namespace_,
		.name = name,
	};
}

/** Sends a request whose body is in writer->text. */
static int send_text(struct bt_writer *writer, struct bt_write_request *request, struct bt_str uid,
	struct bt_write_answer *out_answer, struct berth_error *err)
{
	request->uid = uid;
	request->body = bt_strbuf_str(&writer->text);
	return writer->send(writer, request, out_answer, err);
}

static int64_t now_ns(const struct bt_writer *writer)
{
	return writer->now_ns(writer->clock_context);
}

/** --- pods: spec 11b sections 6.1, 6.2 and 6.6 --- */

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_write_request request = make_request(
		BT_WRITE_BINDING, "POST", BT_KIND_POD, "/binding", pod->namespace_, pod->name);
	request.node_name = node_name;
	request.is_protobuf = writer->is_protobuf;
	bt_strbuf_reset(&writer->text);
	if (writer->is_protobuf) {
		bt_document_binding_protobuf(pod, node_name, &writer->text);
	} else {
		bt_document_binding_json(pod, node_name, &writer->text);
	}
	return send_text(writer, &request, pod->uid, NULL, err);
}

static int patch_pod(struct bt_writer *writer, enum bt_write_kind kind,
	struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	const struct bt_object_meta *meta = &pod->metadata;
	struct bt_write_request request =
		make_request(kind, "PATCH", BT_KIND_POD, "/status", meta->namespace_, meta->name);
	request.retries = true;
	request.ticket = ticket;
	bt_strbuf_reset(&writer->text);
	return bt_document_pod_status(pod, condition, nomination, now_ns(writer), &writer->text)
		? send_text(writer, &request, meta->uid, NULL, err)
		: 0;
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct bt_preemption_ticket no_ticket = {.executor = NULL};
	return patch_pod(context, BT_WRITE_STATUS, no_ticket, pod, condition, nomination, err);
}

/** Upstream waits for the answer only to log an error, so this function does not wait. */
static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err)
{
	struct bt_writer *writer = context;
	const struct bt_object_meta *meta = &group->metadata;
	struct bt_write_request request = make_request(BT_WRITE_POD_GROUP, "PATCH",
		BT_KIND_POD_GROUP, "/status", meta->namespace_, meta->name);
	request.retries = true;
	bt_strbuf_reset(&writer->text);
	bt_document_pod_group_status(group, condition, now_ns(writer), &writer->text);
	return send_text(writer, &request, meta->uid, NULL, err);
}

static void record_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	const struct bt_writer *writer = context;
	if (writer->events != NULL) {
		bt_event_recorder_record_pod(
			writer->events, pod, type, reason, action, note, now_ns(writer));
	}
}

/** --- preemption --- */

static int patch_other(void *context, struct bt_preemption_ticket ticket, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	return patch_pod(context, BT_WRITE_EVICTION, ticket, pod, condition, nomination, err);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_write_request request = make_request(
		BT_WRITE_EVICTION, "DELETE", BT_KIND_POD, "", victim->namespace_, victim->name);
	request.is_protobuf = writer->is_protobuf;
	request.ticket = ticket;
	bt_strbuf_set(&writer->text,
		writer->is_protobuf ? bt_document_delete_protobuf : bt_document_delete_json);
	return send_text(writer, &request, victim->uid, NULL, err);
}

/** --- volumes: spec 11b section 6.4, 13 section 14.6 --- */

/** Sends the patch, on condition that the object still has the resourceVersion of meta. */
static int patch_volume(struct bt_writer *writer, enum bt_kind target,
	const struct bt_object_meta *meta, struct bt_json_value *patch,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_write_answer answer = {.claim = NULL};
	struct bt_write_request request =
		make_request(BT_WRITE_VOLUME, "PATCH", target, "", meta->namespace_, meta->name);
	bt_json_put(
		&writer->arena, patch, "{metadata: {resourceVersion: %s}}", meta->resource_version);
	bt_strbuf_reset(&writer->text);
	bt_json_format(patch, &writer->text);
	bt_arena_reset(&writer->arena);
	int result = send_text(writer, &request, BT_STR(""), &answer, err);
	if (result == 0) {
		*out_resource_version = answer.resource_version;
	}
	return result;
}

static int bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim BT_UNUSED,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_json_value *patch = bt_json_new(&writer->arena, BT_JSON_OBJECT);
	bt_document_bind_volume(&writer->arena, patch, volume);
	return patch_volume(writer, BT_KIND_PERSISTENT_VOLUME, &volume->metadata, patch,
		out_resource_version, err);
}

static int select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_json_value *patch = bt_json_new(&writer->arena, BT_JSON_OBJECT);
	bt_document_select_node(&writer->arena, patch, node_name);
	return patch_volume(writer, BT_KIND_PERSISTENT_VOLUME_CLAIM, &claim->metadata, patch,
		out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	const struct bt_writer *writer = context;
	return bt_scheduler_find_same_pod(
		       writer->scheduler, pod->namespace_, pod->name, pod->uid) != NULL;
}

/** --- claims: spec 12 sections 10 and 12 to 15, 11b section 6.5, 13 section 14.7 --- */

/** Sends a request for a claim; the body, which may be empty, is in writer->text. */
static int send_claim(struct bt_writer *writer, const struct bt_pod_info *pod,
	struct bt_write_request *request, bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_write_answer answer = {.claim = NULL};
	request->must_end = must_end;
	int result = send_text(writer, request, pod->uid, out_claim != NULL ? &answer : NULL, err);
	if (result == 0 && out_claim != NULL) {
		*out_claim = answer.claim;
	}
	return result;
}

static int write_claim(void *context, const struct bt_pod_info *pod, enum bt_claim_write what,
	const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_writer *writer = context;
	/*
	 * JSON even if the client uses protobuf: encoding as protobuf would drop the fields that
	 * berth does not define.
	 */
	struct bt_write_request request =
		make_request(BT_WRITE_CLAIM, what == BT_CLAIM_WRITE_NEW ? "POST" : "PUT",
			BT_KIND_RESOURCE_CLAIM, what == BT_CLAIM_WRITE_STATUS ? "/status" : "",
			claim->metadata.namespace_, claim->metadata.name);
	struct bt_object *whole = base != NULL && writer->find_complete != NULL
		? writer->find_complete(writer, base)
		: NULL;
	bt_strbuf_reset(&writer->text);
	int result = bt_document_claim(whole != NULL ? whole : base, claim, &writer->text, err);
	bt_object_release(whole);
	return result == 0 ? send_claim(writer, pod, &request, must_end, out_claim, err) : result;
}

static int get_claim(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_write_request request =
		make_request(BT_WRITE_CLAIM, "GET", BT_KIND_RESOURCE_CLAIM, "", namespace_, name);
	bt_strbuf_reset(&writer->text);
	return send_claim(writer, pod, &request, must_end, out_claim, err);
}

static int remove_claim(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, bool must_end, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_json_writer json;
	struct bt_write_request request = make_request(BT_WRITE_CLAIM, "DELETE",
		BT_KIND_RESOURCE_CLAIM, "", claim->metadata.namespace_, claim->metadata.name);
	bt_strbuf_reset(&writer->text);
	bt_json_writer_init(&json, &writer->text, 0);
	bt_json_write(&json, "{kind: 'DeleteOptions', apiVersion: 'v1', preconditions: {uid: %s}}",
		claim->metadata.uid);
	return send_claim(writer, pod, &request, must_end, NULL, err);
}

static void unreserve(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct bt_writer *writer = context;
	struct bt_write_request request =
		make_request(BT_WRITE_UNRESERVE, "PATCH", BT_KIND_RESOURCE_CLAIM, "/status",
			claim->metadata.namespace_, claim->metadata.name);
	bt_strbuf_reset(&writer->text);
	bt_document_unreserve(claim, uid, &writer->text);
	(void)send_claim(writer, pod, &request, false, NULL, NULL); /* reports its failure */
}

static int patch_pod_status(void *context, const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end, struct berth_error *err)
{
	struct bt_writer *writer = context;
	struct bt_write_request request = make_request(
		BT_WRITE_CLAIM, "PATCH", BT_KIND_POD, "/status", pod->namespace_, pod->name);
	request.retries = true;
	bt_strbuf_reset(&writer->text);
	return bt_document_pod_claims(old_status, new_status, &writer->text)
		? send_claim(writer, pod, &request, must_end, NULL, err)
		: 0;
}

void bt_writer_init(struct bt_writer *writer)
{
	writer->volumes = (struct bt_volume_writer){
		.context = writer,
		.bind_volume = bind_volume,
		.select_node = select_node,
		.pod_exists = pod_exists,
	};
	writer->claims = (struct bt_claim_writer){
		.context = writer,
		.write = write_claim,
		.get = get_claim,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
	};
	writer->writer = (struct bt_scheduler_writer){
		.context = writer,
		.bind = bind,
		.patch_status = patch_status,
		.patch_pod_group = patch_pod_group,
		.event = record_event,
		.patch_other = patch_other,
		.delete_pod = delete_pod,
		.volumes = &writer->volumes,
		.claims = &writer->claims,
	};
}

void bt_writer_finish(struct bt_writer *writer)
{
	bt_strbuf_finish(&writer->text);
	bt_arena_finish(&writer->arena);
}
