/**
 * The descriptor's guests: what a guest boots, which devices it has, and what is installed in it.
 */
package graft.deployment.descriptor.guest;
