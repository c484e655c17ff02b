/* SPDX-License-Identifier: MIT */
/* ftr COMMAND: find the command in commands.def and run it. */
int main(void)
{
	return 2;
}
