/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/claim_documents.h"

#include <stdlib.h>

#include "base/assert.h"
#include "codec/json_rebase.h"
#include "codec/json_same.h"

/** --- claims --- */

/** What we know of it as a tree. */
static struct bt_json_value *known_tree(
	struct bt_arena *arena, const struct bt_message *message, const void *value)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *tree;
	bt_json_writer_init(&writer, &text, 0);
	bt_message_encode_json(message, &writer, value);
	int result = bt_json_parse(arena, bt_strbuf_str(&text), true, &tree, NULL);
	BT_ASSERT(result == 0); /* what the writer makes can be parsed */
	bt_strbuf_finish(&text);
	return tree;
}

/** Go writes these also when they are empty. */
static struct bt_json_value *claim_tree(
	struct bt_arena *arena, const struct bt_resource_claim *claim)
{
	struct bt_json_value *tree = known_tree(arena, &bt_resource_claim_message, claim);
	struct bt_json_value *spec = bt_json_ensure_object(arena, tree, "spec");
	(void)bt_json_ensure_object(arena, spec, "devices");
	(void)bt_json_ensure_object(arena, tree, "status");
	return tree;
}

static int make_whole(struct bt_arena *arena, const struct bt_object *base,
	const struct bt_resource_claim *claim, struct bt_json_value **out_whole,
	struct berth_error *err)
{
	*out_whole = claim_tree(arena, claim);
	if (base == NULL || base->json.data == NULL) {
		return 0;
	}
	struct bt_json_value *whole;
	int result = bt_json_parse(arena, base->json, false, &whole, err);
	if (result == 0) {
		*out_whole = bt_json_rebase(arena, whole,
			claim_tree(arena, bt_object_value(base, BT_KIND_RESOURCE_CLAIM)),
			*out_whole);
	}
	return result;
}

int bt_document_claim(const struct bt_object *base, const struct bt_resource_claim *claim,
	struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_strbuf api_version = {0};
	struct bt_json_value *whole;
	int result = make_whole(&arena, base, claim, &whole, err);
	if (result == 0) {
		struct bt_json_writer writer;
		bt_kind_append_api_version(BT_KIND_RESOURCE_CLAIM, &api_version);
		bt_json_writer_init(&writer, out, 0);
		writer.escape_html = true;
		bt_json_begin_object(&writer);
		bt_json_write_member_c(&writer, "kind", bt_kind_info(BT_KIND_RESOURCE_CLAIM)->name);
		bt_json_write_member(&writer, "apiVersion", bt_strbuf_str(&api_version));
		for (uint32_t i = 0; i < whole->count; i++) {
			bt_json_write_name(&writer, whole->members[i].name);
			bt_json_write_value(&writer, whole->members[i].value);
		}
		bt_json_end_object(&writer);
	}
	bt_strbuf_finish(&api_version);
	bt_arena_finish(&arena);
	return result;
}

/** A quoted text. */
static void append_quoted(struct bt_strbuf *out, struct bt_str text)
{
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, out, 0);
	bt_json_write_str(&writer, text);
}

/* Its blanks are upstream's: spec 12 section 12. */
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

void bt_document_delete_uid(struct bt_str uid, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out,
		"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":");
	append_quoted(out, uid);
	bt_strbuf_append_c(out, "}}");
}

/** --- pods --- */

static int compare_names(const void *a, const void *b)
{
	const struct bt_json_member *left = a;
	const struct bt_json_member *right = b;
	return bt_str_compare(left->name, right->name);
}

/** Names of members in order, at every level: as Go writes maps. */
static void sort_members(struct bt_json_value *value)
{
	for (uint32_t i = 0; value->type == BT_JSON_ARRAY && i < value->count; i++) {
		sort_members(value->elements[i]);
	}
	if (value->type != BT_JSON_OBJECT || value->count == 0) {
		return;
	}
	qsort(value->members, value->count, sizeof(*value->members), compare_names);
	for (uint32_t i = 0; i < value->count; i++) {
		sort_members(value->members[i].value);
	}
}

/** NULL: none. Lists are replaced as a whole: none of these has a merge key. */
static struct bt_json_value *difference(
	struct bt_arena *arena, const struct bt_json_value *before, struct bt_json_value *after)
{
	if (before != NULL && bt_json_same(before, after)) {
		return NULL;
	}
	if (before == NULL || before->type != BT_JSON_OBJECT || after->type != BT_JSON_OBJECT) {
		return after;
	}
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	for (uint32_t i = 0; i < before->count; i++) {
		if (bt_json_get(after, before->members[i].name) == NULL) {
			bt_json_append_member(arena, patch, before->members[i].name,
				bt_json_new(arena, BT_JSON_NULL));
		}
	}
	for (uint32_t i = 0; i < after->count; i++) {
		struct bt_str name = after->members[i].name;
		struct bt_json_value *value =
			difference(arena, bt_json_get(before, name), after->members[i].value);
		if (value != NULL) {
			bt_json_append_member(arena, patch, name, value);
		}
	}
	return patch;
}

/** A pod of which nothing is known but its claims. */
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
	struct bt_json_value *patch =
		difference(&arena, claims_tree(&arena, before), claims_tree(&arena, after));
	if (patch != NULL) {
		struct bt_json_writer writer;
		sort_members(patch);
		bt_json_writer_init(&writer, out, 0);
		writer.escape_html = true;
		bt_json_write_value(&writer, patch);
	}
	bt_arena_finish(&arena);
	return patch != NULL;
}
