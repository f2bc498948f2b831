/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A Score plugin: nodes with a larger number in a label are better. The label is an argument:
 *
 *         pluginConfig:
 *         - name: CustomScore
 *           args: {label: example.com/speed, smallerIsBetter: false}
 *
 * The plugin shows the use of arguments with defaults and checks, raw scores, normalising, a
 * signature, and the promise that makes scoring cheap: the scores depend on node labels only.
 */
#include <stdlib.h>

#include "berth/plugin.h"

struct args {
	struct berth_str label;
	bool smaller_is_better;
};

struct custom_score {
	struct berth_plugin base; /* first member, for casts between the two types */
	struct args args;
	struct berth_arena *arena; /* texts of args */
};

static const struct berth_args_field args_fields[] = {
	{"label", BERTH_ARGS_STR, offsetof(struct args, label), NULL},
	{"smallerIsBetter", BERTH_ARGS_BOOL, offsetof(struct args, smaller_is_better), NULL},
};

static const struct berth_args_schema args_schema = {
	.type_name = "CustomScoreArgs",
	.size = sizeof(struct args),
	.fields = args_fields,
	.field_count = 2,
	.strict = true,
};

static const struct custom_score *custom_score_of(const struct berth_plugin *plugin)
{
	return (const struct custom_score *)(const void *)plugin;
}

/**
 * Parse up to nine digits. Any other text counts as 0, since users may write anything in labels.
 */
static int64_t number_in(struct berth_str text)
{
	int64_t number = 0;

	if (text.length == 0 || text.length > 9) {
		return 0;
	}
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] < '0' || text.data[i] > '9') {
			return 0;
		}
		number = number * 10 + (text.data[i] - '0');
	}
	return number;
}

static struct berth_status score(struct berth_plugin *plugin, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node, int64_t *out_score)
{
	(void)state;
	(void)pod;
	*out_score = number_in(berth_node_info_label(node, custom_score_of(plugin)->args.label));
	return BERTH_STATUS_SUCCESS;
}

/** Adds nothing to the signature: the score does not depend on the pod. */
static struct berth_status sign(struct berth_plugin *plugin, const struct berth_pod_info *pod,
	struct berth_sign_fragments *fragments)
{
	(void)plugin;
	(void)pod;
	(void)fragments;
	return BERTH_STATUS_SUCCESS;
}

static void destroy(struct berth_plugin *plugin)
{
	struct custom_score *custom = (struct custom_score *)(void *)plugin;

	berth_arena_destroy(custom->arena);
	free(custom);
}

/** One table for each direction, since the direction of the scores is an argument. */
static const struct berth_plugin_ops larger_is_better = {
	.size = sizeof(struct berth_plugin_ops),
	.name = "CustomScore",
	.destroy = destroy,
	.sign = sign,
	.score = score,
	.normalize = BERTH_NORMALIZE_DEFAULT,
	.score_reads = BERTH_READS_LABELS,
};

static const struct berth_plugin_ops smaller_is_better = {
	.size = sizeof(struct berth_plugin_ops),
	.name = "CustomScore",
	.destroy = destroy,
	.sign = sign,
	.score = score,
	.normalize = BERTH_NORMALIZE_DEFAULT_REVERSE,
	.score_reads = BERTH_READS_LABELS,
};

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	struct custom_score *custom = calloc(1, sizeof(*custom));

	(void)context;
	(void)handle;
	if (custom == NULL) {
		return berth_error_set(err, BERTH_ERR_INTERNAL, "out of memory");
	}
	custom->base.ops = &larger_is_better;
	custom->args.label = BERTH_STR("example.com/speed");
	custom->arena = berth_arena_create();

	int result = berth_plugin_args_decode_into(
		args, &args_schema, custom->arena, &custom->args, err);

	if (result == BERTH_OK && custom->args.label.length == 0) {
		result = berth_error_set(err, BERTH_ERR_INVALID, "label: must not be empty");
	}
	if (result != BERTH_OK) {
		destroy(&custom->base);
		return result;
	}
	if (custom->args.smaller_is_better) {
		custom->base.ops = &smaller_is_better;
	}
	*out_plugin = &custom->base;
	return BERTH_OK;
}

static const struct berth_plugin_descriptor plugins[] = {{"CustomScore", create, NULL}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "custom_score",
	.plugins = plugins,
	.plugin_count = 1,
};
