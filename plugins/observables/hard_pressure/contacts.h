/* Contact distances of hard disks or spheres. */
#ifndef PLUGMC_HARD_CONTACTS_H
#define PLUGMC_HARD_CONTACTS_H

#include <plugmc/everything.h>

typedef struct hard_contacts {
    double *distance;  /* [species][species], length */
    double largest;    /* of them */
    int one;           /* all are the same */
    double covered;    /* area of the disks of a walker */
    uint16_t *species; /* [particles] */
} hard_contacts;

/* An error if another force is sampled than that of hard cores, with which rifts are not filled evenly. */
int find_contacts(hard_contacts *, const plugmc_host *);

#endif
