import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { entityId as entity, nodeId } from '../../../protocol/ids.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import type { ProofKnown } from '../../../protocol/proof/charge.ts';
import { judgeProof } from '../../../protocol/proof/judge-proof.ts';
import type { MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { parseProofText } from '../../../protocol/proof/parse-proof.ts';
import type { ProofWord } from '../../../protocol/proof/proof-word.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import {
  beginningOf,
  decidedName,
  falseCheckpoint,
  leavesAt,
  LedgerReading,
  proofOf,
  receiptNotKept,
  twoEnvelopes,
} from '../../fixtures/misdeed-proof.ts';

const FIRST = { batch: 1, first: 1, prev: null } as const;
const OTHER = hashText(nativeSuite, 'another');

type Misdeed = MisdeedProof['misdeed'];
type Of<Type extends Misdeed['type']> = Extract<Misdeed, { readonly type: Type }>;

function only<Type extends Misdeed['type']>(type: Type, misdeed: Misdeed): Of<Type> {
  const isOf = (each: Misdeed): each is Of<Type> => each.type === type;
  if (!isOf(misdeed)) throw new Error(`no ${type}`);
  return misdeed;
}

function wordOf(log: FederationLog, proof: MisdeedProof, known: ProofKnown = { pin: log.genesis }): ProofWord {
  return judgeProof(nativeSuite, parseProofText(JSON.stringify(proof)), known).word;
}

test('a message names an envelope by its federation, node, number, key and hash, each of them', async () => {
  const log = await FederationLog.create();
  const decided = await log.record('eu');
  const rival = await log.seal('eu', [{ payload: { data: 'another' } }], FIRST);
  const ledger = new LedgerReading(log);
  const named = ledger.name(rival);
  const proof = await proofOf(log, twoEnvelopes(decidedName(log, decided), named));
  const message = log.messageOf(rival);
  if (message.type !== 'batch') throw new Error('names no batch');
  const word = (said: LedgerMessage): ProofWord => {
    const messageAt = (sequence: string) => {
      const read = ledger.messageAt(sequence);
      return read && sequence === named.sequence ? { ...read, message: writeLedgerMessage(said) } : read;
    };
    return wordOf(log, proof, { pin: log.genesis, messageAt });
  };
  assert.is(word(message), 'proven');
  for (const change of [
    { federation: OTHER },
    { node: nodeId('us') },
    { batch: 2 },
    { keyId: OTHER },
    { envelope: OTHER },
  ]) {
    assert.is(word({ ...message, ...change }), 'contradicted', JSON.stringify(change));
  }
  assert.is(word({ v: 2, type: 'roster', federation: log.genesis, previous: OTHER, statement: OTHER }), 'contradicted');
});

test('whose account paid is asked of the roster that was in force at the message', async () => {
  const log = await FederationLog.create();
  const decided = await log.record('eu');
  const rival = await log.seal('eu', [{ payload: { data: 'another' } }], FIRST);
  const own = log.account('eu');
  const moved = log.account('us').replace(/\d+$/, '77777');
  const { members } = log.roster().roster;
  const eu = members.find(({ node }) => node === 'eu');
  if (eu === undefined) throw new Error('eu is a member');
  const accounts = eu.accounts.map((account) => (account === own ? entity(moved) : account));
  log.addRoster({ members: [...members.filter((member) => member !== eu), { ...eu, accounts }] });
  const ledger = new LedgerReading(log);
  for (const [payer, expected] of [
    [entity(moved), 'proven'],
    [own, 'two-signed'],
  ] as const) {
    const late = ledger.name(rival, payer);
    const proof = await proofOf(log, twoEnvelopes(decidedName(log, decided), late));
    assert.is(wordOf(log, proof, { pin: log.genesis, messageAt: ledger.messageAt }), expected, payer);
  }
});

test('two trees differ where both have another leaf in one place, and not where one is said to', async () => {
  const log = await FederationLog.create();
  for (const node of ['us', 'eu', 'ca']) await log.record(node);
  const liar = await FederationLog.create();
  for (const node of ['us', 'jp', 'ca']) await liar.record(node);
  const [first, second] = [await log.checkpoint('sg'), await liar.checkpoint('sg')];
  const word = async (misdeed: Omit<Of<'two-checkpoints'>, 'type'>) => {
    return wordOf(log, await proofOf(log, { type: 'two-checkpoints', ...misdeed }, []));
  };
  const difference = leavesAt(1, log, liar);
  assert.is(await word({ first, second, difference }), 'proven');
  assert.is(
    await word({ first, second: first, difference: leavesAt(1, log, log) }),
    'no-contradiction',
    'the same leaf',
  );
  assert.is(await word({ first, second: first, difference }), 'no-contradiction', 'the second has no such leaf');
  assert.is(await word({ first: second, second, difference }), 'no-contradiction', 'the first has no such leaf');
  const elsewhere = await liar.checkpoint('sg', { federation: OTHER });
  assert.is(await word({ first, second: elsewhere, difference }), 'no-contradiction', 'of another federation');
});

