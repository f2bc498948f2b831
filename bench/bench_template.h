/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_TEMPLATE_H
#define BT_BENCH_TEMPLATE_H
/** Objects made from manifests in which {{.Index}} and {{.Count}} stand for numbers. */
#include "api/object.h"

struct bt_bench_template;

/** What a new object gets. */
struct bt_bench_stamp {
	uint64_t index;           /* for {{.Index}} */
	uint64_t count;           /* for {{.Count}}: how many of them are made */
	struct bt_str name;       /* in place of the manifest's; "": as it says */
	uint64_t serial;          /* for generated names and for the uid; of no other object */
	struct bt_str namespace_; /* where the manifest names none; "": none */
};

/**
 * Read a manifest of one object, YAML or JSON. BERTH_ERR_INVALID: another template action than
 * these and comments. Messages name the file. owned: release with bt_bench_template_destroy.
 */
BT_MUST_USE int bt_bench_template_read(
	const char *path, struct bt_bench_template **out_template, struct berth_error *err);
/** The same of a text of our own; name stands for its file. */
BT_MUST_USE int bt_bench_template_from_text(const char *name, struct bt_str text,
	struct bt_bench_template **out_template, struct berth_error *err);
/** NULL accepted. */
void bt_bench_template_destroy(struct bt_bench_template *template_);
/** Its file. */
const char *bt_bench_template_path(const struct bt_bench_template *template_);
/**
 * The next object, with name, namespace, uid and the defaults that an API server would fill in. As
 * Go decodes, the case of letters in the names of fields makes no difference.
 * BERTH_ERR_INVALID when it is of no known kind, or has no name. *out_object is owned.
 */
BT_MUST_USE int bt_bench_template_make(struct bt_bench_template *template_,
	const struct bt_bench_stamp *stamp, struct bt_object **out_object, struct berth_error *err);
#endif
