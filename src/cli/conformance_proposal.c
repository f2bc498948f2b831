/* SPDX-License-Identifier: Apache-2.0 */
/** Proposals tried out in an engine of their own, loaded from changed objects. */
#include "cli/conformance_explain.h"

#include "codec/json_edit.h"

/** Proposals with more remedies are tried without one of them each, not with every subset. */
#define SUBSETS_OF_MAX 5

/** A copy of the case's cluster at the moment of one pod. */
struct twin {
	struct bt_case_run *run;
	struct bt_str pod_json;
	struct bt_engine *engine;
	struct bt_arena arena;
	BT_VEC(struct bt_pod_info *) queued;
	/* What the last change did, to take it back. */
	BT_VEC(struct bt_case_node) changed; /* node: as it was */
	BT_VEC(const struct bt_node *) now;
	BT_VEC(const struct bt_pod *) removed;
};

/** How the pod fares in the twin. */
struct twin_verdict {
	bool node_fits;
	uint32_t feasible_count;
	const struct bt_str *feasible; /* names; all texts in the twin's arena */
	struct bt_str why_not;         /* of the node */
};

void bt_remedies_describe(const struct bt_remedy *remedies, uint32_t count, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_remedy *remedy = &remedies[i];
		uint32_t members = bt_remedy_members(remedy->kind);

		bt_strbuf_printf(
			out, "%s%s", i == 0 ? "" : ", ", bt_remedy_kind_name(remedy->kind));
		if ((members & BT_REMEDY_HAS_RESOURCE) != 0) {
			bt_strbuf_printf(out, " %.*s", BT_STR_ARG(remedy->resource));
		}
		if ((members & BT_REMEDY_HAS_POD) != 0) {
			bt_strbuf_printf(out, " %.*s/%.*s", BT_STR_ARG(remedy->pod_namespace),
				BT_STR_ARG(remedy->pod_name));
		}
		if ((members & BT_REMEDY_HAS_KEY) != 0) {
			bt_strbuf_printf(out, " key=%.*s", BT_STR_ARG(remedy->key));
		}
		if ((members & BT_REMEDY_HAS_VALUE) != 0) {
			bt_strbuf_printf(out, " value=%.*s", BT_STR_ARG(remedy->value));
		}
		if ((members & BT_REMEDY_HAS_EFFECT) != 0) {
			bt_strbuf_printf(out, " effect=%.*s", BT_STR_ARG(remedy->effect));
		}
		if ((members & BT_REMEDY_HAS_INDEX) != 0) {
			bt_strbuf_printf(out, " index=%u", remedy->index);
		}
		if ((members & BT_REMEDY_HAS_AMOUNT) != 0) {
			bt_strbuf_printf(out, " amount=%lld", (long long)remedy->amount);
		}
		if ((members & BT_REMEDY_HAS_NODE) != 0) {
			bt_strbuf_printf(out, " on %.*s", BT_STR_ARG(remedy->node));
		}
	}
}

/* --- the twin --- */

/** The JSON of a tree. */
static struct bt_str tree_text(struct twin *twin, const struct bt_json_value *tree)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_str json;

	bt_json_writer_init(&writer, &text, 0);
	bt_json_write_value(&writer, tree);
	json = bt_arena_str(&twin->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return json;
}

/** As if the write had come back: the case's engine has it assumed. */
static void write_back(
	struct twin *twin, const struct bt_case_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = &twin->arena;
	struct bt_str name = bt_json_text_at(object, "metadata.name");
	struct bt_json_value *annotations = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "metadata"), "annotations");
	struct bt_json_value *ref;

	if (write->volume.length == 0) {
		if (bt_str_equal(name, write->claim) &&
			bt_str_equal(bt_json_text_at(object, "metadata.namespace"),
				write->claim_namespace)) {
			bt_json_set_str(arena, annotations, "volume.kubernetes.io/selected-node",
				write->selected_node);
		}
		return;
	}
	if (!bt_str_equal(name, write->volume)) {
		return;
	}
	ref = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, object, "spec"), "claimRef");
	bt_json_set_c(arena, ref, "kind", "PersistentVolumeClaim");
	bt_json_set_str(arena, ref, "namespace", write->claim_namespace);
	bt_json_set_str(arena, ref, "name", write->claim);
	bt_json_set_str(arena, ref, "uid", write->claim_uid);
	bt_json_set_c(arena, annotations, "pv.kubernetes.io/bound-by-controller", "yes");
}

