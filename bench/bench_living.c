/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_living.h"

#include <stdio.h>

#include "api/identity.h"
#include "base/nanoseconds.h"
#include "cluster/pod_claims.h"
#include "dra/dra.h"

/** 2026-01-01T00:00:00Z */
#define START_NS (INT64_C(1767225600) * BT_NS_PER_SECOND)

/** --- writes of the scheduler --- */

static struct bt_living_write *begin_write(
	struct bt_living *living, struct bt_str namespace_, struct bt_str name)
{
	struct bt_object *pod = bt_scheduler_find_pod(living->scheduler, namespace_, name);
	if (pod == NULL) {
		return NULL;
	}
	struct bt_living_write write = {.pod = bt_object_share(pod)};
	bt_vec_push(&living->writes, write);
	return &living->writes.items[living->writes.count - 1];
}

static int write_binding(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_living *living = context;
	struct bt_living_write *write = begin_write(living, pod->namespace_, pod->name);
	if (write == NULL) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "pods \"%.*s\" not found", BT_STR_ARG(pod->name));
	}
	write->node_name = bt_arena_str(&living->texts, node_name);
	return 0;
}

/** Conditions are not written: no measurement reads them. */
static int write_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition BT_UNUSED,
	const struct bt_post_filter_result *nomination, struct berth_error *err BT_UNUSED)
{
	struct bt_living *living = context;
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(pod->status.nominated_node_name, nomination->nominated_node_name)) {
		struct bt_living_write *write =
			begin_write(living, pod->metadata.namespace_, pod->metadata.name);
		if (write != NULL) {
			write->nomination = bt_arena_printf(&living->texts, "%.*s",
				BT_STR_ARG(nomination->nominated_node_name));
		}
	}
	return 0;
}

static int delete_victim(void *context, struct bt_preemption_ticket ticket BT_UNUSED,
	const struct bt_preemption_pod *victim, struct berth_error *err BT_UNUSED)
{
	struct bt_living *living = context;
	struct bt_living_write *write = begin_write(living, victim->namespace_, victim->name);
	if (write != NULL) {
		write->deleted = true;
		living->victim_count++;
	}
	return 0;
}

/** --- changes that the scheduler observes --- */

int bt_living_change(struct bt_living *living, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err)
{
	const struct bt_living_change change = {
		living->now_ns, old_object, new_object, living->is_preempting};
	living->is_preempting =
		false; /* the pod is a victim; its claims, deleted next, are not */
	int result = living->observer != NULL
		? living->observer->observe(living->observer->context, &change, err)
		: 0;
	if (result == 0) {
		result = bt_scheduler_observe(
			living->scheduler, old_object, new_object, living->now_ns, err);
	}
	bt_object_release(old_object);
	bt_object_release(new_object);
	return result;
}

int bt_living_add(struct bt_living *living, struct bt_object *object, struct berth_error *err)
{
	if (object->kind == BT_KIND_POD) {
		struct bt_object *own = bt_object_create_pod(object->value, NULL, &living->commons);
		bt_object_release(object);
		object = own;
		living->now_ns += BT_NS_PER_MS; /* no two pods have the same age */
	}
	return bt_living_change(living, NULL, object, err);
}

/** Returns the claim that was made for an entry of the pod, or NULL. */
static struct bt_object *find_own_claim(const struct bt_living *living, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry)
{
	struct bt_object *claim =
		bt_dra_claim_of(bt_scheduler_engine(living->scheduler)->state, pod, entry);
	const struct bt_owner_reference *owner =
		claim != NULL ? bt_object_controller(claim->meta) : NULL;
	return owner != NULL && bt_str_equal(owner->uid, pod->metadata.uid) ? claim : NULL;
}

int bt_living_note_claims(
	struct bt_living *living, const struct bt_pod *pod, struct berth_error *err)
{
	const struct bt_living_observer *observer = living->observer;
	int result = 0;
	for (uint32_t i = 0; observer != NULL && i < pod->spec.resource_claims.count && result == 0;
		i++) {
		const struct bt_living_change change = {.now_ns = living->now_ns,
			.new_object =
				find_own_claim(living, pod, &pod->spec.resource_claims.items[i])};
		if (change.new_object != NULL) {
			result = observer->observe(observer->context, &change, err);
		}
	}
	return result;
}

/**
 * Deletes the claims that were made for the pod from templates. *out_others: whether the pod may
 * have reservations in other claims.
 */
static int delete_claims(struct bt_living *living, const struct bt_pod *pod, bool *out_others,
	struct berth_error *err)
{
	int result = 0;
	*out_others = pod->spec.resource_claims.count == 0;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count && result == 0; i++) {
		struct bt_object *claim =
			find_own_claim(living, pod, &pod->spec.resource_claims.items[i]);
		if (claim != NULL) {
			result = bt_living_change(living, bt_object_share(claim), NULL, err);
		} else {
			*out_others = true;
		}
	}
	return result;
}

