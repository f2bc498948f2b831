/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Places pods that share GPUs so that typical pods can use most of the free GPU that is left.
 *
 * A resource of the node counts GPUs in thousandths, 1000 for each GPU. A pod requests less than
 * 1000 (a share of one GPU) or a multiple of 1000 (whole GPUs). The plugin assigns the GPUs: Filter
 * requires a GPU with room for the share, or enough empty GPUs; Reserve takes the GPU with the
 * least free room that fits, and the pod keeps the GPU.
 *
 * Score measures fragmentation as the paper "Beware of Fragmentation: Scheduling GPU-Sharing
 * Workloads with Fragmentation Gradient Descent" (USENIX ATC 2023) describes it: free GPU of a node
 * that a typical pod could not use, averaged over typical pods. The best node is the one whose
 * fragmentation grows least with the pod. The arguments list the typical pods; without a list, the
 * plugin counts the pods placed so far.
 *
 *         pluginConfig:
 *         - name: GPUFragmentation
 *           args:
 *             resource: berth.dev/gpu-milli
 *             typicalPods:
 *             - {cpuMilli: 4000, gpuMilli: 500, count: 3}
 *             - {cpuMilli: 8000, gpuMilli: 1000, count: 1}
 *
 * With only Filter and Reserve enabled, the plugin applies the same GPU rules under other Score
 * plugins. The plugin shows how Filter, Reserve and Score share memory and check it against the
 * snapshot, and the use of lists of objects as arguments and of normalised scores.
 */
#include <stdlib.h>
#include <string.h>

#include "berth/plugin.h"
#include "berth/resource.h"

#define NAME "GPUFragmentation"
#define GPU_MILLI 1000
#define GPUS_MAX 64
/** Kinds of pods that are counted, and the most frequent kinds, which scores use. */
#define KINDS_MAX 1024
#define TYPICAL_MAX 32
/** Placed pods after which the typical kinds are chosen again. */
#define LEARNING_INTERVAL 64

/** Pods with the same request. */
struct kind {
	int64_t cpu_milli;
	int64_t gpu_milli;
	int64_t count;
};

struct args {
	struct berth_str resource;
	struct berth_args_list typical_pods; /* of struct kind */
};

/** A pod and its GPUs: bit g of gpus is set for GPU g. */
struct placed {
	char *uid; /* owned */
	uint32_t uid_length;
	bool is_there; /* the last node info contained the pod */
	uint64_t gpus;
	int32_t milli; /* on each of its GPUs */
};

struct node {
	char *name; /* owned */
	uint32_t name_length;
	int64_t generation; /* of the node info behind the members below; 0: not computed */
	uint32_t pod_count;
	uint32_t gpu_count;
	int32_t free_milli[GPUS_MAX];
	struct placed *pods; /* owned */
	uint32_t placed_count;
	uint32_t placed_capacity;
};

struct gpu_fragmentation {
	struct berth_plugin base;
	struct args args;
	struct berth_arena *arena; /* texts of args */
	const struct berth_handle *handle;
	struct node **nodes; /* hash table by name, owned; a power of two */
	uint32_t node_count;
	uint32_t node_capacity;
	struct kind kinds[KINDS_MAX]; /* counted, or from the arguments */
	uint32_t kind_count;
	struct kind typical[TYPICAL_MAX]; /* the most frequent kinds */
	uint32_t typical_count;
	uint32_t learnt; /* pods counted since typical was chosen */
	bool learns;
};

static const struct berth_args_field kind_fields[] = {
	{"cpuMilli", BERTH_ARGS_INT64, offsetof(struct kind, cpu_milli), NULL},
	{"gpuMilli", BERTH_ARGS_INT64, offsetof(struct kind, gpu_milli), NULL},
	{"count", BERTH_ARGS_INT64, offsetof(struct kind, count), NULL},
};

static const struct berth_args_schema kind_schema = {
	.type_name = "TypicalPod",
	.size = sizeof(struct kind),
	.fields = kind_fields,
	.field_count = 3,
	.strict = true,
};

