/** Output that all commands share: text and JSON, exit codes, progress. */
package graft.cli.terminal;
