/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML: every accepted document gives valid JSON. Writing that JSON as YAML and reading the YAML
 * gives the same document.
 */
#include <stdint.h>

#include "base/assert.h"
#include "codec/json.h"
#include "codec/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OUTPUT_BYTES_MAX 1000000

static void check_document(struct bt_str json)
{
	struct bt_arena arena = {0};
	struct bt_json_value *value;
	struct bt_json_value *back_value;
	struct bt_strbuf yaml = {0};
	struct bt_strbuf back = {0};
	BT_ASSERT(bt_json_parse(&arena, json, false, &value, NULL) == 0);
	BT_ASSERT(bt_yaml_from_json(json, &yaml, NULL) == 0);
	BT_ASSERT(bt_yaml_first_document(bt_strbuf_str(&yaml), NULL, &back, NULL) == 0);
	BT_ASSERT(bt_json_parse(&arena, bt_strbuf_str(&back), false, &back_value, NULL) == 0);
	/* the float -0.0 is written as -0, which is the integer 0 */
	BT_ASSERT(bt_json_equal(value, back_value) || bt_str_find(json, BT_STR("-0")) >= 0);
	bt_strbuf_finish(&yaml);
	bt_strbuf_finish(&back);
	bt_arena_finish(&arena);
}

static void read_all(struct bt_str text, struct bt_strbuf *duplicates)
{
	struct bt_yaml_limits limits = {
		.output_bytes_max = OUTPUT_BYTES_MAX, .duplicates = duplicates};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(text, &limits);
	bool more = true;
	while (more) {
		struct bt_strbuf json = {0};
		if (bt_yaml_next_document(reader, &json, &more, NULL) != 0) {
			BT_ASSERT(json.length == 0);
			more = false;
		} else if (more) {
			check_document(bt_strbuf_str(&json));
		}
		bt_strbuf_finish(&json);
	}
	bt_yaml_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, (uint32_t)size};
	struct bt_strbuf notes = {0};
	read_all(text, NULL);
	read_all(text, &notes);
	bt_strbuf_finish(&notes);
	return 0;
}
