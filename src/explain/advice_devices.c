/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice for DynamicResources: which claim of the pod is not ready; or how many devices each
 * request found on a node, and why the other devices were refused. Spec: 12 sections 6 to 9.
 */
#include <stdlib.h>

#include "api/resource_claim.h"
#include "dra/dra.h"
#include "explain/advice.h"
#include "plugins/dynamic_resources.h"

/**
 * The functions below add hints about claims that make PreEnqueue or PreFilter reject the pod:
 * which claim is not ready, and what to do. Spec: 12 section 6.
 */

static void hint_not_created(struct bt_advice *advice, const struct bt_pod_resource_claim *entry)
{
	struct bt_str name = entry->resource_claim_template_name;

	if (name.data == NULL) {
		bt_advice_hint(advice,
			"its claim %s names neither a ResourceClaim nor a template: correct the "
			"pod",
			entry->name);
	} else if (bt_object_store_find(&advice->engine->state->objects,
			   BT_KIND_RESOURCE_CLAIM_TEMPLATE, advice->pod->namespace_,
			   name) == NULL) {
		bt_advice_hint(advice,
			"ResourceClaimTemplate %s/%s does not exist: create it, and the claim "
			"is made from it",
			advice->pod->namespace_, name);
	} else {
		bt_advice_hint(advice,
			"the claim of template %s is not created yet: wait for the "
			"resourceclaim-controller of kube-controller-manager, or look into its log",
			name);
	}
}

static void hint_missing_class(struct bt_advice *advice, struct bt_str claim, struct bt_str request,
	struct bt_str class_name)
{
	if (class_name.length != 0 &&
		bt_object_store_find(&advice->engine->state->objects, BT_KIND_DEVICE_CLASS,
			BT_STR(""), class_name) == NULL) {
		bt_advice_hint(advice,
			"DeviceClass %s does not exist: create it, or let request %s of claim "
			"%s name another",
			class_name, request, claim);
	}
}

/**
 * Adds a hint about a claim that is not ready. generated: the claim was made from a template, so
 * the pod must own the claim.
 */
static void hint_claim(struct bt_advice *advice, struct bt_str name, bool generated)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(advice->plugin);
	const struct bt_pod *pod = advice->pod->object;
	struct bt_str namespace_ = pod->metadata.namespace_;
	const struct bt_object *object =
		bt_claim_cache_find(&instance->dra->claims, namespace_, name);
	const struct bt_resource_claim *claim =
		object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
	const struct bt_owner_reference *owner =
		claim != NULL ? bt_object_controller(&claim->metadata) : NULL;

	if (claim == NULL) {
		bt_advice_hint(advice, "ResourceClaim %s/%s does not exist: create it",
			pod->metadata.namespace_, name);
	} else if (claim->metadata.deletion_timestamp != NULL) {
		bt_advice_hint(advice,
			"claim %s is being deleted: once the pods that use it are gone, create "
			"it again",
			name);
	} else if (generated && (owner == NULL || !bt_str_equal(owner->uid, pod->metadata.uid))) {
		bt_advice_hint(advice,
			"claim %s belongs to another pod[%?, %s]: delete that pod or the claim",
			name, owner != NULL, owner != NULL ? owner->name : BT_STR(""));
	} else if (claim->status.allocation == NULL &&
		bt_claim_cache_pending(&instance->dra->claims, claim->metadata.uid) != NULL) {
		bt_advice_hint(advice,
			"claim %s is just being allocated for another pod: the pod is tried "
			"again when that is done",
			name);
	} else if (claim->status.allocation == NULL) {
		for (uint32_t i = 0;
			i < claim->spec.devices.requests.count && advice->hint.length == 0; i++) {
			const struct bt_device_request *request =
				&claim->spec.devices.requests.items[i];

			if (request->exactly != NULL) {
				hint_missing_class(advice, claim->metadata.name, request->name,
					request->exactly->device_class_name);
			}
			for (uint32_t k = 0; request->exactly == NULL &&
				k < request->first_available.count && advice->hint.length == 0;
				k++) {
				hint_missing_class(advice, claim->metadata.name, request->name,
					request->first_available.items[k].device_class_name);
			}
		}
	}
}

