/* SPDX-License-Identifier: Apache-2.0 */
/** Which devices one more copy would need, and how many of them nodes have left. */
#include "api/amount.h"
#include "cli/capacity/capacity_private.h"
#include "cli/pod_claims.h"
#include "dra/allocator.h"
#include "dra/device_pools.h"

/** One request for devices, over all nodes. */
struct device_shortage {
	struct bt_request_report request; /* of the first node */
	uint32_t node_count;              /* with too few that are free */
	int64_t free_total;               /* on these nodes */
	uint32_t free_most;               /* on one of them */
};

struct measuring {
	struct bt_capacity_session *session;
	struct bt_arena *arena;
	const struct bt_resource_claim **claims; /* to be allocated */
	uint32_t claim_count;
	BT_VEC(struct device_shortage) shortages; /* by request */
	uint32_t joint_count; /* nodes that have enough for each request alone */
};

/** --- what a copy asks for --- */

/** A node has it without claims. */
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

/** An extended resource that devices stand behind is asked for like this. */
static void add_extended(
	struct measuring *measuring, const struct bt_capacity_request *asked, struct bt_str class)
{
	struct bt_arena *arena = measuring->arena;
	struct bt_exact_device_request *exactly =
		BT_ARENA_NEW(arena, struct bt_exact_device_request);
	struct bt_device_request *request = BT_ARENA_NEW(arena, struct bt_device_request);
	struct bt_resource_claim *claim = BT_ARENA_NEW(arena, struct bt_resource_claim);
	exactly->device_class_name = class;
	exactly->allocation_mode = BT_STR("ExactCount");
	exactly->count = asked->amount;
	request->name = asked->resource;
	request->exactly = exactly;
	claim->spec.devices.requests.items = request;
	claim->spec.devices.requests.count = 1;
	measuring->claims[measuring->claim_count++] = claim;
}

static void collect_claims(struct measuring *measuring, const struct bt_capacity_member *member,
	const struct bt_pod *pod)
{
	const struct bt_state *state = measuring->session->engine->state;
	uint32_t most = pod->spec.resource_claims.count + member->requests.count;
	measuring->claims =
		BT_ARENA_NEW_ARRAY(measuring->arena, const struct bt_resource_claim *, most);
	for (uint32_t i = 0; i < pod->spec.resource_claims.count; i++) {
		const struct bt_object *object =
			bt_pod_claims_find(state, pod, &pod->spec.resource_claims.items[i]);
		const struct bt_resource_claim *claim =
			object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
		if (claim != NULL && claim->status.allocation == NULL) {
			measuring->claims[measuring->claim_count++] = claim;
		}
	}
	for (uint32_t i = 0; i < member->requests.count; i++) {
		const struct bt_capacity_request *asked = &member->requests.items[i];
		const struct bt_device_class *class = bt_dra_class_of(state, asked->resource);
		if (class != NULL && !is_on_some_node(measuring->session, asked->resource)) {
			add_extended(measuring, asked, class->metadata.name);
		}
	}
}

/** --- what nodes have --- */

static bool is_short(const struct bt_request_report *request)
{
	return request->wants_all ? request->in_use != 0 || request->usable == 0
				  : request->usable < request->wanted;
}

static void measure_node(struct measuring *measuring, struct bt_allocator *allocator, uint32_t slot)
{
	struct bt_node_info node;
	struct bt_allocation_report report;
	bt_node_info_init(&node, measuring->session->engine->state, slot);
	bt_allocator_report(allocator, &node, measuring->claims, measuring->claim_count,
		measuring->arena, &report);
	measuring->joint_count += report.is_joint;
	for (uint32_t i = 0; i < report.count; i++) {
		if (i == measuring->shortages.count) {
			struct device_shortage first = {.request = report.requests[i]};
			bt_vec_push(&measuring->shortages, first);
		}
		struct device_shortage *shortage = &measuring->shortages.items[i];
		uint32_t usable = report.requests[i].usable;
		if (is_short(&report.requests[i])) {
			shortage->node_count++;
			shortage->free_total += usable;
			shortage->free_most =
				usable > shortage->free_most ? usable : shortage->free_most;
		}
	}
}

