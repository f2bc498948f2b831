/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The clock of a replay, which moves from line to line of the recording, and the events between
 * lines.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "replay/world.h"

/** Moves the clock to a later time. */
static void move_clock(struct bt_replay *replay, int64_t time_ns)
{
	struct bt_replay_counts *counts = replay->counts;
	if (bt_replay_is_decided(replay)) {
		counts->most_pending = BT_MAX(counts->most_pending, replay->pending_count);
	}
	replay->now_ns = time_ns;
	while (replay->next_sample_ns <= time_ns) {
		BT_REPLAY_NOTIFY(replay->options, sampled, replay->engine->state,
			replay->pending_count, replay->next_sample_ns)
		replay->next_sample_ns += replay->options->interval_ns;
	}
}

static int end_pods(struct bt_replay *replay, struct berth_error *err)
{
	int result = 0;
	while (result == 0 && replay->ends.slots.count != 0 &&
		replay->ends.slots.items[0].major <= replay->now_ns) {
		result = bt_replay_end_pod(replay, bt_heap_top(&replay->ends), err);
	}
	return result;
}

/** Does everything that is due before until_ns, and moves the clock there. */
static int run_until(struct bt_replay *replay, int64_t until_ns, struct berth_error *err)
{
	int result = 0;
	if (replay->now_ns < replay->from_ns && until_ns > replay->from_ns) {
		replay->now_ns = replay->from_ns;
	}
	bool decided = bt_replay_is_decided(replay);
	bool is_burst =
		bt_replay_follows(replay) && until_ns - replay->now_ns <= BT_REPLAY_BURST_NS;
	replay->may_be_busy =
		bt_replay_follows(replay) && until_ns - replay->now_ns <= BT_REPLAY_BUSY_NS;
	while (result == 0) {
		int64_t next_ns = INT64_MAX;
		if (decided && !is_burst) {
			result = bt_replay_schedule(replay, &next_ns, err);
		}
		if (replay->pending_count == 0) {
			next_ns = INT64_MAX; /* flushes of an empty queue do nothing */
		}
		if (replay->ends.slots.count != 0 && replay->ends.slots.items[0].major < next_ns) {
			next_ns = replay->ends.slots.items[0].major;
		}
		if (!decided && next_ns < until_ns && until_ns <= replay->from_ns) {
			next_ns = until_ns; /* before from_ns, pods end when the recording ends them
			                     */
		}
		if (result < 0 || next_ns >= until_ns) {
			break;
		}
		if (next_ns > replay->now_ns) {
			move_clock(replay, next_ns);
		}
		result = end_pods(replay, err);
	}
	if (result == 0 && until_ns > replay->now_ns) {
		move_clock(replay, until_ns);
	}
	return result;
}

static int run(struct bt_replay *replay, struct berth_error *err)
{
	const struct bt_replay_options *options = replay->options;
	struct bt_recording_line line;
	int64_t first_ns = bt_lives_start_ns(replay->lives);
	uint32_t total = (uint32_t)((replay->to_ns - first_ns) / BT_NS_PER_SECOND);
	int result;
	while ((result = bt_recording_parts_next(&replay->parts, &line, err)) == 1 &&
		line.time_ns <= replay->to_ns) {
		if (line.time_ns > replay->now_ns) {
			result = run_until(replay, line.time_ns, err);
			if (options->progress != NULL) {
				options->progress(options->progress_context,
					(uint32_t)((replay->now_ns - first_ns) / BT_NS_PER_SECOND),
					total);
			}
		}
		if (result >= 0) {
			result = bt_replay_apply_line(replay, &line, err);
		}
		if (result < 0) {
			struct bt_strbuf place = {0};
			if (replay->parts.reader != NULL) {
				bt_recording_describe(replay->parts.reader, &place);
			}
			result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&place));
			bt_strbuf_finish(&place);
			return result;
		}
	}
	if (result >= 0) {
		result = run_until(replay, replay->to_ns, err);
	}
	int64_t next_ns;
	if (result >= 0) {
		result = end_pods(replay, err);
	}
	replay->may_be_busy = false; /* no line follows */
	if (result >= 0) {
		result = bt_replay_schedule(replay, &next_ns, err);
	}
	replay->counts->most_pending = BT_MAX(replay->counts->most_pending, replay->pending_count);
	BT_REPLAY_NOTIFY(
		options, sampled, replay->engine->state, replay->pending_count, replay->now_ns)
	return result;
}

int bt_replay_run(const struct bt_replay_options *options, struct bt_lives *lives,
	bt_scheduler_create_fn *make_scheduler, const void *context,
	struct bt_replay_counts *out_counts, struct berth_error *err)
{
	int64_t start_ns = bt_lives_start_ns(lives);
	int64_t length_ns = bt_lives_end_ns(lives) - start_ns;
	int64_t to_ns = options->to_ns < length_ns ? options->to_ns : length_ns;
	if (options->from_ns > to_ns) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"nothing to replay: the recording is %" PRId64 " s long",
			length_ns / BT_NS_PER_SECOND);
	}
	struct bt_replay replay = {
		.options = options,
		.lives = lives,
		.parts = {.paths = options->paths, .path_count = options->path_count},
		.counts = out_counts,
		.now_ns = start_ns,
		.from_ns = start_ns + options->from_ns,
		.to_ns = start_ns + to_ns,
		.gap_ns = INT64_MIN / 2,
	};
	const struct bt_scheduler_writer writer = bt_replay_writer(&replay);
	*out_counts = (struct bt_replay_counts){.start_ns = replay.from_ns, .end_ns = replay.to_ns};
	replay.next_sample_ns = replay.from_ns;
	int result = make_scheduler(context, &writer, &replay.scheduler, err);
	if (result < 0) {
		return result;
	}
	replay.engine = bt_scheduler_engine(replay.scheduler);
	bt_heap_init(&replay.ends, NULL, NULL);
	bt_object_store_init(&replay.nodes);
	result = run(&replay, err);
	out_counts->pending = replay.pending_count;
	for (uint32_t i = 0; i < replay.pods.count; i++) {
		struct bt_replay_pod *pod = &replay.pods.items[i];
		bool is_pending = pod->object != NULL && pod->bound_ns < 0;
		out_counts->running += pod->object != NULL && !is_pending;
		if (is_pending) {
			BT_REPLAY_NOTIFY(options, waiting, bt_replay_pod_value(pod),
				pod->created_ns, replay.now_ns)
		}
		bt_object_release(pod->object);
		bt_free(pod->key);
	}
	bt_scheduler_destroy(replay.scheduler);
	bt_recording_parts_finish(&replay.parts);
	bt_object_store_finish(&replay.nodes);
	bt_vec_finish(&replay.pods);
	bt_vec_finish(&replay.free_ids);
	bt_map_finish(&replay.by_key);
	bt_map_finish(&replay.by_uid);
	bt_map_finish(&replay.orphans);
	bt_heap_finish(&replay.ends);
	bt_vec_finish(&replay.nominations);
	bt_vec_finish(&replay.group_writes);
	bt_vec_finish(&replay.preempted);
	bt_pod_commons_finish(&replay.commons);
	bt_arena_finish(&replay.arena);
	bt_arena_finish(&replay.step_arena);
	return result < 0 ? result : 0;
}
