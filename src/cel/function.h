/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_FUNCTION_H
#define BT_CEL_FUNCTION_H
/**
 * Functions of the language: functions.def lists every overload with its signature, functions*.c,
 * ip.c, semver.c and url.c have their code. Operators have rows, too, for the checker; the
 * evaluator runs them itself. Spec: 12b sections 7.3, 8.9 and 9.
 */
#include "base/arena.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "cel/value.h"

struct bt_cel_limits;
struct bt_cel_overload;
struct bt_cel_program;
struct bt_cel_regex;

/** Bounds of what the units of spec 12b section 10 do not see (a text that doubles itself, a long
 * text searched again and again): bytes of the arena, and bytes or elements handled. Far beyond
 * every selector of a device. */
#define BT_CEL_MEMORY_MAX ((size_t)32 << 20)
#define BT_CEL_WORK_MAX (UINT64_C(16) << 20)
/** Bytes of two texts that are compared in the time of one step of work. */
#define BT_CEL_COMPARED_BYTES 16

/** Evaluation in progress: what functions may use of it. */
struct bt_cel_evaluation {
	struct bt_arena *arena;
	uint64_t cost;
	uint64_t cost_max;
	uint64_t work;       /* of BT_CEL_WORK_MAX */
	size_t memory_start; /* bytes of the arena when the evaluation began */
	const struct bt_cel_limits *limits;
	const struct bt_cel_program *program;
	const struct bt_cel_value *variables;
	struct bt_cel_local *locals; /* evaluate_private.h */
	uint32_t iterations;         /* since the caller was asked whether to go on */
	uint32_t depth;              /* of values within values: bt_cel_enter */
	uint32_t nesting;            /* levels of what cel.bind put off, one within another */
	bool is_interrupted;
	/** A bound was passed: everything ends with this. BT_CEL_NULL: not yet. */
	struct bt_cel_value stop;
};

/** A call that a function answers; its units (enum bt_cel_charge) are charged. */
struct bt_cel_call {
	struct bt_cel_evaluation *evaluation;
	const struct bt_cel_overload *overload;
	/** The target of a member call first; none is an error, and the kinds are those of the
	 * signature (any and parameters: any kind). */
	const struct bt_cel_value *arguments;
	uint32_t count;
	struct bt_cel_regex *regex; /* of a constant pattern, or NULL */
};

/** Never fails by itself: problems are values. */
typedef struct bt_cel_value (*bt_cel_function)(const struct bt_cel_call *call);

enum bt_cel_style {
	BT_CEL_STYLE_GLOBAL,
	BT_CEL_STYLE_MEMBER,
};

/** What run time asks of the arguments before the call. Spec 12b section 8.9. */
enum bt_cel_guard {
	BT_CEL_GUARD_KINDS, /* `no such overload: f(int, string)` unless the kinds are right */
	BT_CEL_GUARD_NONE,  /* the function answers for any kind itself */
};

/** What is charged before the function runs. Spec: 12b section 10. */
enum bt_cel_charge {
	BT_CEL_CHARGE_OWN,      /* nothing: the function charges its units itself */
	BT_CEL_CHARGE_ONE,      /* one unit */
	BT_CEL_CHARGE_TEXT,     /* bt_cel_charge_text of the first argument, a tenth */
	BT_CEL_CHARGE_ELEMENTS, /* bt_cel_charge_elements of the first argument */
};

/** Which of the functions that share their code. */
enum bt_cel_variant {
	BT_CEL_VARIANT_NONE,
	BT_CEL_VARIANT_START,
	BT_CEL_VARIANT_END,
	BT_CEL_VARIANT_FIRST,
	BT_CEL_VARIANT_LAST,
	BT_CEL_VARIANT_LOWER,
	BT_CEL_VARIANT_UPPER,
	BT_CEL_VARIANT_MIN,
	BT_CEL_VARIANT_MAX,
	BT_CEL_VARIANT_INT,
	BT_CEL_VARIANT_UINT,
	BT_CEL_VARIANT_DOUBLE,
	BT_CEL_VARIANT_DURATION,
	BT_CEL_VARIANT_CONTAINS,
	BT_CEL_VARIANT_EQUIVALENT,
	BT_CEL_VARIANT_INTERSECTS,
	BT_CEL_VARIANT_GREATER,
	BT_CEL_VARIANT_LESS,
	BT_CEL_VARIANT_ORDER,
	BT_CEL_VARIANT_ADD,
	BT_CEL_VARIANT_SUBTRACT,
	BT_CEL_VARIANT_SCHEME,
	BT_CEL_VARIANT_HOST,
	BT_CEL_VARIANT_HOSTNAME,
	BT_CEL_VARIANT_PORT,
	BT_CEL_VARIANT_MAJOR,
	BT_CEL_VARIANT_MINOR,
	BT_CEL_VARIANT_PATCH,
	BT_CEL_VARIANT_UNSPECIFIED,
	BT_CEL_VARIANT_LOOPBACK,
	BT_CEL_VARIANT_LINK_LOCAL_MULTICAST,
	BT_CEL_VARIANT_LINK_LOCAL_UNICAST,
	BT_CEL_VARIANT_GLOBAL_UNICAST,
	BT_CEL_VARIANT_FULL_YEAR,
	BT_CEL_VARIANT_MONTH,
	BT_CEL_VARIANT_DATE,
	BT_CEL_VARIANT_DAY_OF_MONTH,
	BT_CEL_VARIANT_DAY_OF_WEEK,
	BT_CEL_VARIANT_DAY_OF_YEAR,
	BT_CEL_VARIANT_HOURS,
	BT_CEL_VARIANT_MINUTES,
	BT_CEL_VARIANT_SECONDS,
	BT_CEL_VARIANT_MILLISECONDS,
};

