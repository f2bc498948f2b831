/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random clusters under the plugins of spec 06: nodes, pods and namespaces are added, changed and
 * removed, and after every step counters and columns must equal a walk over all pods.
 * BERTH_RANDOM_FIRST and BERTH_RANDOM_SEEDS choose the seeds; tests/unit/plugins/meson.build sets
 * their number.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/prng.h"
#include "state/affinity_index.h"
#include "state/domain_counter.h"
#include "state/pod_index.h"
#include "test_main.h"
#include "topology_fixture.h"
#include "trait_checks.h"
#include "validate/validate.h"

#define SEEDS_DEFAULT 150
#define STEPS 100
#define NODES 12
#define PODS 40
#define PROBES 6
#define PROBES_PER_STEP 2

struct world {
	struct fixture f; /* for the plugin PodTopologySpread */
	struct bt_plugin *affinity;
	struct bt_prng prng;
	const struct bt_node *nodes[NODES]; /* NULL: not there */
	const struct bt_pod *pods[PODS];
	uint32_t uid;
	struct kept_traits kept[PROBES][2]; /* by plugin */
	uint64_t seed;
	uint32_t step;
};

static uint32_t below(struct world *w, uint32_t count)
{
	return (uint32_t)bt_prng_below(&w->prng, count);
}

static const char *pick(struct world *w, const char *const *texts, uint32_t count)
{
	return texts[below(w, count)];
}

