#ifndef GRAFT_H
#define GRAFT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/streams.h"
#include "base/config.h"
#include "base/crypto.h"
#include "base/profile.h"
#include "base/stats.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/ranges.h"
#include "module/code.h"
#include "api/rpc.h"
#include "session/session.h"
#include "transport/connect.h"
#include "transport/exchange.h"

#endif
