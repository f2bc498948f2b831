/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CONFIG_WRITE_H
#define BT_CONFIG_WRITE_H
/** Writes plugin arguments as JSON. bt_config_write (config/config.h) writes a whole document. */
#include "config/config.h"

/** Appends arguments as one JSON value; raw arguments are written with sorted names. */
void bt_plugin_args_write(const struct bt_plugin_args *args, struct bt_strbuf *out);
#endif
