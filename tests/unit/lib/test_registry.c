/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spec 02 section 7, and the loader. BT_TEST_PLUGINS: the folder of the shared objects of plugins/.
 */
#include "berth/registry.h"

#include <stdio.h>
#include <string.h>

#include "test_main.h"

static int create(void *context, const struct berth_raw_args *args,
	const struct berth_handle *handle, struct berth_plugin **out_plugin,
	struct berth_error *err)
{
	(void)context;
	(void)args;
	(void)handle;
	(void)out_plugin;
	return berth_error_set(err, BERTH_ERR_INTERNAL, "never called");
}

static void check_error(struct berth_error *err, int result, int code, const char *message)
{
	ck_assert_int_eq(result, code);
	ck_assert_str_eq(berth_error_message(err), message);
	berth_error_finish(err);
}

/* seed-map 001.44, 001.108, 001.109, 001.110 */
START_TEST(test_registry__register_and_unregister)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;
	char name[] = "A";

	ck_assert_uint_eq(berth_registry_count(registry), 0);
	ck_assert_int_eq(berth_registry_register(registry, name, create, NULL, &err), 0);
	name[0] = 'x'; /* the registry keeps a copy of the name */
	ck_assert_int_eq(berth_registry_register(registry, "B", create, NULL, &err), 0);
	check_error(&err, berth_registry_register(registry, "A", create, NULL, &err),
		BERTH_ERR_EXISTS, "a plugin named A already exists");
	check_error(&err, berth_registry_register(registry, "", create, NULL, &err),
		BERTH_ERR_INVALID, "a plugin needs a name and a factory");
	ck_assert_uint_eq(berth_registry_count(registry), 2);
	ck_assert(berth_str_equal_c(berth_registry_name_at(registry, 0), "A"));
	ck_assert(berth_registry_has(registry, BERTH_STR("B")));
	ck_assert_int_eq(berth_registry_unregister(registry, "A", &err), 0);
	check_error(&err, berth_registry_unregister(registry, "A", &err), BERTH_ERR_NOT_FOUND,
		"no plugin named A exists");
	ck_assert(!berth_registry_has(registry, BERTH_STR("A")));
	ck_assert_int_eq(berth_registry_register(registry, "A", create, NULL, &err), 0);
	berth_registry_destroy(registry);
	berth_registry_destroy(NULL);
}
END_TEST

/* seed-map 001.111 */
START_TEST(test_registry__merge_stops_at_the_first_error)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_registry *other = berth_registry_create();
	struct berth_registry *in_tree = berth_registry_create_in_tree();
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_eq(berth_registry_register(registry, "B", create, NULL, &err), 0);
	ck_assert_int_eq(berth_registry_register(other, "A", create, NULL, &err), 0);
	ck_assert_int_eq(berth_registry_register(other, "B", create, NULL, &err), 0);
	ck_assert_int_eq(berth_registry_register(other, "C", create, NULL, &err), 0);
	check_error(&err, berth_registry_merge(registry, other, &err), BERTH_ERR_EXISTS,
		"a plugin named B already exists");
	ck_assert(berth_registry_has(registry, BERTH_STR("A")));
	ck_assert(!berth_registry_has(registry, BERTH_STR("C")));
	ck_assert_uint_ge(berth_registry_count(in_tree), 23);
	ck_assert(berth_registry_has(in_tree, BERTH_STR("NodeResourcesFit")));
	berth_registry_destroy(registry);
	berth_registry_destroy(other);
	berth_registry_destroy(in_tree);
}
END_TEST

static const char *path_of(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", BT_TEST_PLUGINS, name);
	return path;
}

START_TEST(test_registry__load)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_registry_load_plugin(registry, path_of("good.so"), &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	ck_assert_uint_eq(berth_registry_count(registry), 2);
	ck_assert(berth_registry_has(registry, BERTH_STR("First")));
	ck_assert(berth_registry_has(registry, BERTH_STR("Second")));
	berth_registry_destroy(registry);
}
END_TEST

/**
 * Asserts that the file is refused, that the message has the file's path, and that none of the
 * file's plugins stays registered.
 */
static void check_refused(const char *name, int code, const char *message)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;
	int result = berth_registry_load_plugin(registry, path_of("good.so"), &err);

	ck_assert_int_eq(result, 0);
	result = berth_registry_load_plugin(registry, path_of(name), &err);
	ck_assert_msg(result == code, "%s: %d", name, result);
	ck_assert_msg(strstr(berth_error_message(&err), path_of(name)) == berth_error_message(&err),
		"%s", berth_error_message(&err));
	ck_assert_msg(strstr(berth_error_message(&err), message) != NULL, "%s",
		berth_error_message(&err));
	ck_assert_uint_eq(berth_registry_count(registry), 2);
	berth_error_finish(&err);
	berth_registry_destroy(registry);
}

START_TEST(test_registry__load_refuses)
{
	check_refused("wrong_version.so", BERTH_ERR_INVALID,
		": was built for version 2 of the plugin interface, this is version 1");
	check_refused("no_symbol.so", BERTH_ERR_INVALID,
		": is no berth plugin: it has no symbol berth_plugin_module");
	check_refused("no_plugins.so", BERTH_ERR_INVALID, ": has no plugins");
	check_refused("unknown_symbol.so", BERTH_ERR_IO, "berth_of_a_later_version");
	check_refused("good.so", BERTH_ERR_EXISTS, ": a plugin named First already exists");
	check_refused("duplicate.so", BERTH_ERR_EXISTS, ": a plugin named Second already exists");
	check_refused("none.so", BERTH_ERR_IO, "No such file or directory");
	check_refused(".", BERTH_ERR_IO, "");
}
END_TEST

START_TEST(test_registry__load_refuses_other_files)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;
	char path[] = "berth-test-not-an-object";
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs("hello", file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(berth_registry_load_plugin(registry, path, &err), BERTH_ERR_IO);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), path));
	berth_error_finish(&err);
	ck_assert_int_eq(remove(path), 0);
	berth_registry_destroy(registry);
}
END_TEST

START_TEST(test_registry__load_folders)
{
	struct berth_registry *registry = berth_registry_create();
	struct berth_error err = BERTH_ERROR_INIT;

	check_error(&err, berth_registry_load_plugins(registry, "berth-no-such-folder", &err),
		BERTH_ERR_IO, "folder berth-no-such-folder: No such file or directory");
	/*
	 * Files load in name order: duplicate, failing_factory, then good, whose "Second" is a
	 * duplicate.
	 */
	ck_assert_int_eq(
		berth_registry_load_plugins(registry, BT_TEST_PLUGINS, &err), BERTH_ERR_EXISTS);
	ck_assert_ptr_nonnull(
		strstr(berth_error_message(&err), "good.so: a plugin named Second already exists"));
	berth_error_finish(&err);
	ck_assert_uint_eq(berth_registry_count(registry), 3);
	ck_assert(!berth_registry_has(registry, BERTH_STR("First")));
	berth_registry_destroy(registry);
}
END_TEST

BT_TEST_MAIN("lib_registry", test_registry__register_and_unregister,
	test_registry__merge_stops_at_the_first_error, test_registry__load,
	test_registry__load_refuses, test_registry__load_refuses_other_files,
	test_registry__load_folders)
