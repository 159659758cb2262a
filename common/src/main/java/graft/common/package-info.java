/** What every module may use: the exception that users read, values, files and programs. */
package graft.common;
