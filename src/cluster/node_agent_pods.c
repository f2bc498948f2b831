/* SPDX-License-Identifier: Apache-2.0 */
/** The stages of a pod on its node, from acceptance to end. Spec: 14b section 9, 2 to 6. */
#include <inttypes.h>

#include "api/node.h"
#include "api/resources.h"
#include "api/selector.h"
#include "api/time.h"
#include "api/toleration.h"
#include "base/duration.h"
#include "cluster/node_agent.h"
#include "cluster/persistent_volume.h"
#include "server/usage.h"

/* --- resources that pods use, and the agent's admission of pods (spec 14b section 9, 2) --- */

/** Maximum number of resources of a node. Further resources are not checked. */
#define RESOURCES_MAX 256

static void add_resource(struct bt_agent_node *node, struct bt_str name)
{
	struct bt_agent_resource resource = {.name = bt_strndup(name.data, name.length)};
	bt_vec_push(&node->resources, resource);
}

void bt_agent_init_resources(struct bt_agent_node *node)
{
	/* The order of enum bt_agent_known_resource. */
	add_resource(node, BT_STR("pods"));
	add_resource(node, BT_STR("cpu"));
	add_resource(node, BT_STR("memory"));
	add_resource(node, BT_STR("ephemeral-storage"));
}

static uint32_t find_resource(const struct bt_agent_node *node, struct bt_str name)
{
	for (uint32_t i = 0; i < node->resources.count; i++) {
		if (bt_str_equal_c(name, node->resources.items[i].name)) {
			return i;
		}
	}
	return BT_GROUPS_NONE;
}

static int64_t amount_of(const struct bt_quantity *quantity, uint32_t resource)
{
	return resource == BT_AGENT_CPU ? bt_quantity_milli(quantity) : bt_quantity_value(quantity);
}

void bt_agent_set_capacity(struct bt_agent_node *node, const struct bt_json_value *allocatable)
{
	for (uint32_t i = 0; i < node->resources.count; i++) {
		node->resources.items[i].capacity = 0;
	}
	for (uint32_t i = 0; i < allocatable->count; i++) {
		const struct bt_json_member *member = &allocatable->members[i];
		uint32_t resource = find_resource(node, member->name);
		struct bt_quantity quantity;

		if (bt_quantity_parse(member->value->text, NULL, &quantity, NULL) != 0) {
			continue;
		}
		if (resource == BT_GROUPS_NONE && node->resources.count >= RESOURCES_MAX) {
			continue;
		}
		if (resource == BT_GROUPS_NONE) {
			resource = node->resources.count;
			add_resource(node, member->name);
		}
		node->resources.items[resource].capacity = amount_of(&quantity, resource);
	}
}

/** Decodes the part of the stored object at the path; "": the whole object. */
static bool decode(const struct bt_hub *hub, enum bt_hub_kind kind, struct bt_str key,
	const char *path, const struct bt_message *message, struct bt_arena *arena, void *out)
{
	struct bt_stored *stored = bt_store_find(hub->store, hub->kinds[kind]->collection, key);
	struct bt_json_reader reader;

	if (stored == NULL) {
		return false;
	}
	bt_json_reader_init(&reader, bt_stored_text(stored));
	return bt_json_seek(&reader, path) &&
		bt_message_decode_json(message, &reader, arena, out, NULL) == 0;
}

/** The reason and message of a pod that is refused. */
struct refusal {
	struct bt_str reason;
	struct bt_str message;
};

/**
 * Returns whether the labels and taints of the node allow the pod; if not, sets *out_refusal. The
 * node, which is large, is decoded only if the pod selects nodes or the node has NoExecute taints.
 */
