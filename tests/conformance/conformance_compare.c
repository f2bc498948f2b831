/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "conformance/conformance.h"

/** The longest piece of JSON shown in a difference. */
#define SHOWN_BYTES_MAX 1500

struct difference {
	struct bt_strbuf *out;
	struct bt_str pod;
};

static void append_value(
	struct bt_strbuf *out, const char *label, const struct bt_json_value *value)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	if (value != NULL) {
		bt_json_write_value(&writer, value);
	} else {
		bt_strbuf_append_c(&text, "(nothing)");
	}
	bool cut = text.length > SHOWN_BYTES_MAX;
	bt_strbuf_printf(out, "    %s ", label);
	bt_strbuf_append(out, text.data, cut ? SHOWN_BYTES_MAX : text.length);
	bt_strbuf_append_c(out, cut ? "...\n" : "\n");
	bt_strbuf_finish(&text);
}

static void report(const struct difference *difference, const char *path,
	const struct bt_json_value *expected, const struct bt_json_value *got)
{
	bt_strbuf_printf(difference->out, "  pod %.*s: %s\n", BT_STR_ARG(difference->pod), path);
	append_value(difference->out, "expected", expected);
	append_value(difference->out, "got     ", got);
}

static bool is_scalar_reason(struct bt_str reason)
{
	return bt_str_has_prefix(reason, BT_STR("Insufficient ")) &&
		!bt_str_equal_c(reason, "Insufficient cpu") &&
		!bt_str_equal_c(reason, "Insufficient memory") &&
		!bt_str_equal_c(reason, "Insufficient ephemeral-storage");
}

static int compare_elements(const void *a, const void *b)
{
	return bt_str_compare((*(struct bt_json_value *const *)a)->text,
		(*(struct bt_json_value *const *)b)->text);
}

/**
 * Sorts the reasons about scalar resources, which NodeResourcesFit lists in the order of a hash
 * map.
 */
static void sort_scalar_tail(const struct bt_json_value *verdict)
{
	struct bt_json_value *reasons = bt_json_find(verdict, "reasons");
	if (reasons == NULL || reasons->type != BT_JSON_ARRAY) {
		return;
	}
	uint32_t first = reasons->count;
	while (first > 0 && reasons->elements[first - 1]->type == BT_JSON_STRING &&
		is_scalar_reason(reasons->elements[first - 1]->text)) {
		first--;
	}
	qsort(reasons->elements + first, reasons->count - first, sizeof(reasons->elements[0]),
		compare_elements);
}

static void sort_reasons(const struct bt_json_value *result)
{
	const struct bt_json_value *filter = bt_json_find(result, "filter");
	for (uint32_t i = 0; filter != NULL && filter->type == BT_JSON_OBJECT && i < filter->count;
		i++) {
		sort_scalar_tail(filter->members[i].value);
	}
}

/** Returns the number of elements; an absent list (NULL) equals an empty list. */
static uint32_t count_of(const struct bt_json_value *list)
{
	return list != NULL && list->type == BT_JSON_ARRAY ? list->count : 0;
}

/** Replaces each random id of a device share by "*", so that only the id's presence is compared. */
static void level_share_ids(const struct bt_json_value *result)
{
	const struct bt_json_value *writes = bt_json_find(result, "writes");

	for (uint32_t i = 0; i < count_of(writes); i++) {
		const struct bt_json_value *devices =
			bt_json_find_path(writes->elements[i], "allocation.devices.results");

		for (uint32_t k = 0; k < count_of(devices); k++) {
			struct bt_json_value *id = bt_json_find(devices->elements[k], "shareID");

			if (id != NULL && id->type == BT_JSON_STRING) {
				id->text = BT_STR("*");
			}
		}
	}
}

/** Whether the values are equal or both absent. */
static bool values_agree(const struct bt_json_value *expected, const struct bt_json_value *got)
{
	if (expected == NULL || got == NULL) {
		return expected == got;
	}
	return bt_json_equal(expected, got);
}

static struct bt_json_value *find_member(const struct bt_json_value *object, struct bt_str name)
{
	for (uint32_t i = 0; object->type == BT_JSON_OBJECT && i < object->count; i++) {
		if (bt_str_equal(object->members[i].name, name)) {
			return object->members[i].value;
		}
	}
	return NULL;
}

/** If "one of choices" is recorded, upstream picked at random, so any choice is right. */
static bool nominated_agrees(const struct bt_json_value *expected, const struct bt_json_value *got)
{
	const struct bt_json_value *theirs = bt_json_find(expected, "nominated");
	const struct bt_json_value *mine = bt_json_find(got, "nominated");
	const struct bt_json_value *choices = bt_json_find(expected, "choices");

	if (theirs == NULL || mine == NULL || theirs->type != BT_JSON_STRING ||
		!bt_str_equal_c(theirs->text, "one of choices")) {
		return values_agree(theirs, mine);
	}
	for (uint32_t i = 0;
		choices != NULL && choices->type == BT_JSON_ARRAY && i < choices->count; i++) {
		if (bt_json_equal(choices->elements[i], mine)) {
			return true;
		}
	}
	return false;
}

