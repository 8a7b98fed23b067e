import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { groupTable } from '../../../node/records/record-tables.ts';
import { groupAnew } from '../../../node/log/group-anew.ts';
import { signAnew } from '../../../node/intake/sealing/sign-anew.ts';
import type { Reads } from '../../../node/store/store.ts';
import { readEvidence } from '../../../node/verification/evidence.ts';
import { ProofTrees } from '../../../node/verification/proof-trees.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { seedOf } from '../../fixtures/federation-member.ts';
import { NINE, Rebuilding } from '../federation/rebuilding.ts';

const next = nativeSigner(seedOf('next'));

async function sealed() {
  const rebuilding = await Rebuilding.start();
  const [record] = (await rebuilding.seal(NINE)).records;
  if (record === undefined) throw new Error('no record');
  const { store, node } = rebuilding.origin;
  const keysOf = async (reads: Reads) => {
    const evidence = await readEvidence(
      { store: reads, trees: new ProofTrees(), decisionOf: async () => undefined },
      record.record.id,
    );
    if (evidence === undefined) throw new Error('no evidence');
    const { receipt, batch } = evidence.proof;
    assert.is(batch === null, evidence.batch === undefined);
    return [groupStatement.parse(receipt.statement).keyId, evidence.batch?.envelope.keyId ?? null];
  };
  return { rebuilding, store, node, keysOf };
}

test('a batch that is being signed anew is none yet: no proof holds a receipt by another key than its batch', async () => {
  const { rebuilding, store, node, keysOf } = await sealed();
  await using _closing = rebuilding;
  const [old] = await keysOf(store);
  assert.equal(await keysOf(store), [old, old]);
  const held = await groupTable.get(store, node, 1);
  const anew = held === undefined ? null : await groupAnew(held, next);
  if (anew === null) return assert.unreachable();
  await store.write([groupTable.put([node, 1], anew.signed)]);
  assert.equal(await keysOf(store), [next.keyId, null]);
});

test('a receipt that was read just before its batch was signed anew is read again', async () => {
  const { rebuilding, store, node, keysOf } = await sealed();
  await using _closing = rebuilding;
  let isDue = true;
  const resigning: Reads = {
    get: (key) => store.get(key),
    range: (options) => store.range(options),
    async first(options) {
      const row = await store.first(options);
      if (row?.[0].startsWith(`${groupTable.name}/`) !== true || !isDue) return row;
      isDue = false;
      const isRevoked = (keyId: string) => keyId !== next.keyId;
      const terms = { requireRunning: () => {}, withdraw: async () => {}, besides: () => [] };
      await signAnew({ ...terms, store, node, decided: 0, signer: next, isRevoked });
      return row;
    },
  };
  assert.equal([await keysOf(resigning), isDue], [[next.keyId, next.keyId], false]);
});

test.run();
