/** JSON as trees of maps, lists and plain values: for output, the journal and the plan. */
package graft.common.json;
