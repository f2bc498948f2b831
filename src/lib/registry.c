/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/registry.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/alloc.h"
#include "plugins/registry.h"

struct berth_registry *berth_registry_create(void)
{
	struct berth_registry *registry = BT_NEW(struct berth_registry);

	bt_registry_init(&registry->inside);
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
	bt_registry_finish(&registry->inside);
	for (uint32_t i = 0; i < registry->registrations.count; i++) {
		bt_free(registry->registrations.items[i]->name);
		bt_free(registry->registrations.items[i]);
	}
	bt_vec_finish(&registry->registrations);
	for (uint32_t i = registry->objects.count; i-- > 0;) {
		(void)dlclose(registry->objects.items[i]); /* nothing can be done about a failure */
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
