/* SPDX-License-Identifier: Apache-2.0 */
/** Advice about one node by the advisers of volumes. */
#include "explain/advice.h"
#include "test_main.h"
#include "town.h"

#define OBJECTS_MAX 6

/** Nodes n1 in zone-a and n2 in zone-b. */
struct row {
	const char *name;
	const char *objects[OBJECTS_MAX]; /* pods and others */
	const char *pod;
	const char *obstacles; /* expected for n1 */
	const char *remedies;
	const char *proposals; /* first proposal for the whole pod */
};

#define ZONE "topology.kubernetes.io/zone"
#define USES(claim) "{'name':'v-" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"
#define DISK(name) "{'name':'v-" name "','gcePersistentDisk':{'pdName':'" name "'}}"
#define POD(volumes) "{'spec':{'volumes':[" volumes "]}}"
#define ON(node, name, volumes) \
	"{'kind':'Pod','metadata':{'name':'" name "'},'spec':{'nodeName':'" node \
	"','volumes':[" volumes "]}}"
#define CLAIM(name, annotations, spec, status) \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'namespace':'default'," \
	"'name':'" name "','annotations':{" annotations "}},'spec':{" spec "},'status':{" status \
	"}}"
#define BOUND(name, volume, mode) \
	CLAIM(name, "'pv.kubernetes.io/bind-completed':'yes'", \
		"'volumeName':'" volume "','accessModes':['" mode "']", "'phase':'Bound'")
#define VOLUME(name, spec) \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name \
	"'},'spec':{" spec "}}"
#define IN_ZONE(zone) \
	"'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'" ZONE \
	"','operator':'In','values':['" zone "']}]}]}}"
#define CLASS(name, mode) \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name \
	"'},'provisioner':'kubernetes.io/no-provisioner','volumeBindingMode':'" mode "'}"

static const struct row rows[] = {
	{"volume elsewhere",
		{BOUND("data", "pv", "ReadWriteOnce"), VOLUME("pv", IN_ZONE("zone-b"))},
		POD(USES("data")),
		"VolumeBinding: claim data is bound to volume pv, which is only in zone-b\n",
		"DropVolume v-data", NULL},
	{"only the volumes that are in the way",
		{BOUND("data", "pv", "ReadWriteOnce"), VOLUME("pv", IN_ZONE("zone-b")),
			BOUND("other", "qv", "ReadWriteOnce"), VOLUME("qv", IN_ZONE("zone-a"))},
		POD(USES("other") "," USES("data") ",{'name':'tmp','emptyDir':{}}"),
		"VolumeBinding: claim data is bound to volume pv, which is only in zone-b\n",
		"DropVolume v-data", "DropVolume v-data -> n1 (1)\n"},
	{"no such claim", {NULL}, POD(USES("data")),
		"VolumeRestrictions: PersistentVolumeClaim default/data does not exist\n",
		"DropVolume v-data", "DropVolume v-data -> n1 (2)\n"},
	{"no such volume", {BOUND("data", "pv", "ReadWriteOnce")}, POD(USES("data")), NULL, NULL,
		"DropVolume v-data -> n1 (2)\n"},
	{"no such class", {CLAIM("data", "", "'storageClassName':'fast'", "'phase':'Pending'")},
		POD(USES("data")),
		"VolumeBinding: claim data needs StorageClass fast, which does not exist\n",
		"ProvisionVolume v-data fast", "ProvisionVolume v-data fast -> n1 (2)\n"},
	{"no default class", {CLAIM("data", "", "", "'phase':'Pending'")}, POD(USES("data")),
		"VolumeBinding: claim data is not bound and has no storage class\n",
		"ProvisionVolume v-data ", "ProvisionVolume v-data  -> n1 (2)\n"},
	{"no class at all", {CLAIM("data", "", "'storageClassName':''", "'phase':'Pending'")},
		POD(USES("data")),
		"VolumeBinding: claim data is not bound and has no storage class\n",
		"DropVolume v-data", NULL},
	{"bound at once",
		{CLAIM("data", "", "'storageClassName':'now'", "'phase':'Pending'"),
			CLASS("now", "Immediate")},
		POD(USES("data")),
		"VolumeBinding: claim data of StorageClass now is not bound yet\n",
		"DropVolume v-data", NULL},
	{"nothing to bind",
		{CLAIM("data", "", "'storageClassName':'local'", "'phase':'Pending'"),
			CLASS("local", "WaitForFirstConsumer")},
		POD(USES("data")),
		"VolumeBinding: no volume of StorageClass local can be provided on this node for "
		"claim data\n",
		"DropVolume v-data", NULL},
	{"lost", {CLAIM("data", "", "'volumeName':'pv'", "'phase':'Lost'")}, POD(USES("data")),
		NULL, NULL, "DropVolume v-data -> n1 (2)\n"},
	{"a disk that one pod has", {ON("n1", "db", DISK("d"))}, POD(DISK("d")),
		"VolumeRestrictions: pod default/db has the same disk attached here\n",
		"RemovePod n1 default db", NULL},
	{"a disk that two pods have", {ON("n1", "db", DISK("d")), ON("n1", "dc", DISK("d"))},
		POD(DISK("d")), "VolumeRestrictions: volume v-d is not accessible from this node\n",
		"DropVolume v-d", NULL},
	{"ReadWriteOncePod",
		{BOUND("data", "pv", "ReadWriteOncePod"), VOLUME("pv", IN_ZONE("zone-a")),
			ON("n2", "db", USES("data"))},
		POD(USES("data")),
		"VolumeRestrictions: pod default/db uses a claim that one pod at a time may use "
		"(ReadWriteOncePod)\n",
		"RemovePod n2 default db", "RemovePod n2 default db -> n1 (1)\n"},
	{"as many volumes as the node can have",
		{BOUND("data", "pv", "ReadWriteOnce"),
			VOLUME("pv", "'csi':{'driver':'d','volumeHandle':'1'}"),
			BOUND("used", "qv", "ReadWriteOnce"),
			VOLUME("qv", "'csi':{'driver':'d','volumeHandle':'2'}"),
			ON("n1", "db", USES("used")),
			"{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':'n1'"
			"},'spec':{'drivers':[{'name':'d','nodeID':'n1','allocatable':{'count':1}}"
			"]}}"},
		POD(USES("data")),
		"NodeVolumeLimits: the node's limit of attached volumes is reached\n",
		"RemovePod n1 default db", NULL},
};

