/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_patch.h"

#include <inttypes.h>

#include "base/text_set.h"

/*
 * Limit of `work` in struct patch, the number of visited members, moved elements and measured
 * values. A patch above this limit is an attack on CPU time.
 */
#define WORK_MAX (UINT64_C(1) << 28)

struct patch {
	struct bt_arena *arena;
	struct bt_json_value *root;
	uint64_t copied_bytes;
	uint64_t work;
	uint32_t operation; /* index of the operation, for messages */
	struct berth_error *err;
};

/** The place that a path names. parent NULL: the whole document. */
struct place {
	struct bt_json_value *parent;
	struct bt_str last; /* last segment of the path, without escapes */
	uint32_t depth;     /* number of segments of the path */
};

BT_PRINTF(2, 3)
static int set_patch_error(struct patch *patch, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)bt_error_set_v(patch->err, BERTH_ERR_INVALID, format, arguments);
	va_end(arguments);
	return bt_error_wrap(patch->err, BERTH_ERR_INVALID, "operation %" PRIu32, patch->operation);
}

static int spend(struct patch *patch, uint64_t work)
{
	patch->work += work;
	if (patch->work > WORK_MAX) {
		return bt_error_set(
			patch->err, BERTH_ERR_TOO_LARGE, "the JSON patch takes too much work");
	}
	return 0;
}

/** Removes and returns the first segment of a path that begins with a slash; decodes ~1 and ~0. */
static struct bt_str next_segment(struct patch *patch, struct bt_str *path)
{
	struct bt_str rest = bt_str_sub(*path, 1, path->length);
	int64_t slash = bt_str_find_char(rest, '/');
	struct bt_str raw = slash < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)slash);
	*path = bt_str_sub(rest, raw.length, rest.length);
	if (bt_str_find_char(raw, '~') < 0) {
		return raw;
	}
	char *text = bt_arena_alloc_bytes(patch->arena, raw.length);
	uint32_t length = 0;
	for (uint32_t i = 0; i < raw.length; i++) {
		char c = raw.data[i];
		if (c == '~' && i + 1 < raw.length &&
			(raw.data[i + 1] == '0' || raw.data[i + 1] == '1')) {
			c = raw.data[++i] == '0' ? '~' : '/';
		}
		text[length++] = c;
	}
	return (struct bt_str){text, length};
}

/** Parses an array index: digits without leading zeros. */
static bool index_of(struct bt_str segment, uint32_t *out_index)
{
	int64_t index;
	if (!bt_str_is_digits(segment) || segment.length > 9 ||
		(segment.length > 1 && segment.data[0] == '0') ||
		!bt_str_parse_int64(segment, &index)) {
		return false;
	}
	*out_index = (uint32_t)index;
	return true;
}

static struct bt_json_value *child_of(struct bt_json_value *parent, struct bt_str segment)
{
	uint32_t index;
	if (parent->type == BT_JSON_OBJECT) {
		return bt_json_get(parent, segment);
	}
	if (parent->type == BT_JSON_ARRAY && index_of(segment, &index) && index < parent->count) {
		return parent->elements[index];
	}
	return NULL;
}

static int find_place(struct patch *patch, struct bt_str path, struct place *out_place)
{
	struct bt_str rest = path;
	struct bt_json_value *value = patch->root;
	*out_place = (struct place){.parent = NULL};
	if (path.length == 0) {
		return 0;
	}
	if (path.data[0] != '/') {
		return set_patch_error(
			patch, "path %.*s does not begin with a slash", BT_STR_ARG(path));
	}
	for (;;) {
		int result = spend(patch, (uint64_t)value->count + 1);
		if (result != 0) {
			return result;
		}
		out_place->last = next_segment(patch, &rest);
		out_place->depth++;
		if (rest.length == 0) {
			break;
		}
		value = child_of(value, out_place->last);
		if (value == NULL) {
			return set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(path));
		}
	}
	if (value->type != BT_JSON_OBJECT && value->type != BT_JSON_ARRAY) {
		return set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(path));
	}
	out_place->parent = value;
	return 0;
}

static struct bt_json_value *value_at(const struct patch *patch, const struct place *place)
{
	return place->parent == NULL ? patch->root : child_of(place->parent, place->last);
}

struct measure {
	uint64_t bytes; /* approximate size as JSON text */
	uint64_t values;
	uint32_t depth;
};

