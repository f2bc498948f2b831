/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DRA_ALLOCATOR_FIXTURE_H
#define BT_TESTS_UNIT_DRA_ALLOCATOR_FIXTURE_H
/** Nodes, slices, classes and claims in JSON with single quotes; the allocator's result as text. */
#include "api/node.h"
#include "codec/json.h"
#include "dra/allocator.h"
#include "dra/device_pools.h"
#include "dra_fixture.h"

#define CLAIMS_MAX 8U

struct world {
	struct dra_fixture f;
	struct bt_object *claims[CLAIMS_MAX]; /* claims to allocate */
	uint32_t claim_count;
	uint32_t number; /* number of held claims, for their names */
	struct bt_strbuf text;
	bool (*is_over)(void *context);
};

static inline void world_init_with(struct world *w, const struct bt_gates *gates)
{
	*w = (struct world){0};
	dra_fixture_init_with(&w->f, gates);
}

static inline void world_init(struct world *w)
{
	struct bt_gates gates = bt_gates_default();

	world_init_with(w, &gates);
}

static inline void world_drop_claims(struct world *w)
{
	for (uint32_t i = 0; i < w->claim_count; i++) {
		bt_object_release(w->claims[i]);
	}
	w->claim_count = 0;
}

static inline void world_finish(struct world *w)
{
	world_drop_claims(w);
	bt_strbuf_finish(&w->text);
	dra_fixture_finish(&w->f);
}

