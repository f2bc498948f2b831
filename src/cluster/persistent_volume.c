/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/persistent_volume.h"

#include "api/quantity.h"
#include "api/time.h"

/* --- choosing a volume for a claim, and binding the two --- */

static bool read_storage(
	const struct bt_json_value *amounts, struct bt_arena *arena, struct bt_quantity *out)
{
	struct bt_str text = bt_tree_text(amounts, "storage");
	return text.length != 0 && bt_quantity_parse(text, arena, out, NULL) == 0;
}

/** Every mode that the claim asks for. */
static bool has_modes(const struct bt_json_value *volume, const struct bt_json_value *claim)
{
	const struct bt_json_value *offered = bt_json_array_at(volume, "spec.accessModes");
	const struct bt_json_value *wanted = bt_json_array_at(claim, "spec.accessModes");

	for (uint32_t i = 0; i < wanted->count; i++) {
		if (!bt_json_has_text(offered, wanted->elements[i]->text)) {
			return false;
		}
	}
	return true;
}

static bool is_selected(const struct bt_json_value *volume, const struct bt_json_value *claim,
	struct bt_arena *arena)
{
	const struct bt_json_value *selector = bt_json_find_path(claim, "spec.selector");
	struct bt_selector parsed;

	if (selector == NULL || selector->count == 0) {
		return true;
	}
	return bt_tree_selector(arena, selector, false, &parsed) &&
		bt_tree_matches(arena, &parsed, bt_json_object_at(volume, "metadata.labels"));
}

/** *out_capacity is only set when it fits. */
static bool fits(const struct bt_json_value *volume, const struct bt_json_value *claim,
	struct bt_arena *arena, struct bt_quantity *out_capacity)
{
	struct bt_quantity capacity;
	struct bt_quantity request = {0};

	(void)read_storage(bt_json_object_at(claim, "spec.resources.requests"), arena, &request);
	if (bt_tree_is_deleting(volume) ||
		!read_storage(bt_json_object_at(volume, "spec.capacity"), arena, &capacity) ||
		bt_quantity_compare(&capacity, &request) < 0 || !has_modes(volume, claim) ||
		!bt_str_equal(bt_json_text_at(volume, "spec.volumeMode"),
			bt_json_text_at(claim, "spec.volumeMode")) ||
		!is_selected(volume, claim, arena)) {
		return false;
	}
	*out_capacity = capacity;
	return true;
}

/** A volume whose claimRef names this claim, without another one's uid. */
static struct bt_str pre_bound(struct bt_binder_pass *pass, const struct bt_json_value *claim)
{
	struct bt_str uid = bt_json_text_at(claim, "metadata.uid");
	uint32_t entry = bt_groups_first(&pass->self->claimed, pass->key);

	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&pass->self->claimed, entry)) {
		struct bt_str key = bt_groups_key(&pass->self->claimed, entry);
		const struct bt_json_value *volume =
			bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, key, pass->arena);
		struct bt_str named = bt_json_text_at(volume, "spec.claimRef.uid");
		struct bt_quantity capacity;

		if (volume == NULL || bt_tree_is_deleting(volume) ||
			(named.length != 0 && !bt_str_equal(named, uid))) {
			continue;
		}
		if (named.length != 0 || fits(volume, claim, pass->arena, &capacity)) {
			return bt_arena_str(pass->arena, key);
		}
	}
	return BT_STR("");
}

/** Key of the volume for a claim: one that names it, else (any) the smallest that fits; "". */
static struct bt_str binder_choose(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, bool any)
{
	struct bt_str best = pre_bound(pass, claim);
	struct bt_quantity least = {0};
	struct bt_arena scratch = {0};
	uint32_t entry;

	if (best.length != 0 || !any) {
		return best;
	}
	entry = bt_groups_first(&pass->self->available, bt_pv_class_of(claim));
	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&pass->self->available, entry)) {
		struct bt_str key = bt_groups_key(&pass->self->available, entry);
		const struct bt_json_value *volume =
			bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, key, &scratch);
		struct bt_quantity capacity;
		int order;

		if (volume != NULL && bt_json_find_path(volume, "spec.claimRef") == NULL &&
			fits(volume, claim, &scratch, &capacity)) {
			order = best.length != 0 ? bt_quantity_compare(&capacity, &least) : -1;
			if (order < 0 || (order == 0 && bt_str_compare(key, best) < 0)) {
				struct bt_str text = bt_tree_text(
					bt_json_object_at(volume, "spec.capacity"), "storage");
				best = bt_arena_str(pass->arena, key);
				if (bt_quantity_parse(bt_arena_str(pass->arena, text), pass->arena,
					    &least, NULL) != 0) {
					least = (struct bt_quantity){0};
				}
			}
		}
		bt_arena_reset(&scratch);
	}
	bt_arena_finish(&scratch);
	return best;
}