static int load_stored(struct twin *twin, struct berth_error *err)
{
	const struct bt_case_run *run = twin->run;

	for (uint32_t i = 0; i < run->text.objects.items.count; i++) {
		struct bt_json_value *object;
		int result = bt_json_parse(
			&twin->arena, run->text.objects.items.items[i], false, &object, err);
		struct bt_str kind =
			result == 0 ? bt_json_find_str(object, "kind") : (struct bt_str){NULL, 0};
		bool of_volume = bt_str_equal_c(kind, "PersistentVolume");
		bool of_claim = bt_str_equal_c(kind, "PersistentVolumeClaim");

		for (uint32_t k = 0; (of_volume || of_claim) && k < run->writes.count; k++) {
			if (of_volume == (run->writes.items[k].volume.length != 0)) {
				write_back(twin, &run->writes.items[k], object);
			}
		}
		if (result == 0 && !bt_str_equal_c(kind, "Pod") && !bt_str_equal_c(kind, "Node")) {
			result = bt_case_store_object(twin->engine, tree_text(twin, object), err);
		}
		if (result != 0) {
			return result;
		}
	}
	return 0;
}

static int load_twin(struct twin *twin, struct berth_error *err)
{
	const struct bt_case_run *run = twin->run;
	struct bt_state *state = twin->engine->state;
	int result = load_stored(twin, err);

	for (uint32_t i = 0; result == 0 && i < run->nodes.count; i++) {
		if (!run->nodes.items[i].deleted) {
			bt_state_add_node(state, run->nodes.items[i].node);
		}
	}
	for (uint32_t i = 0; result == 0 && i < run->pods.count; i++) {
		if (run->pods.items[i].placed) {
			result = bt_state_add_pod(state, run->pods.items[i].pod, err);
		}
	}
	for (uint32_t i = 0; result == 0 && i < run->queued.count; i++) {
		struct bt_pod_info *info = BT_ARENA_NEW(&twin->arena, struct bt_pod_info);

		bt_pod_info_init_pending(state, run->queued.items[i]->object, info);
		bt_vec_push(&twin->queued, info);
		bt_nominator_add(&twin->engine->nominator, info,
			info->object->status.nominated_node_name, true);
	}
	return result;
}

static void twin_finish(struct twin *twin)
{
	for (uint32_t i = 0; i < twin->queued.count; i++) {
		bt_nominator_delete(&twin->engine->nominator, twin->queued.items[i]->uid);
		bt_pod_info_finish_pending(twin->engine->state, twin->queued.items[i]);
	}
	bt_engine_destroy(twin->engine);
	bt_vec_finish(&twin->queued);
	bt_vec_finish(&twin->changed);
	bt_vec_finish(&twin->now);
	bt_vec_finish(&twin->removed);
	bt_arena_finish(&twin->arena);
}

/* --- changes --- */

static const struct bt_case_node *find_node(const struct bt_case_run *run, struct bt_str name)
{
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (!run->nodes.items[i].deleted && bt_str_equal(run->nodes.items[i].name, name)) {
			return &run->nodes.items[i];
		}
	}
	return NULL;
}

static bool is_changed(const struct twin *twin, struct bt_str name)
{
	for (uint32_t i = 0; i < twin->changed.count; i++) {
		if (bt_str_equal(twin->changed.items[i].name, name)) {
			return true;
		}
	}
	return false;
}