static const struct berth_args_field args_fields[] = {
	{"resource", BERTH_ARGS_STR, offsetof(struct args, resource), NULL},
	{"typicalPods", BERTH_ARGS_LIST, offsetof(struct args, typical_pods), &kind_schema},
};

static const struct berth_args_schema args_schema = {
	.type_name = "GPUFragmentationArgs",
	.size = sizeof(struct args),
	.fields = args_fields,
	.field_count = 2,
	.strict = true,
};

static struct gpu_fragmentation *plugin_of(struct berth_plugin *plugin)
{
	return (struct gpu_fragmentation *)(void *)plugin;
}

/** Ends the process when memory runs out. */
static void *need(void *memory)
{
	if (memory == NULL) {
		abort();
	}
	return memory;
}

static char *copy_text(struct berth_str text)
{
	char *copy = need(malloc((size_t)text.length + 1));

	if (text.length != 0) {
		memcpy(copy, text.data, text.length);
	}
	copy[text.length] = 0;
	return copy;
}

static bool is_text(const char *data, uint32_t length, struct berth_str text)
{
	return length == text.length && (length == 0 || memcmp(data, text.data, length) == 0);
}

/** --- requests of pods --- */

static int64_t gpu_milli_of(const struct gpu_fragmentation *plugin, const struct berth_pod *pod,
	struct berth_arena *arena)
{
	berth_quantity quantity;

	return pod != NULL &&
			berth_resource_list_find(
				berth_pod_requests(pod, arena), plugin->args.resource, &quantity)
		? berth_quantity_value(&quantity)
		: 0;
}

/** The request of this cycle's pod, computed once and kept in the cycle's state. */
struct request {
	struct berth_state_data base;
	struct kind kind;
};

static const struct kind *request_of(const struct gpu_fragmentation *plugin,
	struct berth_cycle_state *state, const struct berth_pod_info *pod)
{
	struct berth_arena *arena = berth_cycle_state_arena(state);
	struct berth_state_data *data = NULL;

	if (berth_cycle_state_read(state, BERTH_STR(NAME), &data, NULL) == BERTH_OK) {
		return &((const struct request *)(const void *)data)->kind;
	}
	struct request *request = berth_arena_alloc(arena, sizeof(*request));

	request->kind.cpu_milli = berth_pod_info_cpu_milli(pod);
	request->kind.gpu_milli = gpu_milli_of(plugin, berth_pod_info_pod(pod), arena);
	berth_cycle_state_write(state, BERTH_STR(NAME), &request->base);
	return &request->kind;
}

/** --- GPUs of nodes --- */

static uint32_t hash_of(struct berth_str name)
{
	uint32_t hash = UINT32_C(2166136261);

	for (uint32_t i = 0; i < name.length; i++) {
		hash = (hash ^ (uint8_t)name.data[i]) * UINT32_C(16777619);
	}
	return hash;
}

/** The slot of the node in the hash table, or the free slot for its name. */
static struct node **place_of(const struct gpu_fragmentation *plugin, struct berth_str name)
{
	uint32_t mask = plugin->node_capacity - 1;
	uint32_t at = hash_of(name) & mask;

	while (plugin->nodes[at] != NULL &&
		!is_text(plugin->nodes[at]->name, plugin->nodes[at]->name_length, name)) {
		at = (at + 1) & mask;
	}
	return &plugin->nodes[at];
}

static void grow(struct gpu_fragmentation *plugin)
{
	struct node **old_nodes = plugin->nodes;
	uint32_t old_capacity = plugin->node_capacity;

	plugin->node_capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
	plugin->nodes = need(calloc(plugin->node_capacity, sizeof(struct node *)));
	for (uint32_t i = 0; i < old_capacity; i++) {
		if (old_nodes[i] != NULL) {
			struct berth_str name = {old_nodes[i]->name, old_nodes[i]->name_length};

			*place_of(plugin, name) = old_nodes[i];
		}
	}
	free(old_nodes);
}

