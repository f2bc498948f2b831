/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_VOLUME_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_VOLUME_FIXTURE_H
/**
 * Volumes for the plugin fixture: objects in one line, a whole cycle of VolumeBinding step by step,
 * and a writer with a log. In snippets ' stands for "; `extra` is more members of the object,
 * beginning with a comma: later members win, nested messages are merged.
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
 * Adds nodes n1 and n2, whose label k is the name of the node, and three classes. W
 * (WaitForFirstConsumer) cannot provision. P (WaitForFirstConsumer) can provision on nodes whose
 * label k is "n1" or "ref". I binds immediately.
 */
void volume_fixture_init(struct fixture *fixture, const struct bt_plugin_ops *ops,
	const char *gates, const char *args);
/**
 * Puts a volume that is Available, ReadWriteOnce, version 1. node: value of label k in its
 * affinity, NULL = reachable everywhere.
 */
void put_volume(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *node, const char *extra);
/** Puts a claim with uid "uid-<name>", version 1. size NULL: no request. */
void put_claim(struct fixture *fixture, const char *name, const char *class_name, const char *size,
	const char *extra);
/** Puts a claim that is fully bound. */
void put_bound_claim(struct fixture *fixture, const char *name, const char *volume_name);
void put_class(struct fixture *fixture, const char *name, const char *provisioner, const char *mode,
	const char *extra);
/**
 * Puts a CSINode. migrated: value of the annotation about migrated plugins, NULL: none; drivers:
 * list items.
 */
void put_csi_node(
	struct fixture *fixture, const char *name, const char *migrated, const char *drivers);
/** Returns a pod "p" with one volume for each of the claims, a list separated by blanks. */
const char *claims_pod(struct fixture *fixture, const char *claims);

/** A writer that logs "pv<-claim;" and "claim@node;". */
struct volume_recorder {
	struct bt_volume_writer writer;
	struct fixture *fixture;
	struct bt_strbuf log;
	int fail_at; /* index of the write that fails, from 0; -1: none */
	int writes;
	const char *version; /* version in the API's answer; NULL: unchanged */
	/** Called when a second of waiting passes; NULL: the context of the wait is cancelled. */
	void (*tick)(struct volume_recorder *recorder);
	int ticks;
	bool pod_is_gone;
};

/** Installs the recorder as the writer of the fixture's plugin. */
void volume_recorder_init(struct volume_recorder *recorder, struct fixture *fixture);
void volume_recorder_finish(struct volume_recorder *recorder);

/** One scheduling cycle of a pod with the fixture's plugin. */
struct volume_cycle {
	struct fixture *fixture;
	struct bt_cycle_state state;
	const struct bt_pod_info *pod;
	const char *pre_filter; /* status of PreFilter */
};

void volume_cycle_begin(struct volume_cycle *cycle, struct fixture *fixture, const char *pod);
const char *volume_cycle_filter(struct volume_cycle *cycle, const char *node);
const char *volume_cycle_reserve(struct volume_cycle *cycle, const char *node);
const char *volume_cycle_pre_bind(struct volume_cycle *cycle, const char *node);
void volume_cycle_unreserve(struct volume_cycle *cycle, const char *node);
void volume_cycle_end(struct volume_cycle *cycle);
/** Runs PreFilter, Filter and Reserve on the node; all must succeed. */
void volume_cycle_place(
	struct volume_cycle *cycle, struct fixture *fixture, const char *pod, const char *node);

/**
 * Returns the writes that would bind the pod's volumes on the node (undone afterwards), or the
 * status that rejects the node.
 */
const char *volumes_for(struct fixture *fixture, const char *pod, const char *node);
/** Returns the volume or claim as the plugin's binder sees it now. */
const struct bt_persistent_volume *assumed_volume(struct fixture *fixture, const char *name);
const struct bt_persistent_volume_claim *assumed_claim(struct fixture *fixture, const char *name);
#endif
