/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_DRA_DRA_FIXTURE_H
#define BT_TESTS_UNIT_DRA_DRA_FIXTURE_H
/**
 * A state with its part for dynamic resource allocation, and objects written as JSON with single
 * quotes. Each full check ends with bt_dra_validate.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "api/object.h"
#include "dra/dra.h"
#include "state/state.h"

struct dra_fixture {
	struct bt_state *state;
	struct bt_gates gates;
	struct bt_dra *dra;
	struct bt_arena arena;
};

static inline void dra_fixture_init_with(struct dra_fixture *f, const struct bt_gates *gates)
{
	struct bt_state_options options = {.resource_gates = {.pod_level_resources = true}};

	*f = (struct dra_fixture){.state = bt_state_create(&options), .gates = *gates};
	f->dra = bt_dra_of(f->state, &f->gates);
}

static inline void dra_fixture_init(struct dra_fixture *f)
{
	struct bt_gates gates = bt_gates_default();

	dra_fixture_init_with(f, &gates);
}

static inline void dra_check_valid(struct dra_fixture *f)
{
	struct bt_strbuf reason = {0};
	bool valid = bt_dra_validate(f->dra, &reason);

	if (!valid) {
		ck_abort_msg("%s", bt_strbuf_c(&reason));
	}
	bt_strbuf_finish(&reason);
}

static inline void dra_fixture_finish(struct dra_fixture *f)
{
	dra_check_valid(f);
	bt_state_destroy(f->state);
	bt_arena_finish(&f->arena);
}

/** Decodes an object from JSON with ' for "; the caller owns the object. */
BT_PRINTF(2, 3)
static inline struct bt_object *make_object(enum bt_kind kind, const char *format, ...)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf text = {0};
	struct bt_json_reader reader;
	struct bt_object *object = NULL;
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	for (uint32_t i = 0; i < bt_strbuf_str(&text).length; i++) {
		if (text.data[i] == '\'') {
			text.data[i] = '"';
		}
	}
	bt_json_reader_init(&reader, bt_strbuf_str(&text));
	if (bt_object_decode_as(kind, &reader, &object, &err) != 0) {
		ck_abort_msg("%s in %s", berth_error_message(&err), bt_strbuf_c(&text));
	}
	bt_strbuf_finish(&text);
	return object;
}

#define PUT(f, kind, ...) \
	bt_object_store_put(&(f)->state->objects, make_object((kind), __VA_ARGS__))

static inline void delete_object(
	struct dra_fixture *f, enum bt_kind kind, const char *namespace_, const char *name)
{
	ck_assert(bt_object_store_delete(
		&f->state->objects, kind, bt_str_from(namespace_), bt_str_from(name)));
}
#endif
