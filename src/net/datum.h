/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_DATUM_H
#define BT_NET_DATUM_H
#include <gnutls/gnutls.h>

#include "base/str.h"

/** Passes a text to GnuTLS. Only for functions that do not write to the data. */
static inline gnutls_datum_t bt_datum(struct bt_str text)
{
	return (gnutls_datum_t){(unsigned char *)(uintptr_t)text.data, text.length};
}
#endif
