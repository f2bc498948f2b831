/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_LISTER_H
#define BT_COMPAT_LISTER_H
/** Internal functions for listers. */
#include "berth/lister.h"

/**
 * Whether berth_handle_lister made the lister for this handle and kind, or the lister has no
 * functions.
 */
bool bt_lister_is_of_handle(
	const struct berth_lister *lister, const struct berth_handle *handle, const char *kind);
#endif
