/** Measures how programs share a GPU: {@code graft bench sharing}. */
package graft.comparison.sharing;
