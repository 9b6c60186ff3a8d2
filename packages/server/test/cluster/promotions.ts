// Runs the failover test's scenario and counts the lost commits if commits do not wait for the standby, or if
// they do (--synchronous). Prints one line. Source of the figures in docs/guides/high-availability.md.
import { setTimeout as pass } from "node:timers/promises"
import * as Callers from "./Callers.ts"
import * as Cluster from "./Cluster.ts"
import * as Failover from "./Failover.ts"

const isSynchronous = process.argv.includes("--synchronous")
const servers = await Failover.make(isSynchronous)
const cluster = await Cluster.make({ postgres: async () => servers.postgres })
const callers = await Callers.make(cluster, 12)
let told = { alone: 0, seconds: 0 }
await callers.during(async () => {
  told = await Failover.dies(servers, callers)
})
await callers.served()
cluster.overslept()
await pass(2000)
const paid = await cluster.outside((sandbox) => sandbox.payments)
const times = paid.reduce((sum, payment) => sum + payment.times, 0)
const known = servers.ask(servers.second, "select count(*) from satrail.withdrawals where status = 'settled'")
process.stdout.write(
  `${isSynchronous ? "synchronous" : "asynchronous"}: acknowledged ${callers.answers()}, ${told.alone} of them while the standby was cut off; missing after the failover ${await callers.missing()}; ` +
    `payments that the node made ${times}, settled on record ${known}; ${told.seconds.toFixed(1)} s without a response\n`
)
await cluster.end()
