/* SPDX-License-Identifier: Apache-2.0 */
#include "server/list.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/vec.h"
#include "codec/json_edit.h"
#include "server/strategy.h"
#include "server/watch.h"

/** Objects that one call examines, matching or not, before it lets other work run. */
#define OBJECTS_PER_TURN 2000
/** An object that must be parsed into a tree counts as this many objects. */
#define TREE_OBJECTS 4
/**
 * Objects that a deletecollection examines per turn: fewer than a list examines, because deletions
 * take longer.
 */
#define DELETIONS_PER_TURN 200
/** A protobuf list up to this size is kept while it is measured; a larger one is encoded twice. */
#define KEPT_BYTES_MAX ((size_t)1 << 20)

enum phase {
	PHASE_MEASURING, /* protobuf: computes the message's length */
	PHASE_WRITING,
	PHASE_DONE,
	PHASE_BROKEN, /* the window lost the state at the list's RV */
};

struct bt_list {
	struct bt_list_request request; /* its texts must not be used after bt_list_open */
	struct bt_encoder encoder;
	struct bt_selection selection;
	struct bt_arena arena; /* memory of the list's texts */
	struct bt_str prefix;  /* prefix of the keys, or the only key that can match */
	struct bt_str start;   /* the page begins after this key */
	struct bt_store_walk walk;
	enum phase phase;
	int64_t limit; /* 0: none */
	int64_t count; /* items on this page so far */
	struct bt_list_metadata metadata;
	struct bt_strbuf last_key; /* key of the last item */
	/* For protobuf. */
	uint64_t message_bytes;
	bool is_dropped; /* the measured items were too large to keep */
	/* For deletecollection: the deleted objects, and the index of the next to write. */
	struct bt_arena scratch; /* memory of one turn of deletions */
	BT_VEC(struct bt_stored *) deleted;
	uint32_t deleted_next;
	/* Encoded bytes that the client has not read yet. */
	struct bt_strbuf pending;
	size_t pending_at;
	struct bt_wait *wait; /* set while paused for other work */
};

enum step {
	STEP_GO_ON,
	STEP_TURN_OVER,
	STEP_END, /* PHASE_DONE or PHASE_BROKEN */
};

/* --- selection of objects --- */

static bool begin_walk(struct bt_list *list)
{
	return bt_store_walk_begin(bt_api_store(list->request.api),
		list->request.resource->collection, list->metadata.rv, list->prefix, list->start,
		&list->walk);
}

/**
 * Returns the next selected object. NULL: *out_step tells why; STEP_GO_ON: there are no more
 * objects.
 */
static struct bt_stored *next_object(struct bt_list *list, uint32_t *budget, enum step *out_step)
{
	const struct bt_strategy *strategy = list->request.resource->strategy;

	*out_step = STEP_GO_ON;
	if (list->request.deletion != NULL) {
		return list->deleted_next < list->deleted.count
			? list->deleted.items[list->deleted_next++]
			: NULL;
	}
	for (;;) {
		bool lost;

		if (*budget == 0) {
			*out_step = STEP_TURN_OVER;
			return NULL;
		}
		(*budget)--;
		struct bt_stored *stored = bt_store_walk_next(&list->walk, &lost);
		if (lost) {
			list->phase = PHASE_BROKEN;
			*out_step = STEP_END;
			return NULL;
		}
		if (stored == NULL ||
			(list->selection.name.data != NULL &&
				bt_stored_key(stored).length > list->prefix.length &&
				(list->selection.prefix.length != 0 ||
					!list->request.resource->namespaced))) {
			return NULL;
		}
		if (bt_selection_matches(&list->selection, stored) &&
			(strategy->is_served == NULL || strategy->is_served(stored))) {
			return stored;
		}
	}
}

/* --- deletion --- */

/**
 * Returns false and sets *out_failure on a failure. An object that no longer exists is no failure.
 */
static bool delete_one(
	struct bt_list *list, struct bt_stored *stored, struct bt_failure *out_failure)
{
	struct bt_api_request request = *list->request.deletion;
	struct bt_str key = bt_stored_key(stored);
	struct bt_api_answer answer = {0};

