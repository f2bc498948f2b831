/* SPDX-License-Identifier: Apache-2.0 */
/** The naive model of devices: which nodes have the devices for a pod's claims. */
#include "api/node.h"
#include "soak/view.h"
#include "sim_objects.h"
#include "test_main.h"

#define GPU "gpu.example.com"
#define NIC "nic.example.com"
#define PART "part.example.com"
#define POOL(driver, pool, count) \
	"'driver':'" driver "','pool':{'name':'" pool \
	"','generation':1,'resourceSliceCount':" count "},'nodeName':'n0',"
#define DEVICE(name, model, numa, more) \
	"{'name':'" name "','attributes':{'model':{'string':'" model "'},'numa':{'int':" numa \
	"}}" more "}"
#define TWO_GPUS \
	POOL(GPU, "n0", "1") \
	"'devices':[" DEVICE("g0", "plain", "0", "") "," DEVICE("g1", "fast", "1", "") "]"
#define WORN ",'taints':[{'key':'worn','effect':'NoSchedule'}]"
#define EXACT(class_, more) \
	"'requests':[{'name':'r','exactly':{'deviceClassName':'" class_ \
	"','allocationMode':'ExactCount'" more "}}]"
#define ONE EXACT("gpu", ",'count':1")
#define TWO EXACT("gpu", ",'count':2")
#define ALL(more) \
	"'requests':[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'All'" more \
	"}}]"
#define HELD(driver, device, more) \
	"'allocation':{'devices':{'results':[{'request':'r','driver':'" driver \
	"','pool':'n0','device':'" device "'" more "}]}}"
#define ON_NODE(node) \
	"'allocation':{'devices':{'results':[{'request':'r','driver':'" GPU \
	"','pool':'n1','device':'g0'}]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{" \
	"'key':'metadata.name','operator':'In','values':['" node "']}]}]}}"
#define SHARED_NIC \
	POOL(NIC, "n0", "1") \
	"'devices':[{'name':'nic','allowMultipleAllocations':true,'capacity':{'bandwidth':{" \
	"'value':'4'}}}]"
#define BANDWIDTH(amount) \
	EXACT("nic", ",'count':1,'capacity':{'requests':{'bandwidth':'" amount "'}}")
#define SHARE(amount) ",'shareID':'s','consumedCapacity':{'bandwidth':'" amount "'}"
#define PARTS \
	POOL(PART, "n0", "1") \
	"'sharedCounters':[{'name':'memory','counters':{'slots':{'value':'4'}}}]," \
	"'devices':[" PIECE("whole", "4") "," PIECE("half", "2") "," PIECE("quarter", "1") "]"
#define PIECE(name, size) \
	"{'name':'" name "','attributes':{'size':{'int':" size "}},'consumesCounters':[{" \
	"'counterSet':'memory','counters':{'slots':{'value':'" size "'}}}]}"

/** Node n0 has a slice; the pod has one claim; there may be a second claim of another pod. */
struct situation {
	const char *name;
	const char *slice;        /* spec of the slice; NULL: none */
	const char *devices;      /* of the claim's spec */
	const char *claim_status; /* of the claim */
	const char *other_status; /* of another claim; NULL: no other claim */
	enum bt_sim_fit fit;
};

