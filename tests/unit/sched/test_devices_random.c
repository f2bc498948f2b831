/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random changes of claims and slices in a living scheduler, beside an API server that answers
 * late, with errors and with conflicts. After every step: no device is given to two claims, no
 * capacity and no counter is exceeded, nothing is in flight without a pod that is being bound, and
 * cached data equal data that are computed anew. Spec: 12. BERTH_TEST_LONG=<number> multiplies the
 * seeds; BERTH_TEST_SEED=<number> runs only that seed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "devices_api.h"
#include "dra/dra.h"
#include "test_main.h"

enum { SEEDS = 24, STEPS = 400, NODES = 5, POOLS = 6, SLICES = 3, DEVICES = 4, PODS_MAX = 24 };
enum { NAMED_CLAIMS = 4 };

struct run {
	struct bt_prng prng;
	struct life life;
	struct devices_api api;
	struct script script;
	uint64_t seed;
	uint32_t step;
	uint32_t pod_number;
	uint32_t claim_number;
	uint32_t generations[POOLS];
	BT_VEC(const char *) binding; /* uids of pods that are being bound */
	bool bind_is_pending;
	uint32_t bound;
	uint32_t failed;
	uint32_t freed;
};

static uint32_t below(struct run *run, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&run->prng, bound);
}

#define PICK(run, ...) \
	(((const char *const[]){__VA_ARGS__})[below( \
		(run), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))])
#define PRINT(run, ...) (bt_arena_printf(&(run)->life.arena, __VA_ARGS__).data)

/* --- devices: their number never changes, their published slices do --- */

/** The pools of devices; all slices of a pool have these values. */
static const struct pool {
	const char *driver;
	const char *name;
	const char *where; /* node selection of the slices; NULL: each device has its own */
	uint32_t slices;
	uint32_t devices; /* in each slice */
	const char *each; /* members of each device */
	const char *last; /* members of the last device of a slice; NULL: as each */
	bool has_counters;
} pools[POOLS] = {
	{"gpu", "n0", "'nodeName':'n0'", 1, 3, "'capacity':{'memory':{'value':'4'}}", NULL, false},
	{"gpu", "n1", "'nodeName':'n1'", 2, 2, "'capacity':{'memory':{'value':'4'}}",
		"'bindingConditions':['ready'],'bindingFailureConditions':['broken']", false},
	{"nic", "all", "'allNodes':true", 1, 2,
		"'allowMultipleAllocations':true,'capacity':{'memory':{'value':'4','requestPolicy':"
		"{'default':'1','validRange':{'min':'1','step':'1'}}}}",
		"'allowMultipleAllocations':true,'capacity':{'memory':{'value':'2'}}", false},
	{"mig", "zone",
		"'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator'"
		":'In','values':['a']}]}]}",
		2, 2, "'consumesCounters':[{'counterSet':'s','counters':{'slots':{'value':'2'}}}]",
		"'consumesCounters':[{'counterSet':'s','counters':{'slots':{'value':'3'}}}]", true},
	{"gpu", "each", NULL, 1, 3, "'capacity':{'memory':{'value':'4'}}", NULL, false},
	{"mig", "all", "'allNodes':true", 1, 3,
		"'allowMultipleAllocations':true,'capacity':{'memory':{'value':'3','requestPolicy':"
		"{'default':'1'}}},'consumesCounters':[{'counterSet':'s','counters':{'slots':{"
		"'value':'3'}}}]",
		"'consumesCounters':[{'counterSet':'s','counters':{'slots':{'value':'2'}}}]", true},
};
#define SLOTS_OF_A_SET 5

static int64_t slots_of(const struct pool *pool, struct bt_str device)
{
	uint32_t number = (uint32_t)(device.data[device.length - 1] - '0');
	bool is_last = number % pool->devices == pool->devices - 1;

	return strcmp(pool->name, "zone") == 0 ? 2 + is_last : 3 - is_last;
}

