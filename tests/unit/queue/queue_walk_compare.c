/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_walk.h"

#include "validate/validate.h"

static uint32_t mask_of(
	struct world *world, const struct bt_queue_entry *entry, const struct bt_rejectors *set)
{
	uint32_t mask = 0;

	for (uint32_t r = bt_rejectors_next(set, 0); r < BT_REJECTOR__COUNT;
		r = bt_rejectors_next(set, r + 1)) {
		struct bt_str name = bt_queue_rejector_name(world->queue.queue, entry->profile, r);

		for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
			mask |= bt_str_equal_c(name, walk_plugins[i].name) ? UINT32_C(1) << i : 0;
		}
	}
	return mask;
}

static void compare_record(
	struct world *world, const struct bt_queue_entry *entry, const struct model_record *record)
{
	const char *name = entry->pod.name.data;
	struct bt_rejectors gate = {{0}};
	int64_t until_ns = 0;
	int64_t expected_ns = 0;
	bool backs_off = bt_queue_backoff_until(world->queue.queue, entry, &until_ns);

	if (bt_queue_entry_is_gated(entry)) {
		bt_rejectors_add(&gate, entry->gating_plugin);
	}
	MUST(world, record->used && entry->object == record->object,
		"%s: object (used %d, place %d, entry place %d, attempts %u/%u)", name,
		record->used, record->place, entry->place, entry->attempts, record->attempts);
	MUST(world, entry->place == record->place, "%s: place %d, expected %d", name,
		(int)entry->place, (int)record->place);
	MUST(world, entry->timestamp_ns == record->timestamp_ns, "%s: timestamp", name);
	MUST(world, entry->initial_attempt_ns == record->initial_attempt_ns, "%s: initial", name);
	MUST(world, entry->attempts == record->attempts, "%s: attempts", name);
	MUST(world, entry->unschedulable_count == record->unschedulable_count, "%s: count", name);
	MUST(world, entry->consecutive_errors == record->consecutive_errors, "%s: errors", name);
	MUST(world, entry->flushed == record->flushed, "%s: flushed", name);
	MUST(world,
		mask_of(world, entry, &entry->unschedulable_plugins) ==
			record->unschedulable_plugins,
		"%s: unschedulable plugins", name);
	MUST(world, mask_of(world, entry, &entry->pending_plugins) == record->pending_plugins,
		"%s: pending plugins", name);
	MUST(world,
		mask_of(world, entry, &gate) ==
			(record->gating_plugin < 0 ? 0 : UINT32_C(1) << record->gating_plugin),
		"%s: gating plugin", name);
	MUST(world,
		backs_off == model_backoff_until(&world->model, record, &expected_ns) &&
			until_ns == expected_ns,
		"%s: backoff until %lld, expected %lld", name, (long long)until_ns,
		(long long)expected_ns);
}

struct label_check {
	struct world *world;
	uint64_t sum;
};

static void compare_label(void *context, const struct bt_queue_event_counters *counters)
{
	struct label_check *check = context;
	struct model *model = &check->world->model;
	struct model_label expected = {.name = ""};
	uint32_t in_flight = 0;

	for (uint32_t i = 0; i < model->label_count; i++) {
		if (bt_str_equal_c(counters->label, model->labels[i].name)) {
			expected = model->labels[i];
		}
	}
	for (uint32_t i = 0; i < model->log.count; i++) {
		in_flight += model->log.items[i].marker == NULL &&
			bt_str_equal_c(counters->label, model->log.items[i].label);
	}
	MUST(check->world,
		counters->incoming_active == expected.active &&
			counters->incoming_backoff == expected.backoff &&
			counters->incoming_unschedulable == expected.unschedulable,
		"incoming pods of %.*s", BT_STR_ARG(counters->label));
	MUST(check->world, counters->in_flight == in_flight, "log of %.*s: %u, expected %u",
		BT_STR_ARG(counters->label), counters->in_flight, in_flight);
	check->sum += counters->incoming_active + counters->incoming_backoff +
		counters->incoming_unschedulable + counters->in_flight;
}

