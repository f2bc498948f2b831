/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/life_api.h"

#include "api/identity.h"
#include "api/resource_claim.h"
#include "base/alloc.h"
#include "plugins/preemption_executor.h"

/** --- the store --- */

void life_api_init(struct life_api *api, int64_t start_ns)
{
	*api = (struct life_api){.start_ns = start_ns, .now_ns = start_ns};
	bt_arena_init(&api->arena, 0);
	bt_object_store_init(&api->store);
}

void life_api_finish(struct life_api *api)
{
	bt_scheduler_destroy(api->scheduler);
	bt_object_store_finish(&api->store);
	for (uint32_t i = 0; i < api->pending.count; i++) {
		bt_object_release(api->pending.items[i].old_object);
		bt_object_release(api->pending.items[i].new_object);
	}
	bt_vec_finish(&api->pending);
	bt_vec_finish(&api->evictions);
	bt_vec_finish(&api->deleted);
	bt_arena_finish(&api->arena);
}

struct bt_str life_key(struct life_api *api, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(&api->arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

struct bt_object *life_api_find_pod(
	const struct life_api *api, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find_object(&api->store, BT_KIND_POD, namespace_, name);
}

/**
 * Stores `value` as the new version of an object, with the next resourceVersion. Adds the event to
 * api->pending. `old_object` is NULL for a new object.
 */
static struct bt_object *put(
	struct life_api *api, struct bt_object *old_object, enum bt_kind kind, void *value)
{
	struct bt_object_meta *meta = value; /* every kind's structure starts with its metadata */
	meta->resource_version =
		bt_arena_printf(&api->arena, "%llu", (unsigned long long)++api->resource_version);
	struct bt_object *object = bt_object_create(kind, value);
	struct life_event event = {
		old_object != NULL ? bt_object_share(old_object) : NULL, bt_object_share(object)};
	bt_object_store_put(&api->store, object);
	bt_vec_push(&api->pending, event);
	return object;
}

void life_api_apply(struct life_api *api, struct bt_object *object)
{
	struct bt_object *old_object = bt_object_store_find_object(
		&api->store, object->kind, object->meta->namespace_, object->meta->name);
	if (object->kind == BT_KIND_POD_GROUP) {
		struct bt_pod_group group = *(const struct bt_pod_group *)object->value;
		if (old_object != NULL) {
			const struct bt_pod_group *old_group = old_object->value;
			group.metadata.uid = old_group->metadata.uid;
			group.status.conditions = old_group->status.conditions;
		}
		(void)put(api, old_object, BT_KIND_POD_GROUP, &group);
	} else if (object->kind != BT_KIND_POD) {
		void *copy = bt_arena_alloc(&api->arena, bt_kind_info(object->kind)->size);
		memcpy(copy, object->value, bt_kind_info(object->kind)->size);
		(void)put(api, old_object, object->kind, copy);
	} else {
		struct bt_pod pod = *(const struct bt_pod *)object->value;
		if (old_object != NULL) {
			const struct bt_pod *old_pod = old_object->value;
			pod.metadata.uid = old_pod->metadata.uid;
			pod.spec.node_name = old_pod->spec.node_name;
			pod.status = old_pod->status;
		}
		(void)put(api, old_object, BT_KIND_POD, &pod);
	}
	bt_object_release(object);
}

void life_api_remove(
	struct life_api *api, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_object *object = bt_object_store_find_object(&api->store, kind, namespace_, name);
	if (object != NULL) {
		struct life_event event = {bt_object_share(object), NULL};
		/* Cannot fail: the object was found. */
		(void)bt_object_store_delete(&api->store, kind, namespace_, name);
		bt_vec_push(&api->pending, event);
	}
}

int life_api_deliver(struct life_api *api, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < api->pending.count; i++) {
		struct life_event event = api->pending.items[i];
		if (result == 0) {
			result = bt_scheduler_observe(api->scheduler, event.old_object,
				event.new_object, api->now_ns, err);
		}
		bt_object_release(event.old_object);
		bt_object_release(event.new_object);
	}
	api->pending.count = 0;
	return result;
}

/** --- pods --- */

int life_api_bind(struct life_api *api, struct bt_str namespace_, struct bt_str name,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_object *object = life_api_find_pod(api, namespace_, name);
	if (object == NULL) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "pods \"%.*s\" not found", BT_STR_ARG(name));
	}
	struct bt_pod bound = *(const struct bt_pod *)object->value;
	bound.spec.node_name = node_name;
	bound.status.phase = BT_STR("Running");
	(void)put(api, object, BT_KIND_POD, &bound);
	return 0;
}