/** Compares the members of both sides, including those that only one side has. */
static bool post_filter_agrees(
	const struct bt_json_value *expected, const struct bt_json_value *got)
{
	if (expected == NULL || got == NULL || expected->type != BT_JSON_OBJECT ||
		got->type != BT_JSON_OBJECT) {
		return values_agree(expected, got);
	}
	for (uint32_t pass = 0; pass < 2; pass++) {
		const struct bt_json_value *from = pass == 0 ? expected : got;

		for (uint32_t i = 0; i < from->count; i++) {
			struct bt_str name = from->members[i].name;

			if (!bt_str_equal_c(name, "nominated") &&
				!values_agree(
					find_member(expected, name), find_member(got, name))) {
				return false;
			}
		}
	}
	return nominated_agrees(expected, got);
}

static bool member_agrees(
	struct bt_str name, const struct bt_json_value *expected, const struct bt_json_value *got)
{
	if (bt_str_equal_c(name, "postFilter")) {
		return post_filter_agrees(expected, got);
	}
	return values_agree(expected, got);
}

/** Reports a difference. If both values are objects, reports the first node that differs. */
static void report_member(const struct difference *difference, struct bt_str name,
	const struct bt_json_value *expected, const struct bt_json_value *got)
{
	struct bt_strbuf path = {0};
	bt_strbuf_append_str(&path, name);
	bool maps = expected != NULL && got != NULL && expected->type == BT_JSON_OBJECT &&
		got->type == BT_JSON_OBJECT &&
		(bt_str_equal_c(name, "filter") || bt_str_equal_c(name, "scores"));
	for (uint32_t pass = 0; maps && pass < 2; pass++) {
		const struct bt_json_value *from = pass == 0 ? expected : got;
		for (uint32_t i = 0; i < from->count; i++) {
			struct bt_strbuf key = {0};
			bt_strbuf_append_str(&key, from->members[i].name);
			const struct bt_json_value *a = bt_json_find(expected, bt_strbuf_c(&key));
			const struct bt_json_value *b = bt_json_find(got, bt_strbuf_c(&key));
			bool same = a != NULL && b != NULL && bt_json_equal(a, b);
			if (!same) {
				bt_strbuf_printf(&path, "[%s]", bt_strbuf_c(&key));
				report(difference, bt_strbuf_c(&path), a, b);
			}
			bt_strbuf_finish(&key);
			if (!same) {
				bt_strbuf_finish(&path);
				return;
			}
		}
	}
	report(difference, bt_strbuf_c(&path), expected, got);
	bt_strbuf_finish(&path);
}

static bool is_skipped(const struct bt_conformance_skip *skip, struct bt_str name)
{
	for (uint32_t i = 0; i < skip->count; i++) {
		if (bt_str_equal(skip->members[i], name)) {
			return true;
		}
	}
	return false;
}

static bool compare_result(const struct bt_json_value *expected, const struct bt_json_value *got,
	const struct bt_conformance_skip *skip, struct bt_strbuf *out)
{
	struct difference difference = {out, bt_json_find_str(expected, "pod")};
	if (expected->type != BT_JSON_OBJECT || got->type != BT_JSON_OBJECT) {
		report(&difference, "result", expected, got);
		return false;
	}
	sort_reasons(expected);
	sort_reasons(got);
	level_share_ids(expected);
	level_share_ids(got);
	for (uint32_t pass = 0; pass < 2; pass++) {
		const struct bt_json_value *from = pass == 0 ? expected : got;
		for (uint32_t i = 0; i < from->count; i++) {
			struct bt_str name = from->members[i].name;
			struct bt_json_value *a = find_member(expected, name);
			struct bt_json_value *b = find_member(got, name);
			if (!is_skipped(skip, name) && !member_agrees(name, a, b)) {
				report_member(&difference, name, a, b);
				return false;
			}
		}
	}
	return true;
}

bool bt_conformance_compare(const struct bt_json_value *expected, const struct bt_json_value *got,
	const struct bt_conformance_skip *skip, struct bt_strbuf *out_difference)
{
	const struct bt_json_value *expected_error = bt_json_find(expected, "error");
	const struct bt_json_value *got_error = bt_json_find(got, "error");
	if (expected_error != NULL || got_error != NULL) {
		if (expected_error != NULL && got_error != NULL &&
			bt_json_equal(expected_error, got_error)) {
			return true;
		}
		bt_strbuf_append_c(out_difference, "  the whole case: error\n");
		append_value(out_difference, "expected", expected_error);
		append_value(out_difference, "got     ", got_error);
		return false;
	}
	const struct bt_json_value *theirs = bt_json_find(expected, "results");
	const struct bt_json_value *ours = bt_json_find(got, "results");
	uint32_t their_count = count_of(theirs);
	uint32_t our_count = count_of(ours);
	if (their_count != our_count) {
		bt_strbuf_printf(
			out_difference, "  expected %u results, got %u\n", their_count, our_count);
		return false;
	}
	for (uint32_t i = 0; i < their_count; i++) {
		if (!compare_result(theirs->elements[i], ours->elements[i], skip, out_difference)) {
			return false;
		}
	}
	return true;
}
