/* SPDX-License-Identifier: Apache-2.0 */
/** Compares explanations with recorded results. */
#include "conformance/conformance_explain.h"

#include <stdlib.h>

#include "codec/json_edit.h"

/** Number of proposals to request. The small clusters of the vectors rarely have more. */
#define PROPOSALS_MAX 8

/** One pod's explanation and its recorded result. */
struct check {
	struct bt_case_run *run;
	const struct bt_explanation *explanation;
	const struct bt_json_value *expected;
	struct bt_strbuf text; /* complaints */
};

BT_PRINTF(2, 3)
static void complain(struct check *check, const char *format, ...)
{
	va_list arguments;

	bt_strbuf_append_c(&check->text, "    ");
	va_start(arguments, format);
	bt_strbuf_vprintf(&check->text, format, arguments);
	va_end(arguments);
	bt_strbuf_append_char(&check->text, '\n');
}

/* --- groups: the filter map --- */

/** Whether the group has the recorded reasons. The order of scalar resources is not recorded. */
static bool has_reasons(const struct bt_explained_group *group, const struct bt_json_value *verdict)
{
	const struct bt_json_value *reasons = bt_json_array_at(verdict, "reasons");

	if (reasons->count != group->reasons.count) {
		return false;
	}
	for (uint32_t i = 0; i < reasons->count; i++) {
		if (!bt_json_has_text(reasons, group->reasons.items[i])) {
			return false;
		}
	}
	return true;
}

static void check_filtered_node(struct check *check, const struct bt_explained_group *group,
	const struct bt_explained_node *node)
{
	const struct bt_json_value *verdict =
		bt_json_get(bt_json_object_at(check->expected, "filter"), node->name);

	if (verdict == NULL) {
		complain(check, "node %.*s is in a group, and was not rejected by a filter",
			BT_STR_ARG(node->name));
		return;
	}
	if (!bt_str_equal_c(bt_json_text_at(verdict, "code"), bt_status_code_name(group->code)) ||
		!bt_str_equal(bt_json_text_at(verdict, "plugin"), group->plugin) ||
		!has_reasons(group, verdict)) {
		complain(check,
			"node %.*s is in the group of %.*s (%s), and was rejected otherwise",
			BT_STR_ARG(node->name), BT_STR_ARG(group->plugin),
			bt_status_code_name(group->code));
	}
}

/**
 * Checks a node that PreFilter rejected according to the explanation. The recorded filter map lacks
 * the node, so the recorded PreFilter must have failed or named only other nodes.
 */
static void check_narrowed_node(struct check *check, const struct bt_explained_node *node)
{
	const struct bt_json_value *named = bt_json_find(check->expected, "preFilterNodes");
	bool passed = bt_str_equal_c(bt_json_text_at(check->expected, "preFilter.code"), "Success");

	if (passed && (named == NULL || bt_json_has_text(named, node->name))) {
		complain(check, "node %.*s is said to be rejected by PreFilter",
			BT_STR_ARG(node->name));
	}
}

static void check_group(struct check *check, uint32_t index, uint32_t *filtered)
{
	const struct bt_explanation *explanation = check->explanation;
	const struct bt_explained_group *group = &explanation->groups.items[index];
	bool brief = check->run->text.brief;

	for (uint32_t i = 0; i < group->nodes.count; i++) {
		const struct bt_explained_node *node =
			&explanation->nodes.items[group->nodes.items[i]];

		if (node->group != index) {
			complain(check, "node %.*s is in a group that it does not name",
				BT_STR_ARG(node->name));
		} else if (group->in_pre_filter) {
			check_narrowed_node(check, node);
		} else if (!brief) {
			check_filtered_node(check, group, node);
		}
	}
	*filtered += group->in_pre_filter ? 0 : group->nodes.count;
}

