import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkChains } from '../../../node/fsck/check-chains.ts';
import { GroupChecks } from '../../../node/fsck/group-checks.ts';
import { Report } from '../../../node/fsck/report.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { ownVouchedTable } from '../../../node/records/chain-tables.ts';
import { groupTable } from '../../../node/records/record-tables.ts';
import { groupAnew } from '../../../node/log/group-anew.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { NINE, Rebuilding } from '../federation/rebuilding.ts';

test('a batch of two keys is damage, but for an undecided own one by a revoked key: the next start signs it anew', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const { federation, origin } = rebuilding;
  const { store, keys, node } = origin;
  const { identity } = federation.member(node);
  const { signer, signed } = await certifyKey(node, identity, nativeSigner(seedOf('anew')), {
    validFrom: timestampOf(0),
    seqFrom: 1,
  });
  await keys.learnCertificate(signed);
  const found = async (own: typeof node | null) => {
    const report = new Report({});
    const check = { store, report, signal: undefined, keys, own, cipher: null, agentKeys: null, held: null };
    const groupChecks = new GroupChecks({ payloadKey: null, threads: 0, signal: undefined });
    await checkChains(check, { groupChecks, proven: null });
    return report.findings.flatMap(({ key, detail }) => (detail === 'is by another key than its batch' ? key : []));
  };
  assert.equal(await found(node), []);
  const held = await groupTable.get(store, node, 4);
  const anew = held === undefined ? null : await groupAnew(held, signer);
  if (anew === null) return assert.unreachable();
  await store.write([groupTable.put([node, 4], anew.signed)]);
  assert.equal(await found(node), [groupTable.key(node, 4)]);
  await keys.learnRevocation(await federation.revokeKey(node));
  assert.equal(await found(node), []);
  assert.equal(await found(null), [groupTable.key(node, 4)], 'of another node it is');
  await store.write([ownVouchedTable.put([node], 1)]);
  assert.equal(await found(node), [groupTable.key(node, 4)], 'and where it was decided');
});

test.run();
