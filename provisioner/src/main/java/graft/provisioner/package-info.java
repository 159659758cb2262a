package graft.provisioner;