static struct node *node_of(struct gpu_fragmentation *plugin, struct berth_str name)
{
	if (2 * plugin->node_count >= plugin->node_capacity) {
		grow(plugin);
	}
	struct node **place = place_of(plugin, name);

	if (*place == NULL) {
		*place = need(calloc(1, sizeof(struct node)));
		(*place)->name = copy_text(name);
		(*place)->name_length = name.length;
		plugin->node_count++;
	}
	return *place;
}

static void release_placed(struct placed *placed)
{
	free(placed->uid);
}

/** Mark the placed pods that the node info contains. */
static void mark_pods(
	struct node *node, const struct berth_node_info *info, struct berth_arena *arena)
{
	uint32_t count = 0;
	const struct berth_pod_info *const *pods = berth_node_info_pods(info, arena, &count);

	for (uint32_t k = 0; k < node->placed_count; k++) {
		node->pods[k].is_there = false;
	}
	for (uint32_t i = 0; i < count; i++) {
		berth_uid uid = berth_pod_info_uid(pods[i]);

		for (uint32_t k = 0; k < node->placed_count; k++) {
			if (is_text(node->pods[k].uid, node->pods[k].uid_length, uid)) {
				node->pods[k].is_there = true;
				break;
			}
		}
	}
}

/** Compute the free part of each GPU from the node info. */
static struct node *look_at(struct gpu_fragmentation *plugin, const struct berth_node_info *info,
	struct berth_arena *arena)
{
	struct node *node = node_of(plugin, berth_node_info_name(info));
	int64_t generation = berth_node_info_generation(info);
	uint32_t pod_count = berth_node_info_pod_count(info);

	if (node->generation == generation && node->pod_count == pod_count) {
		return node;
	}
	struct berth_resource allocatable;
	struct berth_resource requested;

	berth_node_info_allocatable_resource(info, &allocatable);
	berth_node_info_requested_resource(info, &requested);
	int64_t gpu_count = berth_resource_scalar(&allocatable, plugin->args.resource) / GPU_MILLI;
	int64_t unknown = berth_resource_scalar(&requested, plugin->args.resource);

	berth_resource_finish(&allocatable);
	berth_resource_finish(&requested);
	node->gpu_count = gpu_count < 0 ? 0 : gpu_count > GPUS_MAX ? GPUS_MAX : (uint32_t)gpu_count;
	for (uint32_t g = 0; g < node->gpu_count; g++) {
		node->free_milli[g] = GPU_MILLI;
	}
	mark_pods(node, info, arena);
	for (uint32_t k = 0; k < node->placed_count; k++) {
		const struct placed *placed = &node->pods[k];

		for (uint32_t g = 0; g < node->gpu_count && placed->is_there; g++) {
			if ((placed->gpus >> g & 1) != 0) {
				node->free_milli[g] -= placed->milli;
				unknown -= placed->milli;
			}
		}
	}
	/* Charge the requests of pods without a record here to the last GPUs. */
	for (uint32_t g = node->gpu_count; g > 0 && unknown > 0; g--) {
		int32_t taken = unknown < node->free_milli[g - 1] ? (int32_t)unknown
								  : node->free_milli[g - 1];

		node->free_milli[g - 1] -= taken;
		unknown -= taken;
	}
	node->generation = generation;
	node->pod_count = pod_count;
	return node;
}

/** Bits of the GPUs with the least free room that fit the pod; 0: no room, or no GPU requested. */
static uint64_t choose_gpus(const int32_t *free_milli, uint32_t gpu_count, int64_t milli)
{
	uint64_t gpus = 0;
	uint32_t best = GPUS_MAX;

	if (milli >= GPU_MILLI) {
		int64_t wanted = milli % GPU_MILLI == 0 ? milli / GPU_MILLI : INT64_MAX;

		for (uint32_t g = 0; g < gpu_count && wanted > 0; g++) {
			if (free_milli[g] == GPU_MILLI) {
				gpus |= UINT64_C(1) << g;
				wanted--;
			}
		}
		return wanted == 0 ? gpus : 0;
	}
	for (uint32_t g = 0; g < gpu_count && milli > 0; g++) {
		if (free_milli[g] >= milli &&
			(best == GPUS_MAX || free_milli[g] < free_milli[best])) {
			best = g;
		}
	}
	return best != GPUS_MAX ? UINT64_C(1) << best : 0;
}

