import { writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { majorityOf, type Member, neededWitnesses, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type {
  Bundle,
  DecisionProof,
  RevocationProof,
  RevocationsFile,
  RosterEntry,
} from '../../protocol/verdict/bundle.ts';
import { identityKeysOf } from '../log/checkpoint-standing.ts';
import type { KnownCheckpoint } from '../log/known-checkpoint.ts';
import type { LogKnowledge, LogSources, RevocationInForce, RosterInForce } from './log-knowledge.ts';
import { certificatesOf, type NodeKey } from './signing-keys.ts';

export interface FederationProofSources extends LogSources {
  readonly knowledge: Pick<LogKnowledge, 'revocations' | 'rosters'>;
}

/** What a bundle says of the federation, and the sizes of the trees that its decisions are proven under. */
export interface FederationProof {
  readonly statements: Pick<Bundle, 'checkpoints' | 'keys' | 'revocations' | 'rosters'>;
  readonly sizes: readonly number[];
}

/** A roster with the place in the log from which it is in force; -1 for the genesis, which is before all of it. */
interface PlacedRoster extends RosterInForce {
  readonly roster: Roster;
  readonly index: number;
}

interface PlacedRevocation extends RevocationInForce {
  readonly index: number;
}

const SPARE_WITNESSES = 1;

/** What is asked about within the newest roster that counts: what so many of its members have to say, each time. */
export type WithinRoster = (roster: Roster) => readonly Need[];

/**
 * What of the federation a file of proofs needs (protocol §7): checkpoints of a quorum, of the majorities of its
 * rosters, any of which may be the pin, and those that show its revocations; the keys and revocations of whoever signed
 * something in it; and the rosters up to the one that its witnesses are counted within. `subjects`: the decided batches
 * that it is about, of each node the newest; `signing`: the keys that signed what it is about; `besides`: what more
 * members have to say.
 */
export async function proveFederation(
  sources: FederationProofSources,
  subjects: readonly Subject[],
  signing: readonly NodeKey[],
  besides?: WithinRoster,
): Promise<FederationProof> {
  const { rosters, revocations, kept, counting } = await readFederation(sources);
  const within = subjects.length > 0 ? rosterFor(rosters, { kept, counting }, subjects) : rosters.at(-1);
  const carried = rosters.slice(0, within?.roster.version ?? 1);

  const ofSigners = revocations.filter(({ revocation: { node, keyId } }) => {
    return signing.some((key) => key.node === node && key.keyId === keyId);
  });
  const needs = [
    ...subjects.flatMap((subject) => (within === undefined ? [] : [witnessNeed(within, subject)])),
    ...(besides && within ? besides(within.roster) : []),
    ...majorityNeeds(carried),
    ...pinNeeds(carried),
    ...ofSigners.flatMap((revocation) => (within === undefined ? [] : [revocationNeed(within, revocation)])),
  ];
  const chosen = chooseCheckpoints(counting, needs, others(kept, counting));
  const signers: readonly NodeKey[] = [...signing, ...chosen.map(({ checkpoint }) => checkpoint)];
  const shown = revocations.filter(({ revocation: { node, keyId } }) => {
    return signers.some((key) => key.node === node && key.keyId === keyId);
  });
  const sizes = sizesOf(chosen);
  return {
    sizes,
    statements: {
      checkpoints: chosen.map(({ signed }) => signed),
      keys: certificatesOf(sources.keys, signers),
      revocations: await placeRevocations(sources, shown, sizes),
      rosters: await Promise.all(
        carried.map(async ({ text, decision: of }): Promise<RosterEntry> => {
          return { text, decision: of === null ? null : await placeText(sources, of, sizes) };
        }),
      ),
    },
  };
}

/**
 * The file that a verifier is given beside its bundles (protocol §8): every revocation in force that enough members
 * show by now, with their checkpoints within each roster, as a bundle may be older than the revocation, and their keys.
 */
export async function proveRevocations(sources: FederationProofSources): Promise<RevocationsFile> {
  const { rosters, revocations, kept, counting } = await readFederation(sources);
  const newest = rosters.at(-1);
  const shown = revocations.filter((each) => newest !== undefined && isMet(kept, revocationNeed(newest, each)));
  const needs = shown.flatMap((each) => rosters.map((within) => revocationNeed(within, each)));
  const chosen = chooseCheckpoints(counting, needs, others(kept, counting));
  return {
    revocations: await placeRevocations(sources, shown, sizesOf(chosen)),
    checkpoints: chosen.map(({ signed }) => signed),
    keys: certificatesOf(
      sources.keys,
      chosen.map(({ checkpoint }) => checkpoint),
    ),
  };
}

/** What of the federation is in force at this node, and the checkpoints at hand, among them those that count. */
interface ReadFederation {
  readonly rosters: readonly PlacedRoster[];
  readonly revocations: readonly PlacedRevocation[];
  readonly kept: readonly CertifiedCheckpoint[];
  readonly counting: readonly CertifiedCheckpoint[];
}

async function readFederation({ keys, knowledge, checkpointStore }: FederationProofSources): Promise<ReadFederation> {
  const rosters = (await knowledge.rosters()).map(placedRoster);
  const revocations = (await knowledge.revocations()).map(placedRevocation);
  const kept = checkpointStore.kept().map(({ checkpoint, signed }): CertifiedCheckpoint => {
    return { checkpoint, signed, identityKeys: identityKeysOf(keys, checkpoint) };
  });
  const counting = kept.filter(({ checkpoint }) => isCounted(checkpoint, revocations));
  return { rosters, revocations, kept, counting };
}

/** What the holder of a stolen key signs beside its member says nothing: checkpoints by keys that count come first. */
function others(
  kept: readonly CertifiedCheckpoint[],
  counting: readonly CertifiedCheckpoint[],
): readonly CertifiedCheckpoint[] {
  return kept.filter((known) => !counting.includes(known));
}

function sizesOf(checkpoints: readonly CertifiedCheckpoint[]): readonly number[] {
  return [...new Set(checkpoints.map(({ checkpoint }) => checkpoint.size))];
}

function placeRevocations(
  sources: LogSources,
  revocations: readonly PlacedRevocation[],
  sizes: readonly number[],
): Promise<RevocationProof[]> {
  return Promise.all(
    revocations.map(async ({ signed: { statement, signature }, decision }) => {
      return { statement, signature, decision: await placeText(sources, decision, sizes) };
    }),
  );
}

function placeText({ federationLog }: LogSources, decision: string, sizes: readonly number[]): Promise<DecisionProof> {
  return placeDecision(federationLog, decisionText.parse(decision), sizes);
}

/** What witnesses are asked about. */
export interface Subject {
  readonly node: string;
  readonly batch: number;
  readonly decision: Decision;
}

/**
 * The newest roster within which enough members vouch, and whose links majorities show, as if no key were revoked
 * (protocol §5); else the newest.
 */
function rosterFor(
  rosters: readonly PlacedRoster[],
  { kept, counting }: Readonly<Record<'counting' | 'kept', readonly CertifiedCheckpoint[]>>,
  subjects: readonly Subject[],
): PlacedRoster | undefined {
  const oldest = Math.max(
    ...subjects.map(({ decision }) => rosters.findLastIndex(({ index }) => index < decision.index)),
  );
  const proven = rosters.findLast((within, i) => {
    if (i < oldest || !subjects.every((subject) => isMet(counting, witnessNeed(within, subject)))) return false;
    return majorityNeeds(rosters.slice(0, i + 1)).every((need) => isMet(kept, need));
  });
  return proven ?? rosters.at(-1);
}

function witnessNeed({ roster }: PlacedRoster, { node, batch, decision }: Subject): Need {
  return {
    members: othersOf(roster, node),
    count: neededWitnesses(roster),
    spare: SPARE_WITNESSES,
    says: ({ size, vouched }) => size > decision.index && (vouched[node] ?? 0) >= batch,
  };
}

/** That enough members show where decisions on batches of a node stand in the log, the last of which is at `index`. */
export function coveringNeed(roster: Roster, node: NodeId, index: number): Need {
  return {
    members: othersOf(roster, node),
    count: neededWitnesses(roster),
    spare: 0,
    says: ({ size }) => size > index,
  };
}

/** Who may say it of a node: all members beside it, or itself where it is alone. */
function othersOf({ members }: Roster, node: string): Need['members'] {
  return members.filter((member) => members.length === 1 || member.node !== node);
}

/** Each roster but the genesis came into force by a majority of the one before it. */
function majorityNeeds(rosters: readonly PlacedRoster[]): readonly Need[] {
  return rosters.slice(1).flatMap(({ index }, i) => {
    const before = rosters[i];
    return before === undefined ? [] : [majorityNeed(before, index)];
  });
}

/** Whoever pinned the newest of these rosters counts its own majority, which shows how all of them came into force. */
function pinNeeds(rosters: readonly PlacedRoster[]): readonly Need[] {
  const newest = rosters.slice(1).at(-1);
  return newest === undefined ? [] : [majorityNeed(newest, newest.index)];
}

function majorityNeed({ roster }: PlacedRoster, index: number): Need {
  return { members: roster.members, count: majorityOf(roster), spare: 0, says: ({ size }) => size > index };
}

/** They show the revocation, and also what its node signed before it, of which the node itself is no witness. */
function revocationNeed({ roster }: PlacedRoster, { revocation: { node }, index }: PlacedRevocation): Need {
  return coveringNeed(roster, node, index);
}

/** By a compromised key none counts, by a rotated one those that do not reach the revocation (protocol §5). */
function isCounted({ node, keyId, size }: Checkpoint, revocations: readonly PlacedRevocation[]): boolean {
  return revocations.every(({ revocation, index }) => {
    if (revocation.node !== node || revocation.keyId !== keyId) return true;
    return revocation.reason === 'rotated' && size <= index;
  });
}

function placedRevocation(known: RevocationInForce): PlacedRevocation {
  return { ...known, index: indexOf(known.decision) };
}

function placedRoster(entry: RosterInForce): PlacedRoster {
  const index = entry.decision === null ? -1 : indexOf(entry.decision);
  return { ...entry, roster: rosterStatement.parse(entry.text), index };
}

function indexOf(text: string): number {
  return decisionText.parse(text).index;
}

/** A decision, and how it walks to the root of each of the trees of these sizes that holds it. */
export async function placeDecision(
  log: Pick<LogSources['federationLog'], 'pathAt'>,
  decision: Decision,
  sizes: readonly number[],
): Promise<DecisionProof> {
  const covering = sizes.filter((size) => size > decision.index);
  const paths = await Promise.all(
    covering.map(async (size) => ({ size, path: (await log.pathAt(decision.index, size)).map(writeSha256) })),
  );
  return { text: decisionText.write(decision), paths };
}

/** A checkpoint with the identity keys of its member that certified its key. */
export interface CertifiedCheckpoint extends KnownCheckpoint {
  readonly identityKeys: readonly Base64url[];
}

/** What so many members of one roster have to say by their checkpoints. */
export interface Need {
  /** Members that may say it, each by a key that its identity key in this very roster certified. */
  readonly members: readonly Pick<Member, 'identityKey' | 'node'>[];
  readonly count: number;
  /** Members beside these that are taken along where there are any. */
  readonly spare: number;
  readonly says: (checkpoint: Checkpoint) => boolean;
}

/** Whether enough members say it. */
export function isMet(checkpoints: readonly CertifiedCheckpoint[], { members, count, says }: Need): boolean {
  const saying = checkpoints.filter(({ checkpoint }) => says(checkpoint));
  return members.filter((member) => saying.some((known) => isBy(known, member))).length >= count;
}

function isBy({ checkpoint, identityKeys }: CertifiedCheckpoint, { node, identityKey }: Need['members'][0]): boolean {
  return checkpoint.node === node && identityKeys.includes(identityKey);
}

/**
 * Few checkpoints that meet all needs, as far as they can be met (protocol §7): of one size where possible, for each
 * further size costs every decision a path. One of `lastly` stands for no member of which a candidate says the same.
 */
export function chooseCheckpoints(
  candidates: readonly CertifiedCheckpoint[],
  needs: readonly Need[],
  lastly: readonly CertifiedCheckpoint[] = [],
): readonly CertifiedCheckpoint[] {
  const ordered = [candidates, lastly].map((group) => commonestSizeFirst(group, needs));
  const chosen = new Set<CertifiedCheckpoint>();
  /** What was chosen already costs nothing more. */
  const costOf = (known: CertifiedCheckpoint) => Number(!chosen.has(known));
  for (const { members, count, spare, says } of needs) {
    const saying = (known: CertifiedCheckpoint) => {
      return says(known.checkpoint) && members.some((member) => isBy(known, member));
    };
    const settled = new Set<NodeId>();
    for (const known of ordered.flatMap((group) => group.toSorted((a, b) => costOf(a) - costOf(b)))) {
      if (settled.size >= count + spare) break;
      if (settled.has(known.checkpoint.node) || !saying(known)) continue;
      settled.add(known.checkpoint.node);
      chosen.add(known);
    }
  }
  return [...chosen];
}

/** By how many checkpoints of their size there are that are needed, then the newest. */
function commonestSizeFirst(
  candidates: readonly CertifiedCheckpoint[],
  needs: readonly Need[],
): readonly CertifiedCheckpoint[] {
  const needed = candidates.filter(({ checkpoint }) => needs.some(({ says }) => says(checkpoint)));
  const counts = new Map<number, number>();
  for (const { checkpoint } of needed) counts.set(checkpoint.size, (counts.get(checkpoint.size) ?? 0) + 1);
  const countOf = ({ checkpoint }: CertifiedCheckpoint) => counts.get(checkpoint.size) ?? 0;
  return needed.toSorted((a, b) => countOf(b) - countOf(a) || b.checkpoint.size - a.checkpoint.size);
}
