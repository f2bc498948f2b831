/* SPDX-License-Identifier: Apache-2.0 */
/* What functions and the evaluator share: cost, work, memory, errors. Spec: 12b section 10. */
#include <stdarg.h>

#include "cel/evaluate_private.h"
#include "cel/program.h"
#include "cel/regex.h"

/** Steps of macros between two questions whether to go on. */
#define ITERATIONS_MAX 100
/** Values within values: deeper ones are not walked through. */
#define DEPTH_MAX 1000
/** Instructions of a pattern that are asked in the time of one step of work. */
#define SEARCH_STEPS 4
/** Work of making one instruction of a pattern, in bytes handled. */
#define PATTERN_WORK 64
/** Instructions that were made of a pattern before it was refused, about. */
#define REFUSED_PATTERN_SIZE 10000

void bt_cel_evaluation_init(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_program *program, const struct bt_cel_value *variables,
	const struct bt_cel_limits *limits, struct bt_arena *arena)
{
	*evaluation = (struct bt_cel_evaluation){
		.arena = arena,
		.cost_max = limits->cost_max,
		.memory_start = arena->total_bytes,
		.limits = limits,
		.program = program,
		.variables = variables,
	};
}

static BT_COLD bool stop(struct bt_cel_evaluation *evaluation, struct bt_str text)
{
	if (!bt_cel_is_stopped(evaluation)) {
		evaluation->stop = bt_cel_error(text);
	}
	return false;
}

static BT_COLD bool stop_for_cost(struct bt_cel_evaluation *evaluation)
{
	return stop(evaluation, BT_STR("operation cancelled: actual cost limit exceeded"));
}

bool bt_cel_charge(struct bt_cel_evaluation *evaluation, uint64_t units)
{
	if (BT_UNLIKELY(BT_ADD_OVERFLOW(evaluation->cost, units, &evaluation->cost))) {
		evaluation->cost = UINT64_MAX;
	}
	if (BT_UNLIKELY(evaluation->cost > evaluation->cost_max ||
		    evaluation->arena->total_bytes - evaluation->memory_start >
			    BT_CEL_MEMORY_MAX)) {
		return stop_for_cost(evaluation);
	}
	return BT_LIKELY(!bt_cel_is_stopped(evaluation));
}

bool bt_cel_charge_tenths(struct bt_cel_evaluation *evaluation, uint64_t length, uint64_t tenths)
{
	return bt_cel_charge(evaluation, (length * tenths + 9) / 10);
}

bool bt_cel_charge_work(struct bt_cel_evaluation *evaluation, uint64_t count)
{
	if (BT_UNLIKELY(BT_ADD_OVERFLOW(evaluation->work, count, &evaluation->work) ||
		    evaluation->work > BT_CEL_WORK_MAX)) {
		evaluation->work = BT_CEL_WORK_MAX + 1;
		return stop_for_cost(evaluation);
	}
	return BT_LIKELY(!bt_cel_is_stopped(evaluation));
}

void *bt_cel_alloc(struct bt_cel_evaluation *evaluation, uint64_t count, size_t size)
{
	size_t used = evaluation->arena->total_bytes - evaluation->memory_start;

	if (used > BT_CEL_MEMORY_MAX || count > (BT_CEL_MEMORY_MAX - used) / size) {
		(void)stop_for_cost(evaluation);
		return NULL;
	}
	return bt_arena_alloc(evaluation->arena, (size_t)count * size);
}

bool bt_cel_enter(struct bt_cel_evaluation *evaluation)
{
	if (evaluation->depth == DEPTH_MAX) {
		return stop_for_cost(evaluation);
	}
	evaluation->depth++;
	return true;
}

void bt_cel_leave(struct bt_cel_evaluation *evaluation)
{
	evaluation->depth--;
}

bool bt_cel_evaluation_iterate(struct bt_cel_evaluation *evaluation)
{
	const struct bt_cel_limits *limits = evaluation->limits;
	struct bt_str cause = BT_STR("");

	if (++evaluation->iterations < ITERATIONS_MAX) {
		return !bt_cel_is_stopped(evaluation);
	}
	evaluation->iterations = 0;
	if (limits->is_interrupted == NULL || !limits->is_interrupted(limits->context, &cause)) {
		return !bt_cel_is_stopped(evaluation);
	}
	evaluation->is_interrupted = true;
	return stop(evaluation,
		bt_arena_printf(
			evaluation->arena, "operation interrupted: %.*s", BT_STR_ARG(cause)));
}

bool bt_cel_search(struct bt_cel_evaluation *evaluation, const struct bt_cel_regex *regex,
	struct bt_str text, uint32_t from, uint32_t *out_start, uint32_t *out_end)
{
	uint64_t bytes = (uint64_t)text.length - from + 1;

	/* Without its automaton, which may become too large, RE2 looks at all instructions. */
	return bt_cel_charge_work(
		       evaluation, bytes * (1 + bt_cel_regex_size(regex) / SEARCH_STEPS)) &&
		bt_cel_regex_find(regex, text, from, out_start, out_end);
}

bool bt_cel_pattern_compile(struct bt_cel_evaluation *evaluation, struct bt_str pattern,
	const char *prefix, struct bt_cel_regex **out_regex, struct bt_cel_value *out_error)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code;

	if (!bt_cel_charge_work(evaluation, (uint64_t)pattern.length * PATTERN_WORK)) {
		*out_error = evaluation->stop;
		return false;
	}
	code = bt_cel_regex_compile(pattern, out_regex, &err);
	if (code == BERTH_ERR_TOO_LARGE &&
		!bt_cel_charge_work(evaluation, (uint64_t)REFUSED_PATTERN_SIZE * PATTERN_WORK)) {
		berth_error_finish(&err);
		*out_error = evaluation->stop;
		return false;
	}
	if (code != 0) {
		*out_error = bt_cel_fail(evaluation, "%s%s", prefix, err.message);
		berth_error_finish(&err);
		return false;
	}
	/* A short pattern may become a long program. */
	if (!bt_cel_charge_work(
		    evaluation, (uint64_t)bt_cel_regex_size(*out_regex) * PATTERN_WORK)) {
		bt_cel_regex_destroy(*out_regex);
		*out_error = evaluation->stop;
		return false;
	}
	return true;
}

struct bt_cel_value bt_cel_fail(struct bt_cel_evaluation *evaluation, const char *format, ...)
{
	struct bt_strbuf text = {0};
	struct bt_cel_value error;
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	error = bt_cel_error(bt_arena_str(evaluation->arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	return error;
}

struct bt_cel_value bt_cel_no_overload(struct bt_cel_evaluation *evaluation, struct bt_str function,
	const struct bt_cel_value *arguments, uint32_t count)
{
	struct bt_strbuf text = {0};
	struct bt_cel_value error;

	bt_strbuf_printf(&text, "no such overload: %.*s(", BT_STR_ARG(function));
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : ", ");
		bt_strbuf_append_c(&text, bt_cel_kind_name(arguments[i].kind));
	}
	bt_strbuf_append_c(&text, ")");
	error = bt_cel_error(bt_arena_str(evaluation->arena, bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
	return error;
}
