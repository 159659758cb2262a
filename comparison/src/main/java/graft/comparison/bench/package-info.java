/**
 * Measures and compares programs natively and on a server: {@code graft bench}, {@code graft
 * fidelity}.
 */
package graft.comparison.bench;
