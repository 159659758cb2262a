/** The statistics of the observations, with confidence intervals. */
package graft.comparison.statistics;
