package graft.hypervisors.libvirt;