static bool fits_node(struct bt_node_agent *agent, const struct bt_agent_node *record,
	const struct bt_pod *pod, struct bt_arena *arena, struct refusal *out_refusal)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	bool has_labels = pod->spec.node_selector.count != 0 ||
		(affinity != NULL && affinity->node_affinity != NULL &&
			affinity->node_affinity->required != NULL);
	struct bt_node node = {.spec = {.unschedulable = false}};

	if ((!has_labels && !record->has_no_execute) ||
		!decode(agent->hub, BT_HUB_NODES, record->name, "", &bt_node_message, arena,
			&node)) {
		return true;
	}
	if (has_labels) {
		struct bt_required_node_affinity required =
			bt_required_node_affinity_parse(&pod->spec, arena);
		if (!bt_required_node_affinity_matches(
			    &required, node.metadata.name, &node.metadata.labels, arena, NULL)) {
			*out_refusal = (struct refusal){BT_STR("NodeAffinity"),
				BT_STR("Pod was rejected: Predicate NodeAffinity failed: node(s) "
				       "didn't match Pod's node affinity/selector")};
			return false;
		}
	}
	for (uint32_t i = 0; i < node.spec.taints.count; i++) {
		const struct bt_taint *taint = &node.spec.taints.items[i];

		/*
		 * Check only NoExecute. The effect NoSchedule concerns the scheduler; users may
		 * still assign pods to the node.
		 */
		if (bt_str_equal_c(taint->effect, "NoExecute") &&
			!bt_tolerations_tolerate(&pod->spec.tolerations, taint, true)) {
			*out_refusal = (struct refusal){BT_STR("TaintToleration"),
				BT_STR("Pod was rejected: Predicate TaintToleration failed: "
				       "node(s) had taints that the pod didn't tolerate")};
			return false;
		}
	}
	return true;
}

/**
 * Returns whether the pod's host ports are free: no pod that runs or was admitted on the node uses
 * them. If a port is not free, sets *out_refusal.
 */
static bool has_free_ports(struct bt_node_agent *agent, const struct bt_agent_pod *record,
	const struct bt_pod *pod, struct bt_arena *arena, struct refusal *out_refusal)
{
	bt_host_port_list wanted = bt_pod_host_ports(&pod->spec, arena);
	const struct bt_indexed_pod *other = wanted.count == 0
		? NULL
		: bt_pod_index_on_node(agent->hub, agent->nodes.items[record->node].name);

	for (; other != NULL; other = other->next[BT_PODS_ON_NODE]) {
		struct bt_pod decoded = {.spec = {.host_network = false}};
		uint32_t slot = bt_groups_find(&agent->pod_keys, other->key);
		bool is_admitted =
			slot != BT_GROUPS_NONE && agent->pods.items[slot].amount_count != 0;

		if (bt_pod_is_over(other) || (other->phase != BT_POD_RUNNING && !is_admitted) ||
			bt_str_equal(other->key, record->key) ||
			!decode(agent->hub, BT_HUB_PODS, other->key, "spec", &bt_pod_spec_message,
				arena, &decoded.spec)) {
			continue;
		}
		bt_host_port_list used = bt_pod_host_ports(&decoded.spec, arena);
		for (uint32_t i = 0; i < wanted.count * used.count; i++) {
			if (bt_host_port_conflicts(
				    &wanted.items[i / used.count], &used.items[i % used.count])) {
				*out_refusal = (struct refusal){BT_STR("NodePorts"),
					BT_STR("Pod was rejected: Predicate NodePorts failed: "
					       "node(s) didn't have free ports for the requested "
					       "pod ports")};
				return false;
			}
		}
	}
	return true;
}

static void release_amounts(struct bt_agent_node *node, struct bt_agent_pod *pod)
{
	for (uint32_t i = 0; i < pod->amount_count; i++) {
		node->resources.items[pod->amounts[i].resource].used -= pod->amounts[i].amount;
	}
	bt_free(pod->amounts);
	pod->amounts = NULL;
	pod->amount_count = 0;
}

/**
 * Admits the pod and accounts for its resources on the node. forced: the pod was admitted before,
 * so no check refuses it. Returns false if the pod is refused; *out_refusal is the reason, in the
 * arena.
 */
static bool admit(const struct bt_sync *sync, struct bt_agent_pod *pod, bool forced,
	struct refusal *out_refusal)
{
	struct bt_node_agent *agent = sync->data;
	struct bt_arena *arena = sync->arena;
	struct bt_agent_node *node = &agent->nodes.items[pod->node];
	struct bt_pod decoded = {.spec = {.host_network = false}};
	uint32_t count = 0;

