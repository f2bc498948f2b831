/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_DEVICES_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_DEVICES_FIXTURE_H
/**
 * Devices for the plugin fixture: objects in one line, a whole cycle of DynamicResources step by
 * step, and a writer with a log and scripted answers. In snippets ' stands for ".
 */
#include "fixture.h"
#include "plugins/dynamic_resources.h"

/** Members of a request for a number of devices of class c. */
#define DEVICES_OF_C(count) "'deviceClassName':'c','allocationMode':'ExactCount','count':" #count
#define ONE_REQUEST "{'name':'r','exactly':{" DEVICES_OF_C(1) "}}"
#define REFUSED "UnschedulableAndUnresolvable: "

/** Adds nodes n1 and n2, and class c, which matches every device. */
void devices_fixture_init(struct fixture *fixture, const char *gates, const char *args);
/** Puts a slice of driver d; its pool has the name of its node. devices: list items. */
void put_slice(struct fixture *fixture, const char *node, const char *devices);
/**
 * Puts claim default/name, uid "uid-<name>", version 1; extra: more members, beginning with a
 * comma.
 */
void put_device_claim(
	struct fixture *fixture, const char *name, const char *requests, const char *extra);
/**
 * Puts claim default/name with an allocation. node: only this node may use the allocated devices,
 * NULL: all nodes; results: allocated devices, reserved_for: consumers, both as list items.
 */
void put_allocated_claim(struct fixture *fixture, const char *name, const char *node,
	const char *results, const char *reserved_for);
/**
 * Puts claim c, which needs two devices with equal attributes, and sixty devices on n1 that all
 * differ: the search tries 1,770 pairs.
 */
void put_vain_claim(struct fixture *fixture);
/** Returns the JSON of a pod with uid "uid-<name>" and these claims, a list separated by blanks. */
const char *devices_pod(struct fixture *fixture, const char *name, const char *claims);
/**
 * Returns the claim in the claim cache as text: "[number of finalizers] devices {consumers}", with
 * "-" for the devices if there is no allocation.
 */
const char *latest_claim(struct fixture *fixture, const char *name);

/** Returns the lines of the metrics that begin with this text. */
const char *metric_lines(struct fixture *fixture, struct bt_metrics *metrics, const char *start);

/** A claim writer that logs each call and answers by a script, one letter per call. */
struct claim_recorder {
	struct bt_claim_writer writer;
	struct fixture *fixture;
	struct bt_strbuf log; /* "PUT c;", "PUT c/status a,b {p,q};", "GET c;", "-uid c;" */
	/**
	 * '.' success, 'p' pending, 'c' conflict, 'e' error; after the last letter every call
	 * succeeds.
	 */
	const char *script;
	uint32_t calls;
	/** Answers BT_CLAIM_WRITE_NEW; NULL: the test creates no claim. */
	int (*create)(struct claim_recorder *recorder, const struct bt_resource_claim *claim,
		struct bt_object **out_claim, struct berth_error *err);
	bool watch_is_late;                 /* created objects do not reach the store */
	int64_t version;                    /* version of the last object written */
	BT_VEC(struct bt_object *) objects; /* objects of the API that the store lacks */
};

/** Installs the recorder as the writer of the fixture's plugin. */
void claim_recorder_init(
	struct claim_recorder *recorder, struct fixture *fixture, const char *script);
void claim_recorder_finish(struct claim_recorder *recorder);

/** One scheduling cycle of a pod with the fixture's plugin. */
struct devices_cycle {
	struct fixture *fixture;
	struct bt_cycle_state state;
	const struct bt_pod_info *pod;
	const char *pre_filter; /* status of PreFilter */
};

void devices_cycle_begin(struct devices_cycle *cycle, struct fixture *fixture, const char *pod);
/** Begins the cycle as part of a pod group's cycle. */
void devices_cycle_begin_in_group(struct devices_cycle *cycle, struct fixture *fixture,
	const char *pod, struct bt_group_state *group);
const char *devices_cycle_filter(struct devices_cycle *cycle, const char *node);
int64_t devices_cycle_score(struct devices_cycle *cycle, const char *node);
const char *devices_cycle_post_filter(struct devices_cycle *cycle);
const char *devices_cycle_reserve(struct devices_cycle *cycle, const char *node);
void devices_cycle_unreserve(struct devices_cycle *cycle, const char *node);
/** Calls PreBind once; returns its status. */
const char *devices_cycle_pre_bind(struct devices_cycle *cycle, const char *node);
/**
 * Calls PreBind until it no longer waits, and returns its last status. The clock jumps to each
 * requested wake time.
 */
const char *devices_cycle_pre_bind_to_end(struct devices_cycle *cycle, const char *node);
void devices_cycle_end(struct devices_cycle *cycle);
/** Runs PreFilter, Filter and Reserve on the node; all must succeed. */
void devices_cycle_place(
	struct devices_cycle *cycle, struct fixture *fixture, const char *pod, const char *node);
#endif
