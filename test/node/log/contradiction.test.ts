import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { contradictingMajority, shownFalse } from '../../../node/log/contradiction.ts';
import type { KnownCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { genesisOf, hashOf } from '../../protocol/log/topic.ts';

const ROSTER = genesisOf(['eu', 'us', 'jp']);

function saidBy(name: string, size: number, key = 'key'): KnownCheckpoint {
  const signature = 'c2ln';
  if (!isBase64url(signature)) throw new Error('base64url');
  const [federation, keyId, root] = [hashOf('genesis'), hashOf(key), hashOf('root')];
  const checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation,
    node: nodeId(name),
    keyId,
    size,
    root,
    vouched: {},
  } as const;
  return { checkpoint, signed: { text: 'text', signature } };
}

function majorityAgainst(contradicted: readonly KnownCheckpoint[], agreed: Readonly<Record<string, number>> = {}) {
  const newest = (node: NodeId) => (agreed[node] === undefined ? undefined : saidBy(node, agreed[node]));
  return contradictingMajority({
    self: nodeId('eu'),
    checkpointStore: { contradicted, newest },
    roster: ROSTER,
    stands: () => true,
  });
}

test('a member that lies twice is one voice of the majority', () => {
  assert.equal(majorityAgainst([saidBy('us', 3), saidBy('us', 9)]), []);
  assert.equal(majorityAgainst([saidBy('us', 3), saidBy('us', 9), saidBy('jp', 4)]), ['us', 'jp']);
});

test('an early lie does not make a later contradiction unheard', () => {
  // Both have agreed since with what each said first.
  const agreed = { us: 5, jp: 5 };
  assert.equal(majorityAgainst([saidBy('us', 3), saidBy('jp', 4)], agreed), []);
  assert.equal(majorityAgainst([saidBy('us', 3), saidBy('us', 9), saidBy('jp', 4), saidBy('jp', 8)], agreed), [
    'us',
    'jp',
  ]);
});

test('a node that most members contradict shows nobody as false', () => {
  const contradicted = [saidBy('us', 3), saidBy('jp', 4)];
  assert.equal(shownFalse({ contradicted }, []), contradicted);
  assert.equal(shownFalse({ contradicted }, majorityAgainst(contradicted)), []);
});

test.run();
