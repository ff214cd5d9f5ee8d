/* SPDX-License-Identifier: MIT */
/* works.h - the works of the model; each runs in a fiber and reports with counts.h */
#ifndef BENCH_MODEL_WORKS_H
#define BENCH_MODEL_WORKS_H

void model_tree(unsigned carriers);
void model_server(unsigned carriers);
void model_pipeline(unsigned carriers);
void model_shared(unsigned carriers);

#endif
