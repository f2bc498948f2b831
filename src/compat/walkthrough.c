/* SPDX-License-Identifier: Apache-2.0 */
/** What surrounded the search in v1.12: traces, counted errors, pieces of work. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "berth/scheduling_cycle.h"
#include "lib/convert.h"

double berth_metrics_since_seconds(int64_t start_ns, int64_t now_ns)
{
	return ((double)now_ns - (double)start_ns) / 1e9;
}

void berth_trace_step(const struct berth_trace *trace, const char *text)
{
	if (trace != NULL && trace->step != NULL) {
		trace->step(trace->context, text);
	}
}

/* --- counted errors --- */

void berth_error_counts_add(struct berth_error_counts *counts, const char *message)
{
	for (uint32_t i = 0; i < counts->count; i++) {
		if (strcmp(counts->items[i].message, message) == 0) {
			counts->items[i].times++;
			return;
		}
	}
	if (counts->count == counts->capacity) {
		uint32_t capacity = counts->capacity != 0 ? counts->capacity * 2 : 4;

		counts->items =
			bt_realloc_array(counts->items, capacity, sizeof(struct berth_error_count));
		counts->capacity = capacity;
	}
	counts->items[counts->count++] =
		(struct berth_error_count){bt_strndup(message, strlen(message)), 1};
}

int berth_error_counts_aggregate(const struct berth_error_counts *counts, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	if (counts->count == 0) {
		return BERTH_OK;
	}
	bt_strbuf_append_c(&text, counts->count > 1 ? "[" : "");
	for (uint32_t i = 0; i < counts->count; i++) {
		const struct berth_error_count *entry = &counts->items[i];

		bt_strbuf_append_c(&text, i != 0 ? ", " : "");
		bt_strbuf_append_c(&text, entry->message);
		if (entry->times > 1) {
			bt_strbuf_printf(&text, " (repeated %u times)", entry->times);
		}
	}
	bt_strbuf_append_c(&text, counts->count > 1 ? "]" : "");
	int result =
		bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s", BT_STR_ARG(bt_strbuf_str(&text)));

	bt_strbuf_finish(&text);
	return result;
}

void berth_error_counts_finish(struct berth_error_counts *counts)
{
	for (uint32_t i = 0; i < counts->count; i++) {
		bt_free(counts->items[i].message);
	}
	bt_free(counts->items);
	*counts = (struct berth_error_counts){0};
}

/* --- pieces of work --- */

/** What the chunks share; nobody writes it while they run. */
struct work {
	const struct berth_cancel *cancel;
	uint32_t pieces;
	uint32_t chunk_size;
	berth_parallelize_work_fn work;
	void *context;
};

static void run_chunk(void *context, uint32_t chunk)
{
	const struct work *work = context;
	uint64_t first = (uint64_t)chunk * work->chunk_size;
	uint64_t end = first + work->chunk_size;

	for (uint64_t piece = first; piece < end && piece < work->pieces; piece++) {
		if (work->cancel != NULL && work->cancel->canceled) {
			return;
		}
		work->work(work->context, (uint32_t)piece);
	}
}

uint32_t berth_parallelize_chunk_size(uint32_t pieces, uint32_t workers)
{
	uint32_t most = pieces / (workers != 0 ? workers : 1) + 1;
	uint64_t root = 0;

	while ((root + 1) * (root + 1) <= pieces) {
		root++;
	}
	if (root > most) {
		return most;
	}
	return root != 0 ? (uint32_t)root : 1;
}

void berth_parallelize_until(const struct berth_cancel *cancel,
	const struct berth_executor *executor, uint32_t workers, uint32_t pieces,
	berth_parallelize_work_fn work, void *context)
{
	struct work shared = {
		cancel, pieces, berth_parallelize_chunk_size(pieces, workers), work, context};
	uint32_t chunks =
		(uint32_t)(((uint64_t)pieces + shared.chunk_size - 1) / shared.chunk_size);

	if (executor != NULL && chunks != 0) {
		workers = workers == 0 ? 1 : workers;
		executor->run(executor->context, workers < chunks ? workers : chunks, chunks,
			run_chunk, &shared);
		return;
	}
	for (uint32_t i = 0; i < chunks; i++) {
		run_chunk(&shared, i);
	}
}