/* --- binding --- */

static bool patch(struct bt_binder_pass *pass, const struct bt_api_resource *resource,
	struct bt_str key, struct bt_json_value *document)
{
	return bt_hub_patch(pass->hub, resource, BT_SUBRESOURCE_NONE, key, document, pass->arena,
		       NULL) == 200;
}

static bool claim_volume(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	const struct bt_json_value *before = bt_json_find_path(volume, "spec.claimRef");
	struct bt_str uid = bt_json_text_at(claim, "metadata.uid");
	struct bt_json_value *document;
	struct bt_json_value *reference;

	if (bt_str_equal(bt_json_text_at(before, "uid"), uid)) {
		return true;
	}
	document = bt_json_new(arena, BT_JSON_OBJECT);
	if (before == NULL) {
		struct bt_json_value *metadata = bt_json_ensure_object(arena, document, "metadata");
		bt_json_set_c(arena, bt_json_ensure_object(arena, metadata, "annotations"),
			BT_PV_BOUND_BY_CONTROLLER, "yes");
	}
	reference = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, document, "spec"), "claimRef");
	bt_json_set_c(arena, reference, "apiVersion", "v1");
	bt_json_set_c(arena, reference, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, reference, "name", bt_json_text_at(claim, "metadata.name"));
	bt_json_set_str(
		arena, reference, "namespace", bt_json_text_at(claim, "metadata.namespace"));
	bt_json_set_str(arena, reference, "resourceVersion",
		bt_json_text_at(claim, "metadata.resourceVersion"));
	bt_json_set_str(arena, reference, "uid", uid);
	return patch(pass, pass->self->volumes, bt_json_text_at(volume, "metadata.name"), document);
}

static bool name_volume(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	bool chosen = bt_json_text_at(claim, "spec.volumeName").length == 0;
	struct bt_json_value *document;
	struct bt_json_value *metadata;
	struct bt_json_value *annotations;

	if (!chosen && bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length != 0) {
		return true;
	}
	document = bt_json_new(arena, BT_JSON_OBJECT);
	metadata = bt_json_ensure_object(arena, document, "metadata");
	annotations = bt_json_ensure_object(arena, metadata, "annotations");
	bt_json_set_c(arena, annotations, BT_PV_BIND_COMPLETED, "yes");
	if (chosen) {
		bt_json_set_c(arena, annotations, BT_PV_BOUND_BY_CONTROLLER, "yes");
		bt_json_set_str(arena, bt_json_ensure_object(arena, document, "spec"), "volumeName",
			bt_json_text_at(volume, "metadata.name"));
	}
	return patch(pass, pass->self->claims, pass->key, document);
}

/** The four writes. false: try again. */
static bool binder_bind(struct bt_binder_pass *pass, const struct bt_json_value *claim,
	const struct bt_json_value *volume)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *volume_status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);

	if (!claim_volume(pass, claim, volume)) {
		return false;
	}
	if (!bt_str_equal_c(bt_json_text_at(volume, "status.phase"), "Bound")) {
		bt_json_set_c(arena, volume_status, "phase", "Bound");
		bt_json_set_str(arena, volume_status, "lastPhaseTransitionTime",
			bt_time_text(arena, pass->now_ns));
		if (!bt_tree_write_status(
			    pass->hub, pass->self->volumes, volume, volume_status, arena)) {
			return false;
		}
	}
	if (!name_volume(pass, claim, volume)) {
		return false;
	}
	bt_json_set_c(arena, status, "phase", "Bound");
	bt_json_set_value(arena, status, "accessModes",
		bt_json_clone(arena, bt_json_array_at(volume, "spec.accessModes"), false));
	bt_json_set_value(arena, status, "capacity",
		bt_json_clone(arena, bt_json_object_at(volume, "spec.capacity"), false));
	return bt_tree_write_status(pass->hub, pass->self->claims, claim, status, arena);
}

/* --- a claim on its way to a volume --- */

