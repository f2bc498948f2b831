/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_LABEL_SELECTOR_H
#define BT_COMPAT_LABEL_SELECTOR_H
#include "api/selector.h"
#include "berth/label_selector.h"

struct berth_label_selector {
	struct bt_arena arena; /* memory of `selector` */
	struct bt_selector selector;
};
#endif
