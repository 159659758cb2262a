/** Steps of one guest, from its token to the CUDA program that proves it. */
package graft.deployment.step.guest;