	if (!decode(sync->hub, BT_HUB_PODS, sync->key, "spec", &bt_pod_spec_message, arena,
		    &decoded.spec)) {
		*out_refusal = (struct refusal){
			BT_STR("UnexpectedAdmissionError"), BT_STR("Pod was rejected: unreadable")};
		return false;
	}
	static const struct bt_request_options all = {.use_status = false};
	struct bt_resource_list list = bt_pod_requests(&decoded, &all, arena);
	struct bt_agent_amount *amounts =
		BT_ARENA_NEW_ARRAY(arena, struct bt_agent_amount, list.count + 1);
	amounts[count++] = (struct bt_agent_amount){BT_AGENT_PODS, 1};
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t resource = find_resource(node, list.items[i].name);
		int64_t amount = amount_of(&list.items[i].quantity, resource);

		/* A resource that the node does not have is not checked. */
		if (amount > 0 && resource != BT_GROUPS_NONE) {
			amounts[count++] = (struct bt_agent_amount){resource, amount};
		}
	}
	for (uint32_t i = 0; i < count && !forced; i++) {
		const struct bt_agent_resource *resource =
			&node->resources.items[amounts[i].resource];
		if (resource->used > resource->capacity ||
			amounts[i].amount > resource->capacity - resource->used) {
			*out_refusal = (struct refusal){
				.reason = bt_arena_printf(arena, "OutOf%s", resource->name),
				.message = bt_arena_printf(arena,
					"Pod was rejected: Node didn't have enough resource: %s, "
					"requested: "
					"%" PRId64 ", used: %" PRId64 ", capacity: %" PRId64,
					resource->name, amounts[i].amount, resource->used,
					resource->capacity),
			};
			return false;
		}
	}
	if (!forced &&
		(!fits_node(agent, node, &decoded, arena, out_refusal) ||
			!has_free_ports(agent, pod, &decoded, arena, out_refusal))) {
		return false;
	}
	release_amounts(node, pod);
	pod->generation = bt_json_int64_at(sync->object, "metadata.generation", 0);
	pod->amounts = BT_NEW_ARRAY(struct bt_agent_amount, count);
	pod->amount_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct bt_agent_resource *resource = &node->resources.items[amounts[i].resource];
		int64_t room = INT64_MAX - resource->used;

		pod->amounts[i] = amounts[i];
		if (amounts[i].amount > room) {
			pod->amounts[i].amount = room;
		}
		resource->used += pod->amounts[i].amount;
	}
	return true;
}

void bt_agent_release(struct bt_agent_node *node, struct bt_agent_pod *pod)
{
	release_amounts(node, pod);
	if (pod->host != 0) {
		node->hosts[pod->host >> 6] &= ~(UINT64_C(1) << (pod->host & 63));
		pod->host = 0;
	}
}

/** The delay before a failed container is restarted. */
#define RESTART_DELAY_NS (10 * BT_NS_PER_SECOND)
/** Exit code of containers ended by SIGTERM. */
#define EXIT_CODE_STOPPED 143
/**
 * Rate limit of the events of all agents together, and of their refusals of pods:
 * TOKENS_PER_SECOND on average, TOKENS_MAX at once. Writing events must not cost more than running
 * the pods. A controller replaces refused pods at once, which must not fill the store.
 */
#define TOKENS_PER_SECOND 30
#define TOKENS_MAX 300

/* --- events and refusals --- */

static bool take_tokens(const struct bt_sync *sync, struct bt_agent_limit *limit, int64_t wanted)
{
	int64_t gained = (sync->now_ns - limit->updated_ns) /
		(BT_NS_PER_SECOND / (TOKENS_PER_SECOND * 1000));

	gained = BT_MIN(gained, TOKENS_MAX * 1000 - limit->tokens);
	if (gained > 0) {
		limit->tokens += gained;
		limit->updated_ns = sync->now_ns;
	}
	if (limit->tokens < wanted * 1000) {
		return false;
	}
	limit->tokens -= wanted * 1000;
	return true;
}

