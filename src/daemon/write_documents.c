/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/write_documents.h"

#include <stdlib.h>

#include "api/identity.h"
#include "base/assert.h"
#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "codec/json_patch.h"
#include "codec/wire.h"
#include "framework/framework.h"

static const char delete_envelope[] = "k8s\0\x0a\x13\x0a\x02v1\x12\x0d"
				      "DeleteOptions\x12\x00\x1a\x00\x22";

/*
 * The zero byte that ends the literal belongs to the document: it is the length of the contentType,
 * which is empty.
 */
const struct bt_str bt_document_delete_protobuf = {delete_envelope, sizeof(delete_envelope)};
const struct bt_str bt_document_delete_json =
	BT_STR_INIT("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");

void bt_document_binding_protobuf(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out)
{
	static const char head[] = "k8s\0\x0a\x0d\x0a\x02v1\x12\x07"
				   "Binding";
	bt_strbuf_append(out, head, sizeof(head) - 1);
	size_t binding = bt_wire_open(out, 2);
	size_t metadata = bt_wire_open(out, 1);
	bt_wire_write_bytes(out, 1, pod->name);
	bt_wire_write_bytes(out, 3, pod->namespace_);
	bt_wire_write_bytes(out, 5, pod->uid);
	bt_wire_close(out, metadata);
	size_t target = bt_wire_open(out, 2);
	bt_wire_write_bytes(out, 1, BT_STR("Node"));
	bt_wire_write_bytes(out, 3, node_name);
	bt_wire_close(out, target);
	bt_wire_close(out, binding);
	bt_strbuf_append(out, "\x1a\x00\x22", 4);
}

void bt_document_binding_json(
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_strbuf *out)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer,
		"{kind: 'Binding', apiVersion: 'v1', metadata: {name: %s, namespace: %s, uid: %s}, "
		"target: {kind: 'Node', name: %s}}",
		pod->name, pod->namespace_, pod->uid, node_name);
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

/** Write a changed text; "" means absent, so it becomes null, which removes the member. */
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

/** Write a changed number; 0 means absent, so it becomes null, which removes the member. */
static void write_changed_number(
	struct bt_json_writer *writer, const char *name, int64_t before, int64_t after)
{
	if (before == after) {
		return;
	}
	bt_json_write_name_c(writer, name);
	if (after != 0) {
		bt_json_write_int64(writer, after);
	} else {
		bt_json_write_null(writer);
	}
}

bool bt_document_pod_status(const struct bt_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, int64_t now_ns, struct bt_strbuf *out)
{
	static const struct bt_pod_condition nothing = {0};
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
		bt_json_write(&writer, "{status: {");
		if (has_condition) {
			struct bt_str changed = condition->type;
			if (pod->status.conditions.count != 0) {
				bt_json_begin_member_array(&writer, "$setElementOrder/conditions");
				for (uint32_t i = 0; i < after.count; i++) {
					bt_json_write(&writer, "{type: %s}", after.items[i].type);
				}
				bt_json_end_array(&writer);
			}
			bt_json_begin_member_array(&writer, "conditions");
			/* The members that differ, and the type, ordered by name. */
			const struct bt_pod_condition *before = bt_pod_find_condition(pod, changed);
			const struct bt_pod_condition *old = before != NULL ? before : &nothing;
			const struct bt_pod_condition *now_set = BT_STR_FIND(&after, type, changed);
			bt_json_begin_object(&writer);
			if (before == NULL ||
				bt_time_compare(
					&before->last_probe_time, &now_set->last_probe_time) != 0) {
				write_time(&writer, "lastProbeTime", &now_set->last_probe_time);
			}
			if (before == NULL ||
				bt_time_compare(&before->last_transition_time,
					&now_set->last_transition_time) != 0) {
				write_time(&writer, "lastTransitionTime",
					&now_set->last_transition_time);
			}
			write_change(&writer, "message", old->message, now_set->message);
			write_changed_number(&writer, "observedGeneration",
				old->observed_generation, now_set->observed_generation);
			write_change(&writer, "reason", old->reason, now_set->reason);
			write_change(&writer, "status", old->status, now_set->status);
			bt_json_write(&writer, "type: %s}", now_set->type);
			bt_json_end_array(&writer);
		}
		if (has_nomination) {
			write_change(&writer, "nominatedNodeName", pod->status.nominated_node_name,
				nomination->nominated_node_name);
		}
		bt_json_write(&writer, "}}");
	}
	bt_arena_finish(&arena);
	return has_condition || has_nomination;
}

