import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rewindChain } from '../../../node/federation/chain-assembler.ts';
import { Replacement } from '../../../node/federation/replacement.ts';
import { RivalSearch } from '../../../node/federation/rival-search.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Decided } from '../../../node/log/decidable.ts';
import { readHead } from '../../../node/records/batch-tables.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { certifyKey } from '../../fixtures/federation-member.ts';
import { until } from '../../fixtures/until.ts';
import { CHAIN_TABLES, rowsOf, silent } from './member-fixture.ts';
import { Pulling, SIX } from './pulling.ts';
import { PageClient } from '../../../node/federation/page-client.ts';

const [EU, US, JP] = [nodeId('eu'), nodeId('us'), nodeId('jp')];

interface Replaced {
  readonly held: SignedStatement;
  readonly other: SignedStatement;
}

/** What replaces at `jp` what the log has outdone. */
function replacing(pulling: Pulling) {
  const { store, keys, chains } = pulling.fixture('jp');
  const ending = new AbortController();
  const replaced: Replaced[] = [];
  const rivals = new RivalSearch({ keys, pages: new PageClient(pulling.transport), signal: ending.signal });
  const replacement = new Replacement({
    self: JP,
    store,
    chains,
    decided: pulling.decided,
    rivals,
    catchUp: pulling.catchUp,
    transport: pulling.transport,
    faults: pulling.faults,
    onReplaced: (_node, held, other) => replaced.push({ held, other }),
    random: () => 0,
    log: silent,
  });
  return { replacement, replaced };
}

/** A log that decided these envelopes, of `eu`, from its first batch on. */
function logOf(...envelopes: readonly Sha256Hash[]): Decided {
  return {
    envelopeOf: async (node, batch) => (node === EU ? envelopes[batch - 1] : undefined),
    isRevoked: () => false,
  };
}

function hashOf({ statement }: SignedStatement): Sha256Hash {
  return hashText(nativeSuite, statement);
}

/** The same batch under another envelope that its node signed. */
async function rivalOf(pulling: Pulling, batch: TestBatch, change: Partial<Envelope>): Promise<TestBatch> {
  const envelope = { ...batch.envelope, ...change };
  const { signer } = pulling.federation.member('eu').key;
  const signed = await signStatement(envelopeStatement, envelope, signer);
  return Object.assign(Object.create(batch), { envelope, signed });
}

/** `jp` holds two batches of `eu`; `us` holds another one in the place of the first, and what follows it. */
async function forked(pulling: Pulling) {
  const first = await pulling.federation.sealBatch('eu', SIX);
  const second = await pulling.federation.sealBatch('eu', SIX);
  for (const batch of [first, second]) await pulling.fixture('jp').hold(batch);
  const other = await rivalOf(pulling, first, { sealedAt: second.envelope.from });
  const next = await rivalOf(pulling, second, { prev: hashOf(other.signed) });
  const showOther = async () => {
    for (const batch of [other, next]) await pulling.fixture('us').hold(batch);
  };
  return { first, second, other, next, showOther };
}

async function rows(pulling: Pulling, name: string): Promise<unknown> {
  return rowsOf(pulling.fixture(name).store, CHAIN_TABLES);
}

test('a held batch gives way to the one that was decided, with what follows, and the evidence is handed on', async () => {
  await using pulling = await Pulling.start();
  const { first, other, next, showOther } = await forked(pulling);
  await showOther();
  pulling.decided = logOf(hashOf(other.signed), hashOf(next.signed));
  const { replacement, replaced } = replacing(pulling);
  await using _ = replacement;
  replacement.poke(EU);
  pulling.catchUp.lead(EU, US, 2);
  await until('jp holds what us holds', async () => pulling.head('eu') === 2 && replaced.length === 1);
  pulling.catchUp.lead(EU, US, 2);
  await pulling.catchUp.settled(EU);
  assert.equal(await rows(pulling, 'jp'), await rows(pulling, 'us'));
  assert.equal(replaced, [{ held: first.signed, other: other.signed }]);
  await until('it is over', () => !replacement.isDue(EU));
});

