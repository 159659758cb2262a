/**
 * Measures programs natively and on a server, and compares the results: {@code graft bench}, {@code
 * graft fidelity}.
 */
package graft.comparison.bench;
