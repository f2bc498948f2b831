/* SPDX-License-Identifier: Apache-2.0 */
#include "devices_api.h"

#include <check.h>
#include <string.h>

enum { DONE, LATE, FAILED, FAILED_AFTER_ALL, CONFLICTS, REFUSED };

uint32_t devices_api_below(struct devices_api *api, uint32_t bound)
{
	return (uint32_t)bt_prng_below(api->prng, bound);
}

/* --- objects --- */

struct bt_str devices_api_version(struct devices_api *api)
{
	api->version++;
	return bt_arena_printf(&api->life->arena, "%llu", (unsigned long long)api->version);
}

static void push_event(struct devices_api *api, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct bt_object *object)
{
	struct api_event event = {
		.kind = kind,
		.namespace_ = bt_arena_str(&api->life->arena, namespace_).data,
		.name = bt_arena_str(&api->life->arena, name).data,
		.object = object != NULL ? bt_object_share(object) : NULL,
	};

	bt_vec_push(&api->events, event);
}

void devices_api_put(struct devices_api *api, struct bt_object *object)
{
	push_event(api, object->kind, object->meta->namespace_, object->meta->name, object);
	bt_object_store_put(&api->objects, object);
}

void devices_api_put_json(struct devices_api *api, enum bt_kind kind, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	struct bt_object *object = NULL;

	bt_json_reader_init(&reader, world_json(&api->life->arena, json));
	ck_assert_msg(bt_object_decode_as(kind, &reader, &object, &err) == 0, "%s: %s", json,
		berth_error_message(&err));
	devices_api_put(api, object);
}

void devices_api_put_claim(struct devices_api *api, struct bt_resource_claim claim)
{
	claim.metadata.resource_version = devices_api_version(api);
	devices_api_put(api, bt_object_create(BT_KIND_RESOURCE_CLAIM, &claim));
}

void devices_api_put_pod(struct devices_api *api, struct bt_pod pod)
{
	pod.metadata.resource_version = devices_api_version(api);
	devices_api_put(api, bt_object_create(BT_KIND_POD, &pod));
}

void devices_api_delete(
	struct devices_api *api, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_str own_name = bt_arena_str(&api->life->arena, name);
	struct bt_str own_namespace = bt_arena_str(&api->life->arena, namespace_);

	if (bt_object_store_delete(&api->objects, kind, own_namespace, own_name)) {
		push_event(api, kind, own_namespace, own_name, NULL);
	}
}

const struct bt_resource_claim *devices_api_claim(
	const struct devices_api *api, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find(&api->objects, BT_KIND_RESOURCE_CLAIM, namespace_, name);
}

const struct bt_pod *devices_api_pod(const struct devices_api *api, struct bt_str uid)
{
	/* the uid is "uid-<name>" */
	return bt_object_store_find(
		&api->objects, BT_KIND_POD, BT_STR("default"), bt_str_sub(uid, 4, BT_STR_MAX));
}

/* --- changes delivered to the scheduler --- */

bool devices_api_deliver(struct devices_api *api)
{
	uint32_t at;

	if (api->events.count == 0) {
		return false;
	}
	at = devices_api_below(api, (uint32_t)api->events.count);
	for (uint32_t i = 0; i < at; i++) {
		if (api->events.items[i].kind == api->events.items[at].kind) {
			at = i;
		}
	}
	struct api_event event = api->events.items[at];
	api->events.count--;
	memmove(&api->events.items[at], &api->events.items[at + 1],
		(api->events.count - at) * sizeof(event));
	if (event.object != NULL) {
		(void)life_observe(api->life, event.object);
	} else {
		life_delete(api->life, event.kind, event.namespace_, event.name);
	}
	return true;
}

void devices_api_deliver_all(struct devices_api *api)
{
	while (devices_api_deliver(api)) {
	}
	api->is_urgent = false;
}

/* --- delayed answers of writes --- */

static const char *key_of(struct devices_api *api, const char *operation,
	const struct bt_pod_info *pod, const struct bt_object_meta *claim)
{
	return bt_arena_printf(&api->life->arena, "%s %.*s %.*s%.*s", operation,
		BT_STR_ARG(pod->uid), BT_STR_ARG(claim->name), BT_STR_ARG(claim->generate_name))
		.data;
}

