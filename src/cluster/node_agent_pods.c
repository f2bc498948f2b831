/* SPDX-License-Identifier: Apache-2.0 */
/** A pod on its node, from its acceptance to its end. Spec: 14b section 9, 2 to 6. */
#include <inttypes.h>

#include "api/node.h"
#include "api/resources.h"
#include "api/selector.h"
#include "api/time.h"
#include "api/toleration.h"
#include "base/duration.h"
#include "cluster/node_agent.h"
#include "cluster/persistent_volume.h"
#include "cluster/resource_claim.h"

/* --- what pods take of their nodes, and the agent's own check (spec 14b section 9, 2) --- */

/** More kinds of resources than this are not looked at. */
#define RESOURCES_MAX 256

static void add_resource(struct bt_agent_node *node, struct bt_str name)
{
	struct bt_agent_resource resource = {.name = bt_strndup(name.data, name.length)};
	bt_vec_push(&node->resources, resource);
}

void bt_agent_init_resources(struct bt_agent_node *node)
{
	/* As enum bt_agent_known_resource counts them. */
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
	return BT_AGENT_NONE;
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
		if (resource == BT_AGENT_NONE && node->resources.count >= RESOURCES_MAX) {
			continue;
		}
		if (resource == BT_AGENT_NONE) {
			resource = node->resources.count;
			add_resource(node, member->name);
		}
		node->resources.items[resource].capacity = amount_of(&quantity, resource);
	}
}

static bool decode(const struct bt_node_agent *agent, const struct bt_api_resource *resource,
	struct bt_str key, const struct bt_message *message, struct bt_arena *arena, void *out)
{
	struct bt_stored *stored =
		bt_store_find(bt_api_store(bt_hub_api(agent->hub)), resource->collection, key);
	struct bt_json_reader reader;

	if (stored == NULL) {
		return false;
	}
	/* The arena ends with the sync; the text could go with a write of it. */
	bt_json_reader_init(&reader, bt_arena_str(arena, bt_stored_text(stored)));
	return bt_message_decode_json(message, &reader, arena, out, NULL) == 0;
}

static bool fits_labels(
	const struct bt_pod *pod, const struct bt_node *node, struct bt_arena *arena)
{
	const struct bt_required_node_affinity required =
		bt_required_node_affinity_parse(&pod->spec, arena);

	return bt_required_node_affinity_matches(
		&required, node->metadata.name, &node->metadata.labels, arena, NULL);
}

/** Other effects are the scheduler's: who assigns a pod by hand may pass them by. */
static bool tolerates(const struct bt_pod *pod, const struct bt_node *node)
{
	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *taint = &node->spec.taints.items[i];

		if (bt_str_equal_c(taint->effect, "NoExecute") &&
			!bt_tolerations_tolerate(&pod->spec.tolerations, taint, true)) {
			return false;
		}
	}
	return true;
}

/** Labels and taints of the node. Most pods on most nodes have nothing to be checked, and nodes are
 * large. */
static bool fits_node(struct bt_node_agent *agent, const struct bt_agent_node *record,
	const struct bt_pod *pod, struct bt_arena *arena, struct bt_agent_refusal *out_refusal)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	bool has_labels = pod->spec.node_selector.count != 0 ||
		(affinity != NULL && affinity->node_affinity != NULL &&
			affinity->node_affinity->required != NULL);
	struct bt_node node = {.spec = {.unschedulable = false}};

	if ((!has_labels && !record->has_no_execute) ||
		!decode(agent, agent->nodes_resource, bt_str_from(record->name), &bt_node_message,
			arena, &node)) {
		return true;
	}
	if (has_labels && !fits_labels(pod, &node, arena)) {
		*out_refusal = (struct bt_agent_refusal){BT_STR("NodeAffinity"),
			BT_STR("Pod was rejected: Predicate NodeAffinity failed: node(s) didn't "
			       "match Pod's node affinity/selector")};
		return false;
	}
	if (!tolerates(pod, &node)) {
		*out_refusal = (struct bt_agent_refusal){BT_STR("TaintToleration"),
			BT_STR("Pod was rejected: Predicate TaintToleration failed: node(s) had "
			       "taints that the pod didn't tolerate")};
		return false;
	}
	return true;
}

