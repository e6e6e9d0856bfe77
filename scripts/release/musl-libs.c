/* What Debian's libstdc++ expects of glibc and musl does not have, for the smoke test of musl builds; see musl-libs.ts. */
#include <pthread.h>
#include <unistd.h>

void *__dso_handle __attribute__((visibility("hidden"))) = &__dso_handle;
char __libc_single_threaded = 0;

int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) { return pthread_key_create(key, destructor); }

int getentropy(void *, size_t);
unsigned arc4random(void) {
  unsigned value = 0;
  getentropy(&value, sizeof value);
  return value;
}

/* No exceptions are caught across this library. */
int _dl_find_object(void *address, void *result) {
  (void)address;
  (void)result;
  return -1;
}