/**
 * Returns true if the write is answered now, which must_end forces; false if the answer comes
 * later.
 */
static bool is_answered(struct devices_api *api, const char *operation,
	const struct bt_pod_info *pod, const struct bt_object_meta *claim, bool must_end)
{
	const char *key = key_of(api, operation, pod, claim);

	for (uint32_t i = 0; i < api->calls.count; i++) {
		struct api_call *call = &api->calls.items[i];

		if (strcmp(call->key, key) == 0) {
			bool is_ready = call->is_ready || must_end || api->is_calm;
			if (is_ready) {
				*call = api->calls.items[--api->calls.count];
			}
			return is_ready;
		}
	}
	if (must_end || api->is_calm || devices_api_below(api, 3) != 0) {
		return true;
	}
	struct api_call call = {
		.key = key, .pod_uid = bt_arena_str(&api->life->arena, pod->uid).data};
	bt_vec_push(&api->calls, call);
	api->counts[LATE]++;
	return false;
}

void devices_api_answer(struct devices_api *api, bool all)
{
	for (uint32_t i = 0; i < api->calls.count; i++) {
		struct api_call *call = &api->calls.items[i];

		if (!call->is_ready && (all || devices_api_below(api, 2) == 0)) {
			call->is_ready = true;
			bt_scheduler_resume(api->life->scheduler, bt_str_from(call->pod_uid));
		}
	}
}

void devices_api_drop(struct devices_api *api, struct bt_str pod_uid)
{
	for (uint32_t i = (uint32_t)api->calls.count; i > 0; i--) {
		if (bt_str_equal_c(pod_uid, api->calls.items[i - 1].pod_uid)) {
			api->calls.items[i - 1] = api->calls.items[--api->calls.count];
		}
	}
}

/**
 * Draws a random failure of a write; 0: none. *out_after_all: the write is carried out although it
 * fails.
 */
static int accident(struct devices_api *api, bool *out_after_all, struct berth_error *err)
{
	uint32_t drawn = api->is_calm ? 100 : devices_api_below(api, 100);

	*out_after_all = drawn < 4;
	if (drawn < 10) {
		api->counts[drawn < 4 ? FAILED_AFTER_ALL : FAILED]++;
		api->is_urgent = api->is_urgent || drawn < 4;
		return bt_error_set(err, BERTH_ERR_STATE, "no answer in time");
	}
	if (drawn < 16) {
		api->counts[CONFLICTS]++;
		(void)bt_error_set(err, BERTH_ERR_STATE, "the object has been modified");
		return BT_WRITE_CONFLICT;
	}
	api->counts[DONE]++;
	return 0;
}

/* --- writes --- */

static int refuse(struct devices_api *api, struct berth_error *err, const char *why)
{
	api->counts[REFUSED]++;
	return bt_error_set(err, BERTH_ERR_STATE, "%s", why);
}

/** Finds the API's claim that the write is for; NULL: none, with *out_code set. */
static const struct bt_resource_claim *target(struct devices_api *api, const struct bt_object *base,
	int *out_code, struct berth_error *err)
{
	const struct bt_resource_claim *claim =
		devices_api_claim(api, base->meta->namespace_, base->meta->name);

	if (claim == NULL || !bt_str_equal(claim->metadata.uid, base->meta->uid)) {
		*out_code = refuse(api, err, "not found");
		return NULL;
	}
	if (!bt_str_equal(claim->metadata.resource_version, base->meta->resource_version)) {
		api->counts[CONFLICTS]++;
		(void)bt_error_set(err, BERTH_ERR_STATE, "the object has been modified");
		*out_code = BT_WRITE_CONFLICT;
		return NULL;
	}
	return claim;
}

static void answer_with(struct devices_api *api, struct bt_str namespace_, struct bt_str name,
	struct bt_object **out_claim)
{
	*out_claim = bt_object_share(bt_object_store_find_object(
		&api->objects, BT_KIND_RESOURCE_CLAIM, namespace_, name));
}