static int change_node(struct twin *twin, struct bt_str name, const struct bt_remedy *remedies,
	uint32_t count, struct berth_error *err)
{
	const struct bt_case_node *node = find_node(twin->run, name);
	struct bt_json_value *tree;
	void *now = NULL;
	int result;

	if (node == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "there is no node %.*s", BT_STR_ARG(name));
	}
	result = bt_json_parse(&twin->arena, node->json, true, &tree, err);
	if (result == 0) {
		result = bt_remedies_edit_node(&twin->arena, tree, name, remedies, count, err);
	}
	if (result == 0) {
		result = bt_case_decode(
			&bt_node_message, tree_text(twin, tree), &twin->arena, &now, err);
	}
	if (result == 0) {
		bt_state_update_node(twin->engine->state, node->node, now);
		bt_vec_push(&twin->changed, *node);
		bt_vec_push(&twin->now, (const struct bt_node *)now);
	}
	return result;
}

static int remove_pod(struct twin *twin, const struct bt_remedy *remedy, struct berth_error *err)
{
	struct bt_case_run *run = twin->run;

	for (uint32_t i = 0; i < run->pods.count; i++) {
		const struct bt_case_pod *entry = &run->pods.items[i];

		if (entry->placed &&
			bt_str_equal(entry->pod->metadata.namespace_, remedy->pod_namespace) &&
			bt_str_equal(entry->pod->metadata.name, remedy->pod_name) &&
			bt_str_equal(entry->pod->spec.node_name, remedy->node)) {
			bt_vec_push(&twin->removed, entry->pod);
			return bt_state_remove_pod(twin->engine->state, entry->pod, err);
		}
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "RemovePod: no pod %.*s/%.*s is on node %.*s",
		BT_STR_ARG(remedy->pod_namespace), BT_STR_ARG(remedy->pod_name),
		BT_STR_ARG(remedy->node));
}

static int change_cluster(struct twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct berth_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		if (remedies[i].kind == BT_REMEDY_REMOVE_POD) {
			result = remove_pod(twin, &remedies[i], err);
		} else if (!bt_remedy_is_of_pod(remedies[i].kind) &&
			!is_changed(twin, remedies[i].node)) {
			result = change_node(twin, remedies[i].node, remedies, count, err);
		}
	}
	return result;
}

static int change_back(struct twin *twin, struct berth_error *err)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < twin->removed.count; i++) {
		result = bt_state_add_pod(twin->engine->state, twin->removed.items[i], err);
	}
	for (uint32_t i = 0; i < twin->changed.count; i++) {
		bt_state_update_node(
			twin->engine->state, twin->now.items[i], twin->changed.items[i].node);
	}
	twin->removed.count = 0;
	twin->changed.count = 0;
	twin->now.count = 0;
	return result;
}

/* --- verdicts --- */

static void read_evaluation(struct twin *twin, const struct bt_evaluation *evaluation,
	struct bt_str node_name, struct twin_verdict *out)
{
	struct bt_str *names =
		BT_ARENA_NEW_ARRAY(&twin->arena, struct bt_str, evaluation->feasible_count);

	out->why_not = bt_status_message_str(&evaluation->pre_filter.status, &twin->arena);
	if (!bt_status_is_success(&evaluation->error)) {
		out->why_not = bt_status_message_str(&evaluation->error, &twin->arena);
		return;
	}
	for (uint32_t i = 0; i < evaluation->node_count; i++) {
		const struct bt_node_evaluation *node = &evaluation->nodes[i];
		struct bt_str name = bt_node_table_name(&twin->engine->state->nodes, node->slot);
		bool fits = bt_status_is_success(&node->filter);

		if (fits) {
			names[out->feasible_count++] = bt_arena_str(&twin->arena, name);
		}
		if (bt_str_equal(name, node_name)) {
			out->node_fits = fits;
			out->why_not = bt_status_message_str(&node->filter, &twin->arena);
		}
	}
	out->feasible = names;
}

static void judge(struct twin *twin, const struct bt_pod_info *info, struct bt_str node_name,
	struct twin_verdict *out)
{
	struct bt_framework *framework =
		bt_engine_profile(twin->engine, info->object->spec.scheduler_name);
	struct bt_evaluation evaluation;
	struct bt_plugin *gating;
	struct bt_status status;