test('every head that a checkpoint is held against has to differ from it', async () => {
  const log = await FederationLog.create();
  for (const node of ['us', 'eu']) await log.record(node);
  const liar = await FederationLog.create();
  for (const node of ['us', 'jp']) await liar.record(node);
  const misdeed = only('false-checkpoint', await falseCheckpoint(log, await liar.checkpoint('sg')));
  assert.is(wordOf(log, await proofOf(log, misdeed)), 'proven');
  const same = { size: liar.size, root: liar.rootAt(2), difference: await beginningOf(liar, 2) };
  const mixed = { ...misdeed, against: [...misdeed.against, same] };
  assert.is(wordOf(log, await proofOf(log, mixed)), 'no-contradiction');
});

test('checkpoints of a key that was out of use are none of a majority', async () => {
  const log = await FederationLog.create();
  await log.record('us');
  const liar = await FederationLog.create();
  for (const node of ['eu', 'jp', 'us']) await liar.record(node);
  const old = newestKey(log.member('ca'));
  await log.revoke('ca');
  await log.rotateKey('ca');
  await log.record('eu');
  const misdeed = await falseCheckpoint(log, await liar.checkpoint('sg'));
  const word = async (key = newestKey(log.member('ca'))) => {
    const checkpoints = [await log.checkpoint('us'), await log.checkpoint('eu'), await log.checkpoint('ca', {}, key)];
    return wordOf(log, await proofOf(log, misdeed, checkpoints));
  };
  assert.is(await word(), 'proven');
  assert.is(await word(old), 'too-few-checkpoints');
});

test('a majority is that of a roster in force before the last decision of the tree, or of a later one', async () => {
  const log = await FederationLog.create();
  await log.record('us');
  for (const name of ['za', 'zb']) await log.admit(name);
  log.addRoster({ members: log.membersWith(['za', 'zb']) });
  const liar = await FederationLog.create();
  for (const node of ['eu', 'jp']) await liar.record(node);
  const misdeed = await falseCheckpoint(log, await liar.checkpoint('sg'));
  const three = await Promise.all(['us', 'eu', 'ca'].map((node) => log.checkpoint(node)));
  assert.is(wordOf(log, await proofOf(log, misdeed, three)), 'proven');
});

test('a receipt accuses by its own leaf, node and key, against the leaf that the batch has there', async () => {
  const log = await FederationLog.create();
  const submittedAt = log.tick();
  const received = await log.seal('eu', [{ submittedAt, payload: { data: 'dropped' } }], FIRST);
  const decided = await log.seal('eu', [{ submittedAt }], { ...FIRST, from: submittedAt });
  log.decide(decided);
  const misdeed = only('receipt-not-kept', receiptNotKept(log, received, decided, 0));
  const word = async (change: Partial<Of<'receipt-not-kept'>>) =>
    wordOf(log, await proofOf(log, { ...misdeed, ...change }));
  assert.is(await word({}), 'proven');
  const foreign = await log.seal('us', [{ submittedAt }], FIRST);
  const byAnother = only('receipt-not-kept', receiptNotKept(log, foreign, decided, 0));
  assert.is(await word({ receipt: byAnother.receipt }), 'no-contradiction', 'of another node');
  assert.is(await word({ receipt: { ...misdeed.receipt, leaf: OTHER } }), 'no-contradiction', 'not in the receipt');
  assert.is(await word({ batch: { ...misdeed.batch, leaf: OTHER } }), 'no-contradiction', 'not in the batch');
  await log.rotateKey('eu', 100);
  const early = await log.seal('eu', [{ submittedAt, payload: { data: 'early' } }], FIRST);
  const uncovered = only('receipt-not-kept', receiptNotKept(log, early, decided, 0));
  assert.is(await word({ receipt: uncovered.receipt }), 'not-signed', 'by a key that is certified for later records');
});

test.run();
