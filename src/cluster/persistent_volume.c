/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/persistent_volume.h"

#include "api/quantity.h"
#include "api/time.h"

/** Groups of the keys of volumes and claims. */
struct binder {
	struct bt_groups available; /* volumes without claim, by class */
	struct bt_groups claimed;   /* volumes with a claimRef, by the key of the claim */
	struct bt_groups pending;   /* claims that are not bound, by class */
	/**
	 * Uses of claims by unassigned pods. The keys "<pod key>#<index in spec.volumes>" are
	 * grouped by the key of the claim that the volume uses.
	 */
	struct bt_groups waiting;
};

/* --- choosing a volume for a claim --- */

/**
 * Returns why the volume cannot hold what the claim requests; NULL: it can, and *out_capacity is
 * its capacity. Does not compare the classes.
 */
static const char *find_mismatch(const struct bt_json_value *volume,
	const struct bt_json_value *claim, struct bt_arena *arena, struct bt_quantity *out_capacity)
{
	const struct bt_json_value *offered = bt_json_array_at(volume, "spec.accessModes");
	const struct bt_json_value *wanted = bt_json_array_at(claim, "spec.accessModes");
	struct bt_quantity request;

	if (bt_quantity_parse(bt_json_text_at(claim, "spec.resources.requests.storage"), arena,
		    &request, NULL) != 0) {
		request = (struct bt_quantity){0};
	}
	if (bt_quantity_parse(bt_json_text_at(volume, "spec.capacity.storage"), arena, out_capacity,
		    NULL) != 0 ||
		bt_quantity_compare(out_capacity, &request) < 0) {
		return "requested PV is too small";
	}
	if (!bt_str_equal(bt_json_text_at(volume, "spec.volumeMode"),
		    bt_json_text_at(claim, "spec.volumeMode"))) {
		return "incompatible volumeMode";
	}
	for (uint32_t i = 0; i < wanted->count; i++) {
		if (!bt_json_has_text(offered, wanted->elements[i]->text)) {
			return "incompatible accessMode";
		}
	}
	return NULL;
}

/** Returns whether the volume fits the claim. *out_capacity: the volume's capacity, if it fits. */
static bool fits(const struct bt_json_value *volume, const struct bt_json_value *claim,
	struct bt_arena *arena, struct bt_quantity *out_capacity)
{
	const struct bt_json_value *selector = bt_json_find_path(claim, "spec.selector");
	struct bt_selector parsed;

	return !bt_tree_is_deleting(volume) &&
		find_mismatch(volume, claim, arena, out_capacity) == NULL &&
		(selector == NULL || selector->count == 0 ||
			(bt_tree_selector(arena, selector, false, &parsed) &&
				bt_tree_matches(arena, &parsed,
					bt_json_object_at(volume, "metadata.labels"))));
}

/**
 * Returns the key of the volume for a claim: a volume whose claimRef names the claim, or else, if
 * `any` is set, the smallest volume that fits; "" if there is none.
 */
static struct bt_str choose_volume(
	struct bt_sync *sync, const struct bt_json_value *claim, bool any)
{
	const struct binder *self = sync->data;
	struct bt_str uid = bt_json_text_at(claim, "metadata.uid");
	struct bt_str best = BT_STR("");
	struct bt_quantity least = {0};
	struct bt_arena scratch = {0};

