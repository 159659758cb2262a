/** Commands that show who uses the GPUs of this host, and end sessions. */
package graft.cli.session;
