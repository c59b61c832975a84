/* Running energies (energy/running.h): they are those of fresh sums to rounding after trial moves, and an error of theirs that
 * is within the bound changes no decision about a box. */
#include "testing.h"

#include "energy/running.h"
#include "movers.h"

enum { DISKS = 36, DECISIONS = 3000 };
static const double edge = 7, planted = 0.006, bound = 0.009;

typedef struct question {
    plugmc_box box;
    double change, delta, log_factor;
    int32_t forbidden;
    int64_t taken;
    plugmc_changes changes;
} question;

/* A box near the one at the start, and what it would change. */
static void ask(hamiltonian *h, const bench *b, question *q, uint64_t sweep, int for_decision)
{
    const plugmc_random random =
        plugmc_draw((plugmc_seed){5}, sweep, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    const double factor = 1 + 0.02 * (plugmc_uniform_double(random.word[0], random.word[1]) - 0.5);
    *q = (question){.box = b->system.box, .log_factor = 0.1};
    plugmc_scale_box(&q->box, (const double[]){factor, factor, 1});
    q->changes = (plugmc_changes){.size = sizeof q->changes,
                                  .kind = PLUGMC_RESCALED,
                                  .walkers = 1,
                                  .per_walker = 1,
                                  .box = &q->box,
                                  .change = &q->change,
                                  .forbidden = &q->forbidden,
                                  .delta = &q->delta,
                                  .for_decision = for_decision};
    assert_int_equal(hamiltonian_energies(h, &b->host, &q->changes), PLUGMC_OK);
}

static bool decision_by_fresh_sums(hamiltonian *h, const bench *b, uint64_t sweep)
{
    question q;
    const int64_t no = -1;
    ask(h, b, &q, sweep, 0);
    assert_true(h->walkers[0].running.doubt == 0);
    assert_int_equal(hamiltonian_settle(h, &b->host, &q.changes, &no), PLUGMC_OK);
    const plugmc_random random = plugmc_draw(b->host.seed, sweep, 0, 0, PLUGMC_PURPOSE_ACCEPT, 0);
    const double delta = q.delta - q.log_factor;
    return delta <= 0 || plugmc_uniform_double(random.word[0], random.word[1]) < exp(-delta);
}

static bool decide(hamiltonian *h, const bench *b, uint64_t sweep, question *q)
{
    plugmc_counts counts = {0};
    const plugmc_decision decision = {.size = sizeof decision,
                                      .sweep = sweep,
                                      .changes = &q->changes,
                                      .log_factor = &q->log_factor,
                                      .taken = &q->taken};
    assert_int_equal(hamiltonian_decide(h, &b->host, &decision, PLUGMC_CHANGED_BOX, NULL, &counts),
                     PLUGMC_OK);
    return q->taken == 0;
}

static void an_error_within_the_bound_changes_no_decision(void **state)
{
    (void)state;
    int accepted = 0, resolved = 0, wrong_without = 0, asked = 0;
    double x[3 * DISKS], largest = 0;
    bench b;
    bench_begin(&b, 2, (double[]){edge, edge, 1}, 1, 3);
    for (int d = 0; d < 3; d++) {
        b.system.box.vector[d][d] = b.system.box.length[d];
        b.system.box.inverse[d][d] = 1 / b.system.box.length[d];
    }
    bench_species(&b, "disk", DISKS, 0, 1);
    bench_potential(&b, TEST_SOFT_DISK, "strength=3 cutoff=2");
    test_mover mover = mover_new(&b, "serial", "step=0.3");
    for (int i = 0; i < DISKS; i++) {
        x[3 * i] = i % 6 * edge / 6;
        x[3 * i + 1] = i / 6 * edge / 6;
        x[3 * i + 2] = 0;
    }
    mover_load(&b, &mover, x);
    hamiltonian *h = &mover.core->hamiltonian;
    walker_energy *e = &h->walkers[0];
    for (uint64_t sweep = 0; sweep < DECISIONS; sweep++) {
        question q;
        mover_sweep(&b, &mover, sweep, 1);
        const bool fresh = decision_by_fresh_sums(h, &b, sweep);
        const double sum = e->energy[0], plant = sweep % 2 ? planted : -planted;
        if (!e->running.known) running_start(h, e, e->energy);
        largest = fmax(largest, fabs(e->running.energy[0] - sum));
        e->running.energy[0] += plant;
        e->running.changes = (int64_t)(bound * 0x1p40 / e->running.largest);
        e->known = false; /* as after a trial move that was accepted */
        ask(h, &b, &q, sweep, 1);
        asked += e->running.doubt > planted;
        const double wrong = q.delta - q.log_factor;
        const plugmc_random random =
            plugmc_draw(b.host.seed, sweep, 0, 0, PLUGMC_PURPOSE_ACCEPT, 0);
        const double u = plugmc_uniform_double(random.word[0], random.word[1]);
        wrong_without += (wrong <= 0 || u < exp(-wrong)) != fresh;
        const bool taken = decide(h, &b, sweep, &q);
        assert_int_equal(taken, fresh);
        accepted += taken;
        resolved += e->running.doubt == 0;
        running_start(h, e, e->known ? e->energy : &sum);
    }
    printf("%d accepted, %d by fresh sums, %d would be wrong; running energies differ by %.1e\n",
           accepted, resolved, wrong_without, largest);
    assert_int_equal(asked, DECISIONS);
    assert_true(accepted > DECISIONS / 10 && accepted < DECISIONS);
    assert_true(wrong_without > 0 && resolved >= wrong_without && resolved < DECISIONS / 10);
    assert_true(largest > 0 && largest < 1e-11);
    mover_end(&mover);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(an_error_within_the_bound_changes_no_decision))
