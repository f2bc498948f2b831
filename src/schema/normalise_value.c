/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/normalise_private.h"

#include "base/duration.h"
#include "api/quantity.h"
#include "api/time.h"
#include "codec/base64.h"
#include "codec/json_edit.h"

/** The name in Go and the zero value of each enum bt_schema_type. */
static const struct {
	const char *go_type;         /* for error messages */
	enum bt_json_type zero_type; /* JSON type of the zero value */
	const char *zero_text;       /* text of the zero value; NULL: the JSON type has no text */
} types[] = {
	[BT_SCHEMA_STRING] = {"string", BT_JSON_STRING, ""},
	[BT_SCHEMA_BOOL] = {"bool", BT_JSON_BOOL, NULL},
	[BT_SCHEMA_INT32] = {"int32", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_INT64] = {"int64", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_BYTES] = {"[]uint8", BT_JSON_STRING, ""},
	[BT_SCHEMA_QUANTITY] = {"resource.Quantity", BT_JSON_STRING, "0"},
	[BT_SCHEMA_INT_OR_STRING] = {"int32", BT_JSON_NUMBER, "0"},
	[BT_SCHEMA_TIME] = {"string", BT_JSON_NULL, NULL},
	[BT_SCHEMA_MICRO_TIME] = {"string", BT_JSON_NULL, NULL},
	[BT_SCHEMA_DURATION] = {"string", BT_JSON_STRING, "0s"},
	[BT_SCHEMA_STRING_LIST] = {"[]string", BT_JSON_ARRAY, NULL},
	[BT_SCHEMA_RAW_JSON] = {"runtime.RawExtension", BT_JSON_NULL, NULL},
	[BT_SCHEMA_MESSAGE] = {"", BT_JSON_OBJECT, NULL},
};

static void append_type(const struct bt_schema_field *field, bool element, struct bt_strbuf *out)
{
	if (!element && field->shape == BT_SCHEMA_MAP && field->type == BT_SCHEMA_QUANTITY) {
		bt_strbuf_append_c(out, "v1.ResourceList");
		return;
	}
	if (!element && field->shape == BT_SCHEMA_LIST) {
		bt_strbuf_append_c(out, "[]");
	} else if (!element && field->shape == BT_SCHEMA_MAP) {
		bt_strbuf_append_c(out, "map[string]");
	}
	if (field->type != BT_SCHEMA_MESSAGE) {
		bt_strbuf_append_c(
			out, field->go_type != NULL ? field->go_type : types[field->type].go_type);
		return;
	}
	const char *slash = strchr(field->message->package, '/');
	bt_strbuf_printf(out, "%s.%s", slash != NULL ? slash + 1 : "", field->message->name);
}

/* Appends the names of the fields in the path; Go's messages omit list indexes and map keys. */
static void append_fields(const struct bt_normalise_at *at, struct bt_strbuf *out)
{
	if (at->up != NULL) {
		append_fields(at->up, out);
	}
	if (at->step == BT_NORMALISE_FIELD) {
		if (at->inline_field != NULL) {
			bt_strbuf_append_char(out, '.');
			bt_strbuf_append_str(out, bt_schema_field_name(at->inline_field));
		}
		bt_strbuf_append_char(out, '.');
		bt_strbuf_append_str(out, at->name);
	}
}

int bt_normalise_mismatch(struct bt_normalise *run, const struct bt_schema_field *field,
	bool element, const struct bt_normalise_at *at, const struct bt_json_value *value)
{
	const struct bt_normalise_at *innermost = at;
	struct bt_strbuf text = {NULL, 0, 0};
	bool integer = field->type == BT_SCHEMA_INT32 || field->type == BT_SCHEMA_INT64;

	bt_strbuf_printf(&text, "json: cannot unmarshal %s", bt_json_type_name(value->type));
	if (integer && value->type == BT_JSON_NUMBER) {
		bt_strbuf_append_char(&text, ' ');
		bt_strbuf_append_str(&text, bt_str_sub(value->text, 0, 64));
	}
	while (innermost->step != BT_NORMALISE_FIELD) {
		innermost = innermost->up;
	}
	bt_strbuf_printf(&text, " into Go struct field %s", innermost->owner->name);
	append_fields(at, &text);
	bt_strbuf_append_c(&text, " of type ");
	append_type(field, element, &text);
	return bt_error_take(run->err, BERTH_ERR_INVALID, &text);
}

static void set_text(struct bt_normalise *run, struct bt_json_value *value)
{
	struct bt_str text = bt_strbuf_str(&run->scratch);

	if (value->type != BT_JSON_STRING || !bt_str_equal(text, value->text)) {
		value->type = BT_JSON_STRING;
		value->text = bt_arena_str(run->arena, text);
	}
}

