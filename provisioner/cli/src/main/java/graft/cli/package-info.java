/**
 * The command line: one class a command, text for people, JSON for programs.
 *
 * <p>A command parses its arguments, calls what does the work in the packages below, and prints.
 */
package graft.cli;
