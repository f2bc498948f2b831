/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Azure's packing trace of 2020, a SQLite database. berth-import(1) describes how rows are
 * converted.
 */
#include <math.h>
#include <sqlite3.h>

#include "api/time.h"
#include "base/nanoseconds.h"
#include "replay/import.h"
#include "replay/trace_objects.h"

#define LABEL "azure-2020/"
/** Amount of a machine's disks and network, of which VMs take shares. */
#define WHOLE_MACHINE 1000000
#define HIGH_PRIORITY 1000
#define DAYS_MAX (BT_RECORDING_SECONDS_MAX / 86400)
#define MICROSECONDS_PER_DAY 86400e6

struct azure {
	struct bt_import *import;
	const struct bt_import_request *request;
	const char *path;
	sqlite3 *database;
	int64_t machine_type;
	int64_t last_vm; /* rowid of the previous VM */
	struct bt_arena arena;
	struct bt_strbuf text;
};

static int set_sqlite_error(const struct azure *azure, struct berth_error *err)
{
	int code = sqlite3_errcode(azure->database) & 0xff;
	return bt_error_set(err, code == SQLITE_IOERR ? BERTH_ERR_IO : BERTH_ERR_INVALID,
		"%s: is it the database of Azure's packing trace of 2020? %s", azure->path,
		sqlite3_errmsg(azure->database));
}

static int prepare(const struct azure *azure, const char *sql, sqlite3_stmt **out_statement,
	struct berth_error *err)
{
	return sqlite3_prepare_v2(azure->database, sql, -1, out_statement, NULL) == SQLITE_OK
		? 0
		: set_sqlite_error(azure, err);
}

static bool is_number(sqlite3_stmt *row, int column)
{
	int type = sqlite3_column_type(row, column);
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/** --- machines --- */

/** Chooses the requested machine type, or else the type that can run the largest number of VMs. */
static int choose_machine_type(struct azure *azure, struct berth_error *err)
{
	static const char sql[] =
		"SELECT t.machineId, SUM(c.count) AS total FROM vmType t JOIN (SELECT vmTypeId, "
		"COUNT(*) AS count FROM vm GROUP BY vmTypeId) c ON c.vmTypeId = t.vmTypeId WHERE "
		"?1 < 0 OR t.machineId = ?1 GROUP BY t.machineId ORDER BY total DESC, "
		"t.machineId LIMIT 1";
	sqlite3_stmt *statement = NULL;
	int result = prepare(azure, sql, &statement, err);
	if (result == 0) {
		(void)sqlite3_bind_int64(statement, 1, azure->request->machine_type);
		int step = sqlite3_step(statement);
		if (step == SQLITE_ROW) {
			azure->machine_type = sqlite3_column_int64(statement, 0);
		} else if (step != SQLITE_DONE) {
			result = set_sqlite_error(azure, err);
		} else if (azure->request->machine_type >= 0) {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"--machine-type: %s: no VM can run on a machine of type %lld",
				azure->path, (long long)azure->request->machine_type);
		} else {
			result = bt_error_set(err, BERTH_ERR_INVALID,
				"%s: has no VM that can run on any machine", azure->path);
		}
	}
	(void)sqlite3_finalize(statement);
	return result;
}

/**
 * Makes amounts from the shares of core, memory, hdd, ssd and nic, in this order. A VM whose share
 * of hdd, ssd or nic is 0 does not request that resource.
 */
static void make_amounts(const struct azure *azure, const double shares[5], bool is_node,
	struct bt_trace_amount amounts[5])
{
	static const char *const names[] = {"cpu", "memory", LABEL "hdd", LABEL "ssd", LABEL "nic"};
	const int64_t wholes[] = {azure->request->machine_cpu_milli,
		azure->request->machine_memory_bytes, WHOLE_MACHINE, WHOLE_MACHINE, WHOLE_MACHINE};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		amounts[i] = (struct bt_trace_amount){names[i],
			bt_trace_scale(shares[i], wholes[i]), i == 0 ? "m" : "", !is_node && i > 1};
	}
}