static void append_device(struct run *run, struct bt_strbuf *out, uint32_t pool_index,
	uint32_t slice, uint32_t number)
{
	const struct pool *pool = &pools[pool_index];
	bool is_last = number == pool->devices - 1 && pool->last != NULL;

	bt_strbuf_printf(out,
		"%s{'name':'d%u','attributes':{'model':{'string':'%s'},'numa':{'int':"
		"%u}},%s",
		number != 0 ? "," : "", slice * pool->devices + number, PICK(run, "a", "a", "b"),
		below(run, 2), is_last ? pool->last : pool->each);
	if (pool->where == NULL) {
		bt_strbuf_printf(out, ",%s",
			number == 0 ? "'allNodes':true"
				    : PRINT(run, "'nodeName':'n%u'", 2 * number - 1));
	}
	if (below(run, 6) == 0) {
		bt_strbuf_printf(out, ",'taints':[{'key':'%s','effect':'%s'}]", PICK(run, "t", "u"),
			PICK(run, "NoSchedule", "NoExecute", "None"));
	}
	if (below(run, 8) == 0) {
		bt_strbuf_append_c(out, ",'bindsToNode':true");
	}
	bt_strbuf_append_char(out, '}');
}

/** Puts a slice of the pool. The slice with the number pools[].slices has the pool's counters. */
static void put_slice(struct run *run, uint32_t pool_index, uint32_t number)
{
	const struct pool *pool = &pools[pool_index];
	struct bt_strbuf json = {0};

	bt_strbuf_printf(&json,
		"{'metadata':{'name':'%s-%s-%u','resourceVersion':'%.*s'},'spec':{'driver':'%s',"
		"'pool':{'name':'%s','generation':%u,'resourceSliceCount':%u},%s,",
		pool->driver, pool->name, number, BT_STR_ARG(devices_api_version(&run->api)),
		pool->driver, pool->name, run->generations[pool_index],
		pool->slices + pool->has_counters,
		pool->where != NULL ? pool->where : "'perDeviceNodeSelection':true");
	if (number == pool->slices) {
		bt_strbuf_printf(&json,
			"'sharedCounters':[{'name':'s','counters':{'slots':{'value':'%d'}}}]",
			SLOTS_OF_A_SET);
	} else {
		bt_strbuf_append_c(&json, "'devices':[");
		for (uint32_t i = 0; i < pool->devices; i++) {
			append_device(run, &json, pool_index, number, i);
		}
		bt_strbuf_append_char(&json, ']');
	}
	bt_strbuf_append_c(&json, "}}");
	devices_api_put_json(&run->api, BT_KIND_RESOURCE_SLICE, bt_strbuf_c(&json));
	bt_strbuf_finish(&json);
}

static uint32_t slice_count(uint32_t pool)
{
	return pools[pool].slices + pools[pool].has_counters;
}

static void put_pool(struct run *run, uint32_t pool)
{
	run->generations[pool]++;
	for (uint32_t i = 0; i < slice_count(pool); i++) {
		put_slice(run, pool, i);
	}
}

static void change_slices(struct run *run)
{
	uint32_t pool = below(run, POOLS);
	uint32_t number = below(run, slice_count(pool));

	switch (below(run, 6)) {
	case 0:
		put_pool(run, pool);
		break;
	case 1:
		devices_api_delete(&run->api, BT_KIND_RESOURCE_SLICE, BT_STR(""),
			bt_arena_printf(&run->life.arena, "%s-%s-%u", pools[pool].driver,
				pools[pool].name, number));
		break;
	default:
		/* Replaces the slice, or creates it again. */
		put_slice(run, pool, number);
		break;
	}
}

static void change_taint_rules(struct run *run)
{
	if (below(run, 2) == 0) {
		devices_api_delete(
			&run->api, BT_KIND_DEVICE_TAINT_RULE, BT_STR(""), BT_STR("rule"));
		return;
	}
	devices_api_put_json(&run->api, BT_KIND_DEVICE_TAINT_RULE,
		PRINT(run,
			"{'metadata':{'name':'rule'},'spec':{%s'taint':{'key':'%s','effect':"
			"'NoSchedule'}}}",
			PICK(run, "'deviceSelector':{'driver':'gpu'},",
				"'deviceSelector':{'pool':'all','device':'d0'},"),
			PICK(run, "t", "r")));
}

static void put_class(struct run *run, const char *name)
{
	const char *selector = "";
	const char *resource = "";

	if (strcmp(name, "gpu") == 0) {
		selector = "'selectors':[{'cel':{'expression':'device.driver == \\\"gpu\\\"'}}]";
		resource = ",'extendedResourceName':'example.com/gpu'";
	} else if (strcmp(name, "pick") == 0) {
		selector = PICK(run,
			"'selectors':[{'cel':{'expression':"
			"'device.attributes[device.driver].model == \\\"a\\\"'}}]",
			"'selectors':[{'cel':{'expression':"
			"'device.attributes[device.driver].numa > 0'}}]");
	}
	devices_api_put_json(&run->api, BT_KIND_DEVICE_CLASS,
		PRINT(run,
			"{'metadata':{'name':'%s','uid':'%s','creationTimestamp':"
			"'2026-01-01T00:00:00Z'},'spec':{%s%s%s}}",
			name, name, selector, selector[0] == '\0' && resource[0] != '\0' ? "x" : "",
			resource));
}