static int take_time(struct bt_normalise *run, bool micro, struct bt_json_value *value)
{
	struct bt_time time;
	int code = micro ? bt_micro_time_parse(value->text, &time, run->err)
			 : bt_time_parse(value->text, &time, run->err);

	if (code != 0) {
		return code;
	}
	if (!micro) {
		time.nanoseconds = 0;
	}
	if (!time.set) {
		*value = (struct bt_json_value){.type = BT_JSON_NULL};
		return 0;
	}
	bt_strbuf_reset(&run->scratch);
	if (micro) {
		bt_micro_time_format(&time, &run->scratch);
	} else {
		bt_time_format(&time, &run->scratch);
	}
	set_text(run, value);
	return 0;
}

static bool take_integer(uint8_t type, struct bt_json_value *value)
{
	int64_t number;

	if (value->type != BT_JSON_NUMBER || !bt_json_number_int64(value->text, &number)) {
		return false;
	}
	if (number == 0) {
		value->text = BT_STR("0"); /* not "-0" */
	}
	return type == BT_SCHEMA_INT64 || (number >= INT32_MIN && number <= INT32_MAX);
}

static int take_string_list(struct bt_normalise *run, const struct bt_schema_field *field,
	const struct bt_normalise_at *at, struct bt_json_value *value)
{
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_json_value *element = value->elements[i];
		if (element->type == BT_JSON_NULL) {
			*element =
				(struct bt_json_value){.type = BT_JSON_STRING, .text = BT_STR("")};
		} else if (element->type != BT_JSON_STRING) {
			return bt_normalise_mismatch(run, field, true, at, element);
		}
	}
	return 0;
}

int bt_normalise_scalar(struct bt_normalise *run, const struct bt_schema_field *field,
	const struct bt_normalise_at *at, struct bt_json_value *value)
{
	bool fits = false;

	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		fits = value->type == BT_JSON_STRING;
		break;
	case BT_SCHEMA_DURATION:
		fits = value->type == BT_JSON_STRING &&
			bt_duration_parse(value->text, &(int64_t){0}, NULL) == 0;
		break;
	case BT_SCHEMA_BOOL:
		fits = value->type == BT_JSON_BOOL;
		break;
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		fits = take_integer(field->type, value);
		break;
	case BT_SCHEMA_INT_OR_STRING:
		fits = value->type == BT_JSON_STRING || take_integer(BT_SCHEMA_INT32, value);
		break;
	case BT_SCHEMA_QUANTITY: {
		struct bt_quantity quantity;
		struct bt_str text = BT_STR("?"); /* not a valid quantity */

		if (value->type == BT_JSON_STRING || value->type == BT_JSON_NUMBER) {
			text = bt_str_trim(value->text, " \t\r\n");
		}
		int code = bt_quantity_parse(text, run->arena, &quantity, run->err);
		if (code != 0) {
			return code;
		}
		bt_strbuf_reset(&run->scratch);
		bt_quantity_format(&quantity, &run->scratch);
		set_text(run, value);
		return 0;
	}
	case BT_SCHEMA_TIME:
	case BT_SCHEMA_MICRO_TIME:
		if (value->type == BT_JSON_STRING) {
			return take_time(run, field->type == BT_SCHEMA_MICRO_TIME, value);
		}
		break;
	case BT_SCHEMA_BYTES:
		if (value->type == BT_JSON_STRING) {
			struct bt_str bytes;
			int code = bt_base64_decode(value->text, run->arena, &bytes, run->err);

			if (code == 0) {
				bt_strbuf_reset(&run->scratch);
				bt_base64_encode(bytes, &run->scratch);
				set_text(run, value);
			}
			return code;
		}
		break;
	case BT_SCHEMA_STRING_LIST:
		if (value->type == BT_JSON_ARRAY) {
			return take_string_list(run, field, at, value);
		}
		break;
	case BT_SCHEMA_RAW_JSON:
	case BT_SCHEMA_MESSAGE:
		fits = true;
		break;
	}
	return fits ? 0 : bt_normalise_mismatch(run, field, true, at, value);
}

void bt_normalise_set_zero(const struct bt_schema_field *field, struct bt_json_value *value)
{
	*value = (struct bt_json_value){.type = types[field->type].zero_type};
	if (types[field->type].zero_text != NULL) {
		value->text = bt_str_from(types[field->type].zero_text);
	}
}

bool bt_normalise_is_zero(const struct bt_schema_field *field, const struct bt_json_value *value)
{
	bool is_text = value->type == BT_JSON_STRING;
	return bt_json_is_zero(value) && !(is_text && field->type == BT_SCHEMA_INT_OR_STRING);
}
