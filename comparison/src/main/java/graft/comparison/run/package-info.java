/** Carrying a suite out: the plan, the runs, and the log from which an interrupted one goes on. */
package graft.comparison.run;
