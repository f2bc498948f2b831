/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_LISTER_H
#define BT_COMPAT_LISTER_H
/** Listers from inside. */
#include "berth/lister.h"

/** It is what berth_handle_lister makes for this handle and kind, or has no functions. */
bool bt_lister_is_of_handle(
	const struct berth_lister *lister, const struct berth_handle *handle, const char *kind);
#endif
