/* SPDX-License-Identifier: Apache-2.0 */
/** Kustomize's replacements: copies a field of one object into fields of others. */
#include "api/meta.h"
#include "base/vec.h"
#include "cluster/kustomize.h"

/** Maximum number of steps of a field's path. */
#define STEPS_MAX 64

struct path {
	struct bt_str text;
	struct bt_str steps[STEPS_MAX];
	uint32_t count;
};

/** The value to copy, and the target it is copied into. */
struct change {
	struct bt_arena *arena;
	const struct bt_json_value *value;
	const struct bt_json_value *options;
	bool creates;
	const struct path *path;
	uint32_t set_count;
	struct berth_error *err;
};

/** Parses "spec.containers.[name=web].env.0"; "\." is a dot inside a step. */
static int parse_path(
	struct bt_arena *arena, struct bt_str text, struct path *out, struct berth_error *err)
{
	struct bt_strbuf step = {0};
	bool in_brackets = false;
	*out = (struct path){.text = text};
	for (uint32_t i = 0; i <= text.length; i++) {
		char byte = i < text.length ? text.data[i] : '.';
		if (byte == '\\' && i + 1 < text.length && text.data[i + 1] == '.') {
			bt_strbuf_append_char(&step, text.data[++i]);
		} else if (byte == '.' && (!in_brackets || i == text.length)) {
			if (out->count == STEPS_MAX) {
				bt_strbuf_finish(&step);
				return bt_error_set(err, BERTH_ERR_INVALID,
					"a field's path has more than %d steps", STEPS_MAX);
			}
			out->steps[out->count++] = bt_arena_str(arena, bt_strbuf_str(&step));
			bt_strbuf_reset(&step);
		} else {
			in_brackets = byte == '[' || (in_brackets && byte != ']');
			bt_strbuf_append_char(&step, byte);
		}
	}
	bt_strbuf_finish(&step);
	return 0;
}

/** Splits "[name=web]" into name and web. Returns false if the step has another form. */
static bool is_selection(struct bt_str step, struct bt_str *out_name, struct bt_str *out_value)
{
	int64_t equals = bt_str_find_char(step, '=');
	if (step.length < 3 || step.data[0] != '[' || step.data[step.length - 1] != ']' ||
		equals < 0) {
		return false;
	}
	*out_name = bt_str_sub(step, 1, (uint32_t)equals - 1);
	*out_value = bt_str_sub(step, (uint32_t)equals + 1, step.length - (uint32_t)equals - 2);
	return true;
}

/** Returns the member name of a step; brackets around the name are removed: "[example.com/key]". */
static struct bt_str member_of(struct bt_str step)
{
	bool has_brackets =
		step.length >= 2 && step.data[0] == '[' && step.data[step.length - 1] == ']';
	return has_brackets ? bt_str_sub(step, 1, step.length - 2) : step;
}

static bool is_scalar(const struct bt_json_value *value)
{
	return value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER ||
		value->type == BT_JSON_BOOL;
}

static struct bt_str scalar_text(const struct bt_json_value *value)
{
	return value->type != BT_JSON_BOOL ? value->text
		: value->boolean           ? BT_STR("true")
					   : BT_STR("false");
}

/* --- options --- */

/**
 * Splits the text of *value at options.delimiter and sets *value to the piece at options.index.
 * Without a delimiter *value is unchanged.
 */
static int cut_piece(struct bt_arena *arena, const struct bt_json_value *options,
	const struct bt_json_value **value, struct berth_error *err)
{
	struct bt_str delimiter = bt_json_text_at(options, "delimiter");
	int64_t index = bt_json_int64_at(options, "index", 0);
	if (bt_json_text_at(options, "encoding").length != 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "options.encoding is not supported");
	}
	if (delimiter.length == 0) {
		return 0;
	}
	if (!is_scalar(*value)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"delimiter option can only be used with scalar nodes");
	}
	struct bt_str text = scalar_text(*value);
	struct bt_str rest = text;
	for (int64_t i = 0; index >= 0; i++) {
		int64_t end = bt_str_find(rest, delimiter);
		if (i == index) {
			*value = bt_json_new_str(
				arena, end < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)end));
			return 0;
		}
		if (end < 0) {
			break;
		}
		rest = bt_str_sub(rest, (uint32_t)end + delimiter.length, BT_STR_MAX);
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"options.index %lld is out of bounds for value %.*s", (long long)index,
		BT_STR_ARG(text));
}

