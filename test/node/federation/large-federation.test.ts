import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cosignedTable } from '../../../node/federation/cosignatures.ts';
import { status } from '../../../node/federation/page-forms.ts';
import { DEFAULT_LIMITS } from '../../../node/federation/transport/limits.ts';
import { Store } from '../../../node/store/store.ts';
import { MemberNetwork } from './member-network.ts';

const MEMBERS = 100;
const BATCH = 1_000_000;
const NODES = Array.from({ length: MEMBERS }, (_, i) => `m${'abcd'[Math.floor(i / 25)]}${i % 25}`);

test('what a hundred members tell each other of who cosigned what fits well into a frame', async () => {
  await using network = await MemberNetwork.create(NODES, { certified: false });
  const [self = '', behind = ''] = NODES;
  await fillWatermarks(join(network.home.path, self), behind);
  await network.start(self);
  const { chains } = network.rooms(self);
  const batch = await network.batch(behind);
  for (const node of NODES) {
    chains.advance({ ...batch, envelope: { ...batch.envelope, node: network.id(node), batch: BATCH } });
  }
  const asker = network.wire.transport('xx', NODES, () => 'accept');
  await asker.start();
  const frames = await Array.fromAsync(asker.request(self, 'status', new Uint8Array()));
  const [frame = new Uint8Array()] = frames;
  const { heads, cosigned } = status.decode(frame);
  console.log(`a status of ${MEMBERS} members: ${frame.length} bytes, ${cosigned.length} pairs named`);
  assert.is(frames.length, 1);
  assert.is(heads.length, MEMBERS);
  // One chain's last batch is not cosigned yet: its witnesses are named, and of 9,900 pairs no other.
  assert.equal(
    cosigned.filter((pair) => pair.node !== behind || pair.batch !== BATCH - 1),
    [],
  );
  assert.is(cosigned.length, MEMBERS - 1);
  assert.ok(frame.length < DEFAULT_LIMITS.frameBytes / 20);
});

/** Every witness has cosigned every chain to its head, but one chain only to the batch before. */
async function fillWatermarks(home: string, behind: string): Promise<void> {
  await using store = await Store.open(home);
  await store.write(
    NODES.flatMap((node) => {
      const upTo = node === behind ? BATCH - 1 : BATCH;
      return NODES.filter((witness) => witness !== node).map((witness) => cosignedTable.put([node, witness], upTo));
    }),
  );
}

test.run();
