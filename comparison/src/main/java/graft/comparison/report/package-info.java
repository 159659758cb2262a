/** What a comparison found, for people and for programs. */
package graft.comparison.report;
