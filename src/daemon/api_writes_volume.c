/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Volumes and claims are written as a whole, on condition that they are as the scheduler knows
 * them. It keeps only what it reads, so the object is read first, and written with the version that
 * is known: what changed since is a conflict. Spec: 11b section 6.4, 13 section 14.6.
 */
#include "codec/json_edit.h"
#include "daemon/api_writes_private.h"
#include "daemon/write_documents.h"

/** The object came: write it back changed. */
static void write_back(struct bt_write *write, const struct bt_rest_answer *answer)
{
	struct bt_api_writes *writes = write->writes;
	struct bt_arena arena = {0};
	struct bt_json_value *object;
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_rest_decode_body(answer, &arena, &object, &err);
	if (result == 0 && object->type != BT_JSON_OBJECT) {
		result = bt_error_set(&err, BERTH_ERR_SYNTAX, "the answer is not an object");
	}
	if (result < 0) {
		bt_write_end(write, result, &err);
	} else {
		struct bt_json_writer writer;
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
		(void)bt_json_remove_c(metadata, "managedFields"); /* the server keeps its own */
		bt_json_set_str(&arena, metadata, "resourceVersion", version);
		/* As JSON, whatever the client's type is: protobuf would lose what we do not know.
		 */
		bt_strbuf_reset(&writes->scratch);
		bt_json_writer_init(&writer, &writes->scratch, 0);
		bt_json_write_value(&writer, object);
		write->content_type = BT_STR(BT_MEDIA_JSON);
		bt_write_set_body(write, bt_strbuf_str(&writes->scratch));
		write->was_read = true;
		bt_write_send(write);
	}
	bt_arena_finish(&arena);
}

void bt_write_volume_answered(struct bt_write *write, const struct bt_rest_answer *answer)
{
	if (answer->class_ != BT_REST_OK) {
		struct berth_error err = BERTH_ERROR_INIT;
		int result = bt_rest_answer_error(answer, &err);
		bt_write_end(write, result, &err);
	} else if (write->was_read) {
		struct bt_arena arena = {0};
		struct bt_json_value *object;
		struct berth_error err = BERTH_ERROR_INIT;
		int result = bt_rest_decode_body(answer, &arena, &object, &err);
		if (result == 0) {
			bt_write_set_text(&write->resource_version,
				bt_json_text_at(object, "metadata.resourceVersion"));
		}
		bt_write_end(write, result, &err);
		bt_arena_finish(&arena);
	} else {
		write_back(write, answer);
	}
}

/** The answer of one that is over, or its start. */
static int take(struct bt_write *write, struct bt_str *out_version, struct berth_error *err)
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

/** Of this pod, for this object and subject. */
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
	return take(write, out_resource_version, err);
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
	return take(write, out_resource_version, err);
}

static bool pod_exists(void *context, const struct bt_pod_info *pod)
{
	const struct bt_api_writes *writes = context;
	return bt_scheduler_find_same_pod(
		       writes->scheduler, pod->namespace_, pod->name, pod->uid) != NULL;
}

void bt_api_writes_init_volumes(struct bt_api_writes *writes)
{
	writes->volumes = (struct bt_volume_writer){
		.context = writes,
		.bind_volume = bind_volume,
		.select_node = select_node,
		.pod_exists = pod_exists,
	};
}
