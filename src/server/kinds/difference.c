/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * Unified diffs of two texts, with the matching of Python's difflib, which upstream's diff library
 * ports: find the longest common run of lines, then match the lines before and after the run
 * recursively.
 */

/** Texts with more lines are not compared. */
#define LINES_MAX 20000
/**
 * After this many comparisons of lines the search stops; lines not matched by then count as
 * changed.
 */
#define PAIRS_MAX (20 * 1000 * 1000)
#define CONTEXT_LINES 3
/**
 * If the new text has at least this many lines, a line whose text occurs in more than a hundredth
 * of them does not start a match.
 */
#define POPULAR_LINES_MIN 200

/** A common run of lines that ends at one line of the new text. */
struct run {
	uint32_t row; /* index of the last line of the run in the old text, plus 1 */
	uint32_t length;
};

struct comparison {
	struct bt_arena *arena;
	const struct bt_str *old_lines;
	const struct bt_str *new_lines;
	uint32_t old_count;
	uint32_t new_count;
	/** A number for the text of each line; lines with equal texts have equal numbers. */
	uint32_t *old_numbers;
	uint32_t *new_numbers;
	/**
	 * The indexes of the new lines with number n, ascending, are places[first[n]] to
	 * places[first[n + 1] - 1].
	 */
	uint32_t *first;
	uint32_t *places;
	/**
	 * runs[i % 2][k] is the run that ends at old line i and new line k; i is the current or the
	 * previous old line.
	 */
	struct run *runs[2];
	uint32_t *partners; /* per old line: index of the matching new line + 1; 0: removed */
	uint32_t pairs;     /* comparisons so far */
};

/** Prints the internal form of an object, and splits it into lines. */
static uint32_t print(struct bt_arena *arena, const struct bt_schema_message *message,
	struct bt_json_value *object, const struct bt_str **out_lines)
{
	struct bt_strbuf printed = {0};
	struct bt_json_writer writer;
	uint32_t count = 1;
	bt_json_writer_init(&writer, &printed, 1);
	bt_json_write_value(&writer, bt_kinds_internal_form(arena, message, object));
	struct bt_str text = bt_arena_take_strbuf(arena, &printed);
	for (uint32_t i = 0; i < text.length; i++) {
		count += text.data[i] == '\n' ? 1 : 0;
	}
	struct bt_str *lines = BT_ARENA_NEW_ARRAY(arena, struct bt_str, count);
	for (uint32_t i = 0; i < count; i++) {
		lines[i] = bt_str_cut(&text, '\n');
	}
	*out_lines = lines;
	return count;
}

static uint32_t *number_lines(struct bt_arena *arena, struct bt_text_set *known,
	const struct bt_str *lines, uint32_t line_count)
{
	uint32_t *numbers = BT_ARENA_NEW_ARRAY(arena, uint32_t, line_count);
	for (uint32_t i = 0; i < line_count; i++) {
		(void)bt_text_set_add(known, lines[i]);
		numbers[i] = bt_text_set_find(known, lines[i]);
	}
	return numbers;
}

static void index_lines(struct comparison *self)
{
	struct bt_text_set known = {0};
	self->new_numbers = number_lines(self->arena, &known, self->new_lines, self->new_count);
	self->old_numbers = number_lines(self->arena, &known, self->old_lines, self->old_count);
	self->first = BT_ARENA_NEW_ARRAY(self->arena, uint32_t, known.items.count + 1);
	self->places = BT_ARENA_NEW_ARRAY(self->arena, uint32_t, self->new_count);
	uint32_t *counts = BT_ARENA_NEW_ARRAY(self->arena, uint32_t, known.items.count);
	for (uint32_t i = 0; i < self->new_count; i++) {
		counts[self->new_numbers[i]]++;
	}
	for (uint32_t n = 0; n < known.items.count; n++) {
		if (self->new_count >= POPULAR_LINES_MIN && counts[n] > self->new_count / 100 + 1) {
			counts[n] = 0;
		}
		self->first[n + 1] = self->first[n] + counts[n];
	}
	for (uint32_t i = self->new_count; i-- > 0;) {
		uint32_t n = self->new_numbers[i];
		if (counts[n] != 0) {
			self->places[self->first[n] + --counts[n]] = i;
		}
	}
	bt_text_set_finish(&known);
}

