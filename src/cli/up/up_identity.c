/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/up/up_identity.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cluster/file.h"
#include "codec/base64.h"
#include "net/file_replace.h"

#define PEM_BYTES_MAX ((size_t)1 << 20)
#define TOKEN_BYTES 24
#define TOKEN_LENGTH_MIN 16
/* A certificate in the data folder is replaced if it is valid for less than this. */
#define RENEWAL_SECONDS INT64_C(86400)

/** --- files --- */

static int write_private_file(const char *path, struct bt_str content, struct berth_error *err)
{
	int number = bt_file_replace(path, 0600, content);
	return number == 0 ? 0 : bt_error_set(err, BERTH_ERR_IO, "%s: %s", path, strerror(number));
}

static int read_text_file(const char *path, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_file file;
	int result = bt_file_read(path, PEM_BYTES_MAX, &file, err);
	if (result < 0) {
		return bt_error_wrap(err, result, "%s", path);
	}
	bt_strbuf_append(out, file.data, file.length);
	bt_file_finish(&file);
	return 0;
}

/** --- files of the data folder --- */

/** Paths of the files in the data folder; all NULL without a data folder. */
struct kept_files {
	const char *ca_certificate;
	const char *ca_key;
	const char *certificate;
	const char *key;
	const char *token;
};

static int read_pair(const char *certificate_path, const char *key_path,
	struct bt_certificate_pair *out_pair, struct berth_error *err)
{
	int result = read_text_file(certificate_path, &out_pair->certificate, err);
	return result < 0 ? result : read_text_file(key_path, &out_pair->key, err);
}

static int write_pair(const char *certificate_path, const char *key_path,
	const struct bt_certificate_pair *pair, struct berth_error *err)
{
	/* Write the key first: a certificate without a key would be reported as a broken pair. */
	int result = write_private_file(key_path, bt_strbuf_str(&pair->key), err);
	return result < 0
		? result
		: write_private_file(certificate_path, bt_strbuf_str(&pair->certificate), err);
}

/** --- creation --- */

/**
 * Get the CA and the server's pair. A CA in the data folder, or a valid server pair for this
 * address, is reused, because clients may have pinned it; otherwise a new one is made.
 */
static int make_pair(const struct bt_up_identity_options *options, const struct kept_files *files,
	struct bt_up_identity *identity, struct berth_error *err)
{
	bool is_kept = options->data_dir != NULL;
	int result;
	if (is_kept && access(files->ca_certificate, F_OK) == 0) {
		result = read_pair(files->ca_certificate, files->ca_key, &identity->ca, err);
	} else {
		result = bt_certificate_make_ca("berth", options->now_seconds, &identity->ca, err);
		if (result == 0 && is_kept) {
			result = write_pair(
				files->ca_certificate, files->ca_key, &identity->ca, err);
		}
	}
	if (result < 0) {
		return result;
	}
	/* A certificate cannot name a wildcard address, so it names the host instead. */
	bool is_any = strcmp(options->listen->address, "0.0.0.0") == 0 ||
		strcmp(options->listen->address, "::") == 0;
	char host[256] = "localhost";
	(void)gethostname(host, sizeof(host) - 1); /* host names have at most 64 bytes */
	const char *names[] = {"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default",
		"kubernetes.default.svc", is_any ? host : options->listen->address};
	if (is_kept && access(files->certificate, F_OK) == 0) {
		result = read_pair(files->certificate, files->key, &identity->server, err);
		if (result < 0 ||
			bt_certificate_check(&identity->server, names[BT_ARRAY_LENGTH(names) - 1],
				options->now_seconds, options->now_seconds + RENEWAL_SECONDS,
				NULL) == 0) {
			return result;
		}
		bt_certificate_pair_finish(&identity->server);
		identity->server = (struct bt_certificate_pair){0};
	}
	result = bt_certificate_make_server(&identity->ca, names, BT_ARRAY_LENGTH(names),
		options->now_seconds, &identity->server, err);
	if (result == 0 && is_kept) {
		result = write_pair(files->certificate, files->key, &identity->server, err);
	}
	return result;
}

/**
 * Read the token, which must be valid in HTTP headers and in the kubeconfig. A short token is
 * refused, since clients could guess it.
 */
