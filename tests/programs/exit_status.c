/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a line to stdout and one to stderr, then exits with the status given: exit_status 0..255
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int status = argc > 1 ? atoi(argv[1]) : 0;
	printf("out %d\n", status);
	fprintf(stderr, "err %d\n", status);
	return status;
}
