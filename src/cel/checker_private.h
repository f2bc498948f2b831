/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_CHECKER_PRIVATE_H
#define BT_CEL_CHECKER_PRIVATE_H
/** The type checker, between its files. Spec: 12b section 7. */
#include "cel/inference.h"

/** Overloads of one name and style, at most. */
#define BT_CEL_OVERLOADS_MAX 16
/** Issues after which nothing more is looked at; 100 are shown. */
#define BT_CEL_ISSUES_MAX 1000

/** A variable of a macro. */
struct bt_cel_scope {
	struct bt_str name;
	const struct bt_cel_type *type;
	uint32_t slot;
};

struct bt_cel_checker {
	struct bt_cel_inference inference; /* in the scratch arena */
	struct bt_arena *arena;            /* of the tree */
	const struct bt_cel_environment *environment;
	struct bt_cel_issues *issues;
	BT_VEC(struct bt_cel_scope) scopes; /* innermost last */
	uint32_t slot_count;
	struct bt_strbuf text; /* of a type, for messages */
};

/** A function and the types that it is called with, the target of a member call first. */
struct bt_cel_application {
	struct bt_str function;
	enum bt_cel_style style;
	const struct bt_cel_type *const *arguments;
	uint32_t count;
	uint32_t position;
};

struct bt_cel_resolution {
	const struct bt_cel_type *result;
	const struct bt_cel_overload *overloads[BT_CEL_OVERLOADS_MAX];
	uint8_t kinds[BT_CEL_OVERLOADS_MAX][BT_CEL_ARGUMENTS_MAX];
	uint32_t count;
};

/* checker.c */

/** The type of a node, which is written into it, and its issues. Never NULL. */
const struct bt_cel_type *bt_cel_check_node(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
/** `expected type 'bool' but found 'int'`; parameters are printed as such, also bound ones. */
void bt_cel_report_type(struct bt_cel_issues *issues, uint32_t position,
	const struct bt_cel_type *expected, const struct bt_cel_type *found);
/** The same, and false, unless the type of the node, which was checked, can be used as bool. */
bool bt_cel_expect_bool(struct bt_cel_checker *checker, const struct bt_cel_node *node);
/** The text of a type with bound parameters replaced and free ones printed as dyn, valid until the
 * next call. */
struct bt_str bt_cel_type_text(struct bt_cel_checker *checker, const struct bt_cel_type *type);
/** The type in an optional, or the type itself. */
const struct bt_cel_type *bt_cel_unwrap_optional(
	struct bt_cel_checker *checker, const struct bt_cel_type *type, bool *out_is_optional);
/** A dotted name, when the node is one ("ip", "google.protobuf.Duration"): written to buffer of
 * BT_CEL_DOTTED_NAME_MAX bytes. Absent: it is none, or longer than all names that exist. */
#define BT_CEL_DOTTED_NAME_MAX 64
struct bt_str bt_cel_dotted_name(const struct bt_cel_node *node, char *buffer, bool *out_is_rooted);

/* checker_call.c */

const struct bt_cel_type *bt_cel_check_call(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
/** false, with an issue: no overload takes these types, or there is no such function. */
bool bt_cel_resolve(struct bt_cel_checker *checker, const struct bt_cel_application *application,
	struct bt_cel_resolution *out_resolution);

/* checker_macro.c */

const struct bt_cel_type *bt_cel_check_macro(
	struct bt_cel_checker *checker, struct bt_cel_node *node);
#endif
