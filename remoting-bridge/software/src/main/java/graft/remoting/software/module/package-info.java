/** Modules: PTX that is parsed, lowered and laid out in device memory. */
package graft.remoting.software.module;