/** Validates a status as the API server does; returns the defect, or NULL. */
static const char *wrong_status(
	const struct bt_resource_claim *old_claim, const struct bt_resource_claim *claim)
{
	const struct bt_resource_claim_status *status = &claim->status;

	if (old_claim->status.allocation != NULL && status->allocation != NULL &&
		!bt_message_equal(&bt_allocation_result_message, old_claim->status.allocation,
			status->allocation)) {
		return "status.allocation: field is immutable";
	}
	if (status->allocation == NULL && status->reserved_for.count != 0) {
		return "status.reservedFor: may not be specified when allocation is not set";
	}
	for (uint32_t i = 0; i < status->reserved_for.count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (bt_str_equal(status->reserved_for.items[i].uid,
				    status->reserved_for.items[k].uid)) {
				return "status.reservedFor: duplicate value";
			}
		}
	}
	return NULL;
}

static int create(struct devices_api *api, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_object **out_claim,
	struct berth_error *err)
{
	struct bt_resource_claim stored = *claim;
	bool after_all;
	int code;

	ck_assert_uint_eq(claim->metadata.name.length, 0);
	ck_assert(claim->status.allocation == NULL);
	if (!is_answered(api, "POST", pod, &claim->metadata, false)) {
		return BT_WRITE_PENDING;
	}
	code = accident(api, &after_all, err);
	if (code != 0 && !after_all) {
		return BERTH_ERR_STATE;
	}
	stored.metadata.name = bt_arena_printf(&api->life->arena, "%.*s%u",
		BT_STR_ARG(claim->metadata.generate_name), ++api->made_claims);
	stored.metadata.uid =
		bt_arena_printf(&api->life->arena, "uid-%.*s", BT_STR_ARG(stored.metadata.name));
	devices_api_put_claim(api, stored);
	if (code == 0) {
		answer_with(api, stored.metadata.namespace_, stored.metadata.name, out_claim);
	}
	return code;
}

static int write_claim(void *context, const struct bt_pod_info *pod, enum bt_claim_write what,
	const struct bt_object *base, const struct bt_resource_claim *claim, bool must_end,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct devices_api *api = context;
	struct bt_resource_claim stored;
	const struct bt_resource_claim *found;
	bool is_status = what == BT_CLAIM_WRITE_STATUS;
	bool after_all;
	int code;

	if (what == BT_CLAIM_WRITE_NEW) {
		return create(api, pod, claim, out_claim, err);
	}
	if (!is_answered(api, is_status ? "PUT status" : "PUT", pod, &claim->metadata, must_end)) {
		return BT_WRITE_PENDING;
	}
	code = accident(api, &after_all, err);
	if (code != 0 && !after_all) {
		return code;
	}
	found = target(api, base, &code, code == 0 ? err : NULL);
	if (found == NULL) {
		return code;
	}
	if (is_status && wrong_status(found, claim) != NULL) {
		return code != 0 ? code : refuse(api, err, wrong_status(found, claim));
	}
	stored = *found;
	if (is_status) {
		stored.status = claim->status;
	} else {
		stored.metadata.finalizers = claim->metadata.finalizers;
	}
	devices_api_put_claim(api, stored);
	if (code == 0) {
		answer_with(api, claim->metadata.namespace_, claim->metadata.name, out_claim);
	}
	if (!is_status && stored.metadata.deletion_timestamp != NULL &&
		stored.metadata.finalizers.count == 0) {
		devices_api_delete(api, BT_KIND_RESOURCE_CLAIM, claim->metadata.namespace_,
			claim->metadata.name);
	}
	return code;
}

static int get(void *context, const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, bool must_end, struct bt_object **out_claim, struct berth_error *err)
{
	struct devices_api *api = context;
	struct bt_object_meta meta = {.name = name};
	bool after_all;
	int code;

	if (!is_answered(api, "GET", pod, &meta, must_end)) {
		return BT_WRITE_PENDING;
	}
	code = accident(api, &after_all, err);
	if (code == BT_WRITE_CONFLICT) {
		berth_error_finish(err);
		code = 0;
	}
	if (code != 0) {
		return code;
	}
	if (devices_api_claim(api, namespace_, name) == NULL) {
		return refuse(api, err, "not found");
	}
	answer_with(api, namespace_, name, out_claim);
	return 0;
}

