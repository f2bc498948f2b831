/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/checker_private.h"

#include "base/assert.h"

/**
 * Maximum depth of a type. A type can be deep without many parts, because a parameter can be bound
 * to a type that contains parameters.
 */
#define DEPTH_MAX 1500

void bt_cel_inference_finish(struct bt_cel_inference *inference)
{
	bt_vec_finish(&inference->bound);
	bt_vec_finish(&inference->trail);
}

const struct bt_cel_type *bt_cel_fresh_parameter(struct bt_cel_inference *inference)
{
	struct bt_cel_type *type = BT_ARENA_NEW(inference->arena, struct bt_cel_type);

	type->kind = BT_CEL_PARAMETER;
	type->parameter = inference->bound.count;
	bt_vec_push(&inference->bound, NULL);
	return type;
}

static uint32_t parts_of(const struct bt_cel_type *type)
{
	return type->parts != 0 ? type->parts : 1;
}

const struct bt_cel_type *bt_cel_type_make(struct bt_cel_inference *inference,
	enum bt_cel_kind kind, const struct bt_cel_type *first, const struct bt_cel_type *second)
{
	uint32_t count = 1 + parts_of(first) + (second != NULL ? parts_of(second) : 0);

	if (count > BT_CEL_TYPE_PARTS_MAX) {
		inference->is_exhausted = true;
		return &bt_cel_types[BT_CEL_ERROR];
	}

	struct bt_cel_type *type = BT_ARENA_NEW(inference->arena, struct bt_cel_type);

	*type = (struct bt_cel_type){.kind = kind, .parts = count, .of = {first, second}};
	return type;
}

/**
 * Call first in every function that recurses into types; such a function decrements depth at its
 * end. false: too deep or too many steps.
 */
static bool enter_type(struct bt_cel_inference *inference)
{
	if (++inference->steps > BT_CEL_INFERENCE_STEPS_MAX || inference->depth >= DEPTH_MAX) {
		inference->is_exhausted = true;
	}
	if (inference->is_exhausted) {
		return false;
	}
	inference->depth++;
	return true;
}

static const struct bt_cel_type *bound_type(
	const struct bt_cel_inference *inference, const struct bt_cel_type *type)
{
	return type->kind == BT_CEL_PARAMETER ? inference->bound.items[type->parameter] : NULL;
}

static bool occurs(
	struct bt_cel_inference *inference, uint32_t parameter, const struct bt_cel_type *type)
{
	bool found = false;

	if (!enter_type(inference)) {
		return true;
	}
	if (type->kind == BT_CEL_PARAMETER) {
		const struct bt_cel_type *bound = bound_type(inference, type);

		found = type->parameter == parameter ||
			(bound != NULL && occurs(inference, parameter, bound));
	}
	for (uint32_t i = 0; i < 2 && type->of[i] != NULL && !found; i++) {
		found = occurs(inference, parameter, type->of[i]);
	}
	inference->depth--;
	return found;
}

static void bind(
	struct bt_cel_inference *inference, uint32_t parameter, const struct bt_cel_type *type)
{
	struct bt_cel_binding binding = {parameter, inference->bound.items[parameter]};

	bt_vec_push(&inference->trail, binding);
	inference->bound.items[parameter] = type;
}

/** Whether `a` includes every type that `b` includes. */
static bool is_more_general(const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	if (a == b || bt_cel_type_is_dyn(a) || a->kind == BT_CEL_PARAMETER) {
		return true;
	}
	if (a->kind != b->kind || a->kind == BT_CEL_TYPE || a->object != b->object) {
		return a->kind == b->kind && a->object == b->object;
	}
	for (uint32_t i = 0; i < 2 && a->of[i] != NULL && b->of[i] != NULL; i++) {
		if (!is_more_general(a->of[i], b->of[i])) {
			return false;
		}
	}
	return true;
}

static bool is_assignable(struct bt_cel_inference *inference, const struct bt_cel_type *from,
	const struct bt_cel_type *to);

enum agreement {
	AGREES,
	DIFFERS,
	UNDECIDED, /* the parameter would contain itself */
};

/** Binds a parameter to a type, or compares the type with the existing binding. */
static enum agreement agree_on_type(struct bt_cel_inference *inference,
	const struct bt_cel_type *parameter, const struct bt_cel_type *type)
{
	const struct bt_cel_type *known = bound_type(inference, parameter);

	if (known == NULL) {
		if (occurs(inference, parameter->parameter, type)) {
			return UNDECIDED;
		}
		bind(inference, parameter->parameter, type);
		return AGREES;
	}
	if (known == type) {
		return AGREES;
	}
	if (!is_assignable(inference, type, known)) {
		return DIFFERS;
	}
	if (is_more_general(type, known) && !occurs(inference, parameter->parameter, type)) {
		bind(inference, parameter->parameter, type);
	}
	return AGREES;
}

