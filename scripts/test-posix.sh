#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-posix.sh [BUILD] - link programs with libfiber-posix in each way there is, and check what they call
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

shared="-L$build/lib -Wl,-rpath,$build/lib"
uring=$(pkg-config --libs liburing 2>/dev/null)

# Blocks in fortified and plain calls: 20 fibers on one carrier, each of which waits for the next.
cat >"$tmp/ring.c" <<'END'
#include <fiber.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define N 20

static int ends[N][2];

static void *hand_on(void *arg)
{
	const long i = (long)arg;
	struct pollfd p[1] = {{ends[i][0], POLLIN, 0}};
	volatile size_t size = 4;
	char bytes[8];

	for (int round = 0; round < 100; round++) {
		if (poll(p, size / 4, -1) != 1 || recv(ends[i][0], bytes, size, 0) != 4)
			return NULL;
		if (write(ends[(i + 1) % N][1], bytes, size) != 4 || read(ends[i][0], bytes, size) != 4)
			return NULL;
		if (send(ends[(i + 1) % N][1], bytes, size, 0) != 4)
			return NULL;
	}
	return arg;
}

static void *start(void *arg)
{
	struct fiber_result r;
	struct fiber *f[N];
	long i, good = 0;

	for (i = 0; i < N; i++)
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends[i]);
	for (i = 0; i < N; i++)
		fiber_spawn(hand_on, (void *)i, &f[i]);
	fiber_sleep(1000000);
	if (write(ends[0][1], "one", 4) != 4 || write(ends[0][1], "two", 4) != 4)
		return arg;
	for (i = 0; i < N; i++) {
		fiber_join(f[i], &r, FIBER_FOREVER);
		good += r.value == (void *)i;
	}
	printf("%ld of %d\n", good, N);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};

	return fiber_run(start, NULL, &o, NULL) < 0;
}
END

# Two fibers on one carrier wait for each other in each call that moves bytes, opens or locks a file.
cat >"$tmp/pair.c" <<'END'
#include <fcntl.h>
#include <fiber.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2], other[2], files[2];
static const char *fifo;
static char b[8];
static struct iovec v = {b, 4};

static void *answer(void *arg)
{
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}};

	switch ((long)arg) {
	case 0:
		return (void *)(long)(sendmmsg(ends[1], m, 2, 0) == 2);
	case 1:
		return (void *)(long)(pwritev2(ends[1], &v, 1, -1, 0) == 4);
	case 2:
		return (void *)(long)(write(other[1], b, 4) == 4 && splice(other[0], NULL, ends[1], NULL, 4, 0) == 4);
	case 3:
		return (void *)(long)(close(open(fifo, O_WRONLY)) == 0);
	case 4:
		return (void *)(long)(flock(files[1], LOCK_UN) == 0);
	default:
		return (void *)(long)(fcntl(files[1], F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK}) == 0);
	}
}

static int wait_for(long i)
{
	struct mmsghdr m[2] = {{.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}};

	switch (i) {
	case 0:
		return recvmmsg(ends[0], m, 2, 0, NULL) == 2;
	case 1:
		return preadv2(ends[0], &v, 1, -1, RWF_HIPRI) == 4;
	case 2:
		return splice(ends[0], NULL, other[1], NULL, 4, 0) == 4 && read(other[0], b, 4) == 4;
	case 3:
		return close(open(fifo, O_RDONLY)) == 0;
	case 4:
		return flock(files[0], LOCK_EX) == 0;
	default:
		return lockf(files[0], F_LOCK, 0) == 0;
	}
}

static void *start(void *arg)
{
	struct fiber_result r;
	struct fiber *f;
	int good = 0;

	for (long i = 0; i < 6; i++) {
		socketpair(AF_UNIX, i ? SOCK_STREAM : SOCK_SEQPACKET, 0, ends), pipe(other);
		flock(files[1], LOCK_EX | LOCK_NB), fcntl(files[1], F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK});
		fiber_spawn(answer, (void *)i, &f);
		good += wait_for(i) && fiber_join(f, &r, FIBER_FOREVER) == 0 && r.value;
	}
	printf("%d of 6, synced %d\n", good, fsync(files[0]) == 0 && fdatasync(files[0]) == 0 && pwritev(files[0], &v, 1, 0) == 4);
	return arg;
}