/** --- pod groups: spec 11b section 6.6 --- */

void bt_document_pod_group_status(const struct bt_pod_group *group,
	const struct bt_condition *condition, int64_t now_ns, struct bt_strbuf *out)
{
	static const struct bt_condition nothing = {0};
	struct bt_time now = {now_ns / BT_NS_PER_SECOND, 0, true};
	const bt_condition_list *stored = &group->status.conditions;
	const struct bt_condition *old = &nothing;
	struct bt_json_writer writer;
	uint32_t at = BT_STR_INDEX(stored->items, stored->count, type, condition->type);
	if (at < stored->count) {
		old = &stored->items[at];
	}
	bt_json_writer_init(&writer, out, 0);
	bt_json_write(&writer, "{status: {");
	if (stored->count != 0) {
		bt_json_begin_member_array(&writer, "$setElementOrder/conditions");
		for (uint32_t i = 0; i < stored->count + (at == stored->count); i++) {
			bt_json_write(&writer, "{type: %s}",
				i == at ? condition->type : stored->items[i].type);
		}
		bt_json_end_array(&writer);
	}
	bt_json_write(&writer, "conditions: [{");
	/* metav1.Condition always has all members except observedGeneration, even if empty. */
	if (!bt_str_equal(old->status, condition->status)) {
		write_time(&writer, "lastTransitionTime", &now);
	}
	if (old == &nothing || !bt_str_equal(old->message, condition->message)) {
		bt_json_write_member(&writer, "message", condition->message);
	}
	write_changed_number(&writer, "observedGeneration", old->observed_generation,
		condition->observed_generation);
	if (old == &nothing || !bt_str_equal(old->reason, condition->reason)) {
		bt_json_write_member(&writer, "reason", condition->reason);
	}
	if (!bt_str_equal(old->status, condition->status)) {
		bt_json_write_member(&writer, "status", condition->status);
	}
	bt_json_write(&writer, "type: %s}]}}", condition->type);
}

/** --- volumes: spec 13 section 14.6 --- */

void bt_document_bind_volume(struct bt_arena *arena, struct bt_json_value *object,
	const struct bt_persistent_volume *volume)
{
	static const char bound_by_controller[] = "pv.kubernetes.io/bound-by-controller";
	const struct bt_str *by_controller =
		bt_str_map_find(&volume->metadata.annotations, bt_str_from(bound_by_controller));
	if (by_controller != NULL) {
		bt_json_put(arena, object, "{metadata: {annotations: {%c: %s}}}",
			bound_by_controller, *by_controller);
	}
	const struct bt_object_reference *claim = volume->spec.claim_ref;
	if (claim == NULL) {
		return; /* no claimRef: VolumeBinding is not enabled at Reserve, spec 07 section 9.1
		         */
	}
	bt_json_put(arena, object,
		"{spec: {claimRef: {kind: 'PersistentVolumeClaim', namespace: %s, name: %s, "
		"uid: %s, apiVersion: 'v1', resourceVersion: %s}}}",
		claim->namespace_, claim->name, claim->uid, claim->resource_version);
}

void bt_document_select_node(
	struct bt_arena *arena, struct bt_json_value *object, struct bt_str node_name)
{
	if (node_name.length != 0) {
		bt_json_put(arena, object, "{metadata: {annotations: {%c: %s}}}",
			"volume.kubernetes.io/selected-node", node_name);
	}
}

/** Encode value as a tree, which has only the fields that berth's structures have. */
static struct bt_json_value *known_tree(
	struct bt_arena *arena, const struct bt_message *message, const void *value)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *tree;
	bt_json_writer_init(&writer, &text, 0);
	bt_message_encode_json(message, &writer, value);
	int result = bt_json_parse(arena, bt_strbuf_str(&text), true, &tree, NULL);
	BT_ASSERT(result == 0); /* the encoder writes valid JSON */
	bt_strbuf_finish(&text);
	return tree;
}

