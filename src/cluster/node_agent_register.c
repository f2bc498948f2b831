/* SPDX-License-Identifier: Apache-2.0 */
/** Nodes, as agents make and complete them. Spec: 14b section 9, 1. */
#include "api/time.h"
#include "cluster/hub.h"
#include "cluster/node_agent.h"
#include "server/condition.h"

#define KUBELET_VERSION "v1.36.2"
#define EPHEMERAL_STORAGE "100Gi"
/** Zones with a letter; then they are numbered. */
#define ZONE_LETTERS 26

static void set_text(
	struct bt_arena *arena, struct bt_json_value *object, const char *name, struct bt_str text)
{
	if (bt_tree_text(object, name).length == 0) {
		bt_json_set_str(arena, object, name, text);
	}
}

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
	struct bt_json_value *list =
		bt_json_clone(arena, bt_json_array_at(node, "status.conditions"), false);

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
	const struct bt_str values[] = {bt_arena_str(arena, bt_str_from(ip)), name};
	static const char *const types[] = {"InternalIP", "Hostname"};
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);

	for (size_t i = 0; i < BT_ARRAY_LENGTH(types); i++) {
		struct bt_json_value *entry = bt_json_new(arena, BT_JSON_OBJECT);
		bt_json_set_c(arena, entry, "type", types[i]);
		bt_json_set_str(arena, entry, "address", values[i]);
		bt_json_append(arena, list, entry);
	}
	return list;
}

static struct bt_json_value *info_of(
	struct bt_arena *arena, const struct bt_json_value *before, struct bt_str id)
{
	struct bt_json_value *info = bt_json_clone(arena, before, false);

	set_text(arena, info, "machineID", id);
	set_text(arena, info, "systemUUID", id);
	set_text(arena, info, "bootID", id);
	set_text(arena, info, "kernelVersion", BT_STR("6.1.0-berth"));
	set_text(arena, info, "osImage", BT_STR("Simulated node of berth"));
	set_text(arena, info, "containerRuntimeVersion", BT_STR("berth://1.0.0"));
	set_text(arena, info, "kubeletVersion", BT_STR(KUBELET_VERSION));
	set_text(arena, info, "kubeProxyVersion", BT_STR(""));
	set_text(arena, info, "operatingSystem", BT_STR("linux"));
	set_text(arena, info, "architecture", BT_STR("amd64"));
	return info;
}

bool bt_agent_complete_node(struct bt_node_agent *agent, const struct bt_agent_node *record,
	const struct bt_json_value *node, struct bt_arena *arena, int64_t now_ns)
{
	struct bt_str name = bt_json_text_at(node, "metadata.name");
	struct bt_json_value *status = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_value(arena, status, "conditions", conditions_of(node, arena, now_ns));
	if (bt_json_array_at(node, "status.addresses")->count == 0) {
		bt_json_set_value(
			arena, status, "addresses", addresses_of(arena, record->address, name));
	}
	bt_json_set_value(arena, status, "nodeInfo",
		info_of(arena, bt_json_object_at(node, "status.nodeInfo"),
			bt_json_text_at(node, "metadata.uid")));
	return bt_tree_write_status(agent->hub, agent->nodes_resource, node, status, arena);
}

/* --- those that --nodes makes --- */

static struct bt_str zone_name(struct bt_arena *arena, uint32_t zone)
{
	return zone < ZONE_LETTERS ? bt_arena_printf(arena, "zone-%c", (char)('a' + (int)zone))
				   : bt_arena_printf(arena, "zone-%u", zone);
}

static struct bt_json_value *amounts_of(
	const struct bt_node_template *template_, struct bt_arena *arena)
{
	struct bt_json_value *amounts = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_c(arena, amounts, "cpu", template_->cpu);
	bt_json_set_c(arena, amounts, "ephemeral-storage", EPHEMERAL_STORAGE);
	bt_json_set_c(arena, amounts, "memory", template_->memory);
	bt_json_set_c(arena, amounts, "pods", template_->pods);
	return amounts;
}

static struct bt_json_value *make_node(const struct bt_node_template *template_, uint32_t index,
	struct bt_str name, struct bt_arena *arena, int64_t now_ns)
{
	struct bt_json_value *node = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *metadata = bt_json_ensure_object(arena, node, "metadata");
	struct bt_json_value *labels = bt_json_ensure_object(arena, metadata, "labels");
	struct bt_json_value *status = bt_json_ensure_object(arena, node, "status");
	/* An address that ends with 0 looks like a net's. */
	struct bt_str address = bt_arena_printf(arena, "172.%u.%u.%u",
		16 + ((index + 1) >> 16 & 15), (index + 1) >> 8 & 255, (index + 1) & 255);

	bt_json_set_str(arena, metadata, "name", name);
	bt_json_set_c(arena, labels, "kubernetes.io/arch", "amd64");
	bt_json_set_str(arena, labels, "kubernetes.io/hostname", name);
	bt_json_set_c(arena, labels, "kubernetes.io/os", "linux");
	if (template_->zone_count != 0) {
		bt_json_set_c(arena, labels, "topology.kubernetes.io/region", "region-1");
		bt_json_set_str(arena, labels, "topology.kubernetes.io/zone",
			zone_name(arena, index % template_->zone_count));
	}
	bt_json_set_value(arena, status, "capacity", amounts_of(template_, arena));
	bt_json_set_value(arena, status, "allocatable", amounts_of(template_, arena));
	bt_json_set_value(arena, status, "conditions", conditions_of(node, arena, now_ns));
	bt_json_set_value(arena, status, "addresses", addresses_of(arena, address.data, name));
	bt_json_set_value(arena, status, "nodeInfo",
		info_of(arena, bt_json_object_at(status, "nodeInfo"), name));
	return node;
}

int bt_controllers_add_nodes(struct bt_controllers *controllers,
	const struct bt_node_template *template_, struct berth_error *err)
{
	struct bt_hub *hub = &controllers->hub;
	const struct bt_api_resource *nodes =
		bt_resources_builtin(bt_api_resources(hub->api), "", "nodes");
	struct bt_arena arena = {0};
	int code = 0;

	for (uint32_t i = 0; i < template_->count && code == 0; i++) {
		struct bt_api_request request = BT_API_REQUEST_INIT;
		struct bt_str name = bt_arena_printf(&arena, "%s%u", template_->name_prefix, i);
		struct bt_api_answer answer;

		if (bt_store_find(hub->store, nodes->collection, name) != NULL) {
			bt_arena_reset(&arena);
			continue;
		}
		request.verb = BT_VERB_CREATE;
		request.resource = nodes;
		request.body = make_node(template_, i, name, &arena, bt_api_now_ns(hub->api));
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
