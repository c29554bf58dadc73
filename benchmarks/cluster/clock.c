/* A clock that can be wrong: preloaded, it adds the seconds in the file CLOCK_FILE to the time of
   day. Other clocks, and with them every sleep, are left alone, as when somebody sets the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    static int file = -2;
    char text[32];
    if (file == -2) {
        const char *path = getenv("CLOCK_FILE");
        file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    }
    ssize_t length = file < 0 ? 0 : pread(file, text, sizeof text - 1, 0);
    if (length <= 0) return 0;
    text[length] = 0;
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += offset();
    return failed;
}
