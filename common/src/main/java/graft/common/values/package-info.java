/** Values with rules that a descriptor can say: sizes, times, names, addresses. */
package graft.common.values;
