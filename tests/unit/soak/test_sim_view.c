/* SPDX-License-Identifier: Apache-2.0 */
/** The naive model of whether a pod fits on a node. */
#include "api/node.h"
#include "soak/view.h"
#include "sim_objects.h"
#include "test_main.h"

/** One situation: nodes n0 and n1, other objects, and whether the pod fits on n0. */
struct situation {
	const char *name;
	const char *node_more; /* of n0 */
	const char *other_on;  /* node of another pod with 1500m; NULL: none */
	const char *other_more;
	const char *pod_cpu;
	const char *pod_more;
	enum bt_sim_fit fit;
};

#define SPREAD(key) \
	",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'" key \
	"','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'x'}}}]"
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution':"
#define TERM(key) "[{'topologyKey':'" key "','labelSelector':{'matchLabels':{'app':'x'}}}]"
#define NODE_AFFINITY(operator, value) \
	",'affinity':{'nodeAffinity':{" REQUIRED \
	"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'" \
	operator"','values':['" value "']}]}]}}}"
#define TAINT(effect) ",'spec':{'taints':[{'key':'k','value':'v','effect':'" effect "'}]}"
#define PORT \
	",'containers':[{'name':'c','ports':[{'hostPort':80,'containerPort':" \
	"80}]}]"
#define CLAIM ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"

static const struct situation situations[] = {
	{"empty node", "", NULL, "", "2", "", BT_SIM_FITS},
	{"too large", "", NULL, "", "2001m", "", BT_SIM_FITS_NOT},
	{"room is taken", "", "n0", "", "600m", "", BT_SIM_FITS_NOT},
	{"room is just left", "", "n0", "", "500m", "", BT_SIM_FITS},
	{"room is taken elsewhere", "", "n1", "", "2", "", BT_SIM_FITS},
	{"asks for nothing on a full node", "", "n0", "", "0", "", BT_SIM_FITS},
	{"cordoned", ",'spec':{'unschedulable':true}", NULL, "", "1", "", BT_SIM_FITS_NOT},
	{"tainted", TAINT("NoSchedule"), NULL, "", "1", "", BT_SIM_FITS_NOT},
	{"tainted softly", TAINT("PreferNoSchedule"), NULL, "", "1", "", BT_SIM_FITS},
	{"tolerated", TAINT("NoExecute"), NULL, "", "1",
		",'tolerations':[{'key':'k','operator':'Equal','value':'v'}]", BT_SIM_FITS},
	{"tolerates another effect", TAINT("NoExecute"), NULL, "", "1",
		",'tolerations':[{'key':'k','operator':'Exists','effect':'NoSchedule'}]",
		BT_SIM_FITS_NOT},
	{"selector holds", "", NULL, "", "1", ",'nodeSelector':{'zone':'z0'}", BT_SIM_FITS},
	{"selector does not", "", NULL, "", "1", ",'nodeSelector':{'zone':'z1'}", BT_SIM_FITS_NOT},
	{"affinity In", "", NULL, "", "1", NODE_AFFINITY("In", "z0"), BT_SIM_FITS},
	{"affinity NotIn", "", NULL, "", "1", NODE_AFFINITY("NotIn", "z0"), BT_SIM_FITS_NOT},
	{"port taken", "", "n0", PORT, "0", PORT, BT_SIM_FITS_NOT},
	{"port taken elsewhere", "", "n1", PORT, "0", PORT, BT_SIM_FITS},
	{"spread over hosts", "", "n0", "", "0", SPREAD("kubernetes.io/hostname"), BT_SIM_FITS_NOT},
	{"spread over hosts, other one", "", "n1", "", "0", SPREAD("kubernetes.io/hostname"),
		BT_SIM_FITS},
	{"spread over one zone", "", "n0", "", "0", SPREAD("zone"), BT_SIM_FITS},
	{"spread over a key that is missing", "", NULL, "", "0", SPREAD("rack"), BT_SIM_FITS_NOT},
	{"apart by host", "", "n0", "", "0",
		",'affinity':{'podAntiAffinity':{" REQUIRED TERM("kubernetes.io/hostname") "}}",
		BT_SIM_FITS_NOT},
	{"apart by zone", "", "n1", "", "0",
		",'affinity':{'podAntiAffinity':{" REQUIRED TERM("zone") "}}", BT_SIM_FITS_NOT},
	{"the other wants to be apart", "", "n1",
		",'affinity':{'podAntiAffinity':{" REQUIRED TERM("zone") "}}", "0", "",
		BT_SIM_FITS_NOT},
	{"near, nobody there, first of its group", "", NULL, "", "0",
		",'affinity':{'podAffinity':{" REQUIRED TERM("kubernetes.io/hostname") "}}",
		BT_SIM_FITS},
	{"near, but the other is on another host", "", "n1", "", "0",
		",'affinity':{'podAffinity':{" REQUIRED TERM("kubernetes.io/hostname") "}}",
		BT_SIM_FITS_NOT},
	{"near by zone", "", "n1", "", "0",
		",'affinity':{'podAffinity':{" REQUIRED TERM("zone") "}}", BT_SIM_FITS},
	{"claim is missing", "", NULL, "", "0", CLAIM, BT_SIM_FITS_NOT},
};

