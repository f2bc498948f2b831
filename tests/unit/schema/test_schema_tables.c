/* SPDX-License-Identifier: Apache-2.0 */
/* The tables made from src/schema/types, and their agreement with those of the engine. */
#include "test_main.h"

#include <stdlib.h>

#include "api/int_or_string.h"
#include "api/object.h"
#include "api/quantity.h"
#include "api/time.h"
#include "base/strbuf.h"
#include "schema/schema.h"

START_TEST(test_schema__kinds_are_found)
{
	static const struct {
		const char *version;
		const char *kind;
		const char *message;
		const char *package;
	} rows[] = {
		{"v1", "Pod", "Pod", "core/v1"},
		{"v1", "Event", "Event", "core/v1"},
		{"events.k8s.io/v1", "Event", "Event", "events/v1"},
		{"apps/v1", "Deployment", "Deployment", "apps/v1"},
		{"policy/v1beta1", "Eviction", "Eviction", "policy/v1"},
		{"autoscaling/v1", "Scale", "Scale", "autoscaling/v1"},
		{"autoscaling/v1", "HorizontalPodAutoscaler", "HorizontalPodAutoscaler",
			"autoscaling/v1"},
		{"autoscaling/v2", "HorizontalPodAutoscaler", "HorizontalPodAutoscaler",
			"autoscaling/v2"},
		{"scheduling.k8s.io/v1alpha2", "PodGroup", "PodGroup", "scheduling/v1alpha2"},
		{"authentication.k8s.io/v1", "TokenRequest", "TokenRequest", "authentication/v1"},
		{"v1", "Status", "Status", "meta/v1"},
		{"v1", "DeleteOptions", "DeleteOptions", "meta/v1"},
		{"apps/v1", "DeleteOptions", "DeleteOptions", "meta/v1"},
		{"meta.k8s.io/v1", "DeleteOptions", "DeleteOptions", "meta/v1"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct bt_schema_message *message =
			bt_schema_find(bt_str_from(rows[i].version), bt_str_from(rows[i].kind));
		ck_assert_msg(message != NULL, "%s %s", rows[i].version, rows[i].kind);
		ck_assert_str_eq(message->name, rows[i].message);
		ck_assert_str_eq(message->package, rows[i].package);
	}
	ck_assert_ptr_null(bt_schema_find(BT_STR("v2"), BT_STR("Pod")));
	ck_assert_ptr_null(bt_schema_find(BT_STR("apps/v1"), BT_STR("Pod")));
	ck_assert_ptr_null(bt_schema_find(BT_STR("apps"), BT_STR("Deployment")));
	ck_assert_ptr_null(bt_schema_find(BT_STR(""), BT_STR("")));
}
END_TEST

START_TEST(test_schema__tables_are_sane)
{
	ck_assert_uint_gt(bt_schema_message_count, 300);
	for (uint32_t i = 0; i < bt_schema_message_count; i++) {
		const struct bt_schema_message *message = &bt_schema_messages[i];
		for (uint32_t j = 0; j < message->field_count; j++) {
			const struct bt_schema_field *field = &message->fields[j];
			const struct bt_schema_field *inlined = NULL;
			ck_assert_uint_eq(field->name_length, strlen(field->name));
			ck_assert_int_eq(field->type == BT_SCHEMA_MESSAGE, field->message != NULL);
			if (j > 0) {
				ck_assert_uint_gt(field->number, message->fields[j - 1].number);
			}
			if ((field->flags & BT_SCHEMA_INLINE) == 0) {
				ck_assert_ptr_eq(bt_schema_field_find(message,
							 bt_str_from(field->name), &inlined),
					field);
				ck_assert_ptr_null(inlined);
			}
		}
	}
	/* Every object is metadata first. */
	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		const struct bt_schema_message *message = bt_schema_kinds[i].message;
		if (strcmp(message->package, "meta/v1") != 0) {
			ck_assert_str_eq(message->fields[0].name, "metadata");
			ck_assert_str_eq(message->fields[0].message->name, "ObjectMeta");
		}
	}
}
END_TEST

START_TEST(test_schema__inline_members_are_found)
{
	const struct bt_schema_message *pod = bt_schema_find(BT_STR("v1"), BT_STR("Pod"));
	const struct bt_schema_field *spec = bt_schema_field_find(pod, BT_STR("spec"), NULL);
	const struct bt_schema_field *volumes =
		bt_schema_field_find(spec->message, BT_STR("volumes"), NULL);
	const struct bt_schema_field *inlined = NULL;
	const struct bt_schema_field *empty_dir =
		bt_schema_field_find(volumes->message, BT_STR("emptyDir"), &inlined);

	ck_assert_ptr_nonnull(empty_dir);
	ck_assert_ptr_nonnull(inlined);
	ck_assert_str_eq(inlined->name, "VolumeSource");
	ck_assert_uint_eq(inlined->number, 2);
	ck_assert_ptr_null(bt_schema_field_find(volumes->message, BT_STR("VolumeSource"), NULL));
	ck_assert_str_eq(volumes->merge_key, "name");
	ck_assert_int_ne(volumes->flags & BT_SCHEMA_RETAIN_KEYS, 0);
}
END_TEST