static void count_request(struct bt_agent_node *node, struct bt_agent_amount *amounts,
	uint32_t *count, struct bt_str name, int64_t amount)
{
	uint32_t resource = find_resource(node, name);

	/* What the node does not know is nobody's to check. */
	if (amount > 0 && resource != BT_AGENT_NONE) {
		amounts[(*count)++] = (struct bt_agent_amount){resource, amount};
	}
}

static struct bt_agent_amount *requests_of(struct bt_agent_node *node, const struct bt_pod *pod,
	struct bt_arena *arena, uint32_t *out_count)
{
	static const struct bt_request_options all = {.use_status = false};
	struct bt_resource_list list = bt_pod_requests(pod, &all, arena);
	struct bt_agent_amount *amounts =
		BT_ARENA_NEW_ARRAY(arena, struct bt_agent_amount, list.count + 1);
	uint32_t count = 0;

	amounts[count++] = (struct bt_agent_amount){BT_AGENT_PODS, 1};
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t resource = find_resource(node, list.items[i].name);
		count_request(node, amounts, &count, list.items[i].name,
			amount_of(&list.items[i].quantity, resource));
	}
	*out_count = count;
	return amounts;
}

static void take(struct bt_agent_node *node, struct bt_agent_pod *pod,
	const struct bt_agent_amount *amounts, uint32_t count)
{
	bt_free(pod->amounts);
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
}

/** Take the pod's resources of the node. forced: it runs already. false: *out_refusal, in the
 * arena, says why not; nothing is taken. */
static bool agent_admit(struct bt_node_agent *agent, struct bt_agent_pod *pod, bool forced,
	struct bt_arena *arena, struct bt_agent_refusal *out_refusal)
{
	struct bt_agent_node *node = &agent->nodes.items[pod->node];
	struct bt_pod decoded = {.spec = {.host_network = false}};
	struct bt_agent_amount *amounts;
	uint32_t count;

