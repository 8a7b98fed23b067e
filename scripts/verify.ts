import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseBundleText } from '../protocol/bundle/bundle.ts';
import { CHECKS, type Verdict } from '../protocol/bundle/verdict.ts';
import { verifyBundle } from '../protocol/bundle/verify.ts';
import { isSha256Hash, type Sha256Hash } from '../protocol/hash.ts';
import { RosterChain } from '../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../protocol/keys/roster-file.ts';
import { nobleSuite } from '../protocol/suite/noble.ts';

const USAGE = `npm run verify -- BUNDLE.json [--roster FILE|sha256:…] [--require-quorum] [--json]

Verifies a bundle with no network. The genesis roster is pinned by a roster file or by its fingerprint; without either,
by MERIDIAN_HOME/roster.json where there is one.
Exit: 0 verified under the pin · 1 not verified · 2 unreadable · 3 consistent with itself, but nothing pinned it`;

const EXIT = { verified: 0, failed: 1, unreadable: 2, unpinned: 3 } as const;
const MARKS = { true: '✓', false: '✗' } as const;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = EXIT.unreadable;
}

async function main(): Promise<number> {
  const { values: flags, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      roster: { type: 'string' },
      'require-quorum': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [file, ...others] = positionals;
  if (flags.help) {
    console.log(USAGE);
    return EXIT.verified;
  }
  if (file === undefined || others.length > 0) throw new Error(USAGE);
  const pin = await readPin(flags.roster);
  const bundle = parseBundleText(await readFile(file, 'utf8'));
  const verdict = verifyBundle(nobleSuite, bundle, pin === undefined ? {} : { pin });
  const { anchor } = bundle;
  if (flags.json) console.log(JSON.stringify(verdict, null, 2));
  else print(verdict, anchor === null ? null : `${anchor.network} ${anchor.topicId} #${anchor.sequence}`, pin);
  if (!verdict.verified || (flags['require-quorum'] && !verdict.witnessed)) return EXIT.failed;
  return verdict.pinned ? EXIT.verified : EXIT.unpinned;
}

/** Fingerprint of the genesis roster that the user trusts. */
async function readPin(given: string | undefined): Promise<Sha256Hash | undefined> {
  if (given !== undefined && isSha256Hash(given)) return given;
  const local = join(process.env.MERIDIAN_HOME || '.meridian', 'roster.json');
  const file = given ?? (existsSync(local) ? local : undefined);
  if (file === undefined) return undefined;
  return RosterChain.open(nobleSuite, parseRosterFile(await readFile(file, 'utf8'))).genesis;
}

function print(verdict: Verdict, anchor: string | null, pin: Sha256Hash | undefined): void {
  const { record, checks, payloadState, problems, witnessed, verified, federation, status } = verdict;
  if (record !== null) console.log(`${record.id} · ${record.kind} · node ${record.node} · ${record.submittedAt}`);
  for (const check of CHECKS) {
    const isWithheld = check === 'payloadHashMatch' && payloadState !== 'available';
    console.log(
      `  ${isWithheld ? '–' : MARKS[`${checks[check]}`]} ${check}${isWithheld ? ` (payload ${payloadState})` : ''}`,
    );
  }
  for (const { check, code, detail } of problems) console.log(`    ${check}: ${code}: ${detail}`);
  console.log(`  ${MARKS[`${witnessed}`]} witnessed by a quorum`);
  console.log(
    `anchor      ${anchor === null ? `none; ${status}` : `${anchor} (consistent; offline nobody witnesses the ledger)`}`,
  );
  console.log(
    `federation  ${federation ?? 'unreadable'}${pin === undefined ? ' (not pinned: compare it with a published one)' : ''}`,
  );
  console.log(verified ? 'verified' : 'NOT VERIFIED');
}
