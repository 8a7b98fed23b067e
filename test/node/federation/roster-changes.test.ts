import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RosterChanges } from '../../../node/federation/roster-changes.ts';
import type { TransportMember } from '../../../node/transport/contract.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { fastFederation, silent } from './member-fixture.ts';

test('of former members with one peer id between them one is let in, and the roster is applied', async () => {
  const federation = await fastFederation(['eu', 'us', 'jp']);
  const [, , jp] = federation.members.map(({ member }) => member);
  if (jp === undefined) return assert.unreachable();
  const members = federation.members.map(({ member }) => member).filter(({ node }) => node !== jp.node);
  federation.addRoster({ members, quorum: 1 });
  const former = ['jp', 'ca'].map((name) => ({ node: nodeId(name), peerId: jp.peerId, multiaddrs: [] }));
  let applied: readonly TransportMember[] = [];
  await using changes = new RosterChanges({
    self: nodeId('eu'),
    currentRosters: { chain: federation.chain, contradiction: null, onRoster: () => () => {} },
    transport: {
      async setMembers(next) {
        applied = next;
      },
    },
    leaving: async () => former,
    exchangeAll: () => {},
    onRemoved: () => assert.unreachable(),
    log: silent,
  });
  await changes.start();
  assert.equal(
    applied.map(({ node }) => node),
    ['eu', 'us', 'jp'],
  );
});

test.run();
