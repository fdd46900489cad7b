/* SPDX-License-Identifier: Apache-2.0 */
/* The program: hands over to the front desk. */
#include "trainprof/cli/cli.h"

int main(int argc, char **argv)
{
	return tp_cli_main(argc, argv);
}
