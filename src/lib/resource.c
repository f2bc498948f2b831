/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/resource.h"

#include <string.h>

#include "api/resources.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "base/wrap.h"
#include "lib/aggregate.h"
#include "lib/convert.h"

/*
 * Implements include/berth/resource.h: quantities, lists of quantities, and amounts of resources.
 */

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
	return bt_arena_take_strbuf(bt_arena_of(arena), &text);
}

struct berth_resource_list *berth_resource_list_create(struct berth_arena *arena)
{
	struct bt_resource_list *list = BT_ARENA_NEW(bt_arena_of(arena), struct bt_resource_list);

	list->present = true;
	return berth_resource_list_of(list);
}

void berth_resource_list_set(struct berth_resource_list *list, struct berth_str name,
	berth_quantity quantity, struct berth_arena *arena)
{
	struct bt_resource_list *inside = bt_resource_list_of(list);
	/* index of the first entry whose name is not less than `name` */
	uint32_t at;

	BT_LOWER_BOUND(
		at, inside->count, middle, bt_str_compare(inside->items[middle].name, name) < 0);

	if (at == inside->count || !bt_str_equal(inside->items[at].name, name)) {
		/*
		 * The list does not store its capacity, which is the smallest power of two that is
		 * not less than the count. The array is therefore full if the count is 0 or a power
		 * of two.
		 */
		if ((inside->count & (inside->count - 1)) == 0) {
			BT_ASSERT(inside->count < UINT32_MAX / 2);
			struct bt_resource_entry *items =
				BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct bt_resource_entry,
					inside->count == 0 ? 1 : (size_t)inside->count * 2);
			if (inside->count != 0) {
				memcpy(items, inside->items, inside->count * sizeof(*items));
			}
			inside->items = items;
		}
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

/** Returns the index of the first entry whose name is not less than `name`. */
static uint32_t lower_bound(const struct berth_resource *resource, struct bt_str name)
{
	uint32_t low;

	BT_LOWER_BOUND(low, resource->scalar_count, middle,
		bt_str_compare(resource->scalars[middle].name, name) < 0);
	return low;
}

static const struct berth_scalar_resource *find(
	const struct berth_resource *resource, struct bt_str name)
{
	uint32_t at = lower_bound(resource, name);

	if (at == resource->scalar_count || !bt_str_equal(resource->scalars[at].name, name)) {
		return NULL;
	}
	return &resource->scalars[at];
}

/**
 * Makes an entry with value 0 for each name in fresh that the resource lacks. fresh is sorted by
 * name. Merges from the end, because single insertions take quadratic time for the long lists that
 * a pod may have.
 */
static void make_entries(struct berth_resource *resource, const struct bt_scalar_resource *fresh,
	uint32_t fresh_count)
{
	uint32_t from = resource->scalar_count;
	uint32_t to = from;

	for (uint32_t i = 0; i < fresh_count; i++) {
		to += find(resource, fresh[i].name) == NULL;
	}
	if (to > resource->scalar_capacity) {
		resource->scalar_capacity = bt_vec_grown_capacity(resource->scalar_capacity, to);
		resource->scalars = bt_realloc_array(
			resource->scalars, resource->scalar_capacity, sizeof(*resource->scalars));
	}
	resource->scalar_count = to;
	for (uint32_t i = fresh_count; to > from; i--) {
		struct bt_str name = fresh[i - 1].name;
		int order = 1;

		while (from > 0 &&
			(order = bt_str_compare(resource->scalars[from - 1].name, name)) > 0) {
			resource->scalars[--to] = resource->scalars[--from];
		}
		if (from == 0 || order != 0) {
			resource->scalars[--to] =
				(struct berth_scalar_resource){bt_lib_own_text(name), 0};
		}
	}
}

/**
 * Returns a pointer to the value of the entry with this name. If there is no entry, adds an entry
 * with value 0.
 */
static int64_t *at_name(struct berth_resource *resource, struct bt_str name)
{
	const struct bt_scalar_resource wanted = {.name = name};

	make_entries(resource, &wanted, 1);
	return &resource->scalars[lower_bound(resource, name)].value;
}

void bt_lib_resource_accumulate(
	struct berth_resource *sum, const struct bt_resource *addend, int64_t sign)
{
	uint64_t factor = (uint64_t)sign;

	sum->cpu_milli =
		bt_wrap_add(sum->cpu_milli, (int64_t)(factor * (uint64_t)addend->cpu_milli));
	sum->memory_bytes =
		bt_wrap_add(sum->memory_bytes, (int64_t)(factor * (uint64_t)addend->memory_bytes));
	sum->ephemeral_storage_bytes = bt_wrap_add(sum->ephemeral_storage_bytes,
		(int64_t)(factor * (uint64_t)addend->ephemeral_storage_bytes));
	make_entries(sum, addend->scalars, addend->scalar_count);
	for (uint32_t i = 0; i < addend->scalar_count; i++) {
		int64_t *value = at_name(sum, addend->scalars[i].name);

		*value =
			bt_wrap_add(*value, (int64_t)(factor * (uint64_t)addend->scalars[i].value));
	}
}

void berth_resource_init(struct berth_resource *resource, const struct berth_resource_list *list)
{
	*resource = (struct berth_resource){0};
	berth_resource_add(resource, list);
}

void berth_resource_finish(struct berth_resource *resource)
{
	if (resource == NULL) {
		return;
	}
	for (uint32_t i = 0; i < resource->scalar_count; i++) {
		bt_lib_free_text(resource->scalars[i].name);
	}
	bt_free(resource->scalars);
	*resource = (struct berth_resource){0};
}

void berth_resource_add(struct berth_resource *resource, const struct berth_resource_list *list)
{
	struct bt_arena arena = {0};
	struct bt_resource addend = {0};

	if (resource == NULL || list == NULL) {
		return;
	}
	bt_resource_add(&addend, bt_const_resource_list_of(list), &arena);
	bt_lib_resource_accumulate(resource, &addend, 1);
	resource->allowed_pod_number =
		bt_wrap_add(resource->allowed_pod_number, addend.allowed_pod_number);
	bt_arena_finish(&arena);
}

void berth_resource_set_max(struct berth_resource *resource, const struct berth_resource_list *list)
{
	struct bt_arena arena = {0};
	struct bt_resource other = {0};

	if (resource == NULL || list == NULL) {
		return;
	}
	bt_resource_add(&other, bt_const_resource_list_of(list), &arena);
	resource->cpu_milli = BT_MAX(resource->cpu_milli, other.cpu_milli);
	resource->memory_bytes = BT_MAX(resource->memory_bytes, other.memory_bytes);
	resource->ephemeral_storage_bytes =
		BT_MAX(resource->ephemeral_storage_bytes, other.ephemeral_storage_bytes);
	make_entries(resource, other.scalars, other.scalar_count);
	for (uint32_t i = 0; i < other.scalar_count; i++) {
		int64_t *value = at_name(resource, other.scalars[i].name);

		*value = BT_MAX(*value, other.scalars[i].value);
	}
	bt_arena_finish(&arena);
}

void berth_resource_add_scalar(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	int64_t *entry = at_name(resource, name);

	*entry = bt_wrap_add(*entry, value);
}

void berth_resource_set_scalar(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	*at_name(resource, name) = value;
}

int64_t berth_resource_scalar(const struct berth_resource *resource, struct berth_str name)
{
	const struct berth_scalar_resource *entry = resource != NULL ? find(resource, name) : NULL;

	return entry != NULL ? entry->value : 0;
}

bool berth_resource_has_scalar(const struct berth_resource *resource, struct berth_str name)
{
	return resource != NULL && find(resource, name) != NULL;
}

void berth_resource_clone(const struct berth_resource *resource, struct berth_resource *out_copy)
{
	*out_copy = *resource;
	out_copy->scalars = NULL;
	out_copy->scalar_capacity = resource->scalar_count;
	if (resource->scalar_count == 0) {
		return;
	}
	out_copy->scalars = BT_NEW_ARRAY(struct berth_scalar_resource, resource->scalar_count);
	for (uint32_t i = 0; i < resource->scalar_count; i++) {
		out_copy->scalars[i].name = bt_lib_own_text(resource->scalars[i].name);
		out_copy->scalars[i].value = resource->scalars[i].value;
	}
}

bool berth_resource_equal(const struct berth_resource *a, const struct berth_resource *b)
{
	if (a->cpu_milli != b->cpu_milli || a->memory_bytes != b->memory_bytes ||
		a->ephemeral_storage_bytes != b->ephemeral_storage_bytes ||
		a->allowed_pod_number != b->allowed_pod_number ||
		a->scalar_count != b->scalar_count) {
		return false;
	}
	for (uint32_t i = 0; i < a->scalar_count; i++) {
		if (a->scalars[i].value != b->scalars[i].value ||
			!bt_str_equal(a->scalars[i].name, b->scalars[i].name)) {
			return false;
		}
	}
	return true;
}

const struct berth_resource_list *berth_resource_to_list(
	const struct berth_resource *resource, struct berth_arena *arena)
{
	struct berth_resource_list *list = berth_resource_list_create(arena);

	berth_resource_list_set(list, BT_STR("cpu"),
		berth_quantity_make(resource->cpu_milli, -3, BERTH_QUANTITY_DECIMAL_SI), arena);
	berth_resource_list_set(list, BT_STR("memory"),
		berth_quantity_make(resource->memory_bytes, 0, BERTH_QUANTITY_BINARY_SI), arena);
	berth_resource_list_set(list, BT_STR(BERTH_RESOURCE_NVIDIA_GPU),
		berth_quantity_make(0, 0, BERTH_QUANTITY_DECIMAL_SI), arena);
	berth_resource_list_set(list, BT_STR("pods"),
		berth_quantity_make(resource->allowed_pod_number, 0, BERTH_QUANTITY_BINARY_SI),
		arena);
	berth_resource_list_set(list, BT_STR("ephemeral-storage"),
		berth_quantity_make(resource->ephemeral_storage_bytes, 0, BERTH_QUANTITY_BINARY_SI),
		arena);
	for (uint32_t i = 0; i < resource->scalar_count; i++) {
		struct bt_str name = resource->scalars[i].name;

		berth_resource_list_set(list, name,
			berth_quantity_make(resource->scalars[i].value, 0,
				bt_resource_is_hugepage(name) ? BERTH_QUANTITY_BINARY_SI
							      : BERTH_QUANTITY_DECIMAL_SI),
			arena);
	}
	return list;
}

int64_t berth_resource_nvidia_gpu(const struct berth_resource *resource)
{
	return berth_resource_scalar(resource, BT_STR(BERTH_RESOURCE_NVIDIA_GPU));
}

int64_t berth_resource_extended(const struct berth_resource *resource, struct berth_str name)
{
	return bt_resource_is_hugepage(name) ? 0 : berth_resource_scalar(resource, name);
}

int64_t berth_resource_huge_pages(const struct berth_resource *resource, struct berth_str name)
{
	return bt_resource_is_hugepage(name) ? berth_resource_scalar(resource, name) : 0;
}

void berth_resource_add_extended(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	berth_resource_add_scalar(resource, name, value);
}

void berth_resource_add_huge_pages(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	berth_resource_add_scalar(resource, name, value);
}

void berth_resource_set_extended(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	berth_resource_set_scalar(resource, name, value);
}

void berth_resource_set_huge_pages(
	struct berth_resource *resource, struct berth_str name, int64_t value)
{
	berth_resource_set_scalar(resource, name, value);
}

bool berth_resource_is_extended_name(struct berth_str name)
{
	return bt_resource_is_extended(name);
}

void berth_pod_resource_request(const struct berth_pod *pod, struct berth_resource *out_request)
{
	struct bt_arena arena = {0};
	struct bt_resource request =
		bt_pod_fit_request(bt_const_pod_of(pod), &bt_aggregate_default_gates, &arena);

	*out_request = (struct berth_resource){0};
	bt_lib_resource_accumulate(out_request, &request, 1);
	bt_arena_finish(&arena);
}
