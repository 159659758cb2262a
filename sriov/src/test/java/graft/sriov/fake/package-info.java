/**
 * A host that behaves: a real folder tree in which writes to the kernel's attributes have the
 * effects that the kernel gives them. Packaged as a test jar for the modules that plan and apply.
 */
package graft.sriov.fake;
