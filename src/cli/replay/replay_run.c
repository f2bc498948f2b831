/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay/replay_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "cli/command.h"
#include "cluster/file.h"
#include "codec/yaml.h"

/** Limit of samples per curve; samples are a whole number of seconds apart. */
#define SAMPLES 1000
#define PRICES_BYTES_MAX ((size_t)1 << 20)

const char *bt_difference_name(enum bt_difference difference)
{
	static const char *const names[] = {
		[BT_DIFFERENCE_NO_NODE] = "NodeMissing",
		[BT_DIFFERENCE_NO_ROOM] = "NodeRejected",
		[BT_DIFFERENCE_SCORE] = "Score",
		[BT_DIFFERENCE_NOMINATED] = "Nominated",
		[BT_DIFFERENCE_TIE] = "EqualScore",
		[BT_DIFFERENCE__COUNT] = "NotExamined",
	};
	return names[difference];
}

static double to_seconds(int64_t ns)
{
	return (double)ns / (double)BT_NS_PER_SECOND;
}

double bt_replay_hours(double ns)
{
	return ns / (3600.0 * (double)BT_NS_PER_SECOND);
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

void bt_replay_append_time(struct bt_strbuf *out, int64_t time_ns)
{
	const struct bt_time time = {.seconds = time_ns / BT_NS_PER_SECOND,
		.nanoseconds = (int32_t)(time_ns % BT_NS_PER_SECOND),
		.set = true};
	bt_micro_time_format(&time, out);
}

static void write_member_time_ns(struct bt_json_writer *writer, const char *name, int64_t time_ns)
{
	struct bt_strbuf text = {0};
	bt_replay_append_time(&text, time_ns);
	bt_json_write_member(writer, name, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static void write_groups(struct bt_json_writer *writer, const char *name,
	struct bt_measured_group *const *groups, uint32_t count)
{
	bt_json_begin_member_array(writer, name);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_waits *waits = &groups[i]->waits;
		bt_json_write(writer,
			"{name: %s, pods: %d, pending: %d, waitedSeconds: {p50: %f, p95: %f, p99: "
			"%f, max: %f}}",
			groups[i]->name, (int64_t)waits->count, (int64_t)groups[i]->pending,
			to_seconds(bt_waits_quantile(waits, 0.5)),
			to_seconds(bt_waits_quantile(waits, 0.95)),
			to_seconds(bt_waits_quantile(waits, 0.99)), to_seconds(waits->max_ns));
	}
	bt_json_end_array(writer);
}

/** Limit of columns of the heat map. */
#define HEAT_COLUMNS 200

static void write_json_differences(
	struct bt_json_writer *writer, const struct bt_replay_answer *answer)
{
	bt_json_write(writer, "comparison: {bindings: %d, same: %d, reasons: {",
		(int64_t)answer->counts.recorded, (int64_t)answer->counts.same);
	for (int i = 0; i <= BT_DIFFERENCE__COUNT; i++) {
		bt_json_write_member_int64(writer, bt_difference_name((enum bt_difference)i),
			(int64_t)answer->difference_counts[i]);
	}
	bt_json_write(writer, "}, differences: [");
	for (uint32_t i = 0; i < answer->differences.count; i++) {
		const struct bt_replay_difference *difference = &answer->differences.items[i];
		bt_json_write(writer, "{namespace: %s, name: %s", difference->namespace_,
			difference->name);
		write_member_time_ns(writer, "time", difference->time_ns);
		write_member_time_ns(writer, "recordedTime", difference->recorded_ns);
		bt_json_write(writer, "node: %s, recordedNode: %s, why: %c, reason: %s}",
			difference->node_name, difference->recorded_node,
			bt_difference_name(difference->difference), difference->reason);
	}
	bt_json_write(writer, "]}");
}

void bt_replay_answer_write_json(const void *context, struct bt_json_writer *writer)
{
	const struct bt_replay_answer *answer = context;
	const struct bt_replay_counts *counts = &answer->counts;
	const struct bt_measure *measure = &answer->measure;
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"created", counts->created}, {"bound", counts->bound},
		{"pending", counts->pending}, {"running", counts->running},
		{"succeeded", counts->succeeded}, {"deleted", counts->deleted},
		{"preempted", counts->preempted}, {"lost", counts->lost},
		{"evicted", counts->evicted}, {"attempts", counts->attempts}};
	bt_json_write(writer, "{apiVersion: 'berth.dev/v1', kind: 'Replay'");
	write_member_time_ns(writer, "start", counts->start_ns);
	write_member_time_ns(writer, "end", counts->end_ns);
	bt_json_begin_member_object(writer, "pods");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(numbers); i++) {
		bt_json_write_member_int64(writer, numbers[i].name, (int64_t)numbers[i].value);
	}
	bt_json_end_object(writer);
	bt_json_write(writer,
		"lostHours: %f, nodes: {most: %u, mostUsed: %u, hours: %f, usedHours: %f, "
		"neverUsed: %u",
		bt_replay_hours(measure->lost_ns), measure->most_nodes, measure->most_used_nodes,
		bt_replay_hours(measure->node_ns), bt_replay_hours(measure->used_node_ns),
		measure->never_used);
	if (answer->has_prices) {
		bt_json_write(writer, "cost: %f, usedCost: %f", measure->full_cost, measure->cost);
	}
	bt_json_write(writer, "}, resources: [");
	for (uint32_t i = 0; i < measure->resources.count; i++) {
		const struct bt_measured_resource *resource = &measure->resources.items[i];
		bt_json_write(writer, "{name: %s, inUse: %f, peak: %f, fragmented: %f}",
			resource->name, share(resource->used_ns, resource->capacity_ns),
			resource->peak, share(resource->fragmented_ns, resource->capacity_ns));
	}
	bt_json_end_array(writer);
	write_groups(writer, "priorities", measure->priorities.items, measure->priorities.count);
	write_groups(writer, "owners", measure->owners.items, measure->owners.count);
	if (answer->is_compared) {
		write_json_differences(writer, answer);
	}
	/* The waiting times of the percentiles 1 to 100: the points of a distribution. */
	bt_json_begin_member_array(writer, "waited");
	for (uint32_t percent = 1; percent <= 100 && measure->waits.count != 0; percent++) {
		bt_json_write_double(writer,
			to_seconds(bt_waits_quantile(&measure->waits, (double)percent / 100)));
	}
	bt_json_end_array(writer);
	bt_json_begin_member_array(writer, "samples");
	for (uint32_t i = 0; i < measure->samples.count; i++) {
		const struct bt_measured_sample *sample = &measure->samples.items[i];
		bt_json_begin_object(writer);
		write_member_time_ns(writer, "time", sample->time_ns);
		bt_json_write(writer, "pending: %u, nodes: %u, usedNodes: %u, inUse: {",
			sample->pending, sample->nodes, sample->used_nodes);
		for (uint32_t k = 0; k < sample->share_count; k++) {
			bt_json_write(writer, "%s: %f", measure->resources.items[k].name,
				sample->shares[k]);
		}
		bt_json_write(writer, "}}");
	}
	bt_json_end_array(writer);
	/* One column per step: the use in per cent of each row of nodes; null: no nodes. */
	uint32_t step = measure->samples.count / HEAT_COLUMNS + 1;
	bt_json_write(writer, "heat: {nodesPerRow: %u, samplesPerColumn: %u, columns: [",
		measure->slots_per_row, step);
	for (uint32_t i = 0; i < measure->samples.count; i += step) {
		bt_json_begin_array(writer);
		for (uint32_t row = 0; row < BT_MEASURE_HEAT_ROWS; row++) {
			uint8_t heat = measure->samples.items[i].heat[row];
			bt_json_write(writer, heat == UINT8_MAX ? "null" : "%u", (uint32_t)heat);
		}
		bt_json_end_array(writer);
	}
	bt_json_write(writer, "]}");
	bt_json_end_object(writer);
}

