/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_FUNCTION_H
#define BT_CEL_FUNCTION_H
/**
 * Functions of the language: functions.def lists every overload with its signature; functions*.c,
 * ip.c, semver.c and url.c implement them. Operators also have rows, for the checker; the evaluator
 * implements operators itself. Spec: 12b sections 7.3, 8.9 and 9.
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

/**
 * Limits of an evaluation: bytes of the arena, and bytes or elements handled. They bound memory and
 * work that units (spec 12b section 10) do not cover, for example a text that doubles itself, or
 * repeated searches in a long text. No sensible selector of a device comes near these limits.
 */
#define BT_CEL_MEMORY_MAX ((size_t)32 << 20)
#define BT_CEL_WORK_MAX (UINT64_C(16) << 20)
/** Number of bytes that a comparison of texts handles in the time of one unit of work. */
#define BT_CEL_COMPARED_BYTES 16

/** An evaluation in progress. */
struct bt_cel_evaluation {
	struct bt_arena *arena;
	uint64_t cost;
	uint64_t cost_max;
	uint64_t work;       /* at most BT_CEL_WORK_MAX */
	size_t memory_start; /* bytes of the arena when the evaluation began */
	const struct bt_cel_limits *limits;
	const struct bt_cel_program *program;
	const struct bt_cel_value *variables;
	struct bt_cel_local *locals; /* evaluate_private.h */
	uint32_t iterations;         /* since the last poll of is_interrupted */
	uint32_t depth;              /* nesting of values: see bt_cel_enter */
	uint32_t nesting;            /* sum of the heights of the cel.bind values being evaluated */
	bool is_interrupted;
	/**
	 * The error that ends the whole evaluation, for example because a bound was exceeded.
	 * BT_CEL_NULL: there is no such error.
	 */
	struct bt_cel_value stop;
};

/** A call of a function. The units of the call (enum bt_cel_charge) were charged before. */
struct bt_cel_call {
	struct bt_cel_evaluation *evaluation;
	const struct bt_cel_overload *overload;
	/**
	 * For a member call the target comes first. The arguments contain no BT_CEL_ERROR. Unless
	 * the guard is BT_CEL_GUARD_NONE, all kinds match the signature (any, dyn and type
	 * parameters match every kind).
	 */
	const struct bt_cel_value *arguments;
	uint32_t count;
	struct bt_cel_regex *regex; /* compiled pattern if it is constant, else NULL */
};

/** Errors are returned as values. */
typedef struct bt_cel_value (*bt_cel_function)(const struct bt_cel_call *call);

enum bt_cel_style {
	BT_CEL_STYLE_GLOBAL,
	BT_CEL_STYLE_MEMBER,
};

/** Checks of the arguments before the call. Spec 12b section 8.9. */
enum bt_cel_guard {
	/** error `no such overload: f(int, string)` unless the kinds match the signature */
	BT_CEL_GUARD_KINDS,
	BT_CEL_GUARD_NONE, /* the function handles every kind itself */
};

/** Units that are charged before the function runs. Spec: 12b section 10. */
enum bt_cel_charge {
	BT_CEL_CHARGE_OWN,      /* none: the function itself charges units */
	BT_CEL_CHARGE_ONE,      /* one unit */
	BT_CEL_CHARGE_TEXT,     /* first argument: a tenth of a unit per code point */
	BT_CEL_CHARGE_ELEMENTS, /* first argument: one unit per element; strings by length */
};

/** Distinguishes overloads that share an implementation. */
enum bt_cel_variant {
	BT_CEL_VARIANT_NONE,
	BT_CEL_VARIANT_TEST,
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
	BT_CEL_VARIANT_IP,
	BT_CEL_VARIANT_CIDR,
	BT_CEL_VARIANT_PREFIX_LENGTH,
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
	 * Types of the result and of the parameters, separated by single blanks, for example "bool
	 * string string". Types are: bool int uint double string bytes null any dyn duration
	 * timestamp quantity semver url format ip cidr, authorizer path_check group_check
	 * resource_check decision, A B (parameters), list(T) map(K,V) optional(T) type(T).
	 */
	const char *signature;
	enum bt_cel_guard guard;
	enum bt_cel_charge charge;
	enum bt_cel_variant variant;
	bt_cel_function call; /* NULL: implemented by the evaluator */
};

