/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file, and the flags that override it: spec 10 sections 4.1, 9 and 10. */
#include <sys/stat.h>

#include "config/config.h"
#include "options_run.h"

#define META "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

static struct run run;

/** Writes a file with this text; remove_file deletes it. */
static char path[] = "/tmp/bt-config-000000";

static void make_file(const char *text)
{
	FILE *file;
	int fd;
	memset(path + sizeof(path) - 7, 'X', 6);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	file = fdopen(fd, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void remove_file(void)
{
	ck_assert_int_eq(unlink(path), 0);
}

/**
 * Loads the file with this flag. message NULL: loading must succeed; otherwise loading must fail
 * with this message, and the result is NULL.
 */
static struct bt_config *load_file(const char *config, const char *flag, const char *message)
{
	struct bt_strbuf argument = {0};
	struct bt_config *result = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int code;
	bt_strbuf_printf(&argument, "--config=%s", config);
	ACCEPT(&run, bt_strbuf_c(&argument), flag);
	code = bt_daemon_options_load_config(&run.options, &result, &err);
	if (message == NULL) {
		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	} else {
		ck_assert_int_ne(code, 0);
		ck_assert_str_eq(berth_error_message(&err), message);
		ck_assert_ptr_null(result);
	}
	berth_error_finish(&err);
	bt_strbuf_finish(&argument);
	finish_run(&run);
	return result;
}

static struct bt_config *load_text(const char *text, const char *flag, const char *message)
{
	struct bt_config *config;
	make_file(text);
	config = load_file(path, flag, message);
	remove_file();
	return config;
}

static struct bt_config *load_flags(const char *first, const char *second)
{
	struct bt_config *config = NULL;
	ACCEPT(&run, first, second);
	ck_assert_int_eq(bt_daemon_options_load_config(&run.options, &config, NULL), 0);
	finish_run(&run);
	return config;
}

START_TEST(test_options_config__unreadable)
{
	char folder[] = "/tmp";
	ck_assert_ptr_null(load_file("/nope", "-v=0", "open /nope: no such file or directory"));
	ck_assert_ptr_null(load_file(folder, "-v=0", "read /tmp: is a directory"));
	if (geteuid() != 0) {
		struct bt_strbuf message = {0};
		make_file(META);
		ck_assert_int_eq(chmod(path, 0), 0);
		bt_strbuf_printf(&message, "open %s: permission denied", path);
		ck_assert_ptr_null(load_file(path, "-v=0", bt_strbuf_c(&message)));
		bt_strbuf_finish(&message);
		remove_file();
	}
}
END_TEST

START_TEST(test_options_config__forms)
{
	struct bt_config *config = load_text(META "parallelism: 3\n", "-v=0", NULL);
	ck_assert_int_eq(config->document.parallelism, 3);
	bt_config_unref(config);
	config = load_text(" {\"apiVersion\":\"kubescheduler.config.k8s.io/v1\","
			   "\"kind\":\"KubeSchedulerConfiguration\",\"parallelism\":4}",
		"-v=0", NULL);
	ck_assert_int_eq(config->document.parallelism, 4);
	bt_config_unref(config);
	ck_assert_ptr_null(load_text("", "-v=0", "Object 'Kind' is missing in ''"));
	ck_assert_ptr_null(load_text(
		META "a: [\n", "-v=0", "yaml: line 3: did not find expected node content"));
	ck_assert_ptr_null(load_text(META "parallelism: 1\nparallelism: 2\n", "-v=0",
		"strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" "
		"already set in map"));
}
END_TEST

START_TEST(test_options_config__gates_are_seen)
{
	struct bt_config *config = load_text(META, "--feature-gates=GenericWorkload=true", NULL);
	ck_assert(bt_gate_enabled(&config->gates, BT_GATE_GENERIC_WORKLOAD));
	bt_config_unref(config);
}
END_TEST

START_TEST(test_options_config__edge_10_61_flags_over_the_file)
{
	const char *text = META "leaderElection:\n  leaseDuration: 1s\n  renewDeadline: 2s\n";
	struct bt_config *config = load_text(text, "--leader-elect=false", NULL);
	ck_assert(!config->document.leader_election.leader_elect);
	bt_config_unref(config);
	ck_assert_ptr_null(load_text(text, "-v=0",
		"leaderElection.leaseDuration: Invalid value: \"2s\": must be greater than "
		"`RenewDeadline`"));
	ck_assert_ptr_null(load_text(META, "--leader-elect-lease-duration=0s",
		"[leaderElection.leaseDuration: Invalid value: \"0s\": must be greater than zero, "
		"leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
		"`RenewDeadline`]"));
}
END_TEST

START_TEST(test_options_config__edge_10_62_no_validation_without_file)
{
	struct bt_config *config =
		load_flags("--leader-elect-resource-lock=endpoints", "--kube-api-burst=-1");
	ck_assert(bt_str_equal_c(config->document.leader_election.resource_lock, "endpoints"));
	ck_assert_int_eq(config->document.client_connection.burst, -1);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_options_config__edge_10_63_deprecated_flags)
{
	struct bt_config *config = load_text(META, "--kube-api-qps=5", NULL);
	ck_assert(config->document.client_connection.qps > 49.0f);
	bt_config_unref(config);
	config = load_flags("--kube-api-qps=5", "--kubeconfig=/etc/k");
	ck_assert(config->document.client_connection.qps < 6.0f);
	ck_assert(bt_str_equal_c(config->document.client_connection.kubeconfig, "/etc/k"));
	bt_config_unref(config);
	config = load_flags("--profiling=false", "-v=0");
	ck_assert(!config->document.enable_profiling);
	ck_assert(config->document.enable_contention_profiling.value);
	bt_config_unref(config);
}
END_TEST

START_TEST(test_options_config__edge_10_64_yaml_boolean)
{
	ck_assert_ptr_null(load_text(META "profiles:\n- schedulerName: yes\n", "-v=0",
		"json: cannot unmarshal bool into Go struct field "
		"KubeSchedulerProfile.profiles.schedulerName of type string"));
}
END_TEST

START_TEST(test_options_config__edge_10_65_second_document)
{
	struct bt_config *config =
		load_text(META "parallelism: 5\n---\nparallelism: x\n", "-v=0", NULL);
	ck_assert_int_eq(config->document.parallelism, 5);
	bt_config_unref(config);
}
END_TEST

static void read_file(char *out, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t length;
	ck_assert_ptr_nonnull(file);
	length = fread(out, 1, size - 1, file);
	out[length] = '\0';
	(void)fclose(file);
}

/** Reading the written file gives the same configuration. */
START_TEST(test_options_config__write)
{
	static const char start[] =
		"apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n"
		"  acceptContentTypes: \"\"\n  burst: 100\n"
		"  contentType: application/vnd.kubernetes.protobuf\n  kubeconfig: \"\"\n"
		"  qps: 50\nenableContentionProfiling: true\nenableProfiling: true\n"
		"kind: KubeSchedulerConfiguration\nleaderElection:\n  leaderElect: true\n"
		"  leaseDuration: 20s\n  renewDeadline: 10s\n";
	static char first[65536];
	static char second[65536];
	static char log[65536];
	struct capture capture;
	struct bt_strbuf argument = {0};
	struct bt_strbuf expected = {0};
	struct bt_config *config = NULL;
	make_file("to be replaced, and much longer than nothing");
	bt_strbuf_printf(&argument, "--write-config-to=%s", path);
	ACCEPT(&run, bt_strbuf_c(&argument), "--leader-elect-lease-duration=20s");
	ck_assert_int_eq(bt_daemon_options_load_config(&run.options, &config, NULL), 0);
	begin_capture(&capture, STDERR_FILENO);
	ck_assert_int_eq(bt_daemon_options_write_config(&run.options, config, NULL), 0);
	bt_daemon_options_log_config(config); /* logs nothing at this verbosity */
	end_capture(&capture, log, sizeof(log));
	bt_strbuf_printf(&expected, "] \"Wrote configuration\" file=\"%s\"\n", path);
	ck_assert_ptr_nonnull(strstr(log, bt_strbuf_c(&expected)));
	ck_assert_ptr_null(strstr(log, "component config"));
	bt_klog_set_verbosity(2);
	begin_capture(&capture, STDERR_FILENO);
	bt_daemon_options_log_config(config);
	end_capture(&capture, log, sizeof(log));
	ck_assert_ptr_nonnull(strstr(
		log, "] \"Using component config\" config=<\n\tapiVersion: kubescheduler.config"));
	read_file(first, sizeof(first));
	ck_assert_int_eq(strncmp(first, start, sizeof(start) - 1), 0);
	bt_config_unref(config);
	finish_run(&run);
	config = load_file(path, "-v=0", NULL);
	ACCEPT(&run, bt_strbuf_c(&argument));
	begin_capture(&capture, STDERR_FILENO);
	ck_assert_int_eq(bt_daemon_options_write_config(&run.options, config, NULL), 0);
	end_capture(&capture, log, sizeof(log));
	read_file(second, sizeof(second));
	ck_assert_str_eq(first, second);
	bt_config_unref(config);
	finish_run(&run);
	remove_file();
	bt_strbuf_finish(&expected);
	bt_strbuf_finish(&argument);
}
END_TEST

START_TEST(test_options_config__write_fails)
{
	struct bt_config *config = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ACCEPT(&run, "--write-config-to=/no/such/folder/file");
	ck_assert_int_eq(bt_daemon_options_load_config(&run.options, &config, NULL), 0);
	ck_assert_int_eq(
		bt_daemon_options_write_config(&run.options, config, &err), BERTH_ERR_NOT_FOUND);
	ck_assert_str_eq(
		berth_error_message(&err), "open /no/such/folder/file: no such file or directory");
	berth_error_finish(&err);
	bt_config_unref(config);
	finish_run(&run);
}
END_TEST

BT_TEST_MAIN("options_config", test_options_config__unreadable, test_options_config__forms,
	test_options_config__gates_are_seen, test_options_config__edge_10_61_flags_over_the_file,
	test_options_config__edge_10_62_no_validation_without_file,
	test_options_config__edge_10_63_deprecated_flags,
	test_options_config__edge_10_64_yaml_boolean,
	test_options_config__edge_10_65_second_document, test_options_config__write,
	test_options_config__write_fails)
