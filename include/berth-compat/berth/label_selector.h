/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_LABEL_SELECTOR_H
#define BERTH_LABEL_SELECTOR_H
/**
 * @file
 * Label selectors, parsed once and matched often. Spec 01 sections 5.5 and 5.6, upstream v1.36.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/error.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A label: key and value. */
struct berth_label {
	struct berth_str key;   /**< unique in a set of labels */
	struct berth_str value; /**< may be empty */
};

/** A conjunction of requirements on labels. Opaque, immutable. */
struct berth_label_selector;

/**
 * Reads a LabelSelector as JSON or YAML: {"matchLabels": {...}, "matchExpressions": [...]}. An
 * empty selector ("{}") matches everything, null matches nothing. The text is borrowed for the
 * call; @p out_selector is owned: berth_label_selector_destroy(). BERTH_ERR_SYNTAX,
 * BERTH_ERR_TOO_LARGE, or BERTH_ERR_INVALID with the first invalid requirement, e.g. `"Near" is not
 * a valid label selector operator`.
 */
BERTH_API BERTH_MUST_USE int berth_label_selector_parse(
	struct berth_str text, struct berth_label_selector **out_selector, struct berth_error *err);
/**
 * Makes a selector from a plain map, such as nodeSelector or a Service's selector: it matches
 * objects that have every pair; an empty map matches everything. The pairs are not validated.
 * Owned; labels are copied. @p labels may be NULL when @p count is 0.
 */
BERTH_API struct berth_label_selector *berth_label_selector_from_map(
	const struct berth_label *labels, uint32_t count);
/** Releases the selector. NULL is accepted. */
BERTH_API void berth_label_selector_destroy(struct berth_label_selector *selector);

/** Whether the selector matches a set of labels, in any order. A NULL selector matches nothing. */
BERTH_API bool berth_label_selector_matches(const struct berth_label_selector *selector,
	const struct berth_label *labels, uint32_t count);
/** Whether the selector matches the labels of an object. */
BERTH_API bool berth_label_selector_matches_object(
	const struct berth_label_selector *selector, const struct berth_object *object);
/** Whether the selector matches everything. */
BERTH_API bool berth_label_selector_is_empty(const struct berth_label_selector *selector);

#ifdef __cplusplus
}
#endif
#endif
