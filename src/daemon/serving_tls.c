/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serving_tls.h"

#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "client/file.h"
#include "net/certificate.h"
#include "net/file_replace.h"

#define FILE_BYTES_MAX (UINT32_C(1) << 20)

/** A certificate, its key, and their files. */
struct pair {
	const char *certificate_file; /* NULL: self-signed, not read from a file */
	const char *key_file;
	bool is_sni;
	struct bt_client_file_stamp certificate_stamp;
	struct bt_client_file_stamp key_stamp;
	struct bt_certificate_pair pem;
	char *complaint; /* the last logged error, which is not logged again; owned */
};

struct bt_serving_tls {
	const struct bt_serving_options *options;
	struct pair *pairs; /* the default pair first */
	uint32_t pair_count;
	struct bt_http_sni_pair *sni; /* for all pairs but the first */
	struct bt_arena arena;        /* of the names of files */
};

/** Read the files. *out_changed: the new pair differs from the old pair. */
static int pair_read(struct pair *pair, bool *out_changed, struct berth_error *err)
{
	struct bt_certificate_pair pem = {.key = {0}};
	struct bt_client_file_stamp certificate_stamp = {0};
	struct bt_client_file_stamp key_stamp = {0};
	(void)bt_client_file_stamp_update(&certificate_stamp, pair->certificate_file);
	(void)bt_client_file_stamp_update(&key_stamp, pair->key_file);
	int result =
		bt_client_file_read(pair->certificate_file, FILE_BYTES_MAX, &pem.certificate, err);
	if (result == 0) {
		result = bt_client_file_read(pair->key_file, FILE_BYTES_MAX, &pem.key, err);
	}
	struct bt_str certificate = bt_strbuf_str(&pem.certificate);
	struct bt_str key = bt_strbuf_str(&pem.key);
	if (result == 0) {
		result = bt_client_pem_check_pair(certificate, key, err);
	}
	if (result != 0) {
		bt_certificate_pair_finish(&pem);
		/* Errors name the flag, so that users know where to look. */
		return pair->is_sni
			? bt_error_wrap(err, result, "--tls-sni-cert-key \"%s,%s\"",
				  pair->certificate_file, pair->key_file)
			: bt_error_wrap(err, result,
				  "--tls-cert-file \"%s\", --tls-private-key-file \"%s\"",
				  pair->certificate_file, pair->key_file);
	}
	pair->certificate_stamp = certificate_stamp;
	pair->key_stamp = key_stamp;
	*out_changed = !bt_str_equal(bt_strbuf_str(&pair->pem.certificate), certificate) ||
		!bt_str_equal(bt_strbuf_str(&pair->pem.key), key);
	struct bt_certificate_pair old = pair->pem;
	pair->pem = pem;
	bt_certificate_pair_finish(&old);
	return 0;
}

bool bt_serving_tls_refresh(struct bt_serving_tls *serving, bool is_due)
{
	bool has_changed = false;
	for (uint32_t i = 0; i < serving->pair_count; i++) {
		struct pair *pair = &serving->pairs[i];
		struct berth_error err = BERTH_ERROR_INIT;
		bool is_new = false;
		struct bt_client_file_stamp certificate_stamp = pair->certificate_stamp;
		struct bt_client_file_stamp key_stamp = pair->key_stamp;
		if (pair->certificate_file == NULL ||
			(!is_due &&
				!bt_client_file_stamp_update(
					&certificate_stamp, pair->certificate_file) &&
				!bt_client_file_stamp_update(&key_stamp, pair->key_file))) {
			continue;
		}
		if (pair_read(pair, &is_new, &err) == 0) {
			bt_free(pair->complaint);
			pair->complaint = NULL;
			has_changed = is_new || has_changed;
			continue;
		}
		/* Perhaps only one file is replaced so far: both files are read again later. */
		const char *text = berth_error_message(&err);
		if (pair->complaint == NULL || strcmp(pair->complaint, text) != 0) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_ERROR, "%s", text);
			bt_free(pair->complaint);
			pair->complaint = bt_strndup(text, strlen(text));
		}
		berth_error_finish(&err);
	}
	return has_changed;
}

bool bt_serving_tls_has_files(const struct bt_serving_tls *serving)
{
	return serving->pairs[0].certificate_file != NULL || serving->pair_count > 1;
}

static int write_file(
	const char *path, unsigned int mode, struct bt_str content, struct berth_error *err)
{
	int number = bt_file_replace(path, mode, content);
	return number == 0 ? 0 : bt_client_file_fail("open", path, number, err);
}

static int make_pair(const struct bt_serving_options *options, int64_t now_seconds,
	struct bt_certificate_pair *out_pem, struct berth_error *err)
{
	struct bt_str address = options->bind_address;
	bool is_any = address.length == 0 || bt_str_equal(address, BT_STR("0.0.0.0")) ||
		bt_str_equal(address, BT_STR("::")) || bt_str_equal(address, BT_STR("127.0.0.1"));
	return bt_certificate_make_serving(is_any ? NULL : address.data, now_seconds, out_pem, err);
}

