/**
 * The typed intermediate form between PTX and bytecode: functions of basic blocks whose nodes
 * assign expressions to typed registers.
 */
package graft.remoting.software.ir;
