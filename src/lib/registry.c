/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/registry.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "plugins/registry.h"

struct berth_registry *berth_registry_create(void)
{
	struct berth_registry *registry = BT_NEW(struct berth_registry);

	registry->inside = (struct bt_registry){0};
	return registry;
}

struct berth_registry *berth_registry_create_in_tree(void)
{
	struct berth_registry *registry = berth_registry_create();
	int result = bt_register_in_tree_plugins(&registry->inside, NULL);

	BT_ASSERT(result == BERTH_OK);
	return registry;
}

void berth_registry_destroy(struct berth_registry *registry)
{
	if (registry == NULL) {
		return;
	}
	bt_vec_finish(&registry->inside.entries);
	for (uint32_t i = 0; i < registry->registrations.count; i++) {
		bt_free(registry->registrations.items[i]->name);
		bt_free(registry->registrations.items[i]);
	}
	bt_vec_finish(&registry->registrations);
	for (uint32_t i = registry->objects.count; i-- > 0;) {
		(void)dlclose(registry->objects.items[i]); /* a failure cannot be handled */
	}
	bt_vec_finish(&registry->objects);
	bt_free(registry);
}

int berth_registry_register(struct berth_registry *registry, const char *name,
	berth_plugin_factory_fn factory, void *context, struct berth_error *err)
{
	if (name == NULL || name[0] == '\0' || factory == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "a plugin needs a name and a factory");
	}
	struct bt_plugin_registration *registration = BT_NEW(struct bt_plugin_registration);

	registration->name = bt_strndup(name, strlen(name));
	registration->create = factory;
	registration->context = context;
	bt_plugin_registration_init(registration);

	int result = bt_registry_register(&registry->inside, &registration->ops, err);

	if (result != BERTH_OK) {
		bt_free(registration->name);
		bt_free(registration);
		return result;
	}
	bt_vec_push(&registry->registrations, registration);
	return BERTH_OK;
}

int berth_registry_unregister(
	struct berth_registry *registry, const char *name, struct berth_error *err)
{
	return bt_registry_unregister(&registry->inside, bt_str_from(name), err);
}

int berth_registry_merge(struct berth_registry *registry, const struct berth_registry *other,
	struct berth_error *err)
{
	return bt_registry_merge(&registry->inside, &other->inside, err);
}

uint32_t berth_registry_count(const struct berth_registry *registry)
{
	return registry->inside.entries.count;
}

struct berth_str berth_registry_name_at(const struct berth_registry *registry, uint32_t index)
{
	BT_ASSERT(index < registry->inside.entries.count);
	return bt_str_from(registry->inside.entries.items[index]->name);
}

bool berth_registry_has(const struct berth_registry *registry, struct berth_str name)
{
	return bt_registry_find(&registry->inside, name) != NULL;
}

#define MODULE_SYMBOL "berth_plugin_module"
/** Maximum number of shared objects in a folder, and of plugins in a shared object. */
#define FILES_MAX 1024
#define PLUGINS_MAX 1024

static int register_module(struct berth_registry *registry,
	const struct berth_plugin_module *module, const char *path, struct berth_error *err)
{
	if (module->abi_version != BERTH_PLUGIN_ABI_VERSION) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"%s: was built for version %u of the plugin interface, this is version %d",
			path, module->abi_version, BERTH_PLUGIN_ABI_VERSION);
	}
	if (module->plugins == NULL || module->plugin_count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: has no plugins", path);
	}
	if (module->plugin_count > PLUGINS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "%s: has more than %d plugins", path,
			PLUGINS_MAX);
	}
	int result = BERTH_OK;
	uint32_t done = 0;
	while (done < module->plugin_count && result == BERTH_OK) {
		const struct berth_plugin_descriptor *plugin = &module->plugins[done];

		result = berth_registry_register(
			registry, plugin->name, plugin->create, plugin->context, err);
		done += result == BERTH_OK ? 1 : 0;
	}
	if (result == BERTH_OK) {
		return BERTH_OK;
	}
	while (done-- > 0) {
		int undone = berth_registry_unregister(registry, module->plugins[done].name, NULL);

		BT_ASSERT(undone == BERTH_OK);
	}
	return bt_error_wrap(err, result, "%s", path);
}

int berth_registry_load_plugin(
	struct berth_registry *registry, const char *path, struct berth_error *err)
{
	/* dlopen would search a name without "/" in system folders, so prepend "./". */
	struct bt_strbuf text = {0};

	if (strchr(path, '/') == NULL) {
		bt_strbuf_append_c(&text, "./");
	}
	bt_strbuf_append_c(&text, path);
	char *full = bt_strbuf_steal(&text);
	void *object = dlopen(full, RTLD_NOW | RTLD_LOCAL);

	if (object == NULL) {
		/* Put the path before the message, unless the message begins with the path. */
		const char *message = dlerror();
		size_t length = strlen(full);

		if (message == NULL) {
			message = "unknown error of the dynamic linker";
		}
		bool has_path = strncmp(message, full, length) == 0 && message[length] == ':';
		int result = bt_error_set(err, BERTH_ERR_IO, "%s%s%s", has_path ? "" : full,
			has_path ? "" : ": ", message);
		bt_free(full);
		return result;
	}
	const struct berth_plugin_module *module = dlsym(object, MODULE_SYMBOL);
	int result;

	if (module == NULL) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"%s: is no berth plugin: it has no symbol %s", full, MODULE_SYMBOL);
	} else {
		result = register_module(registry, module, full, err);
	}
	if (result == BERTH_OK) {
		bt_vec_push(&registry->objects, object);
	} else {
		(void)dlclose(object); /* ignore a failure: the earlier failure is reported */
	}
	bt_free(full);
	return result;
}

BT_COMPARE(compare_paths, char *const, strcmp(*a, *b))

int berth_registry_load_plugins(
	struct berth_registry *registry, const char *directory, struct berth_error *err)
{
	BT_VEC(char *) paths = {0}; /* owned */
	DIR *folder = opendir(directory);

	if (folder == NULL) {
		return bt_error_set(err, BERTH_ERR_IO, "folder %s: %s", directory, strerror(errno));
	}
	int result = BERTH_OK;

	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(folder);

		if (entry == NULL) {
			if (errno != 0) {
				result = bt_error_set(err, BERTH_ERR_IO, "folder %s: %s", directory,
					strerror(errno));
			}
			break;
		}
		if (!bt_str_has_suffix(bt_str_from(entry->d_name), BT_STR(".so"))) {
			continue;
		}
		if (paths.count == FILES_MAX) {
			result = bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"folder %s: more than %d plugins", directory, FILES_MAX);
			break;
		}
		struct bt_strbuf path = {0};

		bt_strbuf_printf(&path, "%s/%s", directory, entry->d_name);
		bt_vec_push(&paths, bt_strbuf_steal(&path));
	}
	(void)closedir(folder); /* nothing was written, so closing cannot lose data */
	if (result == BERTH_OK && paths.count > 1) {
		qsort(paths.items, paths.count, sizeof(char *), compare_paths);
	}
	for (uint32_t i = 0; i < paths.count && result == BERTH_OK; i++) {
		result = berth_registry_load_plugin(registry, paths.items[i], err);
	}
	bt_vec_finish_each(&paths, bt_free(*each));
	return result;
}
