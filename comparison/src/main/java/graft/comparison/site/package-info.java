/**
 * Comparison runs: reading suites, the places of this host where workloads run, and what the
 * machine is.
 */
package graft.comparison.site;