	out->why_not = BT_STR("no profile has its schedulerName");
	if (framework == NULL) {
		return;
	}
	status = bt_run_pre_enqueue(framework, info, &twin->arena, &gating);
	out->why_not = bt_status_message_str(&status, &twin->arena);
	if (bt_status_is_success(&status)) {
		bt_engine_evaluate(twin->engine, framework, info, &evaluation);
		read_evaluation(twin, &evaluation, node_name, out);
	}
}

/** Errors: a remedy does not apply. */
static int try_out(struct twin *twin, const struct bt_remedy *remedies, uint32_t count,
	struct bt_str node_name, struct twin_verdict *out, struct berth_error *err)
{
	struct berth_error back_err = BERTH_ERROR_INIT;
	struct bt_json_value *tree;
	struct bt_pod_info info;
	void *pod = NULL;
	int back;
	int result = bt_json_parse(&twin->arena, twin->pod_json, true, &tree, err);

	*out = (struct twin_verdict){0};
	if (result == 0) {
		result = bt_remedies_edit_pod(&twin->arena, tree, remedies, count, err);
	}
	if (result == 0) {
		result = bt_case_decode(
			&bt_pod_message, tree_text(twin, tree), &twin->arena, &pod, err);
	}
	if (result == 0) {
		result = change_cluster(twin, remedies, count, err);
	}
	if (result == 0) {
		bt_pod_info_init_pending(twin->engine->state, pod, &info);
		judge(twin, &info, node_name, out);
		bt_pod_info_finish_pending(twin->engine->state, &info);
	}
	back = change_back(twin, &back_err);
	if (back != 0 && result == 0) {
		result = bt_error_move(err, &back_err);
	}
	berth_error_finish(&back_err);
	return result;
}

/* --- proposals --- */

static void complain(struct bt_strbuf *out, const struct bt_proposal *proposal,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str what)
{
	bt_strbuf_append_c(out, "    proposed: ");
	bt_remedies_describe(proposal->remedies.items, proposal->remedies.count, out);
	if (remedies != proposal->remedies.items) {
		bt_strbuf_append_c(out, "\n    but this is enough: ");
		bt_remedies_describe(remedies, count, out);
		if (count == 0) {
			bt_strbuf_append_c(out, "nothing");
		}
	}
	bt_strbuf_printf(
		out, "\n    node %.*s: %.*s\n", BT_STR_ARG(proposal->node), BT_STR_ARG(what));
}

/** Remedies by bit. */
static uint32_t subset_of(const struct bt_proposal *proposal, uint64_t bits, struct bt_remedy *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < proposal->remedies.count; i++) {
		if ((bits >> i & 1) != 0) {
			out[count++] = proposal->remedies.items[i];
		}
	}
	return count;
}

/** No proper subset lets the pod in on the node. */
static int check_smaller(struct twin *twin, const struct bt_proposal *proposal,
	struct bt_strbuf *out, struct berth_error *err)
{
	uint32_t count = proposal->remedies.count;
	uint64_t all = (UINT64_C(1) << count) - 1;
	struct bt_remedy *some = BT_ARENA_NEW_ARRAY(&twin->arena, struct bt_remedy, count);
	bool every = count <= SUBSETS_OF_MAX;
	uint64_t tries = every ? all : count;

	for (uint64_t i = 0; i < tries; i++) {
		uint32_t some_count =
			subset_of(proposal, every ? i : all & ~(UINT64_C(1) << i), some);
		struct twin_verdict verdict;
		int result = try_out(twin, some, some_count, proposal->node, &verdict, err);

		if (result != 0) {
			return result;
		}
		if (verdict.feasible_count != 0) {
			complain(out, proposal, some, some_count, BT_STR("the pod fits with less"));
			return 0;
		}
	}
	return 0;
}

/** No amount is larger than it must be. */
static void check_amounts(
	struct twin *twin, const struct bt_proposal *proposal, struct bt_strbuf *out)
{
	uint32_t count = proposal->remedies.count;
	struct bt_remedy *less = BT_ARENA_NEW_ARRAY(&twin->arena, struct bt_remedy, count);