	request.verb = BT_VERB_DELETE;
	request.resource = list->request.resource;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	if (request.body != NULL) {
		request.body = bt_json_clone(&list->scratch, request.body, false);
	}
	bt_api_perform(list->request.api, &request, &list->scratch, &answer);
	bool failed = answer.failure.code != 0 && answer.failure.code != 404;
	if (failed) {
		*out_failure = answer.failure;
	}
	bt_api_answer_finish(&answer);
	return !failed;
}

static void begin_writing(struct bt_list *list)
{
	if (list->phase == PHASE_WRITING) {
		bt_encode_list_begin(
			&list->encoder, list->limit == 0 ? &list->metadata : NULL, &list->pending);
	}
}

/* Each turn starts a new walk, because the store may forget changes that a longer walk needs. */
bool bt_list_delete(struct bt_list *list, struct bt_failure *out_failure)
{
	struct bt_store *store = bt_api_store(list->request.api);
	uint32_t budget = DELETIONS_PER_TURN;
	bool is_over = false;
	bool failed = false;

	bt_arena_reset(&list->scratch);
	bool began = bt_store_walk_begin(store, list->request.resource->collection, 0, list->prefix,
		bt_strbuf_str(&list->last_key), &list->walk);
	BT_ASSERT(began);
	while (!failed && budget-- != 0) {
		bool lost;

		struct bt_stored *stored = bt_store_walk_next(&list->walk, &lost);
		if (stored == NULL) {
			is_over = !lost;
			break;
		}
		bt_strbuf_set(&list->last_key, bt_stored_key(stored));
		if (bt_selection_matches(&list->selection, stored)) {
			bt_vec_push(&list->deleted, bt_stored_share(stored));
			failed = !delete_one(list, stored, out_failure);
		}
	}
	bt_store_walk_end(&list->walk);
	if (is_over) {
		list->metadata.rv = bt_store_rv(store);
		bt_strbuf_reset(&list->last_key);
		begin_writing(list);
	}
	return !is_over && !failed;
}

/* --- opening --- */

static bool set_page(struct bt_list *list, const struct bt_list_request *request,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	struct bt_list_token token;
	uint64_t current = bt_store_rv(bt_api_store(request->api));

	if (!bt_list_token_read(request->parameters.continue_token, &token, arena, out_failure)) {
		return false;
	}
	list->start = bt_arena_printf(&list->arena, "%.*s%.*s", BT_STR_ARG(list->selection.prefix),
		BT_STR_ARG(token.start));
	if (list->start.length > BT_STORE_KEY_BYTES_MAX) {
		return bt_fail(out_failure, arena, 400, "BadRequest",
			"invalid continue token: incorrect start");
	}
	list->metadata.rv = token.rv > 0 ? (uint64_t)token.rv : current;
	uint64_t compacted =
		bt_store_compacted_rv(bt_api_store(request->api), bt_api_now_ns(request->api));
	if (list->metadata.rv > current || list->metadata.rv < compacted || !begin_walk(list)) {
		return bt_fail_token_expired(out_failure, arena, &token);
	}
	return true;
}

static bool set_state(struct bt_list *list, const struct bt_list_options *options,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	uint64_t current = bt_store_rv(bt_api_store(list->request.api));

	if (options->rv > current) {
		return bt_fail_future_rv(out_failure, arena, options->rv, current);
	}
	list->metadata.rv = options->match == BT_RV_MATCH_EXACT ? options->rv : current;
	return begin_walk(list) ||
		bt_fail(out_failure, arena, 410, "Expired",
			"The resourceVersion for the provided list is too old.");
}

static bool open_list(struct bt_list *list, const struct bt_list_request *request,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	struct bt_list_options options;
	const struct bt_selection *selection = &list->selection;

	if (!bt_list_options_parse(&request->parameters, false, &options, arena, out_failure) ||
		!bt_selection_parse(&list->selection, request->resource, request->namespace_,
			request->parameters.label_selector, request->parameters.field_selector,
			arena, out_failure)) {
		return false;
	}
	list->prefix = selection->prefix;
	if (selection->name.data != NULL &&
		(selection->prefix.length != 0 || !list->request.resource->namespaced)) {
		list->prefix = bt_arena_printf(&list->arena, "%.*s%.*s",
			BT_STR_ARG(selection->prefix), BT_STR_ARG(selection->name));
	}
	if (selection->nothing || list->prefix.length > BT_STORE_KEY_BYTES_MAX) {
		/* No key begins with this byte, so the list is empty. */
		list->prefix = BT_STR("\x7f");
	}
	if (request->deletion != NULL) {
		return true;
	}
	list->limit = options.limit;
	return request->parameters.continue_token.length != 0
		? set_page(list, request, arena, out_failure)
		: set_state(list, &options, arena, out_failure);
}

