/** Steps of one guest, from its token to the CUDA program that proves it. */
package graft.provisioner.step.guest;
