/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Stand-in for the controller of ResourceClaims: makes them of templates, reserves them for pods
 * that somebody assigned by hand, and gives devices back when nobody uses them. Spec: 14b
 * section 6.8.
 */
#include "api/identity.h"
#include "api/resource_claim.h"
#include "soak/world.h"

static void later(struct bt_sim *sim, bt_sim_action action, const struct bt_object *object)
{
	bt_sim_after(sim, bt_sim_between_ms(&sim->times, 20, 1500) * BT_SIM_MILLISECOND, action,
		bt_sim_uid_of(object));
}

static struct bt_object *find(struct bt_sim *sim, enum bt_kind kind, uint64_t uid)
{
	bt_sim_action_done(sim);
	bt_arena_reset(&sim->scratch);
	struct bt_object *object = bt_sim_store_by_uid(&sim->store, uid);
	return object != NULL && object->kind == kind ? object : NULL;
}

static bool pod_lives(
	const struct bt_sim *sim, struct bt_str namespace_, struct bt_str name, struct bt_str uid)
{
	const struct bt_object *object =
		bt_sim_store_find(&sim->store, BT_KIND_POD, namespace_, name);
	return object != NULL && bt_str_equal(object->meta->uid, uid) &&
		!bt_pod_is_terminal(object->value);
}

/** --- claims made of templates --- */

static void create_claim(struct bt_sim *sim, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry, struct bt_str name)
{
	const struct bt_object_meta *meta = &pod->metadata;
	const struct bt_object *object =
		bt_sim_store_find(&sim->store, BT_KIND_RESOURCE_CLAIM_TEMPLATE, meta->namespace_,
			entry->resource_claim_template_name);
	const struct bt_resource_claim_template *template_ = object->value;
	struct bt_owner_reference owner = {.api_version = BT_STR("v1"),
		.kind = BT_STR("Pod"),
		.name = meta->name,
		.uid = meta->uid,
		.controller = {true, true}};
	struct bt_str_pair annotation = {BT_STR(BT_POD_CLAIM_NAME_ANNOTATION), entry->name};
	struct bt_resource_claim claim = {.spec = template_->spec.spec};
	claim.metadata.namespace_ = meta->namespace_;
	claim.metadata.name = name;
	claim.metadata.annotations = (struct bt_str_map){&annotation, 1, true};
	claim.metadata.owner_references.items = &owner;
	claim.metadata.owner_references.count = 1;
	claim.metadata.owner_references.present = true;
	(void)bt_sim_store_add(&sim->store, BT_KIND_RESOURCE_CLAIM, &claim);
}

/** The claim that the entry has; "": none. */
static struct bt_str made_for(
	struct bt_sim *sim, const struct bt_pod *pod, const struct bt_pod_resource_claim *entry)
{
	struct bt_str name = bt_sim_claim_name(pod, entry);
	return bt_sim_store_find(
		       &sim->store, BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_, name) != NULL
		? name
		: BT_STR("");
}

static bool has_template(
	struct bt_sim *sim, const struct bt_pod *pod, const struct bt_pod_resource_claim *entry)
{
	return entry->resource_claim_template_name.length != 0 &&
		bt_sim_store_find(&sim->store, BT_KIND_RESOURCE_CLAIM_TEMPLATE,
			pod->metadata.namespace_, entry->resource_claim_template_name) != NULL;
}

static void make_claims(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *object = find(sim, BT_KIND_POD, uid);
	if (object == NULL || object->meta->deletion_timestamp != NULL ||
		bt_pod_is_terminal(object->value)) {
		return;
	}
	struct bt_pod pod = *(const struct bt_pod *)object->value;
	struct bt_pod_resource_claim_status *statuses = BT_ARENA_NEW_ARRAY(
		&sim->scratch, struct bt_pod_resource_claim_status, pod.spec.resource_claims.count);
	uint32_t count = 0;
	bool is_new = false;
	for (uint32_t i = 0; i < pod.spec.resource_claims.count; i++) {
		const struct bt_pod_resource_claim *entry = &pod.spec.resource_claims.items[i];
		struct bt_str name = made_for(sim, &pod, entry);
		if (!has_template(sim, &pod, entry)) {
			continue;
		}
		if (name.length == 0) {
			name = bt_arena_printf(&sim->scratch, "%.*s-%.*s-%u",
				BT_STR_ARG(pod.metadata.name), BT_STR_ARG(entry->name),
				(unsigned)sim->store.identities.count);
			create_claim(sim, &pod, entry, name);
			is_new = true;
		}
		statuses[count++] = (struct bt_pod_resource_claim_status){entry->name, name};
	}
	if (is_new) {
		pod.status.resource_claim_statuses.items = statuses;
		pod.status.resource_claim_statuses.count = count;
		pod.status.resource_claim_statuses.present = true;
		(void)bt_sim_store_replace(&sim->store, BT_KIND_POD, &pod);
	}
}