static int bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	return life_api_bind(context, pod->namespace_, pod->name, node_name, err);
}

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err BT_UNUSED)
{
	struct life_api *api = context;
	struct bt_object *object =
		life_api_find_pod(api, pod->metadata.namespace_, pod->metadata.name);
	if (object == NULL) {
		return 0;
	}
	struct bt_time now = {api->now_ns / 1000000000, 0, true};
	struct bt_pod changed = *(const struct bt_pod *)object->value;
	bool differs = false;
	if (condition != NULL) {
		bt_pod_condition_list conditions = bt_pod_conditions_set(
			&changed.status, condition, &now, &api->arena, &differs);
		changed.status.conditions.items = conditions.items;
		changed.status.conditions.count = conditions.count;
		changed.status.conditions.present = true;
	}
	/* The patch has only the fields that differ from the scheduler's version of the pod. */
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(pod->status.nominated_node_name, nomination->nominated_node_name)) {
		changed.status.nominated_node_name =
			bt_arena_str(&api->arena, nomination->nominated_node_name);
		differs = true;
	}
	if (differs) {
		(void)put(api, object, BT_KIND_POD, &changed);
	}
	return 0;
}

static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err)
{
	struct life_api *api = context;
	struct bt_object *object = bt_object_store_find_object(
		&api->store, BT_KIND_POD_GROUP, group->metadata.namespace_, group->metadata.name);
	if (object == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"podgroups.scheduling.k8s.io \"%.*s\" not found",
			BT_STR_ARG(group->metadata.name));
	}
	struct bt_pod_group changed = *(const struct bt_pod_group *)object->value;
	const bt_condition_list *stored = &changed.status.conditions;
	struct bt_condition *items =
		BT_ARENA_NEW_ARRAY(&api->arena, struct bt_condition, stored->count + 1);
	uint32_t at = 0;
	uint32_t count = stored->count;
	for (uint32_t i = 0; i < count; i++) {
		items[i] = stored->items[i];
	}
	while (at < count && !bt_str_equal(items[at].type, condition->type)) {
		at++;
	}
	count += at == count;
	items[at] = *condition;
	items[at].message = bt_arena_str(&api->arena, condition->message);
	changed.status.conditions.items = items;
	changed.status.conditions.count = count;
	changed.status.conditions.present = true;
	(void)put(api, object, BT_KIND_POD_GROUP, &changed);
	api->condition = items[at];
	api->has_condition = true;
	return 0;
}

/** With SchedulerAsyncPreemption, evictions start after the cycle. */
static int delete_victim(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err BT_UNUSED)
{
	struct life_api *api = context;
	if (ticket.executor != NULL) {
		struct life_eviction eviction = {ticket,
			bt_arena_str(&api->arena, victim->namespace_),
			bt_arena_str(&api->arena, victim->name)};
		bt_vec_push(&api->evictions, eviction);
		return BT_PREEMPTION_PENDING;
	}
	bt_vec_push(&api->deleted, life_key(api, victim->namespace_, victim->name));
	life_api_remove(api, BT_KIND_POD, victim->namespace_, victim->name);
	return 0;
}

static void attempt_ended(void *context)
{
	struct life_api *api = context;
	/* Completing an eviction may add another one. */
	for (uint32_t i = 0; i < api->evictions.count; i++) {
		struct life_eviction eviction = api->evictions.items[i];
		bt_vec_push(&api->deleted, life_key(api, eviction.namespace_, eviction.name));
		life_api_remove(api, BT_KIND_POD, eviction.namespace_, eviction.name);
		bt_preemption_complete(eviction.ticket.executor, eviction.ticket.id, 0);
	}
	api->evictions.count = 0;
}

static bool may_schedule(void *context)
{
	struct life_api *api = context;
	bool may = api->may_schedule;
	api->may_schedule = false;
	return may;
}

/** --- claims with devices; writes need the stored resourceVersion --- */

static struct bt_object *find_claim(const struct life_api *api, const struct bt_object_meta *meta)
{
	return bt_object_store_find_object(
		&api->store, BT_KIND_RESOURCE_CLAIM, meta->namespace_, meta->name);
}

