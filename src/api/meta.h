/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_META_H
#define BT_API_META_H
/** Object metadata. Spec: 01 sections 4.1, 4.2. */
#include "api/types.h"

/** Appends "namespace/name", or "name" if the namespace is empty (spec 01 section 5.15). */
void bt_object_ref(const struct bt_object_meta *meta, struct bt_strbuf *out);
/** Returns the first owner reference with controller true, or NULL. Spec 01 section 5.14. */
const struct bt_owner_reference *bt_object_controller(const struct bt_object_meta *meta);
/**
 * Splits "v1" or "apps/v1" into group and version; both are empty for "" and "/". Returns false if
 * there is more than one "/"; version is then all text after the first "/". The results are
 * borrowed from api_version.
 */
bool bt_api_version_split(
	struct bt_str api_version, struct bt_str *out_group, struct bt_str *out_version);
/**
 * The API server's alphabet for generated names: without vowels and 0, 1, 3, so that suffixes form
 * no words and have no similar characters.
 */
#define BT_NAME_LETTERS "bcdfghjklmnpqrstvwxz2456789"
#define BT_NAME_LETTER_COUNT (sizeof(BT_NAME_LETTERS) - 1)
/**
 * Writes the `count` lowest digits of `number` in base BT_NAME_LETTER_COUNT, the lowest digit
 * first, without a terminator. The letters of BT_NAME_LETTERS are the digits.
 */
void bt_name_letters(uint64_t number, uint32_t count, char *out);
#endif
