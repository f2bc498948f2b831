/* SPDX-License-Identifier: Apache-2.0 */
/** Claims made for pods from templates, reservations of pods that nobody scheduled, and of pods
 * that are over. Spec: 14b section 6.8. */
#include "api/resource_claim.h"
#include "cluster/resource_claim.h"

#include "cluster/groups.h"
#include "cluster/pod_index.h"
#include "cluster/tree.h"

struct claimer {
	const struct bt_api_resource *pods;
	const struct bt_api_resource *claims;
	const struct bt_api_resource *templates;
	struct bt_groups missing;    /* pods by the template that they wait for */
	struct bt_groups unreserved; /* pods assigned by hand, by a claim that is not theirs yet */
};

/** One look at one pod. */
struct pass {
	struct claimer *self;
	struct bt_hub *hub;
	struct bt_str key;
	const struct bt_json_value *pod;
	struct bt_arena *arena;
};

/* --- claims --- */

bool bt_claim_of_entry(
	const struct bt_json_value *pod, const struct bt_json_value *entry, struct bt_str *out_name)
{
	const struct bt_json_value *made = bt_json_array_at(pod, "status.resourceClaimStatuses");

	*out_name = bt_json_text_at(entry, "resourceClaimName");
	if (out_name->length != 0) {
		return true;
	}
	for (uint32_t i = 0; i < made->count; i++) {
		if (bt_str_equal(bt_json_text_at(made->elements[i], "name"),
			    bt_json_text_at(entry, "name"))) {
			*out_name = bt_json_text_at(made->elements[i], "resourceClaimName");
			return true;
		}
	}
	return false;
}

bool bt_claim_is_allocated(const struct bt_json_value *claim)
{
	const struct bt_json_value *allocation = bt_json_find_path(claim, "status.allocation");
	return allocation != NULL && allocation->type == BT_JSON_OBJECT;
}

bool bt_claim_is_reserved(const struct bt_json_value *claim, struct bt_str uid)
{
	const struct bt_json_value *consumers = bt_json_array_at(claim, "status.reservedFor");

	for (uint32_t i = 0; i < consumers->count; i++) {
		if (bt_str_equal(bt_json_text_at(consumers->elements[i], "uid"), uid)) {
			return true;
		}
	}
	return false;
}

/* --- life --- */

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct claimer *self = BT_NEW(struct claimer);

	self->pods = bt_resources_builtin(resources, "", "pods");
	self->claims = bt_resources_builtin(resources, "resource.k8s.io", "resourceclaims");
	self->templates =
		bt_resources_builtin(resources, "resource.k8s.io", "resourceclaimtemplates");
	bt_groups_init(&self->missing);
	bt_groups_init(&self->unreserved);
	return self;
}

static void destroy(void *data)
{
	struct claimer *self = data;

	bt_groups_finish(&self->missing);
	bt_groups_finish(&self->unreserved);
	bt_free(self);
}

/* --- changes; keys: pods "ns/name", claims "#ns/name" --- */

static void enqueue_claim(struct bt_hub *hub, struct bt_str claim)
{
	struct bt_arena arena = {0};

	bt_hub_enqueue(hub, bt_arena_printf(&arena, "#%.*s", BT_STR_ARG(claim)));
	bt_arena_finish(&arena);
}

static bool is_over(const struct bt_json_value *pod)
{
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	return bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed");
}

static void enqueue_claims_of(
	struct bt_hub *hub, const struct bt_json_value *pod, struct bt_str namespace_)
{
	static const char *const lists[] = {"spec.resourceClaims", "status.resourceClaimStatuses"};
	/* The claim that the scheduler made for it; "". */
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

static void enqueue_group(struct bt_hub *hub, const struct bt_groups *groups, struct bt_str group)
{
	uint32_t entry = bt_groups_first(groups, group);

	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(groups, entry)) {
		bt_hub_enqueue(hub, bt_groups_key(groups, entry));
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct claimer *self = data;

	if (observed->resource == self->pods) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->missing, observed->key);
			bt_groups_remove(&self->unreserved, observed->key);
		}
		if (observed->type == BT_CHANGE_DELETED || is_over(observed->after)) {
			enqueue_claims_of(hub, observed->after, bt_key_namespace(observed->key));
		} else if (bt_json_array_at(observed->after, "spec.resourceClaims")->count != 0) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->resource == self->claims) {
		const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
		struct bt_arena arena = {0};

		enqueue_group(hub, &self->unreserved, observed->key);
		if (observed->type != BT_CHANGE_DELETED) {
			enqueue_claim(hub, observed->key);
		} else if (bt_str_equal_c(bt_json_text_at(owner, "kind"), "Pod")) {
			bt_hub_enqueue(hub,
				bt_api_key(&arena, bt_key_namespace(observed->key),
					bt_json_text_at(owner, "name")));
		}
		bt_arena_finish(&arena);
	} else if (observed->type != BT_CHANGE_DELETED) {
		enqueue_group(hub, &self->missing, observed->key);
	}
}