#define PICK(w, ...) \
	pick((w), (const char *const[]){__VA_ARGS__}, \
		(uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

/* --- parts of objects --- */

static struct bt_str text_selector(struct world *w)
{
	return bt_str_from(PICK(w, "{}", "{'matchLabels':{'a':'1'}}", "{'matchLabels':{'a':'2'}}",
		"{'matchExpressions':[{'key':'b','operator':'Exists'}]}",
		"{'matchExpressions':[{'key':'b','operator':'NotIn','values':['1']}]}",
		"{'matchExpressions':[{'key':'a','operator':'In','values':['1','2']}]}", "null"));
}

static struct bt_str text_term(struct world *w)
{
	struct bt_str selector = text_selector(w);

	return bt_arena_printf(&w->f.arena, "{'topologyKey':'%s'%s,'labelSelector':%.*s}",
		PICK(w, "zone", "host", "rack", "none"),
		PICK(w, "", "", ",'namespaces':['n1']", ",'namespaceSelector':{}",
			",'namespaceSelector':{'matchLabels':{'team':'x'}}",
			",'namespaces':['n2'],'namespaceSelector':{'matchExpressions':[{'key':"
			"'team','operator':'NotIn','values':['x']}]}"),
		BT_STR_ARG(selector));
}

static struct bt_str text_terms(struct world *w, bool weighted)
{
	struct bt_str text = {0};
	uint32_t count = below(w, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str term = text_term(w);

		if (weighted) {
			term = bt_arena_printf(&w->f.arena, "{'weight':%u,'podAffinityTerm':%.*s}",
				below(w, 5) + 1, BT_STR_ARG(term));
		}
		text = bt_arena_printf(&w->f.arena, "%.*s%s%.*s", BT_STR_ARG(text),
			i != 0 ? "," : "", BT_STR_ARG(term));
	}
	return text;
}

static struct bt_str text_pod_affinity(struct world *w)
{
	struct bt_str required = text_terms(w, false);
	struct bt_str preferred = text_terms(w, true);

	return bt_arena_printf(&w->f.arena,
		"{'requiredDuringSchedulingIgnoredDuringExecution':[%.*s],"
		"'preferredDuringSchedulingIgnoredDuringExecution':[%.*s]}",
		BT_STR_ARG(required), BT_STR_ARG(preferred));
}

static struct bt_str text_constraints(struct world *w)
{
	struct bt_str text = {0};
	uint32_t count = below(w, 4);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str selector = text_selector(w);

		text = bt_arena_printf(&w->f.arena,
			"%.*s%s{'topologyKey':'%s','maxSkew':%u,'whenUnsatisfiable':'%s'%s%s%s,"
			"'labelSelector':%.*s}",
			BT_STR_ARG(text), i != 0 ? "," : "",
			PICK(w, "zone", "host", "rack", "kubernetes.io/hostname"), below(w, 3) + 1,
			PICK(w, "DoNotSchedule", "ScheduleAnyway"),
			PICK(w, "", ",'minDomains':3", ",'matchLabelKeys':['a']"),
			PICK(w, "", ",'nodeAffinityPolicy':'Ignore'"),
			PICK(w, "", ",'nodeTaintsPolicy':'Honor'"), BT_STR_ARG(selector));
	}
	return text;
}

static const char *text_labels(struct world *w)
{
	return PICK(w, "", "'a':'1'", "'a':'2'", "'a':'1','b':'1'", "'b':'2'");
}

/** Returns the JSON of a random pod; node: "" for a pod without a node. */
static struct bt_str text_pod(struct world *w, const char *node, bool terminating)
{
	struct bt_str constraints = text_constraints(w);
	struct bt_str near = text_pod_affinity(w);
	struct bt_str apart = text_pod_affinity(w);
	bool has_affinity = below(w, 2) == 0;

	return bt_arena_printf(&w->f.arena,
		"{'metadata':{'name':'p','uid':'u%u','namespace':'%s','labels':{%s}%s},"
		"'spec':{'nodeName':'%s'%s%s,'topologySpreadConstraints':[%.*s]"
		"%s%.*s%s%.*s%s}}",
		w->uid++, PICK(w, "n1", "n1", "n2", "n3"), text_labels(w),
		terminating ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'" : "", node,
		PICK(w, "", "", ",'nodeSelector':{'zone':'z1'}"),
		PICK(w, "", ",'tolerations':[{'key':'k','operator':'Exists'}]"),
		BT_STR_ARG(constraints), has_affinity ? ",'affinity':{'podAffinity':" : "",
		has_affinity ? (int)near.length : 0, near.data,
		has_affinity ? ",'podAntiAffinity':" : "", has_affinity ? (int)apart.length : 0,
		apart.data, has_affinity ? "}" : "");
}

static struct bt_str text_node(struct world *w, uint32_t index)
{
	return bt_arena_printf(&w->f.arena,
		"{'metadata':{'name':'node%u','labels':{'host':'h%u','kubernetes.io/hostname':'h%u'"
		"%s%s}},'spec':{%s}}",
		index, index, index / 2, PICK(w, ",'zone':'z1'", ",'zone':'z2'", ",'zone':''", ""),
		PICK(w, "", ",'rack':'r1'", ",'rack':'r2'", ",'rack':'r3'"),
		PICK(w, "", "", "'taints':[{'key':'k','effect':'NoSchedule'}]"));
}

/* --- steps --- */

static const char *node_name(uint32_t index)
{
	static const char *const names[NODES] = {"node0", "node1", "node2", "node3", "node4",
		"node5", "node6", "node7", "node8", "node9", "node10", "node11"};

	return names[index];
}

static void change_node(struct world *w)
{
	uint32_t index = below(w, NODES);
	const struct bt_node *old = w->nodes[index];
	struct berth_error err = BERTH_ERROR_INIT;

	if (old != NULL && below(w, 3) == 0) {
		ck_assert_msg(bt_state_remove_node(w->f.state, old, &err) == 0, "%s",
			berth_error_message(&err));
		w->nodes[index] = NULL;
		return;
	}
	w->nodes[index] = fixture_node(&w->f, text_node(w, index).data);
	if (old == NULL) {
		bt_state_add_node(w->f.state, w->nodes[index]);
	} else {
		bt_state_update_node(w->f.state, old, w->nodes[index]);
	}
}

static void change_pod(struct world *w)
{
	uint32_t index = below(w, PODS);
	const struct bt_pod *old = w->pods[index];
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_pod *changed;
	int code;

	if (old == NULL) {
		w->pods[index] = fixture_pod(
			&w->f, text_pod(w, node_name(below(w, NODES)), below(w, 5) == 0).data);
		code = below(w, 2) == 0 ? bt_state_add_pod(w->f.state, w->pods[index], &err)
					: bt_state_assume_pod(w->f.state, w->pods[index], &err);
		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
		return;
	}
	if (below(w, 3) == 0) {
		code = bt_state_remove_pod(w->f.state, old, &err);
		w->pods[index] = NULL;
		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
		return;
	}
	/* The pod is confirmed or updated, perhaps with other labels, perhaps terminating. */
	changed = fixture_pod(&w->f, text_pod(w, old->spec.node_name.data, below(w, 3) == 0).data);
	changed->metadata.uid = old->metadata.uid;
	if (below(w, 2) == 0) {
		changed->spec = old->spec;
		changed->metadata.namespace_ = old->metadata.namespace_;
	}
	code = bt_state_add_pod(w->f.state, changed, NULL) == 0
		? 0
		: bt_state_update_pod(w->f.state, old, changed, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	w->pods[index] = changed;
}

static void change_namespace(struct world *w)
{
	const char *name = PICK(w, "n1", "n2", "n3");

	if (below(w, 3) == 0) {
		(void)bt_object_store_delete(&w->f.state->objects, BT_KIND_NAMESPACE, BT_STR(""),
			bt_str_from(name)); /* may not exist */
		return;
	}
	topology_add_object(&w->f, BT_KIND_NAMESPACE,
		bt_arena_printf(&w->f.arena, "{'metadata':{'name':'%s','labels':{%s}}}", name,
			PICK(w, "", "'team':'x'", "'team':'y'"))
			.data);
}

static void change_services(struct world *w)
{
	topology_add_object(&w->f, BT_KIND_SERVICE,
		bt_arena_printf(&w->f.arena,
			"{'metadata':{'name':'s','namespace':'n1'},'spec':{'selector':{%s}}}",
			PICK(w, "", "'a':'1'", "'b':'1'", "'a':'1','b':'1'"))
			.data);
}

/* --- comparisons --- */

/** The results of one form of a plugin for one pod. */
struct answer {
	struct bt_cycle_state cycle;
	struct bt_status pre_filter;
	struct bt_status pre_score;
};

static void ask(struct world *w, struct bt_plugin *plugin, const struct bt_pod_info *pod,
	bool plain, bool borrows, struct answer *out)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	struct bt_pre_filter_result result = {0};

	bt_cycle_state_init(&out->cycle, &w->f.arena, 2);
	out->cycle.plain = plain;
	out->cycle.borrows_counters = borrows;
	out->pre_filter = plugin->ops->pre_filter(plugin, &out->cycle, pod, &result);
	out->pre_score = plugin->ops->pre_score(
		plugin, &out->cycle, pod, bt_snapshot_list(snapshot), snapshot->count);
}

static void check_same(struct world *w, const char *what, uint32_t slot, bool same)
{
	if (!same) {
		ck_abort_msg("seed %llu, step %u, slot %u: %s differs", (unsigned long long)w->seed,
			w->step, slot, what);
	}
}

static void check_filters(struct world *w, struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct answer *walked, struct answer *counted)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	uint32_t slot_count = w->f.state->nodes.slot_count;
	uint32_t *detail = BT_ARENA_NEW_ARRAY(&w->f.arena, uint32_t, slot_count);
	const void *data = counted->cycle.pre_filter_data[plugin->index];
	bool rejects = bt_shortcuts(plugin)->filter_column(
		plugin, data, pod, w->f.state, (struct bt_slot_range){.count = slot_count}, detail);

	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t slot = bt_snapshot_list(snapshot)[i];
		struct bt_status column = BT_STATUS_OK;
		struct bt_node_info node;

		bt_node_info_init(&node, w->f.state, slot);
		struct bt_status a = plugin->ops->filter(plugin, &walked->cycle, pod, &node);
		struct bt_status b = plugin->ops->filter(plugin, &counted->cycle, pod, &node);
		if (rejects && detail[slot] != 0) {
			column = bt_plugin_detail_status(
				plugin, data, pod, detail[slot], &w->f.arena);
		}
		check_same(w, "Filter", slot, bt_status_equal(&a, &b));
		check_same(w, "filter column", slot, bt_status_equal(&a, &column));
	}
}

