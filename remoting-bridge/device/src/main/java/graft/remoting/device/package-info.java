package graft.remoting.device;
