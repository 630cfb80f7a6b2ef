// summary.mjs [--some] SUITE RESULTS LEG,... REVISION...
//
// Prints a verdict on each scenario that the suite installed in SUITE left results of in RESULTS/LEG/REVISION, where a
// leg is server or client:
//
//   pass      it verified something, and no check failed or warned
//   FAIL      a check failed or warned, or nothing was verified, and expected-failures-REVISION.yml does not say so
//   expected  the same, and it does
//   nothing   expected too: all that there was to verify was skipped
//
// That a message fits the schema (wire-schema-valid) is checked along with every scenario and alone verifies nothing.
// Fails, too, on entries of the lists that did not fail. With --some, not all scenarios were run, and all that the
// checks complain of is printed, expected or not.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { some: { type: 'boolean' } }, allowPositionals: true });
const [suite, results, legs, ...revisions] = positionals;
const { parse, parseDocument } = createRequire(join(suite, 'package.json'))('yaml');
const here = dirname(fileURLToPath(import.meta.url));

// Returns what the revision makes of each scenario: required, or the reason why it is not.
function classes(leg, revision) {
  const file = join(suite, 'node_modules/@modelcontextprotocol/conformance/requirements', `${revision}.yaml`);
  if (!existsSync(file)) return new Map();
  const { [leg]: required, not_scored } = parse(readFileSync(file, 'utf8'));
  const others = not_scored.filter((s) => s.leg === leg).map((s) => [s.scenario, s.reason]);
  return new Map([...required.map((name) => [name, 'required']), ...others]);
}

// Returns the entries of the list: check is undefined where a whole scenario is meant.
function expectations(leg, revision) {
  const file = join(here, `expected-failures-${revision}.yml`);
  const list = parseDocument(readFileSync(file, 'utf8')).get(leg);
  return (list?.items ?? []).map(({ value, comment }) => {
    if (!comment?.trim()) throw new Error(`${file}: ${value} has no reason: add a comment to its line`);
    const [scenario, check] = value.split(':');
    return { value, scenario, check, reason: comment.trim() };
  });
}

// Returns the scenarios and their checks. The suite names a directory after the scenario, which may have a slash in its
// name, and the time; of the server's leg after that, too.
function outcomes(leg, revision) {
  const top = join(results, leg, revision);
  const stamped = /^(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/;
  const dirs = readdirSync(top, { recursive: true }).filter((dir) => stamped.test(dir)).sort();
  return dirs.map((dir) => {
    const file = join(top, dir, 'checks.json');
    const checks = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8'))
      : [{ id: 'no-result', status: 'FAILURE', errorMessage: 'the scenario ended without a result' }];
    return { name: stamped.exec(dir)[1].replace(/^server-(?=.)/, leg === 'server' ? '' : '$&'), checks };
  });
}

// Judges one scenario by its checks and by the entries of the list that are about it.
function judge({ name, checks }, entries) {
  const bad = checks.filter((c) => c.status === 'FAILURE' || c.status === 'WARNING');
  const verified = checks.some((c) => c.status === 'SUCCESS' && c.id !== 'wire-schema-valid');
  const whole = entries.find((e) => !e.check);
  const unexpected = whole ? [] : bad.filter((c) => !entries.some((e) => e.check === c.id));
  let verdict = 'pass';
  if (bad.length > 0) verdict = unexpected.length > 0 ? 'FAIL' : 'expected';
  else if (!verified) verdict = whole ? 'nothing' : 'FAIL';
  const stale = entries.filter((e) => (e.check ? !bad.some((c) => c.id === e.check) : verdict === 'pass'));
  const reasons = new Set(verdict === 'pass' ? [] : entries.map((e) => e.reason));
  return { name, checks, bad, unexpected, verdict, stale, reasons };
}

const total = { pass: 0, expected: 0, FAIL: 0, nothing: 0, stale: 0 };

function count(checks, status) {
  return String(checks.filter((c) => c.status === status).length).padStart(4);
}

function report(leg, revision) {
  const kinds = classes(leg, revision);
  const entries = expectations(leg, revision);
  const rows = outcomes(leg, revision).map((o) => judge(o, entries.filter((e) => e.scenario === o.name)));
  const width = Math.max(0, ...rows.map((r) => r.name.length));
  console.log(`\n${leg} at ${revision}\n${'scenario'.padEnd(width)}  verdict   ok fail warn skip  class, reason`);
  for (const r of rows) {
    total[r.verdict]++;
    const counts = ['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED'].map((s) => count(r.checks, s)).join(' ');
    const remarks = [kinds.get(r.name), ...r.reasons].filter(Boolean).join('; ');
    console.log(`${r.name.padEnd(width)}  ${r.verdict.padEnd(8)}${counts}  ${remarks}`);
  }
  for (const r of rows) {
    for (const c of values.some ? r.bad : r.unexpected) {
      console.log(`${r.name}:${c.id} ${c.status}: ${c.errorMessage ?? c.details?.message ?? c.description}`);
    }
    if (r.verdict === 'FAIL' && r.unexpected.length === 0) console.log(`${r.name} verified nothing`);
  }
  const ran = new Set(rows.map((r) => r.name));
  const stale = [...rows.flatMap((r) => r.stale), ...(values.some ? [] : entries.filter((e) => !ran.has(e.scenario)))];
  for (const e of stale) console.log(`expected-failures-${revision}.yml: ${e.value} did not fail: take it out`);
  total.stale += stale.length;
  const required = rows.filter((r) => kinds.get(r.name) === 'required');
  if (required.length > 0) {
    console.log(`required scenarios: ${required.filter((r) => r.verdict === 'pass').length} of ${required.length} pass`);
  }
}

for (const leg of legs.split(',')) revisions.forEach((revision) => report(leg, revision));
const failed = total.FAIL + total.expected;
console.log(`
scenarios that verified nothing, as expected: ${total.nothing}
failed scenarios that were expected to: ${total.expected}; not expected to: ${total.FAIL}; expected to, but did not: ${total.stale}
${total.pass} passed, ${failed} failed`);
process.exitCode = total.FAIL + total.stale > 0 || total.pass + failed + total.nothing === 0 ? 1 : 0;
