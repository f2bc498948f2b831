/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities and lists of them: the exact side of include/berth/resource.h. */
#include <string.h>

#include "api/resources.h"
#include "base/assert.h"
#include "lib/convert.h"
#include "lib/resource.h"

static struct bt_quantity inside_of(const berth_quantity *quantity)
{
	return (struct bt_quantity){
		.text = quantity->text,
		.mantissa = quantity->mantissa,
		.big = quantity->big,
		.exponent = quantity->exponent,
		.format = quantity->format,
	};
}

static berth_quantity outside_of(const struct bt_quantity *quantity)
{
	return (berth_quantity){
		.text = quantity->text,
		.mantissa = quantity->mantissa,
		.big = quantity->big,
		.exponent = quantity->exponent,
		.format = quantity->format,
	};
}

int berth_quantity_parse(struct berth_str text, struct berth_arena *arena,
	berth_quantity *out_quantity, struct berth_error *err)
{
	struct bt_quantity quantity = {0};
	int result =
		bt_quantity_parse(berth_arena_str(arena, text), bt_arena_of(arena), &quantity, err);

	if (result == BERTH_OK) {
		*out_quantity = outside_of(&quantity);
	}
	return result;
}

berth_quantity berth_quantity_make(
	int64_t value, int32_t exponent, enum berth_quantity_format format)
{
	return (berth_quantity){.mantissa = value, .exponent = exponent, .format = (uint8_t)format};
}

int64_t berth_quantity_value(const berth_quantity *quantity)
{
	struct bt_quantity inside = inside_of(quantity);

	return bt_quantity_value(&inside);
}

int64_t berth_quantity_milli_value(const berth_quantity *quantity)
{
	struct bt_quantity inside = inside_of(quantity);

	return bt_quantity_milli(&inside);
}

int berth_quantity_compare(const berth_quantity *a, const berth_quantity *b)
{
	struct bt_quantity left = inside_of(a);
	struct bt_quantity right = inside_of(b);

	return bt_quantity_compare(&left, &right);
}

struct berth_str berth_quantity_string(const berth_quantity *quantity, struct berth_arena *arena)
{
	struct bt_quantity inside = inside_of(quantity);
	struct bt_strbuf text = {0};

	bt_quantity_format(&inside, &text);

	struct berth_str result = berth_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

/* --- lists --- */

struct berth_resource_list *berth_resource_list_create(struct berth_arena *arena)
{
	struct bt_resource_list *list = BT_ARENA_NEW(bt_arena_of(arena), struct bt_resource_list);

	list->present = true;
	return berth_resource_list_of(list);
}

/** Room for one entry more. The room of a list follows from its count: the next power of two. */
static void reserve(struct bt_resource_list *list, struct bt_arena *arena)
{
	struct bt_resource_entry *items;

	if ((list->count & (list->count - 1)) != 0) {
		return;
	}
	BT_ASSERT(list->count < UINT32_MAX / 2);
	items = BT_ARENA_NEW_ARRAY(
		arena, struct bt_resource_entry, list->count == 0 ? 1 : (size_t)list->count * 2);
	if (list->count != 0) {
		memcpy(items, list->items, list->count * sizeof(*items));
	}
	list->items = items;
}

void berth_resource_list_set(struct berth_resource_list *list, struct berth_str name,
	berth_quantity quantity, struct berth_arena *arena)
{
	struct bt_resource_list *inside = bt_resource_list_of(list);
	/* Index of the first entry whose name is not below name. */
	uint32_t at = 0;
	uint32_t high = inside->count;

	while (at < high) {
		uint32_t middle = at + (high - at) / 2;

		if (bt_str_compare(inside->items[middle].name, name) < 0) {
			at = middle + 1;
		} else {
			high = middle;
		}
	}

	if (at == inside->count || !bt_str_equal(inside->items[at].name, name)) {
		reserve(inside, bt_arena_of(arena));
		memmove(&inside->items[at + 1], &inside->items[at],
			(inside->count - at) * sizeof(*inside->items));
		inside->items[at].name = berth_arena_str(arena, name);
		inside->count++;
	}
	inside->items[at].quantity = inside_of(&quantity);
}

uint32_t berth_resource_list_count(const struct berth_resource_list *list)
{
	return list != NULL ? bt_const_resource_list_of(list)->count : 0;
}

void berth_resource_list_at(const struct berth_resource_list *list, uint32_t index,
	struct berth_str *out_name, berth_quantity *out_quantity)
{
	const struct bt_resource_list *inside = bt_const_resource_list_of(list);

	BT_ASSERT(index < inside->count);
	if (out_name != NULL) {
		*out_name = inside->items[index].name;
	}
	if (out_quantity != NULL) {
		*out_quantity = outside_of(&inside->items[index].quantity);
	}
}

bool berth_resource_list_find(
	const struct berth_resource_list *list, struct berth_str name, berth_quantity *out_quantity)
{
	const struct bt_quantity *quantity =
		list != NULL ? bt_resource_list_find(bt_const_resource_list_of(list), name) : NULL;

	if (quantity == NULL) {
		return false;
	}
	if (out_quantity != NULL) {
		*out_quantity = outside_of(quantity);
	}
	return true;
}

const struct berth_resource_list *berth_node_allocatable(const struct berth_node *node)
{
	return berth_const_resource_list_of(&bt_const_node_of(node)->status.allocatable);
}

const struct berth_resource_list *berth_pod_requests(
	const struct berth_pod *pod, struct berth_arena *arena)
{
	static const struct bt_request_options options = {
		.use_status = true, .use_pod_status = true};
	struct bt_resource_list *list = BT_ARENA_NEW(bt_arena_of(arena), struct bt_resource_list);

	*list = bt_pod_requests(bt_const_pod_of(pod), &options, bt_arena_of(arena));
	return berth_const_resource_list_of(list);
}
