/**
 * Writes bytecode from the intermediate form: one class for each kernel, one method for each region
 * or function.
 */
package graft.remoting.software.codegen;