static void change_class(struct run *run)
{
	if (below(run, 6) == 0) {
		devices_api_delete(&run->api, BT_KIND_DEVICE_CLASS, BT_STR(""), BT_STR("gpu"));
		return;
	}
	put_class(run, PICK(run, "gpu", "pick", "pick"));
}

static void change_node(struct run *run)
{
	uint32_t number = below(run, NODES);

	if (below(run, 8) == 0 && number > 1) {
		devices_api_delete(&run->api, BT_KIND_NODE, BT_STR(""),
			bt_arena_printf(&run->life.arena, "n%u", number));
		return;
	}
	devices_api_put_json(&run->api, BT_KIND_NODE,
		PRINT(run,
			"{'metadata':{'name':'n%u','resourceVersion':'%.*s','labels':{'zone':'%s'}}"
			","
			"'spec':{'unschedulable':%s},'status':{'allocatable':{'pods':'8','cpu':"
			"'%s'%s}}}",
			number, BT_STR_ARG(devices_api_version(&run->api)), PICK(run, "a", "b"),
			below(run, 10) == 0 ? "true" : "false", PICK(run, "2", "4"),
			PICK(run, "", "", ",'example.com/gpu':'1'")));
}

/* --- claims and pods --- */

#define EXACTLY(name, class, more) \
	"{'name':'" name "','exactly':{'deviceClassName':'" class "','allocationMode':'" more "}}"
#define COUNT(number) "ExactCount','count':" #number

static const char *const claim_specs[] = {
	"'requests':[" EXACTLY("r", "any", COUNT(1)) "]",
	"'requests':[" EXACTLY("r", "gpu", COUNT(2)) "]",
	"'requests':[" EXACTLY("r", "gpu", COUNT(1)) "," EXACTLY("q", "pick", COUNT(1)) "]",
	"'requests':[" EXACTLY("r", "pick", "All'") "]",
	"'requests':[" EXACTLY("r", "any", "All','adminAccess':true") "]",
	"'requests':[" EXACTLY("r", "any", COUNT(1) ",'capacity':{'requests':{'memory':'2'}}") "]",
	"'requests':[" EXACTLY("r", "any", COUNT(3)) "],'constraints':[{'matchAttribute':"
						     "'gpu/numa'}]",
	"'requests':[" EXACTLY("r", "any",
		COUNT(1) ",'selectors':[{'cel':{'expression':"
			 "'device.driver == \\\"mig\\\"'}}]") "]",
	"'requests':[" EXACTLY("r", "any",
		COUNT(1) ",'selectors':[{'cel':{'expression':"
			 "'device.driver == \\\"nic\\\"'}}]") "]",
	"'requests':[" EXACTLY("r", "any", COUNT(1) ",'tolerations':[{'operator':'Exists'}]") "]",
	"'requests':[{'name':'r','firstAvailable':[{'name':'s','deviceClassName':'pick',"
	"'allocationMode':'ExactCount','count':2},{'name':'t','deviceClassName':'any',"
	"'allocationMode':'ExactCount','count':1}]}]",
};

/**
 * Puts a claim unless the name exists. owner: the pod that the claim is generated for; NULL: a
 * claim for any pod.
 */
static void put_claim(struct run *run, const char *name, const char *owner)
{
	const char *references = "";

	if (devices_api_claim(&run->api, BT_STR("default"), bt_str_from(name)) != NULL) {
		return;
	}
	if (owner != NULL) {
		references = PRINT(run,
			",'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'%s','uid':"
			"'uid-%s','controller':true}]",
			owner, owner);
	}
	devices_api_put_json(&run->api, BT_KIND_RESOURCE_CLAIM,
		PRINT(run,
			"{'metadata':{'name':'%s','namespace':'default','uid':'uid-%s-%u',"
			"'resourceVersion':'%.*s'%s},'spec':{'devices':{%s}}}",
			name, name, ++run->claim_number, BT_STR_ARG(devices_api_version(&run->api)),
			references, claim_specs[below(run, BT_ARRAY_LENGTH(claim_specs))]));
}

static const char *named_claim(struct run *run)
{
	return PRINT(run, "c%u", below(run, NAMED_CLAIMS));
}

