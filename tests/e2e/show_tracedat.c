/* SPDX-License-Identifier: MIT */
/* What KernelShark's and trace-cmd's libraries make of a trace.dat: a line for each event. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark.h>
#include <trace-cmd.h>

static int by_kshark(const char *path)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t nr;
	int stream;

	if (!kshark_instance(&context))
		return 1;
	stream = kshark_open(context, path);
	nr = stream < 0 ? -1 : kshark_load_entries(context, stream, &entries);
	if (nr < 0) {
		fprintf(stderr, "libkshark does not open %s\n", path);
		return 1;
	}
	for (ssize_t i = 0; i < nr; i++) {
		char *name = kshark_get_event_name(entries[i]), *info = kshark_get_info(entries[i]);

		printf("%d %lld %d %s %s\n", kshark_get_pid(entries[i]), (long long)entries[i]->ts,
		       entries[i]->cpu, name == NULL ? "?" : name, info == NULL ? "" : info);
		free(name);
		free(info);
	}
	return 0;
}

static int print_event(struct tracecmd_input *input, struct tep_record *record, int cpu, void *arg)
{
	struct tep_handle *tep = tracecmd_get_tep(input);
	struct tep_event *event = tep_find_event_by_record(tep, record);

	printf("%d %llu %d %s/%s\n", tep_data_pid(tep, record), record->ts, cpu,
	       event == NULL ? "?" : event->system, event == NULL ? "?" : event->name);
	return 0;
}

static int by_tracecmd(const char *path)
{
	struct tracecmd_input *input = tracecmd_open(path, 0);

	if (input == NULL) {
		fprintf(stderr, "libtracecmd does not open %s\n", path);
		return 1;
	}
	return tracecmd_iterate_events(input, NULL, 0, print_event, NULL) != 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	return strcmp(argv[1], "kshark") == 0 ? by_kshark(argv[2]) : by_tracecmd(argv[2]);
}