/** --- the run --- */

struct noting {
	struct bt_replay_answer *answer;
	FILE *events; /* NULL: no events file */
};

/** Write a pod's event as a line of JSON. node_name "": the pod has no node. */
static void write_event(const struct noting *noting, int64_t time_ns, const char *event,
	const struct bt_pod *pod, struct bt_str node_name)
{
	if (noting->events == NULL) {
		return;
	}
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_begin_object(&writer);
	write_member_time_ns(&writer, "time", time_ns);
	bt_json_write(&writer, "event: %c, namespace: %s, name: %s, node?: %s}", event,
		pod->metadata.namespace_, pod->metadata.name, node_name);
	(void)fprintf(noting->events, "%s\n", bt_strbuf_c(&text)); /* checked at the end */
	bt_strbuf_finish(&text);
}

static void write_created(void *context, const struct bt_state *state BT_UNUSED,
	const struct bt_pod *pod, int64_t time_ns)
{
	write_event(context, time_ns, "created", pod, BT_STR(""));
}

static void write_departure(void *context, const struct bt_replay_departure *departure)
{
	static const char *const names[] = {[BT_REPLAY_SUCCEEDED] = "succeeded",
		[BT_REPLAY_DELETED] = "deleted",
		[BT_REPLAY_PREEMPTED] = "preempted",
		[BT_REPLAY_LOST] = "lost",
		[BT_REPLAY_EVICTED] = "evicted"};
	write_event(context, departure->time_ns, names[departure->end], departure->pod,
		departure->pod->spec.node_name);
}

