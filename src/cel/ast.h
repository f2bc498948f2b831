/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_AST_H
#define BT_CEL_AST_H
/**
 * The tree of an expression, between the files of this library: the parser makes it (macros become
 * nodes of their own), the checker writes types and targets into it, the evaluator walks it. All of
 * it lives in the program's arena. Spec: 12b sections 5 to 8.
 */
#include "base/vec.h"
#include "cel/cel.h"

struct bt_cel_overload; /* cel/function.h */
struct bt_cel_regex;    /* cel/regex.h */

/** The most arguments that a row of functions.def has, the target among them. */
#define BT_CEL_ARGUMENTS_MAX 4

enum bt_cel_node_kind {
	BT_CEL_NODE_LITERAL,
	BT_CEL_NODE_IDENTIFIER,
	BT_CEL_NODE_SELECT, /* operand.field, operand.?field, has(operand.field) */
	BT_CEL_NODE_CALL,   /* functions and operators */
	BT_CEL_NODE_LIST,
	BT_CEL_NODE_MAP,
	BT_CEL_NODE_MACRO,
};

/** Operators are calls; their function names are those of spec 12b section 7.3. */
enum bt_cel_operator {
	BT_CEL_OP_NONE, /* a function */
	BT_CEL_OP_OR,   /* any number of operands */
	BT_CEL_OP_AND,  /* likewise */
	BT_CEL_OP_CONDITIONAL,
	BT_CEL_OP_NOT,
	BT_CEL_OP_NEGATE,
	BT_CEL_OP_EQUAL,
	BT_CEL_OP_NOT_EQUAL,
	BT_CEL_OP_LESS,
	BT_CEL_OP_LESS_EQUAL,
	BT_CEL_OP_GREATER,
	BT_CEL_OP_GREATER_EQUAL,
	BT_CEL_OP_IN,
	BT_CEL_OP_ADD,
	BT_CEL_OP_SUBTRACT,
	BT_CEL_OP_MULTIPLY,
	BT_CEL_OP_DIVIDE,
	BT_CEL_OP_MODULO,
	BT_CEL_OP_INDEX,
	BT_CEL_OP_OPTIONAL_INDEX,
	/* The functions or and orValue, whose argument may not be needed; told apart while the
	 * program is made. */
	BT_CEL_OP_OPTIONAL_OR,
	BT_CEL_OP_OPTIONAL_OR_VALUE,
};

enum bt_cel_macro {
	BT_CEL_MACRO_ALL,
	BT_CEL_MACRO_EXISTS,
	BT_CEL_MACRO_EXISTS_ONE,
	BT_CEL_MACRO_MAP, /* condition may be NULL */
	BT_CEL_MACRO_FILTER,
	BT_CEL_MACRO_TRANSFORM_LIST, /* two variables from here on */
	BT_CEL_MACRO_TRANSFORM_MAP,
	BT_CEL_MACRO_TRANSFORM_MAP_ENTRY,
	BT_CEL_MACRO_BIND,
	BT_CEL_MACRO_OPT_MAP,
	BT_CEL_MACRO_OPT_FLAT_MAP,
	BT_CEL_MACRO_SORT_BY,
};

/** What an identifier names; set by the checker. */
enum bt_cel_reference {
	BT_CEL_REFERENCE_VARIABLE, /* of the environment, by index */
	BT_CEL_REFERENCE_LOCAL,    /* of a macro, by slot */
	BT_CEL_REFERENCE_TYPE,     /* a type's name: type_value */
};

