/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Creates claims for pods from templates, reserves claims for pods that were assigned without a
 * scheduler, and releases claims of finished pods. Spec: 14b section 6.8.
 */
#include "api/resource_claim.h"
#include "cluster/owners.h"
#include "cluster/tree.h"

struct claimer {
	struct bt_groups missing; /* pods, by the key of a template that does not exist */
	struct bt_groups
		unreserved;     /* assigned pods, by the key of a claim that is not allocated */
	struct bt_groups owned; /* claims, by the uid of their owner */
};

/* --- claims --- */

bool bt_claim_of_entry(
	const struct bt_json_value *pod, const struct bt_json_value *entry, struct bt_str *out_name)
{
	*out_name = bt_json_text_at(entry, "resourceClaimName");
	if (out_name->length != 0) {
		return true;
	}
	const struct bt_json_value *made =
		bt_json_element_with(bt_json_array_at(pod, "status.resourceClaimStatuses"), "name",
			bt_json_text_at(entry, "name"));
	*out_name = bt_json_text_at(made, "resourceClaimName");
	return made != NULL;
}

bool bt_claim_is_allocated(const struct bt_json_value *claim)
{
	const struct bt_json_value *allocation = bt_json_find_path(claim, "status.allocation");
	return allocation != NULL && allocation->type == BT_JSON_OBJECT;
}

bool bt_claim_is_reserved(const struct bt_json_value *claim, struct bt_str uid)
{
	return bt_json_element_with(bt_json_array_at(claim, "status.reservedFor"), "uid", uid) !=
		NULL;
}

/* --- changes; keys: pods "ns/name", claims "#ns/name" --- */

static void enqueue_claim(struct bt_hub *hub, struct bt_str claim)
{
	struct bt_arena arena = {0};

	bt_hub_enqueue(hub, bt_arena_printf(&arena, "#%.*s", BT_STR_ARG(claim)));
	bt_arena_finish(&arena);
}

static void enqueue_claims_of(
	struct bt_hub *hub, const struct bt_json_value *pod, struct bt_str namespace_)
{
	static const char *const lists[] = {"spec.resourceClaims", "status.resourceClaimStatuses"};
	/* The claim that the scheduler created for extended resources, or "". */
	struct bt_str special =
		bt_json_text_at(pod, "status.extendedResourceClaimStatus.resourceClaimName");
	struct bt_arena arena = {0};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		const struct bt_json_value *entries = bt_json_array_at(pod, lists[i]);
		for (uint32_t n = 0; n < entries->count; n++) {
			struct bt_str name =
				bt_json_text_at(entries->elements[n], "resourceClaimName");
			if (name.length != 0) {
				enqueue_claim(hub, bt_api_key(&arena, namespace_, name));
			}
		}
	}
	if (special.length != 0) {
		enqueue_claim(hub, bt_api_key(&arena, namespace_, special));
	}
	bt_arena_finish(&arena);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct claimer *self = data;

	if (observed->kind == BT_HUB_PODS) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->missing, observed->key);
			bt_groups_remove(&self->unreserved, observed->key);
		}
		if (observed->type == BT_CHANGE_DELETED || bt_tree_is_over(observed->after)) {
			enqueue_claims_of(hub, observed->after, bt_key_namespace(observed->key));
		} else if (bt_json_array_at(observed->after, "spec.resourceClaims")->count != 0) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->kind == BT_HUB_CLAIMS) {
		bt_owners_group(&self->owned, observed);
		bt_hub_enqueue_group(hub, &self->unreserved, observed->key);
		if (observed->type != BT_CHANGE_DELETED) {
			enqueue_claim(hub, observed->key);
		} else {
			bt_hub_enqueue_owner(hub, observed->key, observed->owner, "Pod");
		}
	} else if (observed->type != BT_CHANGE_DELETED) {
		bt_hub_enqueue_group(hub, &self->missing, observed->key);
	}
}

/* --- pods: creating and reserving their claims --- */

/** Writes an event with the reason why the pod has no claim. */
static void report_failure(
	struct bt_sync *sync, const struct bt_json_value *entry, struct bt_str why)
{
	bt_sync_event(sync, "Warning", "FailedResourceClaimCreation", "PodResourceClaim %.*s: %.*s",
		BT_STR_ARG(bt_json_text_at(entry, "name")), BT_STR_ARG(why));
}

/**
 * Returns the name of the claim that was made for an entry, although the pod's status does not name
 * the claim, because the write of the status failed; "": there is none.
 */
static struct bt_str find_made_claim(struct bt_sync *sync, const struct bt_json_value *entry)
{
	const struct claimer *self = sync->data;

