/* How the tasks of a sweep are dealt out to the GPUs that sweep one system: in turn, so that each has its share of every
 * panel, whatever the number of tasks; brush.c asks for as many tasks a panel as there are GPUs. Tasks that a GPU has keep
 * their order. For CPU and GPU, as trial.h.
 */

/* The task that a part takes after it has taken `ticket` others. */
PLUGMC_FN unsigned brush_dealt(unsigned ticket, int part, int parts)
{
    return ticket * (unsigned)parts + (unsigned)part;
}

/* How many tasks with smaller numbers it has. */
PLUGMC_FN unsigned brush_dealt_below(unsigned task, int part, int parts)
{
    return (task + (unsigned)(parts - 1 - part)) / (unsigned)parts;
}
