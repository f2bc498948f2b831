/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include "base/alloc.h"

/* struct bt_yaml_reader is a struct bt_str here: the only document, empty once it has been read. */

struct bt_yaml_reader *bt_yaml_reader_create(
	struct bt_str text, const struct bt_yaml_limits *limits BT_UNUSED)
{
	struct bt_str *document = BT_NEW(struct bt_str);
	*document = bt_str_trim(text, " \t\r\n");
	return (struct bt_yaml_reader *)document;
}

void bt_yaml_reader_destroy(struct bt_yaml_reader *reader)
{
	bt_free(reader);
}

int bt_yaml_next_document(struct bt_yaml_reader *reader, struct bt_strbuf *out, bool *out_more,
	struct berth_error *err)
{
	struct bt_str *document = (struct bt_str *)reader;
	struct bt_str json = *document;
	*document = BT_STR("");
	*out_more = json.length != 0;
	if (json.length != 0 && json.data[0] != '{' && json.data[0] != '[') {
		return bt_error_set(
			err, BERTH_ERR_SYNTAX, "not JSON, and berth was built without YAML");
	}
	bt_strbuf_append_str(out, json);
	return 0;
}

int bt_yaml_from_json(
	struct bt_str json, struct bt_strbuf *out, struct berth_error *err BT_UNUSED)
{
	bt_strbuf_printf(out, "%.*s\n", BT_STR_ARG(json));
	return 0;
}
