/* SPDX-License-Identifier: Apache-2.0 */
/** What quotas say is used. Spec: 14b section 4.11. */
#include "server/quota.h"
#include "cluster/groups.h"
#include "cluster/tree.h"

/** Changes are gathered for so long: counting looks at every object. */
#define GATHER_NS (BT_NS_PER_SECOND / 2)

struct quotas {
	const struct bt_api_resource *quotas;
	struct bt_groups by_namespace; /* keys of quotas */
};

static void *create(struct bt_hub *hub)
{
	struct quotas *self = BT_NEW(struct quotas);

	self->quotas =
		bt_resources_builtin(bt_api_resources(bt_hub_api(hub)), "", "resourcequotas");
	bt_groups_init(&self->by_namespace);
	return self;
}

static void destroy(void *data)
{
	struct quotas *self = data;

	bt_groups_finish(&self->by_namespace);
	bt_free(self);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct quotas *self = data;
	uint32_t entry;

	if (observed->resource == self->quotas) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(&self->by_namespace, observed->key);
		} else {
			bt_groups_put(&self->by_namespace, observed->key,
				bt_key_namespace(observed->key));
			bt_hub_enqueue(hub, observed->key);
		}
	}
	/* A change that may change what is used: an object comes, goes, or is finished. */
	if (self->by_namespace.by_key.count == 0 ||
		!(observed->type != BT_CHANGE_MODIFIED ||
			!bt_str_equal(bt_json_text_at(observed->before, "status.phase"),
				bt_json_text_at(observed->after, "status.phase")) ||
			!bt_json_equal(bt_json_object_at(observed->before, "spec.resources"),
				bt_json_object_at(observed->after, "spec.resources")))) {
		return;
	}
	entry = bt_groups_first(&self->by_namespace, bt_key_namespace(observed->key));
	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&self->by_namespace, entry)) {
		bt_hub_enqueue_at(hub, bt_groups_key(&self->by_namespace, entry),
			bt_hub_now_ns(hub) + GATHER_NS);
	}
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct quotas *self = data;
	const struct bt_json_value *quota = bt_api_read(bt_hub_api(hub), self->quotas, key, arena);
	const struct bt_json_value *hard = bt_json_object_at(quota, "spec.hard");
	struct bt_json_value *status;
	struct bt_json_value *used;

	(void)now_ns;
	if (quota == NULL) {
		return true;
	}
	used = bt_quota_used(bt_hub_api(hub), bt_key_namespace(key), hard, arena);
	if (used == NULL) {
		return true;
	}
	status = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_value(arena, status, "hard", bt_json_clone(arena, hard, false));
	bt_json_set_value(arena, status, "used", used);
	return bt_tree_write_status(hub, self->quotas, quota, status, arena);
}

static const char *const watched[] = {"*", NULL};

const struct bt_controller_ops bt_resource_quota_ops = {
	.name = "resourcequota-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};
