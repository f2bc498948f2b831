/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Requests of copies, free amounts of nodes, and the resource that most nodes have too little of.
 */
#include "api/text_template.h"
#include "planning/capacity.h"
#include "planning/capacity_private.h"
#include "dra/allocator.h"
#include "dra/device_pools.h"

/** --- devices that one more copy needs, and how many nodes have them left --- */

/** One device request, and the nodes that have too few free devices for the request. */
struct device_shortage {
	struct bt_request_report request; /* as reported for the first node of the cluster */
	uint32_t node_count;              /* nodes with too few free devices */
	int64_t free_total;               /* free devices on these nodes */
	uint32_t free_most;               /* largest number of free devices on one of these nodes */
};

/** Returns whether some node offers the resource itself, so that no device claim is needed. */
static bool is_on_some_node(const struct bt_capacity_session *session, struct bt_str resource)
{
	const struct bt_node_table *table = &session->engine->state->nodes;
	uint32_t column = bt_node_table_find_scalar(table, resource);
	for (uint32_t i = 0; column != UINT32_MAX && i < session->answer->node_count; i++) {
		if (table->scalars.items[column].allocatable[session->slots[i]] != 0) {
			return true;
		}
	}
	return false;
}

/**
 * Returns the claims that the copy still needs devices for, in the arena; those of extended
 * resources that are backed by a device class included.
 */
static const struct bt_resource_claim **collect_claims(const struct bt_capacity_session *session,
	const struct bt_capacity_member *member, const struct bt_pod *pod, struct bt_arena *arena,
	uint32_t *out_count)
{
	const struct bt_state *state = session->engine->state;
	uint32_t most = pod->spec.resource_claims.count + member->requests.count;
	const struct bt_resource_claim **claims =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_resource_claim *, most);
	uint32_t count = 0;
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_object *object =
			bt_dra_claim_of(state, pod, &pod->spec.resource_claims.items[i]);
		const struct bt_resource_claim *claim =
			object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
		if (claim != NULL && claim->status.allocation == NULL) {
			claims[count++] = claim;
		}
	}
	for (uint32_t i = 0; i < member->requests.count; i++) {
		const struct bt_capacity_request *asked = &member->requests.items[i];
		const struct bt_device_class *class = bt_dra_class_of(state, asked->resource);
		if (class == NULL || is_on_some_node(session, asked->resource)) {
			continue;
		}
		struct bt_exact_device_request *exactly =
			BT_ARENA_NEW(arena, struct bt_exact_device_request);
		struct bt_device_request *request = BT_ARENA_NEW(arena, struct bt_device_request);
		struct bt_resource_claim *claim = BT_ARENA_NEW(arena, struct bt_resource_claim);
		exactly->device_class_name = class->metadata.name;
		exactly->allocation_mode = BT_STR("ExactCount");
		exactly->count = asked->amount;
		request->name = asked->resource;
		request->exactly = exactly;
		claim->spec.devices.requests.items = request;
		claim->spec.devices.requests.count = 1;
		claims[count++] = claim;
	}
	*out_count = count;
	return claims;
}

/**
 * Returns whether every ResourceSlice names its node, so that no device is shared between nodes. A
 * sum over nodes would count a shared device several times.
 */
static bool are_all_local(const struct bt_dra *dra)
{
	const struct bt_resource_slice *slice;
	uint32_t cursor = 0;
	while ((slice = bt_device_pools_next_slice(dra->pools, &cursor)) != NULL) {
		if (slice->spec.node_name.length == 0) {
			return false;
		}
	}
	return true;
}

/** --- texts --- */

static void append_nodes(
	const struct bt_capacity_session *session, uint32_t count, struct bt_strbuf *text)
{
	bt_text_append(text, " on %n of %n {node|nodes}", count, session->answer->node_count);
}

/**
 * Appends a part of a sentence: how many devices the nodes lack for one more copy. Appends nothing
 * if no node lacks devices.
 */
