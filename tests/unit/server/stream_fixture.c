/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_fixture.h"

#include <check.h>

static void count_wake(void *context)
{
	((struct stream_fixture *)context)->wakes++;
}

void stream_fixture_init(struct stream_fixture *fixture)
{
	*fixture = (struct stream_fixture){.capacity = 4096};
	api_fixture_init(&fixture->api);
	fixture->watchers = bt_watchers_create(fixture->api.api, 1);
	fixture->request = (struct bt_list_request){
		.api = fixture->api.api,
		.watchers = fixture->watchers,
		.wake = count_wake,
		.wake_context = fixture,
	};
}

void stream_fixture_finish(struct stream_fixture *fixture)
{
	bt_watchers_destroy(fixture->watchers);
	bt_strbuf_finish(&fixture->text);
	api_fixture_finish(&fixture->api);
}

void stream_turn(struct stream_fixture *fixture)
{
	(void)bt_watchers_run(fixture->watchers, fixture->loop_ns);
}

void stream_resource(struct stream_fixture *fixture, const char *resource, const char *namespace_)
{
	const struct bt_resources *resources = bt_api_resources(fixture->api.api);

	fixture->request.resource = NULL;
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *row = bt_resources_at(resources, i);

		if (bt_str_equal_c(bt_resource_qualified(row, &fixture->api.arena), resource)) {
			fixture->request.resource = row;
			break;
		}
	}
	ck_assert_ptr_nonnull(fixture->request.resource);
	fixture->request.namespace_ = bt_str_from(namespace_);
}

uint16_t stream_list(struct stream_fixture *fixture, const char *resource, const char *namespace_)
{
	struct bt_list *list;
	char buffer[65536];

	stream_resource(fixture, resource, namespace_);
	bool is_open =
		bt_list_open(&fixture->request, &fixture->api.arena, &list, &fixture->failure);
	fixture->request.parameters = (struct bt_list_parameters){0};
	bt_strbuf_reset(&fixture->text);
	if (!is_open) {
		return fixture->failure.code;
	}
	fixture->failure.code = 0;
	while (fixture->request.deletion != NULL && bt_list_delete(list, &fixture->failure)) {
		stream_turn(fixture);
	}
	for (;;) {
		int64_t count = bt_list_read(list, buffer, fixture->capacity);

		ck_assert_int_le(count, (int64_t)fixture->capacity);
		fixture->last_read = count;
		if (count == BT_HTTP_STREAM_WAIT) {
			uint32_t wakes = fixture->wakes;

			stream_turn(fixture);
			ck_assert_uint_eq(fixture->wakes, wakes + 1);
		} else if (count < 0) {
			break;
		} else {
			bt_strbuf_append(&fixture->text, buffer, (size_t)count);
		}
	}
	bt_list_finish(list);
	return fixture->last_read == BT_HTTP_STREAM_END ? 200 : 0;
}

struct bt_watch *stream_watch(
	struct stream_fixture *fixture, const char *resource, const char *namespace_)
{
	struct bt_watch *watch = NULL;

	stream_resource(fixture, resource, namespace_);
	if (!bt_watch_open(&fixture->request, fixture->loop_ns, &fixture->api.arena, &watch,
		    &fixture->failure)) {
		watch = NULL;
	}
	fixture->request.parameters = (struct bt_list_parameters){0};
	return watch;
}

const char *stream_read(struct stream_fixture *fixture, struct bt_watch *watch)
{
	char buffer[65536];

	bt_strbuf_reset(&fixture->text);
	while ((fixture->last_read = bt_watch_read(watch, buffer, fixture->capacity)) > 0) {
		bt_strbuf_append(&fixture->text, buffer, (size_t)fixture->last_read);
	}
	return bt_strbuf_c(&fixture->text);
}
