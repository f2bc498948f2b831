/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trust.h"

#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/reflector.h"

#define FILE_BYTES_MAX (UINT32_C(4) << 20)

/**
 * Replace the bundle by the certificates in pem; "": no certificates. On failure the old bundle
 * stays.
 */
static int set_bundle(struct bt_trust *trust, struct bt_trust_bundle *bundle, struct bt_str pem,
	struct berth_error *err)
{
	struct bt_certificate_authorities *authorities = NULL;
	if (bt_str_equal(bt_strbuf_str(&bundle->pem), pem)) {
		return 0;
	}
	int result =
		pem.length != 0 ? bt_certificate_authorities_create(pem, &authorities, err) : 0;
	if (result != 0) {
		return result;
	}
	bt_certificate_authorities_destroy(bundle->authorities);
	bundle->authorities = authorities;
	bt_strbuf_set(&bundle->pem, pem);
	trust->has_changed = true;
	bt_loop_call_at(trust->options->loop, 0);
	return 0;
}

/** --- ConfigMap kube-system/extension-apiserver-authentication: spec 11 sections 6.1, 9.2 --- */

#define FOLDER "/api/v1/namespaces/kube-system/configmaps"
#define NAME "extension-apiserver-authentication"
#define LOOK_UP_NS (10 * BT_NS_PER_SECOND)

/** Parse data[key], the text of a JSON array of strings; a missing key leaves the list empty. */
static int read_names(struct bt_trust *trust, const struct bt_json_value *data, const char *key,
	bt_str_list *names, struct berth_error *err)
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
	names->items = BT_ARENA_NEW_ARRAY(&trust->arena, struct bt_str, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->elements[i]->type != BT_JSON_STRING) {
			/* not skipped: an empty list of allowed names allows every name */
			return bt_error_set(
				err, BERTH_ERR_INVALID, "%s: element %u is not a string", key, i);
		}
		names->items[names->count++] = list->elements[i]->text;
	}
	return 0;
}

/** Apply the data of the ConfigMap, except what flags set. data NULL: there is no ConfigMap. */
static int set_trust(
	struct bt_trust *trust, const struct bt_json_value *data, struct berth_error *err)
{
	static const char *const keys[] = {
		[BT_TRUST_USERNAME] = "requestheader-username-headers",
		[BT_TRUST_UID] = "requestheader-uid-headers",
		[BT_TRUST_GROUP] = "requestheader-group-headers",
		[BT_TRUST_EXTRA_PREFIX] = "requestheader-extra-headers-prefix",
		[BT_TRUST_ALLOWED_NAMES] = "requestheader-allowed-names",
	};
	const char *key = "client-ca-file";
	int result = 0;
	if (trust->client.path.length == 0) {
		result = set_bundle(trust, &trust->client, bt_json_find_str(data, key), err);
		result = result == 0 ? 0 : bt_error_wrap(err, result, "%s", key);
	}
	if (result == 0 && !trust->is_flagged) {
		memset(trust->lists, 0, sizeof(trust->lists));
		bt_arena_reset(&trust->arena);
		for (size_t i = 0; i < BT_TRUST__LISTS && result == 0; i++) {
			result = read_names(trust, data, keys[i], &trust->lists[i], err);
		}
		if (result != 0) {
			/*
			 * Without the list of allowed names, no certificate of a front proxy may be
			 * accepted.
			 */
			(void)set_bundle(trust, &trust->front, BT_STR(""), NULL);
		} else {
			key = "requestheader-client-ca-file";
			result = set_bundle(trust, &trust->front, bt_json_find_str(data, key), err);
			result = result == 0 ? 0 : bt_error_wrap(err, result, "%s", key);
		}
	}
	return result == 0 ? 0 : bt_error_wrap(err, result, "configmap/%s", NAME);
}