/* --- writing statuses, starting clocks --- */

static void wait_until(struct bt_sync *sync, struct bt_agent_pod *record, int64_t due_ns)
{
	record->due_ns = due_ns;
	bt_hub_enqueue_at(sync->hub, sync->key, due_ns);
}

static int64_t time_after(const struct bt_sync *sync, int64_t delay_ns)
{
	return delay_ns > INT64_MAX - sync->now_ns ? INT64_MAX : sync->now_ns + delay_ns;
}

/**
 * Returns whether the pod's containers end by themselves, and sets *out_ns to their run time. Other
 * pods run until they are deleted.
 */
static bool run_time_of(const struct bt_sync *sync, int64_t *out_ns)
{
	struct bt_str text = bt_tree_annotation(sync->object, BT_ANNOTATION_RUN_TIME);
	const struct bt_json_value *owner = bt_controller_owner_of(sync->object);

	if (bt_str_equal_c(bt_json_text_at(sync->object, "spec.restartPolicy"), "Always")) {
		return false;
	}
	if (text.length != 0 && bt_duration_parse(text, out_ns, NULL) == 0 && *out_ns >= 0) {
		return true;
	}
	if (!bt_str_equal_c(bt_json_text_at(owner, "kind"), "Job")) {
		return false;
	}
	*out_ns = sync->hub->options.job_run_time_ns;
	return true;
}

/** Reads the exit code of the pod's containers. Returns false and sets 0 if the text is no code. */
static bool exit_code_of(const struct bt_sync *sync, int64_t *out_code)
{
	struct bt_str text = bt_tree_annotation(sync->object, BT_ANNOTATION_EXIT_CODE);

	*out_code = 0;
	if (text.length == 0) {
		return true;
	}
	if (bt_str_parse_int64(text, out_code) && *out_code >= 0 && *out_code <= 255) {
		return true;
	}
	*out_code = 0;
	return false;
}

/** Writes an Event for each annotation that is ignored because of its value. */
static void report_ignored_annotations(struct bt_sync *sync)
{
	static const char *const names[] = {BT_ANNOTATION_RUN_TIME, BT_ANNOTATION_EXIT_CODE,
		BT_ANNOTATION_CPU_USAGE, BT_ANNOTATION_MEMORY_USAGE};

	if (bt_json_object_at(sync->object, "metadata.annotations")->count == 0) {
		return;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		struct bt_str text = bt_tree_annotation(sync->object, names[i]);
		int64_t value = 0;
		const char *what = NULL;

		if (text.length == 0) {
			continue;
		}
		if (i == 0 && (bt_duration_parse(text, &value, NULL) != 0 || value < 0)) {
			what = "a duration such as 10m";
		} else if (i == 1 && !exit_code_of(sync, &value)) {
			what = "a number from 0 to 255";
		} else if (i > 1 &&
			bt_usage_check(bt_arena_str(sync->arena, text).data, NULL) != 0) {
			what = "an amount (250m), a share of the request (50%) or a curve "
			       "(100m..500m/10m)";
		}
		if (what != NULL) {
			bt_sync_event(sync, "Warning", "IgnoredAnnotation",
				"The annotation %s is ignored: \"%.*s\" is not %s", names[i],
				BT_STR_ARG(text), what);
		}
	}
}

/* --- start --- */

/** Returns the time when spec.activeDeadlineSeconds ends; INT64_MAX: never. */
static int64_t deadline_of(const struct bt_sync *sync, const struct bt_agent_pod *record)
{
	int64_t seconds = bt_json_int64_at(sync->object, "spec.activeDeadlineSeconds", 0);
	int64_t started = bt_tree_seconds(sync->object, "status.startTime");
	int64_t started_ns = started != 0 ? started * BT_NS_PER_SECOND : record->accepted_ns;

	return seconds <= 0 || seconds > (INT64_MAX - started_ns) / BT_NS_PER_SECOND
		? INT64_MAX
		: started_ns + seconds * BT_NS_PER_SECOND;
}