static void write_binding(void *context, const struct bt_replay_binding *binding)
{
	struct noting *noting = context;
	struct bt_replay_answer *answer = noting->answer;
	write_event(noting, binding->time_ns, "bound", binding->pod, binding->node_name);
	if (!answer->is_compared || binding->recorded_node.length == 0 ||
		bt_str_equal(binding->recorded_node, binding->node_name)) {
		return;
	}
	answer->difference_counts[binding->difference]++;
	if (answer->differences.count < BT_REPLAY_DIFFERENCES_MAX) {
		struct bt_arena *arena = &answer->arena;
		struct bt_replay_difference difference = {
			.time_ns = binding->time_ns,
			.namespace_ = bt_arena_str(arena, binding->pod->metadata.namespace_),
			.name = bt_arena_str(arena, binding->pod->metadata.name),
			.node_name = bt_arena_str(arena, binding->node_name),
			.recorded_node = bt_arena_str(arena, binding->recorded_node),
			.recorded_ns = binding->recorded_ns,
			.difference = binding->difference,
			.reason = bt_arena_str(arena, binding->reason),
		};
		bt_vec_push(&answer->differences, difference);
	}
}

/** Read the price per hour of each instance type into the answer's arena. */
static int read_prices(struct bt_replay_answer *answer, const char *path, struct berth_error *err)
{
	struct bt_file file;
	struct bt_strbuf json = {0};
	struct bt_json_value *document = NULL;
	int result = bt_file_read(path, PRICES_BYTES_MAX, &file, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "--prices: %s", path);
	}
	struct bt_str text = {file.data, (uint32_t)file.length};
	result = bt_yaml_first_document(text, NULL, &json, err);
	if (result == 0 && json.length != 0) {
		result = bt_json_parse(&answer->arena, bt_strbuf_str(&json), true, &document, err);
	}
	if (result == 0 && (document == NULL || document->type != BT_JSON_OBJECT)) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"must be an object that has a price per hour for each instance type");
	}
	uint32_t count = result == 0 ? document->count : 0;
	struct bt_price *prices = BT_ARENA_NEW_ARRAY(&answer->arena, struct bt_price, count);
	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct bt_json_member *member = &document->members[i];
		char number[64];
		(void)snprintf(number, sizeof(number), "%.*s", BT_STR_ARG(member->value->text));
		double price = member->value->type == BT_JSON_NUMBER ? strtod(number, NULL) : -1;
		prices[i] = (struct bt_price){member->name, price};
		if (!(price >= 0 && price <= 1e9)) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"%.*s: must be a number from 0 to 1000000000",
				BT_STR_ARG(member->name));
		}
	}
	answer->measure.prices = prices;
	answer->measure.price_count = count;
	answer->has_prices = true;
	bt_strbuf_finish(&json);
	bt_file_finish(&file);
	return result < 0 ? bt_error_wrap(err, result, "--prices: %s", path) : 0;
}