static int read_token(const char *path, struct bt_strbuf *out, struct berth_error *err)
{
	int result = read_text_file(path, out, err);
	if (result < 0) {
		return result;
	}
	while (out->length != 0 && out->data[out->length - 1] == '\n') {
		out->data[--out->length] = '\0';
	}
	bool is_good = out->length >= TOKEN_LENGTH_MIN;
	for (uint32_t i = 0; i < out->length; i++) {
		is_good = is_good && isalnum((unsigned char)out->data[i]) != 0;
	}
	return is_good ? 0
		       : bt_error_set(err, BERTH_ERR_INVALID,
				 "%s: not a token of at least %d letters and digits; remove the "
				 "file to get a new one",
				 path, TOKEN_LENGTH_MIN);
}

int bt_up_identity_create(const struct bt_up_identity_options *options,
	struct bt_up_identity *out_identity, struct berth_error *err)
{
	struct bt_up_identity identity = {0};
	struct kept_files files = {0};
	struct bt_arena arena = {0};
	int result = 0;
	if (options->is_plain) {
		*out_identity = identity;
		return 0;
	}
	if (options->data_dir != NULL) {
		const char *data_dir = options->data_dir;
		files.ca_certificate = bt_arena_printf(&arena, "%s/ca.crt", data_dir).data;
		files.ca_key = bt_arena_printf(&arena, "%s/ca.key", data_dir).data;
		files.certificate = bt_arena_printf(&arena, "%s/apiserver.crt", data_dir).data;
		files.key = bt_arena_printf(&arena, "%s/apiserver.key", data_dir).data;
		files.token = bt_arena_printf(&arena, "%s/token", data_dir).data;
	}
	if (options->listen->certificate_path == NULL) {
		result = make_pair(options, &files, &identity, err);
	} else {
		result = read_pair(options->listen->certificate_path, options->listen->key_path,
			&identity.server, err);
		if (result == 0) {
			result = bt_certificate_check(&identity.server, NULL, options->now_seconds,
				options->now_seconds, err);
			result = result < 0 ? bt_error_wrap(err, result, "%s",
						      options->listen->certificate_path)
					    : 0;
		}
		/*
		 * The certificate file is also the CA bundle of the kubeconfig: clients trust the
		 * CA certificates in it, or the certificate itself if it is self-signed.
		 */
		if (result == 0) {
			bt_strbuf_append_str(&identity.ca.certificate,
				bt_strbuf_str(&identity.server.certificate));
		}
	}
	if (result == 0 && options->data_dir != NULL && access(files.token, F_OK) == 0) {
		result = read_token(files.token, &identity.token, err);
	} else if (result == 0) {
		result = bt_random_hex(TOKEN_BYTES, &identity.token, err);
		if (result == 0 && options->data_dir != NULL) {
			result = write_private_file(
				files.token, bt_strbuf_str(&identity.token), err);
		}
	}
	bt_arena_finish(&arena);
	if (result < 0) {
		bt_up_identity_finish(&identity);
		return result;
	}
	*out_identity = identity;
	return 0;
}

void bt_up_identity_finish(struct bt_up_identity *identity)
{
	bt_certificate_pair_finish(&identity->ca);
	bt_certificate_pair_finish(&identity->server);
	bt_strbuf_finish(&identity->token);
}

/** --- kubeconfig --- */

int bt_up_kubeconfig_write(const struct bt_up_identity *identity, const char *server,
	const char *path, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	bt_strbuf_printf(&text,
		"apiVersion: v1\n"
		"kind: Config\n"
		"current-context: berth\n"
		"clusters:\n"
		"- name: berth\n"
		"  cluster:\n"
		"    server: %s\n",
		server);
	if (identity->ca.certificate.length != 0) {
		bt_strbuf_append_c(&text, "    certificate-authority-data: ");
		bt_base64_encode(bt_strbuf_str(&identity->ca.certificate), &text);
		bt_strbuf_append_char(&text, '\n');
	} else {
		/* The JavaScript client refuses a plain HTTP cluster without this field. */
		bt_strbuf_append_c(&text, "    insecure-skip-tls-verify: true\n");
	}
	bt_strbuf_append_c(&text,
		"contexts:\n"
		"- name: berth\n"
		"  context:\n"
		"    cluster: berth\n"
		"    user: admin\n"
		"users:\n"
		"- name: admin\n");
	if (identity->token.length != 0) {
		bt_strbuf_printf(&text, "  user:\n    token: %s\n", bt_strbuf_c(&identity->token));
	} else {
		bt_strbuf_append_c(&text, "  user: {}\n");
	}
	int result = write_private_file(path, bt_strbuf_str(&text), err);
	bt_strbuf_finish(&text);
	return result;
}
