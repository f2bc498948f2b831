/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_PROGRAM_H
#define BT_CEL_PROGRAM_H
/** What a compiled expression consists of, between the files of this library. */
#include "cel/ast.h"

struct bt_cel_program {
	struct bt_arena arena; /* the tree and everything in it */
	struct bt_cel_node *root;
	const struct bt_cel_environment *environment;
	uint32_t local_count;
	BT_VEC(struct bt_cel_regex *) regexes; /* of constant patterns; owned */
	size_t pattern_bytes;                  /* that it took to compile those and others */
};

/**
 * prepare.c: the last step of a compilation, on a tree that was checked: constants are folded,
 * constant patterns compiled, fields of the device resolved. err: `program instantiation failed:
 * ...` (spec 12b section 11). The program is destroyed by the caller either way.
 */
BT_MUST_USE int bt_cel_program_prepare(struct bt_cel_program *program, struct berth_error *err);
/** Releases what prepare made; the arena is the caller's. */
void bt_cel_program_release(struct bt_cel_program *program);
#endif
