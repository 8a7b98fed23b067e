import { nativeSuite } from '../../node/keys/native-suite.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { recordLeaf } from '../../protocol/chain/record.ts';
import { hashText, writeSha256 } from '../../protocol/hash.ts';
import { keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { revocationStatement } from '../../protocol/log/revocation.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { merkleRoot } from '../../protocol/merkle/tree.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import { encodeSignature, signStatement } from '../../protocol/statement/statement.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Bundle, DecisionProof } from '../../protocol/verdict/bundle.ts';
import { DecidedLog } from '../fixtures/decided-log.ts';
import { consensusOf } from '../fixtures/federation-log.ts';
import { newestKey } from '../fixtures/federation-log-member.ts';
import type { Random } from '../fuzz/random.ts';
import { type Corpus, LIARS } from './corpus.ts';
import { type Mutation, someOf } from './mutations.ts';

const DAY_MS = 24 * 3_600_000;

/**
 * Changes by anyone who has every key of the liars: their records, checkpoints, certificates, revocations, rosters
 * again.
 */
export const FORGED: Readonly<Record<string, Mutation>> = {
  'a record sealed anew': async (random, corpus, bundle) => {
    const changed = await resealed(random, corpus, bundle);
    const honest = random.chance(0.5) ? bundle.checkpoints : [];
    const { decision, checkpoints } = await decidedAnew(random, corpus, changed);
    return JSON.stringify({ ...changed, decision, checkpoints: [...checkpoints, ...honest] });
  },
  'a record sealed anew under the old decision': async (random, corpus, bundle) =>
    JSON.stringify(await resealed(random, corpus, bundle)),
  'a receipt by another key of its node': async (random, { home }, bundle) => {
    const group = groupStatement.parse(bundle.receipt.statement);
    const { signer } = random.pick(home.member(group.node).keys);
    const signed = await signStatement(groupStatement, { ...group, keyId: signer.keyId }, signer);
    return JSON.stringify({ ...bundle, keys: home.certificates, receipt: { ...bundle.receipt, ...signed } });
  },
  'another time': async (random, corpus, bundle) => {
    const { decision, checkpoints } = await decidedAnew(random, corpus, bundle);
    return JSON.stringify({ ...bundle, decision, checkpoints: [...checkpoints, ...bundle.checkpoints] });
  },
  'checkpoints of liars': async (random, corpus, bundle) => {
    const own = await liarsCheckpoints(random, corpus, corpus.home);
    return JSON.stringify({ ...bundle, checkpoints: [...own, ...someOf(random, bundle.checkpoints)] });
  },
  'a certificate for another': async (random, corpus, bundle) => {
    const { home } = corpus;
    const liar = home.member(random.pick(LIARS));
    const { signer } = newestKey(liar);
    const posed = home.member(random.pick(['us', 'ca', 'za', liar.node]));
    const certificate = await signStatement(
      keyCertificateStatement,
      {
        v: 1,
        type: 'key',
        node: posed.node,
        keyId: signer.keyId,
        publicKey: encodeSignature(signer.publicKey),
        purpose: 'signing',
        validFrom: timestampOf(home.now),
        seqFrom: 1 + random.int(9),
      },
      liar.identity,
    );
    const checkpoints = await Promise.all(
      ['us', 'ca', 'za'].map((node) => home.checkpoint(node, { size: home.size }, newestKey(liar))),
    );
    return JSON.stringify({ ...bundle, keys: [certificate, ...bundle.keys], checkpoints });
  },
  'a false revocation': async (random, corpus, bundle) => {
    const { home } = corpus;
    const victim = home.member(random.pick(['us', 'eu', 'ca', 'jp']));
    const signedBy = home.member(random.pick([...LIARS, victim.node]));
    const signed = await signStatement(
      revocationStatement,
      {
        v: 2,
        type: 'revocation',
        node: victim.node,
        keyId: random.pick(victim.keys).signer.keyId,
        reason: 'compromised',
        compromisedSince: timestampOf(home.now - 20 * DAY_MS),
        issuedAt: timestampOf(home.now),
      },
      // Only a liar signs for another: what a victim signs itself is no forgery.
      LIARS.some((liar) => liar === signedBy.node) ? signedBy.identity : home.member('eu').identity,
    );
    const log = copyOf(home);
    const statement = hashText(nativeSuite, signed.statement);
    const { node, keyId } = revocationStatement.parse(signed.statement);
    const message = { v: 2, type: 'revocation', federation: home.genesis, node, keyId, statement } as const;
    log.decisions.push(home.decisionText(message));
    const checkpoints = [...(await liarsCheckpoints(random, corpus, log)), ...bundle.checkpoints];
    const decision = log.decisionProof(home.size, [log.size]);
    return JSON.stringify({ ...bundle, checkpoints, revocations: [...bundle.revocations, { ...signed, decision }] });
  },
  'a roster of liars': async (random, corpus, bundle) => {
    const { home } = corpus;
    const { roster, hash: previous } = home.roster();
    const members = roster.members.filter(({ node }) => LIARS.some((liar) => liar === node));
    const text = rosterStatement.write({ ...roster, members, quorum: 1, previous, version: roster.version + 1 });
    const log = copyOf(home);
    const statement = hashText(nativeSuite, text);
    const message = { v: 2, type: 'roster', federation: home.genesis, previous, statement } as const;
    log.decisions.push(home.decisionText(message, { payer: home.account('eu') }));
    const checkpoints = [...(await liarsCheckpoints(random, corpus, log)), ...someOf(random, bundle.checkpoints)];
    const rosters = [...bundle.rosters, { text, decision: log.decisionProof(home.size, [log.size]) }];
    return JSON.stringify({ ...bundle, checkpoints, rosters });
  },
};

function copyOf({ decisions }: DecidedLog): DecidedLog {
  const log = new DecidedLog();
  log.decisions.push(...decisions);
  return log;
}

/** The record with another head or body, in a batch of its own that its node, where that is a liar, has signed. */
async function resealed(random: Random, { home }: Corpus, bundle: Bundle): Promise<Bundle> {
  const { receipt, batch, record } = bundle;
  const group = groupStatement.parse(receipt.statement);
  const liar = LIARS.find((node) => node === group.node) ?? random.pick(LIARS);
  const key = random.pick(home.member(liar).keys);
  const head: Record<string, unknown> = JSON.parse(record.head);
  const changes: readonly Record<string, unknown>[] = [
    { kind: 'incident' },
    { submittedAt: timestampOf(home.now) },
    { seq: group.first },
    {},
  ];
  const changed = JSON.stringify({ ...head, ...random.pick(changes) });
  const seq = Number(JSON.parse(changed).seq);
  const tree = {
    first: seq,
    size: 1,
    root: writeSha256(merkleRoot(nativeSuite, [recordLeaf(nativeSuite, changed)])),
    keyId: key.signer.keyId,
  };
  const signedGroup = await signStatement(groupStatement, { ...group, ...tree }, key.signer);
  if (batch === null) return { ...bundle, record: { ...record, head: changed }, receipt: { ...signedGroup, path: [] } };
  const envelope = { ...envelopeStatement.parse(batch.envelope), ...tree };
  const signed = await signStatement(envelopeStatement, envelope, key.signer);
  return {
    ...bundle,
    record: { ...record, head: changed },
    receipt: { ...signedGroup, path: [] },
    batch: { envelope: signed.statement, signature: signed.signature, path: [] },
  };
}

/** A decision of the bundle's batch as the liars would have it, in their own log, with their checkpoints of that. */
async function decidedAnew(
  random: Random,
  corpus: Corpus,
  { batch, decision }: Bundle,
): Promise<{
  readonly decision: DecisionProof | null;
  readonly checkpoints: readonly SignedCheckpoint[];
}> {
  const { home } = corpus;
  if (batch === null) return { decision: null, checkpoints: [] };
  const { node, batch: number, keyId } = envelopeStatement.parse(batch.envelope);
  const envelope = hashText(nativeSuite, batch.envelope);
  const log = copyOf(home);
  const index = random.pick([home.size, decision === null ? home.size : decisionText.parse(decision.text).index]);
  const message = writeLedgerMessage({
    v: 2,
    type: 'batch',
    federation: home.genesis,
    node,
    batch: number,
    envelope,
    keyId,
  });
  const standing = log.decisions[index];
  const times = [home.now, home.now + 40 * DAY_MS, home.now - 10 * DAY_MS].map(consensusOf);
  log.decisions[index] = decisionText.write({
    ...decisionText.parse(standing ?? home.decisionText(home.messageOf(random.pick(corpus.subjects).sealed))),
    message,
    index,
    payer: home.account(random.pick([node, 'eu'])),
    consensusTimestamp: random.pick(times),
  });
  const own = await liarsCheckpoints(random, corpus, log);
  const sizes = [log.size, ...own.map(({ text }) => checkpointStatement.parse(text).size)];
  return { decision: log.decisionProof(index, sizes), checkpoints: own };
}

/** What the liars sign of a log: all of it, or up to somewhere, and that they vouch for everything. */
function liarsCheckpoints(random: Random, { home }: Corpus, log: DecidedLog): Promise<SignedCheckpoint[]> {
  const vouched = Object.fromEntries([...home.members.keys()].map((node) => [node, 1 + random.int(9)]));
  const size = random.chance(0.8) ? log.size : 1 + random.int(log.size);
  const root = log.rootAt(size);
  return Promise.all(
    LIARS.map((node) => home.checkpoint(node, { size, root, vouched }, random.pick(home.member(node).keys))),
  );
}
