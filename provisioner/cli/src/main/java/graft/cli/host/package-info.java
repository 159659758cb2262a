/** Commands on this machine: what it is, and programs and servers that run here. */
package graft.cli.host;