/* --- pods: their claims --- */

/** The claim in status.resourceClaimStatuses, when it still exists; "". */
static struct bt_str made_for(struct pass *pass, const struct bt_json_value *entry)
{
	const struct bt_store *store = bt_api_store(bt_hub_api(pass->hub));
	struct bt_str claim;

	if (!bt_claim_of_entry(pass->pod, entry, &claim) || claim.length == 0 ||
		bt_store_find(store, pass->self->claims->collection,
			bt_api_key(pass->arena, bt_key_namespace(pass->key), claim)) == NULL) {
		return BT_STR("");
	}
	return claim;
}

static struct bt_json_value *claim_from(
	struct pass *pass, const struct bt_json_value *template_, struct bt_str entry_name)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *claim =
		bt_tree_from_template(arena, bt_json_object_at(template_, "spec"),
			bt_controller_owner_reference(arena, pass->self->pods, pass->pod),
			bt_arena_printf(arena, "%.*s-%.*s-", BT_STR_ARG(bt_key_name(pass->key)),
				BT_STR_ARG(entry_name)),
			true);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, claim, "metadata");

	bt_json_set_str(arena, bt_json_ensure_object(arena, metadata, "annotations"),
		BT_POD_CLAIM_NAME_ANNOTATION, entry_name);
	return claim;
}

/** Where the owner of the pod looks. */
static void say_why_not(struct pass *pass, const struct bt_json_value *entry, struct bt_str why)
{
	bt_hub_event(pass->hub, "resource_claim", pass->self->pods, pass->pod, "Warning",
		"FailedResourceClaimCreation",
		bt_arena_printf(pass->arena, "PodResourceClaim %.*s: %.*s",
			BT_STR_ARG(bt_json_text_at(entry, "name")), BT_STR_ARG(why)));
}

/** "" and *out_failed: it could not be made. */
static struct bt_str make_claim(
	struct pass *pass, const struct bt_json_value *entry, bool *out_failed)
{
	struct bt_str namespace_ = bt_key_namespace(pass->key);
	struct bt_str template_key = bt_api_key(
		pass->arena, namespace_, bt_json_text_at(entry, "resourceClaimTemplateName"));
	const struct bt_json_value *template_ = bt_api_read(
		bt_hub_api(pass->hub), pass->self->templates, template_key, pass->arena);
	struct bt_str name = BT_STR("");
	struct bt_api_answer answer;

	if (template_ == NULL) {
		bt_groups_put(&pass->self->missing, pass->key, template_key);
		say_why_not(pass, entry,
			bt_arena_printf(pass->arena, "resource claim template \"%.*s\" not found",
				BT_STR_ARG(bt_key_name(template_key))));
		return name;
	}
	if (bt_hub_create(pass->hub, pass->self->claims, namespace_,
		    claim_from(pass, template_, bt_json_text_at(entry, "name")), pass->arena,
		    &answer) == 201) {
		name = bt_arena_str(pass->arena, bt_key_name(bt_stored_key(answer.object)));
	} else {
		say_why_not(pass, entry, answer.failure.message);
		*out_failed = true;
	}
	bt_api_answer_finish(&answer);
	return name;
}