static void measure(const struct bt_json_value *value, uint32_t depth, struct measure *sum)
{
	sum->values++;
	sum->bytes += (uint64_t)value->text.length + 4;
	sum->depth = BT_MAX(sum->depth, depth);
	for (uint32_t i = 0; i < value->count; i++) {
		if (value->type == BT_JSON_OBJECT) {
			sum->bytes += (uint64_t)value->members[i].name.length + 4;
			measure(value->members[i].value, depth + 1, sum);
		} else {
			measure(value->elements[i], depth + 1, sum);
		}
	}
}

static int add_at(struct patch *patch, const struct place *place, struct bt_json_value *value,
	struct bt_str path)
{
	struct measure size = {0};
	measure(value, 1, &size);
	if (place->depth + size.depth > BT_JSON_PATCH_DEPTH_MAX) {
		return bt_error_set(
			patch->err, BERTH_ERR_TOO_LARGE, "the JSON patch nests too deeply");
	}
	int result = spend(patch, size.values);
	if (result != 0) {
		return result;
	}
	if (place->parent == NULL) {
		patch->root = value;
		return 0;
	}
	if (place->parent->type == BT_JSON_OBJECT) {
		bt_json_set(patch->arena, place->parent, place->last, value);
		return 0;
	}
	uint32_t index = place->parent->count;
	if (!bt_str_equal(place->last, BT_STR("-")) &&
		(!index_of(place->last, &index) || index > place->parent->count)) {
		return set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(path));
	}
	bt_json_insert(patch->arena, place->parent, index, value);
	return 0;
}

static int remove_at(struct patch *patch, const struct place *place, struct bt_str path,
	struct bt_json_value **out_value)
{
	struct bt_json_value *value = value_at(patch, place);
	uint32_t index;
	if (place->parent == NULL || value == NULL) {
		return set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(path));
	}
	if (place->parent->type == BT_JSON_OBJECT) {
		(void)bt_json_remove(place->parent, place->last);
	} else if (index_of(place->last, &index)) {
		bt_json_remove_at(place->parent, index);
	}
	*out_value = value;
	return 0;
}

static int replace_at(struct patch *patch, const struct place *place, struct bt_json_value *value,
	struct bt_str path)
{
	uint32_t index;
	if (value_at(patch, place) == NULL) {
		return set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(path));
	}
	if (place->parent != NULL && place->parent->type == BT_JSON_ARRAY &&
		index_of(place->last, &index)) {
		bt_json_remove_at(place->parent, index);
	}
	return add_at(patch, place, value, path);
}

static int test_at(struct patch *patch, const struct place *place,
	const struct bt_json_value *value, struct bt_str path)
{
	const struct bt_json_value *found = value_at(patch, place);
	if (found == NULL && value->type == BT_JSON_NULL && place->parent->type == BT_JSON_OBJECT) {
		return 0;
	}
	return found != NULL && bt_json_same(found, value)
		? 0
		: set_patch_error(patch, "testing path %.*s failed", BT_STR_ARG(path));
}

static int copy_value(
	struct patch *patch, const struct bt_json_value *value, struct bt_json_value **out_copy)
{
	struct measure size = {0};
	measure(value, 1, &size);
	patch->copied_bytes += size.bytes;
	if (patch->copied_bytes > BT_JSON_PATCH_COPIED_BYTES_MAX) {
		return bt_error_set(patch->err, BERTH_ERR_TOO_LARGE,
			"the JSON patch copies more than %d bytes", BT_JSON_PATCH_COPIED_BYTES_MAX);
	}
	*out_copy = bt_json_clone(patch->arena, value, false);
	return 0;
}

static int move_or_copy(
	struct patch *patch, const struct bt_json_value *operation, struct bt_str path, bool move)
{
	struct bt_json_value *value = NULL;
	struct bt_str from = bt_json_find_str(operation, "from");
	struct place source;
	struct place target;
	if (from.data == NULL) {
		return set_patch_error(patch, "from is missing");
	}
	int result = find_place(patch, from, &source);
	if (result != 0) {
		return result;
	}
	if (move && path.length > from.length && bt_str_has_prefix(path, from) &&
		path.data[from.length] == '/') {
		return set_patch_error(patch, "%.*s cannot be moved into itself", BT_STR_ARG(from));
	}
	if (move && bt_str_equal(from, path)) {
		return value_at(patch, &source) != NULL
			? 0
			: set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(from));
	}
	if (move) {
		result = remove_at(patch, &source, from, &value);
	} else if ((value = value_at(patch, &source)) == NULL) {
		result = set_patch_error(patch, "path %.*s does not exist", BT_STR_ARG(from));
	} else {
		result = copy_value(patch, value, &value);
	}
	if (result == 0) {
		result = find_place(patch, path, &target);
	}
	return result == 0 ? add_at(patch, &target, value, path) : result;
}

