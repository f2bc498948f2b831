/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/pod_claims.h"

#include "api/resource_claim.h"
#include "base/nanoseconds.h"
#include "cluster/cluster.h"
#include "cluster/typed.h"
#include "dra/dra.h"
#include "server/write.h"

/** The virtual time of the maker's cluster, which never advances. */
#define START_NS (INT64_C(1700000000) * BT_NS_PER_SECOND)

struct bt_claim_maker {
	struct bt_state *state;
	const struct bt_gates *gates;
	struct bt_cluster *cluster; /* NULL before the first pod that needs a claim */
	struct bt_arena scratch;    /* reset for each pod */
	/**
	 * The model is the last pod that the controllers made claims for. A later pod with equal
	 * entries and volumes gets copies of the model's claims, without a run of the controllers.
	 * model_part: the pod before the controllers ran. model_pod: the pod after they ran.
	 * model_claims: the claims in the order of the pod's resourceClaimStatuses, then of its
	 * volumes; a NULL entry is a claim that the API server refused.
	 */
	struct bt_object *model_part;
	struct bt_object *model_pod;
	BT_VEC(struct bt_object *) model_claims;
};

struct bt_claim_maker *bt_claim_maker_create(struct bt_state *state, const struct bt_gates *gates)
{
	struct bt_claim_maker *maker = BT_NEW(struct bt_claim_maker);
	*maker = (struct bt_claim_maker){.state = state, .gates = gates};
	return maker;
}

static void release_model(struct bt_claim_maker *maker)
{
	for (uint32_t i = 0; i < maker->model_claims.count; i++) {
		bt_object_release(maker->model_claims.items[i]);
	}
	maker->model_claims.count = 0;
	bt_object_release(maker->model_part);
	bt_object_release(maker->model_pod);
	maker->model_part = NULL;
	maker->model_pod = NULL;
}

void bt_claim_maker_destroy(struct bt_claim_maker *maker)
{
	if (maker != NULL) {
		release_model(maker);
		bt_vec_finish(&maker->model_claims);
		bt_cluster_destroy(maker->cluster);
		bt_arena_finish(&maker->scratch);
		bt_free(maker);
	}
}

static bool is_known(const struct bt_claim_maker *maker, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find(&maker->state->objects, kind, namespace_, name) != NULL;
}

static const struct bt_stored *find_stored(struct bt_claim_maker *maker, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	return bt_store_find(maker->cluster->store,
		bt_typed_resource(maker->cluster->api, kind)->collection,
		bt_api_key(&maker->scratch, namespace_, name));
}

static int restore(
	struct bt_claim_maker *maker, enum bt_kind kind, const void *value, struct berth_error *err)
{
	struct bt_api *api = maker->cluster->api;
	return bt_cluster_restore(api, bt_typed_resource(api, kind),
		bt_typed_tree(kind, value, &maker->scratch), &maker->scratch, NULL, err);
}

static int open_cluster(struct bt_claim_maker *maker, struct berth_error *err)
{
	static const char *const controllers[] = {
		"ephemeral-volume-controller", "resourceclaim-controller"};
	const struct bt_cluster_options options = {
		.start_ns = START_NS,
		.skip_validation = true,
		.gates = maker->gates,
		.controllers = {.names = controllers, .name_count = BT_ARRAY_LENGTH(controllers)},
	};
	const struct bt_storage_class *class;
	uint32_t cursor = 0;
	int result = bt_cluster_create(&options, &maker->cluster, err);
	/* Store the classes: a PersistentVolumeClaim without a class gets the default class. */
	while (result == 0 &&
		(class = bt_object_store_next(&maker->state->objects, BT_KIND_STORAGE_CLASS,
			 (struct bt_str){0}, &cursor)) != NULL) {
		result = restore(maker, BT_KIND_STORAGE_CLASS, class, err);
	}
	return result == 0 ? bt_cluster_start(maker->cluster, err) : result;
}