/** All overloads, in the order in which the checker tries them. */
extern const struct bt_cel_overload bt_cel_overloads[];
extern const uint32_t bt_cel_overload_count;

/* Helpers for functions. */

/**
 * Charges units. false: a limit is exceeded and the evaluation stops; the caller must return
 * evaluation->stop.
 */
bool bt_cel_charge(struct bt_cel_evaluation *evaluation, uint64_t units);
/** Charges ceil(length * tenths / 10) units for a text; false as in bt_cel_charge. */
bool bt_cel_charge_tenths(struct bt_cel_evaluation *evaluation, uint64_t length, uint64_t tenths);
/**
 * Call before work that units do not cover. count: number of bytes or elements to handle. false:
 * the limit is exceeded and the evaluation stops; the caller must return evaluation->stop.
 */
bool bt_cel_charge_work(struct bt_cel_evaluation *evaluation, uint64_t count);
/**
 * Allocates arena memory (aligned for any type, not zeroed) whose size depends on values; call this
 * function for every output that may be longer than its inputs. NULL: the limit is exceeded and the
 * evaluation stops; the caller must return evaluation->stop.
 */
void *bt_cel_alloc(struct bt_cel_evaluation *evaluation, uint64_t count, size_t size);
/**
 * Call bt_cel_enter before, and bt_cel_leave after, recursion into the elements of a value. They
 * limit the depth of the recursion, because cel.bind lets values nest deeper than the text of the
 * expression. false: too deep, the evaluation stops; do not call bt_cel_leave.
 */
bool bt_cel_enter(struct bt_cel_evaluation *evaluation);
void bt_cel_leave(struct bt_cel_evaluation *evaluation);
/**
 * Calls bt_cel_regex_find and charges the work of the search. false: there is no match, or the
 * limit is exceeded and the evaluation stops.
 */
bool bt_cel_search(struct bt_cel_evaluation *evaluation, const struct bt_cel_regex *regex,
	struct bt_str text, uint32_t from, uint32_t *out_start, uint32_t *out_end);
/** Makes an error value with its text in the arena. */
BT_PRINTF(2, 3)
struct bt_cel_value bt_cel_fail(struct bt_cel_evaluation *evaluation, const char *format, ...);
/** Makes the error `no such overload: f(int, kubernetes.Semver)`. */
struct bt_cel_value bt_cel_no_overload(struct bt_cel_evaluation *evaluation, struct bt_str function,
	const struct bt_cel_value *arguments, uint32_t count);

/* evaluate.c */

/**
 * Returns the result of isGreaterThan, isLessThan or compareTo, depending on the call's variant.
 * order: negative, 0 or positive, if the target is less than, equal to or greater than the
 * argument.
 */
struct bt_cel_value bt_cel_answer_order(const struct bt_cel_call *call, int order);
/**
 * Makes a value of a kind that is stored behind a pointer: copies the content into the arena. If a
 * limit is exceeded, returns evaluation->stop.
 */
struct bt_cel_value bt_cel_box(struct bt_cel_evaluation *evaluation, enum bt_cel_kind kind,
	const void *content, size_t size);
/** Makes optional.of(value). */
struct bt_cel_value bt_cel_optional(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *value);
/** Makes the error "<prefix><value><suffix>". */
struct bt_cel_value bt_cel_fail_with(struct bt_cel_evaluation *evaluation, struct bt_str prefix,
	const struct bt_cel_value *value, struct bt_str suffix);

/* equality.c: spec 12b sections 8.4 to 8.6 */

/** The error for two values that bt_cel_compare cannot order. */
struct bt_cel_value bt_cel_not_ordered(
	const struct bt_cel_value *left, const struct bt_cel_value *right);

/** Evaluates left == right: true, false, or an error. */
struct bt_cel_value bt_cel_equal(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *left, const struct bt_cel_value *right);
/** Whether left == right is true; charges no units, only work. */
bool bt_cel_is_equal(struct bt_cel_evaluation *evaluation, const struct bt_cel_value *left,
	const struct bt_cel_value *right);
/** Sets *out_order to -1, 0 or 1. false: the values cannot be compared, or one of them is NaN. */
bool bt_cel_compare(
	const struct bt_cel_value *left, const struct bt_cel_value *right, int *out_order);
