/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/document.h"

#include "codec/yaml.h"
#include "config/load.h"

bool bt_document_is_json(struct bt_str text)
{
	text = bt_str_trim(text, " \t\r\n");
	return text.length != 0 && (text.data[0] == '{' || text.data[0] == '[');
}

int bt_document_from_yaml(struct bt_str text, struct bt_strbuf *duplicates, struct bt_strbuf *out,
	struct berth_error *err)
{
	struct bt_yaml_limits limits = {
		.output_bytes_max = BT_CONFIG_BYTES_MAX, .duplicates = duplicates};
	int result = bt_yaml_first_document(text, &limits, out, err);

	if (result == 0 && out->length == 0) {
		bt_strbuf_append_c(out, "null");
	}
	return result;
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
