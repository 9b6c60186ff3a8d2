#!/usr/bin/env node
// The server's command line, for `npx satrail`.
await import("@satrail/server/bin")