int main(int argc, char **argv)
{
	const struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};
	char path[4096];

	snprintf(path, sizeof path, "%s.fifo", argv[argc - 1]);
	fifo = path;
	unlink(path), mkfifo(path, 0600);
	snprintf(b, sizeof b, "abc");
	files[0] = open(argv[argc - 1], O_RDWR), files[1] = open(argv[argc - 1], O_RDWR);
	return fiber_run(start, NULL, &o, NULL) < 0;
}
END

# A program without fibers.
cat >"$tmp/plain.c" <<'END'
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const struct timespec t = {0, 1000};
	char bytes[4] = "abc";
	struct iovec v = {bytes, 3};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};
	int fds[2], file, i;
	FILE *in, *out;

	write(1, "start\n", 6);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return 1;
	for (i = 0; i < 3; i++) {
		struct pollfd p = {fds[0], POLLIN, 0};

		write(fds[1], bytes, 3);
		poll(&p, 1, -1);
		read(fds[0], bytes, 3);
		send(fds[1], bytes, 3, 0);
		recv(fds[0], bytes, 3, 0);
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	read(fds[0], bytes, 1);
	file = open("/tmp", O_RDWR | O_TMPFILE, 0600);
	pwritev(file, &v, 1, 5);
	preadv2(file, &v, 1, 5, RWF_HIPRI);
	fsync(file);
	fdatasync(file);
	flock(file, LOCK_EX);
	lockf(file, F_LOCK, 0);
	sendmmsg(fds[1], &m, 1, 0);
	recvmmsg(fds[0], &m, 1, 0, NULL);
	splice(file, NULL, fds[1], NULL, 1, 0);
	close(openat(AT_FDCWD, "/dev/null", O_RDONLY));
	close(creat("/dev/null", 0600));
	close(file);
	dup2(fds[1], fds[0]);
	nanosleep(&t, NULL);
	fclose(fdopen(fds[0], "r"));
	close(fds[1]);
	if (pipe(fds) < 0 || !(in = fdopen(fds[0], "r")) || !(out = fdopen(fds[1], "w")))
		return 1;
	fprintf(out, "%d\n", 12);
	fputs("line\n", out);
	fclose(out);
	if (fscanf(in, "%d", &i) != 1 || !fgets(bytes, sizeof bytes, in) || getc(in) != 'l')
		return 1;
	fclose(in);
	return 0;
}
END

# Makes each call in a plain thread, once well and once wrongly, and prints the results.
cat >"$tmp/each.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAY(call) say(#call, (errno = 0, (long)(call)))

static void say(const char *call, long result)
{
	printf("%s: %ld, errno %d\n", call, result, errno);
}

static char b[16] = "0123456789";
static struct iovec v[2] = {{b, 2}, {b + 2, 2}};
static struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
static struct timespec ms = {0, 1000000}, bad = {0, -1}, left;
static struct epoll_event e = {.events = EPOLLIN}, got[2];

static void bytes(int near, int far, int file)
{
	off_t at = 1;

	SAY(write(far, b, 4)), SAY(read(near, b, 16)), SAY(write(-1, b, 1)), SAY(read(-1, b, 1));
	SAY(writev(far, v, 2)), SAY(readv(near, v, 2)), SAY(writev(-1, v, 1)), SAY(readv(-1, v, 1));
	SAY(pwrite(file, b, 10, 2)), SAY(pread(file, b, 16, 3)), SAY(pwrite(file, b, 1, -1)), SAY(pread(far, b, 1, 0));
	SAY(sendfile(far, file, &at, 4)), SAY(at), SAY(sendfile(far, -1, NULL, 4)), SAY(read(near, b, 16));
	SAY(send(far, b, 3, 0)), SAY(recv(near, b, 16, 0)), SAY(recv(near, b, 16, MSG_DONTWAIT)), SAY(send(file, b, 1, 0));
	SAY(sendto(far, b, 3, 0, NULL, 0)), SAY(recvfrom(near, b, 16, 0, NULL, NULL)), SAY(sendto(-1, b, 1, 0, NULL, 0));
	SAY(sendmsg(far, &m, 0)), SAY(recvmsg(near, &m, 0)), SAY(sendmsg(-1, &m, 0)), SAY(recvmsg(-1, &m, 0));
}

