/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"
void bt_admission_check_quota(struct bt_admission *admission, const struct bt_json_value *object)
{
	(void)admission;
	(void)object;
}
