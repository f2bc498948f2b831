/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes, fields, optionals. Spec: 12b section 8.3. */
#include <math.h>
#include <string.h>

#include "base/shortest.h"
#include "cel/device.h"
#include "cel/evaluate_private.h"
#include "cel/text.h"

/** As Go prints a value of the language within a message. */
static bool append_value(struct bt_cel_output *output, const struct bt_cel_value *value)
{
	struct bt_strbuf number = {0};
	bool is_done;

	if (value->kind == BT_CEL_STRING) {
		return bt_cel_output_append(output, value->text);
	}
	if (value->kind != BT_CEL_DOUBLE) {
		return bt_cel_output_value(output, value);
	}
	bt_shortest_append_general(&number, value->real);
	is_done = bt_cel_output_append(output, bt_strbuf_str(&number));
	bt_strbuf_finish(&number);
	return is_done;
}

struct bt_cel_value bt_cel_fail_with(struct bt_cel_evaluation *evaluation, struct bt_str prefix,
	const struct bt_cel_value *value, struct bt_str suffix)
{
	struct bt_cel_output output = {.evaluation = evaluation};
	struct bt_cel_value result;

	(void)(bt_cel_output_append(&output, prefix) && append_value(&output, value) &&
		bt_cel_output_append(&output, suffix));
	result = bt_cel_output_finish(&output);
	result.kind = BT_CEL_ERROR;
	return result;
}

/** The usual case of a wrong key, without a buffer between. */
static struct bt_cel_value no_such_key(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *key)
{
	const struct bt_str prefix = BT_STR("no such key: ");
	uint64_t length = (uint64_t)prefix.length + key->text.length;
	char *text;

	if (key->kind != BT_CEL_STRING) {
		return bt_cel_fail_with(evaluation, prefix, key, BT_STR(""));
	}
	text = bt_cel_alloc(evaluation, length, 1);
	if (text == NULL) {
		return evaluation->stop;
	}
	memcpy(text, prefix.data, prefix.length);
	if (key->text.length != 0) {
		memcpy(text + prefix.length, key->text.data, key->text.length);
	}
	return bt_cel_error((struct bt_str){text, (uint32_t)length});
}

/** What a map or the device has; NULL: nothing, or another kind. */
static const struct bt_cel_value *member(
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	const struct bt_cel_value *found;

	if (container->kind == BT_CEL_DEVICE) {
		const struct bt_cel_device_field_info *fields = bt_cel_device_fields(false);

		for (uint32_t i = 0; key->kind == BT_CEL_STRING && i < BT_CEL_DEVICE_FIELD__COUNT;
			i++) {
			if (bt_str_equal_c(key->text, fields[i].name)) {
				return &container->fields[i];
			}
		}
		return NULL;
	}
	if (container->kind != BT_CEL_MAP) {
		return NULL;
	}
	found = bt_cel_map_find(container->map, key);
	return found != NULL ? found : container->map->missing;
}

/** A number as an index; false: it has a fraction. Beyond every list: -1. */
static bool index_of(const struct bt_cel_value *key, int64_t *out_index)
{
	if (key->kind == BT_CEL_INT) {
		*out_index = key->integer;
	} else if (key->kind == BT_CEL_UINT) {
		*out_index = key->uinteger <= INT64_MAX ? (int64_t)key->uinteger : -1;
	} else if (!(trunc(key->real) == key->real)) {
		return false;
	} else {
		*out_index = fabs(key->real) < 0x1p62 ? (int64_t)key->real : -1;
	}
	return true;
}

struct bt_cel_value bt_cel_lookup(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	const struct bt_cel_value *found;

	if (container->kind == BT_CEL_OPTIONAL) {
		return bt_cel_lookup_optional(evaluation, container, key);
	}
	if (container->kind == BT_CEL_LIST) {
		struct bt_cel_list list = container->list;
		int64_t index;

		if (!bt_cel_is_number(key)) {
			return bt_cel_fail(evaluation, "unsupported index type '%s' in list",
				bt_cel_kind_name(key->kind));
		}
		if (!index_of(key, &index)) {
			return bt_cel_fail_with(evaluation, BT_STR("unsupported index value "), key,
				BT_STR(" in list"));
		}
		if (index < 0 || index >= list.count) {
			return bt_cel_fail_with(
				evaluation, BT_STR("index out of bounds: "), key, BT_STR(""));
		}
		return list.items[index];
	}
	if (container->kind == BT_CEL_MAP && !bt_cel_charge_find(evaluation, container->map, key)) {
		return evaluation->stop;
	}
	found = member(container, key);
	return found != NULL ? *found : no_such_key(evaluation, key);
}

struct bt_cel_value bt_cel_optional(
	struct bt_cel_evaluation *evaluation, const struct bt_cel_value *value)
{
	struct bt_cel_value *content = bt_cel_alloc(evaluation, 1, sizeof(*content));

	if (content == NULL) {
		return evaluation->stop;
	}
	*content = *value;
	return (struct bt_cel_value){.kind = BT_CEL_OPTIONAL, .optional = content};
}

struct bt_cel_value bt_cel_lookup_optional(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_value *container, const struct bt_cel_value *key)
{
	const struct bt_cel_value *found = NULL;
	int64_t index;

	if (container->kind == BT_CEL_OPTIONAL) {
		container = container->optional;
		if (container == NULL) {
			return (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
		}
	}
	if (container->kind == BT_CEL_LIST) {
		if (bt_cel_is_number(key) && index_of(key, &index) && index >= 0 &&
			index < container->list.count) {
			found = &container->list.items[index];
		}
	} else if (container->kind == BT_CEL_MAP &&
		!bt_cel_charge_find(evaluation, container->map, key)) {
		return evaluation->stop;
	} else {
		found = member(container, key);
	}
	return found != NULL ? bt_cel_optional(evaluation, found)
			     : (struct bt_cel_value){.kind = BT_CEL_OPTIONAL};
}

struct bt_cel_value bt_cel_lookup_test(
	const struct bt_cel_value *container, const struct bt_cel_value *field)
{
	if (container->kind == BT_CEL_OPTIONAL) {
		return container->optional != NULL ? bt_cel_lookup_test(container->optional, field)
						   : bt_cel_bool(false);
	}
	if (container->kind == BT_CEL_LIST) {
		return bt_cel_error(BT_STR("unsupported index type 'string' in list"));
	}
	return bt_cel_bool(member(container, field) != NULL);
}