/* --- agreement with src/api --- */

static enum bt_schema_type type_of(const struct bt_field *field)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
		return BT_SCHEMA_STRING;
	case BT_FIELD_BOOL:
		return BT_SCHEMA_BOOL;
	case BT_FIELD_I32:
		return BT_SCHEMA_INT32;
	case BT_FIELD_I64:
		return BT_SCHEMA_INT64;
	case BT_FIELD_RAW_JSON:
		return BT_SCHEMA_RAW_JSON;
	case BT_FIELD_MESSAGE:
		return BT_SCHEMA_MESSAGE;
	case BT_FIELD_SCALAR:
		break;
	}
	if (field->scalar == &bt_quantity_scalar) {
		return BT_SCHEMA_QUANTITY;
	}
	if (field->scalar == &bt_int_or_string_scalar) {
		return BT_SCHEMA_INT_OR_STRING;
	}
	return field->scalar == &bt_time_scalar ? BT_SCHEMA_TIME : BT_SCHEMA_MICRO_TIME;
}

/* By number, or by name where the engine keeps members of an inline message in their parent. */
static const struct bt_schema_field *counterpart(
	const struct bt_schema_message *message, const struct bt_field *ours)
{
	const struct bt_schema_field *inlined = NULL;
	const struct bt_schema_field *field =
		bt_schema_field_find(message, bt_str_from(ours->name), &inlined);

	if (inlined != NULL && field->number == ours->number) {
		return field;
	}
	for (uint32_t i = 0; i < message->field_count; i++) {
		if (message->fields[i].number == ours->number) {
			return &message->fields[i];
		}
	}
	return NULL;
}

/* One structure of the engine serves ReplicaSets and Deployments. */
static bool is_excused(const char *path, const char *name)
{
	return strcmp(path, "ReplicaSet.spec") == 0 && strcmp(name, "paused") == 0;
}

static void compare(const char *path, const struct bt_message *engine,
	const struct bt_schema_message *schema, struct bt_strbuf *differences)
{
	for (uint32_t i = 0; i < engine->field_count; i++) {
		const struct bt_field *ours = &engine->fields[i];
		const struct bt_schema_field *theirs = counterpart(schema, ours);
		bool inlined = (ours->flags & BT_FIELD_INLINE) != 0;
		struct bt_strbuf inner = {NULL, 0, 0};

		if (is_excused(path, ours->name)) {
			continue;
		}
		if (theirs == NULL || (!inlined && strcmp(ours->name, theirs->name) != 0)) {
			bt_strbuf_printf(differences, "\n%s.%s: number %u is %s", path, ours->name,
				ours->number, theirs != NULL ? theirs->name : "not there");
			continue;
		}
		if (type_of(ours) != theirs->type ||
			inlined != ((theirs->flags & BT_SCHEMA_INLINE) != 0) ||
			(ours->shape == BT_SHAPE_LIST) != (theirs->shape == BT_SCHEMA_LIST) ||
			(ours->shape == BT_SHAPE_MAP) != (theirs->shape == BT_SCHEMA_MAP)) {
			bt_strbuf_printf(differences, "\n%s.%s: another type", path, ours->name);
			continue;
		}
		if (ours->shape == BT_SHAPE_NULLABLE && ours->type != BT_FIELD_RAW_JSON &&
			(theirs->flags & BT_SCHEMA_NULLABLE) == 0) {
			bt_strbuf_printf(differences, "\n%s.%s: nullable", path, ours->name);
		}
		if (ours->type == BT_FIELD_MESSAGE) {
			bt_strbuf_printf(&inner, "%s.%s", path, ours->name);
			compare(bt_strbuf_c(&inner), ours->message, theirs->message, differences);
		}
		bt_strbuf_finish(&inner);
	}
}

START_TEST(test_schema__agrees_with_the_engine)
{
	struct bt_strbuf differences = {NULL, 0, 0};

	for (int kind = 0; kind < BT_KIND__COUNT; kind++) {
		const struct bt_kind_info *info = bt_kind_info((enum bt_kind)kind);
		struct bt_strbuf version = {NULL, 0, 0};
		const struct bt_schema_message *message;

		bt_kind_append_api_version((enum bt_kind)kind, &version);
		message = bt_schema_find(bt_strbuf_str(&version), bt_str_from(info->name));
		ck_assert_msg(message != NULL, "%s %s", bt_strbuf_c(&version), info->name);
		compare(info->name, info->message, message, &differences);
		bt_strbuf_finish(&version);
	}
	if (differences.length != 0) {
		(void)fprintf(stderr, "%s\n", bt_strbuf_c(&differences));
	}
	ck_assert_uint_eq(differences.length, 0);
	bt_strbuf_finish(&differences);
}
END_TEST

BT_TEST_MAIN("schema_tables", test_schema__kinds_are_found, test_schema__tables_are_sane,
	test_schema__inline_members_are_found, test_schema__agrees_with_the_engine)
