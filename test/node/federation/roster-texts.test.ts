import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PageClient } from '../../../node/federation/page-client.ts';
import { encodeItem } from '../../../node/federation/page-forms.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { RosterTexts } from '../../../node/federation/roster-texts.ts';
import type { Transport } from '../../../node/transport/contract.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { MAX_ROSTER_CHARACTERS } from '../../../protocol/log/roster-rules.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { NEWEST } from './fake-network.ts';
import { MemberNetwork } from './member-network.ts';
import { fastFederation, silent } from './member-fixture.ts';

const federation = await fastFederation(['us', 'eu', 'ca']);
const currentRosters = { chain: federation.chain, inForce: federation.chain };
const TEXT = rosterStatement.write(federation.nextRoster({ name: 'wanted' }));
const HASH = hashText(nativeSuite, TEXT);

/** A member `us` that looks for the roster; `eu` and `ca` answer with these parts of a text, and show these texts. */
async function search(
  parts: Readonly<Record<string, readonly string[]>>,
  shown: readonly string[] | null = null,
): Promise<{ readonly text: string | undefined; readonly faults: PeerFaults }> {
  const faults = new PeerFaults(Date.now);
  const transport: Pick<Transport, 'peers' | 'request'> = {
    peers: () =>
      Object.keys(parts).map((node) => {
        return { node, connected: true, since: null, subscribed: [], rtt: null, score: null, lastError: null };
      }),
    async *request(node) {
      for (const part of parts[node] ?? []) yield encodeItem({ kind: 'roster', part });
    },
  };
  using texts = new RosterTexts({
    self: nodeId('us'),
    currentRosters,
    transport,
    pages: new PageClient(transport),
    faults,
    log: silent,
    askRosters: async () => {
      if (shown === null) throw new Error('down');
      return { rosters: [], named: shown };
    },
  });
  return { text: await texts.find(HASH), faults };
}

test('a text comes from a member that is connected, in as many parts as it takes', async () => {
  const { text, faults } = await search({ eu: [], ca: [TEXT.slice(0, 100), TEXT.slice(100)] });
  assert.is(text, TEXT);
  assert.equal(faults.all(), []);
});

test('a wrong text and one without end are refused, and named; the next member is asked', async () => {
  const endless = Array.from({ length: 40 }, () => 'x'.repeat(MAX_ROSTER_CHARACTERS / 32));
  const { text, faults } = await search({ eu: [`${TEXT} `], ca: endless }, [`${TEXT} `, TEXT]);
  assert.is(text, TEXT, 'shown at a public address');
  assert.equal(
    faults.all().map(({ peer, fault }) => [peer, fault]),
    [
      ['eu', 'forged'],
      ['ca', 'malformed'],
    ],
  );
});

test('what nobody shows is not found, and may be asked for again', async () => {
  assert.is((await search({ eu: [] })).text, undefined);
  assert.is((await search({}, [`${TEXT} `])).text, undefined);
});

test('a member serves the texts that it keeps by their hash, cut between characters', async () => {
  await using network = await MemberNetwork.create(['us', 'eu']);
  const us = await network.open('us');
  const text = `"${'🌍é'.repeat(150_000)}"`;
  const hash = await us.federationLog.keepRoster(text);
  const frames = await Array.fromAsync(us.pages.serve({ want: 'roster', hash }, NEWEST));
  assert.ok(frames.length > 1);
  const parts = frames.map((frame) => Buffer.from(frame).toString('utf8').slice(1));
  assert.is(parts.join(''), text);
  assert.equal(await Array.fromAsync(us.pages.serve({ want: 'roster', hash: HASH }, NEWEST)), []);
});

test.run();