static void on_changed(void *context, struct bt_object *old_map BT_UNUSED,
	struct bt_object *new_map, bool is_stale BT_UNUSED)
{
	struct bt_trust *trust = context;
	struct bt_json_value *document = NULL;
	struct bt_arena arena = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	int result =
		new_map != NULL ? bt_json_parse(&arena, new_map->json, false, &document, &err) : 0;
	if (result == 0) {
		result = set_trust(trust, bt_json_find(document, "data"), &err);
	}
	if (result != 0) {
		BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%s", berth_error_message(&err));
		berth_error_finish(&err);
	}
	bt_arena_finish(&arena);
}

static void on_first_answer(
	void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_trust *trust = context;
	struct bt_json_value *document = NULL;
	struct bt_arena arena;
	(void)call; /* the call ends when this handler returns */
	trust->call = NULL;
	if (answer->class_ == BT_REST_NOT_FOUND) {
		return; /* if the ConfigMap is created later, the watch reports it */
	}
	if (bt_rest_answer_error(answer, &trust->read_error) != 0) {
		return;
	}
	bt_arena_init(&arena, 0);
	if (bt_rest_decode_body(answer, &arena, &document, &trust->read_error) == 0) {
		/* read_config_map returns read_error */
		(void)set_trust(trust, bt_json_find(document, "data"), &trust->read_error);
	}
	bt_arena_finish(&arena);
}

static int read_config_map(struct bt_trust *trust, struct berth_error *err)
{
	int64_t end_ns = bt_loop_now_ns(trust->options->loop) + LOOK_UP_NS;
	struct bt_rest_request request = {
		.method = "GET",
		.path = BT_STR(FOLDER "/" NAME),
		.resource = BT_STR("configmaps"),
		.name = BT_STR(NAME),
		.accept = BT_STR("application/json"),
		.handler = {.context = trust, .done = on_first_answer},
	};
	trust->call = bt_rest_start(trust->options->authentication_client, &request);
	while (trust->call != NULL) {
		int64_t left_ns = end_ns - bt_loop_now_ns(trust->options->loop);
		bool is_stopping = bt_loop_is_stopping(trust->options->loop);
		if (left_ns <= 0 || is_stopping) {
			bt_rest_cancel(trust->call);
			trust->call = NULL;
			return is_stopping
				? 0
				: bt_error_set(err, BERTH_ERR_IO, "context deadline exceeded");
		}
		int result = bt_loop_turn(trust->options->loop, left_ns, err);
		if (result != 0) {
			return result;
		}
	}
	return bt_error_move(err, &trust->read_error);
}

int bt_trust_read_config_map(struct bt_trust *trust, struct berth_error *err)
{
	const struct bt_authentication_options *options = &trust->options->options->authentication;
	struct berth_error failure = BERTH_ERROR_INIT;
	bool is_complete = trust->client.path.length != 0 && trust->is_flagged;
	if (trust->options->authentication_client == NULL || options->skip_lookup || is_complete) {
		return 0;
	}
	int result = read_config_map(trust, &failure);
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
	struct bt_reflector_options reflector = {
		.client = trust->options->authentication_client,
		.loop = trust->options->loop,
		.prng = &trust->prng,
		.decode_json = bt_object_decode_metadata,
		.path = BT_STR(FOLDER),
		.field_selector = BT_STR("metadata.name=" NAME),
		.type_name = "*v1.ConfigMap",
		.name = "configmaps",
		.streaming = bt_daemon_streams_lists(&trust->options->options->gates),
		.sink = {.context = trust, .changed = on_changed},
	};
	trust->reflector = bt_reflector_create(&reflector);
	return 0;
}

