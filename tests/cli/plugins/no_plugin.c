/* A shared object without the entry of a plugin. */
__attribute__((visibility("default"))) int answer(void) { return 42; }
