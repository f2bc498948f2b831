/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMPLETE_H
#define BT_CLI_COMPLETE_H
/**
 * The hidden command that the completion scripts of shells call:
 *
 *	berth __complete WORD...
 *
 * The words are those behind the program's name, up to the cursor; the last one is completed and
 * may be empty. Printed are lines "WORD<tab>DESCRIPTION" with the words that fit, whole ones
 * ("--output=table"), and lines that begin with a colon, for what the shell does itself:
 *
 *	:files    complete paths of files (behind "=" when the word has one)
 *	:dirs     complete paths of folders
 *	:nospace  the words go on: put no blank behind them
 *
 * Nothing is printed on errors: a line that is being typed is wrong most of the time.
 */
#include "cli/command.h"

/** argv: the words. Returns the exit status, always 0. */
int bt_complete_run(
	const struct bt_command *const *commands, size_t command_count, int argc, char **argv);
#endif