/** A trial removes pods from a node and adds a pod: both forms must count alike. */
static void check_what_if(struct world *w, struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct answer *walked, struct answer *counted)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	struct bt_node_info node;
	struct bt_pod_info other;

	if (snapshot->count == 0) {
		return;
	}
	bt_node_info_init(&node, w->f.state, bt_snapshot_list(snapshot)[below(w, snapshot->count)]);
	const struct bt_node_row *row = &w->f.state->nodes.rows[node.slot];
	for (uint32_t i = 0; i < 2 * row->pods.count; i++) {
		/* Two rounds: the first removes each pod, the second adds some pods back. */
		bool removes = i < row->pods.count;

		if (!removes && below(w, 2) == 0) {
			continue;
		}
		bt_pod_info_from_record(w->f.state, row->pods.items[i % row->pods.count], &other);
		struct answer *const answers[] = {walked, counted};
		for (uint32_t k = 0; k < 2; k++) {
			struct bt_status status = plugin->ops->pre_filter_change_pod(
				plugin, &answers[k]->cycle, pod, &other, &node, removes ? -1 : 1);
			ck_assert(bt_status_is_success(&status));
		}
		struct bt_status a = plugin->ops->filter(plugin, &walked->cycle, pod, &node);
		struct bt_status b = plugin->ops->filter(plugin, &counted->cycle, pod, &node);
		check_same(w, "Filter of a trial", node.slot, bt_status_equal(&a, &b));
	}
}