static struct bt_str volume_claim_name(
	const struct bt_pod *pod, const struct bt_volume *volume, struct bt_arena *arena)
{
	return bt_arena_printf(
		arena, "%.*s-%.*s", BT_STR_ARG(pod->metadata.name), BT_STR_ARG(volume->name));
}

/** --- claims that the controllers made --- */

static void add_model_claim(struct bt_claim_maker *maker, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	const struct bt_stored *stored = find_stored(maker, kind, namespace_, name);
	struct bt_object *claim = stored != NULL ? bt_typed_decode(kind, stored, NULL) : NULL;
	bt_vec_push(&maker->model_claims, claim);
}

/**
 * Gives the pod the model's claim at index, or a copy with this name if the claim was made for
 * another pod. Returns the bytes that the claim takes.
 */
static size_t set_claim(struct bt_claim_maker *maker, uint32_t index, const struct bt_pod *pod,
	struct bt_str generate_name, struct bt_str name)
{
	const struct bt_object *model = maker->model_claims.items[index];
	if (model == NULL) {
		return 0; /* the API server refused the claim: the pod has none */
	}
	struct bt_object_meta *copy = bt_object_copy_value(model, &maker->scratch);
	/*
	 * Drop the resourceVersion, which comes from the maker's store: the scheduler must see the
	 * claim as new.
	 */
	copy->resource_version = BT_STR("");
	struct bt_owner_reference owner = *bt_object_controller(model->meta);
	if (!bt_str_equal(owner.uid, pod->metadata.uid)) {
		owner.name = pod->metadata.name;
		owner.uid = pod->metadata.uid;
		copy->generate_name = generate_name;
		copy->name = name;
		copy->uid = bt_api_new_uid(maker->cluster->api, &maker->scratch);
		copy->owner_references.items = &owner;
	}
	struct bt_object *claim = bt_object_create(model->kind, copy);
	size_t bytes = bt_object_bytes(claim);
	bt_object_store_put(&maker->state->objects, claim);
	return bytes;
}

/**
 * Sets the pod's resourceClaimStatuses: keeps the entries whose claims exist, then adds an entry
 * for each new claim, and gives the pod the new claims. Returns the bytes that the new claims take.
 */
static size_t take_claims(struct bt_claim_maker *maker, struct bt_pod *pod,
	const struct bt_pod *part, struct bt_arena *arena)
{
	const struct bt_pod *model = bt_object_value(maker->model_pod, BT_KIND_POD);
	const bt_pod_resource_claim_status_list *made = &model->status.resource_claim_statuses;
	struct bt_pod_resource_claim_status *statuses = BT_ARENA_NEW_ARRAY(
		arena, struct bt_pod_resource_claim_status, pod->spec.resource_claims.count);
	bool is_copy = !bt_str_equal(model->metadata.uid, pod->metadata.uid);
	uint32_t count = 0;
	size_t bytes = 0;
	for (uint32_t i = 0; i < pod->status.resource_claim_statuses.count; i++) {
		const struct bt_pod_resource_claim_status *status =
			&pod->status.resource_claim_statuses.items[i];
		bool is_there = status->resource_claim_name.data == NULL ||
			is_known(maker, BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_,
				status->resource_claim_name);
		if (is_there && count < pod->spec.resource_claims.count) {
			statuses[count++] = *status;
		}
	}
	for (uint32_t i = 0; i < made->count && count < pod->spec.resource_claims.count; i++) {
		struct bt_str entry_name = made->items[i].name;
		struct bt_str generate_name = bt_arena_printf(&maker->scratch, "%.*s-%.*s-",
			BT_STR_ARG(pod->metadata.name), BT_STR_ARG(entry_name));
		struct bt_str name = made->items[i].resource_claim_name;
		while (is_copy &&
			(bt_str_equal(name, made->items[i].resource_claim_name) ||
				is_known(maker, BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_,
					name))) {
			name = bt_api_generate_name(
				maker->cluster->api, &maker->scratch, generate_name);
		}
		statuses[count++] = (struct bt_pod_resource_claim_status){
			.name = bt_arena_str(arena, entry_name),
			.resource_claim_name = bt_arena_str(arena, name),
		};
		bytes += set_claim(maker, i, pod, generate_name, name);
	}
	for (uint32_t i = 0; i < part->spec.volumes.count; i++) {
		bytes += set_claim(maker, made->count + i, pod, BT_STR(""),
			volume_claim_name(pod, &part->spec.volumes.items[i], &maker->scratch));
	}
	pod->status.resource_claim_statuses.items = statuses;
	pod->status.resource_claim_statuses.count = count;
	pod->status.resource_claim_statuses.present = count != 0;
	return bytes;
}

