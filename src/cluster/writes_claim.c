/* SPDX-License-Identifier: Apache-2.0 */
/** What DynamicResources writes. Nothing takes time here, so nothing is pending. Spec: 12 sections
 * 12 to 15. */
#include <inttypes.h>
#include <stdio.h>

#include "cluster/writes_private.h"
#include "codec/json.h"
#include "daemon/claim_documents.h"

/** Of requests to a claim, or to all of them. */
static struct bt_api_request request_for(const struct bt_cluster_writes *writes, enum bt_verb verb,
	struct bt_str namespace_, struct bt_str name)
{
	struct bt_api_request request = bt_cluster_writes_request(
		bt_cluster_writes_builtin(writes, "resource.k8s.io", "resourceclaims"), namespace_,
		name);
	request.verb = verb;
	return request;
}

/** As a claim with all of its text; NULL with err. */
static struct bt_object *decode(const struct bt_stored *stored, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_object *object = NULL;
	bt_json_reader_init(&reader, bt_stored_text(stored));
	if (bt_object_decode_as(BT_KIND_RESOURCE_CLAIM, &reader, &object, err) < 0) {
		return NULL;
	}
	object->json = bt_arena_str(&object->arena, bt_stored_text(stored));
	return object;
}

static int perform(struct bt_cluster_writes *writes, const struct bt_api_request *request,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_stored *stored = NULL;
	int result = bt_cluster_writes_perform(writes, request, &stored, err);
	if (result == 0 && out_claim != NULL && stored != NULL) {
		*out_claim = decode(stored, err);
		result = *out_claim != NULL ? 0 : BERTH_ERR_INVALID;
	}
	bt_stored_release(stored);
	return result == BERTH_ERR_STATE ? BT_WRITE_CONFLICT : result;
}

/** The claim as it is stored, if it still is the one that base shows; NULL: base will have to do.
 */
static struct bt_object *find_whole(struct bt_cluster_writes *writes, const struct bt_object *base)
{
	char version[24];
	const struct bt_stored *stored = bt_store_find(bt_api_store(writes->api),
		bt_cluster_writes_builtin(writes, "resource.k8s.io", "resourceclaims")->collection,
		bt_api_key(&writes->arena, base->meta->namespace_, base->meta->name));
	if (stored == NULL) {
		return NULL;
	}
	(void)snprintf(version, sizeof(version), "%" PRIu64, stored->rv);
	return bt_str_equal_c(base->meta->resource_version, version) ? decode(stored, NULL) : NULL;
}

/** base NULL: it is new. */
static int write_claim(struct bt_cluster_writes *writes, struct bt_api_request *request,
	const struct bt_object *base, const struct bt_resource_claim *claim,
	struct bt_object **out_claim, struct berth_error *err)
{
	bt_arena_reset(&writes->arena);
	bt_strbuf_reset(&writes->text);
	struct bt_object *whole = base != NULL ? find_whole(writes, base) : NULL;
	int result = bt_document_claim(whole != NULL ? whole : base, claim, &writes->text, err);
	bt_object_release(whole);
	if (result == 0) {
		result = bt_json_parse(
			&writes->arena, bt_strbuf_str(&writes->text), false, &request->body, err);
	}
	return result == 0 ? perform(writes, request, out_claim, err) : result;
}

static int update(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_object *base, const struct bt_resource_claim *claim,
	bool must_end BT_UNUSED, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_api_request request = request_for(
		context, BT_VERB_UPDATE, claim->metadata.namespace_, claim->metadata.name);
	return write_claim(context, &request, base, claim, out_claim, err);
}

static int update_status(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_object *base, const struct bt_resource_claim *claim,
	bool must_end BT_UNUSED, struct bt_object **out_claim, struct berth_error *err)
{
	struct bt_api_request request = request_for(
		context, BT_VERB_UPDATE, claim->metadata.namespace_, claim->metadata.name);
	request.subresource = BT_SUBRESOURCE_STATUS;
	return write_claim(context, &request, base, claim, out_claim, err);
}

static int create(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_api_request request =
		request_for(context, BT_VERB_CREATE, claim->metadata.namespace_, BT_STR(""));
	return write_claim(context, &request, NULL, claim, out_claim, err);
}

static int get(void *context, const struct bt_pod_info *pod BT_UNUSED, struct bt_str namespace_,
	struct bt_str name, bool must_end BT_UNUSED, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request = request_for(writes, BT_VERB_GET, namespace_, name);
	bt_arena_reset(&writes->arena);
	return perform(writes, &request, out_claim, err);
}

static int remove_claim(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_resource_claim *claim, bool must_end BT_UNUSED, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	struct bt_api_request request = request_for(
		writes, BT_VERB_DELETE, claim->metadata.namespace_, claim->metadata.name);
	request.precondition_uid = claim->metadata.uid;
	bt_arena_reset(&writes->arena);
	return perform(writes, &request, NULL, err);
}

static void unreserve(void *context, const struct bt_pod_info *pod BT_UNUSED,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct bt_cluster_writes *writes = context;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_api_request request = request_for(
		writes, BT_VERB_PATCH, claim->metadata.namespace_, claim->metadata.name);
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.patch_type = BT_PATCH_STRATEGIC;
	bt_arena_reset(&writes->arena);
	bt_strbuf_reset(&writes->text);
	bt_document_unreserve(claim, uid, &writes->text);
	int result = bt_json_parse(
		&writes->arena, bt_strbuf_str(&writes->text), false, &request.body, &err);
	if (result == 0) {
		result = perform(writes, &request, NULL, &err);
	}
	if (result != 0 && result != BERTH_ERR_NOT_FOUND) {
		(void)fprintf(stderr, "berth up: scheduler: unreserve claim %.*s/%.*s: %s\n",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name),
			berth_error_message(&err));
	}
	berth_error_finish(&err);
}

static int patch_pod_status(void *context, const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end BT_UNUSED, struct berth_error *err)
{
	struct bt_cluster_writes *writes = context;
	bt_strbuf_reset(&writes->text);
	if (!bt_document_pod_claims(old_status, new_status, &writes->text)) {
		return 0;
	}
	return bt_cluster_writes_patch_pod_status(
		writes, pod->namespace_, pod->name, bt_strbuf_str(&writes->text), err);
}

void bt_cluster_writes_init_claims(struct bt_cluster_writes *writes)
{
	writes->claims = (struct bt_claim_writer){
		.context = writes,
		.update = update,
		.update_status = update_status,
		.get = get,
		.create = create,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
	};
}
