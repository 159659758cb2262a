/**
 * The command line: a class for each command, with output as text or as JSON.
 *
 * <p>A command parses its arguments, calls the packages below, which do the work, and prints the
 * result.
 */
package graft.cli;
