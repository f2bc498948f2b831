/* SPDX-License-Identifier: Apache-2.0 */
#include "server/media.h"

#include "net/http_accept.h"

static bool type_is(struct bt_str type, const char *name)
{
	return bt_str_equal_without_case(type, bt_str_from(name));
}

enum bt_body_media bt_body_media_parse(struct bt_str content_type, enum bt_patch_type *out_patch)
{
	static const struct {
		const char *type;
		enum bt_body_media media;
		enum bt_patch_type patch;
	} rows[] = {
		{.type = "", .media = BT_BODY_JSON},
		{.type = "application/json", .media = BT_BODY_JSON},
		{.type = "application/yaml", .media = BT_BODY_YAML},
		{.type = "application/vnd.kubernetes.protobuf", .media = BT_BODY_PROTOBUF},
		{"application/json-patch+json", BT_BODY_PATCH, BT_PATCH_JSON},
		{"application/merge-patch+json", BT_BODY_PATCH, BT_PATCH_MERGE},
		{"application/strategic-merge-patch+json", BT_BODY_PATCH, BT_PATCH_STRATEGIC},
		{"application/apply-patch+yaml", BT_BODY_PATCH, BT_PATCH_APPLY},
	};
	struct bt_str type = bt_str_trim(bt_str_cut(&content_type, ';'), " \t");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (type_is(type, rows[i].type)) {
			if (rows[i].media == BT_BODY_PATCH) {
				*out_patch = rows[i].patch;
			}
			return rows[i].media;
		}
	}
	return BT_BODY_OTHER;
}

static bool media_of(struct bt_str type, enum bt_media *out)
{
	if (type_is(type, "application/json") || type_is(type, "*/*") ||
		type_is(type, "application/*")) {
		*out = BT_MEDIA_JSON;
		return true;
	}
	if (type_is(type, "application/yaml")) {
		*out = BT_MEDIA_YAML;
		return true;
	}
	if (type_is(type, "application/vnd.kubernetes.protobuf")) {
		*out = BT_MEDIA_PROTOBUF;
		return true;
	}
	return false;
}

static bool view_of(const struct bt_accept_clause *clause, struct bt_encoding *out)
{
	struct bt_str as = bt_accept_parameter(clause, "as");
	struct bt_str version = bt_accept_parameter(clause, "v");
	out->view = BT_VIEW_OBJECT;
	out->v1beta1 = false;
	if (as.length == 0) {
		return true;
	}
	out->v1beta1 = bt_str_equal_c(version, "v1beta1");
	if (!bt_str_equal_c(bt_accept_parameter(clause, "g"), "meta.k8s.io") ||
		(!out->v1beta1 && !bt_str_equal_c(version, "v1"))) {
		return false;
	}
	if (bt_str_equal_c(as, "Table")) {
		out->view = BT_VIEW_TABLE;
		return true;
	}
	out->view = BT_VIEW_METADATA;
	return bt_str_equal_c(as, "PartialObjectMetadata") ||
		bt_str_equal_c(as, "PartialObjectMetadataList");
}

/** Parses the header; an absent or empty header accepts everything. Spec: 14 section 8.2. */
static void parse(struct bt_str header, struct bt_accept *out)
{
	bool is_empty = bt_str_trim(header, " \t").length == 0;
	bt_accept_parse(out, is_empty ? BT_STR("*/*") : header, false);
}

bool bt_accept_object(struct bt_str header, const struct bt_api_resource *resource, bool is_watch,
	struct bt_encoding *out)
{
	struct bt_accept accept;
	parse(header, &accept);
	for (uint32_t i = 0; i < accept.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		struct bt_encoding encoding = *out;
		if (media_of(clause->type, &encoding.media) && view_of(clause, &encoding) &&
			!(is_watch && encoding.media == BT_MEDIA_YAML) &&
			bt_encoding_is_possible(&encoding, resource)) {
			*out = encoding;
			return true;
		}
	}
	return false;
}

bool bt_accept_document(
	struct bt_str header, struct bt_encoding *out, enum bt_discovery_form *out_form)
{
	struct bt_accept accept;
	parse(header, &accept);
	for (uint32_t i = 0; i < accept.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		enum bt_media media;
		struct bt_str as = bt_accept_parameter(clause, "as");
		struct bt_str version = bt_accept_parameter(clause, "v");
		bool is_v2 = bt_str_equal_c(version, "v2");
		bool is_plain = as.length == 0;
		bool is_aggregated = out_form != NULL &&
			bt_str_equal_c(bt_accept_parameter(clause, "g"), "apidiscovery.k8s.io") &&
			bt_str_equal_c(as, "APIGroupDiscoveryList") &&
			(is_v2 || bt_str_equal_c(version, "v2beta1"));
		if (!media_of(clause->type, &media) ||
			!(is_plain || (is_aggregated && media == BT_MEDIA_JSON))) {
			continue;
		}
		out->media = media;
		if (out_form != NULL) {
			*out_form = is_plain ? BT_DISCOVERY_LEGACY
				: is_v2      ? BT_DISCOVERY_V2
					     : BT_DISCOVERY_V2BETA1;
		}
		return true;
	}
	return false;
}

bool bt_accept_openapi(struct bt_str header, bool *out_protobuf)
{
	struct bt_accept accept;
	parse(header, &accept);
	for (uint32_t i = 0; i < accept.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		*out_protobuf =
			type_is(clause->type,
				"application/com.github.proto-openapi.spec.v2@v1.0+protobuf") ||
			type_is(clause->type,
				"application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
		if (*out_protobuf || type_is(clause->type, "application/json") ||
			type_is(clause->type, "*/*") || type_is(clause->type, "application/*")) {
			return true;
		}
	}
	return false;
}