START_TEST(test_sim_view__fits)
{
	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
		const struct situation *situation = &situations[i];
		struct bt_object_store store;
		struct bt_sim_view view;
		const char *reason;
		struct bt_object *pod;

		bt_object_store_init(&store);
		sim_node(&store, "n0", situation->node_more);
		sim_node(&store, "n1", "");
		if (situation->other_on != NULL) {
			sim_pod(&store, "other", situation->other_on, "1500m",
				situation->other_more);
		}
		pod = sim_pod(NULL, "p", "", situation->pod_cpu, situation->pod_more);
		bt_sim_view_init(&view, &store);
		enum bt_sim_fit fit =
			bt_sim_view_fits(&view, pod->value, sim_find_node(&store, "n0"), &reason);
		ck_assert_msg(fit == situation->fit, "%s: %d (%s)", situation->name, (int)fit,
			reason != NULL ? reason : "-");
		ck_assert_msg((reason != NULL) == (fit == BT_SIM_FITS_NOT), "%s", situation->name);
		bt_sim_view_finish(&view);
		bt_object_release(pod);
		bt_object_store_finish(&store);
	}
}
END_TEST

START_TEST(test_sim_view__number_of_pods)
{
	struct bt_object_store store;
	struct bt_sim_view view;
	const char *reason;
	struct bt_object *pod = sim_pod(NULL, "p", "", "0", "");
	const char *const names[] = {"p0", "p1", "p2", "p3"};

	bt_object_store_init(&store);
	sim_node(&store, "n0", "");
	for (int i = 0; i < 4; i++) {
		bt_sim_view_init(&view, &store);
		ck_assert_int_eq(
			bt_sim_view_fits(&view, pod->value, sim_find_node(&store, "n0"), &reason),
			BT_SIM_FITS);
		bt_sim_view_finish(&view);
		sim_pod(&store, names[i], "n0", "0", "");
	}
	bt_sim_view_init(&view, &store);
	ck_assert_int_eq(bt_sim_view_fits(&view, pod->value, sim_find_node(&store, "n0"), &reason),
		BT_SIM_FITS_NOT);
	ck_assert_str_eq(reason, "not enough room");
	bt_sim_view_finish(&view);
	bt_object_release(pod);
	bt_object_store_finish(&store);
}
END_TEST

static enum bt_sim_fit fit_with_claim(const char *claim_more, const char *mode, const char *zone)
{
	struct bt_object_store store;
	struct bt_sim_view view;
	const char *reason;
	struct bt_object *pod = sim_pod(NULL, "p", "", "0", CLAIM);

	bt_object_store_init(&store);
	sim_node(&store, "n0", "");
	sim_object(&store,
		"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"
		"'provisioner':'x','volumeBindingMode':'%s'}",
		mode);
	sim_object(&store,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'namespace':'a',"
		"'name':'c','annotations':{'pv.kubernetes.io/bind-completed':'yes'}},'spec':{"
		"'storageClassName':'s'%s}}",
		claim_more);
	sim_object(&store,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"
		"'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':"
		"'zone','operator':'In','values':['%s']}]}]}}}}",
		zone);
	sim_pod(&store, "other", "n0", "0", CLAIM);
	bt_sim_view_init(&view, &store);
	enum bt_sim_fit fit =
		bt_sim_view_fits(&view, pod->value, sim_find_node(&store, "n0"), &reason);
	bt_sim_view_finish(&view);
	bt_object_store_finish(&store);
	bt_object_release(pod);
	return fit;
}