bool bt_list_open(const struct bt_list_request *request, struct bt_arena *arena,
	struct bt_list **out_list, struct bt_failure *out_failure)
{
	struct bt_list *list = BT_NEW(struct bt_list);

	list->request = *request;
	list->phase =
		request->encoding.media == BT_MEDIA_PROTOBUF ? PHASE_MEASURING : PHASE_WRITING;
	bt_encoder_init(&list->encoder, request->api, request->resource, &request->encoding);
	if (!open_list(list, request, arena, out_failure)) {
		bt_list_finish(list);
		return false;
	}
	if (request->deletion == NULL) {
		begin_writing(list);
	}
	*out_list = list;
	return true;
}

/* --- writing --- */

/** Sets the continue token of a full page if more objects follow. */
static void set_continue(struct bt_list *list)
{
	struct bt_str last = bt_strbuf_str(&list->last_key);
	struct bt_list_token token = {
		.rv = (int64_t)list->metadata.rv,
		.start = bt_str_sub(last, list->selection.prefix.length, last.length),
	};

	list->metadata.continue_token = bt_list_token_write(&token, &list->arena);
	if (list->selection.labels.requirement_count != 0 || list->selection.field_count != 0 ||
		list->selection.key_term_count != 0) {
		return;
	}
	uint64_t remaining = bt_store_count_after(bt_api_store(list->request.api),
		list->request.resource->collection, list->selection.prefix, last);
	list->metadata.remaining_item_count = remaining != 0 ? (int64_t)remaining : 1;
}

/** Ends the page: no more items follow on it. */
static enum step end_page(struct bt_list *list)
{
	if (list->phase == PHASE_MEASURING) {
		struct bt_strbuf message = list->pending; /* empty if is_dropped */
		struct bt_strbuf head = {0};

		/* The metadata comes first in the message, but is complete only now. */
		list->pending = (struct bt_strbuf){0};
		bt_encode_list_begin(&list->encoder, &list->metadata, &list->pending);
		bt_encode_list_envelope(
			&list->encoder, list->message_bytes + list->pending.length, &head);
		bt_strbuf_append_str(&head, bt_strbuf_str(&list->pending));
		bt_strbuf_append_str(&head, bt_strbuf_str(&message));
		bt_strbuf_finish(&list->pending);
		list->pending = head;
		list->phase = list->is_dropped ? PHASE_WRITING : PHASE_DONE;
		if (list->is_dropped) {
			list->count = 0;
			list->deleted_next = 0;
			bt_store_walk_end(&list->walk);
			if (list->request.deletion == NULL && !begin_walk(list)) {
				list->phase = PHASE_BROKEN;
			}
		}
		bt_strbuf_finish(&message);
		return list->phase == PHASE_WRITING ? STEP_GO_ON : STEP_END;
	}
	if (list->request.encoding.media != BT_MEDIA_PROTOBUF) {
		bt_encode_list_end(
			&list->encoder, list->limit != 0 ? &list->metadata : NULL, &list->pending);
	}
	list->phase = PHASE_DONE;
	return STEP_END;
}

/** One step: writes an item or ends the page. */
static enum step advance(struct bt_list *list, uint32_t *budget)
{
	enum step step;

	if (list->phase == PHASE_DONE || list->phase == PHASE_BROKEN) {
		return STEP_END;
	}
	struct bt_stored *stored = next_object(list, budget, &step);
	if (step != STEP_GO_ON) {
		return step;
	}
	if (stored == NULL) {
		return end_page(list);
	}
	if (list->limit != 0 && list->count == list->limit) {
		if (list->metadata.continue_token.length == 0) {
			set_continue(list);
		}
		return end_page(list);
	}
	size_t before = list->pending.length;

