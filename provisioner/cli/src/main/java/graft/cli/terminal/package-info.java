/** What every command prints with: output for people and programs, exit codes, progress. */
package graft.cli.terminal;
