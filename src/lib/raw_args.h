/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_RAW_ARGS_H
#define BT_LIB_RAW_ARGS_H
/** Plugin arguments as plugins outside of the tree see them. */
#include "berth/config.h"
#include "config/config.h"

/** args NULL: none. Borrows the configuration's text. */
struct berth_raw_args bt_raw_args_of(const struct bt_plugin_args *args);
#endif