struct bt_cel_overload {
	const char *function;
	enum bt_cel_style style;
	/**
	 * Result, then parameters, each a type in the words bool int uint double string bytes null
	 * any dyn duration timestamp quantity semver url format ip cidr, authorizer path_check
	 * group_check resource_check decision, A B (parameters), list(T) map(K,V) optional(T)
	 * type(T); separated by single blanks: "bool string string".
	 */
	const char *signature;
	enum bt_cel_guard guard;
	enum bt_cel_charge charge;
	enum bt_cel_variant variant;
	bt_cel_function call; /* NULL: the evaluator's own */
};

/** In the order in which the checker tries them. */
extern const struct bt_cel_overload bt_cel_overloads[];
extern const uint32_t bt_cel_overload_count;

/* For functions. */

/** Use up units; false: that was too much, and the evaluation stops. */
bool bt_cel_charge(struct bt_cel_evaluation *evaluation, uint64_t units);
/** ceil(length / 10) and the like: units for a text of this length, in tenths by unit. */
bool bt_cel_charge_tenths(struct bt_cel_evaluation *evaluation, uint64_t length, uint64_t tenths);
/**
 * Before work that its units do not cover: how many bytes or elements it will handle. false: that
 * was too much, the evaluation stops; return evaluation->stop.
 */
bool bt_cel_charge_work(struct bt_cel_evaluation *evaluation, uint64_t count);
/**
 * Memory of the arena (aligned for any type, not zeroed) whose size depends on the values. NULL:
 * too much, the evaluation stops; return evaluation->stop. Every output that may be longer than its
 * inputs is allocated so.
 */
void *bt_cel_alloc(struct bt_cel_evaluation *evaluation, uint64_t count, size_t size);
/**
 * Around whatever recurses into the elements of a value, because cel.bind makes deeper ones than
 * can be written. false: too deep, the evaluation stops, and there is nothing to leave.
 */
bool bt_cel_enter(struct bt_cel_evaluation *evaluation);
void bt_cel_leave(struct bt_cel_evaluation *evaluation);
/** bt_cel_regex_find with its work charged; false, too, when that was too much. */
bool bt_cel_search(struct bt_cel_evaluation *evaluation, const struct bt_cel_regex *regex,
	struct bt_str text, uint32_t from, uint32_t *out_start, uint32_t *out_end);
/**
 * A pattern that is not constant. On failure *out_error is the value to return, with prefix
 * ("Illegal regex: ", or "") before the text of bt_cel_regex_compile.
 */
BT_MUST_USE bool bt_cel_pattern_compile(struct bt_cel_evaluation *evaluation, struct bt_str pattern,
	const char *prefix, struct bt_cel_regex **out_regex, struct bt_cel_value *out_error);
/** An error value; the text is made in the arena. */
BT_PRINTF(2, 3)
struct bt_cel_value bt_cel_fail(struct bt_cel_evaluation *evaluation, const char *format, ...);
/** `no such overload: f(int, kubernetes.Semver)` */
struct bt_cel_value bt_cel_no_overload(struct bt_cel_evaluation *evaluation, struct bt_str function,
	const struct bt_cel_value *arguments, uint32_t count);

/* evaluate.c */

/** isGreaterThan, isLessThan or compareTo, as the call's variant says. order: below, at or above 0.
 */
struct bt_cel_value bt_cel_answer_order(const struct bt_cel_call *call, int order);
/** optional.of(value) */
struct bt_cel_value bt_cel_optional(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *value);
/** An error around a value: prefix, the value as format prints it, suffix. */
struct bt_cel_value bt_cel_fail_with(struct bt_cel_evaluation *evaluation, struct bt_str prefix,
	const struct bt_cel_value *value, struct bt_str suffix);

