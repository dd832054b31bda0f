/* Preloaded into a process, lets its n-th call that changes a file fail. What to do is in a mapped file of six
   int64: calls so far, the call to fail (-1: none), whether all after it fail too, errno, whether to count, whether
   a write that fails first writes its first half. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS, FAIL_FROM, LASTING, ERROR, COUNTING, TORN, FIELDS };
static volatile int64_t *control;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAILING_DISK");
    int file = path ? open(path, O_RDWR) : -1;
    void *mapped = file < 0 ? MAP_FAILED : mmap(0, FIELDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    control = mapped == MAP_FAILED ? 0 : mapped;
}

/* 0: go on; 1: fail; 2: fail, being the first to do so */
static int fails(void) {
    if (!control || !control[COUNTING]) return 0;
    int64_t number = __atomic_fetch_add(&control[CALLS], 1, __ATOMIC_SEQ_CST), from = control[FAIL_FROM];
    if (from < 0 || number < from || (number > from && !control[LASTING])) return 0;
    errno = (int)control[ERROR];
    return number == from ? 2 : 1;
}

static int is_file(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITE(name, parameters, call_whole, call_half)              \
    ssize_t name parameters {                                            \
        int failing = is_file(fd) ? fails() : 0;                         \
        if (failing == 2 && control[TORN] && size > 1) return call_half; \
        return failing ? -1 : call_whole;                                \
    }
WRITE(write, (int fd, const void *data, size_t size), REAL(write)(fd, data, size), REAL(write)(fd, data, size / 2))
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), REAL(pwrite)(fd, data, size, at),
      REAL(pwrite)(fd, data, size / 2, at))
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t at), REAL(pwrite64)(fd, data, size, at),
      REAL(pwrite64)(fd, data, size / 2, at))

int fsync(int fd) { return is_file(fd) && fails() ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return is_file(fd) && fails() ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return is_file(fd) && fails() ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return is_file(fd) && fails() ? -1 : REAL(ftruncate64)(fd, size); }
int rename(const char *from, const char *to) { return fails() ? -1 : REAL(rename)(from, to); }
int unlink(const char *path) { return fails() ? -1 : REAL(unlink)(path); }

#define OPEN(name)                                             \
    int name(const char *path, int flags, ...) {               \
        va_list rest;                                          \
        va_start(rest, flags);                                 \
        int mode = flags & O_CREAT ? va_arg(rest, int) : 0;    \
        va_end(rest);                                          \
        if ((flags & O_CREAT) && fails()) return -1;           \
        return REAL(name)(path, flags, mode);                  \
    }
OPEN(open)
OPEN(open64)