/**
 * Returns the target's text with the piece at options.index replaced; a negative index inserts the
 * piece in front, an index beyond the last piece appends the piece.
 */
static struct bt_str replace_piece(struct change *change, struct bt_str target, struct bt_str piece)
{
	struct bt_str delimiter = bt_json_text_at(change->options, "delimiter");
	int64_t index = bt_json_int64_at(change->options, "index", 0);
	struct bt_strbuf text = {0};
	bool is_done = index < 0;
	if (is_done) {
		bt_strbuf_append_str(&text, piece);
		bt_strbuf_append_str(&text, delimiter);
	}
	for (int64_t i = 0;; i++) {
		int64_t end = bt_str_find(target, delimiter);
		bt_strbuf_append_str(&text, i != 0 ? delimiter : BT_STR(""));
		bt_strbuf_append_str(&text,
			i == index        ? piece
				: end < 0 ? target
					  : bt_str_sub(target, 0, (uint32_t)end));
		is_done = is_done || i == index;
		if (end < 0) {
			break;
		}
		target = bt_str_sub(target, (uint32_t)end + delimiter.length, BT_STR_MAX);
	}
	if (!is_done) {
		bt_strbuf_append_str(&text, delimiter);
		bt_strbuf_append_str(&text, piece);
	}
	return bt_arena_take_strbuf(change->arena, &text);
}

/**
 * Replaces the value at place by a copy of change->value. A scalar that replaces a scalar is
 * converted to the type of the old value.
 */
static int set_value(struct change *change, struct bt_json_value **place)
{
	struct bt_json_value *before = *place;
	struct bt_json_value *after = bt_json_clone(change->arena, change->value, false);
	if (is_scalar(before) && is_scalar(after)) {
		struct bt_str text = scalar_text(after);
		bool is_boolean = bt_str_equal_c(text, "true") || bt_str_equal_c(text, "false");
		struct bt_json_value *number = NULL;
		if (bt_json_text_at(change->options, "delimiter").length != 0) {
			text = replace_piece(change, scalar_text(before), text);
		}
		if (before->type == BT_JSON_NUMBER &&
			(bt_json_parse(change->arena, text, true, &number, NULL) < 0 ||
				number->type != BT_JSON_NUMBER)) {
			return bt_error_set(change->err, BERTH_ERR_INVALID,
				"%.*s is a number: it cannot become \"%.*s\"",
				BT_STR_ARG(change->path->text), BT_STR_ARG(text));
		}
		if (before->type == BT_JSON_BOOL && !is_boolean) {
			return bt_error_set(change->err, BERTH_ERR_INVALID,
				"%.*s is true or false: it cannot become \"%.*s\"",
				BT_STR_ARG(change->path->text), BT_STR_ARG(text));
		}
		after = before->type == BT_JSON_NUMBER ? number
			: before->type == BT_JSON_BOOL
			? bt_json_new_bool(change->arena, bt_str_equal_c(text, "true"))
			: bt_json_new_str(change->arena, text);
	} else if (is_scalar(before)) {
		return bt_error_set(change->err, BERTH_ERR_INVALID,
			"%.*s is not a list or object, and cannot become one",
			BT_STR_ARG(change->path->text));
	}
	*place = after;
	change->set_count++;
	return 0;
}

/* --- the target --- */

/** Returns an empty value for a missing field, of the type that the next step needs. */
static struct bt_json_value *make_empty(const struct change *change, uint32_t next)
{
	struct bt_str name;
	struct bt_str value;
	return bt_json_new(change->arena,
		next == change->path->count                                      ? BT_JSON_NULL
			: is_selection(change->path->steps[next], &name, &value) ? BT_JSON_ARRAY
										 : BT_JSON_OBJECT);
}

static int visit(struct change *change, struct bt_json_value **place, uint32_t at);