/** --- pods that were assigned without a scheduler --- */

static void reserve_one(
	struct bt_sim *sim, const struct bt_pod *pod, const struct bt_resource_claim *claim)
{
	uint32_t count = claim->status.reserved_for.count;
	struct bt_resource_claim_consumer_reference *references = BT_ARENA_NEW_ARRAY(
		&sim->scratch, struct bt_resource_claim_consumer_reference, (size_t)count + 1);
	struct bt_resource_claim reserved = *claim;
	for (uint32_t i = 0; i < count; i++) {
		references[i] = claim->status.reserved_for.items[i];
	}
	references[count] = (struct bt_resource_claim_consumer_reference){
		.resource = BT_STR("pods"), .name = pod->metadata.name, .uid = pod->metadata.uid};
	reserved.status.reserved_for.items = references;
	reserved.status.reserved_for.count = count + 1;
	reserved.status.reserved_for.present = true;
	bt_sim_log(sim, "claim %.*s is reserved for %.*s by hand", BT_STR_ARG(claim->metadata.name),
		BT_STR_ARG(pod->metadata.name));
	(void)bt_sim_store_replace(&sim->store, BT_KIND_RESOURCE_CLAIM, &reserved);
}

/** The next of the pod's claims that is there; NULL: there is no more. */
static const struct bt_resource_claim *next_claim(
	struct bt_sim *sim, const struct bt_pod *pod, uint32_t *cursor)
{
	while (*cursor < pod->spec.resource_claims.count) {
		struct bt_str name =
			bt_sim_claim_name(pod, &pod->spec.resource_claims.items[(*cursor)++]);
		const struct bt_object *object = bt_sim_store_find(
			&sim->store, BT_KIND_RESOURCE_CLAIM, pod->metadata.namespace_, name);
		if (object != NULL) {
			return object->value;
		}
	}
	return NULL;
}

static bool lacks_reservation(const struct bt_pod *pod, const struct bt_resource_claim *claim)
{
	return claim->status.allocation != NULL && claim->metadata.deletion_timestamp == NULL &&
		!bt_resource_claim_is_reserved_by(claim, pod->metadata.uid);
}

static void reserve(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *object = find(sim, BT_KIND_POD, uid);
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	if (object == NULL || bt_pod_is_terminal(object->value)) {
		return;
	}
	while ((claim = next_claim(sim, object->value, &cursor)) != NULL) {
		if (lacks_reservation(object->value, claim)) {
			reserve_one(sim, object->value, claim);
		}
	}
}

/** --- claims that somebody has used --- */

static bool is_finalized(const struct bt_resource_claim *claim)
{
	return claim->metadata.finalizers.count != 0;
}

static void put_claim(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	(void)bt_sim_store_replace(&sim->store, BT_KIND_RESOURCE_CLAIM, claim);
}

void bt_sim_request_claim_deletion(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	struct bt_time now = {sim->clock.now_ns / BT_SIM_SECOND, 0, true};
	struct bt_str namespace_ = bt_arena_str(&sim->texts, claim->metadata.namespace_);
	struct bt_str name = bt_arena_str(&sim->texts, claim->metadata.name);
	if (!is_finalized(claim)) {
		bt_sim_log(sim, "claim %.*s is deleted", BT_STR_ARG(name));
		(void)bt_sim_store_delete(&sim->store, BT_KIND_RESOURCE_CLAIM, namespace_, name);
	} else if (claim->metadata.deletion_timestamp == NULL) {
		struct bt_resource_claim ending = *claim;
		bt_sim_log(sim, "claim %.*s is to be deleted", BT_STR_ARG(name));
		ending.metadata.deletion_timestamp = &now;
		put_claim(sim, &ending);
	}
}

static bool consumer_lives(struct bt_sim *sim, const struct bt_resource_claim *claim,
	const struct bt_resource_claim_consumer_reference *consumer)
{
	return pod_lives(sim, claim->metadata.namespace_, consumer->name, consumer->uid);
}

static uint32_t count_consumers(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		count += consumer_lives(sim, claim, &claim->status.reserved_for.items[i]);
	}
	return count;
}

/** Its pod is over: nobody else will use it. */
static bool is_orphan(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	const struct bt_owner_reference *owner = bt_object_controller(&claim->metadata);
	return owner != NULL && claim->metadata.deletion_timestamp == NULL &&
		!pod_lives(sim, claim->metadata.namespace_, owner->name, owner->uid);
}

/** The last user has gone, or it is to go and nobody has it. */
static bool is_to_be_freed(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	return count_consumers(sim, claim) == 0 &&
		(claim->status.reserved_for.count != 0 ||
			(claim->metadata.deletion_timestamp != NULL && is_finalized(claim)));
}

static bool needs_care(struct bt_sim *sim, const struct bt_resource_claim *claim)
{
	return count_consumers(sim, claim) != claim->status.reserved_for.count ||
		is_to_be_freed(sim, claim) || is_orphan(sim, claim);
}

