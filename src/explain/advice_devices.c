/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DynamicResources: which claim of the pod is not ready, or which request of it found how many
 * devices on a node and why no others. Spec: 12 sections 6 to 9.
 */
#include "api/resource_claim.h"
#include "explain/advice_devices.h"
#include "explain/advice_text.h"
#include "plugins/dynamic_resources.h"

/** Of an expression, a name or an error in a report. */
#define TEXT_BYTES_MAX 120

/* --- claims that are allocated elsewhere --- */

static void hint_elsewhere(struct bt_advice *advice, const struct bt_resource_claim *claim)
{
	struct bt_str name = claim->metadata.name;
	uint32_t others = claim->status.reserved_for.count;

	others -= bt_resource_claim_is_reserved_by(claim, advice->pod->uid);
	if (others == 0) {
		bt_advice_hint(advice,
			"claim %.*s is allocated elsewhere, and no other pod has it: the scheduler "
			"frees it when no node fits",
			BT_STR_ARG(name));
		return;
	}
	bt_advice_hint(advice, "claim %.*s is allocated elsewhere, where %u other pod%s it",
		BT_STR_ARG(name), others, others == 1 ? " has" : "s have");
	bt_advise_holder(advice, claim);
}

/** Conditions that drivers set on devices before they may be used. */
static void hint_not_ready(struct bt_advice *advice, const struct bt_resource_claim *claim)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool ready;

	if (bt_dynamic_is_ready(claim, &ready, &err) != 0) {
		bt_advice_hint(advice, "a device of claim %.*s has failed: %.*s",
			BT_STR_ARG(claim->metadata.name),
			BT_STR_ARG(bt_advice_cut_text(advice->arena,
				bt_str_from(berth_error_message(&err)), TEXT_BYTES_MAX)));
	} else if (!ready) {
		bt_advice_hint(advice, "devices of claim %.*s have not become ready in time",
			BT_STR_ARG(claim->metadata.name));
	}
	berth_error_finish(&err);
}

/* --- devices of a node --- */

/** "train" of "shop/train"; claims are in the pod's namespace. */
static struct bt_str claim_name(const struct bt_request_report *request)
{
	struct bt_str name = request->claim;

	(void)bt_str_cut(&name, '/'); /* the namespace */
	return name;
}

static struct bt_str base_name(const struct bt_request_report *request)
{
	struct bt_str rest = request->request;

	return bt_str_cut(&rest, '/');
}

/** It, or another alternative of the same request. */
static bool is_served(const struct bt_allocation_report *report, uint32_t index)
{
	const struct bt_request_report *wanted = &report->requests[index];

	for (uint32_t i = 0; i < report->count; i++) {
		const struct bt_request_report *request = &report->requests[i];

		if ((request->error.length == 0 && request->usable >= request->wanted &&
			    !(request->wants_all && request->wanted == 0)) &&
			bt_str_equal(request->claim, wanted->claim) &&
			bt_str_equal(base_name(request), base_name(wanted))) {
			return true;
		}
	}
	return false;
}

static void append_count(struct bt_strbuf *out, uint32_t count, const char *one, const char *many)
{
	if (count != 0) {
		bt_strbuf_printf(out, ", %u %s", count, count == 1 ? one : many);
	}
}

static void append_reasons(struct bt_strbuf *out, const struct bt_request_report *request)
{
	append_count(
		out, request->in_use, "is in use by another claim", "are in use by other claims");
	/* The selector behind the last of what it refused. */
	append_count(out, request->class_refused, "is not what the class selects",
		"are not what the class selects");
	append_count(out, request->request_refused, "is not what the request selects",
		"are not what the request selects");
	if (request->selector.length != 0) {
		bt_strbuf_printf(out, " (%.*s)", BT_STR_ARG(request->selector));
	}
	append_count(out, request->tainted, "has a taint that is not tolerated",
		"have a taint that is not tolerated");
	if (request->taint.length != 0) {
		bt_strbuf_printf(out, " (%.*s)", BT_STR_ARG(request->taint));
	}
	append_count(out, request->no_capacity, "has too little capacity left",
		"have too little capacity left");
	append_count(out, request->no_counters, "has too little left of what it shares with others",
		"have too little left of what they share with others");
	append_count(out, request->other_node, "belongs to another node", "belong to other nodes");
	append_count(out, request->unsupported, "waits for conditions, which is switched off",
		"wait for conditions, which is switched off");
}