	for (uint32_t i = 0; i < count; i++) {
		enum bt_remedy_kind kind = proposal->remedies.items[i].kind;
		struct berth_error refused = BERTH_ERROR_INIT;
		struct twin_verdict verdict;

		if (kind != BT_REMEDY_FREE_RESOURCE && kind != BT_REMEDY_RAISE_MAX_SKEW) {
			continue;
		}
		memcpy(less, proposal->remedies.items, count * sizeof(*less));
		less[i].amount--;
		/* One less may be no change at all, which is refused. */
		if (try_out(twin, less, count, proposal->node, &verdict, &refused) == 0 &&
			verdict.feasible_count != 0) {
			complain(out, proposal, less, count, BT_STR("the pod fits with less"));
		}
		berth_error_finish(&refused);
	}
}

static int check_proposal(struct twin *twin, const struct bt_proposal *proposal,
	struct bt_strbuf *out, struct berth_error *err)
{
	const struct bt_remedy *remedies = proposal->remedies.items;
	struct berth_error refused = BERTH_ERROR_INIT;
	struct twin_verdict verdict;

	if (proposal->remedies.count == 0 || proposal->remedies.count > 60) {
		complain(out, proposal, remedies, 0, BT_STR("proposes nothing, or too much"));
		return 0;
	}
	if (try_out(twin, remedies, proposal->remedies.count, proposal->node, &verdict, &refused) !=
		0) {
		complain(out, proposal, remedies, 0, bt_str_from(berth_error_message(&refused)));
		berth_error_finish(&refused);
		return 0;
	}
	if (!verdict.node_fits) {
		complain(out, proposal, remedies, 0,
			bt_arena_printf(&twin->arena, "the pod does not fit then: %.*s",
				BT_STR_ARG(verdict.why_not)));
		return 0;
	}
	if (verdict.feasible_count != proposal->opened_count) {
		complain(out, proposal, remedies, 0,
			bt_arena_printf(&twin->arena, "opens %u nodes, not %u",
				verdict.feasible_count, proposal->opened_count));
	}
	check_amounts(twin, proposal, out);
	return check_smaller(twin, proposal, out, err);
}

static bool has_name(const struct twin_verdict *verdict, struct bt_str name)
{
	for (uint32_t i = 0; i < verdict->feasible_count; i++) {
		if (bt_str_equal(verdict->feasible[i], name)) {
			return true;
		}
	}
	return false;
}

/** Without changes the twin answers as the engine of the case does. */
static int is_the_same(struct twin *twin, const struct bt_explanation *explanation, bool *out_same,
	struct berth_error *err)
{
	struct twin_verdict verdict;
	int result = try_out(twin, explanation->entry_remedies.items,
		explanation->entry_remedies.count, BT_STR(""), &verdict, err);

	*out_same = result == 0 && verdict.feasible_count == explanation->feasible_count;
	for (uint32_t i = 0; *out_same && i < explanation->nodes.count; i++) {
		const struct bt_explained_node *node = &explanation->nodes.items[i];

		*out_same =
			has_name(&verdict, node->name) == (node->group == BT_EXPLAIN_GROUP_NONE);
	}
	return result;
}

int bt_case_check_proposals(struct bt_case_run *run, struct bt_str json,
	const struct bt_explanation *explanation, struct bt_strbuf *out, struct berth_error *err)
{
	struct twin twin = {.run = run, .pod_json = json};
	bool same = true;
	int result;

	if (explanation->proposals.count == 0) {
		return 0;
	}
	result = bt_case_create_engine(run, false, &twin.engine, err);
	if (result == 0) {
		result = load_twin(&twin, err);
	}
	if (result == 0) {
		result = is_the_same(&twin, explanation, &same, err);
	}
	if (result == 0 && !same) {
		bt_strbuf_append_c(
			out, "    the cluster loaded anew answers otherwise without changes\n");
	}
	for (uint32_t i = 0; result == 0 && same && i < explanation->proposals.count; i++) {
		result = check_proposal(&twin, &explanation->proposals.items[i], out, err);
		run->tally->proposals++;
	}
	twin_finish(&twin);
	return result;
}
