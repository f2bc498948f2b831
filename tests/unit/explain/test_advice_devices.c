/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Advice about devices: its text, its numbers against plain counts, and the pods that it proposes
 * to remove.
 */
#include "base/prng.h"
#include "explain/advice.h"
#include "test_main.h"
#include "town.h"

#define OBJECTS_MAX 8

/** Nodes n1 and n2 are in every cluster. */
struct row {
	const char *name;
	const char *objects[OBJECTS_MAX]; /* pods and others */
	const char *pod;
	const char *obstacles; /* expected for n1 */
	const char *proposals; /* first proposal; NULL: not compared */
};

#define CLASS(name, selectors) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'" name \
	"'},'spec':{'selectors':[" selectors "]}}"
#define CEL(expression) "{'cel':{'expression':'" expression "'}}"
#define DEVICE(name, more) "{'name':'" name "'" more "}"
#define MODEL(model) ",'attributes':{'m':{'int':" model "}}"
#define TAINT(key) ",'taints':[{'key':'" key "','value':'v','effect':'NoSchedule'}]"
#define SLICE_OF(node, count, generation, devices) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'" node \
	"-s'},'spec':{'driver':'d','nodeName':'" node "','pool':{'name':'" node \
	"','generation':" generation ",'resourceSliceCount':" count "},'devices':[" devices "]}}"
#define SLICE(node, devices) SLICE_OF(node, "1", "1", devices)
#define REQUEST(name, class, more) \
	"{'name':'" name \
	"','exactly':{'deviceClassName':'" class "','allocationMode':'ExactCount'" more "}}"
#define CLAIM_OF(name, meta, requests, constraints, status) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{" \
	"'namespace':'default','name':'" name "','uid':'u-" name "'" meta \
	"},'spec':{'devices':{'requests':[" requests "]" constraints "}},'status':{" status "}}"
#define CLAIM(name, requests) CLAIM_OF(name, "", requests, "", "")
#define ON(node) \
	",'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name'," \
	"'operator':'In','values':['" node "']}]}]}"
#define HELD(name, device, node, pod_uid) \
	CLAIM_OF(name, "", REQUEST("r", "c", ",'count':1"), "", \
		"'allocation':{'devices':{'results':[{'request':'r','driver':'d','pool':'" node \
		"','device':'" device "'}]}" ON(node) "},'reservedFor':[{'resource':'pods'," \
						      "'name':'x','uid':'" pod_uid "'}]")
#define RUNS(name, node) \
	"{'kind':'Pod','metadata':{'name':'" name "','uid':'u-" name \
	"'},'spec':{'nodeName':'" node "'}}"
#define USES(claim) \
	"{'metadata':{'name':'p','uid':'u-p'},'spec':{'resourceClaims':[{'name':'g'," \
	"'resourceClaimName':'" claim "'}]}}"
#define FROM_TEMPLATE(status) \
	"{'metadata':{'name':'p','uid':'u-p'},'spec':{'resourceClaims':[{'name':'g'," \
	"'resourceClaimTemplateName':'t'}]},'status':{" status "}}"
#define MADE(claim) "'resourceClaimStatuses':[{'name':'g','resourceClaimName':'" claim "'}]"
#define HAVE "request r of claim k wants "

