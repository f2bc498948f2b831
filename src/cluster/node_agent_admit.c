/* SPDX-License-Identifier: Apache-2.0 */
/** What pods take of their nodes, and the agent's own check of it. Spec: 14b section 9, 2. */
#include <inttypes.h>

#include "api/node.h"
#include "api/resources.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "cluster/node_agent.h"

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

bool bt_agent_admit(struct bt_node_agent *agent, struct bt_agent_pod *pod, bool forced,
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