static void wait_for_deadline(struct bt_sync *sync, const struct bt_agent_pod *record)
{
	int64_t deadline_ns = deadline_of(sync, record);

	if (deadline_ns != INT64_MAX) {
		bt_hub_enqueue_at(sync->hub, sync->key, deadline_ns);
	}
}

static void start_clock(struct bt_sync *sync, struct bt_agent_pod *record, int64_t started_ns)
{
	int64_t run_time;

	record->stage = BT_AGENT_RUNNING;
	record->due_ns = INT64_MAX;
	record->completes = run_time_of(sync, &run_time);
	if (record->completes) {
		wait_until(sync, record,
			run_time > INT64_MAX - started_ns ? INT64_MAX : started_ns + run_time);
	}
	wait_for_deadline(sync, record);
}

/**
 * Returns the key of the claim that the pod waits for; "": the pod waits for no claim. First looks
 * for a PersistentVolumeClaim that is not bound, then for a ResourceClaim that is not allocated or
 * not reserved for the pod. "#" precedes the key of a ResourceClaim. If the ResourceClaim has not
 * been created yet, returns "#" and the pod's key, because creating the claim changes the pod.
 */
static struct bt_str missing_claim(struct bt_sync *sync, const struct bt_agent_pod *record)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *volumes = bt_json_array_at(sync->object, "spec.volumes");
	const struct bt_json_value *entries = bt_json_array_at(sync->object, "spec.resourceClaims");
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	const struct bt_json_value *claim;
	struct bt_str key;

	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_str name =
			bt_pv_claim_of_volume(arena, bt_key_name(sync->key), volumes->elements[i]);

		if (name.length == 0) {
			continue;
		}
		key = bt_api_key(arena, namespace_, name);
		claim = bt_hub_read(sync->hub, BT_HUB_VOLUME_CLAIMS, key, arena);
		if (!bt_str_equal_c(bt_json_text_at(claim, "status.phase"), "Bound")) {
			return key;
		}
	}
	for (uint32_t i = 0; i < entries->count; i++) {
		struct bt_str name;
		bool is_made = bt_claim_of_entry(sync->object, entries->elements[i], &name);

		if (is_made && name.length == 0) {
			continue;
		}
		key = is_made ? bt_api_key(arena, namespace_, name) : sync->key;
		claim = is_made ? bt_hub_read(sync->hub, BT_HUB_CLAIMS, key, arena) : NULL;
		if (!bt_claim_is_allocated(claim) || !bt_claim_is_reserved(claim, record->uid)) {
			return bt_arena_printf(arena, "#%.*s", BT_STR_ARG(key));
		}
	}
	return BT_STR("");
}

static bool start(struct bt_sync *sync, struct bt_agent_pod *record)
{
	struct bt_node_agent *agent = sync->data;
	const struct bt_json_value *containers = bt_json_array_at(sync->object, "spec.containers");
	struct bt_str missing = missing_claim(sync, record);

	if (missing.length != 0) {
		bt_groups_set(&agent->waiting, sync->key, missing);
		return true;
	}
	bt_groups_remove(&agent->waiting, sync->key);
	if (!bt_sync_patch_status(sync, bt_agent_running_status(sync, record))) {
		return false;
	}
	start_clock(sync, record, sync->now_ns);
	report_ignored_annotations(sync);
	for (uint32_t i = 0; i < containers->count && take_tokens(sync, &agent->events, 3); i++) {
		struct bt_str name = bt_json_text_at(containers->elements[i], "name");
		struct bt_str image = bt_json_text_at(containers->elements[i], "image");

		bt_sync_event(sync, "Normal", "Pulled",
			"Container image \"%.*s\" already present on machine", BT_STR_ARG(image));
		bt_sync_event(
			sync, "Normal", "Created", "Created container: %.*s", BT_STR_ARG(name));
		bt_sync_event(
			sync, "Normal", "Started", "Started container %.*s", BT_STR_ARG(name));
	}
	return true;
}

