/* SPDX-License-Identifier: Apache-2.0 */
/** The service account "default" of every namespace. Spec: 14b section 6.9. */
#include "base/alloc.h"
#include "base/alloc.h"
#include "cluster/tree.h"

struct accounts {
	const struct bt_api_resource *namespaces;
	const struct bt_api_resource *accounts;
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct accounts *self = BT_NEW(struct accounts);

	self->namespaces = bt_resources_builtin(resources, "", "namespaces");
	self->accounts = bt_resources_builtin(resources, "", "serviceaccounts");
	return self;
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct accounts *self = data;

	if (observed->resource == self->namespaces) {
		if (observed->type == BT_CHANGE_ADDED) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->type == BT_CHANGE_DELETED &&
		bt_str_equal_c(bt_key_name(observed->key), "default")) {
		bt_hub_enqueue(hub, bt_key_namespace(observed->key));
	}
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct accounts *self = data;
	const struct bt_json_value *namespace_ =
		bt_api_read(bt_hub_api(hub), self->namespaces, key, arena);
	struct bt_json_value *account;
	uint16_t code;

	(void)now_ns;
	if (namespace_ == NULL || bt_tree_is_deleting(namespace_) ||
		bt_store_find(bt_api_store(bt_hub_api(hub)), self->accounts->collection,
			bt_api_key(arena, key, BT_STR("default"))) != NULL) {
		return true;
	}
	account = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, bt_json_ensure_object(arena, account, "metadata"), "name", "default");
	code = bt_hub_create(hub, self->accounts, key, account, arena, NULL);
	return code == 201 || code == 409 || code == 403 || code == 404;
}

static const char *const watched[] = {"namespaces", "serviceaccounts", NULL};

const struct bt_controller_ops bt_service_account_ops = {
	.name = "serviceaccount-controller",
	.resources = watched,
	.create = create,
	.destroy = bt_free,
	.observe = observe,
	.sync = sync,
};