/** Finds the matches of old lines [old_start, old_end) and new lines [new_start, new_end). */
static void match(struct comparison *self, uint32_t old_start, uint32_t old_end, uint32_t new_start,
	uint32_t new_end)
{
	while (old_start < old_end && new_start < new_end) {
		uint32_t old_at = old_start;
		uint32_t new_at = new_start;
		uint32_t length = 0;
		for (uint32_t i = old_start; i < old_end && self->pairs < PAIRS_MAX; i++) {
			uint32_t number = self->old_numbers[i];
			self->pairs++;
			const struct run *before = self->runs[(i + 1) % 2];
			struct run *here = self->runs[i % 2];
			for (uint32_t p = self->first[number]; p < self->first[number + 1]; p++) {
				uint32_t k = self->places[p];
				self->pairs++;
				if (k < new_start || k >= new_end) {
					continue;
				}
				here[k] = (struct run){i + 1, 1};
				if (k > new_start && i > old_start && before[k - 1].row == i) {
					here[k].length += before[k - 1].length;
				}
				if (here[k].length > length) {
					length = here[k].length;
					old_at = i + 1 - length;
					new_at = k + 1 - length;
				}
			}
		}
		while (old_at > old_start && new_at > new_start &&
			self->old_numbers[old_at - 1] == self->new_numbers[new_at - 1]) {
			old_at--;
			new_at--;
			length++;
		}
		while (old_at + length < old_end && new_at + length < new_end &&
			self->old_numbers[old_at + length] == self->new_numbers[new_at + length]) {
			length++;
		}
		if (length == 0) {
			return;
		}
		for (uint32_t i = 0; i < length; i++) {
			self->partners[old_at + i] = new_at + i + 1;
		}
		/* recurse into the shorter side and loop over the longer one: logarithmic depth */
		uint32_t old_next = old_at + length;
		uint32_t new_next = new_at + length;
		if (old_at - old_start < old_end - old_next) {
			match(self, old_start, old_at, new_start, new_at);
			old_start = old_next;
			new_start = new_next;
		} else {
			match(self, old_next, old_end, new_next, new_end);
			old_end = old_at;
			new_end = new_at;
		}
	}
}

static void append_range(struct bt_strbuf *out, uint32_t start, uint32_t end)
{
	if (end - start == 1) {
		bt_strbuf_printf(out, "%u", end);
	} else {
		bt_strbuf_printf(out, "%u,%u", end == start ? start : start + 1, end - start);
	}
}

/**
 * One line of the diff: common (' '), removed ('-') or added ('+'). old_at, new_at: number of lines
 * of the old and the new text before this step.
 */
struct step {
	char sign;
	uint32_t old_at;
	uint32_t new_at;
	struct bt_str text;
};

static void append_hunks(struct bt_strbuf *out, const struct comparison *self)
{
	struct step *steps =
		BT_ARENA_NEW_ARRAY(self->arena, struct step, self->old_count + self->new_count + 1);
	uint32_t count = 0;
	uint32_t i = 0;
	uint32_t k = 0;
	while (i < self->old_count || k < self->new_count) {
		if (i < self->old_count && self->partners[i] == k + 1) {
			steps[count++] = (struct step){' ', i, k, self->old_lines[i]};
			i++;
			k++;
			continue;
		}
		for (; i < self->old_count && self->partners[i] == 0; i++) {
			steps[count++] = (struct step){'-', i, k, self->old_lines[i]};
		}
		uint32_t end = i < self->old_count ? self->partners[i] - 1 : self->new_count;
		for (; k < end; k++) {
			steps[count++] = (struct step){'+', i, k, self->new_lines[k]};
		}
	}
	steps[count] = (struct step){' ', i, k, BT_STR("")}; /* an end marker */
	for (i = 0; i < count; i++) {
		if (steps[i].sign == ' ') {
			continue;
		}
		uint32_t start = i > CONTEXT_LINES ? i - CONTEXT_LINES : 0;
		uint32_t last = i;
		for (; i < count && i - last <= 2 * CONTEXT_LINES; i++) {
			last = steps[i].sign != ' ' ? i : last;
		}
		uint32_t end = last + 1 + CONTEXT_LINES < count ? last + 1 + CONTEXT_LINES : count;
		bt_strbuf_append_c(out, "@@ -");
		append_range(out, steps[start].old_at, steps[end].old_at);
		bt_strbuf_append_c(out, " +");
		append_range(out, steps[start].new_at, steps[end].new_at);
		bt_strbuf_append_c(out, " @@\n");
		for (k = start; k < end; k++) {
			bt_strbuf_append_char(out, steps[k].sign);
			bt_strbuf_append_str(out, steps[k].text);
			bt_strbuf_append_char(out, '\n');
		}
		i = last;
	}
}

void bt_kinds_error_difference(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_schema_message *message, struct bt_json_value *old,
	struct bt_json_value *object, const char *text)
{
	struct bt_strbuf detail = {0};
	struct bt_arena *arena = errors->arena;
	struct comparison comparison = {.arena = arena};
	bt_strbuf_append_c(&detail, text);
	comparison.old_count = print(arena, message, old, &comparison.old_lines);
	comparison.new_count = print(arena, message, object, &comparison.new_lines);
	if (comparison.old_count <= LINES_MAX && comparison.new_count <= LINES_MAX) {
		index_lines(&comparison);
		comparison.runs[0] = BT_ARENA_NEW_ARRAY(arena, struct run, comparison.new_count);
		comparison.runs[1] = BT_ARENA_NEW_ARRAY(arena, struct run, comparison.new_count);
		comparison.partners = BT_ARENA_NEW_ARRAY(arena, uint32_t, comparison.old_count);
		match(&comparison, 0, comparison.old_count, 0, comparison.new_count);
		bt_strbuf_append_char(&detail, '\n');
		append_hunks(&detail, &comparison);
	}
	bt_kinds_error(errors, BT_FIELD_FORBIDDEN, place, NULL, "%s", bt_strbuf_c(&detail));
	bt_strbuf_finish(&detail);
}
