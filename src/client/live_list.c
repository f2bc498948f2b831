/* SPDX-License-Identifier: Apache-2.0 */
#include "client/live_private.h"

#include "client/watch_event.h"

/*
 * Lists one kind in pages. If the server drops the list's version between two pages (410), the list
 * starts again.
 */

#define PAGE_ITEMS "500"
#define RESTARTS_MAX 5
/** Servers may send smaller pages than requested; this limit stops endless lists. */
#define PAGES_MAX 100000

static void request_page(struct bt_live_list *list);

static void end_call(struct bt_live_list *list)
{
	bt_frames_finish(&list->frames);
	bt_arena_finish(&list->arena);
	list->call = NULL;
	list->is_open = false;
}

static void drop_objects(struct bt_live_list *list)
{
	for (uint32_t i = 0; i < list->objects.count; i++) {
		bt_object_release(list->objects.items[i]);
	}
	list->objects.count = 0;
	list->object_bytes = 0;
}

static void finish_with(struct bt_live_list *list, enum bt_live_end end)
{
	list->end = end;
	list->is_over = true;
}

/** --- received parts --- */

static int take_part(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err)
{
	struct bt_live_list *list = context;
	list->live->last_data_ns = bt_loop_now_ns(list->live->loop);
	bt_arena_reset(&list->arena);
	switch (part) {
	case BT_FRAME_ITEM: {
		struct bt_object *object;
		int result;
		if (list->objects.count >= list->objects_max) {
			list->is_cut = true;
			return 0;
		}
		if (list->is_protobuf) {
			result = bt_object_decode_protobuf(list->kind, bytes, NULL, &object, err);
		} else {
			struct bt_json_reader reader;
			bt_json_reader_init(&reader, bytes);
			result = bt_object_decode_as(list->kind, &reader, &object, err);
		}
		if (result < 0) {
			return result;
		}
		bt_vec_push(&list->objects, object);
		list->object_bytes += bt_object_bytes(object);
		return list->object_bytes > BT_OBJECTS_READ_BYTES_MAX
			? bt_error_set(err, BERTH_ERR_TOO_LARGE, "more than %zu bytes of memory",
				  BT_OBJECTS_READ_BYTES_MAX)
			: 0;
	}
	case BT_FRAME_METADATA:
		return bt_list_meta_read(bytes, list->is_protobuf, &list->arena, &list->version,
			&list->continue_token, err);
	case BT_FRAME_KIND: {
		struct bt_str kind;
		int result = bt_list_kind_read(bytes, list->is_protobuf, &list->arena, &kind, err);
		return result == 0 && !bt_str_has_suffix(kind, BT_STR("List"))
			? bt_error_set(err, BERTH_ERR_INVALID, "the answer is not a list")
			: result;
	}
	case BT_FRAME_EVENT:
		break; /* only in watches */
	}
	return 0;
}

/** --- end of a page --- */

static int wrap_list_error(
	struct bt_live_list *list, int code, const char *flaw, struct berth_error *err)
{
	int result = flaw != NULL ? bt_error_set(err, code, "%s", flaw) : code;
	return bt_error_wrap(err, result, "the API server %s sent a broken list of %s",
		bt_live_server(list->live), bt_strbuf_c(&list->resource));
}

/** --- callbacks of the request --- */

static void on_opened(void *context, struct bt_rest_call *call, struct bt_str content_type)
{
	struct bt_live_list *list = context;
	struct bt_frames_sink sink = {list, take_part};
	(void)call; /* is list->call */
	list->is_open = true;
	list->live->has_answered = true;
	list->live->last_data_ns = bt_loop_now_ns(list->live->loop);
	list->is_protobuf = bt_str_has_prefix(content_type, BT_STR(BT_MEDIA_PROTOBUF));
	bt_frames_init(&list->frames,
		list->is_protobuf ? BT_FRAMES_LIST_PROTOBUF : BT_FRAMES_LIST_JSON, &sink);
}

static void on_data(void *context, struct bt_rest_call *call, struct bt_str bytes)
{
	struct bt_live_list *list = context;
	struct berth_error cause = BERTH_ERROR_INIT;
	int result = bt_frames_feed(&list->frames, bytes, &cause);
	if (result != 0) {
		(void)wrap_list_error(list, result, NULL, &cause);
		(void)bt_error_move(&list->err, &cause);
		bt_rest_cancel(call);
		end_call(list);
		finish_with(list, BT_LIVE_FAILED);
	}
}

