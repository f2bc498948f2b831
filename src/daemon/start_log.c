/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/start_log.h"

#include "base/log.h"
#include "codec/json.h"

void bt_start_log_overrides(const struct bt_config *config)
{
	for (uint32_t i = 0; i < bt_config_overridden_count(config); i++) {
		BT_LOG_INFO(0, "Default plugin is explicitly re-configured; overriding",
			BT_LOG_STR("plugin", bt_config_overridden_at(config, i)));
	}
}

/** Upstream's record has its fields in this order, and one for multiPoint, which is empty by now.
 */
static const enum bt_extension_point order[] = {
	BT_POINT_PRE_ENQUEUE,
	BT_POINT_QUEUE_SORT,
	BT_POINT_PRE_FILTER,
	BT_POINT_FILTER,
	BT_POINT_POST_FILTER,
	BT_POINT_PRE_SCORE,
	BT_POINT_SCORE,
	BT_POINT_RESERVE,
	BT_POINT_PERMIT,
	BT_POINT_PRE_BIND,
	BT_POINT_BIND,
	BT_POINT_POST_BIND,
	BT_POINT__COUNT, /* multiPoint */
	BT_POINT_PLACEMENT_GENERATE,
	BT_POINT_PLACEMENT_SCORE,
};

static void write_entries(
	struct bt_json_writer *writer, const struct bt_framework_entry *entries, uint32_t count)
{
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "Enabled");
	if (count == 0) {
		bt_json_write_null(writer);
	} else {
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < count; i++) {
			bt_json_begin_object(writer);
			bt_json_write_name_c(writer, "Name");
			bt_json_write_str(writer, bt_str_from(entries[i].plugin->ops->name));
			bt_json_write_name_c(writer, "Weight");
			bt_json_write_int64(writer, entries[i].weight);
			bt_json_end_object(writer);
		}
		bt_json_end_array(writer);
	}
	bt_json_write_name_c(writer, "Disabled");
	bt_json_write_null(writer);
	bt_json_end_object(writer);
}

static void log_plugins(const struct bt_framework *framework)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &text, 0);
	bt_json_begin_object(&writer);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(order); i++) {
		if (order[i] == BT_POINT__COUNT) {
			bt_json_write_name_c(&writer, "MultiPoint");
			write_entries(&writer, NULL, 0);
		} else {
			bt_json_write_name_c(&writer, bt_extension_point_name(order[i]));
			write_entries(&writer, framework->points[order[i]].entries.items,
				framework->points[order[i]].entries.count);
		}
	}
	bt_json_end_object(&writer);
	BT_LOG_INFO(2, "the scheduler starts to work with those plugins",
		BT_LOG_JSON("Plugins", bt_strbuf_str(&text)));
	bt_strbuf_finish(&text);
}

void bt_start_log_plugins(const struct bt_scheduler *scheduler)
{
	const struct bt_profiles *profiles = &bt_scheduler_engine(scheduler)->profiles;
	for (uint32_t i = 0; i < profiles->frameworks.count && BT_LOG_ENABLED(2); i++) {
		log_plugins(profiles->frameworks.items[i]);
	}
}