static void create_pod(struct run *run)
{
	const char *name = PRINT(run, "p%u", run->pod_number++);
	const char *own = "";
	const char *status = "";
	uint32_t kind = below(run, 6);

	if (bt_object_store_count(&run->api.objects, BT_KIND_POD) == PODS_MAX) {
		return;
	}
	if (kind < 3) {
		own = PRINT(run, "{'name':'own','resourceClaimName':'own-%s'}", name);
		put_claim(run, PRINT(run, "own-%s", name), NULL);
	} else if (kind == 3) {
		own = "{'name':'own','resourceClaimTemplateName':'t'}";
		status = PRINT(run,
			"'resourceClaimStatuses':[{'name':'own','resourceClaimName':'own-%s'}]",
			name);
		put_claim(run, PRINT(run, "own-%s", name), name);
	}
	const char *other = kind != 5 && below(run, 2) == 0
		? PRINT(run, "%s{'name':'other','resourceClaimName':'%s'}",
			  own[0] != '\0' ? "," : "", named_claim(run))
		: "";
	devices_api_put_json(&run->api, BT_KIND_POD,
		PRINT(run,
			"{'metadata':{'name':'%s','namespace':'default','uid':'uid-%s',"
			"'resourceVersion':'%.*s'},'spec':{'priority':%u,'resourceClaims':[%s%s],"
			"'containers':[{'name':'c','resources':{'requests':{'cpu':'%s'%s}}}]},"
			"'status':{%s}}",
			name, name, BT_STR_ARG(devices_api_version(&run->api)), below(run, 3), own,
			other, PICK(run, "100m", "500m", "1"),
			kind == 5 ? ",'example.com/gpu':'1'" : "", status));
}

/** Returns the name of some pod; "": there is none. */
static struct bt_str some_name(struct run *run, enum bt_kind kind, struct bt_str *out_namespace)
{
	uint32_t count = bt_object_store_count(&run->api.objects, kind);
	uint32_t cursor = 0;
	const void *found = NULL;

	for (uint32_t i = count != 0 ? 1 + below(run, count) : 0; i > 0; i--) {
		found = bt_object_store_next(&run->api.objects, kind, (struct bt_str){0}, &cursor);
	}
	if (found == NULL) {
		return BT_STR("");
	}
	*out_namespace = kind == BT_KIND_POD
		? ((const struct bt_pod *)found)->metadata.namespace_
		: ((const struct bt_resource_claim *)found)->metadata.namespace_;
	return bt_arena_str(&run->life.arena,
		kind == BT_KIND_POD ? ((const struct bt_pod *)found)->metadata.name
				    : ((const struct bt_resource_claim *)found)->metadata.name);
}

static void delete_pod(struct run *run)
{
	struct bt_str namespace_;
	struct bt_str name = some_name(run, BT_KIND_POD, &namespace_);

	if (name.length != 0) {
		devices_api_delete(&run->api, BT_KIND_POD, namespace_, name);
	}
}

/* --- the controllers --- */

static bool pod_exists(struct run *run, struct bt_str uid)
{
	return devices_api_pod(&run->api, uid) != NULL;
}

/**
 * Removes deleted pods from reservedFor. If no pod is left, the claim is deleted if its owner is
 * deleted, and deallocated otherwise.
 */
static void tidy_claim(struct run *run, const struct bt_resource_claim *claim)
{
	struct bt_resource_claim stored = *claim;
	struct bt_resource_claim_consumer_reference *kept =
		BT_ARENA_NEW_ARRAY(&run->life.arena, struct bt_resource_claim_consumer_reference,
			(size_t)claim->status.reserved_for.count + 1);
	uint32_t count = 0;
	bool is_orphan = claim->metadata.owner_references.count != 0 &&
		!pod_exists(run, claim->metadata.owner_references.items[0].uid);

	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		if (pod_exists(run, claim->status.reserved_for.items[i].uid)) {
			kept[count++] = claim->status.reserved_for.items[i];
		}
	}
	if (is_orphan && count == 0) {
		devices_api_delete(&run->api, BT_KIND_RESOURCE_CLAIM, claim->metadata.namespace_,
			claim->metadata.name);
		return;
	}
	if (count == claim->status.reserved_for.count &&
		(count != 0 || claim->status.allocation == NULL)) {
		return;
	}
	stored.status.reserved_for.items = kept;
	stored.status.reserved_for.count = count;
	if (count == 0 && stored.status.allocation != NULL) {
		stored.status.allocation = NULL;
		stored.status.devices.count = 0;
		run->freed++;
	}
	devices_api_put_claim(&run->api, stored);
}