static bool is_assignable(struct bt_cel_inference *inference, const struct bt_cel_type *from,
	const struct bt_cel_type *to)
{
	enum agreement agreement = UNDECIDED;
	bool result;

	if (!enter_type(inference)) {
		return false;
	}
	if (from->kind == BT_CEL_PARAMETER && to->kind == BT_CEL_PARAMETER &&
		from->parameter == to->parameter) {
		agreement = AGREES;
	}
	if (agreement == UNDECIDED && to->kind == BT_CEL_PARAMETER) {
		agreement = agree_on_type(inference, to, from);
	}
	if (agreement == UNDECIDED && from->kind == BT_CEL_PARAMETER) {
		agreement = agree_on_type(inference, from, to);
	}
	if (agreement != UNDECIDED) {
		result = agreement == AGREES;
	} else if (bt_cel_type_is_dyn(from) || bt_cel_type_is_dyn(to) ||
		(from->kind == BT_CEL_NULL && bt_cel_kinds[to->kind].takes_null)) {
		result = true;
	} else {
		result = from->kind == to->kind && from->object == to->object;
		/* All type values are compatible: `type(x) == string` is decided at run time. */
		for (uint32_t i = 0; i < 2 && result && from->kind != BT_CEL_TYPE &&
			from->of[i] != NULL && to->of[i] != NULL;
			i++) {
			result = is_assignable(inference, from->of[i], to->of[i]);
		}
	}
	inference->depth--;
	return result;
}

bool bt_cel_assign(struct bt_cel_inference *inference, const struct bt_cel_type *const *from,
	const struct bt_cel_type *const *to, uint32_t count)
{
	BT_ASSERT(inference->trail.count == 0);

	bool result = true;

	for (uint32_t i = 0; i < count && result; i++) {
		result = is_assignable(inference, from[i], to[i]);
	}
	if (!result) {
		while (inference->trail.count > 0) {
			struct bt_cel_binding binding =
				inference->trail.items[--inference->trail.count];

			inference->bound.items[binding.parameter] = binding.before;
		}
	}
	inference->trail.count = 0;
	return result;
}

const struct bt_cel_type *bt_cel_substitute(
	struct bt_cel_inference *inference, const struct bt_cel_type *type, bool is_final)
{
	const struct bt_cel_type *result = type;

	if (!enter_type(inference)) {
		return &bt_cel_types[BT_CEL_ERROR];
	}
	if (type->kind == BT_CEL_PARAMETER) {
		const struct bt_cel_type *bound = bound_type(inference, type);

		if (bound != NULL) {
			result = bt_cel_substitute(inference, bound, is_final);
		} else if (is_final) {
			result = &bt_cel_types[BT_CEL_DYN];
		}
	} else if (type->of[0] != NULL) {
		const struct bt_cel_type *of[2] = {NULL, NULL};

		for (uint32_t i = 0; i < 2 && type->of[i] != NULL; i++) {
			of[i] = bt_cel_substitute(inference, type->of[i], is_final);
		}
		if (of[0] != type->of[0] || of[1] != type->of[1]) {
			result = bt_cel_type_make(inference, type->kind, of[0], of[1]);
		}
	}
	inference->depth--;
	return result;
}

const struct bt_cel_type *bt_cel_join(struct bt_cel_inference *inference,
	const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	if (!bt_cel_assign(inference, &a, &b, 1)) {
		return NULL;
	}
	return is_more_general(a, b) ? a : b;
}

bool bt_cel_type_is_same(const struct bt_cel_type *a, const struct bt_cel_type *b)
{
	if (a == b) {
		return true;
	}
	if (a->kind != b->kind || a->parameter != b->parameter || a->object != b->object) {
		return false;
	}
	for (uint32_t i = 0; i < 2; i++) {
		if ((a->of[i] == NULL) != (b->of[i] == NULL) ||
			(a->of[i] != NULL && !bt_cel_type_is_same(a->of[i], b->of[i]))) {
			return false;
		}
	}
	return true;
}

/**
 * A signature that is being read. named: the types of the parameters A and B; NULL: the signature
 * has not used this parameter yet.
 */
struct reader {
	struct bt_cel_inference *inference;
	const char *next;
	const struct bt_cel_type *named[2];
};

static const struct bt_cel_type *read_type(struct reader *reader)
{
	const struct bt_cel_type *of[2] = {NULL, NULL};
	size_t length = strcspn(reader->next, " (),");
	enum bt_cel_kind kind = 0;

	while (kind < BT_CEL_KIND__COUNT &&
		(bt_cel_kinds[kind].word == NULL || strlen(bt_cel_kinds[kind].word) != length ||
			memcmp(bt_cel_kinds[kind].word, reader->next, length) != 0)) {
		kind++;
	}
	if (kind == BT_CEL_KIND__COUNT) {
		uint32_t which = (uint32_t)(*reader->next++ - 'A');

		BT_ASSERT(which < 2);
		if (reader->named[which] == NULL) {
			reader->named[which] = bt_cel_fresh_parameter(reader->inference);
		}
		return reader->named[which];
	}
	reader->next += length;
	if (*reader->next != '(') {
		return &bt_cel_types[kind];
	}
	for (uint32_t i = 0; i < 2 && *reader->next != ')'; i++) {
		reader->next++;
		of[i] = read_type(reader);
	}
	BT_ASSERT(*reader->next == ')');
	reader->next++;
	return bt_cel_type_make(reader->inference, kind, of[0], of[1]);
}

void bt_cel_signature_read(struct bt_cel_inference *inference, const char *text,
	struct bt_cel_signature *out_signature)
{
	struct reader reader = {.inference = inference, .next = text};

	*out_signature = (struct bt_cel_signature){.result = read_type(&reader)};
	while (*reader.next == ' ') {
		BT_ASSERT(out_signature->count < BT_CEL_ARGUMENTS_MAX);
		reader.next++;
		out_signature->parameters[out_signature->count++] = read_type(&reader);
	}
	BT_ASSERT(*reader.next == '\0');
}