/** Limit of pods per node whose removal is tried. */
#define LEAVERS_TRIED_MAX 8

/**
 * An allocated claim that is reserved for a single pod: removing the pod frees the claim's devices.
 */
struct reservation {
	uint64_t hash; /* hash of the pod's uid */
	struct bt_object *claim;
};

struct reservations {
	BT_VEC(struct reservation) list; /* ascending by hash */
};

BT_COMPARE(compare_reservations, struct reservation, BT_ORDER(a->hash, b->hash))

/**
 * Returns the reservations, which are collected once per cycle because they are the same for all
 * nodes.
 */
static const struct reservations *reservations_of(const struct bt_advice *advice)
{
	struct bt_str key = BT_STR("berth.dev/explain/DynamicResources");
	const struct bt_claim_cache *cache = &bt_dynamic_resources_of(advice->plugin)->dra->claims;
	struct bt_arena *arena = advice->cycle->arena;
	uint32_t cursor = 0;
	struct bt_object *object;
	void *known;

	if (bt_cycle_state_read(advice->cycle, key, &known, NULL) == 0) {
		return known;
	}
	struct reservations *found = BT_ARENA_NEW(arena, struct reservations);
	while ((object = bt_claim_cache_next(cache, &cursor)) != NULL) {
		const struct bt_resource_claim *claim =
			bt_object_value(object, BT_KIND_RESOURCE_CLAIM);

		if (claim->status.allocation != NULL && claim->status.reserved_for.count == 1) {
			struct reservation reservation = {
				bt_str_hash(claim->status.reserved_for.items[0].uid), object};

			bt_arena_push(arena, &found->list, reservation);
		}
	}
	if (found->list.count != 0) {
		qsort(found->list.items, found->list.count, sizeof(found->list.items[0]),
			compare_reservations);
	}
	bt_cycle_state_write(advice->cycle, key, found, NULL);
	return found;
}

/** Returns the index of the first reservation with the pod's hash, or the count of reservations. */
static uint32_t find_reservation(const struct reservations *reservations, uint64_t hash)
{
	uint32_t count = reservations->list.count;
	uint32_t index;

	BT_LOWER_BOUND(index, count, middle, reservations->list.items[middle].hash < hash);
	return index < count && reservations->list.items[index].hash == hash ? index : count;
}

/** Whether the plugin accepts the node once the pod with this uid releases its claims. */
static bool accepts_without_pod(const struct bt_advice *advice, struct bt_str pod_uid)
{
	const struct reservations *reservations = reservations_of(advice);
	uint64_t hash = bt_str_hash(pod_uid);
	struct bt_dra_trial trial;
	bool enough = true;

	bt_dra_trial_begin(&trial, advice->engine->state->dra);
	for (uint32_t i = find_reservation(reservations, hash);
		i < reservations->list.count && reservations->list.items[i].hash == hash && enough;
		i++) {
		enough = bt_dra_trial_release(&trial, reservations->list.items[i].claim, pod_uid);
	}
	enough = enough && bt_advice_accepts(advice, advice->pod, advice->node);
	bt_dra_trial_end(&trial);
	return enough;
}

struct leaver {
	uint32_t pod_id;
	int32_t priority;
};

/**
 * Inserts a pod into `leavers`, which holds the LEAVERS_TRIED_MAX pods with the lowest priorities,
 * in ascending order. Pods of equal priority stay in the order of insertion.
 */
static void insert_by_priority(
	struct leaver *leavers, uint32_t *count, const struct bt_pod_info *pod)
{
	uint32_t at = *count;

	if (at == LEAVERS_TRIED_MAX) {
		if (leavers[--at].priority <= pod->priority) {
			return;
		}
	} else {
		++*count;
	}
	for (; at > 0 && leavers[at - 1].priority > pod->priority; at--) {
		leavers[at] = leavers[at - 1];
	}
	leavers[at] = (struct leaver){pod->pod_id, pod->priority};
}

