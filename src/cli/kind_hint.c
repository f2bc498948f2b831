/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kind_hint.h"

#include <string.h>

#include "api/object.h"
#include "cli/suggest.h"

#define KIND_BYTES_MAX 32
/** Words whose lengths differ by more are different words: PodTemplate, Pod. */
#define LENGTH_DIFFERENCE_MAX 2

static struct bt_str group_of(struct bt_str api_version)
{
	const char *slash =
		api_version.length != 0 ? memchr(api_version.data, '/', api_version.length) : NULL;
	return slash != NULL ? bt_str_sub(api_version, 0, (uint32_t)(slash - api_version.data))
			     : BT_STR("");
}

/** Groups of custom resources have dots, and kinds of the same names: Service, Job. */
static bool is_our_group(struct bt_str group)
{
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		if (bt_str_equal(group, bt_str_from(bt_kind_info((enum bt_kind)i)->group))) {
			return true;
		}
	}
	return group.length == 0 || memchr(group.data, '.', group.length) == NULL;
}

static bool differs_little(size_t a, size_t b)
{
	return (a > b ? a - b : b - a) <= LENGTH_DIFFERENCE_MAX;
}

static const char *similar_kind(struct bt_str kind)
{
	char given[KIND_BYTES_MAX + 1];
	const char *words[BT_KIND__COUNT];
	size_t count = 0;
	if (kind.length > KIND_BYTES_MAX || memchr(kind.data, '\0', kind.length) != NULL) {
		return NULL;
	}
	memcpy(given, kind.data, kind.length);
	given[kind.length] = '\0';
	for (int i = 0; i < BT_KIND__COUNT; i++) {
		const char *name = bt_kind_info((enum bt_kind)i)->name;
		if (differs_little(kind.length, strlen(name))) {
			words[count++] = name;
		}
	}
	return bt_suggest(given, words, count);
}

bool bt_kind_hint(struct bt_str api_version, struct bt_str kind, struct bt_strbuf *out)
{
	if (!is_our_group(group_of(api_version))) {
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
	const char *meant = similar_kind(kind);
	if (meant != NULL) {
		bt_strbuf_printf(out, "did you mean %s?", meant);
	}
	return meant != NULL;
}
