/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_OBJECT_LISTER_H
#define BT_FRAMEWORK_OBJECT_LISTER_H
/**
 * Objects that the cluster state does not hold and that few plugins look up: services, volumes and
 * claims of the legacy predicates (spec 05b B7, B9). Whoever drives the engine supplies the
 * functions. Results are borrowed until the cycle ends. Called on the scheduling thread; must not
 * block.
 */
#include <stdbool.h>

#include "api/storage.h"
#include "base/error.h"
#include "base/str.h"

/** Return false to stop. selector->present false: the service has none. */
typedef bool (*bt_service_visitor)(
	void *context, struct bt_str name, const struct bt_str_map *selector);

/** A NULL function: there are no such objects. */
struct bt_object_lister {
	void *context;
	/** NULL when there is none. */
	const struct bt_persistent_volume_claim *(*find_claim)(
		void *context, struct bt_str namespace_, struct bt_str name);
	const struct bt_persistent_volume *(*find_volume)(void *context, struct bt_str name);
	/** Services of a namespace in byte order of their names. Returns 0, or a negative code with
	 * err set. */
	int (*visit_services)(void *context, struct bt_str namespace_, bt_service_visitor visit,
		void *visit_context, struct berth_error *err);
};
#endif
