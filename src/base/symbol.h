/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_SYMBOL_H
#define BT_BASE_SYMBOL_H
/**
 * Symbol table: stores each distinct text once and identifies the text by a small integer. Symbols
 * are reference counted, because users can choose texts (label values, pod names): when the last
 * reference is released, the text is freed and the number is reused. Only the owner's thread may
 * use the table.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct {
	uint32_t id;
} bt_sym;

/** Symbol of the empty text; always present, not reference counted. */
#define BT_SYM_EMPTY ((bt_sym){0})
/** No symbol (absent label, text that is not interned). */
#define BT_SYM_NONE ((bt_sym){UINT32_MAX})

struct bt_symbol_entry {
	char *text; /* zero-terminated; NULL when the number is free */
	uint32_t length;
	uint32_t ref_count;
};

_Static_assert(sizeof(struct bt_symbol_entry) == 16, "each text has one");

struct bt_symbol_table {
	struct bt_map map;
	BT_VEC(struct bt_symbol_entry) entries;
	BT_VEC(uint32_t) free_ids;
	size_t text_bytes;
};

void bt_symbol_table_init(struct bt_symbol_table *table);
void bt_symbol_table_finish(struct bt_symbol_table *table);

/** Interns text and takes a reference. */
bt_sym bt_symbol_ref_str(struct bt_symbol_table *table, struct bt_str text);
/** Takes another reference and returns symbol; BT_SYM_NONE and BT_SYM_EMPTY are accepted. */
bt_sym bt_symbol_ref(struct bt_symbol_table *table, bt_sym symbol);
/** Releases a reference; BT_SYM_NONE and BT_SYM_EMPTY are accepted. */
void bt_symbol_unref(struct bt_symbol_table *table, bt_sym symbol);
/** Returns the symbol of text without taking a reference; BT_SYM_NONE if text is not interned. */
bt_sym bt_symbol_find(const struct bt_symbol_table *table, struct bt_str text);
/**
 * Returns the text of a symbol, borrowed while a reference is held; absent for BT_SYM_NONE. The
 * text does not move while the symbol exists.
 */
struct bt_str bt_symbol_text(const struct bt_symbol_table *table, bt_sym symbol);

static inline bool bt_sym_equal(bt_sym a, bt_sym b)
{
	return a.id == b.id;
}

static inline bool bt_sym_is_none(bt_sym symbol)
{
	return symbol.id == UINT32_MAX;
}
#endif
