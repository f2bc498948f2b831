/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/engine.h"

#include <string.h>

#include "base/alloc.h"
#include "lib/convert.h"
#include "lib/registry.h"

#define SAME_POLICY(name) \
	_Static_assert((int)BERTH_TIE_##name == (int)BT_TIE_##name, "one list of policies")
SAME_POLICY(HEAP);
SAME_POLICY(FIRST_BY_NAME);
SAME_POLICY(RANDOM);

/* --- why pods failed --- */

static uint64_t hash_of_note(const void *owner, uint32_t id)
{
	const struct berth_engine *engine = owner;

	return bt_str_hash(bt_str_from(engine->notes.items[id].key));
}

static uint32_t find_note(const struct berth_engine *engine, struct bt_str key)
{
	uint64_t hash = bt_str_hash(key);

	for (uint32_t it = bt_map_first(&engine->notes_by_key, hash); it != BT_MAP_NONE;
		it = bt_map_next(&engine->notes_by_key, hash, it)) {
		uint32_t id = bt_map_value(&engine->notes_by_key, it);
		if (bt_str_equal_c(key, engine->notes.items[id].key)) {
			return id;
		}
	}
	return UINT32_MAX;
}

/** "namespace/name" into the buffer. */
static struct bt_str key_of(struct bt_strbuf *buffer, struct bt_str namespace_, struct bt_str name)
{
	bt_strbuf_printf(buffer, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
	return bt_strbuf_str(buffer);
}

static void forget_failure(
	struct berth_engine *engine, struct bt_str namespace_, struct bt_str name)
{
	struct bt_strbuf buffer = {0};
	struct bt_str key = key_of(&buffer, namespace_, name);
	uint32_t id = find_note(engine, key);

	if (id != UINT32_MAX) {
		(void)bt_map_remove(&engine->notes_by_key, bt_str_hash(key), id);
		bt_free(engine->notes.items[id].key);
		bt_free(engine->notes.items[id].message);
		engine->notes.items[id] = (struct bt_failure_note){NULL, NULL};
		bt_vec_push(&engine->free_notes, id);
	}
	bt_strbuf_finish(&buffer);
}

static void note_failure(struct berth_engine *engine, const struct bt_attempt *attempt)
{
	struct bt_strbuf buffer = {0};
	struct bt_failure_note note;
	uint32_t id = engine->notes.count;

	forget_failure(engine, attempt->namespace_, attempt->name);
	if (bt_scheduler_find_pod(engine->scheduler, attempt->namespace_, attempt->name) == NULL) {
		return; /* gone meanwhile: nobody would ever forget it */
	}
	struct bt_str key = key_of(&buffer, attempt->namespace_, attempt->name);
	note.key = bt_strndup(key.data, key.length);
	note.message = bt_strndup(attempt->message.data, attempt->message.length);
	if (engine->free_notes.count != 0) {
		id = engine->free_notes.items[--engine->free_notes.count];
		engine->notes.items[id] = note;
	} else {
		bt_vec_push(&engine->notes, note);
	}
	bt_map_insert(&engine->notes_by_key, bt_str_hash(key), id);
	bt_strbuf_finish(&buffer);
}

const char *bt_lib_failure_message(
	const struct berth_engine *engine, struct bt_str namespace_, struct bt_str name)
{
	struct bt_strbuf buffer = {0};
	uint32_t id = find_note(engine, key_of(&buffer, namespace_, name));

	bt_strbuf_finish(&buffer);
	return id != UINT32_MAX ? engine->notes.items[id].message : NULL;
}

/* --- life --- */

static struct berth_engine_options read_options(const struct berth_engine_options *given)
{
	struct berth_engine_options options = BERTH_ENGINE_OPTIONS_INIT;

	if (given != NULL) {
		memcpy(&options, given,
			given->size < sizeof(options) ? given->size : sizeof(options));
	}
	return options;
}

int berth_engine_create(struct berth_config *config, const struct berth_engine_options *given,
	struct berth_engine **out_engine, struct berth_error *err)
{
	struct berth_engine_options options = read_options(given);
	struct bt_engine_options inside = {
		.tie_policy = (enum bt_tie_policy)options.tie_policy,
		.seed = options.seed,
		.verify = options.verify,
		.percentage_of_nodes_to_score = options.percentage_of_nodes_to_score,
		.extra_plugins = options.registry != NULL ? &options.registry->inside : NULL,
	};
	struct berth_engine *engine = BT_NEW(struct berth_engine);

	bt_requests_init(&engine->requests, options.warn, options.warn_context);
	bt_map_init(&engine->notes_by_key, hash_of_note, engine);
	bt_object_store_init(&engine->nodes);
	bt_lib_extenders_init(&engine->extenders, &options, &inside);
	int result = bt_scheduler_create(
		bt_config_of(config), &inside, &engine->requests.writer, &engine->scheduler, err);
	if (result < 0) {
		berth_engine_destroy(engine);
		return result;
	}
	engine->requests.scheduler = engine->scheduler;
	bt_lib_extenders_attach(
		&engine->extenders, &bt_scheduler_engine(engine->scheduler)->extenders);
	*out_engine = engine;
	return BERTH_OK;
}

void berth_engine_destroy(struct berth_engine *engine)
{
	if (engine == NULL) {
		return;
	}
	bt_scheduler_destroy(engine->scheduler);
	bt_requests_finish(&engine->requests);
	bt_lib_extenders_finish(&engine->extenders);
	bt_object_store_finish(&engine->nodes);
	for (uint32_t i = 0; i < engine->notes.count; i++) {
		bt_free(engine->notes.items[i].key);
		bt_free(engine->notes.items[i].message);
	}
	bt_vec_finish(&engine->notes);
	bt_vec_finish(&engine->free_notes);
	bt_map_finish(&engine->notes_by_key);
	bt_free(engine);
}

/* --- changes --- */

/** The version before; NULL: the engine has none. Borrowed. */
static struct bt_object *find_known(
	const struct berth_engine *engine, const struct bt_object *object)
{
	const struct bt_object_meta *meta = object->meta;

	if (object->kind == BT_KIND_POD) {
		return bt_scheduler_find_pod(engine->scheduler, meta->namespace_, meta->name);
	}
	if (object->kind == BT_KIND_NODE) {
		return bt_object_store_find_object(
			&engine->nodes, BT_KIND_NODE, BT_STR(""), meta->name);
	}
	return bt_object_store_find_object(&bt_scheduler_engine(engine->scheduler)->state->objects,
		object->kind, meta->namespace_, meta->name);
}

int berth_engine_put(struct berth_engine *engine, struct berth_object *outside, int64_t now_ns,
	struct berth_error *err)
{
	struct bt_object *object = bt_object_of(outside);
	struct bt_object *known = find_known(engine, object);

	known = known != NULL ? bt_object_share(known) : NULL;
	int result = bt_scheduler_observe(engine->scheduler, known, object, now_ns, err);
	if (object->kind == BT_KIND_NODE) {
		bt_object_store_put(&engine->nodes, bt_object_share(object));
	}
	if (object->kind == BT_KIND_POD && find_known(engine, object) == NULL) {
		forget_failure(engine, object->meta->namespace_, object->meta->name);
	}
	bt_object_release(known);
	return result;
}

int berth_engine_delete(struct berth_engine *engine, const struct berth_object *outside,
	int64_t now_ns, struct berth_error *err)
{
	const struct bt_object *object = bt_const_object_of(outside);
	struct bt_object *known = find_known(engine, object);
	int result = BERTH_OK;

	if (known == NULL) {
		return BERTH_OK;
	}
	known = bt_object_share(known);
	result = bt_scheduler_observe(engine->scheduler, known, NULL, now_ns, err);
	if (known->kind == BT_KIND_NODE) {
		(void)bt_object_store_delete(
			&engine->nodes, BT_KIND_NODE, BT_STR(""), known->meta->name);
	} else if (known->kind == BT_KIND_POD) {
		forget_failure(engine, known->meta->namespace_, known->meta->name);
	}
	bt_object_release(known);
	return result;
}

/* --- work --- */

static enum berth_decision_outcome outcome_of(enum bt_attempt_outcome outcome)
{
	switch (outcome) {
	case BT_ATTEMPT_BOUND:
		return BERTH_DECISION_BOUND;
	case BT_ATTEMPT_WAITING:
		return BERTH_DECISION_WAITING;
	case BT_ATTEMPT_FAILED:
		return BERTH_DECISION_FAILED;
	case BT_ATTEMPT_IDLE:
	case BT_ATTEMPT_SKIPPED:
		break;
	}
	return BERTH_DECISION_SKIPPED;
}

bool berth_engine_step(
	struct berth_engine *engine, int64_t now_ns, struct berth_decision *out_decision)
{
	struct bt_attempt attempt;

	(void)bt_scheduler_step(engine->scheduler, now_ns, &attempt);
	if (attempt.outcome == BT_ATTEMPT_IDLE) {
		return false;
	}
	if (attempt.outcome == BT_ATTEMPT_FAILED) {
		note_failure(engine, &attempt);
		if (attempt.has_waited) {
			bt_requests_abandon(&engine->requests, attempt.uid);
		}
	} else if (attempt.outcome == BT_ATTEMPT_BOUND) {
		forget_failure(engine, attempt.namespace_, attempt.name);
	}
	if (out_decision != NULL) {
		*out_decision = (struct berth_decision){
			.outcome = outcome_of(attempt.outcome),
			.pod_namespace = attempt.namespace_,
			.pod_name = attempt.name,
			.node_name = attempt.node_name,
			.reason = attempt.reason,
			.message = attempt.message,
		};
	}
	return true;
}

int64_t berth_engine_next_deadline_ns(const struct berth_engine *engine)
{
	return bt_scheduler_next_step_ns(engine->scheduler);
}

/* --- writes --- */

bool berth_engine_take_request(struct berth_engine *engine, struct berth_request *out_request)
{
	return bt_requests_take(&engine->requests, out_request);
}

void berth_engine_answer(
	struct berth_engine *engine, uint64_t id, const struct berth_answer *answer)
{
	bt_requests_answer(&engine->requests, id, answer);
}
