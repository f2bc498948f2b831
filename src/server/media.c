/* SPDX-License-Identifier: Apache-2.0 */
#include "server/media.h"

/* Header entries, and parameters of an entry, beyond these numbers are ignored. */
#define ENTRIES_MAX 64
#define PARAMETERS_MAX 16

struct entry {
	struct bt_str type; /* "application/json" */
	/* parameters */
	struct bt_str as;
	struct bt_str group;
	struct bt_str version;
};

/*
 * Moves the text before the separator from *rest to *out and trims *out. Returns false if *rest is
 * absent, which means that nothing is left.
 */
static bool cut_at(struct bt_str *rest, char separator, struct bt_str *out)
{
	if (rest->data == NULL) {
		return false;
	}
	*out = bt_str_trim(bt_str_cut(rest, separator), " \t");
	return true;
}

static bool type_is(struct bt_str type, const char *name)
{
	return bt_str_equal_without_case(type, bt_str_from(name));
}

static void parse_entry(struct bt_str text, struct entry *out)
{
	struct bt_str part;
	*out = (struct entry){0};
	(void)cut_at(&text, ';', &out->type); /* text is not absent, so cut succeeds */
	for (uint32_t i = 0; i < PARAMETERS_MAX && cut_at(&text, ';', &part); i++) {
		struct bt_str name;
		(void)cut_at(&part, '=', &name); /* part is not absent, so cut succeeds */
		struct bt_str value = bt_str_trim(part, " \t");
		if (value.length >= 2 && value.data[0] == '"') {
			value = bt_str_sub(value, 1, value.length - 2);
		}
		if (type_is(name, "as")) {
			out->as = value;
		} else if (type_is(name, "g")) {
			out->group = value;
		} else if (type_is(name, "v")) {
			out->version = value;
		}
	}
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
	struct entry entry;
	if (content_type.length == 0) {
		return BT_BODY_JSON;
	}
	parse_entry(content_type, &entry);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		if (type_is(entry.type, rows[i].type)) {
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

static bool view_of(const struct entry *entry, struct bt_encoding *out)
{
	out->view = BT_VIEW_OBJECT;
	out->v1beta1 = false;
	if (entry->as.length == 0) {
		return true;
	}
	out->v1beta1 = bt_str_equal_c(entry->version, "v1beta1");
	if (!bt_str_equal_c(entry->group, "meta.k8s.io") ||
		(!out->v1beta1 && !bt_str_equal_c(entry->version, "v1"))) {
		return false;
	}
	if (bt_str_equal_c(entry->as, "Table")) {
		out->view = BT_VIEW_TABLE;
		return true;
	}
	out->view = BT_VIEW_METADATA;
	return bt_str_equal_c(entry->as, "PartialObjectMetadata") ||
		bt_str_equal_c(entry->as, "PartialObjectMetadataList");
}

/*
 * Reads the next entry of the header. An absent or empty header is one entry that accepts
 * everything.
 */
static bool next_entry(struct bt_str *rest, uint32_t *count, struct entry *out)
{
	struct bt_str text;
	if (*count == 0 && bt_str_trim(*rest, " \t").length == 0) {
		*rest = (struct bt_str){NULL, 0};
		text = BT_STR("*/*");
	} else if (*count == ENTRIES_MAX || !cut_at(rest, ',', &text)) {
		return false;
	}
	(*count)++;
	parse_entry(text, out);
	return true;
}

bool bt_accept_object(struct bt_str accept, const struct bt_api_resource *resource, bool is_watch,
	struct bt_encoding *out)
{
	struct entry entry;
	uint32_t count = 0;
	while (next_entry(&accept, &count, &entry)) {
		struct bt_encoding encoding = *out;
		if (media_of(entry.type, &encoding.media) && view_of(&entry, &encoding) &&
			!(is_watch && encoding.media == BT_MEDIA_YAML) &&
			bt_encoding_is_possible(&encoding, resource)) {
			*out = encoding;
			return true;
		}
	}
	return false;
}

bool bt_accept_document(
	struct bt_str accept, struct bt_encoding *out, enum bt_discovery_form *out_form)
{
	struct entry entry;
	uint32_t count = 0;
	while (next_entry(&accept, &count, &entry)) {
		enum bt_media media;
		bool is_v2 = bt_str_equal_c(entry.version, "v2");
		bool is_plain = entry.as.length == 0;
		bool is_aggregated = out_form != NULL &&
			bt_str_equal_c(entry.group, "apidiscovery.k8s.io") &&
			bt_str_equal_c(entry.as, "APIGroupDiscoveryList") &&
			(is_v2 || bt_str_equal_c(entry.version, "v2beta1"));
		if (!media_of(entry.type, &media) ||
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

bool bt_accept_openapi(struct bt_str accept, bool *out_protobuf)
{
	struct entry entry;
	uint32_t count = 0;
	while (next_entry(&accept, &count, &entry)) {
		*out_protobuf =
			type_is(entry.type,
				"application/com.github.proto-openapi.spec.v2@v1.0+protobuf") ||
			type_is(entry.type,
				"application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
		if (*out_protobuf || type_is(entry.type, "application/json") ||
			type_is(entry.type, "*/*") || type_is(entry.type, "application/*")) {
			return true;
		}
	}
	return false;
}
