/**
 * The typed intermediate form between PTX and bytecode: functions of basic blocks whose nodes
 * assign expressions to typed registers. Lowering turns every PTX instruction into it or refuses
 * the module by line; liveness and regions are computed on it.
 */
package graft.remoting.software.ir;
