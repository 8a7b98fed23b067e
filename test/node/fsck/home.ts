import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Accounts } from '../../../node/accounts/accounts.ts';
import { DailyUsage } from '../../../node/accounts/limits/daily-usage.ts';
import { newKeyId } from '../../../node/accounts/key-id.ts';
import {
  newSignInId,
  type SignIn,
  signInDigest,
  signInOperations,
} from '../../../node/accounts/sign-ins/sign-in-table.ts';
import { newPersonId, type Person, personOperations } from '../../../node/accounts/people/person-table.ts';
import { newShareId, type Share, shareDigest, shareOperations } from '../../../node/accounts/sharing/share-table.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { lostKeyTable, tokenDigest } from '../../../node/accounts/lost-key/lost-key-table.ts';
import { outboxEntry } from '../../../node/anchoring/outbox.ts';
import { ChainAssembler } from '../../../node/federation/chain-assembler.ts';
import { Equivocations, type JudgePair } from '../../../node/federation/equivocations.ts';
import { decodeItem, STORED_ROWS_VERSION } from '../../../node/federation/page-forms.ts';
import { PageServer } from '../../../node/federation/page-server.ts';
import { restorationTable } from '../../../node/federation/start/restoration-table.ts';
import { openNodeStore } from '../../../node/fsck/migration/migrate-store.ts';
import type { Draft } from '../../../node/intake/draft.ts';
import { Intake } from '../../../node/intake/intake.ts';
import { Sealer } from '../../../node/intake/sealing/sealer.ts';
import { createKeyFile, KEY_FILE_PURPOSES } from '../../../node/keys/key-file.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { newSecondFactorId, secondFactorTable } from '../../../node/accounts/second-factors/second-factor-table.ts';
import { certifySigningKey, type NodeKeys, readNodeKeys } from '../../../node/keys/node-keys.ts';
import { Chains } from '../../../node/log/chains.ts';
import type { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import type { StoredBatch } from '../../../node/records/batch-tables.ts';
import { EvidenceTally } from '../../../node/records/counts/evidence-tally.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { recordIndex } from '../../../node/records/record-tables.ts';
import type { Operation } from '../../../node/store/operation.ts';
import type { Store } from '../../../node/store/store.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { nodeId, type NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { DEFAULT_REVOCATION_REACH, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { decisionTexts } from '../../../protocol/payload/commitment.ts';
import { encodeSignature, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { openKeys } from '../../fixtures/federation-keys.ts';
import { accountOf, seedOf } from '../../fixtures/federation-member.ts';
import { TestTopic } from '../../fixtures/federation-topic.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import { eraseKey } from '../../fixtures/payload-keys.ts';
import { anchorAll, messageOf } from './home-anchors.ts';
import { addLog } from './home-log.ts';
import { addRosters } from './home-rosters.ts';
import { holdStatement, stateAccount, type StatingNode } from './home-statements.ts';

export const EU = nodeId('eu');
export const US = nodeId('us');
const CA = nodeId('ca');
const SOURCES = ['triage', 'credit', 'fraud'];
const log = pino({ level: 'silent' });

/** Times of a test home: a second a step. */
let clock = Date.UTC(2026, 5, 1);
const now = (): number => (clock += 1000);

export async function scratchDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'meridian-fsck-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/**
 * The home of a node `eu` of three, as its own parts write it: `batches` sealed batches of its own and of `us`, which
 * has an incident whose clocks end after the last year there is; with names in every state, an erased payload, a revoked key, an equivocation of `us`, records unsealed, and the
 * federation's log; where it is asked for, with an account of `eu` and one of `us` that name both nodes.
 */
export async function writeHome(home: string, batches: number, { withStatements = false } = {}): Promise<void> {
  const members = new Map<NodeId, NodeKeys>();
  for (const node of [EU, US, CA]) members.set(node, await createKeys(node === EU ? home : join(home, '..', node)));
  const topic = new TestTopic();
  const given = { genesis: await genesis(members, topic), later: [] };
  await using store = await openStore(home);
  const keys = await openKeys(store, given);
  for (const [node, own] of members) await keys.learnCertificate(await certifySigningKey(node, own, timestampOf(0), 1));
  const more = async (stating: StatingNode) => {
    if (withStatements) await stateAccount(stating, [EU, US], now);
  };
  await using peer = await ownChain(join(home, '..', US), US, keysOf(members, US), keys, batches, more);
  await using self = await ownChain(store, EU, keysOf(members, EU), keys, batches, more);
  const held = await pullChain(peer.store, store, keys);
  if (withStatements) await holdStatement(store, peer);
  await addOddities(store, keys, members, held);
  const messages = await anchorAll(store, keys, topic, self.sealed, held, now);
  const next = await addRosters(store, keys, keysOf(members, EU));
  await addLog({ store, keys, next, topic, members, messages, now });
}

interface OwnChain extends StatingNode, AsyncDisposable {
  readonly sealed: readonly StoredBatch[];
}

async function openStore(home: string): Promise<Store> {
  await mkdir(join(home, 'store'), { recursive: true });
  return openNodeStore(home);
}

async function createKeys(home: string): Promise<NodeKeys> {
  await mkdir(join(home, 'keys'), { recursive: true });
  for (const purpose of KEY_FILE_PURPOSES) await createKeyFile(join(home, 'keys'), purpose);
  return readNodeKeys(home);
}

function keysOf(members: ReadonlyMap<NodeId, NodeKeys>, node: NodeId): NodeKeys {
  const found = members.get(node);
  if (found === undefined) throw new RangeError(`${node} is no member`);
  return found;
}

async function genesis(members: ReadonlyMap<NodeId, NodeKeys>, topic: TestTopic): Promise<SignedRoster> {
  const roster: Roster = {
    v: 2,
    type: 'roster',
    name: 'test',
    version: 1,
    previous: null,
    quorum: 1,
    members: [...members].map(([node, { identity }]) => ({
      node,
      region: node,
      baseUrl: `https://${node}.example`,
      peerId: `peer-${node}`,
      multiaddrs: [],
      accounts: [accountOf(node)],
      identityKey: encodeSignature(identity.publicKey),
    })),
    ledger: { network: topic.network, topicId: topic.topicId },
    revocationReach: DEFAULT_REVOCATION_REACH,
    issuedAt: timestampOf(0),
  };
  const signatures: SignedRoster['signatures'] = [];
  for (const [node, { identity }] of members) {
    signatures.push({ node, signature: (await signStatement(rosterStatement, roster, identity)).signature });
  }
  return { statement: rosterStatement.write(roster), signatures };
}

/**
 * Records through intake, in groups of many sizes and `more` after the first, sealed `batches` times; a last group
 * stays unsealed.
 */
async function ownChain(
  where: Store | string,
  node: NodeId,
  own: NodeKeys,
  keys: FederationKeys,
  batches: number,
  more: (node: StatingNode) => Promise<void>,
): Promise<OwnChain> {
  const resources = new AsyncDisposableStack();
  const store = typeof where === 'string' ? resources.use(await openStore(where)) : where;
  const sealed: StoredBatch[] = [];
  const sealer = resources.use(
    await Sealer.open({
      node,
      store,
      signer: () => own.signer,
      now,
      intervalMs: 3_600_000,
      besides: (batch) => [outboxEntry(batch.envelope.batch, messageOf(keys, batch), timestampOf(now()))],
      chainStart: async () => keys.rosters.rosters[0]?.issuedAt ?? null,
      decisionOf: async () => undefined,
      publicKeyOf: (keyId) => (keyId === own.signer.keyId ? own.signer.publicKey : undefined),
      onRefused: (refusal) => log.error(refusal),
      onSealed: (batch) => sealed.push(batch),
      log,
    }),
  );
  const cipher = new PayloadCipher(own.payloadKey);
  const intake = resources.use(
    await Intake.open({
      node,
      store,
      signer: () => own.signer,
      cipher,
      now,
      projections: [],
      counters: new RecordCounters(store, [
        await DailyUsage.open({ store, node, now }),
        await EvidenceTally.open(store, node),
      ]),
      onCommitted: (group) => sealer.add(group),
    }),
  );
  intake.start();
  for (let batch = 1; batch <= batches + 1; batch++) {
    await intake.submitAll(Array.from({ length: 70 + 230 * (batch % 2) }, (_, i) => draft(batch * 1000 + i)));
    for (let i = 0; i < 3; i++) await intake.submit(draft(batch * 1000 + 500 + i));
    if (batch === 1) await more({ node, store, intake, cipher });
    if (batch === 1 && node === US) await intake.submit(endlessIncident());
    if (batch <= batches) await sealer.seal();
  }
  return { node, store, intake, cipher, sealed, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

function draft(i: number): Draft {
  const data = { input: { applicant: i }, output: { score: i % 7 }, note: 'é'.repeat(i % 40) };
  const texts = decisionTexts(data);
  return {
    kind: 'decision',
    account: i % 2 === 0 ? 'acc_eu_acme' : 'acc_eu_globex',
    sourceId: SOURCES[i % 3] ?? '',
    payload: canonicalize({ sourceId: SOURCES[i % 3] ?? '', data }),
    decision: texts,
    claims: { channel: 'direct' },
    links: {},
    ...(i % 5 === 0 ? { duplicateKey: `duplicate-${i}` } : {}),
    ...(i % 5 === 1 ? { idempotency: { key: `key-${i}`, request: `request-${i}` } } : {}),
  };
}

function endlessIncident(): Draft {
  return {
    kind: 'incident',
    account: 'acc_us_hooli',
    sourceId: 'triage',
    payload: canonicalize({ sourceId: 'triage' }),
    claims: { channel: 'direct', clockStart: timestampOf(Date.UTC(9999, 11, 31)) },
    links: {},
  };
}

const TWO_SIGNED: JudgePair = async () => 'two-signed';

async function pullChain(from: Store, to: Store, keys: FederationKeys): Promise<StoredBatch[]> {
  const equivocations = await Equivocations.open(from, keys, TWO_SIGNED);
  const server = new PageServer({ store: from, equivocations, keys });
  const chains = await Chains.open(to, [US]);
  const assembler = await ChainAssembler.recover({
    node: US,
    store: to,
    keys,
    chains,
    decided: NOTHING_DECIDED,
  });
  const held: StoredBatch[] = [];
  for (let before = -1; before < held.length;) {
    before = held.length;
    assembler.beginPage(US);
    for await (const frame of server.serve({ want: 'chain', node: US, ...assembler.wanted }, STORED_ROWS_VERSION)) {
      const batch = await assembler.take(decodeItem(frame));
      if (batch !== undefined) held.push(batch);
    }
  }
  return held;
}

async function addOddities(
  store: Store,
  keys: FederationKeys,
  members: ReadonlyMap<NodeId, NodeKeys>,
  held: readonly StoredBatch[],
): Promise<void> {
  const accounts = await Accounts.open({ store, node: EU, now });
  await accounts.grant({ id: 'acc_eu_acme', tier: 'developer' }, 'a'.repeat(32));
  await accounts.grant({ id: 'acc_eu_globex', tier: 'unmetered' }, 'b'.repeat(32));
  const { id } = await accounts.create({ tier: 'developer', email: 'ada@initech.example' });
  await store.write([lostKeyTable.put([tokenDigest('lost')], { account: id, expiresAt: timestampOf(now()) })]);
  await store.write(shareOperations({ digest: shareDigest('lost'), share: shareOf(id) }));
  const person = personOf(id);
  await store.write([...personOperations(person), secondFactorOf(person)]);
  await store.write(signInOperations({ digest: signInDigest('lost'), signIn: signInOf(id) }));
  await eraseOne(store);
  const ca = keysOf(members, CA);
  const retired = nativeSigner(seedOf('retired'));
  await keys.learnCertificate(await certifySigningKey(CA, { ...ca, signer: retired }, timestampOf(0), 1));
  const at = timestampOf(now());
  const terms = { v: 2, type: 'revocation', node: CA, keyId: retired.keyId, reason: 'compromised' } as const;
  await keys.learnRevocation(
    await signStatement(revocationStatement, { ...terms, compromisedSince: at, issuedAt: at }, ca.identity),
  );
  const last = held.at(-1);
  if (last === undefined) throw new RangeError('no batch of us');
  const rival = { ...last.envelope, sealedAt: timestampOf(now()) };
  const second = await signStatement(envelopeStatement, rival, keysOf(members, US).signer);
  await (await Equivocations.open(store, keys, TWO_SIGNED)).learn({ first: last.signed, second });
  await addRestoration(store);
}

/** Somebody whose key that invited has made room for another one. */
function personOf(account: string): Person {
  const times = { createdAt: timestampOf(now()), expiresAt: null };
  return {
    id: newPersonId(EU, now()),
    account,
    email: 'eve@initech.example',
    role: 'ingest',
    ...times,
    invitedBy: newKeyId(EU, now()),
  };
}

/** As if a person had set up two apps. */
function secondFactorOf({ account, id: holder }: Person): Operation {
  const at = timestampOf(now());
  const factors = [0, 1].map(() => {
    return {
      kind: 'totp',
      id: newSecondFactorId(EU, now()),
      name: 'App',
      createdAt: at,
      lastUsedAt: null,
      lastStep: 0,
    } as const;
  });
  return secondFactorTable.put([account, holder], { account, holder, factors, recoveryCodes: [], recoveryCodesAt: at });
}

/** Somebody whose key has made room for another one. */
function signInOf(account: string): SignIn {
  const times = { createdAt: timestampOf(now()), expiresAt: timestampOf(now() + 3_600_000) };
  return { id: newSignInId(EU, now()), account, key: newKeyId(EU, now()), address: '203.0.113.7', ...times };
}

/** A link whose key has made room for another one. */
function shareOf(account: string): Share {
  const at = timestampOf(now());
  return {
    id: newShareId(EU, now()),
    account,
    record: EXAMPLE_IDS.decision,
    sourceId: 'loans',
    submittedAt: at,
    key: newKeyId(EU, now()),
    disclosure: false,
    linked: false,
    label: null,
    createdAt: at,
    expiresAt: timestampOf(now() + 86_400_000),
    revokedAt: null,
    uses: 0,
    lastUsedAt: null,
  };
}

/** It is a copy of itself, made when it had one batch. */
async function addRestoration(store: Store): Promise<void> {
  const at = timestampOf(now());
  const held = { batch: 1, next: 2 };
  const settled = { at, end: held, sealedAt: at, peers: [US], sequence: '4' };
  await store.write([restorationTable.put([EU, at], { takenAt: at, held, unsealed: 0, settled })]);
}

async function eraseOne(store: Store): Promise<void> {
  for await (const [[id = '']] of recordIndex.under(store, [], { from: `att_${EU}_` })) {
    await eraseKey(store, id);
    return;
  }
}