static void many(int near, int far)
{
	struct mmsghdr mm[2] = {{.msg_hdr = m}, {.msg_hdr = m}};

	SAY(sendmmsg(far, mm, 2, 0)), SAY(mm[1].msg_len), SAY(sendmmsg(-1, mm, 1, 0)), SAY(sendmmsg(far, mm, 0, 0));
	SAY(recvmmsg(near, mm, 2, 0, NULL)), SAY(mm[1].msg_len), SAY(recvmmsg(near, mm, 2, MSG_DONTWAIT, &ms)), SAY(recvmmsg(near, mm, 1, 0, &bad));
}

static void pieces(int near, int far, int file)
{
	off64_t at = 0;
	int p[2];

	pipe(p);
	SAY(pwritev(file, v, 2, 1)), SAY(preadv(file, v, 2, 3)), SAY(preadv(file, v, 2, -1)), SAY(preadv(p[0], v, 1, 0)), SAY(pwritev(-1, v, 2, 0));
	SAY(pwritev2(file, v, 2, 1, RWF_DSYNC)), SAY(preadv2(file, v, 2, 1, 0)), SAY(preadv2(file, v, 2, 0, 1 << 30)), SAY(preadv2(p[0], v, 1, -1, RWF_NOWAIT));
	SAY(pwritev2(far, v, 2, -1, 0)), SAY(preadv2(near, v, 2, -1, 0));
	SAY(splice(file, &at, p[1], NULL, 3, 0)), SAY(at), SAY(splice(p[0], NULL, far, NULL, 9, 0)), SAY(read(near, b, 16));
	SAY(splice(p[0], NULL, far, NULL, 9, SPLICE_F_NONBLOCK)), SAY(splice(file, NULL, far, NULL, 1, 0)), SAY(splice(p[0], &at, far, NULL, 1, 0));
	SAY(close(p[0])), SAY(close(p[1]));
}

static void files(int file)
{
	char path[] = "/tmp/each-XXXXXX";
	int fd = mkstemp(path), again;

	SAY((again = open(path, O_RDWR | O_CLOEXEC)) > 0), SAY(fcntl(again, F_GETFD)), SAY(open(path, O_RDWR | O_CREAT | O_EXCL, 0600)), SAY(open("/nowhere", O_RDONLY));
	SAY(fsync(file)), SAY(fsync(-1)), SAY(fdatasync(file)), SAY(fdatasync(-1)), SAY(sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE)), SAY(sync_file_range(-1, 0, 0, 0));
	SAY(flock(fd, LOCK_EX)), SAY(flock(again, LOCK_EX | LOCK_NB)), SAY(flock(fd, LOCK_UN)), SAY(flock(-1, LOCK_SH)), SAY(flock(fd, 99));
	SAY(lockf(fd, F_LOCK, 5)), SAY(lockf(again, F_TEST, 5)), SAY(lockf(fd, F_TLOCK, 9)), SAY(lockf(fd, F_ULOCK, 0)), SAY(lockf(fd, 99, 0)), SAY(lockf(-1, F_TEST, 0));
	SAY(close(again)), SAY((again = creat(path, 0600)) > 0), SAY(creat("/nowhere/at", 0600)), SAY(close(again)), SAY(unlink(path));
	SAY((again = openat(AT_FDCWD, "/tmp", O_RDWR | O_TMPFILE, 0600)) > 0), SAY(openat(-1, "nowhere", O_RDONLY)), SAY(openat(again, "x", O_RDONLY)), SAY(close(again)), SAY(close(fd));
}

static void ready(int near, int far)
{
	struct pollfd p = {near, POLLIN, 0};
	int ep = epoll_create1(0);
	sigset_t none;
	fd_set in;

	sigemptyset(&none);
	epoll_ctl(ep, EPOLL_CTL_ADD, near, &e);
	SAY(poll(&p, 1, 1)), SAY(ppoll(&p, 1, &ms, &none)), SAY(ppoll(&p, 1, &bad, NULL)), SAY(ms.tv_nsec);
	FD_ZERO(&in);
	FD_SET(near, &in);
	SAY(select(near + 1, &in, NULL, NULL, &(struct timeval){0, 1000})), SAY(FD_ISSET(near, &in));
	FD_SET(near, &in);
	SAY(pselect(near + 1, &in, NULL, NULL, &ms, &none)), SAY(FD_ISSET(near, &in)), SAY(select(-1, NULL, NULL, NULL, NULL));
	SAY(epoll_wait(ep, got, 2, 1)), SAY(epoll_pwait(ep, got, 2, 1, &none)), SAY(epoll_wait(ep, got, 0, 0));
	send(far, b, 1, 0);
	FD_SET(near, &in);
	SAY(poll(&p, 1, -1)), SAY(p.revents), SAY(ppoll(&p, 1, NULL, NULL)), SAY(epoll_wait(ep, got, 2, -1));
	SAY(select(near + 1, &in, NULL, NULL, NULL)), SAY(pselect(near + 1, &in, NULL, NULL, NULL, NULL));
	SAY(close(ep)), SAY(close(ep));
}

