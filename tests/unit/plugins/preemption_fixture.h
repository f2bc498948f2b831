/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_PREEMPTION_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_PREEMPTION_FIXTURE_H
/**
 * A profile with DefaultPreemption on a small cluster, a log of its writes, and the pods of the
 * informer. Pods are written as "NAME:OPTION,OPTION..." with these options:
 *
 *         top hi mid low neg    priority 2000, 1000, 100, 0, -100; any other number: this priority
 *         cpu=200m              the request
 *         start=5               seconds after the start of 2026 at which the pod started
 *         label=app=foo         may be repeated
 *         group=g               spec.schedulingGroup.podGroupName
 *         claim=c               a volume with this persistentVolumeClaim
 *         never                 preemptionPolicy Never
 *         nominated=node1       status.nominatedNodeName
 *         anti=app=foo          required anti-affinity against this label on the host
 *         spread                maxSkew 1 on zone and on the host for app=foo
 *         dying                 deletionTimestamp
 *         evicted               deletionTimestamp and the condition that preemption writes
 *         doubtful              like evicted, after a condition with status False
 *         marked                only the condition, with preemptor `pod` of default-scheduler
 *
 * The uid is "uid-" and the text before the colon. The namespace is "default", unless this text is
 * "NAMESPACE/NAME".
 */
#include <stdint.h>

#include "framework/framework.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "plugins/default_preemption.h"

#define PREEMPTION_WRITES_MAX 32

struct preemption_options {
	const char *gates;   /* as --feature-gates; NULL: defaults */
	const char *plugins; /* "A,B"; NULL: NodeResourcesFit; "*": the default profile */
	const char *args;    /* DefaultPreemptionArgs as JSON; NULL: defaults */
	const struct bt_plugin_ops *extra; /* an out-of-tree plugin, enabled by name; may be NULL */
};

/** A write that fails: "delete p1". */
struct preemption_failure {
	const char *write;
	int code;
	const char *text;
};

struct preemption_fixture {
	struct bt_arena arena;
	struct bt_gates gates;
	struct bt_config *config;
	struct bt_registry registry;
	struct bt_state *state;
	struct bt_nominator nominator;
	struct bt_framework *framework;
	struct bt_evaluator *evaluator;
	struct bt_cycle_state cycle;
	bool cycle_open;
	BT_VEC(struct bt_pod_info *) pods;
	/* State of the informer. */
	BT_VEC(struct bt_pod *) known;
	struct bt_pod_lister lister;
	/* Pods in Permit and PreBind. */
	struct bt_waiting_pods waiting;
	const char *in_pre_bind; /* uid of a pod whose binding can be canceled; NULL: none */
	/* State of the writer. */
	struct bt_preemption_writer writer;
	struct preemption_failure failures[4];
	bool deferred; /* writes are answered later, by preemption_complete */
	struct preemption_write {
		uint64_t id;
		const char *what; /* "delete p1" */
	} writes[PREEMPTION_WRITES_MAX];
	uint32_t write_count;
	struct bt_strbuf log;
	struct bt_pod_condition condition; /* condition of the last patch */
	/* Results of the last run. */
	struct bt_post_filter_result result;
	const struct bt_preemption_decision *decision;
	struct bt_node_statuses statuses;
};

/** Starts the fixture; options NULL: all defaults. */
void preemption_init(struct preemption_fixture *fixture, const struct preemption_options *options);
void preemption_finish(struct preemption_fixture *fixture);

/** Adds a node; allocatable: members in JSON with ' for ". */
void preemption_add_node(
	struct preemption_fixture *fixture, const char *name, const char *allocatable);
void preemption_add_node_labels(struct preemption_fixture *fixture, const char *name,
	const char *allocatable, const char *labels);
/**
 * Adds assigned pods to a node in the order of pods, a list separated by spaces; the informer gets
 * the pods, too.
 */
void preemption_add_pods(struct preemption_fixture *fixture, const char *node, const char *pods);
/** Puts an object of another kind; the JSON has the kind. The namespace defaults to "default". */
void preemption_put(struct preemption_fixture *fixture, const char *json);
/** Puts a budget in "default". selector and disrupted pods are JSON; either may be NULL. */
void preemption_add_budget(struct preemption_fixture *fixture, const char *name,
	const char *selector, int allowed, const char *disrupted);
/** Returns a pending pod; the informer has the pod, too. */
const struct bt_pod_info *preemption_pending(struct preemption_fixture *fixture, const char *pod);
/**
 * Nominates a pod to the node. queued false: the nominator has only a bare pod (spec 02 section
 * 12.3).
 */
const struct bt_pod_info *preemption_nominate(
	struct preemption_fixture *fixture, const char *pod, const char *node, bool queued);
/**
 * preemption_informer_set gives the informer a new version of the pod, preemption_informer_remove
 * removes the pod from the informer.
 */
void preemption_informer_set(struct preemption_fixture *fixture, const char *pod);
void preemption_informer_remove(struct preemption_fixture *fixture, const char *name);
uint32_t preemption_pod_id(struct preemption_fixture *fixture, const char *name);
uint32_t preemption_slot(struct preemption_fixture *fixture, const char *node);

/** Runs PreFilter in a fresh cycle; returns its status as text. */
const char *preemption_begin_cycle(
	struct preemption_fixture *fixture, const struct bt_pod_info *pod);
/**
 * Runs PreFilter and the PostFilter chain. statuses: "node1:U node2:UU *:U" (U Unschedulable, UU
 * UnschedulableAndUnresolvable, P Pending; *: the status of absent nodes, UU by default); NULL: the
 * statuses of the filters. Returns "<Code>: <message>".
 */
const char *preemption_run(
	struct preemption_fixture *fixture, const struct bt_pod_info *pod, const char *statuses);
/**
 * Runs only the dry run over these nodes (names separated by spaces); returns text like
 * preemption_candidates.
 */
const char *preemption_dry_run(struct preemption_fixture *fixture, const struct bt_pod_info *pod,
	const char *nodes, uint32_t offset, uint32_t limit);
/**
 * Runs SelectVictimsOnNode for one node; returns "[p1 p2]!1" (1 violation), or the node's status.
 */
const char *preemption_select_victims(
	struct preemption_fixture *fixture, const char *pod, const char *node);
/** Returns the nomination of the last run: "none", "(cleared)" or the node. */
const char *preemption_nominated(struct preemption_fixture *fixture);
/**
 * Returns the candidates of the last run in order: "node1[p1 p2]!1 node2[q]"; "none" if there were
 * none.
 */
const char *preemption_candidates(struct preemption_fixture *fixture);
/** Returns the equally good candidates, the selected candidate first. */
const char *preemption_choices(struct preemption_fixture *fixture);
const char *preemption_status_text(struct preemption_fixture *fixture, struct bt_status status);

/** Enables a writer that logs its calls. */
void preemption_enable_writes(struct preemption_fixture *fixture);
/** Returns the writes since the last call, separated by "; ". */
const char *preemption_log(struct preemption_fixture *fixture);
/** Answers a deferred write: "delete p1". */
void preemption_complete(struct preemption_fixture *fixture, const char *write, int result);

/** Runs preemption and compares all results; candidates may be NULL (not compared). */
void preemption_expect(struct preemption_fixture *fixture, const char *pod, const char *statuses,
	const char *text, const char *nominated, const char *candidates);
#endif
