/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_META_H
#define BT_API_META_H
/** Object metadata. Spec: 01 sections 4.1, 4.2. */
#include "api/types.h"

/** "namespace/name", or "name" when the namespace is empty (spec 01 section 5.15). */
void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out);
/** First owner reference with controller true, or NULL. Spec 01 section 5.14. */
const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta);
#endif
