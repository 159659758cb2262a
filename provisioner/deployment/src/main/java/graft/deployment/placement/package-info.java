/** Chooses GPUs for guests that say {@code gpu: any}. */
package graft.deployment.placement;
