/* SPDX-License-Identifier: Apache-2.0 */
/** Builds nodes, and the statuses of pods and nodes. Spec: 14b section 9, 3 and 5. */
#include <stdio.h>

#include "api/time.h"
#include "cluster/node_agent.h"
#include "server/condition.h"

/** A pod and the state of its containers that the new status shows. */
struct picture {
	struct bt_arena *arena;
	const struct bt_json_value *pod;
	struct bt_str now;
	bool running;
	bool unready;      /* annotation berth.dev/ready is "false" */
	int64_t exit_code; /* of containers that ended */
};

static struct picture picture_of(const struct bt_sync *sync)
{
	return (struct picture){
		.arena = sync->arena,
		.pod = sync->object,
		.now = bt_time_text(sync->arena, sync->now_ns),
		.running = true,
		.unready = bt_str_equal_c(
			bt_tree_annotation(sync->object, BT_ANNOTATION_READY), "false"),
	};
}

/* --- conditions --- */

struct condition {
	const char *type;
	bool is_true;
	const char *reason; /* NULL: none */
	const char *message;
};

static void set_condition(const struct picture *picture, struct bt_json_value *conditions,
	const struct condition *condition)
{
	struct bt_arena *arena = picture->arena;
	struct bt_json_value *entry = bt_condition_find(conditions, condition->type);
	const char *status = condition->is_true ? "True" : "False";
	int64_t generation = bt_json_int64_at(picture->pod, "metadata.generation", 0);

	if (entry == NULL) {
		entry = bt_json_put(arena, NULL, "{type: %c}", condition->type);
		bt_json_append(arena, conditions, entry);
	}
	if (!bt_str_equal_c(bt_json_text_at(entry, "status"), status)) {
		bt_json_put(
			arena, entry, "{status: %c, lastTransitionTime: %s}", status, picture->now);
	}
	(void)bt_json_remove_c(entry, "reason");
	(void)bt_json_remove_c(entry, "message");
	bt_json_put(arena, entry, "{observedGeneration?: %d, reason: %c, message: %c}",
		generation > 0 ? generation : 0, condition->reason, condition->message);
}

static bool gates_are_open(const struct bt_json_value *pod, const struct bt_json_value *conditions)
{
	const struct bt_json_value *gates = bt_json_array_at(pod, "spec.readinessGates");

	for (uint32_t i = 0; i < gates->count; i++) {
		struct bt_str type = bt_json_text_at(gates->elements[i], "conditionType");
		const struct bt_json_value *entry = bt_json_element_with(conditions, "type", type);

		if (!bt_str_equal_c(bt_json_text_at(entry, "status"), "True")) {
			return false;
		}
	}
	return true;
}

static void set_ready(const struct picture *picture, struct bt_json_value *conditions)
{
	struct condition ready = {.type = "ContainersReady", .is_true = true};

	if (picture->unready) {
		ready.is_true = false;
		ready.reason = "ContainersNotReady";
		ready.message = "containers are unready: annotation " BT_ANNOTATION_READY;
	}
	set_condition(picture, conditions, &ready);
	ready.type = "Ready";
	if (ready.is_true && !gates_are_open(picture->pod, conditions)) {
		ready.is_true = false;
		ready.reason = "ReadinessGatesNotReady";
		ready.message = "the status of a readiness gate's condition is not \"True\"";
	}
	set_condition(picture, conditions, &ready);
}

/* --- containers --- */

static struct bt_json_value *terminated(
	const struct picture *picture, struct bt_str started, int64_t exit_code)
{
	return bt_json_put(picture->arena, NULL,
		"{terminated: {exitCode: %d, reason: %c, startedAt: %s, finishedAt: %s}}",
		exit_code, exit_code == 0 ? "Completed" : "Error",
		started.length != 0 ? started : picture->now, picture->now);
}