	BT_GROUPS_EACH (&self->claimed, sync->key, entry) {
		struct bt_str key = bt_groups_key(&self->claimed, entry);
		const struct bt_json_value *volume =
			bt_hub_read(sync->hub, BT_HUB_VOLUMES, key, sync->arena);
		struct bt_str named = bt_json_text_at(volume, "spec.claimRef.uid");
		struct bt_quantity capacity;

		/* A volume whose claimRef has no uid must also fit the claim. */
		if (volume != NULL && !bt_tree_is_deleting(volume) &&
			(named.length != 0 ? bt_str_equal(named, uid)
					   : fits(volume, claim, sync->arena, &capacity))) {
			return bt_arena_str(sync->arena, key);
		}
	}
	if (!any) {
		return best;
	}
	BT_GROUPS_EACH (&self->available, bt_pv_class_of(claim), entry) {
		struct bt_str key = bt_groups_key(&self->available, entry);
		const struct bt_json_value *volume =
			bt_hub_read(sync->hub, BT_HUB_VOLUMES, key, &scratch);
		struct bt_quantity capacity;
		int order;

		if (volume != NULL && bt_json_find_path(volume, "spec.claimRef") == NULL &&
			fits(volume, claim, &scratch, &capacity)) {
			order = best.length != 0 ? bt_quantity_compare(&capacity, &least) : -1;
			if (order < 0 || (order == 0 && bt_str_compare(key, best) < 0)) {
				struct bt_str text =
					bt_json_text_at(volume, "spec.capacity.storage");
				best = bt_arena_str(sync->arena, key);
				if (bt_quantity_parse(bt_arena_str(sync->arena, text), sync->arena,
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

void bt_pv_set_claim_reference(
	struct bt_arena *arena, struct bt_json_value *spec, const struct bt_json_value *claim)
{
	bt_json_put(arena, spec,
		"{claimRef: {apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: %s, "
		"namespace: %s, resourceVersion: %s, uid: %s}}",
		bt_json_text_at(claim, "metadata.name"),
		bt_json_text_at(claim, "metadata.namespace"),
		bt_json_text_at(claim, "metadata.resourceVersion"),
		bt_json_text_at(claim, "metadata.uid"));
}

static bool write_phase(struct bt_sync *sync, const struct bt_json_value *volume, const char *phase)
{
	return bt_str_equal_c(bt_json_text_at(volume, "status.phase"), phase) ||
		bt_tree_write_status(sync->hub, sync->hub->kinds[BT_HUB_VOLUMES], volume,
			bt_json_put(sync->arena, NULL, "{phase: %c, lastPhaseTransitionTime: %s}",
				phase, bt_time_text(sync->arena, sync->now_ns)),
			sync->arena);
}

/**
 * Binds in four writes: claimRef and phase of the volume, then spec and status of the claim.
 * Returns false if a write failed and the sync must be tried again.
 */
static bool bind(
	struct bt_sync *sync, const struct bt_json_value *claim, const struct bt_json_value *volume)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str name = bt_json_text_at(volume, "metadata.name");
	const struct bt_json_value *before = bt_json_find_path(volume, "spec.claimRef");
	bool chosen = bt_json_text_at(claim, "spec.volumeName").length == 0;
	if (!bt_str_equal(bt_json_text_at(before, "uid"), bt_json_text_at(claim, "metadata.uid"))) {
		struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
		if (before == NULL) {
			bt_json_put(arena, patch,
				"{metadata: {annotations: {" BT_PV_BOUND_BY_CONTROLLER
				": 'yes'}}}");
		}
		bt_pv_set_claim_reference(
			arena, bt_json_ensure_object(arena, patch, "spec"), claim);
		if (bt_sync_patch(sync, BT_HUB_VOLUMES, name, patch) != 200) {
			return false;
		}
	}
	if (!write_phase(sync, volume, "Bound")) {
		return false;
	}
	if ((chosen || bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length == 0) &&
		bt_sync_patch(sync, BT_HUB_VOLUME_CLAIMS, sync->key,
			bt_json_put(arena, NULL,
				"{metadata: {annotations: {" BT_PV_BIND_COMPLETED
				": 'yes', " BT_PV_BOUND_BY_CONTROLLER
				": %c}}, spec: {volumeName?: %s}}",
				chosen ? "yes" : NULL, chosen ? name : BT_STR(""))) != 200) {
		return false;
	}
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL, "{phase: 'Bound', accessModes: %t, capacity: %t}",
			bt_json_array_at(volume, "spec.accessModes"),
			bt_json_object_at(volume, "spec.capacity")));
	return true;
}

/** Maximum number of pods that a message lists; usually one pod uses a claim. */
#define NAMED_PODS_MAX 20

/* --- claims --- */

/** Syncs a claim whose spec.volumeName is empty. */
static bool sync_unbound(struct bt_sync *sync)
{
	const struct bt_json_value *claim = sync->object;
	const struct binder *self = sync->data;
	struct bt_arena *arena = sync->arena;
	struct bt_str class_name = bt_pv_class_of(claim);
	struct bt_str provisioner;

	if (class_name.data == NULL) {
		struct bt_str name = bt_api_default_class(sync->hub->api, arena);

		if (name.length != 0) {
			/* This write enqueues the claim again. */
			return bt_hub_is_done(bt_sync_patch(sync, BT_HUB_VOLUME_CLAIMS, sync->key,
				bt_json_put(arena, NULL, "{spec: {storageClassName: %s}}", name)));
		}
	}
	const struct bt_json_value *class_ = bt_pv_read_class(sync->hub, class_name, arena);
	bool delayed = bt_pv_waits_for_consumer(class_);
	struct bt_str volume = choose_volume(sync, claim, !delayed);
	if (volume.length != 0) {
		const struct bt_json_value *chosen =
			bt_hub_read(sync->hub, BT_HUB_VOLUMES, volume, arena);

		return chosen == NULL || bind(sync, claim, chosen);
	}
	if (delayed && bt_tree_annotation(claim, BT_PV_SELECTED_NODE).length == 0) {
		struct bt_strbuf names = {0};
		uint32_t count = 0;

		BT_GROUPS_EACH (&self->waiting, sync->key, entry) {
			if (count == NAMED_PODS_MAX) {
				break;
			}
			struct bt_str use = bt_key_name(bt_groups_key(&self->waiting, entry));
			struct bt_str pod =
				bt_str_sub(use, 0, (uint32_t)bt_str_find_last_char(use, '#'));
			bt_strbuf_printf(&names, "%s%.*s", count != 0 ? "," : "", BT_STR_ARG(pod));
			count++;
		}
		if (count == 0) {
			bt_sync_event(sync, "Normal", "WaitForFirstConsumer",
				"waiting for first consumer to be created before binding");
		} else {
			bt_sync_event(sync, "Normal", "WaitForPodScheduled",
				"waiting for pod%s %s to be scheduled", count != 1 ? "s" : "",
				bt_strbuf_c(&names));
		}
		bt_strbuf_finish(&names);
		return true;
	}
	provisioner = bt_json_text_at(class_, "provisioner");
	if (provisioner.length != 0 && !bt_str_equal_c(provisioner, BT_PV_NO_PROVISIONER)) {
		if (bt_str_equal(bt_tree_annotation(claim, BT_PV_PROVISIONER), provisioner)) {
			return true;
		}
		if (bt_sync_patch(sync, BT_HUB_VOLUME_CLAIMS, sync->key,
			    bt_json_put(arena, NULL,
				    "{metadata: {annotations: {" BT_PV_PROVISIONER_BETA
				    ": %s, " BT_PV_PROVISIONER ": %s}}}",
				    provisioner, provisioner)) != 200) {
			return false;
		}
		bt_sync_event(sync, "Normal", "ExternalProvisioning",
			"Waiting for a volume to be created either by the external provisioner "
			"'%.*s' or manually by the system administrator. If volume creation is "
			"delayed, please verify that the provisioner is running and correctly "
			"registered.",
			BT_STR_ARG(provisioner));
	} else if (class_name.length != 0 && class_ == NULL) {
		bt_sync_event(sync, "Warning", "ProvisioningFailed",
			"storageclass.storage.k8s.io \"%.*s\" not found", BT_STR_ARG(class_name));
	} else {
		bt_sync_event(sync, "Normal", "FailedBinding",
			"no persistent volumes available for this claim and no storage class is "
			"set");
	}
	return true;
}

/**
 * Resizes a bound claim that requests more storage than it has. Does the work of a driver's resizer
 * and of the kubelet. Admission has checked that the class allows expansion.
 */
static bool expand(struct bt_sync *sync, const struct bt_json_value *volume)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str wanted = bt_json_text_at(sync->object, "spec.resources.requests.storage");
	struct bt_str before = bt_json_text_at(sync->object, "status.capacity.storage");
	struct bt_str name = bt_json_text_at(volume, "metadata.name");
	struct bt_quantity request;
	struct bt_quantity capacity;
	struct bt_quantity size;

	if (bt_quantity_parse(wanted, arena, &request, NULL) != 0 ||
		bt_quantity_parse(before, arena, &capacity, NULL) != 0 ||
		bt_quantity_compare(&request, &capacity) <= 0) {
		return true;
	}
	if (bt_quantity_parse(
		    bt_json_text_at(volume, "spec.capacity.storage"), arena, &size, NULL) != 0 ||
		bt_quantity_compare(&request, &size) > 0) {
		bt_sync_event(sync, "Normal", "Resizing",
			"External resizer is resizing volume %.*s", BT_STR_ARG(name));
		if (bt_sync_patch(sync, BT_HUB_VOLUMES, name,
			    bt_json_put(arena, NULL, "{spec: {capacity: {storage: %s}}}",
				    wanted)) != 200) {
			return false;
		}
	}
	bt_sync_write_status(sync,
		bt_json_put(arena, NULL,
			"{capacity: {storage: %s}, allocatedResources: {storage: %s}}", wanted,
			wanted));
	bt_sync_event(sync, "Normal", "FileSystemResizeSuccessful",
		"MountVolume.NodeExpandVolume succeeded for volume \"%.*s\"", BT_STR_ARG(name));
	return true;
}

static bool sync_claim(struct bt_sync *sync)
{
	const struct bt_json_value *claim = sync->object;
	struct bt_str name = bt_json_text_at(claim, "spec.volumeName");
	bool completed = bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length != 0;
	struct bt_str uid;

	if (name.length == 0) {
		return bt_tree_is_deleting(claim) || sync_unbound(sync);
	}
	/* spec.volumeName was set by a user or by an earlier binding. */
	const struct bt_json_value *volume =
		bt_hub_read(sync->hub, BT_HUB_VOLUMES, name, sync->arena);
	if (volume == NULL && completed) {
		bt_sync_event(sync, "Warning", "ClaimLost",
			"Bound claim has lost its PersistentVolume. Data on the volume is lost!");
		bt_sync_write_status(sync, bt_json_put(sync->arena, NULL, "{phase: 'Lost'}"));
		return true;
	}
	if (volume == NULL || bt_tree_is_deleting(volume)) {
		return true;
	}
	const struct bt_json_value *reference = bt_json_find_path(volume, "spec.claimRef");
	uid = bt_json_text_at(reference, "uid");
	struct bt_str key = bt_api_key(sync->arena, bt_json_text_at(reference, "namespace"),
		bt_json_text_at(reference, "name"));
	if (reference != NULL &&
		(!bt_str_equal(key, sync->key) ||
			(uid.length != 0 &&
				!bt_str_equal(uid, bt_json_text_at(claim, "metadata.uid"))))) {
		return true;
	}
	if (reference == NULL && !completed) {
		struct bt_quantity capacity;
		const char *mismatch = bt_str_equal(bt_pv_class_of(volume), bt_pv_class_of(claim))
			? find_mismatch(volume, claim, sync->arena, &capacity)
			: "storageClassName does not match";

		if (mismatch != NULL) {
			bt_sync_event(sync, "Warning", "VolumeMismatch",
				"Cannot bind to requested volume \"%.*s\": %s", BT_STR_ARG(name),
				mismatch);
			return true;
		}
	}
	return completed && bt_str_equal_c(bt_json_text_at(claim, "status.phase"), "Bound")
		? expand(sync, volume)
		: bind(sync, claim, volume);
}

/** Delay between a new pod and the sync of the unbound claims that it uses. */
#define CONSUMER_DELAY_NS (15 * BT_NS_PER_SECOND)

struct bt_str bt_pv_class_of(const struct bt_json_value *object)
{
	struct bt_str beta = bt_tree_annotation(object, BT_PV_CLASS_BETA);
	const struct bt_json_value *class_ = bt_json_find_path(object, "spec.storageClassName");

	if (beta.length != 0) {
		return beta;
	}
	return class_ != NULL && class_->type == BT_JSON_STRING ? class_->text : (struct bt_str){0};
}

const struct bt_json_value *bt_pv_read_class(
	struct bt_hub *hub, struct bt_str name, struct bt_arena *arena)
{
	return name.length != 0 ? bt_hub_read(hub, BT_HUB_STORAGE_CLASSES, name, arena) : NULL;
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

static void observe_volume(
	struct binder *self, struct bt_hub *hub, const struct bt_observed *observed)
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
		bt_groups_set(&self->claimed, observed->key, claim);
	} else {
		bt_groups_remove(&self->claimed, observed->key);
	}
	if (claim.length == 0 && available && !bt_tree_is_deleting(volume)) {
		bt_groups_set(&self->available, observed->key, bt_pv_class_of(volume));
		bt_hub_enqueue_group(hub, &self->pending, bt_pv_class_of(volume));
	} else {
		bt_groups_remove(&self->available, observed->key);
	}
	bt_hub_enqueue(hub, observed->key);
	bt_arena_finish(&arena);
}

static void observe_claim(
	struct binder *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_str volume = bt_json_text_at(observed->after, "spec.volumeName");
	struct bt_str phase = bt_json_text_at(observed->after, "status.phase");

	if (observed->type != BT_CHANGE_DELETED) {
		if (bt_str_equal_c(phase, "Bound") || bt_str_equal_c(phase, "Lost")) {
			bt_groups_remove(&self->pending, observed->key);
		} else {
			bt_groups_set(
				&self->pending, observed->key, bt_pv_class_of(observed->after));
		}
		bt_hub_enqueue(hub, observed->key);
		return;
	}
	bt_groups_remove(&self->pending, observed->key);
	if (volume.length != 0) {
		bt_hub_enqueue(hub, volume);
	}
	bt_hub_enqueue_group(hub, &self->claimed, observed->key);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct binder *self = data;

	if (observed->kind == BT_HUB_PODS) {
		/*
		 * A claim that waits for its first consumer gets an event that names the pod. The
		 * claim is enqueued with a delay, because most pods are scheduled before the delay
		 * ends.
		 */
		const struct bt_json_value *volumes =
			bt_json_array_at(observed->after, "spec.volumes");
		bool waits = observed->type != BT_CHANGE_DELETED &&
			bt_json_text_at(observed->after, "spec.nodeName").length == 0;

		for (uint32_t i = 0; i < volumes->count; i++) {
			struct bt_arena arena = {0};
			struct bt_str name = bt_pv_claim_of_volume(
				&arena, bt_key_name(observed->key), volumes->elements[i]);
			if (name.length == 0) {
				continue; /* the volume has no claim, and the arena is unused */
			}
			struct bt_str use =
				bt_arena_printf(&arena, "%.*s#%u", BT_STR_ARG(observed->key), i);
			struct bt_str claim =
				bt_api_key(&arena, bt_key_namespace(observed->key), name);

			if (!waits) {
				bt_groups_remove(&self->waiting, use);
			} else if (bt_groups_of(&self->waiting, use).length == 0) {
				bt_groups_set(&self->waiting, use, claim);
				bt_hub_enqueue_at(hub, claim, hub->now_ns + CONSUMER_DELAY_NS);
			}
			bt_arena_finish(&arena);
		}
		return;
	}
	if (observed->kind == BT_HUB_VOLUMES) {
		observe_volume(self, hub, observed);
	} else if (observed->kind == BT_HUB_VOLUME_CLAIMS) {
		observe_claim(self, hub, observed);
	} else if (observed->type != BT_CHANGE_DELETED) {
		bt_hub_enqueue_group(hub, &self->pending, observed->key);
		/* The class may be the default class now: enqueue claims without a class. */
		bt_hub_enqueue_group(hub, &self->pending, BT_STR(""));
	}
}

/* --- volumes --- */

static bool sync_volume(struct bt_sync *sync)
{
	const struct bt_json_value *volume = sync->object;
	struct bt_str claim = claim_key(sync->arena, volume);
	struct bt_str uid = bt_json_text_at(volume, "spec.claimRef.uid");

	if (claim.length == 0 || uid.length == 0) {
		return bt_tree_is_deleting(volume) || write_phase(sync, volume, "Available");
	}
	const struct bt_json_value *owner =
		bt_hub_read(sync->hub, BT_HUB_VOLUME_CLAIMS, claim, sync->arena);
	if (owner == NULL || !bt_str_equal(bt_json_text_at(owner, "metadata.uid"), uid)) {
		/* The claim was deleted. */
		if (!write_phase(sync, volume, "Released")) {
			return false;
		}
		if (!bt_str_equal_c(bt_json_text_at(volume, "spec.persistentVolumeReclaimPolicy"),
			    "Delete") ||
			bt_tree_is_deleting(volume)) {
			return true;
		}
		uint16_t code = bt_hub_delete(sync->hub, sync->resource, sync->key, -1,
			BT_PROPAGATION_BACKGROUND, bt_json_text_at(volume, "metadata.uid"),
			sync->arena);
		return bt_hub_is_done(code) || code == 409;
	}
	if (bt_str_equal(bt_json_text_at(owner, "spec.volumeName"), sync->key)) {
		return write_phase(sync, volume, "Bound");
	}
	/* The sync of the claim binds volume and claim. */
	bt_hub_enqueue(sync->hub, claim);
	return true;
}

static bool sync(struct bt_sync *sync)
{
	bool is_volume = bt_str_find_char(sync->key, '/') < 0;

	sync->resource = sync->hub->kinds[is_volume ? BT_HUB_VOLUMES : BT_HUB_VOLUME_CLAIMS];
	sync->object = bt_api_read(sync->hub->api, sync->resource, sync->key, sync->arena);
	return sync->object == NULL || (is_volume ? sync_volume(sync) : sync_claim(sync));
}

const struct bt_controller_ops bt_persistent_volume_ops = {
	.component = "persistentvolume-controller",
	.watches = BT_WATCH(BT_HUB_VOLUMES) | BT_WATCH(BT_HUB_VOLUME_CLAIMS) |
		BT_WATCH(BT_HUB_STORAGE_CLASSES) | BT_WATCH(BT_HUB_PODS),
	.group_count = 4,
	.observe = observe,
	.sync = sync,
};
