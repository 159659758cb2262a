/**
 * Carries out a suite: the plan, the runs, and the log from which an interrupted comparison
 * continues.
 */
package graft.comparison.run;