static void init_two_nodes(struct town *town)
{
	town_init(town, "{}");
	town_add_node(town,
		"{'metadata':{'name':'n1','labels':{'" ZONE "':'zone-a'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
	town_add_node(town,
		"{'metadata':{'name':'n2','labels':{'" ZONE "':'zone-b'}},"
		"'status':{'allocatable':{'pods':'10'}}}");
}

START_TEST(test_advice_volumes__words_and_remedies)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const struct row *row = &rows[i];
		const struct bt_explained_node *node;
		struct bt_explanation explanation;
		struct town town;
		const char *text;

		init_two_nodes(&town);
		for (uint32_t k = 0; k < OBJECTS_MAX && row->objects[k] != NULL; k++) {
			town_add_object(&town, row->objects[k]);
		}
		town_explain(&town, town_pod(&town, row->pod), 1, &explanation);
		node = town_node(&explanation, "n1");
		text = town_obstacles(&town, &explanation, "n1");
		ck_assert_msg(row->obstacles == NULL || strcmp(text, row->obstacles) == 0, "%s: %s",
			row->name, text);
		text = town_remedies(&town, node->remedies.items, node->remedies.count);
		ck_assert_msg(row->remedies == NULL || strcmp(text, row->remedies) == 0, "%s: %s",
			row->name, text);
		text = town_proposals(&town, &explanation);
		ck_assert_msg(row->proposals == NULL || strcmp(text, row->proposals) == 0, "%s: %s",
			row->name, text);
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
}
END_TEST

/**
 * The adviser gives no advice about a pod with hundreds of volumes, because it would try each
 * volume.
 */
START_TEST(test_advice_volumes__very_many_volumes)
{
	struct bt_explanation explanation;
	struct bt_strbuf json = {0};
	struct town town;

	init_two_nodes(&town);
	bt_strbuf_append_c(&json, "{'spec':{'volumes':[");
	for (uint32_t i = 0; i < 500; i++) {
		bt_strbuf_printf(&json,
			"%s{'name':'v%u','persistentVolumeClaim':{'claimName':'c%u'}}",
			i == 0 ? "" : ",", i, i);
	}
	bt_strbuf_append_c(&json, "]}}");
	town_explain(&town, town_pod(&town, bt_strbuf_c(&json)), 3, &explanation);
	ck_assert(town_node(&explanation, "n1")->is_final);
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_strbuf_finish(&json);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("advice_volumes", test_advice_volumes__words_and_remedies,
	test_advice_volumes__very_many_volumes)
