/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

int main(void)
{
	(void)fprintf(stderr, "berth: no subcommand is built into this program\n");
	return 2;
}
