/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_STATE_STATE_FIXTURE_H
#define BT_TESTS_UNIT_STATE_STATE_FIXTURE_H
/**
 * A state and objects for its tests, written as JSON with ' in place of ". Objects live until the
 * fixture is finished. Every check of a state calls bt_state_validate.
 */
#include <check.h>

#include "codec/json.h"
#include "codec/message.h"
#include "state/node_info.h"
#include "state/pod_info.h"
#include "state/state.h"
#include "validate/validate.h"

struct fixture {
	struct bt_state *state;
	struct bt_arena arena;
	struct bt_strbuf warnings; /* one line each */
};

static inline void note_warning(void *context, struct bt_str line)
{
	struct fixture *fixture = context;

	bt_strbuf_append_str(&fixture->warnings, line);
	bt_strbuf_append_char(&fixture->warnings, '\n');
}

/** Number of used port triples. */
static inline uint32_t port_count(const struct bt_node_info *info)
{
	return info->ports_changed ? info->ports.count
				   : info->state->nodes.rows[info->slot].ports.count;
}

static inline void fixture_init_with(struct fixture *fixture, bool declared_features, bool dra)
{
	struct bt_state_options options = {
		.resource_gates = {.pod_level_resources = true,
			.in_place_pod_level_resources = true,
			.dra_node_allocatable_resources = dra},
		.declared_features = declared_features,
	};

	*fixture = (struct fixture){.state = bt_state_create(&options)};
	fixture->state->warn = note_warning;
	fixture->state->warn_context = fixture;
}

static inline void fixture_init(struct fixture *fixture)
{
	fixture_init_with(fixture, true, false);
}

static inline void check_valid(const struct fixture *fixture)
{
	struct bt_strbuf reason = {0};
	bool valid = bt_state_validate(fixture->state, &reason);

	ck_assert_msg(valid, "%s", bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
}

static inline void fixture_finish(struct fixture *fixture)
{
	check_valid(fixture);
	bt_state_destroy(fixture->state);
	bt_arena_finish(&fixture->arena);
	bt_strbuf_finish(&fixture->warnings);
}

static inline void *decode(
	struct fixture *fixture, const struct bt_message *message, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	size_t length = strlen(json);
	char *text = bt_arena_alloc_bytes(&fixture->arena, length + 1);
	void *out = bt_arena_calloc(&fixture->arena, 1, message->size);
	int result;

	for (size_t i = 0; i <= length; i++) {
		text[i] = (char)(json[i] == '\'' ? '"' : json[i]);
	}
	bt_json_reader_init(&reader, (struct bt_str){text, (uint32_t)length});
	result = bt_message_decode_json(message, &reader, &fixture->arena, out, &err);
	ck_assert_msg(result == 0, "%s in %s", berth_error_message(&err), text);
	return out;
}

/**
 * Makes pod `name` with uid `<name>-uid` in namespace ns; metadata, spec and status are further
 * members of these objects.
 */
static inline struct bt_pod *make_pod_with(struct fixture *fixture, const char *name,
	const char *node, const char *metadata, const char *spec, const char *status)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'metadata':{'name':'%s','namespace':'ns','uid':'%s-uid'%s%s},'spec':{'nodeName':'"
		"%s'%s%s},'status':{%s}}",
		name, name, *metadata != '\0' ? "," : "", metadata, node, *spec != '\0' ? "," : "",
		spec, status);

	return decode(fixture, &bt_pod_message, json.data);
}

static inline struct bt_pod *make_pod(
	struct fixture *fixture, const char *name, const char *node, const char *spec)
{
	return make_pod_with(fixture, name, node, "", spec, "");
}

/** Makes a pod of one container with these requests, e.g. `'cpu':'1'`. */
static inline struct bt_pod *make_requesting_pod(
	struct fixture *fixture, const char *name, const char *node, const char *requests)
{
	struct bt_str spec = bt_arena_printf(&fixture->arena,
		"'containers':[{'name':'c','resources':{'requests':{%s}}}]", requests);

