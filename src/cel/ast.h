/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_AST_H
#define BT_CEL_AST_H
/**
 * The syntax tree of an expression, shared by the files of this library: the parser makes the tree
 * (macros become macro nodes), the checker writes types and overloads into the tree, the evaluator
 * walks the tree. The whole tree lives in the program's arena. Spec: 12b sections 5 to 8.
 */
#include "base/vec.h"
#include "cel/cel.h"

struct bt_cel_overload; /* cel/function.h */
struct bt_cel_regex;    /* cel/regex.h */

/** Maximum number of arguments of a row in functions.def, target included. */
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
	BT_CEL_OP_AND,  /* any number of operands */
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
	/*
	 * The functions `or` and `orValue`, which evaluate the argument only if the target is
	 * optional.none(). A call of one of these functions gets its operator when the program
	 * is made; until then its operator is BT_CEL_OP_NONE.
	 */
	BT_CEL_OP_OPTIONAL_OR,
	BT_CEL_OP_OPTIONAL_OR_VALUE,
};

enum bt_cel_macro {
	BT_CEL_MACRO_ALL,
	BT_CEL_MACRO_EXISTS,
	BT_CEL_MACRO_EXISTS_ONE,
	BT_CEL_MACRO_MAP, /* condition may be NULL */
	BT_CEL_MACRO_FILTER,
	BT_CEL_MACRO_TRANSFORM_LIST, /* the TRANSFORM macros always have two variables */
	BT_CEL_MACRO_TRANSFORM_MAP,
	BT_CEL_MACRO_TRANSFORM_MAP_ENTRY,
	BT_CEL_MACRO_BIND,
	BT_CEL_MACRO_OPT_MAP,
	BT_CEL_MACRO_OPT_FLAT_MAP,
	BT_CEL_MACRO_SORT_BY,
};

/** What an identifier names; set by the checker. */
enum bt_cel_reference {
	BT_CEL_REFERENCE_VARIABLE, /* a variable of the environment, by index */
	BT_CEL_REFERENCE_LOCAL,    /* a variable of a macro, by slot */
	BT_CEL_REFERENCE_TYPE,     /* the name of the type type_value */
};

struct bt_cel_node {
	enum bt_cel_node_kind kind;
	uint32_t position; /* code points before the node, for messages (spec 12b section 7.7) */
	/**
	 * Height of the subtree; a leaf has height 1. Set by the parser. The height is at most
	 * BT_CEL_DEPTH_MAX, even for chains like a + a + a, so tree walks may recurse.
	 */
	uint32_t height;
	const struct bt_cel_type *type; /* set by the checker; NULL after compilation */
	/**
	 * The value of a literal, or of a node that was evaluated when the program was made. NULL:
	 * the node is not constant. Set when the program is made, together with constant_cost: the
	 * units that an evaluation charges for reading the value.
	 */
	const struct bt_cel_value *constant;
	uint32_t constant_cost;
	union {
		struct bt_cel_value literal;
		struct {
			struct bt_str name; /* dotted if the checker resolved a dotted name */
			bool is_rooted;     /* written with a leading dot */
			enum bt_cel_reference reference;
			uint32_t index;
			const struct bt_cel_type *type_value;
		} identifier;
		struct {
			struct bt_cel_node *operand;
			struct bt_str field;
			bool is_test;     /* has(operand.field) */
			bool is_optional; /* operand.?field */
		} select;
		struct {
			enum bt_cel_operator operator_;
			bool is_rooted;
			struct bt_str function;
			struct bt_cel_node *target;     /* member call; NULL: global */
			struct bt_cel_node **arguments; /* without the target */
			uint32_t count;
			/** Set by the checker: candidate overloads, at least one for a function. */
			const struct bt_cel_overload **overloads;
			uint32_t overload_count;
			/**
			 * Set by the checker: the kind that each overload requires of each argument
			 * (target first); BT_CEL_DYN: any kind.
			 */
			const uint8_t (*kinds)[BT_CEL_ARGUMENTS_MAX];
			/**
			 * The compiled pattern of the call. NULL: the call has no pattern, or the
			 * pattern is not constant. Owned by the program; set when the program is
			 * made.
			 */
			struct bt_cel_regex *regex;
			/**
			 * For BT_CEL_OP_IN: whether the right operand is a list of constants (spec
			 * 12b section 8.5). Set when the program is made.
			 */
			bool in_constants;
		} call;
		struct {
			struct bt_cel_node **items;
			bool *is_optional; /* by item; NULL: no item is optional */
			uint32_t count;
		} list;
		struct {
			struct bt_cel_node **keys;
			struct bt_cel_node **values;
			bool *is_optional;
			uint32_t count;
			/**
			 * Type name of an object literal `Name{field: value}`, whose keys are
			 * texts. Absent: the node is a map literal.
			 */
			struct bt_str type_name;
		} map;
		struct {
			enum bt_cel_macro macro;
			bool has_two_variables;
			struct bt_str names[2];
			uint32_t slots[2]; /* slot of each variable; set by the checker */
			/**
			 * The list or map that the macro iterates over. BIND: the value of the
			 * variable. OPT_*: the optional.
			 */
			struct bt_cel_node *range;
			/**
			 * The condition of ALL, EXISTS, EXISTS_ONE and FILTER. MAP and TRANSFORM_*
			 * may have a condition. NULL: no condition.
			 */
			struct bt_cel_node *condition;
			/** The result expression; NULL for ALL, EXISTS, EXISTS_ONE and FILTER. */
			struct bt_cel_node *result;
		} macro;
	};
};

