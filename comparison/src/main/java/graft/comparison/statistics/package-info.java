/** What the numbers say, with how sure. */
package graft.comparison.statistics;
