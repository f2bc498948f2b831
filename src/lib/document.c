/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/document.h"

#include "config/load.h"
#if BT_HAVE_YAML
#include "codec/yaml.h"
#else
#define WITHOUT_YAML "not JSON, and berth was built without YAML"
#endif

bool bt_document_is_json(struct bt_str text)
{
	text = bt_str_trim(text, " \t\r\n");
	return text.length != 0 && (text.data[0] == '{' || text.data[0] == '[');
}

int bt_document_from_yaml(struct bt_str text, struct bt_strbuf *duplicates, struct bt_strbuf *out,
	struct berth_error *err)
{
#if BT_HAVE_YAML
	struct bt_yaml_limits limits = {
		.output_bytes_max = BT_CONFIG_BYTES_MAX, .duplicates = duplicates};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, &limits);
	bool more;
	int result = bt_yaml_next_document(reader, out, &more, NULL, err);

	if (result == 0 && !more) {
		bt_strbuf_append_c(out, "null");
	}
	bt_yaml_reader_destroy(reader);
	return result;
#else
	(void)text;
	(void)duplicates;
	(void)out;
	return bt_error_set(err, BERTH_ERR_SYNTAX, WITHOUT_YAML);
#endif
}

int bt_document_each(
	struct bt_str text, bt_document_take take, void *context, struct berth_error *err)
{
	if (bt_document_is_json(text)) {
		return take(context, text, err);
	}
#if BT_HAVE_YAML
	struct bt_strbuf json = {0};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, NULL);
	bool more = true;
	int result = 0;

	while (result == 0) {
		bt_strbuf_reset(&json);
		result = bt_yaml_next_document(reader, &json, &more, NULL, err);
		if (result < 0 || !more) {
			break;
		}
		result = take(context, bt_strbuf_str(&json), err);
	}
	bt_yaml_reader_destroy(reader);
	bt_strbuf_finish(&json);
	return result;
#else
	return bt_error_set(err, BERTH_ERR_SYNTAX, WITHOUT_YAML);
#endif
}

int bt_document_load_config(struct bt_str text, const struct bt_gates *gates,
	const struct bt_config_flags *flags, struct bt_config **out_config, struct berth_error *err)
{
	if (text.length > BT_CONFIG_BYTES_MAX) {
		return bt_error_set(
			err, BERTH_ERR_TOO_LARGE, "more than %u bytes", BT_CONFIG_BYTES_MAX);
	}
	if (bt_document_is_json(text)) {
		const struct bt_config_input input = {.json = text, .flags = flags};
		return bt_config_load_input(&input, gates, out_config, err);
	}

	struct bt_strbuf json = {0};
	struct bt_strbuf duplicates = {0};
	int result = bt_document_from_yaml(text, &duplicates, &json, err);

	if (result == 0) {
		struct bt_strbuf complaint = {0};

		if (duplicates.length != 0) {
			bt_strbuf_printf(
				&complaint, "yaml: unmarshal errors:%s", bt_strbuf_c(&duplicates));
		}
		struct bt_config_input input = {
			.json = bt_strbuf_str(&json),
			.document = text,
			.yaml_complaint = complaint.length != 0 ? bt_strbuf_str(&complaint)
								: (struct bt_str){NULL, 0},
			.flags = flags,
		};
		result = bt_config_load_input(&input, gates, out_config, err);
		bt_strbuf_finish(&complaint);
	}
	bt_strbuf_finish(&duplicates);
	bt_strbuf_finish(&json);
	return result;
}