static int32_t milli_of_each(int64_t milli)
{
	return milli >= GPU_MILLI ? GPU_MILLI : (int32_t)milli;
}

/** --- typical pods --- */

static int compare_kinds(const void *left, const void *right)
{
	const struct kind *a = left;
	const struct kind *b = right;

	if (a->count != b->count) {
		return a->count > b->count ? -1 : 1;
	}
	if (a->gpu_milli != b->gpu_milli) {
		return a->gpu_milli < b->gpu_milli ? -1 : 1;
	}
	return (a->cpu_milli > b->cpu_milli) - (a->cpu_milli < b->cpu_milli);
}

static void choose_typical(struct gpu_fragmentation *plugin)
{
	if (plugin->kind_count > 1) {
		qsort(plugin->kinds, plugin->kind_count, sizeof(plugin->kinds[0]), compare_kinds);
	}
	plugin->typical_count = plugin->kind_count < TYPICAL_MAX ? plugin->kind_count : TYPICAL_MAX;
	memcpy(plugin->typical, plugin->kinds, plugin->typical_count * sizeof(plugin->typical[0]));
	plugin->learnt = 0;
}

static void learn(struct gpu_fragmentation *plugin, const struct kind *kind)
{
	uint32_t i = 0;

	while (i < plugin->kind_count &&
		(plugin->kinds[i].cpu_milli != kind->cpu_milli ||
			plugin->kinds[i].gpu_milli != kind->gpu_milli)) {
		i++;
	}
	if (i == KINDS_MAX) {
		return;
	}
	if (i == plugin->kind_count) {
		plugin->kinds[plugin->kind_count++] = *kind;
		plugin->kinds[i].count = 0;
	}
	plugin->kinds[i].count++;
	plugin->learnt++;
	if (plugin->learnt >= LEARNING_INTERVAL || plugin->kind_count <= TYPICAL_MAX) {
		choose_typical(plugin);
	}
}

/**
 * Free GPU of the node that typical pods cannot use, in thousandths, weighted by the typical pods.
 */
static int64_t fragmentation(const struct gpu_fragmentation *plugin, int64_t free_cpu_milli,
	const int32_t *free_milli, uint32_t gpu_count)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < plugin->typical_count; k++) {
		const struct kind *kind = &plugin->typical[k];
		int32_t least = milli_of_each(kind->gpu_milli);
		int64_t usable = 0;
		int64_t all = 0;

		for (uint32_t g = 0; g < gpu_count; g++) {
			all += free_milli[g];
			usable += free_milli[g] >= least ? free_milli[g] : 0;
		}
		bool fits = kind->cpu_milli <= free_cpu_milli &&
			choose_gpus(free_milli, gpu_count, kind->gpu_milli) != 0;

		/* A pod without a GPU request uses no free GPU. */
		sum += kind->count * (fits ? all - usable : all);
	}
	return sum;
}

/** --- extension points --- */

static struct berth_status filter(struct berth_plugin *base, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *info)
{
	struct gpu_fragmentation *plugin = plugin_of(base);
	struct berth_arena *arena = berth_cycle_state_arena(state);
	const struct kind *kind = request_of(plugin, state, pod);

	if (kind->gpu_milli <= 0) {
		return BERTH_STATUS_SUCCESS;
	}
	const struct node *node = look_at(plugin, info, arena);

	if (choose_gpus(node->free_milli, node->gpu_count, kind->gpu_milli) != 0) {
		return BERTH_STATUS_SUCCESS;
	}
	return berth_status_reason(arena, BERTH_CODE_UNSCHEDULABLE,
		kind->gpu_milli < GPU_MILLI ? "node(s) had no GPU with room for the share"
					    : "node(s) had too few empty GPUs");
}