	return make_pod(fixture, name, node, spec.data);
}

static inline struct bt_node *make_node(
	struct fixture *fixture, const char *name, const char *labels, const char *status)
{
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'metadata':{'name':'%s','uid':'%s-uid','labels':{%s}},'spec':{},'status':{%s}}",
		name, name, labels, status);

	return decode(fixture, &bt_node_message, json.data);
}

/** Returns the labels of a node in a region and a zone ("" for none). */
static inline const char *zone_labels(struct fixture *fixture, const char *region, const char *zone)
{
	return bt_arena_printf(&fixture->arena, "%s%s%s%s%s%s%s",
		*region != '\0' ? "'topology.kubernetes.io/region':'" : "", region,
		*region != '\0' ? "'" : "", *region != '\0' && *zone != '\0' ? "," : "",
		*zone != '\0' ? "'topology.kubernetes.io/zone':'" : "", zone,
		*zone != '\0' ? "'" : "")
		.data;
}

static inline uint32_t slot_of(const struct fixture *fixture, const char *name)
{
	return bt_node_table_find(&fixture->state->nodes, bt_str_from(name));
}

static inline const struct bt_node_row *row_of(const struct fixture *fixture, const char *name)
{
	uint32_t slot = slot_of(fixture, name);

	ck_assert_msg(slot != BT_SLOT_NONE, "no slot for %s", name);
	return &fixture->state->nodes.rows[slot];
}

static inline void add_node(
	struct fixture *fixture, const char *name, const char *labels, const char *status)
{
	bt_state_add_node(fixture->state, make_node(fixture, name, labels, status));
}

static inline void check_refresh(struct fixture *fixture)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_state_refresh_snapshot(fixture->state, &err);

	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
	check_valid(fixture);
}

/** Returns the node names of the slots, separated by commas. */
static inline const char *slot_names(struct fixture *fixture, const uint32_t *slots, uint32_t count)
{
	struct bt_strbuf text = {0};
	struct bt_str kept;

	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : ",");
		bt_strbuf_append_str(&text, bt_node_table_name(&fixture->state->nodes, slots[i]));
	}
	kept = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return kept.data;
}

#define check_list(fixture, expected) \
	ck_assert_str_eq(slot_names((fixture), bt_snapshot_list(&(fixture)->state->snapshot), \
				 (fixture)->state->snapshot.count), \
		(expected))

/** Returns the names of the node's pods in order. */
static inline const char *pod_names(struct fixture *fixture, const char *node)
{
	const struct bt_node_row *row = row_of(fixture, node);
	struct bt_strbuf text = {0};
	struct bt_str kept;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : ",");
		bt_strbuf_append_str(&text,
			bt_pod_record_name(bt_state_pod_at(fixture->state, row->pods.items[i])));
	}
	kept = bt_arena_str(&fixture->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return kept.data;
}

#define check_ok(call) \
	do { \
		struct berth_error err = BERTH_ERROR_INIT; \
		int result_ = (call); \
		ck_assert_msg(result_ == 0, "%s", berth_error_message(&err)); \
	} while (0)

/** Runs a call that uses &err, and expects that it fails with this code and this text. */
#define check_error(call, expected_code, expected_text) \
	do { \
		struct berth_error err = BERTH_ERROR_INIT; \
		int result_ = (call); \
		ck_assert_int_eq(result_, (expected_code)); \
		ck_assert_str_eq(berth_error_message(&err), (expected_text)); \
		berth_error_finish(&err); \
	} while (0)

static inline bool is_assumed(const struct fixture *fixture, const struct bt_pod *pod)
{
	bool assumed = false;

	check_ok(bt_state_is_assumed_pod(fixture->state, pod, &assumed, &err));
	return assumed;
}
#endif