#define COMPONENT "persistentvolume-controller"

static void tell(struct bt_binder_pass *pass, const struct bt_json_value *claim, const char *type,
	const char *reason, struct bt_str message)
{
	bt_hub_event(pass->hub, COMPONENT, pass->self->claims, claim, type, reason, message);
}

/* --- the default class --- */

/** Of the classes marked as default the newest, then the first by name; "". */
static struct bt_str default_class(struct bt_binder_pass *pass)
{
	struct bt_store *store = bt_api_store(bt_hub_api(pass->hub));
	struct bt_store_walk walk;
	const struct bt_stored *stored;
	struct bt_str best = BT_STR("");
	int64_t newest = INT64_MIN;

	if (bt_store_walk_begin(store, pass->self->classes->collection, 0, BT_STR(""), BT_STR(""),
		    &walk, NULL) != 0) {
		return best;
	}
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_json_value *class_ = bt_api_parse_stored(stored, pass->arena);
		int64_t created = bt_tree_seconds(class_, "metadata.creationTimestamp");

		if (bt_str_equal_c(bt_tree_annotation(
					   class_, "storageclass.kubernetes.io/is-default-class"),
			    "true") &&
			created > newest) {
			newest = created;
			best = bt_arena_str(pass->arena, bt_stored_key(stored));
		}
	}
	bt_store_walk_end(&walk);
	return best;
}

/** Returns whether the claim was changed: it comes back then. */
static bool assign_default_class(struct bt_binder_pass *pass)
{
	struct bt_str name = default_class(pass);
	struct bt_json_value *patch;

	if (name.length == 0) {
		return false;
	}
	patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_str(pass->arena, bt_json_ensure_object(pass->arena, patch, "spec"),
		"storageClassName", name);
	return bt_hub_patch(pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE, pass->key, patch,
		       pass->arena, NULL) == 200;
}

/* --- provisioning --- */

static bool provision(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str provisioner)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *patch;
	struct bt_json_value *annotations;

	if (!bt_str_equal(bt_tree_annotation(claim, BT_PV_PROVISIONER), provisioner)) {
		patch = bt_json_new(arena, BT_JSON_OBJECT);
		annotations = bt_json_ensure_object(
			arena, bt_json_ensure_object(arena, patch, "metadata"), "annotations");
		bt_json_set_str(arena, annotations, BT_PV_PROVISIONER_BETA, provisioner);
		bt_json_set_str(arena, annotations, BT_PV_PROVISIONER, provisioner);
		if (bt_hub_patch(pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE, pass->key,
			    patch, arena, NULL) != 200) {
			return false;
		}
		tell(pass, claim, "Normal", "ExternalProvisioning",
			bt_arena_printf(arena,
				"Waiting for a volume to be created either by the external "
				"provisioner '%.*s' or manually by the system administrator. If "
				"volume creation is delayed, please verify that the provisioner "
				"is running and correctly registered.",
				BT_STR_ARG(provisioner)));
	}
	return true;
}

/* --- waiting for a consumer --- */

/** Pods that a message names; one for each claim is what is usual. */
#define NAMED_PODS_MAX 20

/* --- claims --- */

static bool bind_to(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str name)
{
	const struct bt_json_value *volume =
		bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, name, pass->arena);

	return volume == NULL || binder_bind(pass, claim, volume);
}

