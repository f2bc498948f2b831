/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Creates the ServiceAccount "default" in every namespace, and tokens in Secrets of type
 * service-account-token. Spec: 14b section 6.9.
 */
#include "cluster/tree.h"
#include "codec/base64.h"
#include "server/service_account_token.h"

/** --- serviceaccount-controller --- */

static void observe(BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->kind == BT_HUB_NAMESPACES) {
		if (observed->type == BT_CHANGE_ADDED) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->type == BT_CHANGE_DELETED &&
		bt_str_equal_c(bt_key_name(observed->key), "default")) {
		bt_hub_enqueue(hub, bt_key_namespace(observed->key));
	}
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;

	if (bt_tree_is_deleting(sync->object) ||
		bt_hub_exists(sync->hub, BT_HUB_SERVICE_ACCOUNTS,
			bt_api_key(arena, sync->key, BT_STR("default")))) {
		return true;
	}
	uint16_t code = bt_hub_create(sync->hub, BT_HUB_SERVICE_ACCOUNTS, sync->key,
		bt_json_put(arena, NULL, "{metadata: {name: 'default'}}"), arena, NULL);
	return code == 201 || code == 409;
}

const struct bt_controller_ops bt_service_account_ops = {
	.watches = BT_WATCH(BT_HUB_NAMESPACES) | BT_WATCH(BT_HUB_SERVICE_ACCOUNTS),
	.object = BT_HUB_NAMESPACES,
	.observe = observe,
	.sync = sync,
};

/** --- serviceaccount-token-controller --- */

#define ACCOUNT_NAME "kubernetes.io/service-account.name"
#define ACCOUNT_UID "kubernetes.io/service-account.uid"

static struct bt_str account_of(
	struct bt_arena *arena, struct bt_str key, const struct bt_json_value *secret)
{
	return bt_api_key(arena, bt_key_namespace(key), bt_tree_annotation(secret, ACCOUNT_NAME));
}

static void observe_tokens(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_groups *secrets = data; /* token Secrets, by "ns/name" of their ServiceAccount */
	if (observed->kind == BT_HUB_SERVICE_ACCOUNTS) {
		bt_hub_enqueue_group(hub, secrets, observed->key);
	} else if (observed->type == BT_CHANGE_DELETED ||
		!bt_str_equal_c(bt_json_find_str(observed->after, "type"),
			"kubernetes.io/service-account-token")) {
		bt_groups_remove(secrets, observed->key);
	} else {
		bt_groups_set(secrets, observed->key,
			account_of(&hub->note_arena, observed->key, observed->after));
		bt_hub_enqueue(hub, observed->key);
	}
}

static void set_data(struct bt_sync *sync, struct bt_json_value *patch, const char *name,
	struct bt_str value, bool replaces)
{
	struct bt_strbuf text = {0};
	struct bt_str old = bt_tree_text(bt_json_object_at(sync->object, "data"), name);
	bt_base64_encode(value, &text);
	if (old.length == 0 || (replaces && !bt_str_equal(old, bt_strbuf_str(&text)))) {
		bt_json_put(sync->arena, patch, "{data: {%c: %s}}", name,
			bt_arena_str(sync->arena, bt_strbuf_str(&text)));
	}
	bt_strbuf_finish_wiped(&text);
}

static bool sync_tokens(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str account_key = account_of(arena, sync->key, sync->object);
	const struct bt_json_value *account =
		bt_hub_read(sync->hub, BT_HUB_SERVICE_ACCOUNTS, account_key, arena);
	struct bt_str uid = bt_json_text_at(account, "metadata.uid");
	struct bt_str kept_uid = bt_tree_annotation(sync->object, ACCOUNT_UID);
	if (account == NULL || (kept_uid.length != 0 && !bt_str_equal(kept_uid, uid))) {
		return bt_sync_delete(sync, BT_HUB_SECRETS, sync->key,
			bt_json_text_at(sync->object, "metadata.uid"));
	}
	struct bt_json_value *patch = bt_json_new(arena, BT_JSON_OBJECT);
	if (bt_tree_text(bt_json_object_at(sync->object, "data"), "token").length == 0) {
		struct bt_str token;
		if (bt_api_legacy_token(sync->hub->api, account_key, bt_key_name(sync->key), arena,
			    &token, NULL) < 0) {
			return false;
		}
		set_data(sync, patch, "token", token, false);
	}
	if (sync->hub->options.root_ca != NULL) {
		set_data(sync, patch, "ca.crt", bt_str_from(sync->hub->options.root_ca), true);
	}
	set_data(sync, patch, "namespace", bt_key_namespace(sync->key), true);
	if (kept_uid.length == 0) {
		bt_json_put(arena, patch, "{metadata: {annotations: {" ACCOUNT_UID ": %s}}}", uid);
	}
	return patch->count == 0 ||
		bt_hub_is_done(bt_sync_patch(sync, BT_HUB_SECRETS, sync->key, patch));
}

const struct bt_controller_ops bt_service_account_token_ops = {
	.watches = BT_WATCH(BT_HUB_SECRETS) | BT_WATCH(BT_HUB_SERVICE_ACCOUNTS),
	.object = BT_HUB_SECRETS,
	.group_count = 1,
	.observe = observe_tokens,
	.sync = sync_tokens,
};
