/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_TEMPLATE_H
#define BT_BENCH_TEMPLATE_H
/** Objects made from manifests in which {{.Index}} and {{.Count}} stand for numbers. */
#include "api/object.h"

struct bt_bench_template;

/** Values for a new object. */
struct bt_bench_stamp {
	uint64_t index;           /* for {{.Index}} */
	uint64_t count;           /* for {{.Count}}: how many objects are made */
	struct bt_str name;       /* replaces the manifest's name; "": the manifest's name stays */
	uint64_t serial;          /* unique number, for the uid and generated names */
	struct bt_str namespace_; /* used if the manifest has no namespace; may be "" */
};

/**
 * Reads a manifest of one object, as YAML or JSON. Returns BERTH_ERR_INVALID if the manifest has a
 * template action other than {{.Index}}, {{.Count}} and comments. Messages name the file.
 * *out_template: release with bt_bench_template_destroy.
 */
BT_MUST_USE int bt_bench_template_read(
	const char *path, struct bt_bench_template **out_template, struct berth_error *err);
/** Like bt_bench_template_read, for a built-in text; name stands for the file in messages. */
BT_MUST_USE int bt_bench_template_from_text(const char *name, struct bt_str text,
	struct bt_bench_template **out_template, struct berth_error *err);
/** Destroy the template; NULL is accepted. */
void bt_bench_template_destroy(struct bt_bench_template *template_);
/** Path of the template's file, as given. */
const char *bt_bench_template_path(const struct bt_bench_template *template_);
/**
 * Makes the next object, with name, namespace, uid and the defaults that an API server would set.
 * Like Go's decoder, ignores case in field names. Returns BERTH_ERR_INVALID if the kind is unknown
 * or the object has no name. *out_object is owned.
 */
BT_MUST_USE int bt_bench_template_make(struct bt_bench_template *template_,
	const struct bt_bench_stamp *stamp, struct bt_object **out_object, struct berth_error *err);
#endif
