/** Commands that measure and compare. */
package graft.cli.measuring;
