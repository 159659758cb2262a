/** The descriptor's GPUs: which device, who owns it, and where its server listens. */
package graft.deployment.descriptor.gpu;