test('nothing is dropped while nobody shows the other envelope', async () => {
  await using pulling = await Pulling.start();
  const { other, next, showOther } = await forked(pulling);
  const before = await rows(pulling, 'jp');
  pulling.decided = logOf(hashOf(other.signed), hashOf(next.signed));
  const { replacement, replaced } = replacing(pulling);
  await using _ = replacement;
  replacement.poke(EU);
  await until('the others were asked', () => pulling.asked('us') > 1);
  assert.equal(await rows(pulling, 'jp'), before);
  assert.ok(replacement.isDue(EU));
  await showOther();
  replacement.poke(EU);
  await until('replaced', () => replaced.length === 1);
});

test('what the log decided, and what it may decide yet, stays', async () => {
  await using pulling = await Pulling.start();
  const { first } = await forked(pulling);
  pulling.decided = logOf(hashOf(first.signed));
  const { replacement } = replacing(pulling);
  await using _ = replacement;
  replacement.poke(EU);
  await until('it looked', () => !replacement.isDue(EU));
  assert.equal([pulling.head('eu'), pulling.asked('us')], [2, 0]);
});

test('what a revoked key signed gives way to whatever its node signed in its place, of those records or not', async () => {
  await using pulling = await Pulling.start();
  const { first, second } = await forked(pulling);
  const member = await pulling.federation.rotateKey('eu');
  const signer = member.key.signer;
  const terms = { validFrom: pulling.federation.tick(), seqFrom: 1 };
  const certificate = await certifyKey(EU, member.identity, signer, terms);
  await pulling.fixture('jp').keys.learnCertificate(certificate.signed);
  // A node whose store was lost does not have the records of the second one: nobody else would hold what it seals then.
  const envelope = { ...second.envelope, sealedAt: pulling.federation.tick(), keyId: signer.keyId };
  const other: TestBatch = Object.assign(Object.create(second), {
    envelope,
    signed: await signStatement(envelopeStatement, envelope, signer),
  });
  for (const batch of [first, other]) await pulling.fixture('us').hold(batch);
  pulling.decided = {
    envelopeOf: async (_node, batch) => (batch === 1 ? hashOf(first.signed) : undefined),
    isRevoked: (_node, keyId) => keyId === first.envelope.keyId,
  };
  const { replacement, replaced } = replacing(pulling);
  await using _ = replacement;
  replacement.poke(EU);
  await until('replaced', () => replaced.length === 1);
  assert.equal(replaced, [{ held: second.signed, other: other.signed }]);
});

test('what is decided while the held chain is looked at is looked at again', async () => {
  await using pulling = await Pulling.start();
  const { other, next, showOther } = await forked(pulling);
  await showOther();
  let looks = 0;
  let log = logOf();
  pulling.decided = {
    isRevoked: () => false,
    async envelopeOf(node, batch) {
      const answer = await log.envelopeOf(node, batch);
      // The log goes on right after it was asked for the last time.
      if (++looks === 2) {
        log = logOf(hashOf(other.signed), hashOf(next.signed));
        replacement.poke(EU);
      }
      return answer;
    },
  };
  const { replacement, replaced } = replacing(pulling);
  await using _ = replacement;
  replacement.poke(EU);
  await until('replaced', () => replaced.length === 1);
});

test('a crash in the middle of dropping leaves the chain up to some batch', async () => {
  await using pulling = await Pulling.start();
  const { first } = await forked(pulling);
  const { store, chains } = pulling.fixture('jp');
  let writes = 0;
  const failing = new Proxy(store, {
    get(target, name) {
      if (name === 'write' && writes++ > 0) return () => Promise.reject(new Error('the disk refused'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const failed = await rewindChain(failing, chains, EU, 0).then(
    () => false,
    () => true,
  );
  assert.ok(failed);
  assert.equal((await readHead(store, EU))?.signed, first.signed);
  assert.is(chains.head(EU).batch, 1);
  await rewindChain(store, chains, EU, 0);
  assert.is(chains.head(EU).batch, 0);
  assert.equal([...(await rowsOf(store, CHAIN_TABLES))], []);
});

test.run();
