/* SPDX-License-Identifier: Apache-2.0 */
/** Tries proposals in an engine that is loaded from changed objects. */
#include "conformance/conformance_explain.h"

/**
 * For a proposal of at most this many remedies, all subsets are tried. For a larger proposal, only
 * the subsets that lack exactly one remedy are tried.
 */
#define SUBSETS_OF_MAX 5

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

/** Copy the remedies whose bits are set. */
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

/** Complains if a proper subset of the remedies is enough. */
static int check_smaller(struct bt_twin *twin, const struct bt_proposal *proposal,
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
		struct bt_twin_verdict verdict;
		int result = bt_twin_try(twin, some, some_count, proposal->node, &verdict, err);

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

/** Complains if a smaller amount is enough. */
static void check_amounts(
	struct bt_twin *twin, const struct bt_proposal *proposal, struct bt_strbuf *out)
{
	uint32_t count = proposal->remedies.count;
	struct bt_remedy *less = BT_ARENA_NEW_ARRAY(&twin->arena, struct bt_remedy, count);

	for (uint32_t i = 0; i < count; i++) {
		enum bt_remedy_kind kind = proposal->remedies.items[i].kind;
		struct berth_error refused = BERTH_ERROR_INIT;
		struct bt_twin_verdict verdict;

		if (!bt_remedy_has_least_amount(kind)) {
			continue;
		}
		memcpy(less, proposal->remedies.items, count * sizeof(*less));
		less[i].amount--;
		/* bt_twin_try fails if the smaller amount leaves the remedy without effect. */
		if (bt_twin_try(twin, less, count, proposal->node, &verdict, &refused) == 0 &&
			verdict.feasible_count != 0) {
			complain(out, proposal, less, count, BT_STR("the pod fits with less"));
		}
		berth_error_finish(&refused);
	}
}

static int check_proposal(struct bt_twin *twin, const struct bt_proposal *proposal,
	struct bt_strbuf *out, struct berth_error *err)
{
	const struct bt_remedy *remedies = proposal->remedies.items;
	struct berth_error refused = BERTH_ERROR_INIT;
	struct bt_twin_verdict verdict;

	if (proposal->remedies.count == 0 || proposal->remedies.count > 60) {
		complain(out, proposal, remedies, 0, BT_STR("proposes nothing, or too much"));
		return 0;
	}
	if (bt_twin_try(twin, remedies, proposal->remedies.count, proposal->node, &verdict,
		    &refused) != 0) {
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

static bool has_name(const struct bt_twin_verdict *verdict, struct bt_str name)
{
	for (uint32_t i = 0; i < verdict->feasible_count; i++) {
		if (bt_str_equal(verdict->feasible[i], name)) {
			return true;
		}
	}
	return false;
}

/** Without changes the twin must give the same answers as the engine of the case. */
static int is_the_same(struct bt_twin *twin, const struct bt_explanation *explanation,
	bool *out_same, struct berth_error *err)
{
	struct bt_twin_verdict verdict;
	int result = bt_twin_try(twin, explanation->entry_remedies.items,
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
	struct bt_twin twin = {.run = run, .pod_json = json};
	bool same = true;
	int result;

	if (explanation->proposals.count == 0) {
		return 0;
	}
	result = bt_twin_load(&twin, err);
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
	bt_twin_finish(&twin);
	return result;
}
