import { randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  Equivocations,
  equivocationTable,
  type JudgePair,
  MAX_PROOFS,
} from '../../../node/federation/equivocations.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { type LoggedRival, rivalNameTable } from '../../../node/log/rival-name.ts';
import { StoreError } from '../../../node/store/store.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { entityId, nodeId } from '../../../protocol/ids.ts';
import type { ProofWord } from '../../../protocol/proof/proof-word.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { isConsensusTimestamp } from '../../../protocol/time.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { certifyKey } from '../../fixtures/federation-member.ts';
import { hashOf } from '../../protocol/log/topic.ts';
import { fastFederation, MemberFixture, temporaryHome } from './member-fixture.ts';

const EU = nodeId('eu');

interface Fixture extends AsyncDisposable {
  readonly federation: TestFederation;
  readonly memberFixture: MemberFixture;
  readonly equivocations: Equivocations;
  /** What the judge says from now on. */
  readonly judge: (word: ProofWord) => void;
  readonly envelope: (change?: Partial<Envelope>) => Promise<SignedStatement>;
  readonly reopened: () => Promise<Equivocations>;
}

async function open(): Promise<Fixture> {
  const home = await temporaryHome();
  const federation = await fastFederation(['us', 'eu']);
  let word: ProofWord = 'two-signed';
  const judge: JudgePair = async () => word;
  const memberFixture = await MemberFixture.open(home.path, federation, 'us', { judge });
  const { envelope } = await federation.sealBatch('eu', [{}]);
  return {
    federation,
    memberFixture,
    equivocations: memberFixture.equivocations,
    judge: (next) => {
      word = next;
    },
    envelope: (change = {}) => {
      const { signer } = federation.member('eu').key;
      return signStatement(envelopeStatement, { ...envelope, keyId: signer.keyId, ...change }, signer);
    },
    reopened: () => Equivocations.open(memberFixture.store, memberFixture.keys, judge),
    async [Symbol.asyncDispose]() {
      await memberFixture[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

function rivalOf(batch: number): LoggedRival {
  const consensusTimestamp = '1800000002.000000001';
  if (!isConsensusTimestamp(consensusTimestamp)) throw new Error('no time');
  const [envelope, keyId] = [hashOf(`rival ${batch}`), hashOf('a key')];
  const name = {
    consensusTimestamp,
    index: batch,
    message: '{}',
    payer: entityId('0.0.1002'),
    sequence: String(batch + 1),
  };
  return { node: EU, batch, envelope, keyId, sequence: batch + 1, consensusTimestamp, decided: null, name };
}

test('two envelopes whose write failed are kept, and told as new, when they come again', async () => {
  await using fixture = await open();
  const { equivocations, memberFixture } = fixture;
  const proof = { first: await fixture.envelope(), second: await fixture.envelope({ size: 2 }) };
  const write = memberFixture.store.write.bind(memberFixture.store);
  memberFixture.store.write = () => Promise.reject(new StoreError('write-failed', 'the disk fails once'));
  const refused: unknown = await equivocations.learn(proof).catch((error: unknown) => error);
  assert.instance(refused, StoreError);
  assert.is(equivocations.knows(EU, 1), false);
  memberFixture.store.write = write;
  assert.equal(await Promise.all([equivocations.learn(proof), equivocations.learn(proof)]), [true, false]);
  assert.equal((await fixture.reopened()).pairs().length, 1);
});

test('two envelopes that signatures alone show accuse nobody, and do once the ledger was read to name both', async () => {
  await using fixture = await open();
  const { equivocations } = fixture;
  const first = await fixture.envelope();
  assert.ok(await equivocations.learn({ first, second: await fixture.envelope({ size: 2 }) }));
  assert.equal(equivocations.all(), [{ node: EU, batch: 1, stands: false }]);
  assert.equal(
    [equivocations.accuses(EU), equivocations.knows(EU, 1), equivocations.isSigned(EU, 1)],
    [false, true, true],
  );
  assert.not(await equivocations.learn({ first, second: await fixture.envelope({ size: 3 }) }), 'one pair a number');
  fixture.judge('proven');
  await equivocations.noteRivals([rivalOf(1)]);
  assert.equal(equivocations.all(), [{ node: EU, batch: 1, stands: true }]);
  assert.ok(equivocations.accuses(EU));
  const again = await fixture.reopened();
  await again.reconsider();
  assert.equal(again.all(), [{ node: EU, batch: 1, stands: true }]);
});

test('a pair that stands takes the place of one that does not', async () => {
  await using fixture = await open();
  const [first, second, third] = [
    await fixture.envelope(),
    await fixture.envelope({ size: 2 }),
    await fixture.envelope({ size: 3 }),
  ];
  await fixture.equivocations.learn({ first, second });
  fixture.judge('proven');
  assert.ok(await fixture.equivocations.learn({ first, second: third }));
  assert.equal(await equivocationTable.get(fixture.memberFixture.store, 'eu', 1), { first, second: third });
  assert.not(await fixture.equivocations.learn({ first, second }), 'it is proven already');
});

test('what goes together is refused as the fault of whoever shows it', async () => {
  await using fixture = await open();
  const first = await fixture.envelope();
  for (const second of [first, await fixture.envelope({ batch: 2 })]) {
    const refused = await fixture.equivocations.learn({ first, second }).catch((error: unknown) => error);
    assert.instance(refused, PeerStatementError);
  }
});

test('an envelope that was signed anew, as its key was revoked, is no second story and halts nobody', async () => {
  await using fixture = await open();
  const { federation, memberFixture, equivocations } = fixture;
  const first = await fixture.envelope();
  const revocation = await federation.revokeKey('eu', { reason: 'rotated', compromisedSince: null });
  const { identity } = federation.member('eu');
  const next = nativeSigner(randomBytes(32));
  const certified = await certifyKey(EU, identity, next, { validFrom: federation.tick(), seqFrom: 1 });
  await memberFixture.keys.learnCertificate(certified.signed);
  const anewBy = (change: Partial<Envelope>) => {
    return signStatement(
      envelopeStatement,
      { ...envelopeStatement.parse(first.statement), keyId: next.keyId, ...change },
      next,
    );
  };
  const second = await anewBy({});
  assert.ok(await equivocations.learn({ first, second }), 'before the revocation is known here');
  assert.ok(equivocations.isForked(EU));
  await memberFixture.keys.learnRevocation(revocation);
  assert.equal([equivocations.all(), equivocations.isForked(EU), equivocations.isShown(EU, 1)], [[], false, false]);
  assert.not(equivocations.isSigned(EU, 1));
  await memberFixture.store.write([equivocationTable.del('eu', 1)]);
  const anew = await fixture.reopened();
  assert.not(await anew.learn({ first, second }));
  const otherwise = await anewBy({ size: 2 });
  assert.ok(await anew.learn({ first, second: otherwise }), 'with other records it is');
});

test('what the ledger names is listed before anybody shows it, and signatures alone do not push it out', async () => {
  await using fixture = await open();
  const { equivocations, memberFixture } = fixture;
  const rivals = Array.from({ length: MAX_PROOFS }, (_, i) => rivalOf(i + 10));
  await memberFixture.store.write(rivals.map(({ node, batch, name }) => rivalNameTable.put([node, batch], name)));
  await equivocations.noteRivals(rivals);
  assert.is(equivocations.all().length, MAX_PROOFS);
  assert.ok(equivocations.all().every(({ stands }) => !stands));
  assert.equal([equivocations.knows(EU, 10), equivocations.wants(EU, 10), equivocations.pairs()], [false, true, []]);
  const pair = async (batch: number) => ({
    first: await fixture.envelope({ batch }),
    second: await fixture.envelope({ batch, size: 2 }),
  });
  assert.not(await equivocations.learn(await pair(1)), 'there is no room for it');
  assert.ok(await equivocations.learn(await pair(10)), 'the envelopes of a name have a place');
  fixture.judge('proven');
  assert.ok(await equivocations.learn(await pair(2)));
  assert.is(equivocations.all().length, MAX_PROOFS);
  assert.ok(equivocations.proves(EU, 2));
  assert.is((await fixture.reopened()).all().length, MAX_PROOFS);
});

test.run();
