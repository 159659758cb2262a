/** Values with rules of their own, as in descriptors: sizes, times, names, addresses. */
package graft.common.values;
