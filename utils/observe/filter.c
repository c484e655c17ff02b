/* SPDX-License-Identifier: MIT */
/*
 * BPF from the tables of arch/: one comparison a call, arguments where only some of its uses
 * matter.
 */
#include "utils/observe/filter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "utils/base/bits.h"
#include "utils/proto/own_call.h"

/* Calls of which only those matter whose argument has one of these values. */
struct argument_rule {
	uint8_t id;
	uint8_t arg;
	uint32_t values[2];
};

static const struct argument_rule argument_rules[] = {
	{ FTR_SYSID_FCNTL, 1, { F_DUPFD, F_DUPFD_CLOEXEC } },
	{ FTR_SYSID_PRCTL, 0, { PR_SET_NAME, PR_SET_DUMPABLE } },
};

/* Calls that the runtime makes, too. */
static bool id_may_be_own(uint8_t id)
{
	return id == FTR_SYSID_OPENAT || id == FTR_SYSID_CLOSE || id == FTR_SYSID_CLOSE_RANGE ||
	       id == FTR_SYSID_CLONE || id == FTR_SYSID_FCNTL;
}

static void emit(struct ftr_observer_filter *filter, struct sock_filter insn)
{
	assert(filter->nr < FTR_OBSERVER_FILTER_MAX);
	filter->code[filter->nr++] = insn;
}

static void emit_load(struct ftr_observer_filter *filter, size_t offset)
{
	emit(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void emit_equal(struct ftr_observer_filter *filter, uint32_t value, uint8_t yes, uint8_t no)
{
	emit(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no));
}

static void emit_return(struct ftr_observer_filter *filter, uint32_t value)
{
	emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value));
}

#define PASS_OWN_NR 5	/* instructions */

/* The runtime's calls are none of the program's (utils/proto/own_call.h). */
static void emit_pass_own(struct ftr_observer_filter *filter)
{
	size_t mark = offsetof(struct seccomp_data, args) + FTR_OWN_CALL_ARG * sizeof(uint64_t);

	emit_load(filter, mark);
	emit_equal(filter, (uint32_t)FTR_OWN_CALL, 0, 3);
	emit_load(filter, mark + sizeof(uint32_t));
	emit_equal(filter, ftr_high_u32(FTR_OWN_CALL), 0, 1);
	emit_return(filter, SECCOMP_RET_ALLOW);
}

static const struct argument_rule *rule_find(uint8_t id)
{
	for (size_t i = 0; i < sizeof(argument_rules) / sizeof(argument_rules[0]); i++) {
		if (argument_rules[i].id == id)
			return &argument_rules[i];
	}
	return NULL;
}

static void emit_number(struct ftr_observer_filter *filter, unsigned abi,
			const struct ftr_sysnr *number)
{
	const struct argument_rule *rule = rule_find(number->id);
	uint32_t trace = SECCOMP_RET_TRACE | ftr_observer_stop_data(abi, number->id);
	bool is_own = id_may_be_own(number->id);
	uint8_t pass_nr = is_own ? PASS_OWN_NR : 0;

	emit_equal(filter, number->nr, 0, (uint8_t)(pass_nr + (rule != NULL ? 5 : 1)));
	if (rule != NULL) {
		/* The low half: the machine is little-endian, and the kernel looks at no more. */
		emit_load(filter,
			  offsetof(struct seccomp_data, args) + rule->arg * sizeof(uint64_t));
		emit_equal(filter, rule->values[0], 1, 0);
		emit_equal(filter, rule->values[1], 0, (uint8_t)(pass_nr + 1));
	}
	if (is_own)
		emit_pass_own(filter);
	emit_return(filter, trace);
	if (rule != NULL)
		emit_return(filter, SECCOMP_RET_ALLOW);
}

/* All numbers of the ABIs that share an architecture. */
static void emit_arch(struct ftr_observer_filter *filter, uint32_t arch)
{
	for (unsigned abi = 0; ftr_abis[abi].name != NULL; abi++) {
		if (ftr_abis[abi].audit_arch != arch)
			continue;
		for (size_t i = 0; i < ftr_abis[abi].numbers_nr; i++) {
			if (ftr_abis[abi].numbers[i].id != FTR_SYSID_WRITE)
				emit_number(filter, abi, &ftr_abis[abi].numbers[i]);
		}
	}
	emit_return(filter, SECCOMP_RET_ALLOW);
}

static bool arch_came_before(unsigned abi)
{
	for (unsigned i = 0; i < abi; i++) {
		if (ftr_abis[i].audit_arch == ftr_abis[abi].audit_arch)
			return true;
	}
	return false;
}

void ftr_observer_filter_init(struct ftr_observer_filter *filter)
{
	filter->nr = 0;
	for (unsigned abi = 0; ftr_abis[abi].name != NULL; abi++) {
		unsigned short jump;

		if (arch_came_before(abi))
			continue;
		emit_load(filter, offsetof(struct seccomp_data, arch));
		emit_equal(filter, ftr_abis[abi].audit_arch, 1, 0);
		jump = filter->nr;
		emit(filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
		emit_load(filter, offsetof(struct seccomp_data, nr));
		emit_arch(filter, ftr_abis[abi].audit_arch);
		filter->code[jump].k = (uint32_t)(filter->nr - jump - 1);
	}
	emit_return(filter, SECCOMP_RET_ALLOW);
}

int ftr_observer_filter_install(const struct ftr_observer_filter *filter)
{
	struct sock_fprog program = {
		.len = filter->nr,
		.filter = (struct sock_filter *)(uintptr_t)filter->code,
	};
	/* Without SPEC_ALLOW some kernels slow the whole program down. */
	unsigned flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0)
		return 0;
	if (errno != EACCES)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0 ? 0 : -errno;
}
