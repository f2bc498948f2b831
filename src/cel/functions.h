/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CEL_FUNCTIONS_H
#define BT_CEL_FUNCTIONS_H
/** The code behind the rows of functions.def: bt_cel_fn_<code> for each. Spec: 12b section 9. */
#include "cel/function.h"

#define BT_CEL_FUNCTION(name_, style_, signature_, guard_, code_) \
	struct bt_cel_value bt_cel_fn_##code_(struct bt_cel_evaluation *evaluation, \
		const struct bt_cel_value *arguments, uint32_t count, struct bt_cel_regex *regex);
#define BT_CEL_OWN(name_, style_, signature_)
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN

/** sort and the macro sortBy, with what they cost: list in the order of keys, of which there are as
 * many. */
struct bt_cel_value bt_cel_sort(struct bt_cel_evaluation *evaluation,
	const struct bt_cel_list *list, const struct bt_cel_list *keys);
#endif
