/* Constants that the kernels share with the programs that launch them. */
#ifndef GRAFT_SIZES_H
#define GRAFT_SIZES_H

#define BLOCK 128
#define TILE 16
#define BINOMIAL_STEPS 512
#define RATE 0.02f
#define VOLATILITY 0.30f

#endif
