/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_OPENAPI_PRIVATE_H
#define BT_SCHEMA_OPENAPI_PRIVATE_H
/** Between openapi.c, which writes paths, and openapi_schema.c, which writes schemas. */
#include "codec/json.h"
#include "schema/schema.h"

/** The schemas of one document. All-zero but for version2 is a document without schemas. */
struct bt_openapi_schemas {
	bool version2;    /* OpenAPI 2: another place for schemas, no allOf */
	uint8_t *reached; /* by index of the message; owned */
};

void bt_openapi_schemas_init(struct bt_openapi_schemas *schemas, bool version2);
void bt_openapi_schemas_finish(struct bt_openapi_schemas *schemas);
/** The document needs this message and those it refers to, and the list of it. */
void bt_openapi_schemas_add(
	struct bt_openapi_schemas *schemas, const struct bt_schema_message *message, bool listed);
/** {"$ref": ...}; list: of the kind's list. */
void bt_openapi_write_ref(const struct bt_openapi_schemas *schemas,
	const struct bt_schema_message *message, bool list, struct bt_json_writer *writer);
/** The members of components.schemas, or of definitions. */
void bt_openapi_schemas_write(
	const struct bt_openapi_schemas *schemas, struct bt_json_writer *writer);
#endif
