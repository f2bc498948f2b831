/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_WRITE_H
#define BT_CONFIG_WRITE_H
/** Plugin arguments as JSON; the whole document is bt_config_write in config/config.h. */
#include "config/config.h"

/** Appends arguments as one JSON value; raw arguments are written with sorted names. */
void bt_plugin_args_write(const struct bt_plugin_args *args, struct bt_strbuf *out);
#endif