static void measure_nodes(struct measuring *measuring)
{
	struct bt_capacity_session *session = measuring->session;
	struct bt_allocator_options options = {0};
	struct bt_allocator *allocator =
		bt_allocator_create(session->engine->state->dra, &options, measuring->arena);
	for (uint32_t i = 0; i < session->answer->node_count; i++) {
		measure_node(measuring, allocator, session->slots[i]);
	}
}

/** Devices that several nodes reach would be counted more than once. */
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

/** --- in words --- */

/** The request that is short on most nodes; NULL: none is. */
static const struct device_shortage *find_worst(const struct measuring *measuring)
{
	const struct device_shortage *worst = NULL;
	for (uint32_t i = 0; i < measuring->shortages.count; i++) {
		const struct device_shortage *shortage = &measuring->shortages.items[i];
		if (shortage->node_count != 0 &&
			(worst == NULL || shortage->node_count > worst->node_count)) {
			worst = shortage;
		}
	}
	return worst;
}

static void append_nodes(
	const struct bt_capacity_session *session, uint32_t count, struct bt_strbuf *text)
{
	bt_strbuf_append_c(text, " on ");
	bt_amount_append_count(text, count);
	bt_strbuf_append_c(text, " of ");
	bt_amount_append_count(text, session->answer->node_count);
	bt_strbuf_append_c(text, " nodes");
}

static void append_shortage(const struct bt_capacity_session *session,
	const struct device_shortage *shortage, struct bt_strbuf *text)
{
	const struct bt_request_report *request = &shortage->request;
	bt_strbuf_append_c(text, "devices of class ");
	bt_strbuf_append_str(text, request->device_class);
	bt_strbuf_append_c(text, " (request ");
	bt_strbuf_append_str(text, request->request);
	bt_strbuf_append_c(text, request->wants_all ? " wants all): " : "): ");
	if (request->wants_all) {
		bt_strbuf_append_c(text, "some are in use, or there is none,");
	} else if (shortage->free_most == 0) {
		bt_strbuf_append_c(text, "none is left");
	} else {
		bt_strbuf_append_c(text, "less than ");
		bt_amount_append_count(text, request->wanted);
		bt_strbuf_append_c(text, " are left");
	}
	append_nodes(session, shortage->node_count, text);
	if (shortage->free_most != 0 && !request->wants_all) {
		bt_strbuf_append_c(text, " (");
		if (are_all_local(session->engine->state->dra)) {
			bt_amount_append_count(text, shortage->free_total);
			bt_strbuf_append_c(text, " together, ");
		}
		bt_strbuf_append_c(text, "at most ");
		bt_amount_append_count(text, shortage->free_most);
		bt_strbuf_append_c(text, " on one)");
	}
}

void bt_capacity_append_device_shortage(struct bt_capacity_session *session,
	struct bt_capacity_runner *runner, struct bt_strbuf *text)
{
	struct bt_state *state = session->engine->state;
	struct bt_arena arena;
	struct bt_pod copy;
	if (state->dra == NULL ||
		!bt_capacity_next_copy(session, (uint32_t)(runner - session->runners), &copy)) {
		return;
	}
	bt_arena_init(&arena, 0);
	struct measuring measuring = {.session = session, .arena = &arena};
	struct bt_str missing;
	(void)bt_pod_claims_make(&session->cluster, state, &copy, &arena, &missing);
	collect_claims(&measuring, runner->member, &copy);
	measure_nodes(&measuring);
	const struct device_shortage *worst = find_worst(&measuring);
	if (worst != NULL && worst->node_count >= measuring.joint_count) {
		append_shortage(measuring.session, worst, text);
	} else if (measuring.joint_count != 0) {
		bt_strbuf_append_c(text,
			"devices: there are enough for each request alone, but not for all of them "
			"together,");
		append_nodes(measuring.session, measuring.joint_count, text);
	}
	bt_pod_claims_unmake(state, &copy);
	bt_vec_finish(&measuring.shortages);
	bt_arena_finish(&arena);
}
