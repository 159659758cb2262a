package graft.remoting.api;
