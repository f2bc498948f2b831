/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_POD_REFERENCE_H
#define BT_CLI_POD_REFERENCE_H
/**
 * How people name a pod or a workload: NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME,
 * where KIND is a pod or a workload under any of the names that kubectl takes for it.
 */
#include "api/object.h"

/** The kind of such a word, in any case of letters; false when there is none. */
bool bt_pod_reference_find_kind(struct bt_str word, enum bt_kind *out_kind);

struct bt_pod_reference {
	enum bt_kind kind;
	struct bt_str namespace_; /* "": any */
	struct bt_str name;
	/** KIND/NAME whose KIND may be a namespace as well: the one to try next. "": there is none.
	 */
	struct bt_str other_namespace;
};

/**
 * Read an argument; namespace_ is the flag's, NULL without one. Texts are borrowed.
 * BERTH_ERR_INVALID: what is wrong with it, with the kinds there are.
 */
BT_MUST_USE int bt_pod_reference_parse(const char *argument, const char *namespace_,
	struct bt_pod_reference *out, struct berth_error *err);
#endif
