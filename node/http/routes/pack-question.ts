import type { PackRequest } from '../../../protocol/api/evidence-packs.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { MAX_PACK_SOURCES, type PackQuestion } from '../../../protocol/pack/manifest.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Tier } from '../../../protocol/accounts/tier.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { ForeignAccounts } from '../../accounts/elsewhere/foreign-accounts.ts';
import type { GovernanceRecords } from '../../governance/governance-records.ts';
import { chainSourceTable, sourcePart } from '../../records/chain-tables.ts';
import { hasRecords } from '../../records/sources/sources.ts';
import type { Reads } from '../../store/store.ts';
import { proofWindowOpensAt } from '../../verification/attestation/attestation-answer.ts';
import { type AddressOf, placeOf } from '../home-only.ts';
import { fieldError, Problem } from '../problem.ts';
import { readTime, readTimeOrDay } from '../recording/asserted-times.ts';
import { requireWholeAccount } from '../whole-account.ts';
import { requireFramework } from './frameworks.ts';

export interface QuestionSources {
  readonly store: Reads;
  readonly self: NodeId;
  readonly governanceRecords: Pick<GovernanceRecords, 'system'>;
  readonly foreign: Pick<ForeignAccounts, 'find'>;
  readonly addressOf: AddressOf;
  readonly now: () => number;
}

/** What a request asks, and the nodes that speak for its account. */
export interface AskedPack {
  readonly question: PackQuestion;
  readonly nodes: readonly NodeId[];
}

/** The question of a request. Throws `Problem` 400, 403, 404 and 409. */
export async function packQuestion(sources: QuestionSources, caller: Caller, request: PackRequest): Promise<AskedPack> {
  requirePackReach(caller);
  const { account } = caller;
  const { kinds, disclosure = false } = request;
  for (const id of request.frameworks ?? []) requireFramework(id);
  const nodes = await nodesOf(sources, caller);
  const asked = await sourcesOf(sources, caller, request, nodes);
  const question: PackQuestion = {
    account: account.id,
    sources: asked,
    systems: request.systems === undefined ? null : request.systems.toSorted(),
    ...timesOf(request, sources.now()),
    frameworks: request.frameworks === undefined ? null : request.frameworks.toSorted(),
    kinds: kinds === undefined ? null : kinds.toSorted(),
    disclosure,
    ...(account.tier === 'developer' ? { withholdsBefore: true as const } : {}),
  };
  requireProofWindowOf(question, account.tier, sources.now());
  if (disclosure) await requireAllHere(sources, caller, asked, nodes);
  return { question, nodes };
}

/** A pack has the neighbours of its period and the log of all keys in it. Throws `Problem` 403. */
export function requirePackReach(caller: Caller): void {
  requireWholeAccount(caller, 'A pack tells of the whole account');
}

/** Throws `Problem` 403 where the tier gives no proofs of so long ago. */
export function requireProofWindowOf({ from }: Pick<PackQuestion, 'from'>, tier: Tier, now: number): void {
  const opensAt = proofWindowOpensAt(tier, now);
  if (opensAt === null || Date.parse(from) >= opensAt) return;
  const since = timestampOf(opensAt);
  throw new Problem('proof-window-expired', `The ${tier} tier gives out proofs of records from ${since} on.`);
}

function timesOf(request: PackRequest, now: number): Pick<PackQuestion, 'asOf' | 'from' | 'to'> {
  const from = timestampOf(readTimeOrDay('from', request.from).first);
  const to = timestampOf(readTimeOrDay('to', request.to).first);
  if (to <= from) throw invalid('time-order', 'to', 'time-order', 'is not after from');
  return { from, to, asOf: asOf(request.asOf, now) };
}

/** Strictly: an answer as of a moment to come would lack what is recorded until then. */
function asOf(text: string | undefined, now: number): Timestamp {
  if (text === undefined) return timestampOf(now);
  const at = readTime('asOf', text).first;
  if (at > now) throw invalid('time-in-future', 'asOf', 'future', `lies after ${timestampOf(now)}`);
  return timestampOf(at);
}

/** This node among them, in order. */
async function nodesOf({ self, foreign }: QuestionSources, { account, home }: Caller): Promise<readonly NodeId[]> {
  const named = home === undefined ? (account.nodes ?? []) : ((await foreign.find(account.id))?.nodes ?? [home]);
  return [...new Set([self, ...named])].toSorted();
}

/** Names of the sources, each once and in order. Throws `Problem` 400 and 404. */
async function sourcesOf(
  sources: QuestionSources,
  caller: Caller,
  { sources: named, systems }: PackRequest,
  nodes: readonly NodeId[],
): Promise<string[]> {
  if (named !== undefined && systems !== undefined) {
    throw invalid('invalid-field', 'systems', 'exclusive', 'stands beside sources; one of the two is asked for');
  }
  if (named !== undefined) {
    for (const [i, source] of named.entries()) {
      if (await isKnown(sources, caller, source, nodes)) continue;
      throw invalid('source-not-found', `sources.${i}`, 'unknown', 'has no record of this account');
    }
    return named.toSorted();
  }
  if (systems === undefined) {
    throw invalid('missing-field', 'sources', 'required', 'is missing: name sources or systems');
  }
  const found = new Set<string>();
  for (const [i, systemRef] of systems.entries()) {
    const entry = await sources.governanceRecords.system(caller.account.id, systemRef);
    if (entry === undefined) {
      throw invalid('system-not-found', `systems.${i}`, 'unknown', 'is no system in the register of this node');
    }
    for (const source of entry.claims.asserted?.sources ?? []) found.add(source);
  }
  if (found.size === 0) throw invalid('source-not-found', 'systems', 'unknown', 'name no source in the register');
  if (found.size > MAX_PACK_SOURCES) {
    throw invalid('invalid-field', 'systems', 'maximum', `have more than ${MAX_PACK_SOURCES} sources together`);
  }
  return [...found].toSorted();
}

async function isKnown(
  { store, self }: QuestionSources,
  { account }: Caller,
  sourceId: string,
  nodes: readonly NodeId[],
): Promise<boolean> {
  const name = { account: account.id, sourceId };
  if (await hasRecords(store, name)) return true;
  return (await firstElsewhere(store, self, name, nodes)) !== undefined;
}

/** Contents are where the records were made. Throws `Problem` 409 where this node is not the home, or has not made all. */
async function requireAllHere(
  { store, self, addressOf }: QuestionSources,
  { account, home }: Caller,
  asked: readonly string[],
  nodes: readonly NodeId[],
): Promise<void> {
  let elsewhere = home;
  for (const sourceId of asked) {
    elsewhere ??= await firstElsewhere(store, self, { account: account.id, sourceId }, nodes);
  }
  if (elsewhere === undefined) return;
  const detail = `Contents of some records are at ${elsewhere} alone, which made them: a pack here cannot disclose them.`;
  throw new Problem('payload-elsewhere', detail, { extra: placeOf('node', elsewhere, addressOf) });
}

/** Another of the nodes that has recorded something of a source. */
async function firstElsewhere(
  store: Reads,
  self: NodeId,
  name: { readonly account: string; readonly sourceId: string },
  nodes: readonly NodeId[],
): Promise<NodeId | undefined> {
  for (const node of nodes) {
    if (node !== self && (await chainSourceTable.get(store, node, sourcePart(name))) !== undefined) return node;
  }
  return undefined;
}

function invalid(code: Problem['code'], field: string, reason: string, message: string): Problem {
  return new Problem(code, `${field} ${message}`, { errors: [fieldError(field.split('.'), reason, message)] });
}