/**
 * Makes the claims of the pod. part: the part of the pod that the controllers read, with the
 * entries and volumes whose claims are missing.
 */
static int make(struct bt_claim_maker *maker, struct bt_pod *pod, const struct bt_pod *part,
	struct bt_arena *arena, size_t *out_bytes, struct berth_error *err)
{
	struct bt_str namespace_ = pod->metadata.namespace_;
	const struct bt_pod *model =
		maker->model_part != NULL ? bt_object_value(maker->model_part, BT_KIND_POD) : NULL;
	if (model != NULL && bt_str_equal(model->metadata.namespace_, namespace_) &&
		bt_message_equal(&bt_pod_spec_message, &model->spec, &part->spec)) {
		*out_bytes = take_claims(maker, pod, part, arena);
		return 0;
	}
	int result = maker->cluster == NULL ? open_cluster(maker, err) : 0;
	for (uint32_t i = 0; i < part->spec.resource_claims.count && result == 0; i++) {
		struct bt_str name =
			part->spec.resource_claims.items[i].resource_claim_template_name;
		if (find_stored(maker, BT_KIND_RESOURCE_CLAIM_TEMPLATE, namespace_, name) == NULL) {
			result = restore(maker, BT_KIND_RESOURCE_CLAIM_TEMPLATE,
				bt_object_store_find(&maker->state->objects,
					BT_KIND_RESOURCE_CLAIM_TEMPLATE, namespace_, name),
				err);
		}
	}
	if (result == 0) {
		result = restore(maker, BT_KIND_POD, part, err);
	}
	if (result == 0) {
		result = bt_cluster_run_until(maker->cluster, START_NS, err);
	}
	if (result < 0) {
		return result;
	}
	/* The controllers have made the claims of this pod, which becomes the model. */
	release_model(maker);
	maker->model_part = bt_object_create(BT_KIND_POD, part);
	maker->model_pod = bt_typed_decode(BT_KIND_POD,
		find_stored(maker, BT_KIND_POD, namespace_, part->metadata.name), NULL);
	BT_ASSERT(maker->model_pod != NULL); /* the controllers just wrote the pod */
	const bt_pod_resource_claim_status_list *made =
		&((const struct bt_pod *)bt_object_value(maker->model_pod, BT_KIND_POD))
			 ->status.resource_claim_statuses;
	for (uint32_t i = 0; i < made->count; i++) {
		add_model_claim(maker, BT_KIND_RESOURCE_CLAIM, namespace_,
			made->items[i].resource_claim_name);
	}
	for (uint32_t i = 0; i < part->spec.volumes.count; i++) {
		add_model_claim(maker, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_,
			volume_claim_name(part, &part->spec.volumes.items[i], &maker->scratch));
	}
	*out_bytes = take_claims(maker, pod, part, arena);
	return 0;
}

