import type { Sha256Hash } from '../../protocol/hash.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import type { MisdeedProof } from '../../protocol/proof/misdeed.ts';
import type { RosterEntry } from '../../protocol/verdict/bundle.ts';
import type { CountedCheckpoint, LogView } from '../../protocol/verdict/known.ts';
import type { CheckpointBook, KnownCheckpoint } from '../log/checkpoint-book.ts';
import { type FederationLog, LogDamagedError } from '../log/federation-log.ts';
import { placeDecision } from '../verification/decision-paths.ts';
import type { StatementWatch } from './statement-watch.ts';

export interface StatementSources {
  readonly log: FederationLog;
  readonly book: CheckpointBook;
  readonly statements: StatementWatch;
}

/** What a proof says of the federation: who speaks for whom, and what they say of its log. */
export type FederationStatements = Pick<MisdeedProof, 'checkpoints' | 'keys' | 'revocations' | 'rosters'>;

/** Checkpoints, keys, revocations and rosters that show who the accused is. `keyIds`: those that signed what it did. */
export async function federationStatements(
  { log, book, statements }: StatementSources,
  keyIds: readonly Sha256Hash[],
): Promise<FederationStatements> {
  const kept = book.kept();
  const sizes = [...new Set(kept.map(({ checkpoint }) => checkpoint.size))];
  const signers = new Set([...keyIds, ...kept.map(({ checkpoint }) => checkpoint.keyId)]);
  const nodes = new Set(statements.rosters.flatMap(({ members }) => members.map(({ node }) => node)));
  const keys = [...nodes].flatMap((node) => statements.certificates.of(node));
  const place = async (index: number) => placeDecision(log, decisionText.parse(await textOf(log, index)), sizes);
  const revocations = statements.revocationsInForce().filter(({ keyId }) => signers.has(keyId));
  return {
    checkpoints: kept.map(({ signed }) => signed),
    keys: keys.filter(({ certificate }) => signers.has(certificate.keyId)).map(({ signed }) => signed),
    revocations: (
      await Promise.all(
        revocations.map(async ({ shown, index }) => (shown === null ? [] : [{ ...shown.signed, decision: await place(index) }])),
      )
    ).flat(),
    rosters: await Promise.all(
      log.state.rosters.map(async ({ hash, index }): Promise<RosterEntry> => {
        return { text: await rosterTextOf(log, hash), decision: index === null ? null : await place(index) };
      }),
    ),
  };
}

/** The monitor's own log, as a verdict asks it: roots of these sizes beside those that checkpoints have. */
export async function logViewOf({ log, book, statements }: StatementSources, sizes: readonly number[]): Promise<LogView> {
  const kept = book.kept();
  const roots = new Map(kept.map(({ checkpoint: { size, root } }) => [size, root]));
  for (const size of sizes) if (!roots.has(size) && size <= log.size) roots.set(size, await log.rootAt(size));
  const decisions = statements.revocationsInForce().filter(({ shown }) => shown !== null);
  return {
    rootAt: (size) => roots.get(size),
    decisionAt: () => undefined,
    decidedBatch: () => undefined,
    rosters: await Promise.all(
      log.state.rosters.map(async ({ hash, index }) => {
        return { text: await rosterTextOf(log, hash), decision: index === null ? null : await textOf(log, index) };
      }),
    ),
    revocations: await Promise.all(
      decisions.map(async ({ shown, index }) => ({
        statement: shown?.signed.statement ?? '',
        decision: await textOf(log, index),
      })),
    ),
    checkpoints: kept.flatMap((known) => countedBy(statements, known)),
  };
}

/** A checkpoint that counts, once for each identity key of its member that certified its key. */
function countedBy(statements: StatementWatch, { checkpoint }: KnownCheckpoint): readonly CountedCheckpoint[] {
  const { node, keyId } = checkpoint;
  return statements.certificates
    .of(node)
    .filter(({ certificate }) => certificate.keyId === keyId)
    .map(({ identityKey }) => ({ checkpoint, identityKey }));
}

async function textOf(log: FederationLog, index: number): Promise<string> {
  const text = await log.entry(index);
  if (text === undefined) throw new LogDamagedError(`entry ${index} of the log is missing`);
  return text;
}

async function rosterTextOf(log: FederationLog, hash: Sha256Hash): Promise<string> {
  const text = await log.rosterText(hash);
  if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
  return text;
}
