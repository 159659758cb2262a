/**
 * Comparison runs: reading suites, the places in which workloads run, and facts about the machine.
 */
package graft.comparison.site;
