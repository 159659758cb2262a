package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;

/**
 * The object that another one ends with: the context of a stream, the module of a function.
 *
 * @param handle the driver's handle of the owner
 */
record HandleOwner(HandleKind kind, long handle) {}
