/* SPDX-License-Identifier: MIT */
/* Calls libraries that it is linked with. */
#include <stdio.h>

int one_run(int n);
int two_run(int n);

int main(void)
{
	printf("%d\n", one_run(1) + two_run(2));
	return 0;
}