/** Writes the driver's conditions of a device. */
static void set_conditions(struct run *run, const struct bt_resource_claim *claim)
{
	struct bt_resource_claim stored = *claim;
	struct bt_allocated_device_status *status;
	struct bt_condition *condition;
	const struct bt_device_request_allocation_result *result;

	if (claim->status.allocation == NULL) {
		return;
	}
	for (uint32_t i = 0; i < claim->status.allocation->devices.results.count; i++) {
		result = &claim->status.allocation->devices.results.items[i];
		if (result->binding_conditions.count == 0) {
			continue;
		}
		status = BT_ARENA_NEW(&run->life.arena, struct bt_allocated_device_status);
		condition = BT_ARENA_NEW(&run->life.arena, struct bt_condition);
		*condition = (struct bt_condition){
			.type = below(run, 4) == 0 ? BT_STR("broken") : BT_STR("ready"),
			.status = BT_STR("True"),
			.reason = BT_STR("R")};
		*status = (struct bt_allocated_device_status){
			.driver = result->driver, .pool = result->pool, .device = result->device};
		status->conditions.items = condition;
		status->conditions.count = 1;
		stored.status.devices.items = status;
		stored.status.devices.count = 1;
		devices_api_put_claim(&run->api, stored);
		return;
	}
}

static void tidy_claims(struct run *run)
{
	uint32_t count = bt_object_store_count(&run->api.objects, BT_KIND_RESOURCE_CLAIM);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str namespace_;
		struct bt_str name = some_name(run, BT_KIND_RESOURCE_CLAIM, &namespace_);

		if (name.length != 0) {
			tidy_claim(run, devices_api_claim(&run->api, namespace_, name));
		}
	}
}

static void change_claim(struct run *run)
{
	struct bt_str namespace_;
	struct bt_str name = some_name(run, BT_KIND_RESOURCE_CLAIM, &namespace_);
	const struct bt_resource_claim *claim =
		name.length != 0 ? devices_api_claim(&run->api, namespace_, name) : NULL;

	if (claim == NULL || below(run, 4) == 0) {
		put_claim(run, named_claim(run), NULL);
		return;
	}
	switch (below(run, 4)) {
	case 0:
		if (claim->status.reserved_for.count == 0) {
			devices_api_delete(&run->api, BT_KIND_RESOURCE_CLAIM, namespace_, name);
		}
		break;
	case 1:
		/* Another client writes the claim: only the version changes. */
		devices_api_put_claim(&run->api, *claim);
		break;
	default:
		set_conditions(run, claim);
		break;
	}
}

/* --- attempts --- */

static void note_binding(struct run *run, struct bt_str uid, bool is_under_way)
{
	for (uint32_t i = (uint32_t)run->binding.count; i > 0; i--) {
		if (bt_str_equal_c(uid, run->binding.items[i - 1])) {
			run->binding.items[i - 1] = run->binding.items[--run->binding.count];
		}
	}
	if (is_under_way) {
		bt_vec_push(&run->binding, bt_arena_str(&run->life.arena, uid).data);
	} else {
		devices_api_drop(&run->api, uid);
	}
}

static void take_attempt(struct run *run, const struct bt_attempt *attempt)
{
	const struct bt_pod *found;
	struct bt_pod pod;

	if (attempt->outcome == BT_ATTEMPT_IDLE) {
		return;
	}
	note_binding(run, attempt->uid, attempt->outcome == BT_ATTEMPT_WAITING);
	run->failed += attempt->outcome == BT_ATTEMPT_FAILED;
	found = devices_api_pod(&run->api, attempt->uid);
	if (attempt->outcome == BT_ATTEMPT_BOUND && found != NULL) {
		run->bound++;
		pod = *found;
		pod.spec.node_name = attempt->node_name;
		devices_api_put_pod(&run->api, pod);
	}
	if (run->api.is_urgent) {
		devices_api_deliver_all(&run->api);
	}
}