static int apply_operation(struct patch *patch, const struct bt_json_value *operation)
{
	struct bt_str op = bt_json_find_str(operation, "op");
	struct bt_str path = bt_json_find_str(operation, "path");
	struct bt_json_value *value = bt_json_find(operation, "value");
	struct place place;
	if (path.data == NULL) {
		return set_patch_error(patch, "path is missing");
	}
	if (bt_str_equal_c(op, "move") || bt_str_equal_c(op, "copy")) {
		return move_or_copy(patch, operation, path, bt_str_equal_c(op, "move"));
	}
	bool removes = bt_str_equal_c(op, "remove");
	if (!removes && !bt_str_equal_c(op, "add") && !bt_str_equal_c(op, "replace") &&
		!bt_str_equal_c(op, "test")) {
		return set_patch_error(patch, "unknown operation %.*s", BT_STR_ARG(op));
	}
	if (!removes && value == NULL) {
		return set_patch_error(patch, "value is missing");
	}
	int result = find_place(patch, path, &place);
	if (result != 0) {
		return result;
	}
	if (removes) {
		return remove_at(patch, &place, path, &value);
	}
	if (op.data[0] == 'a') {
		return add_at(patch, &place, value, path);
	}
	return op.data[0] == 'r' ? replace_at(patch, &place, value, path)
				 : test_at(patch, &place, value, path);
}

static int check_shape(const struct bt_json_value *patch, struct berth_error *err)
{
	if (patch->type != BT_JSON_ARRAY) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
			bt_json_type_name(patch->type));
	}
	if (patch->count > BT_JSON_PATCH_OPERATIONS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"The allowed maximum operations in a JSON patch is %d, got %" PRIu32,
			BT_JSON_PATCH_OPERATIONS_MAX, patch->count);
	}
	for (uint32_t i = 0; i < patch->count; i++) {
		if (patch->elements[i]->type != BT_JSON_OBJECT) {
			return bt_error_set(err, BERTH_ERR_SYNTAX,
				"json: cannot unmarshal %s into Go value of type "
				"handlers.jsonPatchOp",
				bt_json_type_name(patch->elements[i]->type));
		}
	}
	return 0;
}

int bt_json_patch(struct bt_arena *arena, struct bt_json_value *document,
	const struct bt_json_value *patch, struct bt_json_value **out_result,
	struct berth_error *err)
{
	struct patch state = {.arena = arena, .root = document, .err = err};
	int result = check_shape(patch, err);
	for (uint32_t i = 0; i < patch->count && result == 0; i++) {
		state.operation = i;
		result = apply_operation(&state, patch->elements[i]);
	}
	if (result == 0) {
		*out_result = state.root;
	}
	return result;
}

/* Recursive: the parser limits the depth of the documents. */
struct bt_json_value *bt_json_merge_patch(
	struct bt_arena *arena, const struct bt_json_value *document, struct bt_json_value *patch)
{
	struct bt_json_value *target;
	if (patch->type != BT_JSON_OBJECT) {
		return patch;
	}
	target = document == NULL || document->type != BT_JSON_OBJECT
		? bt_json_new(arena, BT_JSON_OBJECT)
		: bt_json_copy(arena, document);

	/* Visit each name once: if a name repeats in target or patch, its last value counts. */
	struct bt_text_set index = {0};
	struct bt_text_set of_patch = {0};
	bt_json_append_names(target, &index);
	bt_json_append_names(patch, &of_patch);
	for (uint32_t i = 0; i < target->count; i++) {
		if (bt_text_set_find(&index, target->members[i].name) != i) {
			target->members[i].value = NULL;
		}
	}
	for (uint32_t i = 0; i < patch->count; i++) {
		struct bt_json_member *member = &patch->members[i];
		if (bt_text_set_find(&of_patch, member->name) != i) {
			continue;
		}
		uint32_t position = bt_text_set_find(&index, member->name);
		bool removes = member->value->type == BT_JSON_NULL;
		if (position != BT_MAP_NONE) {
			struct bt_json_member *old = &target->members[position];
			old->value = removes
				? NULL
				: bt_json_merge_patch(arena, old->value, member->value);
		} else if (!removes) {
			/* the appended name is unique, so the index is not updated */
			struct bt_json_value *value =
				bt_json_merge_patch(arena, NULL, member->value);
			bt_json_append_member(arena, target, member->name, value);
		}
	}

