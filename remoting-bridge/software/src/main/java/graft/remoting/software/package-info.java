package graft.remoting.software;
