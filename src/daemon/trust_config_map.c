/* SPDX-License-Identifier: Apache-2.0 */
/** ConfigMap kube-system/extension-apiserver-authentication. Spec: 11 sections 6.1 and 9.2. */
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/reflector_json.h"
#include "daemon/trust.h"

#define FOLDER "/api/v1/namespaces/kube-system/configmaps"
#define NAME "extension-apiserver-authentication"
#define LOOK_UP_NS (10 * BT_NS_PER_SECOND)

/** --- what it says --- */

/** A JSON array of texts in a text; absent: none. */
static int read_names(struct bt_trust *trust, const struct bt_json_value *data, const char *key,
	struct bt_trust_names *names, struct berth_error *err)
{
	struct bt_json_value *list = NULL;
	struct bt_str text = bt_json_find_str(data, key);
	if (text.length == 0) {
		return 0;
	}
	int result = bt_json_parse(&trust->arena, text, true, &list, err);
	if (result != 0) {
		return bt_error_wrap(err, result, "%s", key);
	}
	if (list->type != BT_JSON_ARRAY) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s: not a list", key);
	}
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->elements[i]->type == BT_JSON_STRING) {
			bt_vec_push(&names->names, list->elements[i]->text);
		}
	}
	return 0;
}

static int read_headers(
	struct bt_trust *trust, const struct bt_json_value *data, struct berth_error *err)
{
	struct bt_trust_headers *headers = &trust->headers;
	bt_trust_reset_headers(trust);
	int result =
		read_names(trust, data, "requestheader-username-headers", &headers->username, err);
	result = result != 0
		? result
		: read_names(trust, data, "requestheader-uid-headers", &headers->uid, err);
	result = result != 0
		? result
		: read_names(trust, data, "requestheader-group-headers", &headers->group, err);
	result = result != 0 ? result
			     : read_names(trust, data, "requestheader-extra-headers-prefix",
				       &headers->extra_prefix, err);
	return result != 0
		? result
		: read_names(trust, data, "requestheader-allowed-names", &headers->allowed, err);
}

static int take_front(
	struct bt_trust *trust, const struct bt_json_value *data, struct berth_error *err)
{
	static const char key[] = "requestheader-client-ca-file";
	int result = read_headers(trust, data, err);
	if (result != 0) {
		/* without knowing which names are allowed nobody is */
		bt_trust_bundle_clear(trust, &trust->front);
		return result;
	}
	result = bt_trust_bundle_set(trust, &trust->front, bt_json_find_str(data, key), err);
	return result == 0 ? 0 : bt_error_wrap(err, result, "%s", key);
}

/** data NULL: there is no ConfigMap. */
static int take(struct bt_trust *trust, const struct bt_json_value *data, struct berth_error *err)
{
	static const char key[] = "client-ca-file";
	int result = 0;
	if (trust->client.path.length == 0) {
		struct bt_str pem = bt_json_find_str(data, key);
		result = bt_trust_bundle_set(trust, &trust->client, pem, err);
		result = result == 0 ? 0 : bt_error_wrap(err, result, "%s", key);
	}
	if (result == 0 && !trust->is_flagged) {
		result = take_front(trust, data, err);
	}
	return result == 0 ? 0 : bt_error_wrap(err, result, "configmap/%s", NAME);
}

static void on_changed(void *context, void *old_item, void *new_item, bool is_stale)
{
	struct bt_trust *trust = context;
	const struct bt_json_item *map = new_item;
	struct berth_error err = BERTH_ERROR_INIT;
	(void)old_item; /* what counts is how it is now */
	(void)is_stale;
	if (take(trust, map != NULL ? bt_json_find(map->document, "data") : NULL, &err) != 0) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%s", berth_error_message(&err));
		berth_error_finish(&err);
	}
}

/** --- the first look --- */

static void on_first_answer(
	void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_trust *trust = context;
	struct bt_json_value *document = NULL;
	struct bt_arena arena;
	(void)call; /* ends with this */
	trust->call = NULL;
	if (answer->class_ == BT_REST_NOT_FOUND) {
		return; /* it may come later */
	}
	if (bt_rest_answer_error(answer, &trust->look_error) != 0) {
		return;
	}
	bt_arena_init(&arena, 0);
	if (bt_rest_decode_body(answer, &arena, &document, &trust->look_error) == 0) {
		/* the error is looked at by who waits */
		(void)take(trust, bt_json_find(document, "data"), &trust->look_error);
	}
	bt_arena_finish(&arena);
}

static int ask(struct bt_trust *trust, struct berth_error *err)
{
	int64_t end_ns = bt_loop_now_ns(trust->setup.loop) + LOOK_UP_NS;
	struct bt_rest_request request = {
		.method = "GET",
		.path = BT_STR(FOLDER "/" NAME),
		.resource = BT_STR("configmaps"),
		.name = BT_STR(NAME),
		.accept = BT_STR("application/json"),
		.handler = {.context = trust, .done = on_first_answer},
	};
	trust->call = bt_rest_start(trust->setup.client, &request);
	while (trust->call != NULL) {
		int64_t left_ns = end_ns - bt_loop_now_ns(trust->setup.loop);
		if (left_ns <= 0) {
			bt_rest_cancel(trust->call);
			trust->call = NULL;
			return bt_error_set(err, BERTH_ERR_IO, "context deadline exceeded");
		}
		int result = bt_loop_turn(trust->setup.loop, left_ns, err);
		if (result != 0) {
			return result;
		}
	}
	return bt_error_move(err, &trust->look_error);
}

static void watch(struct bt_trust *trust)
{
	struct bt_reflector_options options = {
		.client = trust->setup.client,
		.loop = trust->setup.loop,
		.prng = &trust->prng,
		.codec = &bt_reflector_json_codec,
		.path = BT_STR(FOLDER),
		.field_selector = BT_STR("metadata.name=" NAME),
		.type_name = "*v1.ConfigMap",
		.name = "configmaps",
		.streaming = trust->setup.streaming,
		.sink = {.context = trust, .changed = on_changed},
	};
	trust->reflector = bt_reflector_create(&options);
}

int bt_trust_look_up(struct bt_trust *trust, struct berth_error *err)
{
	const struct bt_authentication_options *options = trust->setup.options;
	struct berth_error failure = BERTH_ERROR_INIT;
	bool is_complete = trust->client.path.length != 0 && trust->is_flagged;
	if (trust->setup.client == NULL || options->skip_lookup || is_complete) {
		return 0;
	}
	int result = ask(trust, &failure);
	if (result != 0 && !options->tolerate_lookup_failure) {
		(void)bt_error_wrap(&failure, result,
			"unable to load configmap based request-header-client-ca-file");
		return bt_error_move(err, &failure);
	}
	if (result != 0) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
			"Error looking up in-cluster authentication configuration: %s",
			berth_error_message(&failure));
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
			"Continuing without authentication configuration. This may treat all "
			"requests as anonymous.");
		BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
			"To require authentication configuration lookup to succeed, set "
			"--authentication-tolerate-lookup-failure=false");
		berth_error_finish(&failure);
	}
	watch(trust);
	return 0;
}
