/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_COMPAT_VOLUMES_H
#define BT_TESTS_UNIT_COMPAT_VOLUMES_H
/** A cluster with the nodes n1 and n2, and macros that write volumes, claims and classes. */
#include "berth/volume_binder.h"
#include "cluster.h"

/** A StorageClass. mode: Immediate or WaitForFirstConsumer. */
#define CLASS(name, provisioner, mode) \
	"{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'" name \
	"'},'provisioner':'" provisioner "','volumeBindingMode':'" mode "'}"
/** An available volume. more: members of spec, each with a comma in front. */
#define VOLUME(name, version, class_, size, more) \
	"{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name \
	"','uid':'uid-" name "','resourceVersion':'" version \
	"'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'" class_ \
	"','capacity':{'storage':'" size "'}" more "},'status':{'phase':'Available'}}"
#define ON_NODE(name) \
	",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'host'," \
	"'operator':'In','values':['" name "']}]}]}}"
#define CLAIM_WITH(name, version, annotations, class_, more) \
	"{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name \
	"','namespace':'d','uid':'uid-" name "','resourceVersion':'" version \
	"','annotations':{" annotations "}},'spec':{'accessModes':['ReadWriteOnce']," \
	"'storageClassName':'" class_ "','resources':{'requests':{'storage':'1Gi'}}" more "}}"
#define CLAIM(name, class_) CLAIM_WITH(name, "1", "", class_, "")
#define BOUND_CLAIM(name, version, class_, volume) \
	CLAIM_WITH(name, version, "'pv.kubernetes.io/bind-completed':'yes'", class_, \
		",'volumeName':'" volume "'")
#define POD_VOLUME(claim) "{'name':'v-" claim "','persistentVolumeClaim':{'claimName':'" claim "'}}"

/**
 * An engine with nodes and three classes: "late" (existing volumes), "made" (volumes made by a
 * driver), "now" (immediate binding).
 */
struct volumes {
	struct berth_engine *engine;
	struct berth_framework *framework;
	const struct berth_handle *handle;
	struct berth_cycle_state *state;
	struct berth_arena *arena; /* owned by state */
	const struct berth_shared_lister *snapshot;
};

static inline void volumes_init(struct volumes *volumes, const char *config)
{
	volumes->engine = cluster_create(config, NULL);
	volumes->framework = cluster_framework(volumes->engine);
	volumes->handle = berth_framework_handle(volumes->framework);
	volumes->state = berth_cycle_state_create();
	volumes->arena = berth_cycle_state_arena(volumes->state);
	cluster_put_node(volumes->engine, "n1", "4", "");
	cluster_put_node(volumes->engine, "n2", "4", "");
	cluster_put(volumes->engine,
		CLASS("late", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"));
	cluster_put(volumes->engine, CLASS("made", "csi.example", "WaitForFirstConsumer"));
	cluster_put(volumes->engine, CLASS("now", "csi.example", "Immediate"));
	volumes->snapshot = berth_engine_snapshot_shared_lister(volumes->engine, NULL);
}

static inline void volumes_finish(struct volumes *volumes)
{
	berth_cycle_state_destroy(volumes->state);
	berth_engine_destroy(volumes->engine);
}

static inline const struct berth_node_info *volumes_node(
	const struct volumes *volumes, const char *name)
{
	const struct berth_node_info *node = NULL;

	ck_assert_int_eq(berth_shared_lister_get(volumes->snapshot, berth_str_from(name),
				 volumes->arena, &node, NULL),
		0);
	return node;
}

static inline struct berth_pod_info *volumes_pod(
	const struct volumes *volumes, const char *name, const char *pod_volumes)
{
	char more[512];

	(void)snprintf(more, sizeof(more), ",'volumes':[%s]", pod_volumes);
	return cluster_pod_info(volumes->framework, name, "1", more);
}
#endif