static void hint_request(struct bt_advice *advice, const struct bt_request_report *request)
{
	struct bt_strbuf text = {0};

	/* "request gpus of claim train" */
	struct bt_resource_claim claim = {.metadata.name = claim_name(request)};

	bt_strbuf_printf(&text, "request %.*s of ", BT_STR_ARG(request->request));
	if (bt_extended_is_in_memory(&claim)) {
		bt_strbuf_printf(&text, "its extended resources (class %.*s)",
			BT_STR_ARG(request->device_class));
	} else {
		bt_strbuf_printf(&text, "claim %.*s", BT_STR_ARG(claim.metadata.name));
	}
	if (request->error.length != 0) {
		bt_strbuf_printf(&text, " cannot be answered: %.*s", BT_STR_ARG(request->error));
	} else if (request->considered == 0) {
		bt_strbuf_append_c(&text, " finds no devices here");
	} else {
		if (request->wants_all) {
			bt_strbuf_append_c(&text, " wants all that match");
		} else {
			bt_strbuf_printf(&text, " wants %u", request->wanted);
		}
		bt_strbuf_printf(&text, " and can have %u of %u device%s", request->usable,
			request->considered, request->considered == 1 ? "" : "s");
		append_reasons(&text, request);
	}
	bt_advice_hint(advice, "%.*s", BT_STR_ARG(bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}

/** 0 to 1: devices that only have to be given back are nearer than those that are not there. */
static double distance_of(const struct bt_request_report *request)
{
	uint32_t there = request->usable + request->in_use + request->tainted +
		request->no_capacity + request->no_counters;
	double missing = request->usable < request->wanted
		? (double)(request->wanted - request->usable) / (double)request->wanted
		: 1.0;

	return there >= request->wanted && there != 0 ? missing / 2 : (1.0 + missing) / 2;
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
		bt_advice_hint(advice, "%u pool%s of devices %s being updated by the driver",
			report->incomplete_pools, report->incomplete_pools == 1 ? "" : "s",
			report->incomplete_pools == 1 ? "is" : "are");
	}
	if (report->invalid_pools != 0) {
		bt_advice_hint(advice, "%u pool%s of devices %s invalid: correct the driver",
			report->invalid_pools, report->invalid_pools == 1 ? "" : "s",
			report->invalid_pools == 1 ? "is" : "are");
	}
	if (!any && report->count != 0 && advice->hint.length == 0) {
		bt_advice_hint(advice,
			"each request finds devices enough, and all of them together do not: they "
			"want the same ones, or a constraint of a claim is not met");
	}
}

/** Cycles come and go, and expressions may be long. */
static const struct bt_allocation_report *keep_report(
	const struct bt_allocation_report *report, struct bt_arena *arena)
{
	struct bt_allocation_report *kept = BT_ARENA_NEW(arena, struct bt_allocation_report);

	*kept = *report;
	kept->requests = BT_ARENA_NEW_ARRAY(arena, struct bt_request_report, report->count);
	for (uint32_t i = 0; i < report->count; i++) {
		struct bt_request_report *request = &kept->requests[i];

		*request = report->requests[i];
		request->claim = bt_arena_str(arena, request->claim);
		request->request = bt_arena_str(arena, request->request);
		request->device_class = bt_arena_str(arena, request->device_class);
		request->selector = bt_advice_cut_text(arena, request->selector, TEXT_BYTES_MAX);
		request->taint = bt_advice_cut_text(arena, request->taint, TEXT_BYTES_MAX);
		request->error = bt_advice_cut_text(arena, request->error, TEXT_BYTES_MAX * 2);
	}
	return kept;
}

/** The claims that Filter would give to the allocator. */
static uint32_t collect_todo(const struct bt_dynamic_cycle *data,
	const struct bt_dynamic_node *node, const struct bt_resource_claim **claims)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < data->count; i++) {
		const struct bt_dynamic_claim *claim = &data->claims[i];

		if (claim->pending == NULL && bt_dynamic_is_wanted(claim, node)) {
			claims[count++] = claim->is_special ? &node->special->claim : claim->claim;
		}
	}
	return count;
}

static void advise_devices(struct bt_advice *advice, const struct bt_dynamic_cycle *data)
{
	struct bt_arena arena = {0};
	const struct bt_resource_claim **claims =
		BT_ARENA_NEW_ARRAY(&arena, const struct bt_resource_claim *, data->count);
	struct bt_dynamic_node node = {0};
	struct bt_allocation_report report;
	uint32_t count;

	if (data->extended != NULL) {
		(void)bt_extended_for_node(bt_dynamic_resources_of(advice->plugin), data->extended,
			advice->pod, advice->node, data->user_count != 0, advice->cycle->arena,
			&node.special); /* it has accepted the node before */
	}
	count = collect_todo(data, &node, claims);
	bt_allocator_report(data->allocator, advice->node, claims, count, &arena, &report);
	advice->devices = keep_report(&report, advice->arena);
	bt_arena_finish(&arena);
	hint_report(advice, advice->devices);
	advice->distance = 0;
	for (uint32_t i = 0; i < advice->devices->count; i++) {
		if (!is_served(advice->devices, i)) {
			advice->distance += distance_of(&advice->devices->requests[i]);
		}
	}
	bt_advise_leaver(advice);
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
			"an older claim for its extended resources is left: the scheduler deletes "
			"it when no node fits");
	} else if (data->allocator != NULL &&
		(bt_advice_has_reason(advice, BT_REASON_CLAIMS_NOT_ALLOCATABLE) ||
			bt_advice_has_reason(advice, BT_REASON_INVALID_RESOURCE_POOLS))) {
		advise_devices(advice, data);
	}
}

static void advise(struct bt_advice *advice)
{
	const struct bt_dynamic_cycle *data =
		advice->node != NULL ? bt_dynamic_cycle_of(advice->plugin, advice->cycle) : NULL;

	if (data == NULL) {
		bt_advise_claims(advice);
	} else {
		advise_node(advice, data);
	}
}

const struct bt_adviser bt_advisers_devices[] = {
	{"DynamicResources", advise},
	{NULL, NULL},
};
