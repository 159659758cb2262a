package graft.hypervisors.kvm;
