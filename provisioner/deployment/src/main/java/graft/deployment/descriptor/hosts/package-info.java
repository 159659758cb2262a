/** The keys of a descriptor for a deployment over many hosts. */
package graft.deployment.descriptor.hosts;
