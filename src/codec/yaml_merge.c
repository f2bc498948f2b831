/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml_merge.h"

#include "base/assert.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "codec/json_scan.h"

struct member {
	uint64_t hash;
	struct bt_str name; /* source text without quotes: the reader writes equal names alike */
	struct bt_str value;
};

struct members {
	BT_VEC(struct member) list;
	struct bt_map map;
};

static struct member *find_member(struct members *members, const struct member *wanted)
{
	const struct bt_map *map = &members->map;
	BT_MAP_EACH (map, wanted->hash, index) {
		struct member *member = &members->list.items[index];
		if (bt_str_equal(member->name, wanted->name)) {
			return member;
		}
	}
	return NULL;
}

/**
 * Add the members of the object that the reader stands at. The text is our own, so it is
 * well-formed and flat enough.
 */
static void add_object(struct members *members, struct bt_json_reader *reader, bool replace)
{
	bool first = true;
	bool more;
	int result = bt_json_enter_object(reader, NULL);
	BT_ASSERT(result == 0);
	for (;;) {
		struct bt_json_raw_string name;
		struct member member;
		result = bt_json_next_raw_member(reader, &first, &more, &name, NULL);
		BT_ASSERT(result == 0);
		if (!more) {
			return;
		}
		result = bt_json_skip(reader, &member.value, NULL);
		BT_ASSERT(result == 0);
		member.name = (struct bt_str){name.data, (uint32_t)name.length};
		member.hash = bt_hash_bytes(name.data, name.length, 0);

		struct member *earlier = find_member(members, &member);
		if (earlier == NULL) {
			uint32_t index = members->list.count;
			bt_vec_push(&members->list, member);
			bt_map_insert(&members->map, member.hash, index);
		} else if (replace) {
			earlier->value = member.value;
		}
	}
}

static void add_merged(struct members *members, struct bt_str merged)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, merged);
	while (reader.position < reader.end) {
		if (*reader.position == ',') {
			reader.position++;
		}
		if (*reader.position == '{') {
			add_object(members, &reader, false);
			continue;
		}
		bool first = true;
		bool more = true;
		int result = bt_json_enter_array(&reader, NULL);
		while (result == 0 && more) {
			result = bt_json_next_element(&reader, &first, &more, NULL);
			if (result == 0 && more) {
				add_object(members, &reader, false);
			}
		}
		BT_ASSERT(result == 0);
	}
}

bool bt_yaml_is_merge_value(struct bt_str json)
{
	if (json.data[0] != '[') {
		return json.data[0] == '{';
	}
	struct bt_json_reader reader;
	bool first = true;
	bool more;
	bt_json_reader_init(&reader, json);
	int result = bt_json_enter_array(&reader, NULL);
	while (result == 0) {
		result = bt_json_next_element(&reader, &first, &more, NULL);
		if (result != 0 || !more) {
			break;
		}
		if (*reader.position != '{') {
			return false;
		}
		result = bt_json_skip(&reader, NULL, NULL);
	}
	BT_ASSERT(result == 0);
	return true;
}

void bt_yaml_rewrite_mapping(struct bt_strbuf *out, size_t start, struct bt_str merged)
{
	struct members members = {0};
	struct bt_json_reader reader;
	struct bt_strbuf text = {0};
	bt_json_reader_init(
		&reader, (struct bt_str){out->data + start, (uint32_t)(out->length - start)});
	add_object(&members, &reader, true);
	add_merged(&members, merged);
	for (uint32_t i = 0; i < members.list.count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "{\"" : ",\"");
		bt_strbuf_append_str(&text, members.list.items[i].name);
		bt_strbuf_append_c(&text, "\":");
		bt_strbuf_append_str(&text, members.list.items[i].value);
	}
	bt_strbuf_append_c(&text, members.list.count == 0 ? "{}" : "}");
	out->length = start;
	bt_strbuf_append_str(out, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_map_finish(&members.map);
	bt_vec_finish(&members.list);
}
