/** Comparison runs on this host: reading suites, and what the machine is. */
package graft.provisioner.compare;
