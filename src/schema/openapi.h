/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_OPENAPI_H
#define BT_SCHEMA_OPENAPI_H
/**
 * OpenAPI documents generated from the tables, for kubectl's validation, server dry run and
 * explain. Spec: 14 section 7. Schemas have upstream's names (io.k8s.api.core.v1.Pod) and say how
 * lists merge. Generating a document takes milliseconds: cache it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"
#include "codec/json.h"

/** A resource or subresource ("pods/status") that the server serves. Texts are borrowed. */
struct bt_openapi_resource {
	struct bt_str group; /* "" for the core group */
	struct bt_str version;
	struct bt_str name; /* "pods" */
	/** The kind of the resource's objects; a subresource may have a kind of another group. */
	struct bt_str kind_group;
	struct bt_str kind_version;
	struct bt_str kind; /* "Pod" */
	bool namespaced;
	struct bt_str verbs; /* "create get list", separated by blanks */
	/**
	 * Schema in the kind's CustomResourceDefinition; NULL: the definition has no schema, or the
	 * kind is built in.
	 */
	const struct bt_json_value *schema;
};

#define BT_OPENAPI_HASH_BYTES 17 /* 16 digits and the terminator */

/** Writes the hash of a document: the index contains this hash, and it can serve as an ETag. */
void bt_openapi_hash(struct bt_str document, char out_hash[BT_OPENAPI_HASH_BYTES]);
/**
 * Writes /openapi/v3 as JSON: all groups and versions of the resources, with the hash of the
 * document of each group and version.
 */
void bt_openapi_v3_index(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/**
 * Writes /openapi/v3/apis/<group>/<version> or /openapi/v3/api/v1 as JSON: the resources of one
 * group and version.
 */
void bt_openapi_v3_document(struct bt_str group, struct bt_str version,
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/** Writes /openapi/v2 as JSON: all resources. */
void bt_openapi_v2_document(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
/**
 * Writes /openapi/v2 as application/com.github.proto-openapi.spec.v2.v1.0+protobuf, reduced to what
 * old clients need: which kinds can be patched with dryRun.
 */
void bt_openapi_v2_protobuf(
	const struct bt_openapi_resource *resources, uint32_t count, struct bt_strbuf *out);
#endif