static bool accept(struct bt_sync *sync, struct bt_agent_pod *record)
{
	struct bt_node_agent *agent = sync->data;
	const struct bt_json_value *pod = sync->object;
	struct bt_arena *arena = sync->arena;
	struct refusal refusal;
	bool runs = bt_str_equal_c(bt_json_text_at(pod, "status.phase"), "Running");
	int64_t started = bt_tree_seconds(pod, "status.startTime");
	int64_t delay = sync->hub->options.pod_start_delay_ns;

	/*
	 * Pods from files often have only the phase Running in their status: add the other members.
	 */
	if (runs &&
		(bt_json_array_at(pod, "status.containerStatuses")->count == 0 ||
			bt_json_text_at(pod, "status.podIP").length == 0)) {
		record->accepted_ns = sync->now_ns;
		if (!bt_sync_patch_status(sync, bt_agent_missing_status(sync, record))) {
			return false;
		}
	}
	if (!admit(sync, record, runs, &refusal)) {
		if (!take_tokens(sync, &agent->refusals, 1)) {
			wait_until(sync, record, time_after(sync, BT_NS_PER_SECOND));
			return true;
		}
		bt_sync_event(sync, "Warning", bt_arena_str(arena, refusal.reason).data, "%.*s",
			BT_STR_ARG(refusal.message));
		return bt_sync_patch_status(sync,
			bt_json_put(arena, NULL,
				"{phase: 'Failed', reason: %s, message: %s, startTime: %s}",
				refusal.reason, refusal.message,
				bt_time_text(arena, sync->now_ns)));
	}
	if (runs) {
		/* The pod was already running when this process started. */
		record->accepted_ns = sync->now_ns;
		start_clock(sync, record, started != 0 ? started * BT_NS_PER_SECOND : sync->now_ns);
		return true;
	}
	record->stage = BT_AGENT_STARTING;
	record->accepted_ns = sync->now_ns;
	wait_for_deadline(sync, record);
	if (delay > 0) {
		wait_until(sync, record, time_after(sync, delay));
		return true;
	}
	record->due_ns = sync->now_ns;
	return start(sync, record);
}

/* --- while the pod runs --- */

static bool run(struct bt_sync *sync, struct bt_agent_pod *record)
{
	struct bt_str policy = bt_json_text_at(sync->object, "spec.restartPolicy");
	struct bt_json_value *status;

	if (record->completes && sync->now_ns >= record->due_ns) {
		int64_t exit_code;
		int64_t run_time = 0;

		(void)exit_code_of(sync, &exit_code); /* an Event has reported a wrong code */
		if (exit_code != 0 && bt_str_equal_c(policy, "OnFailure")) {
			if (!bt_sync_patch_status(
				    sync, bt_agent_restarted_status(sync, exit_code))) {
				return false;
			}
			(void)run_time_of(sync, &run_time);
			wait_until(
				sync, record, time_after(sync, BT_MAX(run_time, RESTART_DELAY_NS)));
			return true;
		}
		return bt_sync_patch_status(sync, bt_agent_ended_status(sync, exit_code));
	}
	if (record->completes) {
		wait_until(sync, record, record->due_ns);
	}
	if (bt_json_int64_at(sync->object, "status.observedGeneration", 0) != record->generation &&
		!bt_sync_patch_status(sync, bt_agent_changed_status(sync))) {
		return false;
	}
	if (!record->has_gates && !record->changes_readiness) {
		return true;
	}
	status = bt_agent_readiness_status(sync, record->changes_readiness);
	if (!bt_tree_covers(bt_json_object_at(sync->object, "status"), status) &&
		!bt_sync_patch_status(sync, status)) {
		return false;
	}
	record->changes_readiness = false;
	return true;
}

/* --- end --- */