/** false: try again. status: what is written besides. */
static bool make_claims(struct pass *pass, struct bt_json_value *status)
{
	const struct bt_json_value *entries = bt_json_array_at(pass->pod, "spec.resourceClaims");
	struct bt_json_value *made = bt_json_new(pass->arena, BT_JSON_ARRAY);
	bool failed = false;

	bt_groups_remove(&pass->self->missing, pass->key);
	for (uint32_t i = 0; i < entries->count; i++) {
		const struct bt_json_value *entry = entries->elements[i];
		struct bt_str name = bt_json_text_at(entry, "name");
		struct bt_str claim;
		struct bt_json_value *item;

		if (bt_json_text_at(entry, "resourceClaimTemplateName").length == 0) {
			continue;
		}
		claim = made_for(pass, entry);
		if (claim.length == 0) {
			claim = make_claim(pass, entry, &failed);
		}
		if (claim.length == 0) {
			continue;
		}
		item = bt_json_new(pass->arena, BT_JSON_OBJECT);
		bt_json_set_str(pass->arena, item, "name", name);
		bt_json_set_str(pass->arena, item, "resourceClaimName", claim);
		bt_json_append(pass->arena, made, item);
	}
	bt_json_set_value(pass->arena, status, "resourceClaimStatuses", made);
	return !failed;
}

/** Somebody assigned the pod without a scheduler: a claim that has devices is reserved for it.
 * false: try again. */
static bool reserve(struct pass *pass, struct bt_str name)
{
	struct bt_arena *arena = pass->arena;
	struct bt_str uid = bt_json_text_at(pass->pod, "metadata.uid");
	struct bt_str key = bt_api_key(arena, bt_key_namespace(pass->key), name);
	const struct bt_json_value *claim =
		bt_api_read(bt_hub_api(pass->hub), pass->self->claims, key, arena);
	struct bt_json_value *status;
	struct bt_json_value *reserved;
	struct bt_json_value *consumer;

	if (claim == NULL || bt_tree_is_deleting(claim) || !bt_claim_is_allocated(claim)) {
		bt_groups_put(&pass->self->unreserved, pass->key, key);
		return true;
	}
	if (bt_claim_is_reserved(claim, uid)) {
		return true;
	}
	status = bt_json_new(arena, BT_JSON_OBJECT);
	reserved = bt_json_clone(arena, bt_json_array_at(claim, "status.reservedFor"), false);
	consumer = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, consumer, "resource", "pods");
	bt_json_set_str(arena, consumer, "name", bt_key_name(pass->key));
	bt_json_set_str(arena, consumer, "uid", uid);
	bt_json_append(arena, reserved, consumer);
	bt_json_set_value(arena, status, "reservedFor", reserved);
	return bt_tree_write_status(pass->hub, pass->self->claims, claim, status, arena);
}

static bool reserve_claims(struct pass *pass)
{
	const struct bt_json_value *entries = bt_json_array_at(pass->pod, "spec.resourceClaims");
	bool succeeded = true;

	bt_groups_remove(&pass->self->unreserved, pass->key);
	for (uint32_t i = 0; i < entries->count; i++) {
		struct bt_str name;
		if (bt_claim_of_entry(pass->pod, entries->elements[i], &name) && name.length != 0) {
			succeeded = reserve(pass, name) && succeeded;
		}
	}
	return succeeded;
}

/* --- claims: who they are reserved for --- */

static bool consumer_lives(
	struct pass *pass, const struct bt_json_value *consumer, struct bt_str namespace_)
{
	const struct bt_indexed_pod *pod;

	if (!bt_str_equal_c(bt_json_text_at(consumer, "resource"), "pods") ||
		bt_json_text_at(consumer, "apiGroup").length != 0) {
		return true;
	}
	pod = bt_pod_index_find(
		pass->hub, bt_api_key(pass->arena, namespace_, bt_json_text_at(consumer, "name")));
	return pod != NULL && bt_str_equal(pod->uid, bt_json_text_at(consumer, "uid")) &&
		pod->phase != BT_POD_SUCCEEDED && pod->phase != BT_POD_FAILED;
}

static bool drop_protection(struct pass *pass, struct bt_str key, const struct bt_json_value *claim)
{
	struct bt_json_value *left =
		bt_json_clone(pass->arena, bt_json_array_at(claim, "metadata.finalizers"), false);
	struct bt_json_value *patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	uint32_t before = left->count;
	uint16_t code;

	bt_json_remove_text(left, BT_STR(BT_CLAIM_FINALIZER));
	if (left->count == before) {
		return true;
	}
	bt_json_set_value(pass->arena, bt_json_ensure_object(pass->arena, patch, "metadata"),
		"finalizers", left->count != 0 ? left : bt_json_new(pass->arena, BT_JSON_NULL));
	code = bt_hub_patch(
		pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE, key, patch, pass->arena, NULL);
	return code == 200 || code == 404;
}

