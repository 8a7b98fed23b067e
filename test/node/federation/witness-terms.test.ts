import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { passUnwitnessed } from '../../../node/federation/witness-terms.ts';
import { envelopeTable } from '../../../node/sealing/batch-tables.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { envelopeStatement } from '../../../protocol/statement/envelope.ts';
import { fastFederation, temporaryHome } from './member-rooms.ts';

const [us, eu, jp] = [nodeId('us'), nodeId('eu'), nodeId('jp')];

test('a witness has nothing to cosign of batches whose roster does not name it, however often it came and went', async () => {
  const federation = await fastFederation(['us', 'eu', 'ca', 'jp']);
  const all = federation.members.map(({ member }) => member);
  const without = all.filter(({ node }) => node !== jp);
  // Versions 1 to 5: jp is in, out, out, in, out.
  for (const members of [without, without, all, without]) {
    await federation.addRoster({ members, quorum: 2 }, ['us', 'eu', 'ca']);
  }
  await using home = await temporaryHome();
  await using store = await Store.open(join(home.path, 'store'));
  const template = (await federation.sealBatch('us', [{}], { witnesses: [] })).envelope;
  const versions = [1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5];
  for (const [i, roster] of versions.entries()) {
    const statement = envelopeStatement.write({
      ...template,
      batch: i + 1,
      prev: i === 0 ? null : template.root,
      roster,
    });
    const [signature] = federation.rosters[0]?.signatures ?? [];
    assert.ok(signature);
    await store.write([envelopeTable.put([us, i + 1], { statement, signature: signature.signature })]);
  }
  const { chain } = federation;
  const passed = async (witness: typeof us) => {
    const ends: number[] = [];
    for (let from = 0; from <= versions.length; from++) {
      ends.push(await passUnwitnessed(store, chain, us, witness, from));
    }
    return ends;
  };
  assert.equal(await passed(jp), [0, 1, 7, 7, 7, 7, 7, 7, 8, 11, 11, 11]);
  assert.equal(await passed(eu), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 'a member all along passes nothing');
});

test.run();
