/* SPDX-License-Identifier: Apache-2.0 */
#include "dra_fixture.h"
#include "test_main.h"

/**
 * Puts a class. day: day of creation; resource: extendedResourceName, "" for none; selector: CEL
 * expression.
 */
static void put_class(struct dra_fixture *f, const char *name, int day, const char *resource,
	const char *selector)
{
	PUT(f, BT_KIND_DEVICE_CLASS,
		"{'metadata':{'name':'%s','creationTimestamp':'2026-01-%02dT00:00:00Z'},'spec':{"
		"'selectors':[{'cel':{'expression':'%s'}}]%s%s%s}}",
		name, day, selector, resource[0] != '\0' ? ",'extendedResourceName':'" : "",
		resource, resource[0] != '\0' ? "'" : "");
}

static const struct bt_device_class *class_for(struct dra_fixture *f, const char *resource)
{
	return bt_device_class_for_resource(&f->dra->classes, bt_str_from(resource));
}

#define ASSERT_CLASS(f, resource, expected) \
	do { \
		const struct bt_device_class *found = class_for((f), (resource)); \
		ck_assert_msg(found != NULL, "%s has no class", (resource)); \
		ck_assert_msg(bt_str_equal_c(found->metadata.name, (expected)), \
			"%s has class %.*s", (resource), BT_STR_ARG(found->metadata.name)); \
	} while (0)

#define IMPLICIT(name) BT_DEVICE_CLASS_RESOURCE_PREFIX name

START_TEST(test_device_class_map__explicit_and_implicit_names)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	ck_assert_ptr_null(class_for(&f, "e.io/gpu"));
	put_class(&f, "plain", 1, "", "true");
	put_class(&f, "gpu", 1, "e.io/gpu", "true");
	ASSERT_CLASS(&f, IMPLICIT("plain"), "plain");
	ASSERT_CLASS(&f, IMPLICIT("gpu"), "gpu");
	ASSERT_CLASS(&f, "e.io/gpu", "gpu");
	dra_check_valid(&f);
	uint64_t version = f.dra->classes.version;
	put_class(&f, "gpu", 1, "e.io/other", "true");
	ck_assert(f.dra->classes.version > version);
	ck_assert_ptr_null(class_for(&f, "e.io/gpu"));
	ASSERT_CLASS(&f, "e.io/other", "gpu");
	delete_object(&f, BT_KIND_DEVICE_CLASS, "", "gpu");
	ck_assert_ptr_null(class_for(&f, "e.io/other"));
	ck_assert_ptr_null(class_for(&f, IMPLICIT("gpu")));
	ASSERT_CLASS(&f, IMPLICIT("plain"), "plain");
	ck_assert(!f.dra->classes.has_history);
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_device_class_map__class_that_gets_a_contested_resource)
{
	static const struct {
		const char *first;
		int first_day;
		const char *second;
		int second_day;
		const char *winner;
	} cases[] = {
		{"b", 1, "a", 2, "a"}, /* the younger class wins */
		{"b", 2, "a", 1, "b"},
		{"b", 1, "a", 1, "a"}, /* same age: the first name wins */
		{"a", 1, "b", 1, "a"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dra_fixture f;
		char implicit[80];
		bool second_wins;

		dra_fixture_init(&f);
		put_class(&f, cases[i].first, cases[i].first_day, "e.io/gpu", "true");
		put_class(&f, cases[i].second, cases[i].second_day, "e.io/gpu", "true");
		ASSERT_CLASS(&f, "e.io/gpu", cases[i].winner);
		/*
		 * Spec 12 section 21, D8: the other class gets no resource name, not even its
		 * implicit name.
		 */
		second_wins = strcmp(cases[i].winner, cases[i].second) == 0;
		(void)snprintf(implicit, sizeof(implicit), "%s%s", BT_DEVICE_CLASS_RESOURCE_PREFIX,
			cases[i].second);
		ck_assert_msg((class_for(&f, implicit) != NULL) == second_wins, "case %zu", i);
		dra_fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_device_class_map__d8_a_class_replaces_itself)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_class(&f, "gpu", 1, "e.io/gpu", "old");
	put_class(&f, "gpu", 1, "e.io/gpu", "new");
	const char *const names[] = {"e.io/gpu", IMPLICIT("gpu")};
	for (size_t i = 0; i < 2; i++) {
		const struct bt_device_class *found = class_for(&f, names[i]);
		ck_assert(bt_str_equal_c(found->spec.selectors.items[0].cel->expression, "new"));
	}
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_device_class_map__d8_a_loser_takes_the_resource_with_it)
{
	struct dra_fixture f;

	dra_fixture_init(&f);
	put_class(&f, "winner", 2, "e.io/gpu", "true");
	put_class(&f, "loser", 1, "e.io/gpu", "true");
	ASSERT_CLASS(&f, "e.io/gpu", "winner");
	delete_object(&f, BT_KIND_DEVICE_CLASS, "", "loser");
	ck_assert_ptr_null(class_for(&f, "e.io/gpu"));
	ASSERT_CLASS(&f, IMPLICIT("winner"), "winner");
	dra_fixture_finish(&f);
}
END_TEST

START_TEST(test_device_class_map__gate_off)
{
	struct bt_gates gates = bt_gates_default();
	struct dra_fixture f;

	gates.enabled[BT_GATE_DRA_EXTENDED_RESOURCE] = false;
	dra_fixture_init_with(&f, &gates);
	put_class(&f, "gpu", 1, "e.io/gpu", "true");
	ck_assert_ptr_null(class_for(&f, "e.io/gpu"));
	ck_assert_ptr_null(class_for(&f, IMPLICIT("gpu")));
	dra_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("device_class_map", test_device_class_map__explicit_and_implicit_names,
	test_device_class_map__class_that_gets_a_contested_resource,
	test_device_class_map__d8_a_class_replaces_itself,
	test_device_class_map__d8_a_loser_takes_the_resource_with_it,
	test_device_class_map__gate_off)