static void add_machines(struct azure *azure)
{
	static const double shares[] = {1, 1, 1, 1, 1};
	struct bt_trace_amount amounts[5];
	make_amounts(azure, shares, true, amounts);
	for (uint32_t i = 0; i < azure->request->machine_count; i++) {
		bt_arena_reset(&azure->arena);
		struct bt_str name = bt_arena_printf(&azure->arena, "m-%u", i);
		const struct bt_str_pair labels[] = {
			{BT_STR("kubernetes.io/hostname"), name},
			{BT_STR(LABEL "machine-type"),
				bt_arena_printf(
					&azure->arena, "%lld", (long long)azure->machine_type)},
		};
		const struct bt_trace_node node = {
			.name = name,
			.time = bt_time_text(&azure->arena, azure->import->start_ns),
			.labels = labels,
			.label_count = BT_ARRAY_LENGTH(labels),
			.amounts = amounts,
			.amount_count = BT_ARRAY_LENGTH(amounts),
		};
		bt_trace_write_node(&node, &azure->text);
		bt_import_add_object(azure->import, bt_strbuf_str(&azure->text));
	}
}

/** --- VMs --- */

enum column {
	ROW,
	VM,
	TENANT,
	VM_TYPE,
	PRIORITY,
	START,
	END,
	MACHINE_TYPE,
	CORE,
	MEMORY,
	HDD,
	SSD,
	NIC,
};
static const char vm_sql[] =
	"SELECT vm.rowid, vm.vmId, vm.tenantId, vm.vmTypeId, vm.priority, vm.starttime, "
	"vm.endtime, t.machineId, t.core, t.memory, t.hdd, t.ssd, t.nic FROM vm LEFT JOIN vmType "
	"t ON t.vmTypeId = vm.vmTypeId AND t.machineId = ?1 ORDER BY vm.starttime, vm.rowid";

/**
 * A row of a VM. start and end are in microseconds since the start of the trace. end INT64_MAX: the
 * VM does not end in the trace.
 */
struct vm {
	struct bt_str name;
	struct bt_str tenant;
	struct bt_str type;
	bool is_low;
	int64_t start;
	int64_t end;
	double shares[5];
};

static struct bt_str column_text(struct azure *azure, sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);
	return text == NULL ? BT_STR("") : bt_arena_printf(&azure->arena, "%s", (const char *)text);
}

/** Returns NULL if the time is valid, else `flaw`. */
static const char *read_days(
	sqlite3_stmt *row, int column, const char *flaw, int64_t *out_microseconds)
{
	double days = sqlite3_column_double(row, column);
	if (!is_number(row, column) || !(fabs(days) <= DAYS_MAX)) {
		return flaw;
	}
	*out_microseconds = (int64_t)llround(days * MICROSECONDS_PER_DAY);
	return NULL;
}

static const char *read_vm(struct azure *azure, sqlite3_stmt *row, struct vm *out_vm)
{
	const char *flaw = NULL;
	*out_vm = (struct vm){
		.name = bt_arena_printf(
			&azure->arena, "vm-%.*s", BT_STR_ARG(column_text(azure, row, VM))),
		.tenant = column_text(azure, row, TENANT),
		.type = column_text(azure, row, VM_TYPE),
		.is_low = sqlite3_column_int64(row, PRIORITY) == 1,
		.end = INT64_MAX,
	};
	if (!bt_dns1123_label_is_valid(out_vm->name)) {
		return "vmId makes no name of a pod (lower case letters, digits, -)";
	}
	if ((out_vm->tenant.length != 0 && !bt_dns1123_label_is_valid(out_vm->tenant)) ||
		(out_vm->type.length != 0 && !bt_dns1123_label_is_valid(out_vm->type))) {
		return "tenantId or vmTypeId makes no label (lower case letters, digits, -)";
	}
	if (!is_number(row, PRIORITY) ||
		(!out_vm->is_low && sqlite3_column_int64(row, PRIORITY) != 0)) {
		return "priority is neither 0 nor 1";
	}
	flaw = read_days(row, START, "starttime is no number of days", &out_vm->start);
	if (flaw == NULL && sqlite3_column_type(row, END) != SQLITE_NULL) {
		flaw = read_days(row, END, "endtime is no number of days", &out_vm->end);
	}
	if (flaw != NULL) {
		return flaw;
	}
	if (out_vm->end < out_vm->start) {
		return "endtime is before starttime";
	}
	if (out_vm->end < 0) {
		return "endtime is before the start of the trace";
	}
	if (sqlite3_column_type(row, MACHINE_TYPE) == SQLITE_NULL) {
		return "its VM type cannot run on the machine type (--machine-type)";
	}
	/* VMs from before the start arrive at the start. */
	out_vm->start = out_vm->start < 0 ? 0 : out_vm->start;
	for (int i = 0; i < 5; i++) {
		out_vm->shares[i] = sqlite3_column_double(row, CORE + i);
		bool is_absent = sqlite3_column_type(row, CORE + i) == SQLITE_NULL;
		if (!is_absent &&
			!(is_number(row, CORE + i) && out_vm->shares[i] >= 0 &&
				out_vm->shares[i] <= 1)) {
			return "its VM type's core, memory, hdd, ssd or nic is not from 0 to 1";
		}
	}
	return NULL;
}

