/**
 * Binds a YAML file to a tree of immutable records.
 *
 * <p>The shape of the file is the shape of the records: there is no second description of the file.
 * The binder rejects keys that the records do not define, continues after a problem, and reports
 * all problems at once with file, line and column. {@link graft.common.bind.JsonSchema} prints the
 * same shape for editors.
 *
 * <p>Jackson's YAML module is not used, because it would slow down the start of every command: for
 * {@code examples/demo.yaml} SnakeYAML's nodes take 23 ms of processor time, Jackson's tree takes
 * 88 ms and its records 116 ms (median of 15 starts, classes in an archive). Only the nodes know a
 * value's position.
 */
package graft.common.bind;
