/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_DEVICES_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_DEVICES_FIXTURE_H
/**
 * Devices for the plugin fixture: objects in one line, a whole cycle of DynamicResources step by
 * step, and a writer that keeps a log and answers as it is told. In snippets ' stands for ".
 */
#include "fixture.h"
#include "plugins/dynamic_resources.h"

/** Members of a request for a number of devices of class c. */
#define DEVICES_OF_C(count) "'deviceClassName':'c','allocationMode':'ExactCount','count':" #count
#define ONE_REQUEST "{'name':'r','exactly':{" DEVICES_OF_C(1) "}}"
#define REFUSED "UnschedulableAndUnresolvable: "

/** Nodes n1 and n2; class c, which takes every device. */
void devices_fixture_init(struct fixture *fixture, const char *gates, const char *args);
/** Driver d, pool and node of this name; devices: list items. */
void put_slice(struct fixture *fixture, const char *node, const char *devices);
/** default/name, uid "uid-<name>", version 1; extra: more members, with a comma in front. */
void put_device_claim(
	struct fixture *fixture, const char *name, const char *requests, const char *extra);
/** The same with an allocation of devices (list items) on a node, NULL: anywhere. */
void put_allocated_claim(struct fixture *fixture, const char *name, const char *node,
	const char *results, const char *reserved_for);
/** Claim c, and on n1 sixty devices of which no two agree, though two that do are asked for: 1,770
 * pairs to be tried. */
void put_vain_claim(struct fixture *fixture);
/** Pod "p", uid "uid-p", with these claims, named by a list with blanks. */
const char *devices_pod(struct fixture *fixture, const char *name, const char *claims);
/** As the claim cache has it: "[finalizers] devices {reserved for}", "-" for no allocation. */
const char *latest_claim(struct fixture *fixture, const char *name);

/** Lines of the metrics that begin so. */
const char *metric_lines(struct fixture *fixture, struct bt_metrics *metrics, const char *start);

/** Keeps what is written, and answers: a letter of the script for each call. */
struct claim_recorder {
	struct bt_claim_writer writer;
	struct fixture *fixture;
	struct bt_strbuf log; /* "PUT c;", "PUT c/status a,b {p,q};", "GET c;", "-uid c;" */
	/** '.' done, 'p' no answer yet, 'c' conflict, 'e' error; behind its end all is done. */
	const char *script;
	uint32_t calls;
	bool watch_is_late;                 /* what is created is not told */
	int64_t version;                    /* of the last object that the API has made */
	BT_VEC(struct bt_object *) objects; /* what the API has beyond the store */
};

/** Becomes the writer of the fixture's plugin. */
void claim_recorder_init(
	struct claim_recorder *recorder, struct fixture *fixture, const char *script);
void claim_recorder_finish(struct claim_recorder *recorder);

/** One scheduling cycle of a pod with the fixture's plugin. */
struct devices_cycle {
	struct fixture *fixture;
	struct bt_cycle_state state;
	const struct bt_pod_info *pod;
	const char *pre_filter; /* status */
};

void devices_cycle_begin(struct devices_cycle *cycle, struct fixture *fixture, const char *pod);
/** The same in a pod group's cycle. */
void devices_cycle_begin_in_group(struct devices_cycle *cycle, struct fixture *fixture,
	const char *pod, struct bt_group_state *group);
const char *devices_cycle_filter(struct devices_cycle *cycle, const char *node);
int64_t devices_cycle_score(struct devices_cycle *cycle, const char *node);
const char *devices_cycle_post_filter(struct devices_cycle *cycle);
const char *devices_cycle_reserve(struct devices_cycle *cycle, const char *node);
void devices_cycle_unreserve(struct devices_cycle *cycle, const char *node);
/** One call. */
const char *devices_cycle_pre_bind(struct devices_cycle *cycle, const char *node);
/** Until it waits no longer; the clock goes to where each call wants to be woken. */
const char *devices_cycle_pre_bind_to_end(struct devices_cycle *cycle, const char *node);
void devices_cycle_end(struct devices_cycle *cycle);
/** PreFilter, Filter and Reserve on the node, which all must succeed. */
void devices_cycle_place(
	struct devices_cycle *cycle, struct fixture *fixture, const char *pod, const char *node);
#endif
