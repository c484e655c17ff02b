/* SPDX-License-Identifier: MIT */
/* Calls whose values have known ranges: work() gets -2 to 4, 1 on average, and ten times that. */
struct job {
	int size;
	double cost;
};

__attribute__((noinline)) int work(int n, const struct job *job, double x)
{
	return n * job->size + (x > 1e9);
}

__attribute__((noinline)) long other(const char *s)
{
	return s[0];
}

int main(void)
{
	struct job job = { 0, 0.5 };
	int sum = 0;

	for (int i = -2; i < 5; i++) {
		job.size = i * 10;
		sum += work(i, &job, i * 0.25);
	}
	return sum + other("A") == 0;
}
