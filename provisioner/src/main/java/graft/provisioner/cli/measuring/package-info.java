/** Commands that measure and compare. */
package graft.provisioner.cli.measuring;