static void on_done(void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_live_list *list = context;
	bool is_whole = list->is_open && bt_frames_is_complete(&list->frames);
	(void)call; /* the client frees it */
	end_call(list);
	list->live->has_answered = list->live->has_answered || answer->code != 0;
	list->live->last_data_ns = bt_loop_now_ns(list->live->loop);
	/* The requested version has expired, or the server does not know it. */
	bool is_of_version = answer->class_ == BT_REST_GONE || answer->class_ == BT_REST_EXPIRED ||
		answer->too_large_resource_version ||
		(list->at_version.length != 0 &&
			(answer->class_ == BT_REST_BAD_REQUEST ||
				answer->class_ == BT_REST_INVALID ||
				answer->class_ == BT_REST_TIMEOUT));
	if (answer->class_ == BT_REST_NOT_FOUND &&
		bt_kind_version_at(list->kind, list->version_index + 1).length != 0) {
		list->version_index++;
		request_page(list);
	} else if (answer->class_ == BT_REST_NOT_FOUND) {
		finish_with(list, BT_LIVE_ABSENT);
	} else if (answer->class_ != BT_REST_OK && is_of_version && list->restarts < RESTARTS_MAX) {
		list->restarts++;
		list->at_version = BT_STR("");
		bt_strbuf_reset(&list->continue_token);
		drop_objects(list);
		request_page(list);
	} else if (answer->class_ != BT_REST_OK) {
		(void)bt_live_answer_error(
			list->live, bt_strbuf_c(&list->resource), answer, &list->err);
		finish_with(list,
			answer->class_ == BT_REST_FORBIDDEN ? BT_LIVE_FORBIDDEN : BT_LIVE_FAILED);
	} else if (!is_whole) {
		(void)wrap_list_error(list, BERTH_ERR_IO, "it is cut off", &list->err);
		finish_with(list, BT_LIVE_FAILED);
	} else if (list->continue_token.length == 0 || list->is_cut) {
		finish_with(list, BT_LIVE_COMPLETE);
	} else if (++list->pages >= PAGES_MAX) {
		(void)wrap_list_error(list, BERTH_ERR_TOO_LARGE, "it has no end", &list->err);
		finish_with(list, BT_LIVE_FAILED);
	} else {
		request_page(list);
	}
}

/** --- requests --- */

static void request_page(struct bt_live_list *list)
{
	struct bt_strbuf path = {0};
	struct bt_strbuf query = {0};
	bt_kind_append_path(list->kind, bt_kind_version_at(list->kind, list->version_index), &path);
	bt_rest_append_object(&path, list->namespace_,
		bt_str_from(bt_kind_info(list->kind)->resource), BT_STR(""));
	bt_rest_append_query(&query, "limit", BT_STR(PAGE_ITEMS));
	if (list->field_selector.length != 0) {
		bt_rest_append_query(&query, "fieldSelector", list->field_selector);
	}
	if (list->continue_token.length != 0) {
		bt_rest_append_query(&query, "continue", bt_strbuf_str(&list->continue_token));
	} else if (list->at_version.length != 0) {
		bt_rest_append_query(&query, "resourceVersion", list->at_version);
		bt_rest_append_query(&query, "resourceVersionMatch", BT_STR("Exact"));
	}
	struct bt_rest_request request = {
		.method = "GET",
		.path = bt_strbuf_str(&path),
		.query = bt_strbuf_str(&query),
		.resource = bt_str_from(bt_kind_info(list->kind)->resource),
		.name = BT_STR(""),
		.content_type = BT_STR(""),
		.body = {NULL, 0},
		.handler = {list, on_opened, on_data, on_done},
	};
	bt_strbuf_reset(&list->continue_token);
	list->call = bt_rest_start(list->live->client, &request);
	bt_strbuf_finish(&path);
	bt_strbuf_finish(&query);
}

void bt_live_list_start(struct bt_live_list *list)
{
	bt_kind_append_resource(list->kind, &list->resource);
	request_page(list);
}

void bt_live_list_finish(struct bt_live_list *list)
{
	if (list->call != NULL) {
		bt_rest_cancel(list->call);
		end_call(list);
	}
	drop_objects(list);
	bt_vec_finish(&list->objects);
	bt_strbuf_finish(&list->version);
	bt_strbuf_finish(&list->resource);
	bt_strbuf_finish(&list->continue_token);
	berth_error_finish(&list->err);
}