static int visit_array(struct change *change, struct bt_json_value *array, uint32_t at)
{
	struct bt_str step = change->path->steps[at];
	struct bt_str name;
	struct bt_str wanted;
	int64_t index;
	bool is_selected = is_selection(step, &name, &wanted);
	bool is_found = false;
	int result = 0;
	if (!is_selected && !bt_str_equal_c(step, "*")) {
		if (!bt_str_parse_int64(step, &index) || index < 0) {
			return 0;
		}
		if (index < array->count) {
			return visit(change, &array->elements[index], at + 1);
		}
		return !change->creates ? 0
					: bt_error_set(change->err, BERTH_ERR_INVALID,
						  "index %lld specified but only %u elements found",
						  (long long)index, array->count);
	}
	for (uint32_t i = 0; i < array->count && result == 0; i++) {
		const struct bt_json_value *element = array->elements[i];
		const struct bt_json_value *member = element;
		if (is_selected && name.length != 0) {
			member =
				element->type == BT_JSON_OBJECT ? bt_json_get(element, name) : NULL;
		}
		if (!is_selected ||
			(member != NULL && is_scalar(member) &&
				bt_str_equal(scalar_text(member), wanted))) {
			is_found = true;
			result = visit(change, &array->elements[i], at + 1);
		}
	}
	if (result == 0 && is_selected && !is_found && change->creates && name.length != 0) {
		struct bt_json_value *element = bt_json_new(change->arena, BT_JSON_OBJECT);
		bt_json_set(change->arena, element, name, bt_json_new_str(change->arena, wanted));
		bt_json_append(change->arena, array, element);
		result = visit(change, &array->elements[array->count - 1], at + 1);
	}
	return result;
}

/**
 * Calls set_value for every field below *place that the path matches, beginning with step number
 * `at`.
 */
static int visit(struct change *change, struct bt_json_value **place, uint32_t at)
{
	struct bt_json_value *holder = *place;
	if (at == change->path->count) {
		return set_value(change, place);
	}
	if (holder->type == BT_JSON_ARRAY) {
		return visit_array(change, holder, at);
	}
	if (holder->type == BT_JSON_NULL && change->creates) {
		*place = holder = make_empty(change, at);
		return holder->type == BT_JSON_NULL ? 0 : visit(change, place, at);
	}
	if (holder->type != BT_JSON_OBJECT) {
		return 0;
	}
	struct bt_str name = member_of(change->path->steps[at]);
	if (bt_json_get(holder, name) == NULL && change->creates) {
		bt_json_set(change->arena, holder, name, make_empty(change, at + 1));
	}
	for (uint32_t i = 0; i < holder->count; i++) {
		if (bt_str_equal(holder->members[i].name, name)) {
			return visit(change, &holder->members[i].value, at + 1);
		}
	}
	return 0;
}

/* --- objects --- */

static bool member_matches(
	const struct bt_json_value *selector, const char *member, struct bt_str text)
{
	struct bt_str wanted = bt_json_text_at(selector, member);
	return wanted.length == 0 || bt_str_equal(wanted, text);
}

static bool is_selected(const struct bt_json_value *selector, struct bt_kustomized *resource)
{
	const struct bt_json_value *object = resource->object;
	struct bt_str group;
	struct bt_str version;
	(void)bt_api_version_split(bt_json_text_at(object, "apiVersion"), &group, &version);
	bool is_named =
		member_matches(selector, "name", bt_json_text_at(object, "metadata.name")) &&
		member_matches(
			selector, "namespace", bt_json_text_at(object, "metadata.namespace"));
	for (uint32_t i = 0; i < resource->name_count && !is_named; i++) {
		is_named = member_matches(selector, "name", resource->names[i].name) &&
			member_matches(selector, "namespace", resource->names[i].namespace_);
	}
	return is_named && member_matches(selector, "kind", bt_json_text_at(object, "kind")) &&
		member_matches(selector, "group", group) &&
		member_matches(selector, "version", version);
}