	if (!decode(agent, agent->pods_resource, bt_str_from(pod->key), &bt_pod_message, arena,
		    &decoded)) {
		*out_refusal = (struct bt_agent_refusal){
			BT_STR("UnexpectedAdmissionError"), BT_STR("Pod was rejected: unreadable")};
		return false;
	}
	amounts = requests_of(node, &decoded, arena, &count);
	for (uint32_t i = 0; i < count && !forced; i++) {
		const struct bt_agent_resource *resource =
			&node->resources.items[amounts[i].resource];
		if (resource->used > resource->capacity ||
			amounts[i].amount > resource->capacity - resource->used) {
			*out_refusal = (struct bt_agent_refusal){
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
	if (!forced && !fits_node(agent, node, &decoded, arena, out_refusal)) {
		return false;
	}
	take(node, pod, amounts, count);
	return true;
}

void bt_agent_release(struct bt_agent_node *node, struct bt_agent_pod *pod)
{
	for (uint32_t i = 0; i < pod->amount_count; i++) {
		node->resources.items[pod->amounts[i].resource].used -= pod->amounts[i].amount;
	}
	bt_free(pod->amounts);
	pod->amounts = NULL;
	pod->amount_count = 0;
	if (pod->host != 0) {
		node->hosts[pod->host >> 6] &= ~(UINT64_C(1) << (pod->host & 63));
		pod->host = 0;
	}
}

/** A container that failed runs again after this at the earliest. */
#define RESTART_DELAY_NS (10 * BT_NS_PER_SECOND)
/** What ends by SIGTERM. */
#define EXIT_CODE_STOPPED 143
/** Events of all agents together, in a second and at once: describing them must not cost as much
 * as the pods do. */
#define EVENTS_PER_SECOND 30
#define EVENTS_BURST 300

/** One look at one pod. */
struct pass {
	struct bt_node_agent *agent;
	struct bt_agent_pod *record;
	struct bt_str key; /* in the arena */
	const struct bt_json_value *pod;
	struct bt_arena *arena;
	int64_t now_ns;
};

/* --- events --- */

static bool take_event_tokens(struct pass *pass, int64_t wanted)
{
	struct bt_node_agent *agent = pass->agent;
	int64_t gained = (pass->now_ns - agent->event_updated_ns) /
		(BT_NS_PER_SECOND / (EVENTS_PER_SECOND * 1000));

	if (gained > EVENTS_BURST * 1000 - agent->event_tokens) {
		gained = EVENTS_BURST * 1000 - agent->event_tokens;
	}
	if (gained > 0) {
		agent->event_tokens += gained;
		agent->event_updated_ns = pass->now_ns;
	}
	if (agent->event_tokens < wanted * 1000) {
		return false;
	}
	agent->event_tokens -= wanted * 1000;
	return true;
}

static void tell(struct pass *pass, const char *type, const char *reason, struct bt_str message)
{
	bt_hub_event(pass->agent->hub, "kubelet", pass->agent->pods_resource, pass->pod, type,
		reason, message);
}

/* --- parts --- */

/** false: try again. What is gone or has changed comes back as a change. */
static bool write_status(struct pass *pass, struct bt_json_value *status)
{
	struct bt_json_value *patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	uint16_t code;

	bt_json_set_value(pass->arena, patch, "status", status);
	code = bt_hub_patch(pass->agent->hub, pass->agent->pods_resource, BT_SUBRESOURCE_STATUS,
		pass->key, patch, pass->arena, NULL);
	return code == 200 || code == 404;
}

static void wait_until(struct pass *pass, int64_t due_ns)
{
	pass->record->due_ns = due_ns;
	bt_hub_enqueue_at(pass->agent->hub, pass->key, due_ns);
}

static int64_t later(const struct pass *pass, int64_t delay_ns)
{
	return delay_ns > INT64_MAX - pass->now_ns ? INT64_MAX : pass->now_ns + delay_ns;
}

/** false: it runs until it is deleted. */
static bool run_time_of(const struct pass *pass, int64_t *out_ns)
{
	struct bt_str text = bt_tree_annotation(pass->pod, BT_ANNOTATION_RUN_TIME);
	const struct bt_json_value *owner = bt_controller_owner_of(pass->pod);

	if (bt_str_equal_c(bt_json_text_at(pass->pod, "spec.restartPolicy"), "Always")) {
		return false;
	}
	if (text.length != 0 && bt_duration_parse(text, out_ns, NULL) == 0 && *out_ns >= 0) {
		return true;
	}
	if (!bt_str_equal_c(bt_json_text_at(owner, "kind"), "Job")) {
		return false;
	}
	*out_ns = bt_hub_options(pass->agent->hub)->job_run_time_ns;
	return true;
}

/* --- start --- */

static void start_clock(struct pass *pass, int64_t started_ns)
{
	int64_t run_time;

	pass->record->stage = BT_AGENT_RUNNING;
	pass->record->due_ns = INT64_MAX;
	pass->record->completes = run_time_of(pass, &run_time);
	if (pass->record->completes) {
		wait_until(pass,
			run_time > INT64_MAX - started_ns ? INT64_MAX : started_ns + run_time);
	}
}

/** Files often say no more of a pod than that it runs: its agent knows the rest. */
static bool tell_rest(struct pass *pass)
{
	if (bt_json_array_at(pass->pod, "status.containerStatuses")->count != 0 &&
		bt_json_text_at(pass->pod, "status.podIP").length != 0) {
		return true;
	}
	pass->record->accepted_ns = pass->now_ns;
	return write_status(pass,
		bt_agent_missing_status(
			pass->agent, pass->record, pass->pod, pass->arena, pass->now_ns));
}

/** Key of the first claim of a volume that is not bound; "" when all are. */
static struct bt_str missing_volume(struct pass *pass)
{
	const struct bt_json_value *volumes = bt_json_array_at(pass->pod, "spec.volumes");

	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_str name = bt_pv_claim_of_volume(
			pass->arena, bt_key_name(pass->key), volumes->elements[i]);
		const struct bt_json_value *claim;
		struct bt_str key;

		if (name.length == 0) {
			continue;
		}
		key = bt_api_key(pass->arena, bt_key_namespace(pass->key), name);
		claim = bt_api_read(bt_hub_api(pass->agent->hub), pass->agent->claims_resource, key,
			pass->arena);
		if (!bt_str_equal_c(bt_json_text_at(claim, "status.phase"), "Bound")) {
			return key;
		}
	}
	return BT_STR("");
}

/** "#" and the key of the first claim without devices that are this pod's; "" when there is none. A
 * claim that is not made yet: "#" and the pod's key, since the pod will say its name. */
static struct bt_str missing_devices(struct pass *pass)
{
	const struct bt_json_value *entries = bt_json_array_at(pass->pod, "spec.resourceClaims");
	const struct bt_api *api = bt_hub_api(pass->agent->hub);

	for (uint32_t i = 0; i < entries->count; i++) {
		const struct bt_json_value *claim;
		struct bt_str key = pass->key;
		struct bt_str name;
		bool is_made = bt_claim_of_entry(pass->pod, entries->elements[i], &name);

		if (is_made && name.length == 0) {
			continue;
		}
		if (is_made) {
			key = bt_api_key(pass->arena, bt_key_namespace(pass->key), name);
			claim = bt_api_read(api, pass->agent->devices_resource, key, pass->arena);
			if (bt_claim_is_allocated(claim) &&
				bt_claim_is_reserved(claim, bt_str_from(pass->record->uid))) {
				continue;
			}
		}
		return bt_arena_printf(pass->arena, "#%.*s", BT_STR_ARG(key));
	}
	return BT_STR("");
}

static bool start(struct pass *pass)
{
	struct bt_node_agent *agent = pass->agent;
	struct bt_str missing = missing_volume(pass);

	if (missing.length == 0) {
		missing = missing_devices(pass);
	}
	if (missing.length != 0) {
		bt_groups_put(&agent->waiting, pass->key, missing);
		return true;
	}
	bt_groups_remove(&agent->waiting, pass->key);
	if (!write_status(pass,
		    bt_agent_running_status(
			    agent, pass->record, pass->pod, pass->arena, pass->now_ns))) {
		return false;
	}
	start_clock(pass, pass->now_ns);
	const struct bt_json_value *containers = bt_json_array_at(pass->pod, "spec.containers");

	for (uint32_t i = 0; i < containers->count && take_event_tokens(pass, 3); i++) {
		struct bt_str name = bt_json_text_at(containers->elements[i], "name");
		struct bt_str image = bt_json_text_at(containers->elements[i], "image");

		tell(pass, "Normal", "Pulled",
			bt_arena_printf(pass->arena,
				"Container image \"%.*s\" already present on machine",
				BT_STR_ARG(image)));
		tell(pass, "Normal", "Created",
			bt_arena_printf(pass->arena, "Created container: %.*s", BT_STR_ARG(name)));
		tell(pass, "Normal", "Started",
			bt_arena_printf(pass->arena, "Started container %.*s", BT_STR_ARG(name)));
	}
	return true;
}

static bool accept(struct pass *pass)
{
	struct bt_agent_refusal refusal;
	bool runs = bt_str_equal_c(bt_json_text_at(pass->pod, "status.phase"), "Running");
	int64_t delay = bt_hub_options(pass->agent->hub)->pod_start_delay_ns;

	if (runs && !tell_rest(pass)) {
		return false;
	}
	if (!agent_admit(pass->agent, pass->record, runs, pass->arena, &refusal)) {
		struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

		bt_json_set_c(pass->arena, status, "phase", "Failed");
		bt_json_set_str(pass->arena, status, "reason", refusal.reason);
		bt_json_set_str(pass->arena, status, "message", refusal.message);
		bt_json_set_str(
			pass->arena, status, "startTime", bt_time_text(pass->arena, pass->now_ns));
		tell(pass, "Warning", bt_arena_str(pass->arena, refusal.reason).data,
			refusal.message);
		return write_status(pass, status);
	}
	if (runs) {
		/* It ran before this process did. */
		int64_t started = bt_tree_seconds(pass->pod, "status.startTime");

		start_clock(pass, started != 0 ? started * BT_NS_PER_SECOND : pass->now_ns);
		return true;
	}
	pass->record->stage = BT_AGENT_STARTING;
	pass->record->accepted_ns = pass->now_ns;
	if (delay > 0) {
		wait_until(pass, later(pass, delay));
		return true;
	}
	pass->record->due_ns = pass->now_ns;
	return start(pass);
}

/* --- while it runs --- */

static bool run(struct pass *pass)
{
	struct bt_json_value *status;

	if (pass->record->completes && pass->now_ns >= pass->record->due_ns) {
		int64_t code = 0;
		int64_t exit_code =
			bt_str_parse_int64(
				bt_tree_annotation(pass->pod, BT_ANNOTATION_EXIT_CODE), &code) &&
				code > 0 && code <= 255
			? code
			: 0;
		int64_t run_time = 0;

		if (exit_code != 0 &&
			bt_str_equal_c(
				bt_json_text_at(pass->pod, "spec.restartPolicy"), "OnFailure")) {
			(void)run_time_of(pass, &run_time);
			wait_until(pass,
				later(pass,
					run_time > RESTART_DELAY_NS ? run_time : RESTART_DELAY_NS));
			return write_status(pass,
				bt_agent_restarted_status(
					pass->pod, exit_code, pass->arena, pass->now_ns));
		}
		return write_status(pass,
			bt_agent_ended_status(pass->pod, exit_code, pass->arena, pass->now_ns));
	}
	if (pass->record->completes) {
		wait_until(pass, pass->record->due_ns);
	}
	if (!pass->record->has_gates) {
		return true;
	}
	status = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_value(pass->arena, status, "conditions",
		bt_agent_gated_conditions(pass->pod, pass->arena, pass->now_ns));
	return bt_tree_covers(bt_json_object_at(pass->pod, "status"), status) ||
		write_status(pass, status);
}

/* --- end --- */

static bool is_over(const struct bt_json_value *pod)
{
	struct bt_str phase = bt_json_text_at(pod, "status.phase");

	return bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed");
}

static bool finish(struct pass *pass)
{
	uint16_t code;

	/* Who keeps the pod by a finalizer is told how it ended. */
	if (bt_json_array_at(pass->pod, "metadata.finalizers")->count != 0 && !is_over(pass->pod) &&
		!write_status(pass,
			bt_agent_ended_status(
				pass->pod, EXIT_CODE_STOPPED, pass->arena, pass->now_ns))) {
		return false;
	}
	code = bt_hub_delete(pass->agent->hub, pass->agent->pods_resource, pass->key, 0,
		bt_arena_str(pass->arena, bt_str_from(pass->record->uid)), pass->arena);
	return code == 200 || code == 404 || code == 409;
}

static bool stop(struct pass *pass)
{
	struct bt_agent_pod *record = pass->record;
	int64_t delay = bt_hub_options(pass->agent->hub)->pod_stop_delay_ns;
	int64_t grace = record->grace_seconds > 0 ? record->grace_seconds : 0;
	int64_t due;

	/* What never ran ends at once: spec 14b section 12, case 39. */
	if (record->stage == BT_AGENT_NEW || record->stage == BT_AGENT_STARTING) {
		if (!bt_str_equal_c(bt_json_text_at(pass->pod, "status.phase"), "Running")) {
			return finish(pass);
		}
	}
	if (delay > grace * BT_NS_PER_SECOND) {
		delay = grace * BT_NS_PER_SECOND;
	}
	due = later(pass, delay);
	if (record->stage != BT_AGENT_STOPPING) {
		record->stage = BT_AGENT_STOPPING;
		record->due_ns = due;
		const struct bt_json_value *containers =
			bt_json_array_at(pass->pod, "spec.containers");

		for (uint32_t i = 0; i < containers->count && take_event_tokens(pass, 1); i++) {
			tell(pass, "Normal", "Killing",
				bt_arena_printf(pass->arena, "Stopping container %.*s",
					BT_STR_ARG(
						bt_json_text_at(containers->elements[i], "name"))));
		}
	} else if (due < record->due_ns) {
		record->due_ns = due;
	}
	if (record->due_ns > pass->now_ns) {
		wait_until(pass, record->due_ns);
		return true;
	}
	return finish(pass);
}

bool bt_agent_sync_pod(
	struct bt_node_agent *agent, uint32_t slot, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {
		.agent = agent,
		.record = &agent->pods.items[slot],
		.arena = arena,
		.now_ns = now_ns,
	};
	const struct bt_agent_node *node = &agent->nodes.items[pass.record->node];

	if (!node->exists || !node->simulated) {
		return true;
	}
	pass.key = bt_arena_str(arena, bt_str_from(pass.record->key));
	pass.pod = bt_api_read(bt_hub_api(agent->hub), agent->pods_resource, pass.key, arena);
	if (pass.pod == NULL ||
		!bt_str_equal_c(bt_json_text_at(pass.pod, "metadata.uid"), pass.record->uid)) {
		return true;
	}
	if (pass.record->deleting || bt_tree_is_deleting(pass.pod)) {
		return stop(&pass);
	}
	switch (pass.record->stage) {
	case BT_AGENT_NEW:
		return accept(&pass);
	case BT_AGENT_STARTING:
		if (now_ns < pass.record->due_ns) {
			wait_until(&pass, pass.record->due_ns);
			return true;
		}
		return start(&pass);
	case BT_AGENT_RUNNING:
		return run(&pass);
	case BT_AGENT_STOPPING:
		break;
	}
	return true;
}