/** Use <cert-dir>/kube-scheduler.crt and .key; create both if neither exists. */
static int pair_of_folder(struct bt_serving_tls *serving, struct pair *pair, int64_t now_seconds,
	struct berth_error *err)
{
	const struct bt_serving_options *options = serving->options;
	struct bt_certificate_pair pem = {.key = {0}};
	const char *folder = options->cert_dir.data;
	pair->certificate_file =
		bt_arena_printf(&serving->arena, "%s/kube-scheduler.crt", folder).data;
	pair->key_file = bt_arena_printf(&serving->arena, "%s/kube-scheduler.key", folder).data;
	bool has_certificate = access(pair->certificate_file, F_OK) == 0;
	bool has_key = access(pair->key_file, F_OK) == 0;
	int result = 0;
	if (has_certificate != has_key) {
		result = bt_error_set(err, BERTH_ERR_INVALID,
			"--cert-dir: error reading %s, certificate and key must be supplied as a "
			"pair",
			has_key ? pair->certificate_file : pair->key_file);
	} else if (!has_certificate) {
		char *copy = bt_strndup(folder, strlen(folder));
		int number = bt_make_folders(copy, 0755);
		result = number == 0 ? 0 : bt_client_file_fail("mkdir", copy, number, err);
		bt_free(copy);
		result = result != 0 ? result : make_pair(options, now_seconds, &pem, err);
		result = result != 0 ? result
				     : write_file(pair->certificate_file, 0644,
					       bt_strbuf_str(&pem.certificate), err);
		result = result != 0
			? result
			: write_file(pair->key_file, 0600, bt_strbuf_str(&pem.key), err);
		if (result == 0) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Generated self-signed cert (%s, %s)",
				pair->certificate_file, pair->key_file);
		}
	}
	bt_certificate_pair_finish(&pem);
	return result == 0 ? 0
			   : bt_error_wrap(err, result, "error creating self-signed certificates");
}

static int first_pair(struct bt_serving_tls *serving, int64_t now_seconds, struct berth_error *err)
{
	const struct bt_serving_options *options = serving->options;
	struct pair *pair = &serving->pairs[0];
	bool has_changed;
	if (options->cert_file.length != 0 || options->key_file.length != 0) {
		if (options->cert_file.length == 0 || options->key_file.length == 0) {
			return bt_error_set(
				err, BERTH_ERR_INVALID, "missing filename for serving cert");
		}
		pair->certificate_file = options->cert_file.data;
		pair->key_file = options->key_file.data;
		return pair_read(pair, &has_changed, err);
	}
	if (options->cert_dir.length != 0) {
		int result = pair_of_folder(serving, pair, now_seconds, err);
		return result != 0 ? result : pair_read(pair, &has_changed, err);
	}
	int result = make_pair(options, now_seconds, &pair->pem, err);
	if (result != 0) {
		return bt_error_wrap(err, result, "error creating self-signed certificates");
	}
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Generated self-signed cert in-memory");
	return 0;
}

int bt_serving_tls_create(const struct bt_serving_options *options, int64_t now_seconds,
	struct bt_serving_tls **out_serving, struct berth_error *err)
{
	struct bt_serving_tls *serving = BT_NEW(struct bt_serving_tls);
	bool has_changed;
	serving->options = options;
	serving->pair_count = options->sni.count + 1;
	serving->pairs = BT_NEW_ARRAY(struct pair, serving->pair_count);
	serving->sni = BT_NEW_ARRAY(struct bt_http_sni_pair, options->sni.count);
	int result = first_pair(serving, now_seconds, err);
	for (uint32_t i = 0; i < options->sni.count && result == 0; i++) {
		const struct bt_sni_certificate *sni = &options->sni.items[i];
		struct pair *pair = &serving->pairs[i + 1];
		pair->is_sni = true;
		pair->certificate_file = bt_arena_str(&serving->arena, sni->certificate_file).data;
		pair->key_file = bt_arena_str(&serving->arena, sni->key_file).data;
		serving->sni[i].names = sni->names.items;
		serving->sni[i].name_count = sni->names.count;
		result = pair_read(pair, &has_changed, err);
	}
	if (result != 0) {
		bt_serving_tls_destroy(serving);
		return result;
	}
	*out_serving = serving;
	return 0;
}

void bt_serving_tls_destroy(struct bt_serving_tls *serving)
{
	if (serving == NULL) {
		return;
	}
	for (uint32_t i = 0; i < serving->pair_count; i++) {
		struct pair *pair = &serving->pairs[i];
		bt_certificate_pair_finish(&pair->pem);
		bt_free(pair->complaint);
	}
	bt_arena_finish(&serving->arena);
	bt_free(serving->sni);
	bt_free(serving->pairs);
	bt_free(serving);
}

void bt_serving_tls_certificates(
	const struct bt_serving_tls *serving, struct bt_http_certificates *out_certificates)
{
	for (uint32_t i = 1; i < serving->pair_count; i++) {
		const struct bt_certificate_pair *pem = &serving->pairs[i].pem;
		serving->sni[i - 1].certificate_pem = bt_strbuf_c(&pem->certificate);
		serving->sni[i - 1].key_pem = bt_strbuf_c(&pem->key);
	}
	*out_certificates = (struct bt_http_certificates){
		.certificate_pem = bt_strbuf_c(&serving->pairs[0].pem.certificate),
		.key_pem = bt_strbuf_c(&serving->pairs[0].pem.key),
		.sni = serving->sni,
		.sni_count = serving->pair_count - 1,
	};
}