/**
 * Adds a remedy that removes one pod of the node, if the removal alone lifts the rejection. Tries
 * the pods with the lowest priorities first.
 */
static void advise_leaver(struct bt_advice *advice)
{
	const struct reservations *reservations = reservations_of(advice);
	uint32_t pod_count = bt_node_info_pod_count(advice->node);
	struct leaver leavers[LEAVERS_TRIED_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < pod_count && reservations->list.count != 0; i++) {
		struct bt_pod_info pod;

		bt_node_info_pod_at(advice->node, i, &pod);
		if (pod.pod_id != BT_POD_NONE &&
			bt_advice_is_removable(advice->engine->state, pod.pod_id) &&
			find_reservation(reservations, bt_str_hash(pod.uid)) !=
				reservations->list.count) {
			insert_by_priority(leavers, &count, &pod);
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info pod;

		bt_pod_info_from_record(advice->engine->state, leavers[i].pod_id, &pod);
		if (accepts_without_pod(advice, pod.uid)) {
			bt_advice_remove_pod(advice, leavers[i].pod_id);
			advice->is_final = false;
			return;
		}
	}
}

/** Limit in bytes of texts from users and drivers: selectors, taints, error messages. */
#define TEXT_BYTES_MAX 120

static void hint_elsewhere(struct bt_advice *advice, const struct bt_resource_claim *claim)
{
	struct bt_str name = claim->metadata.name;
	uint32_t others = claim->status.reserved_for.count;

	others -= bt_resource_claim_is_reserved_by(claim, advice->pod->uid);
	if (others == 0) {
		bt_advice_hint(advice,
			"claim %s is allocated elsewhere, and no other pod has it: the scheduler "
			"frees it when no node fits",
			name);
		return;
	}
	bt_advice_hint(advice,
		"claim %s is allocated elsewhere, where %u other {pod has|pods have} it", name,
		others);
	/*
	 * If a single pod has reserved the claim, propose to remove the pod, provided that the
	 * plugin then accepts the node.
	 */
	struct bt_str uid = claim->status.reserved_for.items[0].uid;
	uint32_t pod_id = bt_state_find_pod(advice->engine->state, uid);

	if (pod_id != BT_POD_NONE && claim->status.reserved_for.count == 1 &&
		bt_advice_is_removable(advice->engine->state, pod_id) &&
		accepts_without_pod(advice, uid)) {
		bt_advice_remove_pod(advice, pod_id);
		advice->is_final = false;
	}
}

/** Adds a hint about binding conditions, which drivers set on devices before use. */
static void hint_not_ready(struct bt_advice *advice, const struct bt_resource_claim *claim)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool ready;

	if (bt_dynamic_is_ready(claim, &ready, &err) != 0) {
		bt_advice_hint(advice, "a device of claim %s has failed: %s", claim->metadata.name,
			bt_advice_cut_text(advice->arena, bt_str_from(berth_error_message(&err)),
				TEXT_BYTES_MAX));
	} else if (!ready) {
		bt_advice_hint(advice, "devices of claim %s have not become ready in time",
			claim->metadata.name);
	}
	berth_error_finish(&err);
}

static struct bt_str base_name(const struct bt_request_report *request)
{
	struct bt_str rest = request->request;

	return bt_str_cut(&rest, '/');
}

/**
 * Whether enough devices were found for the entry of the report at `index`, or for another
 * alternative (firstAvailable) of the same request.
 */
static bool is_served(const struct bt_allocation_report *report, uint32_t index)
{
	const struct bt_request_report *wanted = &report->requests[index];

	for (uint32_t i = 0; i < report->count; i++) {
		const struct bt_request_report *request = &report->requests[i];

		if ((request->error.length == 0 && request->usable >= request->wanted &&
			    !(request->needs_all && request->wanted == 0)) &&
			bt_str_equal(request->claim, wanted->claim) &&
			bt_str_equal(base_name(request), base_name(wanted))) {
			return true;
		}
	}
	return false;
}

/**
 * Returns the distance of a request, 0 to 1, which grows with the share of missing devices. If
 * enough devices exist but are not usable (in use, tainted, too little capacity), the distance is
 * at most 0.5, otherwise at least 0.5.
 */
