/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_FORMAT_CLAUSE_H
#define BT_CEL_FORMAT_CLAUSE_H
/** Clauses of string.format, for the function and for the validator. Spec: 12b section 9.2. */
#include "cel/function.h"

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
#endif
