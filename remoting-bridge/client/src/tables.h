#ifndef GRAFT_TABLES_H
#define GRAFT_TABLES_H

#include "api/contexts.h"
#include "api/storage.h"
#include "graph/node.h"
#include "graph/userobject.h"
#include "memory/copy3d.h"
#include "memory/memory.h"
#include "module/code.h"
#include "module/functions.h"

#endif
