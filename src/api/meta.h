/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_META_H
#define BT_API_META_H
/** Object metadata. Spec: 01 sections 4.1, 4.2. */
#include "api/types.h"

/** "namespace/name", or "name" when the namespace is empty (spec 01 section 5.15). */
void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out);
/** First owner reference with controller true, or NULL. Spec 01 section 5.14. */
const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta);
/**
 * Group and version of "v1", "apps/v1"; both empty for "" and "/". false if there is more than one
 * "/": the version has those behind the first. The results are borrowed from api_version.
 */
bool bt_api_version_split(
	struct bt_str api_version, struct bt_str *out_group, struct bt_str *out_version);
/**
 * Characters that the API server draws generated names from: no vowels and no 0, 1, 3, so that
 * endings spell no words and look alike to nobody.
 */
#define BT_NAME_LETTERS "bcdfghjklmnpqrstvwxz2456789"
#define BT_NAME_LETTER_COUNT (sizeof(BT_NAME_LETTERS) - 1)
/** The last count digits of number in these letters, the lowest first. */
void bt_name_letters(uint64_t number, uint32_t count, char *out);
#endif