int bt_replay_answer_find(const struct bt_replay_request *request, const struct bt_setup *setup,
	struct bt_warnings *warnings, struct bt_replay_answer *out_answer, struct berth_error *err)
{
	FILE *events = NULL;
	int result = 0;
	*out_answer = (struct bt_replay_answer){.is_compared = request->is_compared};
	if (request->prices_path != NULL) {
		result = read_prices(out_answer, request->prices_path, err);
	}
	if (result == 0 && request->events_path != NULL) {
		events = fopen(request->events_path, "we");
		result = events == NULL ? bt_error_set(err, BERTH_ERR_IO, "--events: %s: %s",
						  request->events_path, strerror(errno))
					: 0;
	}
	if (result == 0) {
		struct noting noting = {out_answer, events};
		const struct bt_replay_sink sinks[] = {bt_measure_sink(&out_answer->measure),
			{.context = &noting,
				.created = write_created,
				.bound = write_binding,
				.departed = write_departure},
			request->sink};
		struct bt_progress progress;
		struct bt_lives *lives;
		result = bt_lives_read(request->files.list.items, request->files.list.count,
			bt_warnings_take, warnings, &lives, err);
		if (result >= 0) {
			int64_t length_ns = bt_lives_end_ns(lives) - bt_lives_start_ns(lives);
			int64_t end_ns = request->to_ns < length_ns ? request->to_ns : length_ns;
			bt_progress_start(&progress, "replaying seconds");
			const struct bt_replay_options options = {
				.paths = request->files.list.items,
				.path_count = request->files.list.count,
				.from_ns = request->from_ns,
				.to_ns = request->to_ns,
				.interval_ns =
					((end_ns - request->from_ns) / SAMPLES / BT_NS_PER_SECOND +
						1) *
					BT_NS_PER_SECOND,
				.prefers_recorded = out_answer->is_compared,
				.reasons_max =
					out_answer->is_compared ? BT_REPLAY_DIFFERENCES_MAX : 0,
				.sinks = sinks,
				.sink_count = BT_ARRAY_LENGTH(sinks),
				.progress = bt_progress_show,
				.progress_context = &progress,
			};
			result = bt_replay_run(&options, lives, bt_setup_scheduler, setup,
				&out_answer->counts, err);
			bt_progress_end(&progress);
			bt_measure_end(&out_answer->measure);
			bt_lives_destroy(lives);
		}
	}
	bool has_failed = events != NULL && ferror(events) != 0;
	if (events != NULL && (fclose(events) != 0 || has_failed) && result == 0) {
		result = bt_error_set(err, BERTH_ERR_IO, "--events: %s: %s", request->events_path,
			strerror(errno));
	}
	return result;
}

void bt_replay_answer_finish(struct bt_replay_answer *answer)
{
	bt_vec_finish(&answer->differences);
	bt_measure_finish(&answer->measure);
	bt_arena_finish(&answer->arena);
}

/** --- the command line --- */

int bt_replay_request_check(struct bt_replay_request *request, const struct bt_arguments *arguments,
	struct berth_error *err)
{
	request->files.list = arguments->list;
	request->to_ns = INT64_MAX;
	if (arguments->list.count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no recording: name a file that \"berth record\" or \"berth import\" "
			"wrote");
	}
	int result = bt_command_read_duration("from", request->from, true, &request->from_ns, err);
	if (result == 0) {
		result = bt_command_read_duration("to", request->to, true, &request->to_ns, err);
	}
	return result == 0 && request->to_ns < request->from_ns
		? bt_error_set(err, BERTH_ERR_INVALID, "--to: must not be before --from")
		: result;
}