START_TEST(test_sim_view__claims)
{
	ck_assert_int_eq(fit_with_claim(",'volumeName':'v'", "Immediate", "z0"), BT_SIM_FITS);
	ck_assert_int_eq(fit_with_claim(",'volumeName':'v'", "Immediate", "z1"), BT_SIM_FITS_NOT);
	ck_assert_int_eq(fit_with_claim(",'volumeName':'w'", "Immediate", "z0"), BT_SIM_FITS_NOT);
	ck_assert_int_eq(fit_with_claim("", "Immediate", "z0"), BT_SIM_FITS_NOT);
	ck_assert_int_eq(fit_with_claim("", "WaitForFirstConsumer", "z0"), BT_SIM_FITS);
	ck_assert_int_eq(
		fit_with_claim(",'volumeName':'w'", "WaitForFirstConsumer", "z0"), BT_SIM_FITS_NOT);
	ck_assert_int_eq(fit_with_claim(",'volumeName':'v','accessModes':['ReadWriteOncePod']",
				 "Immediate", "z0"),
		BT_SIM_FITS_NOT);
}
END_TEST

/*
 * Returns whether a pod that needs a volume fits. Without a provisioner the volume must be
 * available, large enough and in the node's zone.
 */
static enum bt_sim_fit fit_with_volume(const char *phase, const char *size, const char *zone)
{
	struct bt_object_store store;
	struct bt_sim_view view;
	const char *reason;
	struct bt_object *pod = sim_pod(NULL, "p", "", "0", CLAIM);

	bt_object_store_init(&store);
	sim_node(&store, "n0", "");
	sim_object(&store,
		"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"
		"'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':"
		"'WaitForFirstConsumer'}");
	sim_object(&store,
		"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'namespace':'a',"
		"'name':'c'},'spec':{'storageClassName':'s','resources':{'requests':{'storage':"
		"'3Gi'}}}}");
	sim_object(&store,
		"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':{"
		"'storageClassName':'s','capacity':{'storage':'%s'},'nodeAffinity':{'required':{"
		"'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone','operator':'In','values':["
		"'%s']}]}]}}},'status':{'phase':'%s'}}",
		size, zone, phase);
	bt_sim_view_init(&view, &store);
	enum bt_sim_fit fit =
		bt_sim_view_fits(&view, pod->value, sim_find_node(&store, "n0"), &reason);
	bt_sim_view_finish(&view);
	bt_object_store_finish(&store);
	bt_object_release(pod);
	return fit;
}

START_TEST(test_sim_view__volumes_that_are_found)
{
	ck_assert_int_eq(fit_with_volume("Available", "3Gi", "z0"), BT_SIM_FITS);
	ck_assert_int_eq(fit_with_volume("Available", "2Gi", "z0"), BT_SIM_FIT_UNKNOWN);
	ck_assert_int_eq(fit_with_volume("Available", "3Gi", "z1"), BT_SIM_FIT_UNKNOWN);
	ck_assert_int_eq(fit_with_volume("Bound", "3Gi", "z0"), BT_SIM_FIT_UNKNOWN);
}
END_TEST

START_TEST(test_sim_view__requests)
{
	struct bt_object *pod = sim_object(NULL,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'a','name':'p'},'spec':{"
		"'overhead':{'cpu':'10m'},'containers':[{'name':'a','resources':{'requests':{"
		"'cpu':'100m','memory':'1Gi'}}},{'name':'b','resources':{'requests':{'cpu':"
		"'150m'}}}],'initContainers':[{'name':'i','resources':{'requests':{'cpu':'1'}}}]}"
		"}");

	ck_assert_int_eq(bt_sim_pod_request(pod->value, BT_STR("cpu")), 1010);
	ck_assert_int_eq(bt_sim_pod_request(pod->value, BT_STR("memory")), INT64_C(1) << 30);
	ck_assert_int_eq(bt_sim_pod_request(pod->value, BT_STR("example.com/gpu")), 0);
	bt_object_release(pod);
}
END_TEST

BT_TEST_MAIN("sim_view", test_sim_view__fits, test_sim_view__number_of_pods, test_sim_view__claims,
	test_sim_view__volumes_that_are_found, test_sim_view__requests)