static void sockets(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0), in;
	socklen_t size = sizeof addr;

	bind(fd, (struct sockaddr *)&addr, size), listen(fd, 4), getsockname(fd, (struct sockaddr *)&addr, &size);
	SAY(socket(-1, 0, 0)), SAY(connect(out, (struct sockaddr *)&addr, size)), SAY(connect(-1, NULL, 0));
	SAY((in = accept(fd, NULL, NULL)) > 0), SAY(fcntl(in, F_GETFD)), SAY(accept(-1, NULL, NULL));
	SAY(dup2(out, in) == in), SAY(dup2(-1, in)), SAY(dup2(in, in) == in), SAY(dup3(in, in, 0)), SAY(dup3(out, in, O_CLOEXEC) == in);
	SAY(fcntl(in, F_GETFD)), SAY(fcntl(in, F_SETFL, O_NONBLOCK)), SAY(fcntl(-1, F_GETFL)), SAY(close_range(in, in, 0));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	SAY(accept4(fd, NULL, NULL, SOCK_CLOEXEC)), SAY(accept4(-1, NULL, NULL, 0)), SAY(close(in));
}

int main(int argc, char **argv)
{
	FILE *file = tmpfile();
	int s[2], status = 0;
	pid_t pid;

	(void)argv;
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	bytes(s[0], s[1], fileno(file));
	many(s[0], s[1]);
	pieces(s[0], s[1], fileno(file));
	files(fileno(file));
	ready(s[0], s[1]);
	sockets();
	SAY(nanosleep(&ms, &left)), SAY(nanosleep(&bad, NULL)), SAY(usleep(1)), SAY(sleep(argc > 9)), SAY(sched_yield());
	SAY(clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL)), SAY(clock_nanosleep(99, 0, &ms, NULL));
	fflush(stdout);
	if (!(pid = fork()))
		_exit(3);
	SAY(waitpid(pid, &status, 0) == pid), SAY(WEXITSTATUS(status)), SAY(wait(&status)), SAY(waitpid(-1, NULL, WNOHANG));
	return 0;
}
END

# Closes a socket with its stream, and waits for a pipe that has got its number.
cat >"$tmp/stream.c" <<'END'
#include <arpa/inet.h>
#include <fiber.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void *hand_over(void *arg)
{
	const int *end = arg;

	fiber_sleep(10000000);
	return (void *)(long)write(*end, "z", 1);
}

static int waits(int fd, int far)
{
	struct fiber *f;
	char byte = 0;

	fiber_spawn(hand_over, &far, &f);
	return read(fd, &byte, 1) == 1 && byte == 'z' && fiber_join(f, NULL, FIBER_FOREVER) == 0;
}

static void *start(void *arg)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int listener = socket(AF_INET, SOCK_STREAM, 0), far = socket(AF_INET, SOCK_STREAM, 0);
	int fds[2], ends[2], good = 0, i;
	socklen_t size = sizeof at;

	bind(listener, (struct sockaddr *)&at, size), listen(listener, 1), getsockname(listener, (struct sockaddr *)&at, &size);
	connect(far, (struct sockaddr *)&at, size);
	ends[0] = accept(listener, NULL, NULL), ends[1] = far;
	good += waits(ends[0], far) + waits(far, ends[0]);
	for (i = 0; i < 2; i++) {
		FILE *stream = fdopen(ends[i], "r");

		if (pipe(fds) < 0 || fclose(stream) || fcntl(fds[0], F_DUPFD, ends[i]) != ends[i])
			return arg;
		good += waits(ends[i], fds[1]);
	}
	printf("%d of 4\n", good);
	return arg;
}

