/* SPDX-License-Identifier: Apache-2.0 */
#include "town.h"

#include <check.h>

#include "base/error.h"
#include "validate/validate.h"

static const struct bt_engine_options verifying = {
	.verify = true, .tie_policy = BT_TIE_FIRST_BY_NAME, .percentage_of_nodes_to_score = -1};

void town_init_scripted(
	struct town *town, const char *config, struct script *const *scripts, uint32_t script_count)
{
	*town = (struct town){0};
	world_init(&town->world, config, &verifying, scripts, script_count);
}

void town_init(struct town *town, const char *config)
{
	town_init_scripted(town, config, NULL, 0);
}

void town_finish(struct town *town)
{
	bt_vec_finish(&town->nodes);
	world_finish(&town->world);
}

void town_add_node(struct town *town, const char *json)
{
	const struct bt_node *node = world_node(&town->world, json);

	bt_vec_push(&town->nodes, node);
	bt_state_add_node(town->world.engine->state, node);
}

void town_add_object(struct town *town, const char *json)
{
	struct bt_object *object;

	if (strncmp(json, "{'kind':'Pod'", 13) == 0) {
		world_add_pod(&town->world, json);
		return;
	}
	ck_assert_int_eq(bt_object_decode(world_json(&town->world.arena, json), &object, NULL), 0);
	bt_object_store_put(&town->world.engine->state->objects, object);
}

struct bt_pod *town_pod(struct town *town, const char *json)
{
	struct bt_pod *pod = world_pod(&town->world, json);

	if (pod->spec.scheduler_name.length == 0) {
		pod->spec.scheduler_name = BT_STR("default-scheduler");
	}
	return pod;
}

static const struct bt_node *find_node(void *context, struct bt_str name)
{
	const struct town *town = context;

	for (uint32_t i = 0; i < town->nodes.count; i++) {
		if (bt_str_equal(town->nodes.items[i]->metadata.name, name)) {
			return town->nodes.items[i];
		}
	}
	return NULL;
}

struct bt_explain_objects town_objects(struct town *town)
{
	return (struct bt_explain_objects){find_node, town};
}

struct bt_scan town_try(struct town *town, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str node)
{
	struct bt_engine *engine = town->world.engine;
	struct bt_explain_objects objects = town_objects(town);
	struct bt_explain_world world;
	struct bt_scan scan = {0};
	bool possible;
	const bt_remedy_list list = {
		.items = (struct bt_remedy *)(uintptr_t)remedies, .count = count};

	ck_assert_int_eq(
		bt_explain_world_open(&world, engine, pod, &list, &objects, &possible, NULL), 0);
	if (possible) {
		uint32_t slot = node.length != 0 ? bt_state_snapshot_find(engine->state, node)
						 : BT_SLOT_NONE;
		scan = bt_explain_world_scan(&world, slot, false);
		ck_assert_int_eq(bt_explain_world_close(&world, NULL), 0);
	}
	return scan;
}

static const char *keep(struct town *town, struct bt_strbuf *text)
{
	const char *kept = bt_arena_str(&town->world.arena, bt_strbuf_str(text)).data;

	bt_strbuf_finish(text);
	return kept;
}

static void append_ids(
	struct bt_strbuf *text, const char *what, const uint32_t *ids, uint32_t count)
{
	bt_strbuf_printf(text, " %s", what);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(text, " %u", ids[i]);
	}
}

/** Appends each claim with the address of its object, and the devices that are taken. */
static void append_claims(struct bt_strbuf *text, const struct bt_dra *dra)
{
	uint32_t cursor = 0;
	const struct bt_object *claim;

	while ((claim = bt_claim_cache_next(&dra->claims, &cursor)) != NULL) {
		bt_strbuf_printf(text, "\nclaim %.*s %p", BT_STR_ARG(claim->meta->name),
			(const void *)claim);
	}
	for (uint32_t id = bt_bitset_next(&dra->allocated.held, 0); id != UINT32_MAX;
		id = bt_bitset_next(&dra->allocated.held, id + 1)) {
		bt_strbuf_printf(text, " %u", id);
	}
}

const char *town_fingerprint(struct town *town)
{
	const struct bt_state *state = town->world.engine->state;
	struct bt_strbuf text = {0};

	append_ids(&text, "list", bt_snapshot_list(&state->snapshot), state->snapshot.count);
	const struct bt_snapshot_lists *lists = bt_snapshot_affinity_lists(state);
	append_ids(&text, "affinity", lists->affinity.items, lists->affinity.count);
	append_ids(&text, "anti", lists->anti_affinity.items, lists->anti_affinity.count);
	for (uint32_t i = 0; i < state->order.zones.count; i++) {
		append_ids(&text, "zone", state->order.zones.items[i].slots.items,
			state->order.zones.items[i].slots.count);
	}
	for (uint32_t i = 0; i < state->snapshot.count; i++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[i];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		bt_strbuf_printf(&text, "\n%u cpu %lld/%lld memory %lld/%lld pods %lld/%lld", slot,
			(long long)state->nodes.requested[BT_CPU_MILLI][slot],
			(long long)state->nodes.allocatable[BT_CPU_MILLI][slot],
			(long long)state->nodes.requested[BT_MEMORY_BYTES][slot],
			(long long)state->nodes.allocatable[BT_MEMORY_BYTES][slot],
			(long long)state->nodes.pod_count[slot],
			(long long)state->nodes.allocatable_pods[slot]);
		bt_strbuf_printf(&text, " ports %u taints %u%s", row->ports.count,
			state->nodes.taint_set[slot],
			state->nodes.unschedulable[slot] != 0 ? " cordoned" : "");
		append_ids(&text, "pods", row->pods.items, row->pods.count);
		append_ids(&text, "with affinity", row->pods_with_affinity.items,
			row->pods_with_affinity.count);
		for (uint32_t k = 0; k < row->labels.count; k++) {
			bt_strbuf_printf(&text, " %.*s=%.*s", BT_STR_ARG(row->labels.items[k].key),
				BT_STR_ARG(row->labels.items[k].value));
		}
		for (uint32_t k = 0; k < row->images.count; k++) {
			bt_strbuf_printf(&text, " image %u on %u", row->images.items[k].image,
				row->images.items[k].node_count);
		}
	}
	if (state->dra != NULL) {
		append_claims(&text, state->dra);
	}
	return keep(town, &text);
}

