/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the daemon's flags. The first byte selects the flag, and each line after that byte is
 * one occurrence of the flag. The accepted values can be written in pflag's form.
 */
#include <stdint.h>

#include "base/assert.h"
#include "daemon/flag_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_daemon_flag_value values[BT_DAEMON_FLAG__COUNT];
	struct bt_arena arena = {0};
	struct bt_strbuf line = {0};
	struct bt_strbuf shown = {0};
	struct bt_daemon_flag_value *value;

	if (size < 1 || size > 65536) {
		return 0;
	}
	bt_flag_values_init(values, &arena);
	value = &values[data[0] % BT_DAEMON_FLAG__COUNT];
	for (size_t at = 1; at < size; at++) {
		if (data[at] != '\n' && data[at] != '\0') {
			bt_strbuf_append_char(&line, (char)data[at]);
		}
		if (data[at] == '\n' || at + 1 == size) {
			struct berth_error err = BERTH_ERROR_INIT;
			if (bt_flag_value_set(value, bt_strbuf_c(&line), &err) < 0) {
				BT_ASSERT(berth_error_message(&err)[0] != '\0');
			}
			berth_error_finish(&err);
			bt_strbuf_reset(&line);
		}
	}
	bt_flag_value_write(value, &shown);
	bt_strbuf_finish(&shown);
	bt_strbuf_finish(&line);
	bt_flag_values_finish(values);
	bt_arena_finish(&arena);
	return 0;
}
