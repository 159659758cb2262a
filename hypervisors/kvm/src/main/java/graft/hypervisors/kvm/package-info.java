/** What only KVM and QEMU's emulator do: their acceleration and their part of the domain XML. */
package graft.hypervisors.kvm;