int main(void)
{
	const struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};

	return fiber_run(start, NULL, &o, NULL) < 0;
}
END

ring_goes_round() {
	[ "$(timeout 20 "$1")" = "$2" ]
}

# compile NAME SOURCE OPTION...
compile() {
	program=$1 source=$2
	shift 2
	"$cc" -O2 -g -D_GNU_SOURCE -Ilibfiber/include -Ilibfiber-posix/include -pthread -o "$tmp/$program" "$source" "$@"
}

runs_shared() {
	# shellcheck disable=SC2086 # flags must be split
	compile shared "$tmp/ring.c" $shared -lfiber-posix -lfiber && ring_goes_round "$tmp/shared" "20 of 20"
}

runs_fortified() {
	# shellcheck disable=SC2086 # flags must be split
	compile fortified "$tmp/ring.c" -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 $shared -lfiber-posix -lfiber &&
		nm -D --undefined-only "$tmp/fortified" >"$tmp/names" && grep -q __read_chk "$tmp/names" &&
		grep -q __recv_chk "$tmp/names" && grep -q __poll_chk "$tmp/names" && ring_goes_round "$tmp/fortified" "20 of 20"
}

# The fibers of pair.c, in a program of each kind: NAME OPTION...
pairs() {
	: >"$tmp/file"
	compile "$@" && [ "$(LD_LIBRARY_PATH=$build/lib timeout 20 "$tmp/$1" "$tmp/file")" = "6 of 6, synced 1" ]
}

pairs_meet() {
	# shellcheck disable=SC2086 # flags must be split
	pairs pair "$tmp/pair.c" $shared -lfiber-posix -lfiber &&
		pairs pair-archive "$tmp/pair.c" "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring &&
		pairs pair-static "$tmp/pair.c" -static "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring
}

# A call that may make a file and gives no mode is refused by the functions that fortified programs call.
aborts_without_a_mode() {
	cat >"$tmp/mode.c" <<'END'
#include <fcntl.h>

int main(int argc, char **argv)
{
	volatile int flags = O_RDWR | (argc > 1 ? O_CREAT : O_TMPFILE);

	return argc > 1 ? openat(AT_FDCWD, argv[1], flags) : open("/tmp", flags);
}
END
	# shellcheck disable=SC2086 # flags must be split
	compile mode "$tmp/mode.c" -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Wl,--no-as-needed $shared -lfiber-posix -lfiber || return 1
	nm -D --undefined-only "$tmp/mode" >"$tmp/names"
	grep -q '__open_2' "$tmp/names" && grep -q '__openat_2' "$tmp/names" || return 1
	(ulimit -c 0 && "$tmp/mode") 2>"$tmp/line"
	[ $? -eq 134 ] && grep -q '^\*\*\* invalid open call: O_CREAT or O_TMPFILE without mode \*\*\*: terminated$' "$tmp/line" || return 1
	(ulimit -c 0 && "$tmp/mode" "$tmp/made") 2>"$tmp/line"
	[ $? -eq 134 ] && grep -q '^\*\*\* invalid openat call: ' "$tmp/line" && [ ! -e "$tmp/made" ]
}

runs_archive() {
	# shellcheck disable=SC2086 # flags must be split
	compile archive "$tmp/ring.c" "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring &&
		ring_goes_round "$tmp/archive" "20 of 20"
}

runs_static() {
	# shellcheck disable=SC2086 # flags must be split
	compile static "$tmp/ring.c" -static "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring &&
		ring_goes_round "$tmp/static" "20 of 20"
}

runs_preloaded() {
	# shellcheck disable=SC2086 # flags must be split
	compile without "$tmp/ring.c" $shared -lfiber &&
		[ "$(timeout 20 env "LD_PRELOAD=$build/lib/libfiber-posix.so" "$tmp/without")" = "20 of 20" ]
}

