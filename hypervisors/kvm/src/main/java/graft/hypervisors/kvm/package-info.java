/**
 * The parts that only KVM and QEMU's emulator need: acceleration, and their elements of the domain
 * XML.
 */
package graft.hypervisors.kvm;