	if (!list->encoder.is_plain) {
		*budget -= *budget < TREE_OBJECTS ? *budget : TREE_OBJECTS;
	}
	bt_encode_list_item(&list->encoder, stored, &list->pending);
	bt_strbuf_set(&list->last_key, bt_stored_key(stored));
	list->count++;
	if (list->phase == PHASE_MEASURING) {
		list->message_bytes += list->pending.length - before;
		list->is_dropped = list->is_dropped || list->pending.length > KEPT_BYTES_MAX;
		if (list->is_dropped) {
			bt_strbuf_reset(&list->pending);
		}
	}
	return STEP_GO_ON;
}

bool bt_list_gather(struct bt_list *list, size_t bytes_max)
{
	/* The budget is large enough that a table page of 500 rows is one answer. */
	uint32_t budget = 2 * OBJECTS_PER_TURN;

	while (list->pending.length < bytes_max) {
		if (advance(list, &budget) != STEP_GO_ON) {
			break;
		}
	}
	return list->phase == PHASE_DONE;
}

void bt_list_take(struct bt_list *list, struct bt_strbuf *out)
{
	BT_ASSERT(list->phase == PHASE_DONE && list->pending_at == 0);
	bt_strbuf_finish(out);
	*out = list->pending;
	list->pending = (struct bt_strbuf){0};
	bt_list_finish(list);
}

/* --- the stream --- */

static void on_turn(void *context)
{
	struct bt_list *list = context;

	list->wait = NULL;
	list->request.wake(list->request.wake_context);
}

/** Pauses for other work; the reader is woken in the next turn of the loop. */
static int64_t yield_turn(struct bt_list *list)
{
	if (list->wait == NULL) {
		list->wait =
			bt_watchers_await(list->request.watchers, 0, 0, INT64_MAX, on_turn, list);
	}
	return BT_HTTP_STREAM_WAIT;
}

int64_t bt_list_read(void *context, char *buffer, size_t capacity)
{
	struct bt_list *list = context;
	uint32_t budget = OBJECTS_PER_TURN;
	size_t filled = 0;

	for (;;) {
		size_t left = list->pending.length - list->pending_at;
		size_t taken = left < capacity - filled ? left : capacity - filled;

		/* Bytes that are encoded only for measuring are not sent. */
		if (list->phase != PHASE_MEASURING && taken != 0) {
			memcpy(buffer + filled, list->pending.data + list->pending_at, taken);
			list->pending_at += taken;
			filled += taken;
		}
		if (list->phase != PHASE_MEASURING && list->pending_at == list->pending.length) {
			bt_strbuf_reset(&list->pending);
			list->pending_at = 0;
		}
		if (filled == capacity) {
			return (int64_t)filled;
		}
		enum step step = advance(list, &budget);
		if (step == STEP_END && list->pending.length == 0) {
			break;
		}
		if (step == STEP_TURN_OVER && list->pending.length == 0) {
			return filled != 0 ? (int64_t)filled : yield_turn(list);
		}
		if (step == STEP_TURN_OVER && list->phase == PHASE_MEASURING) {
			return yield_turn(list);
		}
	}
	if (filled != 0) {
		return (int64_t)filled;
	}
	return list->phase == PHASE_DONE ? BT_HTTP_STREAM_END : BT_HTTP_STREAM_ABORT;
}

void bt_list_finish(void *context)
{
	struct bt_list *list = context;

	if (list == NULL) {
		return;
	}
	if (list->wait != NULL) {
		bt_watchers_cancel(list->wait);
	}
	for (uint32_t i = 0; i < list->deleted.count; i++) {
		bt_stored_release(list->deleted.items[i]);
	}
	bt_vec_finish(&list->deleted);
	bt_store_walk_end(&list->walk);
	bt_encoder_finish(&list->encoder);
	bt_selection_finish(&list->selection);
	bt_strbuf_finish(&list->last_key);
	bt_strbuf_finish(&list->pending);
	bt_arena_finish(&list->scratch);
	bt_arena_finish(&list->arena);
	bt_free(list);
}