static bool sync_unbound(struct bt_binder_pass *pass, const struct bt_json_value *claim)
{
	struct bt_str class_name = bt_pv_class_of(claim);
	const struct bt_json_value *class_;
	struct bt_str provisioner;
	struct bt_str volume;
	bool delayed;

	if (class_name.data == NULL && assign_default_class(pass)) {
		return true;
	}
	class_ = bt_pv_read_class(pass->hub, pass->self->classes, class_name, pass->arena);
	delayed = bt_pv_waits_for_consumer(class_);
	volume = binder_choose(pass, claim, !delayed);
	if (volume.length != 0) {
		return bind_to(pass, claim, volume);
	}
	if (delayed && bt_tree_annotation(claim, BT_PV_SELECTED_NODE).length == 0) {
		const struct bt_groups *waiting = &pass->self->waiting;
		uint32_t entry = bt_groups_first(waiting, pass->key);
		struct bt_strbuf names = {0};
		uint32_t count = 0;

		for (; entry != BT_GROUPS_NONE && count < NAMED_PODS_MAX;
			entry = bt_groups_next(waiting, entry), count++) {
			struct bt_str use = bt_key_name(bt_groups_key(waiting, entry));
			struct bt_str pod =
				bt_str_sub(use, 0, (uint32_t)bt_str_find_last_char(use, '#'));
			bt_strbuf_printf(&names, "%s%.*s", count != 0 ? "," : "", BT_STR_ARG(pod));
		}
		if (count == 0) {
			tell(pass, claim, "Normal", "WaitForFirstConsumer",
				BT_STR("waiting for first consumer to be created before binding"));
		} else {
			tell(pass, claim, "Normal", "WaitForPodScheduled",
				bt_arena_printf(pass->arena, "waiting for pod%s %s to be scheduled",
					count != 1 ? "s" : "", bt_strbuf_c(&names)));
		}
		bt_strbuf_finish(&names);
		return true;
	}
	provisioner = bt_json_text_at(class_, "provisioner");
	if (provisioner.length != 0 && !bt_str_equal_c(provisioner, BT_PV_NO_PROVISIONER)) {
		return provision(pass, claim, provisioner);
	}
	if (class_name.length != 0 && class_ == NULL) {
		tell(pass, claim, "Warning", "ProvisioningFailed",
			bt_arena_printf(pass->arena,
				"storageclass.storage.k8s.io \"%.*s\" not found",
				BT_STR_ARG(class_name)));
	} else {
		tell(pass, claim, "Normal", "FailedBinding",
			BT_STR("no persistent volumes available for this claim and no storage "
			       "class is set"));
	}
	return true;
}

/** spec.volumeName is given: by a user, or since it was bound. */
static bool sync_named(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str name)
{
	const struct bt_json_value *volume =
		bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, name, pass->arena);
	bool completed = bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length != 0;
	const struct bt_json_value *reference = bt_json_find_path(volume, "spec.claimRef");
	struct bt_str uid = bt_json_text_at(reference, "uid");
	struct bt_str key;

	if (volume == NULL && completed) {
		struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);
		tell(pass, claim, "Warning", "ClaimLost",
			BT_STR("Bound claim has lost its PersistentVolume. Data on the volume is "
			       "lost!"));
		bt_json_set_c(pass->arena, status, "phase", "Lost");
		return bt_tree_write_status(
			pass->hub, pass->self->claims, claim, status, pass->arena);
	}
	if (volume == NULL || bt_tree_is_deleting(volume)) {
		return true;
	}
	key = bt_api_key(pass->arena, bt_json_text_at(reference, "namespace"),
		bt_json_text_at(reference, "name"));
	if (reference != NULL &&
		(!bt_str_equal(key, pass->key) ||
			(uid.length != 0 &&
				!bt_str_equal(uid, bt_json_text_at(claim, "metadata.uid"))))) {
		return true;
	}
	if (completed && bt_str_equal_c(bt_json_text_at(claim, "status.phase"), "Bound")) {
		return true;
	}
	return binder_bind(pass, claim, volume);
}

static bool binder_sync_claim(struct bt_binder_pass *pass)
{
	const struct bt_json_value *claim =
		bt_api_read(bt_hub_api(pass->hub), pass->self->claims, pass->key, pass->arena);
	struct bt_str volume = bt_json_text_at(claim, "spec.volumeName");

	if (claim == NULL || (bt_tree_is_deleting(claim) && volume.length == 0)) {
		return true;
	}
	return volume.length == 0 ? sync_unbound(pass, claim) : sync_named(pass, claim, volume);
}

/** Claims that wait are looked at again so long after a pod that names them came. */
#define TELL_AFTER_NS (15 * BT_NS_PER_SECOND)

struct bt_str bt_pv_class_of(const struct bt_json_value *object)
{
	struct bt_str beta = bt_tree_annotation(object, BT_PV_CLASS_BETA);
	const struct bt_json_value *class_ = bt_json_find_path(object, "spec.storageClassName");

	if (beta.length != 0) {
		return beta;
	}
	return class_ != NULL && class_->type == BT_JSON_STRING ? class_->text : (struct bt_str){0};
}

const struct bt_json_value *bt_pv_read_class(struct bt_hub *hub,
	const struct bt_api_resource *classes, struct bt_str name, struct bt_arena *arena)
{
	return name.length != 0 ? bt_api_read(bt_hub_api(hub), classes, name, arena) : NULL;
}

