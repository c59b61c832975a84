/* exchange A B: gives two names to each other's files again and again, until it is killed. */
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    while (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) == 0) continue;
    perror("exchange");
    return 1;
}