static void check_scores(struct world *w, struct bt_plugin *plugin, const struct bt_pod_info *pod,
	struct answer *walked, struct answer *counted)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	uint32_t count = snapshot->count;
	const uint32_t *slots = bt_snapshot_list(snapshot);
	int64_t *scores = BT_ARENA_NEW_ARRAY(&w->f.arena, int64_t, count);
	int64_t *column = BT_ARENA_NEW_ARRAY(&w->f.arena, int64_t, count);

	bt_shortcuts(plugin)->score_slots(plugin, counted->cycle.pre_score_data[plugin->index], pod,
		w->f.state, slots, count, column);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_node_info node;
		struct bt_status status;

		bt_node_info_init(&node, w->f.state, slots[i]);
		status = plugin->ops->score(plugin, &walked->cycle, pod, &node, &scores[i]);
		check_same(w, "Score", slots[i],
			bt_status_is_success(&status) && scores[i] == column[i]);
	}
	struct bt_status status =
		plugin->ops->normalize_score(plugin, &walked->cycle, pod, slots, scores, count);
	ck_assert(bt_status_is_success(&status));
	status = plugin->ops->normalize_score(plugin, &counted->cycle, pod, slots, column, count);
	ck_assert(bt_status_is_success(&status));
	for (uint32_t i = 0; i < count; i++) {
		check_same(w, "normalised score", slots[i], scores[i] == column[i]);
	}
}

/**
 * Cells, which are groups of nodes with equal traits: one slot and the number of nodes of each
 * cell.
 */
struct cells {
	uint32_t slots[NODES];
	uint32_t sizes[NODES];
	int64_t scores[NODES];
	uint32_t count;
	uint32_t cell_of[NODES]; /* by position in the list */
};

static void part_cells(struct world *w, const struct bt_trait_list *traits, struct cells *out_cells)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;

	*out_cells = (struct cells){0};
	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t cell = 0;

		while (cell < out_cells->count &&
			!traits_agree(
				traits, bt_snapshot_list(snapshot)[i], out_cells->slots[cell])) {
			cell++;
		}
		if (cell == out_cells->count) {
			out_cells->slots[out_cells->count++] = bt_snapshot_list(snapshot)[i];
		}
		out_cells->sizes[cell]++;
		out_cells->cell_of[i] = cell;
	}
}

/** Nodes with equal traits must get the verdict of the first node of their cell. */
static void check_cell_verdicts(struct world *w, struct bt_plugin *plugin,
	const struct bt_pod_info *pod, const struct cells *cells, struct answer *walked)
{
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	struct bt_status verdicts[NODES];

	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t first = 0;
		struct bt_node_info node;

		bt_node_info_init(&node, w->f.state, bt_snapshot_list(snapshot)[i]);
		verdicts[i] = plugin->ops->filter(plugin, &walked->cycle, pod, &node);
		while (cells->cell_of[first] != cells->cell_of[i]) {
			first++;
		}
		check_same(w, "the verdict of a cell", bt_snapshot_list(snapshot)[i],
			bt_status_equal(&verdicts[i], &verdicts[first]));
	}
}

/** If Score runs on one node of each cell only, every node must get the score of its cell. */
static void check_cell_scores(struct world *w, struct bt_plugin *plugin,
	const struct bt_pod_info *pod, struct cells *cells, struct answer *walked,
	struct bt_cycle_state *cycle)
{
	const struct bt_plugin_ops *ops = plugin->ops;
	const struct bt_snapshot *snapshot = &w->f.state->snapshot;
	const uint32_t *slots = bt_snapshot_list(snapshot);
	int64_t scores[NODES];
	struct bt_status status = bt_shortcuts(plugin)->pre_score_cells != NULL
		? bt_shortcuts(plugin)->pre_score_cells(
			  plugin, cycle, pod, cells->slots, cells->sizes, cells->count)
		: ops->pre_score(plugin, cycle, pod, cells->slots, cells->count);
	const void *data = cycle->pre_score_data[plugin->index];