static void append_device_shortage(struct bt_capacity_session *session,
	struct bt_capacity_runner *runner, struct bt_strbuf *text)
{
	struct bt_state *state = session->engine->state;
	struct bt_arena arena = {0};
	struct bt_pod copy;
	if (state->dra == NULL ||
		!bt_capacity_next_copy(session, (uint32_t)(runner - session->runners), &copy)) {
		return;
	}
	(void)bt_capacity_make_claims(session, &copy, &arena);
	uint32_t claim_count;
	const struct bt_resource_claim **claims =
		collect_claims(session, runner->member, &copy, &arena, &claim_count);
	struct bt_allocator_options options = {0};
	struct bt_allocator *allocator = bt_allocator_create(state->dra, &options, &arena);
	BT_VEC(struct device_shortage) shortages = {0}; /* one per request */
	/* Nodes with enough devices for each request alone, but not for all together. */
	uint32_t joint_count = 0;
	for (uint32_t i = 0; i < session->answer->node_count; i++) {
		struct bt_node_info node;
		struct bt_allocation_report report;
		bt_node_info_init(&node, state, session->slots[i]);
		bt_allocator_report(allocator, &node, claims, claim_count, &arena, &report);
		joint_count += report.is_joint;
		for (uint32_t k = 0; k < report.count; k++) {
			const struct bt_request_report *request = &report.requests[k];
			if (k == shortages.count) {
				struct device_shortage first = {.request = *request};
				bt_vec_push(&shortages, first);
			}
			struct device_shortage *shortage = &shortages.items[k];
			if (request->needs_all ? request->in_use != 0 || request->usable == 0
					       : request->usable < request->wanted) {
				shortage->node_count++;
				shortage->free_total += request->usable;
				shortage->free_most = BT_MAX(shortage->free_most, request->usable);
			}
		}
	}
	/* The request that most nodes cannot meet; NULL: all nodes meet all requests. */
	const struct device_shortage *worst = NULL;
	for (uint32_t i = 0; i < shortages.count; i++) {
		const struct device_shortage *shortage = &shortages.items[i];
		if (shortage->node_count != 0 &&
			(worst == NULL || shortage->node_count > worst->node_count)) {
			worst = shortage;
		}
	}
	if (worst != NULL && worst->node_count >= joint_count) {
		const struct bt_request_report *request = &worst->request;
		bt_text_append(text, "devices of class %s (request %s%c): ", request->device_class,
			request->request, request->needs_all ? " wants all" : "");
		if (request->needs_all) {
			bt_strbuf_append_c(text, "some are in use, or there is none,");
		} else if (worst->free_most == 0) {
			bt_strbuf_append_c(text, "none is left");
		} else {
			bt_text_append(text, "less than %n are left", request->wanted);
		}
		append_nodes(session, worst->node_count, text);
		if (worst->free_most != 0 && !request->needs_all) {
			bt_text_append(text, " ([%?%N together, ]at most %n on one)",
				are_all_local(state->dra), worst->free_total, worst->free_most);
		}
	} else if (joint_count != 0) {
		bt_strbuf_append_c(text,
			"devices: there are enough for each request alone, but not for all of them "
			"together,");
		append_nodes(session, joint_count, text);
	}
	bt_claim_maker_unmake(session->simulation.claims, &copy);
	bt_vec_finish(&shortages);
	bt_arena_finish(&arena);
}

/** --- requests --- */

void bt_capacity_describe_requests(
	struct bt_capacity_session *session, struct bt_capacity_runner *runner)
{
	struct bt_capacity_answer *answer = session->answer;
	struct bt_capacity_member *member = runner->member;
	struct bt_state *state = session->engine->state;
	struct bt_pod_info info;
	bt_pod_info_init_pending(state, &runner->prototype, &info);
	const struct bt_shape *shape = info.shape;
	struct bt_capacity_request *requests = BT_ARENA_NEW_ARRAY(&answer->arena,
		struct bt_capacity_request, BT_STANDARD__COUNT + (size_t)shape->scalar_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_STANDARD__COUNT; i++) {
		if (shape->requested[i] > 0) {
			requests[count++] = (struct bt_capacity_request){
				bt_standard_names[i], shape->requested[i]};
		}
	}
	for (uint32_t i = 0; i < shape->scalar_count; i++) {
		const struct bt_scalar_column *column =
			&state->nodes.scalars.items[shape->scalars[i].resource];
		if (shape->scalars[i].value > 0) {
			requests[count].resource = bt_arena_str(
				&answer->arena, bt_symbol_text(&state->symbols, column->name));
			requests[count++].amount = shape->scalars[i].value;
		}
	}
	member->requests.items = requests;
	member->requests.count = count;
	bt_pod_info_finish_pending(state, &info);
	const struct bt_str_map *selector = &runner->prototype.spec.node_selector;
	struct bt_str_pair *pairs =
		BT_ARENA_NEW_ARRAY(&answer->arena, struct bt_str_pair, selector->count);
	for (uint32_t i = 0; i < selector->count; i++) {
		pairs[i].key = bt_arena_str(&answer->arena, selector->items[i].key);
		pairs[i].value = bt_arena_str(&answer->arena, selector->items[i].value);
	}
	member->node_selector = (struct bt_str_map){pairs, selector->count, true};
}

