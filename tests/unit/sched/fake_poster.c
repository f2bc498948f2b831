/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_poster.h"

#include <check.h>

static void append_unquoted(struct bt_strbuf *out, struct bt_str text)
{
	for (uint32_t i = 0; i < text.length; i++) {
		bt_strbuf_append_char(out, text.data[i] == '"' ? '\'' : text.data[i]);
	}
}

static struct bt_str quoted(struct bt_arena *arena, const char *text)
{
	struct bt_str copy = bt_arena_str(arena, bt_str_from(text));
	char *bytes = (char *)(uintptr_t)copy.data;

	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = bytes[i] == '\'' ? '"' : bytes[i];
	}
	return copy;
}

static int post(void *context, const struct bt_extender_request *request, struct bt_arena *arena,
	struct bt_extender_response *out_response, struct berth_error *err)
{
	struct fake_poster *fake = context;

	bt_strbuf_append_c(&fake->urls, fake->urls.length != 0 ? " " : "");
	bt_strbuf_append_str(&fake->urls, request->url);
	bt_strbuf_append_str(&fake->log, request->url);
	bt_strbuf_append_char(&fake->log, ' ');
	append_unquoted(&fake->log, request->body);
	bt_strbuf_append_char(&fake->log, '\n');
	fake->timeout_ns = request->timeout_ns;
	if (fake->during != NULL) {
		fake->during(fake->during_context);
	}
	for (uint32_t i = 0; i < FAKE_POSTER_REPLIES && fake->replies[i].url != NULL; i++) {
		const struct fake_reply *reply = &fake->replies[i];

		if (!bt_str_equal_c(request->url, reply->url)) {
			continue;
		}
		if (reply->error != NULL) {
			return bt_error_set(err, BERTH_ERR_IO, "%s", reply->error);
		}
		out_response->status = reply->status != 0 ? reply->status : 200;
		out_response->body = quoted(arena, reply->body != NULL ? reply->body : "");
		return 0;
	}
	ck_abort_msg("no reply for %.*s", BT_STR_ARG(request->url));
	return -1;
}

static void called(void *context, const struct bt_config_extender *extender BT_UNUSED,
	enum bt_extender_verb verb BT_UNUSED)
{
	((struct fake_poster *)context)->calls_in_flight++;
}

static void answered(void *context, const struct bt_config_extender *extender BT_UNUSED,
	enum bt_extender_verb verb BT_UNUSED, struct bt_str error BT_UNUSED)
{
	((struct fake_poster *)context)->calls_in_flight--;
}

static void ignored(void *context, const struct bt_config_extender *extender, const char *message,
	int verbosity, struct bt_str error)
{
	bt_strbuf_printf(&((struct fake_poster *)context)->ignored, "V(%d) %s %.*s %.*s\n",
		verbosity, message, BT_STR_ARG(extender->url_prefix), BT_STR_ARG(error));
}

void fake_poster_init(struct fake_poster *fake)
{
	*fake = (struct fake_poster){.poster = {.post = post}};
	fake->poster.context = fake;
	fake->factory = bt_extender_poster_factory(&fake->poster);
	fake->observer = (struct bt_extender_observer){called, answered, ignored, fake};
}

static struct fake_reply *reply_at(struct fake_poster *fake, const char *url)
{
	for (uint32_t i = 0; i < FAKE_POSTER_REPLIES; i++) {
		struct fake_reply *reply = &fake->replies[i];

		if (reply->url == NULL || strcmp(reply->url, url) == 0) {
			*reply = (struct fake_reply){.url = url};
			return reply;
		}
	}
	ck_abort_msg("too many replies");
	return NULL;
}

void fake_poster_reply(struct fake_poster *fake, const char *url, const char *body)
{
	reply_at(fake, url)->body = body;
}

void fake_poster_fail(struct fake_poster *fake, const char *url, int status, const char *error)
{
	struct fake_reply *reply = reply_at(fake, url);

	reply->status = status;
	reply->error = error;
}

void fake_poster_finish(struct fake_poster *fake)
{
	ck_assert_uint_eq(fake->calls_in_flight, 0);
	bt_strbuf_finish(&fake->log);
	bt_strbuf_finish(&fake->urls);
	bt_strbuf_finish(&fake->ignored);
}

const char *fake_poster_urls(struct fake_poster *fake)
{
	const char *text = bt_strbuf_c(&fake->urls);

	fake->urls.length = 0;
	return text;
}

const char *fake_poster_log(struct fake_poster *fake)
{
	const char *text = bt_strbuf_c(&fake->log);

	fake->log.length = 0;
	return text;
}
