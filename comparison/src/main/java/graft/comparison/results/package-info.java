/** Measurements, in the common format that every program and script of Graft writes and reads. */
package graft.comparison.results;
