/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport_private.h"

#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/config_private.h"
#include "client/file.h"

#define CHECK_NS (300 * BT_NS_PER_SECOND)
/*
 * The certificate and key files are checked before a request that may open a connection, but at
 * most once in this time.
 */
#define REFRESH_NS BT_NS_PER_SECOND

/* Takes the data of a kubeconfig, or reads the file if there is no data. */
static int load_one(
	struct bt_str data, struct bt_str file, struct bt_strbuf *out, struct berth_error *err)
{
	if (data.data != NULL) {
		bt_strbuf_append_str(out, data);
		return 0;
	}
	return bt_client_file_read(file.data, BT_CLIENT_FILE_BYTES_MAX, out, err);
}

static bool is_present(struct bt_str data, struct bt_str file)
{
	return data.data != NULL || file.length != 0;
}

static void move(struct bt_strbuf *to, struct bt_strbuf *from)
{
	bt_strbuf_finish_wiped(to);
	*to = *from;
	*from = (struct bt_strbuf){0};
}

/* Returns true if a file has changed since the last call. */
static bool stamp_pair(struct bt_tls_material *material)
{
	const struct bt_client_config *config = material->config;
	bool changed = bt_client_file_stamp_update(
		&material->certificate_stamp, config->user.certificate_file.data);

	return bt_client_file_stamp_update(&material->key_stamp, config->user.key_file.data) ||
		changed;
}

/*
 * Reads certificate and key and checks that they match. *out_changed: they differ from the current
 * pair.
 */
static int read_pair(struct bt_tls_material *material, bool *out_changed, struct berth_error *err)
{
	struct bt_strbuf certificate = {0};
	struct bt_strbuf key = {0};
	int code = load_one(material->config->user.certificate_data,
		material->config->user.certificate_file, &certificate, err);

	if (code == 0) {
		code = load_one(material->config->user.key_data, material->config->user.key_file,
			&key, err);
	}
	if (code == 0) {
		code = bt_client_pem_check_pair(
			bt_strbuf_str(&certificate), bt_strbuf_str(&key), err);
	}
	if (code == 0) {
		*out_changed = bt_tls_material_set_pair(
			material, bt_strbuf_str(&certificate), bt_strbuf_str(&key));
	}
	bt_strbuf_finish_wiped(&certificate);
	bt_strbuf_finish_wiped(&key);
	return code;
}

bool bt_tls_material_set_pair(
	struct bt_tls_material *material, struct bt_str certificate, struct bt_str key)
{
	struct bt_strbuf new_certificate = {0};
	struct bt_strbuf new_key = {0};

	if (material->has_pair == (certificate.data != NULL) &&
		bt_str_equal(bt_strbuf_str(&material->certificate), certificate) &&
		bt_str_equal(bt_strbuf_str(&material->key), key)) {
		return false;
	}
	bt_strbuf_append_str(&new_certificate, certificate);
	bt_strbuf_append_str(&new_key, key);
	move(&material->certificate, &new_certificate);
	move(&material->key, &new_key);
	material->has_pair = certificate.data != NULL;
	return true;
}

enum bt_tls_change bt_tls_material_check(
	struct bt_tls_material *material, int64_t now_ns, int64_t *out_next_ns)
{
	struct berth_error cause = BERTH_ERROR_INIT;
	enum bt_tls_change change = BT_TLS_SAME;
	bool changed = false;

	*out_next_ns = INT64_MAX;
	if (!material->pair_is_watched) {
		return change;
	}
	if (now_ns >= material->pair_check_ns) {
		(void)stamp_pair(material);
		if (read_pair(material, &changed, &cause) != 0) {
			BT_LOG_ERROR_PLAIN(
				berth_error_message(&cause), "Loading client cert failed");
			berth_error_finish(&cause);
			int64_t backoff_ns = material->pair_backoff_ns * 2;

			backoff_ns = BT_MAX(backoff_ns, BT_NS_PER_SECOND);
			material->pair_backoff_ns = BT_MIN(backoff_ns, CHECK_NS);
			material->pair_check_ns = now_ns + material->pair_backoff_ns;
		} else {
			berth_error_finish(&material->pair_error);
			material->pair_backoff_ns = 0;
			material->pair_check_ns = now_ns + CHECK_NS;
			change = changed || material->pair_changed ? BT_TLS_CUT : BT_TLS_SAME;
			material->pair_changed = false;
		}
	}
	*out_next_ns = material->pair_check_ns;
	if (change == BT_TLS_CUT) {
		BT_LOG_INFO_PLAIN(1,
			"Certificate rotation detected, shutting down client connections to start "
			"using new credentials");
	}
	return change;
}

