/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/write_documents.h"

#include "api/identity.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "framework/framework.h"

/** --- bindings and deletions --- */

static const char delete_envelope[] = "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
				      "DeleteOptions\x12\x00\x1a\x00\x22";

/* The last zero byte is the literal's own. */
const struct bt_str bt_document_delete_protobuf = {delete_envelope, sizeof(delete_envelope)};
const struct bt_str bt_document_delete_json =
	BT_STR_INIT("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");

static uint32_t varint_bytes(uint32_t value)
{
	uint32_t bytes = 1;
	for (; value >= 0x80; value >>= 7) {
		bytes++;
	}
	return bytes;
}

static void append_head(struct bt_strbuf *out, char tag, uint32_t length)
{
	bt_strbuf_append_char(out, tag);
	for (; length >= 0x80; length >>= 7) {
		bt_strbuf_append_char(out, (char)(length | 0x80));
	}
	bt_strbuf_append_char(out, (char)length);
}

static void append_text(struct bt_strbuf *out, char tag, struct bt_str text)
{
	append_head(out, tag, text.length);
	bt_strbuf_append_str(out, text);
}

/** A field of this length with its tag and length. */
static uint32_t field_bytes(uint32_t length)
{
	return 1 + varint_bytes(length) + length;
}

void bt_document_binding_protobuf(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out)
{
	static const char head[] = "k8s\0\x0a\x0d\x0a\x02v1\x12\x07"
				   "Binding";
	uint32_t metadata = field_bytes(pod->name.length) + field_bytes(pod->namespace_.length) +
		field_bytes(pod->uid.length);
	uint32_t target = field_bytes(4) + field_bytes(node_name.length);
	bt_strbuf_append(out, head, sizeof(head) - 1);
	append_head(out, 0x12, field_bytes(metadata) + field_bytes(target));
	append_head(out, 0x0a, metadata);
	append_text(out, 0x0a, pod->name);
	append_text(out, 0x1a, pod->namespace_);
	append_text(out, 0x2a, pod->uid);
	append_head(out, 0x12, target);
	append_text(out, 0x0a, BT_STR("Node"));
	append_text(out, 0x1a, node_name);
	bt_strbuf_append(out, "\x1a\x00\x22", 4);
}

void bt_document_binding_json(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	bt_json_write_member_c(&writer, "kind", "Binding");
	bt_json_write_member_c(&writer, "apiVersion", "v1");
	bt_json_write_name_c(&writer, "metadata");
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "name", pod->name);
	bt_json_write_member(&writer, "namespace", pod->namespace_);
	bt_json_write_member(&writer, "uid", pod->uid);
	bt_json_end_object(&writer);
	bt_json_write_name_c(&writer, "target");
	bt_json_begin_object(&writer);
	bt_json_write_member_c(&writer, "kind", "Node");
	bt_json_write_member(&writer, "name", node_name);
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
}

/** --- pod status: spec 11b section 6.2 --- */

static void write_time(struct bt_json_writer *writer, const char *name, const struct bt_time *time)
{
	struct bt_strbuf text = {0};
	bt_json_write_name_c(writer, name);
	if (time->set) {
		bt_time_format(time, &text);
		bt_json_write_str(writer, bt_strbuf_str(&text));
	} else {
		bt_json_write_null(writer);
	}
	bt_strbuf_finish(&text);
}

/** A text that changed; "" is one that is left out, and null takes it away. */
static void write_change(
	struct bt_json_writer *writer, const char *name, struct bt_str before, struct bt_str after)
{
	if (bt_str_equal(before, after)) {
		return;
	}
	bt_json_write_name_c(writer, name);
	if (after.length != 0) {
		bt_json_write_str(writer, after);
	} else {
		bt_json_write_null(writer);
	}
}

/** before NULL: a condition that is new. Members in the order of their names. */
static void write_condition(struct bt_json_writer *writer, const struct bt_pod_condition *before,
	const struct bt_pod_condition *after)
{
	static const struct bt_pod_condition nothing = {0};
	const struct bt_pod_condition *old = before != NULL ? before : &nothing;
	bt_json_begin_object(writer);
	if (before == NULL ||
		bt_time_compare(&before->last_probe_time, &after->last_probe_time) != 0) {
		write_time(writer, "lastProbeTime", &after->last_probe_time);
	}
	if (before == NULL ||
		bt_time_compare(&before->last_transition_time, &after->last_transition_time) != 0) {
		write_time(writer, "lastTransitionTime", &after->last_transition_time);
	}
	write_change(writer, "message", old->message, after->message);
	if (old->observed_generation != after->observed_generation) {
		bt_json_write_name_c(writer, "observedGeneration");
		if (after->observed_generation != 0) {
			bt_json_write_int64(writer, after->observed_generation);
		} else {
			bt_json_write_null(writer);
		}
	}
	write_change(writer, "reason", old->reason, after->reason);
	write_change(writer, "status", old->status, after->status);
	bt_json_write_member(writer, "type", after->type);
	bt_json_end_object(writer);
}