static inline void add_node(struct world *w, const char *name, const char *labels)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *node =
		make_object(BT_KIND_NODE, "{'metadata':{'name':'%s','labels':{%s}}}", name, labels);

	bt_state_add_node(w->f.state, node->value);
	bt_object_release(node);
	if (bt_state_refresh_snapshot(w->f.state, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
}

/** Adds a slice. scope: 'nodeName':'n1' or the like; devices: the list without brackets. */
static inline void add_slice(struct world *w, const char *name, const char *driver,
	const char *pool, int generation, int count, const char *scope, const char *devices)
{
	PUT(&w->f, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'%s'},'spec':{'driver':'%s','pool':{'name':'%s',"
		"'generation':%d,'resourceSliceCount':%d},%s,'devices':[%s]}}",
		name, driver, pool, generation, count, scope, devices);
}

static inline void add_counters(struct world *w, const char *name, const char *driver,
	const char *pool, int generation, int count, const char *sets)
{
	PUT(&w->f, BT_KIND_RESOURCE_SLICE,
		"{'metadata':{'name':'%s'},'spec':{'driver':'%s','pool':{'name':'%s',"
		"'generation':%d,'resourceSliceCount':%d},'nodeName':'n1','sharedCounters':[%s]}}",
		name, driver, pool, generation, count, sets);
}

static inline void add_class(struct world *w, const char *name, const char *spec)
{
	PUT(&w->f, BT_KIND_DEVICE_CLASS, "{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);
}

/** Adds one more claim to allocate: default/c0, c1, ... */
static inline void add_claim(struct world *w, const char *devices)
{
	ck_assert_uint_lt(w->claim_count, CLAIMS_MAX);
	w->claims[w->claim_count] = make_object(BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'c%u','namespace':'default','uid':'u%u'},'spec':{'devices':{"
		"%s}}}",
		w->claim_count, w->claim_count, devices);
	w->claim_count++;
}

/**
 * Adds a claim of another pod that holds devices. results: list items of the results in
 * status.allocation.
 */
static inline void add_allocated(struct world *w, const char *results)
{
	uint32_t number = w->number++;

	PUT(&w->f, BT_KIND_RESOURCE_CLAIM,
		"{'metadata':{'name':'held%u','namespace':'other','uid':'h%u'},'status':{"
		"'allocation':{'devices':{'results':[%s]}}}}",
		number, number, results);
}

static inline void append_result(struct bt_strbuf *out, const struct bt_allocation_result *result)
{
	for (uint32_t i = 0; i < result->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *item =
			&result->devices.results.items[i];
		bt_strbuf_printf(out, "%s%.*s=%.*s/%.*s", i == 0 ? "" : " ",
			BT_STR_ARG(item->request), BT_STR_ARG(item->pool),
			BT_STR_ARG(item->device));
		if (item->admin_access.present && item->admin_access.value) {
			bt_strbuf_append_c(out, "(admin)");
		}
		for (uint32_t k = 0; k < item->consumed_capacity.count; k++) {
			bt_strbuf_printf(
				out, "(%.*s ", BT_STR_ARG(item->consumed_capacity.items[k].name));
			bt_quantity_format(&item->consumed_capacity.items[k].quantity, out);
			bt_strbuf_append_char(out, ')');
		}
	}
}

static inline void append_choice(struct world *w, const struct bt_allocator *allocator,
	const struct bt_allocation_choice *choice, bool as_json)
{
	for (uint32_t c = 0; c < w->claim_count; c++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_allocation_result result;
		if (bt_allocation_choice_result(
			    allocator, choice, c, NULL, &w->f.arena, &result, &err) != 0) {
			bt_strbuf_printf(&w->text, "error: %s", berth_error_message(&err));
			berth_error_finish(&err);
			return;
		}
		bt_strbuf_append_c(&w->text, c == 0 ? "" : "; ");
		if (as_json) {
			struct bt_json_writer writer;
			bt_json_writer_init(&writer, &w->text, 0);
			bt_message_encode_json(&bt_allocation_result_message, &writer, &result);
		} else {
			append_result(&w->text, &result);
		}
	}
}

static inline const char *allocate_as(struct world *w, const char *node_name, bool as_json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_allocator_options options = {.is_over = w->is_over, .verify = true};
	const struct bt_resource_claim *claims[CLAIMS_MAX];
	const struct bt_allocation_choice *choice = NULL;
	struct bt_allocator *allocator;
	uint32_t slot = bt_node_table_find(&w->f.state->nodes, bt_str_from(node_name));

	bt_arena_reset(&w->f.arena);
	bt_strbuf_reset(&w->text);
	for (uint32_t i = 0; i < w->claim_count; i++) {
		claims[i] = bt_object_value(w->claims[i], BT_KIND_RESOURCE_CLAIM);
	}
	allocator = bt_allocator_create(w->f.dra, &options, &w->f.arena);
	switch (bt_allocator_allocate(allocator, slot, claims, w->claim_count, &choice, &err)
			.outcome) {
	case BT_ALLOCATION_FOUND:
		append_choice(w, allocator, choice, as_json);
		break;
	case BT_ALLOCATION_NONE:
		bt_strbuf_append_c(&w->text, "none");
		break;
	case BT_ALLOCATION_INVALID_POOL:
		bt_strbuf_append_c(&w->text, "invalid pool");
		break;
	case BT_ALLOCATION_OVER:
		bt_strbuf_append_c(&w->text, "over");
		break;
	case BT_ALLOCATION_ERROR:
		bt_strbuf_printf(&w->text, "error: %s", berth_error_message(&err));
		break;
	}
	berth_error_finish(&err);
	return bt_strbuf_c(&w->text);
}

/**
 * Allocates the claims. Returns the devices by request, claims separated by ";" ("r=p1/a r=p1/b;
 * r=..."), or "none", "invalid pool", "over" (is_over aborted the search) or "error: ...". The text
 * is valid until the next call.
 */
static inline const char *allocate(struct world *w, const char *node_name)
{
	return allocate_as(w, node_name, false);
}

#define ON_N1 "'nodeName':'n1'"

/** Starts with pool d/p1 of these devices on node n1, and class c, which matches every device. */
static inline void begin(struct world *w, const char *devices)
{
	world_init(w);
	add_node(w, "n1", "");
	add_class(w, "c", "");
	add_slice(w, "s1", "d", "p1", 1, 1, ON_N1, devices);
}

static inline void begin_with_gate(
	struct world *w, enum bt_gate gate, bool value, const char *devices)
{
	struct bt_gates gates = bt_gates_default();

	gates.enabled[gate] = value;
	world_init_with(w, &gates);
	add_node(w, "n1", "");
	add_class(w, "c", "");
	add_slice(w, "s1", "d", "p1", 1, 1, ON_N1, devices);
}

static inline void expect(struct world *w, const char *wanted)
{
	ck_assert_str_eq(allocate(w, "n1"), wanted);
}

/** Replaces the claims by one claim with these requests and compares the allocation. */
static inline void expect_for(struct world *w, const char *devices, const char *wanted)
{
	world_drop_claims(w);
	add_claim(w, devices);
	expect(w, wanted);
}

/* Requests of class c. */
#define EXACT(name, count) \
	"{'name':'" name "','exactly':{'deviceClassName':'c','allocationMode':'ExactCount'," \
	"'count':" count "}}"
#define EXACT_WITH(name, count, more) \
	"{'name':'" name "','exactly':{'deviceClassName':'c','allocationMode':'ExactCount'," \
	"'count':" count "," more "}}"
#define ALL(name) "{'name':'" name "','exactly':{'deviceClassName':'c','allocationMode':'All'}}"
#define SUB(name, count) \
	"{'name':'" name "','deviceClassName':'c','allocationMode':'ExactCount','count':" count "}"
#define REQUESTS(...) "'requests':[" __VA_ARGS__ "]"
#define HELD(pool, device) "{'request':'x','driver':'d','pool':'" pool "','device':'" device "'}"
#define SELECTOR(expression) "'selectors':[{'cel':{'expression':'" expression "'}}]"
#define MATCH(requests, attribute) \
	"'constraints':[{'requests':[" requests "],'matchAttribute':'" attribute "'}]"
#define DISTINCT(requests, attribute) \
	"'constraints':[{'requests':[" requests "],'distinctAttribute':'" attribute "'}]"
#endif
