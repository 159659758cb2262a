/** The descriptor's fabric: adapters and their virtual functions. */
package graft.deployment.descriptor.fabric;
