/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_UNKNOWN_FIELD_H
#define BT_CLI_UNKNOWN_FIELD_H
/**
 * Warnings about misspelt and misplaced fields of manifests, as kubectl apply gives them. The
 * schema of the embedded API server knows all fields; in a build without it nobody is warned.
 *
 * People write their manifests one object a document: lists, and objects that an API server has
 * made (they have a uid or a resourceVersion), come from clusters, whose versions may have fields
 * that the schema lacks, and are not looked at.
 */
#include "base/str.h"

/** Documents of one file that are looked at; those behind them, and longer ones, are not. */
#define BT_UNKNOWN_FIELD_DOCUMENTS 200
#define BT_UNKNOWN_FIELD_BYTES_MAX (UINT32_C(256) << 10)
/** Of one document. */
#define BT_UNKNOWN_FIELD_WARNINGS_MAX 10

struct bt_unknown_field_sink {
	void *context;
	/** what: "Pod shop/web: unknown field "spec.nodeSelektor"; did you mean "nodeSelector"?",
	 * printable. */
	void (*warn)(void *context, const char *what);
};

/** document: JSON text. */
void bt_unknown_field_find(struct bt_str document, const struct bt_unknown_field_sink *sink);
#endif