int bt_claim_maker_make(struct bt_claim_maker *maker, struct bt_pod *pod, struct bt_arena *arena,
	struct bt_str *out_missing, size_t *out_bytes, struct berth_error *err)
{
	const struct bt_pod_spec *spec = &pod->spec;
	struct bt_str namespace_ = pod->metadata.namespace_;
	int result = 0;
	*out_missing = BT_STR("");
	*out_bytes = 0;
	if (spec->resource_claims.count + spec->volumes.count == 0) {
		return 0;
	}
	struct bt_pod_resource_claim *entries = BT_ARENA_NEW_ARRAY(
		&maker->scratch, struct bt_pod_resource_claim, spec->resource_claims.count);
	struct bt_volume *volumes =
		BT_ARENA_NEW_ARRAY(&maker->scratch, struct bt_volume, spec->volumes.count);
	uint32_t entry_count = 0;
	uint32_t volume_count = 0;
	for (uint32_t i = 0; i < spec->resource_claims.count; i++) {
		const struct bt_pod_resource_claim *entry = &spec->resource_claims.items[i];
		const struct bt_pod_resource_claim_status *status =
			bt_pod_claim_status(pod, entry->name);
		bool has_claim = status == NULL ? entry->resource_claim_name.data != NULL ||
				entry->resource_claim_template_name.data == NULL
						: status->resource_claim_name.data == NULL ||
				is_known(maker, BT_KIND_RESOURCE_CLAIM, namespace_,
					status->resource_claim_name);
		if (has_claim) {
			continue;
		}
		if (!is_known(maker, BT_KIND_RESOURCE_CLAIM_TEMPLATE, namespace_,
			    entry->resource_claim_template_name)) {
			*out_missing = entry->resource_claim_template_name;
			continue;
		}
		entries[entry_count++] = *entry;
	}
	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		const struct bt_volume *volume = &spec->volumes.items[i];
		if (volume->ephemeral != NULL &&
			!is_known(maker, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_,
				volume_claim_name(pod, volume, &maker->scratch))) {
			volumes[volume_count++] = *volume;
		}
	}
	const struct bt_pod part = {
		.metadata = {.name = pod->metadata.name,
			.namespace_ = namespace_,
			.uid = pod->metadata.uid},
		.spec.resource_claims = {.items = entries, .count = entry_count, .present = true},
		.spec.volumes = {.items = volumes, .count = volume_count, .present = true},
	};
	if (entry_count + volume_count != 0) {
		result = make(maker, pod, &part, arena, out_bytes, err);
	}
	bt_arena_reset(&maker->scratch);
	return result;
}

void bt_claim_maker_unmake(struct bt_claim_maker *maker, const struct bt_pod *pod)
{
	struct bt_object_store *objects = &maker->state->objects;
	struct bt_str namespace_ = pod->metadata.namespace_;
	for (uint32_t i = 0; i < pod->status.resource_claim_statuses.count; i++) {
		const struct bt_pod_resource_claim_status *status =
			&pod->status.resource_claim_statuses.items[i];
		if (status->resource_claim_name.data != NULL) {
			(void)bt_object_store_delete(objects, BT_KIND_RESOURCE_CLAIM, namespace_,
				status->resource_claim_name);
		}
	}
	for (uint32_t i = 0; i < pod->spec.volumes.count; i++) {
		const struct bt_volume *volume = &pod->spec.volumes.items[i];
		struct bt_str name = volume_claim_name(pod, volume, &maker->scratch);
		const struct bt_object *claim = volume->ephemeral != NULL
			? bt_object_store_find_object(
				  objects, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_, name)
			: NULL;
		const struct bt_owner_reference *owner =
			claim != NULL ? bt_object_controller(claim->meta) : NULL;
		if (owner != NULL && bt_str_equal(owner->uid, pod->metadata.uid)) {
			(void)bt_object_store_delete(
				objects, BT_KIND_PERSISTENT_VOLUME_CLAIM, namespace_, name);
		}
	}
	bt_arena_reset(&maker->scratch);
}

void bt_claim_maker_warn_missing(
	const struct bt_manifests *cluster, const struct bt_pod *pod, struct bt_str template_name)
{
	bt_manifests_warn(cluster,
		"ResourceClaimTemplate %m is not in the input: pods that name it get no claim and "
		"stay pending, as does %m",
		pod->metadata.namespace_, bt_str_sub(template_name, 0, BT_MANIFESTS_NAME_BYTES_MAX),
		pod->metadata.namespace_, pod->metadata.name);
}

