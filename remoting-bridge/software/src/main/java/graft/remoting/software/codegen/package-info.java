/** Bytecode from the intermediate form: one class a kernel, one method a region or function. */
package graft.remoting.software.codegen;
