/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_ADVICE_H
#define BT_EXPLAIN_ADVICE_H
/**
 * What each plugin's rejection means and what would lift it: one adviser a plugin, found by the
 * plugin's name. Advisers read what the plugin reads (state, pod, node, its PreFilter data where
 * the plugin's header offers it) and never decide: a proposal counts only once the scheduler itself
 * has agreed to it (explain/explain.h).
 */
#include "api/selector.h"
#include "base/vec.h"
#include "explain/remedy.h"
#include "sched/engine.h"

/** One plugin's rejection of one node, or of the pod on all nodes. */
struct bt_advice {
	struct bt_engine *engine;
	struct bt_framework *framework;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;   /* pod->object: the whole pod */
	const struct bt_node_info *node; /* with the pods nominated there; NULL: PreFilter */
	const struct bt_plugin *plugin;
	const struct bt_status *status;
	struct bt_arena *arena; /* of the explanation */

	/* The answer. */
	BT_VEC(struct bt_remedy) remedies; /* all together lift the rejection */
	/**
	 * Where remedies change the node: what would lift the rejection by changing the pod alone,
	 * and so on every node alike; a slot for one more pod has to be made all the same. Empty:
	 * nothing is known, or remedies are of the pod already.
	 */
	BT_VEC(struct bt_remedy) pod_remedies;
	/**
	 * A half-sentence for people about this node: "needs 250m more cpu", "lacks label
	 * disk=ssd";
	 * "" leaves the status's own words.
	 */
	struct bt_str hint;
	/** How far away, to order nodes with the same number of remedies: 0 nothing, 1 a whole
	 * node's worth (share of allocatable that is missing), more is worse. */
	double distance;
	double pod_distance; /* the same of pod_remedies; 0: as far as most changes of a pod */
	bool is_final;       /* nothing known would help on this node */
	/** Remedies ask for more than the node has when it is empty: no pod's leaving would help.
	 */
	bool is_too_small;
	bool pod_is_too_small; /* so do pod_remedies */
	/** Devices that were looked for in vain; in the arena. NULL: it is not about devices. */
	const struct bt_allocation_report *devices;
};

struct bt_adviser {
	const char *plugin_name;
	void (*advise)(struct bt_advice *advice);
};

/** NULL: nobody knows this plugin. */
const struct bt_adviser *bt_adviser_find(struct bt_str plugin_name);
/** Texts of the remedy must live as long as advice->arena. */
void bt_advice_add(struct bt_advice *advice, const struct bt_remedy *remedy);
/** The same for pod_remedies. */
void bt_advice_add_of_pod(struct bt_advice *advice, const struct bt_remedy *remedy);
BT_PRINTF(2, 3)
void bt_advice_hint(struct bt_advice *advice, const char *format, ...);

/* advice_<area>.c: NULL-terminated tables, joined in advice.c. */
extern const struct bt_adviser bt_advisers_resources[]; /* NodeResourcesFit, NodePorts */
extern const struct bt_adviser
	bt_advisers_nodes[]; /* names, taints, unschedulable, affinity, gates, declared features */
extern const struct bt_adviser bt_advisers_topology[]; /* InterPodAffinity, PodTopologySpread */
extern const struct bt_adviser bt_advisers_volumes[];
extern const struct bt_adviser bt_advisers_devices[]; /* DynamicResources */

/** What several advisers ask or say alike: domains, selectors, pods. For the files of the advice
 * only. */

/** "zone-a"; lives as long as the advice. domain: not 0. */
struct bt_str bt_advice_domain_name(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/** The same for people: "zone-a", "rack 7" when the value does not say what it is. */
struct bt_str bt_advice_domain_text(
	struct bt_advice *advice, const struct bt_label_column *column, uint32_t domain);
/** "app=db,tier in (a,b)", cut when it is long. */
struct bt_str bt_advice_selector_text(struct bt_advice *advice, const struct bt_selector *selector);
/** "shop/db-0" of a pod of the cache. */
struct bt_str bt_advice_pod_text(struct bt_advice *advice, uint32_t pod_id);

/** One of the reasons of the status. */
bool bt_advice_has_reason(const struct bt_advice *advice, enum bt_reason reason);
/** The plugin alone, in a cycle of its own; node NULL: its PreFilter. */
bool bt_advice_accepts(const struct bt_advice *advice, const struct bt_pod_info *pod,
	const struct bt_node_info *node);
/** A text that users wrote, as one line, cut when it is longer than bytes_max. */
struct bt_str bt_advice_cut_text(struct bt_arena *arena, struct bt_str text, uint32_t bytes_max);

/* Remedies that are not there yet; distance follows. */

void bt_advice_set_label(struct bt_advice *advice, struct bt_str key, struct bt_str value);
/** The pod gives something up: of the remedies, and of those that change the pod alone. */
void bt_advice_give_up(struct bt_advice *advice, const struct bt_remedy *remedy);
/** At the end: possible says whether the pod alone could be changed. */
void bt_advice_close_pod_remedies(struct bt_advice *advice, bool possible);
/**
 * Deleting the pod would free its node: its controller does not put it back there, as a DaemonSet
 * does, whose pods require their node by name.
 */
bool bt_advice_may_leave(const struct bt_state *state, uint32_t pod_id);
/** A pod of the cache leaves its node; if it may not, nothing helps there. */
void bt_advice_remove_pod(struct bt_advice *advice, uint32_t pod_id);

#endif