	BT_GROUPS_EACH (&self->owned, bt_json_text_at(sync->object, "metadata.uid"), at) {
		struct bt_str key = bt_groups_key(&self->owned, at);
		const struct bt_json_value *claim =
			bt_hub_read(sync->hub, BT_HUB_CLAIMS, key, sync->arena);
		if (bt_str_equal(bt_json_find_str(bt_json_object_at(claim, "metadata.annotations"),
					 BT_POD_CLAIM_NAME_ANNOTATION),
			    bt_json_text_at(entry, "name"))) {
			return bt_key_name(key);
		}
	}
	return BT_STR("");
}

/**
 * Creates the claim of an entry from the entry's template. Returns the claim's name; "": the claim
 * was not created. Sets sync->failed unless the template is missing.
 */
static struct bt_str make_claim(struct bt_sync *sync, const struct bt_json_value *entry)
{
	struct claimer *self = sync->data;
	struct bt_arena *arena = sync->arena;
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	struct bt_str entry_name = bt_json_text_at(entry, "name");
	struct bt_str template_key =
		bt_api_key(arena, namespace_, bt_json_text_at(entry, "resourceClaimTemplateName"));
	const struct bt_json_value *template_ =
		bt_hub_read(sync->hub, BT_HUB_CLAIM_TEMPLATES, template_key, arena);
	struct bt_str name = BT_STR("");
	struct bt_json_value *claim;
	struct bt_api_answer answer;

	if (template_ == NULL) {
		bt_groups_set(&self->missing, sync->key, template_key);
		report_failure(sync, entry,
			bt_arena_printf(arena, "resource claim template \"%.*s\" not found",
				BT_STR_ARG(bt_key_name(template_key))));
		return name;
	}
	claim = bt_tree_from_template(arena, bt_json_object_at(template_, "spec"),
		bt_sync_owner_reference(sync, arena),
		bt_arena_printf(arena, "%.*s-%.*s-", BT_STR_ARG(bt_key_name(sync->key)),
			BT_STR_ARG(entry_name)),
		true);
	bt_json_put(arena, claim,
		"{metadata: {annotations: {" BT_POD_CLAIM_NAME_ANNOTATION ": %s}}}", entry_name);
	if (bt_hub_create(sync->hub, BT_HUB_CLAIMS, namespace_, claim, arena, &answer) == 201) {
		name = bt_arena_str(arena, bt_key_name(bt_stored_key(answer.object)));
	} else {
		report_failure(sync, entry, answer.failure.message);
		sync->failed = true;
	}
	bt_api_answer_finish(&answer);
	return name;
}

/**
 * Reserves the claim for the synced pod, which was assigned to a node without a scheduler. If the
 * claim is not allocated, records that the pod waits for the claim.
 */
static void reserve(struct bt_sync *sync, struct bt_str name)
{
	struct claimer *self = sync->data;
	struct bt_arena *arena = sync->arena;
	struct bt_str uid = bt_json_text_at(sync->object, "metadata.uid");
	struct bt_str key = bt_api_key(arena, bt_key_namespace(sync->key), name);
	const struct bt_json_value *claim = bt_hub_read(sync->hub, BT_HUB_CLAIMS, key, arena);

	if (claim == NULL || bt_tree_is_deleting(claim) || !bt_claim_is_allocated(claim)) {
		bt_groups_set(&self->unreserved, sync->key, key);
		return;
	}
	if (bt_claim_is_reserved(claim, uid)) {
		return;
	}
	if (!bt_tree_write_status(sync->hub, sync->hub->kinds[BT_HUB_CLAIMS], claim,
		    bt_json_put(arena, NULL, "{reservedFor: %v}",
			    bt_json_put(arena,
				    bt_tree_copy_array(arena, claim, "status.reservedFor"),
				    "[{resource: 'pods', name: %s, uid: %s}]",
				    bt_key_name(sync->key), uid)),
		    arena)) {
		sync->failed = true;
	}
}

static bool sync_pod(struct bt_sync *sync)
{
	struct claimer *self = sync->data;
	const struct bt_json_value *pod = sync->object;
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *entries = bt_json_array_at(pod, "spec.resourceClaims");
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *made = bt_json_ensure_array(arena, status, "resourceClaimStatuses");

	if (bt_tree_is_deleting(pod) || bt_tree_is_over(pod)) {
		return true;
	}
	bt_groups_remove(&self->missing, sync->key);
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct bt_json_value *entry = entries->elements[i];
		struct bt_str claim;

		if (bt_json_text_at(entry, "resourceClaimTemplateName").length == 0) {
			continue;
		}
		if (!bt_claim_of_entry(pod, entry, &claim) || claim.length == 0 ||
			!bt_hub_exists(sync->hub, BT_HUB_CLAIMS,
				bt_api_key(arena, bt_key_namespace(sync->key), claim))) {
			claim = find_made_claim(sync, entry);
			claim = claim.length != 0 ? claim : make_claim(sync, entry);
		}
		if (claim.length != 0) {
			bt_json_put(arena, made, "[{name: %s, resourceClaimName: %s}]",
				bt_json_text_at(entry, "name"), claim);
		}
	}
	if (!bt_tree_write_status(sync->hub, sync->resource, pod, status, arena)) {
		return false;
	}
	if (bt_json_text_at(pod, "spec.nodeName").length == 0) {
		return true;
	}
	bt_groups_remove(&self->unreserved, sync->key);
	for (uint32_t i = 0; i < entries->count; i++) {
		struct bt_str name;
		if (bt_claim_of_entry(pod, entries->elements[i], &name) && name.length != 0) {
			reserve(sync, name);
		}
	}
	return true;
}

