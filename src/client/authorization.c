/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport_private.h"

#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/config_private.h"
#include "client/file.h"
#include "codec/base64.h"

/*
 * Upstream caches a file's token for one minute, and reads the file again ten seconds before the
 * cached token expires.
 */
#define TOKEN_FRESH_NS (50 * BT_NS_PER_SECOND)

static bool is_header_value(struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
			return false;
		}
	}
	return true;
}

static void set_value(struct bt_authorization *authorization, struct bt_strbuf *value)
{
	bt_strbuf_finish_wiped(&authorization->value);
	authorization->value = *value;
	authorization->headers[0].value = bt_strbuf_str(&authorization->value);
}

int bt_authorization_set_token(
	struct bt_authorization *authorization, struct bt_str token, struct berth_error *err)
{
	struct bt_strbuf value = {0};

	if (!is_header_value(token)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"net/http: invalid header field value for \"%s\"", "Authorization");
	}
	if (token.length != 0) {
		bt_strbuf_reserve(&value, (size_t)token.length + sizeof("Bearer "));
		bt_strbuf_append_c(&value, "Bearer ");
		bt_strbuf_append_str(&value, token);
	}
	set_value(authorization, &value);
	return 0;
}

static int read_token(struct bt_authorization *authorization, int64_t now_ns, const char *path,
	struct berth_error *err)
{
	struct bt_strbuf content = {0};
	int code = bt_client_file_read(path, BT_CLIENT_FILE_BYTES_MAX, &content, err);

	struct bt_str token = bt_str_trim(bt_strbuf_str(&content), BT_STR_SPACE);
	if (code == 0 && token.length == 0) {
		code = bt_error_set(
			err, BERTH_ERR_INVALID, "read empty token from file \"%s\"", path);
	} else if (code == 0) {
		code = bt_authorization_set_token(authorization, token, err);
	} else {
		/*
		 * The error of the first read is fatal, and is reported unchanged; errors of later
		 * reads name the file.
		 */
		code = authorization->watches_file
			? bt_error_wrap(err, code, "failed to read token file \"%s\"", path)
			: code;
	}
	if (code == 0) {
		authorization->read_at_ns = now_ns;
	}
	bt_strbuf_finish_wiped(&content);
	return code;
}

void bt_authorization_refresh(struct bt_authorization *authorization, int64_t now_ns)
{
	struct berth_error cause = BERTH_ERROR_INIT;

	if (!authorization->watches_file || now_ns - authorization->read_at_ns <= TOKEN_FRESH_NS) {
		return;
	}
	if (read_token(authorization, now_ns, authorization->config->user.token_file.data,
		    &cause) != 0) {
		BT_LOG_ERROR_PLAIN(berth_error_message(&cause), "Unable to rotate token");
		berth_error_finish(&cause);
	}
}

static void add_header(
	struct bt_authorization *authorization, const char *name, struct bt_str value)
{
	authorization->headers[authorization->count++] = (struct bt_http_header){name, value};
}

static int init_headers(struct bt_authorization *authorization, struct berth_error *err)
{
	const struct bt_client_config *config = authorization->config;
	struct bt_arena *arena = &authorization->arena;

	authorization->headers = BT_ARENA_NEW_ARRAY(arena, struct bt_http_header,
		(size_t)config->user.as_groups.count + config->impersonate_extra.count + 3);
	add_header(authorization, "Authorization", BT_STR(""));
	if (config->user.as.length != 0) {
		add_header(authorization, "Impersonate-User", config->user.as);
	}
	if (config->user.as_uid.length != 0) {
		add_header(authorization, "Impersonate-Uid", config->user.as_uid);
	}
	for (uint32_t i = 0; i < config->user.as_groups.count; i++) {
		add_header(authorization, "Impersonate-Group", config->user.as_groups.items[i]);
	}
	for (uint32_t i = 0; i < config->impersonate_extra.count; i++) {
		const struct bt_str_pair *pair = &config->impersonate_extra.items[i];
		struct bt_strbuf name = {0};
		bt_strbuf_append_c(&name, "Impersonate-Extra-");
		for (uint32_t k = 0; k < pair->key.length; k++) {
			char byte = pair->key.data[k];
			if (bt_is_digit(byte) || bt_is_letter(byte) ||
				(byte != '\0' && strchr("!#$&'*+-.^_`|~", byte) != NULL)) {
				bt_strbuf_append_char(&name, byte);
			} else {
				bt_strbuf_printf(
					&name, "%%%02X", (unsigned int)(unsigned char)byte);
			}
		}
		add_header(authorization, bt_arena_take_strbuf(arena, &name).data, pair->value);
	}
	for (uint32_t i = 0; i < authorization->count; i++) {
		if (!is_header_value(authorization->headers[i].value)) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"net/http: invalid header field value for \"%s\"",
				authorization->headers[i].name);
		}
	}
	return 0;
}

int bt_authorization_init(struct bt_authorization *authorization,
	const struct bt_client_config *config, int64_t now_ns, struct berth_error *err)
{
	bool has_token = config->user.token.length != 0 || config->user.token_file.length != 0;
	bool has_basic = config->user.username.length != 0 || config->user.password.length != 0;

	*authorization = (struct bt_authorization){.config = config};
	int code = init_headers(authorization, err);
	/* without TLS, send no credentials that others could read */
	if (code == 0 && config->is_tls) {
		if (has_token && has_basic) {
			code = bt_error_set(err, BERTH_ERR_INVALID,
				"username/password or bearer token may be set, but not both");
		} else if (has_basic) {
			size_t length = (size_t)config->user.username.length +
				config->user.password.length + 1;
			struct bt_strbuf pair = {0};
			struct bt_strbuf value = {0};
			/*
			 * Reserve first, so that no copies of the password remain in smaller
			 * buffers.
			 */
			bt_strbuf_reserve(&pair, length);
			bt_strbuf_append_str(&pair, config->user.username);
			bt_strbuf_append_char(&pair, ':');
			bt_strbuf_append_str(&pair, config->user.password);
			bt_strbuf_reserve(&value, length / 3 * 4 + 16);
			bt_strbuf_append_c(&value, "Basic ");
			bt_base64_encode(bt_strbuf_str(&pair), &value);
			bt_strbuf_finish_wiped(&pair);
			set_value(authorization, &value);
		} else if (config->user.token_file.length != 0) {
			code = read_token(authorization, now_ns, config->user.token_file.data, err);
			authorization->watches_file = code == 0;
		} else {
			code = bt_authorization_set_token(authorization, config->user.token, err);
		}
	}
	if (code != 0) {
		bt_authorization_finish(authorization);
	}
	return code;
}

void bt_authorization_finish(struct bt_authorization *authorization)
{
	bt_strbuf_finish_wiped(&authorization->value);
	bt_arena_finish(&authorization->arena);
	*authorization = (struct bt_authorization){0};
}

bool bt_authorization_is_set(const struct bt_authorization *authorization)
{
	return authorization->value.length != 0;
}
