/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_ADVICE_H
#define BT_EXPLAIN_ADVICE_H
/**
 * Advisers. The adviser of a plugin explains what a rejection by the plugin means, and finds the
 * changes (remedies) that would lift the rejection. bt_adviser_find finds an adviser by the name of
 * the plugin. An adviser reads the same data as the plugin: state, pod, node, and PreFilter data if
 * the header of the plugin offers the data. Remedies are only candidates: a proposal is made only
 * after the scheduler accepted the remedies in a trial (explain/explain.h).
 */
#include "api/selector.h"
#include "api/text_template.h"
#include "explain/remedy.h"
#include "sched/engine.h"

/** One plugin's rejection of a node, or of the pod as a whole. */
struct bt_advice {
	struct bt_engine *engine;
	struct bt_framework *framework;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod; /* pod->object has the whole pod */
	/**
	 * The rejected node, which may include nominated pods. NULL: PreFilter or PreEnqueue
	 * rejects the pod.
	 */
	const struct bt_node_info *node;
	const struct bt_plugin *plugin;
	const struct bt_status *status;
	struct bt_arena *arena; /* arena of the explanation */

	/* Results. */
	bt_remedy_list remedies; /* changes that lift the rejection if all are applied */
	/**
	 * Alternative to `remedies` that changes only the pod. So the alternative helps on every
	 * node. Empty: no alternative is known, or `remedies` itself changes only the pod.
	 * Exception: if the node already runs its maximum number of pods, the list also has the
	 * change of the node, because no change of the pod can replace the change of the node.
	 */
	bt_remedy_list pod_remedies;
	/**
	 * Phrase about the node for people: "needs 250m more cpu", "lacks label disk=ssd". Empty:
	 * show the reasons of the status instead.
	 */
	struct bt_str hint;
	/**
	 * How far the node is from accepting the pod; orders nodes with equally many remedies. 0:
	 * nothing is missing; 1: the missing amount equals the node's allocatable amount.
	 */
	double distance;
	double pod_distance; /* distance of pod_remedies; 0: a default is used */
	bool is_final;       /* no known change helps on this node */
	/** The remedies need more than the empty node has, so removing pods does not help. */
	bool is_too_small;
	bool pod_is_too_small; /* like is_too_small, for pod_remedies */
	/**
	 * Report of the failed search for devices, in the arena; NULL if no such search has failed.
	 */
	const struct bt_allocation_report *devices;
};

struct bt_adviser {
	const char *plugin_name;
	void (*advise)(struct bt_advice *advice);
};

/** Returns NULL for unknown plugins. */
const struct bt_adviser *bt_adviser_find(struct bt_str plugin_name);
/**
 * Adds a remedy if it is new; returns whether it is new. If the limit is reached, marks the advice
 * as final instead of adding the remedy. The texts of the remedy must live as long as
 * advice->arena.
 */
bool bt_advice_add(struct bt_advice *advice, const struct bt_remedy *remedy);
/** Adds a remedy to pod_remedies if it is new and pod_remedies is not full. */
void bt_advice_add_of_pod(struct bt_advice *advice, const struct bt_remedy *remedy);
/** Adds a part to the hint, from a template of bt_text_append. Ignored if the hint is too long. */
void bt_advice_hint(struct bt_advice *advice, const char *template_, ...);

/*
 * Tables of advisers, defined in advice_<area>.c. An entry whose name is NULL ends each table.
 * advice.c searches all tables.
 */
extern const struct bt_adviser bt_advisers_resources[]; /* NodeResourcesFit, NodePorts */
extern const struct bt_adviser
	bt_advisers_nodes[]; /* names, taints, unschedulable, affinity, gates, declared features */
extern const struct bt_adviser bt_advisers_topology[]; /* InterPodAffinity, PodTopologySpread */
extern const struct bt_adviser bt_advisers_volumes[];
extern const struct bt_adviser bt_advisers_devices[]; /* DynamicResources */

/** Helpers shared by the advisers: domains, selectors, pods. */

/** Returns the value of the domain ("zone-a"), in advice->arena. The domain must not be 0. */
struct bt_str bt_advice_domain_name(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/**
 * Formats a domain for people: "zone-a", or "rack 7" if the value does not contain the last part of
 * the key ("rack" in "example.com/rack"). A hostname has no prefix.
 */
struct bt_str bt_advice_domain_text(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/** Formats a selector as "app=db,tier in (a,b)"; long texts are cut. */
struct bt_str bt_advice_selector_text(struct bt_advice *advice, const struct bt_selector *selector);
/** Returns "namespace/name" of a pod in the cache. */
struct bt_str bt_advice_pod_text(struct bt_advice *advice, uint32_t pod_id);

/** Whether the status has this reason. */
bool bt_advice_has_reason(const struct bt_advice *advice, enum bt_reason reason);
/**
 * Runs only advice->plugin, in a separate cycle. Returns whether PreFilter accepts the pod and,
 * unless node is NULL, Filter accepts the node.
 */
bool bt_advice_accepts(const struct bt_advice *advice, const struct bt_pod_info *pod,
	const struct bt_node_info *node);
/**
 * Makes text from users safe to print: replaces white space and newlines by single spaces, and cuts
 * the text to bytes_max, followed by "...".
 */
struct bt_str bt_advice_cut_text(struct bt_arena *arena, struct bt_str text, uint32_t bytes_max);

/*
 * bt_advice_set_label, bt_advice_drop_requirement and bt_advice_remove_pod add a remedy if it is
 * new, and increase advice->distance.
 */

void bt_advice_set_label(struct bt_advice *advice, struct bt_str key, struct bt_str value);
/** Adds a remedy, which must change only the pod, both to `remedies` and to pod_remedies. */
void bt_advice_drop_requirement(struct bt_advice *advice, const struct bt_remedy *remedy);
/**
 * Drops pod_remedies if `remedies` changes only the pod, or if changing the pod is not enough
 * (possible is false).
 */
void bt_advice_close_pod_remedies(struct bt_advice *advice, bool possible);
/**
 * Whether deleting the pod frees its resources on the node. False for pods that require their node
 * by name, and for mirror pods: the controller (a DaemonSet) or the kubelet would create the pod
 * there again.
 */
bool bt_advice_is_removable(const struct bt_state *state, uint32_t pod_id);
/**
 * Adds a remedy that removes a pod of the cache. If bt_advice_is_removable is false for the pod,
 * marks the advice as final instead.
 */
void bt_advice_remove_pod(struct bt_advice *advice, uint32_t pod_id);

#endif