/**
 * ast.c. Returns child number index of a node; NULL: there are no more children. Order of the
 * children: target and arguments of a call; operand of a select; items of a list; keys and values
 * of a map in pairs; range, condition and result of a macro. Absent children are skipped.
 */
struct bt_cel_node *bt_cel_node_child(const struct bt_cel_node *node, uint32_t index);

/** Position of an issue that concerns the expression as a whole. */
#define BT_CEL_NOWHERE UINT32_MAX

/** An error in an expression. */
struct bt_cel_issue {
	uint32_t position;
	uint32_t order;        /* order of reporting, for issues at the same position */
	struct bt_str message; /* in the arena */
};

struct bt_cel_issues {
	struct bt_str source;
	struct bt_arena *arena;
	BT_VEC(struct bt_cel_issue) items; /* on the heap: the owner calls bt_vec_finish */
};

BT_PRINTF(3, 4)
void bt_cel_issue_add(struct bt_cel_issues *issues, uint32_t position, const char *format, ...);
/**
 * Formats all issues sorted by position, BT_CEL_NOWHERE first, each with its source line and a
 * caret; spec 12b section 7.7.
 */
void bt_cel_issues_format(struct bt_cel_issues *issues, struct bt_strbuf *out);

/**
 * parser.c. Returns the root of the tree. NULL: the source has a syntax error or exceeds a limit,
 * and the function has added issues. The tree lives in the arena, together with a copy of the
 * source that the tree refers to.
 */
struct bt_cel_node *bt_cel_parse(
	struct bt_str source, struct bt_arena *arena, struct bt_cel_issues *issues);
/** estimate.c: returns the worst-case cost of a checked tree, in units. */
uint64_t bt_cel_estimate(const struct bt_cel_node *node);
/** macros.c: replaces a call that is a macro by a macro node; leaves other calls unchanged. */
void bt_cel_macro_expand(struct bt_cel_node *call, struct bt_cel_issues *issues);
/**
 * checker.c. Returns false and adds issues on a type error. Writes types and overloads into the
 * tree. The types live in the scratch arena; the caller frees this arena only after the validators
 * and the check of the result type have run. Everything else lives in the arena. *out_local_count:
 * number of slots for macro variables that an evaluation needs.
 */
bool bt_cel_check(struct bt_cel_node *root, const struct bt_cel_environment *environment,
	struct bt_arena *arena, struct bt_arena *scratch, struct bt_cel_issues *issues,
	uint32_t *out_local_count);
#endif
