// A library whose functions throw an exception.
#include <cstdio>
#include <stdexcept>

extern "C" void throw_exception()
{
    throw std::runtime_error("the table of the library ends at 3");
}

extern "C" void explain_exception(char *why, size_t size)
{
    try {
        throw_exception();
    } catch (const std::exception &e) {
        std::snprintf(why, size, "%s", e.what());
    }
}
