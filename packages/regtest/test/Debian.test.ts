import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Debian from "../src/Debian.ts"

// Fake apt-get and dpkg. The tests check their arguments and the handling of their failures.

let home = ""
let before: string | undefined
const at = (name: string) => path.join(home, name)
const install = (name: string, script: string) => {
  writeFileSync(at(`bin/${name}`), `#!/bin/sh\necho "${name} $*" >> "${home}/calls"\n${script}\n`)
  chmodSync(at(`bin/${name}`), 0o755)
}

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "satrail-debian-"))
  for (const folder of ["bin", "work"]) mkdirSync(at(folder))
  before = process.env["PATH"]
  process.env["PATH"] = `${at("bin")}${path.delimiter}${before}`
})
afterEach(() => {
  process.env["PATH"] = before
  rmSync(home, { recursive: true, force: true })
})

const debian = { mirror: "http://mirror.example/debian/", keyring: "/usr/share/keyrings/of-debian.gpg" }
const unpack = () => Debian.unpack(debian, at("work"), at("unpacked"), new AbortController().signal)
const failure = () =>
  unpack().then(
    () => "nothing",
    (error: unknown) => String(error)
  )

describe.skipIf(process.platform !== "linux")("bitcoind of Debian", () => {
  it("debian: the machine's Debian mirror is used; if it has none, one line explains why there is no bitcoind", () => {
    install("dpkg", "")
    install("apt-get", "echo http://mirror.example/debian-security/; echo http://mirror.example/debian/")
    const found = Debian.find()
    // On a machine without Debian's keys, the line reports the missing keys instead.
    if ("mirror" in found) assert.strictEqual(found.mirror, "http://mirror.example/debian/")
    install("apt-get", "echo http://mirror.example/ubuntu/")
    const lacking = Debian.find()
    assert.match(
      "missing" in lacking ? lacking.missing : "",
      /^no bitcoind here: .*(have no Debian mirror|Debian's keys are missing)/
    )
  })

  it("debian: apt works in a separate folder and accepts only packages signed with Debian's keys", async () => {
    install("apt-get", "exit 100")
    assert.match(await failure(), /apt-get/)
    assert.strictEqual(
      readFileSync(at("work/sources.list"), "utf8"),
      "deb [signed-by=/usr/share/keyrings/of-debian.gpg] http://mirror.example/debian/ sid main\n"
    )
    const settings = readFileSync(at("work/apt.conf"), "utf8")
    for (const setting of [
      "Dir::State",
      "Dir::State::status",
      "Dir::Cache",
      "Dir::Log",
      "Dir::Etc::SourceList"
    ]) {
      assert.match(settings, new RegExp(`^${setting} "${home}/work/`, "m"), setting)
    }
    assert.include(settings, 'APT::Get::AllowUnauthenticated "false";')
    assert.include(settings, 'Acquire::AllowInsecureRepositories "false";')
    assert.include(settings, "#clear DPkg;")
    assert.notInclude(readFileSync(at("calls"), "utf8"), "install")
    assert.isFalse(existsSync(at("unpacked")))
  })

  it("debian: a program that does not run is not installed", async () => {
    install("apt-get", `touch "${home}/work/cache/archives/one.deb"`)
    install(
      "dpkg",
      `mkdir -p "$3/usr/lib/x-linux-gnu"; printf '#!/bin/sh\\nexit 3\\n' > "$3/usr/lib/x-linux-gnu/ld-linux-x.so.2"; chmod +x "$3/usr/lib/x-linux-gnu/ld-linux-x.so.2"`
    )
    assert.match(await failure(), /bitcoind --version/)
    assert.isFalse(existsSync(at("unpacked")))
  })
})
