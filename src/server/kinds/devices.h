/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_KINDS_DEVICES_H
#define BT_SERVER_KINDS_DEVICES_H
/** What the kinds of resource.k8s.io share. Spec: 12 section 3.2, 14b sections 3.3 and 5. */
#include "server/kinds/common.h"

/** At most max elements. */
void bt_kinds_check_count(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *list, uint32_t max);
/** element.name: a DNS label that is not among those seen, to which it is added. */
void bt_kinds_check_unique_label(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *element, struct bt_names *seen);
/** object.selectors: a list of selectors by CEL; expressions must compile. */
void bt_kinds_check_device_selectors(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object);
/** object.config: opaque parameters of drivers. requests (NULL: they have none): what they may
 * name.
 */
void bt_kinds_check_device_config(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const struct bt_names *requests);
/** object[name]: names of requests, or of requests and subrequests with a slash between. */
void bt_kinds_check_request_names(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, const struct bt_names *requests);
/** object[name], which must be there: a driver. */
void bt_kinds_check_driver(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object);
/** The name of an attribute or capacity: an identifier, or "<domain>/<identifier>"; needs_domain:
 * the latter. */
void bt_kinds_check_device_name(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str name, bool needs_domain);
/** A quantity of at least 0. */
void bt_kinds_check_amount(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value);
/** A taint of a device. */
void bt_kinds_check_device_taint(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *taint);
#endif