static void check_groups(struct check *check)
{
	const struct bt_explanation *explanation = check->explanation;
	uint32_t filtered = 0;
	uint32_t rejected = 0;
	uint32_t fitting = 0;

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		check_group(check, i, &filtered);
		rejected += explanation->groups.items[i].nodes.count;
	}
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		const struct bt_explained_node *node = &explanation->nodes.items[i];

		fitting += node->group == BT_EXPLAIN_GROUP_NONE;
		if (node->group == BT_EXPLAIN_GROUP_NONE && !check->run->text.brief &&
			!bt_json_has_text(
				bt_json_array_at(check->expected, "feasible"), node->name)) {
			complain(check, "node %.*s is said to fit", BT_STR_ARG(node->name));
		}
	}
	if (rejected + fitting != explanation->node_count ||
		explanation->nodes.count != explanation->node_count) {
		complain(check, "%u nodes rejected and %u fitting are not all %u", rejected,
			fitting, explanation->node_count);
	}
	if (!check->run->text.brief &&
		filtered != bt_json_object_at(check->expected, "filter")->count) {
		complain(check, "%u nodes are in groups of filters, %u were rejected by one",
			filtered, bt_json_object_at(check->expected, "filter")->count);
	}
	if (fitting != explanation->feasible_count) {
		complain(check, "%u nodes fit, feasible_count is %u", fitting,
			explanation->feasible_count);
	}
}

/* --- groups: the message --- */

struct line {
	struct bt_str reason;
	uint64_t count;
	struct bt_str text;
};