static void compare_counters(struct world *world)
{
	struct label_check check = {.world = world};
	struct model *model = &world->model;
	uint64_t sum = 0;
	uint32_t markers = 0;

	bt_queue_for_each_label(world->queue.queue, compare_label, &check);
	for (uint32_t i = 0; i < model->label_count; i++) {
		sum += model->labels[i].active + model->labels[i].backoff +
			model->labels[i].unschedulable;
	}
	for (uint32_t i = 0; i < model->log.count; i++) {
		markers += model->log.items[i].marker != NULL;
	}
	sum += model->log.count - markers;
	MUST(world, check.sum == sum, "labels that the queue does not count");
	MUST(world, bt_queue_in_flight_count(world->queue.queue) == markers, "pods in flight");
	MUST(world, bt_queue_scheduling_cycle(world->queue.queue) == model->scheduling_cycle,
		"scheduling cycle");
	for (uint32_t p = 0; p < MODEL_PROFILES; p++) {
		for (uint32_t i = 0; i < MODEL_PLUGINS; i++) {
			uint32_t rejector = bt_queue_find_rejector(
				world->queue.queue, p, bt_str_from(walk_plugins[i].name));

			MUST(world,
				rejector == BT_REJECTOR__COUNT ||
					bt_queue_unschedulable_pods(world->queue.queue, p,
						rejector) == model->gauge[p][i],
				"unschedulable_pods of %s", walk_plugins[i].name);
		}
	}
}

static void compare_nominations(struct world *world)
{
	static const char *const nodes[] = {"n0", "n1", "n2"};
	char expected[256];

	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(nodes); n++) {
		size_t length = 0;

		expected[0] = '\0';
		for (uint32_t i = 0; i < world->model.nominations.count; i++) {
			const struct model_nomination *nomination =
				&world->model.nominations.items[i];

			if (strcmp(nomination->node, nodes[n]) == 0) {
				length += (size_t)snprintf(expected + length,
					sizeof(expected) - length, "%s%.*s", length > 0 ? " " : "",
					BT_STR_ARG(nomination->pod->meta->name));
			}
		}
		MUST(world, strcmp(queue_nominated(&world->queue, nodes[n]), expected) == 0,
			"nominated on %s: <%s>, expected <%s>", nodes[n],
			queue_nominated(&world->queue, nodes[n]), expected);
	}
	MUST(world, world->queue.nominator.nominations.map.count == world->model.nominations.count,
		"number of nominations");
}

void walk_compare_numbers(struct world *world)
{
	uint32_t places[BT_QUEUE__PLACES] = {0};

	for (uint32_t i = 0; i < world->model.records.count; i++) {
		const struct model_record *record = &world->model.records.items[i];

		if (record->used && record->place != BT_QUEUE_OUT) {
			places[record->place]++;
		}
	}
	for (uint32_t place = 0; place < BT_QUEUE__PLACES; place++) {
		MUST(world,
			bt_queue_count(world->queue.queue, (enum bt_queue_place)place) ==
				places[place],
			"size of place %u", place);
	}
	MUST(world, bt_queue_can_pop(world->queue.queue) == model_can_pop(&world->model),
		"can pop");
	compare_counters(world);
	compare_nominations(world);
}

void walk_compare(struct world *world)
{
	const char *reason = NULL;

	MUST(world, bt_queue_validate(world->queue.queue, &reason), "%s", reason);
	for (uint32_t i = 0; i < world->model.records.count; i++) {
		const struct model_record *record = &world->model.records.items[i];
		const struct bt_queue_entry *entry;

		if (!record->used || record->place == BT_QUEUE_OUT) {
			continue;
		}
		entry = bt_queue_find(world->queue.queue, record->pod->metadata.namespace_,
			record->pod->metadata.name);
		MUST(world, entry != NULL, "%.*s is not queued",
			BT_STR_ARG(record->pod->metadata.name));
		compare_record(world, entry, record);
	}
	for (uint32_t i = 0; i < world->out_count; i++) {
		compare_record(world, world->out[i].entry,
			&world->model.records.items[world->out[i].record]);
	}
	walk_compare_numbers(world);
}