/** --- amounts of one resource --- */

static int64_t add_clamped(int64_t a, int64_t b)
{
	int64_t sum;
	if (BT_ADD_OVERFLOW(a, b, &sum)) {
		return a > 0 ? INT64_MAX : INT64_MIN;
	}
	return sum;
}

/** --- the tightest resource --- */

struct shortage {
	struct bt_capacity_request request;
	uint64_t reason_count; /* nodes that the scheduler rejected for lack of the resource */
	uint32_t node_count;   /* nodes with less than a copy needs */
	int64_t free_total;    /* free amount on these nodes */
	int64_t free_most;     /* largest free amount on one of these nodes */
};

static struct shortage measure_shortage(
	const struct bt_capacity_session *session, const struct bt_capacity_request *request)
{
	struct shortage shortage = {.request = *request};
	struct bt_amount_columns columns =
		bt_node_table_columns(&session->engine->state->nodes, request->resource);
	for (uint32_t i = 0; i < session->answer->node_count; i++) {
		struct bt_node_amounts amounts = bt_amounts_at(columns, session->slots[i]);
		int64_t rest;
		if (BT_SUB_OVERFLOW(amounts.allocatable, amounts.requested, &rest)) {
			rest = 0;
		}
		rest = BT_MAX(rest, 0); /* more may be requested than is allocatable */
		if (rest < request->amount) {
			shortage.node_count++;
			shortage.free_total = add_clamped(shortage.free_total, rest);
			shortage.free_most = rest > shortage.free_most ? rest : shortage.free_most;
		}
	}
	return shortage;
}

/**
 * Returns whether shortage `a` is tighter than `b`: more nodes have too little of its resource. If
 * the numbers are equal, the shortage whose free amounts on these nodes suffice for fewer copies is
 * tighter.
 */
static bool is_tighter(const struct shortage *a, const struct shortage *b)
{
	if (a->node_count != b->node_count) {
		return a->node_count > b->node_count;
	}
	return (double)a->free_total / (double)a->request.amount <
		(double)b->free_total / (double)b->request.amount;
}

/**
 * Returns the resource that the nodes have too little of according to the rejection reason. NULL:
 * the reason names no resource that the member requests.
 */
static const struct bt_capacity_request *short_resource(
	const struct bt_capacity_member *member, struct bt_str reason)
{
	static const struct bt_capacity_request pods = {{"pods", 4}, 1};
	struct bt_str insufficient = BT_STR("Insufficient ");
	if (bt_str_equal_c(reason, "Too many pods")) {
		return &pods;
	}
	if (!bt_str_has_prefix(reason, insufficient)) {
		return NULL;
	}
	struct bt_str resource = bt_str_sub(reason, insufficient.length, reason.length);
	return BT_STR_FIND(&member->requests, resource, resource);
}

/**
 * A hint has two parts: the reason that rejected the most nodes, and what is left of the tightest
 * resource. The first part is omitted if there is only one reason, or if the lack of the resource
 * rejected as many nodes.
 */
