/* SPDX-License-Identifier: Apache-2.0 */
/** Which addresses a node's pods get: a /24 of 10.0.0.0/8 for each node, written to its
 * spec.podCIDR, unless somebody gave it one. */
#include "cluster/node_agent.h"

#define BLOCK_COUNT 65536u /* of 256 addresses each in 10.0.0.0/8 */

/** "a.b.c.d/length" */
static bool read_cidr(struct bt_str text, uint32_t *out_address, uint32_t *out_length)
{
	uint32_t numbers[5] = {0};
	uint32_t at = 0;
	bool has_digit = false;

	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];

		if (byte >= '0' && byte <= '9') {
			numbers[at] = numbers[at] * 10 + (uint32_t)(byte - '0');
			has_digit = true;
			if (numbers[at] > 255) {
				return false;
			}
		} else if (has_digit && ((byte == '.' && at < 3) || (byte == '/' && at == 3))) {
			at++;
			has_digit = false;
		} else {
			return false;
		}
	}
	if (at != 4 || !has_digit || numbers[4] > 32) {
		return false;
	}
	*out_address = numbers[0] << 24 | numbers[1] << 16 | numbers[2] << 8 | numbers[3];
	*out_length = numbers[4];
	return true;
}

static void count_uses(struct bt_node_agent *agent, const struct bt_agent_node *node, bool uses)
{
	for (uint32_t i = 0; i < node->block_count; i++) {
		uint32_t *count = &agent->block_uses[node->first_block + i];
		if (uses) {
			agent->free_blocks -= *count == 0 ? 1 : 0;
			*count += 1;
		} else {
			*count -= 1;
			agent->free_blocks += *count == 0 ? 1 : 0;
		}
	}
}

void bt_agent_init_subnets(struct bt_node_agent *agent)
{
	agent->block_uses = BT_NEW_ARRAY(uint32_t, BLOCK_COUNT);
	agent->free_blocks = BLOCK_COUNT;
}

static void set_subnet(struct bt_agent_node *node, uint32_t address)
{
	node->subnet[0] = (uint8_t)(address >> 24);
	node->subnet[1] = (uint8_t)(address >> 16 & 255);
	node->subnet[2] = (uint8_t)(address >> 8 & 255);
	node->has_subnet = true;
}

void bt_agent_release_subnet(struct bt_node_agent *agent, struct bt_agent_node *node)
{
	count_uses(agent, node, false);
	node->block_count = 0;
	node->has_subnet = false;
}

void bt_agent_note_subnet(
	struct bt_node_agent *agent, struct bt_agent_node *node, struct bt_str pod_cidr)
{
	uint32_t address;
	uint32_t length;
	uint32_t mask;

	if (!read_cidr(pod_cidr, &address, &length)) {
		return;
	}
	bt_agent_release_subnet(agent, node);
	mask = length == 0 ? 0 : UINT32_MAX << (32 - length);
	address &= mask;
	set_subnet(node, address);
	if (length <= 8 && (UINT32_C(10) << 24 & mask) == address) {
		node->first_block = 0;
		node->block_count = BLOCK_COUNT;
	} else if (address >> 24 == 10) {
		node->first_block = address >> 8 & 0xffff;
		node->block_count = length >= 24 ? 1 : UINT32_C(1) << (24 - length);
	}
	count_uses(agent, node, true);
}

void bt_agent_ensure_subnet(struct bt_node_agent *agent, struct bt_agent_node *node)
{
	if (node->has_subnet) {
		return;
	}
	for (uint32_t i = 0; i < BLOCK_COUNT && agent->free_blocks != 0; i++) {
		uint32_t block = (agent->next_block + i) % BLOCK_COUNT;

		if (agent->block_uses[block] == 0) {
			node->first_block = block;
			node->block_count = 1;
			count_uses(agent, node, true);
			set_subnet(node, UINT32_C(10) << 24 | block << 8);
			/* What was in use a moment ago is not given at once again. */
			agent->next_block = block + 1;
			return;
		}
	}
	/* There are more nodes than blocks: the last one is everybody's, and not written. */
	set_subnet(node, UINT32_C(10) << 24 | (BLOCK_COUNT - 1) << 8);
}

bool bt_agent_write_subnet(struct bt_node_agent *agent, struct bt_agent_node *node,
	const struct bt_json_value *tree, struct bt_arena *arena)
{
	struct bt_json_value *patch;
	struct bt_json_value *spec;
	struct bt_str cidr;
	uint16_t code;

	if (bt_json_text_at(tree, "spec.podCIDR").length != 0) {
		return true;
	}
	bt_agent_ensure_subnet(agent, node);
	if (node->block_count == 0) {
		return true;
	}
	cidr = bt_arena_printf(
		arena, "%u.%u.%u.0/24", node->subnet[0], node->subnet[1], node->subnet[2]);
	patch = bt_json_new(arena, BT_JSON_OBJECT);
	spec = bt_json_ensure_object(arena, patch, "spec");
	bt_json_set_str(arena, spec, "podCIDR", cidr);
	bt_json_append(
		arena, bt_json_ensure_array(arena, spec, "podCIDRs"), bt_json_new_str(arena, cidr));
	code = bt_hub_patch(agent->hub, agent->nodes_resource, BT_SUBRESOURCE_NONE,
		bt_arena_str(arena, bt_str_from(node->name)), patch, arena, NULL);
	return code < 500;
}