static const struct row rows[] = {
	{"no such claim", {NULL}, USES("k"),
		"DynamicResources: ResourceClaim default/k does not exist: create it\n", ""},
	{"no such template", {NULL}, FROM_TEMPLATE(""),
		"DynamicResources: ResourceClaimTemplate default/t does not exist: create it, and "
		"the claim is made from it\n",
		""},
	{"claim not made yet",
		{"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaimTemplate','metadata':{"
		 "'namespace':'default','name':'t'},'spec':{'spec':{'devices':{}}}}"},
		FROM_TEMPLATE(""),
		"DynamicResources: the claim of template t is not created yet: wait for the "
		"resourceclaim-controller of kube-controller-manager, or look into its log\n",
		""},
	{"claim of another pod",
		{CLAIM_OF("k",
			",'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'q',"
			"'uid':'u-q','controller':true}]",
			REQUEST("r", "c", ",'count':1"), "", "")},
		FROM_TEMPLATE(MADE("k")),
		"DynamicResources: claim k belongs to another pod, q: delete that pod or the "
		"claim\n",
		""},
	{"claim that is being deleted",
		{CLAIM_OF("k", ",'deletionTimestamp':'2026-01-01T00:00:00Z'",
			REQUEST("r", "c", ",'count':1"), "", "")},
		USES("k"),
		"DynamicResources: claim k is being deleted: once the pods that use it are gone, "
		"create it again\n",
		""},
	{"no such class", {CLAIM("k", REQUEST("r", "none", ",'count':1"))}, USES("k"),
		"DynamicResources: DeviceClass none does not exist: create it, or let request r of "
		"claim k name another\n",
		""},
	{"no devices", {CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':1"))}, USES("k"),
		"DynamicResources: request r of claim k finds no devices here\n", ""},
	{"what the class selects",
		{CLASS("c", CEL("device.driver == \\\"e\\\"")),
			CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", "") "," DEVICE("b", ""))},
		USES("k"),
		"DynamicResources: " HAVE "1 and can have 0 of 2 devices, 2 are not what the class "
		"selects (device.driver == \"e\")\n",
		""},
	{"what the request selects, on one line and cut",
		{CLASS("c", ""),
			CLAIM("k",
				REQUEST("r", "c",
					",'count':1,'selectors':[" CEL(
						"false ||\\n\\t  false || false || false || false "
						"|| false || false || false || false || false || "
						"false || false || false || false || false") "]")),
			SLICE("n1", DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: " HAVE "1 and can have 0 of 1 device, 1 is not what the request "
		"selects (false || false || false || false || false || false || false || false || "
		"false || false || false || false || false || fal...)\n",
		""},
	{"tainted",
		{CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", TAINT("broken")))},
		USES("k"),
		"DynamicResources: " HAVE "1 and can have 0 of 1 device, 1 has a taint that is not "
		"tolerated (broken=v:NoSchedule)\n",
		""},
	{"in use, and who leaves",
		{CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", "")), HELD("h", "a", "n1", "u-x"), RUNS("w", "n1"),
			RUNS("x", "n1")},
		USES("k"),
		"DynamicResources: " HAVE "1 and can have 0 of 1 device, 1 is in use by another "
		"claim\n",
		"RemovePod n1 default x -> n1 (1)\n"},
	{"two pods would have to leave",
		{CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':2")),
			SLICE("n1", DEVICE("a", "") "," DEVICE("b", "")),
			HELD("h", "a", "n1", "u-x"), HELD("i", "b", "n1", "u-w"), RUNS("w", "n1"),
			RUNS("x", "n1")},
		USES("k"),
		"DynamicResources: " HAVE "2 and can have 0 of 2 devices, 2 are in use by other "
		"claims\n",
		"RemovePod n1 default w; RemovePod n1 default x -> n1 (1)\n"},
	{"in use, and no good anyway",
		{CLASS("c", CEL("false")), CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", "")), HELD("h", "a", "n1", "u-x"), RUNS("x", "n1")},
		USES("k"),
		"DynamicResources: " HAVE "1 and can have 0 of 1 device, 1 is not what the class "
		"selects (false)\n",
		""},
	{"constraint",
		{CLASS("c", ""),
			CLAIM_OF("k", "", REQUEST("r", "c", ",'count':2"),
				",'constraints':[{'matchAttribute':'d/m'}]", ""),
			SLICE("n1", DEVICE("a", MODEL("1")) "," DEVICE("b", MODEL("2")))},
		USES("k"),
		"DynamicResources: each request alone finds enough devices, but all together do "
		"not: they need the same devices, or a constraint of a claim is not met\n",
		""},
	{"two requests for one device",
		{CLASS("c", ""),
			CLAIM("k",
				REQUEST("r", "c", ",'count':1") "," REQUEST(
					"q", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: each request alone finds enough devices, but all together do "
		"not: they need the same devices, or a constraint of a claim is not met\n",
		""},
	{"pool that is not complete",
		{CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE_OF("n1", "2", "1", DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: request r of claim k finds no devices here, 1 pool of devices "
		"is being updated by the driver\n",
		""},
	{"pool that is invalid",
		{CLASS("c", ""), CLAIM("k", REQUEST("r", "c", ",'count':1")),
			SLICE("n1", DEVICE("a", "") "," DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: request r of claim k finds no devices here, 1 pool of devices "
		"is invalid: correct the driver\n",
		""},
	{"allocated elsewhere, for another",
		{CLASS("c", ""), HELD("k", "a", "n3", "u-x"), RUNS("x", "n2"),
			SLICE("n1", DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: claim k is allocated elsewhere, where 1 other pod has it\n",
		"RemovePod n2 default x -> n1 (1)\n"},
	{"allocated elsewhere, for nobody else", {CLASS("c", ""), HELD("k", "a", "n3", "u-p")},
		USES("k"),
		"DynamicResources: claim k is allocated elsewhere, and no other pod has it: the "
		"scheduler frees it when no node fits\n",
		""},
	{"extended resource",
		{"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'c'},"
		 "'spec':{'extendedResourceName':'x.y/z'}}",
			SLICE("n1", DEVICE("a", "")), HELD("h", "a", "n1", "u-x"), RUNS("x", "n1")},
		"{'metadata':{'name':'p','uid':'u-p'},'spec':{'containers':[{'name':'m',"
		"'resources':{'requests':{'x.y/z':'1'},'limits':{'x.y/z':'1'}}}]}}",
		"DynamicResources: request container-0-request-0 of its extended resources (class "
		"c) wants 1 and can have 0 of 1 device, 1 is in use by another claim\n",
		"RemovePod n1 default x -> n1 (1)\n"},
	{"first alternative will do",
		{CLASS("c", ""),
			CLAIM("k",
				"{'name':'r','firstAvailable':[{'name':'s','deviceClassName':'c',"
				"'allocationMode':'ExactCount','count':1},{'name':'t',"
				"'deviceClassName':'c','allocationMode':'ExactCount','count':2}]}"
				"," REQUEST("q", "c", ",'count':3")),
			SLICE("n1", DEVICE("a", ""))},
		USES("k"),
		"DynamicResources: request q of claim k wants 3 and can have 1 of 1 device\n", ""},
};

static void init_two_nodes(struct town *town)
{
	town_init(town, "{}");
	town_add_node(town, "{'metadata':{'name':'n1'},'status':{'allocatable':{'pods':'10'}}}");
	town_add_node(town, "{'metadata':{'name':'n2'},'status':{'allocatable':{'pods':'10'}}}");
}

START_TEST(test_advice_devices__words_and_remedies)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		struct bt_explanation explanation;
		struct town town;
		const char *text;

		init_two_nodes(&town);
		for (uint32_t k = 0; k < OBJECTS_MAX && row->objects[k] != NULL; k++) {
			town_add_object(&town, row->objects[k]);
		}
		town_explain(&town, town_pod(&town, row->pod), 1, &explanation);
		text = town_obstacles(&town, &explanation, "n1");
		ck_assert_msg(strcmp(text, row->obstacles) == 0, "%s: %s", row->name, text);
		text = town_proposals(&town, &explanation);
		ck_assert_msg(strcmp(text, row->proposals) == 0, "%s: %s", row->name, text);
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
}
END_TEST

/* --- random clusters against plain counts --- */

#define SEED_COUNT 150
#define NODES_MAX 4
#define DEVICES_MAX 6
#define MODELS 3
/** Bit mask of both holders of a node. */
#define BOTH 3U

struct device {
	uint32_t model;
	uint32_t holder; /* holding pod, by index on the node; UINT32_MAX: free */
	bool tainted;
};

struct cluster {
	struct bt_prng prng;
	uint32_t node_count;
	uint32_t device_count[NODES_MAX];
	struct device devices[NODES_MAX][DEVICES_MAX];
	uint32_t wanted_model;
	uint32_t wanted_count;
	bool tolerates;
};

static uint32_t draw(struct cluster *cluster, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&cluster->prng, bound);
}

static void draw_cluster(struct cluster *cluster, uint64_t seed)
{
	*cluster = (struct cluster){0};
	bt_prng_init(&cluster->prng, seed);
	cluster->node_count = 1 + draw(cluster, NODES_MAX);
	cluster->wanted_model = draw(cluster, MODELS);
	cluster->wanted_count = 1 + draw(cluster, 3);
	cluster->tolerates = draw(cluster, 3) == 0;
	for (uint32_t n = 0; n < cluster->node_count; n++) {
		cluster->device_count[n] = draw(cluster, DEVICES_MAX + 1);
		for (uint32_t i = 0; i < cluster->device_count[n]; i++) {
			cluster->devices[n][i] = (struct device){
				.model = draw(cluster, MODELS),
				.holder = draw(cluster, 2) == 0 ? draw(cluster, 2) : UINT32_MAX,
				.tainted = draw(cluster, 4) == 0,
			};
		}
	}
}

BT_PRINTF(2, 3)
static const char *format(struct town *town, const char *pattern, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;
	const char *kept;

	va_start(arguments, pattern);
	bt_strbuf_vprintf(&text, pattern, arguments);
	va_end(arguments);
	kept = bt_arena_str(&town->world.arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return kept;
}

static void build_devices(struct town *town, const struct cluster *cluster, uint32_t n)
{
	struct bt_strbuf devices = {0};

	for (uint32_t i = 0; i < cluster->device_count[n]; i++) {
		const struct device *device = &cluster->devices[n][i];

		bt_strbuf_printf(&devices, "%s{'name':'d%u','attributes':{'m':{'int':%u}}%s}",
			i == 0 ? "" : ",", i, device->model,
			device->tainted ? ",'taints':[{'key':'k','effect':'NoExecute'}]" : "");
	}
	town_add_object(town,
		format(town,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{"
			"'name':'s%u'},'spec':{'driver':'d','nodeName':'n%u','pool':{'name':'n%u',"
			"'generation':1,'resourceSliceCount':1},'devices':[%s]}}",
			n, n, n, bt_strbuf_c(&devices)));
	bt_strbuf_finish(&devices);
}

/** Adds a pod that holds its devices of node n by a claim that only this pod uses. */
static void build_holder(
	struct town *town, const struct cluster *cluster, uint32_t n, uint32_t holder)
{
	struct bt_strbuf results = {0};

	for (uint32_t i = 0; i < cluster->device_count[n]; i++) {
		if (cluster->devices[n][i].holder == holder) {
			bt_strbuf_printf(&results,
				"%s{'request':'r','driver':'d','pool':'n%u','device':'d%u'}",
				results.length == 0 ? "" : ",", n, i);
		}
	}
	town_add_object(town,
		format(town,
			"{'kind':'Pod','metadata':{'name':'h%u-%u','uid':'u%u-%u'},'spec':{"
			"'nodeName':'n%u'}}",
			n, holder, n, holder, n));
	if (results.length != 0) {
		town_add_object(town,
			format(town,
				"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim',"
				"'metadata':{'namespace':'default','name':'c%u-%u','uid':'c%u-%u'},"
				"'spec':{'devices':{}},'status':{'allocation':{'devices':{"
				"'results':[%s]}},'reservedFor':[{'resource':'pods','name':'h%u-%u'"
				",'uid':'u%u-%u'}]}}",
				n, holder, n, holder, bt_strbuf_c(&results), n, holder, n, holder));
	}
	bt_strbuf_finish(&results);
}

static void build(struct town *town, const struct cluster *cluster)
{
	town_init(town, "{}");
	town_add_object(town, CLASS("c", CEL("device.driver == \\\"d\\\"")));
	for (uint32_t n = 0; n < cluster->node_count; n++) {
		town_add_node(town,
			format(town,
				"{'metadata':{'name':'n%u'},'status':{'allocatable':{'pods':'9'}}}",
				n));
		build_devices(town, cluster, n);
		build_holder(town, cluster, n, 0);
		build_holder(town, cluster, n, 1);
	}
	town_add_object(town,
		format(town,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{"
			"'namespace':'default','name':'k','uid':'u-k'},'spec':{'devices':{"
			"'requests':[{'name':'r','exactly':{'deviceClassName':'c',"
			"'allocationMode':'ExactCount','count':%u,'selectors':[{'cel':{"
			"'expression':'device.attributes[\\\"d\\\"].m == %u'}}]%s}}]}}}",
			cluster->wanted_count, cluster->wanted_model,
			cluster->tolerates ? ",'tolerations':[{'operator':'Exists'}]" : ""));
}

/**
 * Counts the devices of node n that the request can use, and the others by reason. freed: bit mask
 * of the holders whose devices count as free.
 */
static void count_devices(
	const struct cluster *cluster, uint32_t n, uint32_t freed, struct bt_request_report *out)
{
	*out = (struct bt_request_report){.considered = cluster->device_count[n]};
	for (uint32_t i = 0; i < cluster->device_count[n]; i++) {
		const struct device *device = &cluster->devices[n][i];

		if (device->model != cluster->wanted_model) {
			out->request_refused++;
		} else if (device->holder != UINT32_MAX && (freed >> device->holder & 1) == 0) {
			out->in_use++;
		} else if (device->tainted && !cluster->tolerates) {
			out->tainted++;
		} else {
			out->usable++;
		}
	}
}

static uint32_t number_of(struct bt_str text, uint32_t at)
{
	return (uint32_t)(text.data[at] - '0');
}

/** Checks the numbers of every node; returns whether removing pods is enough on some node. */
static bool check_nodes(
	const struct cluster *cluster, const struct bt_explanation *explanation, uint64_t seed)
{
	bool possible = false;

	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		const struct bt_explained_node *node = &explanation->nodes.items[i];
		uint32_t n = number_of(node->name, 1);
		struct bt_request_report counted;
		const struct bt_request_report *told;

		count_devices(cluster, n, 0, &counted);
		ck_assert_msg((counted.usable >= cluster->wanted_count) ==
				(node->group == BT_EXPLAIN_GROUP_NONE),
			"seed %llu: node %u", (unsigned long long)seed, n);
		if (node->group == BT_EXPLAIN_GROUP_NONE) {
			continue;
		}
		ck_assert_ptr_nonnull(node->obstacles.items[0].devices);
		told = &node->obstacles.items[0].devices->requests[0];
		ck_assert_msg(told->considered == counted.considered &&
				told->usable == counted.usable && told->in_use == counted.in_use &&
				told->request_refused == counted.request_refused &&
				told->tainted == counted.tainted &&
				told->wanted == cluster->wanted_count,
			"seed %llu: node %u: %u of %u, %u in use, %u refused, %u tainted; counted "
			"%u, %u, %u, %u",
			(unsigned long long)seed, n, told->usable, told->considered, told->in_use,
			told->request_refused, told->tainted, counted.usable, counted.in_use,
			counted.request_refused, counted.tainted);
		count_devices(cluster, n, BOTH, &counted);
		possible = possible || counted.usable >= cluster->wanted_count;
	}
	return possible;
}

/**
 * Checks a proposal to remove pods of a node: removing these pods is enough, and each of them is
 * needed.
 */
static void check_proposal(
	const struct cluster *cluster, const struct bt_proposal *proposal, uint64_t seed)
{
	uint32_t n = number_of(proposal->node, 1);
	struct bt_request_report counted;
	uint32_t freed = 0;

	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		const struct bt_remedy *remedy = &proposal->remedies.items[i];

		ck_assert_msg(
			remedy->kind == BT_REMEDY_REMOVE_POD && number_of(remedy->pod_name, 1) == n,
			"seed %llu: %.*s", (unsigned long long)seed, BT_STR_ARG(remedy->pod_name));
		freed |= 1U << number_of(remedy->pod_name, 3);
	}
	count_devices(cluster, n, freed, &counted);
	ck_assert_msg(counted.usable >= cluster->wanted_count, "seed %llu: node %u",
		(unsigned long long)seed, n);
	for (uint32_t holder = 0; holder < 2; holder++) {
		count_devices(cluster, n, freed & ~(1U << holder), &counted);
		ck_assert_msg((freed >> holder & 1) == 0 || counted.usable < cluster->wanted_count,
			"seed %llu: node %u: not pod %u", (unsigned long long)seed, n, holder);
	}
}

START_TEST(test_advice_devices__random_against_plain_counts)
{
	uint32_t proposals = 0;

	for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
		struct bt_explanation explanation;
		struct cluster cluster;
		struct town town;
		bool possible;

		draw_cluster(&cluster, seed);
		build(&town, &cluster);
		town_explain(&town, town_pod(&town, USES("k")), 3, &explanation);
		possible = check_nodes(&cluster, &explanation, seed);
		if (explanation.feasible_count == 0) {
			ck_assert_msg(possible == (explanation.proposals.count != 0), "seed %llu",
				(unsigned long long)seed);
		}
		for (uint32_t i = 0; i < explanation.proposals.count; i++) {
			check_proposal(&cluster, &explanation.proposals.items[i], seed);
			proposals++;
		}
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
	ck_assert_uint_gt(proposals, SEED_COUNT / 5);
}
END_TEST

/** An explanation writes nothing: only the scheduler frees the claim. */
START_TEST(test_advice_devices__nothing_is_freed)
{
	struct bt_explanation explanation;
	struct town town;
	const struct bt_object *claim;

	init_two_nodes(&town);
	town_add_object(&town, CLASS("c", ""));
	town_add_object(&town, HELD("k", "a", "n3", "u-p"));
	town_explain(&town, town_pod(&town, USES("k")), 1, &explanation);
	ck_assert(bt_str_find(explanation.message, bt_reason_texts[BT_REASON_CLAIM_DEALLOCATED]) >=
		0);
	ck_assert_uint_eq(explanation.feasible_count, 0);
	claim = bt_claim_cache_find(
		&town.world.engine->state->dra->claims, BT_STR("default"), BT_STR("k"));
	ck_assert_ptr_nonnull(
		((const struct bt_resource_claim *)bt_object_value(claim, BT_KIND_RESOURCE_CLAIM))
			->status.allocation);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** An explanation does not change the random numbers of later decisions. */
START_TEST(test_advice_devices__share_ids_are_those_without_explain)
{
	const char *ids[2];
	struct town towns[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct bt_schedule_result result;
		struct bt_pod_info info;

		init_two_nodes(&towns[i]);
		town_add_object(&towns[i], CLASS("c", ""));
		town_add_object(
			&towns[i], SLICE("n1", DEVICE("a", ",'allowMultipleAllocations':true")));
		town_add_object(&towns[i], CLAIM("k", REQUEST("r", "c", ",'count':1")));
		struct bt_engine *engine = towns[i].world.engine;
		struct bt_pod *pod = town_pod(&towns[i], USES("k"));

		if (i == 0) {
			struct bt_explanation explanation;

			town_explain(&towns[i], pod, 1, &explanation);
			bt_explanation_finish(&explanation);
		}
		bt_pod_info_init_pending(engine->state, pod, &info);
		bt_engine_schedule(
			engine, engine->profiles.frameworks.items[0], &info, NULL, &result);
		ck_assert(bt_engine_place(engine, &info, &result));
		bt_pod_info_finish_pending(engine->state, &info);
		const struct bt_resource_claim *claim =
			bt_object_value(bt_claim_cache_find(&engine->state->dra->claims,
						BT_STR("default"), BT_STR("k")),
				BT_KIND_RESOURCE_CLAIM);

		ids[i] = bt_arena_str(&towns[i].world.arena,
			claim->status.allocation->devices.results.items[0].share_id)
				 .data;
		ck_assert_uint_eq(strlen(ids[i]), 36);
	}
	ck_assert_str_eq(ids[0], ids[1]);
	ck_assert_mem_eq(
		&towns[0].world.engine->prng, &towns[1].world.engine->prng, sizeof(struct bt_prng));
	town_finish(&towns[0]);
	town_finish(&towns[1]);
}
END_TEST

BT_TEST_MAIN("advice_devices", test_advice_devices__words_and_remedies,
	test_advice_devices__random_against_plain_counts, test_advice_devices__nothing_is_freed,
	test_advice_devices__share_ids_are_those_without_explain)
