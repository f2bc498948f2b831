/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trust.h"

#include "base/log.h"
#include "base/nanoseconds.h"

#define CHECK_EVERY_NS BT_NS_PER_SECOND
#define READ_EVERY_NS (60 * BT_NS_PER_SECOND)
#define FILE_BYTES_MAX (UINT32_C(4) << 20)

/** authorities: consumed. */
static void replace(struct bt_trust *trust, struct bt_trust_bundle *bundle, struct bt_str pem,
	struct bt_certificate_authorities *authorities)
{
	bt_certificate_authorities_destroy(bundle->authorities);
	bundle->authorities = authorities;
	bt_strbuf_reset(&bundle->pem);
	bt_strbuf_append_str(&bundle->pem, pem);
	if (trust->setup.changed != NULL) {
		trust->setup.changed(trust->setup.context);
	}
}

void bt_trust_bundle_clear(struct bt_trust *trust, struct bt_trust_bundle *bundle)
{
	if (bundle->authorities != NULL) {
		replace(trust, bundle, BT_STR(""), NULL);
	}
}

int bt_trust_bundle_set(struct bt_trust *trust, struct bt_trust_bundle *bundle, struct bt_str pem,
	struct berth_error *err)
{
	struct bt_certificate_authorities *authorities = NULL;
	if (pem.length == 0) {
		bt_trust_bundle_clear(trust, bundle);
		return 0;
	}
	if (bt_str_equal(bt_strbuf_str(&bundle->pem), pem)) {
		return 0;
	}
	int result = bt_certificate_authorities_create(pem, &authorities, err);
	if (result == 0) {
		replace(trust, bundle, pem, authorities);
	}
	return result;
}

static void bundle_finish(struct bt_trust_bundle *bundle)
{
	bt_certificate_authorities_destroy(bundle->authorities);
	bt_strbuf_finish(&bundle->pem);
}

static int bundle_read(
	struct bt_trust *trust, struct bt_trust_bundle *bundle, struct berth_error *err)
{
	struct bt_strbuf pem = {0};
	char *path = bt_strndup(bundle->path.data, bundle->path.length);
	bundle->stamp = bt_client_file_stamp(path);
	int result = bt_client_file_read(path, FILE_BYTES_MAX, &pem, err);
	if (result == 0 && pem.length == 0) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"\"%s\": data does not contain any valid RSA or ECDSA certificates", path);
	} else if (result == 0) {
		result = bt_trust_bundle_set(trust, bundle, bt_strbuf_str(&pem), err);
		result = result == 0 ? 0 : bt_error_wrap(err, result, "\"%s\"", path);
	}
	bt_strbuf_finish(&pem);
	bt_free(path);
	return result;
}

/** Again, when the file is another one or a minute is over. */
static void bundle_refresh(struct bt_trust *trust, struct bt_trust_bundle *bundle, bool is_due)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (bundle->path.length == 0) {
		return;
	}
	if (!is_due) {
		char *path = bt_strndup(bundle->path.data, bundle->path.length);
		struct bt_client_file_stamp stamp = bt_client_file_stamp(path);
		bt_free(path);
		if (bt_client_file_stamp_equal(&stamp, &bundle->stamp)) {
			return;
		}
	}
	if (bundle_read(trust, bundle, &err) != 0) {
		BT_LOG_TEXT(
			BT_LOG_SEVERITY_ERROR, "%s: %s", bundle->flag, berth_error_message(&err));
		berth_error_finish(&err);
	}
}

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_trust *trust = context;
	if (trust->client.path.length == 0 && trust->front.path.length == 0) {
		return INT64_MAX;
	}
	if (now_ns >= trust->check_ns) {
		bool is_due = now_ns >= trust->read_ns;
		bundle_refresh(trust, &trust->client, is_due);
		bundle_refresh(trust, &trust->front, is_due);
		trust->check_ns = now_ns + CHECK_EVERY_NS;
		trust->read_ns = is_due ? now_ns + READ_EVERY_NS : trust->read_ns;
	}
	return trust->check_ns;
}

/** --- names --- */

void bt_trust_reset_headers(struct bt_trust *trust)
{
	bt_vec_finish(&trust->headers.username.names);
	bt_vec_finish(&trust->headers.uid.names);
	bt_vec_finish(&trust->headers.group.names);
	bt_vec_finish(&trust->headers.extra_prefix.names);
	bt_vec_finish(&trust->headers.allowed.names);
	bt_arena_reset(&trust->arena);
}

static void copy_names(struct bt_trust_names *names, const bt_str_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bt_vec_push(&names->names, list->items[i]);
	}
}

static void take_flags(struct bt_trust *trust)
{
	const struct bt_authentication_options *options = trust->setup.options;
	trust->is_flagged = options->requestheader_client_ca_file.length != 0;
	if (!trust->is_flagged) {
		return;
	}
	copy_names(&trust->headers.username, &options->requestheader_username_headers);
	copy_names(&trust->headers.uid, &options->requestheader_uid_headers);
	copy_names(&trust->headers.group, &options->requestheader_group_headers);
	copy_names(&trust->headers.extra_prefix, &options->requestheader_extra_prefixes);
	copy_names(&trust->headers.allowed, &options->requestheader_allowed_names);
}

/** --- life --- */

int bt_trust_create(
	const struct bt_trust_setup *setup, struct bt_trust **out_trust, struct berth_error *err)
{
	struct bt_trust *trust = BT_NEW(struct bt_trust);
	int64_t now_ns = bt_loop_now_ns(setup->loop);
	int result = 0;
	trust->setup = *setup;
	trust->setup.changed = NULL; /* nobody needs to be told of the beginning */
	bt_prng_init(&trust->prng, setup->seed);
	bt_arena_init(&trust->arena, 0);
	trust->client.flag = "--client-ca-file";
	trust->client.path = setup->options->client_ca_file;
	trust->front.flag = "--requestheader-client-ca-file";
	trust->front.path = setup->options->requestheader_client_ca_file;
	trust->check_ns = now_ns + CHECK_EVERY_NS;
	trust->read_ns = now_ns + READ_EVERY_NS;
	take_flags(trust);
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
	bt_loop_add_worker(setup->loop, work, trust);
	if (result != 0) {
		bt_trust_destroy(trust);
		return result;
	}
	trust->setup.changed = setup->changed;
	*out_trust = trust;
	return 0;
}

void bt_trust_destroy(struct bt_trust *trust)
{
	if (trust == NULL) {
		return;
	}
	bt_loop_remove_worker(trust->setup.loop, trust);
	bt_reflector_destroy(trust->reflector);
	if (trust->call != NULL) {
		bt_rest_cancel(trust->call);
	}
	berth_error_finish(&trust->look_error);
	bt_trust_reset_headers(trust);
	bt_arena_finish(&trust->arena);
	bundle_finish(&trust->client);
	bundle_finish(&trust->front);
	bt_free(trust);
}

const struct bt_certificate_authorities *bt_trust_client_ca(const struct bt_trust *trust)
{
	return trust->client.authorities;
}

const struct bt_certificate_authorities *bt_trust_front_ca(const struct bt_trust *trust)
{
	return trust->front.authorities;
}

const struct bt_trust_headers *bt_trust_headers(const struct bt_trust *trust)
{
	return &trust->headers;
}

void bt_trust_write_pem(const struct bt_trust *trust, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, bt_strbuf_str(&trust->client.pem));
	/* a file need not end with a newline */
	bt_strbuf_append_c(out, trust->client.pem.length != 0 ? "\n" : "");
	bt_strbuf_append_str(out, bt_strbuf_str(&trust->front.pem));
}
