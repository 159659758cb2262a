/**
 * What the commands do for a deployment over many hosts, on the operator's machine and on a host.
 */
package graft.cli.hosts;
