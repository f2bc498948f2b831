/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_VOLUME_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_VOLUME_FIXTURE_H
/**
 * Volumes for the plugin fixture: objects in one line, a whole cycle of VolumeBinding step by step,
 * and a writer that keeps a log. In snippets ' stands for "; `extra` is more members of the object,
 * with a comma in front: later ones win, messages merge.
 */
#include "api/change.h"
#include "api/storage.h"
#include "fixture.h"
#include "plugins/volume_binding.h"

#define NODE_CONFLICT \
	"UnschedulableAndUnresolvable: node(s) didn't match PersistentVolume's node affinity"
#define BIND_CONFLICT \
	"UnschedulableAndUnresolvable: node(s) didn't find available persistent volumes to bind"
#define NO_SPACE "UnschedulableAndUnresolvable: node(s) did not have enough free storage"
#define NOT_EXIST \
	"UnschedulableAndUnresolvable: node(s) unavailable due to one or more pvc(s) bound to " \
	"non-existent pv(s)"

/**
 * Nodes n1 and n2 with label k = their name; class W waits and cannot provision, P waits and
 * provisions with x where k is n1 or ref, I binds at once.
 */
void volume_fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops,
	const char *gates, const char *args);
/** Available, ReadWriteOnce, version 1. node: value of label k it is bound to, NULL = reachable
 * everywhere. */
void put_volume(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *node, const char *extra);
/** uid "uid-<name>", version 1. size NULL: no request. */
void put_claim(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *extra);
/** A claim that is fully bound. */
void put_bound_claim(struct fixture *fixture, const char *name, const char *volume_name);
void put_class(struct fixture *fixture, const char *name, const char *provisioner, const char *mode,
	const char *extra);
/** migrated: value of the annotation, NULL = none; drivers: list items. */
void put_csi_node(
	struct fixture *fixture, const char *name, const char *migrated, const char *drivers);
/** A pod "p" with one volume for each of the claims, named by a list with blanks. */
const char *claims_pod(struct fixture *fixture, const char *claims);

/** Keeps what is written: "pv<-claim;" and "claim@node;". */
struct volume_recorder {
	struct bt_volume_writer writer;
	struct fixture *fixture;
	struct bt_strbuf log;
	int fail_at; /* number of the write that fails; -1: none */
	int writes;
	const char *version; /* that the API answers with; NULL: unchanged */
	/** One second passes; NULL: the pod is cancelled. */
	void (*tick)(struct volume_recorder *recorder);
	int ticks;
	bool pod_is_gone;
};

/** Becomes the writer of the fixture's plugin. */
void volume_recorder_init(struct volume_recorder *recorder, struct fixture *fixture);
void volume_recorder_finish(struct volume_recorder *recorder);

/** One scheduling cycle of a pod with the fixture's plugin. */
struct volume_cycle {
	struct fixture *fixture;
	struct bt_cycle_state state;
	const struct bt_pod_info *pod;
	const char *pre_filter; /* status */
};

void volume_cycle_begin(struct volume_cycle *cycle, struct fixture *fixture, const char *pod);
const char *volume_cycle_filter(struct volume_cycle *cycle, const char *node);
const char *volume_cycle_reserve(struct volume_cycle *cycle, const char *node);
const char *volume_cycle_pre_bind(struct volume_cycle *cycle, const char *node);
void volume_cycle_unreserve(struct volume_cycle *cycle, const char *node);
void volume_cycle_end(struct volume_cycle *cycle);
/** PreFilter, Filter and Reserve on the node, which all must succeed. */
void volume_cycle_place(
	struct volume_cycle *cycle, struct fixture *fixture, const char *pod, const char *node);

/** What the pod would get on the node: the log of its writes, all taken back again; or the status
 * that rejects it. */
const char *volumes_for(struct fixture *fixture, const char *pod, const char *node);
/** The volume or claim as the plugin's binder sees it now. */
const struct bt_persistent_volume *assumed_volume(struct fixture *fixture, const char *name);
const struct bt_persistent_volume_claim *assumed_claim(struct fixture *fixture, const char *name);
#endif
