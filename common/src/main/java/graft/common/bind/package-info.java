/**
 * Binds a YAML file to a tree of immutable records.
 *
 * <p>The shape of the file is the shape of the records: there is no second description of it. The
 * binder refuses what the records do not know, continues after a problem, and reports all of them
 * at once with file, line and column. {@link graft.common.bind.JsonSchema} prints the same shape
 * for editors.
 */
package graft.common.bind;
