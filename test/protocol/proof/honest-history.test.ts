import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import type { SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import type { ProofKnown } from '../../../protocol/proof/charge.ts';
import { judgeProof, type ProofVerdict } from '../../../protocol/proof/judge-proof.ts';
import type { Difference, MisdeedProof } from '../../../protocol/proof/misdeed.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import { parseProof } from '../../../protocol/proof/parse-proof.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { viewOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import {
  beginningOf,
  decidedName,
  falseCheckpoint,
  leavesAt,
  LedgerReading,
  type NamedBatch,
  proofOf,
  receiptNotKept,
  twoEnvelopes,
} from '../../fixtures/misdeed-proof.ts';
import { fc } from '../../fixtures/properties.ts';
import { cachedSuite } from '../verdict/cached-suite.ts';
import { placesOf, replaceAt, stringsOf } from '../verdict/json-places.ts';

const NODES = ['us', 'eu', 'ca', 'sg'] as const;
const FIRST = { batch: 1, first: 1, prev: null } as const;
const STEPS = ['record', 'checkpoint', 'rotate', 'compromise', 'anew', 'roster'] as const;
const REPLACEMENTS = [...'0123456789abcdefABCDEFxyz-_:"{}[],. \\\u0000é', '\ud800'];
const suite = cachedSuite(nativeSuite);

interface History {
  readonly log: FederationLog;
  readonly reading: LedgerReading;
  readonly sealed: readonly SealedBatch[];
  readonly names: readonly NamedBatch[];
  readonly checkpoints: readonly SignedCheckpoint[];
}

/** What honest members of a federation sign and name, by these steps. */
async function honestHistory(steps: readonly (readonly [(typeof STEPS)[number], string])[]): Promise<History> {
  const log = await FederationLog.create({ nodes: NODES, quorum: 2 });
  const reading = new LedgerReading(log);
  const sealed: SealedBatch[] = [];
  const names: NamedBatch[] = [];
  const checkpoints: SignedCheckpoint[] = [];
  const record = async (node: string) => {
    const batch = await log.record(node, [{}, {}]);
    sealed.push(batch);
    names.push(decidedName(log, batch));
  };
  await record('eu');
  for (const [step, node] of steps) {
    if (step === 'record') await record(node);
    if (step === 'checkpoint') checkpoints.push(await log.checkpoint(node));
    if (step === 'rotate' || step === 'compromise') await revoke(log, node, step);
    if (step === 'roster') log.addRoster({ name: `test ${log.size}` });
    if (step === 'anew') {
      const pair = await signedAnew(log, reading, node);
      sealed.push(...pair.map((each) => each.sealed));
      names.push(...pair);
    }
  }
  checkpoints.push(...(await Promise.all(NODES.map((node) => log.checkpoint(node)))));
  return { log, reading, sealed, names, checkpoints };
}

async function revoke(log: FederationLog, node: string, step: 'compromise' | 'rotate'): Promise<void> {
  const terms = step === 'rotate' ? {} : ({ reason: 'compromised', compromisedSince: log.tick() } as const);
  await log.revoke(node, terms);
  await log.rotateKey(node);
}

/** A batch whose name comes too late, for its key is revoked; signed again, with the same records, it is decided. */
async function signedAnew(log: FederationLog, reading: LedgerReading, node: string): Promise<NamedBatch[]> {
  const submittedAt = log.tick();
  const drafts = [{ submittedAt }, { submittedAt }];
  const before = await log.seal(node, drafts, { from: submittedAt });
  await revoke(log, node, 'rotate');
  const late = reading.name(before);
  const { batch, first, prev, from, sealedAt } = before.envelope;
  const groupKey = newestKey(log.member(node));
  const again = await log.seal(node, drafts, { batch, first, prev, from, sealedAt, groupKey, envelopeKey: groupKey });
  log.decide(again);
  return [late, decidedName(log, again)];
}

/** Every accusation that can be made of what they signed. */
async function accusations({ log, sealed, names, checkpoints }: History): Promise<MisdeedProof['misdeed'][]> {
  const made: MisdeedProof['misdeed'][] = [];
  for (const [first, second] of pairs(names)) {
    if (first.sealed.node === second.sealed.node) made.push(twoEnvelopes(first, second));
  }
  for (const [received, kept] of pairs(sealed)) {
    const isOne = received.node === kept.node && received.envelope.first === kept.envelope.first;
    if (isOne && log.indexOf(kept) !== null) made.push(receiptNotKept(log, received, kept, 1));
  }
  const liar = await FederationLog.create({ nodes: NODES });
  for (let i = 0; i < log.size; i++) await liar.record('us');
  for (const [first, second] of pairs(checkpoints)) {
    const [size, other] = [first, second].map(({ text }): number => JSON.parse(text).size).toSorted((a, b) => a - b);
    if (size === undefined || other === undefined) continue;
    const differences: Difference[] = [await beginningOf(log, size, other), await beginningOf(liar, size, other)];
    for (const difference of [...differences, leavesAt(0, log, liar)]) {
      made.push({ type: 'two-checkpoints', first, second, difference });
    }
  }
  for (const checkpoint of checkpoints) {
    made.push(await falseCheckpoint(log, checkpoint), { type: 'false-checkpoint', checkpoint, against: [] });
  }
  return made;
}

function pairs<Item>(items: readonly Item[]): (readonly [Item, Item])[] {
  return items.flatMap((first, i) =>
    items.slice(i + 1).flatMap((second) => [[first, second] as const, [second, first] as const]),
  );
}

test('no proof that honest history gives accuses anybody, to whoever read the ledger or not', async () => {
  const step = fc.tuple(fc.constantFrom(...STEPS), fc.constantFrom(...NODES));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 7 }), async (steps) => {
      const history = await honestHistory(steps);
      const { log, reading, sealed } = history;
      const { messageAt } = reading;
      const made = await accusations(history);
      const whole = await proofOf(log, await falseCheckpoint(log, await log.checkpoint('us')));
      const decided = sealed.filter((each) => log.indexOf(each) !== null);
      const verifiers: ProofKnown[] = [
        { pin: log.genesis },
        { pin: log.genesis, messageAt },
        { log: viewOf(log, decided), messageAt },
      ];
      for (const misdeed of made) {
        for (const known of verifiers) {
          const { word, detail } = judgeProof(suite, { ...whole, misdeed }, known);
          assert.not(['proven', 'consistent', 'two-signed'].includes(word), `${misdeed.type}: ${word} ${detail}`);
        }
      }
    }),
    { numRuns: 12 },
  );
});