int bt_tls_material_load(struct bt_tls_material *material, const struct bt_client_config *config,
	int64_t now_ns, struct berth_error *err)
{
	int code = 0;

	*material = (struct bt_tls_material){
		.config = config,
		.pair_refreshed_ns = now_ns,
		.pair_check_ns = now_ns + CHECK_NS,
		.ca_refreshed_ns = now_ns,
	};
	if (config->is_tls && is_present(config->cluster.ca_data, config->cluster.ca_file) &&
		config->cluster.insecure) {
		code = bt_error_set(err, BERTH_ERR_INVALID,
			"specifying a root certificates file with the insecure flag is not "
			"allowed");
	} else if (config->is_tls && is_present(config->cluster.ca_data, config->cluster.ca_file)) {
		material->has_ca = true;
		code = load_one(
			config->cluster.ca_data, config->cluster.ca_file, &material->ca, err);
		if (code == 0 && material->ca.length != 0) {
			code = bt_client_pem_check_roots(bt_strbuf_str(&material->ca), err);
		}
	}
	if (code == 0 && config->is_tls &&
		is_present(config->user.certificate_data, config->user.certificate_file) &&
		is_present(config->user.key_data, config->user.key_file)) {
		struct berth_error cause = BERTH_ERROR_INIT;
		bool changed;

		material->pair_is_watched = config->user.certificate_data.data == NULL &&
			config->user.key_data.data == NULL;
		if (material->pair_is_watched) {
			(void)stamp_pair(material);
		}
		code = read_pair(material, &changed, &cause);
		if (material->pair_is_watched && code == BERTH_ERR_INVALID) {
			/* Not fatal: the files may be fixed later; until then handshakes fail. */
			(void)bt_error_move(&material->pair_error, &cause);
			code = 0;
		} else if (code != 0) {
			code = bt_error_move(err, &cause);
		}
	}
	if (code != 0) {
		bt_tls_material_finish(material);
	}
	return code;
}

enum bt_tls_change bt_tls_material_refresh(struct bt_tls_material *material, int64_t now_ns)
{
	bool pair_changed = false;
	bool ca_changed = false;

	if (material->pair_is_watched && now_ns - material->pair_refreshed_ns >= REFRESH_NS) {
		material->pair_refreshed_ns = now_ns;
		/* an unusable pair is reported by the periodic check */
		if (stamp_pair(material) && read_pair(material, &pair_changed, NULL) == 0) {
			berth_error_finish(&material->pair_error);
		}
		material->pair_changed |= pair_changed;
	}
	if (material->has_ca && material->config->cluster.ca_data.data == NULL &&
		now_ns - material->ca_refreshed_ns >= CHECK_NS) {
		material->ca_refreshed_ns = now_ns;
		/* If the CA bundle cannot be read, the old one is kept. */
		struct berth_error cause = BERTH_ERROR_INIT;
		struct bt_strbuf pem = {0};
		int code = load_one(material->config->cluster.ca_data,
			material->config->cluster.ca_file, &pem, &cause);

		if (code == 0 && pem.length == 0) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_WARNING,
				"CA file empty, skipping transport rotation");
		} else if (code == 0 &&
			!bt_str_equal(bt_strbuf_str(&pem), bt_strbuf_str(&material->ca))) {
			code = bt_client_pem_check_roots(bt_strbuf_str(&pem), &cause);
			ca_changed = code == 0;
		}
		if (code != 0) {
			BT_LOG_ERROR(berth_error_message(&cause), "Loading CA file failed",
				BT_LOG_STR("file", material->config->cluster.ca_file));
			berth_error_finish(&cause);
		}
		if (ca_changed) {
			move(&material->ca, &pem);
		}
		bt_strbuf_finish(&pem);
	}
	return pair_changed || ca_changed ? BT_TLS_NEW_CONNECTIONS : BT_TLS_SAME;
}

struct bt_http_client_tls bt_tls_material_view(const struct bt_tls_material *material)
{
	const struct bt_client_config *config = material->config;
	struct bt_http_client_tls view = {.insecure = config->cluster.insecure};

	if (material->has_ca) {
		view.ca = bt_strbuf_str(&material->ca);
	}
	if (material->has_pair) {
		view.certificate = bt_strbuf_str(&material->certificate);
		view.key = bt_strbuf_str(&material->key);
	}
	if (config->cluster.tls_server_name.length != 0) {
		view.server_name = config->cluster.tls_server_name;
	}
	return view;
}

void bt_tls_material_finish(struct bt_tls_material *material)
{
	bt_strbuf_finish(&material->ca);
	bt_strbuf_finish_wiped(&material->certificate);
	bt_strbuf_finish_wiped(&material->key);
	berth_error_finish(&material->pair_error);
	*material = (struct bt_tls_material){0};
}
