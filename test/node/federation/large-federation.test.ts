import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { status } from '../../../node/federation/page-forms.ts';
import { DEFAULT_LIMITS } from '../../../node/transport/limits.ts';
import { MemberNetwork } from './member-network.ts';

const MEMBERS = 100;
const BATCH = 1_000_000;
const NODES = Array.from({ length: MEMBERS }, (_, i) => `m${'abcd'[Math.floor(i / 25)]}${i % 25}`);

test('where a hundred members stand fits well into a frame', async () => {
  await using network = await MemberNetwork.create(NODES);
  const [self = ''] = NODES;
  await network.start(self);
  const { chains } = network.memberFixture(self);
  const batch = await network.batch(self);
  for (const node of NODES) {
    chains.advance({ ...batch, envelope: { ...batch.envelope, node: network.id(node), batch: BATCH } });
  }
  const asker = network.wire.transport('xx', NODES, () => 'accept');
  await asker.start();
  const frames = await Array.fromAsync(asker.request(self, 'status', new Uint8Array()));
  const [frame = new Uint8Array()] = frames;
  const { heads, keys } = status.decode(frame);
  console.log(`a status of ${MEMBERS} members: ${frame.length} bytes`);
  assert.is(frames.length, 1);
  assert.equal([heads.length, keys.length], [MEMBERS, MEMBERS]);
  assert.ok(frame.length < DEFAULT_LIMITS.frameBytes / 20);
});

test.run();
