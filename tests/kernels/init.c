/* SPDX-License-Identifier: MIT */
/*
 * init.c - the first process of a virtual machine that runs tests (scripts/test-kernels.py)
 *
 * It is linked statically. /run-these has a program and its environment on each line: "NAME=value
 * ... PATH ARGUMENT ...". Programs run one after another, and each is followed by a line with its
 * exit status. A line that begins with & starts a program that stays, and $! in later lines is its
 * process. At the end the machine is switched off.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 64
#define LINE  1024

static void mount_at(const char *kind, const char *place)
{
	mkdir(place, 0755);
	if (mount(kind, place, kind, 0, NULL) < 0 && errno != EBUSY)
		printf("init: %s: %s\n", place, strerror(errno));
}

static void raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		printf("init: lo: %s\n", strerror(errno));
	close(fd);
}

static void execute(char *line)
{
	char *argv[WORDS], *save, *word;
	int n = 0;

	for (word = strtok_r(line, " ", &save); word && n < WORDS - 1;
	     word = strtok_r(NULL, " ", &save))
		if (!n && strchr(word, '='))
			putenv(word);
		else
			argv[n++] = word;
	argv[n] = NULL;
	dup2(1, 2);
	if (n)
		execv(argv[0], argv);
	printf("init: %s: %s\n", n ? argv[0] : "?", strerror(errno));
	_exit(127);
}

/* Replace $! at the end of the line by the number of the process. */
static void put_pid(char line[LINE], pid_t pid)
{
	char *at = strstr(line, "$!");

	if (at)
		snprintf(at, (size_t)(line + LINE - at), "%d", pid);
}

static void run(char line[LINE], pid_t *background)
{
	const int stays = line[0] == '&';
	int status = 0;
	pid_t pid;

	put_pid(line, *background);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		execute(line + stays);
	if (stays) {
		*background = pid;
		sleep(2);
		return;
	}
	waitpid(pid, &status, 0);
	printf("@@ %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(void)
{
	pid_t background = 0;
	char line[LINE];
	FILE *list;

	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("devtmpfs", "/dev");
	mount_at("tmpfs", "/tmp");
	mkdir("/dev/shm", 01777);
	symlink("/proc/self/fd", "/dev/fd");
	raise_loopback();
	list = fopen("/run-these", "r");
	while (list && fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = 0;
		run(line, &background);
	}
	printf("@@ end\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