# Libraries that come later in the order of the loader are initialised first.
runs_after_constructors() {
	cat >"$tmp/early.c" <<'END'
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int early_done;

__attribute__((constructor)) static void start(void)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
	struct addrinfo *a = NULL;
	struct hostent h, *found = NULL;
	char text[256], host[64];
	int error;

	early_done = getaddrinfo("127.0.0.1", "1", &hints, &a) == 0 &&
		     getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST) == 0 &&
		     strcmp(host, "127.0.0.1") == 0 && gethostbyname_r("127.0.0.1", &h, text, sizeof text, &found, &error) == 0 &&
		     found && fclose(fopen("/dev/null", "r")) == 0 && close(dup(0)) == 0;
	freeaddrinfo(a);
}
END
	cat >"$tmp/after.c" <<'END'
extern int early_done;

int main(void)
{
	return !early_done;
}
END
	"$cc" -O2 -fPIC -shared -D_GNU_SOURCE -o "$tmp/libearly.so" "$tmp/early.c" &&
		compile after "$tmp/after.c" -L"$tmp" -learly -Wl,-rpath,"$tmp" &&
		timeout 20 env "LD_PRELOAD=$build/lib/libfiber-posix.so" "LD_LIBRARY_PATH=$build/lib" "$tmp/after"
}

# Then the loader itself is what the kernel has started.
runs_through_the_loader() {
	loader=$(readelf -l "$tmp/shared" | sed -n 's/.*interpreter: \(.*\)]$/\1/p')
	[ -x "$loader" ] && [ "$(timeout 20 "$loader" "$tmp/shared")" = "20 of 20" ] && timeout 20 "$loader" "$tmp/late" 2>&1 >/dev/null |
		grep -q 'so no call parks: link libfiber-posix before it$'
}

# sees_streams OPTION...: no wake-up is lost where a stream has closed a socket
sees_streams() {
	compile stream "$tmp/stream.c" "$@" && LD_LIBRARY_PATH=$build/lib ring_goes_round "$tmp/stream" "4 of 4"
}

streams_close_sockets() {
	# shellcheck disable=SC2086 # flags must be split
	sees_streams $shared -lfiber-posix -lfiber &&
		sees_streams "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring &&
		sees_streams -static "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring
}

# compare OPTION...: each call gives with the library what it gives without
compare() {
	compile each-bare "$tmp/each.c" && compile each "$tmp/each.c" "$@" && timeout 20 "$tmp/each-bare" >"$tmp/bare.said" &&
		LD_LIBRARY_PATH=$build/lib timeout 20 "$tmp/each" >"$tmp/said.each" && [ "$(wc -l <"$tmp/bare.said")" -ge 130 ] &&
		diff "$tmp/bare.said" "$tmp/said.each"
}

each_is_the_system_s() {
	# shellcheck disable=SC2086 # flags must be split
	compare $shared -Wl,--no-as-needed -lfiber-posix -lfiber
}

each_is_a_system_call() {
	# shellcheck disable=SC2086 # flags must be split
	compare -static "$build/lib/libfiber-posix.a" "$build/lib/libfiber.a" $uring
}

# The C library comes first: every call is its own.
wrong_order_is_named() {
	# shellcheck disable=SC2086 # flags must be split
	compile late "$tmp/plain.c" -Wl,--no-as-needed -lc $shared -lfiber-posix -lfiber && "$tmp/late" 2>"$tmp/line" >/dev/null &&
		cat "$tmp/line" && [ "$(wc -l <"$tmp/line")" -eq 1 ] &&
		grep -q '^libfiber-posix: read() is that of .*libc.so.6, so no call parks: link libfiber-posix before it$' "$tmp/line"
}