bool bt_pv_waits_for_consumer(const struct bt_json_value *class_)
{
	return bt_str_equal_c(bt_json_text_at(class_, "volumeBindingMode"), "WaitForFirstConsumer");
}

struct bt_str bt_pv_claim_of_volume(
	struct bt_arena *arena, struct bt_str pod_name, const struct bt_json_value *volume)
{
	struct bt_str name = bt_json_text_at(volume, "persistentVolumeClaim.claimName");

	if (name.length == 0 && bt_json_find(volume, "ephemeral") != NULL) {
		name = bt_arena_printf(arena, "%.*s-%.*s", BT_STR_ARG(pod_name),
			BT_STR_ARG(bt_json_text_at(volume, "name")));
	}
	return name;
}

/* --- changes --- */

static struct bt_str claim_key(struct bt_arena *arena, const struct bt_json_value *volume)
{
	struct bt_str name = bt_json_text_at(volume, "spec.claimRef.name");

	return name.length != 0
		? bt_api_key(arena, bt_json_text_at(volume, "spec.claimRef.namespace"), name)
		: BT_STR("");
}

static void enqueue_pending(struct bt_binder *self, struct bt_hub *hub, struct bt_str class_)
{
	uint32_t entry = bt_groups_first(&self->pending, class_);

	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&self->pending, entry)) {
		bt_hub_enqueue(hub, bt_groups_key(&self->pending, entry));
	}
}

static void observe_volume(
	struct bt_binder *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *volume = observed->after;
	struct bt_arena arena = {0};
	struct bt_str claim = claim_key(&arena, volume);
	bool available = bt_str_equal_c(bt_json_text_at(volume, "status.phase"), "Available");

	if (claim.length != 0) {
		bt_hub_enqueue(hub, claim);
	}
	if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->available, observed->key);
		bt_groups_remove(&self->claimed, observed->key);
		bt_arena_finish(&arena);
		return;
	}
	if (claim.length != 0) {
		bt_groups_put(&self->claimed, observed->key, claim);
	} else {
		bt_groups_remove(&self->claimed, observed->key);
	}
	if (claim.length == 0 && available && !bt_tree_is_deleting(volume)) {
		bt_groups_put(&self->available, observed->key, bt_pv_class_of(volume));
		enqueue_pending(self, hub, bt_pv_class_of(volume));
	} else {
		bt_groups_remove(&self->available, observed->key);
	}
	bt_hub_enqueue(hub, observed->key);
	bt_arena_finish(&arena);
}