/* --- claims: releasing reservations --- */

/** Returns the pod that a reference names; NULL: the pod was deleted, or a new pod has its name. */
static const struct bt_indexed_pod *find_pod(
	struct bt_sync *sync, struct bt_str namespace_, const struct bt_json_value *reference)
{
	const struct bt_indexed_pod *pod = bt_pod_index_find(
		sync->hub, bt_api_key(sync->arena, namespace_, bt_json_text_at(reference, "name")));

	return pod != NULL && bt_str_equal(pod->uid, bt_json_text_at(reference, "uid")) ? pod
											: NULL;
}

static bool sync_claim(struct bt_sync *sync, struct bt_str namespace_)
{
	const struct bt_json_value *claim = sync->object;
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *reserved = bt_json_array_at(claim, "status.reservedFor");
	const struct bt_json_value *owner = bt_controller_owner_of(claim);
	struct bt_json_value *left = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	const struct bt_indexed_pod *pod;

	for (uint32_t i = 0; i < reserved->count; i++) {
		struct bt_json_value *consumer = reserved->elements[i];

		pod = find_pod(sync, namespace_, consumer);
		if (!bt_str_equal_c(bt_json_text_at(consumer, "resource"), "pods") ||
			bt_json_text_at(consumer, "apiGroup").length != 0 ||
			(pod != NULL && !bt_pod_is_over(pod))) {
			bt_json_append(arena, left, consumer);
		}
	}
	if (left->count < reserved->count) {
		bt_json_set_value(arena, status, "reservedFor",
			left->count != 0 ? left : bt_json_new(arena, BT_JSON_NULL));
	}
	/*
	 * Deallocate if the last user is gone or the claim is being deleted. A claim that never had
	 * users is left alone: the scheduler writes the finalizer before the allocation, and
	 * handles a failed allocation itself.
	 */
	bool is_free = left->count == 0 && (bt_tree_is_deleting(claim) || reserved->count != 0);
	if (is_free && bt_claim_is_allocated(claim)) {
		bt_json_set_value(arena, status, "allocation", bt_json_new(arena, BT_JSON_NULL));
	}
	if ((status->count != 0 &&
		    !bt_tree_write_status(sync->hub, sync->resource, claim, status, arena)) ||
		(is_free &&
			!bt_sync_remove_finalizer(
				sync, sync->resource, claim, BT_CLAIM_FINALIZER))) {
		return false;
	}
	/* Delete a claim that was made for a finished pod: no other pod uses it. */
	pod = find_pod(sync, namespace_, owner);
	if (left->count != 0 || bt_tree_is_deleting(claim) ||
		!bt_str_equal_c(bt_json_text_at(owner, "kind"), "Pod") || pod == NULL ||
		!bt_pod_is_over(pod)) {
		return true;
	}
	uint16_t code = bt_hub_delete(sync->hub, sync->resource, bt_tree_key(arena, claim), -1,
		BT_PROPAGATION_BACKGROUND, bt_json_text_at(claim, "metadata.uid"), arena);
	return bt_hub_is_done(code) || code == 409;
}

static bool sync(struct bt_sync *sync)
{
	bool is_claim = bt_str_has_prefix(sync->key, BT_STR("#"));
	struct bt_str key = bt_str_sub(sync->key, is_claim ? 1 : 0, sync->key.length);

	sync->resource = sync->hub->kinds[is_claim ? BT_HUB_CLAIMS : BT_HUB_PODS];
	sync->object = bt_api_read(sync->hub->api, sync->resource, key, sync->arena);
	if (sync->object == NULL) {
		return true;
	}
	return is_claim ? sync_claim(sync, bt_key_namespace(key)) : sync_pod(sync);
}

const struct bt_controller_ops bt_resource_claim_ops = {
	.component = "resource_claim",
	.watches =
		BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_CLAIMS) | BT_WATCH(BT_HUB_CLAIM_TEMPLATES),
	.group_count = 3,
	.observe = observe,
	.sync = sync,
};
