/* SPDX-License-Identifier: Apache-2.0 */
#include "client/exec_credential.h"

#include "api/types.h"
#include "base/nanoseconds.h"
#include "client/pem.h"
#include "codec/base64.h"

int bt_exec_check_version(const struct bt_client_exec *exec, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int code;

	if (bt_str_equal_c(exec->api_version, "client.authentication.k8s.io/v1") ||
		bt_str_equal_c(exec->api_version, "client.authentication.k8s.io/v1beta1")) {
		return 0;
	}
	bt_strbuf_append_quoted(&text, exec->api_version);
	code = bt_error_set(
		err, BERTH_ERR_INVALID, "exec plugin: invalid apiVersion %s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

/* --- what it is told --- */

static void write_member(struct bt_json_writer *writer, const char *name, struct bt_str value)
{
	if (value.length != 0) {
		bt_json_write_member(writer, name, value);
	}
}

static void write_cluster(
	struct bt_json_writer *writer, const struct bt_client_config *config, struct bt_str ca)
{
	struct bt_strbuf encoded = {0};

	bt_json_write_name_c(writer, "cluster");
	bt_json_begin_object(writer);
	write_member(writer, "server", config->server);
	write_member(writer, "tls-server-name", config->tls_server_name);
	if (config->insecure) {
		bt_json_write_name_c(writer, "insecure-skip-tls-verify");
		bt_json_write_bool(writer, true);
	}
	bt_base64_encode(ca, &encoded);
	write_member(writer, "certificate-authority-data", bt_strbuf_str(&encoded));
	bt_strbuf_finish(&encoded);
	write_member(writer, "proxy-url", config->proxy_url);
	/* The scheduler never asks for compression, whatever the kubeconfig says. */
	bt_json_write_name_c(writer, "disable-compression");
	bt_json_write_bool(writer, true);
	if (config->exec->cluster_extension.length != 0) {
		bt_json_write_name_c(writer, "config");
		bt_json_write_raw(writer, config->exec->cluster_extension);
	}
	bt_json_end_object(writer);
}

void bt_exec_write_info(const struct bt_client_config *config, struct bt_str ca, bool interactive,
	struct bt_strbuf *out)
{
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, out, 0);
	writer.escape_html = true;
	bt_json_begin_object(&writer);
	write_member(&writer, "kind", BT_STR("ExecCredential"));
	write_member(&writer, "apiVersion", config->exec->api_version);
	bt_json_write_name_c(&writer, "spec");
	bt_json_begin_object(&writer);
	if (config->exec->provide_cluster_info) {
		write_cluster(&writer, config, ca);
	}
	bt_json_write_name_c(&writer, "interactive");
	bt_json_write_bool(&writer, interactive);
	bt_json_end_object(&writer);
	bt_json_end_object(&writer);
	bt_strbuf_append_char(out, '\n');
}

/* --- what it answers --- */

static int decode(struct bt_str output, struct bt_arena *arena,
	struct bt_exec_credential_answer *out_answer, struct berth_error *err)
{
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, output);
	code = bt_message_decode_json(
		&bt_exec_credential_answer_message, &reader, arena, out_answer, err);
	if (code == 0) {
		code = bt_json_expect_end(&reader, err);
	}
	if (code == 0 && !bt_str_equal_c(out_answer->kind, "ExecCredential")) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			out_answer->kind.length == 0 ? "Object 'Kind' is missing"
						     : "the object is no ExecCredential");
	}
	return code != 0 ? bt_error_wrap(err, code, "decoding stdout") : 0;
}

static int check_answer(const struct bt_exec_credential_answer *answer, struct bt_str api_version,
	struct berth_error *err)
{
	const struct bt_exec_credential_status *status = answer->status;

	if (!bt_str_equal(answer->api_version, api_version)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin is configured to use API version %.*s, plugin returned "
			"version %.*s",
			BT_STR_ARG(api_version), BT_STR_ARG(answer->api_version));
	}
	if (status == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "exec plugin didn't return a status field");
	}
	if (status->token.length == 0 && status->client_certificate_data.length == 0 &&
		status->client_key_data.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin didn't return a token or cert/key pair");
	}
	if ((status->client_certificate_data.length == 0) !=
		(status->client_key_data.length == 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"exec plugin returned only certificate or key, not both");
	}
	return 0;
}

static int take_answer(const struct bt_exec_credential_answer *answer,
	struct bt_exec_credential *out, struct berth_error *err)
{
	const struct bt_exec_credential_status *status = answer->status;

	out->token = bt_arena_str(&out->arena, status->token);
	if (status->expiration_timestamp != NULL && status->expiration_timestamp->set) {
		out->expires = true;
		const struct bt_time *time = status->expiration_timestamp;
		int64_t ns = bt_ns_of_seconds(time->seconds);
		int64_t sum;
		out->expiry_ns = BT_ADD_OVERFLOW(ns, time->nanoseconds, &sum) ? ns : sum;
	}
	if (status->client_certificate_data.length != 0) {
		int code;
		out->certificate = bt_arena_str(&out->arena, status->client_certificate_data);
		out->key = bt_arena_str(&out->arena, status->client_key_data);
		code = bt_client_pem_check_pair(out->certificate, out->key, err);
		if (code != 0) {
			return bt_error_wrap(err, code, "failed parsing client key/certificate");
		}
	}
	return 0;
}

int bt_exec_credential_read(struct bt_str output, struct bt_str api_version,
	struct bt_exec_credential *out_credential, struct berth_error *err)
{
	struct bt_exec_credential credential = {0};
	struct bt_exec_credential_answer answer = {0};
	int code = decode(output, &credential.arena, &answer, err);

	if (code == 0) {
		code = check_answer(&answer, api_version, err);
	}
	if (code == 0) {
		code = take_answer(&answer, &credential, err);
	}
	if (code != 0) {
		bt_exec_credential_finish(&credential);
		return code;
	}
	*out_credential = credential;
	return 0;
}

void bt_exec_credential_finish(struct bt_exec_credential *credential)
{
	bt_arena_finish_wiped(&credential->arena);
	*credential = (struct bt_exec_credential){0};
}
