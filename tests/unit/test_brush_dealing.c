/* The tasks of a sweep that several GPUs make together: each is made once, in the order of its number on the GPU that has
 * it, and every GPU has some of every panel, as the decider of brush counts on (plugins/movers/brush/dealing.h). */
#include "testing.h"

#include "plugmc/everything.h"

#include "../../plugins/movers/brush/dealing.h"

static void each_task_is_made_once(void **state)
{
    (void)state;
    enum { TASKS = 1000 };
    for (int parts = 1; parts <= 9; parts++) {
        int made[TASKS] = {0};
        for (int part = 0; part < parts; part++) {
            unsigned ticket = 0;
            for (unsigned t; (t = brush_dealt(ticket, part, parts)) < TASKS; ticket++) {
                made[t]++;
                assert_int_equal(brush_dealt_below(t, part, parts), ticket);
                assert_int_equal(brush_dealt_below(t + 1, part, parts), ticket + 1);
            }
            assert_int_equal(brush_dealt_below(TASKS, part, parts), ticket);
        }
        for (int t = 0; t < TASKS; t++) assert_int_equal(made[t], 1);
    }
}

static void every_part_has_a_share_of_every_panel(void **state)
{
    (void)state;
    for (unsigned tasks = 3; tasks <= 258; tasks++)
        for (int parts = 1; parts <= 8 && (unsigned)parts <= tasks; parts++)
            for (unsigned g = 0; g < 20; g++)
                for (int part = 0; part < parts; part++) {
                    const unsigned own = brush_dealt_below((g + 1) * tasks, part, parts) -
                                         brush_dealt_below(g * tasks, part, parts);
                    assert_true(own == tasks / (unsigned)parts ||
                                own == (tasks + (unsigned)parts - 1) / (unsigned)parts);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_made_once),
        cmocka_unit_test(every_part_has_a_share_of_every_panel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