static const struct situation situations[] = {
	{"free", TWO_GPUS, ONE, "", NULL, BT_SIM_FITS},
	{"no slice", NULL, ONE, "", NULL, BT_SIM_FITS_NOT},
	{"incomplete pool", POOL(GPU, "n0", "2") "'devices':[" DEVICE("g0", "plain", "0", "") "]",
		ONE, "", NULL, BT_SIM_FITS_NOT},
	{"class is missing", TWO_GPUS, EXACT("none", ",'count':1"), "", NULL, BT_SIM_FITS_NOT},
	{"another driver", TWO_GPUS, EXACT("nic", ",'count':1"), "", NULL, BT_SIM_FITS_NOT},
	{"all held but one", TWO_GPUS, ONE, "", HELD(GPU, "g0", ""), BT_SIM_FITS},
	{"one too few", TWO_GPUS, TWO, "", HELD(GPU, "g0", ""), BT_SIM_FITS_NOT},
	{"the other looks on", TWO_GPUS, TWO, "", HELD(GPU, "g0", ",'adminAccess':true"),
		BT_SIM_FITS},
	{"the fast one is held", TWO_GPUS, EXACT("fast-gpu", ",'count':1"), "", HELD(GPU, "g1", ""),
		BT_SIM_FITS_NOT},
	{"selector of the request", TWO_GPUS,
		EXACT("gpu",
			",'count':2,'selectors':[{'cel':{'expression':"
			"'device.attributes[\\\"gpu.example.com\\\"].numa == 0'}}]"),
		"", NULL, BT_SIM_FITS_NOT},
	{"one numa node", TWO_GPUS,
		TWO ",'constraints':[{'matchAttribute':'gpu.example.com/numa'}]", "", NULL,
		BT_SIM_FITS_NOT},
	{"tainted", POOL(GPU, "n0", "1") "'devices':[" DEVICE("g0", "plain", "0", WORN) "]", ONE,
		"", NULL, BT_SIM_FITS_NOT},
	{"tolerated", POOL(GPU, "n0", "1") "'devices':[" DEVICE("g0", "plain", "0", WORN) "]",
		EXACT("gpu", ",'count':1,'tolerations':[{'key':'worn','operator':'Exists'}]"), "",
		NULL, BT_SIM_FITS},
	{"all", TWO_GPUS, ALL(""), "", NULL, BT_SIM_FITS},
	{"all, one is held", TWO_GPUS, ALL(""), "", HELD(GPU, "g1", ""), BT_SIM_FITS_NOT},
	{"all, to look on", TWO_GPUS, ALL(",'adminAccess':true"), "", HELD(GPU, "g1", ""),
		BT_SIM_FITS},
	{"second alternative", TWO_GPUS,
		"'requests':[{'name':'r','firstAvailable':[{'name':'a','deviceClassName':"
		"'fast-gpu','allocationMode':'ExactCount','count':2},{'name':'b',"
		"'deviceClassName':'gpu','allocationMode':'ExactCount','count':2}]}]",
		"", NULL, BT_SIM_FITS},
	{"allocated here", NULL, ONE, ON_NODE("n0"), NULL, BT_SIM_FITS},
	{"allocated elsewhere", TWO_GPUS, ONE, ON_NODE("n1"), NULL, BT_SIM_FITS_NOT},
	{"share", SHARED_NIC, BANDWIDTH("2"), "", HELD(NIC, "nic", SHARE("2")), BT_SIM_FITS},
	{"share that is too large", SHARED_NIC, BANDWIDTH("3"), "", HELD(NIC, "nic", SHARE("2")),
		BT_SIM_FITS_NOT},
	{"all of it", SHARED_NIC, EXACT("nic", ",'count':1"), "", HELD(NIC, "nic", SHARE("1")),
		BT_SIM_FITS_NOT},
	{"parts", PARTS, EXACT("part", ",'count':1"), "", HELD(PART, "half", ""), BT_SIM_FITS},
	{"parts that are used up", PARTS, EXACT("part", ",'count':1"), "", HELD(PART, "whole", ""),
		BT_SIM_FITS_NOT},
	{"parts that are too large together", PARTS, EXACT("part", ",'count':3"), "", NULL,
		BT_SIM_FITS_NOT},
};

static void put_class(struct bt_object_store *store, const char *name, const char *expression)
{
	sim_object(store,
		"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'%s'},"
		"'spec':{'selectors':[{'cel':{'expression':'%s'}}]}}",
		name, expression);
}

static void put_claim(
	struct bt_object_store *store, const char *name, const char *devices, const char *status)
{
	sim_object(store,
		"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'namespace':"
		"'a','name':'%s','resourceVersion':'1'},'spec':{'devices':{%s}},'status':{%s}}",
		name, devices, status);
}