static int take_vm(struct azure *azure, sqlite3_stmt *row, struct berth_error *err)
{
	struct vm vm;
	int64_t id = sqlite3_column_int64(row, ROW);
	bt_arena_reset(&azure->arena);
	const char *flaw = id == azure->last_vm
		? "its VM type is there twice for the machine type: the first one counts"
		: read_vm(azure, row, &vm);
	azure->last_vm = id;
	if (flaw != NULL) {
		bt_import_add_defect(azure->import, azure->path, (unsigned long)id, flaw, false);
		return 0;
	}
	const struct bt_str_pair labels[] = {
		{BT_STR(LABEL "tenant"), vm.tenant},
		{BT_STR(LABEL "vm-type"), vm.type},
	};
	struct bt_trace_amount amounts[5];
	int64_t start_ns = vm.start * BT_NS_PER_US;
	const struct bt_trace_pod form = {
		.name = vm.name,
		.time = bt_time_text(&azure->arena, azure->import->start_ns + start_ns),
		.labels = labels,
		.label_count = BT_ARRAY_LENGTH(labels),
		.amounts = amounts,
		.amount_count = BT_ARRAY_LENGTH(amounts),
		.priority = vm.is_low ? 0 : HIGH_PRIORITY,
	};
	make_amounts(azure, vm.shares, false, amounts);
	bt_trace_write_pod(&form, &azure->text);
	bool ends = vm.end != INT64_MAX;
	const struct bt_import_pod pod = {
		.time_ns = start_ns,
		.namespace_ = BT_STR("default"),
		.name = vm.name,
		.json = bt_strbuf_str(&azure->text),
		.runs_ns = ends ? (vm.end - vm.start) * BT_NS_PER_US : -1,
		.leaves_ns = -1,
		.ends_ns = ends ? vm.end * BT_NS_PER_US : -1,
	};
	return bt_import_add_pod(azure->import, &pod, err);
}

int bt_import_azure_packing_2020(
	struct bt_import *import, const struct bt_import_request *request, struct berth_error *err)
{
	struct azure azure = {
		.import = import, .request = request, .path = request->paths[0], .last_vm = -1};
	sqlite3_stmt *vms = NULL;
	if (request->path_count != 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"name one file: each database is a trace of its own");
	}
	if (request->machine_count == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the trace has no machines: say how many there are with --machines N");
	}
	int result = sqlite3_open_v2(azure.path, &azure.database, SQLITE_OPEN_READONLY, NULL) ==
			SQLITE_OK
		? 0
		: bt_error_set(
			  err, BERTH_ERR_IO, "%s: %s", azure.path, sqlite3_errmsg(azure.database));
	if (result == 0) {
		/* A crafted schema must not call functions with side effects. */
		(void)sqlite3_db_config(azure.database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		(void)sqlite3_db_config(azure.database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		result = choose_machine_type(&azure, err);
	}
	if (result == 0) {
		add_machines(&azure);
		result = prepare(&azure, vm_sql, &vms, err);
	}
	if (result == 0) {
		result = bt_import_begin(import, err);
	}
	if (result == 0) {
		(void)sqlite3_bind_int64(vms, 1, azure.machine_type);
	}
	int step;
	while (result == 0 && (step = sqlite3_step(vms)) != SQLITE_DONE) {
		result = step == SQLITE_ROW ? take_vm(&azure, vms, err)
					    : set_sqlite_error(&azure, err);
	}
	(void)sqlite3_finalize(vms);
	(void)sqlite3_close(azure.database);
	bt_strbuf_finish(&azure.text);
	bt_arena_finish(&azure.arena);
	return result;
}
