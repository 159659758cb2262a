/** The one model of a change that can be taken back: device changes and deployment steps alike. */
package graft.common.change;