/** Growth of the fragmentation by placing the pod; may be negative. */
static struct berth_status score(struct berth_plugin *base, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *info, int64_t *out_score)
{
	struct gpu_fragmentation *plugin = plugin_of(base);
	const struct kind *kind = request_of(plugin, state, pod);
	const struct node *node = look_at(plugin, info, berth_cycle_state_arena(state));
	int64_t free_cpu_milli = berth_node_info_allocatable_cpu_milli(info) -
		berth_node_info_requested_cpu_milli(info);
	uint64_t gpus = choose_gpus(node->free_milli, node->gpu_count, kind->gpu_milli);
	int32_t free_milli[GPUS_MAX];

	memcpy(free_milli, node->free_milli, sizeof(free_milli));
	int64_t before = fragmentation(plugin, free_cpu_milli, free_milli, node->gpu_count);

	for (uint32_t g = 0; g < node->gpu_count; g++) {
		free_milli[g] -= (gpus >> g & 1) != 0 ? milli_of_each(kind->gpu_milli) : 0;
	}
	*out_score = fragmentation(plugin, free_cpu_milli - kind->cpu_milli, free_milli,
			     node->gpu_count) -
		before;
	return BERTH_STATUS_SUCCESS;
}

/** Scale the scores: the least growth becomes 100, the largest 0. */
static struct berth_status normalize(struct berth_plugin *base, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_node_score_list *scores)
{
	int64_t least = INT64_MAX;
	int64_t most = INT64_MIN;

	(void)base;
	(void)state;
	(void)pod;
	for (uint32_t i = 0; i < scores->count; i++) {
		least = scores->items[i].score < least ? scores->items[i].score : least;
		most = scores->items[i].score > most ? scores->items[i].score : most;
	}
	for (uint32_t i = 0; i < scores->count; i++) {
		double share = most > least
			? (double)(most - scores->items[i].score) / (double)(most - least)
			: 1;

		scores->items[i].score = (int64_t)(share * (double)BERTH_MAX_NODE_SCORE);
	}
	return BERTH_STATUS_SUCCESS;
}

/** Drop the record of the pod, and of pods that have left the node. */
static void forget(struct node *node, berth_uid uid)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < node->placed_count; k++) {
		struct placed *placed = &node->pods[k];

		if (!placed->is_there || is_text(placed->uid, placed->uid_length, uid)) {
			release_placed(placed);
		} else {
			node->pods[kept++] = *placed;
		}
	}
	node->placed_count = kept;
	node->generation = 0;
}

static struct berth_status reserve(struct berth_plugin *base, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	struct gpu_fragmentation *plugin = plugin_of(base);
	struct berth_arena *arena = berth_cycle_state_arena(state);
	const struct kind *kind = request_of(plugin, state, pod);
	const struct berth_node_info *info;

	if (plugin->learns) {
		learn(plugin, kind);
	}
	if (kind->gpu_milli <= 0 ||
		berth_shared_lister_get(berth_handle_snapshot_shared_lister(plugin->handle),
			node_name, arena, &info, NULL) != BERTH_OK) {
		return BERTH_STATUS_SUCCESS;
	}
	/* The node without the pod, as the filters saw it. */
	struct node *node = look_at(plugin, info, arena);
	uint64_t gpus = choose_gpus(node->free_milli, node->gpu_count, kind->gpu_milli);

	if (gpus == 0) {
		return berth_status_reason(
			arena, BERTH_CODE_UNSCHEDULABLE, "the GPUs of the node are taken");
	}
	berth_uid uid = berth_pod_info_uid(pod);

	forget(node, uid);
	if (node->placed_count == node->placed_capacity) {
		node->placed_capacity = node->placed_capacity == 0 ? 8 : 2 * node->placed_capacity;
		node->pods =
			need(realloc(node->pods, node->placed_capacity * sizeof(struct placed)));
	}
	node->pods[node->placed_count++] = (struct placed){
		.uid = copy_text(uid),
		.uid_length = uid.length,
		.is_there = true,
		.gpus = gpus,
		.milli = milli_of_each(kind->gpu_milli),
	};
	return BERTH_STATUS_SUCCESS;
}