/** --- releasing the claims of pods that leave --- */

static bool was_made_for(const struct bt_object_meta *claim, const struct bt_text_set *pod_uids)
{
	struct bt_str uid = bt_claim_owner_pod_uid(claim);
	return uid.length != 0 && bt_text_set_has(pod_uids, uid);
}

/**
 * Returns a copy of the claim without these pods in reservedFor; NULL: the claim is reserved for
 * none of them.
 */
static struct bt_object *without_users(
	const struct bt_resource_claim *claim, const struct bt_text_set *pod_uids)
{
	struct bt_resource_claim left = *claim;
	struct bt_arena arena = {0};
	struct bt_object *object = NULL;
	bool has_changed = false;
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		struct bt_str uid = claim->status.reserved_for.items[i].uid;
		struct bt_resource_claim before = left;
		has_changed |= bt_text_set_has(pod_uids, uid) &&
			bt_claim_without_pod(&before, uid, &arena, &left);
	}
	if (has_changed) {
		/* A claim without resourceVersion counts as newer than the scheduler's copy. */
		left.metadata.resource_version = BT_STR("");
		object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &left);
	}
	bt_arena_finish(&arena);
	return object;
}

void bt_pod_claims_release(struct bt_state *state, struct bt_str pod_uid, bool keeps_made)
{
	BT_VEC(struct bt_object *) deleted = {0};
	BT_VEC(struct bt_object *) changed = {0};
	struct bt_text_set uids = {0};
	struct bt_object *claim;
	uint32_t cursor = 0;
	if (state->dra == NULL) {
		return; /* no claim was loaded */
	}
	(void)bt_text_set_add(&uids, pod_uid);
	while ((claim = bt_claim_cache_next(&state->dra->claims, &cursor)) != NULL) {
		struct bt_object *left = NULL;
		if (!keeps_made && was_made_for(claim->meta, &uids)) {
			bt_vec_push(&deleted, bt_object_share(claim));
		} else if ((left = without_users(bt_object_value(claim, BT_KIND_RESOURCE_CLAIM),
				    &uids)) != NULL) {
			bt_vec_push(&changed, left);
		}
	}
	for (uint32_t i = 0; i < deleted.count; i++) {
		const struct bt_object_meta *meta = deleted.items[i]->meta;
		/* Every claim of the cache is in the store, so this cannot fail. */
		(void)bt_object_store_delete(
			&state->objects, BT_KIND_RESOURCE_CLAIM, meta->namespace_, meta->name);
		bt_object_release(deleted.items[i]);
	}
	for (uint32_t i = 0; i < changed.count; i++) {
		bt_object_store_put(&state->objects, changed.items[i]);
	}
	bt_vec_finish(&deleted);
	bt_vec_finish(&changed);
	bt_text_set_finish(&uids);
}

void bt_pod_claims_release_all(struct bt_manifests *cluster, const struct bt_text_set *pod_uids)
{
	for (uint32_t i = 0; i < cluster->objects.count && pod_uids->items.count != 0; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_RESOURCE_CLAIM) {
			continue;
		}
		const struct bt_resource_claim *claim =
			bt_object_value(object->object, BT_KIND_RESOURCE_CLAIM);
		/* The claim without owner, users and devices. */
		struct bt_resource_claim orphan = {
			.metadata = {.name = claim->metadata.name,
				.namespace_ = claim->metadata.namespace_,
				.uid = claim->metadata.uid},
			.spec = claim->spec,
		};
		struct bt_object *left = was_made_for(&claim->metadata, pod_uids)
			? bt_object_create(BT_KIND_RESOURCE_CLAIM, &orphan)
			: without_users(claim, pod_uids);
		if (left != NULL) {
			bt_manifests_exchange(cluster, i, left);
		}
	}
}
