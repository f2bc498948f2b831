/* SPDX-License-Identifier: Apache-2.0 */
#include "api/suggest.h"

#include <stdint.h>
#include <string.h>

#include "api/meta.h"
#include "api/object.h"

/** Longer words are not corrected. */
#define WORD_BYTES_MAX 32

const char *bt_suggest(const char *given, const char *const *words, size_t count)
{
	size_t given_length = strlen(given);
	const char *best = NULL;
	uint32_t best_distance = UINT32_MAX;
	if (given_length == 0 || given_length > WORD_BYTES_MAX) {
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);
		if (length > WORD_BYTES_MAX) {
			continue;
		}
		size_t longer = length > given_length ? length : given_length;
		uint32_t allowed = longer / 3 > 1 ? (uint32_t)(longer / 3) : 1;
		/* edit distance of given and b; swapping two neighbours is one edit */
		const char *b = words[i];
		uint32_t rows[3][WORD_BYTES_MAX + 1];
		uint32_t *before = rows[0];
		uint32_t *above = rows[1];
		uint32_t *row = rows[2];
		for (size_t j = 0; j <= length; j++) {
			above[j] = (uint32_t)j;
			before[j] = 0;
		}
		for (size_t k = 1; k <= given_length; k++) {
			row[0] = (uint32_t)k;
			for (size_t j = 1; j <= length; j++) {
				uint32_t change = above[j - 1] + (given[k - 1] != b[j - 1]);
				row[j] = BT_MIN(above[j], row[j - 1]) + 1;
				row[j] = BT_MIN(row[j], change);
				if (k > 1 && j > 1 && given[k - 1] == b[j - 2] &&
					given[k - 2] == b[j - 1]) {
					row[j] = BT_MIN(row[j], before[j - 2] + 1);
				}
			}
			uint32_t *recycled = before;
			before = above;
			above = row;
			row = recycled;
		}
		uint32_t changes = above[length];
		if (changes <= allowed && changes < best_distance) {
			best = words[i];
			best_distance = changes;
		}
	}
	return best;
}

#define KIND_BYTES_MAX 32
/** A word whose length differs by more is not suggested, such as PodTemplate for Pod. */
#define LENGTH_DIFFERENCE_MAX 2

/**
 * Whether the group is a known one or has no dot. Groups of custom resources have dots, and their
 * kinds may have names such as Service or Job.
 */
static bool is_our_group(struct bt_str group)
{
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		if (bt_str_equal(group, bt_str_from(bt_kind_info((enum bt_kind)i)->group))) {
			return true;
		}
	}
	return group.length == 0 || memchr(group.data, '.', group.length) == NULL;
}

bool bt_kind_hint(struct bt_str api_version, struct bt_str kind, struct bt_strbuf *out)
{
	struct bt_str group;
	struct bt_str version;
	(void)bt_api_version_split(api_version, &group, &version);
	if (!is_our_group(group)) {
		return false;
	}
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		const char *name = bt_kind_info((enum bt_kind)i)->name;
		if (bt_str_equal(kind, bt_str_from(name))) {
			bt_strbuf_printf(out, "%s is of ", name);
			bt_kind_append_api_version((enum bt_kind)i, out);
			return true;
		}
	}
	char given[KIND_BYTES_MAX + 1];
	const char *words[BT_KIND__COUNT];
	size_t count = 0;
	if (kind.length > KIND_BYTES_MAX || memchr(kind.data, '\0', kind.length) != NULL) {
		return false;
	}
	memcpy(given, kind.data, kind.length);
	given[kind.length] = '\0';
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		const char *name = bt_kind_info((enum bt_kind)i)->name;
		size_t length = strlen(name);
		if (kind.length <= length + LENGTH_DIFFERENCE_MAX &&
			length <= kind.length + LENGTH_DIFFERENCE_MAX) {
			words[count++] = name;
		}
	}
	const char *meant = bt_suggest(given, words, count);
	if (meant != NULL) {
		bt_strbuf_printf(out, "did you mean %s?", meant);
	}
	return meant != NULL;
}