int bt_living_delete_pod(
	struct bt_living *living, struct bt_object *object, struct berth_error *err)
{
	struct bt_object *pod = bt_object_share(object);
	bool has_others = false;
	int result = bt_living_change(living, object, NULL, err);
	if (result == 0) {
		result = delete_claims(living, pod->value, &has_others, err);
	}
	if (has_others) {
		bt_pod_claims_release(
			bt_scheduler_engine(living->scheduler)->state, pod->meta->uid, false);
	}
	bt_object_release(pod);
	return result;
}

int bt_living_change_pod(struct bt_living *living, struct bt_object *old_object,
	const struct bt_pod *value, struct berth_error *err)
{
	char version[24];
	struct bt_pod changed = *value;
	(void)snprintf(
		version, sizeof(version), "%llu", (unsigned long long)++living->resource_version);
	changed.metadata.resource_version = bt_str_from(version);
	struct bt_object *object = bt_object_create_pod(&changed, NULL, &living->commons);
	return bt_living_change(living, old_object, object, err);
}

static int tell_back(
	struct bt_living *living, const struct bt_living_write *write, struct berth_error *err)
{
	const struct bt_object_meta *meta = write->pod->meta;
	struct bt_object *now =
		bt_scheduler_find_pod(living->scheduler, meta->namespace_, meta->name);
	if (now == NULL) {
		bt_object_release(write->pod);
		return 0; /* deleted meanwhile */
	}
	now = bt_object_share(now); /* the functions below consume a reference */
	bt_object_release(write->pod);
	if (write->deleted) {
		living->is_preempting = true;
		return bt_living_delete_pod(living, now, err);
	}
	struct bt_pod changed = *(const struct bt_pod *)now->value;
	if (write->node_name.data != NULL) {
		changed.spec.node_name = write->node_name;
		changed.status.phase = BT_STR("Running");
	}
	if (write->nomination.data != NULL) {
		changed.status.nominated_node_name = write->nomination;
	}
	return bt_living_change_pod(living, now, &changed, err);
}

static int tell_all_back(struct bt_living *living, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < living->writes.count; i++) {
		if (result == 0) {
			result = tell_back(living, &living->writes.items[i], err);
		} else {
			bt_object_release(living->writes.items[i].pod);
		}
	}
	living->writes.count = 0;
	return result;
}

static void keep_texts(struct bt_living *living, struct bt_attempt *attempt)
{
	attempt->namespace_ = bt_arena_str(&living->texts, attempt->namespace_);
	attempt->name = bt_arena_str(&living->texts, attempt->name);
	attempt->uid = bt_arena_str(&living->texts, attempt->uid);
	attempt->node_name = bt_arena_str(&living->texts, attempt->node_name);
	attempt->reason = bt_arena_str(&living->texts, attempt->reason);
	attempt->message = bt_arena_str(&living->texts, attempt->message);
}

int bt_living_step(
	struct bt_living *living, struct bt_attempt *out_attempt, struct berth_error *err)
{
	bt_arena_reset(&living->texts);
	(void)bt_scheduler_step(living->scheduler, living->now_ns, out_attempt);
	living->bound_count += out_attempt->outcome == BT_ATTEMPT_BOUND;
	living->failed_count += out_attempt->outcome == BT_ATTEMPT_FAILED;
	keep_texts(living, out_attempt);
	return tell_all_back(living, err);
}

void bt_living_pass(struct bt_living *living, int64_t duration_ns)
{
	living->now_ns += duration_ns;
	/*
	 * The queue handles the time now, so that its cost is not part of the next measured
	 * attempt.
	 */
	bt_queue_tick(bt_scheduler_queue(living->scheduler), living->now_ns);
}

int bt_living_init(struct bt_living *living, const struct bt_setup *setup, struct berth_error *err)
{
	*living = (struct bt_living){.now_ns = START_NS};
	struct bt_scheduler_writer writer = {
		.context = living,
		.bind = write_binding,
		.patch_status = write_status,
		.delete_pod = delete_victim,
	};
	return bt_setup_scheduler(setup, &writer, &living->scheduler, err);
}

void bt_living_finish(struct bt_living *living)
{
	for (uint32_t i = 0; i < living->writes.count; i++) {
		bt_object_release(living->writes.items[i].pod);
	}
	bt_vec_finish(&living->writes);
	bt_scheduler_destroy(living->scheduler);
	bt_pod_commons_finish(&living->commons);
	bt_arena_finish(&living->texts);
}