static void observe_claim(
	struct bt_binder *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_str volume = bt_json_text_at(observed->after, "spec.volumeName");
	struct bt_str phase = bt_json_text_at(observed->after, "status.phase");
	uint32_t entry;

	if (observed->type != BT_CHANGE_DELETED) {
		if (bt_str_equal_c(phase, "Bound") || bt_str_equal_c(phase, "Lost")) {
			bt_groups_remove(&self->pending, observed->key);
		} else {
			bt_groups_put(
				&self->pending, observed->key, bt_pv_class_of(observed->after));
		}
		bt_hub_enqueue(hub, observed->key);
		return;
	}
	bt_groups_remove(&self->pending, observed->key);
	if (volume.length != 0) {
		bt_hub_enqueue(hub, volume);
	}
	for (entry = bt_groups_first(&self->claimed, observed->key); entry != BT_GROUPS_NONE;
		entry = bt_groups_next(&self->claimed, entry)) {
		bt_hub_enqueue(hub, bt_groups_key(&self->claimed, entry));
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_binder *self = data;

	if (observed->resource == self->pods) {
		/* Who waits for a consumer is told who that is to be. Not at once: most pods find
		 * their node before that. */
		const struct bt_json_value *volumes =
			bt_json_array_at(observed->after, "spec.volumes");
		bool waits = observed->type != BT_CHANGE_DELETED &&
			bt_json_text_at(observed->after, "spec.nodeName").length == 0;

		for (uint32_t i = 0; i < volumes->count; i++) {
			struct bt_arena arena = {0};
			struct bt_str name = bt_pv_claim_of_volume(
				&arena, bt_key_name(observed->key), volumes->elements[i]);
			struct bt_str use =
				bt_arena_printf(&arena, "%.*s#%u", BT_STR_ARG(observed->key), i);
			struct bt_str claim =
				bt_api_key(&arena, bt_key_namespace(observed->key), name);

			if (name.length != 0 && !waits) {
				bt_groups_remove(&self->waiting, use);
			} else if (name.length != 0 &&
				bt_groups_of(&self->waiting, use).length == 0) {
				bt_groups_put(&self->waiting, use, claim);
				bt_hub_enqueue_at(hub, claim, bt_hub_now_ns(hub) + TELL_AFTER_NS);
			}
			bt_arena_finish(&arena);
		}
		return;
	}
	if (observed->resource == self->volumes) {
		observe_volume(self, hub, observed);
	} else if (observed->resource == self->claims) {
		observe_claim(self, hub, observed);
	} else if (observed->type != BT_CHANGE_DELETED) {
		enqueue_pending(self, hub, observed->key);
		/* It may have become the default of those without a class. */
		enqueue_pending(self, hub, BT_STR(""));
	}
}

/* --- volumes --- */

static bool write_phase(
	struct bt_binder_pass *pass, const struct bt_json_value *volume, const char *phase)
{
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

	if (bt_str_equal_c(bt_json_text_at(volume, "status.phase"), phase)) {
		return true;
	}
	bt_json_set_c(pass->arena, status, "phase", phase);
	bt_json_set_str(pass->arena, status, "lastPhaseTransitionTime",
		bt_time_text(pass->arena, pass->now_ns));
	return bt_tree_write_status(pass->hub, pass->self->volumes, volume, status, pass->arena);
}

static bool sync_volume(struct bt_binder_pass *pass)
{
	struct bt_api *api = bt_hub_api(pass->hub);
	const struct bt_json_value *volume =
		bt_api_read(api, pass->self->volumes, pass->key, pass->arena);
	struct bt_str claim = claim_key(pass->arena, volume);
	struct bt_str uid = bt_json_text_at(volume, "spec.claimRef.uid");
	const struct bt_json_value *owner;

	if (volume == NULL) {
		return true;
	}
	if (claim.length == 0 || uid.length == 0) {
		return bt_tree_is_deleting(volume) || write_phase(pass, volume, "Available");
	}
	owner = bt_api_read(api, pass->self->claims, claim, pass->arena);
	if (owner == NULL || !bt_str_equal(bt_json_text_at(owner, "metadata.uid"), uid)) {
		/* Its claim is gone. */
		uint16_t code;

		if (!write_phase(pass, volume, "Released")) {
			return false;
		}
		if (!bt_str_equal_c(bt_json_text_at(volume, "spec.persistentVolumeReclaimPolicy"),
			    "Delete") ||
			bt_tree_is_deleting(volume)) {
			return true;
		}
		code = bt_hub_delete(pass->hub, pass->self->volumes, pass->key, -1,
			bt_json_text_at(volume, "metadata.uid"), pass->arena);
		return code == 200 || code == 404 || code == 409;
	}
	if (bt_str_equal(bt_json_text_at(owner, "spec.volumeName"), pass->key)) {
		return write_phase(pass, volume, "Bound");
	}
	/* The claim's turn binds them. */
	bt_hub_enqueue(pass->hub, claim);
	return true;
}

/* --- the controller --- */

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct bt_binder *self = BT_NEW(struct bt_binder);

	self->volumes = bt_resources_builtin(resources, "", "persistentvolumes");
	self->claims = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	self->classes = bt_resources_builtin(resources, "storage.k8s.io", "storageclasses");
	self->pods = bt_resources_builtin(resources, "", "pods");
	bt_groups_init(&self->waiting);
	bt_groups_init(&self->available);
	bt_groups_init(&self->claimed);
	bt_groups_init(&self->pending);
	return self;
}

static void destroy(void *data)
{
	struct bt_binder *self = data;

	bt_groups_finish(&self->available);
	bt_groups_finish(&self->claimed);
	bt_groups_finish(&self->pending);
	bt_groups_finish(&self->waiting);
	bt_free(self);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct bt_binder_pass pass = {data, hub, key, arena, now_ns};

	return bt_str_find_char(key, '/') < 0 ? sync_volume(&pass) : binder_sync_claim(&pass);
}

static const char *const watched[] = {"persistentvolumes", "persistentvolumeclaims",
	"storage.k8s.io/storageclasses", "pods", NULL};

const struct bt_controller_ops bt_persistent_volume_ops = {
	.name = "persistentvolume-binder-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
