/* SPDX-License-Identifier: Apache-2.0 */
/* For mkdtemp. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/up/up_identity.h"
#include "test_main.h"

static char folder[] = "/tmp/berth-identity-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[64];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/berth-identity-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	static const char *const names[] = {
		"ca.crt", "ca.key", "apiserver.crt", "apiserver.key", "token"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		ck_assert_int_eq(unlink(path_of(names[i])), 0);
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_token(const char *text)
{
	FILE *file = fopen(path_of("token"), "w");
	ck_assert_ptr_nonnull(file);
	(void)fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static int create(struct bt_up_identity *out, struct berth_error *err)
{
	const struct bt_listen listen = {.address = "127.0.0.1"};
	struct bt_up_identity_options options = {
		.listen = &listen, .data_dir = folder, .now_seconds = 1800000000};
	return bt_up_identity_create(&options, out, err);
}

START_TEST(test_up_identity__files_of_the_owner)
{
	static const char *const names[] = {
		"ca.crt", "ca.key", "apiserver.crt", "apiserver.key", "token", "kubeconfig"};
	struct bt_up_identity first;
	struct bt_up_identity second;
	make_folder();
	FILE *open_to_all = fopen(path_of("kubeconfig"), "w");
	ck_assert_ptr_nonnull(open_to_all);
	(void)fclose(open_to_all);
	ck_assert_int_eq(chmod(path_of("kubeconfig"), 0644), 0);
	mode_t mask = umask(0);
	ck_assert_int_eq(create(&first, NULL), 0);
	ck_assert_int_eq(
		bt_up_kubeconfig_write(&first, "https://127.0.0.1:1", path_of("kubeconfig"), NULL),
		0);
	(void)umask(mask);
	ck_assert_int_eq(create(&second, NULL), 0);
	ck_assert(bt_str_equal(bt_strbuf_str(&first.token), bt_strbuf_str(&second.token)));
	ck_assert(bt_str_equal(bt_strbuf_str(&first.server.certificate),
		bt_strbuf_str(&second.server.certificate)));
	ck_assert_uint_eq(first.token.length, 48);
	bt_up_identity_finish(&first);
	bt_up_identity_finish(&second);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		struct stat status;
		ck_assert_msg(stat(path_of(names[i]), &status) == 0, "%s", names[i]);
		ck_assert_msg((status.st_mode & 0777) == 0600, "%s", names[i]);
		ck_assert_int_eq(unlink(path_of(names[i])), 0);
	}
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(test_up_identity__kept_tokens)
{
	static const char *const refused[] = {
		"", "\n", "short", "0123456789abcdef\n0123", "0123456789abcdef: x"};
	struct bt_up_identity identity;
	make_folder();
	for (size_t i = 0; i < BT_ARRAY_LENGTH(refused); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		write_token(refused[i]);
		ck_assert_msg(create(&identity, &err) == BERTH_ERR_INVALID, "row %zu", i);
		ck_assert_ptr_nonnull(strstr(berth_error_message(&err), path_of("token")));
		berth_error_finish(&err);
	}
	write_token("0123456789abcdef\n");
	ck_assert_int_eq(create(&identity, NULL), 0);
	ck_assert(bt_str_equal_c(bt_strbuf_str(&identity.token), "0123456789abcdef"));
	bt_up_identity_finish(&identity);
	remove_folder();
}
END_TEST

/* Creates the identity of a server at this address, at this time. */
static void create_at(const char *address, int64_t now_seconds, struct bt_up_identity *out)
{
	struct bt_listen listen = {.port = 0};
	struct bt_up_identity_options options = {
		.listen = &listen, .data_dir = folder, .now_seconds = now_seconds};
	(void)snprintf(listen.address, sizeof(listen.address), "%s", address);
	ck_assert_int_eq(bt_up_identity_create(&options, out, NULL), 0);
}

START_TEST(test_up_identity__certificate_for_the_address)
{
	static const char *const addresses[] = {"127.0.0.1", "10.9.8.7", "0.0.0.0", "127.0.0.1"};
	struct bt_up_identity first;
	struct bt_up_identity next;
	make_folder();
	create_at("127.0.0.1", 1800000000, &first);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(addresses); i++) {
		create_at(addresses[i], 1800000000, &next);
		ck_assert(bt_str_equal(
			bt_strbuf_str(&first.ca.certificate), bt_strbuf_str(&next.ca.certificate)));
		ck_assert_int_eq(bt_certificate_check(&next.server, i == 2 ? NULL : addresses[i],
					 1800000000, 1800000000, NULL),
			0);
		bt_up_identity_finish(&next);
	}
	bt_up_identity_finish(&first);
	remove_folder();
}
END_TEST

/* A given certificate may be valid for less than a day. */
START_TEST(test_up_identity__given_certificate)
{
	struct bt_up_identity identity;
	struct berth_error err = BERTH_ERROR_INIT;
	make_folder();
	create_at("127.0.0.1", 1800000000, &identity);
	bt_up_identity_finish(&identity);
	char certificate[64];
	char key[64];
	(void)snprintf(certificate, sizeof(certificate), "%s", path_of("apiserver.crt"));
	(void)snprintf(key, sizeof(key), "%s", path_of("apiserver.key"));
	const struct bt_listen listen = {
		.certificate_path = certificate, .key_path = key, .address = "127.0.0.1"};
	struct bt_up_identity_options options = {
		.listen = &listen, .now_seconds = 1800000000 + INT64_C(365) * 86400 - 3600};
	ck_assert_msg(bt_up_identity_create(&options, &identity, &err) == 0, "%s",
		berth_error_message(&err));
	bt_up_identity_finish(&identity);
	options.now_seconds += 7200;
	ck_assert_int_eq(bt_up_identity_create(&options, &identity, &err), BERTH_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "the certificate has expired"));
	berth_error_finish(&err);
	remove_folder();
}
END_TEST

BT_TEST_MAIN("up_identity", test_up_identity__files_of_the_owner, test_up_identity__kept_tokens,
	test_up_identity__certificate_for_the_address, test_up_identity__given_certificate)