/** Draws failures of plugins other than DynamicResources. */
static void draw_failures(struct run *run)
{
	struct fake *fake = &run->script.fake;

	fake_answer(fake, FAKE_RESERVE, BT_STATUS_SUCCESS, NULL);
	fake_answer(fake, FAKE_PERMIT, BT_STATUS_SUCCESS, NULL);
	fake_answer(fake, FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	run->life.bind_error = NULL;
	run->life.bind_is_pending = false;
	if (run->api.is_calm) {
		return;
	}
	switch (below(run, 24)) {
	case 0:
		fake_answer(fake, FAKE_RESERVE, BT_STATUS_UNSCHEDULABLE, "no");
		break;
	case 1:
		fake_answer(fake, FAKE_PERMIT, BT_STATUS_UNSCHEDULABLE, "no");
		break;
	case 2:
		fake_fail(fake, FAKE_PRE_BIND, "no");
		break;
	case 3:
		run->life.bind_error = "no";
		break;
	case 4:
		fake->timeout_ns = 20 * LIFE_SECOND;
		fake_answer(fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
		break;
	case 5:
	case 6:
		run->life.bind_is_pending = true;
		break;
	default:
		break;
	}
}

static void schedule(struct run *run)
{
	draw_failures(run);
	struct bt_attempt attempt = life_schedule(&run->life);
	take_attempt(run, &attempt);
}

static void finish_waiting(struct run *run)
{
	struct bt_attempt attempt;

	do {
		draw_failures(run);
		attempt = life_finish_waiting(&run->life);
		take_attempt(run, &attempt);
	} while (attempt.outcome != BT_ATTEMPT_IDLE);
}

static void answer(struct run *run)
{
	devices_api_answer(&run->api, run->api.is_calm);
	for (uint32_t i = 0; i < run->binding.count; i++) {
		if (run->api.is_calm || below(run, 3) == 0) {
			bt_scheduler_resume(
				run->life.scheduler, bt_str_from(run->binding.items[i]));
		}
	}
	finish_waiting(run);
}

/* --- invariants --- */

struct holder {
	struct bt_str driver;
	struct bt_str pool;
	struct bt_str device;
	bool is_shared;
	int64_t memory;
};
typedef BT_VEC(struct holder) holder_vec;

BT_PRINTF(2, 3)
static void broken(const struct run *run, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ck_abort_msg("seed %" PRIu64 ", step %u: %s", run->seed, run->step, text);
}

static const struct pool *pool_of(const struct holder *holder)
{
	for (uint32_t i = 0; i < POOLS; i++) {
		if (bt_str_equal_c(holder->driver, pools[i].driver) &&
			bt_str_equal_c(holder->pool, pools[i].name)) {
			return &pools[i];
		}
	}
	return NULL;
}

static int64_t memory_of(const struct holder *holder)
{
	const struct pool *pool = pool_of(holder);

	if (bt_str_equal_c(holder->driver, "mig")) {
		return 3;
	}
	return bt_str_equal_c(holder->device, pool->last != NULL ? "d1" : "") ? 2 : 4;
}

static void hold(
	struct run *run, holder_vec *holders, const struct bt_allocation_result *allocation)
{
	for (uint32_t i = 0; i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		const struct bt_quantity *memory =
			bt_resource_list_find(&result->consumed_capacity, BT_STR("memory"));
		struct holder holder = {result->driver, result->pool, result->device,
			result->share_id.data != NULL,
			memory != NULL ? bt_quantity_value(memory) : 0};
		int64_t sum = holder.memory;

		if (result->admin_access.present && result->admin_access.value) {
			continue;
		}
		for (uint32_t k = 0; k < holders->count; k++) {
			const struct holder *other = &holders->items[k];

			if (!bt_str_equal(holder.driver, other->driver) ||
				!bt_str_equal(holder.pool, other->pool) ||
				!bt_str_equal(holder.device, other->device)) {
				continue;
			}
			if (!holder.is_shared || !other->is_shared) {
				broken(run, "%.*s/%.*s/%.*s is given twice",
					BT_STR_ARG(holder.driver), BT_STR_ARG(holder.pool),
					BT_STR_ARG(holder.device));
			}
			sum += other->memory;
		}
		if (holder.is_shared && sum > memory_of(&holder)) {
			broken(run, "%" PRId64 " of the capacity of %.*s/%.*s/%.*s", sum,
				BT_STR_ARG(holder.driver), BT_STR_ARG(holder.pool),
				BT_STR_ARG(holder.device));
		}
		bt_vec_push(holders, holder);
	}
}

static void check_counters(struct run *run, const holder_vec *holders)
{
	for (uint32_t p = 0; p < POOLS; p++) {
		int64_t used = 0;

		for (uint32_t i = 0; i < holders->count; i++) {
			const struct holder *holder = &holders->items[i];
			bool is_first = true;

			for (uint32_t k = 0; k < i; k++) {
				is_first = is_first &&
					(pool_of(&holders->items[k]) != pool_of(holder) ||
						!bt_str_equal(
							holder->device, holders->items[k].device));
			}
			if (is_first && pool_of(holder) == &pools[p] && pools[p].has_counters) {
				used += slots_of(&pools[p], holder->device);
			}
		}
		if (used > SLOTS_OF_A_SET) {
			broken(run, "%" PRId64 " slots of %s/%s", used, pools[p].driver,
				pools[p].name);
		}
	}
}

/** Finds the API's claim for a claim in flight; NULL: there is none, or it has no allocation. */
static const struct bt_resource_claim *stored_claim(
	struct run *run, const struct bt_resource_claim *claim)
{
	const struct bt_resource_claim *found;
	uint32_t cursor = 0;

	if (claim->metadata.generate_name.length == 0) {
		return devices_api_claim(
			&run->api, claim->metadata.namespace_, claim->metadata.name);
	}
	/*
	 * A claim for extended resources has no name while it is in flight: compare generateName.
	 */
	while ((found = bt_object_store_next(&run->api.objects, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){0}, &cursor)) != NULL) {
		if (found->status.allocation != NULL &&
			bt_str_equal(
				found->metadata.generate_name, claim->metadata.generate_name)) {
			return found;
		}
	}
	return NULL;
}

/** Checks the API's claims, and the allocations in flight that the API does not have yet. */
static void check_devices(struct run *run)
{
	const struct bt_claim_cache *cache =
		&bt_scheduler_engine(run->life.scheduler)->state->dra->claims;
	const struct bt_resource_claim *claim;
	holder_vec holders = {0};
	uint32_t cursor = 0;
	uint32_t in_flight = 0;

	while ((claim = bt_object_store_next(&run->api.objects, BT_KIND_RESOURCE_CLAIM,
			(struct bt_str){0}, &cursor)) != NULL) {
		if (claim->status.allocation != NULL) {
			hold(run, &holders, claim->status.allocation);
		}
	}
	for (uint32_t i = 0; i < cache->in_flight.count; i++) {
		const struct bt_in_flight_claim *entry = &cache->in_flight.items[i];

		if (entry->claim == NULL) {
			continue;
		}
		in_flight++;
		claim = bt_object_value(entry->claim, BT_KIND_RESOURCE_CLAIM);
		const struct bt_resource_claim *stored = stored_claim(run, claim);
		if (stored == NULL || stored->status.allocation == NULL) {
			hold(run, &holders, claim->status.allocation);
		}
	}
	check_counters(run, &holders);
	if (in_flight != 0 && run->binding.count == 0) {
		broken(run, "%u claims in flight, and no pod is being bound", in_flight);
	}
	bt_vec_finish(&holders);
}

static void check(struct run *run)
{
	struct bt_state *state = bt_scheduler_engine(run->life.scheduler)->state;
	struct bt_strbuf reason = {0};

	ck_assert_int_eq(bt_state_refresh_snapshot(state, NULL), 0);
	if (!bt_dra_validate(state->dra, &reason)) {
		broken(run, "%s", bt_strbuf_c(&reason));
	}
	bt_strbuf_finish(&reason);
	check_devices(run);
}

static bool same_status(const struct bt_resource_claim *a, const struct bt_resource_claim *b)
{
	const struct bt_allocation_result none = {0};

	return (a->status.allocation == NULL) == (b->status.allocation == NULL) &&
		a->status.reserved_for.count == b->status.reserved_for.count &&
		a->status.devices.count == b->status.devices.count &&
		bt_message_equal(&bt_allocation_result_message,
			a->status.allocation != NULL ? a->status.allocation : &none,
			b->status.allocation != NULL ? b->status.allocation : &none);
}

/**
 * When all changes are delivered and all writes are answered, the cache must equal the API's
 * objects.
 */
static void check_rest(struct run *run)
{
	const struct bt_claim_cache *cache =
		&bt_scheduler_engine(run->life.scheduler)->state->dra->claims;
	uint32_t cursor = 0;
	struct bt_object *object;

	run->api.is_calm = true;
	for (int i = 0; i < 200; i++) {
		devices_api_deliver_all(&run->api);
		answer(run);
		life_advance(&run->life, 10);
	}
	devices_api_deliver_all(&run->api);
	if (run->binding.count != 0 || run->api.calls.count != 0) {
		broken(run, "%s is still being bound", run->binding.items[0]);
	}
	check(run);
	while ((object = bt_claim_cache_next(cache, &cursor)) != NULL) {
		const struct bt_resource_claim *stored =
			devices_api_claim(&run->api, object->meta->namespace_, object->meta->name);

		/*
		 * A restored claim may be one version older, if the newer version was equal to the
		 * assumed claim.
		 */
		if (stored == NULL || !bt_str_equal(stored->metadata.uid, object->meta->uid) ||
			!same_status(stored, bt_object_value(object, BT_KIND_RESOURCE_CLAIM))) {
			broken(run, "claim %.*s is not the one of the API",
				BT_STR_ARG(object->meta->name));
		}
	}
}

/* --- runs --- */

static void take_step(struct run *run)
{
	switch (below(run, 30)) {
	case 0:
		change_node(run);
		break;
	case 1:
	case 2:
		change_slices(run);
		break;
	case 3:
		change_class(run);
		break;
	case 4:
		change_taint_rules(run);
		break;
	case 5:
	case 6:
	case 7:
		create_pod(run);
		break;
	case 8:
	case 9:
		delete_pod(run);
		break;
	case 10:
	case 11:
		change_claim(run);
		break;
	case 12:
	case 13:
		tidy_claims(run);
		break;
	case 14:
	case 15:
	case 16:
		answer(run);
		break;
	case 17:
	case 18:
		life_advance(&run->life, 1 + below(run, 15));
		finish_waiting(run);
		break;
	case 19:
		devices_api_deliver_all(&run->api);
		break;
	case 20:
	case 21:
	case 22:
		(void)devices_api_deliver(&run->api);
		(void)devices_api_deliver(&run->api);
		break;
	default:
		schedule(run);
		break;
	}
}

static void init(struct run *run, uint64_t seed)
{
	struct bt_scheduler_writer writer = {
		.delete_pod = devices_api_delete_victim, .context = &run->api};
	struct script *scripts[] = {&run->script};

	*run = (struct run){.seed = seed};
	bt_prng_init(&run->prng, seed);
	devices_api_init(&run->api, &run->life, &run->prng);
	run->script = script_make("X",
		FAKE_ROLE(FAKE_RESERVE) | FAKE_ROLE(FAKE_PERMIT) | FAKE_ROLE(FAKE_PRE_BIND),
		SCRIPT_PLAIN);
	writer.claims = &run->api.claims;
	life_init_writing(&run->life,
		seed % 2 == 0 ? "DRADeviceTaintRules=true" : "SchedulerAsyncAPICalls=false",
		"NodeUnschedulable, NodeAffinity:2, NodeResourcesFit:1, DynamicResources:2, X, "
		"DefaultPreemption, NodeResourcesBalancedAllocation:1, SchedulingGates",
		scripts, 1, &writer);
	for (uint32_t i = 0; i < 2 * NODES; i++) {
		change_node(run);
	}
	for (uint32_t i = 0; i < POOLS; i++) {
		put_pool(run, i);
	}
	put_class(run, "any");
	put_class(run, "gpu");
	put_class(run, "pick");
	devices_api_deliver_all(&run->api);
}

static void run_seed(struct run *run, uint64_t seed)
{
	(void)printf("seed %" PRIu64 ":", seed);
	(void)fflush(stdout);
	init(run, seed);
	for (run->step = 0; run->step < STEPS; run->step++) {
		take_step(run);
		check(run);
	}
	check_rest(run);
	(void)printf(" %u bound, %u failed, %u claims freed; writes: %u done, %u late, %u failed, "
		     "%u failed but done, %u conflicts, %u refused\n",
		run->bound, run->failed, run->freed, run->api.counts[0], run->api.counts[1],
		run->api.counts[2], run->api.counts[3], run->api.counts[4], run->api.counts[5]);
	bt_vec_finish(&run->binding);
	life_finish(&run->life);
	devices_api_finish(&run->api);
}

static uint64_t number_from_environment(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

START_TEST(test_devices_random__nothing_is_given_twice_or_lost)
{
	struct run *run = BT_NEW(struct run);
	uint64_t only = number_from_environment("BERTH_TEST_SEED");
	uint64_t factor = number_from_environment("BERTH_TEST_LONG");
	uint64_t count = SEEDS * (factor != 0 ? factor : 1);

	for (uint64_t seed = only != 0 ? only : 1; seed <= (only != 0 ? only : count); seed++) {
		run_seed(run, seed);
	}
	bt_free(run);
}
END_TEST

BT_TEST_MAIN("devices_random", test_devices_random__nothing_is_given_twice_or_lost)
