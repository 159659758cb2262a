/** The command line: one class a command, text for people, JSON for programs. */
package graft.provisioner.cli;