static int remove_claim(void *context, const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, bool must_end, struct berth_error *err)
{
	struct devices_api *api = context;
	const struct bt_resource_claim *found;
	bool after_all;
	int code;

	if (!is_answered(api, "DELETE", pod, &claim->metadata, must_end)) {
		return BT_WRITE_PENDING;
	}
	code = accident(api, &after_all, err);
	if (code != 0 && !after_all) {
		return BERTH_ERR_STATE;
	}
	found = devices_api_claim(api, claim->metadata.namespace_, claim->metadata.name);
	if (found == NULL || !bt_str_equal(found->metadata.uid, claim->metadata.uid)) {
		return code != 0 ? code : refuse(api, err, "not found");
	}
	ck_assert_uint_eq(found->metadata.finalizers.count, 0);
	devices_api_delete(
		api, BT_KIND_RESOURCE_CLAIM, claim->metadata.namespace_, claim->metadata.name);
	return code;
}

static void unreserve(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct devices_api *api = context;
	const struct bt_resource_claim *found =
		devices_api_claim(api, claim->metadata.namespace_, claim->metadata.name);
	struct bt_resource_claim_consumer_reference *kept;
	struct bt_resource_claim stored;
	uint32_t count = 0;

	if (found == NULL || !bt_str_equal(found->metadata.uid, claim->metadata.uid) ||
		(!api->is_calm && devices_api_below(api, 10) == 0)) {
		return;
	}
	stored = *found;
	kept = BT_ARENA_NEW_ARRAY(&api->life->arena, struct bt_resource_claim_consumer_reference,
		(size_t)stored.status.reserved_for.count + 1);
	for (uint32_t i = 0; i < stored.status.reserved_for.count; i++) {
		if (!bt_str_equal(stored.status.reserved_for.items[i].uid, uid)) {
			kept[count++] = stored.status.reserved_for.items[i];
		}
	}
	stored.status.reserved_for.items = kept;
	stored.status.reserved_for.count = count;
	devices_api_put_claim(api, stored);
}

static int patch_pod_status(void *context, const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end, struct berth_error *err)
{
	struct devices_api *api = context;
	const struct bt_pod *found;
	struct bt_pod stored;
	bool after_all;
	int code;

	if (!is_answered(api, "PATCH", pod, &pod->object->metadata, must_end)) {
		return BT_WRITE_PENDING;
	}
	code = accident(api, &after_all, err);
	if (code != 0 && !after_all) {
		return BERTH_ERR_STATE;
	}
	found = devices_api_pod(api, pod->uid);
	if (found == NULL) {
		return code != 0 ? code : refuse(api, err, "not found");
	}
	stored = *found;
	stored.status.extended_resource_claim_status = new_status->extended_resource_claim_status;
	devices_api_put_pod(api, stored);
	return code;
}

/* --- preemption --- */

int devices_api_delete_victim(void *context, BT_UNUSED struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, BT_UNUSED struct berth_error *err)
{
	devices_api_delete(context, BT_KIND_POD, victim->namespace_, victim->name);
	return 0;
}

void devices_api_init(struct devices_api *api, struct life *life, struct bt_prng *prng)
{
	*api = (struct devices_api){
		.life = life,
		.prng = prng,
		.claims = {.write = write_claim,
			.get = get,
			.remove = remove_claim,
			.unreserve = unreserve,
			.patch_pod_status = patch_pod_status,
			.context = api},
	};
	bt_object_store_init(&api->objects);
}

void devices_api_finish(struct devices_api *api)
{
	for (uint32_t i = 0; i < api->events.count; i++) {
		bt_object_release(api->events.items[i].object);
	}
	bt_vec_finish(&api->events);
	bt_vec_finish(&api->calls);
	bt_object_store_finish(&api->objects);
}
