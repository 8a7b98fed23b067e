import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parseBundleText } from '../protocol/bundle/bundle.ts';
import { verifyBundle } from '../protocol/bundle/verify.ts';
import { isSha256Hash, type Sha256Hash } from '../protocol/hash.ts';
import { RosterChain } from '../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../protocol/keys/roster-file.ts';
import { type SignedStatement, SignedStatementShape } from '../protocol/statement/statement.ts';
import { nobleSuite } from '../protocol/suite/noble.ts';
import { timestampOf } from '../protocol/time.ts';
import { reportOf } from './verify/report.ts';

const USAGE = `npm run verify -- BUNDLE.json [--roster FILE|sha256:…] [--revocations FILE] [--require-quorum] [--json]

Verifies a bundle with no network. The genesis roster is pinned by a roster file or by its fingerprint; without either,
by MERIDIAN_HOME/roster.json where there is one. A bundle carries the revocations that were known when it was made;
--revocations brings later ones (npm run node-key -- revocations). The marks of evidence-rules/1 say what is recorded, by the
record and by the linked ones that the bundle carries and that hold; they do not change the exit code.
Exit: 0 verified under the pin · 1 not verified · 2 unreadable · 3 consistent with itself, but nothing pinned it`;

const compiledRevocations = Compile(Type.Array(SignedStatementShape));

const EXIT = { verified: 0, failed: 1, unreadable: 2, unpinned: 3 } as const;

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
      revocations: { type: 'string' },
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
  const at = timestampOf(Date.now());
  const revocations = flags.revocations === undefined ? [] : await readRevocations(flags.revocations);
  const verdict = verifyBundle(nobleSuite, bundle, { at, revocations, ...(pin === undefined ? {} : { pin }) });
  const { anchor } = bundle;
  if (flags.json) console.log(JSON.stringify(verdict, null, 2));
  else {
    const place = anchor === null ? null : `${anchor.network} ${anchor.topicId} #${anchor.sequence}`;
    console.log(reportOf(verdict, place, pin !== undefined).join('\n'));
  }
  if (!verdict.verified || (flags['require-quorum'] && !verdict.witnessed)) return EXIT.failed;
  return verdict.pinned ? EXIT.verified : EXIT.unpinned;
}

/** Signed revocations, as a node gives them to its operator. One that no member of the bundle's rosters signed is passed over. */
async function readRevocations(file: string): Promise<readonly SignedStatement[]> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!compiledRevocations.Check(value)) throw new Error(`${file} holds no revocations`);
  return value;
}

/** Fingerprint of the genesis roster that the user trusts. */
async function readPin(given: string | undefined): Promise<Sha256Hash | undefined> {
  if (given !== undefined && isSha256Hash(given)) return given;
  const local = join(process.env.MERIDIAN_HOME || '.meridian', 'roster.json');
  const file = given ?? (existsSync(local) ? local : undefined);
  if (file === undefined) return undefined;
  return RosterChain.open(nobleSuite, parseRosterFile(await readFile(file, 'utf8'))).genesis;
}