struct bt_cel_node {
	enum bt_cel_node_kind kind;
	uint32_t position; /* of messages: code points from the start (spec 12b section 7.7) */
	/** Levels from here down, 1 for a leaf: at most BT_CEL_DEPTH_MAX, chains like a + a + a
	 * included, so that a walk over the tree may recurse. Set by the parser. */
	uint32_t height;
	const struct bt_cel_type *type; /* set by the checker; NULL in a program */
	/** Not NULL: what it is whatever the variables are, and the units that asking for it uses;
	 * set while the program is made. */
	const struct bt_cel_value *constant;
	uint32_t constant_cost;
	union {
		struct bt_cel_value literal;
		struct {
			struct bt_str name; /* dotted when the checker found it so */
			bool is_rooted;     /* written with a leading dot */
			enum bt_cel_reference reference;
			uint32_t index;
			const struct bt_cel_type *type_value;
		} identifier;
		struct {
			struct bt_cel_node *operand;
			struct bt_str field;
			bool is_test;     /* has() */
			bool is_optional; /* .? */
		} select;
		struct {
			enum bt_cel_operator operator_;
			bool is_rooted;
			struct bt_str function;
			struct bt_cel_node *target;     /* of a member call; NULL: global */
			struct bt_cel_node **arguments; /* without the target */
			uint32_t count;
			/** Set by the checker: those that may apply, at least one for a function.
			 */
			const struct bt_cel_overload **overloads;
			uint32_t overload_count;
			/** By overload and argument (the target first), likewise: the kind that it
			 * asks for; BT_CEL_DYN: any. */
			const uint8_t (*kinds)[BT_CEL_ARGUMENTS_MAX];
			/** Set while the program is made: of a constant pattern; owned by the
			 * program. */
			struct bt_cel_regex *regex;
			/** IN: the list is a literal of constants (spec 12b section 8.5); set while
			 * the program is made. */
			bool in_constants;
		} call;
		struct {
			struct bt_cel_node **items;
			bool *is_optional; /* by item; NULL: none is */
			uint32_t count;
		} list;
		struct {
			struct bt_cel_node **keys;
			struct bt_cel_node **values;
			bool *is_optional;
			uint32_t count;
			/** Of `Name{field: value}`, whose keys are texts; absent: a map. */
			struct bt_str type_name;
		} map;
		struct {
			enum bt_cel_macro macro;
			bool has_two_variables;
			struct bt_str names[2];
			uint32_t slots[2];         /* of locals; set by the checker */
			struct bt_cel_node *range; /* BIND: the value; OPT_*: the optional */
			struct bt_cel_node
				*condition; /* ALL, EXISTS, EXISTS_ONE, FILTER; MAP...: or NULL */
			struct bt_cel_node *result; /* of the others */
		} macro;
	};
};

/** ast.c. The nodes below one, in the order of the text (target, arguments; operand; keys and
 * values in pairs; range, condition, result), those that are absent left out. NULL: no more. */
struct bt_cel_node *bt_cel_node_child(const struct bt_cel_node *node, uint32_t index);

/** The place of an issue that has none. */
#define BT_CEL_NOWHERE UINT32_MAX

/** Complaints about an expression, with their places. */
struct bt_cel_issue {
	uint32_t position;
	uint32_t order;        /* of their coming; among issues of one position */
	struct bt_str message; /* in the arena */
};

struct bt_cel_issues {
	struct bt_str source;
	struct bt_arena *arena;
	BT_VEC(struct bt_cel_issue) items; /* on the heap: the owner calls bt_vec_finish */
};

BT_PRINTF(3, 4)
void bt_cel_issue_add(struct bt_cel_issues *issues, uint32_t position, const char *format, ...);
/** Sorted by position, BT_CEL_NOWHERE first, each with its source line and a caret; spec 12b
 * section 7.7. */
void bt_cel_issues_format(struct bt_cel_issues *issues, struct bt_strbuf *out);

/**
 * parser.c. NULL with issues added when the text is no expression. The tree lives in the arena,
 * with the copy of the source that it points into.
 */
struct bt_cel_node *bt_cel_parse(
	struct bt_str source, struct bt_arena *arena, struct bt_cel_issues *issues);
/** estimate.c: units of a checked tree, at worst. */
uint64_t bt_cel_estimate(const struct bt_cel_node *node);
/** macros.c: a call that is a macro becomes one, in its place; any other stays what it is. */
void bt_cel_macro_expand(struct bt_cel_node *call, struct bt_cel_issues *issues);
/**
 * checker.c. false with issues added. What it finds out is written into the tree and lives in the
 * arena, except types: those in the scratch arena, for the validators and the test of the result,
 * not for the program. *out_local_count: slots that an evaluation needs.
 */
bool bt_cel_check(struct bt_cel_node *root, const struct bt_cel_environment *environment,
	struct bt_arena *arena, struct bt_arena *scratch, struct bt_cel_issues *issues,
	uint32_t *out_local_count);
#endif