test('a changed character of a proof never accuses anybody else, and of a true one nobody at all where it must hold', async () => {
  const { proofs, known } = await trueProofs();
  for (const proof of proofs) {
    const verdict = judgeProof(suite, proof, known);
    assert.is(verdict.word, 'proven', proof.misdeed.type);
    const strings = stringsOf(proof).filter(({ text }) => text.length > 0);
    fc.assert(
      fc.property(
        fc.constantFrom(...strings),
        fc.nat(),
        fc.constantFrom(...REPLACEMENTS),
        ({ pointer, text }, at, to) => {
          const i = at % text.length;
          fc.pre(text[i] !== to);
          assertSame(proof, verdict, known, pointer, text.slice(0, i) + to + text.slice(i + 1));
        },
      ),
      { numRuns: 300 },
    );
    for (const { pointer, text } of strings.filter((each) => each.pointer.startsWith('/misdeed'))) {
      for (const changed of [text.slice(1), text.slice(0, -1), `${text}A`, ` ${text}`, '']) {
        assertSame(proof, verdict, known, pointer, changed);
      }
    }
  }
});

test('a value of a proof removed, emptied, doubled, or another in its place accuses nobody else', async () => {
  const { proofs, known } = await trueProofs();
  for (const proof of proofs) {
    const verdict = judgeProof(suite, proof, known);
    const places = placesOf(proof);
    const place = fc.constantFrom(...places.filter(({ pointer }) => pointer !== ''));
    fc.assert(
      fc.property(place, fc.constantFrom(...places), fc.nat(5), ({ pointer, value }, other, how) => {
        const doubled = Array.isArray(value) ? [...value, ...value] : value;
        const changes: (JsonValue | undefined)[] = [undefined, null, [], {}, doubled, other.value];
        assertSame(proof, verdict, known, pointer, changes[how]);
      }),
      { numRuns: 200 },
    );
  }
});

/** What must hold to the byte: no change there leaves an accusation. */
const MUST_HOLD = /^\/misdeed\/(first|second|receipt|batch|checkpoint)\/(statement|envelope|text|signature)$/;

function assertSame(
  proof: MisdeedProof,
  verdict: ProofVerdict,
  known: ProofKnown,
  pointer: string,
  replacement: JsonValue | undefined,
): void {
  const changed = replaceAt(proof, pointer, replacement);
  if (JSON.stringify(changed) === JSON.stringify(proof)) return;
  let found: ProofVerdict;
  try {
    found = judgeProof(suite, parseProof(changed), known);
  } catch (error) {
    assert.instance(error, FileError);
    return;
  }
  if (!found.proven) return;
  assert.equal([found.accused, found.batch], [verdict.accused, verdict.batch], pointer);
  assert.not(MUST_HOLD.test(pointer), `${pointer} may not change`);
}

/** One of each kind, that eu did it. */
async function trueProofs(): Promise<{ proofs: readonly MisdeedProof[]; known: ProofKnown }> {
  const log = await FederationLog.create();
  const decided = await log.record('eu', [{}, {}]);
  const rival = await log.seal('eu', [{}, { payload: { data: 'another' } }], FIRST);
  const liar = await FederationLog.create();
  for (let i = 0; i < 2; i++) await liar.record('us');
  const lie = await liar.checkpoint('eu');
  await log.record('us');
  await log.revoke('ca');
  const reading = new LedgerReading(log);
  const misdeeds: MisdeedProof['misdeed'][] = [
    twoEnvelopes(decidedName(log, decided), reading.name(rival)),
    receiptNotKept(log, rival, decided, 1),
    { type: 'two-checkpoints', first: lie, second: await log.checkpoint('eu'), difference: await beginningOf(log, 2) },
    await falseCheckpoint(log, lie),
  ];
  const known: ProofKnown = { pin: log.genesis, messageAt: reading.messageAt };
  return { proofs: await Promise.all(misdeeds.map((misdeed) => proofOf(log, misdeed))), known };
}

test.run();