	/* Remove the members whose value is the pointer NULL, which the loops above set. */
	uint32_t kept = 0;
	for (uint32_t i = 0; i < target->count; i++) {
		if (target->members[i].value != NULL) {
			target->members[kept++] = target->members[i];
		}
	}
	target->count = kept;
	bt_text_set_finish(&index);
	bt_text_set_finish(&of_patch);
	return target;
}

static bool is_null(const struct bt_json_value *value)
{
	return value == NULL || value->type == BT_JSON_NULL;
}

struct bt_json_value *bt_json_merge_diff(
	struct bt_arena *arena, const struct bt_json_value *from, const struct bt_json_value *to)
{
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_text_set index = {0};
	struct bt_text_set of_old = {0};
	bt_json_append_names(to, &index);
	bt_json_append_names(from, &of_old);
	for (uint32_t i = 0; i < from->count; i++) {
		uint32_t position = bt_text_set_find(&index, from->members[i].name);
		bool is_kept = position != BT_MAP_NONE && !is_null(to->members[position].value);
		if (!is_kept && !is_null(from->members[i].value)) {
			bt_json_append_member(arena, patch, from->members[i].name,
				bt_json_new(arena, BT_JSON_NULL));
		}
	}
	for (uint32_t i = 0; i < to->count; i++) {
		struct bt_json_value *value = to->members[i].value;
		uint32_t position = bt_text_set_find(&of_old, to->members[i].name);
		const struct bt_json_value *old =
			position != BT_MAP_NONE ? from->members[position].value : NULL;
		if (is_null(value) || (old != NULL && bt_json_equal(old, value))) {
			continue;
		}
		if (old != NULL && old->type == BT_JSON_OBJECT && value->type == BT_JSON_OBJECT) {
			value = bt_json_merge_diff(arena, old, value);
			if (value->count == 0) {
				continue;
			}
		}
		bt_json_append_member(arena, patch, to->members[i].name, value);
	}
	bt_text_set_finish(&index);
	bt_text_set_finish(&of_old);
	return patch;
}

/**
 * Counts the equal elements at the beginning of both arrays, or with from_end at the end of both
 * arrays. Stops at max.
 */
static uint32_t count_same(
	const struct bt_json_value *a, const struct bt_json_value *b, uint32_t max, bool from_end)
{
	uint32_t count = 0;
	for (; count < max; count++) {
		uint32_t at_a = from_end ? a->count - 1 - count : count;
		uint32_t at_b = from_end ? b->count - 1 - count : count;
		if (!bt_json_same(a->elements[at_a], b->elements[at_b])) {
			break;
		}
	}
	return count;
}

/* Recursive: the parser limits the depth of the documents. */
struct bt_json_value *bt_json_rebase(struct bt_arena *arena, struct bt_json_value *whole,
	const struct bt_json_value *before, struct bt_json_value *after)
{
	if (before != NULL && bt_json_same(before, after)) {
		return whole;
	}
	if (whole == NULL || before == NULL || whole->type != before->type ||
		before->type != after->type) {
		return after;
	}
	if (after->type == BT_JSON_OBJECT) {
		for (uint32_t i = 0; i < before->count; i++) {
			if (bt_json_get(after, before->members[i].name) == NULL) {
				(void)bt_json_remove(whole, before->members[i].name);
			}
		}
		for (uint32_t i = 0; i < after->count; i++) {
			const struct bt_json_member *member = &after->members[i];
			struct bt_json_value *value =
				bt_json_rebase(arena, bt_json_get(whole, member->name),
					bt_json_get(before, member->name), member->value);
			if (value != NULL) {
				bt_json_set(arena, whole, member->name, value);
			}
		}
		return whole;
	}
	if (after->type == BT_JSON_ARRAY && whole->count == before->count) {
		uint32_t common = BT_MIN(before->count, after->count);
		uint32_t head = count_same(before, after, common, false);
		uint32_t tail = count_same(before, after, common - head, true);
		for (uint32_t i = 0; i < after->count; i++) {
			uint32_t from_end = after->count - i;
			if (i < head) {
				after->elements[i] = whole->elements[i];
			} else if (from_end <= tail) {
				after->elements[i] = whole->elements[whole->count - from_end];
			} else if (before->count == after->count) {
				after->elements[i] = bt_json_rebase(arena, whole->elements[i],
					before->elements[i], after->elements[i]);
			}
		}
		return after;
	}
	return after;
}