static struct bt_json_value *container_status(const struct picture *picture,
	const struct bt_json_value *container, const struct bt_json_value *before, bool runs,
	int64_t exit_code)
{
	struct bt_arena *arena = picture->arena;
	struct bt_str name = bt_json_text_at(container, "name");
	struct bt_str image = bt_json_text_at(container, "image");
	struct bt_str started = bt_json_text_at(before, "state.running.startedAt");
	int64_t restarts = bt_json_int64_at(before, "restartCount", 0);
	bool again = runs && before != NULL && bt_json_find_path(before, "state.waiting") == NULL;
	struct bt_json_value *last = again
		? terminated(picture, started, exit_code)
		: bt_json_clone(arena, bt_json_object_at(before, "lastState"), false);
	struct bt_json_value *state = runs
		? bt_json_put(arena, NULL, "{running: {startedAt: %s}}", picture->now)
		: terminated(picture, started, exit_code);

	return bt_json_put(arena, NULL,
		"{name: %s, state: %v, lastState: %v, ready: %b, restartCount: %d, image: %s, "
		"imageID: %s, containerID: %s, started: %b}",
		name, state, last, runs && !picture->unready, again ? restarts + 1 : restarts,
		image, image,
		bt_arena_printf(arena, "berth://%.*s/%.*s",
			BT_STR_ARG(bt_json_text_at(picture->pod, "metadata.uid")),
			BT_STR_ARG(name)),
		runs);
}

/** Adds the statuses of init containers, sidecars or ephemeral containers, if there are any. */
static void set_others(const struct picture *picture, struct bt_json_value *status,
	const char *path, const char *member)
{
	const struct bt_json_value *containers = bt_json_array_at(picture->pod, path);
	const struct bt_json_value *before =
		bt_json_array_at(bt_json_object_at(picture->pod, "status"), member);
	bool is_init = strcmp(member, "initContainerStatuses") == 0;

	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_json_value *container = containers->elements[i];
		const struct bt_json_value *old =
			bt_json_element_with(before, "name", bt_json_text_at(container, "name"));
		bool runs = picture->running &&
			(!is_init ||
				bt_str_equal_c(
					bt_json_text_at(container, "restartPolicy"), "Always"));
		/* A container that has ended or still runs keeps its status. */
		bool is_kept = bt_json_find_path(old, "state.terminated") != NULL ||
			(runs && bt_json_find_path(old, "state.running") != NULL);
		struct bt_json_value *entry = is_kept
			? bt_json_clone(picture->arena, old, false)
			: container_status(picture, container, old, runs, 0);

		bt_json_set_bool(picture->arena, entry, "ready", is_init);
		bt_json_append(picture->arena, bt_json_ensure_array(picture->arena, status, member),
			entry);
	}
}

static void set_containers(const struct picture *picture, struct bt_json_value *status)
{
	const struct bt_json_value *containers = bt_json_array_at(picture->pod, "spec.containers");
	const struct bt_json_value *before =
		bt_json_array_at(picture->pod, "status.containerStatuses");
	struct bt_json_value *list =
		bt_json_ensure_array(picture->arena, status, "containerStatuses");

	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_json_value *container = containers->elements[i];
		bt_json_append(picture->arena, list,
			container_status(picture, container,
				bt_json_element_with(
					before, "name", bt_json_text_at(container, "name")),
				picture->running, picture->exit_code));
	}
	set_others(picture, status, "spec.initContainers", "initContainerStatuses");
	set_others(picture, status, "spec.ephemeralContainers", "ephemeralContainerStatuses");
}

/* --- whole statuses --- */

/**
 * Returns the pod's address. The first call assigns an address that no other pod of the node has,
 * or, if the subnet has no free address, the address that ends with 255.
 */
static struct bt_str pod_ip(const struct picture *picture, struct bt_node_agent *agent,
	struct bt_agent_node *node, struct bt_agent_pod *record)
{
	bt_agent_ensure_subnet(agent, node);
	for (uint32_t i = 0; record->host == 0 && i < BT_AGENT_HOSTS_MAX; i++) {
		uint8_t host = (uint8_t)(node->last_host % BT_AGENT_HOSTS_MAX + 1);
		node->last_host = host;
		if ((node->hosts[host >> 6] >> (host & 63) & 1) == 0) {
			node->hosts[host >> 6] |= UINT64_C(1) << (host & 63);
			record->host = host;
		}
	}
	return bt_arena_printf(picture->arena, "%u.%u.%u.%u", node->subnet[0], node->subnet[1],
		node->subnet[2], record->host != 0 ? record->host : 255u);
}