void bt_capacity_set_hints(struct bt_capacity_session *session)
{
	for (uint32_t i = 0; i < session->answer->member_count; i++) {
		struct bt_capacity_member *member = session->runners[i].member;
		struct bt_strbuf text = {0};
		if (member->spec->group != NULL) {
			continue; /* the hint of a group is set already */
		}
		/*
		 * The shortage for which the scheduler rejected the most nodes; node_count 0: no
		 * shortage. A shortage is left out if more nodes were rejected for it than have too
		 * little of the resource: nominated pods hold room on the other nodes, so the
		 * amounts would not explain the rejections.
		 */
		struct shortage tightest = {0};
		for (uint32_t k = 0; k < member->stop.reasons.count; k++) {
			const struct bt_capacity_reason *reason = &member->stop.reasons.items[k];
			const struct bt_capacity_request *request =
				short_resource(member, reason->text);
			if (request == NULL || reason->node_count < tightest.reason_count) {
				continue;
			}
			struct shortage other = measure_shortage(session, request);
			if (other.node_count >= reason->node_count &&
				(tightest.node_count == 0 || is_tighter(&other, &tightest))) {
				tightest = other;
				tightest.reason_count = reason->node_count;
			}
		}
		struct shortage shortage = tightest;
		const struct bt_capacity_reason *unallocated = BT_STR_FIND(
			&member->stop.reasons, text, BT_STR("cannot allocate all claims"));
		uint64_t without_devices = unallocated != NULL ? unallocated->node_count : 0;
		bool is_devices = without_devices > shortage.reason_count;
		if (is_devices) {
			shortage = (struct shortage){.reason_count = without_devices};
		}
		const struct bt_capacity_reason *first =
			member->stop.reasons.count > 1 ? &member->stop.reasons.items[0] : NULL;
		if (first != NULL && shortage.reason_count < first->node_count) {
			bt_text_append(&text, "%s (%d of %u {node|nodes})", first->text,
				(int64_t)first->node_count, session->answer->node_count);
		}
		if (shortage.node_count != 0) {
			struct bt_str resource = shortage.request.resource;
			bool is_pods = bt_str_equal_c(resource, "pods");
			bt_text_append(&text, "%c%s: ", text.length != 0 ? "; " : "", resource);
			bt_text_append(&text,
				is_pods ? "no place for one more is left" : "less than %a is left",
				resource, shortage.request.amount, BT_AMOUNT_NEAREST);
			append_nodes(session, shortage.node_count, &text);
			if (shortage.free_total > 0) {
				bt_text_append(&text, " (%a together, at most %a on one)", resource,
					shortage.free_total, BT_AMOUNT_NEAREST, resource,
					shortage.free_most, BT_AMOUNT_NEAREST);
			}
		} else if (is_devices) {
			struct bt_strbuf devices = {0};
			append_device_shortage(session, &session->runners[i], &devices);
			bt_text_append(&text, "%c%s",
				text.length != 0 && devices.length != 0 ? "; " : "",
				bt_strbuf_str(&devices));
			bt_strbuf_finish(&devices);
		}
		member->stop.hint = bt_arena_take_strbuf(&member->stop_arena, &text);
	}
}

/** --- use --- */

static void list_total(struct bt_capacity_answer *answer, struct bt_str resource)
{
	uint32_t count = answer->total_count;
	if (count < BT_CAPACITY_TOTALS_MAX &&
		BT_STR_INDEX(answer->totals, count, resource, resource) == count) {
		answer->totals[answer->total_count++].resource = resource;
	}
}

static void set_amounts(struct bt_capacity_total *total, struct bt_node_amounts amounts, bool after)
{
	*(after ? &total->after : &total->before) = amounts.requested;
	total->allocatable = amounts.allocatable;
}

void bt_capacity_measure(struct bt_capacity_session *session, bool after)
{
	struct bt_capacity_answer *answer = session->answer;
	const struct bt_node_table *table = &session->engine->state->nodes;
	if (!after) {
		answer->totals = BT_ARENA_NEW_ARRAY(
			&answer->arena, struct bt_capacity_total, BT_CAPACITY_TOTALS_MAX);
		list_total(answer, BT_STR("pods"));
		list_total(answer, BT_STR("cpu"));
		list_total(answer, BT_STR("memory"));
		for (uint32_t i = 0; i < answer->member_count; i++) {
			const struct bt_capacity_member *member = &answer->members[i];
			for (uint32_t r = 0; r < member->requests.count; r++) {
				list_total(answer, member->requests.items[r].resource);
			}
		}
	}
	for (uint32_t i = 0; i < answer->total_count; i++) {
		struct bt_str resource = answer->totals[i].resource;
		struct bt_amount_columns columns = bt_node_table_columns(table, resource);
		struct bt_node_amounts sum = {0};
		for (uint32_t k = 0; k < answer->node_count; k++) {
			struct bt_node_amounts amounts = bt_amounts_at(columns, session->slots[k]);
			sum.requested = add_clamped(sum.requested, amounts.requested);
			sum.allocatable = add_clamped(sum.allocatable, amounts.allocatable);
			if (i < BT_CAPACITY_NODE_RESOURCES) {
				struct bt_capacity_total *use = &answer->nodes[k].use[i];
				use->resource = resource;
				set_amounts(use, amounts, after);
			}
		}
		set_amounts(&answer->totals[i], sum, after);
	}
}
