/** Validated value types, as descriptors use them: sizes, times, names, addresses. */
package graft.common.values;
