/** Steps of one guest, from its token to the CUDA program that tests its vGPU. */
package graft.deployment.step.guest;