/** Call before bt_cel_map_find: charges the work of comparing all keys. false: limit exceeded. */
bool bt_cel_charge_find(struct bt_cel_evaluation *evaluation, const struct bt_cel_map *map,
	const struct bt_cel_value *key);
/**
 * Returns the value of a key. NULL: the map lacks the key. Numbers of different kinds are the same
 * key if they are equal. The function does not use map->missing.
 */
const struct bt_cel_value *bt_cel_map_find(
	const struct bt_cel_map *map, const struct bt_cel_value *key);

/* semver.c: spec 12b section 9.8; also used for device attributes that are versions */

/**
 * Parses a version. is_normalised: parse as semver(s, true) does. The result borrows text, or a
 * normalised copy of text in the arena. err has the messages of spec 12b section 9.8.
 */
BT_MUST_USE int bt_cel_semver_parse(struct bt_str text, bool is_normalised, struct bt_arena *arena,
	struct bt_cel_semver *out_version, struct berth_error *err);
int bt_cel_semver_compare(const struct bt_cel_semver *a, const struct bt_cel_semver *b);

/*
 * functions_format.c: clauses of string.format, used by the function and by the validator. Spec:
 * 12b section 9.2.
 */

/** A clause: %, an optional .N, and a letter of "sdfeboxX". */
struct bt_cel_format_clause {
	char verb;
	int precision;
};

/**
 * Reads the next part of the format and advances *at. If the part is a text, *out_text is this text
 * ("%" for "%%"). If the part is a clause, *out_text is empty, and *at is behind the "%"; the
 * caller then calls bt_cel_format_parse. false: the format has no more parts.
 */
bool bt_cel_format_next(struct bt_str format, uint32_t *at, struct bt_str *out_text);
/** Parses the clause behind a % and advances *at. false: *out_failure is the error. */
bool bt_cel_format_parse(struct bt_cel_evaluation *evaluation, struct bt_str format, uint32_t *at,
	struct bt_cel_format_clause *out_clause, struct bt_cel_value *out_failure);
/**
 * Returns the message for a clause that rejects values of the kind; the caller appends the name of
 * the kind. NULL: the clause accepts these values.
 */
const char *bt_cel_format_refusal(char verb, enum bt_cel_kind kind);

/* Spec: 12b section 9. */
#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, charge_, code_, variant_) \
	struct bt_cel_value bt_cel_fn_##code_(const struct bt_cel_call *call);
#define BT_CEL_OWN(name_, style_, signature_)
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN

/**
 * For sort and the macro sortBy: returns the list sorted by keys, and charges the units of the
 * call. keys->items[i] is the key of list->items[i].
 */
struct bt_cel_value bt_cel_sort(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_list *list, const struct bt_cel_list *keys);

/* ip.c: parses and prints addresses and networks as Go's net/netip does. Spec: 12b section 9.9. */

/**
 * Parses an address. err: for example `ParseAddr("x"): unable to parse IP`. *out_has_zone: the text
 * ends with a zone ("%eth0"), which the result omits.
 */
BT_MUST_USE int bt_cel_ip_parse(
	struct bt_str text, struct bt_cel_ip *out_ip, bool *out_has_zone, struct berth_error *err);
/**
 * Parses a network. err: for example `netip.ParsePrefix("x"): no '/'`. Bits after the prefix are
 * kept.
 */
BT_MUST_USE int bt_cel_cidr_parse(
	struct bt_str text, struct bt_cel_cidr *out_cidr, struct berth_error *err);

void bt_cel_ip_print(const struct bt_cel_ip *ip, struct bt_strbuf *out);
void bt_cel_cidr_print(const struct bt_cel_cidr *cidr, struct bt_strbuf *out);

/*
 * url.c: parses URLs as Go's url.ParseRequestURI does: absolute paths and absolute URIs. Spec: 12b
 * section 9.6.
 */

struct bt_cel_url {
	struct bt_str text;   /* the source, scheme in lower case */
	struct bt_str scheme; /* lower case; "": a path without scheme */
	struct bt_str host;   /* with the port, unescaped */
	struct bt_str path;   /* as in the source */
	struct bt_str query;  /* the part after "?" */
};

/**
 * Parses a URL; the result is in the arena. err: for example `parse "x": invalid URI for request`.
 */
BT_MUST_USE int bt_cel_url_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_cel_url *out_url, struct berth_error *err);
#endif