static const struct bt_pod_condition *find_condition(
	const struct bt_pod_status *status, struct bt_str type)
{
	for (uint32_t i = 0; i < status->conditions.count; i++) {
		if (bt_str_equal(status->conditions.items[i].type, type)) {
			return &status->conditions.items[i];
		}
	}
	return NULL;
}

bool bt_document_pod_status(const struct bt_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, int64_t now_ns, struct bt_strbuf *out)
{
	struct bt_time now = {now_ns / BT_NS_PER_SECOND, 0, true};
	struct bt_arena arena = {0};
	bt_pod_condition_list after = {0};
	bool has_condition = false;
	bool has_nomination = nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(pod->status.nominated_node_name, nomination->nominated_node_name);
	if (condition != NULL) {
		after = bt_pod_conditions_set(
			&pod->status, condition, &now, &arena, &has_condition);
	}
	if (has_condition || has_nomination) {
		struct bt_json_writer writer;
		bt_json_writer_init(&writer, out, 0);
		writer.escape_html = true;
		bt_json_begin_object(&writer);
		bt_json_write_name_c(&writer, "status");
		bt_json_begin_object(&writer);
		if (has_condition) {
			struct bt_str changed = condition->type;
			if (pod->status.conditions.count != 0) {
				bt_json_write_name_c(&writer, "$setElementOrder/conditions");
				bt_json_begin_array(&writer);
				for (uint32_t i = 0; i < after.count; i++) {
					bt_json_begin_object(&writer);
					bt_json_write_member(&writer, "type", after.items[i].type);
					bt_json_end_object(&writer);
				}
				bt_json_end_array(&writer);
			}
			bt_json_write_name_c(&writer, "conditions");
			bt_json_begin_array(&writer);
			for (uint32_t i = 0; i < after.count; i++) {
				if (bt_str_equal(after.items[i].type, changed)) {
					write_condition(&writer,
						find_condition(&pod->status, changed),
						&after.items[i]);
					break;
				}
			}
			bt_json_end_array(&writer);
		}
		if (has_nomination) {
			write_change(&writer, "nominatedNodeName", pod->status.nominated_node_name,
				nomination->nominated_node_name);
		}
		bt_json_end_object(&writer);
		bt_json_end_object(&writer);
	}
	bt_arena_finish(&arena);
	return has_condition || has_nomination;
}

/** --- volumes: spec 13 section 14.6 --- */

static void set_annotation(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, struct bt_str value)
{
	struct bt_json_value *metadata = bt_json_ensure_object(arena, object, "metadata");
	bt_json_set_str(arena, bt_json_ensure_object(arena, metadata, "annotations"), name, value);
}

void bt_document_bind_volume(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_persistent_volume *volume)
{
	static const char bound_by_controller[] = "pv.kubernetes.io/bound-by-controller";
	const struct bt_str *by_controller =
		bt_str_map_find(&volume->metadata.annotations, bt_str_from(bound_by_controller));
	if (by_controller != NULL) {
		set_annotation(arena, object, bound_by_controller, *by_controller);
	}
	const struct bt_object_reference *claim = volume->spec.claim_ref;
	if (claim == NULL) {
		return; /* VolumeBinding is not enabled at Reserve: spec 07 section 9.1 */
	}
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *reference = bt_json_ensure_object(arena, spec, "claimRef");
	bt_json_set_c(arena, reference, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, reference, "namespace", claim->namespace_);
	bt_json_set_str(arena, reference, "name", claim->name);
	bt_json_set_str(arena, reference, "uid", claim->uid);
	bt_json_set_c(arena, reference, "apiVersion", "v1");
	bt_json_set_str(arena, reference, "resourceVersion", claim->resource_version);
}

void bt_document_select_node(
	struct bt_arena *arena, struct bt_json_value *object, struct bt_str node_name)
{
	if (node_name.length != 0) {
		set_annotation(arena, object, "volume.kubernetes.io/selected-node", node_name);
	}
}
