/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/signature.h"

#include <stdlib.h>

#include "framework/runner.h"

/** A fragment and when it was added: the last one of a key counts. */
struct sorted_fragment {
	struct bt_sign_fragment fragment;
	uint32_t order;
};

static int compare_fragments(const void *a, const void *b)
{
	const struct sorted_fragment *left = a;
	const struct sorted_fragment *right = b;
	int order = bt_str_compare(left->fragment.key, right->fragment.key);

	if (order != 0) {
		return order;
	}
	return (left->order > right->order) - (left->order < right->order);
}

/** Lengths in front make it injective whatever the texts contain. */
static void write_text(struct bt_strbuf *out, struct bt_str text)
{
	bt_strbuf_printf(out, "%u:", text.length);
	bt_strbuf_append_str(out, text);
}

static void write_signature(const struct bt_sign_fragments *fragments, struct bt_strbuf *out)
{
	uint32_t count = fragments->items.count;
	struct sorted_fragment *sorted =
		BT_ARENA_NEW_ARRAY(fragments->arena, struct sorted_fragment, count);

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] =
			(struct sorted_fragment){.fragment = fragments->items.items[i], .order = i};
	}
	qsort(sorted, count, sizeof(*sorted), compare_fragments);
	for (uint32_t i = 0; i < count; i++) {
		if (i + 1 < count &&
			bt_str_equal(sorted[i].fragment.key, sorted[i + 1].fragment.key)) {
			continue;
		}
		write_text(out, sorted[i].fragment.key);
		write_text(out, sorted[i].fragment.value);
	}
}

static bool sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal)
{
	struct bt_sign_fragments fragments = {.arena = arena};
	struct bt_sign_fragment own = {.key = BT_STR("v1.Pod.Spec.SchedulerName")};
	bool signable = true;

	own.value = pod->shape->pod->spec.scheduler_name;
	bt_vec_push(&fragments.items, own);
	for (uint32_t i = 0; i < framework->sign_plugin_count && signable; i++) {
		struct bt_plugin *plugin = framework->sign_plugins[i];
		int64_t started_ns = bt_profile_now(framework->metrics);
		struct bt_status status = plugin->ops->sign(plugin, pod, &fragments);

		bt_runner_plugin_ran(framework, plugin, BT_TIMED_SIGN, &status, started_ns);
		bt_profile_evaluated(framework->metrics, plugin, BT_TIMED_SIGN, 1);
		signable = bt_status_is_success(&status);
		if (!signable && out_refusal != NULL) {
			*out_refusal = bt_runner_with_plugin(status, plugin);
		}
	}
	if (signable) {
		write_signature(&fragments, out);
	}
	bt_vec_finish(&fragments.items);
	return signable;
}

/** As if the plugins up to the one that refuses had been called. */
static void count_refusal(const struct bt_framework *framework)
{
	if (framework->metrics == NULL || framework->sign_refusal_count == 0) {
		return;
	}
	for (uint32_t i = 0; i < framework->sign_refusal_count; i++) {
		bt_profile_evaluated(
			framework->metrics, framework->sign_plugins[i], BT_TIMED_SIGN, 1);
	}
	(void)bt_profile_point_ran(framework->metrics, BT_TIMED_SIGN, BT_STATUS_SUCCESS,
		bt_profile_now(framework->metrics));
}

bool bt_sign_pod(const struct bt_framework *framework, const struct bt_pod_info *pod,
	struct bt_arena *arena, struct bt_strbuf *out, struct bt_status *out_refusal)
{
	int64_t started_ns;
	bool signable;

	if (out_refusal != NULL) {
		*out_refusal = BT_STATUS_OK;
	}
	if (!framework->signatures_enabled) {
		count_refusal(framework);
		return false;
	}
	started_ns = bt_profile_now(framework->metrics);
	signable = sign_pod(framework, pod, arena, out, out_refusal);
	(void)bt_profile_point_ran(
		framework->metrics, BT_TIMED_SIGN, BT_STATUS_SUCCESS, started_ns);
	return signable;
}