/* equality.c: spec 12b sections 8.4 to 8.6 */

/** true, false, or an error. */
struct bt_cel_value bt_cel_equal(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right);
/** left == right is exactly true; charges no units, only work. */
bool bt_cel_is_equal(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right);
/** -1, 0, 1 of two values of comparable kinds; false: they are not comparable (or NaN). */
bool bt_cel_compare(
	const struct bt_cel_value *left, const struct bt_cel_value *right, int *out_order);
/** Before bt_cel_map_find: its work, which goes over all keys. */
bool bt_cel_charge_find(struct bt_cel_evaluation *evaluation, const struct bt_cel_map *map,
	const struct bt_cel_value *key);
/** Value of a key, following numeric kinds; NULL: missing. `missing` is not looked at. */
const struct bt_cel_value *bt_cel_map_find(
	const struct bt_cel_map *map, const struct bt_cel_value *key);

/* semver.c: spec 12b section 9.8, also used for attributes */

/** err: the texts of the section. is_normalised: semver(s, true). The result borrows text; a
 * normalised one keeps its new text in the arena. */
BT_MUST_USE int bt_cel_semver_parse(struct bt_str text, bool is_normalised, struct bt_arena *arena,
	struct bt_cel_semver *out_version, struct berth_error *err);
int bt_cel_semver_compare(const struct bt_cel_semver *a, const struct bt_cel_semver *b);

/* functions_format.c: clauses of string.format, for the function and for the validator. Spec: 12b
 * section 9.2. */

/** %, maybe .N, a letter of "sdfeboxX". */
struct bt_cel_format_clause {
	char verb;
	int precision;
};

/**
 * The next part at *at, which moves on: text (of "%%" one of them), or, *out_text empty, a clause
 * that stands at *at. false: the end.
 */
bool bt_cel_format_next(struct bt_str format, uint32_t *at, struct bt_str *out_text);
/** What stands behind a %; *at moves behind it. false: *out_failure says why not. */
bool bt_cel_format_parse(struct bt_cel_evaluation *evaluation, struct bt_str format, uint32_t *at,
	struct bt_cel_format_clause *out_clause, struct bt_cel_value *out_failure);
/** Why a clause takes no values of a kind, up to the name of the kind; NULL: it takes them. */
const char *bt_cel_format_refusal(char verb, enum bt_cel_kind kind);

/* Spec: 12b section 9. */
#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, charge_, code_, variant_) \
	struct bt_cel_value bt_cel_fn_##code_(const struct bt_cel_call *call);
#define BT_CEL_OWN(name_, style_, signature_)
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN

/** functions_list.c: one unit for each element, a tenth of its code points for a text. */
bool bt_cel_charge_elements(struct bt_cel_evaluation *evaluation, const struct bt_cel_list *list);
/** sort and the macro sortBy, with what they cost: list in the order of keys, of which there are as
 * many. */
struct bt_cel_value bt_cel_sort(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_list *list, const struct bt_cel_list *keys);

/* ip.c: texts of addresses and networks, read and written as Go's net/netip does. Spec: 12b
 * section 9.9.
 */

/**
 * err: `ParseAddr("x"): unable to parse IP` and the like. *out_has_zone: "%eth0" stands at the end
 * (which the result leaves out).
 */
BT_MUST_USE int bt_cel_ip_parse(
	struct bt_str text, struct bt_cel_ip *out_ip, bool *out_has_zone, struct berth_error *err);
/** err: `netip.ParsePrefix("x"): no '/'` and the like. Bits behind the prefix stay. */
BT_MUST_USE int bt_cel_cidr_parse(
	struct bt_str text, struct bt_cel_cidr *out_cidr, struct berth_error *err);

void bt_cel_ip_print(const struct bt_cel_ip *ip, struct bt_strbuf *out);
void bt_cel_cidr_print(const struct bt_cel_cidr *cidr, struct bt_strbuf *out);

/* url.c: URLs as Go's url.ParseRequestURI takes them: absolute paths and absolute URIs. Spec: 12b
 * section 9.6. */

struct bt_cel_url {
	struct bt_str text;   /* the source, its scheme in small letters */
	struct bt_str scheme; /* small letters, "" for none */
	struct bt_str host;   /* with the port, unescaped */
	struct bt_str path;   /* as it was written */
	struct bt_str query;  /* behind the "?" */
};

/** The result is in the arena. err: `parse "x": invalid URI for request` and the like. */
BT_MUST_USE int bt_cel_url_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_cel_url *out_url, struct berth_error *err);
#endif