struct bt_json_value *bt_agent_running_status(
	const struct bt_sync *sync, struct bt_agent_pod *record)
{
	static const struct condition started[] = {
		{"PodReadyToStartContainers", true, NULL, NULL},
		{"Initialized", true, NULL, NULL},
		{"PodScheduled", true, NULL, NULL},
	};
	struct bt_node_agent *agent = sync->data;
	struct bt_agent_node *node = &agent->nodes.items[record->node];
	const struct bt_json_value *pod = sync->object;
	struct bt_arena *arena = sync->arena;
	struct picture picture = picture_of(sync);
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *conditions = bt_tree_copy_array(arena, pod, "status.conditions");
	struct bt_str host_ip = bt_arena_str(arena, bt_str_from(node->address));
	struct bt_str ip = bt_json_bool_at(pod, "spec.hostNetwork", false)
		? host_ip
		: pod_ip(&picture, agent, node, record);
	int64_t generation = bt_json_int64_at(pod, "metadata.generation", 0);

	for (size_t i = 0; i < BT_ARRAY_LENGTH(started); i++) {
		set_condition(&picture, conditions, &started[i]);
	}
	set_ready(&picture, conditions);
	bt_json_put(arena, status,
		"{observedGeneration?: %d, phase: 'Running', conditions: %v, hostIP: %s, "
		"hostIPs: [{ip: %s}], podIP: %s, podIPs: [{ip: %s}], startTime: %s}",
		generation > 0 ? generation : 0, conditions, host_ip, host_ip, ip, ip,
		bt_time_text(arena, record->accepted_ns));
	set_containers(&picture, status);
	return status;
}

struct bt_json_value *bt_agent_missing_status(
	const struct bt_sync *sync, struct bt_agent_pod *record)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *whole = bt_agent_running_status(sync, record);
	const struct bt_json_value *stored = bt_json_object_at(sync->object, "status");
	struct bt_json_value *missing = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *conditions = bt_tree_copy_array(arena, stored, "conditions");
	const struct bt_json_value *all = bt_json_array_at(whole, "conditions");

	for (uint32_t i = 0; i < all->count; i++) {
		struct bt_str type = bt_json_text_at(all->elements[i], "type");
		if (bt_json_element_with(conditions, "type", type) == NULL) {
			bt_json_append(arena, conditions, all->elements[i]);
		}
	}
	bt_json_set_value(arena, missing, "conditions", conditions);
	for (uint32_t i = 0; i < whole->count; i++) {
		const struct bt_json_member *member = &whole->members[i];
		const struct bt_json_value *old = bt_json_get(stored, member->name);
		bool is_list =
			old != NULL && (old->type == BT_JSON_ARRAY || old->type == BT_JSON_OBJECT);
		if (old == NULL || old->type == BT_JSON_NULL || (is_list && old->count == 0) ||
			(old->type == BT_JSON_STRING && old->text.length == 0)) {
			bt_json_set(arena, missing, member->name, member->value);
		}
	}
	if (bt_json_text_at(stored, "podIP").length != 0) {
		(void)bt_json_remove_c(missing, "podIPs");
	}
	return missing;
}

struct bt_json_value *bt_agent_readiness_status(const struct bt_sync *sync, bool with_containers)
{
	struct picture picture = picture_of(sync);
	struct bt_json_value *conditions =
		bt_tree_copy_array(sync->arena, sync->object, "status.conditions");
	struct bt_json_value *containers =
		bt_tree_copy_array(sync->arena, sync->object, "status.containerStatuses");

	set_ready(&picture, conditions);
	for (uint32_t i = 0; i < containers->count; i++) {
		bt_json_set_bool(sync->arena, containers->elements[i], "ready", !picture.unready);
	}
	return bt_json_put(sync->arena, NULL, "{conditions: %v, containerStatuses: %v}", conditions,
		with_containers ? containers : NULL);
}

struct bt_json_value *bt_agent_changed_status(const struct bt_sync *sync)
{
	struct picture picture = picture_of(sync);
	struct bt_json_value *status = bt_json_put(sync->arena, NULL, "{observedGeneration: %d}",
		bt_json_int64_at(sync->object, "metadata.generation", 0));

	set_others(&picture, status, "spec.ephemeralContainers", "ephemeralContainerStatuses");
	return status;
}

