/* SPDX-License-Identifier: Apache-2.0 */
#include "base/symbol.h"

#include "base/alloc.h"
#include "base/assert.h"

void bt_symbol_table_init(struct bt_symbol_table *table)
{
	struct bt_symbol_entry empty = {.text = bt_strndup("", 0)};

	*table = (struct bt_symbol_table){0};
	/* Symbol 0 is the empty text, which is never looked up by hash. */
	bt_vec_push(&table->entries, empty);
}

void bt_symbol_table_finish(struct bt_symbol_table *table)
{
	bt_vec_finish_each(&table->entries, bt_free(each->text));
	bt_vec_finish(&table->free_ids);
	bt_map_finish(&table->map);
	table->text_bytes = 0;
}

static struct bt_symbol_entry *live_entry(const struct bt_symbol_table *table, bt_sym symbol)
{
	BT_ASSERT(symbol.id < table->entries.count);
	BT_ASSERT(table->entries.items[symbol.id].text != NULL);
	return &table->entries.items[symbol.id];
}

static uint32_t find_id(const struct bt_symbol_table *table, struct bt_str text, uint64_t hash)
{
	BT_MAP_EACH (&table->map, hash, id) {
		const struct bt_symbol_entry *entry = &table->entries.items[id];
		if (bt_str_equal((struct bt_str){entry->text, entry->length}, text)) {
			return id;
		}
	}
	return BT_SYM_NONE.id;
}

bt_sym bt_symbol_ref_str(struct bt_symbol_table *table, struct bt_str text)
{
	if (text.length == 0) {
		return BT_SYM_EMPTY;
	}
	uint64_t hash = bt_str_hash(text);
	uint32_t id = find_id(table, text, hash);
	if (id != BT_SYM_NONE.id) {
		return bt_symbol_ref(table, (bt_sym){id});
	}
	struct bt_symbol_entry entry = (struct bt_symbol_entry){
		.text = bt_strndup(text.data, text.length),
		.length = text.length,
		.ref_count = 1,
	};
	bt_vec_store(&table->entries, &table->free_ids, entry, id);
	bt_map_insert(&table->map, hash, id);
	table->text_bytes += (size_t)text.length + 1;
	return (bt_sym){id};
}

bt_sym bt_symbol_ref(struct bt_symbol_table *table, bt_sym symbol)
{
	if (bt_sym_is_none(symbol) || symbol.id == BT_SYM_EMPTY.id) {
		return symbol;
	}
	struct bt_symbol_entry *entry = live_entry(table, symbol);
	BT_ASSERT(entry->ref_count < UINT32_MAX);
	entry->ref_count++;
	return symbol;
}

void bt_symbol_unref(struct bt_symbol_table *table, bt_sym symbol)
{
	if (bt_sym_is_none(symbol) || symbol.id == BT_SYM_EMPTY.id) {
		return;
	}
	struct bt_symbol_entry *entry = live_entry(table, symbol);
	if (--entry->ref_count != 0) {
		return;
	}
	struct bt_str text = {entry->text, entry->length};
	bool removed = bt_map_remove(&table->map, bt_str_hash(text), symbol.id);
	BT_ASSERT(removed);
	table->text_bytes -= (size_t)entry->length + 1;
	bt_free(entry->text);
	*entry = (struct bt_symbol_entry){0};
	bt_vec_push(&table->free_ids, symbol.id);
}

bt_sym bt_symbol_find(const struct bt_symbol_table *table, struct bt_str text)
{
	if (text.length == 0) {
		return BT_SYM_EMPTY;
	}
	return (bt_sym){find_id(table, text, bt_str_hash(text))};
}

struct bt_str bt_symbol_text(const struct bt_symbol_table *table, bt_sym symbol)
{
	if (bt_sym_is_none(symbol)) {
		return (struct bt_str){NULL, 0};
	}
	const struct bt_symbol_entry *entry = live_entry(table, symbol);
	return (struct bt_str){entry->text, entry->length};
}
