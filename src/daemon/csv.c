/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/csv.h"

#include "base/strbuf.h"

static int refuse_csv(uint32_t column, const char *reason, struct berth_error *err)
{
	return bt_error_set(
		err, BERTH_ERR_INVALID, "parse error on line 1, column %u: %s", column + 1, reason);
}

/** A field in quotes, from behind the first one; *at ends behind the last one. */
static int read_quoted(
	struct bt_str line, uint32_t *at, struct bt_strbuf *out, struct berth_error *err)
{
	while (*at < line.length) {
		char byte = line.data[(*at)++];
		if (byte != '"') {
			bt_strbuf_append_char(out, byte);
		} else if (*at < line.length && line.data[*at] == '"') {
			bt_strbuf_append_char(out, '"');
			(*at)++;
		} else if (*at == line.length || line.data[*at] == ',') {
			return 0;
		} else {
			break;
		}
	}
	return refuse_csv(*at - 1, "extraneous or missing \" in quoted-field", err);
}

static int read_bare(
	struct bt_str line, uint32_t *at, struct bt_strbuf *out, struct berth_error *err)
{
	for (; *at < line.length && line.data[*at] != ','; (*at)++) {
		if (line.data[*at] == '"') {
			return refuse_csv(*at, "bare \" in non-quoted-field", err);
		}
		bt_strbuf_append_char(out, line.data[*at]);
	}
	return 0;
}

int bt_csv_split(struct bt_str line, void (*take)(void *context, struct bt_str field),
	void *context, struct berth_error *err)
{
	struct bt_strbuf field = {0};
	uint32_t at = 0;
	int code = 0;
	while (line.length > 0 && code == 0) {
		bt_strbuf_reset(&field);
		if (at < line.length && line.data[at] == '"') {
			at++;
			code = read_quoted(line, &at, &field, err);
		} else {
			code = read_bare(line, &at, &field, err);
		}
		if (code == 0) {
			take(context, bt_strbuf_str(&field));
		}
		if (at++ >= line.length) {
			break;
		}
	}
	bt_strbuf_finish(&field);
	return code;
}