	check_same(
		w, "PreScore by cells", BT_SLOT_NONE, bt_status_equal(&status, &walked->pre_score));
	if (!bt_status_is_success(&status)) {
		return;
	}
	for (uint32_t i = 0; i < snapshot->count; i++) {
		struct bt_node_info node;

		bt_node_info_init(&node, w->f.state, slots[i]);
		(void)ops->score(plugin, &walked->cycle, pod, &node,
			&scores[i]); /* another check compares the status */
	}
	(void)ops->normalize_score(plugin, &walked->cycle, pod, slots, scores,
		snapshot->count); /* compared elsewhere, too */
	bt_shortcuts(plugin)->score_slots(
		plugin, data, pod, w->f.state, cells->slots, cells->count, cells->scores);
	status =
		ops->normalize_score(plugin, cycle, pod, cells->slots, cells->scores, cells->count);
	ck_assert(bt_status_is_success(&status));
	for (uint32_t i = 0; i < snapshot->count; i++) {
		check_same(w, "the score of a cell", slots[i],
			scores[i] == cells->scores[cells->cell_of[i]]);
	}
}

/** The column form of a trait must separate the same slots as the form for single slots. */
static void check_columns(struct world *w, const struct bt_trait_list *traits)
{
	uint32_t slot_count = w->f.state->nodes.slot_count;
	uint32_t *values = BT_ARENA_NEW_ARRAY(&w->f.arena, uint32_t, slot_count);

	for (uint32_t i = 0; i < traits->count; i++) {
		const struct bt_node_trait *trait = &traits->items[i];

		if (trait->column == NULL) {
			continue;
		}
		trait->column(trait->context, slot_count, values);
		for (uint32_t slot = 1; slot < slot_count; slot++) {
			uint64_t value = trait->value(trait->context, slot);

			for (uint32_t k = 0; k < slot; k++) {
				check_same(w, "a trait's column", slot,
					(values[slot] == values[k]) ==
						(value == trait->value(trait->context, k)));
			}
		}
	}
}

static void check_traits(struct world *w, struct bt_plugin *plugin, struct kept_traits *kept,
	const struct bt_pod_info *pod)
{
	struct bt_trait_list traits = {.arena = &w->f.arena};
	struct bt_pre_filter_result result = {0};
	struct answer walked;
	struct answer counted;

	ask(w, plugin, pod, true, false, &walked);
	bt_cycle_state_init(&counted.cycle, &w->f.arena, 2);
	counted.cycle.borrows_counters = true;
	counted.pre_filter = plugin->ops->pre_filter(plugin, &counted.cycle, pod, &result);
	if (bt_shortcuts(plugin)->cell_traits(plugin, &counted.cycle, pod, &traits)) {
		bool skips = bt_shortcuts(plugin)->pre_score_skips(plugin, &counted.cycle, pod);
		struct cells cells;

		check_same(w, "whether PreScore skips", BT_SLOT_NONE,
			w->f.state->snapshot.count == 0 ||
				skips == (walked.pre_score.code == BT_STATUS_SKIP));
		check_columns(w, &traits);
		part_cells(w, &traits, &cells);
		if (bt_status_is_success(&walked.pre_filter)) {
			check_cell_verdicts(w, plugin, pod, &cells, &walked);
		}
		if (cells.count != 0) {
			check_cell_scores(w, plugin, pod, &cells, &walked, &counted.cycle);
		}
		uint32_t wrong = traits_check_kept(kept, &traits, w->f.state);
		check_same(w, "a trait without a change", wrong, wrong == BT_SLOT_NONE);
	}
	bt_cycle_state_finish(&walked.cycle);
	bt_cycle_state_finish(&counted.cycle);
}

static void check_plugin(struct world *w, struct bt_plugin *plugin, const struct bt_pod_info *pod)
{
	struct answer walked;
	struct answer counted;

	ask(w, plugin, pod, true, false, &walked);
	ask(w, plugin, pod, false, below(w, 2) == 0, &counted);
	check_same(w, "PreFilter", BT_SLOT_NONE,
		bt_status_equal(&walked.pre_filter, &counted.pre_filter));
	check_same(w, "PreScore", BT_SLOT_NONE,
		bt_status_equal(&walked.pre_score, &counted.pre_score));
	if (bt_status_is_success(&walked.pre_filter)) {
		check_filters(w, plugin, pod, &walked, &counted);
		check_what_if(w, plugin, pod, &walked, &counted);
	}
	if (bt_status_is_success(&walked.pre_score)) {
		check_scores(w, plugin, pod, &walked, &counted);
	}
	bt_cycle_state_finish(&walked.cycle);
	bt_cycle_state_finish(&counted.cycle);
}

