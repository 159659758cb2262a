/**
 * The classes that every module may use: the exception whose message users read, values, files and
 * programs.
 */
package graft.common;