struct bt_json_value *bt_agent_ended_status(const struct bt_sync *sync, int64_t exit_code)
{
	const char *reason = exit_code == 0 ? "PodCompleted" : "PodFailed";
	const struct condition ended[] = {
		{"PodReadyToStartContainers", false, NULL, NULL},
		{"Initialized", true, exit_code == 0 ? reason : NULL, NULL},
		{"Ready", false, reason, NULL},
		{"ContainersReady", false, reason, NULL},
	};
	struct bt_arena *arena = sync->arena;
	struct picture picture = picture_of(sync);
	struct bt_json_value *conditions =
		bt_tree_copy_array(arena, sync->object, "status.conditions");
	struct bt_json_value *status = bt_json_put(arena, NULL, "{phase: %c, conditions: %v}",
		exit_code == 0 ? "Succeeded" : "Failed", conditions);

	picture.running = false;
	picture.exit_code = exit_code;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ended); i++) {
		set_condition(&picture, conditions, &ended[i]);
	}
	set_containers(&picture, status);
	return status;
}

struct bt_json_value *bt_agent_restarted_status(const struct bt_sync *sync, int64_t exit_code)
{
	struct picture picture = picture_of(sync);
	struct bt_json_value *status = bt_json_new(sync->arena, BT_JSON_OBJECT);

	picture.exit_code = exit_code;
	set_containers(&picture, status);
	return status;
}

/* --- creating nodes and completing their statuses (spec 14b section 9, 1) --- */

#define EPHEMERAL_STORAGE "100Gi"
/** Number of zones named zone-a to zone-z; the names of further zones have a number. */
#define ZONE_LETTERS 26

static struct bt_json_value *conditions_of(
	const struct bt_json_value *node, struct bt_arena *arena, int64_t now_ns)
{
	static const struct bt_tree_condition conditions[] = {
		{"MemoryPressure", "False", "KubeletHasSufficientMemory",
			BT_STR_INIT("kubelet has sufficient memory available")},
		{"DiskPressure", "False", "KubeletHasNoDiskPressure",
			BT_STR_INIT("kubelet has no disk pressure")},
		{"PIDPressure", "False", "KubeletHasSufficientPID",
			BT_STR_INIT("kubelet has sufficient PID available")},
		{"Ready", "True", "KubeletReady", BT_STR_INIT("kubelet is posting ready status")},
	};
	struct bt_json_value *list = bt_tree_copy_array(arena, node, "status.conditions");

	for (size_t i = 0; i < BT_ARRAY_LENGTH(conditions); i++) {
		if (bt_condition_find(list, conditions[i].type) == NULL) {
			(void)bt_tree_set_condition(arena, list, &conditions[i], false, now_ns);
			bt_json_set_str(arena, bt_condition_find(list, conditions[i].type),
				"lastHeartbeatTime", bt_time_text(arena, now_ns));
		}
	}
	return list;
}

static struct bt_json_value *addresses_of(
	struct bt_arena *arena, const char *ip, struct bt_str name)
{
	return bt_json_put(arena, NULL,
		"[{type: 'InternalIP', address: %s}, {type: 'Hostname', address: %s}]",
		bt_arena_str(arena, bt_str_from(ip)), name);
}

struct default_text {
	const char *name;
	struct bt_str text;
};

static void set_missing_texts(struct bt_arena *arena, struct bt_json_value *object,
	const struct default_text *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bt_tree_text(object, texts[i].name).length == 0) {
			bt_json_set_str(arena, object, texts[i].name, texts[i].text);
		}
	}
}

/** Returns a copy of `before`, which is status.nodeInfo, with the missing members added. */
static struct bt_json_value *info_of(
	struct bt_arena *arena, const struct bt_json_value *before, struct bt_str id)
{
	const struct default_text texts[] = {
		{"machineID", id},
		{"systemUUID", id},
		{"bootID", id},
		{"kernelVersion", BT_STR("6.1.0-berth")},
		{"osImage", BT_STR("Simulated node of berth")},
		{"containerRuntimeVersion", BT_STR("berth://1.0.0")},
		{"kubeletVersion", BT_STR("v1.36.2")},
		{"kubeProxyVersion", BT_STR("")},
		{"operatingSystem", BT_STR("linux")},
		{"architecture", BT_STR("amd64")},
	};
	struct bt_json_value *info = bt_json_clone(arena, before, false);

	set_missing_texts(arena, info, texts, BT_ARRAY_LENGTH(texts));
	return info;
}