static void expect_valid(struct town *town)
{
	struct bt_strbuf reason = {0};

	ck_assert_msg(
		bt_state_validate(town->world.engine->state, &reason), "%s", bt_strbuf_c(&reason));
	ck_assert_msg(town->world.engine->state->dra == NULL ||
			bt_dra_validate(town->world.engine->state->dra, &reason),
		"%s", bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
}

void town_explain(struct town *town, const struct bt_pod *pod, uint32_t proposals_max,
	struct bt_explanation *out)
{
	struct bt_explain_options options = {
		.proposals_max = proposals_max, .preemption = true, .objects = town_objects(town)};
	struct berth_error err = BERTH_ERROR_INIT;
	const char *before;
	int result = bt_state_refresh_snapshot(town->world.engine->state, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	before = town_fingerprint(town);
	result = bt_explain(town->world.engine, pod, &options, out, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert_str_eq(town_fingerprint(town), before);
	expect_valid(town);
}

static void append_remedy(struct bt_strbuf *text, const struct bt_remedy *remedy)
{
	uint32_t members = bt_remedy_members(remedy->kind);
	const struct {
		uint32_t bit;
		struct bt_str value;
	} texts[] = {
		{BT_REMEDY_HAS_NODE, remedy->node},
		{BT_REMEDY_HAS_RESOURCE, remedy->resource},
		{BT_REMEDY_HAS_POD, remedy->pod_namespace},
		{BT_REMEDY_HAS_POD, remedy->pod_name},
		{BT_REMEDY_HAS_KEY, remedy->key},
		{BT_REMEDY_HAS_VALUE, remedy->value},
		{BT_REMEDY_HAS_EFFECT, remedy->effect},
	};

	bt_strbuf_append_c(text, bt_remedy_kind_name(remedy->kind));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		if ((members & texts[i].bit) != 0) {
			bt_strbuf_printf(text, " %.*s", BT_STR_ARG(texts[i].value));
		}
	}
	if ((members & BT_REMEDY_HAS_INDEX) != 0) {
		bt_strbuf_printf(text, " #%u", remedy->index);
	}
	if ((members & BT_REMEDY_HAS_AMOUNT) != 0) {
		bt_strbuf_printf(text, " %lld", (long long)remedy->amount);
	}
}

const char *town_remedies(struct town *town, const struct bt_remedy *remedies, uint32_t count)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : "; ");
		append_remedy(&text, &remedies[i]);
	}
	return keep(town, &text);
}

const char *town_proposals(struct town *town, const struct bt_explanation *explanation)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];

		bt_strbuf_printf(&text, "%s -> %.*s (%u)\n",
			town_remedies(town, proposal->remedies.items, proposal->remedies.count),
			BT_STR_ARG(proposal->node), proposal->opened_count);
	}
	return keep(town, &text);
}

const char *town_groups(struct town *town, const struct bt_explanation *explanation)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];

		bt_strbuf_printf(&text, "%.*s%s:", BT_STR_ARG(group->plugin),
			group->in_pre_filter ? "*" : "");
		for (uint32_t k = 0; k < group->reasons.count; k++) {
			bt_strbuf_printf(&text, "%s %.*s", k == 0 ? "" : ",",
				BT_STR_ARG(group->reasons.items[k]));
		}
		bt_strbuf_append_c(&text, ":");
		for (uint32_t k = 0; k < group->nodes.count; k++) {
			bt_strbuf_printf(&text, " %.*s",
				BT_STR_ARG(explanation->nodes.items[group->nodes.items[k]].name));
		}
		bt_strbuf_append_char(&text, '\n');
	}
	return keep(town, &text);
}

const struct bt_explained_node *town_node(
	const struct bt_explanation *explanation, const char *node)
{
	for (uint32_t i = 0; i < explanation->nodes.count; i++) {
		if (bt_str_equal_c(explanation->nodes.items[i].name, node)) {
			return &explanation->nodes.items[i];
		}
	}
	ck_abort_msg("no node %s", node);
	return NULL;
}

const char *town_obstacles(
	struct town *town, const struct bt_explanation *explanation, const char *node)
{
	const struct bt_explained_node *found = town_node(explanation, node);
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < found->obstacles.count; i++) {
		const struct bt_obstacle *obstacle = &found->obstacles.items[i];

		bt_strbuf_printf(&text, "%.*s: %.*s\n", BT_STR_ARG(obstacle->plugin),
			BT_STR_ARG(obstacle->hint));
	}
	return keep(town, &text);
}
