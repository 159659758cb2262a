package graft.remoting.server;