# The program's libfiber is in its file, and the library brings another one.
other_libfiber_is_named() {
	# shellcheck disable=SC2086 # flags must be split
	compile own "$tmp/ring.c" "$build/lib/libfiber.a" $uring || return 1
	# The program runs in the background, and may open the file after it is looked at: no earlier line is there.
	: >"$tmp/line"
	env "LD_PRELOAD=$build/lib/libfiber-posix.so" "LD_LIBRARY_PATH=$build/lib" "$tmp/own" 2>"$tmp/line" >/dev/null &
	own=$!
	tries=0
	# The program may never exit: no call of its fibers parks.
	until grep -q . "$tmp/line" || [ "$tries" -ge 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	kill -9 "$own"
	wait "$own" 2>/dev/null
	cat "$tmp/line" && [ "$(grep -c . "$tmp/line")" -ge 1 ] &&
		grep -q '^libfiber-posix: own contains another libfiber, so no call parks: link it with libfiber-posix.a, or with the shared libfiber$' "$tmp/line"
}

# The linker has taken some functions from the archive and some from the shared library.
mixed_libfiber_is_named() {
	# shellcheck disable=SC2086 # flags must be split
	compile mixed "$tmp/plain.c" $shared -Wl,--no-as-needed -lfiber-posix -Wl,-u,fiber_run "$build/lib/libfiber.a" $uring &&
		LD_LIBRARY_PATH=$build/lib timeout 20 "$tmp/mixed" 2>"$tmp/line" >/dev/null && cat "$tmp/line" &&
		grep -q '^libfiber-posix: mixed contains another libfiber, so no call parks: ' "$tmp/line"
}

# What a program calls after its first line, without addresses.
calls() {
	strace -o "$tmp/trace" "$1" >/dev/null || return 1
	sed -e '1,/write(1, "start/d' -e 's/0x[0-9a-f]*/ADDRESS/g' -e 's/^getrandom("[^"]*"/getrandom(RANDOM/' "$tmp/trace"
}

makes_the_same_calls() {
	command -v strace >/dev/null || {
		echo "strace is not installed: make deps-bench"
		return 77
	}
	# shellcheck disable=SC2086 # flags must be split
	compile bare "$tmp/plain.c" && compile linked "$tmp/plain.c" $shared -Wl,--no-as-needed -lfiber-posix -lfiber &&
		calls "$tmp/bare" >"$tmp/bare.calls" && calls "$tmp/linked" >"$tmp/linked.calls" &&
		[ "$(wc -l <"$tmp/bare.calls")" -ge 34 ] && diff "$tmp/bare.calls" "$tmp/linked.calls"
}

# The names of the C library that the shared library takes are those that the manual lists.
names_are_listed() {
	nm -D --defined-only "$build/lib/libfiber-posix.so" | awk '{ print $3 }' | grep -v -e '^fiber_' -e '^_' | sort >"$tmp/taken"
	sed -n 's/^\.It Xr \([a-z_0-9]*\) [23].*/\1/p' man/libfiber-posix.7 | sort >"$tmp/listed"
	grep -v -e '64$' -e '64v2$' "$tmp/taken" | diff - "$tmp/listed"
}

# libfiber's own calls are told by their return address: a jump in place of a call would hide it. On a fiber's stack only
# calls that return a result matter, which is turned into a negative number after the call.
libfiber_calls_and_does_not_jump() {
	command -v objdump >/dev/null || {
		echo "objdump is not installed"
		return 77
	}
	objdump -d --no-show-raw-insn "$build/lib/libfiber.so" | sed -n 's/.*jmp .*<\([a-z_0-9]*\)@plt>$/\1/p' | sort -u >"$tmp/jumps"
	[ -s "$tmp/jumps" ] && comm -12 "$tmp/jumps" "$tmp/taken" >"$tmp/both" && cat "$tmp/both" && [ ! -s "$tmp/both" ]
}

prove "fibers park in a program that is linked with the shared library" runs_shared
prove "and in one that is compiled with _FORTIFY_SOURCE" runs_fortified
prove "and in one that is linked with the archive" runs_archive
prove "and in a static one" runs_static
prove "and where the library is preloaded" runs_preloaded
prove "fibers of one carrier meet in calls on messages, vectors, pipes and files, linked in each way" pairs_meet
prove "a fortified open that may make a file and has no mode aborts as in the C library" aborts_without_a_mode
prove "a socket that a stream has closed is not waited for, linked in each way" streams_close_sockets
prove "in a plain thread each call gives what it gives without the library" each_is_the_system_s
prove "and in a static program, where it makes the system call itself" each_is_a_system_call
prove "a library that is linked after the C library says so in one line" wrong_order_is_named
prove "constructors that run before the library's make calls" runs_after_constructors
prove "a program that is started through the loader finds the system's calls" runs_through_the_loader
prove "a program that contains another libfiber is named" other_libfiber_is_named
prove "and one that is linked with an archive and a shared library" mixed_libfiber_is_named
prove "a program without fibers makes the same system calls with the library" makes_the_same_calls
prove "the manual lists the names that are taken" names_are_listed
prove "libfiber calls the system with calls, not with jumps" libfiber_calls_and_does_not_jump
echo "1..$count"
exit "$failed"