static void put_world(struct bt_object_store *store, const struct situation *situation)
{
	bt_object_store_init(store);
	sim_node(store, "n0", "");
	put_class(store, "gpu", "device.driver == \\\"gpu.example.com\\\"");
	put_class(store, "fast-gpu",
		"device.driver == \\\"gpu.example.com\\\" && "
		"device.attributes[\\\"gpu.example.com\\\"].model == \\\"fast\\\"");
	put_class(store, "nic", "device.driver == \\\"nic.example.com\\\"");
	put_class(store, "part", "device.driver == \\\"part.example.com\\\"");
	if (situation->slice != NULL) {
		sim_object(store,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{"
			"'name':'s'},'spec':{%s}}",
			situation->slice);
	}
	put_claim(store, "c", situation->devices, situation->claim_status);
	if (situation->other_status != NULL) {
		put_claim(store, "other", ONE, situation->other_status);
	}
}

static enum bt_sim_fit fit_of(struct bt_sim_view *view, const char **out_reason)
{
	struct bt_object *pod = sim_pod(
		NULL, "p", "", "0", ",'resourceClaims':[{'name':'e','resourceClaimName':'c'}]");
	enum bt_sim_fit fit =
		bt_sim_view_fits(view, pod->value, sim_find_node(view->objects, "n0"), out_reason);

	bt_object_release(pod);
	return fit;
}

START_TEST(test_sim_devices__fits)
{
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
		const struct situation *situation = &situations[i];
		struct bt_object_store store;
		struct bt_sim_view view;
		const char *reason;

		put_world(&store, situation);
		bt_sim_view_init(&view, &store);
		enum bt_sim_fit fit = fit_of(&view, &reason);
		ck_assert_msg(fit == situation->fit, "%s: %d (%s)", situation->name, (int)fit,
			reason != NULL ? reason : "-");
		bt_sim_view_finish(&view);
		bt_object_store_finish(&store);
	}
}
END_TEST

/** A pod may deallocate its claim that no pod reserves, so the claim's devices count as free. */
START_TEST(test_sim_devices__given_back)
{
	const struct situation alone = {"", TWO_GPUS, ONE, ON_NODE("n1"), NULL, BT_SIM_FITS};
	const struct situation used = {"", TWO_GPUS, ONE,
		ON_NODE("n1") ",'reservedFor':[{'resource':'pods','name':'q','uid':'q'}]", NULL,
		BT_SIM_FITS_NOT};
	const struct situation *const rows[] = {&alone, &used};

	for (int i = 0; i < 2; i++) {
		struct bt_object_store store;
		struct bt_sim_view view;
		const char *reason;

		put_world(&store, rows[i]);
		bt_sim_view_init(&view, &store);
		view.may_free = true;
		ck_assert_int_eq(fit_of(&view, &reason), rows[i]->fit);
		bt_sim_view_finish(&view);
		bt_object_store_finish(&store);
	}
}
END_TEST

/**
 * A pool whose state is uncertain counts as free in checks of decisions, and as taken in checks of
 * waiting pods.
 */
START_TEST(test_sim_devices__blurred)
{
	const struct situation row = {"", TWO_GPUS, ONE, "", HELD(GPU, "g0", ""), BT_SIM_FITS};
	const struct bt_sim_excused_pool pool = {BT_STR(GPU), BT_STR("n0"), false};

	for (int is_free = 0; is_free < 2; is_free++) {
		struct bt_object_store store;
		struct bt_sim_view view;
		const char *reason;

		put_world(&store, &row);
		bt_sim_view_init(&view, &store);
		view.blurred = &pool;
		view.blurred_count = 1;
		view.blurred_is_free = is_free != 0;
		ck_assert_int_eq(
			fit_of(&view, &reason), is_free != 0 ? BT_SIM_FITS : BT_SIM_FITS_NOT);
		bt_sim_view_finish(&view);
		bt_object_store_finish(&store);
	}
}
END_TEST

BT_TEST_MAIN("sim_devices", test_sim_devices__fits, test_sim_devices__given_back,
	test_sim_devices__blurred)