static void unreserve(struct berth_plugin *base, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_str node_name)
{
	(void)state;
	forget(node_of(plugin_of(base), node_name), berth_pod_info_uid(pod));
}

/** A rejected pod may fit once a pod is deleted, or a node is added or grows. */
static int events_to_register(struct berth_plugin *plugin,
	const struct berth_event_registration **out_events, uint32_t *out_count,
	struct berth_error *err)
{
	static const struct berth_event_registration events[] = {
		{{{"Pod", 3}, BERTH_ACTION_DELETE}, NULL},
		{{{"Node", 4}, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ALLOCATABLE}, NULL},
	};

	(void)plugin;
	(void)err;
	*out_events = events;
	*out_count = 2;
	return BERTH_OK;
}

static void destroy(struct berth_plugin *base)
{
	struct gpu_fragmentation *plugin = plugin_of(base);

	for (uint32_t i = 0; i < plugin->node_capacity; i++) {
		struct node *node = plugin->nodes[i];

		for (uint32_t k = 0; node != NULL && k < node->placed_count; k++) {
			release_placed(&node->pods[k]);
		}
		if (node != NULL) {
			free(node->pods);
			free(node->name);
			free(node);
		}
	}
	free(plugin->nodes);
	berth_arena_destroy(plugin->arena);
	free(plugin);
}

static const struct berth_score_extensions score_extensions = {.normalize_score = normalize};

static const struct berth_plugin_ops ops = {
	.size = sizeof(struct berth_plugin_ops),
	.name = NAME,
	.destroy = destroy,
	.events_to_register = events_to_register,
	.filter = filter,
	.score = score,
	.score_extensions = &score_extensions,
	.reserve = reserve,
	.unreserve = unreserve,
};

static int take_args(struct gpu_fragmentation *plugin, struct berth_error *err)
{
	const struct kind *kinds = plugin->args.typical_pods.items;

	if (plugin->args.resource.length == 0) {
		return berth_error_set(err, BERTH_ERR_INVALID, "resource: must not be empty");
	}
	if (plugin->args.typical_pods.count > TYPICAL_MAX) {
		return berth_error_set(
			err, BERTH_ERR_INVALID, "typicalPods: at most %d are allowed", TYPICAL_MAX);
	}
	for (uint32_t i = 0; i < plugin->args.typical_pods.count; i++) {
		if (kinds[i].cpu_milli < 0 || kinds[i].gpu_milli < 0 || kinds[i].count < 1 ||
			kinds[i].count > 1000000) {
			return berth_error_set(err, BERTH_ERR_INVALID,
				"typicalPods[%u]: cpuMilli and gpuMilli must not be negative, and "
				"count must be from 1 to 1000000",
				i);
		}
		plugin->kinds[plugin->kind_count++] = kinds[i];
	}
	plugin->learns = plugin->kind_count == 0;
	choose_typical(plugin);
	return BERTH_OK;
}

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	struct gpu_fragmentation *plugin = calloc(1, sizeof(*plugin));

	(void)context;
	if (plugin == NULL) {
		return berth_error_set(err, BERTH_ERR_INTERNAL, "out of memory");
	}
	plugin->base.ops = &ops;
	plugin->handle = handle;
	plugin->args.resource = BERTH_STR("berth.dev/gpu-milli");
	plugin->arena = berth_arena_create();

	int result = berth_plugin_args_decode_into(
		args, &args_schema, plugin->arena, &plugin->args, err);

	if (result == BERTH_OK) {
		result = take_args(plugin, err);
	}
	if (result != BERTH_OK) {
		destroy(&plugin->base);
		return result;
	}
	*out_plugin = &plugin->base;
	return BERTH_OK;
}

static const struct berth_plugin_descriptor plugins[] = {{NAME, create, NULL}};

BERTH_API const struct berth_plugin_module berth_plugin_module = {
	.abi_version = BERTH_PLUGIN_ABI_VERSION,
	.name = "gpu_fragmentation",
	.plugins = plugins,
	.plugin_count = 1,
};
