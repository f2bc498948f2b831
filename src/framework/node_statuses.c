/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/node_statuses.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bitset.h"
#include "base/text_set.h"

static bool in_snapshot(const struct bt_state *state, uint32_t slot)
{
	return slot < state->nodes.slot_count && state->nodes.rows[slot].in_snapshot;
}

/** --- one node --- */

struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot)
{
	const struct bt_status_groups *groups = statuses->groups;

	if (groups != NULL) {
		return in_snapshot(state, slot)
			? groups->statuses[groups->group_of[state->snapshot.places.place_of[slot]]]
			: statuses->absent;
	}
	const struct bt_node_status_entry *entries = statuses->entries.items;
	uint32_t count = statuses->entries.count;

	/* A search of the whole list leaves an entry for each node, in search order. */
	if (count == state->snapshot.count && in_snapshot(state, slot) &&
		in_snapshot(state, entries[0].slot)) {
		const uint32_t *positions = bt_snapshot_positions(&state->snapshot);
		uint32_t first = positions[entries[0].slot];
		uint32_t i = positions[slot] - first + (positions[slot] < first ? count : 0);

		if (entries[i].slot == slot) {
			return entries[i].status;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		if (entries[i].slot == slot) {
			return entries[i].status;
		}
	}
	return statuses->absent;
}

uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses)
{
	const struct bt_status_groups *groups = statuses->groups;
	uint32_t count = 0;

	if (groups == NULL) {
		return statuses->entries.count;
	}
	for (uint32_t i = 0; i < groups->count; i++) {
		count += groups->sizes[i];
	}
	return count;
}

struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index)
{
	const struct bt_status_groups *groups = statuses->groups;

	if (groups == NULL) {
		BT_ASSERT(index < statuses->entries.count);
		return statuses->entries.items[index];
	}
	BT_ASSERT(index < state->snapshot.count);
	uint32_t before_the_end = state->snapshot.count - groups->start;
	uint32_t position = index < before_the_end ? groups->start + index : index - before_the_end;

	uint32_t slot = bt_snapshot_list(&state->snapshot)[position];

	return (struct bt_node_status_entry){
		slot, groups->statuses[groups->group_of[state->snapshot.places.place_of[slot]]]};
}

/** --- all nodes with a code --- */

/**
 * Collects the nodes at list positions [from, end) whose group has the code. Returns the number of
 * nodes; out_slots must have room for end - from nodes.
 */
static uint32_t list_positions(const struct bt_status_groups *groups, enum bt_status_code code,
	const struct bt_snapshot *snapshot, uint32_t from, uint32_t end, uint32_t *out_slots)
{
	const uint32_t *list = bt_snapshot_list(snapshot);
	const uint32_t *place_of = snapshot->places.place_of;
	uint32_t count = 0;

	for (uint32_t i = from; i < end; i++) {
		/*
		 * Always write the slot, and count it only if the code matches: this avoids an
		 * unpredictable branch.
		 */
		out_slots[count] = list[i];
		count += groups->statuses[groups->group_of[place_of[list[i]]]].code == code;
	}
	return count;
}

uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots)
{
	uint32_t count = 0;

	if (statuses->groups != NULL) {
		const struct bt_status_groups *groups = statuses->groups;
		const struct bt_snapshot *snapshot = &state->snapshot;
		uint32_t start = statuses->absent.code == code ? 0 : groups->start;

		if (bt_node_statuses_count_for_code(statuses, code, state) == 0) {
			return 0;
		}
		count = list_positions(groups, code, snapshot, start, snapshot->count, out_slots);
		return count + list_positions(groups, code, snapshot, 0, start, &out_slots[count]);
	}
	if (statuses->absent.code == code) {
		/*
		 * The nodes without an entry have the code, so leave out only the nodes whose entry
		 * has another code.
		 */
		struct bt_bitset excluded = {0};
		uint32_t kept = 0;

		bt_bitset_resize(&excluded, state->nodes.slot_count);
		for (uint32_t i = 0; i < statuses->entries.count; i++) {
			const struct bt_node_status_entry *entry = &statuses->entries.items[i];

			if (entry->status.code != code && entry->slot < state->nodes.slot_count) {
				bt_bitset_assign(&excluded, entry->slot, true);
			}
		}
		for (uint32_t i = 0; i < state->snapshot.count; i++) {
			uint32_t slot = bt_snapshot_list(&state->snapshot)[i];

			if (!bt_bitset_get(&excluded, slot)) {
				out_slots[kept++] = slot;
			}
		}
		bt_bitset_finish(&excluded);
		return kept;
	}
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (entry->status.code == code && in_snapshot(state, entry->slot)) {
			out_slots[count++] = entry->slot;
		}
	}
	return count;
}

uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state)
{
	const struct bt_status_groups *groups = statuses->groups;
	bool is_absent = statuses->absent.code == code;
	uint32_t count = is_absent && groups == NULL ? state->snapshot.count : 0;

	for (uint32_t i = 0; groups != NULL && i < groups->count; i++) {
		count += groups->statuses[i].code == code ? groups->sizes[i] : 0;
	}
	for (uint32_t i = 0; groups == NULL && i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (!in_snapshot(state, entry->slot)) {
			continue;
		}
		if (is_absent) {
			count -= entry->status.code != code;
		} else {
			count += entry->status.code == code;
		}
	}
	return count;
}

struct histogram {
	struct bt_text_set reasons;
	BT_VEC(uint64_t) counts; /* by the position of the reason */
};

static void count_status(
	struct histogram *histogram, const struct bt_status *status, uint64_t count)
{
	for (uint32_t i = 0; i < bt_status_all_reason_count(status); i++) {
		struct bt_str reason = bt_status_all_reason_at(status, i);
		uint32_t at = bt_text_set_find(&histogram->reasons, reason);

		if (at != BT_MAP_NONE) {
			histogram->counts.items[at] += count;
		} else {
			bt_text_set_append(&histogram->reasons, reason);
			bt_vec_push(&histogram->counts, count);
		}
	}
}

static void fill_histogram(
	struct histogram *histogram, const struct bt_node_statuses *statuses, uint32_t node_count)
{
	const struct bt_status_groups *groups = statuses->groups;
	uint32_t own_count = bt_node_statuses_count(statuses);
	*histogram = (struct histogram){0};
	for (uint32_t i = 0; groups != NULL && i < groups->count; i++) {
		if (groups->sizes[i] != 0) {
			count_status(histogram, &groups->statuses[i], groups->sizes[i]);
		}
	}
	/*
	 * In big clusters, consecutive nodes often share the same reasons: count each such run in
	 * one step.
	 */
	for (uint32_t i = 0; groups == NULL && i < statuses->entries.count;) {
		const struct bt_status *status = &statuses->entries.items[i].status;
		uint32_t end = i + 1;
		while (end < statuses->entries.count &&
			statuses->entries.items[end].status.reasons == status->reasons &&
			statuses->entries.items[end].status.reason_count == status->reason_count &&
			!statuses->entries.items[end].status.has_error && !status->has_error) {
			end++;
		}
		count_status(histogram, status, end - i);
		i = end;
	}
	if (own_count < node_count) {
		count_status(histogram, &statuses->absent, node_count - own_count);
	}
}

static void finish_histogram(struct histogram *histogram)
{
	bt_text_set_finish(&histogram->reasons);
	bt_vec_finish(&histogram->counts);
}

void bt_fit_error_visit_reasons(const struct bt_node_statuses *statuses, uint32_t node_count,
	void (*visit)(void *context, struct bt_str reason, uint64_t count), void *context)
{
	struct histogram histogram;
	fill_histogram(&histogram, statuses, node_count);
	for (uint32_t i = 0; i < histogram.counts.count; i++) {
		visit(context, histogram.reasons.items.items[i], histogram.counts.items[i]);
	}
	finish_histogram(&histogram);
}

void bt_fit_error_append_reasons(
	const struct bt_node_statuses *statuses, uint32_t node_count, struct bt_strbuf *out)
{
	struct histogram histogram;
	fill_histogram(&histogram, statuses, node_count);
	/* Append the texts "<count> <reason>", sorted as byte strings and joined by ", ". */
	struct bt_str some[16];
	uint32_t count = histogram.counts.count;
	struct bt_str *lines =
		count <= BT_ARRAY_LENGTH(some) ? some : BT_NEW_ARRAY(struct bt_str, count);
	struct bt_strbuf text = {0};
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t start = text.length;
		uint64_t number = histogram.counts.items[i];
		char digits[20];
		size_t digit = sizeof(digits);

		do {
			digits[--digit] = (char)('0' + number % 10);
			number /= 10;
		} while (number != 0);
		bt_strbuf_append(&text, &digits[digit], sizeof(digits) - digit);
		bt_strbuf_append_char(&text, ' ');
		bt_strbuf_append_str(&text, histogram.reasons.items.items[i]);
		lines[i].length = (uint32_t)(text.length - start);
	}
	/* The text is complete and does not move any more, so pointers into it are valid. */
	for (uint32_t i = 0; i < count; i++) {
		lines[i].data = text.data + at;
		at += lines[i].length;
	}
	qsort(lines, count, sizeof(lines[0]), bt_str_compare_qsort);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(out, i == 0 ? " " : ", ");
		bt_strbuf_append_str(out, lines[i]);
	}
	if (count != 0) {
		bt_strbuf_append_char(out, '.');
	}
	bt_strbuf_finish(&text);
	if (lines != some) {
		bt_free(lines);
	}
	finish_histogram(&histogram);
}
