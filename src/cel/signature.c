/* SPDX-License-Identifier: Apache-2.0 */
#include "base/assert.h"
#include "cel/inference.h"

static const struct {
	const char *word;
	enum bt_cel_kind kind;
} words[] = {
	{"bool", BT_CEL_BOOL},
	{"int", BT_CEL_INT},
	{"uint", BT_CEL_UINT},
	{"double", BT_CEL_DOUBLE},
	{"string", BT_CEL_STRING},
	{"bytes", BT_CEL_BYTES},
	{"null", BT_CEL_NULL},
	{"any", BT_CEL_ANY},
	{"dyn", BT_CEL_DYN},
	{"duration", BT_CEL_DURATION},
	{"timestamp", BT_CEL_TIMESTAMP},
	{"quantity", BT_CEL_QUANTITY},
	{"semver", BT_CEL_SEMVER},
	{"url", BT_CEL_URL},
	{"format", BT_CEL_FORMAT},
	{"ip", BT_CEL_IP},
	{"cidr", BT_CEL_CIDR},
	{"list", BT_CEL_LIST},
	{"map", BT_CEL_MAP},
	{"optional", BT_CEL_OPTIONAL},
	{"type", BT_CEL_TYPE},
	{"authorizer", BT_CEL_AUTHORIZER},
	{"path_check", BT_CEL_PATH_CHECK},
	{"group_check", BT_CEL_GROUP_CHECK},
	{"resource_check", BT_CEL_RESOURCE_CHECK},
	{"decision", BT_CEL_DECISION},
};

/** Parameters of one signature: A and B. */
struct reader {
	struct bt_cel_inference *inference;
	const char *next;
	const struct bt_cel_type *named[2];
};

static enum bt_cel_kind read_word(struct reader *reader)
{
	size_t length = strcspn(reader->next, " (),");

	for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i].word) == length &&
			memcmp(words[i].word, reader->next, length) == 0) {
			reader->next += length;
			return words[i].kind;
		}
	}
	return BT_CEL_PARAMETER;
}

static const struct bt_cel_type *read_type(struct reader *reader)
{
	enum bt_cel_kind kind = read_word(reader);
	const struct bt_cel_type *of[2] = {NULL, NULL};

	if (kind == BT_CEL_PARAMETER) {
		uint32_t which = (uint32_t)(*reader->next++ - 'A');

		BT_ASSERT(which < 2);
		if (reader->named[which] == NULL) {
			reader->named[which] = bt_cel_fresh_parameter(reader->inference);
		}
		return reader->named[which];
	}
	if (*reader->next != '(') {
		return &bt_cel_types[kind];
	}
	for (uint32_t i = 0; i < 2 && *reader->next != ')'; i++) {
		reader->next++;
		of[i] = read_type(reader);
	}
	BT_ASSERT(*reader->next == ')');
	reader->next++;
	return bt_cel_type_make(reader->inference, kind, of[0], of[1]);
}

void bt_cel_signature_read(struct bt_cel_inference *inference, const char *text,
	struct bt_cel_signature *out_signature)
{
	struct reader reader = {.inference = inference, .next = text};

	*out_signature = (struct bt_cel_signature){.result = read_type(&reader)};
	while (*reader.next == ' ') {
		BT_ASSERT(out_signature->count < BT_CEL_ARGUMENTS_MAX);
		reader.next++;
		out_signature->parameters[out_signature->count++] = read_type(&reader);
	}
	BT_ASSERT(*reader.next == '\0');
}