/** Append a number to generateName, as the API does. */
static int create(
	struct life_api *api, const struct bt_resource_claim *claim, struct bt_object **out_claim)
{
	struct bt_resource_claim created = *claim;
	created.metadata.name =
		bt_arena_printf(&api->arena, "%.*s%llu", BT_STR_ARG(claim->metadata.generate_name),
			(unsigned long long)api->resource_version);
	created.metadata.uid = created.metadata.name;
	*out_claim = bt_object_share(put(api, NULL, BT_KIND_RESOURCE_CLAIM, &created));
	return 0;
}

static int write_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	enum bt_claim_write what, BT_UNUSED const struct bt_object *base,
	const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	struct bt_object **out_claim, struct berth_error *err)
{
	struct life_api *api = context;
	if (what == BT_CLAIM_WRITE_NEW) {
		return create(api, claim, out_claim);
	}
	struct bt_object *object = find_claim(api, &claim->metadata);
	if (object == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"resourceclaims.resource.k8s.io \"%.*s\" not found",
			BT_STR_ARG(claim->metadata.name));
	}
	if (!bt_str_equal(object->meta->resource_version, claim->metadata.resource_version)) {
		(void)bt_error_set(err, BERTH_ERR_STATE,
			"Operation cannot be fulfilled on resourceclaims "
			"\"%.*s\": the object has been modified; please apply your changes to the "
			"latest version and try again",
			BT_STR_ARG(claim->metadata.name));
		return BT_WRITE_CONFLICT;
	}
	struct bt_resource_claim changed = *(const struct bt_resource_claim *)object->value;
	if (what == BT_CLAIM_WRITE_STATUS) {
		changed.status = claim->status;
	} else {
		changed.metadata.finalizers = claim->metadata.finalizers;
	}
	*out_claim = bt_object_share(put(api, object, BT_KIND_RESOURCE_CLAIM, &changed));
	return 0;
}

static int get(void *context, BT_UNUSED const struct bt_pod_info *pod, struct bt_str namespace_,
	struct bt_str name, BT_UNUSED bool must_end, struct bt_object **out_claim,
	struct berth_error *err)
{
	const struct life_api *api = context;
	struct bt_object_meta meta = {.namespace_ = namespace_, .name = name};
	struct bt_object *object = find_claim(api, &meta);
	if (object == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"resourceclaims.resource.k8s.io \"%.*s\" not found", BT_STR_ARG(name));
	}
	*out_claim = bt_object_share(object);
	return 0;
}

static void unreserve(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, struct bt_str uid)
{
	struct life_api *api = context;
	struct bt_object *object = find_claim(api, &claim->metadata);
	if (object == NULL || !bt_str_equal(object->meta->uid, claim->metadata.uid)) {
		return;
	}
	struct bt_resource_claim changed = *(const struct bt_resource_claim *)object->value;
	if (bt_resource_claim_remove_user(&changed, uid, &api->arena)) {
		(void)put(api, object, BT_KIND_RESOURCE_CLAIM, &changed);
	}
}

static int remove_claim(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_resource_claim *claim, BT_UNUSED bool must_end,
	BT_UNUSED struct berth_error *err)
{
	life_api_remove(
		context, BT_KIND_RESOURCE_CLAIM, claim->metadata.namespace_, claim->metadata.name);
	return 0;
}

static int patch_pod_status(BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod,
	BT_UNUSED const struct bt_pod_status *old_status,
	BT_UNUSED const struct bt_pod_status *new_status, BT_UNUSED bool must_end,
	BT_UNUSED struct berth_error *err)
{
	return 0; /* no step reads these fields */
}

struct bt_scheduler_writer life_api_writer(struct life_api *api)
{
	api->claims = (struct bt_claim_writer){
		.context = api,
		.write = write_claim,
		.get = get,
		.remove = remove_claim,
		.unreserve = unreserve,
		.patch_pod_status = patch_pod_status,
		.retries_at_once = true,
	};
	return (struct bt_scheduler_writer){
		.context = api,
		.bind = bind,
		.patch_status = patch_status,
		.patch_pod_group = patch_pod_group,
		.delete_pod = delete_victim,
		.claims = &api->claims,
		.may_schedule = may_schedule,
		.attempt_ended = attempt_ended,
	};
}