static int find_source(struct bt_arena *arena, struct bt_kustomized *resources, uint32_t count,
	const struct bt_json_value *source, const struct bt_json_value **out_value,
	struct berth_error *err)
{
	struct bt_str field = bt_json_text_at(source, "fieldPath");
	/* The selector as kustomize shows it: "Service.[noVer].[noGrp]/web.[noNs]". */
	static const char *const members[][3] = {{"kind", "[noKind]", ""},
		{"version", "[noVer]", "."}, {"group", "[noGrp]", "."}, {"name", "[noName]", "/"},
		{"namespace", "[noNs]", "."}};
	struct bt_strbuf text = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(members); i++) {
		struct bt_str given = bt_json_text_at(source, members[i][0]);
		bt_strbuf_append_c(&text, members[i][2]);
		bt_strbuf_append_str(&text, given.length != 0 ? given : bt_str_from(members[i][1]));
	}
	struct bt_str shown = bt_arena_take_strbuf(arena, &text);
	struct bt_json_value *found = NULL;
	struct path path;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_selected(source, &resources[i])) {
			continue;
		}
		if (found != NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"multiple matches for selector %.*s", BT_STR_ARG(shown));
		}
		found = resources[i].object;
	}
	if (found == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "nothing selected by %.*s", BT_STR_ARG(shown));
	}
	int result =
		parse_path(arena, field.length != 0 ? field : BT_STR("metadata.name"), &path, err);
	for (uint32_t i = 0; result == 0 && found != NULL && i < path.count; i++) {
		struct bt_str name;
		struct bt_str wanted;
		int64_t index;
		const struct bt_json_value *holder = found;
		found = NULL;
		if (holder->type == BT_JSON_OBJECT) {
			found = bt_json_get(holder, member_of(path.steps[i]));
		} else if (holder->type == BT_JSON_ARRAY &&
			is_selection(path.steps[i], &name, &wanted)) {
			for (uint32_t k = 0; k < holder->count && found == NULL; k++) {
				const struct bt_json_value *member =
					bt_json_get(holder->elements[k], name);
				found = member != NULL && is_scalar(member) &&
						bt_str_equal(scalar_text(member), wanted)
					? holder->elements[k]
					: NULL;
			}
		} else if (holder->type == BT_JSON_ARRAY &&
			bt_str_parse_int64(path.steps[i], &index) && index >= 0 &&
			index < holder->count) {
			found = holder->elements[index];
		}
	}
	if (result == 0 && found == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"fieldPath `%.*s` is missing for replacement source %.*s",
			BT_STR_ARG(path.text), BT_STR_ARG(shown));
	}
	*out_value = found;
	return result < 0 ? result
			  : cut_piece(arena, bt_json_object_at(source, "options"), out_value, err);
}

/** Copies the value into one of the target's fields in one object. */
static int change_field(struct bt_arena *arena, struct bt_kustomized *resource,
	const struct bt_json_value *value, const struct bt_json_value *target, struct bt_str field,
	struct berth_error *err)
{
	struct path path;
	struct change change = {.arena = arena,
		.value = value,
		.options = bt_json_object_at(target, "options"),
		.creates = bt_json_bool_at(target, "options.create", false),
		.path = &path,
		.err = err};
	int result = parse_path(arena, field, &path, err);
	if (result == 0) {
		result = visit(&change, &resource->object, 0);
	}
	if (result == 0 && change.set_count == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"unable to find field \"%.*s\" in replacement target", BT_STR_ARG(field));
	}
	return result;
}

int bt_kustomize_replace(struct bt_arena *arena, struct bt_kustomized *resources, uint32_t count,
	const struct bt_json_value *replacement, struct berth_error *err)
{
	const struct bt_json_value *source = bt_json_find(replacement, "source");
	const struct bt_json_value *targets = bt_json_array_at(replacement, "targets");
	const struct bt_json_value *value;
	if (source == NULL || targets->count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"replacements must specify a source and at least one target");
	}
	int result = find_source(arena, resources, count, source, &value, err);
	for (uint32_t i = 0; i < targets->count && result == 0; i++) {
		const struct bt_json_value *target = targets->elements[i];
		const struct bt_json_value *fields = bt_json_array_at(target, "fieldPaths");
		const struct bt_json_value *selector = bt_json_find(target, "select");
		if (selector == NULL) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "target must specify resources to select");
		}
		for (uint32_t k = 0; k < count && result == 0; k++) {
			const struct bt_json_value *list = bt_json_array_at(target, "reject");
			bool rejected = false;
			if (!is_selected(selector, &resources[k])) {
				continue;
			}
			for (uint32_t j = 0; j < list->count && !rejected; j++) {
				rejected = is_selected(list->elements[j], &resources[k]);
			}
			if (rejected) {
				continue;
			}
			if (fields->count == 0) {
				result = change_field(arena, &resources[k], value, target,
					BT_STR("metadata.name"), err);
			}
			for (uint32_t n = 0; n < fields->count && result == 0; n++) {
				result = change_field(arena, &resources[k], value, target,
					fields->elements[n]->text, err);
			}
		}
	}
	return result;
}
