package graft.sriov;