/** Checks both plugins for one pod. kept: cached traits of the pod, by plugin; NULL: not cached. */
static void check_pod(struct world *w, const struct bt_pod *object, struct kept_traits *kept)
{
	struct bt_pod_info pod;

	bt_pod_info_init_pending(w->f.state, object, &pod);
	if (kept != NULL) {
		check_traits(w, w->f.plugin, &kept[0], &pod);
		check_traits(w, w->affinity, &kept[1], &pod);
	}
	check_plugin(w, w->f.plugin, &pod);
	check_plugin(w, w->affinity, &pod);
	bt_pod_info_finish_pending(w->f.state, &pod);
}

static void check_counters(struct world *w)
{
	struct bt_strbuf reason = {0};

	if (!bt_domain_counters_validate(w->f.state, &reason) ||
		!bt_pod_index_validate(w->f.state, &reason) ||
		!bt_affinity_index_validate(w->f.state, &reason)) {
		ck_abort_msg("seed %llu, step %u: %s", (unsigned long long)w->seed, w->step,
			bt_strbuf_c(&reason));
	}
	bt_strbuf_finish(&reason);
}

/** Adds a pod to the snapshot only, as in a pod group's cycle. */
static void check_with_assumed(struct world *w, const struct bt_pod *probe)
{
	uint32_t index = below(w, NODES);
	const struct bt_pod *assumed;

	if (w->nodes[index] == NULL) {
		return;
	}
	assumed = fixture_pod(&w->f, text_pod(w, node_name(index), false).data);
	ck_assert_int_eq(bt_snapshot_assume_pod(w->f.state, assumed, NULL), 0);
	check_pod(w, probe, NULL);
	ck_assert_int_eq(bt_snapshot_forget_pod(w->f.state, assumed, NULL), 0);
	check_pod(w, probe, NULL);
}

static void begin(struct world *w, uint64_t seed)
{
	static struct bt_plugin_args args = {.kind = BT_ARGS_INTER_POD_AFFINITY};

	*w = (struct world){.seed = seed};
	fixture_init(&w->f, &bt_pod_topology_spread_plugin);
	bt_prng_init(&w->prng, seed);
	ck_assert_int_eq(bt_plugin_create(&bt_inter_pod_affinity_plugin, &args, &w->f.handle,
				 &w->affinity, NULL),
		0);
	w->affinity->index = 1;
}

static void run_seed(uint64_t seed)
{
	static struct world w;
	/* Pods of a few templates recur, as in real clusters, so counters are reused. */
	const struct bt_pod *probes[PROBES];

	begin(&w, seed);
	for (uint32_t i = 0; i < PROBES; i++) {
		probes[i] = fixture_pod(&w.f, text_pod(&w, "", false).data);
	}
	for (w.step = 0; w.step < STEPS; w.step++) {
		uint32_t changes = below(&w, 4) + 1;

		for (uint32_t i = 0; i < changes; i++) {
			uint32_t kind = below(&w, 12);
			if (kind < 3) {
				change_node(&w);
			} else if (kind < 10) {
				change_pod(&w);
			} else if (kind == 10) {
				change_namespace(&w);
			} else {
				change_services(&w);
			}
		}
		ck_assert_int_eq(bt_state_refresh_snapshot(w.f.state, NULL), 0);
		for (uint32_t i = 0; i < PROBES_PER_STEP; i++) {
			uint32_t probe = below(&w, PROBES);
			check_pod(&w, probes[probe], w.kept[probe]);
		}
		if (below(&w, 8) == 0) {
			check_with_assumed(&w, probes[below(&w, PROBES)]);
		}
		check_counters(&w);
	}
	bt_plugin_destroy(w.affinity);
	fixture_finish(&w.f);
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(test_topology__random_steps)
{
	uint64_t first = number_from_environment("BERTH_RANDOM_FIRST", 1);
	uint64_t count = number_from_environment("BERTH_RANDOM_SEEDS", SEEDS_DEFAULT);

	for (uint64_t seed = first; seed < first + count; seed++) {
		run_seed(seed);
	}
}
END_TEST

BT_TEST_MAIN("topology_random", test_topology__random_steps)