static int bundle_read(
	struct bt_trust *trust, struct bt_trust_bundle *bundle, struct berth_error *err)
{
	struct bt_strbuf pem = {0};
	const char *path = bundle->path.data;
	(void)bt_client_file_stamp_update(&bundle->stamp, path);
	int result = bt_client_file_read(path, FILE_BYTES_MAX, &pem, err);
	if (result == 0 && pem.length == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"\"%s\": data does not contain any valid RSA or ECDSA certificates", path);
	} else if (result == 0) {
		result = set_bundle(trust, bundle, bt_strbuf_str(&pem), err);
		result = result == 0 ? 0 : bt_error_wrap(err, result, "\"%s\"", path);
	}
	bt_strbuf_finish(&pem);
	return result;
}

void bt_trust_refresh(struct bt_trust *trust, bool is_due)
{
	struct bt_trust_bundle *bundles[] = {&trust->client, &trust->front};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bundles); i++) {
		struct bt_trust_bundle *bundle = bundles[i];
		struct berth_error err = BERTH_ERROR_INIT;
		bool is_read = bundle->path.length != 0 &&
			(bt_client_file_stamp_update(&bundle->stamp, bundle->path.data) || is_due);
		if (is_read && bundle_read(trust, bundle, &err) != 0) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%s: %s", bundle->flag,
				berth_error_message(&err));
			berth_error_finish(&err);
		}
	}
}

int bt_trust_create(const struct bt_endpoints_options *options, uint64_t seed,
	struct bt_trust **out_trust, struct berth_error *err)
{
	struct bt_trust *trust = BT_NEW(struct bt_trust);
	const struct bt_authentication_options *flags = &options->options->authentication;
	int result = 0;
	trust->options = options;
	bt_prng_init(&trust->prng, seed);
	bt_arena_init(&trust->arena, 0);
	trust->client.flag = "--client-ca-file";
	trust->client.path = flags->client_ca_file;
	trust->front.flag = "--requestheader-client-ca-file";
	trust->front.path = flags->requestheader_client_ca_file;
	trust->is_flagged = trust->front.path.length != 0;
	if (trust->is_flagged) {
		const bt_str_list *lists[] = {
			[BT_TRUST_USERNAME] = &flags->requestheader_username_headers,
			[BT_TRUST_UID] = &flags->requestheader_uid_headers,
			[BT_TRUST_GROUP] = &flags->requestheader_group_headers,
			[BT_TRUST_EXTRA_PREFIX] = &flags->requestheader_extra_prefixes,
			[BT_TRUST_ALLOWED_NAMES] = &flags->requestheader_allowed_names,
		};
		for (size_t i = 0; i < BT_TRUST__LISTS; i++) {
			trust->lists[i] = *lists[i];
		}
	}
	if (trust->client.path.length != 0) {
		result = bundle_read(trust, &trust->client, err);
		result = result == 0
			? 0
			: bt_error_wrap(err, result, "unable to load client CA provider");
	}
	if (result == 0 && trust->front.path.length != 0) {
		result = bundle_read(trust, &trust->front, err);
		result = result == 0 ? 0 : bt_error_wrap(err, result, "%s", trust->front.flag);
	}
	if (result != 0) {
		bt_trust_destroy(trust);
		return result;
	}
	*out_trust = trust;
	return 0;
}

void bt_trust_destroy(struct bt_trust *trust)
{
	if (trust == NULL) {
		return;
	}
	bt_reflector_destroy(trust->reflector);
	if (trust->call != NULL) {
		bt_rest_cancel(trust->call);
	}
	berth_error_finish(&trust->read_error);
	bt_arena_finish(&trust->arena);
	bt_certificate_authorities_destroy(trust->client.authorities);
	bt_certificate_authorities_destroy(trust->front.authorities);
	bt_strbuf_finish(&trust->client.pem);
	bt_strbuf_finish(&trust->front.pem);
	bt_free(trust);
}

void bt_trust_write_pem(const struct bt_trust *trust, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, bt_strbuf_str(&trust->client.pem));
	/* a file need not end with a newline */
	bt_strbuf_append_c(out, trust->client.pem.length != 0 ? "\n" : "");
	bt_strbuf_append_str(out, bt_strbuf_str(&trust->front.pem));
}
