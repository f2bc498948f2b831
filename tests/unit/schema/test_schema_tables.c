/* SPDX-License-Identifier: Apache-2.0 */
/* The tables made from src/api/types. */
#include "test_main.h"

#include <string.h>

#include "schema/schema_private.h"

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
	uint32_t field_count = 0;
	uint32_t guess_count = 0;

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
				field_count++;
				guess_count +=
					bt_schema_guess(message, bt_str_from(field->name)) == j;
			}
		}
	}
	ck_assert_uint_ge(guess_count * 10, field_count * 9);
	/* The first field of every object is metadata. */
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

BT_TEST_MAIN("schema_tables", test_schema__kinds_are_found, test_schema__tables_are_sane,
	test_schema__inline_members_are_found)
