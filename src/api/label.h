/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_LABEL_H
#define BT_API_LABEL_H
/**
 * Syntax of label keys and values. Spec: 01 section 5.4. The functions of selector.h give the error
 * messages.
 */
#include <stdbool.h>

#include "base/str.h"

#define BT_LABEL_NAME_MAX 63
#define BT_LABEL_PREFIX_MAX 253

/** Matches "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]" of any length. */
bool bt_label_name_matches(struct bt_str name);
/** Matches a DNS-1123 subdomain of any length. */
bool bt_label_prefix_matches(struct bt_str prefix);
/** Returns whether the name is a DNS-1123 label. */
bool bt_dns1123_label_is_valid(struct bt_str name);

/** Upstream's messages for names that violate a DNS rule. */
extern const char bt_dns1123_label_rule[];
extern const char bt_dns1123_subdomain_rule[];
extern const char bt_dns1035_label_rule[];
#endif