static double distance_of(const struct bt_request_report *request)
{
	uint32_t there = request->usable + request->in_use + request->tainted +
		request->no_capacity + request->no_counters;
	double missing = request->usable < request->wanted
		? (double)(request->wanted - request->usable) / (double)request->wanted
		: 1.0;

	return there >= request->wanted && there != 0 ? missing / 2 : (1.0 + missing) / 2;
}

/** Adds a hint such as "request gpus of claim train wants 2 and can have 1 of 4 devices". */
static void hint_request(struct bt_advice *advice, const struct bt_request_report *request)
{
	struct bt_strbuf text = {0};
	struct bt_resource_claim claim = {.metadata.name = request->claim};

	/* "train" for "shop/train": all claims are in the pod's namespace. */
	(void)bt_str_cut(&claim.metadata.name, '/');
	bool is_extended = bt_extended_is_in_memory(&claim);

	bt_text_append(&text, "request %s of [%?its extended resources (class %s)][%?claim %s]",
		request->request, is_extended, request->device_class, !is_extended,
		claim.metadata.name);
	if (request->error.length != 0) {
		bt_text_append(&text, " cannot be answered: %s", request->error);
	} else if (request->considered == 0) {
		bt_strbuf_append_c(&text, " finds no devices here");
	} else {
		bt_text_append(&text,
			"[%? wants all that match][%? wants %u] and can have %u of %u "
			"{device|devices}"
			"[, %u {is in use by another claim|are in use by other claims}]"
			"[, %u {is|are} not what the class selects]"
			"[, %u {is|are} not what the request selects]",
			request->needs_all, !request->needs_all, request->wanted, request->usable,
			request->considered, request->in_use, request->class_refused,
			request->request_refused);
		/* The selector and the taint that refused the last device. */
		bt_text_append(&text,
			"[ (%s)][, %u {has|have} a taint that is not tolerated][ (%s)]"
			"[, %u {has|have} too little capacity left]"
			"[, %u {needs|need} more of the shared counters than is left]"
			"[, %u {belongs to another node|belong to other nodes}]"
			"[, %u {has|have} binding conditions, which are disabled]",
			request->selector, request->tainted, request->taint, request->no_capacity,
			request->no_counters, request->other_node, request->unsupported);
	}
	bt_advice_hint(advice, "%s", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static void hint_report(struct bt_advice *advice, const struct bt_allocation_report *report)
{
	bool any = false;

	for (uint32_t i = 0; i < report->count; i++) {
		if (!is_served(report, i)) {
			hint_request(advice, &report->requests[i]);
			any = true;
		}
	}
	if (report->incomplete_pools != 0) {
		bt_advice_hint(advice,
			"%u {pool|pools} of devices {is|are} being updated by the driver",
			report->incomplete_pools);
	}
	if (report->invalid_pools != 0) {
		bt_advice_hint(advice,
			"%u {pool|pools} of devices {is|are} invalid: correct the driver",
			report->invalid_pools);
	}
	if (!any && report->count != 0 && advice->hint.length == 0) {
		bt_advice_hint(advice,
			"each request alone finds enough devices, but all together do not: they "
			"need the same devices, or a constraint of a claim is not met");
	}
}

static void advise_node(struct bt_advice *advice, const struct bt_dynamic_cycle *data)
{
	advice->is_final = true;
	if (bt_advice_has_reason(advice, BT_REASON_CLAIM_NOT_AVAILABLE)) {
		for (uint32_t i = 0; i < data->count; i++) {
			const struct bt_dynamic_claim *claim = &data->claims[i];

			if (claim->has_selector &&
				!bt_node_selector_matches(&claim->selector,
					bt_node_info_name(advice->node),
					bt_node_info_labels(advice->node), advice->cycle->arena,
					NULL)) {
				hint_elsewhere(advice, claim->claim);
			} else if (claim->was_allocated &&
				bt_dynamic_binds_conditions(advice->plugin)) {
				hint_not_ready(advice, claim->claim);
			}
		}
	} else if (bt_advice_has_reason(advice, BT_REASON_SPECIAL_CLAIM_STALE)) {
		bt_advice_hint(advice,
			"an older claim for the pod's extended resources remains: the scheduler "
			"deletes it when no node fits");
	} else if (data->allocator != NULL &&
		(bt_advice_has_reason(advice, BT_REASON_CLAIMS_NOT_ALLOCATABLE) ||
			bt_advice_has_reason(advice, BT_REASON_INVALID_RESOURCE_POOLS))) {
		struct bt_arena arena = {0};
		const struct bt_resource_claim **claims =
			BT_ARENA_NEW_ARRAY(&arena, const struct bt_resource_claim *, data->count);
		struct bt_dynamic_node node = {0};
		struct bt_allocation_report report;
		uint32_t count = 0;

		if (data->extended != NULL) {
			(void)bt_extended_for_node(data->extended, advice->pod, advice->node,
				data->user_count != 0, advice->cycle->arena,
				&node.special); /* cannot fail: the same call succeeded in Filter */
		}
		/* Collect the claims that Filter would pass to the allocator. */
		for (uint32_t i = 0; i < data->count; i++) {
			const struct bt_dynamic_claim *claim = &data->claims[i];

			if (claim->pending == NULL && bt_dynamic_is_wanted(claim, &node)) {
				claims[count++] =
					claim->is_special ? &node.special->claim : claim->claim;
			}
		}
		bt_allocator_report(data->allocator, advice->node, claims, count, &arena, &report);
		/*
		 * Copy the report, because the cycle's memory is released before the report is
		 * printed. Long expressions are cut.
		 */
		struct bt_allocation_report *kept =
			BT_ARENA_NEW(advice->arena, struct bt_allocation_report);

		*kept = report;
		kept->requests =
			BT_ARENA_NEW_ARRAY(advice->arena, struct bt_request_report, report.count);
		for (uint32_t i = 0; i < report.count; i++) {
			struct bt_request_report *request = &kept->requests[i];

			*request = report.requests[i];
			request->claim = bt_arena_str(advice->arena, request->claim);
			request->request = bt_arena_str(advice->arena, request->request);
			request->device_class = bt_arena_str(advice->arena, request->device_class);
			request->selector = bt_advice_cut_text(
				advice->arena, request->selector, TEXT_BYTES_MAX);
			request->taint =
				bt_advice_cut_text(advice->arena, request->taint, TEXT_BYTES_MAX);
			request->error = bt_advice_cut_text(
				advice->arena, request->error, TEXT_BYTES_MAX * 2);
		}
		advice->devices = kept;

		bt_arena_finish(&arena);
		hint_report(advice, advice->devices);
		advice->distance = 0;
		for (uint32_t i = 0; i < advice->devices->count; i++) {
			if (!is_served(advice->devices, i)) {
				advice->distance += distance_of(&advice->devices->requests[i]);
			}
		}
		advise_leaver(advice);
	}
}

static void advise_on_devices(struct bt_advice *advice)
{
	const struct bt_dynamic_cycle *data =
		advice->node != NULL ? bt_dynamic_cycle_of(advice->plugin, advice->cycle) : NULL;

	if (data == NULL) {
		/*
		 * PreEnqueue or PreFilter rejected the pod because of a claim: explain the claim.
		 * No known change helps.
		 */
		const struct bt_pod *pod = advice->pod->object;

		for (uint32_t i = 0;
			i < pod->spec.resource_claims.count && advice->hint.length == 0; i++) {
			const struct bt_pod_resource_claim *entry =
				&pod->spec.resource_claims.items[i];
			struct bt_str name;
			bool generated;

			if (bt_dynamic_entry_name(pod, entry, &name, &generated, NULL) != 0) {
				hint_not_created(advice, entry);
			} else if (name.data != NULL) {
				hint_claim(advice, name, generated);
			}
		}
		advice->is_final = true;
	} else {
		advise_node(advice, data);
	}
}

const struct bt_adviser bt_advisers_devices[] = {
	{"DynamicResources", advise_on_devices},
	{NULL, NULL},
};
