/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_MEDIA_H
#define BT_SERVER_MEDIA_H
/** Media types of requests and answers. Spec: 14 sections 6.2, 7 and 8. */
#include <stdbool.h>

#include "server/encode.h"

enum bt_body_media {
	BT_BODY_JSON, /* also without a Content-Type */
	BT_BODY_YAML,
	BT_BODY_PROTOBUF,
	BT_BODY_PATCH,
	BT_BODY_OTHER,
};

/** Parses a Content-Type. *out_patch: the type of a BT_BODY_PATCH; else unchanged. */
enum bt_body_media bt_body_media_parse(struct bt_str content_type, enum bt_patch_type *out_patch);

/**
 * Chooses the first entry of an Accept header whose encoding is possible for the resource. An
 * absent or empty header means JSON. Sets only the members `media`, `view` and `v1beta1` of *out.
 * Returns false if no entry is possible (406).
 */
BT_MUST_USE bool bt_accept_object(struct bt_str accept, const struct bt_api_resource *resource,
	bool is_watch, struct bt_encoding *out);
enum bt_discovery_form {
	BT_DISCOVERY_LEGACY,
	BT_DISCOVERY_V2,
	BT_DISCOVERY_V2BETA1,
};

/**
 * Like bt_accept_object, for a document that is not an object of a resource. Skips entries that ask
 * for a view. out_form not NULL: the document is /api or /apis; *out_form is the form of discovery
 * in the chosen entry.
 */
BT_MUST_USE bool bt_accept_document(
	struct bt_str accept, struct bt_encoding *out, enum bt_discovery_form *out_form);
/**
 * Like bt_accept_object, for /openapi/v2. Sets *out_protobuf if the answer is protobuf; otherwise
 * the answer is JSON.
 */
BT_MUST_USE bool bt_accept_openapi(struct bt_str accept, bool *out_protobuf);
#endif
