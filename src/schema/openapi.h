/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_OPENAPI_H
#define BT_SCHEMA_OPENAPI_H
/**
 * OpenAPI documents made from the tables: what kubectl needs for validation, server dry run and
 * explain. Spec: 14 section 7. Schemas have upstream's names (io.k8s.api.core.v1.Pod) and say how
 * lists merge. A document takes milliseconds: keep it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "codec/json.h"

/** One resource that is served, or a subresource ("pods/status"). Texts are borrowed. */
struct bt_openapi_resource {
	struct bt_str group; /* "" for the core group */
	struct bt_str version;
	struct bt_str name; /* "pods" */
	/** What the resource holds; a subresource may hold a kind of another group. */
	struct bt_str kind_group;
	struct bt_str kind_version;
	struct bt_str kind; /* "Pod" */
	bool namespaced;
	struct bt_str verbs; /* "create get list", separated by blanks */
	/** Of a custom kind: the schema of its definition; NULL: without one, or built-in. */
	const struct bt_json_value *schema;
};

#define BT_OPENAPI_HASH_BYTES 17 /* 16 digits and the terminator */

/** The hash that the index names for a document, also fit for an ETag. */
void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES]);
/** /openapi/v3: every group and version of the resources, with the hash of its document. JSON. */
void bt_openapi_v3_index(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/** /openapi/v3/apis/<group>/<version>, or /openapi/v3/api/v1: one group and version. JSON. */
void bt_openapi_v3_document(struct bt_str group, struct bt_str version,
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/** /openapi/v2 as JSON: everything. */
void bt_openapi_v2_document(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/**
 * /openapi/v2 as application/com.github.proto-openapi.spec.v2.v1.0+protobuf, as far as old clients
 * need it: which kinds can be patched, and that this can be a dry run.
 */
void bt_openapi_v2_protobuf(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
#endif