/** Sets the labels that a kubelet sets when it registers its node. */
static void set_node_labels(
	struct bt_arena *arena, struct bt_json_value *labels, struct bt_str name)
{
	struct bt_str arch = bt_tree_text(labels, "kubernetes.io/arch");
	struct bt_str os = bt_tree_text(labels, "kubernetes.io/os");
	const struct default_text texts[] = {
		{"kubernetes.io/arch", BT_STR("amd64")},
		{"kubernetes.io/hostname", name},
		{"kubernetes.io/os", BT_STR("linux")},
		{"beta.kubernetes.io/arch", arch.length != 0 ? arch : BT_STR("amd64")},
		{"beta.kubernetes.io/os", os.length != 0 ? os : BT_STR("linux")},
	};

	set_missing_texts(arena, labels, texts, BT_ARRAY_LENGTH(texts));
}

void bt_agent_complete_node(struct bt_sync *sync, const struct bt_agent_node *record)
{
	const struct bt_json_value *node = sync->object;
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *old_labels = bt_json_object_at(node, "metadata.labels");
	struct bt_json_value *labels = bt_json_clone(arena, old_labels, false);
	bool has_addresses = bt_json_array_at(node, "status.addresses")->count != 0;

	bt_sync_write_status(sync,
		bt_json_put(arena, NULL, "{conditions: %v, addresses: %v, nodeInfo: %v}",
			conditions_of(node, arena, sync->now_ns),
			has_addresses ? NULL : addresses_of(arena, record->address, sync->key),
			info_of(arena, bt_json_object_at(node, "status.nodeInfo"),
				bt_json_text_at(node, "metadata.uid"))));
	set_node_labels(arena, labels, sync->key);
	if (labels->count != old_labels->count &&
		!bt_hub_is_done(bt_sync_patch(sync, BT_HUB_NODES, sync->key,
			bt_json_put(arena, NULL, "{metadata: {labels: %v}}", labels)))) {
		sync->failed = true;
	}
}

/* --- nodes of --nodes --- */

int bt_controllers_add_nodes(
	struct bt_hub *hub, const struct bt_node_template *template_, struct berth_error *err)
{
	struct bt_arena arena = {0};
	int code = 0;

	for (uint32_t i = 0; i < template_->count && code == 0; i++) {
		struct bt_api_request request = BT_API_REQUEST_INIT;
		struct bt_str name = bt_arena_printf(&arena, "%s%u", template_->name_prefix, i);
		struct bt_api_answer answer;

		if (bt_hub_exists(hub, BT_HUB_NODES, name)) {
			bt_arena_reset(&arena);
			continue;
		}
		request.verb = BT_VERB_CREATE;
		request.resource = hub->kinds[BT_HUB_NODES];
		struct bt_json_value *labels = bt_json_new(&arena, BT_JSON_OBJECT);
		const struct bt_json_value *amounts = bt_json_put(&arena, NULL,
			"{cpu: %c, ephemeral-storage: '" EPHEMERAL_STORAGE
			"', memory: %c, pods: %c}",
			template_->cpu, template_->memory, template_->pods);
		/* Count from 1: an address that ends with 0 looks like a network address. */
		struct bt_str address = bt_arena_printf(&arena, "172.%u.%u.%u",
			16 + ((i + 1) >> 16 & 15), (i + 1) >> 8 & 255, (i + 1) & 255);

		set_node_labels(&arena, labels, name);
		if (template_->zone_count != 0) {
			uint32_t zone = i % template_->zone_count;

			bt_json_put(&arena, labels,
				"{topology.kubernetes.io/region: 'region-1', "
				"topology.kubernetes.io/zone: %s}",
				zone < ZONE_LETTERS ? bt_arena_printf(&arena, "zone-%c",
							      (char)('a' + (int)zone))
						    : bt_arena_printf(&arena, "zone-%u", zone));
		}
		request.body = bt_json_put(&arena, NULL,
			"{metadata: {labels: %v, name: %s}, status: {capacity: %t, "
			"allocatable: %t, conditions: %v, addresses: %v, nodeInfo: %v}}",
			labels, name, amounts, amounts,
			conditions_of(NULL, &arena, bt_api_now_ns(hub->api)),
			addresses_of(&arena, address.data, name),
			info_of(&arena, bt_json_object_at(NULL, "nodeInfo"), name));
		bt_api_perform(hub->api, &request, &arena, &answer);
		if (answer.code != 201) {
			code = bt_error_set(
				err, BERTH_ERR_INVALID, "%.*s", BT_STR_ARG(answer.failure.message));
		}
		bt_api_answer_finish(&answer);
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
	return code;
}
