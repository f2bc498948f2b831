/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/functions.h"

#include <stddef.h>

const struct bt_cel_overload bt_cel_overloads[] = {
#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, code_) \
	{(name_), BT_CEL_STYLE_##style_, (signature_), BT_CEL_GUARD_##guard_, bt_cel_fn_##code_},
#define BT_CEL_OWN(name_, style_, signature_) \
	{(name_), BT_CEL_STYLE_##style_, (signature_), BT_CEL_GUARD_KINDS, NULL},
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN
};

const uint32_t bt_cel_overload_count = sizeof bt_cel_overloads / sizeof bt_cel_overloads[0];