static bool finish(struct bt_sync *sync, const struct bt_agent_pod *record)
{
	struct bt_str uid = bt_arena_str(sync->arena, record->uid);

	/* A pod with finalizers stays after the deletion, so write how its containers ended. */
	if (bt_json_array_at(sync->object, "metadata.finalizers")->count != 0 &&
		!bt_tree_is_over(sync->object) &&
		!bt_sync_patch_status(sync, bt_agent_ended_status(sync, EXIT_CODE_STOPPED))) {
		return false;
	}
	uint16_t code = bt_hub_delete(sync->hub, sync->resource, sync->key, 0,
		BT_PROPAGATION_BACKGROUND, uid, sync->arena);
	return bt_hub_is_done(code) || code == 409;
}

static bool stop(struct bt_sync *sync, struct bt_agent_pod *record)
{
	struct bt_node_agent *agent = sync->data;
	const struct bt_json_value *containers = bt_json_array_at(sync->object, "spec.containers");
	int64_t delay = sync->hub->options.pod_stop_delay_ns;
	int64_t grace = record->grace_seconds > 0 ? record->grace_seconds : 0;

	/* A pod that never ran ends at once: spec 14b section 12, case 39. */
	if ((record->stage == BT_AGENT_NEW || record->stage == BT_AGENT_STARTING) &&
		!bt_str_equal_c(bt_json_text_at(sync->object, "status.phase"), "Running")) {
		return finish(sync, record);
	}
	delay = BT_MIN(delay, grace * BT_NS_PER_SECOND);
	int64_t due = time_after(sync, delay);
	if (record->stage != BT_AGENT_STOPPING) {
		record->stage = BT_AGENT_STOPPING;
		record->due_ns = due;
		for (uint32_t i = 0; i < containers->count && take_tokens(sync, &agent->events, 1);
			i++) {
			bt_sync_event(sync, "Normal", "Killing", "Stopping container %.*s",
				BT_STR_ARG(bt_json_text_at(containers->elements[i], "name")));
		}
	} else if (due < record->due_ns) {
		record->due_ns = due;
	}
	if (record->due_ns > sync->now_ns) {
		wait_until(sync, record, record->due_ns);
		return true;
	}
	return finish(sync, record);
}

bool bt_agent_sync_pod(struct bt_sync *sync, struct bt_agent_pod *record)
{
	const struct bt_node_agent *agent = sync->data;
	const struct bt_agent_node *node = &agent->nodes.items[record->node];

	if (!node->exists || !node->simulated ||
		!bt_str_equal(bt_json_text_at(sync->object, "metadata.uid"), record->uid)) {
		return true;
	}
	if (record->deleting || bt_tree_is_deleting(sync->object)) {
		return stop(sync, record);
	}
	if (record->stage == BT_AGENT_STARTING || record->stage == BT_AGENT_RUNNING) {
		if (bt_json_int64_at(sync->object, "metadata.generation", 0) !=
			record->generation) {
			struct refusal refusal;
			(void)admit(sync, record, true, &refusal);
		}
		if (sync->now_ns >= deadline_of(sync, record)) {
			/* The pod's spec.activeDeadlineSeconds are over. */
			static const char message[] =
				"Pod was active on the node longer than the specified deadline";
			/* The containers of a pod that never ran have no status. */
			struct bt_json_value *status = record->stage == BT_AGENT_RUNNING
				? bt_agent_ended_status(sync, EXIT_CODE_STOPPED)
				: bt_json_put(sync->arena, NULL, "{phase: 'Failed', startTime: %s}",
					  bt_time_text(sync->arena, record->accepted_ns));

			bt_json_put(sync->arena, status,
				"{reason: 'DeadlineExceeded', message: %c}", message);
			bt_sync_event(sync, "Normal", "DeadlineExceeded", "%s", message);
			return bt_sync_patch_status(sync, status);
		}
		wait_for_deadline(sync, record);
	}
	switch (record->stage) {
	case BT_AGENT_NEW:
		return accept(sync, record);
	case BT_AGENT_STARTING:
		if (sync->now_ns < record->due_ns) {
			wait_until(sync, record, record->due_ns);
			return true;
		}
		return start(sync, record);
	case BT_AGENT_RUNNING:
		return run(sync, record);
	case BT_AGENT_STOPPING:
		break;
	}
	return true;
}