/**
 * Return the claim as a tree. spec.devices and status are present even if empty, as Go writes them.
 */
static struct bt_json_value *claim_tree(
	struct bt_arena *arena, const struct bt_resource_claim *claim)
{
	struct bt_json_value *tree = known_tree(arena, &bt_resource_claim_message, claim);

	return bt_json_put(arena, tree, "{spec: {devices: {}}, status: {}}");
}

int bt_document_claim(const struct bt_object *base, const struct bt_resource_claim *claim,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_strbuf api_version = {0};
	struct bt_json_value *whole = claim_tree(&arena, claim);
	int result = 0;
	if (base != NULL && base->json.data != NULL) {
		struct bt_json_value *stored;
		result = bt_json_parse(&arena, base->json, false, &stored, err);
		if (result == 0) {
			const struct bt_resource_claim *before =
				bt_object_value(base, BT_KIND_RESOURCE_CLAIM);
			whole = bt_json_rebase(&arena, stored, claim_tree(&arena, before), whole);
		}
	}
	if (result == 0) {
		struct bt_json_writer writer;
		bt_kind_append_api_version(BT_KIND_RESOURCE_CLAIM, &api_version);
		bt_json_writer_init(&writer, out, 0);
		bt_json_write(&writer, "{kind: %c, apiVersion: %s",
			bt_kind_info(BT_KIND_RESOURCE_CLAIM)->name, bt_strbuf_str(&api_version));
		for (uint32_t i = 0; i < whole->count; i++) {
			bt_json_write(
				&writer, "%s: %t", whole->members[i].name, whole->members[i].value);
		}
		bt_json_end_object(&writer);
	}
	bt_strbuf_finish(&api_version);
	bt_arena_finish(&arena);
	return result;
}

/** Append the text as a JSON string. */
static void append_quoted(struct bt_strbuf *out, struct bt_str text)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_write_str(&writer, text);
}

/* The blanks are the same as upstream's: spec 12 section 12. */
void bt_document_unreserve(
	const struct bt_resource_claim *claim, struct bt_str uid, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "{\"metadata\": {\"uid\": ");
	append_quoted(out, claim->metadata.uid);
	bt_strbuf_append_c(out,
		"}, \"status\": { \"reservedFor\": [ {\"$patch\": \"delete\", "
		"\"uid\": ");
	append_quoted(out, uid);
	bt_strbuf_append_c(out, "} ] }}");
}

/** Sort members by name, at every level, as Go writes maps. */
static void sort_members(struct bt_json_value *value)
{
	for (uint32_t i = 0; value->type == BT_JSON_ARRAY && i < value->count; i++) {
		sort_members(value->elements[i]);
	}
	if (value->type != BT_JSON_OBJECT || value->count == 0) {
		return;
	}
	qsort(value->members, value->count, sizeof(*value->members), bt_str_compare_qsort);
	for (uint32_t i = 0; i < value->count; i++) {
		sort_members(value->members[i].value);
	}
}

/** Return a tree that has only those members of the pod status that are about claims. */
static struct bt_json_value *claims_tree(struct bt_arena *arena, const struct bt_pod_status *status)
{
	struct bt_pod pod = {.spec = {.host_network = false}};
	struct bt_json_value *members = bt_json_new(arena, BT_JSON_OBJECT);
	pod.status.extended_resource_claim_status = status->extended_resource_claim_status;
	pod.status.node_allocatable_resource_claim_statuses =
		status->node_allocatable_resource_claim_statuses;
	struct bt_json_value *tree =
		bt_json_find(known_tree(arena, &bt_pod_message, &pod), "status");
	bt_json_set_value(
		arena, members, "status", tree != NULL ? tree : bt_json_new(arena, BT_JSON_OBJECT));
	return members;
}

bool bt_document_pod_claims(const struct bt_pod_status *before, const struct bt_pod_status *after,
	struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	/* Lists are replaced as a whole, because no list of the statuses has a merge key. */
	struct bt_json_value *patch =
		bt_json_merge_diff(&arena, claims_tree(&arena, before), claims_tree(&arena, after));
	bool differs = patch->count != 0;
	if (differs) {
		sort_members(patch);
		bt_json_format(patch, out);
	}
	bt_arena_finish(&arena);
	return differs;
}