/** Nobody will use it again. */
static bool made_for_ended_pod(
	struct pass *pass, const struct bt_json_value *claim, struct bt_str key)
{
	const struct bt_json_value *owner = bt_controller_owner_of(claim);
	const struct bt_indexed_pod *pod;

	if (!bt_str_equal_c(bt_json_text_at(owner, "kind"), "Pod")) {
		return false;
	}
	pod = bt_pod_index_find(pass->hub,
		bt_api_key(pass->arena, bt_key_namespace(key), bt_json_text_at(owner, "name")));
	return pod != NULL && bt_str_equal(pod->uid, bt_json_text_at(owner, "uid")) &&
		(pod->phase == BT_POD_SUCCEEDED || pod->phase == BT_POD_FAILED);
}

static bool delete_claim(struct pass *pass, struct bt_str key, const struct bt_json_value *claim)
{
	uint16_t code = bt_hub_delete(pass->hub, pass->self->claims, key, -1,
		bt_json_text_at(claim, "metadata.uid"), pass->arena);

	return code == 200 || code == 404 || code == 409;
}

static bool sync_claim(struct pass *pass, struct bt_str key)
{
	const struct bt_json_value *claim =
		bt_api_read(bt_hub_api(pass->hub), pass->self->claims, key, pass->arena);
	const struct bt_json_value *reserved = bt_json_array_at(claim, "status.reservedFor");
	struct bt_json_value *left = bt_json_new(pass->arena, BT_JSON_ARRAY);
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bool is_free;

	if (claim == NULL) {
		return true;
	}
	for (uint32_t i = 0; i < reserved->count; i++) {
		if (consumer_lives(pass, reserved->elements[i], bt_key_namespace(key))) {
			bt_json_append(pass->arena, left, reserved->elements[i]);
		}
	}
	if (left->count < reserved->count) {
		bt_json_set_value(pass->arena, status, "reservedFor",
			left->count != 0 ? left : bt_json_new(pass->arena, BT_JSON_NULL));
	}
	/* The last user has gone, or it is to go. Not each claim without users: the scheduler
	 * writes the finalizer before the allocation, and decides itself about what it took back.
	 */
	is_free = left->count == 0 && (bt_tree_is_deleting(claim) || reserved->count != 0);
	if (is_free && bt_claim_is_allocated(claim)) {
		bt_json_set_value(
			pass->arena, status, "allocation", bt_json_new(pass->arena, BT_JSON_NULL));
	}
	if (status->count != 0 &&
		!bt_tree_write_status(pass->hub, pass->self->claims, claim, status, pass->arena)) {
		return false;
	}
	if (is_free && !drop_protection(pass, key, claim)) {
		return false;
	}
	return left->count != 0 || bt_tree_is_deleting(claim) ||
		!made_for_ended_pod(pass, claim, key) || delete_claim(pass, key, claim);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {.self = data, .hub = hub, .key = key, .arena = arena};

	(void)now_ns;
	if (key.length != 0 && key.data[0] == '#') {
		return sync_claim(&pass, bt_str_sub(key, 1, key.length));
	}
	pass.pod = bt_api_read(bt_hub_api(hub), pass.self->pods, key, arena);
	struct bt_json_value *status = bt_json_new(pass.arena, BT_JSON_OBJECT);
	bool succeeded;

	if (pass.pod == NULL || bt_tree_is_deleting(pass.pod) || is_over(pass.pod)) {
		return true;
	}
	succeeded = make_claims(&pass, status);
	if (!bt_tree_write_status(pass.hub, pass.self->pods, pass.pod, status, pass.arena)) {
		return false;
	}
	return (bt_json_text_at(pass.pod, "spec.nodeName").length == 0 || reserve_claims(&pass)) &&
		succeeded;
}

static const char *const watched[] = {
	"pods", "resource.k8s.io/resourceclaims", "resource.k8s.io/resourceclaimtemplates", NULL};

const struct bt_controller_ops bt_resource_claim_ops = {
	.name = "resourceclaim-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
