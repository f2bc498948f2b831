/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/file.h"
#include "codec/yaml.h"
#include "daemon/options_private.h"
#include "lib/document.h"

int bt_daemon_options_load_config(const struct bt_daemon_options *options,
	struct bt_config **out_config, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	int code;
	if (options->config_file.length == 0) {
		*out_config = bt_config_create_from_flags(&options->gates, &options->config_flags);
		return 0;
	}
	code = bt_client_file_read_waiting(
		options->config_file.data, BT_CONFIG_BYTES_MAX, &text, err);
	if (code == 0) {
		code = bt_document_load_config(bt_strbuf_str(&text), &options->gates,
			&options->config_flags, out_config, err);
	}
	bt_strbuf_finish(&text);
	return code;
}

/* --- writing --- */

#if BT_HAVE_YAML
static int to_yaml(struct bt_str json, struct bt_strbuf *out, struct berth_error *err)
{
	return bt_yaml_from_json(json, out, err);
}
#else
/** JSON is YAML, too. */
static int to_yaml(struct bt_str json, struct bt_strbuf *out, struct berth_error *err)
{
	(void)err;
	bt_strbuf_append_str(out, json);
	bt_strbuf_append_char(out, '\n');
	return 0;
}
#endif

static int make_yaml(const struct bt_config *config, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_strbuf json = {0};
	int code;
	bt_config_write(config, &json);
	code = to_yaml(bt_strbuf_str(&json), out, err);
	bt_strbuf_finish(&json);
	return code;
}

void bt_daemon_options_log_config(const struct bt_config *config)
{
	if (BT_LOG_ENABLED(2)) {
		struct bt_strbuf yaml = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		if (make_yaml(config, &yaml, &err) == 0) {
			BT_LOG_INFO(2, "Using component config",
				BT_LOG_STR("config", bt_strbuf_str(&yaml)));
		} else {
			BT_LOG_ERROR_PLAIN(
				berth_error_message(&err), "Unable to show the configuration");
			berth_error_finish(&err);
		}
		bt_strbuf_finish(&yaml);
	}
}

static int refuse_file(const char *action, const char *path, int number, struct berth_error *err)
{
	char text[128];
	return bt_error_set(err, BERTH_ERR_IO, "%s %s: %s", action, path,
		bt_client_file_errno(number, text, sizeof(text)));
}

static int write_all(int fd, const char *path, struct bt_str text, struct berth_error *err)
{
	uint32_t done = 0;
	while (done < text.length) {
		ssize_t written = write(fd, text.data + done, text.length - done);
		if (written < 0 && errno == EINTR) {
			continue;
		}
		if (written < 0) {
			return refuse_file("write", path, errno, err);
		}
		done += (uint32_t)written;
	}
	return 0;
}

static int write_file(const char *path, struct bt_str text, struct berth_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int code;
	if (fd < 0) {
		return refuse_file("open", path, errno, err);
	}
	code = write_all(fd, path, text, err);
	if (close(fd) != 0 && code == 0) {
		code = refuse_file("close", path, errno, err);
	}
	return code;
}

int bt_daemon_options_write_config(const struct bt_daemon_options *options,
	const struct bt_config *config, struct berth_error *err)
{
	struct bt_strbuf yaml = {0};
	struct bt_strbuf path = {0};
	int code = make_yaml(config, &yaml, err);
	bt_strbuf_append_str(&path, options->write_config_to);
	if (code == 0) {
		code = write_file(bt_strbuf_c(&path), bt_strbuf_str(&yaml), err);
	}
	if (code == 0) {
		BT_LOG_INFO(0, "Wrote configuration", BT_LOG_STR("file", options->write_config_to));
	}
	bt_strbuf_finish(&path);
	bt_strbuf_finish(&yaml);
	return code;
}
