/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_OPENAPI_H
#define BT_SERVER_OPENAPI_H
/**
 * OpenAPI documents of the served resources, for kubectl's validation, server dry run and explain.
 * Spec: 14 section 7. Schemas have upstream's names (io.k8s.api.core.v1.Pod) and say how lists
 * merge. Generating a document takes milliseconds: cache it.
 */
#include "base/strbuf.h"
#include "server/resource.h"

#define BT_OPENAPI_HASH_BYTES 17 /* 16 digits and the terminator */

/** Writes the hash of a document: the index contains this hash, and it can serve as an ETag. */
void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES]);
/**
 * Writes /openapi/v3 as JSON: all served groups and versions, with the hash of the document of each
 * group and version.
 */
void bt_openapi_v3_index(const struct bt_resources *resources, struct bt_strbuf *out);
/**
 * Writes /openapi/v3/<path> as JSON: the resources of one group and version. path: "api/v1" or
 * "apis/<group>/<version>". false: no resource of that version is served.
 */
BT_MUST_USE bool bt_openapi_v3_document(
	const struct bt_resources *resources, struct bt_str path, struct bt_strbuf *out);
/** Writes /openapi/v2 as JSON: all resources. */
void bt_openapi_v2_document(const struct bt_resources *resources, struct bt_strbuf *out);
/**
 * Writes /openapi/v2 as application/com.github.proto-openapi.spec.v2.v1.0+protobuf, reduced to what
 * old clients need: which kinds can be patched with dryRun.
 */
void bt_openapi_v2_protobuf(const struct bt_resources *resources, struct bt_strbuf *out);
#endif
