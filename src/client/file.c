/* SPDX-License-Identifier: Apache-2.0 */
#include "client/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nanoseconds.h"
#include "base/strbuf.h"
#include "net/datum.h"

#define READ_BYTES ((size_t)4096)

int bt_client_file_fail(const char *what, const char *path, int number, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_errno(&text, number);
	int code = bt_error_set(err, number == ENOENT ? BERTH_ERR_NOT_FOUND : BERTH_ERR_IO,
		"%s %s: %s", what, path, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return code;
}

static int read_file(const char *path, bool waits, uint32_t bytes_max, struct bt_strbuf *out,
	struct berth_error *err)
{
	size_t start = out->length;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (waits ? 0 : O_NONBLOCK));
	struct stat status;

	if (fd < 0) {
		return bt_client_file_fail("open", path, errno, err);
	}
	/* Reserve all memory at once: growing the buffer would leave copies of secrets behind. */
	if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= bytes_max) {
		bt_strbuf_reserve(out, (size_t)status.st_size + READ_BYTES);
	}
	int code = 0;
	ssize_t count = -1;
	while (code == 0 && count != 0) {
		bt_strbuf_reserve(out, READ_BYTES);
		count = read(fd, out->data + out->length, READ_BYTES);
		if (count < 0) {
			code = errno == EINTR ? 0 : bt_client_file_fail("read", path, errno, err);
			continue;
		}
		out->length += (size_t)count;
		out->data[out->length] = '\0';
		if (out->length - start > bytes_max) {
			code = bt_error_set(err, BERTH_ERR_TOO_LARGE,
				"read %s: larger than %lu bytes", path, (unsigned long)bytes_max);
		}
	}
	(void)close(fd); /* read-only: no data to lose */
	if (code != 0) {
		out->length = start;
	}
	return code;
}

int bt_client_file_read(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err)
{
	return read_file(path, false, bytes_max, out, err);
}

int bt_client_file_read_waiting(
	const char *path, uint32_t bytes_max, struct bt_strbuf *out, struct berth_error *err)
{
	/* The daemon handles signals in its loop, which does not run while a read waits. */
	sigset_t none;
	sigset_t before;
	(void)sigemptyset(&none); /* cannot fail */
	(void)pthread_sigmask(SIG_SETMASK, &none, &before);
	int result = read_file(path, true, bytes_max, out, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return result;
}

bool bt_client_file_stamp_update(struct bt_client_file_stamp *stamp, const char *path)
{
	struct bt_client_file_stamp old = *stamp;
	struct stat status;

	*stamp = (struct bt_client_file_stamp){0};
	if (stat(path, &status) == 0) {
		*stamp = (struct bt_client_file_stamp){
			.device = (uint64_t)status.st_dev,
			.inode = (uint64_t)status.st_ino,
			.bytes = (int64_t)status.st_size,
			.modified_ns = bt_ns_of_seconds((int64_t)status.st_mtim.tv_sec) +
				status.st_mtim.tv_nsec,
			.exists = true,
		};
	}
	return stamp->exists != old.exists || stamp->device != old.device ||
		stamp->inode != old.inode || stamp->bytes != old.bytes ||
		stamp->modified_ns != old.modified_ns;
}

#define CANNOT_LOAD "unable to load root certificates: "
static const struct bt_str begin_mark = BT_STR_INIT("-----BEGIN ");
static const struct bt_str begin_certificate = BT_STR_INIT("-----BEGIN CERTIFICATE-----");

int bt_client_pem_check_roots(struct bt_str pem, struct berth_error *err)
{
	gnutls_datum_t data = bt_datum(pem);
	gnutls_x509_crt_t *certificates = NULL;
	unsigned int count = 0;

	if (bt_str_find(pem, begin_mark) < 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, CANNOT_LOAD "unable to parse bytes as PEM block");
	}
	if (bt_str_find(pem, begin_certificate) < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			CANNOT_LOAD "no valid certificate authority data seen");
	}
	int result =
		gnutls_x509_crt_list_import2(&certificates, &count, &data, GNUTLS_X509_FMT_PEM, 0);
	if (result < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			CANNOT_LOAD "failed to parse certificate: %s", gnutls_strerror(result));
	}
	for (unsigned int i = 0; i < count; i++) {
		gnutls_x509_crt_deinit(certificates[i]);
	}
	gnutls_free(certificates);
	return 0;
}

int bt_client_pem_check_pair(struct bt_str certificate, struct bt_str key, struct berth_error *err)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_datum_t certificate_data = bt_datum(certificate);
	gnutls_datum_t key_data = bt_datum(key);

	if (bt_str_find(certificate, begin_mark) < 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"tls: failed to find any PEM data in certificate input");
	}
	if (bt_str_find(key, begin_mark) < 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "tls: failed to find any PEM data in key input");
	}
	int result = gnutls_certificate_allocate_credentials(&credentials);
	if (result < 0) {
		return bt_error_set(err, BERTH_ERR_INTERNAL, "%s", gnutls_strerror(result));
	}
	result = gnutls_certificate_set_x509_key_mem(
		credentials, &certificate_data, &key_data, GNUTLS_X509_FMT_PEM);
	gnutls_certificate_free_credentials(credentials);
	if (result == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "tls: private key does not match public key");
	}
	return result < 0 ? bt_error_set(err, BERTH_ERR_INVALID, "tls: %s", gnutls_strerror(result))
			  : 0;
}