static int compare_lines(const void *a, const void *b)
{
	return bt_str_compare(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static uint32_t count_reasons(const struct bt_explanation *explanation, struct line *lines)
{
	uint32_t count = 0;

	for (uint32_t g = 0; g < explanation->groups.count; g++) {
		const struct bt_explained_group *group = &explanation->groups.items[g];

		for (uint32_t i = 0; i < group->reasons.count; i++) {
			uint32_t at = 0;

			while (at < count &&
				!bt_str_equal(lines[at].reason, group->reasons.items[i])) {
				at++;
			}
			if (at == count) {
				lines[count++] = (struct line){.reason = group->reasons.items[i]};
			}
			lines[at].count += group->nodes.count;
		}
	}
	return count;
}

/** Appends upstream's message, computed from the reasons of the groups alone. */
static void append_message(struct check *check, struct bt_strbuf *out)
{
	const struct bt_explanation *explanation = check->explanation;
	bool pre_filtered = explanation->groups.count == 1 &&
		explanation->groups.items[0].in_pre_filter &&
		!bt_str_equal_c(bt_json_text_at(check->expected, "preFilter.code"), "Success");
	uint32_t most = 0;
	uint32_t count;
	struct line *lines;

	for (uint32_t g = 0; g < explanation->groups.count; g++) {
		most += explanation->groups.items[g].reasons.count;
	}
	lines = BT_ARENA_NEW_ARRAY(&check->run->arena, struct line, most);
	count = count_reasons(explanation, lines);
	for (uint32_t i = 0; i < count; i++) {
		lines[i].text = pre_filtered
			? lines[i].reason
			: bt_arena_printf(&check->run->arena, "%llu %.*s",
				  (unsigned long long)lines[i].count, BT_STR_ARG(lines[i].reason));
	}
	if (!pre_filtered && count > 1) {
		qsort(lines, count, sizeof(*lines), compare_lines);
	}
	bt_strbuf_printf(out, "0/%u nodes are available:", explanation->node_count);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(out, "%s%.*s", i == 0 ? " " : ", ", BT_STR_ARG(lines[i].text));
	}
	if (count != 0) {
		bt_strbuf_append_char(out, '.');
	}
}

static void check_message(struct check *check)
{
	struct bt_str recorded = bt_json_text_at(check->expected, "message");
	struct bt_str post_filter = bt_json_text_at(check->expected, "postFilter.message");
	struct bt_str whole = recorded;
	struct bt_strbuf text = {0};

	append_message(check, &text);
	if (!bt_str_equal(bt_strbuf_str(&text), recorded)) {
		complain(check, "the groups add up to: %s\n    recorded message:     %.*s",
			bt_strbuf_c(&text), BT_STR_ARG(recorded));
	}
	bt_strbuf_finish(&text);
	if (post_filter.length != 0) {
		whole = bt_arena_printf(&check->run->arena, "%.*s %.*s", BT_STR_ARG(recorded),
			BT_STR_ARG(post_filter));
	}
	if (check->explanation->fate == BT_EXPLAINED_GATED) {
		/*
		 * The recording ran without PreEnqueue, and PreFilter rejected the pod with the
		 * same message.
		 */
		whole = bt_arena_printf(&check->run->arena, "0/%u nodes are available: %.*s.",
			check->explanation->node_count, BT_STR_ARG(check->explanation->message));
		if (!bt_str_equal(whole, recorded)) {
			complain(check, "gate: %.*s\n    recorded: %.*s", BT_STR_ARG(whole),
				BT_STR_ARG(recorded));
		}
	} else if (!bt_str_equal(check->explanation->message, whole)) {
		complain(check, "message: %.*s\n    recorded: %.*s",
			BT_STR_ARG(check->explanation->message), BT_STR_ARG(whole));
	}
}

/* --- scores --- */

static void check_scores_of(struct check *check, const struct bt_explained_node *node)
{
	const struct bt_json_value *recorded =
		bt_json_get(bt_json_object_at(check->expected, "scores"), node->name);
	const struct bt_json_value *plugins = bt_json_object_at(recorded, "plugins");

	if (node->total_score != bt_json_int64_at(recorded, "total", -1) ||
		node->scores.count != plugins->count) {
		complain(check, "node %.*s: total score %lld of %u plugins", BT_STR_ARG(node->name),
			(long long)node->total_score, node->scores.count);
	}
	for (uint32_t i = 0; i < node->scores.count; i++) {
		const struct bt_json_value *score =
			bt_json_get(plugins, node->scores.items[i].plugin);
		int64_t value = 0;

		if (score == NULL || score->type != BT_JSON_NUMBER ||
			!bt_json_number_int64(score->text, &value) ||
			value != node->scores.items[i].score) {
			complain(check, "node %.*s: score %lld of %.*s", BT_STR_ARG(node->name),
				(long long)node->scores.items[i].score,
				BT_STR_ARG(node->scores.items[i].plugin));
		}
	}
}

static void check_fitting(struct check *check)
{
	const struct bt_explanation *explanation = check->explanation;
	struct bt_str selected = bt_json_text_at(check->expected, "selected");

	if (!bt_str_equal(explanation->best_node, selected)) {
		complain(check, "best node %.*s, recorded %.*s", BT_STR_ARG(explanation->best_node),
			BT_STR_ARG(selected));
	}
	for (uint32_t i = 0; !check->run->text.brief && i < explanation->nodes.count; i++) {
		if (explanation->nodes.items[i].group == BT_EXPLAIN_GROUP_NONE) {
			check_scores_of(check, &explanation->nodes.items[i]);
		}
	}
}

/* --- preemption --- */

static const struct bt_json_value *find_candidate(
	const struct bt_json_value *candidates, struct bt_str node)
{
	for (uint32_t i = 0; i < candidates->count; i++) {
		if (bt_str_equal(bt_json_text_at(candidates->elements[i], "node"), node)) {
			return candidates->elements[i];
		}
	}
	return NULL;
}

static void check_candidate(struct check *check, const struct bt_explained_candidate *candidate)
{
	const struct bt_json_value *recorded = find_candidate(
		bt_json_array_at(check->expected, "postFilter.candidates"), candidate->node);
	const struct bt_json_value *victims = bt_json_array_at(recorded, "victims");
	bool same = victims->count == candidate->victims.count &&
		candidate->pdb_violations == bt_json_int64_at(recorded, "pdbViolations", -1);

	for (uint32_t i = 0; same && i < victims->count; i++) {
		struct bt_str key = bt_arena_printf(&check->run->arena, "%.*s/%.*s",
			BT_STR_ARG(candidate->victims.items[i].namespace_),
			BT_STR_ARG(candidate->victims.items[i].name));

		same = bt_str_equal(key, victims->elements[i]->text);
	}
	if (!same) {
		complain(check, "preemption on %.*s was recorded otherwise",
			BT_STR_ARG(candidate->node));
	}
}

static void check_preemption(struct check *check)
{
	const struct bt_explained_preemption *preemption = &check->explanation->preemption;
	struct bt_str nominated = bt_json_text_at(check->expected, "postFilter.nominated");
	uint32_t recorded = bt_json_array_at(check->expected, "postFilter.candidates")->count;
	uint32_t covered = preemption->candidates.count;
	bool by_node = bt_json_find_path(check->expected, "postFilter.choices") != NULL;

	if (!preemption->ran) {
		return;
	}
	if (!check->run->text.brief && preemption->candidates.count != recorded) {
		complain(check, "preemption has %u candidates, recorded are %u",
			preemption->candidates.count, recorded);
	}
	for (uint32_t i = 0; !check->run->text.brief && i < preemption->candidates.count; i++) {
		check_candidate(check, &preemption->candidates.items[i]);
		if (preemption->candidates.items[i].selected != (i == 0)) {
			complain(check, "the selected candidate is not the first one");
		}
	}
	if (by_node &&
		!bt_json_has_text(bt_json_array_at(check->expected, "postFilter.choices"),
			preemption->node)) {
		complain(check, "preemption nominates %.*s, recorded is %.*s",
			BT_STR_ARG(preemption->node), BT_STR_ARG(nominated));
	}
	for (uint32_t i = 0; i < preemption->refusals.count; i++) {
		covered += preemption->refusals.items[i].node_count;
	}
	if (covered != check->explanation->node_count) {
		complain(check, "preemption covers %u nodes of %u", covered,
			check->explanation->node_count);
	}
}

/* --- one pod --- */

/**
 * Whether the errors are the same. Errors of Filter need the same plugin, but not the same node:
 * the node that fails first depends on where the search begins.
 */
static bool is_same_error(struct bt_str message, struct bt_str recorded)
{
	static const struct bt_str of_filter = BT_STR_INIT(" filter plugin: ");
	int64_t at = bt_str_find(recorded, of_filter);

	return bt_str_equal(message, recorded) ||
		(at >= 0 &&
			bt_str_has_prefix(
				message, bt_str_sub(recorded, 0, (uint32_t)at + of_filter.length)));
}

static void check_all(struct check *check)
{
	const struct bt_explanation *explanation = check->explanation;
	struct bt_str error = bt_json_text_at(check->expected, "error");

	/* The error came from scoring, which berth skips for a single feasible node. */
	if (error.length != 0 && explanation->fate == BT_EXPLAINED_FITS &&
		explanation->feasible_count == 1) {
		return;
	}
	if (error.length != 0) {
		if (explanation->fate != BT_EXPLAINED_ERROR ||
			!is_same_error(explanation->message, error)) {
			complain(check, "fate %d, message %.*s; recorded error: %.*s",
				(int)explanation->fate, BT_STR_ARG(explanation->message),
				BT_STR_ARG(error));
		}
		return;
	}
	if (explanation->node_count == 0) {
		return;
	}
	check_groups(check);
	if (bt_json_find(check->expected, "message") != NULL) {
		check_message(check);
		check_preemption(check);
	} else {
		check_fitting(check);
	}
}

static const struct bt_node *find_node(void *context, struct bt_str name)
{
	return bt_case_find_node(context, name);
}

static int check_explanation(struct check *check, struct bt_str json, struct berth_error *err)
{
	const struct bt_explanation *explanation = check->explanation;

	check_all(check);
	check->run->tally->pods++;
	if (explanation->feasible_count == 0 && explanation->node_count != 0 &&
		explanation->proposals.count == 0) {
		check->run->tally->without_proposal++;
	}
	return bt_case_check_proposals(check->run, json, explanation, &check->text, err);
}

int bt_case_explain(struct bt_case_run *run, const struct bt_pod *pod, struct bt_str json,
	struct berth_error *err)
{
	const struct bt_json_value *results = bt_json_array_at(run->expected, "results");
	struct bt_explain_options options = {.proposals_max = PROPOSALS_MAX,
		.preemption = true,
		.objects = {.node = find_node, .context = run}};
	struct bt_explanation explanation = {0};
	struct check check = {.run = run, .explanation = &explanation};
	int result;

	if (run->result_count >= results->count) {
		return 0;
	}
	check.expected = results->elements[run->result_count];
	result = bt_explain(run->engine, pod, &options, &explanation, err);
	if (result == 0) {
		result = check_explanation(&check, json, err);
	}
	if (result == 0 && check.text.length != 0) {
		bt_strbuf_printf(run->complaints, "  explanation of pod %.*s/%.*s:\n%s",
			BT_STR_ARG(pod->metadata.namespace_), BT_STR_ARG(pod->metadata.name),
			bt_strbuf_c(&check.text));
	}
	bt_explanation_finish(&explanation);
	bt_strbuf_finish(&check.text);
	return result;
}
