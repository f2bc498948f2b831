/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DAEMON_H
#define BT_DAEMON_DAEMON_H
/** `berth scheduler`, from the command line to the exit code. Spec: 11 section 6. */

/** argv: the arguments after `berth scheduler`. Returns the exit code. */
int bt_daemon_main(int argc, char **argv);
#endif
