/** Commands on this machine: its description, and the programs and servers that run on it. */
package graft.cli.host;
