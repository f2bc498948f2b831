/* SPDX-License-Identifier: Apache-2.0 */
#include "api/meta.h"

void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out)
{
	if (meta->namespace_.length != 0) {
		bt_strbuf_append_str(out, meta->namespace_);
		bt_strbuf_append_char(out, '/');
	}
	bt_strbuf_append_str(out, meta->name);
}

const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta)
{
	for (uint32_t i = 0; i < meta->owner_references.count; i++) {
		const struct bt_owner_reference *owner = &meta->owner_references.items[i];

		if (owner->controller.present && owner->controller.value) {
			return owner;
		}
	}
	return NULL;
}

bool bt_api_version_split(
	struct bt_str api_version, struct bt_str *out_group, struct bt_str *out_version)
{
	int64_t slash = bt_str_find_char(api_version, '/');

	*out_group = slash < 0 ? BT_STR("") : bt_str_sub(api_version, 0, (uint32_t)slash);
	*out_version = bt_str_sub(api_version, (uint32_t)(slash + 1), BT_STR_MAX);
	return bt_str_find_char(*out_version, '/') < 0;
}

void bt_name_letters(uint64_t number, uint32_t count, char *out)
{
	for (uint32_t i = 0; i < count; i++) {
		out[i] = BT_NAME_LETTERS[number % BT_NAME_LETTER_COUNT];
		number /= BT_NAME_LETTER_COUNT;
	}
}