/** Two writes, as the API has them: status, then finalizer. */
static void free_claim(struct bt_sim *sim, struct bt_resource_claim claim)
{
	struct bt_str namespace_ = bt_arena_str(&sim->scratch, claim.metadata.namespace_);
	struct bt_str name = bt_arena_str(&sim->scratch, claim.metadata.name);
	bt_sim_log(sim, "claim %.*s is free", BT_STR_ARG(name));
	claim.status = (struct bt_resource_claim_status){0};
	put_claim(sim, &claim);
	claim = *(const struct bt_resource_claim *)bt_sim_store_find(
		&sim->store, BT_KIND_RESOURCE_CLAIM, namespace_, name)
			 ->value;
	bt_resource_claim_drop_finalizer(&claim, &sim->scratch);
	if (claim.metadata.deletion_timestamp != NULL) {
		(void)bt_sim_store_delete(&sim->store, BT_KIND_RESOURCE_CLAIM, namespace_, name);
	} else {
		put_claim(sim, &claim);
	}
}

static void drop_consumers(struct bt_sim *sim, struct bt_resource_claim claim)
{
	const struct bt_resource_claim original = claim;
	for (uint32_t i = 0; i < original.status.reserved_for.count; i++) {
		const struct bt_resource_claim_consumer_reference *consumer =
			&original.status.reserved_for.items[i];
		if (!consumer_lives(sim, &original, consumer)) {
			(void)bt_resource_claim_drop_user(&claim, consumer->uid, &sim->scratch);
		}
	}
	put_claim(sim, &claim);
}

static void sync_claim(void *context, uint64_t uid)
{
	struct bt_sim *sim = context;
	struct bt_object *object = find(sim, BT_KIND_RESOURCE_CLAIM, uid);
	if (object == NULL) {
		return;
	}
	const struct bt_resource_claim *claim = object->value;
	if (is_to_be_freed(sim, claim)) {
		free_claim(sim, *claim);
	} else if (count_consumers(sim, claim) != claim->status.reserved_for.count) {
		drop_consumers(sim, *claim);
	} else if (is_orphan(sim, claim)) {
		bt_sim_request_claim_deletion(sim, claim);
	}
}

/** --- changes --- */

static void care_for_claims(struct bt_sim *sim, struct bt_str namespace_)
{
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	while ((claim = bt_object_store_next(&sim->store.objects, BT_KIND_RESOURCE_CLAIM,
			namespace_, &cursor)) != NULL) {
		if (needs_care(sim, claim)) {
			later(sim, sync_claim,
				bt_sim_store_find(&sim->store, BT_KIND_RESOURCE_CLAIM, namespace_,
					claim->metadata.name));
		}
	}
}

static bool lacks_claims(struct bt_sim *sim, const struct bt_pod *pod)
{
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_pod_resource_claim *entry = &pod->spec.resource_claims.items[i];
		if (has_template(sim, pod, entry) && made_for(sim, pod, entry).length == 0) {
			return true;
		}
	}
	return false;
}

static void care_for_pod(struct bt_sim *sim, const struct bt_object *object)
{
	const struct bt_pod *pod = object->value;
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	if (pod->metadata.deletion_timestamp == NULL && lacks_claims(sim, pod)) {
		later(sim, make_claims, object);
	}
	while (pod->spec.node_name.length != 0 && (claim = next_claim(sim, pod, &cursor)) != NULL) {
		if (lacks_reservation(pod, claim)) {
			later(sim, reserve, object);
			return;
		}
	}
}

static void claim_changed(struct bt_sim *sim, struct bt_object *object, bool is_gone)
{
	const struct bt_pod *pod;
	uint32_t cursor = 0;
	while ((pod = bt_object_store_next(&sim->store.objects, BT_KIND_POD,
			object->meta->namespace_, &cursor)) != NULL) {
		if (pod->spec.resource_claims.count != 0 && !bt_pod_is_terminal(pod)) {
			care_for_pod(sim,
				bt_sim_store_find(&sim->store, BT_KIND_POD,
					pod->metadata.namespace_, pod->metadata.name));
		}
	}
	if (!is_gone && needs_care(sim, object->value)) {
		later(sim, sync_claim, object);
	}
}

void bt_sim_claim_controller_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_object *object = new_object != NULL ? new_object : old_object;
	if (object->kind == BT_KIND_RESOURCE_CLAIM) {
		claim_changed(sim, object, new_object == NULL);
	}
	if (object->kind != BT_KIND_POD ||
		((const struct bt_pod *)object->value)->spec.resource_claims.count == 0) {
		return;
	}
	if (new_object == NULL || bt_pod_is_terminal(object->value)) {
		care_for_claims(sim, object->meta->namespace_);
	} else {
		care_for_pod(sim, new_object);
	}
}
