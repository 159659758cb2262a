/** Values with validation, as in descriptors: sizes, times, names, addresses. */
package graft.common.values;
